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
from .._showing import NoText, cited, spelled, text_of
from ..errors import UsageError

_SIGNS: Final = "=+\\-@\uff1d\uff0b\uff0d\uff20"  # the wide ones run where people write Japanese
_FORMULA: Final = re.compile(rf"\A['\0]*[{_SIGNS}\t\r\n]")
_RUN: Final = re.compile(  # a formula, and no E.164 number
    rf"\A(?:['\0]*[{_SIGNS.replace('+', '')}\t\r\n]|['\0]+\+|\+$|\+[0-9]*[^0-9])"
)
_WITHIN: Final = rf"""([,;\t\r\n])(["' \0]*[{_SIGNS}])"""
_HIDDEN: Final = re.compile(_WITHIN)
_FIRST: Final = pyarrow.array([*(sign.encode() for sign in "'\0=+-@\t\r\n"), b"\xef"], pyarrow.large_binary())
_PLAIN: Final = frozenset({bool, float, type(pd.NaT), type(pd.NA), type(None)})
_NUMBERS: Final = frozenset({int, Decimal})  # of which a few have no text
_TIMES: Final = frozenset(
    {datetime.date, datetime.datetime, datetime.time, datetime.timedelta, pd.Timestamp, pd.Timedelta}
)


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
    if _is_plain(column.dtype):
        return column
    cells = column.to_numpy(object, copy=True)
    for at, cell in enumerate(cells):
        if type(cell) not in _PLAIN:
            cells[at] = _told(cell, column, at)
    return pd.Series(cells, index=column.index, name=column.name, dtype=object)


def _is_plain(dtype: Any) -> bool:
    kinds = pd.api.types
    return (
        (isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow")  # Python's may hold half a character
        or kinds.is_bool_dtype(dtype)
        or (kinds.is_numeric_dtype(dtype) and not kinds.is_complex_dtype(dtype))
        or kinds.is_datetime64_any_dtype(dtype)
        or kinds.is_timedelta64_dtype(dtype)
    )


def _told(cell: Any, column: pd.Series, at: int) -> Any:
    """Return what a file may hold of a cell: a subclass says what it likes, so the kind itself decides."""
    kind = type(cell)
    if (kind in _TIMES and getattr(cell, "tzinfo", None) is None) or issubclass(kind, np.number | np.bool_):
        return cell
    try:
        text = text_of(cell)
    except NoText as no:
        raise UsageError(
            f"{_place(column, at)}: a value of type {no} has no text that a file could hold; make it text first, or "
            "leave the column out"
        ) from None
    return cell if kind in _NUMBERS else text


def _place(column: pd.Series, at: int) -> str:
    name = spelled(column.name)
    return f"column {cited(name)}, row {cited(column.index[at])}" if name else f"the label of row {at}"


def headed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose columns are named by text, each by another.

    Raises:
        UsageError: a name has no text, or two have the same.
    """
    names = []
    for at, name in enumerate(frame.columns):
        try:
            names.append(text_of(name))
        except NoText as no:
            raise UsageError(
                f"column {at + 1} is named by a value of type {no}, which has no text that a file could hold; rename it"
            ) from None
    repeated = next((name for name in names if names.count(name) > 1), None) if len({*names}) < len(names) else None
    if repeated is not None:
        raise UsageError(f"two columns are named {cited(repeated)}; a file needs different names")
    return frame.set_axis(pd.Index(names, dtype=object), axis=1)


def map_distinct(column: pd.Series, change: Callable[[str], str]) -> pd.Series:
    """Change the text of a column, one call for each distinct value; numbers and other dtypes pass."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if not (column.dtype == object or isinstance(column.dtype, pd.StringDtype)):
        return column
    by_arrow = isinstance(column.dtype, pd.StringDtype) and column.dtype.storage == "pyarrow"
    # pandas 2 takes two objects for one text that differ only behind a zero character.
    distinct = column.unique() if by_arrow else {cell for cell in column.array if isinstance(cell, str)}
    changes = {cell: change(cell) for cell in distinct if isinstance(cell, str)}
    changes = {old: new for old, new in changes.items() if old != new}
    if not changes:
        return column
    changed = column.map(changes)
    return column.where(changed.isna(), changed)


def neutral_frame(flat: pd.DataFrame) -> pd.DataFrame:
    """Return a table that a file may hold: headers and cells no spreadsheet runs, values that are text, number or time.

    Every file of ours gets its cells here.
    """
    flat = headed(flat)
    columns = [neutral(told(flat.iloc[:, position])) for position in range(flat.shape[1])]
    done = pd.concat(columns, axis=1) if columns else flat
    return done.set_axis(neutral(pd.Series(flat.columns, dtype=object)).tolist(), axis=1)


def joined(columns: list[pd.Series], like: pd.DataFrame, *, restore: bool) -> pd.DataFrame:
    frame = pd.concat(columns, axis=1) if columns else like.copy()
    names = pd.Series(like.columns, dtype=STR)
    frame.columns = (restored(names) if restore else names).tolist()
    return frame
