"""Rates: text or number, exact to the sixth decimal, every bad row named."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smsotp_nb import rates
from smsotp_nb.errors import UsageError


def table(**columns: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": ["0.0075"]} | columns)


@pytest.mark.parametrize(
    ("price", "expected"),
    [
        pytest.param("0.007500", 7500, id="wire text"),
        pytest.param(" 0.0075 ", 7500, id="text with blanks"),
        pytest.param("1", 1_000_000, id="whole text"),
        pytest.param(0.0075, 7500, id="float"),
        pytest.param(0.1 + 0.2, 300_000, id="a float next to the amount"),
        pytest.param(2, 2_000_000, id="integer"),
        pytest.param(Decimal("0.000001"), 1, id="Decimal"),
        pytest.param(0, 0, id="free is a rate"),
    ],
)
def test_prices_are_exact(price: Any, expected: int) -> None:
    assert rates.micros(rates.check(table(price=[price]))) == {"US": ("USD", expected)}


@pytest.mark.parametrize(
    "price",
    ["", "n/a", "0,0075", "-1", "1e-3", "0.0000001", -0.5, float("nan"), float("inf"), None, True, Decimal("NaN")],
)
def test_a_price_that_is_none_is_refused_by_row(price: Any) -> None:
    with pytest.raises(UsageError, match="row 0: price must be an amount with at most six decimal places"):
        rates.check(table(price=[price]))


def test_a_comma_is_explained() -> None:
    with pytest.raises(UsageError, match="write a point, not a comma"):
        rates.check(table(price=["0,0075"]))


def test_every_bad_row_is_listed_by_its_label() -> None:
    bad = pd.DataFrame(
        {"iso": ["US", "usa", None, "us"], "currency": ["USD", "$", "EUR", "USD"], "price": ["1", "1", "x", "2"]},
        index=list("abcd"),
    )
    with pytest.raises(UsageError) as caught:
        rates.check(bad)
    said = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 5
    assert "row 'b': iso must be a two-letter country code, got 'USA'" in said
    assert "row 'b': currency must be a three-letter code, got '$'" in said
    assert "row 'c': iso must be a two-letter country code, it is blank" in said
    assert "row 'd': US stands in row 'a' too" in said


def test_a_missing_column_is_named_with_the_closest() -> None:
    with pytest.raises(UsageError, match=r"no column 'price'; did you mean 'prices'\?"):
        rates.check(table().rename(columns={"price": "prices"}))


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(UsageError, match="must be a DataFrame"):
        rates.check([("US", "USD", 1)])  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["object", "str", "string[pyarrow]", "category"])
def test_any_text_column_serves(dtype: str) -> None:
    found = rates.check(table(iso=["na", "US"], currency=["usd"] * 2, price=["0.5", "0.0075"]).astype(dtype))
    assert found.to_numpy().tolist() == [["NA", "USD", 0.5], ["US", "USD", 0.0075]]
    assert found.dtypes.astype(str).tolist() == ["str", "str", "float64"]


def test_no_rates_are_a_table_too() -> None:
    assert rates.micros(rates.check(table().iloc[:0])) == {}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_file_is_read_with_namibia_and_any_separator(tmp_path: Path, separator: str, start: str) -> None:
    file = tmp_path / "rates.csv"
    rows = [("iso", "currency", "price", "remark"), ("NA", "USD", "0.0395", "sample"), ("IN", "USD", "0.002100", "")]
    file.write_text(start + "\n".join(separator.join(row) for row in rows) + "\n", encoding="utf-8")
    assert rates.micros(rates.read(file)) == {"NA": ("USD", 39500), "IN": ("USD", 2100)}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(None, "FileNotFoundError", id="no file"),
        pytest.param(b"", "no column 'iso'", id="empty"),
        pytest.param(b"iso,currency,price\nUS,USD,1,2,3\n", "rows 0 have not 3 cells", id="too many cells"),
        pytest.param(b"\xff\xfe\x00", "UTF-8", id="no text"),
        pytest.param(b"iso,price\nUS,1\n", "no column 'currency'", id="a column missing"),
    ],
)
def test_an_unreadable_file_says_what_was_expected(tmp_path: Path, content: bytes | None, says: str) -> None:
    file = tmp_path / "rates.csv"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match=says):
        rates.read(file)


@given(st.integers(0, 10**12))
def test_the_float_handed_out_gives_the_exact_amount_back(micros: int) -> None:
    text = f"{micros // 1_000_000}.{micros % 1_000_000:06d}"
    assert rates.micros(rates.check(table(price=[text]))) == {"US": ("USD", micros)}


def test_the_callers_frame_is_not_changed() -> None:
    given_table = table(iso=["us"])
    rates.check(given_table)
    assert given_table["iso"].tolist() == ["us"]
