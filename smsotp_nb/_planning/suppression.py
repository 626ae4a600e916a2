"""Whom to leave out - people who said no, people of another campaign - from whatever form the list comes in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from .. import _wire as wire
from .. import phones, recipients
from .._calling import given
from .._cards import counted
from .._frames import as_pandas
from .._pandas import STR, holds_text, texts
from .._showing import cited, spelled
from ..columns import absent
from ..errors import UsageError

_SHOWN = 5
_WITHOUT_PLUS = re.compile(r"([1-9][0-9]{6,14})(?:\.0)?")


@dataclass(frozen=True, slots=True)
class Reading:
    """How the plan reads the numbers of its own recipients: their column, its region, and what may be repaired."""

    to: str
    region: str | None = None
    default_region: str | None = None
    repair: Sequence[str] = ()
    ignore_unreadable: bool = False


def left_out(suppress: Any, exclude: Any, reading: Reading) -> dict[str, pd.Series[str]]:
    """Return the numbers to leave out in E.164, by problem: who said no, and whom another campaign has.

    Each source is a list, Series, frame or path; ``exclude`` may be a campaign of the ledger, of which whom it may have
    reached counts. A frame's numbers stand in its column ``to`` (the recipients' name for it), else in ``to`` or
    ``phone``, else in its only one; its ``region`` column is used where it has it. Capitals in these names make no
    difference. Of ``exclude`` the column ``to`` comes first, and a number without a plus, as a spreadsheet or pandas
    makes it of the ``to`` of a result table, is read as E.164, too.

    Raises:
        UsageError: the column is not clear, or entries cannot be read; it lists them. LedgerError: it was purged.
    """
    numbers: dict[str, pd.Series[str]] = {}
    if suppress is not None:
        cells, regions = _columns(suppress, (reading.to, "to", "phone"), reading, "suppress=")
        numbers["SUPPRESSED"] = _read(cells, regions, reading, "suppress=", e164=cells.name == "to")
    if exclude is not None:
        source = as_pandas(exclude)
        reached = None if isinstance(source, pd.DataFrame | pd.Series) else getattr(source, "reached", None)
        if isinstance(reached, pd.Series):
            numbers["EXCLUDED"] = reached.dropna().astype(STR)
        else:
            cells, regions = _columns(source, ("to", reading.to, "phone"), reading, "exclude=")
            numbers["EXCLUDED"] = _read(cells, regions, reading, "exclude=", e164=True)
    return numbers


def _read(
    numbers: pd.Series[Any], regions: pd.Series[Any] | None, reading: Reading, name: str, *, e164: bool
) -> pd.Series[str]:
    """Return the numbers of a list in E.164; if they may be ``e164`` without the plus, both readings of each.

    Leaving out one person too many is the smaller mistake: the other one texts somebody who is on the list.
    """
    # The old mobile 1 of Mexico is mended unasked: the phone that it rang is the one to leave out.
    repair = tuple(dict.fromkeys((*reading.repair, "mx_1")))
    found = phones.normalize(numbers, region=regions, default_region=reading.default_region, repair=repair)
    to, problem = [found["to"]], found["problem"]
    if e164:
        international = phones.normalize(_with_plus(numbers), repair=("mx_1",))
        to.append(international["to"])
        problem = problem.mask(international["to"].notna(), None)
    # A blank entry is none, and a number of a kind that is never texted needs no suppression.
    unread = (problem.notna() & ~problem.isin(["MISSING", "TYPE_NOT_ALLOWED"])).to_numpy()
    if unread.any() and not reading.ignore_unreadable:
        raise _unreadable(numbers[unread], problem[unread], name)
    distinct: pd.Series[str] = pd.concat(to).dropna().drop_duplicates()
    return distinct


def _with_plus(numbers: pd.Series[Any]) -> pd.Series[str]:
    """Return numbers that look like E.164 without its plus with a plus; all others are missing."""
    digits = texts(numbers).str.strip().str.extract(f"^{_WITHOUT_PLUS.pattern}$", expand=False)
    return "+" + digits


def _columns(
    source: Any, names: Sequence[str], reading: Reading, argument: str
) -> tuple[pd.Series[Any], pd.Series[Any] | None]:
    source = usable(source, argument)
    if isinstance(source, (str, Path)):
        source = recipients.read_recipients(source)
    if isinstance(source, pd.DataFrame):
        name = _phone_column(source, names, reading, argument)
        beside = None if reading.region is None else _named(source, (reading.region,))
        regions = None if beside is None else source[beside]
        return (_with_header(source[name]) if len(source.columns) == 1 else source[name]), regions
    if isinstance(source, pd.Series):
        return source, None
    return pd.Series(source, dtype=object), None


def usable(source: Any, argument: str) -> pd.DataFrame | pd.Series[Any] | str | Path | list[Any]:
    """Return a source that can be read, also more than once: a path with a file, a frame, a Series or a list.

    Raises:
        UsageError: it is none of them.
    """
    source = as_pandas(source)
    if isinstance(source, (str, Path)):
        _check_path(source, argument)
        return source
    if isinstance(source, pd.DataFrame | pd.Series):
        return source
    if isinstance(source, Mapping | bytes) or not isinstance(source, Iterable):
        also = "a campaign of the ledger, " if argument == "exclude=" else ""
        raise UsageError(f"{argument} must be {also}a list, Series, frame or path, got {given(source)}")
    return list(source)


def _check_path(path: str | Path, argument: str) -> None:
    if not Path(path).expanduser().is_file():
        shown = given(str(path)) if isinstance(path, str) else repr(str(path))
        campaign = "; a campaign is record(name)" if argument == "exclude=" else ""
        raise UsageError(f"{argument}{shown} not found; pass the path of a file, or a list of numbers{campaign}")


def _phone_column(frame: pd.DataFrame, names: Sequence[str], reading: Reading, argument: str) -> Any:
    named = _named(frame, names)
    if named is not None:
        return named
    if len(frame.columns) == 1:
        return frame.columns[0]
    columns = ", ".join(map(cited, frame.columns))
    wanted = f"{reading.to!r}, 'to' or 'phone'"
    raise UsageError(f"{argument} has no column {wanted} (columns: {columns}); pass the Series itself")


def _named(frame: pd.DataFrame, names: Sequence[Any]) -> Any:
    """Return the first of these columns the frame has: as written, else in other letters (``Phone``); None: none."""
    for name in names:
        if absent(name, frame.columns) is None:
            return name
    for name in names:
        found = [column for column in frame.columns if spelled(column).strip().casefold() == spelled(name).casefold()]
        if len(found) == 1:
            return found[0]
    return None


def _with_header(numbers: pd.Series[Any]) -> pd.Series[Any]:
    """Restore the first number of a file without a header, which was read as the name of a column."""
    header = spelled(numbers.name)
    if re.fullmatch(r"[+(]?[\d\s().-]{7,}", header) and holds_text(numbers):
        numbers = pd.Series([header, *numbers], dtype=STR)
    return numbers


def _shown(number: Any) -> str:
    text = spelled(number)
    return wire.mask(text) if sum(map(str.isdigit, text)) > 6 else cited(text)


def _unreadable(numbers: pd.Series[Any], problems: pd.Series[str], argument: str) -> UsageError:
    lines = tuple(
        f"entry {cited(label)}: {problem} ({_shown(number)})"
        for label, number, problem in zip(numbers.index, numbers, problems, strict=True)
    )
    more = f" and {len(lines) - _SHOWN} more (all of them in .problems)" if len(lines) > _SHOWN else ""
    return UsageError(
        f"{counted(len(lines), 'entry', 'entries')} of {argument} cannot be read, so these people could not be left "
        f"out: {'; '.join(lines[:_SHOWN])}{more}. Correct them, or pass ignore_unreadable_suppressions=True",
        problems=lines,
    )
