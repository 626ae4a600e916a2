"""The sandbox's time: the machine's, unless a test has moved or stopped it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from ..errors import UsageError
from .state import State

LATEST: Final = 7_258_118_400_000_000  # the year 2200, in microseconds; further no test of a lifetime goes

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Clock:
    """A clock that can be moved and stopped; both are kept by the state.

    Args:
        state: where the offset and the moment of stopping are kept.
        base: the machine's clock, seconds since 1970.
    """

    def __init__(self, state: State, *, base: Callable[[], float] = time.time) -> None:
        self._state = state
        self._base = base
        self._offset: int = state.fact("clock_offset") or 0
        self._stopped: int | None = state.fact("clock_stopped")

    @property
    def stopped(self) -> bool:
        """Whether the clock is stopped."""
        return self._stopped is not None

    @property
    def offset(self) -> float:
        """Seconds it is ahead of the machine's clock."""
        return (self.now() - int(self._base() * 1_000_000)) / 1_000_000

    def now(self) -> int:
        """Return the sandbox's time in microseconds since 1970."""
        return int(self._base() * 1_000_000) + self._offset if self._stopped is None else self._stopped

    def set(self, micros: int) -> None:
        """Set it to a moment; it goes on from there, or stays there if it is stopped."""
        self._keep(micros - int(self._base() * 1_000_000), None if self._stopped is None else micros)

    def stop(self) -> None:
        """Stop it."""
        self._keep(self._offset, self.now())

    def go(self) -> None:
        """Start it again from where it was stopped."""
        now = self.now()
        self._keep(now - int(self._base() * 1_000_000), None)

    def reset(self) -> None:
        """Return to the machine's time."""
        self._keep(0, None)

    def told(self) -> dict[str, Any]:
        """Return what ``/clock.json`` says."""
        return {"now": moment(self.now()), "ahead": round(self.offset, 3), "stopped": self.stopped}

    def move(self, asked: Mapping[str, Any]) -> None:
        """Move, stop, start or reset it, as ``/clock.json`` takes it.

        Raises:
            UsageError: what is asked for cannot be done; nothing has changed.
        """
        if not asked or not set(asked) <= {"advance", "at", "stopped", "reset"}:
            raise UsageError(
                'send one or more of {"advance": seconds, "at": "2030-01-01T00:00:00Z", "stopped": true, "reset": true}'
            )
        target = self._target(asked)
        if asked.get("reset"):
            self.reset()
        if "stopped" in asked:
            (self.stop if asked["stopped"] else self.go)()
        if target is not None:
            self.set(target)

    def _target(self, asked: Mapping[str, Any]) -> int | None:
        """Return the moment asked for, in microseconds, read before anything is changed."""
        if not all(isinstance(asked.get(name, False), bool) for name in ("stopped", "reset")):
            raise UsageError("stopped and reset are true or false")
        try:
            target = micros(asked["at"]) if "at" in asked else None
            seconds = Decimal(str(asked.get("advance", 0)))
            near = abs(seconds) <= LATEST  # asked before it is made a number with as many digits
        except (ValueError, TypeError, AttributeError, ArithmeticError):
            raise UsageError("advance is a number of seconds, at a moment such as 2030-01-01T00:00:00Z") from None
        if near and "advance" in asked:
            target = (self.now() if target is None else target) + int(seconds * 1_000_000)
        if not near or (target is not None and not 0 <= target <= LATEST):
            raise UsageError("that is before 1970 or after 2200; the clock goes no further")
        return target

    def _keep(self, offset: int, stopped: int | None) -> None:
        with self._state.transaction():
            self._state.keep_fact("clock_offset", offset)
            self._state.keep_fact("clock_stopped", stopped)
        self._offset, self._stopped = offset, stopped


def moment(micros: int) -> str:
    """Return microseconds since 1970 as ISO 8601 in UTC.

    Example:
        >>> moment(0)
        '1970-01-01T00:00:00.000000Z'
    """
    return (_EPOCH + timedelta(microseconds=micros)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def micros(text: str) -> int:
    """Return an ISO 8601 moment as microseconds since 1970; without an offset it is UTC.

    Raises:
        ValueError: it is not a moment.

    Example:
        >>> micros("1970-01-01T00:00:01Z")
        1000000
    """
    found = datetime.fromisoformat(text)
    aware = found if found.tzinfo else found.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)
