"""Arms compared: outcome by outcome, what an extra one cost, and by the values of a stratum."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from . import statistics
from .declaring import HOLDOUT
from .joining import Joined
from .statistics import Amounts, Comparison, Share, several


def per_extra(cost: float, low: float, high: float, *, cost_high: float | None = None) -> tuple[float, float]:
    """Return from where to where the price of an extra outcome may lie, by a cost and the interval of these outcomes.

    The end is infinite where there is no upper limit. Both are NaN without a cost, and where no positive price fits:
    the interval of the effect lies below zero.

    Fieller (1954) keeps every ratio that the data do not contradict: a price is kept when ``cost / price`` lies within
    the interval of the extra outcomes. What was billed is known exactly, so that only the outcomes vary; where some
    messages have no known price, the cost lies between two amounts, and both ends of the price follow.

    Args:
        cost: what was billed for the arm.
        low: lower limit of the extra outcomes.
        high: their upper limit.
        cost_high: the most that may have been billed; by default ``cost``.

    Example:
        >>> per_extra(300.0, 20.0, 100.0)
        (3.0, 15.0)
        >>> per_extra(300.0, -20.0, 100.0)
        (3.0, inf)
        >>> per_extra(300.0, 20.0, 100.0, cost_high=360.0)
        (3.0, 18.0)
    """
    if not high > 0 or not cost > 0:
        return math.nan, math.nan
    most = cost if cost_high is None else cost_high
    return cost / high, most / low if low > 0 else math.inf


Measure = Share | Amounts
ARMS: Final = (
    *("outcome", "arm", "people", "contacted", "total", "value", "difference", "low", "high", "p", "p_holm", "settled"),
    *("extra_low", "extra_high", "cost", "cost_high", "currency", "price_low", "price_high", "method"),
)
PAIRS: Final = ("outcome", "arm", "against", "difference", "low", "high", "p", "p_holm", "settled", "method")


def compare(arm: Measure, base: Measure, *, level: float, elapsed: float | None = None) -> Comparison:
    """Compare two arms by the method of their kind; at a look, with so much of the windows being over.

    The interval of a look keeps the shape of the usual one, which knows how skewed the outcome is, and is stretched.
    """
    times = 1.0 if elapsed is None else statistics.stretch(elapsed, level=level)
    if isinstance(arm, Share) and isinstance(base, Share):
        wide = level if elapsed is None else statistics.wider(level, times)
        if wide < 1:
            one = statistics.compare_shares(arm, base, level=wide)
        else:  # in the first hours: too wide for a float, so all that a difference of shares can be
            one = Comparison(arm.value - base.value, -1.0, 1.0, math.nan, "")
    else:
        assert isinstance(arm, Amounts)
        assert isinstance(base, Amounts)
        one = statistics.compare_amounts(arm, base, level=level)
    if elapsed is None:
        return one
    if isinstance(arm, Amounts):
        middle = one.difference
        one = one._replace(low=middle - times * (middle - one.low), high=middle + times * (one.high - middle))
    # The p-value of a single look would not hold.
    return one._replace(p=math.nan, method=f"at every look, {times:.1f} times as wide")


def by_arm(
    outcome: str,
    measured: Mapping[str, Measure],
    *,
    contacted: Mapping[str, int],
    costs: Mapping[str, Mapping[str, float]],
    unknown: Mapping[str, float],
    level: float,
    elapsed: float | None,
) -> list[dict[str, Any]]:
    """Return a row for each arm, the holdout last: what it came to, and its difference from the holdout.

    ``unknown`` has what an arm may have been billed besides its cost.
    """
    base = measured.get(HOLDOUT)
    texted = [arm for arm in measured if arm != HOLDOUT]
    against = [compare(measured[arm], base, level=level, elapsed=elapsed) for arm in texted] if base else []
    adjusted = holm([one.p for one in against])
    rows: list[dict[str, Any]] = [
        {"outcome": outcome, "arm": arm, "people": of.people, "contacted": contacted[arm], "value": of.value}
        | {"total": of.reached if isinstance(of, Share) else float(of.spent.sum())}
        | _cost(costs[arm], unknown[arm])
        for arm, of in measured.items()
    ]
    for row, one, p in zip(rows, against, adjusted, strict=False):
        row |= one._asdict() | {"p_holm": p, "settled": is_settled(one, p, level)}
        low, high = one.low * row["people"], one.high * row["people"]
        sure = low if row["settled"] else min(low, 0.0)
        price_low, price_high = per_extra(row["cost"], sure, high, cost_high=row["cost_high"])
        row |= {"extra_low": low, "extra_high": high, "price_low": price_low, "price_high": price_high}
    return rows


def is_settled(one: Comparison, p_holm: float, level: float) -> bool:
    """Say whether a difference may be called one: its interval leaves out 0, and so do all comparisons together.

    An interval that holds at every look has no p-value beside it.
    """
    apart = one.low > 0 or one.high < 0
    return bool(apart and (math.isnan(p_holm) or p_holm < 1 - level))


def _cost(costs: Mapping[str, float], more: float) -> dict[str, Any]:
    """Return what an arm was billed, if in one currency: amounts in several are never added."""
    if len(costs) > 1:
        return {"cost": math.nan, "cost_high": math.nan, "currency": None}
    cost = sum(costs.values())
    return {"cost": cost, "cost_high": round(cost + more, 6), "currency": next(iter(costs), None)}


def pairs(
    outcome: str, measured: Mapping[str, Measure], *, level: float, elapsed: float | None
) -> list[dict[str, Any]]:
    """Return a row for each two arms that were texted.

    Their intervals share the error (Bonferroni), so that all of them hold together; their p-values are Holm's.
    """
    two = list(itertools.combinations([arm for arm in measured if arm != HOLDOUT], 2))
    each = 1 - (1 - level) / max(len(two), 1)
    found = [compare(measured[one], measured[other], level=each, elapsed=elapsed) for one, other in two]
    adjusted = holm([one.p for one in found])
    return [
        {"outcome": outcome, "arm": arm, "against": against, "p_holm": p, "settled": is_settled(one, p, level)}
        | one._asdict()
        for (arm, against), one, p in zip(two, found, adjusted, strict=True)
    ]


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number by Holm's method; missing ones stay missing."""
    known = [p for p in values if not math.isnan(p)]
    if len(known) < 2:
        return list(values)
    adjusted = iter(several().multipletests(known, method="holm")[1].tolist())
    return [p if math.isnan(p) else round(next(adjusted), 12) for p in values]


def table(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> pd.DataFrame:
    """Return rows as a frame; what a row lacks is missing."""
    frame = pd.DataFrame([*rows], columns=[*names])
    texts = {"segment", "outcome", "arm", "against", "currency", "method"}
    counts = {"people", "contacted"}
    kinds = {name: "int64" if name in counts else "float64" for name in names if name not in {*texts, "settled"}}
    made = frame.astype(kinds)
    return made.assign(settled=made["settled"].eq(True).astype("bool")) if "settled" in names else made


SEGMENTS: Final = ("segment", "outcome", "arm", "people", "value", "difference", "low", "high")
_FEW: Final = 2  # people of an arm, from which on it can be compared


def explore(found: Joined, segments: pd.Series[Any], *, level: float) -> pd.DataFrame:
    """Return the difference of each arm from the holdout within each segment.

    All intervals together share the error (Bonferroni); there is no p-value, because nothing is claimed.
    """
    named = segments.astype(object).where(segments.notna(), None)
    pieces = [(name, (named == name).to_numpy("bool")) for name in sorted(named.dropna().unique(), key=str)]
    arms = [arm for arm in found.arms if arm != HOLDOUT]
    number = len(pieces) * len(arms) * len(found.kinds)
    each = 1 - (1 - level) / max(number, 1)
    rows = []
    for (name, within), outcome in itertools.product(pieces, found.kinds):
        measured = found.measured(outcome, within)
        base = measured.get(HOLDOUT)
        for arm, of in measured.items():
            if arm == HOLDOUT or base is None or min(of.people, base.people) < _FEW:
                continue
            one = compare(of, base, level=each)
            row = {"segment": str(name), "outcome": outcome, "arm": arm, "people": of.people, "value": of.value}
            rows.append(row | {"difference": one.difference, "low": one.low, "high": one.high})
    return table(rows, SEGMENTS)
