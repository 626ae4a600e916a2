"""A chunk that is kept whole and one that is kept row by row: every reader says the same of both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from kills.people import numbers
from support.ledger_rows import by_row
from support.tables import whole

from smsotp_nb import Ledger, Plan, Wire, cost, plan
from smsotp_nb._dispatch.guards import Guards, Watch
from smsotp_nb._ledger import Claim, Ending, Run
from smsotp_nb._ledger.reading import frames as reading
from smsotp_nb._ledger.record import recording
from smsotp_nb._ledger.rows import columns
from smsotp_nb._wire import MessageRecord, SendReply

RATES = pd.DataFrame({"iso": ["US"], "currency": "USD", "price": ["0.0075"]})


def made(name: str = "autumn") -> Plan:
    """Fifty people in chunks of five, and one who is none."""
    phones = [*numbers(20), "nobody", *numbers(50)[20:]]
    frame = pd.DataFrame({"phone": phones, "n": range(len(phones))})
    return plan(frame, f"Hello {name}", to="phone", campaign=name, keep=["n"], rates=RATES, wire=Wire(chunk_size=5))


def record(to: str, n: int, **other: Any) -> MessageRecord:
    usual: dict[str, Any] = {"id": f"{n:032x}", "iso": "US", "cc": "1", "parts": 1, "price_micros": 7500}
    return MessageRecord(to=to, **(usual | other))


def answered(run: Run, chunk: int, *, missing: int = 0, **other: Any) -> None:
    """Claim a chunk and settle it."""
    claim = run.claim(chunk)
    assert claim
    settled(run, claim, missing=missing, **other)


def settled(run: Run, claim: Claim, *, missing: int = 0, **other: Any) -> None:
    """Settle a claim; the records come in the opposite order, the odd ones with what is told."""
    chunk = claim.chunk
    records = [record(to, 100 * chunk + n, **(other if n % 2 else {})) for n, to in enumerate(claim.to)]
    left = records[missing:][::-1]
    reply = SendReply(tuple(left), claim.to[:missing], currency="USD", recipients=len(left), request_id=f"r{chunk}")
    run.settle_reply(claim, reply, seconds=0.1)


def in_every_state(ledger: Ledger) -> Run:
    """A campaign with chunks of every kind, one of them under way."""
    run = ledger._begin(made(), service="live.example")
    answered(run, 0)
    answered(run, 1, iso="DE", cc="49", parts=2, price_micros=160_000)
    answered(run, 2, missing=2)
    for chunk, ending in ((3, Ending("in_doubt", "body", 500)), (4, Ending("rejected", "body", 400)),
                           (5, Ending("NOT_SENT", "connect"))):  # fmt: skip
        claim = run.claim(chunk)
        assert claim
        run.settle(claim, ending)
    answered(run, 5)
    some = run.claim(6, positions=[run.pending(6)[0].position])
    assert some
    run.settle_reply(some, SendReply((record(some.to[0], 600),), currency="USD"), seconds=0.1)
    run.hold("QUIET_HOURS", chunk=8, positions=[run.pending(8)[1].position])
    assert run.claim(7)
    return run


def spent(run: Run) -> dict[str, int]:
    """What a budget counts as spent when a send begins."""
    return Watch(Guards(budget={"USD": 10**15}), run)._spent


def told(ledger: Ledger, run: Run | None = None) -> dict[str, Any]:
    """What each reader of a ledger says."""
    campaign = ledger.record("autumn")
    said: dict[str, Any] = {
        "counts": campaign.counts, "frame": whole(campaign), "requests": campaign.requests,
        "in_doubt": campaign.in_doubt, "rejected": campaign.rejected, "campaigns": ledger.campaigns(),
        "numbers": campaign._numbers, "spending": cost.spending(ledger), "reconcile": cost.reconcile(ledger, "autumn"),
        "sending": reading.with_evidence(ledger._store, campaign._number, 1),
        "accepted": reading.with_evidence(ledger._store, campaign._number, 2),
    }  # fmt: skip
    if run:
        said |= {
            "chunks": run.chunks(), "pending": [run.pending(chunk) for chunk in range(10)], "tried": run.tried(),
            "spent": spent(run), "unknown": run.without_estimate(), "currencies": run.estimate_currencies(),
        }  # fmt: skip
    return said


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        if isinstance(value, pd.DataFrame):
            pd.testing.assert_frame_equal(value, other[name], obj=name)
        elif isinstance(value, pd.Series):
            pd.testing.assert_series_equal(value, other[name], obj=name)
        else:
            assert value == other[name], name


@pytest.fixture
def running(ledger: Ledger) -> Iterator[Run]:
    with in_every_state(ledger) as run:
        yield run


def test_every_reader_says_the_same_of_whole_chunks_and_of_single_rows(running: Run, ledger: Ledger) -> None:
    before = told(ledger, running)
    assert by_row(ledger.path) == 4  # three accepted, one under way
    same(before, told(ledger, running))


@pytest.mark.parametrize(("rows", "chunks"), [(1, 1), (2, 2), (7, 3), (50, 500)])
def test_a_ledger_reads_the_same_in_whatever_blocks(
    running: Run, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, rows: int, chunks: int
) -> None:
    before = told(ledger, running)
    monkeypatch.setattr(columns, "BLOCK", rows)
    monkeypatch.setattr(columns, "CHUNKS", chunks)
    same(before, told(ledger, running))


def test_an_answer_that_is_told_twice_stays_as_it_was(running: Run, ledger: Ledger) -> None:
    claim = running.claim(9)
    assert claim
    reply = SendReply(tuple(record(to, n) for n, to in enumerate(claim.to)), currency="USD")
    running.settle_reply(claim, reply, seconds=0.1)
    before = whole(ledger.record("autumn")).drop(columns="at")
    running.settle_reply(claim, reply, seconds=0.1)
    running.settle(claim, Ending("in_doubt", "body", 200))
    pd.testing.assert_frame_equal(whole(ledger.record("autumn")).drop(columns="at"), before)


MEAN = -(-(17 * 7500 + 2 * 160_000) // 19)  # what the accepted ones were billed, all of one estimate


def test_what_was_billed_without_a_currency_counts_as_others_of_its_estimate_were_billed(running: Run) -> None:
    """A reply that names no currency: a budget must not lose sight of it."""
    before = spent(running)
    claim = running.claim(9)
    assert claim
    running.settle_reply(claim, SendReply(tuple(record(to, n) for n, to in enumerate(claim.to))), seconds=0.1)
    assert spent(running) == {"USD": before["USD"] + 5 * MEAN}


def test_the_estimates_still_to_go_are_those_of_rows_not_sent(ledger: Ledger) -> None:
    """Whole chunks that were sent, or are under way, say nothing of what the rest will cost."""
    people = pd.DataFrame({"phone": ["+12025550100", "+12025550101", "+33199001234", "+33199001235"]})
    mixed = plan(people, "Hello", to="phone", campaign="mixed", rates=RATES, wire=Wire(chunk_size=1))
    with ledger._begin(mixed, service="live.example") as run:
        assert (run.without_estimate(), run.estimate_currencies()) == (["FR"], ["USD"])
        for position in (0, 1):
            chunk = int(mixed.rows["chunk"].iloc[position])
            answered(run, chunk) if position else run.claim(chunk)
        assert (run.without_estimate(), run.estimate_currencies()) == (["FR"], [])
        answered(run, int(mixed.rows["chunk"].iloc[2]))
        assert run.claim(int(mixed.rows["chunk"].iloc[3]))
        assert (run.without_estimate(), run.estimate_currencies()) == ([], [])


def test_a_service_that_never_bills_alike_fills_its_own_campaign_alone(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "MOST_KINDS", 3)
    for name in ("first", "second"):
        with ledger._begin(made(name), service="live.example") as run:
            for chunk in range(4):
                answered(run, chunk, price_micros=1000 + chunk)  # two kinds each, one of them new
        with ledger._store.reading() as connection:
            kept_whole = connection.execute("SELECT count(*) FROM chunk WHERE state IS NOT NULL").fetchone()[0]
        frame = whole(ledger.record(name))
        assert frame.loc[frame["status"] == "accepted", "price"].sum() == pytest.approx(
            (12 * 7500 + 2 * (1000 + 1001 + 1002 + 1003)) / 1e6
        )
        assert kept_whole == {"first": 2, "second": 4}[name]
        assert cost.reconcile(ledger, name)["cost"].sum() == pytest.approx(frame["price"].sum())


def test_what_the_readers_say_is_so(running: Run, ledger: Ledger) -> None:
    said = told(ledger, running)
    assert said["counts"] == {
        "planned": 14, "sending": 5, "accepted": 19, "rejected": 5, "in_doubt": 7, "skipped": 1
    }  # fmt: skip
    frame = said["frame"].set_index("n")
    answer = frame[["id", "iso", "cc", "parts", "price", "attempts"]]
    assert answer.loc[3].tolist() == [f"{3:032x}", "US", "1", 1, 0.0075, 1]
    assert answer.loc[6].tolist() == [f"{101:032x}", "DE", "49", 2, 0.16, 1]
    assert frame.loc[26:30, "attempts"].tolist() == [2] * 5
    assert said["spent"] == {"USD": 17 * 7500 + 2 * 160_000 + (7 + 5) * MEAN}  # in doubt, and under way
    assert said["chunks"] == [6, 8, 9]
    assert said["tried"] == 36


def test_rows_are_counted_by_one_statement_and_so_at_one_moment(running: Run, ledger: Ledger) -> None:
    asked: list[str] = []
    with ledger._store.reading() as connection:
        connection.set_trace_callback(asked.append)
        assert sum(running.counts().values()) == 51
    assert len([sql for sql in asked if "moved" not in sql]) == 1  # each use asks whether the ledger went elsewhere


@pytest.mark.parametrize("look", ["a.kinds", "FROM attempt"])
def test_who_reads_while_another_process_records_finds_one_moment(running: Run, ledger: Ledger, look: str) -> None:
    """An answer that comes between two looks into the file: no row stands twice, and none says half of it."""
    claim = running.claim(9)
    assert claim
    with Ledger(ledger.path) as other, other._store.reading() as connection:
        number = other.record("autumn")._number
        before = reading.counts(other._store, number), reading.outcomes(other._store, number)
        looks = iter([look])

        def meanwhile(sql: str) -> None:
            if look in sql and next(looks, None):
                settled(running, claim)

        connection.set_trace_callback(meanwhile)
        pd.testing.assert_frame_equal(reading.outcomes(other._store, number), before[1])
        assert not list(looks)
        assert reading.counts(other._store, number)["accepted"] == before[0]["accepted"] + 5
