"""Clocks: wherever ``now=`` is taken, it is a function that returns the present moment as an aware datetime."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

Now = Callable[[], datetime]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def utc_now() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)


def microseconds(moment: datetime) -> int:
    """Return a moment as microseconds since 1970, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(micros: int) -> datetime:
    """Return microseconds since 1970 as a moment, aware, in UTC."""
    return _EPOCH + timedelta(microseconds=micros)


def said(micros: int) -> str:
    """Return microseconds since 1970 in words, to the second."""
    return f"{datetime.fromtimestamp(micros // 1_000_000, UTC):%Y-%m-%d %H:%M:%S} UTC"
