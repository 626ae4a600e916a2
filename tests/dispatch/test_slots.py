"""Claims that are made while earlier requests are under way, with a ledger on a server."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

import pandas as pd
import pytest
from kills.people import plan_of
from support.servers import Server

from smsotp_nb import Client, Ledger, Limits, Sandbox, send
from smsotp_nb._dispatch import pacing
from smsotp_nb._ledger import Run
from smsotp_nb.errors import CampaignIncomplete, SmsOtpWarning

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
    table = send(plan.with_wire(threads=THREADS), client=slow.client(), ledger=ledger, progress=False)
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
        table = send(plan.with_wire(threads=THREADS), client=slow.client(), ledger=ledger, stop=stop, progress=False)
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
            plan.with_wire(threads=THREADS),
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
    table = send(plan.with_wire(threads=2), client=slow.client(), ledger=ledger, progress=False)
    assert table["status"].eq("accepted").all()
    assert ledger.record("autumn").details["attempts"].eq(1).all()
    assert ledger.record("autumn").requests["outcome"].eq("NOT_SENT").any()
    assert len(slow.inbox) == 24


def test_a_ledger_in_a_file_claims_nothing_ahead(box: Sandbox, watched: Watched, tmp_path: object) -> None:
    with Ledger(f"{tmp_path}/ledger.sqlite", create=True) as ledger:
        send(plan_of(40, chunk_size=2).with_wire(threads=THREADS), client=box.client(), ledger=ledger, progress=False)
    assert 0 < watched.most_claimed <= THREADS


def test_slots_are_given_to_as_many_as_there_are() -> None:
    made = pacing.Slots(2)
    assert [made.take(lambda: False, seconds=0.01) for _ in range(3)] == [True, True, False]
    made.give_back()
    assert not made.take(lambda: True)
    assert made.take(lambda: False)


def test_a_slot_that_comes_free_after_the_end_is_taken_by_nobody() -> None:
    made, asked = pacing.Slots(1), iter([False, True])
    assert not made.take(lambda: next(asked))
    assert made.take(lambda: False, seconds=0.01)
