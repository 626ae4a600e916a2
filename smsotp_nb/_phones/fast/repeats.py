"""Repetitive lists: answer each distinct row once, if a sample shows that this pays.

Finding the distinct rows costs about a quarter of answering them all, so it pays from some 60% of repeats on. How many
distinct rows a list of any length has is told by two samples. In a small one next to no text comes twice if the list
is nearly unique, and nothing more is asked. Where some do, a larger sample tells how the share of new texts falls each
time that twice as many rows are looked at: all texts repeated alike let it fall faster and faster, a few popular ones
beside many unique ones let it fall evenly. Carried on to the whole list, that is within a few percent of the truth.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .memory import SHARED, picked

FIRST_SAMPLE: Final = 4_000
SAMPLE: Final = 32_000
SMALL: Final = 20_000  # below this many rows nothing is won
WORTH: Final = 0.4  # share of distinct rows below which it pays


def distinct_rows(texts: pa.ChunkedArray, regions: pa.ChunkedArray) -> tuple[Any, Any] | None:
    """Return the first row of each distinct pair of text and region, and each row's pair; None where it does not pay.

    Example:
        >>> texts = pa.chunked_array([[f"+1202555{n % 1000:04}" for n in range(30_000)]], pa.large_string())
        >>> regions = pa.chunked_array([["US"] * 30_000], pa.large_string())
        >>> first, which = distinct_rows(texts, regions)
        >>> len(first), int(which[1000])
        (1000, 0)
    """
    if len(texts) < SMALL or _nearly_unique(texts) or _estimated(texts) > WORTH:
        return None
    keys, beside = _numbered(texts).astype(np.int64), _numbered(regions)
    keys *= int(beside.max()) + 1
    keys += beside
    which = _numbered(pa.chunked_array([pa.array(keys)]))
    first = np.zeros(int(which.max()) + 1, np.int32)
    first[which[::-1]] = np.arange(len(which), dtype=np.int32)[::-1]
    return (first, which) if len(first) <= WORTH * len(texts) else None


def _numbered(values: pa.ChunkedArray) -> Any:
    """Number the distinct values in the order met; equal ones have equal numbers, missing ones one of their own."""
    encoded = pc.dictionary_encode(values, null_encoding="encode", memory_pool=SHARED)
    return np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks])  # all have one dictionary


def _nearly_unique(texts: pa.ChunkedArray) -> bool:
    """Of ``k`` rows drawn from ``d`` distinct ones about ``k * k / 2 d`` texts come more than once.

    Texts are counted and not rows, because a few fillers such as "n/a" say nothing of the others.
    """
    rows = _drawn(texts, FIRST_SAMPLE)
    times = Counter(rows.to_pylist()).values()
    repeated = sum(count > 1 for count in times)
    return 2 * len(times) > len(rows) and len(rows) ** 2 > 2 * repeated * WORTH * len(texts)


def _estimated(texts: pa.ChunkedArray) -> float:
    """About which share of the texts is distinct."""
    rows = _numbered(_drawn(texts, min(SAMPLE, len(texts) // 2)))
    quarter, half, whole = (len(np.unique(rows[::step])) for step in (4, 2, 1))
    first_loss, loss = 1 - np.log2(half / quarter), 1 - np.log2(whole / half)
    faster = min(max(loss / first_loss, 1), 2) if first_loss > 0 else 2
    lost, doublings = 0.0, np.log2(len(texts) / len(rows))
    while doublings > 0:
        loss = min(loss * faster, 1)
        lost += loss * min(doublings, 1)
        doublings -= 1
    return float(whole / len(rows) / 2**lost)


def _drawn(texts: pa.ChunkedArray, size: int) -> pa.ChunkedArray:
    """Draw rows at random, but the same for the same list; in the list's order."""
    rows = np.unique(np.random.default_rng(0).integers(0, len(texts), size))
    return picked(texts, rows)
