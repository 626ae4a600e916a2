"""An interval that holds at every look, for those who cannot wait for the reading day.

It is the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas ("Time-uniform central
limit theory and asymptotic confidence sequences", Annals of Statistics 2024, equation 9 in arXiv 2103.06476v7),
tightest where as many people are read as ``tuned_for``. Looking
at any time costs width, and how much is said beside it.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from .library import distributions

_LEAST: Final = 1e-6  # of a window: before it nothing has been learned


class Always(NamedTuple):
    """Half the width of the interval, and how many times that of the interval of a single look.

    Example:
        >>> Always(0.03, 1.55)
        Always(half=0.03, times=1.55)
    """

    half: float
    times: float


def stretch(elapsed: float, *, level: float = 0.95) -> float:
    """Return how many times as wide the interval is when so much of the outcomes' windows has passed (0 to 1].

    What is learned grows with the time that has passed, so that a share of the windows counts as that share of the
    people; the interval is tightest at the reading day.

    Example:
        >>> round(stretch(1.0), 2), round(stretch(0.1), 2)
        (1.55, 1.97)
    """
    return always(1.0, max(elapsed, _LEAST), tuned_for=1.0, level=level).times


def rho(level: float, tuned_for: float) -> float:
    """Return the parameter that makes the interval tightest at so many people.

    Example:
        >>> round(rho(0.95, 5000), 6)
        0.03984
    """
    alpha = 1 - level
    return math.sqrt((-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / tuned_for)


def always(error: float, people: float, *, tuned_for: float, level: float = 0.95) -> Always:
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


def wider(level: float, times: float) -> float:
    """Return the coverage of a single look whose interval is so many times as wide as that of ``level``.

    Example:
        >>> round(wider(0.95, 1.55), 4)
        0.9976
    """
    normal = distributions().norm
    return float(2 * normal.cdf(times * normal.ppf((1 + level) / 2)) - 1)
