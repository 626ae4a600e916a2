"""A chunk that is kept whole and one that is kept row by row: every reader says the same of both."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kills.people import numbers
from support.ledger_rows import by_row
from support.tables import whole

from smsotp_nb import Ledger, Limits, Plan, RequestOptions, cost, plan
from smsotp_nb._dispatch.guards import Watch
from smsotp_nb._ledger import Claim, Ending, Run
from smsotp_nb._ledger.reading import frames as reading
from smsotp_nb._ledger.record import recording
from smsotp_nb._ledger.rows import answers as answering
from smsotp_nb._ledger.rows import columns
from smsotp_nb._ledger.rows.tables import ACCEPTED, IN_DOUBT, PLANNED, SENDING, TABLES
from smsotp_nb._wire import Billing, MessageRecord, Messages, SendReply

RATES = pd.DataFrame({"iso": ["US"], "currency": "USD", "price": ["0.0075"]})


def made(name: str = "autumn") -> Plan:
    """Fifty people in chunks of five, and one who is none."""
    phones = [*numbers(20), "nobody", *numbers(50)[20:]]
    frame = pd.DataFrame({"phone": phones, "n": range(len(phones))})
    return plan(
        frame,
        f"Hello {name}",
        to="phone",
        campaign=name,
        keep=["n"],
        rates=RATES,
        requests=RequestOptions(chunk_size=5),
    )


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
    return Watch(Limits(budget={"USD": 10**9}), run)._spent


def told(ledger: Ledger, run: Run | None = None) -> dict[str, Any]:
    """What each reader of a ledger says."""
    campaign = ledger.record("autumn")
    said: dict[str, Any] = {
        "counts": campaign.counts, "frame": whole(campaign), "requests": campaign.requests,
        "in_doubt": campaign.in_doubt, "rejected": campaign.rejected, "campaigns": ledger.campaigns(),
        "numbers": campaign._numbers, "spending": cost.spending(ledger),
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
    mixed = plan(people, "Hello", to="phone", campaign="mixed", rates=RATES, requests=RequestOptions(chunk_size=1))
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


# -- answers that are kept whole say of every row what they say row by row -----------------------------------------

ATTEMPT = 7
BILLED = {("US", "1"): 1, ("FR", "33"): 12, (None, None): 99_999_999}
Row = tuple[Any, ...]

billings = st.tuples(
    st.sampled_from(list(BILLED)), st.integers(1, 10**9 - 1) | st.just(1), st.integers(0, 10**18 - 1) | st.just(7500)
)
ids = st.binary(min_size=16, max_size=16).map(bytes.hex)


@st.composite
def replies(draw: st.DrawFn) -> tuple[list[str], list[MessageRecord]]:
    """The numbers of a request in their order, and a complete record of each in any order."""
    to = [f"+1202555{place:04}" for place in range(draw(st.integers(1, 12)))]
    return to, [
        MessageRecord(draw(ids), number, *where, parts, price)
        for number in draw(st.permutations(to))
        for where, parts, price in [draw(billings)]
    ]


def numbered(messages: Messages) -> dict[Billing, int]:
    """The billings of a reply as a ledger numbers them."""
    return {billing: 1 + at for at, billing in enumerate(messages.tally) if answering.fits(billing)}


@settings(max_examples=150, deadline=None)
@given(st.lists(replies(), min_size=1, max_size=4))
def test_what_is_kept_whole_reads_back_as_the_records(chunks: list[tuple[list[str], list[MessageRecord]]]) -> None:
    billings = numbered(Messages.of([record for _, records in chunks for record in records]))
    kept = [answering.whole(to, Messages.of(records), billings) for to, records in chunks]
    ordered = [sorted(records, key=lambda record: to.index(record.to)) for to, records in chunks]
    assert [answers is not None for answers in kept] == [
        all(map(answering.fits, Messages.of(one).tally)) for one in ordered
    ]
    for answers, expected in zip(kept, ordered, strict=True):
        assert answers is None or answers.ids.hex() == "".join(str(record.id) for record in expected)
    complete = [(answers, one) for answers, one in zip(kept, ordered, strict=True) if answers]
    if complete:
        rows, kinds = answering.unpacked([answers for answers, _ in complete])
        assert rows.tolist() == [len(one) for _, one in complete]
        assert kinds.tolist() == [billings[billing] for _, one in complete for billing in Messages.of(one).billings]


def record_of(to: str, **other: Any) -> MessageRecord:
    usual: dict[str, Any] = {"id": "0f" * 16, "iso": "US", "cc": "1", "parts": 1, "price_micros": 7500}
    return MessageRecord(to=to, **(usual | other))


TO = ("+12025550100", "+12025550101")
UNUSUAL = [
    {"id": None}, {"id": "0F" * 16}, {"id": "0f" * 15}, {"id": "0f" * 15 + " f"},
    {"id": "not hexadecimal but just as long"}, {"parts": None}, {"price_micros": None},
]  # fmt: skip


@pytest.mark.parametrize("other", UNUSUAL, ids=str)
def test_what_is_not_usual_in_one_record_is_recorded_as_it_is(other: dict[str, Any]) -> None:
    messages = Messages.of([record_of(TO[0]), record_of(TO[1], **other)])
    assert answering.whole(TO, messages, numbered(messages)) is None
    first, second, *strangers = sorted(
        after(answering.by_row({TO[0]: 3, TO[1]: 5}, messages, BILLED), [3, 5], [SENDING] * 2)
    )
    assert first == (1, 0, 3, ACCEPTED, None, b"\x0f" * 16, 1, 1, 7500)
    expected = record_of(TO[1], **other)
    assert second == (1, 0, 5, ACCEPTED, None, packed(expected.id), 1, expected.parts, expected.price_micros)
    assert {stranger[3] for stranger in strangers} == {SENDING}


def packed(name: str | None) -> bytes | str | None:
    return b"\x0f" * 16 if name == "0f" * 16 else name


def kept(*records: MessageRecord) -> bool:
    messages = Messages.of(records)
    return answering.whole(TO, messages, numbered(messages)) is not None


def test_two_ids_that_are_too_short_and_too_long_do_not_pass_for_two_usual_ones() -> None:
    assert kept(record_of(TO[0]), record_of(TO[1]))
    assert not kept(record_of(TO[0], id="0f" * 15), record_of(TO[1], id="0f" * 17))


def test_a_reply_without_a_record_of_each_number_is_not_kept_whole() -> None:
    assert not kept(record_of(TO[1]))
    assert not kept()


def test_a_price_that_could_make_a_sum_overflow_is_not_kept_whole() -> None:
    assert kept(record_of(TO[0]), record_of(TO[1], price_micros=answering.MOST_MICROS))
    assert not kept(record_of(TO[0]), record_of(TO[1], price_micros=answering.MOST_MICROS + 1))


def test_a_billing_without_a_number_is_not_kept_whole() -> None:
    messages = Messages.of([record_of(TO[0]), record_of(TO[1], parts=2)])
    known = numbered(messages)
    assert answering.whole(TO, messages, known)
    known.pop(messages.billings[1])
    assert answering.whole(TO, messages, known) is None


def test_one_billing_for_all_stands_once() -> None:
    messages = Messages.of([record_of(to) for to in TO])
    assert answering.whole(TO, messages, {messages.billings[0]: 258}) == (b"\x0f" * 32, b"\x02\x01")


def after(
    statement: tuple[str, list[Any]], positions: list[int], states: list[int], *, chunk_state: int | None = None
) -> list[Row]:
    """Rows of one chunk, and strangers beside them, after the statement was run."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(TABLES)
    rows = [(1, 0, position, ATTEMPT, state) for position, state in zip(positions, states, strict=True)]
    strangers = [(1, 0, 10_000, 6, SENDING), (1, 1, positions[0], ATTEMPT, SENDING), (2, 0, positions[0], 7, SENDING)]
    connection.executemany(
        "INSERT INTO recipient (campaign, chunk, position, attempt, own_state, problem, destination, attempts) "
        "VALUES (?,?,?,?,?,'X',1,1)",
        rows + strangers,
    )
    connection.execute("INSERT INTO chunk (campaign, chunk, body, state) VALUES (1,0,1,?)", (chunk_state,))
    sql, values = statement
    connection.execute(sql, (*values, 1, 0, ATTEMPT))
    found = connection.execute(
        "SELECT campaign, chunk, position, own_state, problem, message, country, parts, price FROM recipient"
    ).fetchall()
    connection.close()
    return found


@pytest.mark.parametrize("state", range(6))
def test_an_answer_reaches_rows_of_its_attempt_that_wait_for_one(state: int) -> None:
    statement = answering.by_row({TO[0]: 3}, Messages.of([record_of(TO[0])]), BILLED)
    found = next(row for row in after(statement, [3], [state]) if row[:3] == (1, 0, 3))
    assert (found[5] is not None) == (state in {SENDING, IN_DOUBT, PLANNED})
    assert found[3] == (state if found[5] is None else ACCEPTED)


def test_an_answer_that_comes_late_leaves_a_chunk_alone_that_was_sent_anew_as_a_whole() -> None:
    statement = answering.by_row({TO[0]: 3}, Messages.of([record_of(TO[0])]), BILLED)
    assert {row[5] for row in after(statement, [3], [PLANNED], chunk_state=SENDING)} == {None}


def test_a_row_without_an_answer_is_not_accepted() -> None:
    statement = answering.by_row({TO[0]: 0, TO[1]: 1}, Messages.of([record_of(TO[1])]), BILLED)
    states = [row[3] for row in after(statement, [0, 1], [SENDING, SENDING]) if row[:2] == (1, 0) and row[2] < 2]
    assert states == [SENDING, ACCEPTED]
