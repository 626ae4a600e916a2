"""The steps in a row, chunk by chunk; what they leave undecided goes to phonenumbers itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from .. import reference
from . import assembly, closer, digits, prefixes, tables
from . import repeats as repeats_in
from .assembly import Asked, Columns
from .memory import SHARED, taken
from .prefixes import NO_REGION, ODD_REGION
from .tables import Tables

CHUNK: Final = 32_000  # rows at a time, a multiple of eight; fewer take more time and hardly less memory

Progress = Callable[[int], None]
Ints = npt.NDArray[Any]  # int32


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
    """Answer for columns of text and region in small numbers: for who goes on with the verdict instead of showing it.

    Example:
        >>> number, germany = (pa.array([text], pa.large_string()) for text in ("030 901820", "DE"))
        >>> columns(number, germany, tables.load()).e164.to_pylist()
        ['+4930901820']
    """
    return assembly.joined(list(_each(pa.chunked_array([texts]), pa.chunked_array([regions]), it, None)))


def _stretches(
    texts: pa.ChunkedArray, regions: pa.ChunkedArray, it: Tables, progress: Progress | None
) -> Iterator[Columns]:
    """Yield the verdicts stretch by stretch; what was needed for that is gone after the last one."""
    repeats = repeats_in.distinct_rows(texts, regions)
    if repeats is None:
        yield from _each(texts, regions, it, progress)
        return
    first, which = repeats
    distinct = assembly.joined(list(_each(taken(texts, first), taken(regions, first), it, progress)))
    for begin in range(0, len(which), CHUNK):
        yield distinct.take(which[begin : begin + CHUNK])


def _each(texts: pa.ChunkedArray, regions: pa.ChunkedArray, it: Tables, progress: Progress | None) -> Iterator[Columns]:
    known = _Regions(it)
    for first in range(0, max(len(texts), 1), CHUNK):
        yield _chunk(_piece(texts, first), _piece(regions, first), known, it)
        if progress is not None:
            progress(min(first + CHUNK, len(texts)))


def _as_arrow(text: pd.Series) -> pa.ChunkedArray:
    texts = pa.array(text, pa.large_string(), from_pandas=True)
    return texts if isinstance(texts, pa.ChunkedArray) else pa.chunked_array([texts])


def _piece(texts: pa.ChunkedArray, first: int) -> pa.Array:
    piece = texts.slice(first, CHUNK)
    return piece.chunk(0) if piece.num_chunks == 1 else pa.concat_arrays(piece.chunks, SHARED)


class _Regions:
    """Which plan a region as written has; each distinct one is looked up once."""

    def __init__(self, it: Tables) -> None:
        self.plans = it.region_plan()

    def read(self, regions: pa.Array) -> Ints:
        encoded = pc.dictionary_encode(regions, null_encoding="encode", memory_pool=SHARED)
        plans = np.array([self._plan(name) for name in encoded.dictionary.to_pylist()], np.int32)
        rows: Ints = plans.take(encoded.indices.to_numpy())
        return rows

    def _plan(self, name: str | None) -> int:
        if name is None:
            return NO_REGION
        return self.plans.get(name, ODD_REGION if name.upper() in self.plans else NO_REGION)


def _chunk(texts: pa.Array, regions: pa.Array, known: _Regions, it: Tables) -> Columns:
    texts = _missing_as_empty(texts)
    plan = known.read(regions)
    data, offsets = digits.bytes_of(texts)
    found = digits.read(data, offsets)
    extensions = closer.look(found, texts)
    found.state[(found.state == digits.READABLE) & (plan >= 0) & it.plan_slow.take(plan)] = digits.UNDECIDED
    readable = np.flatnonzero(found.state == digits.READABLE)
    reading = prefixes.parse(found, readable, plan[readable], it)
    found.state[readable[reading.error == prefixes.UNDECIDED]] = digits.UNDECIDED
    asked = _ask(texts, regions, np.flatnonzero(found.state == digits.UNDECIDED))
    columns = assembly.assemble(reading, readable, len(texts), asked)
    columns.extension = _extension(columns, extensions, asked)
    return columns


def _missing_as_empty(texts: pa.Array) -> pa.Array:
    """Missing texts are read as empty ones, as phonenumbers reads them; nearly always they are stored so."""
    if not texts.null_count:
        return texts
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
    missing = texts.is_null().to_numpy(zero_copy_only=False)
    return texts.fill_null("") if (np.diff(offsets)[missing] != 0).any() else texts


def _ask(texts: pa.Array, regions: pa.Array, rows: Any) -> Asked:
    """Put the rows left to phonenumbers."""
    reference.enable_pattern_cache()
    pairs = zip(taken(texts, rows).to_pylist(), taken(regions, rows).to_pylist(), strict=True)
    return Asked(rows, [reference.ask_once(text, region) for text, region in pairs])


def _extension(columns: Columns, found: closer.Extensions, asked: Asked) -> pa.Array:
    """The column of extensions; a text that could not be parsed has none, and phonenumbers' word comes last."""
    told = [(row, it.extension) for row, it in zip(asked.rows, asked.answers, strict=True) if it.extension is not None]
    if not (told or len(found.rows)):
        return columns.extension
    texts = pa.concat_arrays([found.texts, pa.array([text for _, text in told], pa.large_string())], SHARED)
    place = np.full(len(columns.code), -1, np.int32)
    place[found.rows] = np.arange(len(found.rows))
    place[[row for row, _ in told]] = len(found.rows) + np.arange(len(told))
    return taken(texts, pa.array(place, mask=(place < 0) | (columns.code < 0)))
