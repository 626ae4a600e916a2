"""Values as messages hold them: what Babel writes, in GSM-7 where it can be, and what is refused for a column."""

import datetime as dt
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import babel.numbers
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smsotp_nb as sms
from smsotp_nb import parts
from smsotp_nb._templates import as_text
from smsotp_nb._values import Language, is_language, no_value, slot, written, wrong_format
from smsotp_nb.errors import UsageError

LANGUAGES = ["en", "de", "de-CH", "fr", "es", "pl", "hi", "nl", "pt-BR", "sv", "en-IN", "it"]
AMOUNTS = st.decimals(-(10**12), 10**12, places=4, allow_nan=False)
PLAIN = str.maketrans({"\u202f": " ", "\u00a0": " ", "\u2212": "-", "\u2019": "'"})


def written_as(source: str, *values: Any, language: str = "en", currency: str | None = None) -> list[Any]:
    column = pd.Series(list(values), name="x")
    result = written(column, as_text(column), slot(source), Language(language, currency))
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
        ("x", ["Ana", True], "row 1: 'True' is a truth value"),
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
        ("x:date", ["soon"], "row 0 has"),
        ("x:date", [dt.time(9, 5)], "times without a day"),
        ("x:time", [dt.date(2026, 12, 1)], "days without a time"),
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
        written(cells, as_text(cells), slot(source), Language())
    assert len(written_as(source, "2026-12-06 18:30", "2026-12-07 00:00")) == 2


def test_dates_in_two_orders_are_shown_with_their_own_rows() -> None:
    """Also where a cell stands before them twice."""
    with pytest.raises(UsageError, match=r"'25/10/2026' in row 3 begins with the day, '10/25/2026' in row 1"):
        written_as("x:date", "03/10/2026", "10/25/2026", "03/10/2026", "25/10/2026")


@pytest.mark.parametrize("value", [b"Ann", [1, 2], {"a": 1}, pd.Timedelta("1h"), pd.DateOffset(months=1), {"x"}])
@pytest.mark.parametrize("source", ["x", "x:<=9"])
def test_what_has_only_the_text_of_python_is_refused(value: Any, source: str) -> None:
    with pytest.raises(UsageError, match=f"a value of type {type(value).__name__} is no text; make the column"):
        written_as(source, value, value)


def test_a_text_that_is_cut_to_nothing_is_no_value() -> None:
    assert pd.isna(written_as("x:<=3", "\U0001f468\u200d\U0001f469\u200d\U0001f467abc")[0])


def test_hours_of_utc_and_fractions_of_another_language_are_told() -> None:
    people = pd.DataFrame({"phone": ["+12025550123"], "at": pd.Timestamp("2026-12-06 17:30Z"), "owed": 19.99})
    made = sms.plan(people, sms.Message("{at:time} {owed}", language="de"), campaign="told", to="phone")
    assert made.texts.tolist() == ["17:30 19.99"]
    assert "{at:time} is written in UTC" in str(made)
    assert "{owed} is written as 19.99; 'de' has ',' there: write {owed:.2f}" in " ".join(str(made).split())
    people["at"] = people["at"].dt.tz_convert("Europe/Berlin")
    told = sms.plan(people, sms.Message("{at:time} {owed:.2f}", language="de"), campaign="told", to="phone")
    assert told.texts.tolist() == ["18:30 19,99"]
    assert not told.advice


def test_thousands_are_read_where_another_value_shows_the_point_to_be_a_decimal_one() -> None:
    assert written_as("x:.2f", "1.234", "12.5") == ["1.23", "12.50"]


@pytest.mark.parametrize(
    ("text", "none"),
    [*((text, True) for text in ("#N/A", "#REF!", "#NAME?", "#DIV/0!", "#BEZUG!", "#NV", "nan", "None", "NULL", "NaT"))]
    + [(text, False) for text in ("Nan", "Null", "#1", "no. #5", "Nancy", "none of these", "N/A Ltd", "#SALE!", "#1!")],
)
def test_what_programs_write_for_nothing_is_no_value(text: str, none: bool) -> None:
    assert no_value(pd.Series([text])).tolist() == [none]


@pytest.mark.parametrize("source", ["x:d", "x:.2g", "x:%A", "x:upper", "x:", "x:<=x", "x:.2f%"])
def test_a_format_that_is_none_is_named_with_all_there_are(source: str) -> None:
    assert "money .0%; times: date day time weekday" in str(wrong_format(slot(source), None))


def test_a_language_is_a_tag_and_no_country() -> None:
    assert [tag for tag in ("de", "pt-BR", "zh-Hant", "DE", "US", "xx", "German") if is_language(tag)] == [
        "de",
        "pt-BR",
        "zh-Hant",
    ]


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
