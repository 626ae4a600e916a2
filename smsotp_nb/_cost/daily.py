"""Costs and refusals day by day, as integers: what a forecast and the search for anomalies begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pandas as pd

from .._dates import days
from .._ledger import Ledger, refusals, snapshot_of
from .._pandas import STR
from .._results import contract
from ..columns import require
from ..errors import UsageError
from .sources import COMPARED, NEEDED, Source, billed, compared, has_estimates, is_summed, read

TEXTS: Final = ("campaign", "iso", "region", "type", "encoding")
COUNTS: Final = ("messages", "parts", "micros", "unpriced", *COMPARED, "refused")


def daily(source: Source, *, tz: str) -> pd.DataFrame:
    """Return what each campaign cost on each day in each country: ``currency, day``, `TEXTS` and `COUNTS` (int64).

    Where what is summed up does not know one of the texts, it is missing. ``refused`` counts the rows that the service
    refused, under the currency of their estimate; a table of sums may have it as a column.

    Raises:
        UsageError: not a table of costs, or one without days.
    """
    frame = read(source, tz=tz)
    rows = _of_sums(frame) if is_summed(frame) else _of_results(frame, tz)
    if isinstance(source, Ledger | str | Path):
        with snapshot_of(source) as store:
            rows = pd.concat([rows, refusals(store, tz=tz)], ignore_index=True)
    named = rows.reindex(columns=["currency", "day", *TEXTS, *COUNTS])
    named = named.astype(dict.fromkeys(("currency", *TEXTS), STR) | {"day": "datetime64[us]"})
    counts = {name: named[name].astype("Int64").fillna(0).astype("int64") for name in COUNTS}
    if not len(named):
        raise UsageError("there is no message in these costs yet, accepted or refused")
    return named.assign(currency=_currencies(named), **counts)


def _currencies(rows: pd.DataFrame) -> pd.Series[str]:
    """Give what was refused without an estimate the currency that its country is billed in most."""
    messages = rows.dropna(subset=["currency", "region"]).groupby(["region", "currency"])["messages"].sum()
    most = messages.sort_values(kind="stable").reset_index().drop_duplicates("region", keep="last")
    usual = rows["region"].map(most.set_index("region")["currency"])
    return rows["currency"].mask(rows["currency"].isna() & (rows["refused"] > 0), usual).astype(STR)


def _of_sums(frame: pd.DataFrame) -> pd.DataFrame:
    require("day", frame.columns, where="sums by day are needed (cost.spending has them)")
    names = [name for name in TEXTS if name in frame.columns]
    sums = (compared if has_estimates(frame) else billed)(frame, names).assign(day=days(frame["day"], "column 'day'"))
    return sums.assign(refused=frame["refused"]) if "refused" in frame.columns else sums


def _of_results(frame: pd.DataFrame, tz: str) -> pd.DataFrame:
    table = contract.check(frame, columns=(*NEEDED, "at"))
    table = table.assign(day=table["at"].dt.tz_convert(tz).dt.tz_localize(None).dt.normalize().dt.as_unit("us"))
    names = [*(name for name in TEXTS if name in table.columns), "day"]
    sums = (compared if has_estimates(table) else billed)(table, names)
    refused = table.loc[table["status"] == "rejected", [*names, *(["est_currency"] * has_estimates(table))]]
    refused = refused.rename(columns={"est_currency": "currency"}).assign(refused=1)
    rows = pd.concat([sums, refused], ignore_index=True).reindex(columns=["currency", *names, *COUNTS])
    rows[[*COUNTS]] = rows[[*COUNTS]].astype("Int64").fillna(0)
    return rows.groupby(["currency", *names], dropna=False, observed=True, sort=True)[[*COUNTS]].sum().reset_index()
