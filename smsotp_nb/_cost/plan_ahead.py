"""The bill of a plan, from what earlier campaigns cost in each country, were refused, and had in parts."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from .._pandas import STR
from .._planning import Plan
from ..errors import UsageError
from .backtest import LEAST, Tried

METHOD: Final = "learned rates"
RATES_OF: Final = 3  # latest campaigns of a country: what a part costs now
SHARES_OF: Final = 12  # latest campaigns: the share that is accepted, and parts for each estimated one
TRIED: Final = 24  # campaigns that are forecast from those before them, at most
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
    recent = billed[(billed["number"] > billed["number"].max() - TRIED).to_numpy()]
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


def backtests(history: pd.DataFrame) -> list[Tried]:
    """Forecast the latest campaigns, each from those before it; the latest comes first."""
    found = [
        _tried(str(currency), part, int(number))
        for currency, part in history.groupby("currency", sort=True)
        for number in part["number"].drop_duplicates().iloc[:0:-1][:TRIED]
    ]
    return [one for one in found if one is not None]


def _tried(currency: str, history: pd.DataFrame, number: int) -> Tried | None:
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
