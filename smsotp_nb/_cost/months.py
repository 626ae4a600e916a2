"""Forecasts of what a month will still cost, by simple methods that are weighted by how far off each was before.

Each method says what a span of days will cost as of an earlier day. The methods are tried at the same day of earlier
months and in the three weeks before each of them. The forecast is their median, by weights that fall with their errors
(Bates and Granger 1969). How far off it was at the same day of earlier months, with weights that did not know that
month, says how far off the coming one may be (split conformal prediction: Papadopoulos and others 2002; Lei and others
2018).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._calling import given
from ..errors import UsageError
from .changes import PRICE, Series, changes

Floats: TypeAlias = npt.NDArray[np.float64]

LEAST: Final = 4  # months tried; fewer say nothing about the next one
MOST: Final = 24
TRAINED: Final = 35  # days before the first of them
_WEEK: Final = 7
_POWER: Final = 7.0  # of the errors in the weights
_OTHER_DAYS: Final = 0.45  # of the weight of a span that begins on the same day of a month
_KEEP: Final = 0.9  # of the weight of a month's errors is left a month later
_OF_YEARS: Final = 4  # of the methods: the last ones know the year before
_OF_SEASONS: Final = 5  # and one more the quarters
_KNOWN: Final = 0.8  # of the weights: months at which less of the methods were known say nothing of the coming one
_SURPRISE: Final = 1.6
_AGAIN: Final = 0.4  # of a surprise that earlier years must have had as well
_AFTER: Final = 60  # days, of which an earlier year says whether its span was unlike them
_FEW: Final = 5  # days; where they brought half a surprise, it was a campaign
_FEW_OF_SALES: Final = 1  # in November and December, when sales come again
_BLACK_FRIDAY: Final = ((11, 20), (12, 3))  # month and day: with the days before it, and to Cyber Monday after it
_PRIOR: Final = 0.5  # forecasts as good as the first method's, with which each begins
_LARGE: Final = 3.5  # times the median miss
_AROUND: Final = 56  # days before and after it that are compared
_STAYED: Final = 0.7  # of a large miss: where the weeks after it differ by as much from those before, it was a change
_SMALL: Final = 0.02  # of a usual span: less of a difference is none
_SPARSE: Final = 0.1  # of a usual span: where a month cost less, months are a matter of chance and have no ratio


class Span(NamedTuple):
    """Days, as places in a history, of which ``origin`` is the first one that is not known."""

    origin: int
    begin: int
    end: int


class History:
    """What each day cost, and where its months begin."""

    def __init__(self, days: Floats, start: pd.Timestamp) -> None:
        self.days = days
        self.sums = np.concatenate([[0.0], np.cumsum(days)])
        self._start = start
        firsts = pd.period_range(start - pd.DateOffset(months=1), periods=len(days) // 28 + 8, freq="M").to_timestamp()
        self._firsts = (firsts - start).days.to_numpy()
        self._listed: list[int] = self._firsts.tolist()
        self._lengths = firsts.days_in_month.to_numpy()

    def total(self, begin: int, end: int) -> float:
        """Return what the days from ``begin`` to before ``end`` cost; NaN where the history does not have them."""
        known = 0 <= begin <= end <= len(self.days)
        return float(self.sums[end] - self.sums[begin]) if known else math.nan

    def earlier(self, place: int, months: int) -> int:
        """Return the same day of the month, so many months before; the last one where the month is shorter."""
        month = bisect_right(self._listed, place) - 1
        at, day = month - months, place - self._listed[month]
        return self._listed[at] + min(day, self._listed[at + 1] - self._listed[at] - 1) if at >= 0 else -1

    def same_weekday(self, places: npt.NDArray[np.int64], months: int, origin: int) -> Floats:
        """Return what the same weekday of an earlier month cost - its first Monday, its second - for each place.

        NaN where it was not known at the origin, or the month has no such day.
        """
        month = np.searchsorted(self._firsts, places, side="right") - 1
        week = (places - self._firsts[month]) // _WEEK
        at = month - months
        first = self._firsts[np.maximum(at, 0)]
        earlier = first + week * _WEEK + (places - first) % _WEEK
        known = (at >= 0) & (earlier >= 0) & (earlier < origin) & (earlier < first + self._lengths[np.maximum(at, 0)])
        return np.where(known, self.days[np.where(known, earlier, 0)], np.nan)

    def before(self, span: Span, months: int) -> Span:
        return Span(*(self.earlier(place, months) for place in span))

    def date(self, place: int) -> pd.Timestamp:
        return self._start + pd.Timedelta(days=place)


def _weekdays(history: History, span: Span, weeks: int, middle: str) -> float:
    whole = min(weeks, span.origin // _WEEK)
    if whole < 4:
        return math.nan
    latest = history.days[span.origin - whole * _WEEK : span.origin].reshape(whole, _WEEK)
    each = np.median(latest, axis=0) if middle == "median" else latest.mean(axis=0)
    return float(each[np.arange(span.begin - span.origin, span.end - span.origin) % _WEEK].sum())


def _earlier(history: History, span: Span, most: int) -> list[Span]:
    """Return the same days of earlier months, the latest first, as far as they were known."""
    spans = (history.before(span, months) for months in range(1, most + 4))
    known = [one for one in spans if one.end <= span.origin][:most]
    return [*takewhile(lambda one: one.begin >= 0, known)]


def _months(history: History, span: Span, most: int) -> Floats:
    """Return what the same days of earlier months cost."""
    return np.array([history.total(one.begin, one.end) for one in _earlier(history, span, most)])


def _latest(history: History, place: int, months: int = 1) -> float:
    """Return what the months before a day cost."""
    return history.total(history.earlier(place, months), place)


def _shares(history: History, span: Span, most: int) -> float:
    """Return the month before the span, times the share of it that the same days of earlier months were."""
    both = ((one, _latest(history, one.origin)) for one in _earlier(history, span, most))
    found = [history.total(one.begin, one.end) / month for one, month in takewhile(lambda pair: pair[1] > 0, both)]
    return _latest(history, span.origin) * float(np.mean(found)) if len(found) >= min(most, 3) else math.nan


def _ordinals(history: History, span: Span, most: int) -> float:
    """Return what the same weekdays of earlier months cost, such as each first Monday."""
    places = np.arange(span.begin, span.end)
    known = np.array([history.same_weekday(places, months, span.origin) for months in range(1, most + 1)])
    count = (~np.isnan(known)).sum(axis=0)
    return float((np.nansum(known, axis=0) / np.maximum(count, 1)).sum()) if count.all() else math.nan


def _quarters(history: History, span: Span) -> float:
    found = [
        history.total(one.begin, one.end) for months in (3, 6, 9) if (one := history.before(span, months)).begin >= 0
    ]
    return float(np.mean(found)) if found else math.nan


def _drift(history: History, span: Span) -> float:
    """Return the mean of three months, carried on by how they grew since the three before them."""
    found = _months(history, span, 6)
    if len(found) < 6 or not found[3:].sum() > 0:
        return math.nan
    growth = float(np.clip(found[:3].sum() / found[3:].sum(), 0.5, 2.0))
    return float(found[:3].mean() * growth ** (2 / 3))


def _last_year(history: History, span: Span, months: int) -> float:
    """Return the same days of last year, times the growth of so many months since then; 0: as they were."""
    one = history.before(span, 12)
    if one.begin < 0:
        return math.nan
    then = history.total(one.begin, one.end)
    if not months:
        return then
    now, before = (_latest(history, origin, months) for origin in (span.origin, one.origin))
    return then * now / before if before > 0 else math.nan


def _year_of_weeks(history: History, span: Span) -> float:
    """Return the same weekdays 52 weeks before, times the growth of eight weeks since then."""
    back = 52 * _WEEK
    now = history.total(span.origin - 8 * _WEEK, span.origin)
    before = history.total(span.origin - 8 * _WEEK - back, span.origin - back)
    return history.total(span.begin - back, span.end - back) * now / before if before > 0 else math.nan


def _middle(values: Floats, least: int, of: Callable[[Floats], Any] = np.mean) -> float:
    return float(of(values)) if len(values) >= least else math.nan


METHODS: Final[dict[str, Callable[[History, Span], float]]] = {
    "weekdays of 8 weeks": lambda history, span: _weekdays(history, span, 8, "mean"),
    "weekdays of 8 weeks, median": lambda history, span: _weekdays(history, span, 8, "median"),
    "weekdays of 16 weeks": lambda history, span: _weekdays(history, span, 16, "mean"),
    "weekdays of 4 weeks": lambda history, span: _weekdays(history, span, 4, "mean"),
    "same days of the month before": lambda history, span: _middle(_months(history, span, 1), 1),
    "same days of 3 months": lambda history, span: _middle(_months(history, span, 3), 3),
    "same days of 12 months": lambda history, span: _middle(_months(history, span, 12), 8),
    "same days of 6 months, median": lambda history, span: _middle(_months(history, span, 6), 5, np.median),
    "same weekdays of 3 months": lambda history, span: _ordinals(history, span, 3),
    "share of the latest month": lambda history, span: _shares(history, span, 3),
    "share of the latest month, 12 months": lambda history, span: _shares(history, span, 12),
    "drift of 6 months": _drift,
    "same days of the quarters before": _quarters,
    "same days of last year": lambda history, span: _last_year(history, span, 0),
    "same days of last year, by growth": lambda history, span: _last_year(history, span, 3),
    "same days of last year, by the latest month": lambda history, span: _last_year(history, span, 1),
    "same weekdays of last year, by growth": _year_of_weeks,
}

# of the methods before their errors count: the plain one is the usual best, and the years are known of few months
_TRUST: Final = np.array([1.8, *[1.0] * (len(METHODS) - 1 - _OF_YEARS), *[1.3] * _OF_YEARS])


class Said(NamedTuple):
    """What a method says: its weight, its forecast, and by how much it was off before."""

    weight: float
    expected: float
    off: float | None


class Outcome(NamedTuple):
    """What was expected, how far off that may be (of the logarithm, or of the root where months are sparse), and what
    it is made of."""

    expected: float
    margin: float
    small: float
    sparse: bool
    reached: float
    methods: dict[str, Said]
    tried: list[tuple[Span, float, float]]  # with what was expected, and what came

    def around(self) -> tuple[float, float]:
        """Return the interval, which does not begin below zero."""
        if self.sparse:
            root = math.sqrt(self.expected + self.small)
            return max(max(root - self.margin, 0.0) ** 2 - self.small, 0.0), (root + self.margin) ** 2 - self.small
        middle, factor = self.expected + self.small, math.exp(self.margin)
        return max(middle / factor - self.small, 0.0), middle * factor - self.small


def forecast(history: History, span: Span, level: float, method: str | None = None) -> Outcome:
    """Forecast a span by what each method, or the one that is named, said of the same span of earlier months."""

    def known(earlier: Iterable[Span]) -> list[Span]:
        return [one for one in earlier if one.origin >= TRAINED and one.end <= span.origin]

    spans = known(history.before(span, months) for months in range(1, MOST + 4))[:MOST]
    names = [*METHODS] if method is None else [method]
    # One to three weeks before them, too: a few months say too little of which method is the best one.
    weeks = (Span(*(place - days for place in one)) for one in [span, *spans] for days in (7, 14, 21))
    beside = [] if method else known(weeks)
    said = np.array([[METHODS[name](history, one) for name in names] for one in [*spans, *beside, span]])
    if method is not None:
        spans = [one for one, value in zip(spans, said[:-1, 0], strict=True) if not math.isnan(value)]
        said = said[~np.isnan(said[:, 0])]
    many, every = len(spans), [*spans, *beside]
    if many < LEAST or len(said) == len(every):
        return Outcome(math.nan, math.nan, 0.0, False, math.nan, {}, [])
    outcomes = np.array([history.total(one.begin, one.end) for one in every])
    came = outcomes[:many]
    small = max(_SMALL * float(came.mean()), 1e-9)
    sparse = bool((came <= _SPARSE * came.mean()).any())
    scale = np.sqrt if sparse else np.log
    tried = _Tried(said, np.abs(said[:-1] - outcomes[:, None]), np.array(every), many, small)
    expected = np.array([tried.combined(at)[0] for at in range(len(every))])
    coming, weights = tried.combined(-1)
    wider = 1.0
    if method is None and not sparse:
        plain = np.array([tried.combined(at, plain=True)[0] for at in (*range(many), -1)])
        surprise, again = _surprise(history, span, spans, np.log((came + small) / (plain[:-1] + small)))
        if surprise and not again:
            coming, weights = tried.combined(-1, plain=True)
        elif surprise and weights[-_OF_SEASONS:].sum() < 0.5:  # else they know the season already
            surprised = max((plain[-1] + small) * math.exp(surprise) - small, 0.0)
            coming, wider = (surprised + float(np.nanmedian(said[-1, -_OF_YEARS:]))) / 2, math.sqrt(2)
    errors = scale(outcomes + small) - scale(expected + small)
    # Those misses tell that are on the same day of a month, if enough of the methods were known of enough of them.
    told, same = (~np.isnan(said[:-1]) * weights).sum(axis=1) >= _KNOWN, np.arange(len(every)) < many
    telling = next((those for those in (told & same, told) if those.sum() > LEAST), same)
    if not sparse and (rest := telling & ~_lasting(history, every, errors, telling)).sum() >= LEAST:
        telling = rest
    mine = np.abs(errors[telling])
    margin = quantile(mine, level) * wider
    methods = {
        name: Said(float(weights[at]), float(said[-1, at]), _off(tried.off[:many, at], came))
        for at, name in enumerate(names)
        if not math.isnan(said[-1, at])
    }
    of = list(zip(spans, expected[:many].tolist(), came.tolist(), strict=True))
    return Outcome(coming, margin, small, sparse, held(mine, level), methods, of)


def _lasting(
    history: History, spans: Sequence[Span], errors: Floats, of: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Return which misses were large because the level changed and stayed so: no method could know, and all do now."""
    days = history.days
    change = [_week(days[one.end :][:_AROUND]) - _week(days[: one.origin][-_AROUND:]) for one in spans]
    large = np.abs(errors) > _LARGE * np.median(np.abs(errors[of]))
    return np.asarray(large & (np.array(change) * errors > _STAYED * errors**2))


def _week(days: Floats) -> float:
    """Return the logarithm of what the middle one of four weeks or more cost."""
    whole = len(days) // _WEEK
    week = float(np.median(days[: whole * _WEEK].reshape(whole, _WEEK).sum(axis=1))) if whole >= 4 else 0.0
    return math.log(week) if week > 0 else math.nan


def _off(off: Floats, came: Floats) -> float | None:
    """Return by how much a method was off on average, as a share of what came on average."""
    known = ~np.isnan(off)
    whole = float(came[known].sum())
    return float(off[known].sum()) / whole if whole > 0 else None


def _surprise(history: History, span: Span, spans: list[Span], errors: Floats) -> tuple[float, bool]:
    """Return by how much the same span of last year surprised methods that know no years, if it did so alone, and
    whether it will do so again; without such a surprise, 0.

    A December that was twice as much as they said, where other months were off by a fifth, will be so again, unless
    the December before it was like the months after it, or a few days made most of it: that was a campaign. Where the
    level of the months around it changed as well, it was no surprise of a month.
    """
    year = next((at for at, one in enumerate(spans) if one == history.before(span, 12)), None)
    if year is None:
        return 0.0, False
    those, around = errors[year::12], np.arange(year, len(errors) + 1, 12)
    others = np.abs(np.delete(errors, [at for at in (*around, *(around - 1)) if 0 <= at < len(errors)]))
    one, mean = spans[year], float(those.mean())
    before = history.days[max(one.begin - 90, 0) : max(one.begin - 25, 0)]
    after = history.days[one.end + 30 : one.end + 90]
    if len(others) < LEAST or len(before) < 20 or not before.sum() > 0 or not after.sum() > 0:
        return 0.0, False
    shift = abs(math.log(after.mean() / before.mean()))
    if abs(mean) <= max(_SURPRISE * float(np.quantile(others, 0.9)), 2 * shift):
        return 0.0, False
    known = [last for months in (12, 24, 36, 48) if (last := history.before(span, months)).begin >= 0]
    unlike, *earlier = (_unlike(history, last) * np.sign(mean) >= _AGAIN * abs(mean) for last in known)
    again = all(earlier) and not (mean > 0 and _by_few_days(history, one, mean))
    return (mean, again) if unlike or again else (0.0, False)


def _unlike(history: History, one: Span) -> float:
    """Return the logarithm of what a day of a span cost, by what one of the days after it did."""
    both = history.days[one.begin : one.end], history.days[one.end :][:_AFTER]
    inside, after = (math.log(max(float(days.mean()), 1e-9)) for days in both)
    return inside - after


def _by_few_days(history: History, one: Span, surprise: float) -> bool:
    days = history.days[one.begin : one.end]
    largest = history.date(one.begin + int(days.argmax()))
    if _BLACK_FRIDAY[0] <= (largest.month, largest.day) <= _BLACK_FRIDAY[1]:
        return False
    few = _FEW_OF_SALES if largest.month in (11, 12) else _FEW
    more = (np.sort(days)[::-1][:few] - np.median(days)).clip(0).sum()
    return bool(more > days.sum() * (1 - math.exp(-surprise)) / 2)


class _Tried(NamedTuple):
    said: Floats  # of earlier spans by each method, and of the one that is forecast
    off: Floats  # by how much of the earlier ones
    spans: npt.NDArray[np.int64]  # of which so many, the latest first, begin on the same day of a month
    many: int
    small: float

    def combined(self, at: int, *, plain: bool = False) -> tuple[float, Floats]:
        """Return the weighted median of what the methods say of a span, and their weights; ``plain``: without years.

        A weight is by the errors of a method in spans that share no day with this one, beside those of the first
        method. The median, because one method alone - last year's, where a large campaign was sent then - may be off
        by any amount.
        """
        said, off = self.said[at], self.off
        origin, begin, end = self.spans.T
        months_ago = (origin.max() - origin) / 30.4
        counts = _KEEP**months_ago * np.where(np.arange(len(off)) < self.many, 1.0, _OTHER_DAYS)
        if at >= 0:
            counts = counts * ((begin >= end[at]) | (end <= begin[at]))
        counts = counts[:, None] * counts[: self.many].sum() / counts.sum()  # as many as there are months
        known = ~np.isnan(off)
        usual = float(np.average(off[:, 0], weights=counts[:, 0])) * _PRIOR + self.small
        mine = (np.where(known, off, 0) * counts).sum(axis=0) + usual
        first = (np.where(known, off[:, :1], 0) * counts).sum(axis=0) + usual
        usable = ~np.isnan(said) & (known * counts).any(axis=0)
        if plain:
            usable[-_OF_YEARS:] = False
        weights = np.where(usable, _TRUST[: len(said)] * (mine / first) ** -_POWER, 0.0)
        weights = weights / weights.sum()
        order = np.argsort(np.where(usable, said, np.inf))[: usable.sum()]
        middle = np.cumsum(weights[order]) - weights[order] / 2
        return float(np.interp(0.5, middle, said[order])), weights


def quantile(errors: Sequence[float] | Floats, level: float) -> float:
    """Return how far off this share of forecasts was at most; the coming one counts as one more of them."""
    return float(np.quantile(errors, level, method="weibull"))


def held(errors: Floats, level: float) -> float:
    """Return the share of these forecasts that were off by no more than the others say."""
    others = [quantile(np.delete(errors, at), level) for at in range(len(errors))]
    return float(np.mean(errors <= np.array(others) + 1e-12))


def month_named(month: object) -> pd.Timestamp:
    """Return the first day of a month such as 2026-12.

    Raises:
        UsageError: it is none.
    """
    found = pd.to_datetime(month, format="%Y-%m", errors="coerce") if isinstance(month, str) else None
    if not isinstance(found, pd.Timestamp) or pd.isna(found):
        raise UsageError(f"month= must be a month such as '2026-12', got {given(month)}")
    return found


# -- prices


class Step(NamedTuple):
    """A price of a part that changed and has stayed so, in micro-units."""

    iso: str | None
    since: pd.Timestamp
    before: float
    now: float


_ALPHA: Final = 1e-5  # chance of a false step for each sending day of a country


def at_usual_prices(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows whose messages without a price count as one with a price of their country, or of any, on average."""
    priced = rows.assign(priced=rows["messages"] - rows["unpriced"])
    priced = priced[((priced["priced"] > 0) & (priced["micros"] >= 0)).to_numpy(bool)]
    sums = priced.groupby("iso")[["micros", "priced"]].sum()
    each = rows["iso"].map((sums["micros"] / sums["priced"]).to_dict()).astype("float64")
    usual = float(priced["micros"].sum() / priced["priced"].sum()) if len(priced) else math.nan
    return rows.assign(micros=rows["micros"] + (rows["unpriced"] * each.fillna(usual)).where(rows["unpriced"] > 0, 0))


def at_todays_prices(rows: pd.DataFrame) -> tuple[pd.DataFrame, list[Step]]:
    """Return rows of one currency whose ``micros`` are what their parts would cost today, and the steps since then.

    Only a price that changed to another level counts, by the tests of `changes`; what varies around it stays.
    """
    rows = rows.assign(micros=rows["micros"].astype("float64"))
    steps: list[Step] = []
    priced = rows[((rows["parts"] > 0) & (rows["micros"] > 0) & (rows["unpriced"] == 0)).to_numpy(bool)]
    for iso, part in priced.groupby("iso", sort=True):
        sums = part.groupby("day", sort=True)[["micros", "parts"]].sum().astype("float64")
        above, below = sums["micros"].to_numpy(), sums["parts"].to_numpy()
        found = changes(Series(above, below, np.log(above / below)), PRICE, alpha=_ALPHA)
        if not found:
            continue
        number = np.zeros(len(sums), dtype=np.int64)
        for at, one in enumerate(found, start=1):
            number[one.at] = at
        level = pd.Series(above).groupby(number).sum() / pd.Series(below).groupby(number).sum()
        now = level[number[-1]]
        factor = pd.Series(now / level.reindex(number).to_numpy(), index=sums.index)
        region = str(iso)
        mine = (rows["iso"] == region).to_numpy(bool)
        rows.loc[mine, "micros"] *= rows.loc[mine, "day"].map(factor).fillna(1.0)
        since = int(np.flatnonzero(number != number[-1])[-1]) + 1
        steps.append(Step(region, pd.Timestamp(sums.index[since]), float(level[number[since - 1]]), float(now)))
    return rows, steps
