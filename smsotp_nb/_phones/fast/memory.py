"""Where memory comes from, so that a long list takes little more than its answer.

Allocators keep freed memory for later use. Arrow's and numpy's would each keep the most that was ever needed, so Arrow
uses numpy's here. The answer is then written into memory that was scratch space before.
"""

from __future__ import annotations

import mmap
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SHARED: Final = pa.system_memory_pool()


def lasting(size: int, kind: Any = np.uint8) -> Any:
    """Return zeros in memory of their own, which leaves no hole when it is freed and takes no room until it is written.

    (numpy's own come in pages of two megabytes.)

    Example:
        >>> lasting(3, np.int16).tolist()
        [0, 0, 0]
    """
    own = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
    return np.frombuffer(mmap.mmap(-1, max(size * np.dtype(kind).itemsize, 1), **own), kind, size)


def taken(values: Any, rows: Any) -> Any:
    """Return some rows of an Arrow column.

    Example:
        >>> taken(pa.array(["a", "b"]), np.array([1, 1])).to_pylist()
        ['b', 'b']
    """
    return pc.take(values, rows, memory_pool=SHARED)


def picked(values: pa.ChunkedArray, rows: Any) -> pa.ChunkedArray:
    """Return some rows, in order, of a column in pieces, without making one piece of it first.

    Example:
        >>> picked(pa.chunked_array([["a", "b"], ["c"]]), np.array([1, 2])).to_pylist()
        ['b', 'c']
    """
    begin, found = 0, []
    for chunk in values.chunks:
        inside = rows[np.searchsorted(rows, begin) : np.searchsorted(rows, begin + len(chunk))] - begin
        found.append(taken(chunk, inside))
        begin += len(chunk)
    return pa.chunked_array(found, values.type)
