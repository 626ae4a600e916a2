"""Columns of text: Arrow tables of a file's records, cut into frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow
import pyarrow.compute

from .._pandas import STR, without
from .records import Record

TEXT: Final = pyarrow.large_string()
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Part:
    """Some records of a file: their cells by column (blank ones missing) and their numbers."""

    names: list[str]
    columns: list[pyarrow.ChunkedArray]
    numbers: Numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def slice(self, first: int, rows: int) -> Part:
        columns = [column.slice(first, rows) for column in self.columns]
        return Part(self.names, columns, self.numbers[first : first + rows])

    def frame(self, index: pd.Index) -> pd.DataFrame:
        texts = [STR.__from_arrow__(column) for column in self.columns]
        return pd.DataFrame(dict(zip(self.names, texts, strict=True)), index=index, columns=self.names)


def none(names: list[str]) -> Part:
    return Part(names, [pyarrow.chunked_array([], TEXT) for _ in names], np.zeros(0, np.int64))


def of_records(records: list[Record], names: list[str]) -> Part:
    """Make columns of records that all have a cell for each name."""
    columns = zip(*(record.cells for record in records), strict=True)
    texts = [pyarrow.chunked_array([pyarrow.array(cells, TEXT)]) for cells in columns]
    return of_texts(names, texts, np.array([record.number for record in records], np.int64))


def of_texts(names: list[str], texts: list[pyarrow.ChunkedArray], numbers: Numbers) -> Part:
    """Make columns of texts: blank cells are missing, and records without a filled cell are left out."""
    columns = [_blank_is_missing(column) for column in texts]
    kept = np.zeros(len(numbers), bool)
    for column in columns:
        if column.null_count == 0:
            return Part(names, columns, numbers)
        kept |= column.is_valid().to_numpy()
    if kept.all():
        return Part(names, columns, numbers)
    mask = pyarrow.array(kept)
    return Part(names, [column.filter(mask) for column in columns], numbers[kept])


def _blank_is_missing(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    compute = pyarrow.compute
    blank = compute.or_(compute.equal(compute.binary_length(column), 0), compute.utf8_is_space(column))
    if not compute.any(blank).as_py():
        return column
    return without(column, blank)


ERRORS: Final = frozenset(
    "#N/A #REF! #DIV/0! #VALUE! #NAME? #NUM! #NULL! #SPILL! #CALC! #FIELD! #BLOCKED! #UNKNOWN! #CONNECT! #BUSY! "  # noqa: SIM905
    "#GETTING_DATA #ERROR! #NV #BEZUG! #WERT! #ZAHL!".split()
)

GUARDED: Final = r"(^|[,;\t\r\n])'(\s*[=+@\-])"
GUARDED_NUMBER: Final = r"^'\s*\+[0-9 ().\-]{7,}$"
OF_A_CLEANED_LIST: Final = frozenset({"to", "problem", "note"})


def without_errors(part: Part) -> tuple[Part, list[tuple[str, int]]]:
    """Return a part in which errors of a spreadsheet are missing, and their columns and rows."""
    compute, found, columns = pyarrow.compute, list[tuple[str, int]](), [*part.columns]
    for at, column in enumerate(part.columns):
        if _begins(column, "#"):
            errors = compute.is_in(compute.utf8_trim_whitespace(column), pyarrow.array(sorted(ERRORS), TEXT))
            found += [(part.names[at], row) for row in part.numbers[errors.to_numpy(zero_copy_only=False)].tolist()]
            columns[at] = without(column, errors)
    return Part(part.names, columns, part.numbers), found


def without_guards(part: Part) -> tuple[Part, int]:
    """Return a part without the apostrophes that keep a spreadsheet from running a cell, and how many cells had one.

    In a list that we have cleaned they are ours, and not counted; those of phone numbers stay.
    """
    compute, many, columns = pyarrow.compute, 0, [*part.columns]
    ours = OF_A_CLEANED_LIST.issubset(part.names)
    for at, column in enumerate(columns):
        if not (ours or _begins(column, "'")):
            continue
        marked = compute.fill_null((compute.match_substring if ours else compute.starts_with)(column, "'"), False)
        cells = column.filter(marked)
        guarded, numbers = (compute.match_substring_regex(cells, it) for it in (GUARDED, GUARDED_NUMBER))
        guarded = compute.and_not(guarded, numbers)
        if found := int(compute.sum(guarded).as_py() or 0):
            many += found
            cells = compute.if_else(guarded, compute.replace_substring_regex(cells, GUARDED, r"\1\2"), cells)
            parts = (one.combine_chunks() for one in (column, marked, cells))
            columns[at] = pyarrow.chunked_array([compute.replace_with_mask(*parts)])
    return Part(part.names, columns, part.numbers), 0 if ours else many


def _begins(column: pyarrow.ChunkedArray, sign: str) -> bool:
    """Return whether a cell begins with a sign of ASCII; sometimes also where only a blank one stands before it."""
    for chunk in column.chunks:
        _, offsets, data = chunk.buffers()
        begins = np.frombuffer(offsets, np.int64)[chunk.offset : chunk.offset + len(chunk)]
        signs = np.frombuffer(data or b"\0", np.uint8)
        if len(signs) and (signs.take(begins, mode="clip") == ord(sign)).any():
            return True
    return False


def joined(parts: list[Part]) -> Part:
    """Put parts of the same columns together; nothing is copied."""
    pieces = zip(*(part.columns for part in parts), strict=True)
    columns = [pyarrow.chunked_array([chunk for column in same for chunk in column.chunks], TEXT) for same in pieces]
    return Part(parts[0].names, columns, np.concatenate([part.numbers for part in parts]))


def in_order(parts: list[Part]) -> Part:
    """Put parts together in the order of their numbers."""
    whole = joined(parts)
    order = np.argsort(whole.numbers, kind="stable")
    places = pyarrow.array(order)
    columns = [pyarrow.chunked_array([column.combine_chunks().take(places)]) for column in whole.columns]
    return Part(whole.names, columns, whole.numbers[order])


def resized(parts: Iterable[Part], rows: int) -> Iterator[Part]:
    """Give the same records in parts of so many rows; the last one, or the only one of no rows, is smaller."""
    waiting: list[Part] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) > rows:
            whole = joined(waiting)
            last = (len(whole) - 1) // rows * rows
            yield from (whole.slice(first, rows) for first in range(0, last, rows))
            waiting = [whole.slice(last, rows)]
    if waiting:
        yield joined(waiting)
