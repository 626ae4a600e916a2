"""Samples of tables: the same for the same seed, spread over the table, and over many days every row."""

from __future__ import annotations

from itertools import islice

import pytest
from support.sampling import Sample

ROWS = list(range(100))


@pytest.mark.parametrize("count", [1, 7, 99])
def test_a_sample_has_one_row_of_each_stretch(count: int) -> None:
    rows = Sample("2026-11-25")(ROWS, count)
    assert rows == Sample("2026-11-25")(ROWS, count) == sorted(set(rows))
    assert [row * count // len(ROWS) for row in rows] == pytest.approx(list(range(count)), abs=1)
    assert len(rows) == count


def test_other_seeds_take_other_rows_until_each_was_taken() -> None:
    taken = {row for day in range(60) for row in Sample(f"day {day}")(ROWS, 20)}
    assert taken == set(ROWS)


def test_all_rows_are_taken_where_all_are_asked_for_or_are_few() -> None:
    assert Sample("a day", exhaustive=True)(ROWS, 3) == ROWS
    assert Sample("a day")(ROWS[:3], 3) == ROWS[:3]


def test_over_some_days_it_is_everybodys_turn_and_on_none_that_of_all() -> None:
    days = [[name for name in "abcdefghij" if Sample(f"day {day}").chosen(name)] for day in range(30)]
    assert all(0 < len(names) < 10 for names in days)
    assert set().union(*days) == set("abcdefghij")


def test_turns_begin_anywhere_and_leave_out_nothing() -> None:
    assert {next(Sample(f"day {day}").turned("abc")) for day in range(30)} == set("abc")
    assert set(islice(Sample("a day").turned("abc"), 3)) == set("abc")
