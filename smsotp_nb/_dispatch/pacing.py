"""How fast a campaign may go: the caller's ceiling, and pauses that the service asks for.

A `Crew` are its threads, which can be stopped: no chunk is started after an interrupt. A thread pool with a ``submit``
for each chunk would still send all of them (measured: 200 of 200). So each thread takes its next chunk from an iterator
only when it is free and the campaign is not stopped.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from .._client import Gate
from ..errors import NotSent

DEFAULT_PAUSE = 1.0  # seconds, where a throttled reply does not say
SLOWER, FASTER = 0.5, 0.05  # a throttled reply halves the speed; each second without one gives a twentieth back
SLOWEST = 1 / 64
SLICE = 0.1  # seconds
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


GATHERED = 0.005  # seconds of reports in one go: to wake the thread that asks for each costs a tenth of a request
LOOK_AT_THREADS = 0.2  # seconds between looks whether one is left that could report
Work = TypeVar("Work")
Report = TypeVar("Report")


class Crew(Generic[Work, Report]):
    """Run ``task`` over ``work`` in threads and yield each report in the thread that asks.

    Args:
        task: called once in each thread with an iterator over the pieces that fall to it; what it yields is reported,
            what it raises ends the crew.
        work: taken from one piece at a time; neither pieces nor reports are None.
        threads: how many.
        stop: when it is set, no further piece is begun.
    """

    def __init__(
        self,
        task: Callable[[Iterator[Work]], Iterable[Report]],
        work: Iterable[Work],
        *,
        threads: int,
        stop: threading.Event,
    ) -> None:
        self._task, self._work, self._stop = task, iter(work), stop
        self._guard = threading.Lock()
        self._reports: queue.SimpleQueue[Report | BaseException | None] = queue.SimpleQueue()
        self._failure: BaseException | None = None
        self._ended = 0
        self._threads = [threading.Thread(target=self._run, name=f"smsotp-{n}", daemon=True) for n in range(threads)]

    def reports(self) -> Iterator[Report]:
        """Start the threads and yield their reports until all have ended; raise the first error of a task.

        A KeyboardInterrupt raised here leaves the threads to finish what they began: set ``stop`` and call ``rest``.
        """
        for thread in self._threads:
            thread.start()
        yield from self.rest()

    def rest(self) -> Iterator[Report]:
        """Yield the reports of the pieces of work still under way."""
        while (report := self._next_report()) is not None:
            if isinstance(report, BaseException):
                self._failure = self._failure or report
                self._stop.set()
            else:
                yield report
        if self._failure is not None:
            raise self._failure

    def _next_report(self) -> Report | BaseException | None:
        wait = LOOK_AT_THREADS
        while self._ended < len(self._threads):
            if self._reports.empty():
                time.sleep(GATHERED)
            try:
                report = self._reports.get(timeout=wait)
            except queue.Empty:
                if not wait:  # an interrupt came before all threads were started
                    break
                wait = LOOK_AT_THREADS if any(thread.is_alive() for thread in self._threads) else 0
                continue
            if report is not None:
                return report
            self._ended += 1
        return None

    def _run(self) -> None:
        try:
            for report in self._task(iter(self._next, None)):
                self._reports.put(report)
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits, which raises it
            self._reports.put(error)
        finally:
            self._reports.put(None)  # this thread has ended

    def _next(self) -> Work | None:
        with self._guard:
            return None if self._stop.is_set() else next(self._work, None)


def with_rests(chunks: Iterator[int], rests: list[int]) -> Iterator[int]:
    """Yield each chunk, then whatever was added to ``rests`` meanwhile."""
    for chunk in chunks:
        yield chunk
        while rests:
            yield rests.pop()
