"""A/A splits of one's own outcome: how often the method calls a difference where there is none."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import columns
from .._calling import not_choice, not_whole, refuse
from .._cards import Card, Note, Table, WithCard
from .._frames import AnyFrame, as_pandas
from ..errors import UsageError
from . import statistics
from .joining import HOLDOUT
from .statistics import Floats, Share, distributions

SPLITS: Final = 1000
TOLERATED: Final = 0.07  # false positives at a level of 95%


@dataclass(frozen=True, slots=True, eq=False)
class Calibration(WithCard):
    """How a method does where there is nothing to find.

    ``frame`` has a row for each outcome: the share of splits in which it found a difference (``false_positives``, with
    the limits of what chance makes of so many splits), the share whose interval held 0 (``coverage``), the misses on
    either side, and what Welch's t test would have found (``welch``), for comparison.
    """

    frame: pd.DataFrame
    splits: int
    held: float
    level: float

    def sentence(self) -> str:
        """Return it in words."""
        return " ".join(self._said(row) for row in self.frame.to_dict("records"))

    def _said(self, row: Mapping[Hashable, Any]) -> str:
        good = "as it should be" if row["low"] <= 1 - self.level <= row["high"] else "not as it should be"
        if row["high"] < 1 - self.level:
            good = "fewer than it may, so that real effects are missed sooner than invented ones found"
        return (
            f'Split at random {self.splits:,} times with {self.held:.0%} held out, "{row["outcome"]}" differed in '
            f"{row['false_positives']:.1%} of the splits ({row['low']:.1%} to {row['high']:.1%}), where "
            f"{1 - self.level:.0%} is meant: {good}. Its interval held the truth in {row['coverage']:.1%}. "
            f"Welch's t test would have found a difference in {row['welch']:.1%}."
        )

    def card(self) -> Card:
        """Return it as a card."""
        rows = tuple(
            (row["outcome"], f"{row['false_positives']:.1%}", f"{row['coverage']:.1%}", f"{row['welch']:.1%}")
            for row in self.frame.to_dict("records")
        )
        names = ("Outcome", "False positives", "Coverage", "Welch's t test")
        bad = bool((self.frame["low"] > TOLERATED).any())
        table = Table(names, rows, ("left", "right", "right", "right"))
        return Card(
            "Calibration", "Your own outcomes, split at random", (Note("!" if bad else "check", self.sentence()), table)
        )


def calibrate(
    outcomes: AnyFrame,
    *,
    on: Hashable,
    people: int,
    kinds: Mapping[str, str],
    weights: Mapping[str, float],
    amount: Hashable | None = None,
    splits: int = SPLITS,
    level: float = 0.95,
    seed: int = 0,
) -> Calibration:
    """Split the outcomes of an earlier time at random, again and again, and count the differences that are found.

    Args:
        outcomes: a row for each outcome of a time without an experiment.
        on: its column with the unit.
        people: how many units there were, with those who have no outcome.
        kinds: ``binary`` or ``amount`` for each outcome, as in the experiment.
        weights: the shares; the largest arm is compared with the holdout, or with the smallest arm without one.
        amount: the column with the amount.
        splits: how often they are split.
        level: of the intervals.
        seed: of the splits.

    Raises:
        UsageError: there are fewer people than units with an outcome, or a column is missing.

    Example:
        >>> orders = pd.DataFrame({"customer": range(300)})
        >>> found = calibrate(orders, on="customer", people=20_000, kinds={"bought": "binary"},
        ...                   weights={"plain": 90, "holdout": 10}, splits=200)
        >>> bool(found.frame.loc[0, "false_positives"] < 0.1)
        True
    """
    frame = as_pandas(outcomes)
    columns.require(on, frame.columns, where="on=")
    refuse(
        *[not_choice(f"kinds[{name!r}]", kind, ("binary", "amount")) for name, kind in kinds.items()],
        not_whole("people", people, least=2),
        not_whole("splits", splits, least=100),
    )
    held = _held(weights)
    rows = []
    for outcome, kind in kinds.items():
        spent = _by_unit(frame, on, amount if kind == "amount" else None, outcome, kind)
        if len(spent) > people:
            raise UsageError(
                f"people= must count everybody: {len(spent):,} units have an outcome, and people={people:,}"
            )
        tried = _shares if kind == "binary" else _amounts
        rows.append({"outcome": outcome, **tried(spent, people, held, splits, level, seed)})
    return Calibration(pd.DataFrame(rows), splits, held, level)


def _held(weights: Mapping[str, float]) -> float:
    """Return the share of the smaller side of the comparison that is tried."""
    arms = sorted(share for arm, share in weights.items() if arm != HOLDOUT)
    base = weights.get(HOLDOUT) or arms.pop(0)
    return base / (base + arms[-1])


def _by_unit(frame: pd.DataFrame, on: Hashable, amount: Hashable | None, outcome: str, kind: str) -> Floats:
    """Return what each unit with an outcome came to."""
    if kind == "binary":
        there = frame[frame[outcome].eq(True)] if outcome in frame.columns else frame
        return np.ones(there[on].nunique())
    source = outcome if outcome in frame.columns else amount
    if source is None:
        raise UsageError(f"outcome {outcome!r} is an amount: name its column, such as amount='spend'")
    columns.require(source, frame.columns, where="amount=")
    return np.asarray(frame[source].groupby(frame[on]).sum().to_numpy("float64"))


def _shares(spent: Floats, people: int, held: float, splits: int, level: float, seed: int) -> dict[str, float]:
    """Try the interval and the test of shares."""
    random = np.random.default_rng(seed)
    buyers = random.binomial(len(spent), held, splits)
    base = buyers + random.binomial(people - len(spent), held, splits)
    found = [
        statistics.compare_shares(Share(int(len(spent) - one), int(people - of)), Share(int(one), int(of)), level=level)
        for one, of in zip(buyers, base, strict=True)
    ]
    table = np.array([(one.low, one.high, one.p) for one in found])
    base_sums = statistics.Sums(buyers, buyers, base)
    t = statistics.difference(statistics.Sums(len(spent) - buyers, len(spent) - buyers, people - base), base_sums).t
    return _rates(table[:, 0], table[:, 1], table[:, 2], t, level)


def _amounts(spent: Floats, people: int, held: float, splits: int, level: float, seed: int) -> dict[str, float]:
    """Try the redrawn arms: every split of the same people has the same redrawn arms, so that they are drawn once."""
    drawn = statistics.redrawn(spent, people, held, statistics.DRAWS, seed)
    t = statistics.redrawn(spent, people, held, splits, seed + 1)
    found = [statistics.limits(statistics.Found(one, 1.0), drawn, level=level) for one in t]
    p = np.array([statistics.p_value(one, drawn) for one in t])
    return _rates(np.array([low for low, _ in found]), np.array([high for _, high in found]), p, t, level)


def _rates(low: Floats, high: Floats, p: Floats, t: npt.NDArray[Any], level: float) -> dict[str, float]:
    """Return how often a method was wrong, and the limits of that by Wilson's interval."""
    wrong = int((p < 1 - level).sum())
    limits = distributions().binomtest(wrong, len(p)).proportion_ci(method="wilson")
    usual = distributions().norm.ppf((1 + level) / 2)
    return {
        "false_positives": wrong / len(p),
        "low": float(limits.low),
        "high": float(limits.high),
        "coverage": float(((low <= 0) & (high >= 0)).mean()),
        "above": float((low > 0).mean()),
        "below": float((high < 0).mean()),
        "welch": float((np.abs(t) > usual).mean()),
    }
