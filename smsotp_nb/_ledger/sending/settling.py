"""How the requests of a run ended, written inside the transactions that other threads' work may share."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field

from ..._wire import Billing, SendReply
from ..file.store import Store
from ..record import changing
from ..record.recording import billing_number
from ..rows.answers import Country, Whole, by_row, fits, totals_of, whole
from ..rows.numbering import number_of
from ..rows.statements import ANY, ONE, guessed
from ..rows.tables import ACCEPTED, IN_DOUBT, PLANNED, REJECTED, SENDING, spread
from .claims import Claim, Ending


@dataclass(frozen=True, slots=True)
class Settling:
    """What one run writes of its requests, and the numbers of countries and billings that it has met.

    Args:
        campaign: whose requests these are.
        clock: the time in microseconds.
    """

    store: Store
    campaign: int
    clock: Callable[[], int]
    _countries: dict[Country, int] = field(default_factory=dict)
    _billings: dict[Billing, int] = field(default_factory=dict)

    def not_accepted(self, connection: sqlite3.Connection, claim: Claim, ending: Ending) -> None:
        """Write a request that was not accepted, or of which nobody knows."""
        state = {"rejected": REJECTED, "in_doubt": IN_DOUBT}.get(ending.outcome, PLANNED)
        problem = {"rejected": "REJECTED", "in_doubt": "NO_ANSWER"}.get(ending.outcome, ending.outcome)
        self._write_attempt(connection, claim, ending)
        self._write_state(connection, claim, state, problem)

    def accepted(self, claim: Claim, reply: SendReply, seconds: float) -> Accepted:
        """Prepare an accepted request, before the transaction, in which no other thread records anything."""
        return Accepted(self, claim, reply, seconds, totals_of(reply))

    def _write_attempt(
        self,
        connection: sqlite3.Connection,
        claim: Claim,
        ending: Ending,
        totals: tuple[object, ...] = (None,) * 5,
        answers: Whole | None = None,
    ) -> None:
        guessed(
            connection,
            # What is kept whole stays as it is. The plus keeps a server from reading all requests of the campaign.
            "UPDATE attempt SET settled_at=?, outcome=?, phase=?, http_status=?, error_code=?, error=?, request_id=?, "
            "seconds=?, currency=?, recipients=?, message_count=?, total=?, disagreement=?, "
            "ids=?, kinds=? WHERE id=? AND +campaign=? AND ids IS NULL",
            (
                self.clock(),
                ending.outcome,
                ending.phase,
                ending.http_status,
                ending.error_code,
                ending.error,
                ending.request_id,
                ending.seconds,
                *totals,
                *(answers or (None, None)),
                claim.attempt,
                self.campaign,
            ),
            ANY,
        )

    def _write_state(self, connection: sqlite3.Connection, claim: Claim, state: int, problem: str | None) -> None:
        spread(connection, self.campaign, claim.chunk, claim.attempt)
        if state == PLANNED:
            state, problem = changing.come_back(connection, self.campaign, claim.chunk, problem)
            changing.leave_forgotten(connection, self.campaign, claim.chunk, attempt=claim.attempt)
        # Only rows still in this attempt: a person may have resolved a late one in the meantime.
        connection.execute(
            "UPDATE recipient SET own_state=?, problem=? WHERE campaign=? AND chunk=? AND attempt=? AND own_state=?",
            (state, problem, self.campaign, claim.chunk, claim.attempt, SENDING),
        )


@dataclass(frozen=True, slots=True)
class Accepted:
    """An accepted request: every matched number is accepted, every number without a record in doubt."""

    _settling: Settling
    _claim: Claim
    _reply: SendReply
    _seconds: float
    _totals: tuple[object, ...]
    _countries: dict[Country, int] = field(default_factory=dict)
    _billings: dict[Billing, int] = field(default_factory=dict)

    def write(self, connection: sqlite3.Connection) -> None:
        """Write it; a transaction that was taken back may write it again."""
        claim, reply = self._claim, self._reply
        self._learn(connection)
        answers = whole(claim.to, reply.messages, self._billings) if reply.currency else None
        if answers and claim.is_whole and self._accept_whole(connection):
            self._settling._write_attempt(connection, claim, self._ending, self._totals, answers)
            return
        self._settling._write_attempt(connection, claim, self._ending, self._totals)
        self._accept_by_row(connection)

    def confirm(self) -> None:
        """Know the numbers of its countries and billings; not before they are recorded."""
        self._settling._countries.update(self._countries)
        self._settling._billings.update(self._billings)

    @property
    def _ending(self) -> Ending:
        missing = self._reply.missing
        return Ending(
            "partial" if missing else "accepted",
            phase="body",
            http_status=200,
            error="the reply has no record of this number" if missing else None,
            request_id=self._reply.request_id,
            seconds=self._seconds,
        )

    def _learn(self, connection: sqlite3.Connection) -> None:
        """Find the numbers of the reply's countries and billings; what is new is recorded."""
        known, campaign = self._settling, self._settling.campaign
        for billing in self._reply.messages.tally:
            country = billing.iso, billing.cc
            named = {"iso": billing.iso, "cc": billing.cc}
            self._countries[country] = known._countries.get(country) or number_of(connection, "country", named)
            if fits(billing):
                kind = (self._countries[country], billing.parts, billing.price_micros)
                number = known._billings.get(billing) or billing_number(connection, campaign, kind)
                self._billings.update({billing: number} if number else {})

    def _accept_whole(self, connection: sqlite3.Connection) -> bool:
        """Make a chunk that is still under way as a whole, by this attempt, accepted; say whether it was."""
        sql = "UPDATE chunk SET state=? WHERE campaign=? AND chunk=? AND attempt=? AND state=?"
        values = (ACCEPTED, self._settling.campaign, self._claim.chunk, self._claim.attempt, SENDING)
        return guessed(connection, sql, values, ONE).rowcount == 1

    def _accept_by_row(self, connection: sqlite3.Connection) -> None:
        claim, reply, campaign = self._claim, self._reply, self._settling.campaign
        if claim.is_whole:
            spread(connection, campaign, claim.chunk, claim.attempt, usually=ONE)
        if reply.messages:
            place = dict(zip(claim.to, claim.positions, strict=True))
            answers = by_row(place, reply.messages, self._countries, packs_ids=self._settling.store.packs_ids)
            guessed(connection, answers.sql, (*answers.values, campaign, claim.chunk, claim.attempt), ANY)
        if reply.missing:
            self._settling._write_state(connection, claim, IN_DOUBT, "NO_RECORD")
