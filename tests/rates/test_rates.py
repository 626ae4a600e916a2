"""Rates: text or number, exact to the sixth decimal, every bad row named."""

from __future__ import annotations

import datetime as dt
from decimal import Context, Decimal, localcontext
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.dtypes import dtype_names

import smsotp_nb as sms
from smsotp_nb import rates
from smsotp_nb.errors import UsageError

TODAY = dt.date(2026, 6, 30)


def table(**columns: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": ["0.0075"]} | columns)


def micros(checked: pd.DataFrame, today: dt.date = TODAY) -> dict[str, tuple[str, int]]:
    return {iso: (rate.currency, rate.micros) for (iso, _), rate in rates.book(checked, today=today).items()}


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
    assert micros(rates.check(table(price=[price]))) == {"US": ("USD", expected)}


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
        {"iso": ["US", "u1", None, "us"], "currency": ["USD", "$", "EUR", "USD"], "price": ["1", "1", "x", "2"]},
        index=list("abcd"),
    )
    with pytest.raises(UsageError) as caught:
        rates.check(bad)
    said = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 5
    assert "row 'b': iso must be a country's code such as GB, or its name, got 'U1'" in said
    assert "row 'b': currency must be a three-letter code, got '$'" in said
    assert "row 'c': iso is blank" in said
    assert "row 'd': US is in row 'a' too" in said


def test_a_missing_column_is_named_with_the_closest() -> None:
    with pytest.raises(UsageError, match=r"no column 'price'; did you mean 'prices'\?"):
        rates.check(table().rename(columns={"price": "prices"}))


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(UsageError, match="must be a DataFrame"):
        rates.check([("US", "USD", 1)])  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["object", "str", "string[pyarrow]", "category"])
def test_any_text_column_serves(dtype: str) -> None:
    found = rates.check(table(iso=["na", "US"], currency=["usd"] * 2, price=["0.5", "0.0075"]).astype(dtype))
    assert found[["iso", "currency", "price"]].to_numpy().tolist() == [["NA", "USD", 0.5], ["US", "USD", 0.0075]]
    assert dtype_names(found) == {
        "iso": "str",
        "currency": "str",
        "price": "float64",
        "type": "str",
        "valid_from": "datetime64[us]",
        "low": "float64",
        "high": "float64",
        "seen": "datetime64[us]",
        "from_parts": "Int64",
        "monthly_fee": "float64",
    }


def test_no_rates_are_a_table_too() -> None:
    assert micros(rates.check(table().iloc[:0])) == {}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_file_is_read_with_namibia_and_any_separator(tmp_path: Path, separator: str, start: str) -> None:
    file = tmp_path / "rates.csv"
    rows = [("iso", "currency", "price", "remark"), ("NA", "USD", "0.0395", "sample"), ("IN", "USD", "0.002100", "")]
    file.write_text(start + "\n".join(separator.join(row) for row in rows) + "\n", encoding="utf-8")
    assert micros(rates.read(file)) == {"NA": ("USD", 39500), "IN": ("USD", 2100)}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(None, "file not found", id="no file"),
        pytest.param(b"", "no column 'iso'", id="empty"),
        pytest.param(b"iso,currency,price\nUS,USD,1,2,3\n", "rows 0 do not have 3 cells", id="too many cells"),
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
@settings(deadline=None)
def test_the_float_handed_out_gives_the_exact_amount_back(amount: int) -> None:
    text = f"{amount // 1_000_000}.{amount % 1_000_000:06d}"
    assert micros(rates.check(table(price=[text]))) == {"US": ("USD", amount)}


def test_the_callers_frame_is_not_changed() -> None:
    given_table = table(iso=["us"])
    rates.check(given_table)
    assert given_table["iso"].tolist() == ["us"]


# -- since when, for which numbers, how surely -------------------------------------------------------------------------


def dated(*rows: tuple[Any, ...]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["price", "valid_from", "type"])
    return rates.check(frame.assign(iso="US", currency="USD"))


@pytest.mark.parametrize(
    ("today", "expected"),
    [
        pytest.param("2024-12-31", 1, id="before the first dated one, the undated holds"),
        pytest.param("2025-01-01", 2, id="from its day on"),
        pytest.param("2025-12-31", 2, id="until the next"),
        pytest.param("2026-01-01", 3, id="the latest that has come"),
    ],
)
def test_of_several_rates_the_latest_that_has_come_holds(today: str, expected: int) -> None:
    checked = dated((3, "2026-01-01", None), (1, None, None), (2, "2025-01-01", None), (9, "2030-01-01", ""))
    assert micros(checked, dt.date.fromisoformat(today)) == {"US": ("USD", expected * 1_000_000)}


def test_a_rate_of_the_future_alone_is_no_rate() -> None:
    assert micros(dated((1, "2030-01-01", None))) == {}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("MOBILE", 2), ("FIXED_LINE_OR_MOBILE", 2), ("FIXED_LINE", 3), ("VOIP", 1)],
)
def test_the_most_particular_type_wins(kind: str, expected: int) -> None:
    book = rates.book(dated((1, None, ""), (2, None, "mobile"), (3, None, "FIXED_LINE")), today=TODAY)
    found = rates.find(book, "US", kind)
    assert found is not None
    assert found.micros == expected * 1_000_000


def test_a_type_without_a_rate_and_no_general_one_is_no_rate() -> None:
    book = rates.book(dated((2, None, "MOBILE")), today=TODAY)
    assert rates.find(book, "US", "FIXED_LINE") is None
    assert rates.find(book, "FR", "MOBILE") is None


@pytest.mark.parametrize(
    "day", ["2026-05-01", dt.date(2026, 5, 1), pd.Timestamp("2026-05-01 10:00", tz="UTC"), "2026-05-01T10:00:00Z"]
)
def test_dates_in_any_form(day: Any) -> None:
    found = rates.check(table(seen=[day], valid_from=[day]))
    assert found[["valid_from", "seen"]].iloc[0].dt.date.tolist() == [dt.date(2026, 5, 1)] * 2


@pytest.mark.parametrize(
    ("columns", "old"),
    [
        pytest.param({}, False, id="without a date"),
        pytest.param({"valid_from": ["2026-01-01"]}, False, id="180 days"),
        pytest.param({"valid_from": ["2025-12-31"]}, True, id="181 days"),
        pytest.param({"valid_from": ["2020-01-01"], "seen": ["2026-06-01"]}, False, id="seen lately"),
        pytest.param({"seen": ["2025-06-01"]}, True, id="seen long ago"),
    ],
)
def test_a_rate_grows_old(columns: dict[str, Any], old: bool) -> None:
    found = rates.book(rates.check(table(**columns)), today=TODAY)["US", ""]
    assert found.old(today=TODAY) is old


def test_the_range_is_the_price_itself_unless_given() -> None:
    found = rates.check(table(iso=["US", "FR"], currency="USD", price=["1", "2"], low=["", "1.5"], high=[None, 2.5]))
    assert found[["low", "high"]].to_numpy().tolist() == [[1.0, 1.0], [1.5, 2.5]]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        pytest.param({"type": ["LANDLINE"]}, "type must be one of MOBILE", id="type"),
        pytest.param({"valid_from": ["31.13.2026"]}, "valid_from must be a date such as", id="date"),
        pytest.param(
            {"seen": [20260131]}, "seen must be a date such as 2026-01-31, got 20260131", id="number for a date"
        ),
        pytest.param({"seen": ["03/10/2026"]}, "two ways, .* '2026-10-03' if it is 3 October", id="order of a date"),
        pytest.param({"seen": ["46298"]}, "a number; .* it is 3 October 2026", id="number of a spreadsheet"),
        pytest.param({"low": ["x"]}, "low must be an amount", id="low"),
        pytest.param({"low": ["1"]}, "low, price and high must be in ascending order", id="low above price"),
        pytest.param({"high": ["0"]}, "low, price and high must be in ascending order", id="high below price"),
    ],
)
def test_what_stands_beside_a_price_is_checked(columns: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        rates.check(table(**columns))


def test_a_rate_given_twice_for_one_day_is_refused() -> None:
    with pytest.raises(UsageError, match="US is in row 0 too; distinguish them by valid_from, type or from_parts"):
        dated((1, "2026-01-01", "MOBILE"), (2, "2026-01-01", "mobile"))


def test_an_endless_cell_is_shown_by_its_beginning() -> None:
    """What is wrong with it takes no longer to say than to see."""
    with pytest.raises(UsageError) as caught:
        rates.check(table(iso=["<" * 100_000], currency="x" * 100_000, price="," * 100_000, seen="-" * 100_000))
    assert len(caught.value.problems) >= 4
    assert all(len(problem) < 200 and "and more" in problem for problem in caught.value.problems)


BEYOND = (10**5000, -(10**5000), Decimal("1E+999999"))


@pytest.mark.parametrize("column", ["price", "valid_from"])
@pytest.mark.parametrize("value", BEYOND, ids=["digits", "minus", "exponent"])
def test_a_number_beyond_all_measure_is_a_row_that_is_named(column: str, value: object) -> None:
    frame = pd.DataFrame({"iso": ["US"], "currency": "USD", "price": 1}).astype(object)
    with pytest.raises(UsageError, match=f"row 0: {column} must be"):
        rates.check(frame.assign(**{column: pd.Series([value], dtype=object)}))


def test_a_file_of_many_columns_is_refused_at_its_header(tmp_path: Path) -> None:
    (tmp_path / "rates.csv").write_text("iso,currency,price" + ",more" * 100_000 + "\n")
    with pytest.raises(UsageError, match=r"rates\.csv has 100,003 columns, and at most 4,000 are read"):
        rates.read(tmp_path / "rates.csv")


TIERS = pd.DataFrame(
    {"iso": ["US", "US", "US", "DE"], "currency": "USD", "price": [0.0075, 0.005, 0.004, 0.07],
     "from_parts": [None, 1001, 5001, None], "monthly_fee": [2, None, None, 10]}
)  # fmt: skip


@pytest.mark.parametrize("parts", [0, 1, 1000, 1001, 5000, 5001, 20_000])
def test_each_part_of_a_month_costs_what_its_tier_says(parts: int) -> None:
    """Counted one by one."""
    each = sum(7500 if part <= 1000 else 5000 if part <= 5000 else 4000 for part in range(1, parts + 1))
    us = rates.month(TIERS, {"US": parts}).set_index("iso").loc["US"]
    assert us[["usage", "monthly_fee", "cost"]].tolist() == [each / 1e6, 2.0, round(each / 1e6 + 2, 6)]


def test_a_month_names_countries_without_a_rate_and_counts_the_fees_of_others() -> None:
    found = rates.month(TIERS, {"FR": 3}).set_index("iso")
    assert found["cost"].fillna(-1).to_dict() == {"US": 2.0, "DE": 10.0, "FR": -1}
    for wrong in ({"US": -1}, {"US": "many"}, 5):
        with pytest.raises(UsageError, match="parts"):
            rates.month(TIERS, wrong)  # type: ignore[arg-type]


def test_the_prices_of_a_month_are_those_of_its_day() -> None:
    """A later row without tiers ends the tiers before it."""
    changed = pd.concat([TIERS.assign(valid_from="2025-01-01"), pd.DataFrame(
        {"iso": ["US"], "currency": "USD", "price": [0.01], "valid_from": ["2026-06-01"]})])  # fmt: skip
    usage = [rates.month(changed, {"US": 2000}, on=dt.date(2026, month, 1)).loc[0, "usage"] for month in (5, 6)]
    assert usage == [12.5, 20.0]


def test_an_estimate_counts_the_first_tier_and_ranges_over_all() -> None:
    found = rates.book(rates.check(TIERS.iloc[::-1]), today=TODAY)["US", ""]
    assert (found.micros, found.low, found.high) == (7500, 4000, 7500)
    made = sms.plan(pd.DataFrame({"phone": ["+12025550123"]}), "Hi", to="phone", campaign="x", rates=TIERS)
    assert made.rows["est_cost"].tolist() == [0.0075]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"from_parts": [2, 1001, 5001, 1]}, "US has no price for the first parts of a month"),
        ({"from_parts": [1, 1, 5001, 1]}, "distinguish them by valid_from, type or from_parts"),
        ({"from_parts": [1, 1.5, 5001, 1]}, "from_parts must be a whole number from 1 on"),
        ({"monthly_fee": ["-2", 1, 1, 1]}, "monthly_fee must be an amount"),
        ({"currency": ["USD", "EUR", "USD", "USD"]}, "US has tiers in USD and EUR"),
    ],
)
def test_tiers_that_do_not_fit_are_refused(columns: dict[str, list[object]], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        rates.check(TIERS.assign(**columns))


@pytest.mark.parametrize("code", ["ZZ", "XX", "QQ", "EU", "001"])
def test_a_code_of_no_country_is_refused(code: str) -> None:
    """No message is billed there: a price for it would never be used, and a typing error never be seen."""
    with pytest.raises(UsageError, match=f"row 0: iso must be a country's code .* got '{code}'"):
        rates.check(table(iso=[code]))


@pytest.mark.parametrize("code", ["UK", "uk", "GBR", "Royaume-Uni", "England"])
def test_another_spelling_of_a_country_is_read_as_its_code(code: str) -> None:
    assert rates.check(table(iso=[code]))["iso"].tolist() == ["GB"]


def test_rates_are_read_whatever_the_decimal_context_of_the_notebook() -> None:
    with localcontext(Context(prec=3)):
        assert rates.check(table(price=["1234.567891"]))["price"].tolist() == [1234.567891]
        assert rates.check(table(price=[1234.567891]))["price"].tolist() == [1234.567891]
