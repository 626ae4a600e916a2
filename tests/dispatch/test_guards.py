"""What holds a campaign back, on the sandbox: rows stay planned, their problem names the guard, and nothing is lost."""

from __future__ import annotations

import dataclasses
import itertools
import threading
import zoneinfo
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from kills import service as scripted
from kills.service import Post, Service

from smsotp_nb import Client, Ledger, Limits, Plan, RequestOptions, Sandbox, Template, plan, preflight, send
from smsotp_nb.errors import CampaignIncomplete, LedgerError, PlanChanged, SmsOtpWarning, UsageError
from smsotp_nb.results import Progress

RATES = pd.DataFrame({"iso": ["US", "AU"], "currency": ["USD", "USD"], "price": ["0.0075", "0.045"]})
PEOPLE = pd.DataFrame({"phone": [f"+12025550{number}" for number in range(100, 160)]})


def campaign(name: str = "autumn", people: pd.DataFrame = PEOPLE, **options: object) -> Plan:
    given: dict[str, object] = {"rates": RATES, "requests": RequestOptions(chunk_size=10), **options}
    return plan(people, "Hello", to="phone", campaign=name, **given)  # type: ignore[arg-type]


def by_problem(results: pd.DataFrame) -> dict[str, int]:
    return {**results["status"].value_counts().to_dict(), **results["problem"].value_counts().to_dict()}


def test_rows_that_two_reasons_hold_back_are_told_both(ledger: Ledger) -> None:
    with Sandbox(balance="0.0225") as box, box.client() as client:
        send(campaign("first", PEOPLE.head(3)), client=client, ledger=ledger, progress=False)
        with pytest.warns(CampaignIncomplete, match=r"balance does not cover .*; other rows are held back .* until"):
            send(campaign("second", PEOPLE.head(4)), client=client, ledger=ledger, progress=False)


def test_a_budget_stops_before_the_request_that_may_cross_it(box: Sandbox, client: Client, ledger: Ledger) -> None:
    """60 rows at 0.0075 in requests of 10 cost 0.45: a budget of 0.30 lets four requests through."""
    with pytest.warns(CampaignIncomplete, match="budget"):
        results = send(campaign(), client=client, ledger=ledger, progress=False, limits=Limits(budget={"USD": "0.30"}))
    assert by_problem(results) == {"accepted": 40, "planned": 20, "BUDGET": 20}
    assert box.inbox["price"].sum() == pytest.approx(0.30)


def test_a_budget_without_a_rate_names_the_country(box: Sandbox, client: Client, ledger: Ledger) -> None:
    """A country without a rate is an error that names it, and nothing is sent."""
    people = pd.DataFrame({"phone": ["+12025550123", "+33199001234"]})
    with pytest.raises(UsageError, match="FR"):
        send(campaign(people=people), client=client, ledger=ledger, progress=False, limits=Limits(budget={"USD": 5}))
    assert len(box.inbox) == 0


def test_a_budget_in_another_currency_is_refused(client: Client, ledger: Ledger) -> None:
    """Amounts of different currencies are never compared."""
    with pytest.raises(UsageError, match="USD"):
        send(campaign(), client=client, ledger=ledger, progress=False, limits=Limits(budget={"EUR": 5}))


def test_a_canary_sends_n_and_no_more_when_called_again(box: Sandbox, client: Client, ledger: Ledger) -> None:
    """Restart and Run All with a canary texts nobody further; the call without it sends the rest."""
    for _ in range(2):
        with pytest.warns(CampaignIncomplete, match="first recipients"):
            results = send(campaign(), client=client, ledger=ledger, progress=False, limits=Limits(first=13))
        assert by_problem(results) == {"accepted": 13, "planned": 47, "CANARY": 47}
    results = send(campaign(), client=client, ledger=ledger, progress=False)
    assert by_problem(results) == {"accepted": 60}
    assert box.inbox["to"].is_unique


def test_quiet_hours_go_by_the_numbers_own_clock(box: Sandbox, client: Client, ledger: Ledger) -> None:
    """Now is quiet in one of two places: its rows wait as planned, the others go, and a later call sends them."""
    now = datetime.now(UTC)
    sydney = now.astimezone(zoneinfo.ZoneInfo("Australia/Sydney")).hour
    people = pd.DataFrame({"phone": ["+12025550123", "+61491570156"]})
    hours = (f"{sydney:02}:00", f"{(sydney + 2) % 24:02}:00")
    with pytest.warns(CampaignIncomplete):
        results = send(
            campaign(people=people), client=client, ledger=ledger, progress=False, limits=Limits(quiet_hours=hours)
        )
    # The mobile number of Australia may be in any of its zones; Sydney's is enough to hold it.
    assert results["status"].tolist() == ["accepted", "planned"]
    assert results["problem"].tolist()[1] == "QUIET_HOURS"
    results = send(campaign(people=people), client=client, ledger=ledger, progress=False)
    assert results["status"].tolist() == ["accepted", "accepted"]
    assert results["problem"].isna().all()


def test_a_run_of_refusals_stops_the_campaign(box: Sandbox, client: Client, ledger: Ledger) -> None:
    """Three refused requests in a row end the call; what was not tried stays planned."""
    made = plan(
        PEOPLE, Template("no_such_template"), to="phone", campaign="autumn", requests=RequestOptions(chunk_size=10)
    )
    with pytest.warns(CampaignIncomplete, match="too many requests in a row"):
        results = send(
            made.with_requests(threads=1), client=client, ledger=ledger, progress=False, limits=Limits(stop_after=3)
        )
    assert by_problem(results) == {"rejected": 30, "REJECTED": 30, "planned": 30, "FAILING": 30}
    assert len(box.inbox) == 0


def test_the_refused_numbers_of_a_list_are_found(box: Sandbox, client: Client, ledger: Ledger) -> None:
    """isolate_invalid=True posts a list refused with 107111 in halves; the refused number alone is rejected."""
    people = pd.DataFrame({"phone": [*PEOPLE["phone"].head(9), "+19075550111"]})
    results = send(
        campaign(people=people).with_requests(isolate_invalid=True), client=client, ledger=ledger, progress=False
    )
    assert results["status"].tolist() == ["accepted"] * 9 + ["rejected"]
    assert ledger.record("autumn").details["error_code"].tolist()[-1] == "107111"
    assert box.inbox["to"].is_unique


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"budget": {"usd": 5}}, "three capitals"),
        ({"budget": {"USD": "much"}}, "budget="),
        ({"budget": 5}, "a dict of currency"),
        ({"quiet_hours": ("21", "8")}, "two times"),
        ({"quiet_hours": ("21:00", "21:00")}, "different"),
        ({"first": 0}, "first= must be a whole number of at least 1, or None"),
        ({"first": True}, "first="),
        ({"stop_after": -1}, "stop_after="),
        ({"per_second": 0}, "per_second="),
    ],
    ids=str,
)
def test_a_guard_that_makes_no_sense_is_refused(asked: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Limits(**asked)  # type: ignore[arg-type]


def test_a_cancelled_call_returns_the_table_and_the_next_goes_on(box: Sandbox, client: Client, ledger: Ledger) -> None:
    """An event set from another place ends the call without an exception; nobody is texted twice afterwards."""
    stop = threading.Event()

    def after_some(told: Progress) -> None:
        if told.accepted >= 10:
            stop.set()

    box.fault("latency", seconds=0.2)  # the progress is told a few times in a second
    with pytest.warns(CampaignIncomplete, match="send again"):
        results = send(
            campaign().with_requests(threads=1), client=client, ledger=ledger, progress=after_some, stop=stop
        )
    assert 10 <= (results["status"] == "accepted").sum() < 60
    assert set(results["status"]) == {"accepted", "planned"}
    box.fault("latency", seconds=0)
    assert send(campaign(), client=client, ledger=ledger, progress=False)["status"].eq("accepted").all()
    assert box.inbox["to"].is_unique


def test_only_who_was_added_is_texted_under_a_new_name(box: Sandbox, client: Client, ledger: Ledger) -> None:
    """A grown list is refused under its old name; exclude= leaves out whom the recorded campaign has."""
    send(campaign(people=PEOPLE.head(50)), client=client, ledger=ledger, progress=False)
    with pytest.raises(PlanChanged, match="10 recipients added") as refused:
        send(campaign(), client=client, ledger=ledger, progress=False)
    assert "sms.revise(plan, client" in str(refused.value)
    added = campaign("autumn, added", exclude=ledger.record("autumn"))
    assert added.skipped["problem"].eq("EXCLUDED").sum() == 50
    send(added, client=client, ledger=ledger, progress=False)
    assert len(box.inbox) == 60
    assert box.inbox["to"].is_unique


def test_a_purged_campaign_holds_no_number_and_is_never_sent_again(
    box: Sandbox, client: Client, ledger: Ledger, tmp_path: Path
) -> None:
    """purge takes the numbers out of the file; the name stays taken, for nobody knows who was texted."""
    send(campaign(), client=client, ledger=ledger, progress=False)
    ledger.record("autumn").export(tmp_path / "autumn.csv")

    def held() -> bool:
        """Say whether the ledger's files hold a number, as SQLite writes one."""
        files = [path.read_bytes() for path in tmp_path.glob("ledger.sqlite*") if path.is_file()]
        return any(int("12025550123").to_bytes(6, "big") in file for file in files)

    assert held()
    with pytest.warns(SmsOtpWarning, match=r"exported table .*autumn\.csv"):
        assert ledger.record("autumn").purge() == 60
    ledger.close()
    assert not held()
    with pytest.raises(LedgerError, match="purged"):
        send(campaign(), client=client, ledger=ledger, progress=False)
    assert len(box.inbox) == 60
    assert len(pd.read_csv(tmp_path / "autumn.csv")) == 60


def test_a_value_that_no_message_can_carry_is_a_row_with_a_problem(
    box: Sandbox, client: Client, ledger: Ledger
) -> None:
    """Half a surrogate pair in a cell skips its row; the others go."""
    people = pd.DataFrame({"phone": PEOPLE["phone"].head(3), "name": ["Ann", "B\ud800b", "Cem"]}, dtype=object)
    made = plan(people, "Hi {name}", to="phone", campaign="autumn")
    results = send(made, client=client, ledger=ledger, progress=False)
    assert results["status"].tolist() == ["accepted", "skipped", "accepted"]


def test_a_text_that_no_request_can_carry_leaves_nothing_in_doubt(
    box: Sandbox, client: Client, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Should such a text reach the client all the same: the call ends with its error, the row is planned."""
    people = pd.DataFrame({"phone": PEOPLE["phone"].head(3), "name": ["Ann", "Bob", "Cem"]})
    made = plan(people, "Hi {name}", to="phone", campaign="autumn")
    message = Plan._message

    def broken(self: Plan, n: int) -> object:
        return dataclasses.replace(message(self, n), **({"text": "\ud800"} if n == 1 else {}))

    monkeypatch.setattr(Plan, "_message", broken)
    with pytest.raises(UsageError, match="surrogate"):
        send(made.with_requests(threads=1), client=client, ledger=ledger, progress=False)
    assert ledger.record("autumn").counts["in_doubt"] == 0
    assert ledger.record("autumn").counts["accepted"] == len(box.inbox) == 1


def test_the_outlook_names_what_would_hold_rows_back(box: Sandbox, client: Client, ledger: Ledger) -> None:
    """Before a send the card says where to, what is left and what each guard would do; it records and sends nothing."""
    night = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)  # half past three in the morning in Washington
    card = preflight(
        campaign(),
        client=client,
        ledger=ledger,
        now=lambda: night,
        limits=Limits(budget={"USD": "0.30"}, per_second=6, first=5),
    )
    said = " ".join(card.text().split())
    for words in (
        "the sandbox: nobody is texted",
        str(ledger.path),
        "5 recipients to go now",
        "about 1 s",
        "CANARY 55 ",
        "Nothing has been sent",
    ):
        assert words in said
    assert len(box.inbox) == len(ledger.campaigns()) == 0


def test_the_outlook_of_a_running_campaign_says_what_is_recorded(client: Client, ledger: Ledger) -> None:
    """After a canary the card counts who is done and who is left."""
    with pytest.warns(CampaignIncomplete):
        send(campaign(), client=client, ledger=ledger, progress=False, limits=Limits(first=5))
    night = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)
    hours = {"limits": Limits(quiet_hours=("21:00", "08:00")), "now": lambda: night}
    said = " ".join(preflight(campaign(), client=client, ledger=ledger, **hours).text().split())
    assert "0 recipients to go now" in said
    assert "QUIET_HOURS 55 " in said
    assert "were accepted 5 " in said


def test_the_record_shows_itself_as_cards(box: Sandbox, client: Client, ledger: Ledger) -> None:
    """Ledger and campaign have a card; a row in doubt stands with its evidence and a masked number."""
    box.fault("drop_after", next=1)
    with pytest.warns(SmsOtpWarning):
        send(campaign(people=PEOPLE.head(12)).with_requests(threads=1), client=client, ledger=ledger, progress=False)
    said = ledger.card().text()
    assert "autumn" in said
    assert "sandbox" in said
    one = ledger.record("autumn").card()
    assert " ".join(one.text().split()).count("10 in doubt") == 1
    assert "awaiting" in one.text()
    assert "+1202...0100" in one.html()
    assert "+12025550100" not in one.html()


@pytest.mark.parametrize("accepted", [None, "no", "yes", 0, 1, "", [], 1.0], ids=repr)
def test_a_doubt_is_resolved_by_true_or_false_and_by_nothing_else(
    accepted: object, box: Sandbox, client: Client, ledger: Ledger
) -> None:
    """``accepted=None`` is no answer: taken for False it would text people again."""
    box.fault("drop_after", next=1)
    with pytest.warns(SmsOtpWarning):
        send(campaign(people=PEOPLE.head(5)), client=client, ledger=ledger, progress=False)
    found = ledger.record("autumn")
    with pytest.raises(UsageError, match=r"True .* or False"):
        found.settle(found.in_doubt, accepted=accepted)  # type: ignore[arg-type]
    assert found.counts["in_doubt"] == 5
    assert found.settle(found.in_doubt.head(2), accepted=np.True_) == 2
    assert found.settle(found.in_doubt, accepted=np.bool_(0)) == 3
    assert (found.counts["accepted"], found.counts["planned"]) == (2, 3)


# -- what the service bills is not what the rates say ------------------------------------------------------------------


def rates(price: str) -> pd.DataFrame:
    return pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": [price]})


@pytest.fixture
def billing(ledger: Ledger) -> Iterator[Callable[..., float]]:
    """Send a campaign of 60 people in requests of 10 under a budget of USD 0.30; return what the service billed."""
    with Service() as service, service.client() as client:

        def sent(price: str, *billed: str | None, **more: Any) -> float:
            prices = itertools.cycle(billed)

            def result(post: Post, price: Any) -> dict[str, Any]:
                said = real(post, price) | {"currency": more.get("currency", "USD")}
                said["totalAmount"] = more.get("total", said["totalAmount"])
                for record in said["messages"]:
                    record["price"] = next(prices)
                    total.append(float(record["price"] or 0))
                return said

            with mock.patch("kills.service.result", result), pytest.warns(SmsOtpWarning):
                send(
                    campaign(rates=rates(price)).with_requests(threads=more.get("threads", 1)),
                    client=client,
                    ledger=ledger,
                    progress=False,
                    limits=Limits(budget={"USD": "0.30"}),
                )
            return sum(total)

        real, total = scripted.result, list[float]()
        yield sent


@pytest.mark.parametrize("price", ["0", "0.0001", "0.0075"])
def test_a_budget_holds_whatever_the_rates_say(billing: Callable[..., float], price: str) -> None:
    """Of a price of 0.02, one request of 10 is let through, and no second one: its price is known by then."""
    assert billing(price, "0.020000") == pytest.approx(0.20)
    assert billing(price, "0.020000") == pytest.approx(0.20), "the next call knows what was spent and learned"


def test_a_budget_is_exceeded_by_no_more_than_the_requests_under_way(billing: Callable[..., float]) -> None:
    assert billing("0", "0.070000", threads=3) <= 0.30 + 3 * 10 * 0.07


def test_free_messages_and_those_without_a_price_teach_a_budget_nothing(billing: Callable[..., float]) -> None:
    """A message without a price counts as the others were billed."""
    assert 0.09 <= billing("0", "0.000000", "0.010000", None) <= 0.30


def test_a_budget_stops_where_nobody_knows_what_was_spent(billing: Callable[..., float], ledger: Ledger) -> None:
    billing("0", None, total=None)
    assert ledger.record("autumn").counts["accepted"] == 10


def test_a_budget_holds_by_totals_where_the_service_states_no_price(
    billing: Callable[..., float], ledger: Ledger
) -> None:
    """A request of 10 has a total of 0.075: within 0.30 there are four."""
    billing("0", None)
    assert ledger.record("autumn").counts["accepted"] == 40


def test_a_budget_stops_where_the_service_bills_in_another_currency(
    billing: Callable[..., float], ledger: Ledger
) -> None:
    for _ in range(2):
        billing("0.0075", "0.007500", currency="EUR")
        assert ledger.record("autumn").counts["accepted"] == 10
