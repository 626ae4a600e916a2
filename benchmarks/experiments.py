"""Try the statistics of experiments by simulation, and time a reading of ten million people.

    python benchmarks/experiments.py [shares | money | looks | power | speed ...] [--runs 1000]

Without a name everything is tried. What misses its bar is marked, and ends the benchmark with 1. Nothing is real:
people buy by chance, and buyers spend by a lognormal curve, so that money has a skewness of about 26.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from support.made_experiments import BASE, WEIGHTS, arguments, assignment, orders, read, spent

from smsotp_nb._experiments import comparing, power, statistics
from smsotp_nb._experiments.statistics import Amounts, Share

Z = float(stats.norm.ppf(0.975))
# People, share held out, share that buys without a message, and how much more with it.
SETTINGS = (
    (20_000, 0.05, BASE, 1.2),
    (64_000, 0.05, BASE, 1.2),
    (64_000, 0.10, BASE, 1.2),
    (64_000, 0.50, BASE, 1.0),
    (5_000, 0.20, 0.05, 1.5),
)
# People, share held out, share that buys without a message, how much more with it, and the spread of what is spent.
MONEY = (
    *((64_000, held, BASE, lift, 0.68) for held, lift in ((0.05, 1.0), (0.10, 1.0), (0.50, 1.0), (0.05, 1.5))),
    *((64_000, 0.05, BASE, lift, spread) for lift, spread in ((0.5, 0.68), (0.0, 0.68), (0.5, 1.2))),
    *((2000, 0.05, 0.02, lift, 0.68) for lift in (1.0, 0.5)),
    (1000, 0.10, 0.05, 0.5, 1.2),
    *((1000, 0.01, base, 0.5, 0.68) for base in (0.05, 0.3)),
)
DAYS = 14
Limits = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
missed: list[str] = []


def newcombe(
    arm: npt.NDArray[np.int64], arm_people: Any, base: npt.NDArray[np.int64], base_people: Any, *, level: float
) -> Limits:
    low, high = statistics.proportions().confint_proportions_2indep(
        arm, arm_people, base, base_people, method="newcomb", compare="diff", alpha=1 - level
    )
    return low, high


def said(name: str, limits: Limits, truth: float, bar: tuple[float, float] | None = None) -> None:
    """Print the coverage of an interval and its misses on either side; remember what misses its bar."""
    low, high = limits
    above, below = float((low > truth).mean()), float((high < truth).mean())
    covered = 1 - above - below
    error = np.sqrt(covered * (1 - covered) / len(low))
    fits = bar is None or bar[0] <= covered <= bar[1]
    if not fits:
        missed.append(name)
    mark = "" if fits else "  MISSED"
    print(
        f"    {name:<28} {covered:6.1%} +-{1.96 * error:.1%}, above {above:5.1%}, below {below:5.1%}{mark}", flush=True
    )


def try_shares(runs: int) -> None:
    """Print the coverage of Newcombe's and Wald's intervals of a difference of shares."""
    for people, held, base, lift in SETTINGS:
        random = np.random.default_rng(1)
        base_people = random.binomial(people, held, 4 * runs)
        base_count = random.binomial(base_people, base)
        arm_people = people - base_people
        arm_count = random.binomial(arm_people, base * lift)
        print(
            f"  shares: {people:,} people, {held:.0%} held out, {base:.2%} buy, with a message {lift:g} times as many"
        )
        truth = base * (lift - 1)
        limits = newcombe(arm_count, arm_people, base_count, base_people, level=0.95)
        said("Newcombe", limits, truth, (0.935, 0.97))
        said("Wald", wald(arm_count, arm_people, base_count, base_people), truth)
        rejected = np.mean(
            [
                statistics.compare_shares(Share(a, n), Share(b, m)).p < 0.05
                for a, n, b, m in zip(
                    random.binomial(arm_people[:runs], base).tolist(),
                    arm_people[:runs].tolist(),
                    base_count[:runs].tolist(),
                    base_people[:runs].tolist(),
                    strict=True,
                )
            ]
        )
        print(f"    A/A: the test finds a difference in {rejected:.1%} of {runs}")


def wald(count: Any, people: Any, base_count: Any, base_people: Any) -> Limits:
    one, other = count / people, base_count / base_people
    half = Z * np.sqrt(one * (1 - one) / people + other * (1 - other) / base_people)
    return one - other - half, one - other + half


def try_money(runs: int) -> None:
    """Print the coverage of four intervals of money; without an effect, a miss is a false positive."""
    for people, held, base_share, lift, spread in MONEY:
        random, mean = np.random.default_rng(2), float(np.exp(spread**2 / 2))
        found: dict[str, list[tuple[float, float]]] = {
            "weighted counts": [], "redrawn arms": [], "bootstrap within arms": [], "Welch": [],
        }  # fmt: skip
        for run in range(runs):
            arm, base = _arms(random, people, held, (base_share, lift, spread))
            both = np.concatenate([arm.spent, base.spent])
            drawn = statistics.redrawn(both, people, held, 999, run)
            one = statistics.compare_with(drawn, arm, base, level=0.95)
            found["weighted counts"].append((one.low, one.high))
            between = _difference(statistics.sums(arm), statistics.sums(base))
            low, high = np.quantile(drawn, [0.025, 0.975]) if len(drawn) else (math.nan, math.nan)
            found["redrawn arms"].append(_around(between, low, high))
            found["bootstrap within arms"].append(bootstrapped(arm, base, random))
            found["Welch"].append(_around(between, -Z, Z))
        print(
            f"  money: {people:,} people, {held:.0%} held out, {base_share:.2%} buy, a spread of {spread:g}, "
            f"with a message {lift:g} times as many"
        )
        for name, limits in found.items():
            low, high = np.array(limits).T
            bar = (0.93, 1.0) if name == "weighted counts" else None
            said(name, (low, high), base_share * (lift - 1) * mean, bar)


class Between(NamedTuple):
    """A difference of means and its standard error; numbers or arrays."""

    difference: Any
    error: Any


def _difference(arm: statistics.Sums, base: statistics.Sums) -> Between:
    error = np.sqrt(statistics._variance(arm) + statistics._variance(base))
    return Between(arm.total / arm.people - base.total / base.people, error)


def _around(between: Between, low: float, high: float) -> tuple[float, float]:
    """Return the interval that has these critical values; nothing is left out where there is no error."""
    if not between.error > 0:
        return -math.inf, math.inf
    return between.difference - high * between.error, between.difference - low * between.error


def _arms(
    random: np.random.Generator, people: int, held: float, setting: tuple[float, float, float]
) -> tuple[Amounts, Amounts]:
    of_base, (share, lift, spread) = max(1, int(people * held)), setting
    buyers = random.binomial(people - of_base, share * lift), random.binomial(of_base, share)
    return (
        Amounts(random.lognormal(0, spread, int(buyers[0])), people - of_base),
        Amounts(random.lognormal(0, spread, int(buyers[1])), of_base),
    )


def bootstrapped(arm: Amounts, base: Amounts, random: np.random.Generator, draws: int = 999) -> tuple[float, float]:
    """Return the studentized bootstrap interval, each arm drawn from itself."""
    found = _difference(statistics.sums(arm), statistics.sums(base))
    again = _difference(_again(arm, random, draws), _again(base, random, draws))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (again.difference - found.difference) / again.error
    t = t[np.isfinite(t)]
    return _around(found, *np.quantile(t, [0.025, 0.975])) if len(t) else (-math.inf, math.inf)


def _again(of: Amounts, random: np.random.Generator, draws: int) -> statistics.Sums:
    weights = random.poisson(1.0, (draws, len(of.spent))).astype("float64")
    people = weights.sum(axis=1) + random.poisson(of.people - len(of.spent), draws)
    return statistics.Sums(weights @ of.spent, weights @ np.square(of.spent), people)


def try_looks(runs: int) -> None:
    """Print how often an A/A test is ever "significant" when it is looked at daily for two weeks."""
    for held in (0.05, 0.1, 0.5):
        random = np.random.default_rng(3)
        ever = {("shares", wide): _ever_shares(random, held, 2 * runs, wide=wide) for wide in (False, True)}
        ever |= {("money", wide): _ever_money(random, held, runs // 5, wide=wide) for wide in (False, True)}
        for (kind, wide), found in ever.items():
            if wide and found > 0.05:
                missed.append(f"looks, {kind}, {held:.0%} held out")
            name = "the interval of every look" if wide else "the usual interval each day"
            print(f"  looks: {kind}, {held:.0%} held out, {name}: {found:.1%} of A/A tests", flush=True)


def _ever_shares(random: np.random.Generator, held: float, runs: int, *, wide: bool) -> float:
    base_people = int(64_000 * held)
    arm = random.binomial(64_000 - base_people, BASE / DAYS, (runs, DAYS)).cumsum(axis=1)
    base = random.binomial(base_people, BASE / DAYS, (runs, DAYS)).cumsum(axis=1)
    apart = np.zeros(runs, dtype=bool)
    for day in range(DAYS):
        level = statistics.wider(0.95, statistics.stretch((day + 1) / DAYS)) if wide else 0.95
        low, high = newcombe(arm[:, day], 64_000 - base_people, base[:, day], base_people, level=level)
        apart |= (low > 0) | (high < 0)
    return float(apart.mean())


def _ever_money(random: np.random.Generator, held: float, runs: int, *, wide: bool) -> float:
    return float(np.mean([_apart_once(random, held, wide=wide) for _ in range(runs)]))


def _apart_once(random: np.random.Generator, held: float, *, wide: bool) -> bool:
    """Say whether one A/A test of money is ever called different."""
    base_people = int(64_000 * held)
    arm = [spent(random.binomial(64_000 - base_people, BASE / DAYS), random) for _ in range(DAYS)]
    base = [spent(random.binomial(base_people, BASE / DAYS), random) for _ in range(DAYS)]
    for day in range(1, DAYS + 1):
        one = Amounts(np.concatenate(arm[:day]), 64_000 - base_people)
        other = Amounts(np.concatenate(base[:day]), base_people)
        found = comparing.compare(one, other, level=0.95, elapsed=day / DAYS if wide else None)
        if found.low > 0 or found.high < 0:
            return True
    return False


def try_power(runs: int) -> None:
    """Print how often an effect is seen with the people that `power` asks for."""
    for held in (10, 50):
        asked = power.power(base={"x": BASE}, weights={"plain": 100 - held, "holdout": held}, effect=0.2)
        people = int(asked.frame.loc[0, "people"])
        random = np.random.default_rng(4)
        base_people = people * held // 100
        arm = random.binomial(people - base_people, BASE * 1.2, 10 * runs)
        base = random.binomial(base_people, BASE, 10 * runs)
        low, _ = newcombe(arm, people - base_people, base, base_people, level=0.95)
        print(f"  power: 20% more with {held}% held out asks for {people:,} people; seen by {(low > 0).mean():.1%}")


def try_speed(_runs: int) -> None:
    """Print how long ten million people take to be read, made up first."""
    people = 10_000_000
    assigned = assignment(people).astype({"unit": "str", "arm": "category", "currency": "category"})
    bought = orders(assigned)
    more = arguments(kinds={"bought": "binary", "spend": "amount"}, amount="spend", weights=WEIGHTS)
    read(assigned[:1000], bought, **more | {"weights": None})  # the libraries are loaded
    for _ in range(3):
        started, used = time.perf_counter(), time.process_time()
        read(assigned, bought, **more | {"window": timedelta(days=14)})
        seconds = time.perf_counter() - started
        used = time.process_time() - used
        print(f"  speed: {people:,} people, {len(bought):,} orders: {seconds:.1f} s, CPU {used:.1f} s")
    if seconds > 10:
        missed.append("speed")


TRIED: dict[str, Callable[[int], None]] = {
    "shares": try_shares, "money": try_money, "looks": try_looks, "power": try_power, "speed": try_speed,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", choices=[*TRIED, []], default=[])
    parser.add_argument("--runs", type=int, default=1000)
    given = parser.parse_args()
    for name in given.names or TRIED:
        TRIED[name](given.runs)
    print(f"missed: {', '.join(missed)}" if missed else "every bar is met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
