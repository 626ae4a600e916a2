"""Costs by name, over time, learned, converted: each figure can be recomputed from the rows."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from support.tables import table, two_currencies

from smsotp_nb import cost, plan, rates
from smsotp_nb.errors import UsageError


def test_months_follow_the_calendar_of_a_time_zone() -> None:
    """A message of the last hour of a month belongs to the next one further east; months stand in order."""
    given = table(3, at=pd.to_datetime(["2026-11-30 23:30", "2026-10-01 00:30", "2026-09-02 00:00"], utc=True))
    assert cost.by_month(given)["month"].tolist() == ["2026-09", "2026-10", "2026-11"]
    assert cost.by_month(given, tz="Asia/Tokyo")["month"].tolist() == ["2026-09", "2026-10", "2026-12"]
    assert cost.by_month(given, tz="America/New_York")["month"].tolist() == ["2026-09", "2026-11"]


def test_every_row_has_a_place_in_outcomes() -> None:
    """Rejected, in-doubt and skipped rows are named with what they were to cost."""
    given = two_currencies().assign(est_cost=0.01)
    found = cost.outcomes(given)
    assert found["rows"].sum() == len(given)
    assert found["status"].tolist() == ["accepted", "accepted", "rejected", "in_doubt", "skipped"]
    accepted = found[found["status"] == "accepted"].set_index("currency")
    assert accepted.loc["USD", "cost"] == 0.062
    assert pd.isna(accepted.loc["CNY", "est_cost"])
    assert found.loc[found["status"] == "in_doubt", "est_cost"].tolist() == [0.01]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"iso": "CA"}, "COUNTRY"),
        ({"parts": 2, "price": 0.015}, "PARTS"),
        ({"price": 0.008}, "RATE"),
        ({"currency": "EUR"}, "CURRENCY"),
        ({"price": None}, "NO_PRICE"),
        ({"est_cost": None, "est_currency": None}, "NO_ESTIMATE"),
        ({"iso": "CA", "price": 0.02}, "COUNTRY RATE"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_difference_says_why(changes: dict[str, object], why: str) -> None:
    """Each way in which a bill may differ from the estimate has its code."""
    found = cost.differences(table(1, **changes))
    assert found["why"].tolist() == [why]


def test_differences_explain_the_whole_difference() -> None:
    """Added up they are what compare shows, on the caller's labels, largest first."""
    given = table(4, price=[0.0075, 0.03, 0.01, 0.0075], parts=[1, 4, 1, 1]).set_axis([9, 9, 8, 7])
    found = cost.differences(given)
    assert found.index.tolist() == [9, 8]
    assert round(found["difference"].sum(), 6) == cost.compare(given)["difference"].iloc[0]


def test_rates_are_the_latest_prices_of_a_part() -> None:
    """Price by part as last seen, the range, and how often; unreadable and unaccepted rows teach nothing."""
    at = pd.to_datetime(["2026-09-01", "2026-11-01", "2026-10-01", "2026-11-02", "2026-11-03"], utc=True)
    given = table(5, parts=[1, 2, 1, 1, None], price=[0.007, 0.016, 0.009, None, 0.5], iso="NA", at=at)
    found = cost.rates(given)
    assert found[["iso", "currency", "price", "low", "high", "messages"]].values.tolist() == [
        ["NA", "USD", 0.008, 0.007, 0.009, 3]
    ]
    assert found["seen"].iloc[0] == at[1]


def test_learned_rates_plan_the_next_campaign() -> None:
    """The frame is a rate table as it stands."""
    learned = cost.rates(table(2, price=[0.007, 0.008]))
    assert rates.check(learned)["price"].tolist() == learned["price"].tolist()
    people = pd.DataFrame({"phone": ["+1 202 555 0123"]})
    made = plan(people, "Hello", to="phone", campaign="next", rates=learned)
    assert made.estimate["est_cost"].tolist() == learned["price"].tolist()


def test_rates_of_two_services_are_not_mixed() -> None:
    """A sandbox teaches nothing about a live service."""
    with pytest.raises(UsageError, match="several services"):
        cost.rates(table(2, service=["sandbox:1", "live"]))


def test_a_rate_is_not_learned_from_a_free_message_or_one_of_no_parts() -> None:
    """A free message after a paid one would make the rate 0, and a country of free ones alone has no rate."""
    table = pd.DataFrame(
        {
            "status": "accepted", "parts": [1, 1, 0, 1], "price": [0.07, 0.0, 0.07, 0.0], "currency": "USD",
            "iso": ["DE", "DE", "DE", "FR"], "at": [f"2026-11-0{day}T10:00:00Z" for day in (1, 2, 3, 4)],
        }
    )  # fmt: skip
    learned = cost.rates(table)
    assert learned[["iso", "price", "low", "messages"]].values.tolist() == [["DE", 0.07, 0.07, 1]]


def test_the_shares_of_the_countries_add_up_to_the_total() -> None:
    said = cost.card(table(3, iso=["US", "DE", "FR"], price=0.01)).text()
    percents = [int(found) for found in re.findall(r"(\d+)%", said)]
    assert percents == [34, 33, 33, 100]
