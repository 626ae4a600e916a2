"""A short list is judged row by row, a long one by column: every list is answered alike by both ways."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import phone_lists

from smsotp_nb import phones
from smsotp_nb._phones.judging import judgement

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import phone_books
import phone_rules

LIMIT = judgement.JUDGED_BY_ROWS
OPTIONS: list[dict[str, Any]] = [
    {},
    {"repair": ["lost_plus", "trailing_note", "vanity"]},
    {"evidence": "none", "landlines": False},
    {"evidence": "majority", "test_numbers": "refuse", "region_mismatch": "refuse"},
]


def assert_alike(numbers: Any, **how: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judgement, "JUDGED_BY_ROWS", 0)
        by_column, weighed = phones.normalize(numbers, **how), phones.weigh_column(numbers, **how)
        patch.setattr(judgement, "JUDGED_BY_ROWS", 1 << 40)
        by_row, counted = phones.normalize(numbers, **how), phones.weigh_column(numbers, **how)
    pd.testing.assert_frame_equal(by_row, by_column)
    assert str(counted) == str(weighed)
    assert (counted.of_parts, counted.narrow) == (weighed.of_parts, weighed.narrow)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_address_books(options: dict[str, Any]) -> None:
    reading = phones.Reading(**options)
    for book in phone_books.books(60, len(str(options)), held_out="evidence" in options):
        assert_alike(book.phone, default_region=book.home, reading=reading)
        assert_alike(book.phone, region=book.country, reading=reading)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_lists_of_every_rule(options: dict[str, Any]) -> None:
    reading = phones.Reading(**options)
    draw = random.Random(str(options))
    for region in ("AR", "BR", "DE", "FR", "GB", "IT", "MX", "US"):
        for it in phone_rules.of_one_region(region, phone_rules.people(region, 9, draw), draw):
            assert_alike(it.phone, region=it.country, default_region=it.default, reading=reading)


@pytest.mark.parametrize("size", [LIMIT - 1, LIMIT, LIMIT + 1, 2_000])
def test_either_side_of_the_limit(size: int) -> None:
    people = phone_lists.messy(size, seed=size)
    assert_alike(people["phone"], region=people["country"])
    assert_alike(people["phone"], default_region="DE")
    whole = phones.normalize(people["phone"], region=people["country"], reading=phones.Reading(evidence="none"))
    first = phones.normalize(
        people["phone"].head(9), region=people["country"].head(9), reading=phones.Reading(evidence="none")
    )
    pd.testing.assert_frame_equal(first, whole.head(9))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(
                st.text(st.sampled_from("0123456789+() -./x*;,oOl1６٣ー\u00a0\ud800"), max_size=22),
                st.sampled_from(
                    ["447911123456", "0055 51 99334-8698", "+49 49171 1234567", "n/a", "(201) 555-0123 (fax)"]
                ),
                st.none(),
                st.floats(),
                st.integers(),
                st.booleans(),
            ),
            st.sampled_from(
                ["DE", "us", "UK", "Italy", "+1", "CA", "NY", "TX", "MX", "FR", "", None, "Atlantis", "AQ"]
            ),
        ),
        max_size=12,
    ),
    st.sampled_from([None, "DE", "US", "BR", "FR"]),
)
def test_cells_of_any_kind(rows: list[tuple[Any, Any]], default: str | None) -> None:
    numbers = pd.Series([number for number, _ in rows], dtype=object, name="phone")
    assert_alike(numbers, default_region=default)
    assert_alike(numbers, region=pd.Series([region for _, region in rows], dtype=object), default_region=default)


@pytest.mark.parametrize("dtype", ["float64", "float32", "Int64", "category", "str", "object", "string[pyarrow]"])
def test_columns_of_any_dtype(dtype: str) -> None:
    draw = random.Random(36)
    values = [draw.randrange(4_915_110_000_000, 4_915_119_999_999) for _ in range(40)]
    numbers = pd.Series(values, index=range(7, 47))
    numbers = numbers.astype("str").astype(dtype) if dtype not in ("float32", "Int64") else numbers.astype(dtype)
    assert_alike(numbers, default_region="DE")
    assert_alike(numbers.where(np.arange(40) % 3 > 0), default_region="AT")
