"""Cells with several numbers, and rows with the same one."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..errors import UsageError
from . import cells, repairs


def explode(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Give every number of a cell a row of its own; the other cells and the label of the row repeat.

    Only cells ``normalize`` calls MULTIPLE_NUMBERS are divided, where each piece has at least seven digits: the
    shorthand ``4155550100/2`` stays whole, because its second number would be a guess.

    Example:
        >>> frame = pd.DataFrame({"name": ["Ada", "Bob"], "phone": ["+14155550100", "0491570156 / 0491570157"]})
        >>> explode(frame, "phone")["phone"].tolist()
        ['+14155550100', '0491570156', '0491570157']
    """
    if column not in frame.columns:
        raise UsageError(f"no column {column!r}; there are {', '.join(map(repr, frame.columns))}")
    text = cells.read(frame[column]).text
    parts = [_numbers(cell) for cell in text.fillna("")]
    rows = np.repeat(np.arange(len(frame)), [max(len(found), 1) for found in parts])
    divided = [number for found, cell in zip(parts, frame[column], strict=True) for number in found or [cell]]
    exploded = frame.iloc[rows].copy()
    exploded[column] = pd.Series(divided, index=exploded.index, dtype=object if len(rows) == len(frame) else "str")
    return exploded if len(rows) > len(frame) else frame.copy()


def _numbers(cell: str) -> list[str]:
    if repairs.clean(cell).problem != "MULTIPLE_NUMBERS":
        return []
    found = repairs.pieces(cell)
    whole = all(sum(sign.isdigit() for sign in piece) >= 7 for piece in found)
    return found if whole and len(found) > 1 else []


def duplicates(to: pd.Series) -> pd.Series:
    """Return for each row that repeats an earlier number the label of the first row that has it, else missing.

    Example:
        >>> to = pd.Series(["+14155550100", None, "+14155550100"], index=["a", "b", "c"], dtype="str")
        >>> duplicates(to).tolist()
        [nan, nan, 'a']
    """
    which, _ = pd.factorize(to, use_na_sentinel=True)
    first = pd.Series(np.arange(len(to))).groupby(which).transform("min").to_numpy()
    repeats = (which >= 0) & (first != np.arange(len(to)))
    labels = pd.Series(np.where(repeats, to.index.to_numpy(dtype=object)[first], np.nan), index=to.index)
    return labels.infer_objects()
