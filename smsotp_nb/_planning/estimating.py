"""What planned rows would cost: a rate for each, sums by country and currency, and how sure they are."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd

from .. import rates as rate_tables
from .._pandas import STR
from .._phones import country_name
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


def by_country(planned: pd.DataFrame, rates: pd.DataFrame, many: pd.Series[int] | None = None) -> pd.DataFrame:
    """Sum planned rows by region and currency, the dearest first; see ``Plan.estimate`` for the columns.

    ``many`` says for how many recipients each row stands; by default for one.
    """
    frame = _summed(planned, rates, "region", planned["region"], many)
    frame.insert(2, "country", pd.Series([country_name(region) for region in frame["region"]], dtype=STR))
    order = ["est_cost", "messages", "region"]
    return frame.sort_values(order, ascending=[False, False, True], ignore_index=True)


def by_segment(
    planned: pd.DataFrame, rates: pd.DataFrame, name: str, values: pd.Series[str], labels: tuple[str, ...]
) -> pd.DataFrame:
    """Sum planned rows by segment and currency; see ``Plan.estimate_by_segment`` for the columns."""
    frame = _summed(planned, rates, _KEY, values).rename(columns={_KEY: name})
    cells = pd.DataFrame({_KEY: values, "body": planned["body"], "encoding": planned["encoding"]})
    groups = cells.groupby([_KEY, rates["currency"]], dropna=False, sort=True)
    frame.insert(3, "bodies", pd.Series(groups["body"].nunique().to_numpy(), dtype="Int64"))
    encodings = groups["encoding"].agg(["nunique", "first"]).reset_index(drop=True)
    frame["encoding"] = encodings["first"].mask(encodings["nunique"] > 1, MIXED).astype(STR)
    place = {label: number for number, label in enumerate(labels)}
    absent = [label for label in labels if label not in set(frame[name])]
    nobody = {name: pd.Series(absent, dtype=STR), "confidence": "none"} | dict.fromkeys(_COUNTS, 0)
    whole = pd.concat([frame, pd.DataFrame(nobody).reindex(columns=frame.columns).astype(frame.dtypes)])
    return whole.sort_values(name, key=lambda of: of.map(place), kind="stable", ignore_index=True)


MIXED = "mixed"
_KEY = "segment"
_COUNTS = ("messages", "bodies", "est_parts")


def _summed(
    planned: pd.DataFrame, rates: pd.DataFrame, name: str, values: pd.Series[str], many: pd.Series[int] | None = None
) -> pd.DataFrame:
    """Sum planned rows by a column and currency, in the order of both."""
    stands_for = pd.Series(1, index=planned.index) if many is None else many
    parts = planned["est_parts"].astype("float64") * stands_for
    cells = pd.DataFrame({name: values, "currency": rates["currency"], "old": rates["old"], "parts": parts})
    cells["many"], cells["rated"] = stands_for, rates["micros"] * stands_for
    for amount in ("micros", "low", "high"):
        cells[amount] = parts * rates[amount]
    cells["rate"] = rates["micros"]
    groups = cells.groupby([name, "currency"], dropna=False, sort=True)
    sums = groups[["parts", "micros", "low", "high"]].sum(min_count=1).reset_index()
    confidence = np.where(sums["currency"].isna(), "none", np.where(groups["old"].any(), "old", "known"))
    return pd.DataFrame(
        {
            "currency": sums["currency"].astype(STR),
            name: sums[name].astype(STR),
            "messages": pd.array(groups["many"].sum().to_numpy("int64"), dtype="Int64"),
            "est_parts": sums["parts"].astype("Int64"),
            "rate": contract.money(_rate(groups, sums["micros"] / sums["parts"])),
            "est_cost": contract.money(sums["micros"]),
            "est_low": contract.money(sums["low"]),
            "est_high": contract.money(sums["high"]),
            "confidence": pd.Series(confidence, dtype=STR),
        }
    )


def _rate(groups: Any, by_parts: pd.Series[float]) -> pd.Series[float]:
    """Return the one rate of each group; where it differs by type of number, the average of a part."""
    found = groups["rate"].agg(["nunique", "first"]).reset_index(drop=True)
    mean = (groups["rated"].sum() / groups["many"].sum()).reset_index(drop=True)
    rate: pd.Series[float] = found["first"].where(found["nunique"] <= 1, by_parts.fillna(mean))
    return rate
