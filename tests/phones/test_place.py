"""`phones.countries.place`, the quick country of an E.164 number, says what `phones.countries.ask` says."""

from __future__ import annotations

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.phone_lists import example

from smsotp_nb._phones import countries

EXAMPLES = sorted(
    {
        example(region, kind)
        for region in phonenumbers.SUPPORTED_REGIONS
        for kind in ("FIXED_LINE", "MOBILE", "TOLL_FREE", "PREMIUM_RATE", "VOIP", "UAN", "PAGER", "VOICEMAIL")
    }
    - {""}
)


def slowly(number: str) -> tuple[str, str] | None:
    found = countries.ask(number)
    place = found.region or "", found.cc or ""
    return place if found.valid and found.e164 == number and len(place[0]) == 2 else None


def test_every_example_number_has_the_same_place_either_way() -> None:
    assert len(EXAMPLES) > 800
    assert [number for number in EXAMPLES if countries.place(number) != slowly(number)] == []


@given(st.sampled_from(EXAMPLES), st.data())
def test_a_changed_example_number_has_the_same_place_either_way(number: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(2, len(number) - 1))
    changed = number[:at] + data.draw(st.text("0123456789", max_size=3)) + number[at + data.draw(st.integers(0, 2)) :]
    assert countries.place(changed[:16]) == slowly(changed[:16])


@given(st.from_regex(r"\+[1-9][0-9]{1,14}", fullmatch=True))
def test_any_number_has_the_same_place_either_way(number: str) -> None:
    assert countries.place(number) == slowly(number)


@pytest.mark.parametrize(
    "number", ["", "+", "12025550123", "+1202555o123", "+1 202 555 0123", "+０１２", "+80012345678"]
)
def test_what_is_no_e164_number_of_a_country_has_no_place(number: str) -> None:
    assert countries.place(number) is None
