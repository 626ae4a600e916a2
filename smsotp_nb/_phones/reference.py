"""Columns of phonenumbers' own answers, number by number; every faster implementation must agree with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from phonenumbers import SUPPORTED_REGIONS, re_util

from .._pandas import STR
from .countries import Answer, ask
from .fast.memory import STRING

__all__ = ["COLUMNS", "SUPPORTED_REGIONS", "Answer", "all_of", "ask", "frame", "framed", "verdict"]

COLUMNS: Final = ("e164", "region", "cc", "valid", "type", "reason", "extension")


def enable_pattern_cache() -> None:
    """Enable phonenumbers' cache of compiled patterns (from 9.0.43), which is twice as fast beyond 62 regions."""
    enable = getattr(re_util, "enable_pattern_cache", None)
    if enable is not None:
        enable()


def all_of(texts: Sequence[str | None], regions: Sequence[str | None]) -> list[Answer]:
    """Put each distinct pair of text and region to phonenumbers."""
    enable_pattern_cache()
    pairs = list(zip(texts, regions, strict=True))
    known = {pair: ask(*pair) for pair in dict.fromkeys(pairs)}
    return [known[pair] for pair in pairs]


def verdict(text: pd.Series, region: pd.Series) -> pd.DataFrame:
    """Answer for columns of text and region (both ``str``, positional)."""
    return frame(all_of(plain(text), plain(region)))


def plain(column: pd.Series) -> list[str | None]:
    """Return the texts of a column, None for every other cell."""
    return [cell if isinstance(cell, str) else None for cell in column.tolist()]


def frame(answers: list[Answer], *, index: pd.Index | None = None) -> pd.DataFrame:
    """Return answers as a frame: text columns ``str``, ``valid`` a plain bool."""
    columns = zip(*answers, strict=True) if answers else ((),) * len(COLUMNS)
    pairs = zip(COLUMNS, columns, strict=True)
    return framed(
        COLUMNS, [[np.array(it, bool) if name == "valid" else pa.array(it, STRING) for name, it in pairs]], index
    )


def framed(names: Sequence[str], pieces: Iterable[Sequence[Any]], index: pd.Index | None = None) -> pd.DataFrame:
    """Return columns that come in pieces, of text or of flags, as a frame."""
    columns = {
        name: STR.__from_arrow__(pa.chunked_array(list(parts), STRING))
        if isinstance(parts[0], pa.Array)
        else np.concatenate(parts)
        for name, parts in zip(names, zip(*pieces, strict=True), strict=True)
    }
    return pd.DataFrame(columns, index=index, copy=False)
