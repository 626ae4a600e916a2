"""A month's end: what earlier months would have made one expect, with their misses, or nothing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from support.tables import table

from smsotp_nb import Ledger, cost
from smsotp_nb.errors import UsageError

TODAY = dt.date(2026, 11, 16)


def history(amounts: object, days: pd.DatetimeIndex, currency: str = "USD") -> pd.DataFrame:
    costs = np.round(amounts, 6)  # type: ignore[call-overload]
    sums = {"currency": currency, "day": days, "messages": 1, "parts": 1, "cost": costs, "unpriced": 0}
    return pd.DataFrame(sums)


DAYS = pd.date_range("2025-01-01", "2026-11-15")


def test_a_steady_history_is_continued_and_never_missed() -> None:
    row = cost.month_end(history(2.0, DAYS), today=TODAY).iloc[0]
    assert row[["month", "billed", "expected", "low", "high"]].tolist() == ["2026-11", 30.0, 60.0, 60.0, 60.0]
    assert row["mean_miss"] == 0
    assert row["months_tried"] == 12


def test_without_three_earlier_months_nothing_is_foretold() -> None:
    row = cost.month_end(history(2.0, DAYS[-80:]), today=TODAY).iloc[0]
    assert row["billed"] == 30
    assert row[["expected", "low", "high", "method", "mean_miss"]].isna().all()
    assert row["months_tried"] == 0


def test_a_budget_is_compared_with_what_is_expected() -> None:
    found = cost.month_end(history(2.0, DAYS), {"USD": "50", "EUR": 5}, today=TODAY).iloc[0]
    assert found[["budget", "left"]].tolist() == [50.0, -10.0]
    short = cost.month_end(history(2.0, DAYS[-80:]), {"USD": 50}, today=TODAY).iloc[0]
    assert short["left"] == 20, "without an expectation, after what was billed"
    assert "budget" not in cost.month_end(history(2.0, DAYS), today=TODAY)


@pytest.mark.parametrize("budget", [{}, {"USD": "much"}, {"USD": -1}, {"USD": True}, 5])
def test_a_budget_that_is_none_is_refused(budget: object) -> None:
    with pytest.raises(UsageError, match="budget="):
        cost.month_end(history(2.0, DAYS), budget, today=TODAY)  # type: ignore[arg-type]


def test_the_range_is_made_of_the_methods_own_misses() -> None:
    """Days that differ by chance: every method misses every month by something."""
    amounts = np.random.default_rng(1).lognormal(0, 0.5, len(DAYS))
    row = cost.month_end(history(amounts, DAYS), today=TODAY).iloc[0]
    assert row["low"] < row["expected"] < row["high"]
    assert row["mean_miss"] > 0


def test_currencies_stand_apart_and_what_has_no_price_is_told() -> None:
    both = pd.concat([history(2.0, DAYS), history(5.0, DAYS, "EUR")])
    is_partly_priced = (both["currency"] == "EUR") & (both["day"] == "2026-11-03")
    both = both.assign(messages=2, unpriced=is_partly_priced.astype("int64"))
    found = cost.month_end(both, today=TODAY).set_index("currency")
    assert found["expected"].round(6).to_dict() == {"EUR": 150.0, "USD": 60.0}
    assert found["unpriced"].to_dict() == {"EUR": 1, "USD": 0}


def test_what_is_billed_today_is_no_longer_only_expected() -> None:
    late = pd.concat([history(2.0, DAYS), history(90.0, pd.DatetimeIndex(["2026-11-16"]))])
    row = cost.month_end(late, today=TODAY).iloc[0]
    assert row["billed"] == 120
    assert row["expected"] >= 120
    assert row["low"] >= 120


def test_results_and_ledgers_are_read_and_sums_without_days_refused(ledger: Ledger) -> None:
    assert cost.month_end(ledger, today=TODAY).empty
    rows = table(3, at=["2026-11-02T10:00:00Z"] * 3)
    assert cost.month_end(rows, today=TODAY)["billed"].tolist() == [0.0225]
    with pytest.raises(UsageError, match="no column 'day'"):
        cost.month_end(cost.by(table(3), "iso"), today=TODAY)


def walk(random: np.random.Generator, days: pd.DatetimeIndex) -> np.ndarray:
    return np.exp(np.cumsum(random.normal(0, 0.02, len(days)))) * random.lognormal(0, 0.3, len(days))


KINDS: dict[str, Callable[[np.random.Generator, pd.DatetimeIndex], np.ndarray]] = {
    "noise": lambda random, days: random.lognormal(0, 0.5, len(days)),
    "weekdays": lambda random, days: np.where(days.day_of_week < 5, 3.0, 0.2) * random.lognormal(0, 0.3, len(days)),
    "monthly": lambda random, days: np.where(days.day <= 3, 20.0, 1.0) * random.lognormal(0, 0.3, len(days)),
    "growth": lambda random, days: np.exp(np.arange(len(days)) / 400) * random.lognormal(0, 0.3, len(days)),
    "walk": walk,
    "rare": lambda random, days: np.where(random.random(len(days)) < 0.1, random.lognormal(2, 0.7, len(days)), 0.0),
}


@pytest.mark.parametrize("kind", KINDS)
def test_about_four_fifths_of_months_end_within_their_range(kind: str) -> None:
    """Of 60 histories of two years; 80 % are meant, and chance moves 60 by five to either side."""
    random = np.random.default_rng(7)
    days = pd.date_range("2024-12-01", "2026-11-30")
    inside = 0
    for _ in range(60):
        amounts = KINDS[kind](random, days)
        is_known = days <= DAYS[-1]
        row = cost.month_end(history(amounts[is_known], days[is_known]), today=TODAY)
        actual = float(amounts[days >= "2026-11-01"].sum())
        inside += int(row["low"].iloc[0] <= actual <= row["high"].iloc[0])
    assert 39 <= inside <= 58
