"""The money rules: what is in doubt counts as spent, what was not sent does not, and sums are exact however large."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from typing import Any

import numpy as np
import pandas as pd
import pytest
from kills.people import numbers
from kills.service import Service
from support.sending import sent as quietly_sent
from support.sending import status

from smsotp_nb import Ledger, Limits, Plan, RequestOptions, plan
from smsotp_nb.errors import UsageError

RATES = pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": ["0.0075"]})


pytestmark = pytest.mark.usefixtures("little_patience")


def campaign(rows: int = 60, **options: Any) -> Plan:
    """Sixty people in requests of ten, each request estimated and billed at 0.075."""
    people = pd.DataFrame({"phone": numbers(rows)})
    given = {"rates": RATES, "requests": RequestOptions(chunk_size=10), **options}
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
    found = sent(service, ledger, campaign().with_requests(isolate_invalid=True), limits=Limits(budget={"USD": "0.30"}))
    assert found == {"accepted": 40, "planned": 20}


# -- amounts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "limit", [0.1 + 0.2, np.float64(0.1) * 3, sum([0.0075] * 40), Decimal("0.3"), "0.30"], ids=repr
)
def test_a_budget_of_floats_is_the_six_decimals_that_it_stands_for(
    limit: Any, service: Service, ledger: Ledger
) -> None:
    """Forty messages of 0.0075 are within it, and the next one is beyond it."""
    assert sent(service, ledger, limits=Limits(budget={"USD": limit})) == {"accepted": 40, "planned": 20}


@pytest.mark.parametrize("limit", [0.1234567, 0.0000001, float("nan"), float("inf"), -0.3, True, None], ids=repr)
def test_an_amount_that_is_none_is_refused(limit: Any, service: Service, ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="budget="):
        sent(service, ledger, limits=Limits(budget={"USD": limit}))


def test_the_estimate_of_a_plan_is_a_budget_that_covers_it(service: Service, ledger: Ledger) -> None:
    """Summed as floats, country by country or row by row."""
    made = campaign()
    assert sent(service, ledger, limits=Limits(budget={"USD": made.estimate["est_cost"].sum()})) == {"accepted": 60}


@pytest.mark.parametrize("price", ["0.0075", "1000000"])
def test_what_was_spent_is_exact(price: str, ledger: Ledger) -> None:
    """One request is in doubt and counts by its estimate, the others by their bills: to the last digit."""
    made, whole = campaign(rates=RATES.assign(price=price)), 60 * Decimal(price)
    with Service(price=Decimal(price)) as service:
        service.script(["accept", "lost"])
        short = Limits(budget={"USD": whole - Decimal("0.000001")})
        assert sent(service, ledger, made, limits=short) == {"accepted": 40, "in_doubt": 10, "planned": 10}
        assert sent(service, ledger, made, limits=Limits(budget={"USD": whole})) == {"accepted": 50, "in_doubt": 10}


# -- two statements of what it cost, two currencies --------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*totalAmount")
@pytest.mark.parametrize("fate", ["twice", "total only"])
def test_of_a_total_and_its_prices_the_higher_one_is_spent(fate: str, ledger: Ledger) -> None:
    """Requests are estimated at 0.075 and their total says 0.15: within 0.40 there is room for two."""
    with Service(usual=fate) as service:
        found = sent(service, ledger, limits=Limits(budget={"USD": "0.40"}))
        assert len(service.posts) == 2
    assert found["planned"] == 40


@pytest.mark.filterwarnings("ignore:.*totalAmount")
@pytest.mark.parametrize("fate", ["twice", "total only"])
def test_a_total_above_its_prices_is_spent_in_the_next_call_too(fate: str, ledger: Ledger) -> None:
    with Service(usual=fate) as service:
        sent(service, ledger, limits=Limits(budget={"USD": "0.15"}))
        assert len(service.posts) == 1
        sent(service, ledger, limits=Limits(budget={"USD": "0.20"}))
        assert len(service.posts) == 1


def test_the_budget_of_a_currency_holds_that_the_account_was_switched_to(service: Service, ledger: Ledger) -> None:
    service.script(["accept", *["in CHF"] * 5])
    found = sent(service, ledger, limits=Limits(budget={"USD": 5, "CHF": "0.16"}))
    assert found == {"accepted": 30, "planned": 30}


def test_the_currency_of_a_switched_account_counts_for_rows_of_other_estimates(
    service: Service, ledger: Ledger
) -> None:
    """The second country is not billed yet when the CHF of the budget are all spent."""
    people = pd.DataFrame({"phone": [*numbers(20), *[f"+4367612345{last:02d}" for last in range(20)]]})
    rates = pd.DataFrame({"iso": ["US", "AT"], "currency": "USD", "price": ["0.0075", "0.01"]})
    made = plan(people, "Hello", to="phone", campaign="autumn", rates=rates, requests=RequestOptions(chunk_size=10))
    service.script(["in CHF"] * 4)
    found = sent(service, ledger, made, limits=Limits(budget={"USD": 5, "CHF": "0.15"}))
    assert found == {"accepted": 20, "planned": 20}


def test_a_budget_is_kept_whatever_the_decimal_context_of_the_notebook(ledger: Ledger) -> None:
    made = campaign(rates=RATES.assign(price="0.561725"))
    with Service(price=Decimal("0.561725")) as service, localcontext(Context(prec=4)):
        found = sent(service, ledger, made, limits=Limits(budget={"USD": "12.345678"}))
    assert found == {"accepted": 20, "planned": 40}
