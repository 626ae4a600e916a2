"""What a day may differ from the days before it, and still be nothing unusual."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Days: TypeAlias = npt.NDArray[np.int64]  # since 1970

WINDOW: Final = 56  # days before a day that say what is usual
WEEK: Final = 7
LONGEST: Final = 731  # days before it that do so where these have too few with messages, as a weekly sender's
LEAST: Final = 10  # of them, with messages
LEAST_OF_SHARES: Final = 21
_SAME: Final = 0.01  # a difference of a hundredth of what is usual is none
_TO_DEVIATION: Final = 1.4826  # from the median of absolute differences to the standard deviation, of a normal one
_LASTING: Final = 0.8  # of the days of a window: a change that has lasted for so many is what is usual now


class Judged(NamedTuple):
    """Each day of a series: what was expected, between which limits, and whether it was outside.

    Where too little came before, the first three are NaN.
    """

    expected: Floats
    low: Floats
    high: Floats
    outside: Flags


def of_averages(days: Days, values: Floats, weights: Floats, alpha: float) -> Judged:
    """Judge averages over so many messages: by the median of the days before, and how far these are from it.

    A few messages may be further off than many, so the deviation of one message is looked at beside that of a day, and
    the larger of the two counts. Days that were outside are no part of what is usual until most of a window is.
    """
    made, outside = np.full((3, len(days)), np.nan), np.zeros(len(days), dtype=np.bool_)
    for place, day in enumerate(days):
        usual = _usual(days, outside, day, LEAST)
        if usual.sum() >= LEAST:
            made[:, place] = _median_limits(values[usual], weights[usual], weights[place], alpha)
            outside[place] = not made[1, place] <= values[place] <= made[2, place]
    return Judged(made[0], made[1], made[2], outside)


def of_shares(days: Days, found: Floats, asked: Floats, alpha: float) -> Judged:
    """Judge the shares of the week up to each day, by the share of the days before that week.

    Only a share above the usual one is outside: above the bound of a binomial (Chernoff). Days differ by more than
    chance alone; how much more is read from the days before, and widens the limit.
    """
    made, outside = np.full((3, len(days)), np.nan), np.zeros(len(days), dtype=np.bool_)
    for place, day in enumerate(days):
        week = (days > day - WEEK) & (days <= day)
        usual = _usual(days, outside, day - WEEK + 1, LEAST_OF_SHARES)
        if usual.sum() >= LEAST_OF_SHARES:
            made[:, place] = _share_limits(found[usual], asked[usual], float(asked[week].sum()), alpha)
            outside[place] = found[week].sum() > made[2, place] * asked[week].sum()
    return Judged(made[0], made[1], made[2], outside)


def _usual(days: Days, outside: Flags, day: int, least: int) -> Flags:
    """Return the days before one that say what is usual; what most of them are is usual, too.

    Where the window has fewer than needed, they are the latest of two years.
    """
    before = (days < day) & (days >= day - LONGEST)
    recent = _or_latest(before & (days >= day - WINDOW), before, least)
    lasting = (outside & recent).sum() > _LASTING * recent.sum()
    return recent if lasting else _or_latest(recent & ~outside, before & ~outside, least)


def _or_latest(found: Flags, among: Flags, least: int) -> Flags:
    """Return the days that were found, or the latest of others if these are too few."""
    if found.sum() >= least:
        return found
    made = np.zeros(len(among), dtype=np.bool_)
    made[np.flatnonzero(among)[-least:]] = True
    return made


def _median_limits(values: Floats, weights: Floats, weight: float, alpha: float) -> tuple[float, float, float]:
    middle = _weighted_median(values, weights)
    off = np.abs(values - middle)
    of_day, of_message = _TO_DEVIATION * float(np.median(off)), math.sqrt(float(np.mean(off**2 * weights)))
    reach = max(of_day, of_message / math.sqrt(weight)) * _quantile(alpha, len(values))
    largest = float(np.max(off * weights)) / weight  # a few messages may differ in all by as much as many did
    reach = max(reach, largest, _SAME * middle)
    return middle, max(0.0, middle - reach), middle + reach


def _weighted_median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(sums, sums[-1] / 2)])


def _quantile(alpha: float, days: int) -> float:
    """Return the two-sided quantile of Student's t; a median of differences knows as much as 0.37 as many days.

    By the first terms of its expansion around the normal quantile (Abramowitz and Stegun 26.7.5).
    """
    z, free = NormalDist().inv_cdf(1 - alpha / 2), max(0.37 * days, 3.0)
    return z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)


def _share_limits(found: Floats, asked: Floats, week: float, alpha: float) -> tuple[float, float, float]:
    usual = (float(found.sum()) + 0.5) / (float(asked.sum()) + 1)
    squares = (found - usual * asked) ** 2 / (asked * usual * (1 - usual))
    more = max(1.0, float(np.mean(squares))) * (1 + week / float(asked.sum()))  # the usual share is not exact either
    return usual, 0.0, _bound(usual, -math.log(alpha) * more / week)


def _bound(usual: float, most: float) -> float:
    """Return the share above the usual one whose divergence from it (of Kullback and Leibler) is ``most``."""
    low, high = usual, 1.0 - 1e-12
    for _ in range(40):
        middle = (low + high) / 2
        divergence = middle * math.log(middle / usual) + (1 - middle) * math.log((1 - middle) / (1 - usual))
        low, high = (middle, high) if divergence < most else (low, middle)
    return high
