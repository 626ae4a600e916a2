"""A crew of threads takes work piece by piece, reports to the thread that asks, begins nothing after an interrupt."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from smsotp_nb._dispatch.pacing import Crew

WAIT = 10.0  # seconds; longer than anything here takes


def each(task: Callable[[Any], Any]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a thread does with its pieces: this, with each."""
    return lambda pieces: map(task, pieces)


def test_every_piece_is_done_once_and_reported_in_the_thread_that_asks() -> None:
    task = each(lambda piece: (piece, threading.current_thread().name))
    crew = Crew(task, range(100), threads=4, stop=threading.Event())
    reports = list(crew.reports())
    assert sorted(piece for piece, _ in reports) == list(range(100))
    assert {name for _, name in reports} <= {f"smsotp-{n}" for n in range(4)}


def test_as_many_pieces_as_threads_are_under_way_at_once() -> None:
    together = threading.Barrier(8)
    crew = Crew(each(lambda _: together.wait(WAIT)), range(8), threads=8, stop=threading.Event())
    assert sorted(crew.reports()) == list(range(8))


def test_no_work_ends_at_once() -> None:
    assert list(Crew(each(abs), [], threads=3, stop=threading.Event()).reports()) == []


def test_work_is_taken_only_when_a_thread_is_free() -> None:
    taken: list[int] = []
    go = threading.Event()

    def work() -> Iterator[int]:
        for piece in range(100):
            taken.append(piece)
            yield piece

    stop = threading.Event()
    crew = Crew(each(lambda piece: go.wait(WAIT) and piece), work(), threads=3, stop=stop)
    stop_later = threading.Timer(0.05, lambda: (stop.set(), go.set()))
    stop_later.start()
    assert len(list(crew.reports())) <= 3
    assert len(taken) <= 3
    stop_later.join()


def test_after_a_stop_nothing_is_begun_and_what_was_begun_is_reported() -> None:
    stop, go, begun = threading.Event(), threading.Event(), threading.Barrier(3)

    def task(piece: int) -> int:
        if piece < 2:
            begun.wait(WAIT)
            go.wait(WAIT)
        return piece

    crew = Crew(each(task), range(100), threads=2, stop=stop)
    stopper = threading.Thread(target=lambda: (begun.wait(WAIT), stop.set(), go.set()))
    stopper.start()
    assert sorted(crew.reports()) == [0, 1]
    stopper.join()


def test_the_first_error_of_a_task_ends_the_crew_and_is_raised_when_all_have_finished() -> None:
    together, done = threading.Barrier(2), []

    def task(piece: int) -> int:
        if piece < 2:
            together.wait(WAIT)
        if piece == 0:
            raise ZeroDivisionError
        done.append(piece)
        return piece

    stop = threading.Event()
    crew = Crew(each(task), range(10_000), threads=2, stop=stop)
    with pytest.raises(ZeroDivisionError):
        list(crew.reports())
    assert stop.is_set()
    assert 1 in done
    assert len(done) < 10_000
    assert not any(thread.is_alive() for thread in crew._threads)


def test_a_stop_while_the_threads_are_being_started_waits_for_those_that_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt may come between any two of them; the others never run, and nobody waits for them."""
    start, started = threading.Thread.start, []

    def interrupted(thread: threading.Thread) -> None:
        if len(started) == 2:
            raise KeyboardInterrupt
        started.append(thread)
        start(thread)

    stop, go = threading.Event(), threading.Event()
    crew = Crew(each(lambda piece: go.wait(WAIT) and piece), range(100), threads=8, stop=stop)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            list(crew.reports())
    stop.set()
    go.set()
    assert len(list(crew.rest())) <= 2


def test_a_report_lost_to_a_stop_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()
    crew = Crew(each(abs), range(100), threads=2, stop=stop)
    found = crew._next_report

    def lost() -> object:
        found()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(crew, "_next_report", lost)
        with pytest.raises(KeyboardInterrupt):
            list(crew.reports())
    stop.set()
    assert len(list(crew.rest())) < 100
