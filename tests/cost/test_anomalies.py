"""Anomalies: what is planted is found with its day, its money and its cause, and what is usual is not."""

from __future__ import annotations

import math
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
    assert made.judged_of == {"price": 62, "estimate": 0, "parts": 62, "refusals": 62, "spend": 39}
    assert made.not_judged.groupby("what")["values"].sum().to_dict() == {
        "parts": 8, "price": 8, "refusals": 8, "spend": 31,
    }  # fmt: skip
    assert made.judged == 225
    text = made.card().text()
    assert "Nothing is out of the expected range" in text
    assert "225 values compared" in text
    assert "Not judged: 55 values, the first of their series" in text


def test_a_dearer_part_is_found_with_its_money_and_its_basis() -> None:
    made = cost.anomalies(sums(cost=from_day(0.75, 0.90)))
    row = only(made.found)
    assert (row["what"], row["iso"], row["since"], row["days"], row["open"]) == ("price", "US", DAYS[60], 10, True)
    assert (row["expected"], row["observed"], row["at_stake"]) == (0.0075, 0.009, 1.5)
    assert (row["low"], row["high"], row["compared"]) == (0.0075, 0.0075, 60)
    # One in 70 over 10, for each of 225 values, 11 windows, 3 limits, both directions and half of the chance.
    assert row["chance"] == pytest.approx(225 * 2 * 66 / math.comb(70, 10))
    text = " ".join(made.card().text().split())
    assert "10 sending days with 60 before; chance of a false alarm below 0.01%" in text
    assert f"since {DAYS[60]:%Y-%m-%d}" in text


@pytest.mark.parametrize("dear", [0.90, 0.60])
def test_the_words_of_the_card_say_which_way_it_went(dear: float) -> None:
    """What is planted the other way round reads the other way round."""
    made = cost.anomalies(sums(cost=from_day(0.75, dear)))
    assert only(made.found)["at_stake"] == (1.5 if dear > 0.75 else -1.5)
    text = " ".join(made.card().text().split())
    was, before = f"{dear / 100:.3f}", "0.0075 (0.0075 to 0.0075)"
    assert text.index(was) < text.index(before)
    assert ("range, USD 1.50 at stake" in text) == (dear > 0.75)
    assert ("USD -1.50" in text) == (dear < 0.75)


def test_longer_texts_of_a_known_series_are_told_with_their_wording() -> None:
    table = sums(parts=[int(n) for n in from_day(100, 200)], cost=from_day(0.75, 1.5))
    row = only(cost.anomalies(table).found)
    assert (row["what"], row["cause"], row["explained"]) == ("parts", "several campaigns", False)
    assert row["at_stake"] == 7.5
    one = table.assign(campaign="reminders")
    assert only(cost.anomalies(one).found)["campaign"] == "reminders"


def test_a_long_text_on_one_day_is_no_anomaly() -> None:
    """A text may take two parts any day; that it is seldom says nothing of the next day."""
    table = sums()
    table.loc[60, ["parts", "cost"]] = [200, 0.75]
    assert "parts" not in set(cost.anomalies(table).found["what"])


def with_sale(**changes: Any) -> pd.DataFrame:
    """Return the reminders, and a sale of 300 messages of two parts on the sixtieth day."""
    sale = sums().iloc[60:61].assign(campaign="sale", messages=300, parts=600, cost=4.5, **changes)
    return pd.concat([sums(), sale], ignore_index=True)


def test_a_new_campaign_explains_what_it_cost() -> None:
    made = cost.anomalies(with_sale())
    row = only(made.found)
    assert (row["what"], row["campaign"], row["explained"], row["at_stake"]) == ("spend", "sale", True, 4.5)
    assert "USD 4.50 spent by the new campaign sale" in made.card().text()
    assert "Nothing is out of the expected range" in made.card().text()
    known = with_sale().replace({"sale": "reminders-10-99"})
    row = only(cost.anomalies(known).found)
    assert (row["cause"], row["explained"]) == ("more messages", False)


def test_a_campaign_that_was_billed_more_parts_than_estimated_explains_nothing() -> None:
    table = with_sale(compared=300, compared_parts=600, est_parts=300, compared_cost=4.5, est_cost=2.25)
    names = ["compared", "compared_parts", "est_parts", "compared_cost", "est_cost"]
    row = only(cost.anomalies(table.fillna(dict.fromkeys(names, 0))).found)
    assert (row["what"], row["cause"], row["explained"]) == ("spend", "billed unlike the estimate", False)


def test_parts_above_the_estimate_are_found_on_the_first_day() -> None:
    """How many parts a text takes is known beforehand, so a single day says enough."""
    billed = [int(n) for n in from_day(300, 390, 69)]
    money_of = [n * 0.0075 for n in billed]
    table = sums(parts=billed, cost=money_of, messages=300, compared=300, compared_parts=billed, est_parts=300,
                 compared_cost=money_of, est_cost=2.25)  # fmt: skip
    row = only(cost.anomalies(table).found)
    assert (row["what"], row["cause"], row["since"], row["days"]) == (
        "estimate",
        "billed unlike the estimate",
        DAYS[69],
        1,
    )
    assert row["at_stake"] == pytest.approx(90 * 0.0075)


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


def test_days_on_which_all_is_refused_count_at_what_messages_cost_before() -> None:
    table = sums(messages=[int(n) for n in from_day(99, 0)], parts=[int(n) for n in from_day(99, 0)],
                 cost=from_day(0.7425, 0.0), refused=[int(n) for n in from_day(1, 100)])  # fmt: skip
    row = only(cost.anomalies(table).found)
    assert (row["what"], row["observed"], row["days"]) == ("refusals", 1.0, 10)
    assert row["at_stake"] == pytest.approx(10 * 99 * 0.0075)


def test_costs_without_a_currency_are_not_called_usual() -> None:
    made = cost.anomalies(sums(currency=None))
    assert made.card().state == "Nothing could be judged: 7,070 messages without a currency"


def test_fewer_refusals_are_no_finding() -> None:
    assert cost.anomalies(sums(refused=[int(n) for n in from_day(5, 0)])).found.empty


def test_currencies_are_searched_apart() -> None:
    euros = sums(currency="EUR", iso="DE", region="DE", cost=from_day(7.5, 9.0))
    row = only(cost.anomalies(pd.concat([sums(), euros])).found)
    assert (row["currency"], row["at_stake"]) == ("EUR", 15.0)


def test_a_change_that_lasts_stays_open_with_its_money_until_today() -> None:
    table = pd.concat([sums(), *(sums(cost=0.9).assign(day=DAYS + pd.Timedelta(days=70 * n)) for n in range(1, 6))])
    row = only(cost.anomalies(table).found)
    assert row["since"] == DAYS[-1] + pd.Timedelta(days=1)
    assert (row["until"], row["open"], row["days"]) == (table["day"].max(), True, 350)
    assert row["at_stake"] == pytest.approx(350 * 0.15)


def test_a_second_change_counts_beyond_the_first() -> None:
    """Both stay open, and what they cost adds up to what was paid beyond the first price."""
    prices = [0.75] * 40 + [0.9] * 15 + [1.2] * 15
    found = cost.anomalies(sums(cost=prices)).found.sort_values("since")
    assert found["since"].tolist() == [DAYS[40], DAYS[55]]
    assert found["expected"].tolist() == [0.0075, 0.009]
    assert found["observed"].tolist() == [0.009, 0.012]
    assert found["at_stake"].sum() == pytest.approx(sum(prices) - 0.75 * 70)
    back = cost.anomalies(sums(cost=[0.75] * 40 + [0.9] * 15 + [0.75] * 15)).found
    row = only(back)
    assert (row["open"], row["until"], row["at_stake"]) == (False, DAYS[54], pytest.approx(15 * 0.15))


def test_the_amounts_of_a_column_have_as_many_decimals() -> None:
    """Two, and more where the least of them would keep no two digits."""
    both = [sums(iso=iso, region=iso, cost=from_day(0.75, then)) for iso, then in (("US", 0.7879), ("DE", 0.9))]
    text = " ".join(cost.anomalies(pd.concat(both)).card().text().split())
    assert "USD 0.38" in text
    assert "USD 1.50" in text
    assert "0.379" not in text
    few = sums(iso="DE", region="DE", cost=from_day(0.75, 0.7505))
    text = " ".join(cost.anomalies(pd.concat([both[0], few])).card().text().split())
    assert "USD 0.3790" in text


def test_what_a_price_explains_is_in_no_other_finding() -> None:
    dear = sums(cost=from_day(0.75, 3.0))
    assert only(cost.anomalies(dear).found)["what"] == "price"
    more = dear.assign(messages=[int(n) for n in from_day(100, 400)], parts=[int(n) for n in from_day(100, 400)],
                       cost=from_day(0.75, 12.0), refused=0)  # fmt: skip
    found = cost.anomalies(more).found.set_index("what")["at_stake"]
    assert found.to_dict() == pytest.approx({"price": 10 * 9.0, "spend": 10 * 2.25})


@pytest.mark.parametrize("unseen", [False, True])
def test_pumped_passcodes_are_found_by_country_and_kind(unseen: bool) -> None:
    """From USD 7.50 a day, or from nothing, to 1,507."""
    others = pd.concat([sums(kind="campaign"), sums(kind="passcode", campaign="passcodes")])
    many = [0 if unseen else 100] * 60 + [20_094] * 10
    pumped = sums(kind="passcode", campaign="passcodes", iso="KZ", region="KZ", messages=many, parts=many,
                  cost=[n * 0.075 for n in many], refused=0)  # fmt: skip
    pumped = pumped[pumped["messages"] > 0]
    found = cost.anomalies(pd.concat([others, pumped])).found
    row = only(found)
    assert (row["what"], row["iso"], row["kind"], row["since"]) == ("spend", "KZ", "passcode", DAYS[60])
    assert row["observed"] == pytest.approx(1507.05)
    assert row["cause"] == ("new country" if unseen else "more messages")
    early = pd.concat([others, pumped])
    assert len(cost.anomalies(early[early["day"] <= DAYS[60]]).found) == 1


@pytest.mark.parametrize(("rate", "least"), [(1.002, 1), (1.0, 0)])
def test_a_creeping_price_is_found(rate: float, least: int) -> None:
    noise = [0.001 * (-1) ** n for n in range(70)]
    found = cost.anomalies(sums(cost=[round(0.75 * rate ** max(n - 20, 0) + noise[n], 6) for n in range(70)])).found
    assert (len(found) >= least and set(found["what"]) <= {"price"}) if least else found.empty


@pytest.mark.parametrize("days", [1, 7, 14, 30, 90])
def test_a_sender_is_judged_by_its_sending_days(days: int) -> None:
    """Daily, weekly, or each quarter: the price doubles, texts triple and a third is refused."""
    dates = pd.date_range("2023-01-02", periods=40, freq=f"{days}D")
    later = [n >= 25 for n in range(40)]
    table = sums().iloc[:40].assign(
        day=dates, messages=[666 if new else 1000 for new in later], refused=[334 if new else 0 for new in later],
        parts=[1998 if new else 1000 for new in later], cost=[1998 * 0.015 if new else 7.5 for new in later],
        campaign="news",
    )  # fmt: skip
    made = cost.anomalies(table)
    found = made.found.set_index("what")
    assert set(found.index) == {"price", "parts", "refusals"}
    assert set(found["since"]) == {dates[25]}
    assert found.loc["price", ["expected", "observed", "days"]].tolist() == [0.0075, 0.015, 15]
    assert made.judged_of["price"] == made.judged_of["parts"] == made.judged_of["refusals"] == 32
    quiet = cost.anomalies(sums().iloc[:40].assign(day=dates, refused=0))
    assert quiet.card().state.startswith("Nothing is out of the expected range")


@pytest.mark.parametrize(("many", "days"), [(8, 1), (8, 7), (1, 1)])
def test_where_nothing_can_be_judged_nothing_is_called_usual(many: int, days: int) -> None:
    table = sums().iloc[:many].assign(day=pd.date_range("2020-01-01", periods=many, freq=f"{days}D"), refused=0)
    made = cost.anomalies(table.assign(cost=[0.75] * (many - 1) + [75.0]))
    assert (made.judged, len(made.found)) == (0, 0)
    assert made.card().state == "Nothing could be judged: too few sending days came before each"
    text = " ".join(made.card().text().split())
    assert f"0 values compared with up to 90 sending days before each, to {table['day'].max():%Y-%m-%d}" in text
    assert f"price of a part, United States US ({many} sending day{'s' * (many > 1)}, and 8 must come before" in text


def test_prices_that_could_not_be_judged_are_said() -> None:
    """Every day has messages without a price, so there are parts to judge and no prices."""
    card = cost.anomalies(sums(unpriced=1, refused=0)).card()
    assert card.state == "Nothing is out of the expected range; of prices and spend nothing could be judged"
    assert "7,000 messages on rows with a price that could not be read" in " ".join(card.text().split())
    late = cost.anomalies(sums(unpriced=[1] * 65 + [0] * 5, refused=0)).card()
    assert "of prices and spend nothing could be judged" in late.state


@pytest.mark.parametrize(("changes", "said"), [({"chance": 0.7}, "at most 0.5"), ({"chance": 0}, "above 0")])
def test_wrong_arguments_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        cost.anomalies(sums(), **changes)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), [("price", 1.2), ("parts", 1.0), ("refusals", 0.15)])
def test_what_is_planted_in_a_made_year_is_found(name: str, size: float) -> None:
    iso = {"price": "DE", "refusals": "IN"}.get(name)
    wrong = made_year.Planted(name, since="2026-10-05", size=size, iso=iso)
    found = cost.anomalies(made_year.made_year(3, start="2026-07-01", days=140, planted=[wrong]).spending).found
    found = found[~found["explained"]]
    near = (found["since"] >= "2026-09-30") & (found["since"] <= "2026-10-08")
    assert set(found["what"]) == {name}
    assert near.any()


@pytest.mark.parametrize(("before", "after"), [(0.0, 0.75), (0.75, 0.0)])
def test_a_price_that_was_free_or_becomes_free_is_a_change(before: float, after: float) -> None:
    found = cost.anomalies(sums(cost=from_day(before, after), refused=0)).found
    assert found[["what", "iso"]].values.tolist() == [["price", "US"]]


@pytest.mark.parametrize(
    ("days", "why"),
    [
        (5, "5 sending days, and 8 must come before one that is judged"),
        (9, "all in the first 31 days"),
        (31, "all in the first 31 days"),
    ],
)
def test_why_no_spend_is_judged_is_said(days: int, why: str) -> None:
    unjudged = cost.anomalies(sums(refused=0).iloc[:days]).not_judged
    assert why in unjudged.loc[unjudged["what"].eq("spend"), "why"].iloc[0]
