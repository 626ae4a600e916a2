"""What a plan holds: its rows and messages, in memory or, of a list larger than memory, in its Parquet files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .._calling import as_printed
from .._foreign.gate import ours
from .._ledger import Piece, Wordings
from .._pandas import STR
from .._showing import label as shown_label
from ..errors import LedgerError, UsageError
from . import bodies as body_rows
from .bodies import MEASURED, Ints
from .segments import as_labels

TRIMMED: Final = "BLANKS_TRIMMED"
NOTED: Final = ("REGION_MISMATCH", "FIXED_LINE", TRIMMED)  # notes on planned rows that deserve a look
FIRST: Final = 3
PLANNED, SKIPPED, MESSAGES = "planned.parquet", "skipped.parquet", "bodies.parquet"
OTHERS: Final = "others.parquet"  # of a list with several columns of numbers
# The people who are texted and have other numbers, one entry for each, and these: both as persons.
Others: TypeAlias = tuple[Ints, Ints]
NO_OTHERS: Final[Others] = (np.zeros(0, np.int64), np.zeros(0, np.int64))
_SAMPLED: Final = 50
_PIECE: Final = 100_000  # rows
_OF_BODIES: Final = (
    "kind", "text", "content", "template_id", "template_data", "signature", "recipients", "encoding", "est_parts",
)  # fmt: skip
_COLUMNS: Final = ("to", "region", "type", "status", "problem", "note", "body", "chunk", "est_parts", "encoding")
_COSTS: Final = ("est_cost", "est_currency")
# What a row that is left out has in the columns of planned ones.
_BLANK: Final = {"body": "Int64", "chunk": "Int64", "est_parts": "Int64", "encoding": STR, "est_currency": STR}


@dataclass(frozen=True, eq=False)
class InMemory:
    """``rows`` and ``bodies`` as `Plan` has them, the key of each body, what the ledger keeps of the words, and the
    other numbers of the people who are texted. ``index_names`` are those of the caller's index, which ``rows`` lacks.
    """

    folder: ClassVar[None] = None
    rows: pd.DataFrame = field(repr=False)
    bodies: pd.DataFrame = field(repr=False)
    body_keys: Ints = field(repr=False)
    wordings: Callable[[], Wordings] = field(repr=False)
    others: Others = field(repr=False)
    index_names: tuple[Any, ...] = (None,)

    def with_index_names(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame on the rows' index with the names of its levels, as the caller's frame has them."""
        return frame.set_axis(frame.index.set_names(self.index_names))

    @cached_property
    def _going(self) -> npt.NDArray[np.bool_]:
        """Which rows go: all that are planned, or of rows as they stand to a ledger those that nothing holds back."""
        return self.rows["status"].eq("planned").to_numpy() & self.rows["problem"].isna().to_numpy()

    @property
    def to_go(self) -> pd.DataFrame:
        return self.rows[self._going]

    @cached_property
    def figures(self) -> dict[str, int]:
        names = ("chunk", "est_parts", "est_cost", "body")
        chunk, parts, cost, body = (self.rows[name][self._going] for name in names)
        return {
            "rows": len(self.rows),
            "planned": len(chunk),
            "bodies": int(body.nunique()),
            "requests": int(chunk.nunique()),
            "parts": int(parts.sum()),
            "unknown": int(parts.isna().sum()),
            "unpriced": int(cost.isna().sum()),
        }

    @property
    def problems(self) -> pd.DataFrame:
        skipped = self.rows[~self._going]
        counted = skipped["problem"].value_counts().sort_index().sort_values(ascending=False, kind="stable")
        first = [
            ", ".join(map(shown_label, skipped.index[skipped["problem"].eq(problem).to_numpy()][:FIRST].tolist()))
            for problem in counted.index
        ]
        frame = pd.DataFrame({"problem": counted.index, "rows": counted.to_numpy(), "first_rows": first})
        return frame.astype({"problem": STR, "rows": "Int64", "first_rows": STR})

    @property
    def notes(self) -> dict[str, int]:
        combined = self.rows.loc[self._going, "note"].value_counts().to_dict().items()
        return {code: sum(many for note, many in combined if code in str(note).split()) for code in NOTED}

    def body(self, number: int) -> pd.DataFrame:
        """Return one body, as a frame of one row."""
        return self.bodies.iloc[[number]]

    def examples(self, n: int, by: str | None) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return n rows to look at - ``to, body`` and the segment - and the body of each."""
        at = self._places(n, by)
        people = self.rows[["to", "body", *([by] if by else [])]].iloc[at]
        return people, self.bodies.iloc[people["body"].to_numpy(dtype=np.int64)]

    def _places(self, n: int, by: str | None) -> list[int]:
        planned = np.flatnonzero(self._going)
        first = planned[~self.rows["body"].iloc[planned].duplicated().to_numpy()]
        if not len(first):
            return []
        parts = self.bodies["est_parts"].iloc[self.rows["body"].iloc[first].to_numpy("int64")]
        dearest = parts.fillna(0).to_numpy(dtype=np.int64).argmax()
        leading = first[:1] if by is None else planned[~as_labels(self.rows[by].iloc[planned]).duplicated().to_numpy()]
        wanted = [*map(int, leading), int(first[dearest]), *map(int, first[:n]), *map(int, planned[:n])]
        return sorted(list(dict.fromkeys(wanted))[:n])

    def addressees(self) -> tuple[Ints, Ints]:
        """Return for each row of the list its number and the key of its body; 0 of those that are left out."""
        going = np.flatnonzero(self._going)
        numbers, keys = np.zeros(len(self.rows), np.int64), np.zeros(len(self.rows), np.int64)
        numbers[going] = self.rows["to"].iloc[going].str[1:].astype("int64[pyarrow]").to_numpy()
        keys[going] = self.body_keys[self.rows["body"].iloc[going].to_numpy("int64")]
        return numbers, keys

    def pieces(self) -> Iterator[Piece]:
        """Give the rows as the ledger records them: those that are left out, then those to go.

        Raises:
            LedgerError: two different texts have one key.
        """
        if len(np.unique(self.body_keys)) != len(self.body_keys):
            raise LedgerError("two different texts have the same key; change one of them by a character")
        skipped = self.rows[self.rows["status"].eq("skipped").to_numpy()]
        yield Piece(skipped, np.flatnonzero(~self._going), self.body_keys)
        yield Piece(self.rows[self._going], np.flatnonzero(self._going), self.body_keys, self.wordings())

    def one(self, row: int | None) -> InMemory:
        """Return the same with the planned row of this number alone, without it the first one.

        Raises:
            UsageError: no planned row has the number.
        """
        planned = np.flatnonzero(self._going)
        numbers = self.rows["row"].to_numpy("int64")[planned]
        chosen = planned if row is None else planned[numbers == row]
        if not len(chosen):
            raise UsageError(f"row={row}: no planned row has this number; plan.rows has them in the column row")
        return replace(self, rows=self.rows.iloc[chosen[:1]].copy(), others=NO_OTHERS)


@dataclass(frozen=True, eq=False)
class InFiles:
    """The files of a plan in their ``folder``; see `Plan` for the other fields.

    ``said`` are the wordings as the ledger keeps them, ``shown`` the bodies to look at first. A file that was changed
    after the plan was made is refused with a UsageError.
    """

    folder: Path
    fingerprint: str
    figures: Mapping[str, int]
    notes: Mapping[str, int]
    problems: pd.DataFrame = field(repr=False)
    said: pd.DataFrame = field(repr=False)
    keep_bodies: bool
    shown: tuple[int, ...]

    @property
    def rows(self) -> pd.DataFrame:
        planned = [piece.assign(status="planned", problem=None) for piece in self._read(PLANNED)]
        skipped = [_blank(piece).assign(status="skipped") for piece in self._read(SKIPPED)]
        # pandas 2 warns where a column that is all missing in a piece is no text.
        pieces = [piece.astype({"status": STR, "problem": STR}) for piece in (*planned, *skipped)]
        rows = pd.concat(pieces).sort_values("row").reset_index(drop=True)
        rows = rows.drop(columns="row")
        kept = [name for name in rows.columns if name not in (*_COLUMNS, *_COSTS)]
        return as_printed(rows[[*_COLUMNS, *_COSTS, *kept]])

    @property
    def bodies(self) -> pd.DataFrame:
        many = self.figures["bodies"]
        bodies = self._said(0, many - 1)[list(_OF_BODIES)]
        return as_printed(bodies.set_axis(pd.RangeIndex(many, name="body")))

    @cached_property
    def body_keys(self) -> Ints:
        path = self._there(MESSAGES)
        with ours(path, "a file of the plan"):
            keys: Ints = pq.read_table(path, columns=["key"])["key"].to_numpy().copy()
        keys.setflags(write=False)
        return keys

    def wordings(self) -> Wordings:
        return self._wordings(0, self.figures["bodies"] - 1)

    def body(self, number: int) -> pd.DataFrame:
        """Return one body, as a frame of one row."""
        body = self._said(number, number)
        if body_rows.body_keys(body)[0] != self.body_keys[number]:
            raise self._changed()
        return body

    def examples(self, n: int, _by: str | None) -> tuple[pd.DataFrame, pd.DataFrame]:
        wanted = [*self.shown, *range(min(n, self.figures["bodies"]))]
        numbers = sorted(list(dict.fromkeys(wanted))[:n])
        bodies = self._some(numbers)
        to = [f"+{number}" for number in bodies["number"]]
        people = {"to": pd.array(to, dtype=STR), "body": pd.array(numbers, dtype="Int64")}
        return pd.DataFrame(people, index=pd.Index(bodies["first"].astype("int64"), name=None)), bodies

    def sample(self) -> pd.DataFrame:
        """Return some bodies to look at for advice."""
        many = min(_SAMPLED, self.figures["bodies"])
        return self._some([*dict.fromkeys([*range(many), *self.shown])])

    def addressees(self) -> tuple[Ints, Ints]:
        """Return for each row of the list its number and the key of its body; 0 of those that are left out."""
        numbers, keys = self._nobody()
        for piece in self._read(PLANNED, ("row", "to", "body")):
            self._take_in(piece, numbers, keys)
        self._hold_against_plan(numbers, keys)
        return numbers, keys

    def pieces(self) -> Iterator[Piece]:
        """Give the rows as the ledger records them: those that are left out, then those to go, by request."""
        for piece in self._read(SKIPPED):
            yield Piece(_blank(piece), piece["row"].to_numpy("int64"), np.zeros(0, np.int64))
        numbers, keys = self._nobody()
        for piece in self._read(PLANNED):
            self._take_in(piece, numbers, keys)
            rows = piece.assign(problem=pd.Series(None, index=piece.index, dtype=STR))
            said = self._wordings(int(rows["body"].min()), int(rows["body"].max()))
            yield Piece(rows, rows["row"].to_numpy("int64"), self.body_keys, said)
        self._hold_against_plan(numbers, keys)

    def one(self, row: int | None) -> InMemory:
        """Return the planned row at this place of the list, without it the first one, and its body, in memory."""
        numbers, _ = self.addressees()
        planned = np.flatnonzero(numbers)
        if row is not None and row not in planned:
            raise UsageError(f"row={row}: no planned row stands there")
        place = int(planned[0]) if row is None else row
        path = self._there(PLANNED)
        with ours(path, "a file of the plan"):
            rows = _frame(pq.read_table(path, filters=pc.field("row") == place))
        body = int(rows["body"].iloc[0])
        rows = rows.assign(status=pd.array(["planned"], dtype=STR), problem=pd.array([None], dtype=STR))
        rows["body"] = pd.array([0], dtype="Int64")
        rows["row"] = pd.array([place], dtype="Int64")
        bodies = self.body(body)[list(_OF_BODIES)].set_axis(pd.RangeIndex(1, name="body"))
        said = self._wordings(body, body)
        # What placeholders are filled with is never kept of a test message.
        said = Wordings(said.said, said.measures.set_axis(bodies.index), keep=False)
        return InMemory(rows[[*_COLUMNS, *_COSTS, "row"]], bodies, self.body_keys[[body]], lambda: said, NO_OTHERS)

    @cached_property
    def others(self) -> Others:
        pieces = [*self._read(OTHERS)] if (self.folder / OTHERS).exists() else []
        if not pieces:
            return NO_OTHERS
        own, other = (np.concatenate([piece[name].to_numpy("int64") for piece in pieces]) for name in ("own", "other"))
        return own, other

    def _nobody(self) -> tuple[Ints, Ints]:
        return np.zeros(self.figures["rows"], np.int64), np.zeros(self.figures["rows"], np.int64)

    def _take_in(self, piece: pd.DataFrame, numbers: Ints, keys: Ints) -> None:
        at, body = piece["row"].to_numpy("int64"), piece["body"].to_numpy("int64")
        if len(at) and not (at.max() < len(numbers) and body.max() < len(self.body_keys)):
            raise self._changed()
        numbers[at] = piece["to"].str[1:].astype("int64").to_numpy()
        keys[at] = self.body_keys[body]

    def _hold_against_plan(self, numbers: Ints, keys: Ints) -> None:
        going = numbers > 0
        if fingerprint(in_blocks(numbers[going]), [keys[going]]) != self.fingerprint:
            raise self._changed()

    def _wordings(self, first: int, last: int) -> Wordings:
        """Return what bodies from one number to another say, and how they pack."""
        measures = self._said(first, last)[list(MEASURED)].astype({"wording": "int64"})
        return Wordings(self.said, measures, self.keep_bodies)

    def _some(self, numbers: list[int]) -> pd.DataFrame:
        return pd.concat([self._said(number, number) for number in numbers]) if numbers else self._said(0, -1)

    def _said(self, first: int, last: int) -> pd.DataFrame:
        """Return the bodies from one number to another as their file has them."""
        path, groups = self._there(MESSAGES), np.searchsorted(self._ends, [first, max(first, last)], "right")
        there = range(int(groups[0]), min(int(groups[1]) + 1, len(self._ends)))
        found = pd.concat([_row_group(path, group, path.stat().st_mtime_ns) for group in there or range(1)])
        return found.loc[first:last]

    @cached_property
    def _ends(self) -> Ints:
        """The body number at which each group of rows of the bodies' file ends."""
        path = self._there(MESSAGES)
        with ours(path, "a file of the plan"), pq.ParquetFile(path) as file:
            sizes = [file.metadata.row_group(at).num_rows for at in range(file.metadata.num_row_groups)]
        return np.cumsum(np.array(sizes, np.int64))

    def _read(self, name: str, columns: tuple[str, ...] | None = None) -> Iterator[pd.DataFrame]:
        if name == PLANNED and not self.figures["planned"]:
            return
        path = self._there(name)
        with ours(path, "a file of the plan"), pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_PIECE, columns=None if columns is None else list(columns)):
                yield _frame(pa.Table.from_batches([batch]))

    def _there(self, name: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise self._changed()
        return path

    def _changed(self) -> UsageError:
        return UsageError(
            f"the files in {self.folder} are not those of this plan: they were changed or replaced after it was made. "
            "Nothing of them was sent; make the plan again with the same Folder"
        )


def _blank(skipped: pd.DataFrame) -> pd.DataFrame:
    empty = {name: pd.Series(None, index=skipped.index, dtype=dtype) for name, dtype in _BLANK.items()}
    return skipped.assign(**empty, est_cost=np.nan)


@lru_cache(maxsize=4)
def _row_group(path: Path, group: int, _written: int) -> pd.DataFrame:
    with ours(path, "a file of the plan"), pq.ParquetFile(path) as file:
        if not file.metadata.num_row_groups:
            # Which old versions of pyarrow cannot read.
            return _frame(file.schema_arrow.empty_table()).set_index("body")
        return _frame(file.read_row_group(group)).set_index("body")


def _frame(table: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas(types_mapper=_dtype)
    return frame


def _dtype(kind: pa.DataType) -> Any:
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return STR
    return pd.Int64Dtype() if pa.types.is_integer(kind) else None


def fingerprint(to: Iterable[Sequence[str]], keys: Iterable[Ints]) -> str:
    """Return a hash of numbers, and of the keys of their bodies, both given in blocks."""
    digest, between = hashlib.sha256(), b""
    for numbers in to:
        digest.update(between + "\n".join(numbers).encode())
        between = b"\n"
    digest.update(b"\n")
    for some in keys:
        digest.update(some.astype(">i8").tobytes())
    return digest.hexdigest()


def in_blocks(numbers: Ints) -> Iterator[list[str]]:
    """Give numbers as E.164, in blocks."""
    for first in range(0, len(numbers), _PIECE):
        yield [f"+{number}" for number in numbers[first : first + _PIECE].tolist()]
