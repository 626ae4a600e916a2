"""What a month will cost, by the plain method that was nearest in earlier months, with its misses as the range."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias

import numpy as np
import pandas as pd

from .._amounts import exact
from .._calling import given, in_our_words
from .._moments import utc_now
from .._wire import micros as read_micros
from ..errors import UsageError
from .rows import Source
from .sums import by

Budget: TypeAlias = Mapping[str, float | str | Decimal]

_WEEKS: Final = 8  # of which the mean of each weekday is taken: enough to level one campaign, short enough to follow
_FEWEST_DAYS: Final = 28  # a method that knows less than four weeks says nothing
_MOST_MONTHS: Final = 12  # earlier months that each method is tried on
_FEWEST_MONTHS: Final = 3  # of fewer misses there is no range, and nothing is foretold
_LEVEL: Final = 0.8  # share of the misses within the range

_COLUMNS: Final = {
    "currency": "object",
    "month": "object",
    "billed": "float64",
    "expected": "float64",
    "low": "float64",
    "high": "float64",
    "method": "object",
    "months_tried": "Int64",
    "mean_miss": "float64",
    "unpriced": "Int64",
}


@in_our_words
def month_end(history: Source, budget: Budget | None = None, *, today: dt.date | None = None) -> pd.DataFrame:
    """Return what this month will have cost at its end, and whether a budget covers it.

    Three plain methods foretell the rest of the month: the mean of each weekday over eight weeks, the same days of the
    last three months, and those of last year times the growth since. Each is tried on up to twelve earlier months from
    the same day of the month; the one that was nearest counts, and four fifths of its misses are the range. It is what
    earlier months would have made one expect: what is planned and was never so before, it does not know.

    Args:
        history: as for `by`, with days: a Ledger, its path, a Record, results, or `spending`.
        budget: what the month may cost by currency, such as ``{"USD": 50}``.
        today: the day up to which costs are known, it itself not; by default today, UTC.

    Returns:
        A row for each currency: ``currency, month`` (such as 2026-11), ``billed`` (float64: so far, of all days in the
        table), ``expected, low, high`` (float64: at the month's end; missing where fewer than three earlier months can
        be tried), ``method``, ``months_tried`` (Int64), ``mean_miss`` (float64: by how much it missed them on average,
        as a share of what they cost), ``unpriced`` (Int64: messages of the month without a price, in no amount); with a
        budget also ``budget`` and ``left`` (float64: after what is expected; below 0 it will be exceeded).

    Raises:
        UsageError: not costs with days, or not a budget.

    Example:
        >>> days = pd.date_range("2026-01-01", "2026-11-10")
        >>> costs = pd.DataFrame({"currency": "USD", "day": days, "messages": 1, "parts": 1, "unpriced": 0})
        >>> costs = costs.assign(cost=1.0)
        >>> month_end(costs, {"USD": 25}, today=dt.date(2026, 11, 11))[["billed", "expected", "left"]].values.tolist()
        [[10.0, 30.0, -5.0]]
    """
    limits = _read_budget(budget)
    origin = pd.Timestamp(utc_now().date() if today is None else today).normalize().tz_localize(None)
    first = origin.replace(day=1)
    table = by(history, "day")
    table = table.assign(day=pd.to_datetime(table["day"]))
    is_month = (table["day"] >= first) & (table["day"] < first + pd.offsets.MonthBegin(1))
    rows = []
    for currency, days in table.dropna(subset=["currency"]).groupby("currency", sort=True):
        of_month = days[is_month.reindex(days.index)]
        billed = math.fsum(of_month["cost"].dropna())
        costs = days.set_index("day")["cost"].fillna(0.0)
        costs = costs.reindex(pd.date_range(costs.index.min(), max(costs.index.max(), origin)), fill_value=0.0)
        row: dict[str, object] = {"currency": currency, "month": f"{first:%Y-%m}", "billed": round(billed, 6)}
        row["unpriced"] = int(of_month["unpriced"].sum())
        rows.append(row | _forecast(costs, origin, first, billed))
    result = pd.DataFrame(rows, columns=[*_COLUMNS]).astype(_COLUMNS)
    if budget is None:
        return result
    limit = result["currency"].map(limits).astype("float64")
    return result.assign(budget=limit, left=(limit - result["expected"].fillna(result["billed"])).round(6))


def _forecast(costs: pd.Series, origin: pd.Timestamp, first: pd.Timestamp, billed: float) -> dict[str, object]:
    """Return what a month is expected to come to; only what is certain where too few months can be tried."""
    before = math.fsum(costs[first : origin - pd.Timedelta(days=1)])
    best = _best_method(costs, origin, first)
    if best is None:
        return {"method": None, "months_tried": 0}
    # Something may have been billed since the day from which on nothing is known.
    expected, low, high = (
        max(before + amount, billed) for amount in (best.rest, best.rest - best.margin, best.rest + best.margin)
    )
    return {
        "expected": round(expected, 6),
        "low": round(low, 6),
        "high": round(high, 6),
        "method": best.method,
        "months_tried": best.months,
        "mean_miss": round(best.mean_miss, 4),
    }


@dataclass(frozen=True, slots=True)
class _Best:
    """What the rest of a month costs by the method that was nearest, and how far it was off."""

    method: str
    rest: float
    margin: float
    months: int
    mean_miss: float


def _best_method(costs: pd.Series, origin: pd.Timestamp, first: pd.Timestamp) -> _Best | None:
    end = first + pd.offsets.MonthBegin(1)
    best: _Best | None = None
    for name, method in _METHODS.items():
        rest = method(costs, origin, origin, end)
        misses, came = _misses(method, costs, origin, end)
        if math.isnan(rest) or len(misses) < _FEWEST_MONTHS:
            continue
        scale = float(np.mean(came)) or 1.0
        mean_miss = float(np.mean(misses)) / scale
        margin = float(np.quantile(np.array(misses) / scale, _LEVEL, method="weibull")) * max(rest, 0.0)
        if best is None or mean_miss < best.mean_miss:
            best = _Best(name, rest, margin, len(misses), mean_miss)
    return best


_Method: TypeAlias = Callable[[pd.Series, pd.Timestamp, pd.Timestamp, pd.Timestamp], float]


def _misses(
    method: _Method, costs: pd.Series, origin: pd.Timestamp, end: pd.Timestamp
) -> tuple[list[float], list[float]]:
    """Return by how much a method would have missed the rests of earlier months, and what these came to."""
    misses, came = [], []
    for months in range(1, _MOST_MONTHS + 1):
        then, then_end = _earlier(origin, months), _earlier(end, months)
        if (then - costs.index[0]).days < _FEWEST_DAYS:
            break
        actual = _total(costs, then, then_end, origin)
        expected = method(costs, then, then, then_end)
        if not math.isnan(actual) and not math.isnan(expected):
            misses.append(abs(expected - actual))
            came.append(actual)
    return misses, came


def _earlier(day: pd.Timestamp, months: int) -> pd.Timestamp:
    return day - pd.DateOffset(months=months)


def _total(costs: pd.Series, begin: pd.Timestamp, end: pd.Timestamp, known: pd.Timestamp) -> float:
    """Return what was billed from one day to before another; missing where not all of it is known."""
    if begin < costs.index[0] or end > known:
        return math.nan
    return float(costs[begin : end - pd.Timedelta(days=1)].sum())


def _by_weekday(costs: pd.Series, origin: pd.Timestamp, begin: pd.Timestamp, end: pd.Timestamp) -> float:
    known = costs[: origin - pd.Timedelta(days=1)].iloc[-7 * _WEEKS :]
    if len(known) < _FEWEST_DAYS:
        return math.nan
    weekday = pd.DatetimeIndex(known.index).day_of_week
    means = known.groupby(weekday).mean()
    return float(means.reindex(pd.date_range(begin, end, inclusive="left").day_of_week).fillna(0.0).sum())


def _by_last_months(costs: pd.Series, origin: pd.Timestamp, begin: pd.Timestamp, end: pd.Timestamp) -> float:
    totals = [_total(costs, _earlier(begin, months), _earlier(end, months), origin) for months in (1, 2, 3, 4)]
    known = [total for total in totals if not math.isnan(total)][:3]
    return float(np.mean(known)) if len(known) >= 2 else math.nan


def _by_last_year(costs: pd.Series, origin: pd.Timestamp, begin: pd.Timestamp, end: pd.Timestamp) -> float:
    then = _total(costs, _earlier(begin, 12), _earlier(end, 12), origin)
    now = _total(costs, _earlier(origin, 2), origin, origin)
    before = _total(costs, _earlier(origin, 14), _earlier(origin, 12), origin)
    if math.isnan(before) or before <= 0:
        return math.nan
    return then * now / before


_METHODS: Final[dict[str, _Method]] = {
    "weekdays of eight weeks": _by_weekday,
    "same days of three months": _by_last_months,
    "last year times growth": _by_last_year,
}


def _read_budget(budget: Budget | None) -> dict[str, float]:
    if budget is None:
        return {}
    if not isinstance(budget, Mapping) or not budget:
        raise UsageError(f"budget= must be a dict of currency to amount, such as {{'USD': 50}}, got {given(budget)}")
    limits = {}
    for currency, limit in budget.items():
        is_number = isinstance(limit, int | float | str | Decimal) and not isinstance(limit, bool)
        micros = None
        if is_number:
            try:
                micros = read_micros(f"{exact(limit):f}")
            except ArithmeticError:
                micros = None
        if micros is None:
            raise UsageError(f"budget= must give each currency an amount, got {given(currency)}: {given(limit)}")
        limits[currency] = micros / 1_000_000
    return limits
