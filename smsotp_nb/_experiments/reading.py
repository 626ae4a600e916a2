"""An experiment read: each arm as it was assigned, beside the holdout, with what an extra outcome cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

import numpy as np
import pandas as pd

from .. import columns
from .._calling import not_a, not_choice, not_frame, refuse
from .._cards import Card, WithCard
from .._frames import AnyFrame, as_pandas
from .._moments import Now, utc_now
from .._pandas import lent
from .._wire import amount as from_micros
from ..errors import UsageError
from . import comparing, picture, statistics, words
from .declaring import ASSIGNMENT, HOLDOUT, KINDS
from .joining import AFTER, BEFORE, UNKNOWN, Joined, joined
from .statistics import Ratio

State = Literal["waiting", "uneven", "early", "sequential", "read"]


@dataclass(frozen=True, slots=True, eq=False)
class Reading(WithCard):
    """What an experiment came to.

    ``frame`` has a row for each outcome and arm, ``pairs`` one for each two arms, ``left_out`` the rows of outcomes
    that count for nobody, with their ``problem``; ``exploration`` one for each segment, for ideas only. ``state`` is
    ``read``; ``early`` or ``sequential`` before the reading day; ``waiting`` or ``uneven`` when only the counts are
    there, because the day has not come or the check of the sizes is red.
    """

    name: str
    state: State
    frame: pd.DataFrame
    pairs: pd.DataFrame
    left_out: pd.DataFrame
    ratio: Ratio | None
    costs: Mapping[str, Mapping[str, float]]
    facts: words.Facts
    exploration: pd.DataFrame = field(default_factory=lambda: comparing.table((), comparing.SEGMENTS))

    def sentence(self) -> str:
        """Return a paragraph that may be quoted; it never says more than the intervals.

        Who was texted by other campaigns comes first.
        """
        said = words.paragraph(self.state, self.frame, self.pairs, self.ratio, self.facts)
        return " ".join([*words.elsewhere(self.facts), said])

    def chart(self) -> Card:
        """Return the intervals as a card."""
        return picture.chart(self.name, self.frame, self.facts)

    def card(self) -> Card:
        """Return the reading as a card."""
        return picture.card(self.name, self.state, self.frame, self.pairs, self.ratio, self.facts, self.exploration)


def read(
    assigned: AnyFrame,
    outcomes: AnyFrame,
    *,
    on: Hashable,
    at: Hashable,
    amount: Hashable | None = None,
    kinds: Mapping[str, str],
    window: timedelta,
    read_on: datetime | None = None,
    early: Literal[False, True, "sequential"] = False,
    weights: Mapping[str, float] | None = None,
    currency: str = "",
    explore: Hashable | None = None,
    level: float = 0.95,
    name: str = "",
    to_go: int = 0,
    forgotten: Mapping[str, int] | None = None,
    now: Now = utc_now,
) -> Reading:
    """Read an experiment: outcomes by the arm each person was assigned to, whatever became of the message.

    Arguments are those of `Experiment.read`, and besides:

    Args:
        assigned: a row for each unit, as `Experiment.assigned` returns them; ``in_doubt``, ``unpriced`` and
            ``elsewhere`` may be missing.
        kinds: ``binary`` or ``amount`` for each outcome. A binary outcome is any row, or a true one in its own column.
        window: how long after its send an outcome counts for a unit.
        read_on: the reading day, named before; by default when the last window closes.
        weights: the declared share of each arm, for the sample-ratio check; the arms are shown in this order.
        level: coverage of each interval.
        to_go: how many people its campaigns are still to text.
        forgotten: how many people of each arm were forgotten; they were drawn, and are in no figure.

    Raises:
        UsageError: nothing was sent yet, a unit is there twice, or a column is missing or holds something else.

    Example:
        >>> sent = pd.Timestamp("2026-11-01 10:00", tz="UTC")
        >>> people = pd.DataFrame({"unit": range(2000), "arm": ["plain", "holdout"] * 1000, "at": sent,
        ...                        "contacted": [True, False] * 1000, "cost": [0.0075, 0] * 1000, "currency": "USD"})
        >>> orders = pd.DataFrame({"customer": range(0, 200, 2), "day": sent + timedelta(days=1)})
        >>> reading = read(people, orders, on="customer", at="day", kinds={"bought": "binary"},
        ...                window=timedelta(days=14))
        >>> reading.frame[["arm", "people", "total", "low", "high"]].round(3).to_string(index=False)
        '    arm  people  total   low  high\\n  plain    1000  100.0 0.082 0.12\\nholdout    1000    0.0   NaN   NaN'
    """
    assigned, outcomes = as_pandas(assigned), as_pandas(outcomes)
    refuse(not_frame("assigned", assigned), not_frame("outcomes", outcomes))
    _check(assigned, kinds, window, early)
    found = joined(
        assigned, outcomes, on=on, at=at, amount=amount, kinds=kinds, window=window, declared=[*(weights or {})]
    )
    day = read_on or (assigned["at"].max() + window).to_pydatetime()
    gone = forgotten or {}
    sizes = dict(Counter(found.people()) + Counter(gone))
    checked = statistics.check(sizes, _weights(weights, sizes)) if weights else None
    state = _state(now() < day, early, checked)
    doubt, unpriced = (_messages(assigned, found, name) for name in ("in_doubt", "unpriced"))
    contacted, costs = found.people(assigned["contacted"].to_numpy("bool")), _costs(assigned, found)
    unsent = {arm: people for arm, people in found.people().items() if arm != HOLDOUT and not contacted[arm]}
    facts = words.Facts(
        kinds, currency, level, day, window, _said_left_out(found.left_out), found.counted, to_go,
        _elsewhere(assigned, found), doubt, unpriced, _dearest(assigned, found), gone, unsent,
    )  # fmt: skip
    unknown = {
        arm: (doubt[arm] + unpriced[arm]) * facts.dearest.get(arm, math.inf)
        for arm in found.arms
        if doubt[arm] or unpriced[arm]
    }
    if state in ("waiting", "uneven"):
        rows, two = _counts(found, contacted), comparing.table((), comparing.PAIRS)
        return Reading(name, state, rows, two, lent(found.left_out), checked, costs, facts)
    elapsed = _elapsed(assigned["at"], window, now()) if state == "sequential" else None
    measured = {
        outcome: {arm: one for arm, one in found.measured(outcome).items() if arm not in unsent} for outcome in kinds
    }
    rows = comparing.table(
        [
            row
            for outcome, of in measured.items()
            for row in comparing.by_arm(
                outcome, of, contacted=contacted, costs=costs, unknown=unknown, level=level, elapsed=elapsed
            )
        ],
        comparing.ARMS,
    )
    two = comparing.table(
        [row for outcome, of in measured.items() for row in comparing.pairs(outcome, of, level=level, elapsed=elapsed)],
        comparing.PAIRS,
    )
    pieces = _explored(assigned, found, unsent, explore, level) if state == "read" else None
    more = {} if pieces is None else {"exploration": pieces}
    return Reading(name, state, rows, two, lent(found.left_out), checked, costs, facts, **more)


def _explored(
    assigned: pd.DataFrame, found: Joined, unsent: Mapping[str, int], explore: Hashable | None, level: float
) -> pd.DataFrame | None:
    if explore is None:
        return None
    columns.require(explore, assigned.columns, where="explore=")
    pieces = comparing.explore(found, assigned[explore], level=level)
    return pieces[~pieces["arm"].isin([*unsent]).to_numpy(bool)]


def _check(assigned: pd.DataFrame, kinds: Mapping[str, str], window: timedelta, early: object) -> None:
    for column in ASSIGNMENT:
        columns.require(column, assigned.columns, where="the assignment")
    wrong = [not_choice(f"kinds[{name!r}]", kind, KINDS) for name, kind in kinds.items()]
    refuse(
        *wrong,
        None if kinds else "kinds= must name an outcome, such as {'bought': 'binary'}",
        not_a("window", window, timedelta, wanted="a timedelta such as timedelta(days=14)"),
        None if early in (False, True, "sequential") else "early= must be False, True or 'sequential'",
    )
    if not assigned["contacted"].any():
        raise UsageError("nothing was sent in this experiment yet; send the plans of its arms, then read it")
    missing = assigned.index[assigned[["unit", "arm", "at"]].isna().any(axis=1)]
    if len(missing):
        raise UsageError(
            f"the assignment must have unit, arm and at in every row; rows {[*missing[:3]]} lack one of them"
        )


def _state(is_early: bool, early: object, checked: Ratio | None) -> State:
    if checked is not None and checked.is_red:
        return "uneven"
    if not is_early:
        return "read"
    if early == "sequential":
        return "sequential"
    return "early" if early else "waiting"


def _elapsed(sent: pd.Series, window: timedelta, now: datetime) -> float:
    """Return how much of everybody's window has passed."""
    since = (pd.Timestamp(now) - sent).dt.total_seconds()
    return float((since / window.total_seconds()).clip(0.0, 1.0).mean())


def _weights(weights: Mapping[str, float], sizes: Mapping[str, int]) -> Mapping[str, float]:
    unknown = [arm for arm in sizes if arm not in weights]
    if unknown:
        raise UsageError(f"weights= must name every arm; {', '.join(map(repr, unknown))} of the assignment is missing")
    return weights


def _counts(found: Joined, contacted: Mapping[str, int]) -> pd.DataFrame:
    rows = [{"arm": arm, "people": people, "contacted": contacted[arm]} for arm, people in found.people().items()]
    return comparing.table(rows, ("arm", "people", "contacted"))


def _messages(assigned: pd.DataFrame, found: Joined, name: str) -> dict[str, int]:
    """Return how many messages of each arm are of a kind; none where the assignment does not count them."""
    many = assigned[name].to_numpy("int64") if name in assigned.columns else np.zeros(len(assigned), np.int64)
    sums = np.bincount(found.arm, weights=many, minlength=len(found.arms))
    return dict(zip(found.arms, sums.astype(int).tolist(), strict=True))


def _dearest(assigned: pd.DataFrame, found: Joined) -> dict[str, float]:
    """Return the most that anybody of each arm was billed, which a message without a known price is counted at."""
    billed = assigned["cost"].groupby(found.arm).max()
    return {arm: float(billed[code]) for code, arm in enumerate(found.arms) if billed.get(code, 0.0) > 0}


def _elsewhere(assigned: pd.DataFrame, found: Joined) -> tuple[words.Texted, ...]:
    """Return whom other campaigns texted, by arm."""
    if "elsewhere" not in assigned.columns:
        return ()
    campaign, people = assigned["elsewhere"], found.people()
    texted = found.people(campaign.notna().to_numpy(bool))
    names = {arm: campaign[found.arm == code].dropna().unique().tolist() for code, arm in enumerate(found.arms)}
    return tuple(
        words.Texted(arm, texted[arm], people[arm], tuple(map(str, names[arm]))) for arm in found.arms if texted[arm]
    )


def _costs(assigned: pd.DataFrame, found: Joined) -> dict[str, dict[str, float]]:
    """Return what each arm was billed in each currency, summed in integer millionths."""
    codes, currencies = pd.factorize(assigned["currency"])
    code = found.arm * (len(currencies) + 1) + codes + 1
    micros = np.rint(assigned["cost"].to_numpy("float64") * 1_000_000)
    sums = np.bincount(code, weights=micros, minlength=len(found.arms) * (len(currencies) + 1))
    table = sums.reshape(len(found.arms), -1)
    named = ["", *map(str, currencies)]
    return {
        arm: {currency: float(from_micros(int(total))) for currency, total in zip(named, row, strict=True) if total}
        for arm, row in zip(found.arms, table, strict=True)
    }


def _said_left_out(left_out: pd.DataFrame) -> Mapping[str, int]:
    counts = left_out["problem"].value_counts()
    return {problem: int(counts[problem]) for problem in (UNKNOWN, BEFORE, AFTER) if problem in counts}
