"""The bill of a plan, from what earlier campaigns cost in each country, were refused, and had in parts."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from .._planning import Plan
from ..errors import UsageError
from .backtest import Tried

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

    A country that no campaign was billed for counts with the plan's own rate.
    """
    learned = rates(history)
    learned = learned.drop_duplicates("region", keep="last").set_index("region")
    planned = plan.estimate
    own = planned["region"].map(learned["currency"])
    shares = {currency: _shares(part) for currency, part in history.groupby("currency")}
    made = pd.DataFrame(
        {
            "currency": own.fillna(planned["currency"]),
            "region": planned["region"],
            "messages": planned["messages"],
            "est_parts": planned["est_parts"],
        }
    )
    for name in ("rate", "low", "high"):
        made[name] = planned["region"].map(learned[name]).fillna(planned["rate"] * 1_000_000)
    known = made["currency"].notna() & made["rate"].notna() & made["est_parts"].notna()
    left_out = int(made.loc[~known, "messages"].sum())
    made = made[known.to_numpy(dtype=bool)]
    factor = [np.prod(shares.get(currency, Shares(1.0, 1.0))) for currency in made["currency"]]
    return made.assign(expected=made["est_parts"].astype("float64") * made["rate"] * factor), left_out


def rates(history: pd.DataFrame) -> pd.DataFrame:
    """Return what a part cost lately by country and currency, and its range over the campaigns that are tried.

    The currency that a country was billed in last comes last.
    """
    billed = history[(history["parts"] > 0).to_numpy()]
    recent = billed[(billed["number"] > billed["number"].max() - TRIED).to_numpy()]
    each = (recent["micros"] / recent["parts"]).groupby([recent["currency"], recent["region"]]).agg(["min", "max"])
    last = billed.groupby(["currency", "region"]).tail(RATES_OF).groupby(["currency", "region"])
    sums = last[["micros", "parts"]].sum().assign(number=last["number"].max())
    sums["rate"] = sums["micros"] / sums["parts"]
    sums["low"] = each["min"].reindex(sums.index).fillna(sums["rate"])
    sums["high"] = each["max"].reindex(sums.index).fillna(sums["rate"])
    return sums.reset_index().sort_values("number", kind="stable")[["currency", "region", "rate", "low", "high"]]


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
