"""The lines of a provider's invoice as a frame: whatever it calls its columns, and however it writes times."""

from __future__ import annotations

import warnings
from typing import Any, Final

import numpy as np
import pandas as pd

from .. import _dates as dates
from .._calling import given
from .._cards import counted
from .._dates import Written
from .._pandas import STR
from .._pandas import texts as texts_of
from .._showing import cited
from .._showing import label as called
from ..columns import absent, listed
from ..errors import SmsOtpWarning, UsageError

FIELDS: Final = ("id", "to", "at", "parts", "price", "currency")
_LEAST_DIGITS: Final = 5  # of a number
_TOO_MUCH: Final = 1e9  # of a message: what is more is no price and no number of parts
_SHOWN: Final = 40  # characters of a cell
_THOUSANDS: Final = "[. '\u00a0\u2019\u202f]"  # the characters themselves: Arrow's expressions know no \u
_WITH_COMMA: Final = rf"^[+-]?(?:\d+|\d{{1,3}}(?:{_THOUSANDS}\d{{3}})+)(?:,\d+)?$"
_EXPECTED: Final = {
    "price": "a number such as 0.0075",
    "parts": "a whole number",
    "at": "a time such as 2026-11-23 14:05, or a day such as 2026-11-23,",
}


def lines_of(frame: pd.DataFrame, names: dict[str, Any], tz: str, written: Written, decimal: str) -> pd.DataFrame:
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
    at, dated, no_dates = _times(cells["at"], tz, written)
    lines = pd.DataFrame(
        {
            "id": texts["id"],
            "to": _numbers(texts["to"]),
            "at": at,
            "parts": _amounts(cells["parts"], decimal).round().astype("Int64"),
            "price": _amounts(cells["price"], decimal).round(6),
            "currency": texts["currency"].str.upper(),
            "dated": dated,
        }
    )
    for name in _EXPECTED:
        _warn_of_unreadable(name, texts[name], lines[name], decimal, no_dates)
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


def _warn_of_unreadable(name: str, texts: pd.Series, read: pd.Series, decimal: str, no_dates: dict[int, str]) -> None:
    """Warn of cells that say something that cannot be read; an empty cell is no such."""
    unread = texts.fillna("").ne("").to_numpy(dtype=bool) & read.isna().to_numpy(dtype=bool)
    wrong = texts[unread]
    if wrong.empty:
        return
    why = no_dates.get(int(np.flatnonzero(unread)[0]), "") if name == "at" else ""
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
        f"such as {shown} (rows {rows}){f', {why}' if why.startswith('a number;') else ''}; {expected} is expected; "
        f"{next_step}",
        SmsOtpWarning,
        stacklevel=4,
    )


def _numbers(texts: pd.Series) -> pd.Series:
    """Return numbers as E.164: an invoice may leave out the plus, write 00, or hold them as floats."""
    whole = texts.str.replace(r"\.0$", "", regex=True)
    digits = whole.str.replace(r"\D", "", regex=True).str.replace("^00", "", regex=True)
    return ("+" + digits).where(digits.fillna("").str.len().ge(_LEAST_DIGITS))


def _times(column: pd.Series, tz: str, written: Written) -> tuple[pd.Series, pd.Series, dict[int, str]]:
    """Return the times, which of them are days without a time, and what is wrong with others, by place.

    Midnight is no time where all lines have it, as dates of a sheet do.
    """
    found = dates.read(column, written)
    if found.unclear:
        raise UsageError(f"column {cited(column.name)} of the invoice has {found.unclear}")
    known = ~np.isnat(found.wall)
    sheet = bool((found.midnight | ~found.clock)[known].all())
    dated = known & (~found.clock | (found.midnight & sheet))
    return found.utc(tz, column.index), pd.Series(dated, index=column.index), found.wrong
