"""How fast a campaign may go: the caller's ceiling, and the pauses that the service asks for, shared by all threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from ..client import Gate
from ..errors import NotSent

DEFAULT_PAUSE = 1.0


class Pacer(Gate):
    """The gate of a campaign: recipients a second, a shared pause, and the way to stop.

    The rate is kept by the time at which the next recipient is due (GCRA), so a chunk of 100 at 50 a second holds the
    next one back for two seconds, whichever thread asks.

    Args:
        rate: recipients a second, or None for no ceiling.
        stop: set to make every waiting thread give up before it sends.
        clock: monotonic seconds, for tests.
    """

    def __init__(
        self, *, rate: float | None, stop: threading.Event, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(self._wait)
        self._rate, self._stop, self._clock = rate, stop, clock
        self._guard = threading.Lock()
        self._due = self._paused_until = clock()

    def before(self, recipients: int) -> None:
        """Return when these recipients may be posted.

        Raises:
            NotSent: the campaign was stopped first.
        """
        with self._guard:
            start = max(self._clock(), self._due, self._paused_until)
            self._due = start + (recipients / self._rate if self._rate else 0.0)
        while (left := max(start, self._paused_until) - self._clock()) > 0 and not self.stopped():
            self._wait(left)
        if self.stopped():
            raise NotSent("stopped before it was sent", phase="before")

    def throttled(self, seconds: float | None) -> None:
        """Hold all threads back for the pause that the service asked for."""
        pause = DEFAULT_PAUSE if seconds is None else seconds
        with self._guard:
            self._paused_until = max(self._paused_until, self._clock() + pause)

    def stopped(self) -> bool:
        return self._stop.is_set()

    def _wait(self, seconds: float) -> None:
        self._stop.wait(seconds)
