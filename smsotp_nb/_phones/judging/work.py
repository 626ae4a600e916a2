"""One stretch of a list while it is judged."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..fast.digits import Digits
from ..fast.memory import SHARED, taken
from ..fast.stretch import Stretch
from ..vocabulary import NOTE_BIT, PROBLEM_CODE, Bits, Codes
from .answers import Answers, Mask, Rows


@dataclass(frozen=True, slots=True)
class Second:
    """Other spellings of some rows, left by repairs.

    Attributes:
        rows, text, notes: the rows, their other texts, and what is noted if that reading is used.
        before: the digits of these cells before their repairs (``None``: not read).
        untouched: the spelling is the cell as it was.
    """

    rows: Rows
    text: pa.Array
    notes: Bits
    before: Digits | None
    untouched: Mask

    def only(self, chosen: Mask) -> Second:
        place = np.flatnonzero(chosen)
        before = None if self.before is None else self.before.only(place)
        text = self.text.take(pa.array(place))
        return Second(self.rows[place], text, self.notes[place], before, self.untouched[place])


@dataclass(slots=True)
class Work:
    """The texts of the stretch, their regions, the verdicts, and the problem and notes of each row.

    Attributes:
        text: the texts to read (large strings).
        region: whose plan is used (dictionary-encoded; may be null).
        named: the region was read from the row's own cell, not filled in by default.
        lost: that cell could not be read.
        coded: that cell was a calling code, which may be that of several regions.
        problem, notes: what has been said, as numbers of the vocabulary.
        detail: what the evidence of the column said (percent * 1000 + calling code), or 0.
        answers: the verdict on the text as it is read now.
        stretch: the text on its way through the engine, which knows its digits (``None``: too few rows for it).
        every_reading: try readings that could change nothing, too, for whoever wants to see them.
    """

    text: pa.Array
    region: pa.DictionaryArray
    named: Mask
    lost: Mask
    coded: Mask
    problem: Codes
    notes: Bits
    detail: npt.NDArray[np.int32]
    answers: Answers = field(init=False)
    stretch: Stretch | None = None
    every_reading: bool = False

    def __len__(self) -> int:
        return len(self.problem)

    def open(self) -> Mask:
        return np.equal(self.problem, 0)

    def valid(self) -> Mask:
        return np.logical_and(self.open(), self.answers.valid)

    def regions(self, rows: Rows) -> pa.DictionaryArray:
        return self.region.take(pa.array(rows))

    def placed(self, rows: Rows) -> Mask:
        """Return which of the rows have a region."""
        return np.asarray(self.region.indices.is_valid(), bool)[rows]

    def placed_in(self, rows: Rows, names: Collection[str]) -> Mask:
        """Return which of the rows have one of these regions."""
        named = np.array([*(name in names for name in self.region.dictionary.to_pylist()), False], bool)
        return named.take(self.region_numbers().take(rows))

    def region_numbers(self) -> npt.NDArray[np.int32]:
        """Return the position of each row's name in the dictionary; a missing one has the position after the last."""
        return np.asarray(pc.fill_null(self.region.indices, len(self.region.dictionary)), np.int32)

    def refuse(self, mask: Any, problem: str) -> None:
        self.problem[mask & self.open()] = PROBLEM_CODE[problem]

    def note(self, mask: Any, note: str) -> None:
        self.notes[mask] |= NOTE_BIT[note]


def matching(texts: pa.Array, rows: Rows, pattern: str) -> Rows:
    """Return the rows whose text matches the pattern (in RE2's dialect).

    Example:
        >>> matching(pa.array(["+1", "2", None], pa.large_string()), np.arange(3), r"^[+]").tolist()
        [0]
    """
    if not len(rows):
        return rows
    chosen = texts if len(rows) == len(texts) else taken(texts, rows)
    found = pc.match_substring_regex(chosen, pattern, memory_pool=SHARED)
    some: Rows = rows[np.asarray(found.fill_null(False) if found.null_count else found, bool)]
    return some
