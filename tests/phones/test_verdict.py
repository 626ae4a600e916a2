"""`verdict` is phonenumbers' own answer, on every input, to the letter."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from support.dtypes import dtype_names

from smsotp_nb import phones
from smsotp_nb.errors import UsageError

COLUMNS = ["e164", "region", "cc", "valid", "type", "reason", "extension"]


def test_columns_and_dtypes() -> None:
    """Seven columns, text as str, valid as bool; the index of the input."""
    frame = phones.parse(pd.Series(["+14155550100", None], index=[7, 7]))
    assert frame.columns.tolist() == COLUMNS
    assert {name: dtype for name, dtype in dtype_names(frame).items() if dtype != "str"} == {"valid": "bool"}
    assert frame.index.tolist() == [7, 7]


@pytest.mark.parametrize(
    ("number", "region", "reason"),
    [
        (None, None, "NOT_A_NUMBER"),
        ("hello", "US", "NOT_A_NUMBER"),
        ("4155550100", None, "INVALID_COUNTRY_CODE"),
        ("4155550100", "us", "INVALID_COUNTRY_CODE"),
        ("011 1", "US", "TOO_SHORT_AFTER_IDD"),
        ("+49 1", None, "TOO_SHORT_NSN"),
        ("+1 415", None, "TOO_SHORT"),
        ("555 0100", "US", "IS_POSSIBLE_LOCAL_ONLY"),
        ("+61 491 570 156 11", None, "INVALID_LENGTH"),
        ("+1 415 555 0100 9", None, "TOO_LONG"),
        ("+44 7700 900123", None, "NOT_IN_USE"),
        ("+1 415 555 0100", None, None),
    ],
)
def test_reason_is_phonenumbers_own(number: str | None, region: str | None, reason: str | None) -> None:
    """The parse error's name, the ValidationResult's name, NOT_IN_USE, or missing when valid."""
    answer = phones.parse(pd.Series([number], dtype=object), region=[region]).iloc[0]
    assert (answer["reason"] if isinstance(answer["reason"], str) else None) == reason
    assert answer["valid"] == (reason is None)


def test_equal_rows_get_equal_answers_whatever_their_order() -> None:
    """Distinct pairs are asked once and spread over the rows they came from."""
    numbers = ["030 901820", "+33 1 99 00 12 34", "030 901820", None, "030 901820"]
    regions = ["DE", "DE", "AT", "DE", "DE"]
    frame = phones.parse(numbers, region=regions)
    alone = [phones.parse([number], region=[region]) for number, region in zip(numbers, regions, strict=True)]
    expected = pd.concat(alone, ignore_index=True)
    pd.testing.assert_frame_equal(frame, expected)


def test_region_is_used_as_it_stands_and_default_fills_blanks() -> None:
    """No kind reading here: UK is unknown to phonenumbers, a blank takes the default."""
    frame = phones.parse(["030 901820"] * 3, region=["UK", "", None], default_region="DE")
    assert frame["valid"].tolist() == [False, True, True]


@pytest.mark.parametrize("size", [1, 127, 128, 300])
@pytest.mark.parametrize("cell", [49, 49.0, True, float("nan"), None, "", Decimal("NaN"), pd.NA], ids=repr)
def test_region_cells_of_any_kind_mean_the_same_in_lists_of_any_length(cell: object, size: int) -> None:
    """What is no text is not taken for a blank in short lists and for a code in long ones."""
    found = phones.parse(["030 901820"] * size, region=pd.Series([cell] * size, dtype=object), default_region="DE")
    blank = cell == "" if isinstance(cell, str) else pd.isna(cell)
    assert found["valid"].tolist() == [bool(blank)] * size


@pytest.mark.parametrize(
    "numbers",
    [
        pd.Series([14155550100, 4155550100]),
        pd.Series([14155550100.0, 4155550100.0]),
        pd.Series([14155550100, 4155550100], dtype="Int64"),
        np.array([14155550100, 4155550100]),
        pd.Series([14155550100, "4155550100.0".removesuffix(".0")], dtype=object),
        pd.Series([14155550100.0, 4155550100.0]).astype("category"),
    ],
    ids=["int", "float", "Int64", "array", "mixed", "category"],
)
def test_numbers_become_text_without_a_decimal_point(numbers: object) -> None:
    """A column of numbers is read as the digits it holds."""
    assert phones.parse(numbers, default_region="US")["e164"].tolist() == ["+14155550100", "+14155550100"]


NUMBER = "+1 415 555 0100"


@pytest.mark.parametrize("call", [phones.parse, phones.normalize])
@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        (np.array(NUMBER), "0 dimensions.*single value: put it in a list"),
        (np.array([[NUMBER, NUMBER]]), r"2 dimensions \(1 x 2\)"),
        (np.array([[NUMBER], [NUMBER]], dtype=object), r"2 dimensions \(2 x 1\)"),
        (pd.DataFrame({"name": ["Ann"]}), "DataFrame"),
        ({NUMBER}, "a set: it has no order"),
        (frozenset([NUMBER]), "a frozenset: it has no order"),
        (pd.MultiIndex.from_tuples([(NUMBER, 1)]), "several values a row"),
        (np.array([(NUMBER, 1)], dtype=[("phone", "U20"), ("of", "i4")]), "several values a row"),
        (NUMBER, "not str"),
        (NUMBER.encode(), "not bytes"),
        (bytearray(NUMBER.encode()), "not bytearray"),
        (None, "not NoneType"),
        ((number for number in [NUMBER]), "not generator"),
    ],
    ids=lambda it: type(it).__name__,
)
def test_what_is_no_column_is_refused_in_words(call: Callable[..., pd.DataFrame], numbers: object, told: str) -> None:
    """A value, a table or a set is not guessed into rows; nor is it one as the region."""
    with pytest.raises(UsageError, match=f"^phones must be a column.*{told}"):
        call(numbers)
    if numbers is not None:
        with pytest.raises(UsageError, match=f"^region must be a column.*{told}"):
            call([NUMBER], region=numbers)


def test_half_a_surrogate_pair_is_no_crash() -> None:
    """A character no column can hold is read as an unknown sign."""
    assert phones.parse(pd.Series(["+1 415 555 0100\ud83d"], dtype=object))["valid"][0]
