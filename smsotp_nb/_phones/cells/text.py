"""Turn cells into text, before any number is read.

``14155550100.0`` read as a phone number has one digit too many and is, in some twenty regions, a stranger's valid one.
"""

from __future__ import annotations

import numbers as abstract
from collections.abc import KeysView, Mapping, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..._frames import as_pandas
from ..._pandas import STR, texts
from ..._showing import cited, spelled
from ...errors import UsageError

BLOCK: Final = 1 << 15
EXACT_INTEGERS: Final = {2: 2**11, 4: 2**24, 8: 2**53}  # by bytes of a float: beyond this it loses digits

LONGEST_OBJECT: Final = 200  # characters
CHANCE: Final = 30  # bits that are all zero in a column: once in 10^9 by chance

MISSING_CELLS: Final = (None, pd.NA, np.nan)
TEXT: Final = np.uint8(0)
MISSING: Final = np.uint8(1)
NOT_TEXT: Final = np.uint8(2)
FLOAT: Final = np.uint8(3)  # a whole decimal number, written without its .0
LOST_DIGITS: Final = np.uint8(4)  # too large for a float to hold every digit
NOT_WHOLE: Final = np.uint8(5)  # fractional, negative or infinite


@dataclass(frozen=True, slots=True)
class Cells:
    """Text of every cell (``str``, positional index) and what kind of cell it was (one of the codes above)."""

    text: pd.Series
    kind: npt.NDArray[np.uint8]

    def __repr__(self) -> str:
        return f"<{len(self.kind)} cells>"


def column(values: object, *, what: str, like: pd.Series | None = None) -> pd.Series:
    """Return a column as a Series; a list gets the index 0..n-1 or that of ``like``, whose length it must have."""
    values = as_pandas(values)
    wrong = _why_no_column(values)
    if wrong is not None:
        hint = "; for one code for all rows use default_region=" if what == "region" else ""
        raise UsageError(f"{what} must be a column (a Series, list or array), not {wrong}{hint}")
    series = values if isinstance(values, pd.Series) else _series(values)
    if like is None:
        return series
    if len(series) != len(like):
        raise UsageError(f"{what} has {len(series)} rows, the numbers have {len(like)}: take both from the same frame")
    if isinstance(values, pd.Series) and not series.index.equals(like.index):
        raise UsageError(
            f"{what} and the numbers have different indexes (first labels {cited(next(iter(series.index)))} and"
            f" {cited(next(iter(like.index)))}): take both from the same frame"
        )
    return series


def _why_no_column(values: Any) -> str | None:
    """Return in words what was given if it cannot be read as one column, else None."""
    if getattr(values, "ndim", 1) != 1:
        shape = " x ".join(map(str, values.shape)) or "a single value: put it in a list"
        return f"{type(values).__name__} of {values.ndim} dimensions ({shape})"
    if isinstance(values, Mapping):
        return f"a {type(values).__name__}: give its values as a list, or a Series made of it"
    if isinstance(values, Set) and not isinstance(values, KeysView):
        return f"a {type(values).__name__}: it has no order, so rows cannot be told apart; pass a list"
    if isinstance(values, pd.MultiIndex) or getattr(getattr(values, "dtype", None), "names", None):
        return f"{type(values).__name__} with several values a row: choose one of them"
    text = isinstance(values, (str, bytes, bytearray, memoryview))
    return type(values).__name__ if text or not hasattr(values, "__len__") else None


def _series(values: Any) -> pd.Series:
    plain_list = isinstance(values, list | tuple)
    return pd.Series(values, dtype=object if plain_list or len(values) == 0 else None)


def same(text: str | None, size: int) -> pd.Series:
    """Return a column that repeats one text (or a missing one) and takes almost no memory, however long it is."""
    block = pa.array([text], pa.large_string()).take(pa.array(np.zeros(min(size, BLOCK), np.int8)))
    pieces = [block.slice(0, size - first) for first in range(0, size, BLOCK)]
    return pd.Series(STR.__from_arrow__(pa.chunked_array(pieces, pa.large_string())), copy=False)


def was_float32(column: pd.Series) -> bool:
    """Return whether a column of float64 was one of float32, which holds whole numbers exactly only up to 2^24.

    A float32 of eleven digits is a multiple of 1024, so it is no coincidence if several different numbers all are.

    Example:
        >>> numbers = pd.Series([491711234567.0, 4930901820.0, 14155550100.0, 491711234568.0])
        >>> was_float32(numbers), was_float32(numbers.astype("float32").astype("float64"))
        (False, True)
    """
    if not pd.api.types.is_float_dtype(column.dtype) or getattr(column.dtype, "itemsize", 8) != 8:
        return False
    values = column.to_numpy("float64", na_value=np.nan)
    large = values[(values >= EXACT_INTEGERS[4]) & (values < EXACT_INTEGERS[8])]
    if not len(large) or (large.astype("float32") != large).any():
        return False
    spare = np.log2(np.unique(large)).astype(int) - 23  # last bits of each number, which are all zero
    return int(spare.sum()) >= CHANCE


def read(column: pd.Series, *, narrow: bool = False) -> Cells:
    """Return every cell as text: whole decimal numbers without ``.0``, blanks missing.

    ``narrow`` says that a float64 column was float32 before.

    Example:
        >>> cells = read(pd.Series([14155550100.0, None]))
        >>> cells.text.tolist(), cells.kind.tolist()
        (['14155550100', nan], [3, 1])
    """
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _of_categories(column)
    if isinstance(dtype, pd.StringDtype) or str(dtype) in ("large_string[pyarrow]", "string[pyarrow]"):
        return _of_strings(column)
    if pd.api.types.is_bool_dtype(dtype):
        return _of_objects(column.astype(object))
    if pd.api.types.is_integer_dtype(dtype):
        text = column.astype("Int64" if column.hasnans else dtype).astype(STR)
        return _of_numbers(text, column.lt(0).fillna(False).to_numpy(bool))
    if pd.api.types.is_float_dtype(dtype):
        return _of_floats(column, narrow=narrow)
    if pd.api.types.is_object_dtype(dtype) and pd.api.types.infer_dtype(column, skipna=True) in ("string", "empty"):
        return _of_strings(column)
    return _of_objects(column.astype(object))


def matches(texts: pd.Series | pa.ChunkedArray, pattern: str) -> npt.NDArray[np.bool_]:
    """Search a pattern (in RE2's dialect) in every text; a missing text does not match."""
    if isinstance(texts, pd.Series):
        texts = pa.array(texts, pa.large_string(), from_pandas=True)
    return np.asarray(pc.fill_null(pc.match_substring_regex(texts, pattern), False), dtype=bool)


def _of_strings(column: pd.Series) -> Cells:
    text = texts(column)
    return _finish(text, np.zeros(len(text), np.uint8))


def _of_numbers(text: pd.Series, negative: npt.NDArray[np.bool_]) -> Cells:
    return _finish(text, np.where(negative, NOT_WHOLE, TEXT).astype(np.uint8))


def _of_floats(column: pd.Series, *, narrow: bool) -> Cells:
    width = 4 if narrow else int(getattr(column.dtype, "itemsize", 8))
    values = column.to_numpy("float64", na_value=np.nan)
    finite = np.where(np.isfinite(values), values, -1.0)
    whole = (finite >= 0) & (np.floor(finite) == finite)
    exact = whole & (values < EXACT_INTEGERS.get(width, 2**53))
    kind = np.select([exact, whole], [FLOAT, LOST_DIGITS], NOT_WHOLE).astype(np.uint8)
    text = pd.Series(values).astype(STR)
    text[exact] = pd.Series(values[exact].astype("int64")).astype(STR).to_numpy()
    return _finish(text, kind)


def _of_categories(column: pd.Series) -> Cells:
    codes = column.cat.codes.to_numpy()
    kinds = read(pd.Series(column.cat.categories))
    text = kinds.text.reindex(np.where(codes < 0, len(kinds.text), codes))
    kind = np.append(kinds.kind, MISSING)[codes]
    return _finish(text, kind.astype(np.uint8))


def _of_objects(column: pd.Series) -> Cells:
    cells = [_cell(value) for value in column]
    text = _of_strings(pd.Series([text for text, _ in cells], dtype=object)).text
    return _finish(text, np.array([kind for _, kind in cells], dtype=np.uint8))


def _cell(value: Any) -> tuple[str | None, np.uint8]:
    try:
        return _read(value)
    except Exception:  # noqa: BLE001 - whatever a stranger's methods raise, one row must not end the list
        return spelled(value)[:LONGEST_OBJECT], NOT_TEXT


def _read(value: Any) -> tuple[str | None, np.uint8]:
    if isinstance(value, str):
        return spelled(value), TEXT
    if isinstance(value, bool | np.bool_):
        return str(value), NOT_TEXT
    if isinstance(value, abstract.Integral):
        whole = int(value)
        return str(whole), TEXT if whole >= 0 else NOT_WHOLE
    if isinstance(value, abstract.Real | Decimal):
        return _real(value)
    if value is None or value is pd.NA or value is pd.NaT:
        return None, MISSING
    return spelled(value)[:LONGEST_OBJECT], NOT_TEXT


def plain(column: pd.Series) -> list[str | None] | None:
    """Return the cells of a short column, missing ones as None, without Arrow; None if some are not text in ASCII."""
    values = column.tolist()
    if all((type(value) is str and value.isascii()) or any(value is it for it in MISSING_CELLS) for value in values):
        return [value if isinstance(value, str) else None for value in values]
    return None


def plain_words(column: pd.Series) -> list[str | None]:
    """Return a short column of names or codes, missing ones as None."""
    found = plain(column)
    return [word if isinstance(word, str) else None for word in texts(column).tolist()] if found is None else found


def _real(value: Any) -> tuple[str | None, np.uint8]:
    if value != value:  # NaN differs from itself
        return None, MISSING
    if value in (float("inf"), float("-inf")) or value < 0 or value != int(value):
        return spelled(value)[:LONGEST_OBJECT], NOT_WHOLE
    if isinstance(value, Decimal) or value < EXACT_INTEGERS.get(getattr(value, "itemsize", 8), 2**53):
        return str(int(value)), FLOAT
    return spelled(value)[:LONGEST_OBJECT], LOST_DIGITS


def _finish(text: pd.Series, kind: npt.NDArray[np.uint8]) -> Cells:
    missing = text.isna().to_numpy(bool)
    return Cells(text.reset_index(drop=True), np.where(missing, MISSING, kind).astype(np.uint8))
