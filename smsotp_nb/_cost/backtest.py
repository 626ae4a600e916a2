"""Forecasts that were made as of an earlier moment, what came, and how far off the next one must be thought to be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

LEAST: Final = 4  # forecasts tried; fewer say nothing about the next one


class Tried(NamedTuple):
    """A forecast in micro-units as of an earlier day or campaign, and what came."""

    currency: str
    method: str
    as_of: str
    expected: float
    actual: float

    @property
    def off(self) -> float:
        return abs(self.actual - self.expected)


class Margin(NamedTuple):
    """How far off a forecast may be: ``size`` is a share of what is expected, or an amount."""

    size: float
    is_share: bool

    def around(self, expected: float) -> tuple[float, float]:
        """Return the interval around a forecast, which does not begin below zero.

        Example:
            >>> Margin(0.25, True).around(100.0), Margin(150.0, False).around(100.0)
            ((75.0, 125.0), (0.0, 250.0))
        """
        reach = self.size * expected if self.is_share else self.size
        return max(0.0, expected - reach), expected + reach


def margin(tried: Sequence[Tried], level: float) -> Margin:
    """Return how far off this share of the forecasts was at most; the coming one is counted as one more of them.

    It is a share of what was expected, unless one of them expected nothing.

    Example:
        >>> margin([Tried("USD", "any", "", 100.0, 100.0 + off) for off in (10, -20, 30, -40)], 0.6)
        Margin(size=0.3, is_share=True)
    """
    is_share = all(one.expected > 0 for one in tried)
    offs = sorted(one.off / one.expected if is_share else one.off for one in tried)
    return Margin(offs[min(len(offs), math.ceil((len(offs) + 1) * level)) - 1], is_share)


def reached(tried: int, level: float) -> float:
    """Return the level that so many forecasts can vouch for, at most the one asked for.

    Example:
        >>> reached(4, 0.9), reached(12, 0.8)
        (0.8, 0.8)
    """
    return min(level, tried / (tried + 1))


def missed(tried: Sequence[Tried]) -> float | None:
    """Return by how much these forecasts were off on average, as a share of what came on average; None of nothing.

    Example:
        >>> missed([Tried("USD", "any", "", 90.0, 100.0), Tried("USD", "any", "", 130.0, 100.0)])
        0.2
    """
    came = sum(one.actual for one in tried)
    return sum(one.off for one in tried) / came if came else None
