"""A list of opt-outs or opt-ins, read: what each row says, and which rows cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import phones, recipients
from .._arguments import given, not_zone, refuse
from .._cards import counted
from .._frames import as_pandas
from .._ledger.consents import Said
from .._pandas import is_missing
from .._visible import spelled
from ..columns import require
from ..errors import UsageError
from ..problems import PROBLEMS
from . import moments
from .moments import Moment

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class How:
    """Which columns of a list say what, and how their cells are read: the arguments of an import."""

    column: str
    at: str | None
    zone: str | None
    proof: str | None
    region: str | None
    default_region: str | None

    def check(self) -> None:
        """Refuse a zone that there is not."""
        refuse(None if self.zone is None else not_zone("zone", self.zone))


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list says: its readable rows, and in words what is wrong with the others, of which there are so many."""

    said: list[Said]
    problems: list[str]
    unread: int
    rows: int

    def told(self, so: str) -> str:
        """Return in words which rows cannot be read, the first of them, and what became of that."""
        return f"{self.unread:,} of {counted(self.rows, 'row')} cannot be read, {so}: {some(self.problems)}"


def read(source: Any, how: How, *, opted_out: bool, now: datetime) -> Listed:
    """Read a list; rows without a number say nothing.

    Raises:
        UsageError: it is no list, or a column is missing.
    """
    frame = _frame(source)
    for name, column in (("column", how.column), ("at", how.at), ("proof", how.proof), ("region", how.region)):
        if column is not None:
            require(column, frame.columns, where=f"{name}=")
    regions = None if how.region is None else frame[how.region]
    found = phones.normalize(frame[how.column], region=regions, default_region=how.default_region, repair=("mx_1",))
    blank = found["problem"].eq("MISSING").to_numpy(bool)
    unread = found["to"].isna().to_numpy() & ~blank
    when, late = _moments(frame, how, blank, now)
    labels = frame.index.tolist()
    problems = [
        f"row {label!r}: {explained(problem)}"
        for label, problem in zip(frame.index[unread], found["problem"][unread], strict=True)
    ]
    problems += [f"row {labels[place]!r}: {how.at} is {wrong}" for place, wrong in late.items()]
    proofs = _proofs(frame, how.proof)
    said = [
        Said(int(to[1:]), opted_out, *moment, proof)
        for to, moment, proof in zip(found["to"], when, proofs, strict=True)
        if isinstance(to, str) and moment is not None
    ]
    return Listed(said, problems, len({*np.flatnonzero(unread).tolist(), *late}), len(frame))


def explained(problem: str) -> str:
    """Return the code of a number that cannot be read, with its meaning.

    Example:
        >>> explained("TOO_SHORT")
        'TOO_SHORT (fewer digits than any number of that country)'
    """
    return f"{problem} ({PROBLEMS[problem].meaning})"


def some(problems: list[str]) -> str:
    """Return the first of several problems in one line."""
    more = f" and {len(problems) - _SHOWN:,} more (all of them in .problems)" if len(problems) > _SHOWN else ""
    return "; ".join(problems[:_SHOWN]) + more


def _frame(source: Any) -> pd.DataFrame:
    if isinstance(source, str | Path):
        return recipients.read_recipients(source, numbered=True)  # a row is named as the file shows it
    frame = as_pandas(source)
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"the list must be a frame or the path of a file, got {given(source)}")
    return frame


def _moments(
    frame: pd.DataFrame, how: How, blank: np.ndarray, now: datetime
) -> tuple[list[Moment | None], dict[int, str]]:
    """Return when each row was said, None where that cannot be read, and what is wrong by place."""
    if how.at is None:
        return [moments.read(now, zone=None, now=now)] * len(frame), {}
    found: list[Moment | None] = []
    wrong: dict[int, str] = {}
    for place, value in enumerate(frame[how.at]):
        try:
            found.append(None if blank[place] else moments.read(value, zone=how.zone, now=now))
        except ValueError as said:
            found.append(None)
            wrong[place] = str(said)
    return found, wrong


def _proofs(frame: pd.DataFrame, column: str | None) -> list[str | None]:
    if column is None:
        return [None] * len(frame)
    return [None if is_missing(shown) else spelled(shown) for shown in frame[column]]
