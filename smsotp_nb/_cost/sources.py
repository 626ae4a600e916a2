"""Where costs come from: a result table, a ledger, or a table of sums made of either; all become integers here."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd

from .._calling import given
from .._cards import counted
from .._dates import days
from .._frames import AnyFrame, as_pandas
from .._ledger import (
    OF_WORDS,
    Address,
    Ints,
    Ledger,
    LedgerOrPath,
    Record,
    as_one,
    grouped,
    path_of,
    refusals,
    snapshot_of,
    when_sent,
)
from .._ledger import spending as summing
from .._pandas import STR, texts, with_columns
from .._planning import Plan
from .._results import contract
from .._showing import label as shown_label
from .._warnings import warn_user
from .._wire import amount
from ..columns import require
from ..errors import UsageError

Source: TypeAlias = AnyFrame | LedgerOrPath | Record
LEDGERS: Final = (Ledger, str, Path, Address)
RECORDED: Final = (Record, Ledger, str, Path, Address)

NEEDED: Final = ("status", "parts", "price", "currency")
ESTIMATED: Final = ("est_parts", "est_cost", "est_currency")
_SUMMED: Final = ("currency", "messages", "parts", "cost", "unpriced")
_DERIVED: Final = ("kind", "month", "day")
_NUMBERS: Final = {  # of sums
    "messages": "Int64", "parts": "Int64", "unpriced": "Int64", "priced": "Int64", "priced_parts": "Int64",
    "compared_parts": "Int64", "est_parts": "Int64", "cost": "float64", "compared_cost": "float64",
    "est_cost": "float64",
}  # fmt: skip
COMPARED: Final = ("compared", "compared_parts", "est_parts", "compared_cost", "est_cost")


def read(source: Source, *, tz: str = "UTC", columns: str | Sequence[str] = ()) -> pd.DataFrame:
    """Return a frame or a campaign's result table, with the `_DERIVED` columns asked for, or `spending` by columns.

    A ledger, or its path, is summed up; so is a campaign of which columns are asked for that its rows do not have.

    Raises:
        UsageError: none of these.
    """
    names = [columns] if isinstance(columns, str) else columns if isinstance(columns, list | tuple | pd.Index) else []
    asked = [name for name in names if isinstance(name, str)]
    if isinstance(source, Record):
        frame = source._table()
        if len(frame) and not {*asked} & {*OF_WORDS} - {*frame.columns}:  # its rows may be gone, after a purge
            return _with_derived(frame, asked, tz)
    if isinstance(source, RECORDED):
        return summed(source, tz=tz, columns=[name for name in asked if name not in summing.COLUMNS])
    return _with_derived(_frame_of(source), asked, tz)


def summed(source: LedgerOrPath | Record, **how: Any) -> pd.DataFrame:
    """Sum up a ledger, or one campaign of it."""
    if not isinstance(source, Record):
        with snapshot_of(source) as store:
            return summing.spending(store, **how)
    with snapshot_of(source._ledger) as store:
        return summing.spending(store, **how | {"service": source.service, "campaign": source._number})


def _frame_of(source: AnyFrame) -> pd.DataFrame:
    frame = as_pandas(source)
    if isinstance(frame, Plan):
        raise UsageError("a Plan has no cost yet; see plan.estimate, or cost.forecast(history, plan=plan)")
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(
            "costs are of a result table, as send() returns it, a Ledger, its path or a Record, got "
            f"{type(source).__name__}"
        )
    return whole_sums(frame) if is_summed(frame) else frame


def whole_sums(frame: pd.DataFrame) -> pd.DataFrame:
    """Return sums whose numbers are numbers and whose currencies are text, whatever dtypes they came with.

    Raises:
        UsageError: a cell is no number; it names the column and its rows.
    """
    frame = contract.with_numbers(frame, _NUMBERS)
    return frame if frame["currency"].dtype != object else with_columns(frame, {"currency": texts(frame["currency"])})


def _with_derived(frame: pd.DataFrame, names: list[str], tz: str) -> pd.DataFrame:
    """Put month, day and kind into a result table, where they are asked for and it has none of its own."""
    missing = [name for name in names if name in _DERIVED and name not in frame.columns]
    if not missing or is_summed(frame):
        return frame
    table = contract.check(frame, columns=(*NEEDED, *(["at"] if {*missing} - {"kind"} else [])))
    return table.assign(**{name: derived(table, name, tz) for name in missing})


def derived(table: pd.DataFrame, name: str, tz: str) -> pd.Series:
    """Return the kind, day or month of the rows of a checked result table, as `spending` of a ledger has them."""
    if name == "kind":
        return pd.Series("campaign", index=table.index).astype(STR)
    local = contract.in_zone(table["at"], tz).dt.tz_localize(None)
    found: pd.Series = local.dt.strftime("%Y-%m").astype(STR) if name == "month" else local.dt.normalize()
    return found


def refuse_words(names: Sequence[object]) -> None:
    """Refuse columns that only a ledger knows, because the table at hand does not have them."""
    words = [name for name in names if name in OF_WORDS]
    if words:
        raise UsageError(
            f"a table does not know the column {words[0]!r}, only a ledger does; pass the Ledger, its path or a "
            f"Record, or sums with it: cost.spending(ledger, columns=[{words[0]!r}])"
        )


def rows(source: Source) -> pd.DataFrame:
    """Return result rows: a frame's own, a campaign's, or those of all campaigns that `spending` sums up."""
    purged = 0
    if isinstance(source, Record):
        table, purged = source._table(), int(source._is_purged())
    elif isinstance(source, LEDGERS):
        with snapshot_of(source) as store:
            table, purged = summing.all_rows(store)
    else:
        table = _frame_of(source)
        if {"id", "status"} <= {*table.columns}:
            table = accepted_once(contract.check(table, columns=["status"]))
    if purged:
        warn_user(
            f"the rows of {counted(purged, 'purged campaign')} are gone and in none of this; cost.by and cost.summary "
            "have what they cost"
        )
    return table


def files(source: Source) -> list[Path]:
    """Return the files that a source is read from, which nothing may be written over."""
    if not isinstance(source, Record | Ledger | str | Path):
        return []
    path = path_of(source._ledger if isinstance(source, Record) else source)
    if not isinstance(path, Path):  # on a server
        return []
    return [path, *(path.with_name(path.name + ending) for ending in ("-wal", "-shm"))]


def is_summed(frame: pd.DataFrame) -> bool:
    """Return whether a frame holds sums already (of `spending`, or of `cost.by`), not one row a message."""
    frame = as_pandas(frame)
    return isinstance(frame, pd.DataFrame) and "status" not in frame.columns and set(_SUMMED) <= set(frame.columns)


def states_of(source: Source, frame: pd.DataFrame) -> dict[str, int]:
    """Return how many rows of a source are in each state; sums, which ``frame`` was read as, do not know it."""
    if isinstance(source, LEDGERS):
        with snapshot_of(source) as store:
            return when_sent(store).rows
    if isinstance(source, Record) and is_summed(frame):  # purged
        with snapshot_of(source._ledger) as store:
            return when_sent(store, source._number).rows
    if is_summed(frame):
        return {}
    return {str(state): int(rows) for state, rows in frame["status"].astype(STR).value_counts().items()}


def in_doubt(source: Source) -> int:
    """Return how many rows of a source are in doubt; sums know of none."""
    return states_of(source, pd.DataFrame() if isinstance(source, LEDGERS) else read(source)).get("in_doubt", 0)


def has_estimates(frame: pd.DataFrame) -> bool:
    """Return whether `compared` can be asked of a frame."""
    return set(COMPARED if is_summed(frame) else ESTIMATED) <= set(frame.columns)


def grouping(frame: pd.DataFrame | None, columns: str | Sequence[str], *, taken: Sequence[str]) -> list[str]:
    """Return the names to group by, ``currency`` left out, for it always is one.

    Raises:
        UsageError: a name is not there, stands twice, or is that of a sum.
    """
    if not isinstance(columns, str | list | tuple | pd.Index):
        raise UsageError(f"columns to group by must be a name or a list of names, got {given(columns)}")
    names = [columns] if isinstance(columns, str) else list(columns)
    nameless = [name for name in names if not isinstance(name, Hashable)]
    if nameless:
        raise UsageError(
            f"columns to group by must be names, such as ['iso', 'segment'], got {given(nameless[0])} in it"
        )
    clashing = [name for name in names if name in taken]
    if clashing:
        raise UsageError(
            f"column {clashing[0]!r} would clash with the sums of the same name; give it another name first: "
            f"results.assign({clashing[0]}_each=results[{clashing[0]!r}])"
        )
    summing.refuse_repeated(names)
    if frame is not None and (missing := [name for name in names if name not in frame.columns]):
        refuse_words(missing)
        if not is_summed(frame):
            contract.check(frame, columns=NEEDED)  # a frame of another kind hears that first
            if missing[0] in contract.DETAILS:
                raise UsageError(f"results have no column {missing[0]!r}, which is the record's: {contract.BESIDE}")
        require(missing[0], frame.columns, where="columns to group by")
    return [name for name in names if name != "currency"]


def billed(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return what is summed, as Int64: ``messages, parts, micros, unpriced`` beside the names and the currency.

    And ``priced_parts``, those of messages with a price, of which one whose parts are not known counts as one part; and
    ``mixed``: of how many sums they are not known apart.
    """
    return _billed_sums(frame, names) if is_summed(frame) else _billed_rows(_accepted(frame, NEEDED), names)


def compared(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return what is `billed`, and of the messages with a price and an estimate in one currency what both say."""
    if is_summed(frame):
        return _billed_sums(frame, names).assign(**_estimated_sums(frame))
    table = _accepted(frame, (*NEEDED, *ESTIMATED))
    return _billed_rows(table, names).assign(**_estimated_rows(table))


def _billed_sums(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    cells = {name: frame[name].astype("Int64").fillna(0) for name in ("messages", "parts", "unpriced")}
    cells["micros"] = contract.micros(frame["cost"]).fillna(0)
    known = priced_parts(frame)
    cells |= {"priced_parts": known.fillna(0), "mixed": known.isna().astype("Int64")}
    return frame[names].assign(currency=frame["currency"], **cells)


def priced_parts(sums: pd.DataFrame) -> pd.Series:
    """Return the parts of messages with a price; missing in sums of some with and some without, as `cost.by` makes."""
    if "priced_parts" in sums.columns:
        return sums["priced_parts"].astype("Int64")
    return sums["parts"].astype("Int64").where(sums["unpriced"].eq(0).fillna(False).astype("bool"))


def _billed_rows(table: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    readable = table["price"].notna() & table["currency"].notna()
    return table[names].assign(
        currency=table["currency"],
        messages=pd.Series(1, index=table.index, dtype="Int64"),
        parts=table["parts"].fillna(0),
        unpriced=(~readable).astype("Int64"),
        micros=contract.micros(table["price"]).where(readable, 0),
        priced_parts=table["parts"].fillna(1).where(readable, 0),
        mixed=pd.Series(0, index=table.index, dtype="Int64"),
    )


def _estimated_sums(frame: pd.DataFrame) -> dict[str, pd.Series]:
    missing = [name for name in COMPARED if name not in frame.columns]
    if missing:
        raise UsageError(f"these sums hold no estimates (no {missing[0]}); compare the result table, or the ledger")
    counts = {name: frame[name].astype("Int64").fillna(0) for name in ("compared", "compared_parts", "est_parts")}
    return counts | {name: contract.micros(frame[name]).fillna(0) for name in ("compared_cost", "est_cost")}


def _estimated_rows(table: pd.DataFrame) -> dict[str, pd.Series]:
    same = (table["currency"] == table["est_currency"]).fillna(False).astype("bool")
    both = table["price"].notna() & table["est_cost"].notna() & same
    return {
        "compared": both.astype("Int64"),
        "compared_parts": table["parts"].fillna(1).where(both, 0),
        "est_parts": table["est_parts"].fillna(0).where(both, 0),
        "compared_cost": contract.micros(table["price"]).where(both, 0),
        "est_cost": contract.micros(table["est_cost"]).where(both, 0),
    }


def _accepted(frame: pd.DataFrame, needed: Sequence[str]) -> pd.DataFrame:
    table = accepted_once(contract.check(frame, columns=needed))
    return table[table["status"] == "accepted"]


def accepted_once(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table, unless a message stands in it twice."""
    if "id" in table.columns:
        contract.refuse_repeated(table, lambda place: f"row {shown_label(table.index[place])} (place {place:,})")
    return table


def added_up(cells: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Add up integers by currency and these names; missing names are groups of their own."""
    keys = {name: cells[name].array for name in ("currency", *names)}
    counts = {name: cells[name].to_numpy("int64", na_value=0) for name in cells.columns if name not in keys}
    keys, counts = grouped_by(keys, counts)
    return pd.DataFrame({**keys, **counts}).astype({name: cells[name].dtype for name in counts})


def grouped_by(keys: Mapping[Any, Any], counts: Mapping[str, Ints]) -> tuple[dict[Any, Any], dict[str, Ints]]:
    """Add up columns of integers by the values of others, in their order; missing values are groups of their own.

    In numpy, because pandas takes several milliseconds for a table of ten lines.
    """
    keys = {name: key if isinstance(key.dtype, pd.StringDtype) else _groupable(key) for name, key in keys.items()}
    codes = np.column_stack([_codes(key) for key in keys.values()])
    first, sums = grouped(as_one(codes), np.column_stack([*counts.values()]))
    return {name: key.take(first) for name, key in keys.items()}, dict(zip(counts, sums.T, strict=True))


def _codes(key: Any) -> Ints:
    """Return the place of each value among all in order, missing ones last."""
    if not isinstance(key.dtype, pd.StringDtype):
        codes, _ = pd.factorize(pd.Series(key, dtype=key.dtype), sort=True)
        return np.where(codes < 0, len(key), codes)
    codes, values = pd.factorize(key)
    place = np.empty(len(values) + 1, dtype=np.int64)
    place[values.argsort()], place[-1] = np.arange(len(values)), len(values)
    return place[codes]


def _groupable(key: Any) -> Any:
    """Return values that pandas can group and sort: as they are, else all of them as text.

    Somebody's tags are lists, which are no keys; paths and bytes, or a date and a time, have no order.
    """
    # Without a dtype pandas guesses that objects are text.
    column = pd.Series(key, dtype=key.dtype)
    if column.dtype != object:
        return key
    try:
        pd.Index(list(pd.factorize(column, sort=True)[1]))
    except Exception:  # noqa: BLE001 - whatever a stranger's __hash__ or __lt__ raises
        return texts(column).array
    return key


def amounts(micros: pd.Series, decimals: bool) -> pd.Series:
    """Return integers as float64 amounts or as exact Decimals; missing stays missing."""
    if not decimals:
        return contract.money(micros)
    exact: list[Any] = [None if pd.isna(value) else amount(int(value)) for value in micros]
    return pd.Series(exact, index=micros.index, dtype="object")


TEXTS: Final = ("campaign", "kind", "iso", "region", "type", "encoding")
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
    # What was refused without an estimate has the currency that its country is billed in most.
    refused = named["currency"].isna() & (named["refused"] > 0)
    return named.assign(currency=named["currency"].mask(refused, usual_currency(named)).astype(STR), **counts)


def usual_currency(rows: pd.DataFrame) -> pd.Series[str]:
    """Return for each row the currency that its region is billed in most; missing where none is known."""
    messages = rows.dropna(subset=["currency", "region"]).groupby(["region", "currency"])["messages"].sum()
    most = messages.sort_values(kind="stable").reset_index().drop_duplicates("region", keep="last")
    return rows["region"].map(most.set_index("region")["currency"]).astype(STR)


def _of_sums(frame: pd.DataFrame) -> pd.DataFrame:
    require("day", frame.columns, where="sums by day are needed (cost.spending has them)")
    names = [name for name in TEXTS if name in frame.columns]
    sums = (compared if has_estimates(frame) else billed)(frame, names).assign(day=days(frame["day"], "column 'day'"))
    return sums.assign(refused=frame["refused"]) if "refused" in frame.columns else sums


def _of_results(frame: pd.DataFrame, tz: str) -> pd.DataFrame:
    table = contract.check(frame, columns=(*NEEDED, "at"))
    table = table.assign(day=contract.in_zone(table["at"], tz).dt.tz_localize(None).dt.normalize().dt.as_unit("us"))
    names = [*(name for name in TEXTS if name in table.columns), "day"]
    sums = (compared if has_estimates(table) else billed)(table, names)
    refused = table.loc[table["status"] == "rejected", [*names, *(["est_currency"] * has_estimates(table))]]
    refused = refused.rename(columns={"est_currency": "currency"}).assign(refused=1)
    rows = pd.concat([sums, refused], ignore_index=True).reindex(columns=["currency", *names, *COUNTS])
    rows[[*COUNTS]] = rows[[*COUNTS]].astype("Int64").fillna(0)
    return rows.groupby(["currency", *names], dropna=False, observed=True, sort=True)[[*COUNTS]].sum().reset_index()
