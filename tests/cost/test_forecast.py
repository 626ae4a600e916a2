"""Forecasts: what they expect, how far off they say they are, and what comes in made years."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.made import made_year
from support.small_plans import plan as small_plan

import smsotp_nb as sms
from smsotp_nb import cost
from smsotp_nb._cost import ahead
from smsotp_nb._cost.ahead import BASELINE, Span, Tried, margin
from smsotp_nb._cost.sources import daily
from smsotp_nb._sandbox.choices import NUMBERS
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


@pytest.mark.parametrize("method", ["weekly pattern", "smoothing"])
def test_a_pattern_that_repeats_is_forecast_to_the_day(method: Any) -> None:
    costs = weekly(304 + 30)  # January to October, and what November will bring
    made = cost.forecast(sums(costs[:304]), method=method)
    assert made.what == "2026-11"
    assert total(made)["expected"] == pytest.approx(sum(costs[304:]), rel=1e-6)
    assert total(made)["off"] == pytest.approx(0, abs=1e-6)


def test_what_is_billed_of_the_month_is_part_of_it() -> None:
    costs = weekly(334)
    made = total(cost.forecast(sums(costs[:318]), method="weekly pattern"))
    assert made["billed"] == sum(costs[304:318])
    assert made["expected"] == pytest.approx(sum(costs[304:334]))
    assert made["billed"] <= made["low"] <= made["expected"] <= made["high"]


def test_days_without_messages_cost_nothing_and_nothing_is_below_zero() -> None:
    rare = [5.0 if day % 45 == 0 else 0.0 for day in range(300)]
    made = total(cost.forecast(sums(rare), until="2026-11-01", month="2026-11"))
    assert made["expected"] >= 0
    assert made["low"] == 0


def test_a_month_without_anything_is_forecast_as_nothing() -> None:
    """Costs that ended long ago leave no level; the interval still says that something may come."""
    made = total(cost.forecast(sums(weekly(150)), until="2026-11-01", month="2026-11"))
    assert made["expected"] == made["low"] == 0


def test_currencies_are_forecast_apart_and_a_short_one_is_said() -> None:
    table = pd.concat([sums(weekly(304)), sums(weekly(20), start="2026-10-12", currency="EUR")])
    made = cost.forecast(table, method="weekly pattern")
    assert made.totals["currency"].tolist() == ["EUR", "USD"]
    assert made.totals["expected"].isna().tolist() == [True, False]
    assert "EUR: the history is too short" in made.card().text()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"month": "2026-05"}, "is over"),
        ({"month": "2027-06"}, "too far ahead"),
        ({"month": "May"}, "a month such as"),
        ({"until": "2026-03-01"}, "needs 129 days of history, and there are 59"),
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


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def refused(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("statsmodels"):
            raise ImportError(name)
        return usual(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refused)
    with pytest.raises(UsageError, match=r"smsotp_nb\[statistics\]"):
        cost.forecast(sums(weekly(304)))
    assert total(cost.forecast(sums(weekly(304)), method="weekly pattern"))["expected"] > 0


def test_smoothing_is_used_only_where_it_was_better() -> None:
    """A level that jumped is found sooner by smoothing; in a pattern that repeats the baseline stays."""
    jumped = [1.0] * 200 + [3.0] * 104
    made = total(cost.forecast(sums(jumped)))
    assert made["method"] == "smoothing"
    assert made["off"] < made["baseline_off"]
    steady = cost.forecast(sums(weekly(304)))
    assert total(steady)["method"] == BASELINE
    assert "The weekly pattern is used" in steady.card().text()


def test_a_backtest_knows_nothing_of_what_came_after() -> None:
    days = pd.Series(weekly(304)).to_numpy()
    changed = days.copy()
    changed[-60:] *= 100
    before, after = (
        ahead.month_backtests(one, Span(0, 30), [BASELINE], currency="USD", end=pd.Timestamp("2026-11-01"))
        for one in (days, changed)
    )
    early = [(one.as_of, one.expected) for one in before if one.as_of <= "2026-09-02"]
    assert early
    assert [(one.as_of, one.expected) for one in after if one.as_of <= "2026-09-02"] == early


def test_the_margin_holds_the_share_of_the_forecasts_that_is_asked_for() -> None:
    tried = [Tried("USD", "any", str(off), 100.0, 100.0 + off) for off in range(1, 13)]
    assert margin(tried, 0.8).size == 0.11
    assert margin([*tried, Tried("USD", "any", "", 0.0, 50.0)], 0.95) == (50.0, False)


@pytest.mark.slow
def test_intervals_hold_what_comes_in_made_years() -> None:
    """Of 24 months in made years, 80 % intervals hold 19 on average; below 14 has a chance of one in a hundred."""
    held = 0
    for seed in range(24):
        year = made_year.made_year(seed, days=334).spending
        made = total(cost.forecast(year, until="2026-11-01", method="weekly pattern"))
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


REFUSED = next(row.number for row in NUMBERS if row.code == "107111")


def test_refusals_in_a_ledger_are_counted(client: sms.Client, tmp_path: Path) -> None:
    """What the service refused is counted from the ledger as from the results, under the currency of its country."""
    people = pd.DataFrame({"phone": ["+12025550123", REFUSED, "+12025550147"], "name": ["A", "B", "C"]})
    with sms.Ledger(tmp_path / "ledger.sqlite", create=True) as ledger:
        plan = small_plan(people, campaign="autumn", wire=sms.Wire(chunk_size=1))
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
            plan = small_plan(people, campaign=name, wire=sms.Wire(chunk_size=1), message=f"News of {name}.")
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
