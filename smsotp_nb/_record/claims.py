"""Claims and outcomes as lists of statements: what a claim hands out, and what became of its request.

Nothing else hands out numbers: rows go from planned to sending here, and a claim's numbers are known to its caller only
when its transaction is on the disk. Nothing leads back to planned but the attempt itself, of which certainly nothing was
sent, and a person's decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from .._wire import SendReply
from . import send_rules
from .leases import HELD, Deadline, Lease
from .send_rules import SendRules
from .store import Many, Result, Statement
from .tables import ACCEPTED, IN_DOUBT, OPTED_OUT, PLANNED, REJECTED, SENDING, SKIPPED, WITHDRAWN

_LATEST: Final = "(SELECT max(id) FROM attempt)"
_CHUNK: Final = "campaign=? AND chunk=?"
_PROBLEMS: Final = {"rejected": "REJECTED", "in_doubt": "NO_ANSWER"}
_STATES: Final = {"rejected": REJECTED, "in_doubt": IN_DOUBT}


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """What a thread would claim next: the planned rows of a chunk, or those of them at ``positions``."""

    chunk: int
    positions: Sequence[int] | None = None
    is_part: bool = False  # other rows of the chunk are still to go after these


@dataclass(frozen=True, slots=True)
class Claim:
    """Rows whose intent to be sent is on the disk: one attempt, its numbers by position."""

    attempt: int
    chunk: int
    body: int
    positions: tuple[int, ...]
    to: tuple[str, ...] = field(repr=False)
    people: tuple[int, ...] = field(default=(), repr=False)
    good_until: Deadline = field(default_factory=Deadline.from_now)

    def __len__(self) -> int:
        return len(self.to)


@dataclass(frozen=True, slots=True)
class PendingRow:
    """A row still to go, with its estimate, so that a limit can say whether it may go."""

    position: int
    to: str = field(repr=False)
    est_micros: int | None
    currency: str | None


class AttemptOutcome(NamedTuple):
    """How one attempt ended, as the record keeps it.

    ``outcome`` is ``rejected``, ``in_doubt`` or, where certainly nothing was accepted and the rows go back to planned,
    a ``problem`` such as NOT_SENT.
    """

    outcome: str
    phase: str | None = None
    http_status: int | None = None
    error_code: str | None = None
    error: str | None = None
    request_id: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ClaimBuilder:
    """What the claims of one run have in common."""

    lease: Lease
    service: str
    rules: SendRules

    def statements(self, request: ClaimRequest, *, clock: int, now: int, people: Sequence[int]) -> list[Statement]:
        """Return a claim: the lease is prolonged, who must not go is marked, the attempt and its rows are recorded.

        Without its lease a claim changes nothing. An attempt that got no rows is deleted again.

        Args:
            request: what is claimed.
            clock: the time of the store, by which leases run.
            now: the time of the attempt.
            people: those of the chunk who have other numbers.
        """
        campaign, chunk = self.lease.campaign, request.chunk
        where = f"{_CHUNK} AND state={PLANNED} AND number IS NOT NULL AND coalesce(not_before, 0)<=?"
        if request.positions is not None:
            where += f" AND position IN ({','.join(str(int(position)) for position in request.positions)})"
        return [
            self.lease.prolonged(clock),
            *send_rules.statements(self.rules, _CHUNK, (campaign, chunk), now, people),
            (
                f"INSERT INTO attempt (campaign, chunk, service, started_at) SELECT ?, ?, ?, ? WHERE {HELD}",
                (campaign, chunk, self.service, now, *self.lease.key),
            ),
            (
                f"UPDATE recipient SET state={SENDING}, problem=NULL, not_before=NULL, attempts=attempts+1, "
                f"attempt={_LATEST} WHERE {where} AND {HELD} RETURNING attempt, position, number, person, body",
                (campaign, chunk, now, *self.lease.key),
            ),
            (
                f"DELETE FROM attempt WHERE id={_LATEST} AND {_CHUNK} AND outcome IS NULL AND NOT EXISTS (SELECT 1 "
                "FROM recipient r WHERE r.campaign=attempt.campaign AND r.chunk=attempt.chunk "
                "AND r.attempt=attempt.id)",
                (campaign, chunk),
            ),
        ]

    @staticmethod
    def read(results: Sequence[Result], request: ClaimRequest, good_until: Deadline) -> Claim | None:
        """Return what a claim's statements handed out; None where no row was left."""
        rows = sorted(results[-2].rows, key=lambda row: row[1])
        if not rows:
            return None
        attempts, positions, numbers, people, bodies = zip(*rows, strict=True)
        to = tuple(f"+{number}" for number in numbers)
        return Claim(attempts[0], request.chunk, bodies[0], positions, to, people, good_until)


def accepted(campaign: int, claim: Claim, reply: SendReply, *, seconds: float, now: int) -> list[Statement]:
    """Return what records an accepted request: each matched number is accepted, each other one in doubt.

    An answer that comes late is recorded whatever was decided of its attempt meanwhile, unless a later one has begun.
    """
    person_of = dict(zip(claim.to, claim.people, strict=True))
    currency = reply.currency
    records = Many(
        (id, *billing, currency, campaign, claim.chunk, person_of[to], claim.attempt)
        for to, id, billing in zip(reply.messages.to, reply.messages.ids, reply.messages.billings, strict=True)
    )
    outcome = AttemptOutcome(
        "partial" if reply.missing else "accepted",
        phase="body",
        http_status=200,
        error="the reply has no record of this number" if reply.missing else None,
        request_id=reply.request_id,
        seconds=seconds,
    )
    totals = (
        currency, reply.recipients, reply.message_count, reply.total_micros, "; ".join(reply.disagreements()) or None
    )  # fmt: skip
    statements: list[Statement] = [_ended(claim, outcome, now, totals)]
    if records:
        sql = (
            f"UPDATE recipient SET state={ACCEPTED}, problem=NULL, not_before=NULL, id=?, iso=?, cc=?, parts=?, "
            f"micros=?, currency=? WHERE {_CHUNK} AND person=? AND attempt=?"
        )
        statements.append((sql, records))
    if reply.missing:
        statements.append((
            f"UPDATE recipient SET state={IN_DOUBT}, problem='NO_RECORD' WHERE {_CHUNK} AND attempt=? "
            f"AND state={SENDING}",
            (campaign, claim.chunk, claim.attempt),
        ))  # fmt: skip
    return statements


def not_accepted(campaign: int, claim: Claim, outcome: AttemptOutcome, *, now: int) -> list[Statement]:
    """Return what records a request that was not accepted, or of which nobody knows.

    Of one that was certainly not sent the rows are planned again, unless the campaign was withdrawn or a person asked
    to be forgotten meanwhile. Rows of which a person decided meanwhile stay as decided.
    """
    mine = f"{_CHUNK} AND attempt=? AND state={SENDING}"
    values = (campaign, claim.chunk, claim.attempt)
    statements = [_ended(claim, outcome, now, (None,) * 5)]
    state = _STATES.get(outcome.outcome)
    if state is not None:
        sql = f"UPDATE recipient SET state=?, problem=? WHERE {mine}"
        return [*statements, (sql, (state, _PROBLEMS[outcome.outcome], *values))]
    statements += came_back(campaign, mine, values, outcome.outcome)
    return statements


def came_back(campaign: int, where: str, values: Sequence[Any], problem: str | None) -> list[Statement]:
    """Return what makes rows planned again of which nothing was sent, or skips them where they may not go any more."""
    is_withdrawn = "EXISTS (SELECT 1 FROM campaign WHERE id=? AND withdrawn=1)"
    planned = f"UPDATE recipient SET state={PLANNED}, problem="
    return [
        (
            f"UPDATE recipient SET state={SKIPPED}, problem='{OPTED_OUT}' WHERE {where} AND number IS NULL",
            tuple(values),
        ),
        (
            f"UPDATE recipient SET state={SKIPPED}, problem='{WITHDRAWN}' WHERE {where} AND {is_withdrawn}",
            (*values, campaign),
        ),
        (f"{planned}{'NULL' if problem is None else '?'} WHERE {where}",
         tuple(values) if problem is None else (problem, *values)),
    ]  # fmt: skip


def uncounted(campaign: int, claim: Claim, positions: Sequence[int]) -> list[Statement]:
    """Return what lets an attempt of which nothing was sent count as one with the next, for rows still to go."""
    places = ",".join(str(int(position)) for position in positions)
    sql = (
        f"UPDATE recipient SET attempts=attempts-1 WHERE {_CHUNK} AND attempt=? AND state={PLANNED} "
        f"AND position IN ({places})"
    )
    return [(sql, (campaign, claim.chunk, claim.attempt))]


def _ended(claim: Claim, outcome: AttemptOutcome, now: int, totals: Sequence[Any]) -> Statement:
    *evidence, seconds = outcome
    milliseconds = None if seconds is None else round(seconds * 1_000)
    return (
        "UPDATE attempt SET settled_at=?, outcome=?, phase=?, http_status=?, error_code=?, error=?, request_id=?, "
        "milliseconds=?, currency=?, recipients=?, message_count=?, total=?, disagreement=? "
        "WHERE id=?",
        (now, *evidence, milliseconds, *totals, claim.attempt),
    )
