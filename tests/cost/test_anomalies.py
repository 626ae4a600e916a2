"""Anomalies: what is planted is found with its day, its money and its cause, and what is usual is not."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from support.made import made_year

from smsotp_nb import cost
from smsotp_nb.errors import UsageError

DAYS = pd.date_range("2026-08-01", periods=70)


def sums(**changes: Any) -> pd.DataFrame:
    """Return seventy days of a hundred reminders a day, at one part of 0.0075 each."""
    columns = {
        "day": DAYS, "campaign": [f"reminders-{day:%m-%d}" for day in DAYS], "iso": "US", "region": "US",
        "currency": "USD", "messages": 100, "parts": 100, "cost": 0.75, "unpriced": 0, "refused": 1,
    }  # fmt: skip
    return pd.DataFrame(columns | changes)


def only(found: pd.DataFrame) -> dict[str, Any]:
    assert len(found) == 1, found
    return {str(name): value for name, value in found.iloc[0].items()}


def from_day(usual: float, then: float, first: int = 60) -> list[float]:
    return [usual] * first + [then] * (len(DAYS) - first)


def test_nothing_unusual_is_found_where_nothing_is() -> None:
    made = cost.anomalies(sums())
    assert made.found.empty
    assert made.not_judged == {"price": 10, "parts": 10, "refusals": 27}
    assert made.judged == 3 * len(DAYS) - 47
    assert "Nothing is out of the expected range" in made.card().text()


def test_a_dearer_part_is_found_with_its_money() -> None:
    row = only(cost.anomalies(sums(cost=from_day(0.75, 0.90))).found)
    assert (row["what"], row["iso"], row["since"], row["days"]) == ("price", "US", DAYS[60], 10)
    assert (row["expected"], row["observed"], row["at_stake"]) == (0.0075, 0.009, 1.5)
    assert row["low"] < 0.0075 < row["high"] < 0.009


def test_a_cheaper_part_is_found_below_zero() -> None:
    assert only(cost.anomalies(sums(cost=from_day(0.75, 0.60))).found)["at_stake"] == -1.5


def test_longer_texts_of_a_known_series_are_told_with_their_wording() -> None:
    table = sums(parts=[int(n) for n in from_day(100, 200)], cost=from_day(0.75, 1.5))
    row = only(cost.anomalies(table).found)
    assert (row["what"], row["cause"], row["explained"]) == ("parts", "several campaigns", False)
    assert row["at_stake"] == 7.5
    one = table.assign(campaign="reminders")
    assert only(cost.anomalies(one).found)["campaign"] == "reminders"


def with_sale(**changes: Any) -> pd.DataFrame:
    """Return the reminders, and a sale of 300 messages of two parts on the sixtieth day."""
    sale = sums().iloc[60:61].assign(campaign="sale", messages=300, parts=600, cost=4.5, **changes)
    return pd.concat([sums(), sale], ignore_index=True)


def test_a_new_campaign_with_a_long_text_explains_itself() -> None:
    made = cost.anomalies(with_sale())
    row = only(made.found)
    assert (row["what"], row["campaign"], row["explained"]) == ("parts", "sale", True)
    assert "explained by the campaign sale" in made.card().text()
    assert "Nothing is out of the expected range" in made.card().text()


def test_a_campaign_that_was_billed_more_parts_than_estimated_explains_nothing() -> None:
    table = with_sale(compared=300, compared_parts=600, est_parts=300, compared_cost=4.5, est_cost=2.25)
    names = ["compared", "compared_parts", "est_parts", "compared_cost", "est_cost"]
    row = only(cost.anomalies(table.fillna(dict.fromkeys(names, 0))).found)
    assert (row["cause"], row["explained"]) == ("billed unlike the estimate", False)


def test_a_campaign_that_explains_itself_hides_nothing_else() -> None:
    table = with_sale()
    longer = (table["campaign"] != "sale") & (table["day"] >= DAYS[60])
    table.loc[longer, ["parts", "cost"]] = [200, 1.5]
    found = cost.anomalies(table).found
    assert sorted(found["explained"]) == [False, True]
    assert only(found[~found["explained"]])["days"] == 10


def test_refusals_are_found_with_country_and_campaign() -> None:
    table = sums(refused=[int(n) for n in from_day(1, 12)])
    row = only(cost.anomalies(table).found)
    assert (row["what"], row["iso"], row["cause"], row["since"]) == ("refusals", "US", "country", DAYS[60])
    bad = table.iloc[60:].assign(campaign="old-list", messages=10, refused=30, parts=10, cost=0.075)
    row = only(cost.anomalies(pd.concat([sums(), bad], ignore_index=True)).found)
    assert (row["campaign"], row["cause"]) == ("old-list", "campaign")


def test_fewer_refusals_are_no_finding() -> None:
    assert cost.anomalies(sums(refused=[int(n) for n in from_day(5, 0)])).found.empty


def test_currencies_are_searched_apart() -> None:
    euros = sums(currency="EUR", iso="DE", region="DE", cost=from_day(7.5, 9.0))
    row = only(cost.anomalies(pd.concat([sums(), euros])).found)
    assert (row["currency"], row["at_stake"]) == ("EUR", 15.0)


def test_a_change_that_lasts_is_what_is_usual_in_the_end() -> None:
    table = pd.concat([sums(), sums(cost=0.9).assign(day=DAYS + pd.Timedelta(days=70)),
                       sums(cost=0.9).assign(day=DAYS + pd.Timedelta(days=140))])  # fmt: skip
    row = only(cost.anomalies(table).found)
    assert row["since"] == DAYS[-1] + pd.Timedelta(days=1)
    assert row["until"] < DAYS[-1] + pd.Timedelta(days=60)


@pytest.mark.parametrize("days", [7, 14, 30])
def test_a_sender_of_few_days_is_judged_by_the_days_of_a_year(days: int) -> None:
    """A weekly or a monthly one; what most of the latest ten were is usual in the end."""
    weeks = pd.date_range("2023-01-02", periods=40, freq=f"{days}D")
    table = sums().iloc[:40].assign(day=weeks, refused=0, cost=[0.75] * 25 + [1.5] * 15)
    made = cost.anomalies(table)
    row = only(made.found)
    assert (row["what"], row["since"], row["expected"], row["observed"]) == ("price", weeks[25], 0.0075, 0.015)
    assert row["days"] in (9, 10)
    assert made.not_judged == {"price": 10, "parts": 10}
    assert "70" not in made.card().state
    assert cost.anomalies(table.assign(cost=0.75)).card().state == "Nothing is out of the expected range"


@pytest.mark.parametrize(("many", "days"), [(9, 1), (9, 7), (40, 90), (1, 1)])
def test_where_nothing_can_be_judged_nothing_is_called_usual(many: int, days: int) -> None:
    """Too few days, or too far apart."""
    table = sums().iloc[:many].assign(day=pd.date_range("2020-01-01", periods=many, freq=f"{days}D"), refused=0)
    made = cost.anomalies(table.assign(cost=[0.75] * (many - 1) + [75.0]))
    assert (made.judged, len(made.found)) == (0, 0)
    assert made.card().state == "Nothing could be judged: too few days with messages came before each"
    assert f"0 values compared with the days before each, to {table['day'].max():%Y-%m-%d}" in made.card().text()


def test_prices_that_could_not_be_judged_are_said() -> None:
    """Every day has messages without a price, so there are parts to judge and no prices."""
    state = cost.anomalies(sums(unpriced=1, refused=0)).card().state
    assert state == "Nothing is out of the expected range; of prices nothing could be judged"
    late = cost.anomalies(sums(unpriced=[1] * 65 + [0] * 5, refused=0)).card()
    assert "of prices nothing could be judged" in late.state


@pytest.mark.parametrize(("changes", "said"), [({"chance": 0.7}, "at most 0.5"), ({"chance": 0}, "above 0")])
def test_wrong_arguments_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        cost.anomalies(sums(), **changes)


@pytest.mark.slow
def test_what_is_planted_in_made_years_is_found() -> None:
    """Three things planted in three years each; what is found beside them is at most one false alarm."""
    cases = [("price", "DE", 1.2), ("parts", None, 1.0), ("refusals", "IN", 0.15)]
    others = 0
    for seed in range(3):
        for what, iso, size in cases:
            wrong = made_year.Planted(what, since="2026-10-05", size=size, iso=iso)
            found = cost.anomalies(
                made_year.made_year(seed, start="2026-07-01", days=140, planted=[wrong]).spending
            ).found
            found = found[~found["explained"]]
            mine = found[(found["what"] == what) & (found["since"] >= "2026-10-04") & (found["since"] <= "2026-10-12")]
            assert len(mine) >= 1, (seed, what)
            others += len(found) - len(mine)
    assert others <= 3
