"""Sample data: nobody's numbers, and every kind of mess that lists have."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pandas as pd
import phonenumbers
import pytest

import smsotp_nb as sms
from smsotp_nb import cost, parts, phones, rates, recipients, results

FOLDER = Path(__file__).parents[2] / "sample_data"
REGIONS = sorted(phonenumbers.SUPPORTED_REGIONS)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return recipients.read_recipients(FOLDER / "recipients.csv")


@pytest.fixture(scope="module")
def plan(people: pd.DataFrame) -> sms.Plan:
    return sms.plan(
        people,
        message="Hi {name}, 20% off until Sunday.",
        to="phone",
        region="country",
        default_region="DE",
        signature="Acme",
        rates=FOLDER / "rates.csv",
        keep=["segment"],
        exclude=FOLDER / "suppression.csv",
        campaign="autumn-sale",
    )


def examples() -> set[str]:
    """Return every example number that phonenumbers ships."""
    kinds = [
        getattr(phonenumbers.PhoneNumberType, name) for name in vars(phonenumbers.PhoneNumberType) if name.isupper()
    ]
    found = (phonenumbers.example_number_for_type(region, kind) for region, kind in product(REGIONS, kinds))
    return {phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164) for number in found if number}


def readings(cell: str) -> set[str]:
    """Return every valid number that could be read from a cell or from a piece of it, in the countries of the list."""
    pieces = {cell, *re.split(r"[/;,]|\bext\b|\(office\)", cell), re.sub(r"\.0$", "", cell)}
    if re.fullmatch(r"[0-9.]+E\+[0-9]+", cell):
        pieces.add(str(int(float(cell))))
    found = set()
    for text, region in product(pieces | {f"+{piece}" for piece in pieces}, ["US", "FR", "DE", "GB", "SE", "AU", "NA"]):
        try:
            number = phonenumbers.parse(text, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number):
            found.add(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))
    return found


# Read in the wrong country, a domestic spelling may be a valid number; nobody reads these cells there.
def own_readings(cell: str, region: str) -> set[str]:
    """Return the readings with a calling code, and the one in the country beside the cell."""
    international = {number for number in readings(cell) if number[1:].startswith(re.sub(r"\D", "", cell)[:4])}
    judged = phones.parse([cell], region=[region], default_region="DE")
    return international | set(judged.loc[judged["valid"], "e164"])


def everybodys_or_nobodys(numbers: set[str]) -> set[str]:
    known = examples()
    others = pd.Series(sorted(numbers - known), dtype=object)
    return set(others[~phones.normalize(others)["note"].fillna("").str.contains("TEST_NUMBER")])


def test_every_number_we_would_text_is_reserved_or_an_example(people: pd.DataFrame) -> None:
    judged = phones.normalize(people["phone"], region=people["country"], default_region="DE")
    assert everybodys_or_nobodys(set(judged["to"].dropna())) == set()


def test_no_repair_asked_for_leads_to_anybody(people: pd.DataFrame) -> None:
    everything = ("lost_plus", "trailing_note", "vanity")
    judged = phones.normalize(
        people["phone"], region=people["country"], default_region="DE", numbers=phones.NumberOptions(repair=everything)
    )
    assert everybodys_or_nobodys(set(judged["to"].dropna())) == set()


def test_no_cell_or_piece_of_one_reads_as_somebodys_number(people: pd.DataFrame) -> None:
    cells = people[["phone", "country"]].dropna(subset="phone").itertuples(index=False)
    found = {number for cell in cells for number in own_readings(str(cell.phone), str(cell.country))}
    assert everybodys_or_nobodys(found) == set()


@pytest.mark.parametrize("file", ["suppression.csv", "results_two_currencies.csv"])
def test_the_other_files_hold_no_other_numbers(file: str) -> None:
    frame = recipients.read_recipients(FOLDER / file)
    column = frame["phone" if "phone" in frame else "to"]
    region = frame.get("country")
    judged = phones.normalize(
        column.dropna(), region=None if region is None else region[column.notna()], default_region="DE"
    )
    assert judged["problem"].isna().all()
    assert everybodys_or_nobodys(set(judged["to"])) == set()


def test_the_list_is_large_and_wide(people: pd.DataFrame, plan: sms.Plan) -> None:
    assert 200 <= len(people) <= 300
    assert plan.estimate["region"].nunique() >= 20
    assert people["id"].is_unique


def test_the_list_has_every_kind_of_mess(people: pd.DataFrame, plan: sms.Plan) -> None:
    problems = set(plan.rows["problem"].dropna())
    assert problems >= {
        *("MISSING", "SCI_NOTATION_LOST_DIGITS", "MULTIPLE_NUMBERS", "TEXT_IN_NUMBER", "NOT_A_NUMBER", "LOCAL_ONLY"),
        *("REGION_UNKNOWN", "UNKNOWN_CALLING_CODE", "TOO_LONG", "TOO_SHORT", "NOT_IN_USE", "TYPE_NOT_ALLOWED"),
        *("SUPPRESSED", "VALUE_MISSING", "DUPLICATE_OF"),
    }
    notes = set(plan.rows["note"].dropna().str.split().explode())
    assert notes >= {
        *("FLOAT_ENDING", "SCI_NOTATION", "EXTENSION_DROPPED", "LABEL_REMOVED", "QUOTE_REMOVED", "INVISIBLE_REMOVED"),
        *("DIGITS_TRANSLATED", "IDD_00_READ", "TRUNK_ZERO_DROPPED", "REGION_CASE", "REGION_ALIAS", "REGION_ALPHA3"),
        *("REGION_NAME", "REGION_MISMATCH", "FIXED_LINE", "TEST_NUMBER"),
    }
    assert "NA" in set(people["country"])
    assert people["name"].str.contains("<img").any()
    assert set(plan.rows["encoding"].dropna()) == {"gsm7", "ucs2"}
    assert plan.rows["est_parts"].max() == 2
    assert people["name"].dropna().map(lambda name: bool(parts.count(name).forcing)).sum() > 10


def test_namibia_is_planned(plan: sms.Plan) -> None:
    assert "NA" in set(plan.estimate["region"])


def test_some_countries_have_no_rate(plan: sms.Plan) -> None:
    missing = plan.estimate[plan.estimate["rate"].isna()]
    assert set(missing["region"]) == {"KE", "VN"}
    assert "no rate" in str(plan)


def test_some_rates_are_old(plan: sms.Plan) -> None:
    old = plan.estimate[plan.estimate["confidence"] == "old"]
    assert set(old["region"]) == {"BR", "FR", "IN"}


def test_the_rates_call_themselves_a_sample() -> None:
    remarks = pd.read_csv(FOLDER / "rates.csv", keep_default_na=False)["remark"]
    assert remarks.str.startswith("sample rate").all()
    assert len(rates.read(FOLDER / "rates.csv")) == len(remarks)


def test_the_results_have_two_currencies_and_every_outcome() -> None:
    table = results.read(FOLDER / "results_two_currencies.csv")
    assert set(table["currency"].dropna()) == {"USD", "CNY"}
    assert set(table["status"]) == {"accepted", "rejected", "in_doubt", "skipped", "planned"}
    assert (cost.by_country(table).groupby("currency")["share"].sum().round(9) == 1).all()


def test_the_readme_names_every_file() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"`{file.name}`" in text for file in FOLDER.glob("*.csv"))
