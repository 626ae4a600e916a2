"""Arms drawn by a keyed hash: the same unit is in the same arm on every machine, in every run, order and frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

Shares = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
_KEY: Final = 32  # bytes


def uniform(units: Sequence[str], key: bytes) -> Shares:
    """Return a number from 0 up to 1 for each unit, from its keyed hash.

    Example:
        >>> there, back = uniform(["ann", "ben"], b"autumn"), uniform(["ben", "ann"], b"autumn")
        >>> there.tolist() == back[::-1].tolist()
        True
    """
    short = blake2b(key, digest_size=_KEY).digest()  # a key of blake2b has 64 bytes at most
    digests = b"".join([blake2b(unit.encode(), key=short, digest_size=8).digest() for unit in units])
    found: Shares = (np.frombuffer(digests, ">u8") >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return found


def drawn(place: Shares, weights: Mapping[str, float]) -> Codes:
    """Return the number of each unit's arm, in the order of ``weights``, from its place between 0 and 1.

    The arms lie side by side in the order of their names, so the order in which they were declared changes nothing.

    Example:
        >>> drawn(np.array([0.05, 0.2, 0.9]), {"plain": 50, "holdout": 10, "emoji": 40}).tolist()
        [2, 2, 0]
    """
    names = [*weights]
    order = sorted(range(len(names)), key=names.__getitem__)
    bounds = np.cumsum([weights[names[code]] for code in order])
    found = np.searchsorted(bounds[:-1] / bounds[-1], place, side="right")
    return np.array(order, np.int64)[found]


def evenly(place: Shares, strata: Sequence[str], key: bytes) -> Shares:
    """Return places that divide each stratum evenly: its units in the order of their hash, with equal steps between.

    The steps begin at a random point, from a hash of the stratum, so that a unit's chance of an arm is the arm's share,
    however small its stratum is.

    Example:
        >>> evenly(np.array([0.3, 0.1, 0.2]), ["a", "a", "a"], b"autumn").argsort().tolist()
        [1, 2, 0]
    """
    names, code = np.unique(np.asarray(strata, dtype=object), return_inverse=True)
    order = np.lexsort((place, code))
    size = np.bincount(code, minlength=len(names))
    rank = np.empty(len(place), np.int64)
    rank[order] = np.arange(len(place)) - np.repeat(np.cumsum(size) - size, size)
    begins = uniform([f"stratum {name}" for name in names.tolist()], key)
    found: Shares = (rank + begins[code]) / size[code]
    return found
