"""Lists that repeat themselves: answer each distinct row once, where a sample says that this pays.

Finding the distinct rows costs about a third of answering them all, so it pays from some 40 % of repeats on. How many
distinct rows a list of any length has shows in a small sample by how often two of its rows agree: of ``k`` rows drawn
from ``d`` distinct ones, about ``k * k / 2 d`` texts come twice.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

SAMPLE: Final = 4_000
SMALL: Final = 20_000  # below this many rows nothing is won
WORTH: Final = 0.6  # share of distinct rows below which it pays


def distinct_rows(texts: pa.ChunkedArray, regions: pa.ChunkedArray) -> tuple[pa.Array, Any] | None:
    """Return the first row of each distinct pair of text and region, and each row's pair; None where it does not pay.

    Example:
        >>> texts = pa.chunked_array([[f"+1202555{n % 1000:04}" for n in range(30_000)]], pa.large_string())
        >>> regions = pa.chunked_array([["US"] * 30_000], pa.large_string())
        >>> first, which = distinct_rows(texts, regions)
        >>> len(first), int(which[1000])
        (1000, 0)
    """
    if len(texts) < SMALL or _estimated(texts) > WORTH * len(texts):
        return None
    keys = _numbered(texts).astype(np.int64)
    keys *= len(regions.unique()) + 1
    keys += _numbered(regions)
    which, _ = pd.factorize(keys)
    first = np.zeros(int(which.max()) + 1, np.int64)
    first[which[::-1]] = np.arange(len(which))[::-1]
    return (pa.array(first), which) if len(first) <= WORTH * len(texts) else None


def _numbered(texts: pa.ChunkedArray) -> Any:
    """Number the distinct texts; equal texts have equal numbers, missing ones one of their own."""
    encoded = pc.dictionary_encode(texts, null_encoding="encode").combine_chunks()
    return encoded.indices.to_numpy()


def _estimated(texts: pa.ChunkedArray) -> float:
    """About how many distinct texts there are, by a sample."""
    rows = np.unique(np.random.default_rng(0).integers(0, len(texts), SAMPLE))
    begin, drawn = 0, []
    for chunk in texts.chunks:
        inside = rows[np.searchsorted(rows, begin) : np.searchsorted(rows, begin + len(chunk))] - begin
        drawn += chunk.take(pa.array(inside)).to_pylist()
        begin += len(chunk)
    times = list(Counter(drawn).values())
    if len(times) < len(rows) / 2:
        return len(times)
    twice = times.count(2)  # more often stand a few fillers such as "n/a", which say nothing of the others
    return len(rows) ** 2 / (2 * twice) if twice else float("inf")
