"""Where memory comes from, so that a long list takes little more than its answer.

An allocator keeps what is freed for later. Arrow's own and the one of numpy would each keep the most that was ever
needed, so Arrow's work here uses the one of numpy too: what scratch leaves behind, the answer is then written into.
"""

from __future__ import annotations

import mmap
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SHARED: Final = pa.system_memory_pool()


def lasting(size: int, kind: Any = np.uint8) -> Any:
    """Return zeros that leave no hole when they go, and of which those never written to take no room.

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
