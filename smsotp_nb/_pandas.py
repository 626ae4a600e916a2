"""What differs between pandas 2.2 and 3, and what older Arrow does wrong, answered once.

``STR`` is the dtype of every column of text that we make: on pandas 3 its ``str``, on pandas 2 the same kind of column
(Arrow's text, NaN where a cell is missing) under the name it has there. pandas 2 would make an object column of
``dtype="str"``, and the text ``"nan"`` of a missing cell in ``astype("str")``: a person without a country would be from
the country ``nan``. So no module says ``"str"``.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ._showing import spelled


def _str() -> Any:
    try:
        return pd.StringDtype("pyarrow", na_value=np.nan)
    except TypeError:  # pandas 2.2 has it under a name of its own
        return pd.StringDtype("pyarrow_numpy")


STR: Final[Any] = _str()
_COPIES_ON_WRITE: Final = int(pd.__version__.partition(".")[0]) >= 3


def lent(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of ours to hand out: what becomes of it never reaches ours."""
    return frame.copy(deep=not _COPIES_ON_WRITE)


def with_columns(frame: pd.DataFrame, columns: Mapping[Any, Any]) -> pd.DataFrame:
    """Return a frame with these columns, in the place of its own; they may be called by numbers, unlike in `assign`."""
    made = frame.copy(deep=False)
    for name, column in columns.items():
        made[name] = column
    return made


def holds_text(column: pd.Series) -> bool:
    """Say whether a column holds text, as pandas 3 knows from its dtype: on pandas 2 it is one of objects."""
    if isinstance(column.dtype, pd.StringDtype):
        return True
    try:
        return column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) == "string"
    except Exception:  # noqa: BLE001 - whatever a stranger's class raises when it is asked what it is
        return False


def texts(column: pd.Series) -> pd.Series:
    """Return a column as text (`STR`), whatever its cells are; missing ones stay missing."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return texts(column.astype(column.cat.categories.dtype))
    if column.dtype != object and not isinstance(column.dtype, pd.StringDtype):
        return column.astype(STR)
    try:
        if holds_text(column):
            return column.astype(STR)
    except UnicodeEncodeError:  # half a character: no column of Arrow's text can hold it
        pass
    cells = [None if is_missing(cell) else spelled(cell) for cell in column.array]
    return pd.Series(cells, index=column.index, name=column.name, dtype=STR)


def is_missing(cell: Any) -> bool:
    """Return whether a cell stands for no value."""
    if isinstance(cell, Decimal):
        return cell.is_nan()  # pandas compares it with itself, and a signalling NaN raises there
    return bool(pd.api.types.is_scalar(cell) and pd.isna(cell))


def without(texts: Any, marked: Any) -> Any:
    """Return an Arrow column of text, missing where it is marked (booleans, an Arrow column as long).

    pyarrow up to 22 at least reads other bytes where ``if_else`` puts a missing scalar into a slice of text.
    """
    kept = pc.if_else(marked, pa.scalar(None, pa.bool_()), True)
    return pc.if_else(kept, texts, texts)
