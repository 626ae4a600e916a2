"""Last step: from national numbers to the columns of the verdict.

What a number is follows from its calling code (which start of the recognizer), its digits (which label they end in)
and its length. Texts of few values (region, type, reason ...) are kept as small numbers until the very end; only
``e164`` is written out, all rows into one buffer.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from .. import reference
from ..reference import Answer
from . import automata, tables
from .prefixes import PARSED, Reading
from .tables import KINDS, Tables

Rows = npt.NDArray[np.intp]

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

TEXT: Final[Any] = pd.StringDtype(storage="pyarrow", na_value=np.nan)


@dataclass(slots=True)
class Columns:
    """The verdict of a stretch of rows: small numbers that stand for texts, and the texts that are all different."""

    e164: pa.Array
    region: npt.NDArray[np.int16]  # plan, -1: none
    code: npt.NDArray[np.int16]  # plan, -1: none
    kind: npt.NDArray[np.int8]  # place in KINDS, -1: none
    reason: npt.NDArray[np.int8]  # place in REASONS
    extension: pa.Array

    def take(self, rows: Any) -> Columns:
        texts = pa.array(rows)
        return Columns(
            e164=self.e164.take(texts),
            region=self.region.take(rows),
            code=self.code.take(rows),
            kind=self.kind.take(rows),
            reason=self.reason.take(rows),
            extension=self.extension.take(texts),
        )


def joined(parts: list[Columns]) -> Columns:
    """Return stretches of rows as one."""
    arrays = {name: [getattr(part, name) for part in parts] for name in Columns.__slots__}
    texts = {name: pa.concat_arrays(arrays.pop(name)) for name in ("e164", "extension")}
    return Columns(**texts, **{name: np.concatenate(stretches) for name, stretches in arrays.items()})


@dataclass(slots=True)
class Asked:
    """Rows phonenumbers itself was asked about, and what it said."""

    rows: Rows
    answers: list[Answer]


def assemble(reading: Reading, rows: Rows, size: int, asked: Asked) -> Columns:
    """Lay out the verdicts of parsed rows (``rows`` says which of ``size``) and of those asked about.

    All other rows are NOT_A_NUMBER.
    """
    it = reading.tables
    columns = Columns(
        e164=None,
        region=np.full(size, -1, np.int16),
        code=np.full(size, -1, np.int16),
        kind=np.full(size, -1, np.int8),
        reason=np.full(size, NOT_A_NUMBER, np.int8),
        extension=missing(size),
    )
    columns.reason[rows] = reading.error
    parsed = np.flatnonzero(reading.error == PARSED)
    start, count = reading.start[parsed], reading.count[parsed]
    main = it.plan_main.take(reading.plan[parsed])
    region, kind = classify(reading, main, start, count)
    possible = it.lengths[main, count].astype(np.int8)
    target = rows[parsed]
    columns.region[target] = region
    columns.code[target] = main
    columns.kind[target] = kind
    columns.reason[target] = np.where(kind == tables.UNKNOWN, possible + POSSIBILITIES, 0)
    if len(asked.rows):
        start, count, target = _lay_in(reading, asked, columns, start, count, target)
    columns.e164 = write_e164(reading.signs, it.plan_code.take(columns.code[target]), start, count, target, size)
    return columns


def _lay_in(
    reading: Reading, asked: Asked, columns: Columns, start: Any, count: Any, target: Rows
) -> tuple[Any, Any, Any]:
    """Write phonenumbers' answers into the columns, their national numbers behind the digits."""
    it = reading.tables
    code_plan = {str(code): plan for plan, code in reversed(list(enumerate(it.plan_code)))}
    region_plan = it.region_plan()
    numbers: list[str] = []
    for row, answer in zip(asked.rows, asked.answers, strict=True):
        columns.reason[row] = REASONS.index(answer.reason)
        if answer.e164 is None or answer.cc is None:
            continue
        main = code_plan[answer.cc]
        columns.code[row] = main
        columns.region[row] = main if answer.region == "001" else region_plan.get(answer.region or "", -1)
        columns.kind[row] = KINDS.index(answer.type or "UNKNOWN")
        numbers.append(answer.e164[1 + len(answer.cc) :])
    added = np.frombuffer("".join(numbers).encode(), np.uint8) - np.uint8(ord("0"))
    lengths = np.array([len(number) for number in numbers], np.int32)
    begin = len(reading.signs) + np.cumsum(lengths, dtype=np.int32) - lengths
    reading.signs = np.concatenate((reading.signs, added))
    new = np.array([row for row, it in zip(asked.rows, asked.answers, strict=True) if it.e164 is not None], np.intp)
    start, count, target = (np.concatenate(pair) for pair in ((start, begin), (count, lengths), (target, new)))
    order = np.argsort(target, kind="stable")
    return start[order], count[order], target[order]


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
    code_length = 1 + (code > 9) + (code > 99)
    offset_buffer = _offsets(target, 1 + code_length + count, size)
    offsets = np.frombuffer(offset_buffer, np.int64)
    text_buffer = pa.allocate_buffer(int(offsets[-1]))
    out = np.frombuffer(text_buffer, np.uint8)
    is_digit = np.ones(len(out), bool)
    at = offsets[target]
    out[at] = ord("+")
    is_digit[at] = False
    for place in (1, 2, 3):
        has = np.flatnonzero(code_length >= place)
        where = at[has] + place
        out[where] = code[has] // 10 ** (code_length[has] - place) % 10 + ord("0")
        is_digit[where] = False
    out[is_digit] = _gathered(signs, start, count)
    return pa.Array.from_buffers(pa.large_string(), size, [_validity(target, size), offset_buffer, text_buffer])


def scattered(texts: dict[int, str], size: int) -> pa.Array:
    """Return a text column with these texts in these rows, the others missing.

    Example:
        >>> scattered({2: "12"}, 4).to_pylist()
        [None, None, '12', None]
    """
    if not texts:
        return missing(size)
    rows = np.array(sorted(texts))
    cells = [texts[row].encode() for row in rows.tolist()]
    offsets = _offsets(rows, np.array([len(cell) for cell in cells]), size)
    return pa.Array.from_buffers(
        pa.large_string(), size, [_validity(rows, size), offsets, pa.py_buffer(b"".join(cells))]
    )


def _offsets(target: Rows, lengths: Any, size: int) -> pa.Buffer:
    """Return where each row's text begins in a column whose other rows are empty."""
    buffer = pa.allocate_buffer(8 * (size + 1))
    offsets = np.frombuffer(buffer, np.int64)
    offsets[:] = 0
    offsets[1:][target] = lengths
    np.cumsum(offsets, out=offsets)
    return buffer


def _gathered(signs: Any, start: Any, count: Any) -> Any:
    """Return the digits of all stretches (none is empty) one after the other, as text."""
    if not len(start):
        return signs[:0]
    source = np.ones(int(count.sum()), np.intp)  # steps from each digit to the next one, then where they lead
    source[0] = start[0]
    source[np.cumsum(count[:-1])] = start[1:] - start[:-1] - count[:-1] + 1
    np.cumsum(source, out=source)
    digits = signs.take(source)
    digits += np.uint8(ord("0"))
    return digits


def _validity(target: Rows, size: int) -> Any:
    if len(target) == size:
        return None
    present = np.zeros(size, bool)
    present[target] = True
    return _packed(present)


def _packed(present: Any) -> Any:
    """Return flags as the bits by which Arrow tells what is there."""
    return pa.py_buffer(np.packbits(present, bitorder="little"))


RELEASED_EVERY: Final = 4  # stretches; Arrow keeps freed memory for later, asking for it each time takes a few percent
ALIKE: Final = 1 << 15  # rows up to which columns share memory where they are alike; no stretch is longer
LIKELY: Final = 24  # bytes a text takes at most; room is made where an odd extension takes more
_STRING: Final = pa.large_string()
_NOTHING: Final = pa.nulls(ALIKE, _STRING)
_EVERY_SECOND: Final = pa.py_buffer(np.arange(0, 2 * ALIKE + 1, 2))


def missing(size: int) -> pa.Array:
    """Return a text column without a text; short ones share their memory."""
    return _NOTHING.slice(0, size) if size <= ALIKE else pa.nulls(size, _STRING)


class Speller:
    """Spells laid-out columns out, stretch by stretch, into memory for the whole list.

    Small numbers never wait, and what stays does not lie among the scratch of the stretches, where it would keep that
    from being given back.
    """

    def __init__(self, it: Tables, size: int) -> None:
        self.codes = _dictionary([str(code) for code in it.plan_code])
        self.kinds = _dictionary(KINDS)
        self.reasons = _dictionary(REASONS)
        self.valid = np.zeros(size, bool)
        self.regions = _Regions([str(region) for region in it.plan_region], size)
        self.texts = {name: _Text(size) for name in ("e164", "cc", "type", "reason", "extension")}
        self.rows = 0

    def add(self, columns: Columns) -> None:
        """Add a stretch; all but the last one have a multiple of eight rows."""
        rows = slice(self.rows, self.rows + len(columns.reason))
        self.rows = rows.stop
        np.equal(columns.reason, 0, out=self.valid[rows])
        self.regions.add(rows, columns.region)
        self.texts["e164"].add(rows, columns.e164)
        self.texts["cc"].add(rows, _spelled(self.codes, columns.code))
        self.texts["type"].add(rows, _spelled(self.kinds, columns.kind))
        self.texts["reason"].add(rows, _spelled(self.reasons, columns.reason))
        self.texts["extension"].add(rows, columns.extension)
        if len(self.regions.pieces) % RELEASED_EVERY == 0:
            pa.default_memory_pool().release_unused()

    def frame(self) -> pd.DataFrame:
        columns: dict[str, Any] = {name: TEXT.__from_arrow__(text.column()) for name, text in self.texts.items()}
        columns["region"] = TEXT.__from_arrow__(pa.chunked_array(self.regions.pieces, pa.large_string()))
        columns["valid"] = self.valid
        return pd.DataFrame({name: columns[name] for name in reference.COLUMNS}, copy=False)


class _Text:
    """A text column that is being written; memory that is not written to takes no room."""

    def __init__(self, size: int) -> None:
        self.offsets = np.zeros(size + 1, np.int64)
        self.present = _memory(size // 8 + 1)  # bits
        self.text = _memory(size * LIKELY)

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
            self.text = np.concatenate((self.text, _memory(end)))
        self.text[begin:end] = np.frombuffer(text, np.uint8)[: end - begin]
        there = self.present[rows.start // 8 : (rows.stop + 7) // 8]
        there[:] = 255 if bits is None else np.frombuffer(bits, np.uint8)[: len(there)]

    def column(self) -> pa.ChunkedArray:
        size, end = len(self.offsets) - 1, self.offsets[-1]
        if not end:
            return pa.chunked_array([missing(min(ALIKE, size - first)) for first in range(0, size, ALIKE)], _STRING)
        buffers = [pa.py_buffer(memory) for memory in (self.present, self.offsets, self.text[:end])]
        return pa.chunked_array([pa.Array.from_buffers(_STRING, size, buffers)])


class _Regions:
    """Regions being spelled out. Nearly all have two letters, and then every stretch has the same offsets: kept once.

    That spares a million rows eight megabytes. A missing region is two bytes that its bit says not to read.
    """

    def __init__(self, names: list[str], size: int) -> None:
        self.words = _dictionary(names)
        self.two_letters = np.frombuffer("".join(f"{name:2.2}" for name in [*names, ""]).encode(), np.uint16)
        self.long = np.array([len(name) > 2 for name in [*names, ""]])
        self.letters = _memory(2 * size).view(np.uint16)
        self.present = _memory(size // 8 + 1)
        self.pieces: list[pa.Array] = []

    def add(self, rows: slice, places: Any) -> None:
        if self.long.take(places).any():
            self.pieces.append(_spelled(self.words, places))
            return
        letters, present = self.letters[rows], self.present[rows.start // 8 : (rows.stop + 7) // 8]
        letters[:] = self.two_letters.take(places)
        present[:] = np.packbits(places >= 0, bitorder="little")
        buffers = [pa.py_buffer(present), _EVERY_SECOND, pa.py_buffer(letters)]
        self.pieces.append(pa.Array.from_buffers(_STRING, len(places), buffers))


def _memory(size: int) -> Any:
    """Return zeroed bytes of which those never written to take no room (numpy's own come in pages of two megabytes)."""
    own = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
    return np.frombuffer(mmap.mmap(-1, max(size, 1), **own), np.uint8, size)


def _dictionary(words: Sequence[str | None]) -> pa.Array:
    return pa.array([*words, None], _STRING)


def _spelled(words: pa.Array, places: Any) -> pa.Array:
    """Spell small numbers out; -1 is missing."""
    return words.take(pa.array(np.where(places < 0, len(words) - 1, places)))
