"""Countries as people write them, each read as the one that it is, or not at all."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from smsotp_nb import phones, rates

LINES = Path(__file__).with_name("country_spellings.txt").read_text(encoding="utf-8").splitlines()
READ = {line.partition("|")[0]: line.split("|")[1:] for line in LINES}
NOT_READ = (
    "Congo",
    "US-CA",
    "GB-ENG",
    "Germany / France",
    "Ireland (Northern)",
    "Canada (+44)",
    "Atlantis",
    "Ann",
    "Korean",
    "State of Georgia",
    "Republic of Congo",
)


def test_a_country_is_read_however_it_is_written() -> None:
    """Each spelling is read by lists, and by rates, which take no calling code for a country."""
    spellings = pd.Series({word: iso for iso, words in READ.items() for word in words})
    assert len(spellings) > 500
    column = pd.Series(spellings.index)
    judged = phones.normalize(["0123456789"] * len(column), region=column)
    assert column[judged["problem"].eq("REGION_UNKNOWN").to_numpy()].tolist() == []
    named = spellings[~spellings.index.str.fullmatch(r"\+?\d+")]
    table = pd.DataFrame({"iso": named.index, "currency": "USD", "price": "0.01", "type": ""})
    found = [rates.check(table.iloc[[row]])["iso"].item() for row in range(len(table))]
    assert [*zip(named.index, found, strict=True)] == [*named.items()]


@pytest.mark.parametrize("word", NOT_READ)
def test_what_may_be_two_countries_is_none(word: str) -> None:
    judged = phones.normalize(["0123456789"], region=pd.Series([word]))
    assert judged["problem"].tolist() == ["REGION_UNKNOWN"]


NUMBERS = [f"+1202555{n:04d}" for n in range(100, 160)]


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (("Phone", "Mobile"), "Mobile"),
        (("Telefon", "Handy"), "Handy"),
        (("Emergency mobile", "Phone"), "Phone"),
        (("Manager cell", "Cell"), "Cell"),
        (("Notfall Telefon", "Telefon"), "Telefon"),
        (("Teléfono fijo", "Teléfono móvil"), "Teléfono móvil"),
        (("Assistant phone", "Home phone"), "Home phone"),
        (("Handynummer des Kindes", "Telefonnummer"), "Telefonnummer"),
        (("Student mobile", "Phone number"), "Phone number"),
        (("Portable mère", "Téléphone"), "Téléphone"),
        (("Handy Vermieter", "Mobiltelefonnummer"), "Mobiltelefonnummer"),
        (("Customer phone", "WhatsApp number"), "WhatsApp number"),
    ],
)
def test_the_mobile_number_of_the_person_is_found_before_others(names: tuple[str, str], chosen: str) -> None:
    for order in (names, names[::-1]):
        frame = pd.DataFrame(dict.fromkeys(order, NUMBERS))
        assert phones.find_columns(frame).phone == chosen


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("Old phone", "Phone new"), ("Telefon (alt)", "Telefon (neu)"), ("Do not call phone", "Tel"),
     ("Handy alt", "Handy"), ("Phone (opted out)", "Phone"), ("Sales rep phone", "Customer phone"),
     ("Ancien mobile", "Mobile"), ("Former mobile no.", "Phone no.")],
)  # fmt: skip
def test_a_name_that_says_no_or_is_of_somebody_else_comes_after_any_other(wrong: str, right: str) -> None:
    for order in ((wrong, right), (right, wrong)):
        assert phones.find_columns(pd.DataFrame(dict.fromkeys(order, NUMBERS))).phone == right
    found = phones.find_columns(pd.DataFrame({"Phone (opted out)": NUMBERS}))
    assert found.phone is None


HERE = ["(202) 555-0123", "(202) 555-0124", "(202) 555-0125"] * 5
ELSEWHERE = ["DE", "FR", "IT"] * 5


@pytest.mark.parametrize(
    "name", ["Country of birth", "Billing country", "Employer country", "Passport country", "Land der Rechnung", "Pays"]
)
def test_of_two_columns_of_countries_the_one_that_the_numbers_fit_is_chosen(name: str) -> None:
    for names in ((name, "Country"), ("Country", name)):
        frame = pd.DataFrame({"Mobile": HERE, **{it: ELSEWHERE if it == name else "US" for it in names}})
        assert phones.find_columns(frame).region == "Country"


def test_columns_of_countries_that_compete_are_named_and_none_is_chosen() -> None:
    """Both fit all numbers and make others of them; a column of something else's country alone has to fit."""
    numbers = ["0171 3920001", "06 39 98 00 01", "0664 1234567"] * 5
    frame = pd.DataFrame({"Mobile": numbers, "Country A": ["DE", "FR", "AT"] * 5, "Country B": ["AT", "FR", "DE"] * 5})
    found = phones.find_columns(frame)
    assert (found.phone, found.region) == ("Mobile", None)
    said = "not chosen: the numbers do not show that the countries of 'Country A' or 'Country B' are theirs"
    assert [found.why[name] for name in ("Country A", "Country B")] == [said] * 2
    assert phones.find_columns(frame.drop(columns="Country B")).region == "Country A"
    assert phones.find_columns(pd.DataFrame({"Mobile": HERE, "Country of birth": ELSEWHERE})).region is None
    assert phones.find_columns(pd.DataFrame({"Mobile": HERE, "Billing country": "US"})).region == "Billing country"
    assert phones.find_columns(pd.DataFrame({"Mobile": HERE, "Country": "USA", "ISO": "US"})).region == "Country"
