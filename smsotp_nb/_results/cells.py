"""Cells that travel: text that no spreadsheet runs, and back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import pandas as pd
import pyarrow
import pyarrow.compute

from .._frames import AnySeries, as_pandas
from .._pandas import STR

_FORMULA: Final = re.compile(r"\A'*[=+\-@\t\r\n]")
_RUN: Final = re.compile(r"\A(?:'*[=\-@\t\r\n]|'+\+|\+$|\+[0-9]*[^0-9])")  # a formula, and no E.164 number
_FIRST: Final = pyarrow.array([sign.encode() for sign in "'=+-@\t\r\n"], pyarrow.large_binary())


def neutral(texts: AnySeries) -> pd.Series:
    """Return a column whose text no spreadsheet runs as a formula; E.164 numbers and other values are unchanged.

    Example:
        >>> neutral(pd.Series(["=1+1", "-5", "+12025550123", "plain", "'=x"])).tolist()
        ["'=1+1", "'-5", '+12025550123', 'plain', "''=x"]
    """
    texts = as_pandas(texts)
    if isinstance(texts.dtype, pd.StringDtype) and texts.dtype.storage == "pyarrow":
        return _neutral_by_column(texts)
    return map_distinct(texts, lambda cell: f"'{cell}" if _RUN.match(cell) else cell)


def _neutral_by_column(texts: pd.Series) -> pd.Series:
    """Look at the first sign of every cell, and closer only where one of them can begin a formula."""
    compute = pyarrow.compute
    cells = pyarrow.array(texts, pyarrow.large_string(), from_pandas=True)
    first = compute.binary_slice(cells.cast(pyarrow.large_binary()), 0, 1)
    if not compute.any(compute.is_in(first, _FIRST)).as_py():
        return texts
    run = compute.match_substring_regex(cells, f"^(?:{_RUN.pattern})")
    mark, nothing = (pyarrow.scalar(text, cells.type) for text in ("'", ""))
    changed = compute.if_else(run, compute.binary_join_element_wise(mark, cells, nothing), cells)
    return pd.Series(pd.array(changed, dtype=texts.dtype), index=texts.index, name=texts.name)


def restored(texts: pd.Series) -> pd.Series:
    return map_distinct(texts, lambda cell: cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell)


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
    columns = [neutral(flat.iloc[:, position]) for position in range(flat.shape[1])]
    done = pd.concat(columns, axis=1) if columns else flat
    done.columns = neutral(pd.Series(flat.columns.astype(STR), dtype="object")).tolist()
    return done


def joined(columns: list[pd.Series], like: pd.DataFrame, *, restore: bool) -> pd.DataFrame:
    frame = pd.concat(columns, axis=1) if columns else like.copy()
    names = pd.Series(like.columns, dtype=STR)
    frame.columns = (restored(names) if restore else names).tolist()
    return frame
