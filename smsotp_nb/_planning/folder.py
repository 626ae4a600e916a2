"""The recipients of a plan larger than memory: a folder of Parquet files, read in pieces, every cell as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from .._calling.arguments import not_path, refuse
from .._phones.judging.evidence import DRAWN, drawn
from .._recipients import parquet, tables
from ..errors import UsageError

_SUFFIXES: Final = (".parquet", ".pq")


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a folder in the order of their names, their columns, and how many rows each has.

    A row is known by its place, counted from 0 over all files.
    """

    folder: Path
    files: tuple[Path, ...]
    columns: tuple[str, ...]
    rows: tuple[int, ...]

    def __len__(self) -> int:
        return sum(self.rows)

    def frames(self, columns: Sequence[str], most: int) -> Iterator[pd.DataFrame]:
        """Give all rows in frames of at most so many, indexed by their places."""
        first = 0
        for file in self.files:
            for part in parquet.batches(file, columns, most):
                yield part.frame(pd.RangeIndex(first, first + len(part)))
                first += len(part)

    def sample(self, columns: Sequence[str], most: int) -> pd.DataFrame:
        """Return the rows that a plan in memory would weigh for evidence, drawn from all."""
        places = pd.Index(drawn(len(self), DRAWN))
        found = [frame.loc[frame.index.intersection(places)] for frame in self.frames(columns, most)]
        there = [frame for frame in found if len(frame)]
        return pd.concat(there) if there else self._nobody(columns)

    def _nobody(self, columns: Sequence[str]) -> pd.DataFrame:
        return tables.none(list(columns)).frame(pd.RangeIndex(0))


def opened(folder: Any) -> Source:
    """Return what a folder holds; nothing but what its files say of themselves is read.

    Raises:
        UsageError: it is no folder, has no Parquet file, or its files have different columns; the message names them.
    """
    refuse(not_path("folder", folder, example="'people'"))
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise UsageError(f"{str(place)!r} is not a folder; pass the one that holds the list's Parquet files")
    files = tuple(sorted(file for file in place.iterdir() if file.suffix.lower() in _SUFFIXES and file.is_file()))
    if not files:
        raise UsageError(f"{place} has no file that ends in .parquet or .pq; save the list there, in one or more")
    measured = [parquet.measured(file) for file in files]
    names = measured[0][0]
    for file, (found, _) in zip(files, measured, strict=True):
        if sorted(found) != sorted(names):
            odd = ", ".join(map(repr, sorted(set(found) ^ set(names))))
            raise UsageError(
                f"{file.name} and {files[0].name} do not have the same columns ({odd} only in one of them); all files "
                "of the folder make one list, so save them with the same columns"
            )
    return Source(place, files, tuple(names), tuple(rows for _, rows in measured))
