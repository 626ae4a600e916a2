"""Lists that repeat themselves: answer each distinct row once, where a sample says that this pays.

Finding the distinct rows costs about a third of answering them all, so it pays from some 40 % of repeats on. How many
distinct rows a list of any length has shows in a small sample by how often two of its rows agree: of ``k`` rows drawn
from ``d`` distinct ones, about ``k * k / 2 d`` pairs do.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

SAMPLE: Final = 4_000
SMALL: Final = 20_000  # below this many rows nothing is won
WORTH: Final = 0.6  # share of distinct rows below which it pays


def distinct_rows(texts: pa.Array, place: Any) -> tuple[Any, Any] | None:
    """Return the first row of each distinct pair of text and region (``place``), and each row's pair.

    None where it does not pay.

    Example:
        >>> texts = pa.array([f"+1202555{n % 1000:04}" for n in range(30_000)], pa.large_string())
        >>> first, which = distinct_rows(texts, np.zeros(30_000, np.int64))
        >>> len(first), which[1000]
        (1000, np.int64(0))
    """
    if len(texts) < SMALL or _estimated(texts) > WORTH * len(texts):
        return None
    encoded = pc.dictionary_encode(texts)
    keys = encoded.indices.to_numpy().astype(np.int64) * (int(place.max(initial=0)) + 2) + place
    which, _ = pd.factorize(keys)
    first = np.zeros(int(which.max()) + 1, np.int64)
    first[which[::-1]] = np.arange(len(which))[::-1]
    return (first, which) if len(first) <= WORTH * len(texts) else None


def _estimated(texts: pa.Array) -> float:
    rows = np.random.default_rng(0).integers(0, len(texts), SAMPLE)
    rows = np.unique(rows)
    counts = texts.take(pa.array(rows)).value_counts().field("counts").to_numpy()
    agreeing = float((counts * (counts - 1) // 2).sum())
    return len(rows) ** 2 / (2 * agreeing) if agreeing else float("inf")
