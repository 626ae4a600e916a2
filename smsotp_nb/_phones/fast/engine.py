"""Answer a long list chunk by chunk, and a repetitive one once for each distinct row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import pandas as pd
import pyarrow as pa

from .. import reference
from . import assembly, tables
from . import repeats as repeats_in
from .assembly import Columns
from .memory import SHARED, taken
from .stretch import Plans, Stretch
from .tables import Tables

CHUNK: Final = 32_000  # rows at a time, a multiple of eight; fewer take more time and hardly less memory

Progress = Callable[[int], None]


def verdict(
    text: pd.Series, region: pd.Series, *, it: Tables | None = None, progress: Progress | None = None
) -> pd.DataFrame:
    """Answer for ``str`` columns of text and region, exactly as ``reference.verdict`` does.

    ``progress`` is called with the number of rows done after each chunk; an exception it raises stops the work.

    Example:
        >>> verdict(pd.Series(["030 901820"], dtype="str"), pd.Series(["DE"], dtype="str"))["e164"][0]
        '+4930901820'
    """
    it = it or tables.load()
    if it is None:
        return reference.verdict(text, region)
    texts, regions = _as_arrow(text), _as_arrow(region)
    speller = assembly.Speller(it, len(texts))
    for columns in _stretches(texts, regions, it, progress):
        speller.add(columns)
    return speller.frame()


def columns(texts: pa.Array, regions: pa.Array, it: Tables) -> Columns:
    """Answer for columns of text and region in small integers, for callers that process the verdict further.

    Example:
        >>> number, germany = (pa.array([text], pa.large_string()) for text in ("030 901820", "DE"))
        >>> columns(number, germany, tables.load()).e164.to_pylist()
        ['+4930901820']
    """
    return assembly.joined(list(_each(pa.chunked_array([texts]), pa.chunked_array([regions]), it, None)))


def _stretches(
    texts: pa.ChunkedArray, regions: pa.ChunkedArray, it: Tables, progress: Progress | None
) -> Iterator[Columns]:
    """Yield the verdicts stretch by stretch, and free the working memory after the last one."""
    repeats = repeats_in.distinct_rows(texts, regions)
    if repeats is None:
        yield from _each(texts, regions, it, progress)
        return
    first, which = repeats
    distinct = assembly.joined(list(_each(taken(texts, first), taken(regions, first), it, progress)))
    for begin in range(0, len(which), CHUNK):
        yield distinct.take(which[begin : begin + CHUNK])


def _each(texts: pa.ChunkedArray, regions: pa.ChunkedArray, it: Tables, progress: Progress | None) -> Iterator[Columns]:
    plans = Plans(it)
    for first in range(0, max(len(texts), 1), CHUNK):
        yield Stretch(_piece(texts, first), _piece(regions, first), plans).answer()
        if progress is not None:
            progress(min(first + CHUNK, len(texts)))


def _as_arrow(text: pd.Series) -> pa.ChunkedArray:
    texts = pa.array(text, pa.large_string(), from_pandas=True)
    return texts if isinstance(texts, pa.ChunkedArray) else pa.chunked_array([texts])


def _piece(texts: pa.ChunkedArray, first: int) -> pa.Array:
    piece = texts.slice(first, CHUNK)
    return piece.chunk(0) if piece.num_chunks == 1 else pa.concat_arrays(piece.chunks, SHARED)
