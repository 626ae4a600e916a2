"""Forecast months and campaigns of made years, and see how far off the forecasts were and what their intervals held.

    python benchmarks/forecast.py [years]

Each year is made by ``sample_data/made_year.py`` with a seed of its own: a trend, a season, bursts. October and
December are forecast from the days before them, and the last ten campaigns from those before them. "Best" is what
`cost.forecast` does: smoothing where it was better in the backtest, else the weekly pattern.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pandas as pd

from smsotp_nb._cost import month_ahead, plan_ahead
from smsotp_nb._cost.backtest import Tried, margin
from smsotp_nb._cost.daily import daily
from smsotp_nb._cost.month_ahead import BASELINE, WAYS, Span

sys.path.insert(0, str(Path(__file__).parents[1] / "sample_data"))
from made_year import made_year

LEVEL = 0.8
START = pd.Timestamp("2026-01-01")
MONTHS = (pd.Timestamp("2026-10-01"), pd.Timestamp("2026-12-01"))


def months(rows: pd.DataFrame) -> list[dict[str, object]]:
    """Return how the months of one year were forecast by each method, and by the better one."""
    days = rows.groupby("day")["micros"].sum().reindex(pd.date_range(START, periods=365), fill_value=0).to_numpy(float)
    found = []
    for first in MONTHS:
        end, length = (first - START).days, first.days_in_month
        span, history = Span(0, length), days[:end]
        tried = month_ahead.backtests(history, span, [*WAYS], currency="USD", end=first)
        best = month_ahead.chosen(tried, [*WAYS])
        came = float(days[end : end + length].sum())
        for name, method in {**dict(zip(WAYS, WAYS, strict=True)), "best": best}.items():
            mine = [one for one in tried if one.method == method]
            found.append(
                judged(f"month, {name}", WAYS[method](history, span), came, mine) | {"baseline": best == BASELINE}
            )
    return found


def campaigns(rows: pd.DataFrame) -> list[dict[str, object]]:
    """Return how the last ten campaigns of one year were forecast, each with an interval from those before it."""
    tried = plan_ahead.backtests(plan_ahead.history(rows))
    cases = [(tried[place], tried[place + 1 :]) for place in range(10)]
    return [judged("campaign, learned rates", one.expected, one.actual, before) for one, before in cases]


def judged(method: str, expected: float, came: float, tried: list[Tried]) -> dict[str, object]:
    low, high = margin(tried, LEVEL).around(expected)
    return {
        "method": method,
        "off": abs(expected - came) / came,
        "held": low <= came <= high,
        "width": (high - low) / came,
    }


def main() -> None:
    years = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    started, found = time.process_time(), []
    for seed in range(years):
        rows = daily(made_year(seed).spending, tz="UTC")
        found += months(rows) + campaigns(rows)
    table = pd.DataFrame(found)
    groups = table.groupby("method")
    shown = groups[["off", "held", "width"]].mean().assign(median_off=groups["off"].median(), forecasts=groups.size())
    print(shown[["forecasts", "off", "median_off", "held", "width"]].round(3).to_string())
    baseline = table.loc[table["method"] == "month, best", "baseline"].mean()
    print(f"the weekly pattern was used for {baseline:.0%} of the months; {time.process_time() - started:.0f} s of CPU")


if __name__ == "__main__":
    main()
