"""What an order cost by the message before it, and costs in the columns of FOCUS."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from smsotp_nb import Client, Ledger, cost, otp, plan, send
from smsotp_nb.errors import SmsOtpWarning, UsageError

SENT = pd.Timestamp("2026-11-02 10:00", tz="UTC")


def results() -> pd.DataFrame:
    """Two campaigns a week apart to three people: one message without a price, one in doubt."""
    rows = [
        ("a", "first", 0, "accepted", 0.5), ("b", "first", 0, "accepted", 0.7), ("c", "first", 0, "in_doubt", None),
        ("a", "second", 7, "accepted", 0.5), ("b", "second", 7, "accepted", None), ("c", "second", 7, "rejected", None),
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["customer", "campaign", "days", "status", "price"])
    return table.assign(
        at=SENT + pd.to_timedelta(table.pop("days"), unit="D"), parts=1,
        currency=table["price"].map(lambda price: None if pd.isna(price) else "USD"),
    )  # fmt: skip


def orders(*bought: tuple[str, float, float]) -> pd.DataFrame:
    frame = pd.DataFrame(bought, columns=["customer", "days", "spent"])
    return frame.assign(day=SENT + pd.to_timedelta(frame.pop("days"), unit="D"))


def test_an_order_belongs_to_the_last_message_before_it() -> None:
    bought = orders(("a", 1, 10), ("a", 8, 20), ("a", 8.5, 5), ("b", 30, 7), ("c", 2, 3), ("x", 2, 1), ("b", -1, 2))
    found = cost.per_conversion(results(), bought, on="customer", at="day", within="7d", amount="spent")
    of = found.set_index("campaign")
    assert of.loc["first", ["messages", "conversions", "people", "amount"]].tolist() == [2, 2, 2, 13.0]
    assert of.loc["second", ["messages", "conversions", "people", "amount"]].tolist() == [2, 2, 1, 25.0]
    assert of.loc["first", ["cost", "in_doubt", "unpriced"]].tolist() == [1.2, 1, 0]
    assert of.loc["first", ["cost_per_conversion", "cost_per_conversion_high"]].tolist() == [0.6, 0.95]
    assert of.loc["second", ["cost_per_conversion", "cost_per_conversion_high"]].tolist() == [0.25, 0.5]
    rest = found[found["currency"].isna()]
    assert rest[["conversions", "people", "amount"]].values.tolist() == [[3, 2, 10.0]]
    assert found["conversions"].sum() == len(bought)
    assert found["cost"].sum() == results()["price"].sum()


def test_a_group_without_a_conversion_has_no_cost_of_one() -> None:
    found = cost.per_conversion(results(), orders(("a", 8, 1)), on="customer", at="day", within="7d")
    assert found.loc[found["campaign"].eq("first"), "cost_per_conversion"].isna().all()
    assert "amount" not in found.columns


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"at": "when"}, "no column 'when'"),
        ({"within": 7}, "within= needs a number and a unit"),
        ({"amount": "customer"}, "column 'customer' of conversions must hold numbers"),
        ({"amount": "worth"}, "column 'worth' of conversions must hold a value in every row, and 1 of 1 row have none"),
        ({"by": "segment"}, "'segment'"),
        ({"on": "to"}, "no column 'to'"),
    ],
)
def test_wrong_calls_say_what_to_do(change: dict[str, object], said: str) -> None:
    usual = {"on": "customer", "at": "day", "within": "7d"}
    with pytest.raises(UsageError, match=said):
        cost.per_conversion(results(), orders(("a", 1, 1)).assign(worth=np.nan), **usual | change)  # type: ignore[arg-type]
    naive = orders(("a", 1, 1)).assign(day=pd.Timestamp("2026-11-03"))
    with pytest.raises(UsageError, match="must hold times with their zone"):
        cost.per_conversion(results(), naive, on="customer", at="day", within="7d")


@pytest.mark.parametrize(
    ("ids", "said"),
    [(["1", "2"], "holds string there and integer here"), ([8, 9], "holds integer there and integer here")],
)
def test_ids_that_nobody_has_are_told(ids: list[object], said: str) -> None:
    sent = results().assign(customer=[1, 2, 3, 1, 2, 3])
    bought = orders(("a", 1, 1), ("b", 1, 1)).assign(customer=ids)
    with pytest.warns(SmsOtpWarning, match=said):
        found = cost.per_conversion(sent, bought, on="customer", at="day", within="7d")
    assert found["conversions"].tolist() == [0, 0, 2]
    usual = {"on": "customer", "at": "day", "within": "7d"}
    late = cost.per_conversion(sent, bought.assign(customer=[1, 8], day=SENT - pd.Timedelta(days=1)), **usual)
    assert late["conversions"].tolist() == [0, 0, 2]  # somebody has one: no warning


def test_focus_has_every_cent_once(client: Client, ledger: Ledger) -> None:
    people = pd.DataFrame({"phone": ["+12025550100", "+12025550101", "+4915123456789"], "team": ["x", "y", "x"]})
    made = plan(people, "Hello", to="phone", campaign="sale", keep=["team"])
    send(made, client=client, ledger=ledger, progress=False)
    otp.send("+12025550188", client, ledger=ledger)
    table = cost.focus(ledger, provider="Example", account="4711", tags=["team"])
    assert round(table["BilledCost"].sum(), 6) == cost.by(ledger, [])["cost"].iloc[0]
    assert table["EffectiveCost"].equals(table["BilledCost"].rename("EffectiveCost"))
    assert {*table["ChargeCategory"], *table["BillingCurrency"], *table["ProviderName"]} == {"Usage", "USD", "Example"}
    assert (table["ChargePeriodEnd"] - table["ChargePeriodStart"]).eq(pd.Timedelta(days=1)).all()
    assert (table["BillingPeriodStart"] <= table["ChargePeriodStart"]).all()
    assert (table["BillingPeriodEnd"] >= table["ChargePeriodEnd"]).all()
    tags = [json.loads(cell) for cell in table["Tags"]]
    assert sorted(tag.get("team", tag["kind"]) for tag in tags) == ["passcode", "x", "x", "y"]
    assert table["ConsumedQuantity"].sum() == 4


def test_focus_names_what_has_no_price() -> None:
    table = results().assign(iso="US")
    with pytest.warns(SmsOtpWarning, match="1 message has no price that can be read and no row in FOCUS"):
        made = cost.focus(table, provider="Example")
    assert round(made["BilledCost"].sum(), 6) == 1.7
    with pytest.raises(UsageError, match="provider= is empty"):
        cost.focus(table, provider=" ")


def test_what_has_no_price_is_not_free() -> None:
    unknown = results().assign(price=None, currency=None)
    found = cost.per_conversion(unknown, orders(("a", 1, 1)), on="customer", at="day", within="7d")
    of = found[found["campaign"].notna()]
    assert of["cost"].isna().all()
    assert of["cost_per_conversion"].isna().all()
