"""Changes in a series of ratios: one day unlike those before it, or several days together, and until when.

Four tests, each of which says how likely it is to reject a series in which nothing changed:

- *One day*: a prediction interval of Student's t for the logarithm, with the normal equivalent of Wallace (1959). The
  deviation is that of all days before, so rare high days widen it.
- *Several days*: how many of the latest k days are above the r-th highest of the n days before them. Its distribution
  is that of exceedances (Gumbel and von Schelling 1950; Nelson's precedence test, 1963): exact for any distribution
  of days, however skewed.
- *Heavy tails*: the same day must be as unlikely where the logarithms have an exponential tail (Hill 1975).
- *Few messages*: Bernstein's inequality for the sum over the days, because days with few messages differ by more.

A change begins where the cumulative sum of deviations from half of the change is largest, and ends where it has fallen
by what chance alone would not make it fall (Page 1954; Wald 1945).
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]

LEAST: Final = 8  # days before the first one that is judged
WINDOW: Final = 90  # latest usual days with which a day is compared, at most
_TOGETHER: Final = (2, 3, 4, 5, 6, 8, 11, 15, 21, 30, 45)  # days that are judged together
_CUTS: Final = (0.0, 0.1, 0.5)  # share of the days before that are higher than the one that must be exceeded
_ADDED: Final = 5  # values to those of a tail, each a third of the least deviation above the median
_FEW: Final = 1e-3  # chance of Bernstein's bound for several days: it only guards the exact test
_NORMAL: Final = NormalDist()


class Measure(NamedTuple):
    """What is judged, and what is known of it beforehand.

    ``least`` is the relative change that counts, ``floor`` the least deviation of the logarithm of a day, ``variance``
    and ``bound`` the variance of one message and the largest difference it makes, both relative to ``1 + x``.
    """

    what: str
    above: str
    below: str | None
    least: float
    floor: float
    falls: bool
    variance: float = 0.0
    bound: float = 0.0


PRICE: Final = Measure("price", "micros", "parts", least=0.01, floor=0.001, falls=True, variance=0.09, bound=2.0)


class Change(NamedTuple):
    """A change: the places of its days, what it was compared with, and how likely it is by chance."""

    at: Places
    against: Places
    expected: float
    chance: float
    excess: Floats
    open: bool


class Series(NamedTuple):
    """``above / below`` day by day, and the logarithm by which days are compared."""

    above: Floats
    below: Floats
    log: Floats

    def of(self, at: Places) -> Series:
        return Series(self.above[at], self.below[at], self.log[at])

    def ratio(self, at: Places) -> float:
        return float(self.above[at].sum() / self.below[at].sum())


def changes(series: Series, measure: Measure, *, alpha: float, first: int = LEAST) -> list[Change]:
    """Return the changes of a series in their order; ``alpha`` is the chance of a false one for each day.

    `Change.chance` is for one day as well: what all days of the change say, times the number of tests of a day.

    Days of a change that goes on are compared with each other as well, so that a second change is found in the first;
    its excess is beyond that of the first one.
    """
    found: list[Change] = []
    usual, begin = np.arange(len(series.log)), first
    while (hit := _first(series.of(usual), measure, alpha, begin)) is not None:
        start, end, ended = _extent(series.of(usual), hit)
        at, against = usual[start : end + 1], usual[max(0, start - WINDOW) : start]
        chance = min(hit.chance, _chance(hit.sign * series.log[against], hit.sign * series.log[at], measure))
        expected = series.ratio(against)
        inner = changes(series.of(at), measure, alpha=alpha) if len(at) > LEAST else []
        inner = [one._replace(at=at[one.at], against=at[one.against]) for one in inner]
        excess = series.above[at] - expected * series.below[at]
        for one in inner:
            excess[np.searchsorted(at, one.at)] -= one.excess
        found += [Change(at, against, expected, chance, excess, not ended), *inner]
        usual = np.concatenate([usual[:start], usual[end + 1 :]])
        begin = max(start, first)
    return sorted(found, key=lambda one: int(one.at[0]))


class _Hit(NamedTuple):
    last: int
    days: int
    sign: int
    chance: float


def _first(series: Series, measure: Measure, alpha: float, begin: int) -> _Hit | None:
    if len(series.log) <= begin:
        return None
    hits = [
        one
        for one in (_one_day(series, measure, alpha / 2, begin), *_several(series, measure, alpha / 2, begin))
        if one
    ]
    return min(hits, key=lambda one: (one.last, one.chance)) if hits else None


def _before(values: Floats) -> Floats:
    """Return the sum of the latest `WINDOW` values before each place, and before the end."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(len(values) + 1)
    found: Floats = sums - sums[np.maximum(places - WINDOW, 0)]
    return found


def _one_day(series: Series, measure: Measure, alpha: float, begin: int) -> _Hit | None:
    log = series.log - series.log[0]
    n = np.minimum(np.arange(len(log)), WINDOW)[begin:].astype(float)
    mean = _before(log)[begin:-1] / n
    squares = np.maximum(_before(log**2)[begin:-1] - n * mean**2, 0.0) / (n - 1)
    off = log[begin:] - mean
    t = np.abs(off) / np.sqrt(np.maximum(squares, measure.floor**2) * (1 + 1 / n))
    free = n - 1
    z = (8 * free + 1) / (8 * free + 3) * np.sqrt(free * np.log1p(t**2 / free))
    sides = 2 if measure.falls else 1
    far = z > _NORMAL.inv_cdf(1 - alpha / sides)
    if not measure.falls:
        far &= off > 0
    for place in (np.flatnonzero(far) + begin).tolist():
        before = np.arange(max(0, place - WINDOW), place)
        sign = 1 if off[place - begin] > 0 else -1
        guards = (
            _bernstein(series, measure, before, np.array([place])),
            sides * _tail(sign * log, measure, before, place),
        )
        if max(guards) <= alpha and _counts(series, measure, before, np.array([place])):
            chance = max(sides * (1 - _NORMAL.cdf(z[place - begin])), *guards)
            return _Hit(place, 1, sign, 2 * chance)
    return None


def _tail(log: Floats, measure: Measure, before: Places, place: int) -> float:
    """Return how likely so high a value is if logarithms have an exponential tail, as amounts of Pareto's law have.

    Its scale is the mean excess over the median (Hill 1975), which is as little known as it has values; some that are
    small are added to them.
    """
    middle = float(np.median(log[before]))
    excess = log[before][log[before] > middle] - middle
    many = len(excess) + _ADDED
    scale = (float(excess.sum()) + _ADDED * measure.floor / 3) / many
    share = (len(excess) + 1) / (len(before) + 1)
    return min(1.0, share * (1 + max(float(log[place]) - middle, 0.0) / (many * scale)) ** -many)


def _several(series: Series, measure: Measure, alpha: float, begin: int) -> list[_Hit]:
    found: list[_Hit] = []
    signs = (1, -1)[: 1 + measure.falls]
    tests = len(_TOGETHER) * len(_CUTS) * len(signs)
    for sign in signs:
        log = sign * series.log
        # The latest values before each place in order, and NaN behind them.
        padded = np.concatenate([np.full(WINDOW, np.nan), log])
        ordered = np.sort(np.lib.stride_tricks.sliding_window_view(padded, WINDOW), axis=1)
        hits = []
        for days in _TOGETHER:
            starts = np.arange(max(begin, LEAST), len(log) - days + 1)
            if not len(starts):
                break
            recent = np.lib.stride_tricks.sliding_window_view(log, days)[starts]
            for cut in _CUTS:
                place = _exceeds(ordered[starts], np.minimum(starts, WINDOW), recent, cut, alpha / tests)
                for start, above, rank in ((int(starts[one]), above, rank) for one, above, rank in place):
                    before, now = np.arange(max(0, start - WINDOW), start), np.arange(start, start + days)
                    if _counts(series, measure, before, now) and _bernstein(series, measure, before, now) <= _FEW:
                        chance = 2 * tests * _exceeding(len(before), days, rank)[above]
                        hits.append(_Hit(start + days - 1, days, sign, chance))
                        break
        found += sorted(hits, key=lambda one: (one.last, one.chance))[:1]
    return found


def _chance(before: Floats, during: Floats, measure: Measure) -> float:
    """Return how likely it is by chance that so many days of a change exceed those before."""
    during, ordered = during[: _TOGETHER[-1]], np.sort(before)
    tests = len(_TOGETHER) * len(_CUTS) * (1 + measure.falls)
    ranks = {max(math.ceil(cut * len(before)), 1) for cut in _CUTS}
    each = [_exceeding(len(before), len(during), rank)[int((during > ordered[-rank]).sum())] for rank in ranks]
    return 2 * tests * min(each)


def _exceeds(before: Floats, n: Places, recent: Floats, cut: float, alpha: float) -> list[tuple[int, int, int]]:
    """Return the rows in which too many recent values exceed the limit: their places, how many do, and its rank."""
    rank = np.maximum(np.ceil(cut * n).astype(np.int64), 1)
    above = (recent > before[np.arange(len(n)), n - rank][:, None]).sum(axis=1)
    different, which = np.unique(n, return_inverse=True)  # the rank follows from n
    ranks = np.maximum(np.ceil(cut * different).astype(np.int64), 1)
    needed = [_needed(int(m), recent.shape[1], int(r), alpha) for m, r in zip(different, ranks, strict=True)]
    places = np.flatnonzero(above >= np.array(needed)[which])
    return [(int(place), int(above[place]), int(rank[place])) for place in places]


@lru_cache(maxsize=65_536)
def _exceeding(n: int, days: int, rank: int) -> tuple[float, ...]:
    """Return how likely it is that at least 0, 1, ... of some days exceed the one of this rank among ``n`` others.

    Example:
        >>> 1 / _exceeding(30, 3, 1)[3]  # three days above each of thirty: one in 33 over 3
        5456.0
    """
    whole = math.comb(n + days, days)
    each = [
        math.comb(above + rank - 1, above) * math.comb(days - above + n - rank, days - above)
        for above in range(days + 1)
    ]
    sums, total = [], 0
    for one in reversed(each):
        total += one
        sums.append(total / whole)
    return tuple(reversed(sums))


@lru_cache(maxsize=65_536)
def _needed(n: int, days: int, rank: int, alpha: float) -> int:
    """Return how many days must exceed the limit, one more than there are where even all of them say too little."""
    return sum(chance > alpha for chance in _exceeding(n, days, rank))


def _counts(series: Series, measure: Measure, before: Places, now: Places) -> bool:
    usual, came = series.ratio(before), series.ratio(now)
    return came > usual * (1 + measure.least) or came < usual / (1 + measure.least)


def _bernstein(series: Series, measure: Measure, before: Places, now: Places) -> float:
    """Return Bernstein's bound of the chance that messages alone make up the difference: exp(-d² / 2(V + bd/3))."""
    if not measure.bound:
        return 0.0
    below = float(series.below[now].sum())
    usual = (float(series.above[before].sum()) + (measure.what == "refusals")) / float(series.below[before].sum())
    off = abs(float(series.above[now].sum()) - usual * below)
    scale = (usual or off / below) if measure.what == "price" else 1.0  # a price that was 0 has no other scale
    if measure.what == "refusals":
        variance = usual * (1 - usual)
    elif measure.what == "price":
        variance = measure.variance * usual**2
    else:
        variance = max(usual - 1, 0.0) * usual + measure.variance
    variance *= below
    return math.exp(-(off**2) / (2 * (variance + measure.bound * scale * off / 3))) if off else 1.0


def _extent(series: Series, hit: _Hit) -> tuple[int, int, bool]:
    """Return the first and the last day of a change, and whether it has ended."""
    log = hit.sign * series.log
    start = hit.last - hit.days + 1
    before = log[max(0, start - WINDOW) : start]
    usual = float(np.median(before))
    half = max((float(np.median(log[start : hit.last + 1])) - usual) / 2, 1e-9)
    steps = np.clip(log - usual - half, -half, half)
    back = np.cumsum(steps[: hit.last + 1][::-1])[::-1]
    earliest = max(LEAST, start - 2 * hit.days + 1)
    if hit.days > 1 and earliest < hit.last:
        start = earliest + int(np.argmax(back[earliest : hit.last]))
    return start, *_end(steps[start:], half, float(np.std(before)), start, hit)


def _end(steps: Floats, half: float, deviation: float, start: int, hit: _Hit) -> tuple[int, bool]:
    wrong = _NORMAL.cdf(-half / deviation) if deviation > 0 else 0.0
    odds = math.log((1 - wrong) / wrong) if 0 < wrong < 0.5 else math.inf
    patience = min(max(math.log(1e4) / odds if odds else 30.0, 3.0), 30.0)
    reached = hit.last - start
    sums = np.cumsum(steps)
    highest = np.maximum.accumulate(sums)
    fallen = np.flatnonzero(highest[reached:] - sums[reached:] >= patience * half * 0.999) + reached
    stop = int(fallen[0]) if len(fallen) else len(sums) - 1
    best = len(sums[: stop + 1]) - 1 - int(np.argmax(sums[: stop + 1][::-1]))
    return start + max(best, reached), bool(len(fallen))
