"""A column of dates, in which one cell may show how all are written; or the one date of an argument."""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from .._calling import given
from .._pandas import STR, holds_text
from .._showing import cited
from ..errors import UsageError
from .cell import PASS, Parsed, Written, minutes_of, no_date, of_text, of_value, spelled_day

_ISO: Final = (
    r"^\s*(?P<wall>\d{4}-\d{2}-\d{2}(?P<time>[T ]\d{2}(?::\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?)?)"
    r"(?P<zone> ?(?:Z|[+-]\d{2}(?::?\d{2})?))?\s*$"
)
_AS_TYPED: Final = re.compile(r"(?<!\d)\d{1,2} ?([./-]) ?\d{1,2} ?\1 ?\d{2,4}")  # no spreadsheet made it a date
_FIRST, _END = np.datetime64("0001-01-01"), np.datetime64("10000-01-01")
_NONE: Final = np.iinfo(np.int32).min  # minutes of a cell that names no zone


@dataclass(slots=True)
class Dates:
    """What the cells of a column say, by place.

    ``wall`` is what a clock showed (datetime64[us], NaT where a cell is blank or cannot be read), ``offset`` the
    minutes east of UTC where the cell names them (`zoned`); ``clock`` says whether it has a time of day. ``wrong`` says
    what is wrong with a cell; ``unclear`` is the complaint of a column that can be read in two ways. ``shown`` has, of
    cells of numbers with a sign between them, the sign and whether one shows that the day stands first.
    """

    wall: npt.NDArray[np.datetime64]
    offset: npt.NDArray[np.int32]
    clock: npt.NDArray[np.bool_]
    wrong: dict[int, str] = field(default_factory=dict)
    unclear: str = ""
    shown: dict[int, tuple[str, bool | None]] = field(default_factory=dict)

    @property
    def telling(self) -> list[int]:
        """The places of the first cell of each kind: what a column says of its order, these alone say, too."""
        plain = ~np.isnat(self.wall)
        plain[[*self.shown]] = False
        late = _day(self.wall) > 12
        first = {kind: place for place, kind in reversed(self.shown.items())}
        return [
            *np.flatnonzero(plain & late)[:1].tolist(),
            *np.flatnonzero(plain & ~late)[:1].tolist(),
            *first.values(),
        ]

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


def spanned(span: tuple[dt.date, dt.date] | None) -> str:
    """Return first and last day in words, so that a wrong order shows."""
    if span is None:
        return ""
    first, last = map(spelled_day, span)
    return f"of {first}" if first == last else f"from {first} to {last}"


def latest(wall: dt.datetime, offset: int | None, zone: zoneinfo.ZoneInfo | None) -> dt.datetime:
    """Return the latest moment that a wall clock may mean; in the hour that autumn repeats it is the second one."""
    return max(_moments(wall, offset, zone))


def earliest(wall: dt.datetime, offset: int | None, zone: zoneinfo.ZoneInfo | None) -> dt.datetime:
    """Return the earliest moment that a wall clock may mean."""
    return min(_moments(wall, offset, zone))


def _moments(wall: dt.datetime, offset: int | None, zone: zoneinfo.ZoneInfo | None) -> list[dt.datetime]:
    """Return both moments of a wall clock with fixed offsets: datetimes of one zone compare by their wall clock."""
    if offset is not None:
        return [wall.replace(tzinfo=dt.timezone(dt.timedelta(minutes=offset)))]
    local = (wall.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    return [wall.replace(tzinfo=dt.timezone(one.utcoffset() or dt.timedelta(0))) for one in local]


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
    found = read(pd.Series([value], dtype=object), scalar=True)
    if found.unclear:
        raise UsageError(f"{name}= {found.unclear}")
    if found.wrong or np.isnat(found.wall[0]):
        why = f" ({found.wrong[0]})" if 0 in found.wrong and found.wrong[0] != no_date(value) else ""
        raise UsageError(f"{name}= must be {what} such as {example}, got {given(value)}{why}")
    return found


def read(column: pd.Series, written: Written | None = None, *, by_argument: bool = True, scalar: bool = False) -> Dates:
    """Read a column of dates.

    Args:
        column: text, real times, or objects of both.
        written: how dates are written, if the caller says so.
        by_argument: the caller can say so by dayfirst= and format=; else the cells have to be written otherwise.
        scalar: the column is the value of an argument.

    Example:
        >>> found = read(pd.Series(["03/10/2026", "25/10/2026"]))
        >>> found.wall.astype("datetime64[D]").astype(str).tolist()
        ['2026-10-03', '2026-10-25']
        >>> print(read(pd.Series(["03/10/2026"])).unclear.partition("; ")[2])
        pass dayfirst=True if it is 3 October 2026, dayfirst=False if 10 March 2026
    """
    written = written or Written()
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if isinstance(column.dtype, pd.ArrowDtype) and pa.types.is_timestamp(column.dtype.pyarrow_dtype):
        zone = column.dtype.pyarrow_dtype.tz
        column = column.astype("datetime64[us]" if zone is None else pd.DatetimeTZDtype("us", zone))
    if column.dtype.kind == "M" and not isinstance(column.dtype, pd.ArrowDtype):
        return _of_times(column)
    found = _blank(len(column))
    texts = _texts(column)
    rest = np.arange(len(column)) if texts is None or written.format else _of_iso(texts, found)
    cells = (column if texts is None else texts).to_numpy(object)
    _of_cells([(int(place), cells[place]) for place in rest], found, column, written, (by_argument, scalar))
    return found


def days(column: pd.Series, where: str) -> pd.Series:
    """Return a column of days as datetime64[us]; blank cells are missing.

    Raises:
        UsageError: a cell is no day, or can be read in two ways.
    """
    found = read(column, by_argument=False)
    if found.unclear:
        raise UsageError(f"{where} has {found.unclear}")
    if found.wrong:
        place, why = next(iter(found.wrong.items()))
        raise UsageError(f"{where} must hold days such as 2026-10-03; row {cited(column.index[place])} has {why}")
    moments: pd.Series = pd.Series(found.wall, index=column.index, name=column.name).dt.as_unit("us")
    return moments


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
    strange = known & ~((found.wall >= _FIRST) & (found.wall < _END))
    found.wall = np.where(strange, np.datetime64("NaT"), found.wall)
    found.wrong |= {int(at): f"a year that no calendar shows: {column.iloc[at]}" for at in np.flatnonzero(strange)}
    return found


def _of_iso(texts: pd.Series, found: Dates) -> npt.NDArray[np.intp]:
    """Read what is plain ISO 8601, all at once; return the places of other cells."""
    cells = pa.array(texts, pa.large_string(), from_pandas=True)
    parts = pc.extract_regex(cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells, _ISO)
    wall, time, zone = (pc.struct_field(parts, name) for name in ("wall", "time", "zone"))
    times = pd.to_datetime(pd.Series(wall.to_pandas(), dtype=object), format="ISO8601", errors="coerce")
    clock = pc.fill_null(pc.greater(pc.binary_length(time), 0), False).to_numpy(zero_copy_only=False)
    zones = pc.dictionary_encode(pc.fill_null(zone, ""))
    minutes = [minutes_of(one.lower()) if one else _NONE for one in zones.dictionary.to_pylist()]
    offsets = pd.Series(minutes, dtype="float64").to_numpy()[zones.indices.to_numpy()]
    read = times.notna().to_numpy() & ~np.isnan(offsets) & (clock | (offsets == _NONE))
    found.wall[read] = times.to_numpy("datetime64[us]")[read]
    found.clock[read], found.offset[read] = clock[read], offsets[read]
    return np.flatnonzero(~read & texts.notna().to_numpy())


def _of_cells(
    cells: list[tuple[int, Any]], found: Dates, column: pd.Series, written: Written, said: tuple[bool, bool]
) -> None:
    """Read cells one by one; each text once."""
    known: dict[str, Parsed | str | None] = {}
    parsed: dict[int, Parsed] = {}
    for place, cell in cells:
        if type(cell) is not str:
            read = of_value(cell, written)
        elif cell in known:
            read = known[cell]
        else:
            read = known[cell] = of_text(cell, written)
        if isinstance(read, Parsed):
            parsed[place] = read
        elif read is not None:
            found.wrong[place] = read if said == (True, False) else read.partition(PASS)[0]
    orders = _orders(parsed, column, written, said)
    if isinstance(orders, str):
        found.unclear = orders
        return
    found.shown = {place: (one.sign, _proof(one)) for place, one in parsed.items() if one.sign}
    for place, one in parsed.items():
        if (day := one.days.get(orders[one.sign])) is None:
            order = "day" if orders[one.sign] else "month"
            found.wrong[place] = f"no date with the {order} first: {one.shown!r}"
            continue
        found.wall[place] = np.datetime64(dt.datetime.combine(day, one.time or dt.time()), "us")
        found.clock[place] = one.time is not None
        found.offset[place] = _NONE if one.offset is None else one.offset
    if written.dayfirst is None and any(first is not None for _, first in found.shown.values()):
        found.unclear = _half_converted(found, parsed, column)


def _day(wall: npt.NDArray[np.datetime64]) -> npt.NDArray[np.int64]:
    """Return the day of the month of moments; of none, it is none."""
    return np.asarray((wall.astype("datetime64[D]") - wall.astype("datetime64[M]")).astype(np.int64) + 1)


def _half_converted(found: Dates, parsed: dict[int, Parsed], column: pd.Series) -> str:
    """Return the complaint of a column as a spreadsheet of another country leaves it.

    It takes 03/10/2026 for 10 March, and 25/10/2026, which is no day to it, stays text.
    """
    plain = ~np.isnat(found.wall)
    plain[[place for place, one in parsed.items() if one.sign or _AS_TYPED.search(one.shown)]] = False
    day = _day(found.wall)
    plain &= day != found.wall.astype("datetime64[M]").astype(np.int64) % 12 + 1  # exchanged, it is the same day
    unproven = any(first is None for _, first in found.shown.values())
    if not plain.any() or (day[plain] > 12).any() or unproven:
        return ""
    first = int(np.flatnonzero(plain)[0])
    text = next(place for place, one in parsed.items() if one.sign)
    return (
        f"dates of two kinds: {str(found.wall[first])[:10]!r}{_in_row(column, first)} and {parsed[text].shown!r}"
        f"{_in_row(column, text)}. A spreadsheet that took only some of them for dates may have exchanged their day "
        "and month; write them all as 2026-10-03, from the file that it was given"
    )


def _orders(
    parsed: dict[int, Parsed], column: pd.Series, written: Written, said: tuple[bool, bool]
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


def _proof(cell: Parsed) -> bool | None:
    """Return the only order in which a cell is a date; None where both are, or both are the same day."""
    return next(iter(cell.days)) if len(cell.days) == 1 else None


def _two_ways(one: Parsed, where: str, by_argument: bool, scalar: bool) -> str:
    """Return the complaint of a cell that has several readings, each with how to say that it is meant."""
    readings: dict[dt.date, str] = {}
    for order, day in one.days.items():
        if scalar or not by_argument:
            time = "" if one.time is None else f" {one.time.isoformat('auto' if one.time.second else 'minutes')}"
            zone = "" if one.offset is None else str(dt.timezone(dt.timedelta(minutes=one.offset)))[3:] or "Z"
            readings.setdefault(day, repr(f"{day.isoformat()}{time}{zone}"))
        else:
            clock = "" if one.time is None else " %H:%M:%S" if one.time.second else " %H:%M"
            readings.setdefault(day, f"format='%y/%m/%d{clock}'" if order is None else f"dayfirst={order}")
    first, *others = [(how, spelled_day(day)) for day, how in readings.items()]
    ways = [f"{first[0]} if it is {first[1]}", *(f"{how} if {day}" for how, day in others)]
    begins = "can be read in two ways," if scalar else "dates that can be read in two ways, such as"
    how = "pass" if by_argument and not scalar else "write"
    return f"{begins} {one.shown!r}{'' if scalar else where}; {how} {', '.join(ways)}"


def _in_row(column: pd.Series, place: int) -> str:
    return f" in row {cited(column.index[place])}"
