"""The plan of a list larger than memory: a value that holds what a send needs and reads the rest from its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .. import _wire as wire
from .. import parts
from .._calling.arguments import not_whole, refuse
from .._calling.words import in_our_words
from .._foreign.gate import ours
from .._ledger import Piece, Prospect, Wordings
from .._pandas import STR, lent
from .._policy import Policy
from ..errors import UsageError
from . import bodies as body_rows
from . import dataset_overview as overview
from .bodies import Ints
from .staging import MEASURED, VARYING
from .value import Plan
from .wording import Wording

_PREVIEWED: Final = 3
_SAMPLED: Final = 50
_PIECE: Final = 100_000  # rows
_ROWS = "a plan larger than memory keeps its rows in files: read planned.parquet and skipped.parquet in plan.folder"
_BODIES = "a plan larger than memory keeps its messages in bodies.parquet in plan.folder; plan.preview(n) shows some"
_INSTEAD: Final = {  # what a Plan has and this has not
    "rows": _ROWS,
    "bodies": _BODIES,
    "texts": _BODIES,
    "wordings": _BODIES,
    "measure": _BODIES,
    "estimate_by_segment": f"{_ROWS}; est_parts and est_cost stand there beside the column of segments",
    "reworded": "a plan larger than memory is planned again for other words: plan_dataset(...) with the same folder",
}


@dataclass(frozen=True, eq=False, repr=False)
class DatasetPlan:
    """A campaign as it would be sent, of a list larger than memory: what `plan_dataset` returns and ``send`` takes.

    Its rows stand in the folder: ``planned.parquet`` in the order of the requests, ``skipped.parquet`` with the problem
    of each row that is left out, ``bodies.parquet`` with the different messages. All three name people. Files that were
    changed after the plan was made are refused when it is sent.

    Attributes:
        folder: where its files are.
        campaign, variant, chunk_size, kept, by, segments, signature_join, fingerprint, hint, policy, prospect: as of a
            `Plan`; the same rows have the same fingerprint there.
        figures: how many ``rows, planned, bodies, requests`` there are, how many ``parts``, and of how many recipients
            the parts are ``unknown``.
        notes: how many planned rows have a note that deserves a look, by code.

    Example:
        >>> import tempfile
        >>> import smsotp_nb as sms
        >>> place = Path(tempfile.mkdtemp())
        >>> (place / "list").mkdir()
        >>> pd.DataFrame({"phone": ["+12025550123", "hello"]}).to_parquet(place / "list" / "people.parquet")
        >>> made = sms.plan_dataset(place / "list", into=place / "plan", to="phone", campaign="demo", text="Hello")
        >>> made.figures["planned"], made.message(0).text, made.skipped.name
        (1, 'Hello', 'skipped.parquet')
    """

    folder: Path
    campaign: str
    variant: wire.Variant
    chunk_size: int
    kept: tuple[str, ...]
    by: str | None
    segments: tuple[str, ...]
    signature_join: str
    fingerprint: str
    hint: str | None
    policy: Policy | None
    figures: Mapping[str, int]
    notes: Mapping[str, int]
    _problems: pd.DataFrame = field(repr=False)
    _estimate: pd.DataFrame = field(repr=False)
    _wording: Wording = field(repr=False)
    _said: pd.DataFrame = field(repr=False)
    _keep_bodies: bool = field(repr=False)
    _shown: tuple[int, ...] = field(repr=False)  # bodies to look at first
    prospect: Prospect | None = field(default=None, repr=False)

    if not TYPE_CHECKING:  # mypy knows what there is

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(_INSTEAD.get(name, f"{type(self).__name__!r} object has no attribute {name!r}"))

    @property
    def problems(self) -> pd.DataFrame:
        """How many rows are left out, and why: ``problem`` (str), ``rows`` (Int64), ``first_rows`` (str: the places of
        the first three, counted from 0 over all files)."""
        return lent(self._problems)

    @property
    def estimate(self) -> pd.DataFrame:
        """Messages, parts and cost by country, most expensive first; the columns are those of `Plan.estimate`."""
        return lent(self._estimate)

    @property
    def skipped(self) -> Path:
        """The Parquet file of the rows that will not be sent: ``row, to, region, type, problem, note``, kept ones."""
        return self.folder / "skipped.parquet"

    @cached_property
    def body_keys(self) -> Ints:
        """The key of each body, by body number."""
        with ours(self._bodies_file, "a file of the plan"):
            keys: Ints = pq.read_table(self._bodies_file, columns=["key"])["key"].to_numpy().copy()
        keys.setflags(write=False)
        return keys

    @in_our_words
    def preview(self, n: int = _PREVIEWED) -> pd.DataFrame:
        """Show n messages as real recipients will read them: the first of each segment, the dearest, then in order.

        Returns:
            ``to, text`` (str; ``to`` masked), ``est_parts`` (Int64), ``encoding``, ``forcing`` (str) and ``body``
            (Int64), by the row that has the message first.
        """
        refuse(not_whole("n", n, least=0))
        asked = [*self._shown, *range(min(n, self.figures["bodies"]))]
        numbers = sorted(list(dict.fromkeys(asked))[:n])
        found = pd.concat([self._body(number) for number in numbers]) if numbers else _empty_bodies()
        texts = self._wording.reads(found)
        forcing = ["" if pd.isna(text) else "".join(parts.count(text).forcing) for text in texts]
        to = [wire.mask(f"+{number}") for number in found["number"]]
        shown = {
            "to": pd.Series(to, dtype=STR).array,
            "text": texts.array,
            "est_parts": found["est_parts"].array,
            "encoding": found["encoding"].array,
            "forcing": pd.Series(forcing, dtype=STR).array,
            "body": pd.array(numbers, dtype="Int64"),
        }
        return pd.DataFrame(shown, index=pd.Index(found["first"].astype("int64"), name=None))

    def samples(self) -> list[str]:
        """Return some messages as people read them; of a template without its text the variables and their values."""
        many = min(_SAMPLED, self.figures["bodies"])
        numbers = list(dict.fromkeys([*range(many), *self._shown]))
        found = pd.concat([self._body(number) for number in numbers]) if numbers else _empty_bodies()
        return self._wording.sampled(found)

    @in_our_words
    def message(self, body: int) -> wire.Body:
        """Return the message of a body number, as it goes on the wire.

        Raises:
            UsageError: there is no such body, or the plan's files are not those that were planned.
        """
        refuse(not_whole("body", body, least=0))
        if not 0 <= body < self.figures["bodies"]:
            raise UsageError(f"no body {body}; this plan has {self.figures['bodies']}, numbered from 0")
        said = self._body(body)
        asked = self._wording.messages[0].body
        if asked.kind == "template":
            data = json.loads(said["template_data"].array[0])
            found = replace(asked, template_id=str(said["template_id"].array[0]), template_data=tuple(data.items()))
        else:
            text = str(said[asked.kind].array[0])
            found = replace(asked, text=text) if asked.kind == "text" else replace(asked, content=text)
        if body_rows.body_key(found) != int(self.body_keys[body]):
            raise self._changed()
        return found

    def addressees(self) -> tuple[Ints, Ints]:
        """Return for each row of the list its number and the key of its body; 0 of those that are left out.

        Raises:
            UsageError: the plan's files are not those that were planned.
        """
        numbers, keys = self._nobody()
        for piece in self._frames(("row", "to", "body")):
            self._take_in(piece, numbers, keys)
        self._hold_against_plan(numbers, keys)
        return numbers, keys

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
        if _fingerprint(numbers[going], keys[going]) != self.fingerprint:
            raise self._changed()

    def pieces(self) -> Iterator[Piece]:
        """Give the rows as the ledger records them: those that are left out, then those to go, by request.

        Raises:
            UsageError: at the end, the plan's files are not those that were planned.
        """
        for piece in self._read(self.skipped, None):
            yield self._piece(piece, "skipped")
        numbers, keys = self._nobody()
        for piece in self._frames(None):
            self._take_in(piece, numbers, keys)
            yield self._piece(piece, "planned")
        self._hold_against_plan(numbers, keys)

    def _piece(self, piece: pd.DataFrame, status: str) -> Piece:
        rows = piece.assign(status=status).astype({"status": STR})
        if status == "skipped":
            blank = {"body": "Int64", "chunk": "Int64", "est_parts": "Int64", "encoding": STR, "est_currency": STR}
            empty = {name: pd.Series(None, index=rows.index, dtype=dtype) for name, dtype in blank.items()}
            return Piece(rows.assign(**empty, est_cost=np.nan), rows["row"].to_numpy("int64"), np.zeros(0, np.int64))
        rows = rows.assign(problem=pd.Series(None, index=rows.index, dtype=STR))
        first, last = int(rows["body"].min()), int(rows["body"].max())
        return Piece(rows, rows["row"].to_numpy("int64"), self.body_keys, self._wordings(first, last))

    def _wordings(self, first: int, last: int) -> Wordings:
        """Return what bodies from one number to another say, and how they pack."""
        groups = range(self._group(first), self._group(last) + 1)
        found = pd.concat([self._of_group(group) for group in groups])
        mine = found.loc[first:last, list(MEASURED)]
        return Wordings(self._said, mine.astype({"wording": "int64"}), self._keep_bodies)

    def _body(self, number: int) -> pd.DataFrame:
        return self._of_group(self._group(number)).loc[[number]]

    def _of_group(self, group: int) -> pd.DataFrame:
        if not self._bodies_file.is_file():
            raise self._changed()
        return _row_group(self._bodies_file, group, self._bodies_file.stat().st_mtime_ns)

    def _group(self, body: int) -> int:
        return int(np.searchsorted(self._ends, body, "right"))

    @cached_property
    def _ends(self) -> Ints:
        """The body number at which each group of rows of the bodies' file ends."""
        with ours(self._bodies_file, "a file of the plan"), pq.ParquetFile(self._bodies_file) as file:
            sizes = [file.metadata.row_group(at).num_rows for at in range(file.metadata.num_row_groups)]
        return np.cumsum(np.array(sizes, np.int64))

    @property
    def _bodies_file(self) -> Path:
        return self.folder / "bodies.parquet"

    def _frames(self, columns: tuple[str, ...] | None) -> Iterator[pd.DataFrame]:
        return self._read(self.folder / "planned.parquet", columns)

    def _read(self, path: Path, columns: tuple[str, ...] | None) -> Iterator[pd.DataFrame]:
        if path.name == "planned.parquet" and not self.figures["planned"]:
            return
        if not path.is_file():
            raise self._changed()
        with ours(path, "a file of the plan"), pq.ParquetFile(path) as file:
            if not file.metadata.num_row_groups:  # which pyarrow 18 cannot read in batches
                return
            for batch in file.iter_batches(batch_size=_PIECE, columns=None if columns is None else list(columns)):
                yield _frame(pa.Table.from_batches([batch]))

    def _changed(self) -> UsageError:
        return UsageError(
            f"the files in {self.folder} are not those of this plan: they were changed or replaced after it was made. "
            "Nothing of them was sent; make the plan again with plan_dataset(...)"
        )

    def __repr__(self) -> str:
        return overview.one_line(self)

    def __str__(self) -> str:
        return str(overview.card(self))

    def _repr_html_(self) -> str:
        return overview.card(self).html()


AnyPlan = Plan | DatasetPlan


@lru_cache(maxsize=4)
def _row_group(path: Path, group: int, _written: int) -> pd.DataFrame:
    with ours(path, "a file of the plan"), pq.ParquetFile(path) as file:
        return _frame(file.read_row_group(group)).set_index("body")


def _frame(table: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas(types_mapper=_dtype)
    return frame


def _dtype(kind: pa.DataType) -> Any:
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return STR
    return pd.Int64Dtype() if pa.types.is_integer(kind) else None


def _empty_bodies() -> pd.DataFrame:
    names = ("number", "first", "est_parts", "encoding", *VARYING)
    return pd.DataFrame({name: pd.Series([], dtype="Int64" if name in names[:3] else STR) for name in names})


def _fingerprint(numbers: Ints, keys: Ints) -> str:
    digest = hashlib.sha256()
    for first in range(0, len(numbers), _PIECE):
        texts = [f"+{number}" for number in numbers[first : first + _PIECE].tolist()]
        digest.update((b"\n" if first else b"") + "\n".join(texts).encode())
    digest.update(b"\n" + keys.astype(">i8").tobytes())
    return digest.hexdigest()
