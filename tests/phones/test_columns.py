"""Which columns of a list hold numbers to text or countries: one judgement for every door."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import smsotp_nb as sms
from smsotp_nb.errors import UsageError

ROWS = 40
COUNTRIES = ["AT", "BR", "DE", "FI", "FR", "GB", "IN", "US", None]


def quad(chance: random.Random, least: int = 1) -> str:
    return ".".join(str(chance.randint(least, 254)) for _ in range(4))


OTHER_THINGS: dict[str, Callable[[random.Random], object]] = {
    "Latitude": lambda chance: f"{chance.uniform(45, 69):.6f}",
    "lng": lambda chance: chance.uniform(5, 25),
    "x": lambda chance: f"{chance.uniform(-60, 69):.5f}",
    "place": lambda chance: f"{chance.uniform(45, 55):.4f}, {chance.uniform(5, 15):.4f}",
    "last_ip": quad,
    "column_7": lambda chance: quad(chance, 100),
    "Lifetime value": lambda chance: f"{chance.uniform(100_000, 900_000):.2f}",
    "Umsatz": lambda chance: chance.randint(10**6, 10**8),
    "Rating": lambda chance: chance.randint(10**9, 10**10),
    "Device": lambda chance: chance.randint(10**14, 10**15),
    "Tax number": lambda chance: chance.randint(10**9, 10**10),
    "Change": lambda chance: f"+{chance.uniform(1_000, 99_999):.2f}",
}


@pytest.mark.parametrize("name", OTHER_THINGS)
@pytest.mark.parametrize("phones", [{}, {"Mobile": [None] * ROWS}], ids=["alone", "beside an empty column of phones"])
def test_other_things_are_no_numbers_to_text_in_any_country(name: str, phones: dict[str, list[None]]) -> None:
    """Most of them read as valid numbers somewhere: 60.169857 is a Finnish one, 198.51.100.7 an Austrian one."""
    chance = random.Random(name)
    people = pd.DataFrame({"Email": "p@example.com", **phones, name: [OTHER_THINGS[name](chance) for _ in range(ROWS)]})
    for country in COUNTRIES:
        assert sms.phones.find_columns(people, default_region=country).phone is None


@pytest.mark.parametrize("name", OTHER_THINGS)
def test_other_things_in_a_list_of_opt_outs_hold_nobody(name: str) -> None:
    chance = random.Random(name)
    cells = [OTHER_THINGS[name](chance) for _ in range(ROWS)]
    stops = pd.DataFrame({"phone": "+12025550199", name: cells})
    people = pd.DataFrame({"phone": ["+12025550101"]})
    for country in COUNTRIES:
        how = {"to": "phone", "campaign": "c", "default_region": country}
        assert sms.plan(people, "Hi", **how, exclude=stops).left_out["list"].tolist() == ["a DataFrame"]


def test_an_empty_column_of_phones_ends_the_search_and_says_so() -> None:
    numbers = [f"+1202555{at:04d}" for at in range(100, 140)]
    people = pd.DataFrame({"Mobile": [None] * 40, "handle": numbers, "IP": "198.51.100.7"})
    found = sms.phones.find_columns(people, default_region="AT")
    assert found.phone is None
    assert found.why["Mobile"] == "not read: it is named for phones and has no cell"
    assert found.why["IP"] == "not read: its cells are addresses of machines"
    assert sms.phones.find_columns(people.assign(Phone=numbers)).phone == "Phone"


STATES = {
    "US": (["AR", "CO", "PA", "IN", "DE", "CA"], "(303) 555-01{:02d}"),
    "CA": (["NL", "PE", "MB", "SK"], "(604) 555-01{:02d}"),
    "AU": (["SA", "NT", "WA"], "0491 570 1{:02d}"),
    "BR": (["AL", "SE", "PE", "MA"], "(11) 96123-45{:02d}"),
    "IN": (["BR", "KA", "TN", "MH"], "98765 432{:02d}"),
}


@pytest.mark.parametrize("name", ["State", "Province", "Region", "region_code", "Shipping state"])
@pytest.mark.parametrize("country", STATES)
@pytest.mark.parametrize("default", [True, False], ids=["default", "no default"])
def test_states_are_no_countries_at_any_door(tmp_path: Path, country: str, name: str, default: bool) -> None:
    states, written = STATES[country]
    cells = {"Phone": [written.format(at) for at in range(30)], name: [states[at % len(states)] for at in range(30)]}
    people, default_region = pd.DataFrame(cells), country if default else None
    assert sms.phones.find_columns(people, default_region=default_region).region is None
    with pytest.raises(UsageError, match=rf"column '{name}' .* are states of .*default_region='{country}'"):
        sms.plan(people, "Hi", to="Phone", campaign="c", region=name, default_region=default_region)
    register = sms.People(sms.Ledger(tmp_path / "ledger.sqlite", create=True))
    with pytest.raises(UsageError, match="nothing was recorded: the cells of column"):
        register.import_optouts(people, column="Phone", source="p", region=name, default_region=default_region)
    if default:
        assert register.import_optouts(people, column="Phone", source="p", default_region=country) > 0


def test_a_column_of_countries_that_could_be_states_is_used_where_the_numbers_are_theirs() -> None:
    people = pd.DataFrame({"Phone": ["0171 3920001", "0151 23456789", "030 901820"], "region": "DE"})
    plan = sms.plan(people, "Hi", to="Phone", campaign="c", region="region", default_region="US")
    assert plan.rows["region"].tolist() == ["DE"] * 3


def test_where_the_default_country_fits_as_well_the_person_who_said_it_wins() -> None:
    colorado = pd.DataFrame({"Phone": [f"(303) 555-01{at:02d}" for at in range(30)], "Land": "CO"})
    assert sms.phones.find_columns(colorado, default_region="US").region is None
    assert sms.phones.find_columns(colorado).region == "Land"
    two = pd.DataFrame({"Phone": ["0491 570 156", "0171 3920001"] * 5, "Land": ["AU", "DE"] * 5})
    assert sms.phones.find_columns(two, default_region="DE").region == "Land"


@pytest.mark.parametrize("name", ["tel", "msisdn", "Handynummer", "who"])
def test_the_numbers_of_an_opt_out_list_are_found_whatever_their_column_is_called(tmp_path: Path, name: str) -> None:
    people = pd.DataFrame({"phone": [f"+1202555010{at}" for at in range(3)]})
    stops = pd.DataFrame({name: ["+1 202 555 0101"], "reason": ["asked by letter"], "ip": ["198.51.100.7"]})
    stops.to_csv(tmp_path / "stops.csv", index=False)
    for source in (stops, tmp_path / "stops.csv"):
        plan = sms.plan(people, "Hi", to="phone", campaign="c", default_region="US", exclude=source)
        assert plan.rows["status"].tolist() == ["planned", "skipped", "planned"]
    with pytest.raises(UsageError, match="none that holds phone numbers"):
        sms.plan(people, "Hi", to="phone", campaign="c", exclude=stops[["reason", "ip"]])
