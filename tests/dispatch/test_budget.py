"""The money rules: what is in doubt counts as spent, what was not sent does not, and sums are exact however large."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from kills.people import numbers
from kills.service import Service
from support.sending import sent as quietly_sent
from support.sending import status

from smsotp_nb import Ledger, Limits, Plan, Wire, plan
from smsotp_nb._dispatch import guards
from smsotp_nb._ledger import Claim
from smsotp_nb._wire import MessageRecord, SendReply
from smsotp_nb.errors import UsageError

RATES = pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": ["0.0075"]})


pytestmark = pytest.mark.usefixtures("little_patience")


def campaign(rows: int = 60, **options: Any) -> Plan:
    """Sixty people in requests of ten, each request estimated and billed at 0.075."""
    people = pd.DataFrame({"phone": numbers(rows)})
    given = {"rates": RATES, "wire": Wire(chunk_size=10), **options}
    return plan(people, "Hello", to="phone", campaign="autumn", **given)


def sent(service: Service, ledger: Ledger, made: Plan | None = None, **options: Any) -> dict[str, int]:
    return status(quietly_sent(made or campaign(), service.client(), ledger, threads=1, **options))


@pytest.mark.parametrize("fate", ["vanish", "lost", "500", "internal", "garbage", "strangers"])
def test_what_is_in_doubt_counts_as_spent_in_the_call_that_sent_it(fate: str, service: Service, ledger: Ledger) -> None:
    """Of four requests that a budget covers one is in doubt: the other three are sent, and no fourth."""
    service.script(["accept", fate])
    assert sent(service, ledger, limits=Limits(budget={"USD": "0.30"})) == {
        "accepted": 30,
        "in_doubt": 10,
        "planned": 20,
    }


def test_what_is_in_doubt_counts_as_spent_in_the_next_call(service: Service, ledger: Ledger) -> None:
    service.script(["accept", "vanish"])
    sent(service, ledger, limits=Limits(budget={"USD": "0.15"}))
    assert sent(service, ledger, limits=Limits(budget={"USD": "0.15"})) == {
        "accepted": 10,
        "in_doubt": 10,
        "planned": 40,
    }
    assert sent(service, ledger, limits=Limits(budget={"USD": "0.225"})) == {
        "accepted": 20,
        "in_doubt": 10,
        "planned": 30,
    }


def test_what_a_person_said_was_not_accepted_is_not_spent_any_more(service: Service, ledger: Ledger) -> None:
    service.script(["accept", "lost"])
    sent(service, ledger, limits=Limits(budget={"USD": "0.15"}))
    found = ledger.record("autumn")
    found.settle(found.in_doubt, accepted=False)
    assert sent(service, ledger, limits=Limits(budget={"USD": "0.15"})) == {"accepted": 20, "planned": 40}


def test_what_was_refused_is_not_spent(service: Service, ledger: Ledger) -> None:
    service.script(["accept", "refuse"])
    assert sent(service, ledger, limits=Limits(budget={"USD": "0.30"})) == {
        "accepted": 40,
        "rejected": 10,
        "planned": 10,
    }


@pytest.mark.slow
@pytest.mark.parametrize("limits", [Limits(budget={"USD": "0.30"}), Limits(first=40)], ids=str)
def test_what_was_throttled_is_counted_once(limits: Limits, service: Service, ledger: Ledger) -> None:
    """A request that is tried again gives back what it had reserved before it asks anew."""
    service.script(["accept", "throttle", "throttle", "accept", "throttle"])
    assert sent(service, ledger, limits=limits) == {"accepted": 40, "planned": 20}


def test_the_halves_of_a_refused_list_are_counted_once(service: Service, ledger: Ledger) -> None:
    service.script(["accept", "refuse", "accept", "accept"])
    found = sent(service, ledger, campaign().with_wire(isolate_invalid=True), limits=Limits(budget={"USD": "0.30"}))
    assert found == {"accepted": 40, "planned": 20}


# -- amounts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "micros"),
    [
        (0.1 + 0.2, 300_000),
        (np.float64(0.1) * 3, 300_000),
        (sum([0.0075] * 1_000_000), 7_500_000_000),
        (np.float32(0.5), 500_000),
        (np.int64(50), 50_000_000),
        (0.000001, 1),
        ("0.30", 300_000),
    ],
    ids=repr,
)
def test_a_budget_of_floats_is_the_six_decimals_that_it_stands_for(limit: Any, micros: int) -> None:
    assert guards.read(Limits(budget={"USD": limit})).budget == {"USD": micros}


@pytest.mark.parametrize("limit", [0.1234567, 0.0000001, float("nan"), float("inf"), -0.3, True, None], ids=repr)
def test_an_amount_that_is_none_is_refused(limit: Any) -> None:
    with pytest.raises(UsageError, match="budget="):
        guards.read(Limits(budget={"USD": limit}))


@pytest.mark.parametrize(
    "limit", [10**5000, -(10**5000), Decimal("sNaN"), Decimal("1E+999999")], ids=["1", "2", "3", "4"]
)
def test_a_budget_beyond_all_measure_is_refused_in_few_words(limit: object) -> None:
    with pytest.raises(UsageError, match="budget= must give each currency"):
        guards.read(Limits(budget={"USD": limit}))
    with pytest.raises(UsageError, match="budget= must give each currency"):
        guards.read(Limits(budget={10**5000: 5}))


def test_the_estimate_of_a_plan_is_a_budget_that_covers_it(service: Service, ledger: Ledger) -> None:
    """Summed as floats, country by country or row by row."""
    made = campaign()
    assert sent(service, ledger, limits=Limits(budget={"USD": made.estimate["est_cost"].sum()})) == {"accepted": 60}
    assert guards.read(Limits(budget={"USD": sum(made.rows["est_cost"])})).budget == {"USD": 60 * 7500}


def claimed(ledger: Ledger, *, price: int) -> dict[str, int]:
    """Return what is spent when every row of a campaign is billed at this price."""
    with ledger._begin(campaign(), service="a service") as run:
        for chunk in run.chunks():
            claim = run.claim(chunk)
            assert isinstance(claim, Claim)
            records = [MessageRecord("x", to, "US", "1", 1, price) for to in claim.to]
            run.settle_reply(claim, SendReply(tuple(records), currency="USD"), seconds=0.1)
        return {currency: billed for _, currency, billed, _ in run.prices()}


@pytest.mark.parametrize("price", [7500, 10**12])
def test_what_was_spent_is_exact(price: int, ledger: Ledger) -> None:
    assert claimed(ledger, price=price) == {"USD": 60 * price}
