"""Threads that work through chunks and can be stopped: no chunk is started after an interrupt.

A thread pool with one ``submit`` for each chunk would still send all of them after an interrupt (measured: 200 of
200). So each thread takes its next chunk from an iterator only when it is free and the campaign is not stopped.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

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
