"""People who said no: a list in whatever form it comes, read to E.164 with the plan's own default region."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from .. import phones, recipients, templates, wire
from ..errors import UsageError

_SHOWN = 5
_PHONE_COLUMNS = ("to", "phone")


def read(
    source: Any,
    *,
    to: str,
    region: str | None,
    default_region: str | None,
    repair: Sequence[str],
    ignore_unreadable: bool,
) -> pd.Series[str]:
    """Return the suppressed numbers in E.164.

    ``source`` is a list, Series, frame or path. A frame's numbers stand in its column ``to`` (the recipients' name for
    it), else in ``to`` or ``phone``, else in its only one; its ``region`` column is used where it has it. Capitals in
    these names make no difference.

    Raises:
        UsageError: the column is not clear, or entries cannot be read; it lists them.
    """
    numbers, regions = _columns(source, to, region)
    found = phones.normalize(numbers, region=regions, default_region=default_region, repair=repair)
    # A blank entry is none, and a number of a kind that is never texted needs no suppression.
    unread = (found["to"].isna() & ~found["problem"].isin(["MISSING", "TYPE_NOT_ALLOWED"])).to_numpy()
    if unread.any() and not ignore_unreadable:
        raise _unreadable(numbers[unread], found.loc[unread, "problem"])
    return found["to"].dropna().drop_duplicates()


class Recorded(Protocol):
    """A campaign of the ledger, as far as a plan needs it: the numbers that it set out to text."""

    @property
    def numbers(self) -> pd.Series[Any]: ...


def recorded(source: Recorded | pd.DataFrame | pd.Series[Any]) -> pd.Series[str]:
    """Return the E.164 numbers of a recorded campaign, a frame's column ``to``, or a Series.

    Raises:
        UsageError: it is none of these.
    """
    if isinstance(source, pd.DataFrame) and "to" in source.columns:
        source = source["to"]
    found = source if isinstance(source, pd.Series) else getattr(source, "numbers", None)
    if not isinstance(found, pd.Series):
        raise UsageError(
            "exclude= must be a campaign of the ledger, a frame with a column 'to' or a Series of E.164 numbers, got "
            f"{type(source).__name__}"
        )
    return found.dropna().astype("str")


def _columns(source: Any, to: str, region: str | None) -> tuple[pd.Series[Any], pd.Series[Any] | None]:
    if isinstance(source, (str, Path)):
        source = _file(source)
    if isinstance(source, pd.DataFrame):
        name = _phone_column(source, to)
        beside = None if region is None else _named(source, (region,))
        regions = None if beside is None else source[beside]
        return (_with_header(source[name]) if len(source.columns) == 1 else source[name]), regions
    if isinstance(source, pd.Series):
        return source, None
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise UsageError(f"suppress= must be a list, Series, frame or path, got {type(source).__name__}")
    return pd.Series(list(source), dtype=object), None


def _file(path: str | Path) -> pd.DataFrame:
    if not Path(path).expanduser().is_file():
        raise UsageError(f"suppress={str(path)!r} is no file; give the path of one, or a list of numbers")
    return recipients.read_recipients(path)


def _phone_column(frame: pd.DataFrame, to: str) -> Any:
    named = _named(frame, (to, *_PHONE_COLUMNS))
    if named is not None:
        return named
    if len(frame.columns) == 1:
        return frame.columns[0]
    columns = ", ".join(repr(name) for name in frame.columns)
    raise UsageError(f"suppress= has no column {to!r}, 'to' or 'phone' (columns: {columns}); give the Series itself")


def _named(frame: pd.DataFrame, names: Sequence[Any]) -> Any:
    """Return the first of these columns the frame has: as written, else in other letters (``Phone``); None: none."""
    for name in names:
        if templates.no_column(name, frame) is None:
            return name
    for name in names:
        found = [column for column in frame.columns if str(column).strip().casefold() == str(name).casefold()]
        if len(found) == 1:
            return found[0]
    return None


def _with_header(numbers: pd.Series[Any]) -> pd.Series[Any]:
    """A bare list of numbers in a file has no header; its first number must not be lost as one."""
    if re.fullmatch(r"[+(]?[\d\s().-]{7,}", str(numbers.name)) and isinstance(numbers.dtype, pd.StringDtype):
        return pd.Series([str(numbers.name), *numbers], dtype="str")
    return numbers


def _shown(number: Any) -> str:
    text = str(number)
    return wire.mask(text) if sum(map(str.isdigit, text)) > 6 else repr(text)


def _unreadable(numbers: pd.Series[Any], problems: pd.Series[str]) -> UsageError:
    lines = tuple(
        f"entry {label!r}: {problem} ({_shown(number)})"
        for label, number, problem in zip(numbers.index, numbers, problems, strict=True)
    )
    more = f" and {len(lines) - _SHOWN} more (all of them in .problems)" if len(lines) > _SHOWN else ""
    return UsageError(
        f"{len(lines)} entries of suppress= cannot be read, so these people could not be left out: "
        f"{'; '.join(lines[:_SHOWN])}{more}. Correct them, or pass ignore_unreadable_suppressions=True",
        problems=lines,
    )
