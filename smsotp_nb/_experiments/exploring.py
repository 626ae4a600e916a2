"""Segments of an experiment, for ideas only: among many, some differ by chance."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

import pandas as pd

from .comparing import compare, table
from .joining import HOLDOUT, Joined

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
    return table([row for name, within in pieces for row in _of(name, found, within, each)], SEGMENTS)


def _of(name: Hashable, found: Joined, within: Any, level: float) -> list[dict[str, Any]]:
    rows = []
    for outcome in found.kinds:
        measured = found.measured(outcome, within)
        base = measured.get(HOLDOUT)
        for arm, of in measured.items():
            if arm == HOLDOUT or base is None or min(of.people, base.people) < _FEW:
                continue
            one = compare(of, base, level=level)
            row = {"segment": str(name), "outcome": outcome, "arm": arm, "people": of.people, "value": of.value}
            rows.append(row | {"difference": one.difference, "low": one.low, "high": one.high})
    return rows
