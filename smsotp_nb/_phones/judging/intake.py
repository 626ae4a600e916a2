"""The first step of the judgement: turn cells into texts, countries into codes, parts of a list into ``Work``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from ..cells import regions
from ..cells import text as cells
from ..fast.memory import SHARED, picked
from ..vocabulary import NOTE_BIT, PROBLEM_CODE
from .answers import STRING
from .work import Work

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
        place = np.where((where < 0) & ~unknown, np.int32(fallback), where)
        names = pa.array([*known.names, self.fallback or ""], STRING)
        size = len(kind)
        return Work(
            text=_taken(self.text, rows),
            region=pa.DictionaryArray.from_arrays(pa.array(place, mask=place < 0), names),
            named=where >= 0,
            lost=unknown,
            coded=known.coded,
            problem=PROBLEM_OF_KIND.take(kind),
            notes=known.notes | np.where(kind == cells.FLOAT, NOTE_BIT["FLOAT_ENDING"], np.uint32(0)),
            detail=np.zeros(size, np.int32),
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

    Example:
        >>> take_in(pd.Series([4930901820.0]), ["Germany"], None).part(slice(0, 1)).region.to_pylist()
        ['DE']
    """
    narrow = cells.was_float32(column) if narrow is None else narrow
    read = cells.read(column, narrow=narrow)
    fallback = regions.default(default_region)
    if region is None:
        known = regions.nowhere(len(column))
    else:
        known = regions.read(cells.column(region, what="region", like=column), of_parts=of_parts)
    text = pa.array(read.text, STRING, from_pandas=True)
    chunked = text if isinstance(text, pa.ChunkedArray) else pa.chunked_array([text], STRING)
    return Intake(chunked, read.kind, known, fallback, narrow)


def _taken(texts: pa.ChunkedArray, rows: Any) -> pa.Array:
    piece = texts.slice(rows.start, rows.stop - rows.start) if isinstance(rows, slice) else picked(texts, rows)
    return piece.chunk(0) if piece.num_chunks == 1 else pa.concat_arrays(piece.chunks or [pa.array([], STRING)], SHARED)
