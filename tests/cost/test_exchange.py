"""Amounts in one currency: only by rates that somebody gave, each for its time, with the originals beside them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from smsotp_nb import cost
from smsotp_nb.errors import UsageError


def months(**columns: list[object]) -> pd.DataFrame:
    base = {"currency": ["CNY", "USD", "CNY"], "month": ["2026-09", "2026-10", "2026-10"], "cost": [10.0, 1.5, 20.0]}
    return pd.DataFrame({**base, "messages": 1, "parts": 1, "unpriced": 0, **columns})


def dated(*rows: tuple[object, object, object]) -> pd.DataFrame:
    return pd.DataFrame([*rows], columns=["date", "currency", "rate"])


def test_one_rate_converts_one_month_exactly() -> None:
    table = months(month=["2026-10"] * 3)
    found = cost.convert(table, {"CNY": "0.1377"}, to="USD", decimals=True)
    assert found["currency"].unique().tolist() == ["USD"]
    assert found["cost"].tolist() == [Decimal("1.377"), Decimal("1.5"), Decimal("2.754")]
    assert round(found["share"].sum(), 9) == 1
    assert found[["original_currency", "original_cost"]].values.tolist() == [["CNY", 10.0], ["USD", 1.5], ["CNY", 20.0]]


def test_order_stays_and_by_adds_up() -> None:
    found = cost.convert(months(), dated(("2026-09", "CNY", "0.1"), ("2026-10", "CNY", "0.2")), to="USD", source="x")
    assert found["month"].tolist() == months()["month"].tolist()
    assert found["exchange_rate"].tolist() == [0.1, 1.0, 0.2]
    assert found["exchange_source"].tolist() == ["x"] * 3
    assert cost.by_month(found)[["month", "cost"]].values.tolist() == [["2026-09", 1.0], ["2026-10", 5.5]]


def test_one_rate_for_a_table_without_months_is_said_beside_each_amount() -> None:
    found = cost.convert(cost.by(months(), []), {"CNY": "0.1"}, to="USD", source="bank")
    assert found["exchange_source"].unique().tolist() == ["bank: one rate, whatever the month"]
    one = cost.convert(months(month=["2026-10"] * 3), {"CNY": "0.1"}, to="USD", source="bank")
    assert one["exchange_source"].unique().tolist() == ["bank"]


def test_a_day_takes_the_latest_rate_of_a_week_at_most() -> None:
    days = pd.to_datetime(["2026-10-02", "2026-10-04", "2026-10-09"])
    table = months(currency=["CNY"] * 3).drop(columns="month").assign(day=days)
    table = table[["currency", "day", "messages", "parts", "cost", "unpriced"]]
    rates = dated(("2026-10-02", "CNY", "0.1"), ("2026-10-05", "CNY", "0.9"))
    assert cost.convert(table, rates, to="USD", source="x")["exchange_rate"].tolist() == [0.1, 0.1, 0.9]
    late = table.assign(day=table["day"] + pd.Timedelta(days=4))  # the last: eight days after the latest rate
    with pytest.raises(UsageError, match="one CNY on 2026-10-13 is worth in USD"):
        cost.convert(late, rates, to="USD", source="x")


def test_a_month_takes_the_mean_of_its_days() -> None:
    rates = dated(("2026-10-01", "CNY", "0.1"), ("2026-10-02", "CNY", "0.3"), ("2026-09-30", "CNY", "0.5"))
    assert cost.convert(months(), rates, to="USD", source="x")["exchange_rate"].tolist() == [0.5, 1.0, 0.2]


def test_a_file_is_its_source(tmp_path: Path) -> None:
    file = tmp_path / "bank.csv"
    file.write_text("date;currency;rate\n2026-09;CNY;0.1\n2026-10;CNY;0.2\n")
    assert cost.convert(months(), file, to="USD")["exchange_source"].unique().tolist() == ["bank.csv"]


ONE = months(month=["2026-10"] * 3)
OCTOBER = dated(("2026-10", "CNY", "0.1"))
REFUSED: dict[str, tuple[pd.DataFrame, object, str, str]] = {
    "one rate, two months": (months(), {"CNY": "0.1"}, "x", "one rate a currency for 2 months"),
    "a month without a rate": (months(), OCTOBER, "x", "one CNY in 2026-09 is worth in USD"),
    "no source": (months(), OCTOBER, "", "does not say where its rates come from"),
    "no times": (months().drop(columns="month"), OCTOBER, "x", "neither 'day' nor 'month'"),
    **{
        f"no rate: {rates}": (ONE, rates, "x", "one CNY is worth in USD")
        for rates in ({}, {"CNY": "x"}, {"CNY": 0}, {"CNY": "-1"}, {"CNY": float("nan")})
    },
}


@pytest.mark.parametrize(("table", "exchange", "source", "said"), REFUSED.values(), ids=REFUSED)
def test_nothing_is_converted_by_guess(table: pd.DataFrame, exchange: object, source: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        cost.convert(table, exchange, to="USD", source=source)


@pytest.mark.parametrize(
    "row",
    [("2026-13", "CNY", 1), ("soon", "CNY", 1), ("2026-10", "cny", 1), ("2026-10", "CNY", 0),
     ("2026-11", "CNY", "1e25"), (None, "CNY", 1),
     ("2026-10", "CNY", "0.3"), ("2026-10-01", None, 1), ("2026-10", "USD", "1.1")],
    ids=str,
)  # fmt: skip
def test_rows_that_cannot_be_read_are_named(row: tuple[object, object, object]) -> None:
    with pytest.raises(UsageError, match="row 1 has"):
        cost.convert(months(), dated(("2026-10", "CNY", "0.1"), row), to="USD", source="x")


def test_what_has_no_price_stays_without_one() -> None:
    table = months(month=["2026-10"] * 3, cost=[None, 1.5, 2.0], currency=[None, "USD", "CNY"], unpriced=[1, 0, 0])
    found = cost.convert(table, {"CNY": "0.5"}, to="USD")
    assert found["currency"].isna().tolist() == [True, False, False]
    assert found["cost"].fillna(-1).tolist() == [-1, 1.5, 1.0]
    assert found["unpriced"].tolist() == [1, 0, 0]
