"""Forecast months and campaigns of made years, and see how far off the forecasts were and what their intervals held.

    python benchmarks/forecast.py [histories]

Each history is made by ``sample_data/made_year.py`` with a seed of its own: a trend, a season, bursts. October and
December of its last year are forecast from the days before them, and the last ten campaigns from those before them:
from a history of one year, from one of two, and from one of two in which December is half as much again as an average
month. "Best" is what `cost.forecast` does: smoothing where it was better in the backtest, else the weekly pattern.

"Last year" is a way that `cost.forecast` does not have, and this is why: each day costs what it cost 52 weeks before,
times the change of the latest eight weeks since then. Sales are on other days each year.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pandas as pd

from smsotp_nb._cost import ahead
from smsotp_nb._cost.ahead import WAYS, Floats, Span, Tried, margin
from smsotp_nb._cost.sources import daily

sys.path.insert(0, str(Path(__file__).parents[1] / "sample_data"))
from made_year import made_year

LEVEL = 0.8
YEAR, LATEST = 364, 56  # days; each is compared with its weekday
END = pd.Timestamp("2027-01-01")
HISTORIES: dict[str, tuple[str, float | None]] = {
    "one year": ("2026-01-01", None),
    "two years": ("2025-01-01", None),
    "two years, strong season": ("2025-01-01", 0.5),
}
MONTHS = (pd.Timestamp("2026-10-01"), pd.Timestamp("2026-12-01"))


def last_year(days: Floats, span: Span) -> float:
    before, now = days[: len(days) - YEAR][-LATEST:].sum(), days[-LATEST:].sum()
    return float(days[len(days) - YEAR :][slice(*span)].sum() * now / before)


def months(rows: pd.DataFrame, start: pd.Timestamp) -> list[dict[str, object]]:
    """Return how the months of one history were forecast by each method, and by the better one."""
    dates = pd.date_range(start, END, inclusive="left")
    days = rows.groupby("day")["micros"].sum().reindex(dates, fill_value=0).to_numpy(float)
    found: list[dict[str, object]] = []
    for first in MONTHS:
        end, length = (first - start).days, first.days_in_month
        span, history = Span(0, length), days[:end]
        tried = ahead.month_backtests(history, span, [*WAYS], currency="USD", end=first)
        best = ahead.chosen(tried, [*WAYS])
        came = float(days[end : end + length].sum())
        for name, method in {**dict(zip(WAYS, WAYS, strict=True)), "best": best}.items():
            mine = [one for one in tried if one.method == method]
            found.append(judged(f"month, {name}", WAYS[method](history, span), came, mine) | {"used": best})
        if end > YEAR + LATEST:
            off = abs(last_year(history, span) - came) / came
            found.append({"method": "month, last year", "off": off})
    return found


def campaigns(rows: pd.DataFrame) -> list[dict[str, object]]:
    """Return how the last ten campaigns of one year were forecast, each with an interval from those before it."""
    tried = ahead.plan_backtests(ahead.history(rows))
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


def shown(title: str, found: list[dict[str, object]]) -> None:
    table = pd.DataFrame(found)
    groups = table.groupby("method")
    means = groups[["off", "held", "width"]].mean().assign(median_off=groups["off"].median(), forecasts=groups.size())
    print(f"{title}\n{means[['forecasts', 'off', 'median_off', 'held', 'width']].round(3).to_string()}")
    used = table.loc[table["method"] == "month, best", "used"].value_counts(normalize=True)
    print("used: " + ", ".join(f"{method} {share:.0%}" for method, share in used.items()), flush=True)


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for title, (start, season) in HISTORIES.items():
        found, begins = [], pd.Timestamp(start)
        for seed in range(many):
            made = made_year(seed, start=start, days=(END - begins).days, season=season)
            rows = daily(made.spending, tz="UTC")
            found += months(rows, begins) + campaigns(rows)
        shown(title, found)
    print(f"{time.process_time():.0f} s of CPU")


if __name__ == "__main__":
    main()
