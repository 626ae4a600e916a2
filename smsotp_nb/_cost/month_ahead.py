"""The bill of the days to come, by exponential smoothing or by the pattern of the latest weeks: the better of the two.

A history of days is cut off at several earlier days, and each way forecasts what came after. The better one is used.
How far it was off then is also where the interval comes from (conformal prediction).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import UsageError
from .backtest import LEAST, Tried

Floats: TypeAlias = npt.NDArray[np.float64]

WEEK: Final = 7
LATEST: Final = 8  # weeks whose mean is the baseline
TRIED: Final = 12  # earlier days at which the history is cut off, at most
APART: Final = 14  # days between them
TRAINED: Final = LATEST * WEEK  # days before the first of them


class Span(NamedTuple):
    """The days that are forecast, counted from the end of the history."""

    first: int
    last: int


Way: TypeAlias = Callable[[Floats, Span], float]


def least(span: Span) -> int:
    """Return how many days of history the forecast of a span needs."""
    return TRAINED + span.last + (LEAST - 1) * APART


def weekly_pattern(days: Floats, span: Span) -> float:
    """Forecast that each day costs what this day of the week cost on average over the latest weeks."""
    return float(_weeks(days, LATEST).mean(axis=0)[np.arange(*span) % WEEK].sum())


def smoothing(days: Floats, span: Span) -> float:
    """Forecast a week by exponential smoothing of weeks, and its days by their share over the latest weeks."""
    weeks = _weeks(days, len(days))
    latest = weeks[-LATEST:].sum(axis=0)
    if latest.sum() <= 0:
        return 0.0
    share = (latest / latest.sum())[np.arange(*span) % WEEK].sum()
    return max(0.0, _smoothed(weeks.sum(axis=1)) * float(share))


def _smoothed(sums: Floats) -> float:
    """Return the level of the coming weeks."""
    scale = float(sums.mean())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on a flat history the fit warns; the backtest judges it
        fitted = _library()(sums / scale, initialization_method="estimated").fit()
    return float(fitted.forecast(1)[0]) * scale


def _library() -> Any:
    try:
        from statsmodels.tsa.holtwinters import SimpleExpSmoothing
    except ImportError:
        raise UsageError(
            "a forecast by exponential smoothing needs the extra: pip install 'smsotp_nb[statistics]'; "
            'method="weekly pattern" needs no more'
        ) from None
    return SimpleExpSmoothing


def _weeks(days: Floats, most: int) -> Floats:
    """Return the latest whole weeks, each beginning on the weekday after the history."""
    whole = min(most, len(days) // WEEK)
    return days[len(days) - whole * WEEK :].reshape(whole, WEEK)


WAYS: Final[dict[str, Way]] = {"smoothing": smoothing, "weekly pattern": weekly_pattern}
BASELINE: Final = "weekly pattern"


def backtests(days: Floats, span: Span, methods: Sequence[str], *, currency: str, end: pd.Timestamp) -> list[Tried]:
    """Forecast the same span as of days before ``end``, 14 apart, by each method; the latest comes first."""
    cuts = range(len(days) - span.last, TRAINED - 1, -APART)[:TRIED]
    return [_tried(days, cut, span, method, currency, end) for cut in cuts for method in methods]


def _tried(days: Floats, cut: int, span: Span, method: str, currency: str, end: pd.Timestamp) -> Tried:
    as_of = end - pd.Timedelta(days=len(days) - cut)
    came = float(days[cut + span.first : cut + span.last].sum())
    return Tried(currency, method, f"{as_of:%Y-%m-%d}", WAYS[method](days[:cut], span), came)


def chosen(tried: Sequence[Tried], methods: Sequence[str]) -> str:
    """Return the method that was off less than the baseline, the baseline if none was, or the only one asked for."""
    if len(methods) == 1:
        return methods[0]
    off = {method: sum(one.off for one in tried if one.method == method) for method in methods}
    best = min(off, key=off.__getitem__)
    return best if off[best] < off[BASELINE] else BASELINE
