"""Templates: what a placeholder is and what it is not, and how values become text, in any format and language."""

from __future__ import annotations

import datetime as dt
import pickle
import time
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import babel.numbers
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning.test_foreign_placeholders import FOREIGN, listed
from support.dtypes import STR

import smsotp_nb as sms
from smsotp_nb import _templates as templates
from smsotp_nb import parts
from smsotp_nb._calling import refuse
from smsotp_nb._planning.mistakes import Foreign
from smsotp_nb._values import Language, is_language, no_value, slot, written, wrong_format
from smsotp_nb.errors import UsageError

PEOPLE = pd.DataFrame(
    {"name": ["Ana", None, " "], "first name": ["A", "B", "C"], "n": [1.0, 2.5, np.nan]}, index=[7, 7, 2]
)


def fill(text: str, frame: pd.DataFrame) -> tuple[list[Any], list[bool], list[Any]]:
    """Return the texts of all rows, which rows lack a value, and which value that is."""
    slots = [templates.fitted(one, frame.columns) for one in templates.parse(text).slots]
    refuse(*templates.wrong_slots(slots, frame, None))
    texts = templates.column_texts(frame, slots, Language())
    whole = templates.written(templates.Template(templates.parse(text).literals, tuple(slots)), texts, len(frame))
    return whole.tolist(), *(found.tolist() for found in templates.missing_values(texts, len(frame)))


def filled(text: str, **frame: Any) -> list[Any]:
    return fill(text, pd.DataFrame(frame))[0]


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
    assert fill(text, PEOPLE)[0][0] == expected


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
        fill(text, PEOPLE)


def test_every_unknown_name_is_listed_with_the_closest_column() -> None:
    with pytest.raises(UsageError) as caught:
        fill("{nmae} {zip} {n:>10}", PEOPLE)
    assert len(caught.value.problems) == 3
    assert "{n:>10} has the format '>10', which is none; numbers: .2f" in caught.value.problems[2]
    assert "did you mean 'name'?" in caught.value.problems[0]


def test_a_repeated_column_name_is_refused() -> None:
    twice = pd.DataFrame([["a", "b"]], columns=["name", "name"])
    with pytest.raises(UsageError, match="2 columns are named 'name'"):
        fill("{name}", twice)


def test_filled_text_is_not_expanded_again() -> None:
    assert filled("Hi {a}", a=["{b}"], b=["no"]) == ["Hi {b}"]


def test_a_missing_or_blank_value_is_missing_and_named() -> None:
    texts, missing, columns = fill("{name} {n}", PEOPLE)
    assert missing == [False, True, True]
    assert [pd.isna(text) for text in texts] == [False, True, True]
    assert columns[1:] == ["VALUE_MISSING:name", "VALUE_MISSING:name VALUE_MISSING:n"]


def test_words_stand_in_for_missing_values_only() -> None:
    texts, missing, _ = fill("{name|you} {n:.1f|none}", PEOPLE)
    assert texts == ["Ana 1.0", "you 2.5", "you none"]
    assert not any(missing)


def test_nothing_may_stand_for_a_missing_value() -> None:
    assert fill("Hi{name|}", PEOPLE)[0] == ["HiAna", "Hi", "Hi"]


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
    assert template.slots == ()
    assert "".join(template.literals) == text


def test_the_callers_frame_is_not_changed() -> None:
    before = PEOPLE.copy(deep=True)
    fill("{name|x} {n}", PEOPLE)
    pd.testing.assert_frame_equal(PEOPLE, before)


def test_a_template_is_a_value() -> None:
    template = templates.parse("Hi {name}")
    assert pickle.loads(pickle.dumps(template)) == template
    assert hash(template) == hash(templates.parse("Hi {name}"))


def test_many_doubled_braces_are_read_in_linear_time() -> None:
    began = time.process_time()
    assert templates.parse("{{" * 1_500_000).literals == ("{" * 1_500_000,)
    assert time.process_time() - began < 15  # joined one by one they took minutes


# -- values as messages hold them: what Babel writes, in GSM-7 where it can be ----------------------


LANGUAGES = ["en", "de", "de-CH", "fr", "es", "pl", "hi", "nl", "pt-BR", "sv", "en-IN", "it"]
AMOUNTS = st.decimals(-(10**12), 10**12, places=4, allow_nan=False)
PLAIN = str.maketrans({"\u202f": " ", "\u00a0": " ", "\u2212": "-", "\u2019": "'"})


def written_as(source: str, *values: Any, language: str = "en", currency: str | None = None) -> list[Any]:
    column = pd.Series(list(values), name="x")
    result = written(column, templates.as_text(column), slot(source), Language(language, currency))
    return [None if pd.isna(value) else value for value in result]


@given(AMOUNTS, st.sampled_from(LANGUAGES), st.sampled_from(["EUR", "USD", "GBP", "JPY", "KWD"]))
def test_money_is_what_babel_writes_of_the_amount_rounded_half_up(amount: Decimal, language: str, code: str) -> None:
    places = babel.numbers.get_currency_precision(code)
    rounded = amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    said = babel.numbers.format_currency(rounded if rounded else abs(rounded), code, locale=language.replace("-", "_"))
    (text,) = written_as("x:money", amount, language=language, currency=code)
    assert text == said.translate(PLAIN) or code in text


@given(AMOUNTS, st.sampled_from(LANGUAGES), st.integers(0, 4))
def test_a_number_is_what_babel_writes_and_stays_in_gsm7(amount: Decimal, language: str, places: int) -> None:
    rounded = amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    pattern = babel.Locale.parse(language.replace("-", "_")).decimal_formats[None].pattern.partition(".")[0]
    pattern += "." + "0" * places if places else ""
    said = babel.numbers.format_decimal(rounded if rounded else abs(rounded), pattern, language.replace("-", "_"))
    (text,) = written_as(f"x:,.{places}f", amount, language=language)
    assert text == said.translate(PLAIN)
    assert parts.count(text).encoding == "gsm7"


@pytest.mark.parametrize(
    ("source", "value", "language", "said"),
    [
        ("x:.2f", 0.1 * 3, "en", "0.30"),
        ("x:.2f", 0.125, "de", "0,13"),
        ("x:.2f", 1.005, "en", "1.01"),  # of the shortest decimal, not of its binary fraction
        ("x:.0f", 2.5, "en", "3"),
        ("x:,.2f", 1234567.5, "hi", "12,34,567.50"),
        ("x:.0%", 0.125, "en", "13%"),
        ("x:.1%", 0.125, "de", "12,5 %"),
        ("x:.2f", -0.001, "en", "0.00"),
        ("x:.2f", "007.5", "en", "7.50"),
        ("x:date", pd.Timestamp("2026-12-01 18:30"), "de", "01.12.2026"),
        ("x:date", dt.date(2026, 12, 1), "en", "Dec 1, 2026"),
        ("x:date", "2026-12-01", "fr", "1 déc. 2026"),
        ("x:day", pd.Timestamp("2026-12-01 18:30"), "de", "1. Dezember"),
        ("x:weekday", pd.Timestamp("2026-12-01 18:30"), "es", "martes"),
        ("x:time", pd.Timestamp("2026-12-01 18:30"), "en", "6:30 PM"),
        ("x:time", pd.Timestamp("2026-12-01 18:30", tz="Europe/Berlin"), "de", "18:30"),
        ("x:time", dt.time(9, 5), "de", "09:05"),
        ("x:%d.%m.%Y %H:%M", pd.Timestamp("2026-12-01 18:30"), "en", "01.12.2026 18:30"),
        ("x:member/guest", True, "en", "member"),
        ("x:yes/no", "FALSE", "en", "no"),
        ("x:ja/nein", 1, "de", "ja"),
        ("x:<=4", "Anne-Marie", "en", "Anne"),
        ("x", 7.5, "en", "7.5"),
    ],
)
def test_a_format_writes(source: str, value: Any, language: str, said: str) -> None:
    assert written_as(source, value, None, language=language) == [said, None]


@pytest.mark.parametrize(
    ("source", "values", "said"),
    [
        ("x", [0.1 * 3, 1.5], r"column 'x', row 0: '0.30000000000000004' has more than six.*write \{x:\.2f\}"),
        ("x", ["0.30000000000000004"], "more than six decimal places"),
        ("x|there", [True, None], r"'True' is a truth value; write \{x:yes/no\|there\}"),
        ("x", ["true", "FALSE"], r"\{x:yes/no\}"),
        ("x", ["Ana", True], "row 1: 'True' is a truth value beside other values; put words in its place"),
        ("x", [dt.time(18, 30)], r"is a time; write \{x:time\} or %H:%M"),
        ("x", ["soon", dt.date(2026, 12, 1)], "row 1: '2026-12-01' is a time"),
        ("x", [pd.Timestamp("2026-12-01 18:30")], r"is a time; write \{x:date\}"),
        ("x", [dt.date(2026, 12, 1)], r"\{x:date\}"),
        ("x", ["2026-12-01T18:30:00"], r"\{x:date\}"),
        ("x:.2f", ["12.50", "twelve"], "row 1: 'twelve' is not a number"),
        ("x:money", ["1.234"], "may be thousands or a fraction"),
        ("x:money", ["1,5"], "'1,5' is not a number"),
        ("x:.2f", [True], "'True' is not a number"),
        ("x:.0%", [pd.Timestamp("2026-12-01")], "is not a number"),
        ("x:yes/no", ["perhaps"], "'perhaps' is not a truth value"),
        ("x:date", ["03/10/2026"], "can be read in two ways"),
        ("x:date", ["soon"], r"row 0 has .* needs a time such as 2026-10-03$"),
        ("x:date", [dt.time(9, 5)], "times without a day"),
        ("x:time", [dt.date(2026, 12, 1)], "days without a time"),
        ("x:date", ["18:30"], "times without a day"),
        ("x:<=3", [1234], "is no text"),
    ],
)
def test_what_a_format_cannot_say_is_refused(source: str, values: list[Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        written_as(source, *values, currency="EUR")


@pytest.mark.parametrize("source", ["x:time", "x:%H:%M"])
def test_a_day_among_times_is_refused_with_its_row(source: str) -> None:
    """No time is made up for it; a midnight that is written is one."""
    cells = pd.Series(["2026-12-06 18:30", "2026-12-06 18:30", "2026-12-07"], index=list("abc"), name="x")
    with pytest.raises(UsageError, match=r"row 'c': '2026-12-07' is a day without a time"):
        written(cells, templates.as_text(cells), slot(source), Language())
    assert len(written_as(source, "2026-12-06 18:30", "2026-12-07 00:00")) == 2


def test_dates_in_two_orders_are_shown_with_their_own_rows() -> None:
    """Also where a cell stands before them twice."""
    with pytest.raises(UsageError, match=r"'25/10/2026' in row 3 begins with the day, '10/25/2026' in row 1"):
        written_as("x:date", "03/10/2026", "10/25/2026", "03/10/2026", "25/10/2026")


def test_dates_of_which_a_spreadsheet_took_a_part_are_refused() -> None:
    """In a file with the day first it takes 03/10/2026 for 10 March, and leaves 25/10/2026 as text."""
    with pytest.raises(
        UsageError, match=r"'2026-03-10' in row 0 and '25/10/2026' in row 1. A spreadsheet .* exchanged"
    ):
        written_as("x:date", "2026-03-10", "25/10/2026")
    assert written_as("x:date", "2026-03-25", "25/10/2026") == ["Mar 25, 2026", "Oct 25, 2026"]


def test_a_time_of_day_may_be_text_as_workbooks_and_people_write_it() -> None:
    for texts in (("18:30:00", "9:05"), ("6:30 PM", " 9:05 a.m.")):
        assert written_as("x:time", *texts) == ["6:30 PM", "9:05 AM"]
    for text in ("1830", "18", "18:30Z"):
        with pytest.raises(UsageError, match="needs a time such as 2026-10-03 18:30"):
            written_as("x:time", text)


@pytest.mark.parametrize("value", [1765042200, "1765042200", "1765042200000"])
def test_a_count_of_seconds_is_made_a_time_as_its_error_says(value: Any) -> None:
    with pytest.raises(UsageError, match="since 1970") as caught:
        written_as("x:date", value)
    how = str(caught.value).partition("make it a time by ")[2].partition(";")[0]
    assert written_as("x:date", *eval(how, {"pd": pd, "column": pd.Series([value])})) == ["Dec 6, 2025"]


def test_times_of_several_zones_are_told() -> None:
    people = pd.DataFrame({"phone": ["+12025550123"] * 2, "at": ["2026-12-06T18:30Z", "2026-12-06 18:30+01:00"]})
    made = sms.plan(people, "{at:time}", campaign="told", to="phone")
    assert "{at:time} is written as each value has it, by 2 clocks" in " ".join(str(made).split())


@pytest.mark.parametrize("value", [b"Ann", [1, 2], {"a": 1}, pd.Timedelta("1h"), pd.DateOffset(months=1), {"x"}])
@pytest.mark.parametrize("source", ["x", "x:<=9"])
def test_what_has_only_the_text_of_python_is_refused(value: Any, source: str) -> None:
    with pytest.raises(UsageError, match=f"a value of type {type(value).__name__} is no text; write it as text"):
        written_as(source, value, value)


def test_a_share_is_written_as_one_and_as_no_other_number() -> None:
    assert filled("{x:.1%}", x=["20%", "7.5%", "0.5"]) == ["20.0%", "7.5%", "50.0%"]
    assert filled("{x}", x=["20%", "7.5%", "0.5"]) == ["20%", "7.5%", "0.5"]
    for form in (".2f", ",.0f"):
        with pytest.raises(UsageError, match=r"column 'x', row 0: '20%' is a share; write \{x:.0%\}, or \{x\}"):
            filled(f"{{x:{form}}}", x=["20%", "7.5%"])


def test_a_text_that_is_cut_to_nothing_is_no_value() -> None:
    assert pd.isna(written_as("x:<=3", "\U0001f468\u200d\U0001f469\u200d\U0001f467abc")[0])


def test_hours_of_utc_and_fractions_of_another_language_are_told() -> None:
    people = pd.DataFrame({"phone": ["+12025550123"], "at": pd.Timestamp("2026-12-06 17:30Z"), "owed": 19.99})
    made = sms.plan(people, sms.Message("{at:time} {owed}", language="de"), campaign="told", to="phone")
    assert made.texts.tolist() == ["17:30 19.99"]
    assert "{at:time} is written in UTC" in str(made)
    assert "{owed} is written as 19.99; 'de' has ',' there: write {owed:.2f}" in " ".join(str(made).split())
    for at in (people["at"], pd.Series(["2026-12-06T17:30Z"])):
        how = next(said for said in made.advice if "UTC" in said).partition("convert it first: ")[2]
        people["at"] = eval(how, {"pd": pd, "frame": people.assign(at=at)})
        told = sms.plan(people, sms.Message("{at:time} {owed:.2f}", language="de"), campaign="told", to="phone")
        assert told.texts.tolist() == ["18:30 19,99"]
        assert not told.advice


def test_thousands_are_read_where_another_value_shows_the_point_to_be_a_decimal_one() -> None:
    assert written_as("x:.2f", "1.234", "12.5") == ["1.23", "12.50"]


@pytest.mark.parametrize(
    ("text", "none"),
    [
        *(
            (text, True)
            for text in (
                "#N/A",
                *(
                    "#ЗНАЧ!",
                    "#Н/Д",
                    "#VÄRDEFEL!",
                    "#HIÁNYZIK",
                    "#AD?",
                    "#ERROR!",
                    "Err:502",
                    "Loading...",
                    "[object Object]",
                ),
                "#REF!",
                "#NAME?",
                "#DIV/0!",
                "#BEZUG!",
                "#NV",
                "#ERREUR!",
                "#FEHLER!",
                "#BŁĄD!",
                "#¡ERROR!",
                "nan",
                "None",
                "NULL",
                "NaT",
                "NA",
                "\\N",
                "(blank)",
                "k.A.",
            )
        )
    ]
    + [
        (text, False)
        for text in ("Nan", "Null", "Na", "#1", "no. #5", "Nancy", "none of these", "N/A Ltd", "#SALE!", "#1!")
    ],
)
def test_what_programs_write_for_nothing_is_no_value(text: str, none: bool) -> None:
    assert no_value(pd.Series([text])).tolist() == [none]


def test_a_format_behind_the_words_for_a_missing_value_is_refused() -> None:
    assert "write {owed:.2f|nothing}" in str(wrong_format(slot("owed|nothing:.2f"), None))
    assert wrong_format(slot("owed|see: terms"), None) is None


@pytest.mark.parametrize("source", ["x:d", "x:.2g", "x:%A", "x:upper", "x:", "x:<=x", "x:.2f%"])
def test_a_format_that_is_none_is_named_with_all_there_are(source: str) -> None:
    assert "money .0%; times: date day time weekday" in str(wrong_format(slot(source), None))


def test_a_language_is_a_tag_and_no_country() -> None:
    assert [tag for tag in ("de", "pt-BR", "zh-Hant", "DE", "US", "xx", "German") if is_language(tag)] == [
        "de",
        "pt-BR",
        "zh-Hant",
    ]


@pytest.mark.sampled(24)
@pytest.mark.parametrize("shape", FOREIGN)
def test_many_texts_are_looked_through_by_patterns_that_miss_none(shape: str) -> None:
    foreign = Foreign(listed(), listed().columns, ours=False)
    texts = pa.array([shape, f"Hi {shape}!", f"{shape}, hi"])
    assert foreign.found(texts)
    for text in texts:
        if foreign.found(pa.array([text.as_py()])):
            assert any(pc.match_substring_regex(pa.array([text]), one)[0].as_py() for one in foreign._suspect())


@pytest.mark.parametrize(
    "words",
    ["|there", "'there'", '"there"', "default:'there'", "default: 'a' | upper", "upper", "capitalize", "default('x')",
     "fallback=there", "Title", "trim", "date: '%d'", "truncate(20)"],
)  # fmt: skip
def test_a_filter_of_another_tool_is_no_word_for_a_missing_value(words: str) -> None:
    said = wrong_format(slot(f"x|{words}"), None) or ""
    assert "a filter and would be sent literally; write {x|words}" in said


@pytest.mark.parametrize("words", ["there", "default", "friend's", "at: 5 pm", "open (see site)", "friend(s)", "safe"])
def test_plain_words_for_a_missing_value_are_no_filter(words: str) -> None:
    assert wrong_format(slot(f"x|{words}"), None) is None
