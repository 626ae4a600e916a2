"""All steps for a stretch of rows, and for a list: chunk by chunk, or once for each distinct row of a repetitive one.

Finding the distinct rows costs about a quarter of answering them all, so it pays from some 60% of repeats on. A sample
tells: where next to no text comes twice, the list is nearly unique, and nothing more is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from .. import reference
from . import assembly, digits, prefixes, signs, tables
from .assembly import Answers, Asked
from .digits import Digits
from .memory import SHARED, picked, taken
from .prefixes import NO_REGION, ODD_REGION, PARSED, Reading
from .tables import Tables

Ints = npt.NDArray[Any]  # int32
Rows = npt.NDArray[Any]  # positions
Flags = npt.NDArray[Any]  # bool
Progress = Callable[[int], None]

CHUNK: Final = 32_000  # rows at a time, a multiple of eight; fewer take more time and hardly less memory
SAMPLE: Final = 4_000
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
    if len(texts) < SMALL or _nearly_unique(texts):
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
    rows = picked(texts, np.unique(np.random.default_rng(0).integers(0, len(texts), SAMPLE)))
    times = Counter(rows.to_pylist()).values()
    repeated = sum(count > 1 for count in times)
    return 2 * len(times) > len(rows) and len(rows) ** 2 > 2 * repeated * WORTH * len(texts)


def _plans(regions: pa.Array, it: Tables) -> Ints:
    """Return the plan of each region as it is written (of a text column, with a dictionary or without)."""
    if not isinstance(regions, pa.DictionaryArray):
        regions = pc.dictionary_encode(regions, memory_pool=SHARED)
    known, names = it.region_plan(), [name or "" for name in regions.dictionary.to_pylist()]
    plans = [known.get(name, ODD_REGION if name.upper() in known else NO_REGION) for name in names]
    rows: Ints = np.array([*plans, NO_REGION], np.int32).take(pc.fill_null(regions.indices, len(plans)).to_numpy())
    return rows


@dataclass(frozen=True, slots=True)
class Again:
    """The result of reading digits again.

    Attributes:
        sure: this is phonenumbers' answer (else nothing is known).
        valid, kind, code: whether it is a number, of which kind (place in KINDS) and calling code (-1: none).
        same: it is the number that was read at first.
    """

    sure: Flags
    valid: Flags
    kind: npt.NDArray[np.int8]
    code: npt.NDArray[np.int16]
    same: Flags


class Stretch:
    """Rows on their way from text to verdict."""

    def __init__(self, texts: pa.Array, regions: pa.Array, it: Tables) -> None:
        self.texts = _missing_as_empty(texts)
        self.regions = regions
        self.tables = it
        self.plan = _plans(regions, it)
        self.found: Digits = digits.read(*digits.bytes_of(self.texts))
        self.direct: Flags  # rows whose digits were read without a closer look, by a plan that needs none
        self.reading: Reading
        self.rows: Rows  # of the reading
        self.extension: pa.Array  # what phonenumbers calls so, of the rows that have any

    def replace(self, rows: Rows, texts: pa.Array, all_texts: pa.Array) -> None:
        """Replace the texts of some rows before the answer; ``all_texts`` is the whole column with the new ones."""
        if len(rows):
            signs.read_again(self.found, rows, texts)
        self.texts = all_texts

    def close(self, rows: Rows) -> None:
        """Answer NOT_A_NUMBER for some rows without looking at them."""
        self.found.state[rows] = digits.NOT_A_NUMBER

    def answer(self) -> Answers:
        """Return the verdicts."""
        found, plan, it = self.found, self.plan, self.tables
        readable = found.state == digits.READABLE
        self.direct = readable & ~((plan >= 0) & it.plan_slow.take(plan))
        extensions = signs.look(found, self.texts)
        found.state[(found.state == digits.READABLE) & (plan >= 0) & it.plan_slow.take(plan)] = digits.UNDECIDED
        self.rows = np.flatnonzero(found.state == digits.READABLE)
        self.reading = reading = prefixes.parse(found, self.rows, plan[self.rows], it)
        found.state[self.rows[reading.error == prefixes.UNDECIDED]] = digits.UNDECIDED
        asked = self._ask(np.flatnonzero(found.state == digits.UNDECIDED))
        answers = assembly.assemble(reading, self.rows, len(self.texts), asked)
        self.extension = _extension(answers.cc < 0, extensions, asked)
        answers.extended = np.array(self.extension.is_valid(), bool)
        return answers

    def _ask(self, rows: Rows) -> Asked:
        """Ask phonenumbers about the rows that are left."""
        texts, regions = taken(self.texts, rows).to_pylist(), taken(self.regions, rows).to_pylist()
        return Asked(rows, reference.all_of(texts, regions))

    def with_plus(self, rows: Rows, skip: int) -> Again:
        """Read direct rows again with a plus in place of their first ``skip`` digits; two are no number."""
        part = self.found.only(rows)
        part.start += skip
        part.count -= skip
        part.plus[:] = True
        some = np.flatnonzero(part.count >= 3)
        reading = prefixes.parse(part, some, self.plan.take(rows[some]), self.tables)
        parsed = np.flatnonzero(reading.error == PARSED)
        main = self.tables.plan_main.take(reading.plan[parsed])
        _, kind = assembly.classify(reading, main, reading.start[parsed], reading.count[parsed])
        at = some[parsed]
        sure, valid, same = np.ones(len(rows), bool), np.zeros(len(rows), bool), np.zeros(len(rows), bool)
        kinds, code = np.full(len(rows), -1, np.int8), np.full(len(rows), -1, np.int16)
        sure[some[reading.error == prefixes.UNDECIDED]] = False
        valid[at], kinds[at], code[at] = kind != tables.UNKNOWN, kind, self.tables.plan_code.take(main)
        same[at] = self._as_first(rows[at], reading, parsed, main)
        return Again(sure, valid, kinds, code, same)

    def _as_first(self, rows: Rows, again: Reading, parsed: Rows, main: Ints) -> Flags:
        """Return which national numbers equal the result of the row's first reading."""
        first, at = self.reading, np.searchsorted(self.rows, rows)
        same: Flags = (first.error[at] == PARSED) & (first.count[at] == again.count[parsed])
        same &= self.tables.plan_main.take(first.plan[at]) == main
        left = np.flatnonzero(same)
        here, there, count = first.start[at[left]], again.start[parsed[left]], again.count[parsed[left]]
        for place in range(int(count.max(initial=0))):
            differs = first.signs.take(here + place, mode="clip") != again.signs.take(there + place, mode="clip")
            same[left[differs & (place < count)]] = False
        return same


def _missing_as_empty(texts: pa.Array) -> pa.Array:
    """Return the texts with missing ones as empty ones, as phonenumbers reads them."""
    if not texts.null_count:
        return texts
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
    missing = texts.is_null().to_numpy(zero_copy_only=False)
    return texts.fill_null("") if (np.diff(offsets)[missing] != 0).any() else texts


def _extension(unread: Flags, found: signs.Extensions, asked: Asked) -> pa.Array:
    """Return the column of extensions; a text that could not be parsed has none, and phonenumbers' answers win."""
    told = [(row, it.extension) for row, it in zip(asked.rows, asked.answers, strict=True) if it.extension is not None]
    if not (told or len(found.rows)):
        return assembly.missing(len(unread))
    texts = pa.concat_arrays([found.texts, pa.array([text for _, text in told], pa.large_string())], SHARED)
    place = np.full(len(unread), -1, np.int32)
    place[found.rows] = np.arange(len(found.rows))
    place[[row for row, _ in told]] = len(found.rows) + np.arange(len(told))
    return taken(texts, pa.array(place, mask=(place < 0) | unread))


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
    pieces = (assembly.columns_of(*one) for one in _stretches(texts, regions, it, progress))
    return reference.framed(reference.COLUMNS, pieces)


def answered(texts: pa.Array, regions: pa.Array, it: Tables) -> Answers:
    """Answer for columns of text and region in small integers, for callers that process the verdict further."""
    return assembly.joined([one for one, _ in _each(pa.chunked_array([texts]), pa.chunked_array([regions]), it, None)])


def _stretches(
    texts: pa.ChunkedArray, regions: pa.ChunkedArray, it: Tables, progress: Progress | None
) -> Iterator[tuple[Answers, pa.Array]]:
    """Yield the verdicts and extensions stretch by stretch, and free the working memory after the last one."""
    repeats = distinct_rows(texts, regions)
    if repeats is None:
        yield from _each(texts, regions, it, progress)
        return
    first, which = repeats
    parts, extensions = zip(*_each(taken(texts, first), taken(regions, first), it, progress), strict=True)
    distinct, extension = assembly.joined(parts), pa.concat_arrays(extensions, SHARED)
    for begin in range(0, len(which), CHUNK):
        rows = which[begin : begin + CHUNK]
        yield distinct.take(rows), taken(extension, rows)


def _each(
    texts: pa.ChunkedArray, regions: pa.ChunkedArray, it: Tables, progress: Progress | None
) -> Iterator[tuple[Answers, pa.Array]]:
    for first in range(0, max(len(texts), 1), CHUNK):
        stretch = Stretch(_piece(texts, first), _piece(regions, first), it)
        yield stretch.answer(), stretch.extension
        if progress is not None:
            progress(min(first + CHUNK, len(texts)))


def _as_arrow(text: pd.Series) -> pa.ChunkedArray:
    texts = pa.array(text, pa.large_string(), from_pandas=True)
    return texts if isinstance(texts, pa.ChunkedArray) else pa.chunked_array([texts])


def _piece(texts: pa.ChunkedArray, first: int) -> pa.Array:
    piece = texts.slice(first, CHUNK)
    return piece.chunk(0) if piece.num_chunks == 1 else pa.concat_arrays(piece.chunks, SHARED)
