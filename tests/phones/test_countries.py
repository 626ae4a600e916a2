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
    ],
)
def test_the_mobile_number_of_the_person_is_found_before_others(names: tuple[str, str], chosen: str) -> None:
    for order in (names, names[::-1]):
        frame = pd.DataFrame(dict.fromkeys(order, NUMBERS))
        assert phones.find_columns(frame).phone == chosen


def test_a_national_list_without_a_country_has_a_column_of_numbers() -> None:
    """Its rows say that the country is missing; without the column nobody could say so."""
    frame = pd.DataFrame({"name": ["Ann"] * 50, "phone": [f"0151 234567{n:02d}" for n in range(50)]})
    assert phones.find_columns(frame).phone == "phone"
    assert set(phones.normalize(frame["phone"])["problem"]) == {"REGION_MISSING"}
