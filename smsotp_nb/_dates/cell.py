"""One cell as a date: its days by the order in which they can be read, its time, its minutes from UTC."""

from __future__ import annotations

import datetime as dt
import re
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from .._calling import given, not_flag
from .._pandas import is_missing
from .._showing import spelled

EXCEL: Final = "excel"
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
# French, Spanish, Italian, Portuguese and Dutch, with their abbreviations; no name means two months.
_OTHERS: Final = (
    ("janvier", "janv", "enero", "ene", "gennaio", "gen", "janeiro", "januari"),
    ("février", "févr", "fév", "fevrier", "fevr", "febrero", "febbraio", "fevereiro", "fev", "februari"),
    ("mars", "marzo", "março", "marco", "maart", "mrt"),
    ("avril", "avr", "abril", "abr", "aprile"),
    ("mayo", "maggio", "mag", "maio", "mei"),
    ("juin", "junio", "giugno", "giu", "junho"),
    ("juillet", "juil", "julio", "luglio", "lug", "julho"),
    ("août", "aout", "agosto", "ago", "augustus"),
    ("septembre", "septiembre", "settembre", "set", "setembro"),
    ("octobre", "octubre", "ottobre", "ott", "outubro", "out"),
    ("novembre", "noviembre", "novembro"),
    ("décembre", "déc", "decembre", "diciembre", "dicembre", "dic", "dezembro"),
)
_MONTHS: Final = {
    **{name.lower(): place + 1 for names in (_MONTH_NAMES, _GERMAN) for place, name in enumerate(names)},
    **{name[:3].lower(): place + 1 for names in (_MONTH_NAMES, _GERMAN) for place, name in enumerate(names)},
    **{name: place + 1 for place, names in enumerate(_OTHERS) for name in names},
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
_NUMBERS: Final = re.compile(r"(?P<one>\d{1,4}) ?(?P<sign>[./-]) ?(?P<two>\d{1,2}) ?(?P=sign) ?(?P<three>\d{1,4})")
_DAY_MONTH: Final = re.compile(
    r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|\.)?[ /-]?(?:de )?(?P<month>[^\W\d_]{3,10})\.?,?[ /-](?:de )?"
    r"(?P<year>\d{4}|\d{2})"
)
_MONTH_DAY: Final = re.compile(
    r"(?P<month>[^\W\d_]{3,9})\.?[ /-](?P<day>\d{1,2})(?:st|nd|rd|th)?(?:, ?| )(?P<year>\d{4})"
)
_YEAR_MONTH: Final = re.compile(r"(?P<year>\d{4})[ /-](?P<month>[^\W\d_]{3,9})\.?[ /-](?P<day>\d{1,2})")
_COMPACT: Final = re.compile(r"(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})")
_FORMS: Final = (_COMPACT, _NUMBERS, _DAY_MONTH, _MONTH_DAY, _YEAR_MONTH)
_MONTH_ONLY: Final = re.compile(r"\d{4}[./-]\d{1,2}|\d{1,2}[./-]\d{4}|[^\W\d_]{3,9}\.?[ /-](?:\d{2}|\d{4})|\d{4}")
_TIME: Final = re.compile(
    r"(\d{1,2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?)?(?: ?([ap])\.?m\.?)?(?: ?uhr)?"
    r" ?(z|utc|gmt|(?:utc|gmt)?[+-]\d{1,2}(?::?\d{2})?)?"
)
_BEFORE_TIME: Final = re.compile(r",? ?(?:t|um |at )?")
_NUMBER: Final = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:e[+-]?\d+)?")
_EXCEL_EPOCH: Final = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - a spreadsheet knows no zones


@dataclass(frozen=True, slots=True)
class Written:
    """How a person says that dates are written: the order of day and month, or a format of ``strptime``."""

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
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.13 warns of a format without a year
                whole = _by_strptime(_SAMPLE.strftime(self.format), self.format).date() == _SAMPLE.date()
        except ValueError:
            whole = False
        return None if whole else f"{said}, with day, month and year, got {self.format!r}"


class Parsed(NamedTuple):
    """A cell that is a date: its days by order (True: the day first; None: of any order), and its time."""

    shown: str
    sign: str  # between the numbers, where their order is not clear by itself
    days: dict[bool | None, dt.date]
    time: dt.time | None
    offset: int | None


def spelled_day(day: dt.date) -> str:
    """Return a day in words that have one reading."""
    return f"{day.day} {_MONTH_NAMES[day.month - 1]} {day.year}"


PASS: Final = "; pass "  # before what a caller may pass who has these arguments
_SHORT: Final = "two digits of the year"


def no_date(value: Any) -> str:
    return f"no date: {given(value)}"


def of_value(cell: Any, written: Written) -> Parsed | str | None:
    """Read a cell that is no plain text; None where it is blank."""
    if is_missing(cell):
        return None
    if isinstance(cell, str):
        return of_text(str.__str__(cell), written)
    if hasattr(cell, "as_py"):  # of Arrow
        return of_value(cell.as_py(), written)
    if isinstance(cell, np.datetime64):
        cell = pd.Timestamp(cell)
    if isinstance(cell, dt.datetime):
        return _of_moment(cell.to_pydatetime(warn=False) if isinstance(cell, pd.Timestamp) else cell)
    if isinstance(cell, dt.date):
        return Parsed("", "", {None: cell}, None, None)
    if isinstance(cell, bool | np.bool_):
        return no_date(cell)
    text = spelled(cell)
    return _number(text, written) if _NUMBER.fullmatch(text) else no_date(cell)


def _of_moment(found: dt.datetime, *, clock: bool = True) -> Parsed:
    offset = found.utcoffset()
    minutes = None if offset is None else round(offset.total_seconds() / 60)
    return Parsed("", "", {None: found.date()}, found.time().replace(fold=0) if clock else None, minutes)


def of_text(text: str, written: Written) -> Parsed | str | None:
    """Read a text, as the caller says that it is written; None where it is blank."""
    if not written.format:
        return _parsed(text)
    text = text.strip()
    if not text:
        return None
    if written.format == EXCEL:
        return _number(text, written) if _NUMBER.fullmatch(text) else _parsed(text)
    return _by_format(text, written.format)


def _by_format(text: str, form: str) -> Parsed | str:
    try:
        found = _by_strptime(text, form)
    except ValueError:
        return f"{no_date(text)} by format={form!r}"
    return _of_moment(found, clock=any(code in form for code in ("%H", "%I", "%X", "%c", "%T", "%R")))


def _by_strptime(text: str, form: str) -> dt.datetime:
    return dt.datetime.strptime(text, form)  # noqa: DTZ007 - the zone, where it is written, is read as well


def _number(text: str, written: Written) -> Parsed | str:
    """Read the number of a spreadsheet where the caller says that it is one; else say what it could mean."""
    if written.format and written.format != EXCEL:
        return _by_format(text.removesuffix(".0"), written.format)
    number = float(text.replace(",", "."))
    in_excel = 61 <= number < 2_958_466  # before that, a spreadsheet knows a 29 February 1900
    day = _EXCEL_EPOCH + dt.timedelta(milliseconds=round(number * 86_400_000)) if in_excel else _EXCEL_EPOCH
    if written.format == EXCEL:
        if not in_excel:
            return "a number that is no day of a spreadsheet"
        return Parsed("", "", {None: day.date()}, None if number.is_integer() else day.time(), None)
    digits = re.split("[.,]", text)[0]
    if compact := _COMPACT.fullmatch(digits):
        ymd = _date(*map(int, compact.groups()))
        return f"a number; it may be {spelled_day(ymd)}{PASS}format='%Y%m%d'" if ymd else "a number"
    if in_excel and 20_000 <= number < 80_000:
        return f"a number; if a spreadsheet counts days so, it is {spelled_day(day.date())}{PASS}format='excel'"
    if len(digits) in _EPOCHS:
        unit, words = _EPOCHS[len(digits)]
        call = f"pd.to_datetime(pd.to_numeric(column), unit={unit!r})"
        return f"a number; if it counts {words} since 1970, make it a time by {call}"
    return "a number"


def _parsed(text: str) -> Parsed | str | None:
    """Read a text; None where it is blank."""
    shown = text.strip()
    plain = " ".join(shown.replace("\u00a0", " ").replace("\u202f", " ").split()).lower()
    if not plain:
        return None
    if len(plain) > _LONGEST:
        return no_date(text)
    if _NUMBER.fullmatch(plain) and not _COMPACT.fullmatch(plain[:8]):
        return _number(plain, Written())
    rest, weekday = plain, None
    if (found := _WEEKDAY.match(plain)) and found[1] in _WEEKDAYS and found[1] not in _MONTHS:
        rest, weekday = plain[found.end() :], _WEEKDAYS[found[1]]
    for pattern in _FORMS:
        if (found := pattern.match(rest)) and (clock := _clock(rest[found.end() :])) is not None:
            sign, days = _days(found)
            days = {order: day for order, day in days.items() if weekday in (None, day.weekday())}
            if not days and (month := found.groupdict().get("month", "")).isalpha() and month not in _MONTHS:
                return f"{no_date(shown)}, whose month is in no language that is read"
            if not days:
                return f"a date that there is not: {given(shown)}"
            if len({*days.values()}) == 1 and (len(days) > 1 or weekday is not None or sign == _SHORT):
                sign, days = "", {None: next(iter(days.values()))}
            return Parsed(shown, sign, days, *clock)
    if _MONTH_ONLY.fullmatch(rest):
        return f"no day: {given(shown)} names a month or a year"
    return no_date(text)


def _date(year: int, month: int, day: int) -> dt.date | None:
    try:
        return dt.date(year, month, day)
    except ValueError:
        return None


def _year(digits: str) -> int:
    number = int(digits)
    return number if len(digits) > 2 else number + (2000 if number < _CENTURY else 1900)


Days = tuple[str, dict[bool | None, dt.date]]


def _days(found: re.Match[str]) -> Days:
    """Return the days that a form may mean, and the sign between its numbers where their order is not clear."""
    parts = found.groupdict()
    if "one" in parts:
        return _of_numbers(**parts)
    month = parts["month"]
    number = int(month) if month.isdigit() else _MONTHS.get(month, 0)
    return _known("", {None: _date(_year(parts["year"]), number, int(parts["day"]))})


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
        return _known(sign, days)
    return _known(_SHORT, days | {None: _date(_year(one), int(two), int(three))})


@lru_cache(maxsize=100_000)
def _clock(text: str) -> tuple[dt.time | None, int | None] | None:
    """Return time and minutes from UTC of what stands behind a day; None where it is no time."""
    if not text.strip(" ,"):
        return None, None
    rest = _BEFORE_TIME.sub("", text, count=1)
    begins = text[: len(text) - len(rest)]
    found = _TIME.fullmatch(rest)
    if not found or (not begins and len(text) not in (4, 6)):  # 20261003140500
        return None
    hour, minute, second, fraction, half, zone = found.groups()
    if minute is None and half is None and "t" not in begins:
        return None
    if half is not None and not 1 <= int(hour) <= 12:
        return None
    hours = int(hour) if half is None else int(hour) % 12 + 12 * (half == "p")
    try:
        time = dt.time(hours, int(minute or 0), int(second or 0), int((fraction or "0")[:6].ljust(6, "0")))
    except ValueError:
        return None
    minutes = None if zone is None else minutes_of(zone)
    return None if zone is not None and minutes is None else (time, minutes)


def clock(text: str) -> dt.time | None:
    """Return the time of a text that has no day and no zone; None of others.

    Example:
        >>> [str(clock(text)) for text in ("18:30", "6:30 PM", "7 Uhr", "18:30Z", "18", "1830", "2026-10-03 18:30")]
        ['18:30:00', '18:30:00', 'None', 'None', 'None', 'None', 'None']
    """
    found = None if _NUMBER.fullmatch(text := text.strip().lower()) else _clock(f" {text}")
    return found[0] if found and found[1] is None else None


def minutes_of(zone: str) -> int | None:
    """Return the minutes east of UTC of Z, UTC, or an offset; None where there is no such zone."""
    digits = re.sub(r"[^0-9]", "", zone)
    if not digits:
        return 0
    hours, minutes = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
    if minutes > 59 or hours > 18:
        return None
    return (-1 if "-" in zone else 1) * (hours * 60 + minutes)
