"""Forecast months of made histories of 22 kinds, and plans; see how far off they are and what their intervals hold.

    python benchmarks/forecast.py [histories of a kind]

Every other history has 14 months, the others two years; every other one is forecast from the first day of a month, the
others from a day in it; a third are of December, the others of any month. "Best simple" is the best of four that need
no choice, known only afterwards: the weekdays of eight weeks, the same days of the month before, of three months, and
of last year. Exits with 1 if a kind is off by more than 1.1 times as much, or the intervals of a kind hold less than
75 % or more than 88 %.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from smsotp_nb import Plan, cost, plan

DAYS = pd.date_range("2024-01-01", "2026-12-31")
MANY, WEEKDAY, DAY, MONTH = len(DAYS), DAYS.day_of_week.to_numpy(), DAYS.day.to_numpy(), DAYS.month.to_numpy()
AT = np.arange(MANY)
WEEK = np.where(WEEKDAY >= 5, 0.35, 1.0)
LEVEL = 0.8
SIMPLE = ("weekdays of 8 weeks", "same days of the month before", "same days of 3 months", "same days of last year")
Random = np.random.Generator


def noise(random: Random, size: float = 0.15) -> Any:
    return np.exp(random.normal(0, size, MANY))


def months(random: Random, size: float) -> Any:
    return np.exp(random.normal(0, size, 40))[(DAYS.year.to_numpy() - 2024) * 12 + MONTH - 1]


def sales(random: Random, a_month: float, least: float, most: float) -> Any:
    made = np.zeros(MANY)
    for _ in range(random.poisson(a_month * MANY / 30.4)):
        made[random.integers(MANY)] += random.uniform(least, most)
    return made


def black_friday(random: Random) -> Any:
    """Return five days from the fourth Thursday of November on."""
    made = np.zeros(MANY)
    for year in (2024, 2025, 2026):
        thursday = np.flatnonzero((DAYS.year.to_numpy() == year) & (MONTH == 11) & (WEEKDAY == 3))[3]
        made[thursday : thursday + 5] = 30 * np.array([0.6, 1, 0.7, 0.5, 0.8]) * np.exp(random.normal(0, 0.15, 5))
    return made


def last_workday(random: Random) -> Any:
    made = np.zeros(MANY)
    for month in pd.period_range("2024-01", "2026-12", freq="M"):
        last = pd.bdate_range(month.start_time, month.end_time)[-1]
        made[(last - DAYS[0]).days] = 40 * np.exp(random.normal(0, 0.1))
    return made


def wandering(random: Random) -> Any:
    level = np.zeros(MANY)
    for at in range(1, MANY):
        level[at] = 0.995 * level[at - 1] + random.normal(0, 0.03)
    return np.exp(level)


def shifted(random: Random, least: float, most: float) -> Any:
    factor = np.where(random.integers(500, 900) <= AT, random.uniform(least, most), 1.0)
    return WEEK * noise(random) * months(random, 0.05) * factor


def growing(random: Random, a_month: float) -> Any:
    return WEEK * a_month ** (AT / 30.4) * noise(random) * months(random, 0.04)


def season(random: Random) -> Any:
    of_year = 1 + 0.5 * np.cos(2 * np.pi * (DAYS.day_of_year.to_numpy() - 350) / 365.25)
    return WEEK * of_year * noise(random) * months(random, 0.05)


KINDS: dict[str, Callable[[Random], Any]] = {
    "every day alike": noise,
    "pattern of the week": lambda random: WEEK * noise(random),
    "weekly newsletter": lambda random: np.where(WEEKDAY == 1, 10, 0) * noise(random) + 0.2,
    "newsletters on the 1st and 15th, and others": lambda random: (
        (np.where(np.isin(DAY, (1, 15)), 20, 0) + WEEK) * noise(random)
    ),
    "newsletters on the 1st and 15th alone": lambda random: np.where(np.isin(DAY, (1, 15)), 20, 0) * noise(random, 0.1),
    "last workday of a month": lambda random: last_workday(random) + WEEK * noise(random),
    "first Monday of a month": lambda random: (np.where((WEEKDAY == 0) & (DAY <= 7), 40, 0) + WEEK) * noise(random),
    "busy first week of a month": lambda random: WEEK * np.where(DAY <= 7, 4, 1) * noise(random),
    "grows by 3% a month": lambda random: growing(random, 1.03),
    "grows by 8% a month": lambda random: growing(random, 1.08),
    "shrinks by 4% a month": lambda random: growing(random, 0.96),
    "season of the year": season,
    "December twice as much": lambda random: (
        WEEK * np.where(MONTH == 12, 2.2, 1) * noise(random) * months(random, 0.06)
    ),
    "Black Friday": lambda random: WEEK * noise(random) * months(random, 0.06) + black_friday(random),
    "a level that rose": lambda random: shifted(random, 1.5, 3),
    "a level that fell": lambda random: shifted(random, 0.3, 0.6),
    "sales at any time": lambda random: WEEK * noise(random) + sales(random, 1.2, 5, 20),
    "rare campaigns alone": lambda random: sales(random, 3, 2, 6),
    "months by chance": lambda random: WEEK * noise(random) * months(random, 0.3),
    "a level that wanders": lambda random: WEEK * wandering(random),
    "skewed days": lambda random: random.lognormal(0, 1, MANY),
    "each quarter's 10th": lambda random: (
        WEEK * noise(random) + np.where((DAY == 10) & np.isin(MONTH, (1, 4, 7, 10)), 25, 0)
    ),
}


def sums(days: pd.DatetimeIndex, amounts: Any) -> pd.DataFrame:
    parts = np.maximum((np.asarray(amounts) * 1000).round(), 0)
    table = pd.DataFrame(
        {"day": days, "currency": "USD", "iso": "US", "messages": parts, "parts": parts, "unpriced": 0}
    )
    return table.assign(cost=(parts * 0.0075).round(6))[parts > 0]


def month(seed: int, make: Callable[[Random], Any], number: int) -> dict[str, float]:
    random = np.random.default_rng((number, seed))
    amounts = make(random)
    first = pd.Timestamp(2026, 12 if seed % 3 == 0 else int(random.integers(1, 13)), 1)
    end = first + pd.Timedelta(days=int(random.integers(1, 20)) if seed % 2 else 0)
    start = first - pd.DateOffset(months=14 if seed % 4 < 2 else 24)
    known = (start <= DAYS) & (end > DAYS)
    came = sums(DAYS, amounts)
    came = came[((came["day"] >= first) & (came["day"] < first + pd.offsets.MonthBegin(1))).to_numpy()]
    made = cost.forecast(sums(DAYS[known], amounts[known]), until=end, month=f"{first:%Y-%m}", level=LEVEL)
    row, total = made.totals.iloc[0], float(came["cost"].sum())
    simple = made.methods.set_index("method")["expected"].reindex(SIMPLE) + row["billed"]
    return {
        "off": abs(row["expected"] - total), "total": total, "held": row["low"] - 0.01 <= total <= row["high"] + 0.01,
        "width": row["high"] - row["low"], **(simple - total).abs().to_dict(),
    }  # fmt: skip


PLANS = {
    "100 after campaigns of 1,900, 4% refused": (1_900, 100, 0.04, 0.0),
    "100 after campaigns of 100, 4% refused": (100, 100, 0.04, 0.0),
    "5,000 after campaigns of 1,900": (1_900, 5_000, 0.04, 0.0),
    "100 after 1,900, 10% take a part more": (1_900, 100, 0.02, 0.10),
    "the price stepped up before the last one": (1_900, 1_900, 0.04, 0.0),
}


@cache
def planned(messages: int) -> Plan:
    people = pd.DataFrame({"phone": [f"+1{area}555{n:04d}" for area in (202, 303) for n in range(10_000)][:messages]})
    return plan(people, "Hi", campaign="next", to="phone")


def campaign(seed: int, name: str) -> dict[str, float]:
    usual, coming, refused, more = PLANS[name]
    random = np.random.default_rng((99, seed))
    sizes = np.append(random.poisson(usual, 16), coming)
    lost, price = random.binomial(sizes, refused), np.full(17, 0.0075)
    if "stepped" in name:
        price[15:] = 0.0090
    parts = sizes - lost + random.binomial(sizes - lost, more)
    table = pd.DataFrame({
        "day": pd.date_range("2026-01-05", periods=17, freq="7D"), "campaign": [f"week-{n}" for n in range(17)],
        "iso": "US", "region": "US", "currency": "USD", "messages": sizes - lost, "parts": parts, "unpriced": 0,
        "cost": (parts * price).round(6), "refused": lost, "compared": sizes - lost, "compared_parts": parts,
        "est_parts": sizes - lost, "compared_cost": (parts * price).round(6), "est_cost": (parts * price).round(6),
    })  # fmt: skip
    row = cost.forecast(table.iloc[:16], plan=planned(coming), level=LEVEL).totals.iloc[0]
    came = float(table["cost"].iloc[16])
    held = row["low"] - 1e-9 <= came <= row["high"] + 1e-9
    return {"off": abs(row["expected"] - came), "total": came, "held": held, "width": row["high"] - row["low"]}


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    held, worst = [], 0.0
    print(f"{'month':46} {'off':>5} {'best simple':>12} {'times':>6} {'held':>5} {'width':>6}")
    for number, (name, make) in enumerate(KINDS.items()):
        table = pd.DataFrame([month(seed, make, number) for seed in range(many)])
        mean = table.mean(numeric_only=True)
        best = str(mean[[*SIMPLE]].idxmin())
        times, off = mean["off"] / mean[best], mean["off"] / mean["total"]
        held.append(table["held"].mean())
        worst = max(worst, times)
        print(f"{name:46} {off:5.0%} {mean[best] / mean['total']:12.0%} {times:6.2f} {held[-1]:5.0%} "
              f"{mean['width'] / mean['total']:6.2f}  {best}", flush=True)  # fmt: skip
    print(f"intervals that hold what comes: {np.mean(held):.1%} of all, {min(held):.0%} to {max(held):.0%} by kind")
    for name in PLANS:
        table = pd.DataFrame([campaign(seed, name) for seed in range(many)])
        mean = table.mean(numeric_only=True)
        print(f"plan, {name:42} off {mean['off'] / mean['total']:.1%}, held {table['held'].mean():.0%}, "
              f"width {mean['width'] / mean['total']:.3f}", flush=True)  # fmt: skip
    sys.exit(worst > 1.1 or min(held) < 0.75 or max(held) > 0.88)


if __name__ == "__main__":
    main()
