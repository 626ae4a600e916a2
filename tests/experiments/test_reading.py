"""An experiment read: as assigned, in its window, on its day, and in words that never say more than the interval."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.made_experiments import SENT, WEIGHTS, arguments, assignment, orders, read

from smsotp_nb._experiments.comparing import compare
from smsotp_nb._experiments.reading import Reading
from smsotp_nb._experiments.statistics import Share
from smsotp_nb._experiments.words import Facts, percent, span
from smsotp_nb.errors import UsageError

BOTH = {"bought": "binary", "spend": "amount"}
BEFORE = {"now": lambda: datetime(2026, 1, 10, tzinfo=UTC)}  # five days after the send


def reading(people: int = 20_000, *, lift: dict[str, float] | None = None, **more: Any) -> Reading:
    assigned = assignment(people)
    return read(assigned, orders(assigned, lift=lift), **arguments(weights=WEIGHTS, name="autumn", **more))


def test_counts_are_those_of_a_plain_join() -> None:
    """People, buyers, sums and cost of each arm, whatever became of their messages."""
    assigned = assignment(5000)
    bought = orders(assigned, base=0.1)
    assigned.loc[assigned.index[::7], ["contacted", "cost"]] = [False, 0.0]
    found = read(assigned, bought, **arguments(kinds=BOTH, amount="spend")).frame.set_index(["outcome", "arm"])
    joined = assigned.merge(bought, left_on="unit", right_on="customer", how="left").groupby("arm")
    for arm, part in joined:
        assert found.loc[("bought", arm), "people"] == len(part)
        assert found.loc[("bought", arm), "total"] == part["customer"].notna().sum()
        assert found.loc[("spend", arm), "total"] == pytest.approx(part["spend"].sum())
        assert found.loc[("spend", arm), "value"] == pytest.approx(part["spend"].fillna(0).mean())
        assert found.loc[("bought", arm), "contacted"] == part["contacted"].sum()
        assert found.loc[("bought", arm), "cost"] == round(part["cost"].sum(), 6)


def test_the_window_begins_with_each_send() -> None:
    """The moment of the send counts, the end of the window does not; what lies outside is a row with its problem."""
    assigned = assignment(100)
    sent = assigned["at"].iloc[:4].reset_index(drop=True)
    days = sent + pd.Series([timedelta(0), timedelta(days=14), timedelta(microseconds=-1), timedelta(days=1)])
    some = pd.DataFrame({"customer": ["c0", "c1", "c2", "nobody"], "day": days.array}, index=[10, 11, 12, 13])
    found = read(assigned, some, **arguments())
    assert found.frame["total"].sum() == 1
    want = {11: "after the window", 12: "before the send", 13: "unit of no arm"}
    assert found.left_out["problem"].to_dict() == want
    said = "1 row of outcomes counted. Left out: 1 row belongs to nobody of the experiment; "
    assert said + "1 row is from before the send; 1 row is from after the window." in found.card().text()


def test_two_orders_are_one_buyer_and_one_sum() -> None:
    assigned = assignment(50)
    day = assigned["at"].iloc[0] + timedelta(days=1)
    twice = pd.DataFrame({"customer": ["c0", "c0"], "day": [day, day], "spend": [3.0, 4.5]})
    found = read(assigned, twice, **arguments(kinds=BOTH, amount="spend")).frame
    assert found.groupby("outcome")["total"].sum().to_dict() == {"bought": 1, "spend": 7.5}


def test_an_outcome_of_its_own_column() -> None:
    """A true cell counts, a false one does not."""
    assigned = assignment(50)
    visits = pd.DataFrame({"customer": ["c0", "c1"], "day": assigned["at"].iloc[:2].array, "visited": [True, False]})
    assert read(assigned, visits, **arguments(kinds={"visited": "binary"})).frame["total"].sum() == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["object", "category", "int64", "string[pyarrow]", "str"])
def test_units_of_every_kind(kind: str) -> None:
    assigned = assignment(500)
    bought = orders(assigned, base=0.2)
    want = read(assigned, bought, **arguments()).frame
    number = assigned["unit"].str[1:].astype("int64")
    other = bought["customer"].str[1:].astype("int64")
    if kind == "int64":
        assigned, bought = assigned.assign(unit=number), bought.assign(customer=other)
    else:
        assigned, bought = assigned.astype({"unit": kind}), bought.astype({"customer": kind})
    pd.testing.assert_frame_equal(read(assigned, bought, **arguments()).frame, want)


def test_an_effect_that_is_there_is_found_and_said() -> None:
    found = reading(100_000, lift={"plain": 2.0, "emoji": 2.0})
    row = found.frame.iloc[0]
    assert row["settled"]
    assert row["low"] < 0.0057 < row["high"]
    assert "brought between" in found.sentence()
    assert "which is better is not settled" in found.sentence()
    assert re.search(r"plain +[│┼][ ─]*●", found.card().text(10_000)), "zero stands left of what is more than nothing"
    price = re.search(r"between USD ([\d.]+) and USD ([\d.]+) for each", found.sentence())
    assert price is not None
    assert float(price[1]) <= row["cost"] / row["extra_high"] < row["cost"] / row["extra_low"] <= float(price[2])


def test_no_effect_has_no_upper_limit_and_no_claim() -> None:
    said = reading(20_000, kinds=BOTH, amount="spend").sentence()
    assert said.count("the message may have had no effect at all") == 4
    assert said.count("with no upper limit, because the effect may be nothing") == 4
    assert "brought" not in said


def test_harm_is_said_without_a_price() -> None:
    said = reading(60_000, lift={"plain": 0.2, "emoji": 0.2}).sentence()
    assert said.count("less.") == 2
    assert "brought more" not in said
    assert said.count("no price, as there were no extra ones") == 2
    assert "USD −" not in said


def test_a_claim_needs_the_interval_and_holms_p() -> None:
    """Where an interval alone leaves out 0, nothing is claimed and the price has no upper limit."""
    people = pd.concat([assignment(4000, weights={arm: 1}, seed=n) for n, arm in enumerate(("a", "b", "holdout"))])
    assigned = people.assign(unit=[f"c{n}" for n in range(len(people))]).reset_index(drop=True)
    rows = np.concatenate([np.arange(90), 4000 + np.arange(60), 8000 + np.arange(63)])
    bought = pd.DataFrame({"customer": assigned["unit"].iloc[rows].array, "day": assigned["at"].iloc[rows].array})
    found = read(assigned, bought, **arguments())
    row = found.frame.iloc[0]
    assert row["low"] > 0
    assert row["p"] < 0.05 < row["p_holm"]
    assert not row["settled"]
    assert row["price_high"] == np.inf
    assert "this is not settled" in found.sentence()
    why = "no upper limit, because by Holm's method for all comparisons together the effect may be nothing"
    assert why in " ".join(found.sentence().split())


def test_until_the_day_only_counts_and_the_check_are_there() -> None:
    found = reading(**BEFORE)
    assert found.state == "waiting"
    assert [*found.frame.columns] == ["arm", "people", "contacted"]
    assert "The reading day is 2026-01-19" in found.sentence()
    assert "difference" not in found.card().text().replace("finds differences", "")


def test_read_early_is_labelled_and_claims_nothing() -> None:
    found = reading(100_000, lift={"plain": 2.0, "emoji": 2.0}, early=True, **BEFORE)
    assert found.state == "early"
    assert "preliminary, and no result" in found.sentence()
    assert "brought" not in found.sentence()


def test_read_early_at_every_look_is_wider_and_says_so() -> None:
    early, late = (reading(100_000, early="sequential", **more) for more in (BEFORE, {}))
    width = {found.state: found.frame.loc[0, "high"] - found.frame.loc[0, "low"] for found in (early, late)}
    assert width["sequential"] > 1.3 * width["read"]
    assert "times as wide" in early.frame.loc[0, "method"]
    assert early.frame.loc[0, "method"] in early.sentence() or "hold at every look" in early.sentence()


def test_uneven_arms_are_not_read() -> None:
    assigned = assignment(20_000)
    assigned = assigned[(assigned["arm"] != "emoji") | (assigned.index % 10 > 0)]
    found = read(assigned, orders(assigned), **arguments(weights=WEIGHTS))
    assert found.state == "uneven"
    assert "low" not in found.frame.columns
    assert "The arms do not have the sizes they were given" in found.card().text()


def test_currencies_are_never_added() -> None:
    assigned = assignment(20_000)
    euro = assigned["contacted"] & (assigned.index % 2 == 0)
    found = read(assigned.assign(currency=assigned["currency"].mask(euro, "EUR")), orders(assigned), **arguments())
    assert {*found.costs["plain"]} == {"USD", "EUR"}
    assert found.frame["cost"].isna().tolist() == [True, True, False]
    assert "several currencies, which are never added" in found.sentence()


def test_without_a_holdout_only_the_arms_are_compared() -> None:
    assigned = assignment(4000, weights={"plain": 1, "emoji": 1})
    found = read(assigned, orders(assigned, base=0.1), **arguments())
    assert found.frame["low"].isna().all()
    assert found.pairs["low"].notna().all()
    assert "nobody was held out" in found.sentence()
    better = read(assigned, orders(assigned, base=0.1, lift={"emoji": 2.0}), **arguments())
    assert ": emoji brought more." in better.sentence()
    assert "is not settled" not in better.sentence()
    shown = found.card().text(10_000)
    assert "bought: difference between the arms" in shown
    assert "held out, 95%" not in shown
    assert "no price" not in shown
    assert "no interval" not in shown


def test_an_arm_that_was_not_texted_is_said_and_not_compared() -> None:
    assigned = assignment(3000, weights={"a": 1, "b": 1, "holdout": 1})
    assigned.loc[assigned["arm"].eq("b"), ["contacted", "cost"]] = [False, 0.0]
    people = int(assigned["arm"].eq("b").sum())
    reading = read(assigned, orders(assigned), **arguments())
    said = (
        f"Nobody of b, to which {people:,} people are assigned, was texted: it says nothing yet, and is not compared."
    )
    assert said in reading.sentence()
    assert said in " ".join(reading.card().text(10_000).split())
    assert set(reading.frame["arm"]) == {"a", "holdout"}
    assert reading.pairs.empty


def test_people_who_are_still_to_be_texted_are_said() -> None:
    assigned = assignment(4000, weights={"plain": 1, "holdout": 1})
    whole, part = (read(assigned, orders(assigned), **arguments(), to_go=many) for many in (0, 1200))
    said = "1,200 people have not been texted yet and count as not reached; if they are texted, the reading day moves."
    assert said in part.sentence()
    assert said in part.card().text(10_000)
    assert "not been texted" not in whole.card().text(10_000)


def test_segments_are_labelled_exploration_and_claim_nothing() -> None:
    """Wider intervals than one segment alone would have, no p-value, and the sentence does not know them."""
    assigned = assignment(30_000).assign(country=lambda frame: np.where(frame.index % 2, "DE", "NA"))
    bought = orders(assigned, lift={"plain": 3.0, "emoji": 3.0})
    found = read(assigned, bought, **arguments(explore="country"))
    assert found.exploration["segment"].unique().tolist() == ["DE", "NA"]
    assert "p" not in found.exploration.columns
    assert found.sentence() == read(assigned, bought, **arguments()).sentence()
    german = assigned[assigned["country"].eq("DE")]
    alone = (
        read(german, bought[bought["customer"].isin(german["unit"])], **arguments()).frame.set_index("arm").loc["plain"]
    )
    first = found.exploration.set_index(["segment", "arm"]).loc[("DE", "plain")]
    assert first["people"] == alone["people"]
    assert first["low"] < alone["low"] < alone["high"] < first["high"]
    assert "what to test next, no result" in found.card().text(200)


def test_a_hostile_name_stays_text() -> None:
    found = reading(2000)
    shown = Reading("<script>", *[getattr(found, name) for name in found.__slots__[1:]])._repr_html_()
    assert "<script>" not in shown


RARE = {  # buyers in 4,000,000 texted and 4,000,000 held out
    "harm": (20, 60), "help": (60, 20), "help of one in a million": (30, 5), "nothing": (20, 20), "nobody": (0, 0),
}  # fmt: skip


@pytest.mark.parametrize(("texted", "held"), RARE.values(), ids=RARE)
def test_two_decimals_never_hide_an_answer(texted: int, held: int) -> None:
    """Read back from the words, the interval lies on the side of nothing where the figures have it."""
    arm = Share(texted, 4_000_000)
    one = compare(arm, Share(held, 4_000_000), level=0.95)
    row = {"outcome": "bought", "arm": "plain", **one._asdict()}
    facts = Facts({"bought": "binary"}, "USD", 0.95, datetime(2026, 1, 1, tzinfo=UTC), timedelta(1), {}, 0)
    low, high = re.findall(r"[+−]?[\d.]+(?= and|\s*percentage)", span(row, facts))
    shown = [float(limit.replace("−", "-")) / 100 for limit in (low, high)]
    assert shown[0] <= one.low <= one.high <= shown[1]
    assert [np.sign(limit) for limit in shown] == [np.sign(round(one.low, 12)), np.sign(round(one.high, 12))]
    assert texted == 0 or float(percent(arm.value).rstrip("%")) > 0


@pytest.mark.parametrize("times", [0.0, 1.0, 3.0], ids=["harm", "nothing", "help"])
def test_the_words_say_what_the_figures_say(times: float) -> None:
    """Of shares and of money: more, less or nothing settled, and never another one of these."""
    found = reading(60_000, lift={"plain": times, "emoji": times}, kinds=BOTH, amount="spend")
    for row in found.frame[found.frame["arm"] != "holdout"].to_dict("records"):
        kind = f'"{row["outcome"]}" was'
        part = next(one for one in found.sentence().split("Of the ") if row["arm"] in one and kind in one)
        said = [word for word in ("more.", "less.", "may have had no effect") if word in part]
        want = "may have had no effect" if not row["settled"] else "more." if row["low"] > 0 else "less."
        assert said == [want]
    assert found.frame["settled"].any() == (times != 1.0)


def test_of_everybody_it_is_not_said_that_nobody_has_it() -> None:
    assigned = assignment(400)
    everybody = orders(assigned, base=1.0).assign(spend=10.0)
    said = read(assigned, everybody, **arguments(kinds={"spend": "amount"}, amount="spend")).sentence()
    assert "obody" not in said
    assert "No interval can be given: everybody of an arm has the same" in said
    nothing = read(assigned, everybody.assign(spend=0.0), **arguments(kinds={"spend": "amount"}, amount="spend"))
    assert "No interval can be given: nobody of either has any." in nothing.sentence()


WRONG = {
    "no orders": (lambda a, o: (a, None, {}), "outcomes must be a DataFrame, got None"),
    "a file of orders": (lambda a, o: (a, "orders.csv", {}), "read_recipients(path) reads one from a file"),
    "no such column": (lambda a, o: (a, o, {"on": "costumer"}), "did you mean 'customer'"),
    "units of another kind": (
        lambda a, o: (a.assign(unit=range(len(a))), o, {}),
        "must hold the units as the assignment does, as whole numbers; it holds",
    ),
    "times without a zone": (
        lambda a, o: (a, o.assign(day=o["day"].dt.tz_localize(None)), {}),
        "column 'day' must hold times with their zone",
    ),
    "times as text": (lambda a, o: (a, o.assign(day="yesterday"), {}), "column 'day' must hold times with their zone"),
    "a missing amount": (
        lambda a, o: (a, o.assign(spend=o["spend"].where(o.index != 1)), {"kinds": BOTH, "amount": "spend"}),
        "column 'spend' must hold a value in every row; row 1 has none",
    ),
    "an amount as text": (
        lambda a, o: (a, o.assign(spend="5 EUR"), {"kinds": BOTH, "amount": "spend"}),
        "must hold numbers for the outcome",
    ),
    "no amount named": (lambda a, o: (a, o[["customer", "day"]], {"kinds": {"spend": "amount"}}), "name its column"),
    "two outcomes of the same rows": (
        lambda a, o: (a, o, {"kinds": {"bought": "binary", "came": "binary"}}), "give each a column of its name",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "words"), WRONG.values(), ids=WRONG)
def test_wrong_calls_say_what_to_do(change: Any, words: str) -> None:
    assigned = assignment(60)
    people, bought, more = change(assigned, orders(assigned, base=0.5))
    with pytest.raises(UsageError, match=re.escape(words)):
        read(people, bought, **arguments(**more))


def test_the_same_seed_gives_the_same_reading() -> None:
    one, two = (reading(5000, kinds=BOTH, amount="spend") for _ in range(2))
    pd.testing.assert_frame_equal(one.frame, two.frame)
    assert str(SENT.year) in one.facts.day.isoformat()


def test_a_cost_that_is_not_known_is_said_and_shown() -> None:
    """No message of an arm has a price: neither the sentence nor the card takes that for a cost of nothing."""
    assigned = assignment(2000).assign(cost=0.0, unpriced=lambda people: people["contacted"].astype("int64"))
    found = read(assigned, orders(assigned, base=0.1), **arguments(kinds=BOTH, amount="spend"))
    assert "What it cost is not known" in found.sentence()
    assert "not known" in found.card().text()
    some = assigned.assign(cost=lambda people: people["contacted"].astype(float))
    same = orders(some, base=0.3).assign(spend=5.0)
    texted = read(some, same, **arguments(kinds={"spend": "amount"}, amount="spend"))
    assert "nothing more came in" not in texted.sentence()


def test_messages_without_a_price_that_can_be_read_are_in_no_cost() -> None:
    """They cost no more than the dearest of the others."""
    sent = pd.Timestamp("2026-11-01 10:00", tz="UTC")
    people = pd.DataFrame(
        {"unit": range(2000), "arm": ["plain", "holdout"] * 1000, "at": sent, "contacted": [True, False] * 1000,
         "cost": [0.0075, 0] * 1000, "currency": "USD", "unpriced": [1, 0] * 3 + [0] * 1994}
    )  # fmt: skip
    orders = pd.DataFrame({"customer": range(0, 200, 2), "day": sent + timedelta(days=1)})
    how: dict[str, Any] = {"on": "customer", "at": "day", "kinds": {"bought": "binary"}, "window": timedelta(days=14)}
    reading = read(people, orders, **how)
    said = "It cost between USD 7.50 and USD 7.5225, as 3 messages were accepted without a price that can be read, each"
    assert said in reading.sentence()
    assert reading.sentence().endswith("between USD 0.062 and USD 0.092 for each.")
    assert "It cost USD 7.50: between" in read(people.drop(columns="unpriced"), orders, **how).sentence()
