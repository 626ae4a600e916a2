"""Whole lists: report, columns found by content, several numbers in a cell, repeats, chunks, explanations."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pandas as pd
import phonenumbers
import pytest
from phonenumbers import PhoneNumberFormat
from support import phone_lists

from smsotp_nb import __main__ as cli
from smsotp_nb import phones
from smsotp_nb.errors import UsageError
from smsotp_nb.recipients import read_chunks

US, AU = "+14155550100", "+61491570156"
RAW = [US, " +1 415 555 0100", "n/a", "5550100", "0491 570 156", "'+61491570157", None]
COUNTRY = ["US", "US", "US", "US", "australia", None, None]


@pytest.fixture
def people() -> pd.DataFrame:
    """Seven rows whose labels repeat."""
    return pd.DataFrame({"phone": RAW, "country": COUNTRY}, index=list("aabbccd"))


@pytest.fixture
def judged(people: pd.DataFrame) -> pd.DataFrame:
    return phones.normalize(people["phone"], region=people["country"])


def test_report_counts(people: pd.DataFrame, judged: pd.DataFrame) -> None:
    """Rows, usable, repaired, repeated; each problem and note with meaning, question and examples."""
    report = phones.report(judged, phones=people["phone"])
    assert (report.rows, report.usable, report.repaired, report.repeated) == (7, 4, 2, 1)
    assert report.problems[["problem", "rows", "examples"]].values.tolist() == [
        ["MISSING", 2, "n/a"],
        ["LOCAL_ONLY", 1, "5550100"],
    ]
    assert report.problems["ask"].tolist() == ["the numbers that are missing", "the area codes"]
    assert report.regions[["region", "country", "rows"]].values.tolist() == [
        ["AU", "Australia", 2],
        ["US", "United States", 2],
    ]
    assert report.types.values.tolist() == [["FIXED_LINE_OR_MOBILE", 2], ["MOBILE", 2]]
    assert set(report.notes["note"]) == {"TEST_NUMBER", "TRIMMED", "QUOTE_REMOVED", "REGION_NAME"}


def test_report_shows_itself(judged: pd.DataFrame) -> None:
    """Text for a terminal, HTML for a notebook, no whole number in either."""
    report = phones.report(judged)
    for shown in (str(report), report._repr_html_()):
        assert "LOCAL_ONLY" in shown
        assert "the area codes" in shown
        assert US not in shown


def test_report_of_nothing_and_of_a_wrong_frame() -> None:
    """An empty list has a report; a frame of another kind is refused."""
    assert "Every row has a number" in str(phones.report(phones.normalize([])))
    with pytest.raises(UsageError, match=r"phones\.normalize"):
        phones.report(pd.DataFrame({"to": [US]}))


def advised(cells: list[str], default_region: str | None, **given: Any) -> tuple[str, ...]:
    judged = phones.normalize(cells, default_region=default_region, **given)
    return phones.report(judged, phones=cells, default_region=default_region, **given).advice


def test_advice_names_the_cure_and_counts_it() -> None:
    """What each repair would bring, and a default country that reads the list as another country's landlines."""
    noted = [f"0491 570 1{n:02} (ring twice)" for n in range(10, 17)]
    assert advised(noted, "AU") == (
        "7 rows with unknown words behind the number: NumberOptions(repair=['trailing_note'])",
    )
    abroad = [f"331990012{n:02}" for n in range(30)]
    assert advised(abroad, "US", numbers=phones.NumberOptions(evidence="none")) == (
        "30 rows reading as landlines of France with a plus: NumberOptions(repair=['lost_plus'])",
    )
    assert advised(noted, "AU", numbers=phones.NumberOptions(repair=["trailing_note"])) == ()
    swedish = [f"070-174 06 {n:02}" for n in range(12)]
    (told,) = advised(swedish, "DE")
    assert told.startswith("of 12 numbers without a calling code ")
    assert told.endswith("other countries: which of them is default_region?")
    (told,) = advised([f"07400 1234{n:02}" for n in range(12)], "US")
    assert told.endswith("12 in GB or IN or IQ: which of them is default_region?")
    assert advised(swedish, "SE") == ()
    american, states = [f"(202) 555-01{n:02}" for n in range(9)], pd.Series(["NY", "TX", "FL"] * 3, name="state")
    judged = phones.normalize(american, region=states, default_region="US")
    report = phones.report(judged, phones=american, region=states, default_region="US")
    assert report.advice == (
        "in 9 rows 'state' is not a country, and the number is valid in US: leave region= out if that column holds "
        "no countries",
    )
    assert advised(swedish[:5], "DE") == ()


@pytest.mark.parametrize(
    ("pattern", "home"),
    [("07700 900{:03}", "GB"), ("06 39 98 01 {:02}", "FR"), ("020 7946 0{:03}", "GB")],
)
def test_numbers_of_fiction_say_nothing_of_a_country(pattern: str, home: str) -> None:
    """Those of a default country; beside them the other rows still tell."""
    fiction = [pattern.format(n) for n in range(10, 40)]
    assert not [line for line in advised(fiction, home) if "default_region" in line]
    (told,) = advised([*fiction, *(f"070-174 06 {n:02}" for n in range(12))], home)
    assert told.startswith("of 12 numbers without a calling code ")


MOBILE_HOMES = (
    *("AR", "AT", "AU", "BE", "BR", "CH", "CN", "CO", "CZ", "DE", "EG", "ES", "FR", "GB", "ID", "IN", "IT", "JP", "KE"),
    *("KR", "MX", "NL", "PL", "RU", "SE", "TR"),
)


def test_no_doubt_about_a_default_that_is_right() -> None:
    """Lists of mobile numbers of 26 countries, in their own country."""
    for home in MOBILE_HOMES:
        example = phonenumbers.example_number_for_type(home, phonenumbers.PhoneNumberType.MOBILE)
        draw = random.Random(home)
        drawn = [phone_lists.drawn(example, draw, 5) for _ in range(40)]
        numbers = [
            phone_lists.written(it, PhoneNumberFormat.NATIONAL) for it in drawn if phonenumbers.is_valid_number(it)
        ]
        assert not [line for line in advised(numbers, home) if "default_region" in line], home


def test_unusable_rows_carry_their_reasons(people: pd.DataFrame, judged: pd.DataFrame) -> None:
    """Ordered by problem; the caller's columns stay, its frame too."""
    before = people.copy()
    unusable = phones.rejected(people, judged)
    assert unusable["problem"].tolist() == ["MISSING", "MISSING", "LOCAL_ONLY"]
    assert unusable["ask"].tolist()[2] == "the area codes"
    assert unusable.columns.tolist() == ["phone", "country", "problem", "note", "meaning", "ask"]
    pd.testing.assert_frame_equal(people, before)
    with pytest.raises(UsageError, match="the same rows"):
        phones.rejected(people.iloc[:2], judged)


@pytest.mark.parametrize(
    ("frame", "phone", "region"),
    [
        ({"id": ["1", "2"], "m": [US, "0491 570 156"], "land": ["USA", "Australia"]}, "m", "land"),
        ({"landline": [None, "n/a"], "mobile": [US, AU]}, "mobile", None),
        ({"order": [20240115, 20240116], "when": ["2024-01-15", "2024-01-16"]}, None, None),
        ({"a": [14155550100.0, 14155550101.0], "b": ["x", "y"]}, "a", None),
        ({"phone": [], "country": []}, None, None),
        ({"other": [US, AU], "phone": [US, AU]}, "phone", None),
    ],
    ids=["beside a country", "the filled one", "none", "floats", "empty", "named"],
)
def test_columns_are_found_by_content(frame: dict[str, list[object]], phone: str | None, region: str | None) -> None:
    """Content decides, a telling name between equals; ids and dates are no numbers."""
    found = phones.find_columns(pd.DataFrame(frame), default_region="US" if phone == "a" else None)
    assert (found.phone, found.region) == (phone, region)
    assert set(found.shares["column"]) == set(frame)


NO_COUNTRIES = {
    "Opt in": [1, 0],
    "Visits": ["1", "7", "20", "30"],
    "Age": ["31", "44", "52", "20", "27", "63", "65"],
    "Newsletter": ["SI", "NO"],
    "International": ["NO", "SI", "NA"],
    "Donation": ["1.0", "7.0"],
    "Language": ["DE", "FR", "IT", "ES", "NL"],
    "Office": ["CA", "AL", "DE", "IN", "CO", "MD", "GA"],
    "Weekday": ["LU", "MA", "ME", "GI", "VE", "SA", "DO"],
    "First name": ["Chad", "Georgia", "Jordan", "India", "Kenya"],
    "Sales region": ["1", "7", "20"],
    "Region": ["NA", "EMEA", "APAC"],
    "EU country": ["yes", "no"],
}


@pytest.mark.parametrize("default", ["IN", None])
@pytest.mark.parametrize("name", NO_COUNTRIES)
def test_flags_counts_and_words_are_no_countries(name: str, default: str | None) -> None:
    """They read as countries, but do not agree with the numbers beside them."""
    values = NO_COUNTRIES[name]
    rows = range(60)
    frame = pd.DataFrame(
        {"Mobile": [str(7015550100 + at) for at in rows], name: [values[at % len(values)] for at in rows]}
    )
    found = phones.find_columns(frame, default_region=default)
    assert name not in {found.phone} - {None}
    assert found.region is None or (name == "EU country" and default is None)
    assert default is None or found.phone == "Mobile"


@pytest.mark.parametrize("default", ["DE", "US", None])
@pytest.mark.parametrize("cells", [("AU", "FR", "SE", "US"), ("AUS", "France", "SE", "USA")], ids=["codes", "mixed"])
@pytest.mark.parametrize("name", ["Land", "code_pays", "countryCode", "Dial code", "x"])
def test_a_country_column_is_found_by_its_name_or_by_its_numbers(
    name: str, cells: tuple[str, ...], default: str | None
) -> None:
    """Also under a name that says nothing, where it agrees with the numbers."""
    numbers = ["0491 570 156", "01 99 00 12 34", "070-174 06 05", "(202) 555-0123"] * 3
    beside = {"Dial code": ("61", "33", "46", "1")}.get(name, cells)
    frame = pd.DataFrame({"Mobile": numbers, name: list(beside) * 3, "vip": ["SI", "NO"] * 6})
    found = phones.find_columns(frame, default_region=default)
    assert (found.phone, found.region) == ("Mobile", name)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Order number", [4930123456, 4930123460, 4930123499]),
        ("Kundennummer", ["30901820", "30901850", "30901822"]),
        ("customerId", ["30901820", "30901850", "30901822"]),
        ("Stand", [20240115, 20240116, 20231224]),
        ("Eintritt", ["15.01.2024", "16.01.2024", "24.12.2023"]),
        ("Mobile opt-in date", ["2024-01-15", "2024-01-16", "2023-12-24"]),
        ("Key", ["30901820", "30901850", "30901822"]),
        ("Telefax", ["030 901820", "030 901850", "030 901822"]),
    ],
)
def test_ids_days_and_fax_numbers_are_no_numbers_to_text(name: str, values: list[object]) -> None:
    """Nearly all digits are a German landline; none is chosen, with a column of numbers or without."""
    frame = pd.DataFrame({name: values})
    assert phones.find_columns(frame, default_region="DE").phone is None
    frame["Contact phone"] = ["030 901820", "030 901820", None]
    assert phones.find_columns(frame, default_region="DE").phone == "Contact phone"


def test_two_numbers_become_two_rows() -> None:
    """Label and other cells repeat; shorthand and notes stay whole; the caller's frame is not touched."""
    cells = [
        US,
        "0491570156 / 0491570157",
        "4155550100/2",
        "0491 570 156 (home)",
        None,
        "0491570156;0491570157;0491570158",
    ]
    frame = pd.DataFrame({"phone": cells, "n": range(6)}, index=list("aabbcc"))
    before = frame.copy()
    exploded = phones.explode(frame, "phone")
    assert exploded["n"].tolist() == [0, 1, 1, 2, 3, 4, 5, 5, 5]
    assert exploded.index.tolist() == list("aaabbcccc")
    assert exploded["phone"].fillna("").tolist()[1:4] == ["0491570156", "0491570157", "4155550100/2"]
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(phones.explode(frame.iloc[[0]], "phone"), frame.iloc[[0]])
    with pytest.raises(UsageError, match="no column 'fone'"):
        phones.explode(frame, "fone")


def test_two_numbers_with_a_blank_between() -> None:
    """Where both halves are as long as numbers and begin with a zero, they are divided; one number is left alone."""
    cells = ["089 1234 089 1235", "0171 1234567 0171 1234568", "089 123456 01", "030 0123 0456", None]
    frame = pd.DataFrame({"phone": cells})
    exploded = phones.explode(frame, "phone")
    assert exploded["phone"].tolist()[:6] == ["089 1234", "089 1235", "0171 1234567", "0171 1234568", *cells[2:4]]
    assert exploded.index.tolist() == [0, 0, 1, 1, 2, 3, 4]
    problems = phones.normalize(cells[:3], default_region="DE")["problem"]
    assert problems.fillna("").tolist() == ["MULTIPLE_NUMBERS", "MULTIPLE_NUMBERS", ""]


def test_repeats_name_the_first_row(judged: pd.DataFrame) -> None:
    """The first row of a number is no repeat; rows without one neither."""
    assert phones.duplicates(judged["to"]).fillna("").tolist() == ["", "a", "", "", "", "", ""]


def test_chunks_are_cleaned_as_the_whole(
    tmp_path: Path, people: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    """Chunk by chunk the same judgement, repeats found across chunks, one report of all."""
    file = tmp_path / "people.csv"
    people.assign(to="mine").to_csv(file, index=False)
    cleaned = list(phones.clean_chunks(read_chunks(file, rows=1), phone="phone", region="country"))
    rows = pd.concat([chunk.rows for chunk in cleaned])
    whole = phones.normalize(people["phone"], region=people["country"])
    assert rows["to"].tolist() == ["mine"] * 7
    assert rows["sms_to"].fillna("").tolist() == whole["to"].fillna("").tolist()
    assert rows["problem"].tolist()[1] == "DUPLICATE_OF"
    assert pd.concat([chunk.unusable for chunk in cleaned])["problem"].tolist() == ["MISSING", "LOCAL_ONLY", "MISSING"]
    assert cli.main(["clean", str(file), "--phone", "phone", "--region", "country"]) == 0
    said = capsys.readouterr().out
    assert "57% of the rows can be texted" in said
    assert "1  repeated" in said
    with pytest.raises(UsageError, match="no column 'fone'"):
        next(phones.clean_chunks(read_chunks(file), phone="fone"))


EXPLAINED = [
    ("blank", None, None, ["The cell is blank."]),
    ("plus", US, None, ["behind a plus", "1 is the calling code of United States: 4155550100 is left"]),
    (
        "abroad",
        "011 61 491 570 156",
        "US",
        ["011 is the international prefix; 61 is the calling code of Australia"],
    ),
    ("own code", 14155550100.0, "us", ["becomes the text '14155550100'", "REGION_CASE", "1 is the calling code"]),
    ("retried", "+0061491570156", "DE", ["00 is the international prefix; 61 is the calling code"]),
    ("rule", "5550100", "AG", ["A rule of Antigua and Barbuda turns 5550100 into 2685550100"]),
    ("no number", "+4", "DE", ["it has too few digits, or a letter or sign where no number has one"]),
    ("no country", "4155550100", None, ["No number: there is no country to read it by", "REGION_MISSING"]),
    ("unknown code", "+999 12345", "US", ["UNKNOWN_CALLING_CODE"]),
    ("repaired", "tel:+1-415-555-0100", None, ["LABEL_REMOVED: ", "What is left is '+1-415-555-0100'"]),
    ("refused", "0491 570 156 (ring twice)", "AU", ["not texted, TEXT_IN_NUMBER"]),
    ("short", "55", "US", ["2 digits are too short in United States", "TOO_SHORT"]),
    ("in no range", "+1 115 555 0100", None, ["They are in no range of the plan", "NOT_IN_USE"]),
]


@pytest.mark.parametrize(("number", "region", "says"), [case[1:] for case in EXPLAINED], ids=[c[0] for c in EXPLAINED])
def test_explain_tells_each_step(number: object, region: str | None, says: list[str]) -> None:
    """The words follow what the engine does, down to the judgement."""
    told = str(phones.explain(number, region=region))
    for words in says:
        assert words in told, told


def test_explain_agrees_with_normalize() -> None:
    """The row of an explanation is normalize's; the last step says it."""
    explained = phones.explain("0491 570 156", region="AU")
    assert explained.row["to"] == AU
    assert explained.steps[-1] == f"Judged: texted as {AU}, noted TEST_NUMBER."


AT_HOME = [f"0151 {number}" for number in range(23456700, 23460000, 61)][:50]


@pytest.mark.parametrize("name", ["phone", "Nummer", "column_2", "x"])
@pytest.mark.parametrize("signs", [" ", ""])
def test_a_national_list_without_a_country_is_found(name: str, signs: str) -> None:
    """Numbers as they are dialled at home lack a country, which can be said of a column that is found."""
    numbers = [number.replace(" ", signs) for number in AT_HOME]
    frame = pd.DataFrame({"Name": "Ann", "PLZ": "01067", "Datum": "01.05.2026", "Uhrzeit": "09:15", name: numbers})
    assert phones.find_columns(frame).phone == name
    assert phones.find_columns(frame.assign(**{name: [*numbers[:45], *["+4915123456789"] * 5]})).phone == name


@pytest.mark.parametrize("name", ["Kundennummer", "Customer ID", "Birthday", "Order"])
def test_ids_that_begin_with_zero_are_no_national_numbers(name: str) -> None:
    """Their name says what they are; without one, digits one after the other are none either."""
    numbers = [number.replace(" ", "") for number in AT_HOME]
    assert phones.find_columns(pd.DataFrame({"Name": "Ann", name: numbers})).phone is None
    assert (
        phones.find_columns(pd.DataFrame({"x": [f"0{number}" for number in range(123456700, 123456750)]})).phone is None
    )
