"""A change of cost taken apart: every effect against all orders spelled out in fractions, and sums that are exact."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.small_plans import people
from support.small_plans import plan as small_plan

from smsotp_nb import cost
from smsotp_nb.errors import UsageError

Side = dict[str, tuple[int, int, int]]  # group: messages, parts, millionths

EFFECTS = ("volume", "mix", "parts", "rate")


def micros(amounts: pd.Series) -> pd.Series:
    return (amounts * 1_000_000).round().astype("Int64")


def summed(side: Side, currency: str = "USD") -> pd.DataFrame:
    """Return sums as `cost.by` returns them."""
    rows = [(currency, name, *figures, 0) for name, figures in side.items()]
    table = pd.DataFrame(rows, columns=["currency", "iso", "messages", "parts", "cost", "unpriced"])
    return table.assign(cost=(table["cost"] / 1_000_000).round(6))


def in_order(before: list[Fraction], now: list[Fraction], order: tuple[int, ...]) -> list[Fraction]:
    """Return what each factor adds to the product when they change one after another."""
    state, added = list(before), [Fraction(0)] * 4
    for place in order:
        old = product(state)
        state[place] = now[place]
        added[place] = product(state) - old
    return added


def product(factors: list[Fraction]) -> Fraction:
    made = Fraction(1)
    for factor in factors:
        made *= factor
    return made


def factors(side: Side, name: str, other: Side) -> list[Fraction]:
    """Return the four factors of a group as the docstring says them."""
    messages, parts, micros = side.get(name, (0, 0, 0))
    total = sum(figures[0] for figures in side.values())
    if not total:
        share = Fraction(other[name][0], sum(figures[0] for figures in other.values()))
    else:
        share = Fraction(messages, total)
    if not messages:
        messages, parts, micros = other[name]
    return [Fraction(total), share, Fraction(parts, messages), Fraction(micros, parts)]


def by_all_orders(now: Side, before: Side, name: str) -> list[Fraction]:
    earlier, later = factors(before, name, now), factors(now, name, before)
    orders = [in_order(earlier, later, order) for order in permutations(range(4))]
    return [sum(effects[place] for effects in orders) / Fraction(24) for place in range(4)]


def made_side(chance: random.Random) -> Side:
    names = chance.sample(["US", "IN", "DE", "FR", "NG"], chance.randint(1, 5))
    counts = {name: chance.randint(1, 1000) for name in names}
    return {
        name: (many, many + chance.randint(0, many), chance.randint(1, 90_000_000)) for name, many in counts.items()
    }


@pytest.mark.parametrize("seed", range(30))
def test_effects_are_the_average_over_all_orders(seed: int) -> None:
    chance = random.Random(seed)
    before, now = made_side(chance), made_side(chance)
    groups = cost.bridge(summed(now), summed(before)).groups.set_index("iso")
    for name in {*before, *now}:
        expected = by_all_orders(now, before, name)
        for effect, exact in zip(EFFECTS, expected, strict=True):
            assert abs(groups.at[name, effect] * 1_000_000 - float(exact)) <= 2.5, (name, effect)


def test_one_cause_at_a_time() -> None:
    before: Side = {"US": (100, 100, 1_000_000), "IN": (100, 100, 3_000_000)}
    causes: dict[str, Side] = {
        "volume": {"US": (200, 200, 2_000_000), "IN": (200, 200, 6_000_000)},
        "mix": {"US": (50, 50, 500_000), "IN": (150, 150, 4_500_000)},
        "parts": {"US": (100, 200, 2_000_000), "IN": (100, 200, 6_000_000)},
        "rate": {"US": (100, 100, 1_200_000), "IN": (100, 100, 3_300_000)},
    }
    for effect, now in causes.items():
        total = cost.bridge(summed(now), summed(before)).totals.iloc[0]
        assert total["change"] != 0
        assert total[effect] == total["change"], effect
        assert [total[other] for other in EFFECTS if other != effect] == [0, 0, 0]


def test_currencies_stay_apart_and_one_side_may_be_empty() -> None:
    now = pd.concat([summed({"US": (10, 10, 100_000)}), summed({"CN": (5, 5, 700_000)}, "CNY")])
    made = cost.bridge(now, now.iloc[:0])
    assert made.totals[["currency", "before", "volume", "change"]].values.tolist() == [
        ["CNY", 0.0, 0.7, 0.7],
        ["USD", 0.0, 0.1, 0.1],
    ]


def results(**columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame({"status": "accepted", "currency": "USD", **columns})


def test_billed_against_the_estimate() -> None:
    table = results(
        iso=["US", "US", "DE"], parts=[2, 1, 1], price=[0.02, 0.01, 0.09], est_parts=[1, 1, 1],
        est_cost=[0.01, 0.01, 0.08], est_currency=["USD", "USD", "USD"],
    )  # fmt: skip
    made = cost.bridge(table)
    assert made.totals[["before", "volume", "mix", "parts", "rate", "now"]].values.tolist() == [
        [0.1, 0.0, 0.0, 0.01, 0.01, 0.12]
    ]


def test_messages_without_a_price_are_counted_and_not_in_an_amount() -> None:
    before = results(iso=["US"], parts=[1], price=[0.01])
    now = results(iso=["US", "US"], parts=[1, 3], price=[0.01, None])
    made = cost.bridge(now, before)
    assert made.totals[["change", "left_out"]].values.tolist() == [[0.0, 1]]
    assert made.groups[["messages_now", "parts_now"]].values.tolist() == [[1, 1]]


def test_a_currency_with_nothing_to_compare_is_said_with_its_months() -> None:
    """Billed without an estimate in its currency, it has not stayed the same: nothing is known of a change."""
    table = results(
        iso=["US", "CN", "CN"], parts=[1, 1, 1], price=[0.01, 0.05, 0.05], currency=["USD", "CNY", "CNY"],
        est_parts=[1, 1, 1], est_cost=[0.01, None, None], est_currency=["USD", None, None],
        at=["2026-10-01T10:00:00Z", "2026-10-02T10:00:00Z", "2026-09-02T10:00:00Z"],
    )  # fmt: skip
    text = cost.bridge(table).card().text()
    assert "CNY: nothing to compare (billed in 2026-09, 2026-10) and USD: no change" in text
    assert cost.bridge(table.drop(columns="at").assign(at=pd.NaT)).totals["left_out"].tolist() == [2, 0]


def test_by_other_columns_missing_values_are_a_group() -> None:
    before = results(segment=["a", None], parts=[1, 1], price=[0.01, 0.02])
    now = results(segment=["a", None], parts=[1, 1], price=[0.01, 0.05])
    groups = cost.bridge(now, before, columns="segment").groups
    assert groups["segment"].isna().tolist() == [True, False]
    assert groups["rate"].tolist() == [0.03, 0.0]


def test_what_cannot_be_compared_is_said() -> None:
    sums = summed({"US": (1, 1, 10_000)})
    with pytest.raises(UsageError, match="hold no estimates"):
        cost.bridge(sums)
    with pytest.raises(UsageError, match="segment"):
        cost.bridge(sums, sums, columns="segment")


@pytest.mark.parametrize("seed", range(10))
def test_what_the_card_shows_adds_up(seed: int) -> None:
    """Amounts are rounded on the card, and still lead from one total to the other."""
    chance = random.Random(seed)
    before, now = ({name: (a, b, c // 10_000 * 10_000) for name, (a, b, c) in made_side(chance).items()} for _ in "12")
    text = cost.bridge(summed(now), summed(before)).card().text()
    waterfall = text.split("\n\n")[1].splitlines()[2:]
    first, *effects, last = [Decimal(line.split()[-1].replace("−", "-").replace(",", "")) for line in waterfall]
    assert first + sum(effects) == last
    for line in text.split("What changed most")[1].splitlines()[3:]:
        change, *effects = [Decimal(word.replace("−", "-").replace(",", "")) for word in line.split()[-5:]]
        assert sum(effects) == change


def test_bars_of_the_waterfall_begin_where_the_one_above_ends() -> None:
    before, now = {"US": (100, 100, 1_000_000)}, {"US": (300, 300, 4_000_000)}
    steps = cost.bridge(summed(now), summed(before)).card().blocks[0]
    bars = [bar for _, bar in steps.rows if hasattr(bar, "start")]
    ends = [round(bar.start + bar.share, 9) for bar in bars]
    assert ends[0] == 0.25
    assert ends[:-2] == [round(bar.start, 9) for bar in bars[1:-1]]
    assert ends[-2:] == [1, 1]


def test_a_currency_without_any_price_is_told() -> None:
    now = results(iso=["US", "CN"], parts=[1, 1], price=[0.01, None]).assign(currency=["USD", "CNY"])
    made = cost.bridge(now, now.iloc[:1])
    assert made.totals[["currency", "change", "left_out"]].values.tolist() == [["CNY", 0.0, 1], ["USD", 0.0, 0]]
    assert "1 message in no amount: without a price" in made.card().text()


@st.composite
def billed(draw: st.DrawFn) -> tuple[int, int, int]:
    messages = draw(st.integers(1, 10**6))
    parts = draw(st.integers(0, 20 * messages))
    return messages, parts, draw(st.integers(-max(parts, 1) * 10**6, max(parts, 1) * 2 * 10**7))


@st.composite
def any_sums(draw: st.DrawFn) -> pd.DataFrame:
    """Return sums of any size: groups that one side lacks, credits, messages without parts, in several currencies.

    At most twenty parts a message and twenty of a currency a part: the effects stay below what a double tells exactly.
    """
    cells = billed()
    sides = draw(
        st.dictionaries(st.sampled_from(["USD", "EUR", "CNY"]), st.dictionaries(st.sampled_from("ABCDE"), cells))
    )
    tables = [summed(side, currency) for currency, side in sides.items() if side]
    return pd.concat(tables) if tables else summed({"A": (1, 1, 1)}).iloc[:0]


@settings(deadline=None, max_examples=20)
@given(any_sums(), any_sums())
def test_whatever_is_compared_the_effects_add_up_to_the_millionth(now: pd.DataFrame, before: pd.DataFrame) -> None:
    made = cost.bridge(now, before)
    for table in (made.groups, made.totals):
        whole = {name: micros(table[name]) for name in ("before", *EFFECTS, "change", "now")}
        assert (sum(whole[effect] for effect in EFFECTS) == whole["change"]).all()
        assert (whole["before"] + whole["change"] == whole["now"]).all()
    for effect in EFFECTS:
        sums, totals = (micros(table.set_index("currency")[effect]) for table in (made.groups, made.totals))
        assert sums.groupby(level=0).sum().to_dict() == totals[totals.index.isin(sums.index)].to_dict()
    for side, given_ in (("now", now), ("before", before)):
        expected = micros(given_["cost"]).groupby(given_["currency"]).sum()
        found = made.totals.set_index("currency")[side].pipe(micros)
        assert found[found != 0].to_dict() == expected[expected != 0].to_dict()


def test_a_plan_against_an_earlier_plan() -> None:
    rates = pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": ["0.0100"]})
    dearer = rates.assign(price="0.0150")
    before = small_plan(people(2), rates=rates)
    cases = {
        "volume": small_plan(people(4), rates=rates),
        "parts": small_plan(people(2), rates=rates, message="x" * 200),
        "rate": small_plan(people(2), rates=dearer),
    }
    for effect, now in cases.items():
        total = cost.bridge(now, before).totals.iloc[0]
        assert total[effect] == total["change"] > 0, effect
        assert total["now"] == now.estimate["est_cost"].sum()


def test_plans_without_any_rate_have_nothing_to_compare() -> None:
    plan = small_plan()
    assert "othing to compare" in cost.bridge(plan, plan).card().text()


def test_a_headline_says_what_is_in_no_amount() -> None:
    """A change of what has a price is not the change of the bill; rows in doubt may have been billed."""
    then = pd.DataFrame({"status": "accepted", "iso": "US", "currency": "USD", "parts": [1, 1], "price": [0.01, 0.01]})
    unpriced = then.iloc[:1].assign(price=None).astype({"price": "float64"})
    doubt = unpriced.assign(status="in_doubt", currency=None, parts=None)
    assert cost.bridge(pd.concat([then, unpriced]), then).card().state == (
        "USD: no change, apart from 1 message in no amount"
    )
    more = pd.concat([then, then.iloc[:1], unpriced, doubt])
    card = cost.bridge(more, then).card()
    assert card.state == "USD 0.01 more, apart from 1 message in no amount"
    assert "1 row in doubt, possibly sent and billed, in no amount" in card.text()
    assert "doubt" not in cost.bridge(then, then).card().text()


# -- what moved a month


def daily_sums(start: str, end: str, **countries: tuple[float, float]) -> pd.DataFrame:
    """Return what each country cost a day before November, and since."""
    days = pd.date_range(start, end)
    return pd.concat(
        pd.DataFrame({"day": days, "iso": iso, "currency": "USD", "messages": 10, "parts": 10, "unpriced": 0,
                      "cost": [costs[day >= pd.Timestamp("2026-11-01")] for day in days]})
        for iso, costs in countries.items()
    )  # fmt: skip


def test_the_days_of_a_month_so_far_are_compared_with_the_same_days_before() -> None:
    history = daily_sums("2026-09-01", "2026-11-10", US=(1.0, 1.0), DE=(2.0, 5.0), FR=(4.0, 3.0))
    made = cost.movers(history)
    assert made.groups["iso"].tolist() == ["DE", "FR", "US"]
    assert made.groups["change"].tolist() == [30.0, -10.0, 0.0]
    assert made.groups["rate"].tolist() == [30.0, -10.0, 0.0]
    text = made.card().text()
    assert "2026-11-01 to 2026-11-10 compared with 2026-10-01 to 2026-10-10" in text
    assert "USD 20.00 more" in text
    whole = cost.movers(history, month="2026-10")
    assert whole.card().closing == "2026-10-01 to 2026-10-31 compared with 2026-09-01 to 2026-09-30"
    assert "more" in whole.card().state  # a day more
    assert cost.movers(history, columns=["iso"]).groups["change"].tolist() == [30.0, -10.0, 0.0]


def test_movers_that_go_the_other_way_read_the_other_way() -> None:
    assert "USD 30.00 less" in cost.movers(daily_sums("2026-10-01", "2026-11-10", DE=(5.0, 2.0))).card().state


@pytest.mark.parametrize(
    ("month", "said"),
    [("2026-12", "no messages in 2026-12"), ("2026-10", "no messages in 2026-09"), ("May", "such as")],
)
def test_months_that_cannot_be_compared_are_said(month: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        cost.movers(daily_sums("2026-10-01", "2026-11-10", US=(1.0, 1.0)), month=month)


def test_a_month_that_has_messages_on_other_days_only_is_not_said_to_have_none() -> None:
    later = daily_sums("2026-10-05", "2026-11-02", US=(1.0, 1.0))
    days = "2026-11-01 to 2026-11-02 compared with 2026-10-01 to 2026-10-02"
    with pytest.raises(UsageError, match=rf"no messages in 2026-10 on the days that are compared \({days}\)"):
        cost.movers(later)


def test_results_know_their_days_by_the_time_of_the_answer() -> None:
    """Rows without an answer are in no month."""
    at = ["2026-10-01T10:00:00Z", "2026-10-31T23:30:00Z", "2026-11-01T09:00:00Z", None]
    rows = pd.DataFrame({"status": ["accepted"] * 3 + ["planned"], "iso": "US", "currency": "USD", "parts": 1,
                         "price": [0.01, 0.02, 0.05, None], "at": at})  # fmt: skip
    assert cost.movers(rows).totals[["before", "now"]].values.tolist() == [[0.01, 0.05]]
    berlin = cost.movers(rows, tz="Europe/Berlin")
    assert berlin.totals[["before", "now"]].values.tolist() == [[0.01, 0.07]]


def test_messages_of_no_currency_are_told_and_what_has_no_price_is_not_free() -> None:
    def table(price: float | None, many: int, currency: str | None = "USD") -> pd.DataFrame:
        return pd.DataFrame(
            {"status": "accepted", "iso": "US", "currency": currency, "parts": 1, "price": [price] * many}
        ).astype({"price": "float64"})

    unknown, known = table(None, 2, None), table(0.01, 3)
    some = cost.bridge(pd.concat([known, unknown]), known)
    assert some.totals[["currency", "change", "left_out"]].values.tolist() == [["USD", 0.0, 2]]
    assert some.card().state == "USD: no change, apart from 2 messages in no amount"
    for now, before in ((unknown, known), (known, unknown)):
        made = cost.bridge(now, before)
        assert made.groups.empty
        assert made.totals[["currency", "change", "left_out"]].values.tolist() == [["USD", 0.0, 5]]
        assert made.card().state.startswith("USD: nothing to compare")
    both = cost.bridge(pd.concat([known, table(0.02, 1, "EUR"), unknown]), known)
    assert both.totals["left_out"].tolist() == [0, 0, 2]
    assert both.card().state.endswith("Unknown currency: nothing to compare")


def test_sums_of_messages_with_and_without_a_price_have_no_effects_of_their_own() -> None:
    """Sums that do not know whose parts are whose say the same as the rows."""
    then = pd.DataFrame({"status": "accepted", "iso": ["DE"] * 100 + ["US"] * 50, "currency": "USD", "parts": 2,
                         "price": 0.06, "month": "2026-10"})  # fmt: skip
    now = then.assign(price=then["price"].mask(then.index < 50), month="2026-11")
    sums = cost.by(pd.concat([then, now], ignore_index=True), ["month", "iso"])
    of_sums = cost.bridge(sums[sums["month"] == "2026-11"], sums[sums["month"] == "2026-10"])
    pd.testing.assert_frame_equal(of_sums.groups, cost.bridge(now, then).groups)
    assert of_sums.totals[["parts", "rate", "left_out"]].values.tolist() == [[0, 0, 50]]
