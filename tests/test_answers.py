"""The two statements that record answers say the same of every row, and the quick one is taken where it may be."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smsotp_nb.ledger import answers
from smsotp_nb.ledger.schema import ACCEPTED, IN_DOUBT, PLANNED, REJECTED, SENDING, TABLES
from smsotp_nb.wire import MessageRecord, Messages

ATTEMPT = 7
BILLED = {("US", "1"): 1, ("FR", "33"): 12, (None, None): 99_999_999}
Row = tuple[Any, ...]


def after(statement: answers.Statement, positions: list[int], states: list[int]) -> list[Row]:
    """Rows of one chunk, and strangers beside them, after the statement was run."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(TABLES)
    rows = [(1, 0, position, ATTEMPT, state) for position, state in zip(positions, states, strict=True)]
    strangers = [(1, 0, 10_000, 6, SENDING), (1, 1, positions[0], ATTEMPT, SENDING), (2, 0, positions[0], 7, SENDING)]
    connection.executemany(
        "INSERT INTO recipient (campaign, chunk, position, attempt, state, problem, destination, attempts) "
        "VALUES (?,?,?,?,?,'X',1,1)",
        rows + strangers,
    )
    connection.execute(statement.sql, (*statement.values, 1, 0, ATTEMPT))
    found = connection.execute(
        "SELECT campaign, chunk, position, state, problem, message, billed, parts, price FROM recipient"
    ).fetchall()
    connection.close()
    return found


billings = st.tuples(
    st.sampled_from(list(BILLED)), st.integers(1, 10**9 - 1) | st.just(1), st.integers(0, 10**18 - 1) | st.just(7500)
)
ids = st.binary(min_size=16, max_size=16).map(bytes.hex)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_both_statements_record_the_same(data: st.DataObject) -> None:
    positions = sorted(data.draw(st.sets(st.integers(0, 60), min_size=1, max_size=12)))
    states = data.draw(st.lists(st.sampled_from([SENDING, IN_DOUBT, PLANNED, ACCEPTED, REJECTED]),
                                min_size=len(positions), max_size=len(positions)))  # fmt: skip
    place = {f"+1202555{position:04}": position for position in positions}
    records = [
        MessageRecord(data.draw(ids), to, *where, parts, price)
        for to in data.draw(st.permutations(list(place)))
        for where, parts, price in [data.draw(billings)]
    ]
    messages = Messages.of(records)
    quick, slow = answers._slots(place, messages, BILLED), answers._table(place, messages, BILLED)
    if positions[-1] - positions[0] < answers.SPARSEST * len(positions):
        assert quick is not None
        assert after(quick, positions, states) == after(slow, positions, states)
    assert answers.statement(place, messages, BILLED) == (quick or slow)


def record(to: str, **other: Any) -> MessageRecord:
    usual: dict[str, Any] = {"id": "0f" * 16, "iso": "US", "cc": "1", "parts": 1, "price_micros": 7500}
    return MessageRecord(to=to, **(usual | other))


UNUSUAL = [
    {"id": None}, {"id": "0F" * 16}, {"id": "0f" * 15}, {"id": "0f" * 15 + " f"},
    {"id": "not hexadecimal but just as long"}, {"parts": None}, {"price_micros": None},
]  # fmt: skip


@pytest.mark.parametrize("other", UNUSUAL, ids=str)
def test_what_is_not_usual_in_one_record_is_recorded_as_it_is(other: dict[str, Any]) -> None:
    place = {"+12025550100": 3, "+12025550101": 5}
    records = [record("+12025550100"), record("+12025550101", **other)]
    statement = answers.statement(place, Messages.of(records), BILLED)
    first, second, *strangers = sorted(after(statement, [3, 5], [SENDING, SENDING]))
    assert first == (1, 0, 3, ACCEPTED, None, b"\x0f" * 16, 1, 1, 7500)
    expected = record("+12025550101", **other)
    assert second == (1, 0, 5, ACCEPTED, None, packed(expected.id), 1, expected.parts, expected.price_micros)
    assert {stranger[3] for stranger in strangers} == {SENDING}


def packed(name: str | None) -> bytes | str | None:
    return b"\x0f" * 16 if name == "0f" * 16 else name


@pytest.mark.parametrize("between", [0, 1, 14], ids=["no gap", "a gap", "the widest gap"])
def test_an_ordinary_reply_takes_the_quick_way(between: int) -> None:
    place = {"+12025550100": 3, "+12025550101": 4 + between}
    assert answers.statement(place, Messages.of([record(to) for to in place]), BILLED).sql == answers._FROM_SLOTS


def test_two_ids_that_are_too_short_and_too_long_do_not_pass_for_two_usual_ones() -> None:
    place = {"+12025550100": 0, "+12025550101": 1}
    records = [record("+12025550100", id="0f" * 15), record("+12025550101", id="0f" * 17)]
    assert answers._slots(place, Messages.of(records), BILLED) is None


def test_a_row_without_an_answer_is_not_accepted() -> None:
    place = {"+12025550100": 0, "+12025550101": 1}
    statement = answers.statement(place, Messages.of([record("+12025550101")]), BILLED)
    states = [row[3] for row in after(statement, [0, 1], [SENDING, SENDING]) if row[:2] == (1, 0) and row[2] < 2]
    assert states == [SENDING, ACCEPTED]


def test_a_number_too_long_for_its_place_in_the_line_is_recorded_all_the_same() -> None:
    place, billed = {"+12025550100": 0, "+12025550101": 1}, {("US", "1"): 10**8}
    statement = answers.statement(place, Messages.of([record(to) for to in place]), billed)
    assert [row[6:] for row in after(statement, [0, 1], [SENDING] * 2)[:2]] == [(10**8, 1, 7500)] * 2


def test_rows_far_apart_take_no_line_of_mostly_nothing() -> None:
    place = {"+12025550100": 0, "+12025550101": 10**7}
    messages = Messages.of([record(to) for to in place])
    assert answers._slots(place, messages, BILLED) is None
    assert [row[3] for row in after(answers._table(place, messages, BILLED), [0, 10**7], [SENDING] * 2)].count(
        ACCEPTED
    ) == 2
