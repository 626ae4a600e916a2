"""The gate of a campaign: never faster than the ceiling, never during a pause, never after an interrupt."""

from __future__ import annotations

import itertools
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smsotp_nb._dispatch.pacing import DEFAULT_PAUSE, Pacer
from smsotp_nb.errors import NotSent


class Clock(threading.Event):
    """A clock that stands still but for what is waited; as an event it is never set by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def wait(self, timeout: float | None = None) -> bool:
        self.now += timeout or 0.0
        return self.is_set()


def passes(pacer: Pacer, clock: Clock, *chunks: int) -> list[float]:
    """Return the seconds at which each chunk may go, from now on."""
    start, times = clock.now, []
    for recipients in chunks:
        pacer.before(recipients)
        times.append(round(clock.now - start, 6))
    return times


def test_without_a_speed_nothing_waits() -> None:
    clock = Clock()
    assert passes(Pacer(per_second=None, stop=clock, clock=clock), clock, 100, 100, 100) == [0, 0, 0]


def test_each_chunk_holds_the_next_one_back_by_its_recipients() -> None:
    clock = Clock()
    assert passes(Pacer(per_second=50, stop=clock, clock=clock), clock, 100, 10, 100, 1) == [0, 2, 2.2, 4.2]


def test_idle_time_saves_up_no_burst() -> None:
    clock = Clock()
    pacer = Pacer(per_second=10, stop=clock, clock=clock)
    pacer.before(10)
    clock.now += 60
    assert passes(pacer, clock, 10, 10) == [0, 1]


@given(st.lists(st.integers(1, 500), min_size=2, max_size=40), st.floats(0.5, 5000))
def test_over_any_stretch_no_more_than_the_speed_passes(chunks: list[int], speed: float) -> None:
    clock = Clock()
    times = passes(Pacer(per_second=speed, stop=clock, clock=clock), clock, *chunks)
    for first, last in itertools.combinations(range(len(chunks)), 2):
        assert sum(chunks[first:last]) <= speed * (times[last] - times[first] + 2e-6)  # rounded times


def test_the_ceiling_is_shared_by_all_threads() -> None:
    """Ten threads at 500 a second take at least the time that one would."""
    stop = threading.Event()
    pacer = Pacer(per_second=500, stop=stop)
    began = time.monotonic()
    threads = [threading.Thread(target=lambda: [pacer.before(5) for _ in range(3)]) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - began >= (30 * 5 - 5) / 500 - 0.001


@pytest.mark.parametrize(("asked", "waited"), [(3.0, 3.0), (0.0, 0.0), (None, DEFAULT_PAUSE)])
def test_a_throttled_reply_holds_everybody_back_for_its_pause(asked: float | None, waited: float) -> None:
    clock = Clock()
    pacer = Pacer(per_second=None, stop=clock, clock=clock)
    pacer.throttled(asked)
    assert passes(pacer, clock, 1)[0] == pytest.approx(waited)


def test_a_shorter_pause_does_not_end_a_longer_one() -> None:
    clock = Clock()
    pacer = Pacer(per_second=None, stop=clock, clock=clock)
    pacer.throttled(30.0)
    pacer.throttled(1.0)
    assert passes(pacer, clock, 1) == [30.0]


def test_a_pause_that_comes_while_a_thread_waits_holds_it_too() -> None:
    clock = Clock()
    pacer = Pacer(per_second=10, stop=clock, clock=clock)
    pacer.before(10)
    once = iter([True])
    wait = clock.wait

    def pause_meanwhile(seconds: float) -> bool:
        if next(once, False):
            pacer.throttled(5.0)
        return wait(seconds)

    clock.wait = pause_meanwhile  # type: ignore[method-assign, assignment]
    assert passes(pacer, clock, 1)[0] >= 5.0


def test_throttling_lowers_the_speed_and_time_gives_it_back_up_to_the_ceiling() -> None:
    clock = Clock()
    pacer = Pacer(per_second=100, stop=clock, clock=clock)
    pacer.throttled(0.0)
    slow = passes(pacer, clock, 100, 100)[1]
    clock.now += 3600
    fast = passes(pacer, clock, 100, 100)[1]
    assert slow > 1.5
    assert fast == pytest.approx(1.0)


def test_a_stop_sends_nothing_and_says_so() -> None:
    clock = Clock()
    pacer = Pacer(per_second=None, stop=clock, clock=clock)
    clock.set()
    with pytest.raises(NotSent) as caught:
        pacer.before(1)
    assert caught.value.phase == "before"
    assert pacer.stopped()


def test_a_stop_ends_a_wait() -> None:
    stop = threading.Event()
    pacer = Pacer(per_second=0.001, stop=stop)
    pacer.before(1)
    threading.Timer(0.02, stop.set).start()
    with pytest.raises(NotSent):
        pacer.before(1)


def test_the_wait_between_attempts_ends_with_a_stop_too() -> None:
    stop = threading.Event()
    threading.Timer(0.02, stop.set).start()
    Pacer(per_second=None, stop=stop).sleep(60.0)
