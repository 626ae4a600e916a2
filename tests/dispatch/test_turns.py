"""The claim is the last thing before the bytes: what waits for its turn is planned, and guards are asked after it."""

from __future__ import annotations

import re
import sqlite3
import threading
import time as clock
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kills.child import fork
from kills.people import numbers, plan_of
from kills.service import Post, Service
from support.sending import sent, status

from smsotp_nb import Ledger, Limits, RequestOptions, plan, send
from smsotp_nb._dispatch.crew import Crew
from smsotp_nb._dispatch.guards import QuietHours
from smsotp_nb._dispatch.pacing import Pacer
from smsotp_nb._ledger import Run, Wanted
from smsotp_nb.errors import LedgerError, SmsOtpWarning
from smsotp_nb.results import Progress

ALWAYS = ("21:00", "20:59")  # quiet hours; the tests say of each number whether it is silent


pytestmark = pytest.mark.usefixtures("little_patience")


def test_a_kill_while_requests_wait_for_the_rate_leaves_nobody_in_doubt(service: Service, tmp_path: Path) -> None:
    """At a recipient in ten seconds four threads wait for their turn; none of their rows is claimed meanwhile."""
    path = tmp_path / "ledger.sqlite"
    with Ledger(path, create=True) as ledger:  # the file exists, so that it can be looked at while the child works
        ledger.campaigns()

    def work() -> None:
        with Ledger(path, create=True) as ledger:
            sent(plan_of(400, chunk_size=100), service.client(), ledger, threads=4, limits=Limits(per_second=0.1))

    child = fork(work)
    try:
        _until(lambda: _accepted(path) >= 10)
        clock.sleep(0.3)  # the other threads come to their wait
    finally:
        assert child.kill()
    with Ledger(path, create=True) as ledger:
        counts = ledger.record("autumn").counts
    assert counts["in_doubt"] == counts["sending"] == 0
    assert counts["accepted"] == len(service.accepted)
    assert counts["planned"] == 400 - counts["accepted"]


def _accepted(path: Path) -> int:
    with Ledger(path, create=True) as ledger:
        return ledger.record("autumn").counts["accepted"] if len(ledger.campaigns()) else 0


def _until(true: Any, seconds: float = 120.0) -> None:
    end = clock.monotonic() + seconds
    while not true():
        assert clock.monotonic() < end
        clock.sleep(0.02)


def test_quiet_hours_that_begin_while_a_request_waits_hold_it(
    service: Service, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second request was due before the wait for the speed; when its turn comes it is quiet."""

    before, turns = Pacer.before, []

    def waited(self: Pacer, *asked: Any) -> None:
        before(self, *asked)
        turns.append(asked)

    monkeypatch.setattr(Pacer, "before", waited)
    monkeypatch.setattr(QuietHours, "silences", lambda self, to, now: len(turns) > 1)
    table = sent(plan_of(40), service.client(), ledger, threads=4, limits=Limits(per_second=50, quiet_hours=ALWAYS))
    assert len(service.posts) == 1
    assert table["problem"].fillna("").tolist() == [""] * 10 + ["QUIET_HOURS"] * 30


def test_quiet_hours_that_begin_during_a_pause_hold_what_was_throttled(
    service: Service, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A throttled request is asked about again before it is posted again."""

    def silences(self: QuietHours, to: str, now: datetime) -> bool:
        return any(post.fate == "throttle" for post in service.posts)

    monkeypatch.setattr(QuietHours, "silences", silences)
    service.script(["accept", "throttle"])
    table = sent(plan_of(20), service.client(), ledger, threads=1, limits=Limits(quiet_hours=ALWAYS))
    assert [post.fate for post in service.posts] == ["accept", "throttle"]
    assert table["problem"].fillna("").tolist() == [""] * 10 + ["QUIET_HOURS"] * 10
    monkeypatch.undo()
    assert status(sent(plan_of(20), service.client(), ledger)) == {"accepted": 20}


def test_what_is_tried_again_is_planned_while_it_waits_and_counts_as_one_attempt(
    service: Service, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill during a pause of minutes leaves nobody in doubt of whom the service said that it took nothing."""
    under_way = []
    sleep = Pacer.sleep

    def watched(self: Pacer, seconds: float) -> None:
        under_way.append(ledger.record("autumn").counts["sending"])
        sleep(self, seconds)

    monkeypatch.setattr(Pacer, "sleep", watched)
    service.script(["accept", "throttle", "throttle"])
    table = sent(plan_of(20), service.client(), ledger, threads=1)
    assert under_way == [0, 0]
    assert status(table) == {"accepted": 20}
    assert ledger.record("autumn").details["attempts"].unique().tolist() == [1]
    assert ledger.record("autumn").requests["outcome"].tolist() == ["accepted", "THROTTLED", "THROTTLED", "accepted"]


def test_a_budget_is_asked_when_the_turn_has_come(service: Service, ledger: Ledger) -> None:
    """The service bills more than was estimated; what waits hears of it, and the third request is held back.

    Each of four requests is estimated at 0.05 and billed 0.075: all four fit into 0.20 until the first is answered,
    and then only two.
    """
    rates = pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": ["0.005"]})
    made = plan(
        pd.DataFrame({"phone": numbers(40)}),
        "Hello",
        to="phone",
        campaign="autumn",
        rates=rates,
        requests=RequestOptions(chunk_size=10),
    )
    service.seen = lambda post: clock.sleep(0.1)
    table = sent(made, service.client(), ledger, threads=4, limits=Limits(budget={"USD": "0.20"}, per_second=40))
    assert status(table) == {"accepted": 20, "planned": 20}
    assert table["problem"].dropna().unique().tolist() == ["BUDGET"]


def test_a_request_that_waits_for_its_turn_ends_with_the_campaign(service: Service, ledger: Ledger) -> None:
    """A canary that is out lets nobody wait a hundred seconds to be told so."""
    began = clock.monotonic()
    table = sent(plan_of(40), service.client(), ledger, threads=4, limits=Limits(per_second=0.1, first=5))
    assert status(table) == {"accepted": 5, "planned": 35}
    assert clock.monotonic() - began < 80


def test_an_answer_does_not_wait_for_the_turn_of_the_next_request(service: Service, ledger: Ledger) -> None:
    """What was answered is told and recorded before the thread waits for the speed."""
    told: list[tuple[int, float]] = []
    sent(
        plan_of(20),
        service.client(),
        ledger,
        threads=1,
        progress=lambda now: told.append((now.accepted, clock.monotonic())),
        limits=Limits(per_second=20),
    )
    assert dict(told)[10] < service.posts[1].at


def test_a_reply_without_one_matched_record_is_a_failure(service: Service, ledger: Ledger) -> None:
    """After so many of them in a row the call ends; one matched record in between begins the count anew."""
    service.script(["accept", "strangers", "strangers", "missing"])
    service.usual = "strangers"
    table = sent(plan_of(200), service.client(), ledger, threads=1, limits=Limits(stop_after=3))
    assert len(service.posts) == 4 + 3
    assert status(table) == {"accepted": 19, "in_doubt": 51, "planned": 130}
    assert table["problem"].iloc[-1] == "FAILING"


def test_a_walk_through_chunks_that_are_quiet_ends_with_a_cancel(
    service: Service, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing waits and nothing is posted on the way; the caller's event is heard all the same."""
    stop, looked = threading.Event(), []

    def silences(self: QuietHours, to: str, now: datetime) -> bool:
        looked.append(to)
        if len(looked) > 100:  # which are foreseen for the bar
            stop.set()
        return True

    monkeypatch.setattr(QuietHours, "silences", silences)
    table = sent(plan_of(100), service.client(), ledger, threads=1, stop=stop, limits=Limits(quiet_hours=ALWAYS))
    assert len(looked) == 110
    assert set(table["problem"]) == {"QUIET_HOURS", "STOPPED"}


# -- a service that has never spoken -----------------------------------------------------------------------------------

SILENT = ["404", "401", "403", "308", "503", "refused 200", "garbage", "vanish", "internal"]


@pytest.mark.parametrize("fate", SILENT)
def test_a_service_that_never_spoke_gets_one_small_request(fate: str, service: Service, ledger: Ledger) -> None:
    """A wrong address or key leaves ten people in doubt, not a thousand, and the message names the address."""
    service.usual = fate
    with pytest.warns(SmsOtpWarning) as told:
        table = send(plan_of(600, chunk_size=100), client=service.client(), ledger=ledger, progress=False)
    assert len(service.posts) == 1
    assert status(table) == {"planned": 590, "in_doubt": 10}
    assert table["problem"].iloc[10:].unique().tolist() == ["UNKNOWN_SERVICE"]
    said = str(told[0].message)
    assert service.url in said
    assert "one small request" in said


def test_the_first_request_is_alone_until_it_is_answered(ledger: Ledger) -> None:
    posts: list[int] = []

    def look(post: Post) -> None:
        posts.append(len(post.to))
        if len(posts) == 1:
            clock.sleep(0.3)
            assert len(posts) == 1

    with Service(seen=look) as service:
        assert status(sent(plan_of(600, chunk_size=100), service.client(), ledger, threads=8)) == {"accepted": 600}
    assert posts[0] == 10
    assert sorted(posts[1:]) == [90, *[100] * 5]


def test_a_service_that_spoke_once_is_known_to_the_ledger(service: Service, ledger: Ledger) -> None:
    """Another campaign begins with a whole list; a refusal in the interface's words is enough to be known by."""
    service.script(["refuse"])
    sent(plan_of(5), service.client(), ledger)
    sent(plan_of(100, chunk_size=100, campaign="winter"), service.client(), ledger)
    assert [len(post.to) for post in service.posts] == [5, 100]


def test_throttling_does_not_make_a_service_known(service: Service, ledger: Ledger) -> None:
    service.script(["throttle", "404"])
    table = sent(plan_of(200, chunk_size=100), service.client(), ledger)
    assert [len(post.to) for post in service.posts] == [10, 10]
    assert status(table) == {"planned": 190, "in_doubt": 10}


def test_the_small_request_keeps_to_the_guards(service: Service, ledger: Ledger) -> None:
    """A canary of thirteen is ten and then three."""
    table = sent(plan_of(100, chunk_size=50), service.client(), ledger, limits=Limits(first=13))
    assert [len(post.to) for post in service.posts] == [10, 3]
    assert status(table) == {"accepted": 13, "planned": 87}


@pytest.mark.parametrize(
    ("begins", "ends", "moment", "quiet"),
    [
        (time(21), time(8), time(20, 59), False),
        (time(21), time(8), time(21), True),
        (time(21), time(8), time(3), True),
        (time(21), time(8), time(8), False),
        (time(12), time(14), time(13, 59), True),
        (time(12), time(14), time(14), False),
    ],
)
def test_quiet_hours_include_their_beginning_only(begins: time, ends: time, moment: time, quiet: bool) -> None:
    """A span may pass midnight; its end is allowed again."""
    assert QuietHours(begins, ends).covers(moment) is quiet


def test_a_number_of_unknown_zone_is_held() -> None:
    """Where nobody knows the time it counts as quiet."""
    assert QuietHours(time(21), time(8)).silences("+999", datetime(2026, 11, 20, 12, tzinfo=UTC))


def test_a_second_stop_leaves_what_is_under_way_in_doubt_and_a_late_answer_settles_it(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_wait, answer = threading.Barrier(3), threading.Event()

    def hold(post: Post) -> None:
        if post.to[0] != numbers(1)[0]:
            both_wait.wait(120)
            answer.wait(120)

    def stop(progress: Progress) -> None:
        if progress.done:
            both_wait.wait(120)
            monkeypatch.setattr(Crew, "_next_report", stopped_again)
            raise KeyboardInterrupt

    def stopped_again(crew: Crew[Any, Any]) -> Any:
        raise KeyboardInterrupt

    with Service(seen=hold) as service:
        with pytest.raises(KeyboardInterrupt, match="10 accepted, 20 in doubt"):
            sent(plan_of(60), service.client(read_timeout=30.0), ledger, threads=2, progress=stop)
        campaign = ledger.record("autumn")
        assert campaign.in_doubt["error"].str.contains("interrupted a second time").all()
        answer.set()
        for thread in threading.enumerate():
            if re.fullmatch(r"smsotp-\d+", thread.name):
                thread.join(120)
    assert campaign.counts["accepted"] == 30
    assert len(service.posts) == 3


def test_an_answer_is_recorded_when_the_next_rows_cannot_be_read(
    service: Service, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fails while the next chunk is looked at does not put the answered one in doubt."""
    read = Run.pending

    def fails(self: Run, chunk: int) -> Any:
        if chunk and service.accepted:
            raise LedgerError("the disk failed")
        return read(self, chunk)

    monkeypatch.setattr(Run, "pending", fails)
    made = plan_of(30)
    with pytest.raises(LedgerError, match="the disk failed"):
        sent(made, service.client(), ledger, threads=1, limits=Limits(first=25))
    assert ledger.record("autumn").counts["accepted"] == 10
    monkeypatch.undo()
    assert status(sent(made, service.client(), ledger)) == {"accepted": 30}
    assert len(service.posts) == 3


def test_an_answer_is_recorded_when_the_next_intent_cannot_be(
    service: Service, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction that both share fails; the answer gets one of its own."""
    claim = Run._claim
    broken = sqlite3.OperationalError("disk I/O error")
    broken.sqlite_errorcode = sqlite3.SQLITE_IOERR  # as SQLite itself raises it

    def fails(self: Run, connection: sqlite3.Connection, wanted: Wanted) -> Any:
        if wanted.chunk:
            raise broken
        return claim(self, connection, wanted)

    monkeypatch.setattr(Run, "_claim", fails)
    with pytest.raises(LedgerError, match="disk I/O error"):
        sent(plan_of(30), service.client(), ledger, threads=1)
    assert ledger.record("autumn").counts == {
        "planned": 20, "sending": 0, "accepted": 10, "rejected": 0, "in_doubt": 0, "skipped": 0
    }  # fmt: skip


def test_an_answer_is_recorded_before_the_chunk_after_next_is_looked_at(
    service: Service, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A walk through a thousand chunks that a guard holds back leaves no answer waiting."""
    read, accepted = Run.pending, dict[int, int]()

    def watched(self: Run, chunk: int) -> Any:
        accepted[chunk] = ledger.record("autumn").counts["accepted"]
        return read(self, chunk)

    monkeypatch.setattr(Run, "pending", watched)
    monkeypatch.setattr(QuietHours, "silences", lambda self, to, now: to not in numbers(10))
    table = sent(plan_of(50), service.client(), ledger, threads=1, limits=Limits(quiet_hours=("21:00", "20:59")))
    assert status(table) == {"accepted": 10, "planned": 40}
    assert accepted == {0: 0, 1: 0, 2: 10, 3: 10, 4: 10}
