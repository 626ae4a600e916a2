"""A list read for the judgement: cells as texts, countries as codes (`Intake`), and one stretch of it (`Work`)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..cells import regions
from ..cells import text as cells
from ..fast.assembly import Answers
from ..fast.engine import Stretch
from ..fast.memory import SHARED, STRING, Mask, Rows, picked, taken
from ..vocabulary import NOTE_BIT, PROBLEM_CODE, Bits, Codes


@dataclass(slots=True)
class Work:
    """The texts of the stretch, their regions, the verdicts, and the problem and notes of each row.

    Attributes:
        text: the texts to read (large strings).
        place, names: whose plan is used: the position of the region's name, -1 for none.
        named: the region was read from the row's own cell, not filled in by default.
        lost: that cell could not be read.
        coded: that cell was a calling code, which may be that of several regions.
        problem, notes: what has been said, as numbers of the vocabulary.
        detail: what the evidence of the column said (percent * 1000 + calling code), or 0.
        answers: the verdict on the text as it is read now.
        stretch: the text on its way through the engine, which knows its digits.
    """

    text: pa.Array
    place: npt.NDArray[np.int32]
    names: tuple[str, ...]
    named: Mask
    lost: Mask
    coded: Mask
    problem: Codes
    notes: Bits
    detail: npt.NDArray[np.int32]
    answers: Answers = field(init=False)
    stretch: Stretch | None = None

    def __len__(self) -> int:
        return len(self.problem)

    def only(self, rows: Rows) -> Work:
        """Return some rows, which have been read, as a list of their own."""
        chosen = Work(
            text=taken(self.text, rows), names=self.names, **{name: getattr(self, name)[rows] for name in BY_ROW}
        )
        chosen.answers = self.answers.take(rows)
        return chosen

    def open(self) -> Mask:
        return np.equal(self.problem, 0)

    def valid(self) -> Mask:
        return np.logical_and(self.open(), self.answers.valid)

    def regions(self, rows: Rows | slice = slice(None)) -> pa.DictionaryArray:
        place = self.place[rows]
        return pa.DictionaryArray.from_arrays(pa.array(place, mask=place < 0), pa.array(self.names, STRING))

    def tells(self, rows: Rows) -> Mask:
        """Return which of the rows are evidence for another reading and can be decided by it.

        Without a region nothing can be read as written, so nothing speaks against another reading; and
        ``(201) 555 ...`` begins with an area code.
        """
        area = pc.starts_with(self.text.take(pa.array(rows)), "(")
        flags: Mask = (self.place[rows] >= 0) & ~np.asarray(area, bool)
        return flags

    def placed_in(self, rows: Rows, names: Collection[str]) -> Mask:
        """Return which of the rows have one of these regions."""
        return np.array([*(name in names for name in self.names), False], bool).take(self.place[rows])


BY_ROW: Final = ("place", "named", "lost", "coded", "problem", "notes", "detail")
KIND_PROBLEM: Final = {
    cells.MISSING: "MISSING",
    cells.NOT_TEXT: "NOT_TEXT",
    cells.LOST_DIGITS: "SCI_NOTATION_LOST_DIGITS",
    cells.NOT_WHOLE: "NOT_A_NUMBER",
}
PROBLEM_OF_KIND: Final = np.array([PROBLEM_CODE.get(KIND_PROBLEM.get(np.uint8(k), ""), 0) for k in range(6)], np.uint8)


@dataclass(frozen=True, slots=True)
class Intake:
    """A whole list before it is judged; ``fallback`` is the country of rows without one.

    ``narrow`` says that its numbers were float32 before.
    """

    text: pa.ChunkedArray
    kind: npt.NDArray[np.uint8]
    known: regions.Regions
    fallback: str | None
    narrow: bool = False

    def __len__(self) -> int:
        return len(self.kind)

    def beside(self) -> pa.ChunkedArray:
        """Return what equal rows share beside the text, as one integer: the country cell and the kind of cell."""
        return pa.chunked_array([pa.array(self.known.cell.astype(np.int64) * 8 + self.kind)])

    def only(self, rows: Any) -> Intake:
        """Return some rows (places in order) as a list of their own."""
        text = picked(self.text, rows)
        return Intake(text, self.kind[rows], self.known.part(rows), self.fallback)

    def part(self, rows: Any) -> Work:
        """Return some rows (a slice, or places in order) as a list on its way.

        A row whose country cell cannot be read does not get the default.
        """
        kind, known = self.kind[rows], self.known.part(rows)
        where, unknown = known.place, known.unknown
        fallback = -1 if self.fallback is None else len(known.names)
        return Work(
            text=_taken(self.text, rows),
            place=np.where((where < 0) & ~unknown, np.int32(fallback), where),
            names=(*known.names, self.fallback or ""),
            named=where >= 0,
            lost=unknown,
            coded=known.coded,
            problem=PROBLEM_OF_KIND.take(kind),
            notes=known.notes | np.where(kind == cells.FLOAT, NOTE_BIT["FLOAT_ENDING"], np.uint32(0)),
            detail=np.zeros(len(kind), np.int32),
        )


def take_in(
    column: pd.Series,
    region: object,
    default_region: str | None,
    *,
    of_parts: bool | None = None,
    narrow: bool | None = None,
) -> Intake:
    """Read cells and countries of a whole list.

    For a part of a list, ``of_parts`` (see `regions.read`) and ``narrow`` carry what is known of the whole list.
    """
    narrow = cells.was_float32(column) if narrow is None else narrow
    read = cells.read(column, narrow=narrow)
    fallback = regions.default(default_region)
    if region is None:
        known = regions.nowhere(len(column))
    else:
        known = regions.read(cells.column(region, what="region", like=column), of_parts=of_parts)
    text = pa.array(read.text, STRING)
    chunked = text if isinstance(text, pa.ChunkedArray) else pa.chunked_array([text], STRING)
    return Intake(chunked, read.kind, known, fallback, narrow)


def _taken(texts: pa.ChunkedArray, rows: Any) -> pa.Array:
    piece = texts.slice(rows.start, rows.stop - rows.start) if isinstance(rows, slice) else picked(texts, rows)
    return piece.chunk(0) if piece.num_chunks == 1 else pa.concat_arrays(piece.chunks or [pa.array([], STRING)], SHARED)
