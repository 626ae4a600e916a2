"""Two shares compared: Newcombe's interval, and a test that is exact where a cell is small."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from .library import distributions, proportions

SMALL: Final = 20  # a cell below it is tested exactly
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

    @property
    def deviation(self) -> float:
        return float(np.sqrt(self.value * (1 - self.value)))


def compare(arm: Share, base: Share, *, level: float = 0.95) -> Comparison:
    """Compare two shares: ``arm`` minus ``base``.

    The interval is Newcombe's hybrid of two Wilson intervals (Statistics in Medicine 1998, method 10), which keeps its
    95% where buyers are rare and one arm is small. The test is Fisher's where one of the four cells is below 20, and
    the pooled z test elsewhere.

    Example:
        >>> found = compare(Share(56, 70), Share(48, 80))
        >>> f"{found.difference:.4f} {found.low:.4f} {found.high:.4f}"
        '0.2000 0.0524 0.3339'
    """
    low, high = newcombe(arm.reached, arm.people, base.reached, base.people, level=level)
    exact = is_small(arm, base)
    p = _fisher(arm, base) if exact else _pooled(arm, base)
    return Comparison(
        arm.value - base.value, float(low), float(high), p, "Newcombe, Fisher" if exact else "Newcombe, pooled z"
    )


def newcombe(count: Any, people: Any, base_count: Any, base_people: Any, *, level: float) -> tuple[Any, Any]:
    """Return Newcombe's limits of the difference of two shares; numbers or arrays of them."""
    low, high = proportions().confint_proportions_2indep(
        count, people, base_count, base_people, method="newcomb", compare="diff", alpha=1 - level
    )
    return low, high


def is_small(arm: Share, base: Share) -> bool:
    """Say whether one of the four cells is too small for the normal approximation."""
    return min(arm.reached, arm.people - arm.reached, base.reached, base.people - base.reached) < SMALL


def _fisher(arm: Share, base: Share) -> float:
    table = [[arm.reached, arm.people - arm.reached], [base.reached, base.people - base.reached]]
    return float(distributions().fisher_exact(table).pvalue)


def _pooled(arm: Share, base: Share) -> float:
    _, p = proportions().proportions_ztest([arm.reached, base.reached], [arm.people, base.people])
    return float(p)
