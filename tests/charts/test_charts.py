"""Bars of cost tables: static, escaped, each currency on its own scale."""

from __future__ import annotations

import pandas as pd
import pytest
from support.tables import table, two_currencies

from smsotp_nb import charts, cost
from smsotp_nb.errors import UsageError


def test_each_currency_has_its_own_scale() -> None:
    """The longest bar of each currency is full: lengths never compare currencies."""
    text = charts.bars(cost.by_country(two_currencies())).text()
    assert text.count("████████████ ") == 2
    assert "Billed, CNY" in text
    assert "Billed, USD" in text


def test_the_estimate_stands_beside_the_billed_amount() -> None:
    """Both amounts are said in words, so that no colour has to be told apart."""
    text = charts.bars(cost.compare(table(2, est_cost=0.01))).text()
    assert "United States US  USD 0.0150 billed / USD 0.0200 estimated" in text


def test_what_is_not_drawn_is_summed_up() -> None:
    """A long tail is one bar with its exact sum, on the scale of the others."""
    given = table(5, iso=["US", "DE", "FR", "IN", "NG"], price=[5.0, 4.0, 3.0, 0.1, 0.2])
    assert "2 others          █            0.30" in charts.bars(cost.by_country(given), top=3).text()
    long = charts.bars(cost.by_country(given), top=1).text()
    assert "2 others" not in long
    assert "4 others          ████████████ 7.30" in long
    assert "United States US  ████████     5.00" in long


def test_hostile_names_stay_text() -> None:
    """A name from a file is never markup."""
    given = table(1).assign(segment="<img src=x onerror=alert(1)>")
    drawn = charts.bars(cost.by(given, "segment")).html()
    assert "<img" not in drawn
    assert "&lt;img" in drawn


@pytest.mark.parametrize("own", ["+12025550123", "0151 23456789", 12025550123])
def test_a_group_that_is_a_number_is_masked(own: object) -> None:
    """On every card; the tables have it whole."""
    then, now = (table(1, price=[price]).assign(own=pd.Series([own]).array) for price in (0.01, 0.02))
    for card in (charts.bars(cost.by(now, "own")), charts.bars(cost.by(then, "own"))):
        assert "..." in card.text()
        assert str(own) not in card.text() + card.html()


def test_a_chart_needs_nothing_from_outside() -> None:
    """No script, no address, no vector image that a notebook would drop."""
    drawn = charts.bars(cost.by_country(two_currencies())).html()
    assert not any(found in drawn for found in ("<script", "http", "<svg", "url("))


def test_an_unknown_price_is_said_and_has_no_bar() -> None:
    """A group without any readable price says so."""
    assert "unknown" in charts.bars(cost.by_country(table(2, price=[0.1, None], iso=["US", "DE"]))).text()


def test_an_empty_table_is_a_card_too() -> None:
    """Nothing billed is a sentence, not an error."""
    assert "Nothing was billed" in charts.bars(cost.by_country(table(0))).text()


@pytest.mark.parametrize(
    ("frame", "top"),
    [(pd.DataFrame({"a": [1]}), 3), ("table", 3), (cost.by_country(table(1)), 0)],
    ids=["frame", "text", "top"],
)
def test_a_wrong_call_is_refused(frame: pd.DataFrame, top: int) -> None:
    """Only cost tables are drawn."""
    with pytest.raises(UsageError):
        charts.bars(frame, top=top)
