"""Templates: what a placeholder is, what it is not, and how values become text."""

from __future__ import annotations

import datetime as dt
import pickle
import time
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.dtypes import STR

from smsotp_nb import _templates as templates
from smsotp_nb.errors import UsageError

PEOPLE = pd.DataFrame(
    {"name": ["Ana", None, " "], "first name": ["A", "B", "C"], "n": [1.0, 2.5, np.nan]}, index=[7, 7, 2]
)


def filled(text: str, **frame: Any) -> list[Any]:
    return templates.parse(text).fill(pd.DataFrame(frame)).text.tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Hi {name}", "Hi Ana", id="a column"),
        pytest.param("{name}{name}", "AnaAna", id="twice"),
        pytest.param("{first name}!", "A!", id="a name with a blank"),
        pytest.param("{{name}} {{}}", "{name} {}", id="doubled braces are text"),
        pytest.param("{{{name}}}", "{Ana}", id="braces around a value"),
        pytest.param("no placeholder", "no placeholder", id="none"),
    ],
)
def test_filling(text: str, expected: str) -> None:
    assert templates.parse(text).fill(PEOPLE).text.tolist()[0] == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("Hi {name", "single '{' at character 4", id="not closed"),
        pytest.param("Hi name}", "single '}' at character 8", id="not opened"),
        pytest.param("Hi {}", "empty placeholder", id="empty"),
        pytest.param("Hi {a{b}}", "single '{'", id="nested"),
    ],
)
def test_a_bad_brace_is_named_with_its_place(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        templates.parse(text)


@pytest.mark.parametrize("text", ["{name.upper}", "{name!r}", "{name[0]}", "{name.__class__}"])
def test_attributes_are_not_read(text: str) -> None:
    with pytest.raises(UsageError, match=r"did you mean 'name'\?.*Attributes are not read"):
        templates.parse(text).fill(PEOPLE)


def test_every_unknown_name_is_listed_with_the_closest_column() -> None:
    with pytest.raises(UsageError) as caught:
        templates.parse("{nmae} {zip} {n:>10}").fill(PEOPLE)
    assert len(caught.value.problems) == 3
    assert "{n:>10} has the format '>10', which is none; numbers: .2f" in caught.value.problems[2]
    assert "did you mean 'name'?" in caught.value.problems[0]


def test_a_repeated_column_name_is_refused() -> None:
    twice = pd.DataFrame([["a", "b"]], columns=["name", "name"])
    with pytest.raises(UsageError, match="2 columns are named 'name'"):
        templates.parse("{name}").fill(twice)


def test_filled_text_is_not_expanded_again() -> None:
    assert filled("Hi {a}", a=["{b}"], b=["no"]) == ["Hi {b}"]


def test_a_missing_or_blank_value_is_missing_and_named() -> None:
    found = templates.parse("{name} {n}").fill(PEOPLE)
    assert found.missing.tolist() == [False, True, True]
    assert found.text.isna().tolist() == [False, True, True]
    assert found.columns.tolist()[1:] == ["VALUE_MISSING:name", "VALUE_MISSING:name VALUE_MISSING:n"]
    assert found.text.index.tolist() == [7, 7, 2]


def test_words_stand_in_for_missing_values_only() -> None:
    found = templates.parse("{name|you} {n:.1f|none}").fill(PEOPLE)
    assert found.text.tolist() == ["Ana 1.0", "you 2.5", "you none"]
    assert not found.missing.any()


def test_nothing_may_stand_for_a_missing_value() -> None:
    assert templates.parse("Hi{name|}").fill(PEOPLE).text.tolist() == ["HiAna", "Hi", "Hi"]


def test_a_placeholder_that_is_the_whole_name_of_a_column_is_that_column() -> None:
    assert filled("{Due: day|x} {Due: day}", **{"Due: day|x": ["a"], "Due: day": ["b"]}) == ["a b"]


def test_blanks_around_values_are_left_out() -> None:
    assert filled("{a}!", a=[" Ana\u00a0", "Bo "]) == ["Ana!", "Bo!"]


NAIVE = pd.Timestamp("2026-03-01 09:30")
AS_TEXT = [
    pytest.param(
        pd.Series([20.0, 7.5, 1e-7, 1e22, -0.0]), ["20", "7.5", "0.0000001", "1" + "0" * 22, "0"], id="floats"
    ),
    pytest.param(pd.Series([0.1], dtype="float32"), ["0.1"], id="float32"),
    pytest.param(pd.Series([np.inf, -np.inf, np.nan]), [None] * 3, id="infinities are missing"),
    pytest.param(pd.Series([1, None], dtype="Int64"), ["1", None], id="Int64"),
    pytest.param(pd.Series([2**60 + 1], dtype="int64"), ["1152921504606846977"], id="large integers keep every digit"),
    pytest.param(pd.Series([1.5, None], dtype="Float64"), ["1.5", None], id="Float64"),
    pytest.param(pd.Series([Decimal("20.00"), Decimal("2E+1"), Decimal("NaN")]), ["20.00", "20", None], id="Decimals"),
    pytest.param(pd.Series([dt.date(2026, 3, 1), None]), ["2026-03-01", None], id="dates"),
    pytest.param(pd.Series(pd.to_datetime(["2026-03-01", None])), ["2026-03-01", None], id="days as timestamps"),
    pytest.param(pd.Series([NAIVE, NAIVE.normalize()]), ["2026-03-01T09:30:00", "2026-03-01T00:00:00"], id="times"),
    pytest.param(pd.Series([NAIVE.tz_localize("UTC")]), ["2026-03-01T09:30:00+00:00"], id="times with an offset"),
    pytest.param(pd.Series(["a", None, "a"], dtype="category"), ["a", None, "a"], id="category"),
    pytest.param(pd.Series([1.0, None, 2.0], dtype="category"), ["1", None, "2"], id="category of numbers"),
    pytest.param(pd.Series(["a", None], dtype="string[pyarrow]"), ["a", None], id="string[pyarrow]"),
    pytest.param(pd.Series([1, 2], dtype="int64[pyarrow]"), ["1", "2"], id="arrow integers"),
    pytest.param(pd.Series([True, None], dtype="boolean"), ["True", None], id="boolean"),
    pytest.param(
        pd.Series([1, True, 1.0, Decimal("1.0"), "1"], dtype=object), ["1", "True", "1", "1.0", "1"], id="mixed"
    ),
    pytest.param(pd.Series(["\ud83d", "ok"], dtype=object), [None, "ok"], id="half a surrogate pair is missing"),
    pytest.param(pd.Series([], dtype=object), [], id="empty"),
    pytest.param(pd.Series([], dtype="datetime64[us]"), [], id="no dates"),
]


@pytest.mark.parametrize(("series", "expected"), AS_TEXT)
def test_values_become_text_as_people_write_them(series: pd.Series, expected: list[str | None]) -> None:
    found = templates.as_text(series)
    assert [None if pd.isna(text) else text for text in found] == expected
    assert found.dtype == STR
    assert found.index.equals(series.index)


@given(st.lists(st.integers(-(10**15), 10**15), min_size=1))
@settings(deadline=None)
def test_integral_floats_read_like_the_integers(values: list[int]) -> None:
    assert templates.as_text(pd.Series(values, dtype="float64")).tolist() == [str(value) for value in values]


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(deadline=None)
def test_a_float_written_out_is_the_same_float_without_exponent(value: float) -> None:
    text = templates.as_text(pd.Series([value])).iloc[0]
    assert float(text) == value
    assert "e" not in text.lower()
    assert not text.endswith(".0")


@given(st.text(st.sampled_from("ab {}"), max_size=12))
@settings(deadline=None)
def test_doubling_every_brace_gives_the_text_back(text: str) -> None:
    template = templates.parse(text.replace("{", "{{").replace("}", "}}"))
    assert template.names == ()
    assert "".join(template.literals) == text


def test_the_callers_frame_is_not_changed() -> None:
    before = PEOPLE.copy(deep=True)
    templates.parse("{name|x} {n}").fill(PEOPLE)
    pd.testing.assert_frame_equal(PEOPLE, before)


def test_a_template_is_a_value() -> None:
    template = templates.parse("Hi {name}")
    assert pickle.loads(pickle.dumps(template)) == template
    assert hash(template) == hash(templates.parse("Hi {name}"))


def test_many_doubled_braces_are_read_in_linear_time() -> None:
    began = time.process_time()
    assert templates.parse("{{" * 1_500_000).literals == ("{" * 1_500_000,)
    assert time.process_time() - began < 15  # joined one by one they took minutes
