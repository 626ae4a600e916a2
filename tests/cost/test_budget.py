"""Budgets: what is spent, what is expected, and a verdict that follows from the interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from smsotp_nb import cost
from smsotp_nb.errors import UsageError


def sums(days: int = 314, currency: str = "USD") -> pd.DataFrame:
    """Return costs of about 3 a day to 10 November: 30 of November are billed, 60 are to come."""
    costs = (3 + np.random.default_rng(2).normal(0, 0.3, days)).round(4)
    return pd.DataFrame({"day": pd.date_range("2026-11-10", periods=days, freq="-1D"), "currency": currency,
                         "messages": 10, "parts": 10, "cost": costs, "unpriced": 0})  # fmt: skip


def row_of(made: cost.Budget) -> dict[str, Any]:
    assert len(made.totals) == 1
    return {str(name): value for name, value in made.totals.iloc[0].items()}


@pytest.mark.parametrize(
    ("amount", "verdict", "words"),
    [
        (20.0, "spent", "over the budget already"),
        (60.0, "over", "over the budget by"),
        (None, "may be over", "the budget, which may not do"),
        (120.0, "within", "within the budget"),
    ],
)
def test_the_verdict_and_its_words_follow_from_the_interval(amount: float | None, verdict: str, words: str) -> None:
    """None stands for the middle of the interval."""
    expected = cost.forecast(sums()).totals.iloc[0]
    made = cost.budget(sums(), round(expected["expected"], 2) if amount is None else amount)
    row = row_of(made)
    assert row["verdict"] == verdict
    assert row["billed"] == expected["billed"]
    assert row["left"] == pytest.approx(row["budget"] - row["billed"])
    assert row["over"] == pytest.approx(row["expected"] - row["budget"])
    text = " ".join(made.card().text().split())
    others = {"over the budget already", "over the budget by", "which may not do", "within the budget"}
    assert words in text
    assert [each for each in others if each in text] == [each for each in others if each in words]


def test_the_day_on_which_a_budget_is_used_up() -> None:
    """Half of what is left of the month costs half of what is left to spend."""
    steady = sums().assign(cost=3.0)
    assert row_of(cost.budget(steady, 61.5))["used_up"] == pd.Timestamp("2026-11-21")
    assert pd.isna(row_of(cost.budget(steady, 100.0))["used_up"])
    assert pd.isna(row_of(cost.budget(steady, 20.0))["used_up"])
    assert "used up on 2026-11-21" in cost.budget(steady, 61.5).card().text()
    assert row_of(cost.budget(steady, 46.8, month="2026-12"))["used_up"] == pd.Timestamp("2026-12-16")


def test_currencies_have_budgets_of_their_own() -> None:
    both = pd.concat([sums(), sums(currency="EUR")])
    made = cost.budget(both, {"USD": 60, "CNY": 5}).totals.set_index("currency")
    assert made["verdict"].to_dict() == {"EUR": "no budget", "USD": "over", "CNY": "not known"}
    with pytest.raises(UsageError, match="needs one currency, and the history has EUR, USD"):
        cost.budget(both, 60)
    with pytest.raises(UsageError, match="above 0"):
        cost.budget(both, {"USD": 0})


def test_with_a_short_history_there_is_what_is_spent_and_no_forecast() -> None:
    made = cost.budget(sums(40), 60)
    assert row_of(made)["verdict"] == "not known"
    assert "too little history for a forecast" in made.card().state
    assert row_of(cost.budget(sums(40), 20))["verdict"] == "spent"


def test_messages_without_a_price_leave_open_what_is_within_the_budget() -> None:
    """Few of them change nothing: even if each cost as much as the most expensive one, the budget suffices."""
    unknown = sums().assign(cost=np.nan, unpriced=10)
    made = cost.budget(unknown, 60)
    assert row_of(made)["verdict"] == "not known"
    assert "what the messages without a price cost is not known" in made.card().state
    assert "3,140 messages without a price or a rate, in no amount." in made.card().text()
    half = pd.concat([sums(), sums().assign(cost=np.nan, unpriced=10, currency=None)])
    assert row_of(cost.budget(half, 120))["verdict"] == "over"  # as the other half costs
    assert row_of(cost.budget(half, 170))["verdict"] == "not known"
    before = pd.concat([sums(), sums()[10:].assign(cost=np.nan, unpriced=10, currency=None)])
    assert row_of(cost.budget(before, 170))["verdict"] == "within"  # no message of this month is without a price
    few = pd.concat([sums(), sums(1).assign(cost=np.nan, unpriced=10, currency=None)])
    assert row_of(cost.budget(few, 120))["verdict"] == "within"
    assert row_of(cost.budget(half, 20))["verdict"] == "spent"


def rows(month: str = "2026-11", status: str = "in_doubt") -> pd.DataFrame:
    """Return ten messages a day to 10 November at 0.03 each, of which those of a month have another status."""
    at = pd.date_range("2026-01-01 10:00Z", "2026-11-10 10:00Z").repeat(10)
    table = pd.DataFrame({"status": "accepted", "parts": 1, "price": 0.03, "currency": "USD", "iso": "DE", "at": at})
    table.loc[(at.strftime("%Y-%m") == month) & (at.day < 9), ["status", "at", "price"]] = [status, pd.NaT, np.nan]
    return table


def test_rows_in_doubt_are_told_and_may_use_the_budget_up() -> None:
    doubt = "80 rows in doubt, possibly sent and billed, in no amount"
    made = cost.budget(rows(), 8.4)
    assert row_of(made)["verdict"] == "not known"
    assert made.card().state.endswith("and what the rows in doubt cost is not known")
    assert row_of(cost.budget(rows(), 9.0))["verdict"] == "within"
    shown = [made, cost.forecast(rows()), cost.movers(rows(), month="2026-11")]
    assert all(doubt in " ".join(one.card().text().split()) for one in shown)
    told = [one.card().text() for one in (cost.budget(rows(status="rejected"), 8.4), cost.movers(rows("2025-01")))]
    assert not any("in doubt" in text for text in told)


def test_a_difference_has_as_many_places_as_what_it_is_of() -> None:
    exact = sums().assign(cost=3.0)
    assert cost.budget(exact, 90.404702).card().state.endswith("90.00 expected: within the budget, 0.40 left")
    small = cost.budget(exact.assign(cost=0.003), 0.0904).card().state
    assert small.endswith("0.09 expected: within the budget, 0.0004 left")


def test_a_budget_that_is_just_reached() -> None:
    exact = sums().assign(cost=3.0)
    reached = cost.budget(exact, 30)
    assert reached.card().state == "USD 30.00 of 30.00 spent: all of it"
    assert row_of(reached)["used_up"] is pd.NaT
    assert row_of(cost.budget(exact, 90))["verdict"] == "within"
    assert (
        cost.budget(exact, 90).card().state == "USD 30.00 of 90.00 spent, 90.00 expected: within the budget, 0.00 left"
    )
