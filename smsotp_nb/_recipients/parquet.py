"""A Parquet file as columns of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow

from .._foreign.gate import ours
from .._foreign.parquet import names_and_rows, read_batches, read_parquet
from .._pandas import STR, is_missing
from ..errors import UsageError
from .tables import TEXT, Part
from .workbook import cell_text


def part(file: Path) -> Part:
    """Return all rows, counted from 1."""
    with ours(file, "Parquet"):
        frame = read_parquet(file)
        if not isinstance(frame.index, pd.RangeIndex) and frame.index.names != [None]:
            frame = frame.reset_index()
        _refuse_twice(file, frame.columns)
        texts = [_text(frame.iloc[:, at]) for at in range(frame.shape[1])]
        return Part([str(name) for name in frame.columns], texts, np.arange(1, len(frame) + 1))


def batches(file: Path, columns: Sequence[str], rows: int) -> Iterator[Part]:
    """Give these columns in parts of at most so many rows, each cell the text that `part` has for it."""
    with ours(file, "Parquet"):
        first = 1
        for frame in read_batches(file, columns, rows):
            texts = [_text(frame.iloc[:, at]) for at in range(frame.shape[1])]
            yield Part([str(name) for name in frame.columns], texts, np.arange(first, first + len(frame)))
            first += len(frame)


def measured(file: Path) -> tuple[list[str], int]:
    """Return the names of a file's columns and how many rows it has, without reading them."""
    with ours(file, "Parquet"):
        names, rows = names_and_rows(file)
    _refuse_twice(file, pd.Index(names))
    return [str(name) for name in names], rows


def _refuse_twice(file: Path, names: pd.Index) -> None:
    twice = sorted({str(name) for name in names[names.duplicated()]})
    if twice:
        raise UsageError(f"{file.name} has more than one column named {', '.join(map(repr, twice))}: rename them first")


SHORT_FLOATS: Final = {2: 2**11, 4: 2**24}  # by bytes: beyond this they have lost digits, and the text shows it


def _cell(cell: Any) -> str | None:
    if isinstance(cell, bytes):  # as programs write text that do not say that it is
        return cell.decode()
    return None if is_missing(cell) else cell_text(cell)


def _text(column: pd.Series) -> pyarrow.ChunkedArray:
    if pd.api.types.is_float_dtype(column.dtype):
        exact = SHORT_FLOATS.get(getattr(column.dtype, "itemsize", 8), np.inf)
        whole = column.astype(object)
        column = whole.map(lambda cell: f"{cell:.5e}" if abs(cell) >= exact else cell, na_action="ignore")
    if not isinstance(column.dtype, pd.StringDtype):
        column = column.astype(object).map(_cell)
    text = column.astype(STR)
    made = pyarrow.array(text.mask(text.str.strip() == ""), TEXT, from_pandas=True)
    return made if isinstance(made, pyarrow.ChunkedArray) else pyarrow.chunked_array([made])
