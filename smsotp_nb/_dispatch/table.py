"""What ``send`` returns: the result table, and warnings about what is not complete."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from .._cards import counted
from .._ledger import Claim, Ending, Ledger, Run, state_line, tried, until
from .._pandas import STR
from .._planning import Plan
from .._planning.rows import InMemory
from .._progress import Bar
from .._results.contract import ALL, COLUMNS, STATES, ordered, without_zone
from .._showing import few
from .._warnings import warn_user
from .._wire import SendReply
from ..errors import CampaignIncomplete, LedgerError
from ..problems import explain
from ..results import Progress


def table_of(plan: Plan, recorded: pd.DataFrame | None) -> pd.DataFrame:
    """Return the result table: the plan's rows with what the ledger knows of those that were to be sent.

    ``recorded`` is by the place of each row in the plan, see `Run.placed`; None where nothing was recorded.
    """
    rows = plan._as_planned
    if recorded is None:
        unknown = [name for name in (*COLUMNS, "chunk") if name in {"status", "problem", "chunk"} or name not in rows]
        recorded = pd.DataFrame({name: pd.Series(dtype=ALL[name]) for name in unknown})
    by_position = recorded.reindex(range(len(rows)))
    table = pd.DataFrame(index=rows.index)
    for name, dtype in COLUMNS.items():
        if name == "campaign":
            column: Any = plan.campaign
        elif name in {"status", "problem"}:
            ours = pd.Series(rows[name].array).where(rows["status"].ne("planned").to_numpy())
            column = by_position[name].where(by_position["status"].notna(), ours).array
        else:
            column = by_position[name].array if name in by_position else rows[name].array
            column = without_zone(pd.Series(column)).array if isinstance(column.dtype, pd.DatetimeTZDtype) else column
        table[name] = pd.Series(column, index=rows.index, dtype=dtype)
    joined = pd.concat([table, rows[list(plan._kept)]], axis=1)[ordered(plan._kept)]
    return plan._held.with_index_names(joined) if isinstance(plan._held, InMemory) else joined


def nobody(plan: Plan) -> pd.DataFrame:
    """Return what ``send`` returns of a plan that has nobody to text."""
    if plan._held.folder is None:
        return table_of(plan, None)
    skipped = plan._held.problems.drop(columns="first_rows")
    skipped.insert(0, "status", pd.Series(["skipped"] * len(skipped), dtype=STR))
    return skipped


class Report:
    """What ``send`` tells at the end of a call: the campaign's result table, and warnings of what is not complete."""

    def __init__(self, plan: Plan, run: Run) -> None:
        self._plan, self._run = plan, run
        self._counts: dict[str, int] = {}
        self._until = ""

    def table(self, *, accepted: int) -> pd.DataFrame:
        """Return the result table, of which so many rows were recorded as accepted.

        Raises:
            LedgerError: fewer rows stand as accepted than were recorded, or rows have no state: the ledger was altered.
        """
        table = self._rows() if self._plan._held.folder is None else self._fates()
        unknown = int(table["status"].isna().sum())
        if unknown or self._counts["accepted"] < accepted:
            raise LedgerError(
                f"the ledger was altered while campaign {self._plan.campaign!r} was sent: {accepted:,} rows were "
                f"recorded as accepted, and {self._counts['accepted']:,} stand as such. Do not send it again from this "
                "ledger, which would text people twice; restore a backup, or see who else writes into it"
            )
        return table

    def _fates(self) -> pd.DataFrame:
        found = self._run.fates()
        self._until = until(found["earliest"].min(), found["latest"].max())
        self._counts = {name: int(found.loc[found["status"].eq(name), "rows"].sum()) for name in STATES}
        return found.drop(columns=["earliest", "latest"])

    def _rows(self) -> pd.DataFrame:
        outcomes = self._run.outcomes()
        self._until = until(outcomes["not_before"].min(), outcomes["not_before"].max())
        self._counts = {name: int(outcomes["status"].eq(name).sum()) for name in STATES}
        with self._run.understood():  # what it holds may have been altered since
            return table_of(self._plan, self._run.placed(outcomes, self._plan))

    def warn(self, stopper: tuple[str, str] | None, disagreements: Sequence[str]) -> None:
        """Warn of what is not complete (and held back until when), in doubt, or in disagreement with itself."""
        campaign, counts = self._plan.campaign, self._counts
        if counts["planned"]:
            held = f"rows are held back (see their problem){self._until}"
            others = f"; other {held}" if self._until else ""
            why = f"{explain(stopper[0])} ({stopper[1]}){others}" if stopper else f"{held}; call send again to continue"
            text = f"campaign {campaign!r} is not complete: {state_line(counts)}; {why}"
            warn_user(text, CampaignIncomplete)
        if counts["in_doubt"]:
            warn_user(
                f"{counted(counts['in_doubt'], 'row')} of campaign {campaign!r} in doubt: what may have been accepted "
                f"is not sent again. Look at sms.record({campaign!r}, client{self._run.in_code}).in_doubt "
                "and settle it"
            )
        if disagreements:
            many = counted(len(disagreements), "reply disagrees with its", "replies disagree with their")
            warn_user(f"{many} own records: {few([*dict.fromkeys(disagreements)])}; the table holds the records")


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
