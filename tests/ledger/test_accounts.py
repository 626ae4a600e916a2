"""What a service is: one account however its address is spelled, and one owner for the name of a campaign."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from kills.people import plan_of
from kills.service import Service

from smsotp_nb import Client, Ledger, Sandbox, Settings, send
from smsotp_nb.errors import LedgerError, UsageError

pytestmark = pytest.mark.both_ledgers


def live(box: Sandbox, key: str = "one", **settings: str) -> Client:
    """A client that takes the sandbox for a live service."""
    return Client(Settings(**({"base_url": box.url, "access_key_id": key} | settings)))  # type: ignore[arg-type]


def sent(client: Client, ledger: Ledger | Path, campaign: str = "autumn") -> dict[str, int]:
    table = send(plan_of(10, campaign=campaign), client=client, ledger=ledger, progress=False)
    found: dict[str, int] = table["status"].value_counts().to_dict()
    return found


def test_a_name_that_was_recorded_first_is_not_the_one_that_texted_first(box: Sandbox, ledger: Ledger) -> None:
    """Recorded under one key, sent under another: the first key must not text them again."""
    plan = plan_of(10)
    ledger._begin(plan, service=live(box).service).close()  # nobody was texted
    assert sent(live(box, "another"), ledger) == {"accepted": 10}
    with pytest.raises(LedgerError, match=r"has already texted people, recorded under another key.*service="):
        sent(live(box), ledger)
    assert len(box.inbox) == 10


@pytest.mark.parametrize("claims_first", [True, False])
def test_two_that_begin_together_do_not_both_send(claims_first: bool, box: Sandbox, ledger: Ledger) -> None:
    """The name is decided in the transaction of the claim, not when a campaign begins."""
    one = ledger._begin(plan_of(10), service=live(box).service)
    two = ledger._begin(plan_of(10), service=live(box, "another").service)
    first, second = (one, two) if claims_first else (two, one)
    assert first.claim(0)
    with pytest.raises(LedgerError, match="has already texted people"):
        second.claim(0)
    assert second.counts()["planned"] == 10
    first.close()
    second.close()


def test_two_threads_with_two_spellings_text_everybody_once(box: Sandbox, ledger: Ledger) -> None:
    clients = [live(box), live(box, base_url=box.url.replace("127.0.0.1", "localhost"), key="another")]

    def begin(client: Client) -> None:
        ready.wait(120)
        try:
            sent(client, ledger)
        except LedgerError:
            refused.append(client)

    refused, ready = list[Client](), threading.Barrier(2)
    threads = [threading.Thread(target=begin, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(refused) == 1
    assert box.inbox["to"].value_counts().tolist() == [1] * 10


def test_a_key_that_reached_nobody_does_not_keep_the_name(ledger: Ledger) -> None:
    """A first try with a wrong key must not lock the campaign for the right one."""
    with Service("account") as service:
        right, wrong = (Client(Settings(base_url=service.url, access_key_id=key)) for key in ("one", "wrong"))
        assert "accepted" not in sent(wrong, ledger)
        assert sent(right, ledger) == {"accepted": 10}
        with pytest.raises(LedgerError, match="has already texted people"):
            sent(wrong, ledger)


@pytest.mark.parametrize("other", ["key", "address"])
def test_a_purge_does_not_free_the_name(other: str, box: Sandbox, ledger: Ledger) -> None:
    sent(live(box), ledger)
    ledger.record("autumn").purge()
    again = live(box, "another") if other == "key" else live(box, base_url=box.url.replace("127.0.0.1", "localhost"))
    for client in (again, live(box)):
        with pytest.raises(LedgerError, match=r"has already texted people|was purged"):
            sent(client, ledger)
    assert len(box.inbox) == 10


@pytest.mark.parametrize("spelled", ["Autumn", "AUTUMN", " autumn", "autumn\u200b", "\uff41utumn"])
def test_a_name_in_another_spelling_is_not_another_campaign(spelled: str, box: Sandbox, ledger: Ledger) -> None:
    sent(live(box), ledger)
    if spelled.strip() == "autumn":  # the blanks are not part of it
        assert sent(live(box), ledger, spelled) == {"accepted": 10}
    else:
        with pytest.raises(LedgerError, match="differs only in spelling from the recorded 'autumn'"):
            sent(live(box), ledger, spelled)
        with pytest.raises(LedgerError, match="has already texted people"):
            sent(live(box, "another"), ledger, spelled)
    assert ledger.record(spelled).name == "autumn"
    assert len(box.inbox) == 10


@pytest.mark.parametrize("typed", ["sandbox:x", "Sandbox:x", " sandbox:x", "\uff53andbox:x"])
def test_nobody_but_a_sandbox_makes_a_rehearsal(typed: str, box: Sandbox) -> None:
    with pytest.raises(UsageError, match="must not begin with 'sandbox:'"):
        live(box, service=typed)


def test_the_id_of_a_sandbox_is_good_at_its_own_address_only(box: Sandbox) -> None:
    with Sandbox() as another, pytest.raises(UsageError, match="must not begin with 'sandbox:'"):
        live(box, service=another.client().service)


def test_a_sandbox_does(box: Sandbox) -> None:
    assert box.client().service == Sandbox.at(box.url).client().service == f"sandbox:{box.id}"


def test_a_person_may_say_that_it_is_the_same_account(box: Sandbox, ledger: Ledger) -> None:
    sent(live(box), ledger)
    assert sent(live(box, "newer", service=live(box).service), ledger) == {"accepted": 10}
    assert len(box.inbox) == 10


def service_at(address: str) -> str:
    return Client(Settings(base_url=address, access_key_id="one")).service


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://sms.example", "HTTPS://SMS.Example:443/"),
        ("https://sms.example", "https://sms.example./"),
        ("https://sms.example/v1", "https://sms.example/v1/"),
        ("http://localhost:8025", "http://127.0.0.1:8025"),
        ("http://localhost:8025", "http://[::1]:8025/"),
        ("https://b\u00fccher.example", "https://xn--bcher-kva.example"),
    ],
)
def test_one_address_has_one_spelling(one: str, other: str) -> None:
    assert service_at(one) == service_at(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://sms.example", "https://sms.example:8443"),
        ("https://sms.example/a", "https://sms.example/b"),
        ("https://sms.example", "https://sms2.example"),
    ],
)
def test_two_addresses_stay_two(one: str, other: str) -> None:
    assert service_at(one) != service_at(other)


@pytest.mark.parametrize("name", ["half a \ud83d sign", "\udcff"])
def test_half_a_character_in_a_name_is_refused_before_anything_is_recorded(name: str) -> None:
    with pytest.raises(UsageError, match=r"campaign= .*half a character"):
        plan_of(10, campaign=name)
