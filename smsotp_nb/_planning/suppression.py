"""Whom to leave out - people who said no, people of another campaign - from whatever form the list comes in."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import _wire as wire
from .. import phones, recipients
from .._calling import given
from .._cards import counted
from .._frames import as_pandas
from .._pandas import STR, holds_text
from .._phones import international, may_be_numbers, one_phone_digits, own_columns, said_no, warn_of_doubtful
from .._recipients import KEY, without_value
from .._results.contract import STATES
from .._showing import cited, spelled
from ..columns import absent
from ..errors import UsageError
from ..phones import NumberOptions

Ints = npt.NDArray[np.int64]
_SHOWN = 5
_NONE: pd.Series[Any] = pd.Series([], dtype=STR)
_REACHED = ("accepted", "in_doubt", "sending")
_SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx", ".xlsm", ".parquet", ".pq", ".gz", ".json")


@dataclass(frozen=True, slots=True)
class Numbers:
    """How the plan reads the numbers of its own recipients: the names of their columns and their countries'."""

    to: tuple[str, ...]
    region: str | None
    default_region: str | None
    reading: NumberOptions


@dataclass(frozen=True, slots=True)
class Suppression:
    """People to leave out: what their list is called, their problem, they themselves as `persons` has them, in order,
    how many entries were read, and how many could not be.
    """

    name: str
    problem: str
    people: Ints = field(repr=False)
    read: int
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class _Column:
    """Numbers of a list, and the countries by which each is read: all of these readings count.

    ``beside`` says that it stands beside the column of numbers proper, whose entries alone have to be readable;
    ``lost`` are cells of a workbook whose value the file does not have; ``sheet`` is another sheet it stands in.
    """

    cells: pd.Series[Any]
    countries: Sequence[pd.Series[Any] | None] = (None,)
    beside: bool = False
    lost: Sequence[str] = ()
    sheet: str | None = None


def left_out(exclude: Any, numbers: Numbers) -> list[Suppression]:
    """Return the lists to leave out: first of who said no, then of whom another campaign has.

    ``exclude`` is a list of numbers, a Series, a frame or a path; the record of a campaign, its result table or its
    plan, of which those count whom it may have reached or is about to; or a list of all these. A frame's numbers stand
    in its columns ``to`` (the recipients' names for them), else in ``to`` or ``phone``, else in its only one; other
    columns of phone numbers count, too. Its ``region`` column is used where it has it, else all of countries. Capitals
    in these names make no difference. Of a result table a number without a plus, as a spreadsheet or pandas makes it,
    is read as E.164, too.

    Raises:
        UsageError: the column is not clear, or entries cannot be read; it lists them. LedgerError: it was purged.
    """
    found: list[Suppression] = []
    for source in _sources(exclude):
        reached, name = _reached(source), _name(source)
        if reached is not None:
            found.append(Suppression(name, "EXCLUDED", np.unique(persons(reached)), len(reached)))
            continue
        table, more = usable(source), []
        if isinstance(table, str | Path):
            path = table
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".*there are rows in .* as well")  # they are read, too
                table = recipients.read_recipients(path, hidden=True)  # rows as the file shows them
            sheets = table.attrs[KEY].get("other_sheets", [])
            more = [recipients.read_recipients(path, sheet=sheet, hidden=True) for sheet in sheets]
        if isinstance(table, pd.DataFrame) and _is_result(table):
            cells = table.loc[table["status"].isin(_REACHED).to_numpy(), "to"]
            found.append(_read(name, "EXCLUDED", [_Column(cells)], numbers))
        else:
            columns = _columns(table, numbers) if len(table) or isinstance(source, str | Path) else [_Column(_NONE)]
            of_sheets = {str(one.attrs[KEY]["sheet"]): _of_sheet(one, numbers) for one in more}
            columns += [column for read in of_sheets.values() for column in read]
            sheets = [cited(sheet) for sheet, read in of_sheets.items() if read]
            name += f" (also {', '.join(sheets)})" if sheets else ""
            found.append(_read(name, "SUPPRESSED", columns, numbers))
    return sorted(found, key=lambda one: one.problem, reverse=True)


def table(left_out: Sequence[Suppression], matched: Sequence[int]) -> pd.DataFrame:
    """Return the lists as rows: ``list, problem`` (str), ``read, matched, unreadable`` (Int64)."""
    rows = [
        (one.name, one.problem, one.read, many, one.unreadable) for one, many in zip(left_out, matched, strict=True)
    ]
    kinds = {"list": STR, "problem": STR, "read": "Int64", "matched": "Int64", "unreadable": "Int64"}
    return pd.DataFrame(rows, columns=[*kinds]).astype(kinds)


def _name(source: Any) -> str:
    """Return what a list is called: its file, the campaign, else what kind of value it is."""
    if isinstance(source, str | Path):
        return Path(source).name
    campaign = getattr(source, "campaign", getattr(source, "name", None))  # of a plan, of a record
    if isinstance(campaign, str) and not isinstance(source, pd.DataFrame | pd.Series):
        return f"campaign {campaign!r}"
    if isinstance(source, pd.DataFrame | pd.Series) and KEY in source.attrs:
        return str(source.attrs[KEY]["file"])
    return f"a {type(source).__name__}" if isinstance(source, pd.DataFrame | pd.Series) else "a list of numbers"


def _sources(exclude: Any) -> list[Any]:
    """Return the lists that are given: one, or in a list of others each by itself."""
    exclude = as_pandas(exclude)
    if exclude is None:
        return []
    if isinstance(exclude, list | tuple) and not all(pd.api.types.is_scalar(one) for one in map(_number, exclude)):
        several = [one for one in exclude if not pd.api.types.is_scalar(_number(one))]
        alone = [one for one in exclude if pd.api.types.is_scalar(_number(one))]
        return [*several, *([alone] if alone else [])]
    return [exclude]


def _number(entry: Any) -> Any:
    """Return an entry of a list; the path of a file, which is text too, as a path."""
    if not isinstance(entry, str) or not re.search(r"[^\W\d_]|[\\/]", entry):
        return entry
    path = Path(entry).expanduser()
    with contextlib.suppress(OSError, ValueError):  # a text that can be no path
        if path.suffix.lower() in _SUFFIXES or path.is_file():
            return path
    return entry


def _reached(source: Any) -> pd.Series[str] | None:
    """Return whom a recorded campaign may have reached, or a plan is about to; None of anything else."""
    if hasattr(source, "_as_planned"):  # a plan
        rows: pd.DataFrame = source._as_planned
        return rows.loc[rows["status"].eq("planned").to_numpy(), "to"].astype(STR)
    reached = None if isinstance(source, pd.DataFrame | pd.Series) else getattr(source, "_reached", None)
    return reached.dropna().astype(STR) if isinstance(reached, pd.Series) else None


def _is_result(table: pd.DataFrame) -> bool:
    """Return whether a frame is a result table: each of its states is one of a row."""
    names = list(table.columns)
    alone = names.count("to") == names.count("status") == 1 and "campaign" in names
    return alone and bool(table["status"].isin(STATES).all())


def _read(name: str, why: str, columns: Sequence[_Column], numbers: Numbers) -> Suppression:
    """Read the columns of a list. Where they may be E.164 without the plus, both readings of each entry count, and so
    do those by countries beside them that the plan does not name.

    Leaving out one person too many is the smaller mistake: the other one texts somebody who is on the list.
    """
    reading, to, read, unreadable = numbers.reading.replace(test_numbers="note"), [], 0, 0
    told = (
        [] if len(columns) == 1 else [f"columns {', '.join(dict.fromkeys(cited(one.cells.name) for one in columns))}"]
    )
    for column in columns:
        cells, problem = column.cells, None
        for countries in column.countries:
            found = said_no(cells, region=countries, default_region=numbers.default_region, numbers=reading)
            said = found["problem"][~found.index.duplicated()].set_axis(cells.index)
            if problem is not None and countries is not None and not found["to"].dropna().isin(to[-1]).all():
                told.append(f"also by the countries in {cited(countries.name)}")
            problem = said if problem is None else problem.mask(said.isna(), None)
            to.append(found["to"])
        assert problem is not None
        if cells.name == "to" or column.beside or column.sheet:
            least = 7 if cells.name == "to" else 11
            with_plus = phones.normalize(international(cells, least=least), numbers=reading)
            to.append(with_plus["to"])
            problem = problem.mask(with_plus["to"].notna(), None)
        # A blank entry is none, and a number of a kind that is never texted needs no suppression.
        unread = (problem.notna() & ~problem.isin(["MISSING", "TYPE_NOT_ALLOWED"])).to_numpy()
        if (unread.any() or column.lost) and reading.unreadable == "refuse" and not column.beside:
            raise _unreadable(cells[unread], problem[unread], column.lost, column.sheet)
        read += int((~problem.isin(["MISSING"]).to_numpy() & ~unread).sum())
        unreadable += int(unread.sum()) + len(column.lost)
    name += f" ({'; '.join(dict.fromkeys(told))})" if told else ""
    return Suppression(name, why, np.unique(persons(pd.concat(to).dropna())), read, unreadable)


def persons(to: pd.Series[str]) -> Ints:
    """Return numbers as integers that are equal where they ring the same phone; 0 of what is missing."""
    return one_phone_digits(np.array(to.str[1:].astype("Int64").to_numpy("int64", na_value=0), np.int64))


def _columns(source: Any, numbers: Numbers) -> list[_Column]:
    """Return each column of numbers that a list has, with their countries: a no at one number is a no at all."""
    if isinstance(source, pd.Series):
        return [_Column(source)]
    if not isinstance(source, pd.DataFrame):
        return [_Column(pd.Series(source, dtype=object))]
    if len(source.columns) == 1:
        name = source.columns[0]
        return [_Column(_with_header(source[name]), lost=without_value(source, name))]
    beside = None if numbers.region is None else _named(source, (numbers.region,))
    own = own_columns(source, numbers.default_region, beside)
    names = _phone_columns(source, numbers, own.numbers)
    regions = [None, *(source[name] for name in own.countries)] if beside is None else [source[beside]]
    more = [name for name in own.numbers if name not in (*names, beside)]
    warn_of_doubtful({name: why for name, why in own.doubtful.items() if name not in names})
    return [_Column(source[name], regions, name in more, without_value(source, name)) for name in (*names, *more)]


def _of_sheet(frame: pd.DataFrame, numbers: Numbers) -> list[_Column]:
    """Return the columns of numbers of another sheet of the same workbook, which may also explain the list.

    Raises:
        UsageError: it has what may be numbers, and no column of numbers.
    """
    beside = None if numbers.region is None else _named(frame, (numbers.region,))
    own, sheet = own_columns(frame, numbers.default_region, beside), cited(frame.attrs[KEY]["sheet"])
    regions = [None, *(frame[name] for name in own.countries)] if beside is None else [frame[beside]]
    if not own.numbers and (found := may_be_numbers(frame)):
        raise UsageError(
            f"sheet {sheet} of exclude= has cells that may be numbers, in {', '.join(map(cited, found))}, and no "
            "column that reads as numbers: name default_region=, call their column 'phone', or pass the sheets that "
            "count, as read_recipients(path, sheet=...) reads them"
        )
    warn_of_doubtful(own.doubtful, f" of sheet {sheet}")
    lost = {name: without_value(frame, name) for name in own.numbers}
    return [_Column(frame[name], regions, at > 0, lost[name], sheet) for at, name in enumerate(own.numbers)]


def usable(source: Any) -> pd.DataFrame | pd.Series[Any] | str | Path | list[Any]:
    """Return a source that can be read, also more than once: a path with a file, a frame, a Series or a list.

    Raises:
        UsageError: it is none of them.
    """
    source = as_pandas(source)
    if isinstance(source, (str, Path)):
        if not Path(source).expanduser().is_file():
            shown = given(str(source)) if isinstance(source, str) else repr(str(source))
            raise UsageError(
                f"exclude={shown} not found; pass the path of a file, a list of numbers, or record(name), which is "
                "a campaign"
            )
        return source
    if isinstance(source, pd.DataFrame):
        named = [name for name in source.index.names if name is not None and name not in source.columns]
        return source.reset_index(named) if named else source  # the numbers may be the index
    if isinstance(source, pd.Series):
        return source
    if isinstance(source, Mapping | bytes) or not isinstance(source, Iterable):
        raise UsageError(
            f"exclude= must be numbers, a Series, frame or path, a result table, a plan, a record, or a list of "
            f"these, got {given(source)}"
        )
    return list(source)


def _phone_columns(frame: pd.DataFrame, numbers: Numbers, own: Sequence[Any]) -> list[Any]:
    """Return the columns of the numbers proper: those called as the recipients', else the first one that holds numbers.

    Raises:
        UsageError: no column does.
    """
    named = [name for own_name in numbers.to if (name := _named(frame, (own_name,))) is not None]
    other = None if named else _named(frame, ("to", "phone"))
    if named or other is not None or own:
        return named or ([other] if other is not None else list(own[:1]))
    columns = ", ".join(map(cited, frame.columns))
    wanted = " or ".join(map(repr, dict.fromkeys((*numbers.to, "to", "phone"))))
    raise UsageError(
        f"exclude= has no column {wanted}, and none that holds phone numbers (columns: {columns}); rename its column "
        "of the numbers, or pass it as a Series"
    )


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


def _unreadable(
    numbers: pd.Series[Any], problems: pd.Series[str], lost: Sequence[str], sheet: str | None
) -> UsageError:
    lines = (
        *(
            f"entry {cited(label)}: {problem} ({_shown(number)})"
            for label, number, problem in zip(numbers.index, numbers, problems, strict=True)
        ),
        *lost,
    )
    more = f" and {len(lines) - _SHOWN} more (all of them in .problems)" if len(lines) > _SHOWN else ""
    of_sheet = f" (sheet {sheet})" if sheet else ""
    name = (
        " name default_region=, or beside them a column of their countries," if "REGION_MISSING" in {*problems} else ""
    )
    return UsageError(
        f"{counted(len(lines), 'entry', 'entries')} of exclude={of_sheet} cannot be read, so these people could "
        f"not be left out: {'; '.join(lines[:_SHOWN])}{more}. Correct them,{name} or pass "
        "numbers=NumberOptions(unreadable='ignore')",
        problems=lines,
    )
