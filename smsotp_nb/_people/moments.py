"""When something was said, read against texting: an opt-out at its latest moment, an opt-in at its earliest.

A day without an hour is unclear, and so is an hour that autumn repeats or spring leaves out.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from .. import _dates as dates
from .._moments import microseconds
from ..errors import UsageError

_AHEAD: Final = timedelta(hours=1)  # by which the clock of who recorded an opt-out may be fast
_FIRST: Final = 1992  # the year of the first text message: an earlier one stands for no date
_DAY: Final = timedelta(days=1) - timedelta(microseconds=1)


class Moment(NamedTuple):
    """Microseconds since 1970, and minutes east of UTC where it was said; ``at`` None: as it is recorded."""

    at: int | None
    zone: int


NOW: Final = Moment(None, 0)


def of(found: dates.Dates, place: int, *, zone: str | None, opted_out: bool, now: datetime) -> Moment:
    """Return the moment that one cell means.

    Raises:
        ValueError: it is none, has no zone, or is in the future; says which.

    Example:
        >>> day = dates.one("at", "2026-11-12")
        >>> now = datetime(2026, 11, 12, 12, tzinfo=UTC)
        >>> last, first = (of(day, 0, zone="UTC", opted_out=out, now=now).at for out in (True, False))
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


def one(name: str, value: Any, *, opted_out: bool, now: datetime) -> Moment:
    """Read the moment that an argument gives; None is now."""
    if value is None:
        return NOW
    wanted = {"what": "a time in the past with its zone,", "example": "'2026-11-12 09:30+01:00'"}
    found = dates.one(name, value, **wanted)
    try:
        return of(found, 0, zone=None, opted_out=opted_out, now=now)
    except ValueError as wrong:
        raise UsageError(f"{name}= must be {wanted['what']} such as {wanted['example']}, got {wrong}") from None
