"""Before anything is sent: the effect that people would show, and how the method does on one's own outcomes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import columns
from .._calling import given, not_number, not_whole, refuse
from .._cards import Card, Note, WithCard, counted, listed, records
from .._frames import AnyFrame, as_pandas
from ..errors import UsageError
from . import statistics
from .declaring import HOLDOUT
from .statistics import Amounts, Floats, Share, distributions, proportions, sizes
from .words import amount, outwards, percent, places_for

SPLITS: Final = (5.0, 10.0, 20.0, 50.0)  # per cent held out, to choose from
_LARGEST: Final = 100.0  # an effect beyond it is not looked for: a hundred times more
_NAMES: Final = ("outcome", "kind", "arm", "against", "base", "effect", "people", "held_out", "forgone")


@dataclass(frozen=True, slots=True, eq=False)
class Power(WithCard):
    """What an experiment can show.

    ``frame`` has a row for each outcome and comparison, an ``arm`` ``against`` the holdout, or without one against each
    other arm: the smallest ``effect`` (0.2 is 20% more) that would be seen with so many ``people`` in all, how many are
    ``held_out``, and what they would have brought at that effect (``forgone``, in outcomes or amounts). ``by_holdout``
    has the people needed for the effect by the share held out from one arm; it is empty without a holdout.
    ``comparisons`` is how many of them share the error.
    """

    frame: pd.DataFrame
    by_holdout: pd.DataFrame
    chance: float
    wanted: bool
    comparisons: int = 1

    def sentence(self) -> str:
        """Return it in words."""
        return " ".join(self._sentences())

    def _sentences(self) -> list[str]:
        """Return a sentence for all comparisons that stand alike, and what holds of all of them."""
        held = self.frame["against"].eq(HOLDOUT)
        pair = self.frame["arm"].where(held, self.frame["arm"] + " against " + self.frame["against"])
        alike = [name for name in self.frame.columns if name not in ("arm", "against")]
        rows = self.frame.assign(pair=pair, held=held).groupby([*alike, "held"], sort=False)["pair"].agg(" or ".join)
        said = [_said(row, self.chance, wanted=self.wanted) for row in records(rows.reset_index())]
        if self.comparisons > 1:
            said.append(f"Holm's method is counted in: {self.comparisons} comparisons share the error.")
        if not held.any():
            said.append("Nobody is held out, so nothing will say what the campaign itself brought.")
        return said

    def card(self) -> Card:
        """Return it as a card."""
        by_holdout = listed(
            self.by_holdout,
            ("Outcome", "left", "outcome"),
            ("Held out", "right", lambda row: f"{row['held']:g}%"),
            ("People", "right", lambda row: _people(row["people"])),
            most=len(self.by_holdout),
            title="People needed for the same effect, by how many of them are held out from one arm",
        )
        told = (Note("i", said) for said in self._sentences())
        return Card("Before the experiment", "Nothing has been sent.", (*told, *by_holdout))


def power(
    *,
    base: Mapping[str, Any],
    weights: Mapping[str, float],
    size: int | None = None,
    effect: float | None = None,
    chance: float = 0.8,
    level: float = 0.95,
) -> Power:
    """Say what an experiment can show: the effect seen with these people, or the people an effect needs.

    Shares by Cohen's effect size of two proportions, amounts by that of two means; each arm against the holdout, or
    without one each two arms. The numbers are those of statsmodels' ``NormalIndPower``; its search for a size fails
    where effects are small, so that its closed form is used. Of several comparisons each is tested at its share of the
    error, the first step of Holm's method: so often an effect is seen that one of them has and the others have not.

    Arguments and errors are those of `Experiment.power`; ``weights`` has the share of each arm and of the
    ``"holdout"``, in any unit.

    Example:
        >>> found = power(base={"bought": 0.05}, weights={"plain": 50, "emoji": 50}, effect=0.2)
        >>> found.frame[["arm", "against", "people"]].values.tolist()
        [['plain', 'emoji', 16286]]
    """
    refuse(
        None if base else "base= must name an outcome, such as {'bought': 0.0057}",
        *[_not_a_base(name, of) for name, of in base.items()],
        not_whole("size", size, least=2, none=True),
        not_number("effect", effect, of="a share such as 0.2 for 20% more", above=True, none=True),
        *[
            None if 0 < share < 1 else f"{name}= must lie between 0 and 1, such as 0.8, got {given(share)}"
            for name, share in (("chance", chance), ("level", level))
        ],
    )
    if (size is None) == (effect is None):
        raise UsageError(
            "power needs one of size= (how many people there are) and effect= (how much more is looked for)"
        )
    rows, choices = [], []
    total, pairs = sum(weights.values()), _pairs(weights)
    if not pairs:
        raise UsageError("one arm has nothing to be compared with; give the experiment a holdout= or another arm")
    each = 1 - (1 - level) / len(pairs)
    for outcome, of in base.items():
        kind, mean = ("amount", float(of[0])) if isinstance(of, tuple | list) else ("binary", float(of))
        for arm, against in pairs:
            part, ratio = (weights[arm] + weights[against]) / total, weights[arm] / weights[against]
            seen = _smallest(of, size * part, ratio, chance, each) if size else float(effect or 0)
            people = size or math.ceil(_needed(of, seen, ratio, chance, each) / part)
            held = round(people * weights.get(HOLDOUT, 0) / total)
            rows.append((outcome, kind, arm, against, mean, seen, people, held, held * mean * seen))
        if weights.get(HOLDOUT):
            choices += [(outcome, held, math.ceil(_needed(of, seen, 100 / held - 1, chance, each))) for held in SPLITS]
    by_holdout = pd.DataFrame(choices, columns=["outcome", "held", "people"])
    return Power(pd.DataFrame(rows, columns=[*_NAMES]), by_holdout, chance, size is None, len(pairs))


def _pairs(weights: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return what a reading compares: each arm with the holdout, or each two arms where nobody is held out."""
    arms = [arm for arm in weights if arm != HOLDOUT]
    return [(arm, HOLDOUT) for arm in arms] if weights.get(HOLDOUT) else [*itertools.combinations(arms, 2)]


def _not_a_base(name: str, of: Any) -> str | None:
    if isinstance(of, tuple | list):
        fits = len(of) == 2 and all(isinstance(one, int | float) and math.isfinite(one) and one > 0 for one in of)
    else:
        fits = isinstance(of, int | float) and not isinstance(of, bool) and 0 < of < 1
    wanted = "a share between 0 and 1, such as 0.0057, or the mean and standard deviation of an amount, (0.7, 12.4)"
    return None if fits else f"base[{name!r}] must be {wanted}, got {given(of)}"


def _needed(of: Any, effect: float, ratio: float, chance: float, level: float) -> float:
    """Return how many people the two arms need together; ``ratio`` texted for each one held out."""
    if isinstance(of, tuple | list):
        standardized = of[0] * effect / of[1]
    elif of * (1 + effect) > 1:
        raise UsageError(f"{effect:.0%} more than {of:.2%} is more than everybody; look for a smaller effect=")
    else:
        standardized = proportions().proportion_effectsize(of * (1 + effect), of)
    spread = math.sqrt(1 + 1 / ratio)
    held = sizes().normal_sample_size_one_tail(standardized, chance, (1 - level) / 2, std_null=spread)
    return float(held) * (1 + ratio)


def _smallest(of: Any, people: float, ratio: float, chance: float, level: float) -> float:
    """Return the smallest effect that so many people show, by halving."""
    most = _LARGEST if isinstance(of, tuple | list) else min(_LARGEST, 1 / of - 1)
    if _needed(of, most, ratio, chance, level) > people:
        raise UsageError(
            f"{people:,.0f} people are too few to see any effect; test with more, or hold out more of them"
        )
    least = 0.0
    for _ in range(60):
        middle = (least + most) / 2
        least, most = (least, middle) if _needed(of, middle, ratio, chance, level) <= people else (middle, most)
    return most


def _said(row: Mapping[str, Any], chance: float, *, wanted: bool) -> str:
    without = "without a message" if row["held"] else "with the weaker text"
    base = percent(row["base"]) if row["kind"] == "binary" else f"{amount(row['base'], '', places=2)} per person"
    places = places_for((row["effect"] * 100,), 0)
    effect = f"{outwards(row['effect'] * 100, places=places, down=False):,.{places}f}%"
    more = f'{effect} more "{row["outcome"]}" ({base} {without})'
    often = f"{chance * 10:g} times out of 10"
    if wanted:
        people = f"{_people(row['people'])} people in the experiment"
        pair = f"{row['pair']} and the holdout need" if row["held"] else f"{row['pair']} needs"
        shown = f"To see {more} {often}, {pair} about {people}"
    else:
        people = counted(row["people"], "person", "people")
        pair = f"{row['pair']} against the holdout" if row["held"] else row["pair"]
        shown = f"With {people}, {pair} shows {more} {often}; a smaller effect is likely missed"
    if not row["held"]:
        return f"{shown}."
    forgone = f"{row['forgone']:,.{places_for((row['forgone'],), 0)}f}"
    given_up = f'about {forgone} "{row["outcome"]}" if the effect is that large'
    return f"{shown}. Holding out {row['held_out']:,} of them gives up {given_up}."


def _people(people: int) -> str:
    """Return a number of people in three figures: the base is not known better."""
    step = 10 ** max(0, len(str(people)) - 3)
    return f"{round(people / step) * step:,}"


TIMES: Final = 1000  # that outcomes are split at random
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
        return " ".join(self._said(row) for row in records(self.frame))

    def _said(self, row: Mapping[str, Any]) -> str:
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
        table = listed(
            self.frame,
            ("Outcome", "left", "outcome"),
            ("False positives", "right", lambda row: f"{row['false_positives']:.1%}"),
            ("Coverage", "right", lambda row: f"{row['coverage']:.1%}"),
            ("Welch's t test", "right", lambda row: f"{row['welch']:.1%}"),
            most=len(self.frame),
        )
        bad = bool((self.frame["low"] > TOLERATED).any())
        check = Note("!" if bad else "check", self.sentence())
        return Card("Calibration", "Your own outcomes, split at random", (check, *table))


def calibrate(
    outcomes: AnyFrame,
    *,
    on: Hashable,
    people: int,
    kinds: Mapping[str, str],
    weights: Mapping[str, float],
    amount: Hashable | None = None,
    splits: int = TIMES,
    level: float = 0.95,
    seed: int = 0,
) -> Calibration:
    """Split the outcomes of an earlier time at random, again and again, and count the differences that are found.

    Arguments and errors are those of `Experiment.calibrate`; of ``weights`` the largest arm is compared with the
    holdout, or with the smallest arm without one.
    """
    frame = as_pandas(outcomes)
    columns.require(on, frame.columns, where="on=")
    refuse(not_whole("people", people, least=2), not_whole("splits", splits, least=100))
    arms = sorted(share for arm, share in weights.items() if arm != HOLDOUT)
    base = weights.get(HOLDOUT) or arms.pop(0)
    held = base / (base + arms[-1])
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
    random = np.random.default_rng(seed)
    buyers = random.binomial(len(spent), held, splits)
    base = buyers + random.binomial(people - len(spent), held, splits)
    found = [
        statistics.compare_shares(Share(int(len(spent) - one), int(people - of)), Share(int(one), int(of)), level=level)
        for one, of in zip(buyers, base, strict=True)
    ]
    table = np.array([(one.low, one.high, one.p) for one in found])
    arm_sums = statistics.Sums(len(spent) - buyers, len(spent) - buyers, people - base)
    t = statistics.t_value(arm_sums, statistics.Sums(buyers, buyers, base))
    return _rates(table[:, 0], table[:, 1], table[:, 2], t, level)


def _amounts(spent: Floats, people: int, held: float, splits: int, level: float, seed: int) -> dict[str, float]:
    """Try money: every split of the same people has the same redrawn arms, so that they are drawn once."""
    drawn = statistics.redrawn(spent, people, held, statistics.DRAWS, seed)
    random = np.random.default_rng(seed + 1)
    table = []
    for _ in range(splits):
        inside = random.random(len(spent)) < held
        base = Amounts(spent[inside], max(int(inside.sum() + random.binomial(people - len(spent), held)), 1))
        arm = Amounts(spent[~inside], max(people - base.people, 1))
        one = statistics.compare_with(drawn, arm, base, level=level)
        t = statistics.t_value(statistics.sums(arm), statistics.sums(base))
        table.append((one.low, one.high, one.p, float(t)))
    low, high, p, t = np.array(table).T
    return _rates(low, high, p, t, level)


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
