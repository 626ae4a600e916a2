"""Cells that travel: text that no spreadsheet runs, and back.

A cell is text that a spreadsheet runs where it begins with a sign of a formula. In a text file another program may see
more cells than were written: it may separate by semicolons or tabs, and then our quotes do not hold. So the same signs
are looked for behind every separator and every end of a line within a cell. LibreOffice Calc drops every zero
character of a text file, so a sign behind some of them begins a formula, too.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.compute

from .._frames import AnySeries, as_pandas
from .._pandas import STR
from ..errors import UsageError

_SIGNS: Final = "=+\\-@\uff1d\uff0b\uff0d\uff20"  # the wide ones run where people write Japanese
_FORMULA: Final = re.compile(rf"\A['\0]*[{_SIGNS}\t\r\n]")
_RUN: Final = re.compile(  # a formula, and no E.164 number
    rf"\A(?:['\0]*[{_SIGNS.replace('+', '')}\t\r\n]|['\0]+\+|\+$|\+[0-9]*[^0-9])"
)
_WITHIN: Final = rf"""([,;\t\r\n])(["' \0]*[{_SIGNS}])"""
_HIDDEN: Final = re.compile(_WITHIN)
_FIRST: Final = pyarrow.array([*(sign.encode() for sign in "'\0=+-@\t\r\n"), b"\xef"], pyarrow.large_binary())
_PLAIN: Final = frozenset({str, bool, int, float, Decimal, type(pd.NaT), type(pd.NA), type(None)})
_TIMES: Final = (datetime.date, datetime.time, datetime.timedelta)


def neutral(texts: AnySeries) -> pd.Series:
    """Return a column whose text no spreadsheet runs as a formula; E.164 numbers and other values are unchanged.

    Example:
        >>> neutral(pd.Series(["=1+1", "-5", "+12025550123", "plain", "'=x", "a;=1+1"])).tolist()
        ["'=1+1", "'-5", '+12025550123', 'plain', "''=x", "a;'=1+1"]
    """
    texts = as_pandas(texts)
    if isinstance(texts.dtype, pd.StringDtype) and texts.dtype.storage == "pyarrow":
        return _neutral_by_column(texts)
    return map_distinct(texts, _guarded)


def _guarded(cell: str) -> str:
    within = _HIDDEN.sub(r"\1'\2", cell)
    return f"'{within}" if _RUN.match(cell) else within


def _neutral_by_column(texts: pd.Series) -> pd.Series:
    """Look at the first sign of every cell, and closer only where one of them can begin a formula."""
    compute = pyarrow.compute
    cells = pyarrow.array(texts, pyarrow.large_string(), from_pandas=True)
    first = compute.binary_slice(cells.cast(pyarrow.large_binary()), 0, 1)
    begins = compute.any(compute.is_in(first, _FIRST)).as_py()
    hides = compute.any(compute.match_substring_regex(cells, "[,;\t\r\n]")).as_py()
    changed = compute.replace_substring_regex(cells, _WITHIN, r"\1'\2") if hides else cells
    if begins:
        run = compute.match_substring_regex(cells, f"^(?:{_RUN.pattern})")
        mark, nothing = (pyarrow.scalar(text, cells.type) for text in ("'", ""))
        changed = compute.if_else(run, compute.binary_join_element_wise(mark, changed, nothing), changed)
    if not (begins or hides):
        return texts
    return pd.Series(pd.array(changed, dtype=texts.dtype), index=texts.index, name=texts.name)


def restored(texts: pd.Series) -> pd.Series:
    """Return what `neutral` made its text of."""
    return map_distinct(texts, _unguarded)


def _unguarded(cell: str) -> str:
    plain = cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
    return _HIDDEN.sub(lambda found: found[1] + found[2].removeprefix("'"), plain)


def told(column: pd.Series) -> pd.Series:
    """Return a column in which every value that is neither text, number nor time is its text.

    A file would otherwise ask such a value for its text when nobody looks at it any more: ``b"=1+1"``, a path, a list.

    Raises:
        UsageError: a value has no text; names column and row.

    Example:
        >>> told(pd.Series([b"=7", ["a"], "x", 5], dtype=object)).tolist()
        ["b'=7'", "['a']", 'x', 5]
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if column.dtype != object:
        return column if _is_plain(column.dtype) else column.astype(STR)
    strange = [
        at
        for at, cell in enumerate(column.array)
        if type(cell) not in _PLAIN and not isinstance(cell, np.number | np.bool_)  # a subclass says what it likes
    ]
    if not strange:
        return column
    cells = column.to_numpy(object, copy=True)
    for at in strange:
        cells[at] = _told(column, at)
    return pd.Series(cells, index=column.index, name=column.name, dtype=object)


def _is_plain(dtype: Any) -> bool:
    kinds = pd.api.types
    return (
        isinstance(dtype, pd.StringDtype)
        or kinds.is_bool_dtype(dtype)
        or (kinds.is_numeric_dtype(dtype) and not kinds.is_complex_dtype(dtype))
        or kinds.is_datetime64_any_dtype(dtype)
        or kinds.is_timedelta64_dtype(dtype)
    )


def _told(column: pd.Series, at: int) -> Any:
    cell = column.iat[at]
    if isinstance(cell, _TIMES) and getattr(cell, "tzinfo", None) is None:
        return cell
    try:
        return str.__str__(cell) if isinstance(cell, str) else str(cell)
    except Exception as error:  # noqa: BLE001 - whatever a stranger's __str__ raises
        kind = f"{type(cell).__name__} ({type(error).__name__})"
    raise UsageError(
        f"column {str(column.name)!r}, row {column.index[at]!r}: a value of type {kind} has no text that a file could "
        "hold; make it text first, or leave the column out"
    )


def map_distinct(column: pd.Series, change: Callable[[str], str]) -> pd.Series:
    """Change the text of a column, one call for each distinct value; numbers and other dtypes pass."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if not (column.dtype == object or isinstance(column.dtype, pd.StringDtype)):
        return column
    changes = {cell: change(cell) for cell in column.unique() if isinstance(cell, str)}
    changes = {old: new for old, new in changes.items() if old != new}
    if not changes:
        return column
    changed = column.map(changes)
    return column.where(changed.isna(), changed)


def neutral_frame(flat: pd.DataFrame) -> pd.DataFrame:
    """Return a table that a file may hold: headers and cells no spreadsheet runs, values that are text, number or time.

    Every file of ours gets its cells here.
    """
    columns = [neutral(told(flat.iloc[:, position])) for position in range(flat.shape[1])]
    done = pd.concat(columns, axis=1) if columns else flat
    done.columns = neutral(pd.Series(flat.columns.astype(STR), dtype="object")).tolist()
    return done


def joined(columns: list[pd.Series], like: pd.DataFrame, *, restore: bool) -> pd.DataFrame:
    frame = pd.concat(columns, axis=1) if columns else like.copy()
    names = pd.Series(like.columns, dtype=STR)
    frame.columns = (restored(names) if restore else names).tolist()
    return frame
