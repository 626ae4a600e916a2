"""Forecasts of a month, by the days before it, and of a plan, by what earlier campaigns cost.

Each is made as of earlier moments as well. How far it was off then is also where the interval comes from (conformal
prediction).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._pandas import STR
from .._planning import Plan
from ..errors import UsageError

LEAST: Final = 4  # forecasts tried; fewer say nothing about the next one


class Tried(NamedTuple):
    """A forecast in micro-units as of an earlier day or campaign, and what came."""

    currency: str
    method: str
    as_of: str
    expected: float
    actual: float

    @property
    def off(self) -> float:
        return abs(self.actual - self.expected)


class Margin(NamedTuple):
    """How far off a forecast may be: ``size`` is a share of what is expected, or an amount."""

    size: float
    is_share: bool

    def around(self, expected: float) -> tuple[float, float]:
        """Return the interval around a forecast, which does not begin below zero.

        Example:
            >>> Margin(0.25, True).around(100.0), Margin(150.0, False).around(100.0)
            ((75.0, 125.0), (0.0, 250.0))
        """
        reach = self.size * expected if self.is_share else self.size
        return max(0.0, expected - reach), expected + reach


def margin(tried: Sequence[Tried], level: float) -> Margin:
    """Return how far off this share of the forecasts was at most; the coming one is counted as one more of them.

    It is a share of what was expected, unless one of them expected nothing.
    """
    is_share = all(one.expected > 0 for one in tried)
    offs = sorted(one.off / one.expected if is_share else one.off for one in tried)
    return Margin(offs[min(len(offs), math.ceil((len(offs) + 1) * level)) - 1], is_share)


def reached(tried: int, level: float) -> float:
    """Return the level that so many forecasts can vouch for, at most the one asked for."""
    return min(level, tried / (tried + 1))


def missed(tried: Sequence[Tried]) -> float | None:
    """Return by how much these forecasts were off on average, as a share of what came on average; None of nothing."""
    came = sum(one.actual for one in tried)
    return sum(one.off for one in tried) / came if came else None


Floats: TypeAlias = npt.NDArray[np.float64]

WEEK: Final = 7
LATEST: Final = 8  # weeks whose mean is the baseline
DAYS_TRIED: Final = 12  # earlier days at which the history is cut off, at most
APART: Final = 14  # days between them
TRAINED: Final = LATEST * WEEK  # days before the first of them


class Span(NamedTuple):
    """The days that are forecast, counted from the end of the history."""

    first: int
    last: int


Way: TypeAlias = Callable[[Floats, Span], float]


def least(span: Span) -> int:
    """Return how many days of history the forecast of a span needs."""
    return TRAINED + span.last + (LEAST - 1) * APART


def weekly_pattern(days: Floats, span: Span) -> float:
    """Forecast that each day costs what this day of the week cost on average over the latest weeks."""
    return float(_weeks(days, LATEST).mean(axis=0)[np.arange(*span) % WEEK].sum())


def smoothing(days: Floats, span: Span) -> float:
    """Forecast a week by exponential smoothing of weeks, and its days by their share over the latest weeks."""
    weeks = _weeks(days, len(days))
    latest = weeks[-LATEST:].sum(axis=0)
    if latest.sum() <= 0:
        return 0.0
    share = (latest / latest.sum())[np.arange(*span) % WEEK].sum()
    return max(0.0, _smoothed(weeks.sum(axis=1)) * float(share))


def _smoothed(sums: Floats) -> float:
    """Return the level of the coming weeks."""
    scale = float(sums.mean())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on a flat history the fit warns; the backtest judges it
        fitted = _library()(sums / scale, initialization_method="estimated").fit()
    return float(fitted.forecast(1)[0]) * scale


def _library() -> Any:
    try:
        from statsmodels.tsa.holtwinters import SimpleExpSmoothing
    except ImportError:
        raise UsageError(
            "a forecast by exponential smoothing needs the extra: pip install 'smsotp_nb[statistics]'; "
            'method="weekly pattern" needs no more'
        ) from None
    return SimpleExpSmoothing


def _weeks(days: Floats, most: int) -> Floats:
    """Return the latest whole weeks, each beginning on the weekday after the history."""
    whole = min(most, len(days) // WEEK)
    return days[len(days) - whole * WEEK :].reshape(whole, WEEK)


WAYS: Final[dict[str, Way]] = {"smoothing": smoothing, "weekly pattern": weekly_pattern}
BASELINE: Final = "weekly pattern"


def month_backtests(
    days: Floats, span: Span, methods: Sequence[str], *, currency: str, end: pd.Timestamp
) -> list[Tried]:
    """Forecast the same span as of days before ``end``, 14 apart, by each method; the latest comes first."""
    cuts = range(len(days) - span.last, TRAINED - 1, -APART)[:DAYS_TRIED]
    return [_tried_month(days, cut, span, method, currency, end) for cut in cuts for method in methods]


def _tried_month(days: Floats, cut: int, span: Span, method: str, currency: str, end: pd.Timestamp) -> Tried:
    as_of = end - pd.Timedelta(days=len(days) - cut)
    came = float(days[cut + span.first : cut + span.last].sum())
    return Tried(currency, method, f"{as_of:%Y-%m-%d}", WAYS[method](days[:cut], span), came)


def chosen(tried: Sequence[Tried], methods: Sequence[str]) -> str:
    """Return the method that was off less than the baseline, the baseline if none was, or the only one asked for."""
    if len(methods) == 1:
        return methods[0]
    off = {method: sum(one.off for one in tried if one.method == method) for method in methods}
    best = min(off, key=off.__getitem__)
    return best if off[best] < off[BASELINE] else BASELINE


METHOD: Final = "learned rates"
RATES_OF: Final = 3  # latest campaigns of a country: what a part costs now
SHARES_OF: Final = 12  # latest campaigns: the share that is accepted, and parts for each estimated one
CAMPAIGNS_TRIED: Final = 24  # campaigns that are forecast from those before them, at most
_SUMS: Final = ("messages", "refused", "parts", "micros", "compared", "compared_parts", "est_parts")


class Shares(NamedTuple):
    """The share of messages that was accepted, and the parts that were billed for each estimated one."""

    accepted: float
    parts: float


def history(rows: pd.DataFrame) -> pd.DataFrame:
    """Return sums by campaign, currency and country of the number, in the order in which the campaigns began.

    ``number`` counts the campaigns from 0. Campaigns with messages whose price could not be read are left out.
    """
    if rows["campaign"].isna().all():
        raise UsageError(
            "the history names no campaigns, so a plan cannot be forecast from it; give results or a ledger"
        )
    named = rows.assign(region=rows["region"].fillna(rows["iso"])).dropna(subset=["campaign", "currency", "region"])
    unpriced = named.groupby("campaign")["unpriced"].transform("sum")
    named = named[(unpriced == 0).to_numpy()]
    began = named.groupby("campaign")["day"].min().sort_values(kind="stable")
    numbers = pd.Series(np.arange(len(began)), index=began.index)
    sums = named.groupby(["campaign", "currency", "region"], sort=True)[[*_SUMS]].sum().reset_index()
    return sums.assign(number=sums["campaign"].map(numbers)).sort_values("number", kind="stable", ignore_index=True)


def groups(history: pd.DataFrame, plan: Plan) -> tuple[pd.DataFrame, int]:
    """Return what each country of a plan will cost, in micro-units, and how many messages have no rate at all.

    A country that no campaign was billed for in the plan's currency counts with the plan's own rate.

    Raises:
        UsageError: a country was billed in several currencies, and the plan's rates do not say which one counts.
    """
    planned = plan.estimate
    learned = rates(history)
    made = planned[["region", "messages", "est_parts"]].assign(currency=_currencies(learned, planned).astype(STR))
    made = made.reset_index(drop=True).merge(learned, on=["currency", "region"], how="left")
    for name in ("rate", "low", "high"):
        made[name] = made[name].fillna((planned["rate"] * 1_000_000).set_axis(made.index))
    known = made["currency"].notna() & made["rate"].notna() & made["est_parts"].notna()
    left_out = int(made.loc[~known, "messages"].sum())
    made = made[known.to_numpy(dtype=bool)]
    shares = {currency: _shares(part) for currency, part in history.groupby("currency")}
    factor = [np.prod(shares.get(currency, Shares(1.0, 1.0))) for currency in made["currency"]]
    return made.assign(expected=made["est_parts"].astype("float64") * made["rate"] * factor), left_out


def _currencies(learned: pd.DataFrame, planned: pd.DataFrame) -> pd.Series:
    """Return the currency of each country of a plan: that of its rate, of the plan's other rates, or the billed one."""
    own = planned["currency"].dropna().unique()
    mine = learned[learned["region"].isin(planned.loc[planned["currency"].isna(), "region"]).to_numpy()]
    if len(own) == 1:
        both = mine.groupby("region")["currency"].transform(lambda known: (known == own[0]).any()).astype("bool")
        mine = mine[~both | mine["currency"].eq(own[0])]
    several = mine[mine["region"].duplicated(keep=False).to_numpy()].sort_values("currency")
    if len(several):
        region = several["region"].iloc[0]
        currencies = several.loc[several["region"] == region, "currency"].tolist()
        raise UsageError(
            f"the history was billed in {' and '.join(currencies)} for {region}, and the plan's rates do not say which "
            "one counts; plan(rates=...) with rates in that currency, or forecast from one service or currency: "
            f"cost.spending(ledger, service=...), or history[history['currency'] == {currencies[0]!r}]"
        )
    billed = planned["region"].map(dict(zip(mine["region"], mine["currency"], strict=True)))
    return planned["currency"].fillna(billed.astype(planned["currency"].dtype))


def rates(history: pd.DataFrame) -> pd.DataFrame:
    """Return what a part cost lately by country and currency, and its range over the campaigns that are tried."""
    billed = history[(history["parts"] > 0).to_numpy()]
    recent = billed[(billed["number"] > billed["number"].max() - CAMPAIGNS_TRIED).to_numpy()]
    each = (recent["micros"] / recent["parts"]).groupby([recent["currency"], recent["region"]]).agg(["min", "max"])
    last = billed.groupby(["currency", "region"]).tail(RATES_OF).groupby(["currency", "region"])
    sums = last[["micros", "parts"]].sum()
    sums["rate"] = sums["micros"] / sums["parts"]
    sums["low"] = each["min"].reindex(sums.index).fillna(sums["rate"])
    sums["high"] = each["max"].reindex(sums.index).fillna(sums["rate"])
    return sums.reset_index()[["currency", "region", "rate", "low", "high"]]


def lacking(rows: pd.DataFrame, groups: pd.DataFrame, tried: list[Tried]) -> str:
    """Say how many campaigns can serve the forecast of these groups, and why the others cannot."""
    named = rows.dropna(subset=["campaign", "currency"])
    unread = named.loc[named["unpriced"] > 0, "campaign"].nunique()
    counts = named.groupby("currency", sort=True)["campaign"].nunique()
    mine = sorted(set(groups["currency"]))
    there = [
        f"{sum(one.currency == currency for one in tried) + 1 if currency in counts else 0}"
        + f" in {currency}" * (len(mine) > 1)
        for currency in mine
    ]
    others = [f"{count} billed in {currency}" for currency, count in counts.items() if currency not in mine]
    others += [f"{unread} with prices that could not be read"] * bool(unread)
    return (
        f"the forecast of a plan needs {LEAST + 1} earlier campaigns billed in {' or '.join(mine)}, in countries that "
        f"were billed before, and the history has {', '.join(there)}"
        + f" (not counted: {', '.join(others)})" * bool(others)
        + "; plan.estimate is without an interval"
    )


def _shares(history: pd.DataFrame) -> Shares:
    latest = history[(history["number"] > history["number"].max() - SHARES_OF).to_numpy()]
    sums = latest[[*_SUMS]].sum()
    asked = sums["messages"] + sums["refused"]
    accepted = float(sums["messages"] / asked) if asked else 1.0
    return Shares(accepted, float(sums["compared_parts"] / sums["est_parts"]) if sums["est_parts"] else 1.0)


def plan_backtests(history: pd.DataFrame) -> list[Tried]:
    """Forecast the latest campaigns, each from those before it; the latest comes first."""
    found = [
        _tried_plan(str(currency), part, int(number))
        for currency, part in history.groupby("currency", sort=True)
        for number in part["number"].drop_duplicates().iloc[:0:-1][:CAMPAIGNS_TRIED]
    ]
    return [one for one in found if one is not None]


def _tried_plan(currency: str, history: pd.DataFrame, number: int) -> Tried | None:
    """Forecast a campaign over the countries that were billed before; None where there was none of them."""
    mine = history[(history["number"] == number).to_numpy()]
    before = history[(history["number"] < number).to_numpy()]
    rate = mine["region"].map(rates(before).set_index("region")["rate"])
    each = (mine["est_parts"] / mine["compared"].where(mine["compared"] > 0)).fillna(
        mine["parts"] / mine["messages"].where(mine["messages"] > 0)
    )
    known = (rate.notna() & each.notna()).to_numpy(dtype=bool)
    if not known.any():
        return None
    asked = mine["messages"] + mine["refused"]
    expected = float((asked * each * rate)[known].sum() * np.prod(_shares(before)))
    return Tried(currency, METHOD, str(mine["campaign"].iloc[0]), expected, float(mine["micros"][known].sum()))
