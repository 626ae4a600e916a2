"""Cost tables: exact to the sixth decimal, never across currencies, nothing hidden."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tables import table, two_currencies

from smsotp_nb import cost
from smsotp_nb.errors import UsageError


class Silent:
    def __str__(self) -> str:
        raise OSError("closed")


COLUMNS = [
    "currency",
    "iso",
    "country",
    "messages",
    "parts",
    "cost",
    "price_per_message",
    "price_per_part",
    "share",
    "unpriced",
]


def test_columns_that_are_called_by_numbers_are_summed() -> None:
    """As those of a list without a head are."""
    given = table(3).assign(team=["a", "b", "a"]).rename(columns={"team": 1})
    sums = cost.by(given, [1])
    assert sums[[1, "messages"]].to_numpy().tolist() == [["a", 2], ["b", 1]]
    assert cost.by(sums, [1])["messages"].tolist() == [2, 1]
    assert cost.compare(given, [1])[1].tolist() == ["a", "b"]


def test_by_country_names_countries_and_keeps_currencies_apart() -> None:
    """One row a currency and country, dearest first; rows that were not accepted cost nothing."""
    found = cost.by_country(two_currencies())
    assert list(found.columns) == COLUMNS
    assert found.drop(columns="share").values.tolist() == [
        ["CNY", "CN", "China", 2, 4, 0.0511, 0.0511, 0.0511, 1],
        ["USD", "NA", "Namibia", 1, 1, 0.0395, 0.0395, 0.0395, 0],
        ["USD", "US", "United States", 2, 3, 0.0225, 0.01125, 0.0075, 0],
    ]
    assert found.groupby("currency")["share"].sum().round(12).tolist() == [1.0, 1.0]


def test_unreadable_prices_are_counted_and_can_be_looked_at() -> None:
    """A row without a price is in no sum, but it is counted and handed out."""
    given = two_currencies().set_axis(list("abcdefgh"))
    assert cost.by(given, [])["unpriced"].tolist() == [1, 0]
    assert cost.unpriced_rows(given).index.tolist() == ["e"]


def test_a_part_costs_what_the_parts_with_a_price_cost() -> None:
    """Sums of messages with and without a price that are summed up further no longer tell their parts apart."""
    given = table(3, parts=[1, 2, 5], price=[0.01, 0.02, None], iso=["US", "FR", "FR"])
    found = cost.by(given, "iso").set_index("iso")["price_per_part"]
    assert found.to_dict() == {"FR": 0.01, "US": 0.01}
    assert cost.by(cost.by(given, "iso"), [])["price_per_part"].isna().tolist() == [True]


def test_a_price_without_a_currency_is_no_part_of_any_sum() -> None:
    """An amount of nobody knows what cannot be added to anything."""
    found = cost.by_country(table(2, currency=["USD", None]))
    assert found["cost"].fillna(-1).tolist() == [0.0075, -1]
    assert found["unpriced"].tolist() == [0, 1]


def test_a_column_of_lists_is_grouped_by_its_text() -> None:
    """What `plan(keep=...)` took and `send` handed back can be summed up."""
    rows = table(3).assign(tags=[["a", "b"], ["c"], ["c"]])
    assert cost.by(rows, "tags")[["tags", "messages"]].values.tolist() == [["['c']", 2], ["['a', 'b']", 1]]


WITHOUT_ORDER: dict[str, list[object]] = {
    "path, bytes": [Path("a"), b"b"],
    "tuple, whole": [(1,), 2],
    "date, time": [dt.date(2026, 1, 1), pd.Timestamp("2026-01-02")],
    "zones": [pd.Timestamp("2026-01-01", tz="UTC"), pd.Timestamp("2026-01-02")],
    "complex": [1j, 2j],
    "classes": [int, str],
    "half a character": ["\ud800", "a"],
    "lists in tuples": [([],), "a"],
    "no text": [Silent(), 10**5000],
}


@pytest.mark.parametrize("kinds", WITHOUT_ORDER)
def test_values_without_an_order_are_grouped_by_their_text(kinds: str) -> None:
    values = WITHOUT_ORDER[kinds]
    rows = table(4).assign(k=pd.Series([*values, None, values[0]], dtype=object))
    found = cost.by(rows, "k")
    assert found["messages"].sum() == 4
    assert sorted(found["messages"].tolist()) == [1, 1, 2]
    assert found["k"].isna().sum() == 1


def test_decimals_are_exact_amounts_of_six_places() -> None:
    """Those who ask get Decimals, and their sum is the sum of the raw texts."""
    found = cost.by(two_currencies(), "iso", decimals=True)
    assert found["cost"].tolist() == [Decimal("0.051100"), Decimal("0.039500"), Decimal("0.022500")]
    assert found["price_per_message"].tolist()[-1] == Decimal("0.011250")


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 10**12), st.sampled_from(["USD", "CNY", "EUR"]), st.sampled_from("ab")), max_size=40
    )
)
def test_sums_equal_those_of_the_raw_amounts(rows: list[tuple[int, str, str]]) -> None:
    """Every figure is the exact integer sum, whatever the amounts: nothing drifts."""
    frame = pd.DataFrame(rows, columns=["micros", "currency", "segment"])
    frame["price"] = frame["micros"].astype("float64") / 1e6
    found = cost.by(frame.assign(status="accepted", parts=1), "segment", decimals=True)
    raw: dict[tuple[str, str], int] = {}
    for micros, currency, segment in rows:
        raw[currency, segment] = raw.get((currency, segment), 0) + micros
    assert {(c, s): int(p * 10**6) for c, s, p in found[["currency", "segment", "cost"]].values.tolist()} == raw


def test_a_thousand_tenths_of_a_cent_are_exactly_a_unit() -> None:
    """Float sums would drift: 1,000 times 0.001 is 1, not 1.0000000000000007."""
    assert cost.by(table(1000, price=0.001), [])["cost"].tolist() == [1.0]


@pytest.mark.parametrize("dtype", ["object", "str", "string[pyarrow]", "category"])
def test_any_text_dtype_groups(dtype: str) -> None:
    """The same table in another dtype has the same cost."""
    given = two_currencies()
    texts = {name: given[name].astype(dtype) for name in ("iso", "status", "currency")}
    pd.testing.assert_frame_equal(cost.by_country(given.assign(**texts)), cost.by_country(given), check_dtype=False)


def test_repeated_labels_and_own_columns_group() -> None:
    """The index plays no part, missing values are a group, categories stay categories."""
    given = two_currencies().set_axis([0] * 8).assign(segment=pd.Categorical(["a", None] * 4))
    found = cost.by(given, ["segment", "encoding"])
    assert found["messages"].sum() == 5
    assert found["segment"].dtype == "category"
    assert found["segment"].isna().any()


def test_prices_as_text_are_read() -> None:
    """Amounts straight from a reply or a file without dtypes count the same."""
    texts = two_currencies()
    texts["price"] = texts["price"].map("{:.6f}".format).replace("nan", "")
    pd.testing.assert_frame_equal(cost.by_country(texts), cost.by_country(two_currencies()))


@pytest.mark.parametrize(
    "given", [table(0), table(3, status="skipped", price=None, currency=None)], ids=["empty", "skipped"]
)
def test_no_accepted_row_is_an_empty_table_of_the_same_shape(given: pd.DataFrame) -> None:
    """Nobody texted costs nothing: no row, the same columns and dtypes."""
    found = cost.by_country(given)
    assert len(found) == 0
    pd.testing.assert_series_equal(found.dtypes, cost.by_country(table(2)).dtypes)
    assert "nothing was billed" in cost.card(given).text()


@pytest.mark.parametrize(
    ("frame", "columns", "said"),
    [
        (pd.DataFrame({"a": [1]}), "a", "not a result table: no column 'status'"),
        (table(), "segment", "columns to group by: no column 'segment'"),
        (table(), ["iso", "iso"], "asked for twice"),
        (table(), "parts", "results.assign(parts_each=results['parts'])"),
        ([1], "iso", "got list"),
    ],
    ids=["no table", "unknown", "twice", "clash", "list"],
)
def test_a_wrong_call_says_what_to_do(frame: pd.DataFrame, columns: str, said: str) -> None:
    """A frame or a column that cannot serve is refused by name."""
    with pytest.raises(UsageError) as found:
        cost.by(frame, columns)
    assert said in str(found.value)


def test_cost_never_changes_its_argument() -> None:
    """Frame in, frame out."""
    given = two_currencies().astype("object")
    before = given.copy(deep=True)
    cost.by_country(given)
    cost.card(given)
    cost.compare(given)
    pd.testing.assert_frame_equal(given, before)


def test_compare_sums_everything_billed_and_compares_what_has_both() -> None:
    """The cost is that of `by`; billed beside estimated is of the same rows, and counted."""
    given = table(
        4,
        parts=[2, 1, 1, 1],
        price=[0.02, 0.01, 0.01, None],
        est_cost=[0.01, 0.01, 0.01, 0.01],
        est_currency=["USD", "USD", "EUR", "USD"],
    )
    row = cost.compare(given).iloc[0]
    whole = ["messages", "parts", "cost", "unpriced"]
    assert row[whole].tolist() == cost.by(given, "iso")[whole].iloc[0].tolist() == [4, 5, 0.04, 1]
    assert row[["compared", "compared_parts", "est_parts"]].tolist() == [2, 3, 2]
    assert row[["compared_cost", "est_cost", "difference"]].tolist() == [0.03, 0.02, 0.01]


def test_compare_without_any_estimate_has_no_amounts() -> None:
    """No estimate is unknown, never 0."""
    row = cost.compare(table(2, est_cost=None, est_currency=None)).iloc[0]
    assert row[["messages", "cost", "compared"]].tolist() == [2, 0.015, 0]
    assert np.isnan([row["compared_cost"], row["est_cost"], row["difference"]]).all()


def test_the_card_says_what_the_totals_leave_out() -> None:
    """Unreadable prices, rows in doubt and rejected rows each have their sentence; currencies stand apart."""
    text = cost.card(two_currencies()).text()
    assert "CNY 0.0511 and USD 0.0620 for 5 accepted messages" in text
    assert "! 1 row accepted without a readable price" in text
    assert "! 1 row in doubt" in text
    assert "i 1 row rejected" in text
    assert "By country, CNY" in text
    assert "By country, USD" in text


def test_the_card_says_how_far_the_bill_is_off_the_estimate() -> None:
    """More, less, or as estimated, over the messages that have both."""
    dearer, cheaper = cost.card(table(2, est_cost=0.005)).text(), cost.card(table(1, est_cost=0.008)).text()
    assert "Billed USD 0.0050 more than estimated, over 2 messages with an estimate" in dearer
    assert "Billed USD 0.0005 less than estimated, over 1 message with an estimate" in cheaper
    assert "Billed as estimated in sum, USD, over 1 message" in cost.card(table(1)).text()
    assert "estimate" not in cost.card(table(1, est_cost=None)).text()


def test_the_headline_of_a_cost_without_every_price_is_a_least() -> None:
    table = pd.DataFrame(
        {"status": "accepted", "iso": "US", "currency": "USD", "parts": 1, "price": [0.01, 0.01, None]}
    )
    assert cost.card(table).state == "At least USD 0.02 for 3 accepted messages, 1 of them without a readable price"
    assert cost.card(table.iloc[:2]).state == "USD 0.02 for 2 accepted messages"
    assert cost.card(table.iloc[2:]).state == "No price for 1 accepted message"


def test_a_column_of_ones_own_that_is_called_kind_is_no_kind_of_campaign() -> None:
    given = table(2).assign(campaign="autumn", kind=pd.Categorical(["adult", "child"]))
    assert cost.card(given).title == "Cost: autumn"
