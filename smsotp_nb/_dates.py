"""The one reader of dates that people write: ISO 8601, real times, names of months, and days by their order.

Nothing is guessed. A cell is read where it has one reading; where the order of day and month cannot be known, the
column is refused with both readings of a cell. A number is no date: spreadsheets count days, programs count seconds.
An hour in which clocks are changed may be two moments: `earliest` and `latest` give both.
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ._calling import given, not_flag
from ._pandas import STR, holds_text, is_missing
from ._showing import cited, spelled
from .errors import UsageError

EXCEL: Final = "excel"
_ISO: Final = (
    r"^\s*(?P<wall>\d{4}-\d{2}-\d{2}(?P<time>[T ]\d{2}(?::\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?)?)"
    r"(?P<zone> ?(?:Z|[+-]\d{2}(?::?\d{2})?))?\s*$"
)
_NONE: Final = np.iinfo(np.int32).min  # minutes of a cell that names no zone
_CENTURY: Final = 69  # two digits of a year from here on are of the twentieth, as strptime has it
_SAMPLE: Final = dt.datetime(2026, 10, 3, tzinfo=dt.UTC)
_LONGEST: Final = 60  # characters of a cell
_EPOCHS: Final = {
    10: ("s", "seconds"), 13: ("ms", "milliseconds"), 16: ("us", "microseconds"), 19: ("ns", "nanoseconds"),
}  # fmt: skip

_MONTH_NAMES: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_GERMAN: Final = (
    *("januar", "februar", "märz", "april", "mai", "juni"),
    *("juli", "august", "september", "oktober", "november", "dezember"),
)
_MONTHS: Final = {
    **{name.lower(): place + 1 for names in (_MONTH_NAMES, _GERMAN) for place, name in enumerate(names)},
    **{name[:3].lower(): place + 1 for names in (_MONTH_NAMES, _GERMAN) for place, name in enumerate(names)},
    "sept": 9, "jänner": 1, "jän": 1, "maerz": 3, "mrz": 3,
}  # fmt: skip
_WEEK: Final = (
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"),
)
_WEEKDAYS: Final = {
    **{name: place for names in _WEEK for place, name in enumerate(names)},
    **{name[:3]: place for place, name in enumerate(_WEEK[0])},
    **{name[:2]: place for place, name in enumerate(_WEEK[1])},
    "tues": 1, "thur": 3, "thurs": 3, "sonnabend": 5,
}  # fmt: skip
_WEEKDAY: Final = re.compile(r"([^\W\d_]{2,10})\.?,? ")
_NUMBERS: Final = re.compile(r"(\d{1,4}) ?([./-]) ?(\d{1,2}) ?\2 ?(\d{1,4})")
_DAY_MONTH: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)?[ /-]?([^\W\d_]{3,9})\.?,?[ /-](\d{4}|\d{2})")
_MONTH_DAY: Final = re.compile(r"([^\W\d_]{3,9})\.?[ /-](\d{1,2})(?:st|nd|rd|th)?(?:, ?| )(\d{4})")
_YEAR_MONTH: Final = re.compile(r"(\d{4})[ /-]([^\W\d_]{3,9})\.?[ /-](\d{1,2})")
_COMPACT: Final = re.compile(r"((?:19|20)\d{2})(\d{2})(\d{2})")
_MONTH_ONLY: Final = re.compile(r"\d{4}[./-]\d{1,2}|\d{1,2}[./-]\d{4}|[^\W\d_]{3,9}\.?[ /-](?:\d{2}|\d{4})|\d{4}")
_TIME: Final = re.compile(
    r"(\d{1,2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?)?(?: ?([ap])\.?m\.?)?(?: ?uhr)?"
    r" ?(z|utc|gmt|(?:utc|gmt)?[+-]\d{1,2}(?::?\d{2})?)?"
)
_NUMBER: Final = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:e[+-]?\d+)?")
_EXCEL_EPOCH: Final = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - a spreadsheet knows no zones


@dataclass(frozen=True, slots=True)
class Written:
    """How a person says that dates are written: the order of day and month, or a format of ``strptime``.

    Example:
        >>> read(pd.Series(["03/10/2026"]), Written(dayfirst=True)).span()[0].isoformat()
        '2026-10-03'
    """

    dayfirst: bool | None = None
    format: str | None = None

    def wrong(self) -> list[str | None]:
        """Complain of arguments that say nothing, or two things."""
        if self.format is not None and self.dayfirst is not None:
            return ["dayfirst= and format= both say how dates are written; pass one of them"]
        return [None if self.dayfirst is None else not_flag("dayfirst", self.dayfirst), self._wrong_format()]

    def _wrong_format(self) -> str | None:
        if self.format is None or self.format == EXCEL:
            return None
        said = "format= must be a format of days such as '%d/%m/%Y', or 'excel' for the numbers of a spreadsheet"
        if not isinstance(self.format, str) or "%Z" in self.format:
            return f"{said}, got {given(self.format)}"
        try:
            whole = _by_strptime(_SAMPLE.strftime(self.format), self.format).date() == _SAMPLE.date()
        except ValueError:
            whole = False
        return None if whole else f"{said}, with day, month and year, got {self.format!r}"


@dataclass(slots=True)
class Dates:
    """What the cells of a column say, by place.

    ``wall`` is what a clock showed (datetime64[us], NaT where a cell is blank or cannot be read), ``offset`` the
    minutes east of UTC where the cell names them (`zoned`); ``clock`` says whether it has a time of day. ``wrong`` says
    what is wrong with a cell; ``unclear`` is the complaint of a column that can be read in two ways.
    """

    wall: npt.NDArray[np.datetime64]
    offset: npt.NDArray[np.int32]
    clock: npt.NDArray[np.bool_]
    wrong: dict[int, str] = field(default_factory=dict)
    unclear: str = ""

    @property
    def zoned(self) -> npt.NDArray[np.bool_]:
        """Which cells name their zone."""
        return np.asarray(self.offset != _NONE)

    @property
    def midnight(self) -> npt.NDArray[np.bool_]:
        """Which cells are the first moment of a day: a date, or what a program made of one."""
        return np.asarray(self.wall == self.wall.astype("datetime64[D]"))

    def utc(self, tz: str, index: pd.Index, *, ambiguous: Any = "NaT", nonexistent: Any = "shift_forward") -> pd.Series:
        """Return the moments, datetime64[us, UTC]; times without a zone are those of ``tz``."""
        aware = self.wall - np.where(self.zoned, self.offset, 0).astype("timedelta64[m]")
        here = pd.Series(np.where(self.zoned, np.datetime64("NaT"), self.wall).astype("datetime64[us]"))
        local = here.dt.tz_localize(tz, ambiguous=ambiguous, nonexistent=nonexistent).dt.tz_convert("UTC")
        found = pd.Series(aware.astype("datetime64[us]")).dt.tz_localize("UTC")
        return found.where(self.zoned, local).dt.as_unit("us").set_axis(index)

    def span(self, rows: npt.NDArray[np.bool_] | None = None) -> tuple[dt.date, dt.date] | None:
        """Return the first day and the last one, of these rows or of all; None where there is none."""
        mine = self.wall if rows is None else self.wall[rows]
        known = mine[~np.isnat(mine)].astype("datetime64[D]")
        return (known.min().item(), known.max().item()) if len(known) else None


def spelled_day(day: dt.date) -> str:
    """Return a day in words that have one reading.

    Example:
        >>> spelled_day(dt.date(2026, 10, 3))
        '3 October 2026'
    """
    return f"{day.day} {_MONTH_NAMES[day.month - 1]} {day.year}"


def spanned(span: tuple[dt.date, dt.date] | None) -> str:
    """Return first and last day in words, so that a wrong order shows.

    Example:
        >>> spanned((dt.date(2026, 3, 10), dt.date(2026, 10, 25)))
        'from 10 March 2026 to 25 October 2026'
    """
    if span is None:
        return ""
    first, last = map(spelled_day, span)
    return f"of {first}" if first == last else f"from {first} to {last}"


def latest(wall: dt.datetime, offset: int | None, zone: zoneinfo.ZoneInfo | None) -> dt.datetime:
    """Return the latest moment that a wall clock may mean; in the hour that autumn repeats it is the second one."""
    return max(_moments(wall, offset, zone))


def earliest(wall: dt.datetime, offset: int | None, zone: zoneinfo.ZoneInfo | None) -> dt.datetime:
    """Return the earliest moment that a wall clock may mean.

    Example:
        >>> berlin = zoneinfo.ZoneInfo("Europe/Berlin")
        >>> repeated = dt.datetime(2026, 10, 25, 2, 30)
        >>> str(earliest(repeated, None, berlin)), str(latest(repeated, None, berlin))
        ('2026-10-25 02:30:00+02:00', '2026-10-25 02:30:00+01:00')
    """
    return min(_moments(wall, offset, zone))


def _moments(wall: dt.datetime, offset: int | None, zone: zoneinfo.ZoneInfo | None) -> list[dt.datetime]:
    """Return both moments of a wall clock with fixed offsets: datetimes of one zone compare by their wall clock."""
    if offset is not None:
        return [wall.replace(tzinfo=dt.timezone(dt.timedelta(minutes=offset)))]
    local = (wall.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    return [wall.replace(tzinfo=dt.timezone(one.utcoffset() or dt.timedelta(0))) for one in local]


# -- one value ---------------------------------------------------------------------------------------------------------


def one(name: str, value: Any, *, example: str = "'2026-11-01'", what: str = "a day or a time") -> Dates:
    """Read the date that an argument gives, as a column of one cell.

    Raises:
        UsageError: it is none, or can be read in two ways; says how to write it.

    Example:
        >>> str(one("since", "25/10/2026").wall[0])
        '2026-10-25T00:00:00.000000'
        >>> one("since", "03/10/2026")
        Traceback (most recent call last):
        smsotp_nb.errors.UsageError: since= can be read in two ways, '03/10/2026'; write '2026-10-03' if it is 3 October
        2026, '2026-03-10' if 10 March 2026
    """
    found = _read(pd.Series([value], dtype=object), Written(), scalar=True)
    if found.unclear:
        raise UsageError(f"{name}= {found.unclear}")
    if found.wrong or np.isnat(found.wall[0]):
        why = f" ({found.wrong[0]})" if 0 in found.wrong and found.wrong[0] != _no_date(value) else ""
        raise UsageError(f"{name}= must be {what} such as {example}, got {given(value)}{why}")
    return found


# -- a column ----------------------------------------------------------------------------------------------------------


def read(column: pd.Series, written: Written | None = None, *, by_argument: bool = True) -> Dates:
    """Read a column of dates.

    Args:
        column: text, real times, or objects of both.
        written: how dates are written, if the caller says so.
        by_argument: the caller can say so by dayfirst= and format=; else the cells have to be written otherwise.

    Example:
        >>> found = read(pd.Series(["03/10/2026", "25/10/2026"]))
        >>> found.wall.astype("datetime64[D]").astype(str).tolist()
        ['2026-10-03', '2026-10-25']
        >>> print(read(pd.Series(["03/10/2026"])).unclear.partition("; ")[2])
        pass dayfirst=True if it is 3 October 2026, dayfirst=False if 10 March 2026
    """
    return _read(column, written or Written(), by_argument=by_argument)


def days(column: pd.Series, where: str) -> pd.Series:
    """Return a column of days as datetime64[us]; blank cells are missing.

    Raises:
        UsageError: a cell is no day, or can be read in two ways.
    """
    found = _read(column, Written(), by_argument=False)
    if found.unclear:
        raise UsageError(f"{where} has {found.unclear}")
    if found.wrong:
        place, why = next(iter(found.wrong.items()))
        raise UsageError(f"{where} must hold days such as 2026-10-03; row {cited(column.index[place])} has {why}")
    read: pd.Series = pd.Series(found.wall, index=column.index, name=column.name).dt.as_unit("us")
    return read


def _read(column: pd.Series, written: Written, *, by_argument: bool = True, scalar: bool = False) -> Dates:
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if isinstance(column.dtype, pd.ArrowDtype) and pa.types.is_timestamp(column.dtype.pyarrow_dtype):
        zone = column.dtype.pyarrow_dtype.tz
        column = column.astype("datetime64[us]" if zone is None else f"datetime64[us, {zone}]")  # type: ignore[call-overload]
    if column.dtype.kind == "M" and not isinstance(column.dtype, pd.ArrowDtype):
        return _of_times(column)
    found = _blank(len(column))
    texts = _texts(column)
    rest = np.arange(len(column)) if texts is None or written.format else _of_iso(texts, found)
    cells = (column if texts is None else texts).to_numpy(object)
    _of_cells([(int(place), cells[place]) for place in rest], found, column, written, (by_argument, scalar))
    return found


def _blank(rows: int) -> Dates:
    return Dates(np.full(rows, "NaT", "datetime64[us]"), np.full(rows, _NONE, np.int32), np.zeros(rows, bool))


def _texts(column: pd.Series) -> pd.Series | None:
    """Return a column of text in our dtype; None where it holds anything else, or half a character."""
    try:
        return column.astype(STR) if len(column) and holds_text(column) else None
    except UnicodeEncodeError:
        return None


def _of_times(column: pd.Series) -> Dates:
    found = _blank(len(column))
    known = column.notna().to_numpy()
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        found.wall = column.dt.tz_localize(None).to_numpy("datetime64[us]")
        utc = column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy("datetime64[us]")
        found.offset[known] = (found.wall - utc)[known] // np.timedelta64(1, "m")
    else:
        found.wall = column.to_numpy("datetime64[us]")
    found.clock = known
    return found


def _of_iso(texts: pd.Series, found: Dates) -> npt.NDArray[np.intp]:
    """Read what is plain ISO 8601, all at once; return the places of other cells."""
    cells = pa.array(texts, pa.large_string(), from_pandas=True)
    parts = pc.extract_regex(cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells, _ISO)
    wall, time, zone = (pc.struct_field(parts, name) for name in ("wall", "time", "zone"))
    times = pd.to_datetime(pd.Series(wall.to_pandas(), dtype=object), format="ISO8601", errors="coerce")
    clock = pc.fill_null(pc.greater(pc.binary_length(time), 0), False).to_numpy(zero_copy_only=False)
    zones = pc.dictionary_encode(pc.fill_null(zone, ""))
    minutes = [_minutes(one.lower()) if one else _NONE for one in zones.dictionary.to_pylist()]
    offsets = pd.Series(minutes, dtype="float64").to_numpy()[zones.indices.to_numpy()]
    read = times.notna().to_numpy() & ~np.isnan(offsets) & (clock | (offsets == _NONE))
    found.wall[read] = times.to_numpy("datetime64[us]")[read]
    found.clock[read], found.offset[read] = clock[read], offsets[read]
    return np.flatnonzero(~read & texts.notna().to_numpy())


def _of_cells(
    cells: list[tuple[int, Any]], found: Dates, column: pd.Series, written: Written, said: tuple[bool, bool]
) -> None:
    """Read cells one by one; each text once."""
    known: dict[str, _Parsed | str | None] = {}
    parsed: dict[int, _Parsed] = {}
    for place, cell in cells:
        if type(cell) is not str:
            read = _of_value(cell, written)
        elif cell in known:
            read = known[cell]
        else:
            read = known[cell] = _of_text(cell, written)
        if isinstance(read, _Parsed):
            parsed[place] = read
        elif read is not None:
            found.wrong[place] = read if said == (True, False) else read.partition(_PASS)[0]
    orders = _orders(parsed, column, written, said)
    if isinstance(orders, str):
        found.unclear = orders
        return
    for place, one in parsed.items():
        if (day := one.days.get(orders[one.sign])) is None:
            order = "day" if orders[one.sign] else "month"
            found.wrong[place] = f"no date with the {order} first: {one.shown!r}"
            continue
        found.wall[place] = np.datetime64(dt.datetime.combine(day, one.time or dt.time()), "us")
        found.clock[place] = one.time is not None
        found.offset[place] = _NONE if one.offset is None else one.offset


class _Parsed(NamedTuple):
    """A cell that is a date: its days by order (True: the day first; None: of any order), and its time."""

    shown: str
    sign: str  # between the numbers, where their order is not clear by itself
    days: dict[bool | None, dt.date]
    time: dt.time | None
    offset: int | None


def _orders(
    parsed: dict[int, _Parsed], column: pd.Series, written: Written, said: tuple[bool, bool]
) -> dict[str, bool | None] | str:
    """Return for each sign between numbers whether the day stands first, or the complaint that this is not known."""
    orders: dict[str, bool | None] = {"": None}
    for sign in dict.fromkeys(one.sign for one in parsed.values() if one.sign):
        mine = {place: one for place, one in parsed.items() if one.sign == sign}
        proofs = {order: place for place, one in mine.items() if (order := _proof(one)) is not None}
        unclear = next((place for place, one in mine.items() if _proof(one) is None), None)
        if written.dayfirst is not None:
            orders[sign] = bool(written.dayfirst)
        elif len(proofs) == 2:
            day, month = (f"{mine[proofs[order]].shown!r}{_in_row(column, proofs[order])}" for order in (True, False))
            return (
                f"dates that are written in two ways: {day} begins with the day, {month} with the month; write them "
                "all as 2026-10-03"
            )
        elif proofs:
            orders[sign] = next(iter(proofs))
        elif sign == "." or unclear is None:
            orders[sign] = True  # D.M.Y: no country writes dots and the month first
        else:
            return _two_ways(mine[unclear], _in_row(column, unclear), *said)
    return orders


def _proof(cell: _Parsed) -> bool | None:
    """Return the only order in which a cell is a date; None where both are, or both are the same day."""
    return next(iter(cell.days)) if len(cell.days) == 1 else None


def _two_ways(one: _Parsed, where: str, by_argument: bool, scalar: bool) -> str:
    """Return the complaint of a cell that has several readings, each with how to say that it is meant."""
    readings: dict[dt.date, str] = {}
    for order, day in one.days.items():
        if scalar or not by_argument:
            readings.setdefault(day, repr(day.isoformat()))
        else:
            readings.setdefault(day, "format='%y/%m/%d'" if order is None else f"dayfirst={order}")
    first, *others = [(how, spelled_day(day)) for day, how in readings.items()]
    ways = [f"{first[0]} if it is {first[1]}", *(f"{how} if {day}" for how, day in others)]
    begins = "can be read in two ways," if scalar else "dates that can be read in two ways, such as"
    how = "pass" if by_argument and not scalar else "write"
    return f"{begins} {one.shown!r}{'' if scalar else where}; {how} {', '.join(ways)}"


def _in_row(column: pd.Series, place: int) -> str:
    return f" in row {cited(column.index[place])}"


# -- one cell ----------------------------------------------------------------------------------------------------------

_PASS: Final = "; pass "  # before what a caller may pass who has these arguments
_SHORT: Final = "two digits of the year"


def _no_date(value: Any) -> str:
    return f"no date: {given(value)}"


def _of_value(cell: Any, written: Written) -> _Parsed | str | None:
    """Read a cell that is no plain text; None where it is blank."""
    if is_missing(cell):
        return None
    if isinstance(cell, str):
        return _of_text(str.__str__(cell), written)
    if hasattr(cell, "as_py"):  # of Arrow
        return _of_value(cell.as_py(), written)
    if isinstance(cell, np.datetime64):
        cell = pd.Timestamp(cell)
    if isinstance(cell, dt.datetime):
        found = cell.to_pydatetime(warn=False) if isinstance(cell, pd.Timestamp) else cell
        offset = found.utcoffset()
        minutes = None if offset is None else round(offset.total_seconds() / 60)
        return _Parsed("", "", {None: found.date()}, found.time().replace(fold=0), minutes)
    if isinstance(cell, dt.date):
        return _Parsed("", "", {None: cell}, None, None)
    if isinstance(cell, bool | np.bool_):
        return _no_date(cell)
    text = spelled(cell)
    return _number(text, written) if _NUMBER.fullmatch(text) else _no_date(cell)


def _of_text(text: str, written: Written) -> _Parsed | str | None:
    return _by_format(text, written) if written.format else _parsed(text)


def _by_format(text: str, written: Written) -> _Parsed | str | None:
    """Read a text by a format of strptime, or the number of a spreadsheet."""
    text = text.strip()
    if not text:
        return None
    if written.format == EXCEL:
        return _number(text, written) if _NUMBER.fullmatch(text) else _parsed(text)
    assert written.format is not None
    try:
        found = _by_strptime(text, written.format)
    except ValueError:
        return f"{_no_date(text)} by format={written.format!r}"
    clock = any(code in written.format for code in ("%H", "%I", "%X", "%c", "%T", "%R"))
    offset = found.utcoffset()
    minutes = None if offset is None else round(offset.total_seconds() / 60)
    return _Parsed("", "", {None: found.date()}, found.time() if clock else None, minutes)


def _by_strptime(text: str, form: str) -> dt.datetime:
    return dt.datetime.strptime(text, form)  # noqa: DTZ007 - the zone, where it is written, is read as well


def _number(text: str, written: Written) -> _Parsed | str:
    """Read the number of a spreadsheet where the caller says that it is one; else say what it could mean."""
    if written.format and written.format != EXCEL:
        return _by_format(text.removesuffix(".0"), written) or _no_date(text)
    number = float(text.replace(",", "."))
    in_excel = 61 <= number < 2_958_466  # before that, a spreadsheet knows a 29 February 1900
    day = _EXCEL_EPOCH + dt.timedelta(milliseconds=round(number * 86_400_000)) if in_excel else _EXCEL_EPOCH
    if written.format == EXCEL:
        if not in_excel:
            return "a number that is no day of a spreadsheet"
        return _Parsed("", "", {None: day.date()}, None if number.is_integer() else day.time(), None)
    digits = re.split("[.,]", text)[0]
    if compact := _COMPACT.fullmatch(digits):
        ymd = _date(*map(int, compact.groups()))
        return f"a number; it may be {spelled_day(ymd)}{_PASS}format='%Y%m%d'" if ymd else "a number"
    if in_excel and 20_000 <= number < 80_000:
        return f"a number; if a spreadsheet counts days so, it is {spelled_day(day.date())}{_PASS}format='excel'"
    if len(digits) in _EPOCHS:
        unit, words = _EPOCHS[len(digits)]
        return f"a number; if it counts {words} since 1970, make it a time by pd.to_datetime(column, unit={unit!r})"
    return "a number"


def _parsed(text: str) -> _Parsed | str | None:
    """Read a text; None where it is blank."""
    shown = text.strip()
    plain = " ".join(shown.replace("\u00a0", " ").replace("\u202f", " ").split()).lower()
    if not plain:
        return None
    if len(plain) > _LONGEST:
        return _no_date(text)
    if _NUMBER.fullmatch(plain) and not _COMPACT.fullmatch(plain[:8]):
        return _number(plain, Written())
    rest, weekday = plain, None
    if (found := _WEEKDAY.match(plain)) and found[1] in _WEEKDAYS and found[1] not in _MONTHS:
        rest, weekday = plain[found.end() :], _WEEKDAYS[found[1]]
    for pattern, days_of in _FORMS:
        if (found := pattern.match(rest)) and (clock := _clock(rest[found.end() :])) is not None:
            sign, days = days_of(*found.groups())
            days = {order: day for order, day in days.items() if weekday in (None, day.weekday())}
            if not days:
                return f"a date that there is not: {given(shown)}"
            if len({*days.values()}) == 1 and (len(days) > 1 or weekday is not None or sign == _SHORT):
                sign, days = "", {None: next(iter(days.values()))}
            return _Parsed(shown, sign, days, *clock)
    if _MONTH_ONLY.fullmatch(rest):
        return f"no day: {given(shown)} names a month or a year"
    return _no_date(text)


def _date(year: int, month: int, day: int) -> dt.date | None:
    try:
        return dt.date(year, month, day)
    except ValueError:
        return None


def _year(digits: str) -> int:
    number = int(digits)
    return number if len(digits) > 2 else number + (2000 if number < _CENTURY else 1900)


Days = tuple[str, dict[bool | None, dt.date]]


def _known(sign: str, days: dict[bool | None, dt.date | None]) -> Days:
    return sign, {order: day for order, day in days.items() if day is not None}


def _of_numbers(one: str, sign: str, two: str, three: str) -> Days:
    if len(one) == 4 and len(three) <= 2:
        return _known("", {None: _date(int(one), int(two), int(three))})
    if len(one) > 2 or len(three) not in (2, 4):
        return _known("", {})
    year = _year(three)
    days: dict[bool | None, dt.date | None] = {
        True: _date(year, int(two), int(one)),
        False: _date(year, int(one), int(two)),
    }
    if len(three) == 4:
        return _known("." if sign == "." else "/", days)
    return _known(_SHORT, days | {None: _date(_year(one.zfill(2)), int(two), int(three))})


def _of_day_month(day: str, month: str, year: str) -> Days:
    return _known("", {None: _date(_year(year), _MONTHS.get(month, 0), int(day))})


def _of_month_day(month: str, day: str, year: str) -> Days:
    return _of_day_month(day, month, year)


def _of_year_month(year: str, month: str, day: str) -> Days:
    return _of_day_month(day, month, year)


def _of_compact(year: str, month: str, day: str) -> Days:
    return _known("", {None: _date(int(year), int(month), int(day))})


_FORMS: Final = (
    (_COMPACT, _of_compact),
    (_NUMBERS, _of_numbers),
    (_DAY_MONTH, _of_day_month),
    (_MONTH_DAY, _of_month_day),
    (_YEAR_MONTH, _of_year_month),
)


@lru_cache(maxsize=100_000)
def _clock(text: str) -> tuple[dt.time | None, int | None] | None:
    """Return time and minutes from UTC of what stands behind a day; None where it is no time."""
    if not text.strip(" ,"):
        return None, None
    begins = re.match(r",? ?(?:t|um |at )?", text)
    assert begins is not None
    found = _TIME.fullmatch(text[begins.end() :])
    if not found or (not begins[0] and len(text) not in (4, 6)):  # 20261003140500
        return None
    hour, minute, second, fraction, half, zone = found.groups()
    if minute is None and half is None and "t" not in begins[0]:
        return None
    if half is not None and not 1 <= int(hour) <= 12:
        return None
    hours = int(hour) if half is None else int(hour) % 12 + 12 * (half == "p")
    try:
        time = dt.time(hours, int(minute or 0), int(second or 0), int((fraction or "0")[:6].ljust(6, "0")))
    except ValueError:
        return None
    minutes = None if zone is None else _minutes(zone)
    return None if zone is not None and minutes is None else (time, minutes)


def _minutes(zone: str) -> int | None:
    """Return the minutes east of UTC of Z, UTC, or an offset; None where there is no such zone."""
    digits = re.sub(r"[^0-9]", "", zone)
    if not digits:
        return 0
    hours, minutes = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
    if minutes > 59 or hours > 18:
        return None
    return (-1 if "-" in zone else 1) * (hours * 60 + minutes)
