"""Units that are there more than once, among ten million in about a second: by a sort of their keys."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_BLOCK: Final = 1_000_000  # texts hashed at once
_SEED: Final = 20261122
Keys = npt.NDArray[np.uint64]


def twice(units: pa.ChunkedArray) -> list[int]:
    """Return the rows whose unit, a large string or a whole number, is there in another row, too.

    Example:
        >>> twice(pa.chunked_array([pa.array(["ann", "ben", "ann"], pa.large_string())]))
        [0, 2]
    """
    keys = np.concatenate([_keys(block) for block in _blocks(units)]) if len(units) else np.zeros(0, "uint64")
    ordered = np.sort(keys)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(again):
        return []
    rows = np.flatnonzero(np.isin(keys, again, kind="sort"))  # numpy 2.0 cannot tell whether a table would fit
    return [int(rows[place]) for place in _alike(units.take(pa.array(rows)))]


def _blocks(units: pa.ChunkedArray) -> list[pa.Array]:
    whole = units.combine_chunks()
    return [whole.slice(start, _BLOCK) for start in range(0, len(whole), _BLOCK)]


def _keys(block: pa.Array) -> Keys:
    """Return a number for each unit: equal units have equal numbers."""
    if pa.types.is_large_string(block.type):
        return _of_texts(pc.fill_null(block, ""))
    return np.asarray(block.fill_null(-1).cast(pa.int64()).to_numpy(zero_copy_only=False)).view("uint64")


def _of_texts(block: pa.Array) -> Keys:
    """Return the sum of each text's bytes times a fixed random weight of their place."""
    ends = np.frombuffer(block.buffers()[1], "int64")[block.offset : block.offset + len(block) + 1]
    signs = np.frombuffer(block.buffers()[2] or b"", "uint8")[ends[0] : ends[-1]]
    lengths = np.diff(ends)
    weights = np.random.default_rng(_SEED).integers(1, 2**63, int(lengths.max(initial=0)) + 1, dtype="uint64")
    place = np.arange(len(signs)) - np.repeat(ends[:-1] - ends[0], lengths)
    summed = np.concatenate([[np.uint64(0)], np.cumsum((signs + np.uint64(1)) * weights[place], dtype="uint64")])
    return np.asarray(summed[ends[1:] - ends[0]] - summed[ends[:-1] - ends[0]], dtype="uint64")


def _alike(units: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Return the places whose unit is truly there twice; keys of different units may be the same."""
    return np.flatnonzero(units.to_pandas().duplicated(keep=False).to_numpy())
