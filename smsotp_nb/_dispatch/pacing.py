"""How fast a campaign may go: the caller's ceiling, pauses that the service asks for, requests under way at once."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

from .._client import Gate
from ..errors import NotSent

DEFAULT_PAUSE = 1.0  # seconds, where a throttled reply does not say
SLOWER, FASTER = 0.5, 0.05  # a throttled reply halves the speed; each second without one gives a twentieth back
SLOWEST = 1 / 64
SLICE = 0.1  # seconds
LOOK_AROUND = 0.1  # seconds between two looks whether the call has ended
AHEAD = 2.0  # seconds for which a claim may wait: a fifth of the time after which it is void
MOST_AHEAD = 32  # claims that wait for a slot
DEAF = sys.platform == "win32"  # where Ctrl-C does not end a wait


class Pacer(Gate):
    """The gate of a campaign: keeps it to so many recipients a second, shares pauses, and can stop it.

    The speed is kept by the time at which the next recipient is due (GCRA), so a chunk of 100 at 50 a second holds the
    next one back for two seconds, whichever thread asks. Throttling halves the speed and time gives it back, never
    above the caller's ceiling. Without a ceiling, the speed reached so far is halved and then grows without limit.

    Args:
        per_second: recipients a second, or None for no ceiling.
        stop: set to make every waiting thread give up before it sends.
        cancel: the caller's event that does the same; it is read, never set.
        clock: monotonic seconds, for tests.
    """

    def __init__(
        self,
        *,
        per_second: float | None,
        stop: threading.Event,
        cancel: threading.Event | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(self._wait)
        self._cancel = cancel
        self._ceiling, self._speed, self._stop, self._clock = per_second, per_second, stop, clock
        self._guard = threading.Lock()
        self._began = self._due = self._paused_until = self._slowed_at = clock()
        self._share = 1.0  # of the speed, at the latest throttling
        self._passed = 0

    @property
    def paced(self) -> bool:
        """Whether there is a speed to keep, so that the recipients of a request must be known before its turn."""
        return self._speed is not None

    def waits(self) -> bool:
        if not self.paced:  # a pause is never without a speed
            return False
        with self._guard:
            return max(self._due, self._paused_until) > self._clock()

    def paused(self) -> bool:
        """Return whether the service asked for a pause that has not ended."""
        with self._guard:
            return self._paused_until > self._clock()

    def before(self, recipients: int, stop: threading.Event | None = None) -> None:
        """Wait until these recipients may be posted, and return."""
        event, start = stop or self._stop, 0.0
        if recipients or self.paced:
            with self._guard:
                now = self._clock()
                start = max(now, self._due, self._paused_until)
                speed = self._speed_at(now)
                self._due = start + (recipients / speed if speed else 0.0)
                self._passed += recipients
        while (left := max(start, self._paused_until) - self._clock()) > 0 and not self._ended(event):
            self._wait(left, event)
        if self._ended(event):
            raise NotSent("stopped before it was sent", phase="before")

    def late(self, recipients: int) -> None:
        """Count recipients who were not known when their request's turn came; the next one waits for them too."""
        with self._guard:
            self._passed += recipients
            now = self._clock()
            speed = self._speed_at(now)
            if speed:
                self._due = max(self._due, now) + recipients / speed

    def throttled(self, seconds: float | None) -> None:
        """Hold all threads back for the pause that the service asked for, and go on more slowly."""
        pause = DEFAULT_PAUSE if seconds is None else seconds
        with self._guard:
            now = self._clock()
            if self._speed is None:
                self._speed = max(self._passed / max(now - self._began, 1.0), 1.0)
            if now >= self._paused_until:  # replies to requests of the same moment count once
                self._share = max(self._share_at(now) * SLOWER, SLOWEST)
            self._paused_until = self._slowed_at = max(self._paused_until, now + pause)

    def stopped(self) -> bool:
        return self._stop.is_set() or (self._cancel is not None and self._cancel.is_set())

    def _speed_at(self, now: float) -> float | None:
        return None if self._speed is None else self._speed * self._share_at(now)

    def _share_at(self, now: float) -> float:
        grown = self._share + FASTER * max(now - self._slowed_at, 0.0)
        return grown if self._ceiling is None else min(grown, 1.0)

    def _ended(self, event: threading.Event) -> bool:
        return event.is_set() or self.stopped()

    def _wait(self, seconds: float, event: threading.Event | None = None) -> None:
        """Wait in slices, so that the caller's event is noticed soon; the pacer's own stop ends the wait at once."""
        event = event or self._stop
        until = self._clock() + seconds
        while (left := until - self._clock()) > 0 and not self._ended(event):
            event.wait(min(left, SLICE) if self._cancel is not None or DEAF else left)


class Slots:
    """The right to have a request under way, taken when its claim is recorded and before its first byte."""

    def __init__(self, many: int) -> None:
        self._left = threading.Semaphore(many)

    def take(self, over: Callable[[], bool], *, seconds: float = float("inf")) -> bool:
        """Wait until a request may begin; return False if ``over`` says that none may, or after so many seconds."""
        while not over():
            if self._left.acquire(timeout=min(seconds, LOOK_AROUND)):
                if not over():
                    return True
                self.give_back()
                break
            seconds -= LOOK_AROUND
            if seconds <= 0:
                break
        return False

    def give_back(self) -> None:
        self._left.release()
