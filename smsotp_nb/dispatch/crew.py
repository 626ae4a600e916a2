"""Threads that work through chunks and can be stopped: no chunk is begun after a Stop.

A thread pool with one ``submit`` a chunk would still send all of them after a Stop (measured: 200 of 200), so each
thread takes its next chunk from an iterator only when it is free, and only while the campaign is not stopped.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

Work = TypeVar("Work")
Report = TypeVar("Report")


class Crew(Generic[Work, Report]):
    """Run ``task`` over ``work`` in threads and yield each report in the thread that asks.

    Args:
        task: called in a thread with one piece of work; what it returns is reported, what it raises ends the crew.
        work: taken from one piece at a time.
        threads: how many.
        stop: set to begin nothing more.

    Example:
        >>> crew = Crew(abs, [-1, -2], threads=2, stop=threading.Event())
        >>> sorted(crew.reports())
        [1, 2]
    """

    def __init__(
        self, task: Callable[[Work], Report], work: Iterable[Work], *, threads: int, stop: threading.Event
    ) -> None:
        self._task, self._work, self._stop = task, iter(work), stop
        self._guard = threading.Lock()
        self._reports: queue.SimpleQueue[Report | BaseException | None] = queue.SimpleQueue()
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
        failure: BaseException | None = None
        while self._threads:
            found = self._reports.get()
            if found is None:
                self._threads.pop()
            elif isinstance(found, BaseException):
                failure = failure or found
                self._stop.set()
            else:
                yield found
        if failure is not None:
            raise failure

    def _run(self) -> None:
        try:
            while (piece := self._next()) is not _NOTHING:
                self._reports.put(self._task(piece))  # type: ignore[arg-type]
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits, which raises it
            self._reports.put(error)
        finally:
            self._reports.put(None)

    def _next(self) -> object:
        with self._guard:
            return _NOTHING if self._stop.is_set() else next(self._work, _NOTHING)


_NOTHING = object()
