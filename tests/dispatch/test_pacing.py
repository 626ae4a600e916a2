"""The threads of a campaign: never faster than the ceiling, never in a pause, nothing begun after an interrupt."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kills.people import plan_of
from support.servers import Server

from smsotp_nb import Client, Ledger, Limits, Sandbox, send
from smsotp_nb._dispatch.crew import Crew
from smsotp_nb._dispatch.pacing import DEFAULT_PAUSE, Pacer, Slots
from smsotp_nb._ledger import Run
from smsotp_nb.errors import CampaignIncomplete, NotSent, SmsOtpWarning


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


# -- claims that are made while earlier requests are under way, with a ledger on a server --------------------------

THREADS, ROWS = 3, 80
SECONDS = 0.2  # of a request


@pytest.fixture
def ledger(server: Server) -> Iterator[Ledger]:
    address = server.database()
    with Ledger(address, create=True) as made:
        yield made
    server.drop(address)


@pytest.fixture
def slow() -> Iterator[Sandbox]:
    with Sandbox() as box:
        box.fault("latency", seconds=SECONDS, action="sms.message.send")
        yield box


class Watched:
    """How many requests are claimed and not settled, posted, and given back unsent; it can hold posts until a moment.

    ``until`` tells the moment, which does not depend on how fast the machine is. When it has come, ``then`` is called.
    """

    def __init__(self) -> None:
        self.claimed, self.posting, self.given_back = set[int](), 0, 0
        self.most_claimed = self.most_posting = 0
        self.until: Callable[[Watched], bool] = lambda _: True
        self.then: Callable[[], None] = lambda: None
        self._has_come = False
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        with self._changed:
            yield
            self.most_claimed = max(self.most_claimed, len(self.claimed))
            self.most_posting = max(self.most_posting, self.posting)
            if not self._has_come and self.until(self):
                self._has_come = True
                self.then()
            self._changed.notify_all()

    @contextlib.contextmanager
    def posted(self) -> Iterator[None]:
        with self.changing():
            self.posting += 1
        with self._changed:
            assert self._changed.wait_for(lambda: self._has_come, timeout=60)
        try:
            yield
        finally:
            with self.changing():
                self.posting -= 1


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    seen = Watched()
    made, deliver = Run._owned, Client._deliver
    settle, settle_reply = Run.settle, Run.settle_reply

    def owned(self: Run, found: object) -> object:
        claim = made(self, found)  # type: ignore[arg-type]
        if claim is not None:
            with seen.changing():
                seen.claimed.add(claim.attempt)
        return claim

    def ending(settled: Callable[..., object]) -> Callable[..., object]:
        def call(self: Run, claim: object, found: object, **options: object) -> object:
            with seen.changing():
                seen.claimed.discard(claim.attempt)  # type: ignore[attr-defined]
            told = settled(self, claim, found, **options)
            with seen.changing():
                seen.given_back += getattr(found, "outcome", "") == "NOT_SENT"
            return told

        return call

    def delivered(self: Client, *arguments: object, **options: object) -> object:
        with seen.posted():
            return deliver(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Run, "_owned", owned)
    monkeypatch.setattr(Run, "settle", ending(settle))
    monkeypatch.setattr(Run, "settle_reply", ending(settle_reply))
    monkeypatch.setattr(Client, "_deliver", delivered)
    return seen


def is_ahead(seen: Watched) -> bool:
    """Return whether as many are posted as may be, and another one is claimed."""
    return seen.posting == THREADS and len(seen.claimed) > THREADS


def most_at_once(starts: pd.Series, seconds: float) -> int:
    """Return how many requests were under way at once, where each takes so long from its start."""
    at = starts.sort_values().astype("int64") / 1e6
    return max(int(((at <= moment) & (at > moment - seconds)).sum()) for moment in at)


def test_no_more_requests_than_asked_for_are_under_way_and_the_next_are_claimed(
    ledger: Ledger, slow: Sandbox, watched: Watched
) -> None:
    plan, watched.until = plan_of(ROWS, chunk_size=2), is_ahead
    table = send(plan.with_requests(threads=THREADS), client=slow.client(), ledger=ledger, progress=False)
    assert table["status"].eq("accepted").all()
    posts = slow.requests.loc[slow.requests["action"].eq("sms.message.send")]
    assert len(posts) == ROWS // 2
    assert most_at_once(posts["at"], SECONDS * 0.9) <= THREADS
    assert watched.most_posting == THREADS
    assert watched.most_claimed <= 2 * THREADS


def test_a_stop_while_claims_wait_leaves_nothing_in_doubt(ledger: Ledger, slow: Sandbox, watched: Watched) -> None:
    plan, stop = plan_of(ROWS, chunk_size=2), threading.Event()
    watched.until, watched.then = is_ahead, stop.set
    with pytest.warns(CampaignIncomplete):
        table = send(
            plan.with_requests(threads=THREADS), client=slow.client(), ledger=ledger, stop=stop, progress=False
        )
    assert table["status"].value_counts().to_dict() == {"accepted": 2 * THREADS, "planned": ROWS - 2 * THREADS}
    assert len(slow.inbox) == 2 * THREADS
    ended = ledger.record("autumn").requests["outcome"]
    assert ended.notna().all()
    assert ended.eq("NOT_SENT").any()  # claims that waited
    slow.clear_faults()
    table = send(plan, client=slow.client(), ledger=ledger, progress=False)
    assert table["status"].eq("accepted").all()
    assert len(slow.inbox) == slow.inbox["to"].nunique() == ROWS


def test_failures_in_a_row_end_the_call_for_claims_that_wait(ledger: Ledger, slow: Sandbox) -> None:
    plan = plan_of(ROWS, chunk_size=2)
    slow.clear_faults()
    slow.fault("drop_after", action="sms.message.send")
    with pytest.warns(SmsOtpWarning):
        table = send(
            plan.with_requests(threads=THREADS),
            client=slow.client(deadline=2.0),
            ledger=ledger,
            progress=False,
            limits=Limits(stop_after=2),
        )
    posts = slow.requests["action"].eq("sms.message.send").sum()
    assert posts < ROWS // 2
    assert table["status"].eq("in_doubt").sum() == 2 * posts
    assert set(table["status"]) == {"in_doubt", "planned"}


def test_a_claim_that_would_wait_too_long_is_made_again(
    ledger: Ledger, slow: Sandbox, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smsotp_nb._dispatch.requests.AHEAD", 0.05)
    watched.until = lambda seen: bool(seen.given_back)
    plan = plan_of(24, chunk_size=2)
    table = send(plan.with_requests(threads=2), client=slow.client(), ledger=ledger, progress=False)
    assert table["status"].eq("accepted").all()
    assert ledger.record("autumn").details["attempts"].eq(1).all()
    assert ledger.record("autumn").requests["outcome"].eq("NOT_SENT").any()
    assert len(slow.inbox) == 24


def test_a_ledger_in_a_file_claims_nothing_ahead(box: Sandbox, watched: Watched, tmp_path: object) -> None:
    with Ledger(f"{tmp_path}/ledger.sqlite", create=True) as ledger:
        send(
            plan_of(40, chunk_size=2).with_requests(threads=THREADS), client=box.client(), ledger=ledger, progress=False
        )
    assert 0 < watched.most_claimed <= THREADS


def test_slots_are_given_to_as_many_as_there_are() -> None:
    made = Slots(2)
    assert [made.take(lambda: False, seconds=0.01) for _ in range(3)] == [True, True, False]
    made.give_back()
    assert not made.take(lambda: True)
    assert made.take(lambda: False)


def test_a_slot_that_comes_free_after_the_end_is_taken_by_nobody() -> None:
    made, asked = Slots(1), iter([False, True])
    assert not made.take(lambda: next(asked))
    assert made.take(lambda: False, seconds=0.01)
