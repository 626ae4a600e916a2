"""Columns of text in Arrow's memory, so that a long list takes little more than its answer.

Arrow's allocator and numpy's would each keep the most that was ever needed, so Arrow uses numpy's here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]

SHARED: Final = pa.system_memory_pool()
STRING: Final = pa.large_string()


def taken(values: Any, rows: Any) -> Any:
    """Return some rows of an Arrow column."""
    return pc.take(values, rows, memory_pool=SHARED)


def picked(values: pa.ChunkedArray, rows: Any) -> pa.ChunkedArray:
    """Return some rows, in order, of a column in pieces, without making one piece of it first."""
    begin, found = 0, []
    for chunk in values.chunks:
        inside = rows[np.searchsorted(rows, begin) : np.searchsorted(rows, begin + len(chunk))] - begin
        found.append(taken(chunk, inside))
        begin += len(chunk)
    return pa.chunked_array(found, values.type)


def replaced(texts: pa.Array, rows: Rows, others: pa.Array) -> pa.Array:
    """Return a text column with other texts in some rows."""
    if not len(rows):
        return texts
    place = np.arange(len(texts))
    place[rows] = np.arange(len(texts), len(texts) + len(rows))
    return taken(pa.concat_arrays([texts, others.cast(texts.type)], SHARED), place)


def matching(texts: pa.Array, rows: Rows, pattern: str) -> Rows:
    """Return the rows whose text matches the pattern (in RE2's dialect)."""
    if not len(rows):
        return rows
    chosen = texts if len(rows) == len(texts) else taken(texts, rows)
    found = pc.match_substring_regex(chosen, pattern, memory_pool=SHARED)
    some: Rows = rows[np.asarray(found.fill_null(False) if found.null_count else found, bool)]
    return some


class ByCode:
    """A number above 0 for every code point, worked out when the code point first occurs."""

    def __init__(self, number_of: Callable[[str], int], kind: type[np.unsignedinteger[Any]]) -> None:
        self.number_of = number_of
        self.table = np.zeros(0x110000, kind)

    def take(self, codes: npt.NDArray[np.uint32]) -> Any:
        numbers = self.table.take(codes)
        new = codes[numbers == 0]
        if not len(new):
            return numbers
        for code in np.unique(new).tolist():
            self.table[code] = self.number_of(chr(code))
        return self.table.take(codes)
