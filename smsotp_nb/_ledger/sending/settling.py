"""What a run hands out and takes back, and how its requests ended, inside transactions that others may share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..._wire import Billing, SendReply
from ..file.store import Store
from ..record import changing
from ..record.recording import billing_number
from ..rows.answers import Country, Whole, by_row, fits, whole
from ..rows.runners import Until, void_at
from ..rows.statements import ANY, ONE, Statements, guessed, number_of
from ..rows.tables import ACCEPTED, IN_DOUBT, OPTED_OUT, PLANNED, REJECTED, SENDING, SKIPPED, spread
from .holds import Upto


@dataclass(frozen=True, slots=True)
class Claim:
    """Rows whose intent to be sent is on the disk: one attempt, one chunk, its numbers by position."""

    attempt: int
    chunk: int
    body: int
    positions: tuple[int, ...]
    to: tuple[str, ...] = field(repr=False)
    is_whole: bool = True  # the chunk as a whole is under way, and its rows have no state of their own
    upto: Upto = (0, 0)  # what was recorded when it was decided, see holds
    good_until: Until = field(default_factory=void_at)  # a request that has not begun by then may not begin


class Found(NamedTuple):
    """A claim as its transaction read it, in texts; others may share the transaction, so it is read after that.

    ``row`` gives how many rows there are, their positions and numbers, the body, and how many have no number
    that may be texted.
    """

    attempt: int
    chunk: int
    row: Callable[[], tuple[Any, ...]]
    is_whole: bool
    upto: Upto
    good_until: Until

    def __repr__(self) -> str:
        return f"<claim {self.attempt}>"  # a traceback prints the variables of every frame

    def claim(self) -> Claim | None:
        """Return the claim; None where the record of its recipients cannot be read."""
        _, positions, numbers, body, odd = self.row()
        if odd:
            return None
        try:
            numbered = ("+" + numbers.replace(",", ",+")).split(",")
            pairs = sorted(zip(map(int, positions.split(",")), numbered, strict=True))
            places, to = zip(*pairs, strict=True)
            return Claim(self.attempt, self.chunk, int(body), places, to, self.is_whole, self.upto, self.good_until)
        except (AttributeError, TypeError, ValueError):
            return None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a thread would claim next: the planned rows of a chunk, or those of them at ``positions``."""

    chunk: int
    positions: Sequence[int] | None = None
    is_part: bool = False  # other rows of the chunk are still to go after these


@dataclass(frozen=True, slots=True)
class Pending:
    """A row still to go: its position, its number and its estimate, so that a guard can say whether it may go."""

    position: int
    to: str = field(repr=False)
    est_micros: int | None
    currency: str | None


class Ending(NamedTuple):
    """How one attempt ended, in the words that the ledger keeps as evidence, in the order of its columns.

    ``outcome`` is ``accepted``, ``partial``, ``rejected``, ``in_doubt`` or, where certainly nothing was accepted and
    the rows go back to planned, a ``problem`` such as NOT_SENT.
    """

    outcome: str
    phase: str | None = None
    http_status: int | None = None
    error_code: str | None = None
    error: str | None = None
    request_id: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Settling:
    """What one run writes of its requests, and the numbers of countries and billings that it has met."""

    store: Store
    campaign: int
    clock: Callable[[], int]
    _countries: dict[Country, int] = field(default_factory=dict)
    _billings: dict[Billing, int] = field(default_factory=dict)

    def not_accepted(self, connection: Statements, claim: Claim, ending: Ending) -> None:
        state = {"rejected": REJECTED, "in_doubt": IN_DOUBT}.get(ending.outcome, PLANNED)
        problem = {"rejected": "REJECTED", "in_doubt": "NO_ANSWER"}.get(ending.outcome, ending.outcome)
        self._write_attempt(connection, claim, ending)
        self._write_state(connection, claim, state, problem)

    def _write_attempt(
        self,
        connection: Statements,
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
            (self.clock(), *ending, *totals, *(answers or (None, None)), claim.attempt, self.campaign),
            ANY,
        )

    def _write_state(self, connection: Statements, claim: Claim, state: int, problem: str | None) -> None:
        spread(connection, self.campaign, claim.chunk, claim.attempt)
        # Only rows still in this attempt: a person may have resolved a late one in the meantime.
        mine = "WHERE campaign=? AND chunk=? AND attempt=? AND own_state=?"
        values = (self.campaign, claim.chunk, claim.attempt, SENDING)
        update = f"UPDATE recipient SET own_state=?, problem=? {mine}"
        if state == PLANNED:
            state, problem = changing.come_back(connection, self.campaign, claim.chunk, problem)
            # Who asked to be forgotten meanwhile has no number to be sent to.
            connection.execute(f"{update} AND number<0", (SKIPPED, OPTED_OUT, *values))
        connection.execute(update, (state, problem, *values))


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

    def write(self, connection: Statements) -> None:
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

    def _learn(self, connection: Statements) -> None:
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

    def _accept_whole(self, connection: Statements) -> bool:
        """Make a chunk that is still under way as a whole, by this attempt, accepted; say whether it was."""
        sql = "UPDATE chunk SET state=? WHERE campaign=? AND chunk=? AND attempt=? AND state=?"
        values = (ACCEPTED, self._settling.campaign, self._claim.chunk, self._claim.attempt, SENDING)
        return guessed(connection, sql, values, ONE).rowcount == 1

    def _accept_by_row(self, connection: Statements) -> None:
        claim, reply, campaign = self._claim, self._reply, self._settling.campaign
        if claim.is_whole:
            spread(connection, campaign, claim.chunk, claim.attempt, usually=ONE)
        if reply.messages:
            place = dict(zip(claim.to, claim.positions, strict=True))
            sql, values = by_row(place, reply.messages, self._countries, packs_ids=self._settling.store.packs_ids)
            guessed(connection, sql, (*values, campaign, claim.chunk, claim.attempt), ANY)
        if reply.missing:
            self._settling._write_state(connection, claim, IN_DOUBT, "NO_RECORD")
