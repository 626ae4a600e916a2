"""A list of opt-outs or opt-ins, read: what each row says and when, and which rows cannot be read.

When something was said is read against texting: an opt-out at its latest moment, an opt-in at its earliest. A day
without an hour is unclear, and so is an hour that autumn repeats or spring leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from .. import _dates as dates
from .. import phones, recipients
from .._calling import given, not_zone, refuse
from .._cards import counted
from .._frames import as_pandas
from .._ledger import Said
from .._moments import microseconds
from .._pandas import STR, is_missing
from .._phones import (
    NumberOptions,
    international,
    not_reading,
    own_columns,
    said_no,
    warn_of_doubtful,
    why_states,
)
from .._recipients import KEY, without_value
from .._showing import cited, few, spelled
from ..columns import require
from ..errors import UsageError
from ..problems import PROBLEMS
from . import answers

_SHOWN = 5
_AHEAD: Final = timedelta(hours=1)  # by which the clock of who recorded an opt-out may be fast
_FIRST: Final = 1992  # the year of the first text message: an earlier one stands for no date
_DAY: Final = timedelta(days=1) - timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class How:
    """Which columns of a list say what, and how their cells are read: the arguments of an import."""

    column: str
    at: str | None
    zone: str | None
    proof: str | None
    region: str | None
    default_region: str | None
    written: dates.Written
    reading: NumberOptions

    def check(self) -> None:
        """Refuse a zone that there is not, and what says nothing of how dates are written."""
        refuse(
            None if self.zone is None else not_zone("zone", self.zone), *self.written.wrong(), not_reading(self.reading)
        )


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list says: its readable rows with their first and last day, and in words what is wrong with the others, of
    which there are so many.
    """

    said: list[Said]
    span: tuple[date, date] | None
    problems: list[str]
    unread: int
    rows: int

    def told(self, so: str) -> str:
        """Return in words which rows cannot be read, the first of them, and what became of that."""
        return f"{self.unread:,} of {counted(self.rows, 'row')} cannot be read, {so}: {some(self.problems)}"


def read(source: Any, how: How, *, opted_out: bool, now: datetime) -> Listed:
    """Read a list; rows without a number say nothing.

    Raises:
        UsageError: it is no list, a column is missing, or its dates can be read in two ways.
    """
    frame = _frame(source)
    for name, column in (("column", how.column), ("at", how.at), ("proof", how.proof), ("region", how.region)):
        if column is not None:
            require(column, frame.columns, where=f"{name}=")
    if how.region is not None:
        states = why_states(frame[how.column], frame[how.region], how.default_region)
        refuse(states, said="nothing was recorded: ")
    found = _judged(frame, how, how.region, opted_out=opted_out)
    first = found[~found.index.duplicated()]
    own = own_columns(frame, how.default_region, how.region)
    if opted_out:  # a no at one number is a no at all
        _refuse_others(frame, how, None, opted_out=True)
        named = (how.column, how.at, how.proof, how.region)
        names = [name for name in own.numbers if name not in named]
        warn_of_doubtful({name: why for name, why in own.doubtful.items() if name not in named})
        others = [_judged(frame, replace(how, column=name), how.region, opted_out=True) for name in names]
        others += [phones.normalize(international(frame[name])).reset_index(drop=True) for name in names]
        found = pd.concat([found, *(one[one["to"].notna()] for one in others)])
    if how.region is None:
        _refuse_other_countries(frame, how, own.countries, found, opted_out=opted_out)
    said_of = np.isin(np.arange(len(frame)), found.index[found["to"].notna()])
    blank = first["problem"].eq("MISSING").to_numpy(bool) & ~said_of
    unread = first["to"].isna().to_numpy() & first["problem"].ne("MISSING").to_numpy(bool)
    found_at = None if how.at is None else dates.read(frame[how.at], how.written)
    if found_at is not None and found_at.unclear:
        raise UsageError(f"column {how.at!r} has {found_at.unclear}. Nothing was recorded")
    if not opted_out:
        _refuse_others(frame, how, found_at, opted_out=False)
    when, late = _moments(found_at, how, blank, opted_out=opted_out, now=now)
    labels = frame.index.tolist()
    problems = [
        f"row {label!r}: {explained(problem)}"
        for label, problem in zip(frame.index[unread], first["problem"][unread], strict=True)
    ]
    problems += [f"row {labels[place]!r}: {how.at} is {wrong}" for place, wrong in late.items()]
    lost = without_value(frame, how.column)
    proofs = [None] * len(frame) if how.proof is None else [*map(_spelled, frame[how.proof])]
    said = [
        Said(int(to[1:]), opted_out, moment.at, moment.zone, proofs[place])
        for place, to in zip(found.index.tolist(), found["to"], strict=True)
        if isinstance(to, str) and (moment := when[place]) is not None
    ]
    dated = [isinstance(to, str) and place not in late for place, to in first["to"].items()]
    span = None if found_at is None else found_at.span(np.array(dated, dtype=bool))
    unread_rows = len({*np.flatnonzero(unread).tolist(), *late}) + len(lost)
    return Listed(said, span, [*problems, *lost], unread_rows, len(frame))


def _judged(frame: pd.DataFrame, how: How, region: Any, *, opted_out: bool) -> pd.DataFrame:
    """Judge the numbers on the places 0.. of their rows; a row of an opt-out may have several."""
    beside = None if region is None else frame[region]
    judge = said_no if opted_out else phones.normalize
    found = judge(frame[how.column], region=beside, default_region=how.default_region, numbers=how.reading)
    return found if opted_out else found.reset_index(drop=True)


def _refuse_other_countries(
    frame: pd.DataFrame, how: How, countries: list[Any], found: pd.DataFrame, *, opted_out: bool
) -> None:
    """Refuse numbers that are others by a column of countries which region= does not name."""
    read = set(zip(found.index.tolist(), found["to"], strict=True))
    for name in countries:
        to = _judged(frame, how, name, opted_out=opted_out)["to"].dropna()
        by = zip(to.index.tolist(), to, strict=True)
        places = [*dict.fromkeys(place for place, number in by if (place, number) not in read)]
        if places and name != how.column:
            rows = few(frame.index.take(places).tolist(), cited)
            raise UsageError(
                f"with the countries in column {name!r}, {counted(len(places), 'number')} would be read as "
                f"{'another one' if len(places) == 1 else 'others'} (row {rows}): pass region={name!r}, or leave the "
                "column out of the list. Nothing was recorded"
            )


def _beside(frame: pd.DataFrame, how: How) -> Iterator[tuple[Any, str, pd.Series[str]]]:
    """Give the columns that no argument names: name, heading with blanks between its words, cells as text."""
    read = {how.column, how.at, how.proof, how.region}
    if {"to", "id", "parts", "status"} <= {*frame.columns}:  # results, whose status is that of a message
        read.add("status")
    for name in frame.columns:
        if name not in read and isinstance(frame[name], pd.Series):
            yield name, re.sub(r"[_-]", " ", spelled(name)), frame[name].map(_spelled).astype(STR).str.strip()


def _refuse_others(frame: pd.DataFrame, how: How, at: dates.Dates | None, *, opted_out: bool) -> None:
    """Refuse opt-outs with a column that says yes, and opt-ins with one that says no, unless before the opt-in."""
    has_number = frame[how.column].map(_spelled).astype(STR).str.strip().fillna("").ne("").to_numpy(bool)
    for name, heading, texts in _beside(frame, how):
        says = answers.read(heading, texts, has_number, how.written, at)
        wrong = texts[says.yes if opted_out else says.no]
        if len(wrong):
            rows, shown = few(wrong.index.tolist(), cited), cited(wrong.iloc[0]) if wrong.notna().iloc[0] else "blank"
            said, end = f"says no in row {rows}: {shown}. An opt-in would end the opt-outs of these people", "opt-ins"
            if opted_out:
                said, end = (
                    f"says of row {rows} that it is no opt-out: {shown}. These people may be willing",
                    "opt-outs",
                )
            raise UsageError(
                f"column {name!r} {said}: leave these rows out, or pass a frame of the {end} without the column if it "
                "means something else. Nothing was recorded"
            )


def explained(problem: str) -> str:
    """Return the code of a number that cannot be read, with its meaning.

    Example:
        >>> explained("TOO_SHORT")
        'TOO_SHORT (fewer digits than any number of that country)'
    """
    return f"{problem} ({PROBLEMS[problem].meaning})"


def some(problems: list[str]) -> str:
    more = f" and {len(problems) - _SHOWN:,} more (all of them in .problems)" if len(problems) > _SHOWN else ""
    return "; ".join(problems[:_SHOWN]) + more


def _frame(source: Any) -> pd.DataFrame:
    if isinstance(source, str | Path):
        frame = recipients.read_recipients(source, hidden=True)  # a row is named as the file shows it
        if others := frame.attrs[KEY].get("other_sheets"):
            raise UsageError(
                f"{Path(source).name} has rows in several sheets, also in {', '.join(map(cited, others))}: import each "
                f"one, as read_recipients(path, sheet={others[0]!r}) reads it. Nothing was recorded"
            )
        return frame
    frame = as_pandas(source)
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"the list must be a frame or the path of a file, got {given(source)}")
    return frame


def _moments(
    found: dates.Dates | None, how: How, blank: np.ndarray, *, opted_out: bool, now: datetime
) -> tuple[list[Moment | None], dict[int, str]]:
    """Return when each row was said, and what is wrong by place: an opt-out counts from now there, an opt-in never."""
    if found is None:
        return [NOW] * len(blank), {}
    when: list[Moment | None] = [None] * len(blank)
    wrong: dict[int, str] = {}
    for place in np.flatnonzero(~blank).tolist():
        try:
            when[place] = moment_of(found, place, zone=how.zone, opted_out=opted_out, now=now)
        except ValueError as said:
            wrong[place] = str(said)
            if opted_out:
                # Whoever said no at an unknown time has said no.
                when[place] = NOW
    return when, wrong


def _spelled(cell: Any) -> str | None:
    return None if is_missing(cell) else spelled(cell)


class Moment(NamedTuple):
    """Microseconds since 1970, and minutes east of UTC where it was said; ``at`` None: as it is recorded."""

    at: int | None
    zone: int


NOW: Final = Moment(None, 0)


def moment_of(found: dates.Dates, place: int, *, zone: str | None, opted_out: bool, now: datetime) -> Moment:
    """Return the moment that one cell means.

    Raises:
        ValueError: it is none, has no zone, or is in the future; says which.

    Example:
        >>> day = dates.one("at", "2026-11-12")
        >>> now = datetime(2026, 11, 12, 12, tzinfo=UTC)
        >>> last, first = (moment_of(day, 0, zone="UTC", opted_out=out, now=now).at for out in (True, False))
        >>> (last - first) // 1_000_000
        86399
    """
    if place in found.wrong:
        raise ValueError(found.wrong[place])
    wall = found.wall[place].item()
    if wall is None:
        raise ValueError("blank")
    offset = int(found.offset[place]) if found.zoned[place] else None
    if offset is None and zone is None:
        raise ValueError(f"a time without a zone: {wall}")
    if wall.year < _FIRST:
        raise ValueError(f"before there were text messages: {wall:%Y-%m-%d}")
    there = None if zone is None else ZoneInfo(zone)
    moment = dates.earliest(wall, offset, there)
    if moment > now + (_AHEAD if opted_out else timedelta(0)):
        raise ValueError(f"in the future: {moment}")
    if opted_out:
        whole_day = found.midnight[place] or not found.clock[place]
        moment = dates.latest(wall + _DAY * whole_day, offset, there)
    east = moment.utcoffset() or timedelta(0)
    return Moment(microseconds(moment.astimezone(UTC)), int(east.total_seconds() // 60))


def moment_given(name: str, value: Any, *, opted_out: bool, now: datetime) -> Moment:
    """Read the moment that an argument gives; None is now."""
    if value is None:
        return NOW
    wanted = {"what": "a time in the past with its zone,", "example": "'2026-11-12 09:30+01:00'"}
    found = dates.one(name, value, **wanted)
    try:
        return moment_of(found, 0, zone=None, opted_out=opted_out, now=now)
    except ValueError as wrong:
        raise UsageError(f"{name}= must be {wanted['what']} such as {wanted['example']}, got {wrong}") from None
