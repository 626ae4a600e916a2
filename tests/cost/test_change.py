"""What changed a cost: three effects that add up, and that anybody can recompute from the columns beside them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tables import table

from smsotp_nb import cost
from smsotp_nb.errors import UsageError

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["US", "DE", None]),
        st.sampled_from([1, 2, 3, None]),
        st.one_of(st.none(), st.integers(0, 90_000)),
        st.sampled_from(["USD", "EUR", None]),
    ),
    max_size=12,
)


def results(rows: list[tuple[object, ...]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["iso", "parts", "price", "currency"])
    frame["price"] = frame["price"].astype("float64") / 1_000_000
    return frame.assign(status="accepted")


def cents(value: object) -> Fraction:
    return Fraction(0) if value is None or pd.isna(value) else Fraction(value)  # type: ignore[arg-type, call-overload]


@settings(deadline=None, max_examples=60)
@given(ROWS, ROWS, st.sampled_from([[], ["iso"]]))
def test_every_effect_can_be_recomputed_from_its_row(now: list, before: list, columns: list) -> None:  # type: ignore[type-arg]
    found = cost.change(results(now), results(before), columns, decimals=True)
    half = Fraction(1, 2_000_000)
    for row in found.to_dict("records"):
        then, after = cents(row["cost_before"]), cents(row["cost"])
        effects = {name: cents(row[f"by_{name}"]) for name in ("messages", "parts", "price")}
        assert cents(row["change"]) == after - then == sum(effects.values())
        if row["messages_before"] and not pd.isna(row["currency"]):
            by_messages = (row["messages"] - row["messages_before"]) * then / row["messages_before"]
            assert abs(effects["messages"] - by_messages) <= half
            added = row["parts"] - Fraction(row["messages"] * row["parts_before"], row["messages_before"])
            by_parts = added * then / row["parts_before"]
            assert abs(effects["parts"] - by_parts) <= half
    for side, rows in (("cost", now), ("cost_before", before)):
        billed = [price for _, _, price, currency in rows if price is not None and currency]
        assert sum(cents(cell) for cell in found[side]) == Fraction(sum(billed), 1_000_000)
    assert found["unpriced"].sum() + found["messages"].sum() == len(now)
    assert found["unpriced_before"].sum() + found["messages_before"].sum() == len(before)


def test_what_is_new_changed_by_its_messages_and_what_is_gone_too() -> None:
    now, before = table(2, iso="DE", price=0.05), table(3, iso="US", price=0.01)
    found = cost.change(now, before).set_index("iso")
    assert found.loc["DE", ["change", "by_messages", "by_parts", "by_price"]].tolist() == [0.1, 0.1, 0, 0]
    assert found.loc["US", ["change", "by_messages", "by_parts", "by_price"]].tolist() == [-0.03, -0.03, 0, 0]
    assert found.index.tolist() == ["DE", "US"]


def test_currencies_are_never_compared() -> None:
    found = cost.change(table(1, currency="EUR"), table(1, currency="USD"), [])
    assert found[["currency", "change"]].values.tolist() == [["EUR", 0.0075], ["USD", -0.0075]]


def test_halves_of_a_millionth_round_up_and_the_rest_makes_it_add_up() -> None:
    """Three messages of 0.000001 in all cost a third of it each."""
    before = table(2, price=[0.000001, 0.0], iso="US")
    found = cost.change(table(3, price=[0.000001] * 3, iso="US"), before, decimals=True).iloc[0]
    assert found["by_messages"] == Decimal("0.000001")
    assert found["change"] == found["by_messages"] + found["by_parts"] + found["by_price"] == Decimal("0.000002")


def test_sums_that_do_not_know_their_parts_are_refused() -> None:
    mixed = cost.by(table(2, price=[0.01, None], iso="US"), "iso")
    with pytest.raises(UsageError, match="do not say how many parts"):
        cost.change(mixed, mixed)
