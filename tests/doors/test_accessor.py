"""The accessor says nothing of its own: each method is the room's answer."""

from __future__ import annotations

import inspect
import re

import pandas as pd
import pytest
from support.tables import table

from smsotp_nb import cost, phones
from smsotp_nb import plan as planned
from smsotp_nb.errors import UsageError

PEOPLE = pd.DataFrame(
    {"phone": ["(415) 555-0100", "+1 202 555 0123", None], "country": ["US", None, "NA"]}, index=["a", "b", "b"]
)


def test_normalize_takes_a_region_by_name_or_as_a_series() -> None:
    """A column's name and the column itself are the same."""
    expected = phones.normalize(PEOPLE["phone"], region=PEOPLE["country"], default_region="DE")
    for region in ("country", PEOPLE["country"]):
        pd.testing.assert_frame_equal(PEOPLE.smsotp.normalize("phone", region=region, default_region="DE"), expected)


@pytest.mark.parametrize("name", ["normalize"])
def test_every_argument_of_the_room_is_passed_on(name: str) -> None:
    """The accessor offers what the room takes, with the same defaults, and hands it over."""
    offered, taken = (inspect.signature(getattr(on, name)).parameters for on in (PEOPLE.smsotp, phones))
    defaults = {word: it.default for word, it in taken.items() if word != "phones"}
    assert {word: it.default for word, it in offered.items() if word != "column"} == defaults
    seen: list[int] = []
    chosen = {
        "default_region": "DE",
        "repair": {"lost_plus"},
        "allow_types": {"MOBILE"},
        "region_mismatch": "refuse",
        "test_numbers": "refuse",
    }
    arguments = {word: value for word, value in chosen.items() if word in taken}
    many = pd.concat([PEOPLE] * 100, ignore_index=True)
    found = getattr(many.smsotp, name)("phone", region="country", progress=seen.append, **arguments)
    pd.testing.assert_frame_equal(found, getattr(phones, name)(many["phone"], region=many["country"], **arguments))
    assert seen[-1] == 300


def test_plan_offers_the_planners_arguments_and_hands_them_over() -> None:
    """Every argument stands in the signature, with the planner's default, and arrives as it was given."""
    offered, taken = (dict(inspect.signature(plan).parameters) for plan in (PEOPLE.smsotp.plan, planned))
    del taken["people"]
    assert [(one.name, one.kind, one.default) for one in offered.values()] == [
        (one.name, one.kind, one.default) for one in taken.values()
    ]
    given = {"to": "phone", "campaign": "c", "region": "country", "signature": "Acme", "keep": ["country"]}
    found, expected = PEOPLE.smsotp.plan("Hi", **given), planned(PEOPLE, "Hi", **given)
    pd.testing.assert_frame_equal(found.rows, expected.rows)
    assert (found.campaign, found.texts.tolist()) == ("c", expected.texts.tolist())


def test_cost_is_by_country_unless_columns_are_named() -> None:
    """Tab completion finds both tables."""
    given = table(3).assign(segment=["a", "b", "a"])
    pd.testing.assert_frame_equal(given.smsotp.cost(), cost.by_country(given))
    pd.testing.assert_frame_equal(given.smsotp.cost("segment", decimals=True), cost.by(given, "segment", decimals=True))


def test_masked_numbers_cannot_be_called() -> None:
    """A frame to be shown: the middle of each number is gone, missing ones stay missing, the frame is untouched."""
    given = table(2, to=["+12025550123", None])
    assert given.smsotp.masked()["to"].fillna("").tolist() == ["+1202...0123", ""]
    assert given["to"].iloc[0] == "+12025550123"
    assert PEOPLE.smsotp.masked("phone")["phone"].iloc[0] == "(415)...0100"
    assert PEOPLE.smsotp.masked("phone").index.tolist() == ["a", "b", "b"]


@pytest.mark.parametrize(
    "phone",
    [
        ["(202) 555-0123", "nobody"], ["2025550123", None], [2025550123, 7], [2025550123.0, None],
        ["12025550123 ", ""], ["00 1 202 555 01 23", "+1 202 555 0124"],
    ],
    ids=str,
)  # fmt: skip
def test_a_column_that_was_kept_with_the_same_numbers_is_masked_too(phone: list[object]) -> None:
    """A raw phone column beside the result is found by its digits, whatever its spelling; other columns stay."""
    given = table(2, to=["+12025550123", None]).assign(phone=phone, order=[2024000555, 7], name=["Ann", "Ben"])
    shown = given.smsotp.masked()
    assert "5550" not in "".join(re.findall("[0-9]", "".join(shown["phone"].fillna("").astype("str"))))
    assert shown[["order", "name"]].equals(given[["order", "name"]])
    assert given["phone"].tolist()[:1] == phone[:1]


def test_columns_that_are_called_by_numbers_are_masked() -> None:
    """As those of a list without a head are."""
    given = table(1, to=["+12025550123"]).assign(name="Ann").rename(columns={"name": 1})
    given[0] = "(202) 555-0123"
    assert given.smsotp.masked()[[0, 1]].to_numpy().tolist() == [["(202)...0123", "Ann"]]
    assert given.smsotp.masked(0)["to"].tolist() == ["+12025550123"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: PEOPLE.smsotp.normalize("fone"),
            "no column 'fone'; did you mean 'phone'? (columns: 'phone', 'country')",
        ),
        (lambda: PEOPLE.smsotp.normalize("phone", region="land"), "no column 'land'"),
        (lambda: PEOPLE.smsotp.masked(), "no column 'to'"),
        (lambda: pd.concat([PEOPLE, PEOPLE], axis=1).smsotp.normalize("phone"), "2 columns are named 'phone'"),
        (lambda: PEOPLE.smsotp.cost(), "not a result table"),
    ],
    ids=["column", "region", "masked", "twice", "cost"],
)
def test_a_wrong_name_is_said(call: object, said: str) -> None:
    """An unknown column is named with those that there are."""
    with pytest.raises(UsageError) as found:
        call()  # type: ignore[operator]
    assert said in str(found.value)


@pytest.mark.parametrize("name", ["sms", "smsotp"])
def test_a_column_of_our_name_is_what_the_frame_gives(name: str) -> None:
    """pandas' own accessors hide columns: people.sms != "no" would keep those who said no."""
    people = PEOPLE.assign(**{name: ["yes", "no", "no"]})
    assert (getattr(people, name) == "no").tolist() == [False, True, True]
    setattr(people, name, ["a", "b", "c"])
    assert people[name].tolist() == ["a", "b", "c"]
    assert (
        people.rename(columns={name: "other"}).smsotp.normalize("phone", default_region="US")["to"].notna().sum() == 2
    )
    assert not hasattr(PEOPLE, "sms")


def test_the_frame_without_the_column_has_the_accessor_again() -> None:
    people = PEOPLE.assign(smsotp="no")
    assert people.smsotp.tolist() == ["no"] * 3
    del people["smsotp"]
    assert people.smsotp.masked("phone")["phone"].iloc[0] == "(415)...0100"
