"""Rates learned from what messages did cost."""

from __future__ import annotations

import pandas as pd

from .._calling import in_our_words
from .._pandas import STR
from .._results import contract
from ..errors import UsageError
from .sources import NEEDED, Source, rows


@in_our_words
def rates(results: Source) -> pd.DataFrame:
    """Return what one part last cost in each country: a rate table for ``plan(rates=...)``, learned from results.

    Free messages, those without a price and those of no parts are not observations.

    Args:
        results: result tables of one service, a Ledger, its path, or a Campaign.
            Rates of two services, or of a sandbox and a live service, are not mixed.

    Returns:
        One row per country, in the form of `rates.check`: ``iso, currency, price`` (of a part, as last observed), and
        how reliable it is: ``low, high`` (float64: the range of observed prices of a part in that currency), ``seen``
        (datetime64[us, UTC]: the last observation), ``messages`` (Int64: number of observations).

    Raises:
        UsageError: not a result table, or results of several services.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"] * 2, "parts": [1, 2], "price": [0.0075, 0.016],
        ...     "currency": "USD", "iso": "US", "at": ["2026-10-01T10:00:00Z", "2026-11-01T10:00:00Z"]})
        >>> rates(table)[["iso", "currency", "price", "low", "high"]].values.tolist()
        [['US', 'USD', 0.008, 0.0075, 0.008]]
    """
    table = contract.check(rows(results), columns=(*NEEDED, "iso", "at"))
    _one_service(table)
    seen = table[(table["status"] == "accepted") & (table["parts"] > 0).fillna(False)]
    seen = seen.dropna(subset=["iso", "currency", "price"])
    # A free message says nothing of what the next one costs, and a budget by a rate of 0 would hold nothing back.
    seen = seen[contract.micros(seen["price"]).gt(0).fillna(False).to_numpy(bool)]
    each = (contract.micros(seen["price"]).astype("Float64") / seen["parts"]).round().astype("Int64")
    seen = pd.DataFrame({"iso": seen["iso"], "currency": seen["currency"], "each": each, "at": seen["at"]})
    seen = seen.sort_values("at", kind="stable", na_position="first", ignore_index=True)
    last = seen.drop_duplicates("iso", keep="last").set_index("iso")
    current = seen[seen["currency"] == seen["iso"].map(last["currency"])]
    span = current.groupby("iso", sort=True).agg(
        low=("each", "min"), high=("each", "max"), messages=("each", "size"), seen=("at", "max")
    )
    return pd.DataFrame(
        {
            "iso": span.index.astype(STR),
            "currency": last["currency"].reindex(span.index).array,
            "price": contract.money(last["each"].reindex(span.index)).array,
            "low": contract.money(span["low"]).array,
            "high": contract.money(span["high"]).array,
            "seen": span["seen"].array,
            "messages": span["messages"].astype("Int64").array,
        }
    )


def _one_service(table: pd.DataFrame) -> None:
    if "service" not in table.columns:
        return
    services = table.loc[table["status"] == "accepted", "service"].dropna().unique().tolist()
    if len(services) > 1:
        raise UsageError(
            f"these messages are of several services ({', '.join(map(repr, services))}); learn the rates of one: give "
            "a Campaign, or the rows of one service: cost.rates(results[results['service'] == ...])"
        )
