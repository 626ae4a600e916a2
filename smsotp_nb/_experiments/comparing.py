"""Every arm against the holdout and the arms against each other, as tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from . import amounts, sequential, shares
from .amounts import Amounts
from .joining import HOLDOUT
from .library import several
from .prices import NO_PRICE, per_extra
from .shares import Comparison, Share

Measure = Share | Amounts
ARMS: Final = (
    *("outcome", "arm", "people", "contacted", "total", "value", "difference", "low", "high", "p", "p_holm", "settled"),
    *("extra_low", "extra_high", "cost", "currency", "price_low", "price_high", "method"),
)
PAIRS: Final = ("outcome", "arm", "against", "difference", "low", "high", "p", "p_holm", "settled", "method")


def compare(arm: Measure, base: Measure, *, level: float, elapsed: float | None = None) -> Comparison:
    """Compare two arms by the method of their kind; at a look, with so much of the windows being over.

    The interval of a look keeps the shape of the usual one, which knows how skewed the outcome is, and is stretched.
    """
    if elapsed is not None:
        return _at_a_look(arm, base, level=level, times=sequential.stretch(elapsed, level=level))
    if isinstance(arm, Share) and isinstance(base, Share):
        return shares.compare(arm, base, level=level)
    assert isinstance(arm, Amounts)
    assert isinstance(base, Amounts)
    return amounts.compare(arm, base, level=level)


def _at_a_look(arm: Measure, base: Measure, *, level: float, times: float) -> Comparison:
    """Return the wider interval; the p-value of a single look would not hold."""
    method = f"at every look, {times:.1f} times as wide"
    if isinstance(arm, Share) and isinstance(base, Share):
        wide = sequential.wider(level, times)
        if wide == 1:  # in the first hours: too wide for a float, so all that a difference of shares can be
            return Comparison(arm.value - base.value, -1.0, 1.0, math.nan, method)
        return shares.compare(arm, base, level=wide)._replace(p=math.nan, method=method)
    one = compare(arm, base, level=level)
    low, high = (
        one.difference - times * (one.difference - one.low),
        one.difference + times * (one.high - one.difference),
    )
    return Comparison(one.difference, low, high, math.nan, method)


def by_arm(
    outcome: str,
    measured: Mapping[str, Measure],
    *,
    contacted: Mapping[str, int],
    costs: Mapping[str, Mapping[str, float]],
    unknown: Collection[str] = (),
    level: float,
    elapsed: float | None,
) -> list[dict[str, Any]]:
    """Return a row for each arm, the holdout last: what it came to, and its difference from the holdout.

    Arms whose cost is not wholly known have no upper limit of the price of one.
    """
    base = measured.get(HOLDOUT)
    texted = [arm for arm in measured if arm != HOLDOUT]
    against = [compare(measured[arm], base, level=level, elapsed=elapsed) for arm in texted] if base else []
    adjusted = holm([one.p for one in against])
    rows = [_measures(outcome, arm, of, contacted[arm]) | _cost(costs[arm]) for arm, of in measured.items()]
    for row, one, p in zip(rows, against, adjusted, strict=False):
        row |= one._asdict() | {"p_holm": p, "settled": is_settled(one, p, level)}
        row |= _extra(one, row)
        if row["arm"] in unknown and not math.isnan(row["price_low"]):
            row["price_high"] = math.inf
    return rows


def is_settled(one: Comparison, p_holm: float, level: float) -> bool:
    """Say whether a difference may be called one: its interval leaves out 0, and so do all comparisons together.

    An interval that holds at every look has no p-value beside it.
    """
    apart = one.low > 0 or one.high < 0
    return bool(apart and (math.isnan(p_holm) or p_holm < 1 - level))


def _measures(outcome: str, arm: str, of: Measure, contacted: int) -> dict[str, Any]:
    total = of.reached if isinstance(of, Share) else float(of.spent.sum())
    return {
        "outcome": outcome, "arm": arm, "people": of.people, "contacted": contacted, "total": total, "value": of.value,
    }  # fmt: skip


def _cost(costs: Mapping[str, float]) -> dict[str, Any]:
    """Return what an arm was billed, if in one currency: amounts in several are never added."""
    if len(costs) > 1:
        return {"cost": math.nan, "currency": None}
    return {"cost": sum(costs.values()), "currency": next(iter(costs), None)}


def _extra(one: Comparison, row: Mapping[str, Any]) -> dict[str, float]:
    """Return how many outcomes there were more than without the message, and what each cost."""
    low, high = one.low * row["people"], one.high * row["people"]
    sure = low if row["settled"] else min(low, 0.0)
    price = NO_PRICE if math.isnan(row["cost"]) else per_extra(row["cost"], sure, high)
    return {"extra_low": low, "extra_high": high, "price_low": price.low, "price_high": price.high}


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
        {
            "outcome": outcome,
            "arm": arm,
            "against": against,
            **one._asdict(),
            "p_holm": p,
            "settled": is_settled(one, p, level),
        }
        for (arm, against), one, p in zip(two, found, adjusted, strict=True)
    ]


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number by Holm's method; missing ones stay missing.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
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
