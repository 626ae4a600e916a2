"""The readings of a number beside each other: what is ambiguous alone, and what the column may tell."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import phonenumbers
import pytest
from support import phone_lists

from smsotp_nb import phones
from smsotp_nb.recipients import read_recipients

Numbers = list[phonenumbers.PhoneNumber]


def row(number: object, region: object = None, **options: object) -> pd.Series:
    reading = phones.NumberOptions(**options)  # type: ignore[arg-type]
    frame = phones.normalize(pd.Series([number], dtype=object), region=[region], numbers=reading)
    return frame.fillna("").iloc[0]


def valid_numbers(region: str, kind: str, size: int) -> Numbers:
    """Different valid numbers of a region and kind, the same at every run."""
    draw = random.Random(14)
    example = phonenumbers.example_number_for_type(region, getattr(phonenumbers.PhoneNumberType, kind))
    assert example is not None
    found: dict[str, phonenumbers.PhoneNumber] = {}
    while len(found) < size:
        number = phone_lists.drawn(example, draw, 8)
        if phonenumbers.is_valid_number(number) and phonenumbers.number_type(number) == phonenumbers.number_type(
            example
        ):
            found[digits(number)] = number
    return list(found.values())


def digits(number: phonenumbers.PhoneNumber) -> str:
    return phone_lists.written(number, phonenumbers.PhoneNumberFormat.E164)[1:]


def national(number: phonenumbers.PhoneNumber) -> str:
    return phone_lists.written(number, phonenumbers.PhoneNumberFormat.NATIONAL)


ALONE = [
    ("Brazilian carrier or the plus", "0055 51 99334-8698", "BR"),
    ("British mobile or German landline", "447911123456", "DE"),
    ("the same through a right-to-left page", "447911123456+", "DE"),
    ("own calling code twice or a landline", "+49 49171 1234567", None),
    ("Danish or a landline without its zero", "4528677326", "IT"),
]


@pytest.mark.parametrize(("number", "region"), [case[1:] for case in ALONE], ids=[case[0] for case in ALONE])
def test_two_valid_readings_are_nobody(number: str, region: str | None) -> None:
    """A row of which two readings are valid is refused, and explained with both numbers."""
    assert row(number, region)[["to", "problem"]].tolist() == ["", "AMBIGUOUS_READING"]
    told = str(phones.explain(number, region=region))
    assert "Weighed: " in told
    assert "none is chosen" in told


def test_asking_for_the_plus_is_no_choice_either() -> None:
    """``lost_plus`` says that pluses were lost, not from which rows."""
    assert row("447911123456", "DE", repair={"lost_plus"})["problem"] == "AMBIGUOUS_READING"
    assert row("447911123456", "FR", repair={"lost_plus"})["to"] == "+447911123456"


@pytest.mark.parametrize("region", ["BR", "KR", "TH", "CO", "SG", "HK", "TW"])
def test_carrier_prefixes_text_no_stranger(region: str) -> None:
    """00 and the own calling code, where 00 and some digits are also how a carrier is chosen."""
    numbers = [*valid_numbers(region, "MOBILE", 150), *valid_numbers(region, "FIXED_LINE", 150)]
    alone = phones.normalize(
        [f"00{digits(it)}" for it in numbers], default_region=region, numbers=phones.NumberOptions(evidence="none")
    )
    for judged in (alone, phones.normalize([f"00{digits(it)}" for it in numbers], default_region=region)):
        wrong = judged["to"].notna() & (judged["to"] != [f"+{digits(it)}" for it in numbers])
        assert not wrong.any()
    assert judged["to"].notna().mean() > 0.95


def test_british_list_beside_germany() -> None:
    """Rows that are no German numbers tell what the others are; each says so."""
    numbers = valid_numbers("GB", "MOBILE", 300)
    raw = [digits(it) for it in numbers]
    assert phones.parse(raw, default_region="DE")["valid"].mean() > 0.5
    judged = phones.normalize(raw, default_region="DE")
    assert judged["to"].tolist() == [f"+{number}" for number in raw]
    assert (judged["note"] == "PLUS_RESTORED COLUMN_EVIDENCE:100%:44").all()
    alone = phones.normalize(raw, default_region="DE", numbers=phones.NumberOptions(evidence="none"))
    assert alone["to"].isna().all()


def test_the_share_stands_in_the_note() -> None:
    """Evidence that is a majority settles only where that is asked for."""
    british = [digits(it) for it in valid_numbers("GB", "MOBILE", 90)]
    austrian = [str(it.national_number) for it in valid_numbers("AT", "MOBILE", 10)]
    judged = phones.normalize(british + austrian, default_region="AT")
    assert set(judged["note"][:90]) == {"PLUS_RESTORED"}  # each row by itself
    asked = phones.normalize(british + austrian, default_region="AT", numbers=phones.NumberOptions(evidence="majority"))
    assert asked["to"].tolist() == [f"+{it}" for it in british] + [f"+43{it}" for it in austrian]
    assert set(asked["note"][:90]) == {"PLUS_RESTORED COLUMN_EVIDENCE:90%:44"}


def test_some_from_abroad_are_not_settled_by_a_home_list() -> None:
    """A German list says nothing for reading a British number among it as a German landline."""
    german = [national(it).lstrip("0") for it in valid_numbers("DE", "MOBILE", 400)]
    judged = phones.normalize([*german, "447911123456"], default_region="DE")
    assert judged["to"][:400].notna().all()
    assert judged["problem"].iloc[-1] == "AMBIGUOUS_READING"


IN_A_LIST_OF_CALLING_CODES = [
    ("a German in a Norwegian list", "4915129392196", "DE", {"+4915129392196"}),
    ("the landline of a Slovak, or an Austrian one", "421274973366", "AT", {"AMBIGUOUS_READING"}),
    ("a Chinese mobile, or an American one", "13122158838", "CN", {"AMBIGUOUS_READING", "+8613122158838"}),
]


@pytest.mark.parametrize(("number", "region", "is_read"), [it[1:] for it in IN_A_LIST_OF_CALLING_CODES])
@pytest.mark.parametrize("others", [{"NO": 300}, {"NO": 290, "US": 10}, {"AT": 300}], ids=["NO", "NO and US", "AT"])
def test_rare_rows_of_a_list_of_calling_codes(
    number: str, region: str, is_read: set[str], others: dict[str, int]
) -> None:
    """The country of a row need not be met in others for its own code; no mobile of it becomes somebody's abroad."""
    column = [(digits(it), name) for name, size in others.items() for it in valid_numbers(name, "MOBILE", size)]
    numbers, regions = zip((number, region), *column, strict=True)
    judged = phones.normalize(list(numbers), region=list(regions)).fillna("").iloc[0]
    assert (judged["to"] or judged["problem"]) in is_read


WRITTEN_AS = {
    "integers": lambda numbers: pd.Series(numbers, dtype="int64"),
    "decimals": lambda numbers: pd.Series(numbers, dtype="float64"),
    "objects": lambda numbers: pd.Series([str(number) for number in numbers], dtype=object),
    "Arrow texts": lambda numbers: pd.Series([str(number) for number in numbers], dtype="string[pyarrow]"),
}


def test_a_blank_inside_an_area_code_is_not_behind_a_plus() -> None:
    """Chinese numbers in a French list are no American ones that have lost their plus."""
    chinese = pd.Series([f"131 2345 67{n}" for n in range(10, 60)])
    assert phones.normalize(chinese, default_region="FR")["to"].isna().all()
    joined = chinese.str.replace(" ", "").str[:11]
    assert phones.normalize(joined, default_region="FR")["to"].str.startswith("+1312").all()


@pytest.mark.parametrize("asked", [(), ("lost_plus",)], ids=["no repair", "lost plus"])
@pytest.mark.parametrize("written", WRITTEN_AS.values(), ids=WRITTEN_AS)
@pytest.mark.parametrize(("home", "code"), [("DE", "DE"), ("AT", "US"), ("MX", "DE"), ("IT", "IT"), ("BR", "ES")])
def test_a_column_of_numbers_written_in_two_ways_texts_no_stranger(
    home: str, code: str, written: Callable[[list[int]], pd.Series], asked: tuple[str, ...]
) -> None:
    """176... beside 49176..., as a spreadsheet leaves them: no such row becomes a landline by its home rows."""
    at_home = [*valid_numbers(home, "MOBILE", 60), *valid_numbers(home, "FIXED_LINE", 20)]
    coded = [*valid_numbers(code, "MOBILE", 60), *valid_numbers(code, "FIXED_LINE", 20)]
    for few, many in ((at_home[::8], coded), (at_home, coded), (at_home, coded[::8])):
        raw = [it.national_number or 0 for it in few] + [int(digits(it)) for it in many]
        truth = pd.Series([f"+{digits(it)}" for it in [*few, *many]])
        for where in ({"default_region": home}, {"region": [home] * len(raw)}):
            judged = phones.normalize(written(raw), numbers=phones.NumberOptions(repair=asked), **where)  # type: ignore[arg-type]
            assert not (judged["to"].notna() & (judged["to"] != truth)).any()
            unsure = judged["problem"].notna()
            assert set(judged["problem"][unsure]) <= {"AMBIGUOUS_READING"} | NO_NUMBER


NO_NUMBER = {"NOT_IN_USE", "TOO_LONG", "TOO_SHORT", "INVALID_LENGTH", "LOCAL_ONLY"}


def test_a_calling_code_met_in_a_short_list_is_no_area_code() -> None:
    """A Berlin landline among German mobiles in Mexico, where 493 is an area code."""
    judged = phones.normalize([4915123456789, 4917612345678, 4930123456], default_region="MX")
    assert judged["problem"].tolist()[2] == "AMBIGUOUS_READING"
    alone = phones.normalize([4930123456], default_region="MX")
    assert alone["to"].tolist() == ["+524930123456"]


def test_danish_list_beside_italy() -> None:
    """No zero is restored where a plus makes a number, too."""
    numbers = [digits(it) for it in valid_numbers("DK", "MOBILE", 200)]
    judged = phones.normalize(numbers, default_region="IT")
    wrong = judged["to"].notna() & (judged["to"] != [f"+{number}" for number in numbers])
    assert not wrong.any()
    assert (
        phones.normalize(numbers, default_region="IT", numbers=phones.NumberOptions(evidence="none"))["to"].isna().all()
    )


def test_without_a_country_no_plus_is_restored() -> None:
    """Where nothing can be read as written, nothing speaks against the plus, and so nothing for it."""
    judged = phones.normalize([digits(it) for it in valid_numbers("GB", "MOBILE", 60)])
    assert judged["to"].isna().all()
    area = [f"(201) 55{n % 10}-{1000 + n}" for n in range(100)]
    assert phones.normalize(area, region=["Atlantis"] * 100)["to"].isna().all()


def test_parts_of_a_list_are_judged_by_the_whole() -> None:
    """Evidence gathered from the whole column serves any part of it."""
    raw = [digits(it) for it in valid_numbers("GB", "MOBILE", 100)]
    found = phones.weigh_column(raw, default_region="DE")
    parts = [
        phones.normalize([number], default_region="DE", numbers=phones.NumberOptions(evidence=found)) for number in raw
    ]
    assert [part["to"][0] for part in parts] == phones.normalize(raw, default_region="DE")["to"].tolist()
    told = str(phones.explain(raw[0], default_region="DE", numbers=phones.NumberOptions(evidence=found)))
    assert "The column: with a plus: " in told
    assert "taken" in told


@pytest.mark.parametrize("dtype", ["float32", "Float32", "float[pyarrow]", "category"])
def test_float32_holds_no_phone_number(dtype: str) -> None:
    """Beyond 2^24 a float32 has lost digits; below, it is exact."""
    numbers = pd.Series([14155550100, 491711234567, 2125550], dtype="float32")
    column = numbers.astype("category") if dtype == "category" else numbers.astype(dtype)  # type: ignore[call-overload]
    problems = phones.normalize(column, default_region="US")["problem"].tolist()
    assert problems == ["SCI_NOTATION_LOST_DIGITS", "SCI_NOTATION_LOST_DIGITS", "LOCAL_ONLY"]
    one = numbers.astype(object).map(lambda value: pd.Series([value], dtype="float32").to_numpy()[0])
    assert phones.normalize(one, default_region="US")["problem"].tolist() == problems


@pytest.mark.parametrize("dtype", ["float64", "Float64", "double[pyarrow]"])
def test_widening_a_float32_brings_no_digit_back(dtype: str) -> None:
    """A column that was float32 once is told by its numbers; the parts of it by what was told of the whole."""
    numbers = pd.Series([14155550100, 491711234567, 4930901820, 46701740605, 2125550], dtype="float64")
    widened = numbers.astype("float32").astype(dtype)  # type: ignore[call-overload]
    lost = ["SCI_NOTATION_LOST_DIGITS"] * 4 + ["LOCAL_ONLY"]
    assert phones.normalize(widened, default_region="US")["problem"].tolist() == lost
    found = phones.weigh_column(widened, default_region="US")
    assert (
        phones.normalize(widened[:1], default_region="US", numbers=phones.NumberOptions(evidence=found))[
            "problem"
        ].tolist()
        == lost[:1]
    )
    right = phones.normalize(numbers.astype(dtype), default_region="US")["problem"]  # type: ignore[call-overload]
    assert "SCI_NOTATION_LOST_DIGITS" not in right.tolist()
    alone = phones.normalize(widened, default_region="US", numbers=phones.NumberOptions(evidence="none"))["problem"]
    assert "SCI_NOTATION_LOST_DIGITS" not in alone.tolist()


def test_float32_from_parquet_shows_its_exponent(tmp_path: Path) -> None:
    """Read as text, such a number would look whole; so it keeps the exponent that says that digits are gone."""
    numbers = pd.DataFrame({"phone": pd.Series([14155550100, 2125550, None], dtype="float32")})
    numbers.to_parquet(tmp_path / "list.parquet")
    read = read_recipients(tmp_path / "list.parquet")["phone"]
    judged = phones.normalize(read, default_region="US")
    assert judged["problem"].tolist() == ["SCI_NOTATION_LOST_DIGITS", "LOCAL_ONLY", "MISSING"]


def test_states_are_no_countries() -> None:
    """CA and DE beside NY and TX are states: no number is read as Canadian or German."""
    numbers = [national(it) for it in valid_numbers("US", "MOBILE", 60)]
    states = (["CA", "DE", "CO", "NY", "TX", "FL"] * 10)[: len(numbers)]
    judged = phones.normalize(numbers, region=states, default_region="US")
    assert set(judged["problem"]) == {"REGION_UNKNOWN"}
    frame = pd.DataFrame({"order number": numbers, "contact": numbers, "state": states})
    assert phones.find_columns(frame, default_region="US").region is None
    assert phones.find_columns(frame, default_region="US").phone == "contact"
    unnamed = frame.set_axis(["a", "b", "c"], axis=1)
    assert phones.find_columns(unnamed, default_region="US").region is None
    countries = ["CA", "DE", "CO", "US", "FR", "GB"] * 10
    assert phones.normalize(numbers, region=countries)["to"].notna().any()


def test_a_single_reading_that_is_valid_is_taken() -> None:
    """Whatever else was weighed and is no number does not stand in the way."""
    told = phones.explain("044 222 123 4567", region="MX")
    assert "taken" in told.steps[-2]
    told = phones.explain("33199001234", region="US")
    assert "only when asked for with NumberOptions(repair=['lost_plus'])" in str(told)
    assert told.row["problem"] == "TOO_LONG"
    assert phones.explain("447911123456", region="FR").row["to"] == "+447911123456"


def test_a_column_of_italian_mobiles_keeps_them() -> None:
    """Numbers of a column have lost their zeros, but a mobile that is also a landline with a zero stays a mobile."""
    numbers = pd.Series([3912345678, 3512345678, 3123456789])
    assert phones.normalize(numbers, default_region="IT")["to"].tolist() == [f"+39{number}" for number in numbers]
    assert phones.parse([f"0{number}" for number in numbers], default_region="IT")["valid"].any()


LISTS = {
    "messy": lambda it: it,
    "digits only": lambda it: it.str.replace(r"\D", "", regex=True),
    "00 in front": lambda it: "00" + it.str.replace(r"\D", "", regex=True),
    "in brackets": lambda it: " (" + it.str[:3] + ") " + it.str[3:],
    "code twice": lambda it: it.str.replace(r"^\+?(\d\d?\d?)", r"+\1 00\1", regex=True),
    "two side by side": lambda it: "0" + it + " 0" + it,
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("asked", [(), ("lost_plus", "vanity")], ids=["nothing asked", "repairs asked"])
@pytest.mark.parametrize("written", LISTS.values(), ids=LISTS)
def test_a_long_list_is_judged_as_short_ones(written: Callable[[pd.Series], pd.Series], asked: tuple[str, ...]) -> None:
    """In a long list other readings are told by digits, in a list of ten rows each of them is put to phonenumbers."""
    regions = ["AR", "BR", "CI", "CO", "DE", "GB", "IT", "KR", "KZ", "MX", "US"]
    messy = phone_lists.messy(1_500, seed=14, regions=regions)
    numbers = written(messy["phone"])
    for evidence in (
        phones.weigh_column(numbers, region=messy["country"], numbers=phones.NumberOptions(evidence="none")),
        _british(),
    ):
        options = {"numbers": phones.NumberOptions(repair=asked, evidence=evidence)}
        whole = phones.normalize(numbers, region=messy["country"], **options)
        parts = [
            phones.normalize(numbers[at : at + 10], region=messy["country"][at : at + 10], **options)
            for at in range(0, 300, 10)
        ]
        pd.testing.assert_frame_equal(pd.concat(parts), whole[:300])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("size", [1_500, 30, 8])
@pytest.mark.parametrize("written", LISTS.values(), ids=LISTS)
def test_a_list_is_judged_by_what_is_weighed_of_it(written: Callable[[pd.Series], pd.Series], size: int) -> None:
    """A list no longer than the sample is read once, and its evidence is that which ``weigh_column`` reads it for."""
    messy = phone_lists.messy(size, seed=15, regions=["BR", "DE", "GB", "IT", "MX", "US"])
    numbers = written(messy["phone"])
    given = {"region": messy["country"].where(messy.index % 3 > 0), "default_region": "DE"}
    weighed = phones.NumberOptions(evidence=phones.weigh_column(numbers, **given))
    pd.testing.assert_frame_equal(
        phones.normalize(numbers, **given), phones.normalize(numbers, **given, numbers=weighed)
    )


def _british() -> Any:
    numbers = [f"4479111234{n:02}" for n in range(60)]
    return phones.weigh_column(numbers, region=["DE"] * len(numbers))


def test_repeated_rows_have_the_same_answer() -> None:
    """A long list that repeats itself is judged once a distinct row; notes of cells and countries stay their own."""
    made = phone_lists.messy(1_000, seed=3)
    cells = [("Germany", 14155550100.0), ("DE", "0171 3920123"), ("de", "0171 3920123"), (None, "0171 3920123")]
    rows = [*zip(made["country"], made["phone"], strict=True), *cells]
    once = phones.normalize(
        [cell for _, cell in rows],
        region=[country for country, _ in rows],
        numbers=phones.NumberOptions(evidence="none"),
    )
    times = 25
    many = phones.normalize(
        [cell for _, cell in rows] * times,
        region=[country for country, _ in rows] * times,
        numbers=phones.NumberOptions(evidence="none"),
    )
    pd.testing.assert_frame_equal(many, pd.concat([once] * times, ignore_index=True))
