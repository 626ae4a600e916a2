"""A campaign is found by its name: the live service's, else the latest rehearsal; its card says which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kills.people import plan_of

import smsotp_nb as sms
from smsotp_nb.errors import UsageError

LIVE, OLD_KEY = "https://sms.example|intl|2", "https://sms.example|intl|1"


@pytest.fixture
def ledger(tmp_path: Path) -> sms.Ledger:
    return sms.Ledger(tmp_path / "l.sqlite", create=True)


@pytest.fixture
def recorded(ledger: sms.Ledger) -> Callable[..., None]:
    """Record campaigns of services, the earliest first."""

    def make(*services: str, name: str = "autumn") -> None:
        for service in services:
            ledger._begin(plan_of(3, campaign=name), service=service).close()

    return make


def test_a_restarted_notebook_finds_its_latest_rehearsal(ledger: sms.Ledger) -> None:
    plan = plan_of(3)
    for _ in range(2):
        with sms.Sandbox() as box:
            sms.send(plan, box, ledger=ledger, progress=False)
            assert sms.record("autumn", ledger=ledger).service == box.service
    found = sms.record("autumn", ledger=ledger.path)
    assert found.counts["accepted"] == 3
    assert repr(found).startswith("Record('autumn', rehearsal since 20")
    assert "1 more of this name: 3 accepted" in repr(found)
    assert found.card().state.startswith("A rehearsal on a sandbox, recorded on 20")
    assert "Also of this name: 1 rehearsal. record('autumn', client) shows that of a client." in found.card().text()


@pytest.mark.parametrize("order", [("sandbox:a", LIVE, "sandbox:b"), (LIVE, "sandbox:a")])
def test_the_live_service_stands_before_rehearsals(
    ledger: sms.Ledger, recorded: Callable[..., None], order: tuple[str, ...]
) -> None:
    recorded(*order)
    found = ledger.record("autumn")
    assert found.service == LIVE
    assert repr(found).startswith("Record('autumn', live service https://sms.example since 20")
    card = found.card()
    assert card.state.startswith("Live service https://sms.example, recorded on 20")
    assert f"Also of this name: {len(order) - 1} rehearsal" in card.text()


def test_of_two_live_services_it_is_the_latest_and_the_card_says_so(
    ledger: sms.Ledger, recorded: Callable[..., None]
) -> None:
    recorded(OLD_KEY, LIVE)
    found = ledger.record("autumn")
    assert found.service == LIVE
    assert (
        "Also of this name: live service https://sms.example; this is the latest of the live ones. "
        "record('autumn', client) shows that of a client." in found.card().text()
    )
    assert ledger.record("autumn", service=OLD_KEY).service == OLD_KEY


def test_one_that_was_purged_stands_behind_one_that_was_not(ledger: sms.Ledger, recorded: Callable[..., None]) -> None:
    recorded("sandbox:a", "sandbox:b")
    ledger.record("autumn", service="sandbox:b").purge()
    assert ledger.record("autumn").service == "sandbox:a"


def test_a_client_and_a_sandbox_name_their_own(ledger: sms.Ledger, recorded: Callable[..., None]) -> None:
    with sms.Sandbox() as box, box.client() as client:
        recorded(box.service, LIVE)
        for one in (box, client):
            found = sms.record("autumn", one, ledger)
            assert found.service == client.service
            assert "Also of this name: live service https://sms.example. record(" in found.card().text()
        recorded(LIVE, name="winter")
        with pytest.raises(
            UsageError, match=r"'winter' is not recorded for this service, and is for 1 other; .*record\("
        ):
            sms.record("winter", box, ledger)
    assert sms.record("autumn", box, ledger).service == box.service


def test_a_card_of_the_only_one_says_nothing_of_others(ledger: sms.Ledger, recorded: Callable[..., None]) -> None:
    recorded(LIVE)
    assert "Also" not in ledger.record("autumn").card().text()
    assert "more of this name" not in repr(ledger.record("autumn"))


def test_an_unknown_name_is_answered_with_the_nearest(ledger: sms.Ledger, recorded: Callable[..., None]) -> None:
    with pytest.raises(UsageError, match="it holds none yet, send records them"):
        sms.record("autumn", ledger=ledger)
    for name in ("autumn", "Autumn-sale", "winter", "spring"):
        recorded("sandbox:a", name=name)
    with pytest.raises(UsageError, match=r"no campaign 'autunm' in the ledger; did you mean 'autumn'.*\?"):
        ledger.record("autunm")
    with pytest.raises(UsageError, match="did you mean 'Autumn-sale'"):
        ledger.record("autumn sale")
    with pytest.raises(UsageError, match=r"it holds 'spring', 'winter', 'Autumn-sale' and more, see ledger.campaigns"):
        ledger.record("zzz")


@pytest.mark.parametrize("client", ["sandbox:a", 5, object()])
def test_what_is_no_client_is_refused(ledger: sms.Ledger, recorded: Callable[..., None], client: object) -> None:
    recorded("sandbox:a")
    with pytest.raises(UsageError, match="record needs a Client or a Sandbox, got"):
        sms.record("autumn", client, ledger)  # type: ignore[arg-type]


def test_one_that_was_purged_is_not_said_to_have_reached_nobody(ledger: sms.Ledger) -> None:
    """What it cost is still known; how many of its rows were in which state is not."""
    with sms.Sandbox() as box:
        sms.send(plan_of(3), box, ledger=ledger, progress=False)
    found = sms.record("autumn", ledger=ledger)
    found.purge()
    assert repr(found).endswith("UTC: purged)")
    assert "Purged: its rows are gone." in found.card().text()
    assert "0  accepted" not in found.card().text()
    assert ledger.campaigns()[["accepted", "planned"]].isna().all(axis=None)
    assert "purged" in ledger.card().text()
    assert sms.cost.by(found, [])["messages"].tolist() == [3]
