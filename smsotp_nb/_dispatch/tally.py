"""What became of each request, added up for whoever watches a send."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .._ledger import Claim, Ending, Ledger, tried
from .._planning import Plan
from .._progress import Bar
from .._wire import SendReply
from ..results import Progress

ProgressCallback = Callable[[Progress], None]


@dataclass(slots=True)
class Tally:
    """Counts of rows by state and costs so far, for the progress callback; ``total`` with those to go."""

    total: int
    counts: dict[str, int]
    costs: Counter[str] = field(default_factory=Counter)

    def add(self, settled: Settled) -> None:
        for state, rows in settled.rows.items():
            self.counts[state] += rows
            self.counts["planned"] -= rows
        for currency, micros in settled.costs.items():
            self.costs[currency] += micros

    def progress(self) -> Progress:
        one = len(self.costs) == 1  # amounts in several currencies have no sum to show
        done = tried(self.counts)
        total = max(self.total, done)  # more than was foreseen, such as when quiet hours end
        return Progress(
            done=done,
            total=total,
            accepted=self.counts["accepted"],
            rejected=self.counts["rejected"],
            in_doubt=self.counts["in_doubt"],
            waiting=max(self.counts["planned"] - (total - done), 0),
            cost_micros=next(iter(self.costs.values())) if one else 0,
            currency=next(iter(self.costs)) if one else "",
            at=time.monotonic(),
        )


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of one chunk: rows by new state, cost in micro-units by currency, and contradictions in the reply."""

    rows: Mapping[str, int]
    costs: Mapping[str, int] = field(default_factory=dict)
    disagreement: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """How one request ended: the outcome to record (None: already recorded), and what became of its rows."""

    claim: Claim
    outcome: SendReply | Ending | None
    settled: Settled
    seconds: float = 0.0


def accepted(reply: SendReply) -> Settled:
    rows = {"accepted": len(reply.messages), **({"in_doubt": len(reply.missing)} if reply.missing else {})}
    costs = {reply.currency: reply.messages.billed_micros()} if reply.currency else {}
    return Settled(rows, costs, "; ".join(reply.disagreements()))


def silent(told: Progress) -> None:
    """Draw nothing."""


def callback_of(
    progress: bool | ProgressCallback, plan: Plan, ledger: Ledger
) -> contextlib.AbstractContextManager[ProgressCallback]:
    if callable(progress):
        return contextlib.nullcontext(progress)
    new = " (new)" if ledger.created else ""
    if progress:
        return Bar(plan.campaign, note=f"recorded in {ledger.path}{new}")
    return contextlib.nullcontext(silent)
