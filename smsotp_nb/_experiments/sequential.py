"""An interval that holds at every look, for those who cannot wait for the reading day.

It is the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas ("Time-uniform central
limit theory and asymptotic confidence sequences", Annals of Statistics 2024, equation 9 in arXiv 2103.06476v7),
tightest where as many people are read as ``tuned_for``. Looking
at any time costs width, and how much is said beside it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .library import distributions


class Always(NamedTuple):
    """Half the width of the interval, and how many times that of the interval of a single look."""

    half: float
    times: float


def rho(level: float, tuned_for: float) -> float:
    """Return the parameter that makes the interval tightest at so many people.

    Example:
        >>> round(rho(0.95, 5000), 6)
        0.03984
    """
    alpha = 1 - level
    return math.sqrt((-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / tuned_for)


def always(error: float, people: int, *, tuned_for: float, level: float = 0.95) -> Always:
    """Return half the width of the interval around a difference with the standard error ``error``.

    Args:
        error: standard error of the difference now.
        people: how many are read now.
        tuned_for: how many will be read at the reading day.
        level: coverage over all looks together.

    Example:
        >>> round(always(0.01, 5000, tuned_for=5000).times, 2)
        1.55
    """
    spread = people * rho(level, tuned_for) ** 2
    half = error * math.sqrt(2 * (spread + 1) / spread * math.log(math.sqrt(spread + 1) / (1 - level)))
    single = float(distributions().norm.ppf((1 + level) / 2)) * error
    return Always(half, half / single if single else math.nan)
