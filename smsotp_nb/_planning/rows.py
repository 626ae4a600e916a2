"""The rows and messages of a plan in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._ledger import Piece, Wordings
from .._pandas import STR
from .._visible import label as shown_label
from ..errors import LedgerError, UsageError
from .bodies import Ints
from .segments import as_labels

NOTED: Final = ("REGION_MISMATCH", "FIXED_LINE")  # notes on planned rows that deserve a look
FIRST: Final = 3


@dataclass(frozen=True, eq=False)
class InMemory:
    """``rows`` and ``bodies`` as `Plan` has them, the key of each body, and what the ledger keeps of the words."""

    folder: ClassVar[None] = None
    rows: pd.DataFrame = field(repr=False)
    bodies: pd.DataFrame = field(repr=False)
    body_keys: Ints = field(repr=False)
    wordings: Callable[[], Wordings] = field(repr=False)

    @cached_property
    def _going(self) -> npt.NDArray[np.bool_]:
        return self.rows["status"].eq("planned").to_numpy()

    @cached_property
    def figures(self) -> dict[str, int]:
        planned = self.rows[self._going]
        return {
            "rows": len(self.rows),
            "planned": len(planned),
            "bodies": len(self.bodies),
            "requests": int(planned["chunk"].nunique()),
            "parts": int(planned["est_parts"].sum()),
            "unknown": int(planned["est_parts"].isna().sum()),
            "unpriced": int(planned["est_cost"].isna().sum()),
        }

    @property
    def skipped(self) -> pd.DataFrame:
        return self.rows[~self._going]

    @property
    def problems(self) -> pd.DataFrame:
        skipped = self.skipped
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
        dearest = self.bodies["est_parts"].fillna(0).to_numpy(dtype=np.int64).argmax()
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
        yield Piece(self.skipped, np.flatnonzero(~self._going), self.body_keys)
        yield Piece(self.rows[self._going], np.flatnonzero(self._going), self.body_keys, self.wordings())

    def one(self, row: int) -> InMemory:
        """Return the same with the row-th planned row alone.

        Raises:
            UsageError: there are fewer.
        """
        planned = np.flatnonzero(self._going)
        refuse_beyond(row, len(planned))
        return replace(self, rows=self.rows.iloc[planned[[row]]].copy())


def refuse_beyond(row: int, planned: int) -> None:
    if row >= planned:
        raise UsageError(f"row={row}: the plan has {planned:,} recipients, counted from 0")
