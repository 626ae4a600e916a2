"""When something was said: a moment with its zone, given as a datetime or as text."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pandas as pd

from .._arguments import given
from .._moments import microseconds
from ..errors import UsageError


class Moment(NamedTuple):
    """Microseconds since 1970, and minutes east of UTC where it was said."""

    at: int
    zone: int


def read(value: Any, *, zone: str | None, now: datetime) -> Moment:
    """Read one moment.

    Raises:
        ValueError: it is no moment, has no zone, or is in the future; says which.

    Example:
        >>> read("2026-11-12 09:30+01:00", zone=None, now=datetime(2026, 11, 13, tzinfo=UTC))
        Moment(at=1794472200000000, zone=60)
    """
    try:
        moment = pd.Timestamp(value).to_pydatetime(warn=False)
    except (ValueError, TypeError, OverflowError):
        moment = None
    if not isinstance(moment, datetime) or pd.isna(moment):
        raise ValueError(f"no time: {given(value)}")
    if moment.tzinfo is None:
        if zone is None:
            raise ValueError(f"a time without a zone: {moment}")
        moment = moment.replace(tzinfo=zoneinfo.ZoneInfo(zone))
    if moment > now:
        raise ValueError(f"in the future: {moment}")
    offset = moment.utcoffset()
    return Moment(microseconds(moment.astimezone(UTC)), 0 if offset is None else int(offset.total_seconds() // 60))


def one(name: str, value: Any, *, now: datetime) -> Moment:
    """Read the moment that an argument gives; None is now.

    Raises:
        UsageError: it is none.
    """
    if value is None:
        return read(now, zone=None, now=now)
    try:
        return read(value, zone=None, now=now)
    except ValueError as wrong:
        raise UsageError(
            f"{name} must be a time in the past with its zone, such as '2026-11-12 09:30+01:00', got {wrong}"
        ) from None
