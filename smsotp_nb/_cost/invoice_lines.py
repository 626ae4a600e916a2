"""The lines of a provider's invoice as a frame: whatever it calls its columns, and however it writes times."""

from __future__ import annotations

import warnings
from typing import Any, Final

import pandas as pd

from .._arguments import given
from .._cards import counted
from .._pandas import STR
from .._pandas import texts as texts_of
from .._visible import cited
from .._visible import label as called
from ..columns import absent, listed
from ..errors import SmsOtpWarning, UsageError

FIELDS: Final = ("id", "to", "at", "parts", "price", "currency")
_LEAST_DIGITS: Final = 5  # of a number
_MONTHS: Final = 12
_TOO_MUCH: Final = 1e9  # of a message: what is more is no price and no number of parts
_SHOWN: Final = 40  # characters of a cell
_THOUSANDS: Final = "[. '\u00a0\u2019\u202f]"  # the characters themselves: Arrow's expressions know no \u
_WITH_COMMA: Final = rf"^[+-]?(?:\d+|\d{{1,3}}(?:{_THOUSANDS}\d{{3}})+)(?:,\d+)?$"
_EXPECTED: Final = {
    "price": "a number such as 0.0075",
    "parts": "a whole number",
    "at": "a time such as 2026-11-23 14:05, or a day such as 2026-11-23,",
}
_SLASHED: Final = r"^(\d{1,2})[/.-](\d{1,2})[/.-]\d{4}"
_ZONED: Final = r"(?i)(?:Z|:\d\d(?:[.,]\d{1,9})? ?(?:[AP]M)? ?(?:UTC|GMT|[+-]\d\d(?::?\d\d)?))$"
_CLOCK: Final = r"(?i)\d:\d\d|\d ?[ap]\.?m\b|\dT\d"
_MIDNIGHT: Final = r"^[^:]*[ T]00:00(?::00(?:\.0+)?)?$"


def lines_of(frame: pd.DataFrame, names: dict[str, Any], tz: str, dayfirst: bool | None, decimal: str) -> pd.DataFrame:
    """Return the lines of an invoice in our columns; what cannot be read is missing, and a warning says so.

    ``dated`` (bool) says which lines have a day and no time: their ``at`` is the beginning of the day.
    """
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"invoice= must be a frame or the path of a file, got {given(frame)}")
    unknown = [name for name in names if name not in FIELDS]
    if unknown:
        raise UsageError(f"columns= names {given(unknown[0])}; it can name {', '.join(FIELDS)}")
    wanted = [name for name in FIELDS if name in names or name in frame.columns or name in ("price", "currency")]
    problems = [wrong for name in wanted if (wrong := absent(names.get(name, name), frame.columns, beside=False))]
    if not {"id"} <= {*wanted} and not {"to", "at"} <= {*wanted}:
        problems.append("neither a column 'id' nor both 'to' and 'at'; name them: columns={'id': \"...\"}")
    if problems:
        raise UsageError(f"invoice=: {'; '.join(problems)} {listed(frame.columns)}")
    empty = pd.Series(pd.NA, index=frame.index, dtype=STR)
    cells = {name: frame[names.get(name, name)] if name in wanted else empty for name in FIELDS}
    texts = {name: texts_of(column).str.strip() for name, column in cells.items()}
    lines = pd.DataFrame(
        {
            "id": texts["id"],
            "to": _numbers(texts["to"]),
            "at": _times(cells["at"], tz, dayfirst),
            "parts": _amounts(cells["parts"], decimal).round().astype("Int64"),
            "price": _amounts(cells["price"], decimal).round(6),
            "currency": texts["currency"].str.upper(),
            "dated": _dated(texts["at"]),
        }
    )
    for name in _EXPECTED:
        _warn_of_unreadable(name, texts[name], lines[name], decimal)
    return lines


def _amounts(cells: pd.Series, decimal: str) -> pd.Series:
    """Return numbers; those of a text have this decimal sign, and with a comma their thousands may be apart."""
    texts = texts_of(cells).str.strip()
    if decimal == ",":
        whole = texts.where(texts.str.contains(_WITH_COMMA, regex=True, na=False))
        commas = whole.str.replace(_THOUSANDS, "", regex=True).str.replace(",", ".", regex=False)
        numbers = cells.map(lambda cell: not isinstance(cell, str)).astype("bool")
        texts = texts.where(numbers, commas)
    found = pd.to_numeric(texts, errors="coerce").astype("float64")
    return found.where(found.abs() < _TOO_MUCH)


def _warn_of_unreadable(name: str, texts: pd.Series, read: pd.Series, decimal: str) -> None:
    """Warn of cells that say something that cannot be read; an empty cell is no such."""
    wrong = texts[texts.fillna("").ne("").to_numpy(dtype=bool) & read.isna().to_numpy(dtype=bool)]
    if wrong.empty:
        return
    cell = wrong.iloc[0]
    shown = given(cell) if name != "at" else repr(cell[:_SHOWN])
    rows = ", ".join(called(label) for label in wrong.index[:3]) + ", ..." * (len(wrong) > 3)
    comma = "," in cell and name != "at" and decimal == "."
    next_step = (
        "pass decimal=',' if the comma is the decimal sign"
        if comma
        else "correct the invoice; in .lines they are missing"
    )
    expected = _EXPECTED[name] if decimal == "." or name == "at" else _EXPECTED[name].replace(".", ",")
    warnings.warn(
        f"column {cited(texts.name)} of the invoice: {counted(len(wrong), 'cell')} of {len(texts)} cannot be read, "
        f"such as {shown} (rows {rows}); {expected} is expected; {next_step}",
        SmsOtpWarning,
        stacklevel=4,
    )


def _numbers(texts: pd.Series) -> pd.Series:
    """Return numbers as E.164: an invoice may leave out the plus, write 00, or hold them as floats."""
    whole = texts.str.replace(r"\.0$", "", regex=True)
    digits = whole.str.replace(r"\D", "", regex=True).str.replace("^00", "", regex=True)
    return ("+" + digits).where(digits.fillna("").str.len().ge(_LEAST_DIGITS))


def _times(column: pd.Series, tz: str, dayfirst: bool | None) -> pd.Series:
    texts = texts_of(column).str.strip()
    first = _day_first(texts) if dayfirst is None else bool(dayfirst)
    zoned = texts.str.contains(_ZONED, regex=True, na=False)
    aware = pd.to_datetime(texts.where(zoned), errors="coerce", format="mixed", utc=True, dayfirst=first)
    naive = pd.to_datetime(texts.where(~zoned), errors="coerce", format="mixed", utc=True, dayfirst=first)
    naive = naive.dt.tz_localize(None)
    here = naive.dt.tz_localize(tz, ambiguous="NaT", nonexistent="shift_forward").dt.tz_convert("UTC")
    return aware.fillna(here).dt.as_unit("us")


def _day_first(texts: pd.Series) -> bool:
    """Return whether dates such as 13/11/2026 begin with their day: some line tells, by a number above 12.

    Raises:
        UsageError: no line tells, or they tell different things.
    """
    numbers = texts.str.extract(_SLASHED).dropna().astype("int64")
    unequal = numbers[numbers[0] != numbers[1]]
    days, months = bool((numbers[0] > _MONTHS).any()), bool((numbers[1] > _MONTHS).any())
    if len(unequal) and days == months:
        label = unequal.index[0]
        raise UsageError(
            f"column {cited(texts.name)} of the invoice has dates that can be read in two ways, such as "
            f"{texts.loc[label]!r} in row {cited(label)}; pass dayfirst=True if it begins with the day, "
            "dayfirst=False if with the month"
        )
    return days


def _dated(texts: pd.Series) -> pd.Series:
    """Say which lines have a day and no time; midnight is no time where all lines have it, as dates of a sheet do."""
    clock = texts.str.contains(_CLOCK, regex=True, na=False).astype("bool")
    midnight = texts.str.contains(_MIDNIGHT, regex=True, na=False).astype("bool")
    return texts.notna() & (~clock | (midnight & bool((midnight | ~clock).all())))
