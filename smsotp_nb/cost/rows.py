"""Spending rows: the one shape in which costs are added up, whatever they come from.

A spending row has a currency, the columns that were asked for, and integers. Results, records, ledgers and tables of
sums all become such rows here; `sums` adds them up.

| column | a result row | a ledger or Record | a row of sums |
|---|---|---|---|
| ``currency`` | missing without one | as of its requests | as it was summed |
| ``messages`` | 1 | counted | as it was summed |
| ``parts`` | 0 where not known | summed | as it was summed |
| ``micros`` | 0 without a price or currency | summed | ``cost``; 0 where it is missing |
| ``unpriced`` | 1 without a price or currency | counted | as it was summed |
| ``priced_parts`` | 1 where parts are not known | summed | 0 after `by` of prices and none |
| ``parts_unknown`` | 0 | 0 | 1 where ``priced_parts`` is not known |
| ``compared``, ``compared_parts``, ``est_parts``, | 0 without an estimate | summed | of `spending` only, |
| ``compared_micros``, ``est_micros`` | in its currency | | else refused |
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import pandas as pd

from .. import _dates as dates
from .._amounts import CONTEXT, exact
from .._calling import given
from .._cards import counted
from .._frames import AnyFrame, as_pandas
from .._ledger import Address, Ledger, LedgerOrPath, Record, result_rows, spending_rows
from .._pandas import STR, texts, with_columns
from .._planning import Plan
from .._results import contract
from .._showing import label as row_label
from ..columns import require
from ..errors import SmsOtpWarning, UsageError

Source: TypeAlias = AnyFrame | LedgerOrPath | Record
RECORDED: Final = (Record, Ledger, str, Path, Address)

BILLED: Final = ("status", "parts", "price", "currency")
ESTIMATED: Final = ("est_parts", "est_cost", "est_currency")
COUNTS: Final = ("messages", "parts", "micros", "unpriced", "priced_parts", "parts_unknown")
COMPARED: Final = ("compared", "compared_parts", "est_parts", "compared_micros", "est_micros")
# Names of columns that sums make; a column of the caller's own by such a name would be taken for one.
RESERVED: Final = frozenset(
    {*COUNTS, *COMPARED, "cost", "price_per_message", "price_per_part", "share", "compared_cost", "est_cost"}
    | {"difference", "planned_rate"}
)
_OF_SUMS: Final = ("currency", "messages", "parts", "cost", "unpriced")
_NUMBERS_OF_SUMS: Final = {
    **dict.fromkeys(("messages", "parts", "unpriced", "priced_parts"), "Int64"),
    **dict.fromkeys(("compared", "compared_parts", "est_parts"), "Int64"),
    **dict.fromkeys(("cost", "compared_cost", "est_cost"), "float64"),
}
_DERIVED: Final = ("kind", "month", "day")


def read_rows(
    source: Source, columns: str | Sequence[str], *, tz: str = "UTC", estimates: bool = False
) -> tuple[pd.DataFrame, list[str]]:
    """Return the spending rows of a source, and the names of the columns asked for without ``currency``.

    Raises:
        UsageError: not a source of costs, a column is not there, or ``estimates`` are wanted and there are none.
    """
    names = check_columns(columns)
    if isinstance(source, RECORDED):
        return spending_rows(source, names, tz=tz), names
    frame = read_frame(source)
    if is_sums(frame):
        _require_columns(frame, names)
        return _rows_of_sums(frame, names, estimates), names
    needed = (*BILLED, *ESTIMATED) if estimates else BILLED
    table = accepted(with_derived(frame, names, tz), needed)
    _require_columns(table, names)
    return _rows_of_results(table, names, estimates), names


def read_frame(source: AnyFrame) -> pd.DataFrame:
    """Return a frame of results or sums; the numbers of sums become numbers, whatever dtypes they came with."""
    frame = as_pandas(source)
    if isinstance(frame, Plan):
        raise UsageError("a Plan has no cost yet; plan.estimate says what it is expected to cost")
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(
            "costs are of a result table, as send() returns it, a Ledger, its path or a Record, got "
            f"{type(frame).__name__}"
        )
    if not is_sums(frame):
        return frame
    frame = contract.with_numbers(frame, _NUMBERS_OF_SUMS)
    if frame["currency"].dtype == object:
        frame = with_columns(frame, {"currency": texts(frame["currency"])})
    return frame


def is_sums(frame: pd.DataFrame) -> bool:
    """Return whether a frame holds sums already, of `spending` or `by`, and not a row for each message."""
    return "status" not in frame.columns and {*_OF_SUMS} <= {*frame.columns}


def has_estimates(frame: pd.DataFrame) -> bool:
    """Return whether `cost.compare` can be asked of a frame."""
    needed = ("compared_cost", "est_cost") if is_sums(frame) else ESTIMATED
    return {*needed} <= {*frame.columns}


def read_results(source: Source) -> pd.DataFrame:
    """Return the result rows of a frame, a Record, or all campaigns of a ledger that `cost.spending` sums up."""
    if not isinstance(source, RECORDED):
        frame = read_frame(source)
        if {"id", "status"} <= {*frame.columns}:
            _refuse_repeated(contract.check(frame, columns=["status"]))
        return frame
    table, purged = result_rows(source)
    if purged:
        warnings.warn(
            f"the rows of {counted(purged, 'purged campaign')} are gone and in none of this; cost.by and cost.summary "
            "have what they cost",
            SmsOtpWarning,
            stacklevel=4,
        )
    return table


def accepted(frame: pd.DataFrame, needed: Sequence[str]) -> pd.DataFrame:
    """Return the accepted rows of a result table, unless a message stands in it twice."""
    table = contract.check(frame, columns=needed)
    if "id" in table.columns:
        _refuse_repeated(table)
    return table[table["status"] == "accepted"]


def _refuse_repeated(table: pd.DataFrame) -> None:
    contract.refuse_repeated(table, lambda at: f"row {row_label(table.index[at])} (place {at:,})")


def check_columns(columns: str | Sequence[str]) -> list[str]:
    """Return the names to group by; ``currency`` always is one and left out.

    Raises:
        UsageError: not names, one of them twice, or the name of a sum.
    """
    if not isinstance(columns, str | list | tuple | pd.Index):
        raise UsageError(f"columns to group by must be a name or a list of names, got {given(columns)}")
    names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        if not isinstance(name, Hashable):
            raise UsageError(f"columns to group by must be names, such as ['iso', 'segment'], got {given(name)} in it")
        if names.count(name) > 1:
            raise UsageError(f"column {name!r} is asked for twice")
        if name in RESERVED:
            raise UsageError(
                f"column {name!r} would clash with the sums of the same name; give it another name first: "
                f"results.assign({name}_each=results[{name!r}])"
            )
    return [name for name in names if name != "currency"]


def with_derived(frame: pd.DataFrame, names: Sequence[str], tz: str) -> pd.DataFrame:
    """Return a result table with ``kind``, ``day`` and ``month``, where they are asked for and not its own."""
    missing = [name for name in _DERIVED if name in names and name not in frame.columns]
    if not missing:
        return frame
    by_time = ["at"] if {*missing} - {"kind"} else []
    table = contract.check(frame, columns=(*BILLED, *by_time))
    derived: dict[str, Any] = {"kind": pd.Series("campaign", index=table.index).astype(STR)}
    if by_time:
        local = contract.in_zone(table["at"], tz).dt.tz_localize(None)
        derived["month"] = local.dt.strftime("%Y-%m").astype(STR)
        derived["day"] = local.dt.normalize().dt.as_unit("us")
    return table.assign(**{name: derived[name] for name in missing})


def micros_of(amounts: pd.Series) -> pd.Series:
    """Return amounts, float64 or exact Decimals, as whole millionths; missing stays missing."""
    if amounts.dtype != object:
        return contract.micros(amounts)
    cells = [None if pd.isna(cell) else int(exact(cell).scaleb(6, CONTEXT)) for cell in amounts]
    is_large = any(cell is not None and abs(cell) >= 2**62 for cell in cells)
    return pd.Series(cells, index=amounts.index, dtype=object if is_large else "Int64")


def days_of(column: pd.Series) -> pd.Series:
    """Return a column of days as datetime64, whatever they came as."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column
    return dates.days(column, "column 'day'")


def _require_columns(frame: pd.DataFrame, names: Sequence[str]) -> None:
    for name in names:
        if name in frame.columns:
            continue
        if name in contract.DETAILS and not is_sums(frame):
            raise UsageError(f"results have no column {name!r}, which is the record's: {contract.BESIDE}")
        require(name, frame.columns, where="columns to group by")


def _rows_of_results(table: pd.DataFrame, names: list[str], estimates: bool) -> pd.DataFrame:
    is_priced = table["price"].notna() & table["currency"].notna()
    micros = contract.micros(table["price"])
    parts = table["parts"].fillna(1)
    rows = table[names].assign(
        currency=table["currency"],
        messages=pd.Series(1, index=table.index, dtype="int64"),
        parts=table["parts"].fillna(0),
        micros=micros.where(is_priced, 0),
        unpriced=~is_priced,
        priced_parts=parts.where(is_priced, 0),
        parts_unknown=0,
    )
    if estimates:
        is_same = (table["currency"] == table["est_currency"]).fillna(False).astype("bool")
        is_compared = is_same & table["price"].notna() & table["est_cost"].notna()
        rows = rows.assign(
            compared=is_compared,
            compared_parts=parts.where(is_compared, 0),
            est_parts=table["est_parts"].fillna(0).where(is_compared, 0),
            compared_micros=micros.where(is_compared, 0),
            est_micros=contract.micros(table["est_cost"]).where(is_compared, 0),
        )
    return rows


def _rows_of_sums(frame: pd.DataFrame, names: list[str], estimates: bool) -> pd.DataFrame:
    counts = {name: frame[name].astype("Int64").fillna(0) for name in ("messages", "parts", "unpriced")}
    priced_parts = parts_with_price(frame)
    rows = frame[names].assign(
        currency=frame["currency"],
        **counts,
        micros=micros_of(frame["cost"]).fillna(0),
        priced_parts=priced_parts.fillna(0),
        parts_unknown=priced_parts.isna(),
    )
    if estimates:
        if not has_estimates(frame):
            raise UsageError("these sums hold no estimates; compare the result table, the ledger or its cost.spending")
        rows = rows.assign(
            **{name: frame[name].astype("Int64").fillna(0) for name in ("compared", "compared_parts", "est_parts")},
            compared_micros=micros_of(frame["compared_cost"]).fillna(0),
            est_micros=micros_of(frame["est_cost"]).fillna(0),
        )
    return rows


def parts_with_price(sums: pd.DataFrame) -> pd.Series:
    """Return the parts of messages with a price; missing where sums of `by` have some with and some without one."""
    if "priced_parts" in sums.columns:
        return sums["priced_parts"].astype("Int64")
    return sums["parts"].astype("Int64").where(sums["unpriced"].eq(0).fillna(False).astype("bool"))
