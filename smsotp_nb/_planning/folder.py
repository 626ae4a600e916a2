"""A list larger than memory: a folder of Parquet files, and where and in how much memory its plan is made."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from .._calling import given, in_our_words, not_path, refuse
from .._phones import DRAWN, drawn
from .._recipients import parquet, tables
from ..errors import OutputExistsError, UsageError

_SUFFIXES: Final = (".parquet", ".pq")
_AMOUNT: Final = re.compile(r"\A([0-9]{1,7}(?:\.[0-9]{1,3})?) ?(MB|GB)\Z", re.IGNORECASE)
_LEAST: Final = 1_000  # MB


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Folder:
    """Recipients in a folder of Parquet files that together may be larger than memory; `plan` takes it for a frame.

    All files make one list, in the order of their names, and have the same columns. Each cell is read as text; a row is
    known by its place, counted from 0 over all files. Planning needs the extra ``smsotp_nb[datasets]``.

    Args:
        folder: where the files are.
        into: the folder for the plan's files, which name people. `plan` makes it; one that holds an earlier plan is
            replaced when the new plan is whole.
        memory: how much memory planning may take, such as ``"2 GB"``; at least 1 GB. What does not fit is kept beside
            ``into`` while the plan is made: about 150 bytes a row.

    Raises:
        UsageError: no paths, or no amount of memory.

    Example:
        >>> import tempfile
        >>> import smsotp_nb as sms
        >>> place = Path(tempfile.mkdtemp())
        >>> people = pd.DataFrame({"phone": ["+1 202 555 0123", "12025550123", "+1 202 555 0147"], "name": "Ann"})
        >>> (place / "list").mkdir()
        >>> people.to_parquet(place / "list" / "people.parquet")
        >>> lists = sms.Folder(place / "list", into=place / "plan")
        >>> made = sms.plan(lists, "Hi {name}", to="phone", default_region="US", campaign="demo")
        >>> made.recipients, made.problems["problem"].tolist()
        (2, ['DUPLICATE_OF'])
        >>> sms.Folder("lists/", into="work/")
        Folder('lists/', into='work/', memory='2 GB')
    """

    folder: str
    into: str
    memory: str

    @in_our_words
    def __init__(self, folder: str | Path, *, into: str | Path, memory: str = "2 GB") -> None:
        paths = not_path("folder", folder, example="'lists/'"), not_path("into", into, example="'work/'")
        refuse(*paths, _not_memory(memory))
        object.__setattr__(self, "folder", str(folder))
        object.__setattr__(self, "into", str(into))
        object.__setattr__(self, "memory", memory)

    def __repr__(self) -> str:
        return f"Folder({self.folder!r}, into={self.into!r}, memory={self.memory!r})"


def megabytes(memory: str) -> int:
    """Return an amount of memory in MB; 0 of what is none."""
    amount = _AMOUNT.match(memory.strip())
    return int(float(amount[1]) * (1000 if amount[2].upper() == "GB" else 1)) if amount else 0


def _not_memory(memory: Any) -> str | None:
    if not isinstance(memory, str) or not _AMOUNT.match(memory.strip()):
        return f"memory= must be an amount such as '2 GB' or '1500 MB', got {given(memory)}"
    if megabytes(memory) < _LEAST:
        return f"memory={given(memory)} is too little; a plan needs at least '1 GB'"
    return None


def target_of(folder: Folder, files: Sequence[str]) -> Path:
    """Return the folder for the plan's files, of these names.

    Raises:
        UsageError: it is the list's own, a file, or in a folder that is not there.
        OutputExistsError: it holds other files.
    """
    target = Path(folder.into).expanduser().absolute()
    if target.resolve() == Path(folder.folder).expanduser().resolve():
        raise UsageError("into= is the folder of the list itself; name another one for the plan's files")
    if target.exists() and not target.is_dir():
        raise UsageError(f"into= {str(target)!r} is a file; name a folder for the plan's files")
    others = sorted(path.name for path in target.iterdir() if path.name not in files) if target.is_dir() else []
    if others:
        raise OutputExistsError(
            f"{target} holds other files ({', '.join(others[:3])}{' ...' if others[3:] else ''}), which a plan would "
            "replace; name a folder of its own",
            path=str(target),
        )
    if not target.parent.is_dir():
        raise UsageError(f"folder not found: {target.parent}; create it first")
    return target


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a folder in the order of their names, their columns, and how many rows each has."""

    files: tuple[Path, ...]
    columns: tuple[str, ...]
    rows: tuple[int, ...]

    def frames(self, columns: Sequence[str], most: int) -> Iterator[pd.DataFrame]:
        """Give all rows in frames of at most so many, indexed by their places."""
        first = 0
        for file in self.files:
            for part in parquet.batches(file, columns, most):
                yield part.frame(pd.RangeIndex(first, first + len(part)))
                first += len(part)

    def piece(self, place: int) -> str:
        """Say which file has the row at a place, and where it begins."""
        ends = list(itertools.accumulate(self.rows))
        at = bisect.bisect_right(ends, place)
        return f"{self.files[at].name}, whose first row is row {ends[at] - self.rows[at]}"

    def sample(self, columns: Sequence[str], most: int) -> pd.DataFrame:
        """Return the rows that a plan in memory would weigh for evidence, drawn from all."""
        places = pd.Index(drawn(sum(self.rows), DRAWN))
        drawn_rows = [frame.loc[frame.index.intersection(places)] for frame in self.frames(columns, most)]
        there = [frame for frame in drawn_rows if len(frame)]
        return pd.concat(there) if there else self.nobody(columns)

    def nobody(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return a frame of these columns without rows."""
        return tables.none(list(columns)).frame(pd.RangeIndex(0))


def opened(folder: Folder) -> Source:
    """Return what a folder holds; nothing but what its files say of themselves is read.

    Raises:
        UsageError: it is no folder, has no Parquet file, or its files have different columns; the message names them.
    """
    place = Path(folder.folder).expanduser()
    if not place.is_dir():
        raise UsageError(f"{str(place)!r} is not a folder; pass the one that holds the list's Parquet files")
    files = tuple(sorted(file for file in place.iterdir() if file.suffix.lower() in _SUFFIXES and file.is_file()))
    if not files:
        raise UsageError(f"{place} has no file that ends in .parquet or .pq; save the list there, in one or more")
    measured = [parquet.measured(file) for file in files]
    names = measured[0][0]
    for file, (columns, _) in zip(files, measured, strict=True):
        if sorted(columns) != sorted(names):
            odd = ", ".join(map(repr, sorted(set(columns) ^ set(names))))
            raise UsageError(
                f"{file.name} and {files[0].name} do not have the same columns ({odd} only in one of them); all files "
                "of the folder make one list, so save them with the same columns"
            )
    return Source(files, tuple(names), tuple(rows for _, rows in measured))
