"""Edits of a list: cells replaced and rows left out by their labels."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from smsotp_nb import phones
from smsotp_nb.errors import UsageError

PEOPLE = pd.DataFrame({"phone": ["n/a", "+14155550100", "???"], "country": ["US", None, "DE"]}, index=["a", "b", "c"])


def test_the_list_stays_and_the_index_is_its_own() -> None:
    before = PEOPLE.copy(deep=True)
    found = phones.edit(PEOPLE, {"c": {"phone": "030 123", "country": None}, "a": None})
    assert found.index.tolist() == ["b", "c"]
    assert found["phone"].tolist() == ["+14155550100", "030 123"]
    assert found["country"].isna().tolist() == [True, True]
    pd.testing.assert_frame_equal(PEOPLE, before)
    pd.testing.assert_frame_equal(phones.edit(PEOPLE, {}), before)


@pytest.mark.parametrize("dtype", ["object", "string[pyarrow]", "category"])
def test_any_kind_of_column_takes_text(dtype: str) -> None:
    assert phones.edit(PEOPLE.astype(dtype), {"a": {"phone": "+12025550123"}})["phone"].iat[0] == "+12025550123"


def test_a_column_of_numbers_keeps_the_others() -> None:
    found = phones.edit(pd.DataFrame({"phone": [12025550123, 0]}), {1: {"phone": "+12025550145"}})
    assert found["phone"].tolist() == [12025550123, "+12025550145"]


def test_labels_of_several_levels() -> None:
    labels = pd.MultiIndex.from_tuples([("n", 1), ("n", 2), ("s", 1)])
    found = phones.edit(PEOPLE.set_axis(labels), {("n", 2): None})
    assert found.index.tolist() == [("n", 1), ("s", 1)]


@pytest.mark.parametrize(
    ("people", "edits", "said"),
    [
        (PEOPLE, {"z": None}, "the list has no row 'z'"),
        (PEOPLE, {"a": {"fone": "1"}}, "did you mean 'phone'"),
        (PEOPLE, {"a": "+12025550123"}, "must be a dict such as"),
        (PEOPLE, ["a"], "must be a dict such as"),
        (PEOPLE.set_axis(list("aab")), {"a": None}, "more than one row is called 'a'"),
        ("list.csv", {}, "must be a DataFrame"),
    ],
    ids=["label", "column", "cells", "edits", "repeated", "no frame"],
)
def test_what_cannot_be_edited_is_said(people: Any, edits: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        phones.edit(people, edits)
