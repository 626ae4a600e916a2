"""The campaigns of the form: one for the whole list, or one for each text of a comparison.

A comparison draws people by chance. What is asked for holds for all texts together: the limit of the cost is divided
between them in proportion to their estimated cost, so that it cuts them alike, and of each text as many go first as
were asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Decimal
from typing import Any

import pandas as pd

from ... import _planning as planning
from ..._dispatch.guards import Ahead
from ..._experiments.experiment import Experiment
from ..._ledger import Ledger, Prospect, Record, Unfinished, limited
from ..._moments import utc_now
from ..._planning import Plan
from ...results import Progress
from ..stages import TRIED
from .choices import Choices, Guards

NOBODY = Prospect(None)  # what becomes of no list
_LINE = ["status", "problem", "rows"]
_MICRO = Decimal("0.000001")


class Arm:
    """One campaign: its people, its plan, and how both stand to the ledger, which is read by `look` alone.

    Attributes:
        plan: as it stood to the ledger when that was read last.
        counts: rows of the recorded campaign by state; empty where none is recorded.
        results: its result table; None where none is recorded.
        agreed: how many people a person let be texted by an unfinished campaign and by this one.
        going: how many the send under way takes.
        progress: of the send under way.
    """

    def __init__(self, frame: pd.DataFrame, plan: Plan, ledger: Ledger, service: str) -> None:
        self.frame, self.plan = frame, plan
        self._ledger, self._service = ledger, service
        self.counts: dict[str, int] = {}
        self.results: pd.DataFrame | None = None
        self.agreed = self.going = 0
        self.progress: Progress | None = None
        self._under: tuple[Any, Prospect] | None = None  # what was asked last of the limits, and the answer
        self.look()

    def look(self) -> None:
        """Read in the ledger how the plan stands to it: once a stage, for a million rows are not looked up quickly."""
        campaign = self.recorded()
        if campaign is not None:
            campaign._heed_opt_outs()
        self.counts = campaign.counts if campaign else {}
        self.plan = planning.seen(self.plan, self._now())
        frame, planned = campaign._table() if campaign else None, self.plan._as_planned
        self.results = frame.set_axis(planned.index) if frame is not None and len(frame) == len(planned) else frame

    def has_changed(self) -> bool:
        """Return whether the next send would do something else by now."""
        return not self._now().lines[_LINE].equals(self.prospect.lines[_LINE])

    def _now(self) -> Prospect:
        """Ask the ledger what the next send does, after what is recorded has followed the plan."""
        return self._ledger._prospect(self.plan, service=self._service, revised=True)

    def recorded(self) -> Record | None:
        if not self._ledger._knows(self.plan.campaign, service=self._service):
            return None
        return self._ledger.record(self.plan.campaign, service=self._service)

    def others(self) -> list[Unfinished]:
        """Return the unfinished campaigns with these people; one that is recorded itself was let through before."""
        return [] if self.counts else self._ledger._unfinished(self.plan, service=self._service)

    @property
    def prospect(self) -> Prospect:
        """What the next send does with each row, without limits; the ledger is not asked again."""
        return self.plan._prospect_now or NOBODY

    def under(self, guards: Guards) -> Prospect:
        """Return the same under these limits; a limit that cannot be read holds nobody back."""
        prospect, asked = self.prospect, guards.fields
        if guards.faults() or not prospect.to_go:
            return prospect
        limits = guards.limits(tried=self.tried)
        if not limits._looks_at_rows:
            return prospect
        if self._under is None or self._under[0] != (id(prospect), asked):
            account = self._ledger._account(self.plan.campaign, service=self._service)
            made = limited(prospect, self.plan._as_planned, Ahead(limits, account, utc_now))
            self._under = (id(prospect), asked), made
        return self._under[1]

    @property
    def tried(self) -> int:
        """Rows of the recorded campaign that were posted."""
        return sum(self.counts.get(state, 0) for state in TRIED)

    @property
    def waiting(self) -> int:
        """Rows that are to be texted, now or when a rule lets them."""
        return self.counts["planned"] if self.counts else self.prospect.to_go + self.prospect.waiting

    @property
    def to_go(self) -> int:
        """Rows that the next send would post without limits."""
        return self.prospect.to_go

    @property
    def revises(self) -> bool:
        """Whether what is recorded has to follow the plan before it is sent."""
        return bool(self.prospect.changed or self.prospect.added)

    def told(self) -> Progress:
        """Return how far the send under way is; at rest before it comes to this campaign."""
        if self.progress is not None:
            return self.progress
        counts: dict[str, Any] = {state: self.counts.get(state, 0) for state in TRIED}
        return Progress(
            done=self.tried, total=self.tried + self.going, waiting=max(self.waiting - self.going, 0), **counts
        )


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """An experiment and the campaigns of its texts; ``held_out`` counts people of the list who are not texted."""

    test: Experiment
    frame: pd.DataFrame
    drawn: Mapping[str, Any]  # the arguments of `Experiment.assign`
    arms: dict[str, Arm]
    held_out: int
    foreseen: tuple[str, ...]

    def record(self) -> None:
        self.test.assign(self.frame, **self.drawn)

    def results(self) -> pd.DataFrame:
        """Return the result tables of all texts below each other, with the column ``arm``."""
        tables = [(arm, of.results) for arm, of in self.arms.items() if of.results is not None]
        return pd.concat([table.assign(arm=arm) for arm, table in tables])


def of_arm(choices: Choices, name: str, words: str) -> Choices:
    """Return what is chosen for one text of a comparison, which is sent as a campaign of its own."""
    return replace(choices, campaign=f"{choices.campaign}/{name}", words=words)


def shared(guards: Guards, arms: Sequence[Arm]) -> list[Guards]:
    """Divide the limit of the cost between campaigns, in proportion to what their rows are estimated to cost."""
    limit = {} if guards.faults() or len(arms) < 2 else guards.limits().budget
    if not limit:
        return [guards] * len(arms)
    ((currency, amount),) = limit.items()
    costs = [planning.overview.costs(arm.plan._as_planned).get(currency, 0.0) for arm in arms]
    total = sum(costs)
    if not total:  # each send then says that it needs an estimate
        return [guards] * len(arms)
    parts = [(Decimal(amount) * Decimal(str(cost / total))).quantize(_MICRO, ROUND_DOWN) for cost in costs]
    return [Guards({**guards.fields, "budget": f"{currency} {part:f}"}) for part in parts]


def together(told: Sequence[Progress]) -> Progress:
    """Return how far several sends are as one."""
    currencies = {one.currency for one in told if one.cost_micros or one.currency}
    names = ("done", "total", *TRIED, "waiting")
    sums: dict[str, Any] = {name: sum(getattr(one, name) for one in told) for name in names}
    if len(currencies) == 1:
        sums |= {"cost_micros": sum(one.cost_micros for one in told), "currency": currencies.pop()}
    return Progress(**sums)
