"""Forecasts: what they expect, how far off they say they are, and what comes in made years."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.made import made_year
from support.small_plans import plan as small_plan

import smsotp_nb as sms
from smsotp_nb import cost
from smsotp_nb._cost.sources import daily
from smsotp_nb.errors import UsageError


def sums(costs: list[float], *, start: str = "2026-01-01", currency: str = "USD") -> pd.DataFrame:
    """Return sums by day; a day that cost nothing has no row."""
    days = pd.date_range(start, periods=len(costs))
    table = pd.DataFrame({"day": days, "currency": currency, "messages": 10, "parts": 10, "cost": costs, "unpriced": 0})
    return table[table["cost"] > 0]


def weekly(days: int) -> list[float]:
    """Return costs of 1 to 7 on the days of a week."""
    return [float(1 + day % 7) for day in range(days)]


def total(made: cost.Forecast) -> dict[str, Any]:
    assert len(made.totals) == 1
    return {str(name): value for name, value in made.totals.iloc[0].items()}


@pytest.mark.parametrize("method", ["weighted", "weekdays of 8 weeks"])
def test_a_pattern_that_repeats_is_forecast_to_the_day(method: str) -> None:
    costs = weekly(304 + 30)  # January to October, and what November will bring
    made = cost.forecast(sums(costs[:304]), method=method)
    row = total(made)
    assert made.what == "2026-11"
    assert row["expected"] == pytest.approx(sum(costs[304:]), rel=2e-2 if method == "weighted" else 1e-6)
    assert row["low"] <= sum(costs[304:]) <= row["high"]
    assert row["baseline_off"] == pytest.approx(0, abs=1e-6)


def test_what_is_billed_of_the_month_is_part_of_it() -> None:
    costs = weekly(334)
    made = total(cost.forecast(sums(costs[:318]), method="weekdays of 8 weeks"))
    assert made["billed"] == sum(costs[304:318])
    assert made["expected"] == pytest.approx(sum(costs[304:334]))
    assert made["billed"] <= made["low"] <= made["expected"] <= made["high"]


@pytest.mark.parametrize("currency", ["USD", None])
@pytest.mark.parametrize(("first", "unpriced"), [("2026-10-01", 10), ("2026-10-01", 5), ("2026-07-01", 10)])
def test_days_without_a_price_are_no_days_that_cost_nothing(first: str, unpriced: int, currency: str | None) -> None:
    """What they are forecast at is what others of their country cost; what is billed holds nothing of them."""
    days = pd.date_range("2026-01-01", "2026-11-09").repeat(2)
    table = pd.DataFrame({"day": days, "currency": "USD", "iso": ["DE", "US"] * (len(days) // 2), "messages": 10,
                          "parts": 10, "cost": [0.3, 0.1] * (len(days) // 2), "unpriced": 0})  # fmt: skip
    whole = total(cost.forecast(table))
    lost = (table["day"] >= first) & (table["day"] < "2026-11-01") & (table["iso"] == "DE")
    code = currency if unpriced == 10 else "USD"
    table.loc[lost, ["cost", "unpriced", "currency"]] = [0.3 * (10 - unpriced) / 10, unpriced, code]
    made = cost.forecast(table)
    assert total(made)["expected"] == pytest.approx(whole["expected"])
    assert made.backtests["actual"].min() > 6.0
    assert f"{lost.sum() * unpriced} messages without a price" in made.card().text().replace(",", "")


def test_a_history_without_any_price_is_no_short_one() -> None:
    table = sums([0.3] * 313).assign(cost=np.nan, unpriced=10)
    with pytest.raises(UsageError, match="no message of this history has a readable price"):
        cost.forecast(table)


@pytest.mark.parametrize("refunded", [-1.0, -20.0, -100.0])
@pytest.mark.parametrize("day", ["2026-06-20", "2026-10-20", "2026-11-05"])
def test_a_refund_is_in_what_is_billed_and_is_no_day_like_others(day: str, refunded: float) -> None:
    table = sums([0.3] * 313)
    table.loc[table["day"] == day, "cost"] = refunded
    made = cost.forecast(table)
    row = total(made)
    assert row["billed"] == pytest.approx(0.3 * 9 if day < "2026-11" else 0.3 * 8 + refunded)
    assert row["billed"] <= row["low"] <= row["expected"] <= row["high"]
    assert row["expected"] - row["billed"] == pytest.approx(21 * 0.3, rel=0.05)
    assert "1 day with more refunded than billed" in made.card().text()
    assert "without a price" not in cost.budget(table, 9).card().text()
    assert "refunded" not in cost.forecast(sums([0.3] * 313)).card().text()


def newsletters() -> tuple[pd.DataFrame, float]:
    """Return a year of newsletters on the 1st and 15th, and what the next half month will bring: one of them."""
    days = pd.date_range("2025-09-01", "2026-11-09")
    costs = [20.0 + day.month % 3 if day.day in (1, 15) else 0.2 for day in days]
    return sums(costs, start="2025-09-01"), 20.0 + 11 % 3 + 20 * 0.2


def test_newsletters_on_two_days_of_a_month_are_forecast_at_the_same_phase() -> None:
    history, comes = newsletters()
    made = cost.forecast(history)
    row = total(made)
    assert row["expected"] - row["billed"] == pytest.approx(comes, rel=0.06)
    assert row["low"] - row["billed"] <= comes <= row["high"] - row["billed"]
    assert {as_of[-2:] for as_of in made.backtests["as_of"]} == {"10"}
    assert row["off"] < row["baseline_off"] / 3
    text = " ".join(made.card().text().split())
    assert text.index("same days of") < text.index("weekdays of 8 weeks alone by")


@pytest.mark.parametrize(("until", "comes"), [("2026-08-02", 40.0 + 29), ("2026-06-02", 29.0)])
def test_the_first_monday_of_a_month_is_known_as_such(until: str, comes: float) -> None:
    """In August 2026 it is yet to come on the 2nd, in June it is over."""
    days = pd.date_range("2025-01-01", "2026-11-30")
    costs = [40.0 if day.day_of_week == 0 and day.day <= 7 else 1.0 for day in days]
    made = total(cost.forecast(sums(costs, start="2025-01-01"), until=until, method="same weekdays of 3 months"))
    assert made["expected"] - made["billed"] == pytest.approx(comes)


def test_months_of_next_to_nothing_have_an_interval_of_their_own_size() -> None:
    """They have no ratio to what was expected that would say how far off a forecast may be."""
    days = pd.date_range("2025-09-01", "2026-10-19")
    costs = [20.0 + day.month % 3 if day.day in (1, 15) else 0.0 for day in days]
    made = total(cost.forecast(sums(costs, start="2025-09-01"), until="2026-10-20"))
    assert made["high"] - made["billed"] < 40


def test_december_after_black_friday_is_no_second_november() -> None:
    days = pd.date_range("2024-12-01", "2026-12-31")
    costs = [10.0 + (200.0 if day.month == 11 and 23 <= day.day <= 29 else 0) for day in days]
    history = sums(costs, start="2024-12-01")
    made = cost.forecast(history[history["day"] < "2026-12-01"])
    row = total(made)
    assert row["expected"] == pytest.approx(310, rel=0.1)
    plain = made.methods.set_index("method")["expected"]["weekdays of 8 weeks"]
    assert plain > 1.5 * 310


@pytest.mark.parametrize("factor", [2.2, 0.4])
@pytest.mark.parametrize("first", ["2026-12-01", "2026-07-01"])
def test_a_month_that_was_unlike_the_others_last_year_is_expected_to_be_so_again(first: str, factor: float) -> None:
    end = pd.Timestamp(first)
    days = pd.date_range(end - pd.DateOffset(months=14), end, inclusive="left")
    costs = [10.0 * (factor if day.month == end.month else 1.0) * (1 + 0.02 * (day.day % 3)) for day in days]
    made = total(cost.forecast(sums(costs, start=f"{days[0]:%Y-%m-%d}")))
    assert made["expected"] == pytest.approx(31 * 10 * factor, rel=0.2)


def of_parts(parts: np.ndarray[Any, Any]) -> pd.DataFrame:
    days = pd.date_range("2025-01-01", periods=len(parts))
    table = pd.DataFrame({"day": days, "currency": "USD", "messages": parts, "parts": parts, "unpriced": 0})
    return table.assign(cost=(parts * 0.01).round(2))


def test_the_weights_of_a_backtest_know_no_day_of_its_month() -> None:
    """The days of June in another order change neither its sum nor what was said of it, but the weeks before July."""
    parts = np.random.default_rng(8).poisson(np.where(np.arange(546) % 7 < 2, 400, 900))
    other = parts.copy()
    other[516:] = np.sort(other[516:])
    before, after = (
        cost.forecast(of_parts(each), month="2026-07").backtests.set_index("as_of")["expected"]
        for each in (parts, other)
    )
    assert before["2026-06-01"] == after["2026-06-01"]


def test_the_weights_of_the_methods_are_those_of_the_published_rule() -> None:
    """Newsletters on Tuesdays and Thursdays; the figures are those of the code whose benchmark is published."""
    parts = np.random.default_rng(4).poisson(np.where(np.isin(np.arange(546) % 7, (1, 3)), 5_000, 100))
    made = cost.forecast(of_parts(parts), month="2026-07").methods.set_index("method")["weight"]
    assert made.head(3).round(3).to_dict() == {
        "same weekdays of last year, by growth": 0.272,
        "same weekdays of 3 months": 0.212,
        "weekdays of 8 weeks": 0.207,
    }
    assert made.sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_a_level_that_changed_and_stayed_does_not_widen_the_interval(factor: float) -> None:
    """One that came back may do so again. Either way two of nine months were missed by far."""
    level = np.full(335, 1000.0)
    level[184:] *= factor  # from January on
    stayed, back = level.copy(), level.copy()
    back[215:] = 1000.0
    random = np.random.default_rng(6)
    width = {}
    for name, each in (("stayed", stayed), ("back", back)):
        row = total(cost.forecast(of_parts(random.poisson(each)), month="2025-12"))
        width[name] = (row["high"] - row["low"]) / row["expected"]
    assert width["stayed"] < 0.15
    assert width["back"] > 0.3


@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_a_price_that_stepped_counts_as_it_is_today(factor: float) -> None:
    """Rates and forecast agree; the months before are told at today's price."""
    costs = [3.0] * 250 + [3.0 * factor] * 54
    made = cost.forecast(sums(costs).assign(iso="US"))
    row = total(made)
    assert row["expected"] == pytest.approx(30 * 3.0 * factor, rel=1e-4)
    assert made.steps[["iso", "before", "now"]].values.tolist() == [["US", 0.3, 0.3 * factor]]
    assert made.backtests["actual"].min() == pytest.approx(30 * 3.0 * factor)
    text = " ".join(made.card().text().split())
    assert f"A part to United States US went from 0.30 to {0.3 * factor:.2f} on 2026-09-08" in text
    steady = cost.forecast(sums([3.0] * 304).assign(iso="US"))
    assert "went from" not in steady.card().text()
    assert steady.steps.empty


def test_days_without_messages_cost_nothing_and_nothing_is_below_zero() -> None:
    rare = [5.0 if day % 45 == 0 else 0.0 for day in range(300)]
    made = total(cost.forecast(sums(rare), until="2026-11-01", month="2026-11"))
    assert made["expected"] >= 0
    assert made["low"] >= 0


def test_a_month_without_anything_is_forecast_as_next_to_nothing() -> None:
    """Costs that ended long ago leave no level."""
    made = total(cost.forecast(sums(weekly(150)), until="2026-11-01", month="2026-11"))
    assert made["expected"] < 30
    assert made["low"] == 0


def test_currencies_are_forecast_apart_and_a_short_one_is_said() -> None:
    table = pd.concat([sums(weekly(304)), sums(weekly(20), start="2026-10-12", currency="EUR")])
    made = cost.forecast(table)
    assert made.totals["currency"].tolist() == ["EUR", "USD"]
    assert made.totals["expected"].isna().tolist() == [True, False]
    assert "EUR: the history is too short" in made.card().text()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"month": "2026-05"}, "is over"),
        ({"month": "2027-06"}, "too far ahead"),
        ({"month": "May"}, "a month such as"),
        ({"until": "2026-03-01"}, "2026-03 needs the same days of 4 earlier months"),
        ({"until": "soon"}, "until= must be a day"),
        ({"method": "guess"}, "method= must be one of"),
        ({"level": 0.99}, "0.5 to 0.95"),
        ({"plan": 5}, "plan= must be a plan"),
    ],
)
def test_what_cannot_be_forecast_is_said(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        cost.forecast(sums(weekly(304)), **changes)


def test_sums_without_days_are_refused() -> None:
    with pytest.raises(UsageError, match="no column 'day'"):
        cost.forecast(sums(weekly(304)).drop(columns="day"))


def test_a_backtest_knows_nothing_of_what_came_after() -> None:
    """By one method: the weights of several come from all months but the one that is tried."""
    days = weekly(304)
    changed = [*days[:-60], *(each * 100 for each in days[-60:])]
    before, after = (cost.forecast(sums(one), method="weekdays of 8 weeks").backtests for one in (days, changed))
    early = before[before["as_of"] <= "2026-09-01"]
    assert len(early) >= 4
    assert after.loc[after["as_of"] <= "2026-09-01", "expected"].tolist() == early["expected"].tolist()


def test_the_level_that_is_printed_is_the_one_that_the_backtest_reached() -> None:
    """Worked out once more from the backtests: each interval is from the logarithms of the others."""
    random = np.random.default_rng(1)
    made = cost.forecast(sums(random.lognormal(0, 0.5, 600).round(4).tolist(), start="2025-01-01"),
                         method="same days of 3 months", level=0.6)  # fmt: skip
    came, said = (made.backtests[name].to_numpy() for name in ("actual", "expected"))
    small = 0.02 * came.mean()
    offs = abs(np.log((came + small) / (said + small)))
    held = []
    for at in range(len(offs)):
        others = np.sort(np.delete(offs, at))
        place = (len(others) + 1) * 0.6 - 1
        held.append(offs[at] <= np.interp(place, range(len(others)), others) + 1e-9)
    row = total(made)
    assert row["level"] == pytest.approx(np.mean(held), abs=1e-6)
    text = " ".join(made.card().text().split())
    level = int(100 * row["level"] + 0.5)  # half up, as cards round
    assert f"The intervals covered the actual cost in {level}% of {row['tried']} earlier months" in text
    assert "60% was asked for" in text


@pytest.mark.slow
def test_intervals_hold_what_comes_in_made_years() -> None:
    """Of 24 months in made years, 80 % intervals hold 19 on average; below 14 has a chance of one in a hundred."""
    held = 0
    for seed in range(24):
        year = made_year.made_year(seed, days=334).spending
        made = total(cost.forecast(year, until="2026-11-01"))
        came = year.loc[year["month"] == "2026-11", "cost"].sum()
        held += made["low"] <= came <= made["high"]
    assert held >= 14


# -- a plan


RATES = pd.DataFrame({"iso": ["US", "FR"], "currency": ["USD", "USD"], "price": ["0.007500", "0.0713"]})


def campaigns(count: int, *, price: float = 0.0075, refused: int = 0, parts: int = 1) -> pd.DataFrame:
    """Return sums of campaigns of a hundred messages to the US, one a week."""
    days = pd.date_range("2026-01-01", periods=count, freq="7D")
    names = [f"week-{number}" for number in range(count)]
    return pd.DataFrame(
        {
            "campaign": names, "day": days, "region": "US", "iso": "US", "currency": "USD", "messages": 100 - refused,
            "parts": parts * (100 - refused), "cost": parts * (100 - refused) * price, "unpriced": 0,
            "compared": 100 - refused, "compared_parts": parts * (100 - refused), "est_parts": 100 - refused,
            "compared_cost": parts * (100 - refused) * price, "est_cost": 0.0, "refused": refused,
        }
    )  # fmt: skip


def test_a_plan_is_forecast_by_learned_rates_acceptance_and_parts() -> None:
    plan = small_plan(rates=RATES)
    made = cost.forecast(campaigns(10, price=0.01, refused=20, parts=2), plan=plan)
    row = total(made)
    parts = int(plan.estimate["est_parts"].sum())
    assert row["expected"] == pytest.approx(parts * 0.01 * 0.8 * 2)
    assert made.groups[["region", "rate", "low", "high"]].values.tolist() == [["US", 0.01, 0.01, 0.01]]
    assert row["off"] == 0
    assert (made.what, row["method"], row["tried"]) == ("demo", "learned rates", 9)


def test_the_interval_of_a_plan_is_as_wide_as_earlier_forecasts_were_off() -> None:
    history = campaigns(13)
    history["cost"] = [0.75 * (1.2 if number % 2 else 1.0) for number in range(13)]
    row = total(cost.forecast(history, plan=small_plan(rates=RATES)))
    assert row["low"] < row["expected"] < row["high"]
    assert (row["high"] - row["low"]) / row["expected"] > 0.15


@pytest.mark.parametrize(("size", "least", "most"), [(100, 0.04, 0.09), (1_900, 0.005, 0.03)])
def test_a_small_plan_has_the_interval_of_its_counts(size: int, least: float, most: float) -> None:
    """Campaigns of 1,900 of which 4 % are refused; 80 % of a hundred are 2.5 messages around 96."""
    random = np.random.default_rng(5)
    refused = random.binomial(1_900, 0.04, 16)
    accepted = 1_900 - refused
    history = campaigns(16).assign(
        messages=accepted, parts=accepted, cost=(accepted * 0.0075).round(6), refused=refused, compared=accepted,
        compared_parts=accepted, est_parts=accepted, compared_cost=accepted * 0.0075,
    )  # fmt: skip
    people = pd.DataFrame({"phone": [f"+1202555{n:04d}" for n in range(size)], "name": "A"})
    row = total(cost.forecast(history, plan=small_plan(people)))
    assert row["expected"] == pytest.approx(size * 0.0075 * 0.96, rel=0.01)
    assert least < (row["high"] - row["low"]) / row["expected"] < most


def test_the_rate_of_a_plan_is_the_one_that_rates_have() -> None:
    """A price that stepped before the last campaign counts at once, in both."""
    history = campaigns(10)
    history["cost"] = [0.75] * 9 + [0.9]
    made = cost.forecast(history, plan=small_plan())
    rows = pd.DataFrame(
        {"status": "accepted", "parts": 1, "price": [0.0075] * 9 + [0.009], "currency": "USD", "iso": "US",
         "at": history["day"].dt.tz_localize("UTC")}
    )  # fmt: skip
    assert made.groups["rate"].tolist() == cost.rates(rows)["price"].tolist() == [0.009]


def test_too_few_campaigns_for_a_plan_are_said() -> None:
    with pytest.raises(UsageError, match="needs 5 earlier campaigns"):
        cost.forecast(campaigns(4), plan=small_plan(rates=RATES))


def both_currencies() -> pd.DataFrame:
    """Return a history in USD and, later, in CNY of the same country."""
    later = campaigns(10, price=0.05).assign(currency="CNY", campaign=[f"cn-{number}" for number in range(10)])
    return pd.concat([campaigns(10), later.assign(day=later["day"] + pd.Timedelta(days=100))], ignore_index=True)


def test_a_plan_is_forecast_in_the_currency_of_its_rates() -> None:
    """What was billed last, in another currency, does not change it."""
    alone = cost.forecast(campaigns(10), plan=small_plan(rates=RATES))
    made = cost.forecast(both_currencies(), plan=small_plan(rates=RATES))
    assert made.totals["currency"].tolist() == ["USD"]
    pd.testing.assert_frame_equal(made.groups, alone.groups)
    people = pd.DataFrame({"phone": ["+12025550123", "+33199001234"], "name": ["A", "B"]})
    of_others = cost.forecast(both_currencies(), plan=small_plan(people, rates=RATES[RATES["iso"] == "FR"]))
    assert of_others.groups["currency"].unique().tolist() == ["USD"]


def test_several_currencies_without_rates_are_not_chosen_from() -> None:
    with pytest.raises(UsageError, match=r"billed in CNY and USD for US.*rates=.*service=.*'currency'\] == 'CNY'"):
        cost.forecast(both_currencies(), plan=small_plan())
    one = both_currencies()
    made = cost.forecast(one[one["currency"] == "CNY"], plan=small_plan())
    assert made.totals["currency"].tolist() == ["CNY"]


def test_a_refusal_counts_the_campaigns_that_serve_the_plan() -> None:
    history = both_currencies()
    few = history[(history["currency"] == "CNY") | history["campaign"].isin(["week-0", "week-1", "week-2"])].copy()
    few.loc[few["campaign"] == "week-2", "unpriced"] = 1
    said = r"needs 5 .* USD.* has 2 \(not counted: 10 billed in CNY, 1 with prices that could not be read\)"
    with pytest.raises(UsageError, match=said):
        cost.forecast(few, plan=small_plan(rates=RATES))
    french = small_plan(pd.DataFrame({"phone": ["+33199001234"], "name": ["A"]}))
    with pytest.raises(UsageError, match=r"not billed for any country of the plan \(FR\)"):
        cost.forecast(history, plan=french)


def test_a_country_without_any_rate_is_in_no_amount() -> None:
    plan = small_plan(pd.DataFrame({"phone": ["+12025550123", "+33199001234"], "name": ["A", "B"]}))
    made = cost.forecast(campaigns(10), plan=plan)
    assert made.left_out == 1
    assert "1 message without a price or a rate" in made.card().text()


# -- from a ledger


REFUSED = "+19075550111"  # the sandbox refuses it with 107111 (docs/sandbox.md)


def test_refusals_in_a_ledger_are_counted(client: sms.Client, tmp_path: Path) -> None:
    """What the service refused is counted from the ledger as from the results, under the currency of its country."""
    people = pd.DataFrame({"phone": ["+12025550123", REFUSED, "+12025550147"], "name": ["A", "B", "C"]})
    with sms.Ledger(tmp_path / "ledger.sqlite", create=True) as ledger:
        plan = small_plan(people, campaign="autumn", requests=sms.RequestOptions(chunk_size=1))
        results = sms.send(plan, client=client, ledger=ledger, progress=False)
        results = results.join(ledger.record("autumn").details)
        tables = [daily(source, tz="UTC") for source in (ledger, ledger.path, results, ledger.record("autumn"))]
    assert results["status"].tolist() == ["accepted", "rejected", "accepted"]
    for table in tables:
        assert table[["messages", "parts", "refused"]].sum().tolist() == [2, 2, 1]
        assert table["currency"].unique().tolist() == ["USD"]
        assert table["campaign"].unique().tolist() == ["autumn"]


def test_a_purge_takes_no_refusal_out_of_the_sums(client: sms.Client, tmp_path: Path) -> None:
    people = pd.DataFrame({"phone": ["+12025550123", REFUSED, "+12025550147"], "name": ["A", "B", "C"]})
    with sms.Ledger(tmp_path / "ledger.sqlite", create=True) as ledger:
        for name in ("autumn", "winter"):
            plan = small_plan(
                people, campaign=name, requests=sms.RequestOptions(chunk_size=1), message=f"News of {name}."
            )
            sms.send(plan, client=client, ledger=ledger, progress=False)
        before = daily(ledger, tz="UTC")
        ledger.record("autumn").purge()
        one = daily(ledger, tz="UTC")
        ledger.record("winter").purge()
        both = daily(ledger, tz="UTC")
    assert before.groupby("campaign")["refused"].sum().tolist() == [1, 1]
    names = ["campaign", "day", "region", "type", "currency", "refused", "messages", "micros"]
    for after in (one, both):
        pd.testing.assert_frame_equal(
            *(table[names].sort_values(names, ignore_index=True) for table in (before, after))
        )


def test_one_large_campaign_moves_the_forecast_little() -> None:
    """The methods that count its month say several times as much; the weighted mean of all said half as much again."""
    days = pd.date_range("2025-01-01", "2026-06-30")
    parts = np.random.default_rng(5).poisson(1000, len(days))
    parts[-40] += 150_000
    history = pd.DataFrame({"day": days, "currency": "USD", "messages": parts, "parts": parts, "unpriced": 0})
    made = cost.forecast(history.assign(cost=(parts * 0.01).round(6)))
    assert made.totals["expected"].iloc[0] == pytest.approx(310, rel=0.05)


@pytest.mark.parametrize(
    ("last_year", "least", "most"),
    [
        (["2025-07-20"], 290, 330),
        (["2025-11-28"], 600, 2_000),
        (["2025-11-11"], 280, 330),
        (["2025-12-20"], 290, 330),
        (["2025-12-04", "2025-12-11", "2025-12-18"], 600, 2_000),
        (["2025-10-04", "2025-10-11", "2025-10-18"], 280, 330),
    ],
)
def test_a_campaign_of_last_year_is_a_season_in_the_weeks_of_sales_alone(
    last_year: list[str], least: int, most: int
) -> None:
    """Of days that brought 1,500 more, Black Friday comes again, and so do several of a December: others may not."""
    first = pd.Timestamp(last_year[0]).replace(day=1) + pd.DateOffset(years=1)
    days = pd.date_range(first - pd.DateOffset(months=14), first, inclusive="left")
    costs = 10 + np.random.default_rng(3).normal(0, 0.5, len(days))
    costs[days.isin(pd.DatetimeIndex(last_year))] += 1_500 / len(last_year)
    made = total(cost.forecast(sums(costs.round(2).tolist(), start=f"{days[0]:%Y-%m-%d}")))
    assert least < made["expected"] < most


@pytest.mark.parametrize("factor", [2.2, 0.4])
@pytest.mark.parametrize("years", [1, 2])
def test_a_month_that_was_like_the_others_two_years_ago_is_no_season(years: int, factor: float) -> None:
    days = pd.date_range("2024-12-01", "2026-12-01", inclusive="left")
    unlike = (days.month == 12) & (days.year > 2025 - years)
    costs = 10.0 * np.where(unlike, factor, 1.0) * np.exp(np.random.default_rng(7).normal(0, 0.15, len(days)))
    made = total(cost.forecast(sums(costs.round(4).tolist(), start="2024-12-01")))
    assert made["expected"] == pytest.approx(310 * (factor if years == 2 else 1.0), rel=0.1)


def test_a_month_that_was_no_more_unlike_than_others_is_no_season() -> None:
    days = pd.date_range("2025-05-01", "2026-06-30")
    months = np.array([1.0, 0.8, 1.25, 0.8, 1.0, 1.2, 0.8, 1.1, 0.75, 1.2, 0.9, 0.8, 1.1, 1.0])  # the third is July
    costs = 10.0 * months[(days.year - 2025) * 12 + days.month - 5]
    made = total(cost.forecast(sums(costs.tolist(), start="2025-05-01")))
    assert made["expected"] < 310 * 1.15


def test_the_rest_of_december_is_known_from_last_year_although_november_had_black_friday() -> None:
    """Last year it surprised methods that looked back on November, and was like the months after it."""
    days = pd.date_range("2024-12-01", "2026-12-31")
    random = np.random.default_rng(4)
    months = np.exp(random.normal(0, 0.06, 25))[(days.year - 2024) * 12 + days.month - 12]
    costs = 10 * np.exp(random.normal(0, 0.15, len(days))) * months
    costs[(days.month == 11) & (days.day >= 26)] += 200
    history = sums(costs.round(4).tolist(), start="2024-12-01")
    made = total(cost.forecast(history, until="2026-12-15"))
    assert made["expected"] == pytest.approx(costs[days >= "2026-12-01"].sum(), rel=0.12)


def test_the_interval_is_from_the_same_days_of_earlier_months() -> None:
    """The level is a share of so many months, not of the weeks before them as well."""
    random = np.random.default_rng(2)
    row = total(cost.forecast(sums(random.lognormal(0, 0.5, 730).round(4).tolist(), start="2024-11-01")))
    months = np.arange(4, row["tried"] + 1)
    assert (abs(months * row["level"] - (months * row["level"]).round()) < 1e-4).any()


def test_the_31st_of_a_shorter_month_is_its_last_day() -> None:
    made = cost.forecast(sums(weekly(365), start="2025-07-01"), until="2026-05-31", method="weekdays of 8 weeks")
    assert made.backtests["as_of"].head(3).tolist() == ["2026-04-30", "2026-03-31", "2026-02-28"]
