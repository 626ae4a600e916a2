"""Forecasts of a plan, by what earlier campaigns cost, each of which is forecast from those before it as well.

How far off those forecasts were, in deviations that count the messages, says how far off the coming one may be
(conformal prediction with normalized scores: Papadopoulos, Gammerman and Vovk 2008).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from .._pandas import STR
from .._planning import Plan
from ..errors import UsageError
from .months import LEAST, held, quantile


class Tried(NamedTuple):
    """A forecast in micro-units as of an earlier day or campaign, and what came.

    ``variance`` is that of a forecast of a plan by chance alone, relative to what is expected.
    """

    currency: str
    method: str
    as_of: str
    expected: float
    actual: float
    variance: float = 0.0

    @property
    def off(self) -> float:
        return abs(self.actual - self.expected)


def margin(tried: Sequence[Tried], variance: float, level: float) -> tuple[float, float]:
    """Return how far off, as a share, a forecast of this variance by chance may be; and the share of earlier ones held.

    What earlier ones were off by beyond their own variance is how much campaigns differ; each is counted in deviations
    of both, and so many of them as ``level`` says are the margin.
    """
    off = np.array([one.off / one.expected for one in tried])
    by_chance = np.array([one.variance for one in tried])
    differ = max(float(np.mean(off**2 - by_chance)), 1e-12)
    scores = off / np.sqrt(by_chance + differ)
    return quantile(scores, level) * math.sqrt(variance + differ), held(scores, level)


def missed(tried: Sequence[Tried]) -> float | None:
    """Return by how much these forecasts were off on average, as a share of what came on average; None of nothing."""
    came = sum(one.actual for one in tried)
    return sum(one.off for one in tried) / came if came else None


METHOD: Final = "learned rates"
PARTS_OF_RATE: Final = 100  # of the latest campaigns of a country: what a part costs now
SAME_RATE: Final = 0.01  # a campaign whose price differs by more is of another time
SHARES_OF: Final = 12  # latest campaigns: the share that is accepted, and parts for each estimated one
CAMPAIGNS_TRIED: Final = 24  # campaigns that are forecast from those before them, at most
_SUMS: Final = ("messages", "refused", "parts", "micros", "compared", "compared_parts", "est_parts")


class Shares(NamedTuple):
    """The share of messages that was accepted, the parts billed for each estimated one, and how one message varies.

    ``variance`` is that of the cost of a message relative to its mean: binomial of the accepted, with half a message
    that was not, and Poisson of parts beside the estimate.
    """

    accepted: float
    parts: float
    variance: float

    @property
    def factor(self) -> float:
        return self.accepted * self.parts


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
    factor = [shares[currency].factor if currency in shares else 1.0 for currency in made["currency"]]
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
    sums = billed[_latest(billed)].groupby(["currency", "region"])[["micros", "parts"]].sum()
    sums["rate"] = sums["micros"] / sums["parts"]
    sums["low"] = each["min"].reindex(sums.index).fillna(sums["rate"])
    sums["high"] = each["max"].reindex(sums.index).fillna(sums["rate"])
    return sums.reset_index()[["currency", "region", "rate", "low", "high"]]


def _latest(billed: pd.DataFrame) -> pd.Series[bool]:
    """Return which campaigns say what a part costs now: the last one of a country, and those before it that agree.

    Of few parts, one landline more or less makes another price; a change of all prices is the rate of today at once,
    as `cost.rates` has it.
    """
    newest = billed.iloc[::-1]
    keys = [newest["currency"], newest["region"]]
    each = newest["micros"] / newest["parts"]
    before = newest["parts"].groupby(keys).cumsum() - newest["parts"]
    alike = ((each / each.groupby(keys).transform("first") - 1).abs() <= SAME_RATE).groupby(keys).cummin()
    return (alike & (before < PARTS_OF_RATE)).reindex(billed.index).astype(bool)


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
    parts = float(sums["compared_parts"] / sums["est_parts"]) if sums["est_parts"] else 1.0
    known = float((sums["messages"] + 0.5) / (asked + 1))
    return Shares(accepted, parts, (1 - known) / known + abs(parts - 1) / parts**2)


def variance(history: pd.DataFrame, currency: str, messages: int) -> float:
    """Return the variance of the cost of so many messages by chance, relative to its mean."""
    mine = history[(history["currency"] == currency).to_numpy()]
    return _shares(mine).variance / max(messages, 1) if len(mine) else 0.0


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
    asked, shares = mine["messages"] + mine["refused"], _shares(before)
    expected = float((asked * each * rate)[known].sum() * shares.factor)
    by_chance = shares.variance / max(float(asked[known].sum()), 1.0)
    name = str(mine["campaign"].iloc[0])
    return Tried(currency, METHOD, name, expected, float(mine["micros"][known].sum()), by_chance)
