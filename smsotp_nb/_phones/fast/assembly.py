"""The last step: from national numbers to the columns of the verdict.

What a number is follows from its calling code, the label its digits end in, and its length. Texts of few values are
kept as small numbers until the very end; only ``e164`` is written out, all rows into one buffer.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from ..._pandas import STR
from .. import reference
from ..reference import Answer
from . import automata, tables
from .memory import SHARED, Mask, Rows, lasting, replaced, taken
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
    return pa.Array.from_buffers(_STRING, size, buffers)


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
AT_ONCE: Final = 1 << 14  # rows spelled out at a time: few enough to fit where scratch was
LIKELY: Final = 24  # bytes a text takes at most; room is made where an odd extension takes more
_STRING: Final = pa.large_string()
_NOTHING: Final = pa.nulls(ALIKE, _STRING)
_EVERY_SECOND: Final = np.arange(0, 2 * ALIKE + 1, 2)


def missing(size: int) -> pa.Array:
    """Return a text column without a text; short ones share their memory."""
    return _NOTHING.slice(0, size) if size <= ALIKE else pa.nulls(size, _STRING)


def only(texts: pa.Array, rows: Any) -> pa.Array:
    """Return a text column (one that is no slice) with these rows and all others missing; no text is copied."""
    present, offsets, text = texts.buffers()
    kept = np.packbits(rows, bitorder="little")
    if present is not None:
        kept &= np.frombuffer(present, np.uint8)[: len(kept)]
    return pa.Array.from_buffers(texts.type, len(texts), [pa.py_buffer(kept), offsets, text])


class Speller:
    """Collect columns stretch by stretch, and replace small integers by their texts after the last one.

    The integers take little room, and their texts are then written into memory that was scratch space before, because
    no allocator returns all of that. ``e164`` and ``extension`` are written at once, into memory apart from the scratch
    space.
    """

    def __init__(self, size: int) -> None:
        self.words = {"cc": CODE_WORDS, "type": _dictionary(KINDS), "reason": _dictionary(REASONS)}
        self.places = {
            "region": lasting(size, np.int16),
            "cc": lasting(size, np.int16),
            "type": lasting(size, np.int8),
            "reason": lasting(size, np.int8),
        }
        self.texts = {name: _Text(size) for name in ("e164", "extension")}
        self.rows = 0

    def add(self, found: Answers, extension: pa.Array) -> None:
        """Add a stretch; all but the last one have a multiple of eight rows."""
        rows = slice(self.rows, self.rows + len(found))
        self.rows = rows.stop
        self.places["region"][rows] = found.region
        self.places["cc"][rows] = found.cc
        self.places["type"][rows] = found.kind
        self.places["reason"][rows] = found.reason
        self.texts["e164"].add(rows, found.e164)
        self.texts["extension"].add(rows, extension)

    def frame(self) -> pd.DataFrame:
        """Return the whole list as a frame; this uses the small numbers up, one column after the other."""
        columns: dict[str, Any] = {name: STR.__from_arrow__(text.column()) for name, text in self.texts.items()}
        reason = self.places["reason"]
        columns["region"] = _in_pieces(REGION_SPELLER.spelled, self.places.pop("region"))
        for name, words in self.words.items():
            columns[name] = _in_pieces(functools.partial(_spelled, words), self.places.pop(name))
        columns["valid"] = np.equal(reason, 0, out=reason.view(bool))
        return pd.DataFrame({name: columns[name] for name in reference.COLUMNS}, copy=False)


class _Text:
    """A text column under construction; memory that is not yet written takes no room."""

    def __init__(self, size: int) -> None:
        self.offsets = lasting(size + 1, np.int64)
        self.present = lasting(size // 8 + 1)  # bits
        self.text = lasting(size * LIKELY)

    def add(self, rows: slice, piece: pa.Array) -> None:
        begin, size = int(self.offsets[rows.start]), len(piece)
        offsets = self.offsets[rows.start + 1 : rows.stop + 1]
        if piece.null_count == size:
            if begin:
                offsets[:] = begin
            return
        bits, piece_offsets, text = piece.buffers()
        np.add(np.frombuffer(piece_offsets, np.int64)[1 : size + 1], begin, out=offsets)
        end = int(offsets[-1])
        if end > len(self.text):
            self.text = np.concatenate((self.text, lasting(end)))
        self.text[begin:end] = np.frombuffer(text, np.uint8)[: end - begin]
        there = self.present[rows.start // 8 : (rows.stop + 7) // 8]
        there[:] = 255 if bits is None else np.frombuffer(bits, np.uint8)[: len(there)]

    def column(self) -> pa.ChunkedArray:
        size, end = len(self.offsets) - 1, self.offsets[-1]
        if not end:
            return pa.chunked_array([missing(min(ALIKE, size - first)) for first in range(0, size, ALIKE)], _STRING)
        return pa.chunked_array([_texts(size, self.present, self.offsets, self.text[:end])])


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
            return _spelled(self.words, places)
        present = np.packbits(places >= 0, bitorder="little")
        return _texts(len(places), present, _EVERY_SECOND, self.two_letters.take(places))


def _dictionary(words: Sequence[str | None]) -> pa.Array:
    return pa.array([*words, None], _STRING)


REGION_SPELLER: Final = RegionSpeller(REGIONS)
CODE_WORDS: Final = _dictionary([*map(str, range(1000))])


def _spelled(words: pa.Array, places: Any) -> pa.Array:
    """Replace small integers by their texts; -1 is missing.

    The result is copied once, because Arrow writes into a buffer that it grows by doubling, which leaves a hole.
    """
    piece = taken(words, np.where(places < 0, len(words) - 1, places))
    return _texts(len(piece), *(None if it is None else np.frombuffer(it, np.uint8).copy() for it in piece.buffers()))


def _in_pieces(spelled: Callable[[Any], pa.Array], places: Any) -> Any:
    pieces = [spelled(places[first : first + AT_ONCE]) for first in range(0, len(places), AT_ONCE)]
    return STR.__from_arrow__(pa.chunked_array(pieces, _STRING))
