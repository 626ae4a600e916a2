"""Answers are kept whole where they may be, and then say of every row what they say row by row."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smsotp_nb._ledger.rows.answers import MOST_MICROS, by_row, fits, unpacked, whole
from smsotp_nb._ledger.rows.tables import ACCEPTED, IN_DOUBT, PLANNED, SENDING, TABLES
from smsotp_nb._wire import Billing, MessageRecord, Messages

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
    return {billing: 1 + at for at, billing in enumerate(messages.tally) if fits(billing)}


@settings(max_examples=150, deadline=None)
@given(st.lists(replies(), min_size=1, max_size=4))
def test_what_is_kept_whole_reads_back_as_the_records(chunks: list[tuple[list[str], list[MessageRecord]]]) -> None:
    billings = numbered(Messages.of([record for _, records in chunks for record in records]))
    kept = [whole(to, Messages.of(records), billings) for to, records in chunks]
    ordered = [sorted(records, key=lambda record: to.index(record.to)) for to, records in chunks]
    assert [answers is not None for answers in kept] == [all(map(fits, Messages.of(one).tally)) for one in ordered]
    for answers, expected in zip(kept, ordered, strict=True):
        assert answers is None or answers.ids.hex() == "".join(str(record.id) for record in expected)
    complete = [(answers, one) for answers, one in zip(kept, ordered, strict=True) if answers]
    if complete:
        rows, kinds = unpacked([answers for answers, _ in complete])
        assert rows.tolist() == [len(one) for _, one in complete]
        assert kinds.tolist() == [billings[billing] for _, one in complete for billing in Messages.of(one).billings]


def record(to: str, **other: Any) -> MessageRecord:
    usual: dict[str, Any] = {"id": "0f" * 16, "iso": "US", "cc": "1", "parts": 1, "price_micros": 7500}
    return MessageRecord(to=to, **(usual | other))


TO = ("+12025550100", "+12025550101")
UNUSUAL = [
    {"id": None}, {"id": "0F" * 16}, {"id": "0f" * 15}, {"id": "0f" * 15 + " f"},
    {"id": "not hexadecimal but just as long"}, {"parts": None}, {"price_micros": None},
]  # fmt: skip


@pytest.mark.parametrize("other", UNUSUAL, ids=str)
def test_what_is_not_usual_in_one_record_is_recorded_as_it_is(other: dict[str, Any]) -> None:
    messages = Messages.of([record(TO[0]), record(TO[1], **other)])
    assert whole(TO, messages, numbered(messages)) is None
    first, second, *strangers = sorted(after(by_row({TO[0]: 3, TO[1]: 5}, messages, BILLED), [3, 5], [SENDING] * 2))
    assert first == (1, 0, 3, ACCEPTED, None, b"\x0f" * 16, 1, 1, 7500)
    expected = record(TO[1], **other)
    assert second == (1, 0, 5, ACCEPTED, None, packed(expected.id), 1, expected.parts, expected.price_micros)
    assert {stranger[3] for stranger in strangers} == {SENDING}


def packed(name: str | None) -> bytes | str | None:
    return b"\x0f" * 16 if name == "0f" * 16 else name


def kept(*records: MessageRecord) -> bool:
    messages = Messages.of(records)
    return whole(TO, messages, numbered(messages)) is not None


def test_two_ids_that_are_too_short_and_too_long_do_not_pass_for_two_usual_ones() -> None:
    assert kept(record(TO[0]), record(TO[1]))
    assert not kept(record(TO[0], id="0f" * 15), record(TO[1], id="0f" * 17))


def test_a_reply_without_a_record_of_each_number_is_not_kept_whole() -> None:
    assert not kept(record(TO[1]))
    assert not kept()


def test_a_price_that_could_make_a_sum_overflow_is_not_kept_whole() -> None:
    assert kept(record(TO[0]), record(TO[1], price_micros=MOST_MICROS))
    assert not kept(record(TO[0]), record(TO[1], price_micros=MOST_MICROS + 1))


def test_a_billing_without_a_number_is_not_kept_whole() -> None:
    messages = Messages.of([record(TO[0]), record(TO[1], parts=2)])
    known = numbered(messages)
    assert whole(TO, messages, known)
    known.pop(messages.billings[1])
    assert whole(TO, messages, known) is None


def test_one_billing_for_all_stands_once() -> None:
    messages = Messages.of([record(to) for to in TO])
    assert whole(TO, messages, {messages.billings[0]: 258}) == (b"\x0f" * 32, b"\x02\x01")


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
    statement = by_row({TO[0]: 3}, Messages.of([record(TO[0])]), BILLED)
    found = next(row for row in after(statement, [3], [state]) if row[:3] == (1, 0, 3))
    assert (found[5] is not None) == (state in {SENDING, IN_DOUBT, PLANNED})
    assert found[3] == (state if found[5] is None else ACCEPTED)


def test_an_answer_that_comes_late_leaves_a_chunk_alone_that_was_sent_anew_as_a_whole() -> None:
    statement = by_row({TO[0]: 3}, Messages.of([record(TO[0])]), BILLED)
    assert {row[5] for row in after(statement, [3], [PLANNED], chunk_state=SENDING)} == {None}


def test_a_row_without_an_answer_is_not_accepted() -> None:
    statement = by_row({TO[0]: 0, TO[1]: 1}, Messages.of([record(TO[1])]), BILLED)
    states = [row[3] for row in after(statement, [0, 1], [SENDING, SENDING]) if row[:2] == (1, 0) and row[2] < 2]
    assert states == [SENDING, ACCEPTED]
