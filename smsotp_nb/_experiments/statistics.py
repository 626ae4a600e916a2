"""Intervals of shares and amounts of two arms, also for whoever looks often, and the check of the arms' sizes.

The libraries are the extra ``smsotp_nb[statistics]``, loaded when first needed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import UsageError


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise UsageError("experiments need two libraries more: pip install 'smsotp_nb[statistics]'") from None


distributions = partial(_library, "scipy.stats")
proportions = partial(_library, "statsmodels.stats.proportion")
several = partial(_library, "statsmodels.stats.multitest")
sizes = partial(_library, "statsmodels.stats.power")
SMALL: Final = 20  # a cell below it is tested exactly
FEW: Final = 50  # people of an arm below which Wilson's limits hold in fewer than 93%
Floats = npt.NDArray[np.float64]


class Comparison(NamedTuple):
    """A difference with its interval and p-value, and the method in words."""

    difference: float
    low: float
    high: float
    p: float
    method: str


class Share(NamedTuple):
    """How many of so many people."""

    reached: int
    people: int

    @property
    def value(self) -> float:
        return self.reached / self.people


def compare_shares(arm: Share, base: Share, *, level: float = 0.95) -> Comparison:
    """Compare two shares: ``arm`` minus ``base``.

    The interval is Newcombe's hybrid of two Wilson intervals (Statistics in Medicine 1998, method 10), which keeps its
    95% where buyers are rare. Of an arm of fewer than 50 people Clopper and Pearson's limits take the place of
    Wilson's, which hold in 90% only. The test is Fisher's where one of the four cells is below 20, and the pooled z
    test elsewhere.
    """
    interval = "Newcombe" if min(arm.people, base.people) >= FEW else "Newcombe with exact limits"
    low, high = combined(_share_limits(arm, level), _share_limits(base, level))
    cells = [[one.reached, one.people - one.reached] for one in (arm, base)]
    exact = min(*cells[0], *cells[1]) < SMALL
    if exact:
        p = distributions().fisher_exact(cells).pvalue
    else:
        _, p = proportions().proportions_ztest([arm.reached, base.reached], [arm.people, base.people])
    return Comparison(arm.value - base.value, low, high, float(p), f"{interval}, {'Fisher' if exact else 'pooled z'}")


def _share_limits(of: Share, level: float) -> tuple[float, float, float]:
    method = "beta" if of.people < FEW else "wilson"
    low, high = proportions().proportion_confint(of.reached, of.people, alpha=1 - level, method=method)
    return of.value, float(low), float(high)


def combined(
    arm: tuple[float, float, float], base: tuple[float, float, float], correlation: float = 0.0
) -> tuple[float, float]:
    """Return the limits of a difference by those of its two sides, each an estimate with its lower and upper limit.

    By Zou and Donner (Statistics in Medicine 2008, MOVER), as Newcombe's interval is of Wilson's.

    Example:
        >>> combined((10.0, 7.0, 14.0), (6.0, 3.0, 10.0))
        (-1.0, 9.0)
    """
    (one, low, high), (other, least, most) = arm, base
    down = (one - low) ** 2 + (most - other) ** 2 - 2 * correlation * (one - low) * (most - other)
    up = (high - one) ** 2 + (other - least) ** 2 - 2 * correlation * (high - one) * (other - least)
    return one - other - math.sqrt(max(down, 0.0)), one - other + math.sqrt(max(up, 0.0))


DRAWS: Final = 4000
MOST: Final = 20_000  # amounts that are drawn one by one
_CELLS: Final = 4_000_000  # of one block of drawings
_SMALLEST: Final = 1e-12


class Amounts(NamedTuple):
    """What people spent: those who spent anything as an array of float64, and how many people there are."""

    spent: Floats
    people: int

    @property
    def value(self) -> float:
        return float(self.spent.sum()) / self.people


class Sums(NamedTuple):
    """Sum, sum of squares and number of people of one arm; numbers, or an array with one entry a drawing."""

    total: Any
    squares: Any
    people: Any


def compare_amounts(
    arm: Amounts, base: Amounts, *, level: float = 0.95, draws: int = DRAWS, seed: int = 0
) -> Comparison:
    """Compare the means of two arms, per person assigned: ``arm`` minus ``base``.

    The interval is `mean_limits` of either arm, combined as Newcombe combines shares; the p-value is that of the arms
    drawn again, so many times; the same data and seed give the same answer.
    """
    spent = np.concatenate([arm.spent, base.spent])
    drawn = redrawn(spent, arm.people + base.people, base.people / (arm.people + base.people), draws, seed)
    return compare_with(drawn, arm, base, level=level)


def compare_with(drawn: Floats, arm: Amounts, base: Amounts, *, level: float) -> Comparison:
    """Compare two arms whose `redrawn` differences are known; without an interval, ``method`` says why."""
    between = arm.value - base.value
    if why := _without_limits(arm, base):
        return Comparison(between, math.nan, math.nan, math.nan, why)
    both = np.concatenate([arm.spent, base.spent])
    one, other = ((of.value, *mean_limits(of, both, level=level)) for of in (arm, base))
    low, high = combined(one, other)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = float(t_value(sums(arm), sums(base)))
    p = 1.0
    if len(drawn) and not math.isnan(t):  # twice the smaller tail, the drawing that happened counted among them
        tail = min(int((drawn >= t).sum()), int((drawn <= t).sum()))
        p = min(1.0, 2 * (tail + 1) / (len(drawn) + 1))
    return Comparison(between, low, high, p, "weighted Poisson counts, redrawn arms")


def _without_limits(arm: Amounts, base: Amounts) -> str:
    """Return why no interval can be given, in words; an empty text where one can."""
    if not arm.spent.any() and not base.spent.any():
        return "nobody of either has any"
    constant = [len(of.spent) == of.people and np.ptp(of.spent) <= _SMALLEST for of in (arm, base)]
    return "everybody of an arm has the same, so nothing shows how much chance does" if all(constant) else ""


def mean_limits(of: Amounts, both: Floats, *, level: float) -> tuple[float, float]:
    """Return the limits of the mean amount per person, by Fay and Feuer (Statistics in Medicine 1997).

    How many people spend each amount is a Poisson count, and the amounts are their weights: the lower limit is that of
    the gamma distribution with the mean and the variance found, the upper one that of the same with one more person in
    it. That person spends the largest amount of the arm, or what a unit of money of both arms (``both``) comes from on
    average, whichever is more, so that an arm in which nobody bought has an upper limit, too. Negative amounts,
    refunds, are a sum of their own.
    """
    gains, losses = (Amounts(side[side > 0], of.people) for side in (of.spent, -of.spent))
    upwards = _gamma_limits(gains, both[both > 0], level)
    if not len(losses.spent):
        return upwards
    downwards = _gamma_limits(losses, -both[both < 0], level)
    spread = math.sqrt(_variance(sums(gains)) * _variance(sums(losses)))
    together = -gains.value * losses.value / of.people / spread if spread else 0.0  # nobody is on both sides
    return combined((gains.value, *upwards), (losses.value, *downwards), max(together, -1.0))


def _gamma_limits(of: Amounts, both: Floats, level: float) -> tuple[float, float]:
    """Return the limits of a mean of amounts above nothing; those who spend nothing are only counted."""
    if not len(of.spent) and not len(both):
        return 0.0, 0.0
    others = 1 - len(of.spent) / of.people  # no one more can spend where everybody does
    average = float(np.square(both).sum() / both.sum())
    more = max(float(of.spent.max(initial=0.0)), average) * others / of.people
    law = distributions()
    tails = law.t.ppf((1 + level) / 2, max(of.people - 1, 1)) / law.norm.ppf((1 + level) / 2)
    variance = float(_variance(sums(of))) * tails**2 if of.people > 1 else of.value**2
    low = _gamma((1 - level) / 2, of.value, variance)
    return low, _gamma((1 + level) / 2, of.value + more, variance + more**2)


def _gamma(share: float, mean: float, variance: float) -> float:
    if not mean > 0 or not variance > 0:
        return mean
    return float(distributions().gamma.ppf(share, mean**2 / variance, scale=variance / mean))


def sums(of: Amounts) -> Sums:
    return Sums(float(of.spent.sum()), float(np.square(of.spent).sum()), of.people)


def t_value(arm: Sums, base: Sums) -> Any:
    """Return the difference of two means by its standard error, as Welch has it."""
    return (arm.total / arm.people - base.total / base.people) / np.sqrt(_variance(arm) + _variance(base))


def _variance(of: Sums) -> Any:
    """Return the variance of a mean."""
    mean = of.total / of.people
    return np.maximum(of.squares / of.people - mean**2, 0.0) / np.maximum(of.people - 1, 1)


def redrawn(spent: Floats, people: int, share: float, draws: int, seed: int) -> Floats:
    """Return the studentized differences of so many drawings in which each person is in the base with ``share``."""
    random = np.random.default_rng(seed)
    each = np.column_stack([spent, np.square(spent), np.ones_like(spent)])[np.argsort(np.abs(spent))]
    base = _large(each[-MOST:], share, draws, random) + _small(each[:-MOST], share, draws, random)
    base[:, 2] += random.binomial(people - len(spent), share, draws)
    arm = [spent.sum(), np.square(spent).sum(), people] - base
    with np.errstate(divide="ignore", invalid="ignore"):  # a drawing that leaves an arm of a few people empty
        t = np.asarray(t_value(Sums(*arm.T), Sums(*base.T)), dtype="float64")
    return np.asarray(t[np.isfinite(t)])


def _large(each: Floats, share: float, draws: int, random: np.random.Generator) -> Floats:
    """Return the sums of drawings, a row each, in which each amount is drawn by itself."""
    block = max(1, _CELLS // max(len(each), 1))
    sizes = [min(block, draws - start) for start in range(0, draws, block)]
    drawn = [(random.random((size, len(each)), dtype="float32") < share).astype("float64") @ each for size in sizes]
    return np.concatenate(drawn)


def _small(each: Floats, share: float, draws: int, random: np.random.Generator) -> Floats:
    """Return the sums of drawings of many amounts at once."""
    spread = share * (1 - share) * (each.T @ each)
    return random.multivariate_normal(share * each.sum(axis=0), spread, size=draws, method="svd")


_LEAST: Final = 1e-6  # of a window: before it nothing has been learned


def stretch(elapsed: float, *, level: float = 0.95) -> float:
    """Return how many times as wide the interval is when so much of the outcomes' windows has passed (0 to 1].

    What is learned grows with the time that has passed, so that a share of the windows counts as that share of the
    people; the interval is tightest at the reading day.
    """
    single = float(distributions().norm.ppf((1 + level) / 2))
    return always(1.0, max(elapsed, _LEAST), tuned_for=1.0, level=level) / single


def rho(level: float, tuned_for: float) -> float:
    """Return the parameter that makes the interval tightest at so many people."""
    alpha = 1 - level
    return math.sqrt((-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / tuned_for)


def always(error: float, people: float, *, tuned_for: float, level: float = 0.95) -> float:
    """Return half the width of the interval around a difference with the standard error ``error``.

    So many ``people`` are read now, ``tuned_for`` at the reading day; ``level`` is the coverage of all looks together.
    """
    spread = people * rho(level, tuned_for) ** 2
    return error * math.sqrt(2 * (spread + 1) / spread * math.log(math.sqrt(spread + 1) / (1 - level)))


def wider(level: float, times: float) -> float:
    """Return the coverage of a single look whose interval is so many times as wide as that of ``level``."""
    normal = distributions().norm
    return float(2 * normal.cdf(times * normal.ppf((1 + level) / 2)) - 1)


RED: Final = 0.001  # Fabijan et al., KDD 2019: a threshold that a healthy experiment hardly ever meets


@dataclass(frozen=True, slots=True)
class Ratio:
    """The sizes of the arms beside those expected, and how likely such a difference is by chance."""

    sizes: Mapping[str, int]
    expected: Mapping[str, float]
    p: float

    @property
    def is_red(self) -> bool:
        """Say whether the sizes are not those of the arms that were declared."""
        return self.p < RED

    def sentence(self) -> str:
        if not sum(self.sizes.values()):
            return "Nobody has an arm, so there are no sizes to check."
        shown = ", ".join(f"{arm} {size:,} (expected {self.expected[arm]:,.0f})" for arm, size in self.sizes.items())
        if self.is_red:
            return (
                f"The arms do not have the sizes they were given: {shown}; chance alone does this in fewer than 1 of "
                "1,000 experiments. Look for what removed people from one arm only; until then no difference means "
                "anything."
            )
        return f"The arms have the sizes they were given, up to chance (p = {self.p:.2g}): {shown}."


def check(sizes: Mapping[str, int], weights: Mapping[str, float]) -> Ratio:
    """Compare the sizes of arms with their weights, shares in any unit, by the chi-squared test."""
    people, total = sum(sizes.values()), sum(weights[arm] for arm in sizes)
    expected = {arm: people * weights[arm] / total for arm in sizes}
    if len(sizes) < 2 or not people:
        return Ratio(dict(sizes), expected, 1.0)
    p = distributions().chisquare([*sizes.values()], [*expected.values()]).pvalue
    return Ratio(dict(sizes), expected, float(p))
