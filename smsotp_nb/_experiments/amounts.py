"""Two means of money compared: most people spend nothing and a few spend much, so no normal curve is assumed.

The arms are drawn again, in thought, as they were drawn in truth: each person with the arm's share. The studentized
difference (Welch's t) of each such drawing gives both the p-value and, in place of the normal curve's 1.96, the two
critical values of the interval, each side its own. Interval and p-value therefore never contradict each other, and an
A/A test is false in 5% of the cases by construction, however skewed the money is (Janssen 1997; Chung and Romano
2013). A bootstrap within each arm would have to know the tail from the few buyers of a small holdout alone.

A drawing costs as much as there are buyers, not people: those who spent nothing are a number. Of more than ``MOST``
buyers the largest are drawn one by one, and the sums of all others, of which none matters, as the normal vector with
their exact means and covariances.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from .shares import Comparison, Floats

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

    @property
    def deviation(self) -> float:
        squares = float(np.square(self.spent).sum()) - self.people * self.value**2
        return float(np.sqrt(max(squares, 0.0) / max(self.people - 1, 1)))


class Sums(NamedTuple):
    """Sum, sum of squares and number of people of one arm; numbers, or an array with one entry a drawing."""

    total: Any
    squares: Any
    people: Any


def compare(arm: Amounts, base: Amounts, *, level: float = 0.95, draws: int = DRAWS, seed: int = 0) -> Comparison:
    """Compare the means of two arms, per person assigned: ``arm`` minus ``base``.

    Args:
        arm: what one arm spent.
        base: what the other spent.
        level: coverage of the interval.
        draws: how often the arms are drawn again.
        seed: of these drawings; the same data and seed give the same answer.

    Example:
        >>> found = compare(Amounts(np.full(60, 25.0), 5000), Amounts(np.full(20, 25.0), 5000))
        >>> f"{found.difference:.1f} {found.low:.1f} {found.high:.1f} {found.p < 0.05}"
        '0.2 0.1 0.3 True'
    """
    found = difference(sums(arm), sums(base))
    if not found.error > _SMALLEST:
        return Comparison(float(found.difference), float("nan"), float("nan"), float("nan"), "nobody spent anything")
    spent = np.concatenate([arm.spent, base.spent])
    drawn = redrawn(spent, arm.people + base.people, base.people / (arm.people + base.people), draws, seed)
    low, high = limits(found, drawn, level=level)
    return Comparison(float(found.difference), low, high, p_value(found.t, drawn), "redrawn arms, studentized")


class Found(NamedTuple):
    """A difference of means and its standard error by Welch; numbers or arrays."""

    difference: Any
    error: Any

    @property
    def t(self) -> Any:
        return self.difference / self.error


def sums(of: Amounts) -> Sums:
    """Return the sums of one arm."""
    return Sums(float(of.spent.sum()), float(np.square(of.spent).sum()), of.people)


def difference(arm: Sums, base: Sums) -> Found:
    """Return the difference of two means and its standard error."""
    return Found(arm.total / arm.people - base.total / base.people, np.sqrt(_variance(arm) + _variance(base)))


def _variance(of: Sums) -> Any:
    """Return the variance of a mean."""
    mean = of.total / of.people
    return np.maximum(of.squares / of.people - mean**2, 0.0) / (of.people - 1)


def limits(found: Found, drawn: Floats, *, level: float) -> tuple[float, float]:
    """Return the interval whose critical values are those of the drawings: it leaves out 0 where p says so, too."""
    ordered = np.sort(drawn)
    tail = max(1, int((1 - level) / 2 * (len(ordered) + 1) + _SMALLEST))
    lower, upper = ordered[tail - 1], ordered[-tail]
    return float(found.difference - upper * found.error), float(found.difference - lower * found.error)


def p_value(t: float, drawn: Floats) -> float:
    """Return the two-sided p-value: twice the smaller tail, the drawing that happened counted among them."""
    tail = min(int((drawn >= t).sum()), int((drawn <= t).sum()))
    return min(1.0, 2 * (tail + 1) / (len(drawn) + 1))


def redrawn(spent: Floats, people: int, share: float, draws: int, seed: int) -> Floats:
    """Return the studentized differences of so many drawings in which each person is in the base with ``share``."""
    random = np.random.default_rng(seed)
    order = np.argsort(np.abs(spent))
    large, small = spent[order[-MOST:]], spent[order[:-MOST]] if len(spent) > MOST else spent[:0]
    base = _large(large, share, draws, random)
    rest = _small(small, share, draws, random)
    nobody = random.binomial(people - len(spent), share, draws)
    base = Sums(base.total + rest.total, base.squares + rest.squares, base.people + rest.people + nobody)
    arm = Sums(spent.sum() - base.total, np.square(spent).sum() - base.squares, people - base.people)
    with np.errstate(divide="ignore", invalid="ignore"):  # a drawing that leaves an arm of a few people empty
        t = np.asarray(difference(arm, base).t, dtype="float64")
    return np.asarray(t[np.isfinite(t)])


def _large(spent: Floats, share: float, draws: int, random: np.random.Generator) -> Sums:
    """Draw each amount by itself."""
    columns = np.column_stack([spent, np.square(spent), np.ones_like(spent)])
    block = max(1, _CELLS // max(len(spent), 1))
    sizes = [min(block, draws - start) for start in range(0, draws, block)]
    drawn = [(random.random((size, len(spent)), dtype="float32") < share).astype("float64") @ columns for size in sizes]
    return Sums(*np.concatenate(drawn).T)


def _small(spent: Floats, share: float, draws: int, random: np.random.Generator) -> Sums:
    """Draw the sums of many amounts at once."""
    columns = np.column_stack([spent, np.square(spent), np.ones_like(spent)])
    spread = share * (1 - share) * (columns.T @ columns)
    return Sums(*random.multivariate_normal(share * columns.sum(axis=0), spread, size=draws, method="svd").T)
