"""`split`: the same group for the same unit, whatever machine, order, dtype or rest of the list."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from support.dtypes import STR

import smsotp_nb as sms
from smsotp_nb.errors import UsageError

SHARES = {"A": 45, "B": 45, "holdout": 10}


def split(units: Any, shares: Any = SHARES, seed: Any = "autumn") -> pd.Series:
    column = units if isinstance(units, pd.Series) else pd.Series(units, dtype=object)
    return sms.split(column.to_frame("customer_id"), shares, unit="customer_id", seed=seed)


def test_the_groups_of_known_units_never_change() -> None:
    """A campaign goes on next month on another machine; these labels were written down once."""
    group = split(["ann@example.com", "7", 1001, "Zoë", "007", 10**20, "a7", "A7"])
    assert group.tolist() == ["holdout", "B", "B", "B", "A", "A", "A", "B"]


def test_the_result_is_a_column_on_the_index_of_the_list() -> None:
    people = pd.DataFrame({"customer_id": [1, 2, 3], "group": "x"}, index=pd.Index(["x", "x", "z"], name="row"))
    before = people.copy()
    group = sms.split(people, SHARES, unit="customer_id", seed="autumn")
    assert group.index.equals(people.index)
    assert (group.name, group.dtype) == ("group", STR)
    pd.testing.assert_frame_equal(people, before)


def test_the_order_of_rows_and_labels_and_the_rest_of_the_list_change_nothing() -> None:
    units = pd.Series(range(500))
    group = split(units)
    assert split(units[::-1]).sort_index().equals(group)
    assert split(units[100:200]).equals(group[100:200])
    assert split(units, dict(reversed(SHARES.items()))).equals(group)
    assert split(units, {"A": 0.9, "B": Decimal("0.9"), "holdout": Fraction(1, 5)}).equals(group)


def test_rows_of_one_unit_are_in_one_group() -> None:
    group = split([number % 50 for number in range(1000)])
    assert (group.groupby(np.arange(1000) % 50).nunique() == 1).all()


def test_shares_are_kept() -> None:
    counts = split(range(100_000)).value_counts()
    assert counts["A"] == pytest.approx(45_000, abs=800)  # five standard deviations
    assert counts["holdout"] == pytest.approx(10_000, abs=500)


def test_another_seed_draws_anew() -> None:
    first, second = split(range(20_000), seed="spring"), split(range(20_000), seed="autumn")
    again = (second[first == "holdout"] == "holdout").mean()
    assert again == pytest.approx(0.1, abs=0.04)


@pytest.mark.parametrize(
    "spelling",
    [7, 7.0, "7", "7.0", " 7 ", np.int8(7), np.float32(7), Decimal("7.00")],
    ids=lambda spelling: f"{type(spelling).__name__} {spelling}",
)
def test_a_whole_number_is_one_unit_however_it_is_stored(spelling: Any) -> None:
    for seed in map(str, range(20)):
        assert split([spelling], seed=seed)[0] == split([7], seed=seed)[0]


def test_a_blank_cell_that_makes_a_column_float_moves_nobody() -> None:
    """What read_csv makes of ids when one is missing, what a nullable column holds, and categories."""
    whole = pd.Series(range(100), dtype="int64")
    for dtype in ("float64", "Int64", "category", "uint16", pd.ArrowDtype(pa.int64())):
        assert split(whole.astype(dtype)).tolist() == split(whole).tolist()


def test_texts_that_look_alike_but_are_not_equal_are_different_units() -> None:
    for first, second in [("007", "7"), ("a7", "A7"), ("1e3", "1000"), ("7.5", "7")]:
        seeds = [*map(str, range(40))]
        assert [split([first], seed=seed)[0] for seed in seeds] != [split([second], seed=seed)[0] for seed in seeds]
    assert split(["Zoe\u0308"] * 9).tolist() == split(["Zo\xeb"] * 9).tolist()


def test_frames_of_other_libraries() -> None:
    rows = [{"customer_id": number} for number in range(50)]
    expected = split(range(50)).tolist()
    assert sms.split(rows, SHARES, unit="customer_id", seed="autumn").tolist() == expected
    table = pa.table({"customer_id": range(50)})
    assert sms.split(table, SHARES, unit="customer_id", seed="autumn").tolist() == expected


@pytest.mark.parametrize("cell", [None, float("nan"), pd.NA, pd.NaT, "", "  ", "n/a", "-", "\u200b"], ids=repr)
def test_a_row_without_a_unit_is_refused_by_its_label(cell: Any) -> None:
    units = pd.Series([1, cell, 3], index=["x", "y", "z"], dtype=object)
    with pytest.raises(UsageError, match=r"column 'customer_id' is blank in row y"):
        split(units)


@pytest.mark.parametrize("cell", [True, np.True_, 1.5, float("inf"), pd.Timestamp("2026-01-01"), b"7", (7,)], ids=repr)
def test_what_is_no_id_is_refused(cell: Any) -> None:
    units = pd.Series([1, None], dtype=object)
    units[1] = cell
    with pytest.raises(UsageError, match="neither text nor a whole number in row 1"):
        split(units)


def test_a_float_that_has_lost_digits_is_refused() -> None:
    with pytest.raises(UsageError, match=r"last digits are lost in row 0: read the column as text"):
        split(pd.Series([float(2**53 + 2)]))
    with pytest.raises(UsageError, match="last digits are lost"):
        split(pd.Series([20_000_001], dtype="float32"))


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ([("A", 1)], "must be a dict"),
        ({}, "at least two groups"),
        ({"A": 100}, "at least two groups"),
        ({"A": 0, "B": 1}, r"shares\['A'\]= must be a number above 0, got 0"),
        ({"A": -1, "B": 1}, "above 0"),
        ({"A": True, "B": 1}, "above 0"),
        ({"A": "45", "B": 1}, "above 0"),
        ({"A": float("nan"), "B": 1}, "above 0"),
        ({"A": Decimal("Infinity"), "B": 1}, "above 0"),
        ({"A": None, "B": 1}, "above 0"),
        ({"": 1, "B": 1}, "must be text without blanks"),
        ({"A ": 1, "B": 1}, "must be text without blanks"),
        ({1: 1, "B": 1}, "must be text without blanks"),
        ({"a": 1, "A": 1}, "differ only in case"),
    ],
    ids=repr,
)
def test_shares_that_cannot_be_meant_are_refused(shares: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        split([1, 2], shares)


def test_a_column_that_is_not_there_and_a_seed_that_is_none() -> None:
    people = pd.DataFrame({"customer_id": [1]})
    with pytest.raises(UsageError, match="did you mean 'customer_id'"):
        sms.split(people, SHARES, unit="customer", seed="autumn")
    for seed in (3, "", None):
        with pytest.raises(UsageError, match="seed="):
            sms.split(people, SHARES, unit="customer_id", seed=seed)  # type: ignore[arg-type]


def test_the_holdout_is_excluded_from_a_plan_by_its_numbers() -> None:
    """Also where a person of the holdout stands in the list a second time, with another unit."""
    people = pd.DataFrame({"customer_id": range(60), "phone": [f"+120255501{number:02}" for number in range(60)]})
    people.loc[len(people)] = {"customer_id": 999, "phone": "placeholder"}
    group = sms.split(people, SHARES, unit="customer_id", seed="autumn")
    holdout = people[group.eq("holdout") & people["phone"].ne("placeholder")]
    people.loc[60, "phone"] = holdout["phone"].iloc[0]
    plan = sms.plan(people, "20% off until Sunday.", campaign="autumn", to="phone", exclude=holdout)
    texted = plan.rows.loc[plan.rows["status"].eq("planned"), "to"]
    assert len(texted) == 60 - len(holdout)
    assert not texted.isin(holdout["phone"]).any()
