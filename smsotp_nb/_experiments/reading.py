"""An experiment read: each arm as it was assigned, beside the holdout, with what an extra outcome cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
import pandas as pd

from .._calling import not_frame, refuse
from .._cards import Card, WithCard
from .._frames import AnyFrame, as_pandas
from .._moments import Now, utc_now
from .._pandas import STR, lent
from .._wire import amount as from_micros
from . import comparing, picture, statistics, words
from .declaring import HOLDOUT, Declared
from .joining import AFTER, BEFORE, UNKNOWN, Joined, joined
from .statistics import Ratio

State = Literal["waiting", "uneven", "early", "sequential", "read"]
_LEVEL: Final = 0.95  # coverage of each interval


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
    asked: Declared,
    assigned: pd.DataFrame,
    outcomes: AnyFrame,
    *,
    at: str,
    on: str | None = None,
    amount: str | None = None,
    early: Literal[False, True, "sequential"] = False,
    currency: str = "",
    explore: str | None = None,
    to_go: int = 0,
    forgotten: Mapping[str, int] | None = None,
    now: Now = utc_now,
) -> Reading:
    """Read an experiment: outcomes by the arm each person was assigned to, whatever became of the message.

    Arguments are those of `Experiment.read`, and besides:

    Args:
        asked: the experiment as it was declared; one without arms has no check of their sizes.
        assigned: a row for each unit, as `Experiment.assigned` returns them; ``in_doubt``, ``unpriced`` and
            ``elsewhere`` may be missing.
        to_go: how many people its campaigns are still to text.
        forgotten: how many people of each arm were forgotten; they were drawn, and are in no figure.

    Raises:
        UsageError: a column of the outcomes is missing or holds something else.
    """
    rows = as_pandas(outcomes)
    refuse(
        not_frame("outcomes", rows),
        None if early in (False, True, "sequential") else "early= must be False, True or 'sequential'",
    )
    found = joined(assigned, rows, asked, on=asked.unit if on is None else on, at=at, amount=amount)
    people, contacted = found.people(), found.people(assigned["contacted"].to_numpy("bool"))
    gone, billed = forgotten or {}, assigned["cost"].groupby(found.arm).max()
    sizes = dict(Counter(people) + Counter(gone))
    checked = statistics.check(sizes, asked.weights) if asked.weights else None
    counts = found.left_out["problem"].value_counts()
    facts = words.Facts(
        kinds=asked.outcomes,
        currency=currency,
        level=_LEVEL,
        day=(assigned["at"].max() + asked.window).to_pydatetime(),
        window=asked.window,
        left_out={problem: int(counts[problem]) for problem in (UNKNOWN, BEFORE, AFTER) if problem in counts},
        counted=found.counted,
        to_go=to_go,
        elsewhere=_elsewhere(assigned, found),
        in_doubt=_messages(assigned, found, "in_doubt"),
        unpriced=_messages(assigned, found, "unpriced"),
        dearest={arm: float(billed[code]) for code, arm in enumerate(found.arms) if billed.get(code, 0.0) > 0},
        forgotten=gone,
        unsent={arm: many for arm, many in people.items() if arm != HOLDOUT and not contacted[arm]},
    )
    state, costs = _state(now() < facts.day, early, checked), _costs(assigned, found)
    tables: dict[str, pd.DataFrame] = {}
    if state in ("waiting", "uneven"):
        sizes_only = [{"arm": arm, "people": many, "contacted": contacted[arm]} for arm, many in people.items()]
        tables["frame"] = comparing.table(sizes_only, ("arm", "people", "contacted"))
        tables["pairs"] = comparing.table((), comparing.PAIRS)
    else:
        elapsed = None
        if state == "sequential":  # how much of everybody's window has passed
            since = (pd.Timestamp(now()) - assigned["at"]).dt.total_seconds()
            elapsed = float((since / asked.window.total_seconds()).clip(0.0, 1.0).mean())
        tables = _compared(found, facts, contacted, costs, elapsed)
    if state == "read" and explore is not None:
        pieces = comparing.explore(found, assigned[explore], level=_LEVEL)
        tables["exploration"] = pieces[~pieces["arm"].isin([*facts.unsent]).to_numpy(bool)]
    return Reading(asked.name, state, left_out=lent(found.left_out), ratio=checked, costs=costs, facts=facts, **tables)


def _compared(
    found: Joined,
    facts: words.Facts,
    contacted: Mapping[str, int],
    costs: Mapping[str, Mapping[str, float]],
    elapsed: float | None,
) -> dict[str, pd.DataFrame]:
    """Return each arm beside the holdout, and each two arms, of those that were texted."""
    missing = {arm: facts.in_doubt[arm] + facts.unpriced[arm] for arm in found.arms}
    unknown = {arm: many * facts.dearest.get(arm, math.inf) if many else 0.0 for arm, many in missing.items()}
    frame, pairs = [], []
    for outcome in facts.kinds:
        of = {arm: one for arm, one in found.measured(outcome).items() if arm not in facts.unsent}
        frame += comparing.by_arm(
            outcome, of, contacted=contacted, costs=costs, unknown=unknown, level=_LEVEL, elapsed=elapsed
        )
        pairs += comparing.pairs(outcome, of, level=_LEVEL, elapsed=elapsed)
    return {"frame": comparing.table(frame, comparing.ARMS), "pairs": comparing.table(pairs, comparing.PAIRS)}


def _state(is_early: bool, early: object, checked: Ratio | None) -> State:
    if checked is not None and checked.is_red:
        return "uneven"
    if not is_early:
        return "read"
    if early == "sequential":
        return "sequential"
    return "early" if early else "waiting"


def _messages(assigned: pd.DataFrame, found: Joined, name: str) -> dict[str, int]:
    """Return how many messages of each arm are of a kind; none where the assignment does not count them."""
    many = assigned[name].to_numpy("int64") if name in assigned.columns else np.zeros(len(assigned), np.int64)
    sums = np.bincount(found.arm, weights=many, minlength=len(found.arms))
    return dict(zip(found.arms, sums.astype(int).tolist(), strict=True))


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
    micros = (assigned["cost"].astype("float64") * 1_000_000).round()
    sums = micros.groupby([found.arm, assigned["currency"].fillna("").astype(STR)], sort=False).sum()
    costs: dict[str, dict[str, float]] = {arm: {} for arm in found.arms}
    for code, currency, total in sums[sums != 0].reset_index().itertuples(index=False):
        costs[found.arms[code]][str(currency)] = float(from_micros(int(total)))
    return costs
