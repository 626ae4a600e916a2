"""The last step: from national numbers to the columns of the verdict.

What a number is follows from its calling code, the label its digits end in, and its length. Texts of few values are
kept as small numbers until the very end; only ``e164`` is written out, all rows into one buffer.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .. import reference
from ..reference import Answer
from . import automata, tables
from .memory import SHARED, STRING, Mask, Rows, replaced, taken
from .prefixes import PARSED, Reading
from .tables import KINDS, Tables

# places in REASONS: first the errors of `prefixes` in their order, then possibilities in the order of `tables`
REASONS: Final = (
    None,
    "INVALID_COUNTRY_CODE",
    "TOO_SHORT_AFTER_IDD",
    "TOO_SHORT_NSN",
    "TOO_LONG",
    "NOT_A_NUMBER",
    "NOT_IN_USE",
    "IS_POSSIBLE_LOCAL_ONLY",
    "TOO_SHORT",
    "INVALID_LENGTH",
    "TOO_LONG",
)
NOT_A_NUMBER: Final = 5
POSSIBILITIES: Final = 6


REGIONS: Final = ("001", *sorted(reference.SUPPORTED_REGIONS))
REGION_PLACE: Final = {name: place for place, name in enumerate(REGIONS)}
SMALL: Final = ("region", "cc", "kind", "reason", "extended")  # what of an answer is no text


@dataclass(slots=True)
class Answers:
    """The verdict on a stretch of rows in small integers; only the numbers themselves are text.

    ``cc`` is the calling code; the rest are places in REGIONS, KINDS and REASONS; -1 is none.
    """

    e164: pa.Array
    region: npt.NDArray[np.int16]
    cc: npt.NDArray[np.int16]
    kind: npt.NDArray[np.int8]
    reason: npt.NDArray[np.int8]
    extended: Mask  # phonenumbers found an extension

    @property
    def valid(self) -> Mask:
        return np.equal(self.reason, 0)

    def __len__(self) -> int:
        return len(self.reason)

    def take(self, rows: Any) -> Answers:
        return Answers(taken(self.e164, rows), **{name: getattr(self, name).take(rows) for name in SMALL})

    def part(self, rows: slice) -> Answers:
        """Return some rows next to each other, without copying."""
        return Answers(self.e164[rows], **{name: getattr(self, name)[rows] for name in SMALL})

    def adopt(self, rows: Rows, other: Answers) -> None:
        """Replace the answers of these rows."""
        if len(rows):
            self.e164 = replaced(self.e164, rows, other.e164)
            for name in SMALL:
                getattr(self, name)[rows] = getattr(other, name)


def joined(parts: Sequence[Answers]) -> Answers:
    """Return stretches of rows as one."""
    small = {name: np.concatenate([getattr(part, name) for part in parts]) for name in SMALL}
    return Answers(e164=pa.concat_arrays([part.e164 for part in parts], SHARED), **small)


def of_answers(found: Sequence[Answer]) -> Answers:
    """Return phonenumbers' own answers in small integers."""
    return Answers(
        e164=pa.array([it.e164 for it in found], pa.large_string()),
        region=np.array([REGION_PLACE.get(it.region or "", -1) for it in found], np.int16),
        cc=np.array([int(it.cc or -1) for it in found], np.int16),
        kind=np.array([KINDS.index(it.type) if it.type else -1 for it in found], np.int8),
        reason=np.array([REASONS.index(it.reason) for it in found], np.int8),
        extended=np.array([it.extension is not None for it in found], bool),
    )


@dataclass(slots=True)
class Asked:
    """Rows that phonenumbers itself was asked about, and its answers."""

    rows: Rows
    answers: list[Answer]


@functools.cache
def _region_places(it: Tables) -> npt.NDArray[np.int16]:
    """Return the place in ``REGIONS`` of each plan's region; the last one is for none."""
    return np.array([*(REGION_PLACE[str(name)] for name in it.plan_region), -1], np.int16)


def assemble(reading: Reading, rows: Rows, size: int, asked: Asked) -> Answers:
    """Combine the verdicts of parsed rows (at ``rows``, of ``size`` in all) and of rows asked about.

    All other rows are NOT_A_NUMBER.
    """
    it = reading.tables
    found = Answers(
        e164=None,
        region=np.full(size, -1, np.int16),
        cc=np.full(size, -1, np.int16),
        kind=np.full(size, -1, np.int8),
        reason=np.full(size, NOT_A_NUMBER, np.int8),
        extended=np.zeros(size, bool),
    )
    found.reason[rows] = reading.error
    parsed = np.flatnonzero(reading.error == PARSED)
    start, count = reading.start[parsed], reading.count[parsed]
    main = it.plan_main.take(reading.plan[parsed])
    region, kind = classify(reading, main, start, count)
    possible = it.lengths[main, count].astype(np.int8)
    target = rows[parsed]
    found.region[target] = _region_places(it).take(region)
    found.cc[target] = it.plan_code.take(main)
    found.kind[target] = kind
    found.reason[target] = np.where(kind == tables.UNKNOWN, possible + POSSIBILITIES, 0)
    found.e164 = write_e164(reading.signs, found.cc[target], start, count, target, size)
    found.adopt(asked.rows, of_answers(asked.answers))
    return found


def classify(reading: Reading, main: Any, start: Any, count: Any) -> tuple[Any, Any]:
    """Return region (as plan) and kind of national numbers, given the main plan of their calling code."""
    it = reading.tables
    state = it.code_start.take(main)
    state = automata.run(it.following, state, reading.signs, start.copy(), start + count, int(count.max(initial=0)))
    label = it.label.take(state // automata.STRIDE).astype(np.int32)
    place = label * (tables.LONGEST + 1) + count
    region = it.result_plan.ravel().take(place)
    alone = it.plan_alone.take(main)
    return np.where(alone, main, region), it.result_kind.ravel().take(place).astype(np.int8)


def write_e164(signs: Any, code: Any, start: Any, count: Any, target: Rows, size: int) -> pa.Array:
    """Write plus, calling code and national number of rows (in order) into one text column, the others missing."""
    fronts, front_count = _fronts()
    offsets = _offsets(target, front_count.take(code) + count, size)
    front = len(signs) + FRONT * code.astype(np.int32)
    text = _gathered(np.concatenate((signs, fronts)), front, front_count.take(code), start, count)
    return _texts(size, _validity(target, size), offsets, text)


FRONT: Final = 4  # signs of the longest beginning: a plus and three digits


@functools.cache
def _fronts() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """The beginning of each calling code's numbers, as digits are kept (a plus is one below zero), and its length."""
    texts = [f"+{code}" for code in range(1000)]
    signs = np.frombuffer("".join(f"{text:{FRONT}}" for text in texts).encode(), np.uint8) - np.uint8(ord("0"))
    return signs, np.array([len(text) for text in texts], np.int32)


def _texts(size: int, present: Any, offsets: Any, text: Any) -> pa.Array:
    """Return a text column over this memory; ``present`` is a bit mask, or None if no text is missing."""
    buffers = [None if memory is None else pa.py_buffer(memory) for memory in (present, offsets, text)]
    return pa.Array.from_buffers(STRING, size, buffers)


def _offsets(target: Rows, lengths: Any, size: int) -> npt.NDArray[np.int64]:
    """Return where each row's text begins in a column whose other rows are empty."""
    offsets = np.zeros(size + 1, np.int64)
    offsets[1:][target] = lengths
    return np.cumsum(offsets, out=offsets)


def _gathered(signs: Any, first: Any, first_count: Any, second: Any, second_count: Any) -> Any:
    """Return as text, for each row, two stretches (none of them empty) joined."""
    if not len(first):
        return signs[:0]
    ends = np.cumsum(first_count + second_count)
    source = np.ones(int(ends[-1]), np.int32)  # steps from each sign to the next one, then where they lead
    between = ends - second_count
    source[between] = second - first - first_count + 1
    source[0] = first[0]
    source[ends[:-1]] = first[1:] - second[:-1] - second_count[:-1] + 1
    np.cumsum(source, out=source)
    text = signs.take(source)
    text += np.uint8(ord("0"))
    return text


def _validity(target: Rows, size: int) -> Any:
    if len(target) == size:
        return None
    present = np.zeros(size, bool)
    present[target] = True
    return np.packbits(present, bitorder="little")


ALIKE: Final = 1 << 17  # rows up to which columns share memory where they are alike; no stretch is longer
_NOTHING: Final = pa.nulls(ALIKE, STRING)
_EVERY_SECOND: Final = np.arange(0, 2 * ALIKE + 1, 2)


def missing(size: int) -> pa.Array:
    """Return a text column without a text; short ones share their memory."""
    return _NOTHING.slice(0, size) if size <= ALIKE else pa.nulls(size, STRING)


def only(texts: pa.Array, rows: Any) -> pa.Array:
    """Return a text column (one that is no slice) with these rows and all others missing; no text is copied."""
    present, offsets, text = texts.buffers()
    kept = np.packbits(rows, bitorder="little")
    if present is not None:
        kept &= np.frombuffer(present, np.uint8)[: len(kept)]
    return pa.Array.from_buffers(texts.type, len(texts), [pa.py_buffer(kept), offsets, text])


class RegionSpeller:
    """Write out regions. Nearly all have two letters, so every stretch has the same offsets, which are kept once.

    That saves eight megabytes for a million rows. A missing region has two bytes that its mask bit hides.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.words = _dictionary(names)
        self.two_letters = np.frombuffer("".join(f"{name:2.2}" for name in [*names, ""]).encode(), np.uint16)
        self.long = np.array([len(name) > 2 for name in [*names, ""]])

    def spelled(self, places: Any) -> pa.Array:
        if self.long.take(places).any():
            return spelled(self.words, places)
        present = np.packbits(places >= 0, bitorder="little")
        return _texts(len(places), present, _EVERY_SECOND, self.two_letters.take(places))


def _dictionary(words: Sequence[str | None]) -> pa.Array:
    return pa.array([*words, None], STRING)


REGION_SPELLER: Final = RegionSpeller(REGIONS)
CODE_WORDS, KIND_WORDS, REASON_WORDS = map(_dictionary, ([*map(str, range(1000))], KINDS, REASONS))


def spelled(words: pa.Array, places: Any) -> pa.Array:
    """Replace small integers by their texts; -1, the last place, is missing."""
    if (places < 0).all():
        return missing(len(places))
    return taken(words, np.where(places < 0, len(words) - 1, places))


def columns_of(found: Answers, extension: pa.Array) -> tuple[Any, ...]:
    """Return a stretch of the verdict as columns."""
    small = spelled(CODE_WORDS, found.cc), found.valid, spelled(KIND_WORDS, found.kind)
    reason = spelled(REASON_WORDS, np.where(found.valid, -1, found.reason))
    return found.e164, REGION_SPELLER.spelled(found.region), *small, reason, extension
