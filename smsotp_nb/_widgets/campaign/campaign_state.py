"""The campaign of the form: its plan, and how it stands to what the ledger has of it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ... import _planning as planning
from ..._dispatch.guards import Ahead
from ..._ledger import Ledger, Prospect, Record, Unfinished, limited
from ..._moments import utc_now
from ..._planning import Plan
from ..stages import TRIED
from .choices import Guards

NOBODY = Prospect(None)  # what becomes of no list
_LINE = ["status", "problem", "rows"]


class CampaignState:
    """A plan, and how it stands to the ledger, which is read by `look` alone.

    Attributes:
        plan: as it stood to the ledger when that was read last.
        counts: rows of the recorded campaign by state; empty where none is recorded.
        results: its result table; None where none is recorded.
        agreed: how many people a person let be texted by an unfinished campaign and by this one.
    """

    def __init__(self, plan: Plan, ledger: Ledger, service: str) -> None:
        self.plan = plan
        self._ledger, self._service = ledger, service
        self.counts: dict[str, int] = {}
        self.results: pd.DataFrame | None = None
        self.agreed = 0
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
