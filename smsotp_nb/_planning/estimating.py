"""What planned rows would cost: a rate for each, sums by country and currency, and how sure they are."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd

from .. import rates as rate_tables
from .._pandas import STR
from .._phones import lookup
from .._results import contract


def rates(planned: pd.DataFrame, book: rate_tables.Book, *, today: dt.date) -> pd.DataFrame:
    """Return the rate of every planned row, looked up once for every pair of region and type.

    ``currency`` (str), ``micros, low, high`` (float64, millionths of one part) are missing where there is no rate;
    ``old`` (bool) marks rates past their time.
    """
    kinds = planned[["region", "type"]].drop_duplicates()
    found = [
        rate_tables.find(book, str(region), str(type_)) for region, type_ in zip(*map(kinds.get, kinds), strict=True)
    ]
    table = pd.DataFrame(
        {
            "currency": pd.Series([None if rate is None else rate.currency for rate in found], dtype=STR),
            "micros": pd.Series([None if rate is None else rate.micros for rate in found], dtype="float64"),
            "low": pd.Series([None if rate is None else rate.low for rate in found], dtype="float64"),
            "high": pd.Series([None if rate is None else rate.high for rate in found], dtype="float64"),
            "old": pd.Series([rate is not None and rate.old(today=today) for rate in found], dtype=bool),
        }
    )
    # Both number the pairs by their first appearance.
    pairs = planned.groupby(["region", "type"], sort=False, dropna=False).ngroup()
    return table.take(pairs.to_numpy()).set_axis(planned.index)


def by_country(planned: pd.DataFrame, rates: pd.DataFrame) -> pd.DataFrame:
    """Sum planned rows by region and currency, the dearest first; see ``Plan.estimate`` for the columns."""
    parts = planned["est_parts"].astype("float64")
    cells = pd.DataFrame(
        {"region": planned["region"], "currency": rates["currency"], "old": rates["old"], "parts": parts}
    )
    for name in ("micros", "low", "high"):
        cells[name] = parts * rates[name]
    cells["rate"] = rates["micros"]
    groups = cells.groupby(["region", "currency"], dropna=False, sort=True)
    sums = groups[["parts", "micros", "low", "high"]].sum(min_count=1).reset_index()
    confidence = np.where(sums["currency"].isna(), "none", np.where(groups["old"].any(), "old", "known"))
    frame = pd.DataFrame(
        {
            "currency": sums["currency"].astype(STR),
            "region": sums["region"].astype(STR),
            "country": pd.Series([lookup.country_name(str(region)) for region in sums["region"]], dtype=STR),
            "messages": pd.array(groups.size().to_numpy(), dtype="Int64"),
            "est_parts": sums["parts"].astype("Int64"),
            "rate": contract.money(_rate(groups, sums["micros"] / sums["parts"])),
            "est_cost": contract.money(sums["micros"]),
            "est_low": contract.money(sums["low"]),
            "est_high": contract.money(sums["high"]),
            "confidence": pd.Series(confidence, dtype=STR),
        }
    )
    order = ["est_cost", "messages", "region"]
    return frame.sort_values(order, ascending=[False, False, True], ignore_index=True)


def _rate(groups: Any, by_parts: pd.Series[float]) -> pd.Series[float]:
    """Return the one rate of each group; where it differs by type of number, the average of a part."""
    found = groups["rate"].agg(["nunique", "first", "mean"]).reset_index(drop=True)
    rate: pd.Series[float] = found["first"].where(found["nunique"] <= 1, by_parts.fillna(found["mean"]))
    return rate
