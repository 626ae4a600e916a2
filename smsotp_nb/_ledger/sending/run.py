"""One runner's hold on one campaign: claim before the first byte, settle after the answer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import pandas as pd

from ..._services import name_key, shown
from ..._warnings import warn_user
from ..._wire import SendReply
from ...errors import LedgerError, SmsOtpWarning
from ..file.locks import RunLock
from ..file.store import Store
from ..reading.frames import Price, counts, digits_of, fates, of_estimate, outcomes, prices, stated_beyond_prices
from ..reading.spending import billed
from ..record.approving import APPROVED, NOT_APPROVED, may_go
from ..record.beginning import OWNER_DIED, begin_changing, end_changing, give_up
from ..record.changing import places
from ..record.passcodes import learn_currency
from ..record.recording import Planned
from ..rows import contacts, runners
from ..rows.answers import Ints, totals_of
from ..rows.damage import understood
from ..rows.runners import void_at
from ..rows.statements import ANY, NEXT, ONE, Guess, Statements, guessed, later
from ..rows.tables import ACCEPTED, IN_DOUBT, MAY_HAVE_LEFT, PLANNED, SENDING
from ..server.address import in_code
from .holds import Holds, set_aside
from .rules import Rules
from .settling import Accepted, Claim, Ending, Found, Pending, Settling, Wanted

INTERRUPTED = "interrupted a second time before the answer came"

_ATTEMPT = "INSERT INTO attempt (campaign, chunk, session, started_at)"
_TAKE_BACK = "DELETE FROM attempt WHERE id=?"  # one that claimed nobody


@understood
class Account:
    """What a campaign tried and was billed so far; ``campaign`` None: nothing."""

    def __init__(self, store: Store, campaign: int | None) -> None:
        self._store, self._of = store, campaign

    def tried(self) -> int:
        return 0 if self._of is None else tried(counts(self._store, self._of))

    def prices(self) -> list[Price]:
        """Return what messages were billed that may have left, by their estimate, see `billed.prices`."""
        return [] if self._of is None else prices(self._store, self._of)

    def stated_beyond_prices(self) -> dict[str, int]:
        """Return by currency what replies stated in total above the prices of their rows, in micro-units."""
        return {} if self._of is None else stated_beyond_prices(self._store, self._of)


@understood
class Run(Account):
    """The right to send one campaign, held until ``close``; made by ``Ledger.begin``.

    On start every row found ``sending`` becomes in doubt: its process is dead, for the lock of the campaign is here.
    """

    def __init__(
        self,
        store: Store,
        campaign: int,
        lock: RunLock,
        *,
        clock: Callable[[], int],
        service: str,
        rules: Rules,
        ownership: Ownership | None = None,
    ) -> None:
        super().__init__(store, campaign)
        self.campaign, self._lock, self._clock = campaign, lock, clock
        self._ownership = ownership
        self._settling = Settling(store, campaign, clock)
        self.recovered = give_up(store, campaign, OWNER_DIED, now=clock())
        begin_changing(store, campaign)
        self._rows: int = store.asked("SELECT rows FROM campaign WHERE id=?", (campaign,))[0][0]
        self._holds = Holds(campaign, service, rules, clock)
        with store.snapshot() as connection:
            self._holds.begin(connection)
        self._aside: frozenset[int] = frozenset()
        self._not_approved = False

    @property
    def refused(self) -> str:
        """The code by which a claim was refused that would refuse every further one, else an empty text."""
        return NOT_APPROVED if self._not_approved else ""

    @property
    def claims_ahead(self) -> bool:
        """Whether a claim takes so long that the next one is best made while requests are under way."""
        return self._store.claims_ahead

    @property
    def in_code(self) -> str:
        """The argument that names its ledger in a line of code, where that needs one."""
        return in_code(self._store.path)

    def keep(self, deadline: float) -> None:
        """Hold the campaign while it runs, with requests that end within this many seconds."""
        self._lock.keep(deadline)

    @contextlib.contextmanager
    def _changing(self) -> Iterator[Statements]:
        """Run a block in a transaction that only the holder of the campaign may make."""
        with self._store.writing("NORMAL") as connection:
            if self._lock.renews(connection):
                yield connection
            self._lock.refuse_if_lost()

    def abandon(self) -> int:
        """Leave every row under way in doubt, and return how many; an answer that comes all the same is recorded."""
        return give_up(self._store, self.campaign, INTERRUPTED, now=self._clock())

    def set_aside(self) -> int:
        """Record whom the rules hold back now; their chunks are not among `chunks`. Return how many rows wait: those of
        them that may go later, or all still to go where the campaign is not approved.
        """
        with self._store.reading() as connection:
            if self._ownership is not None:
                self._ownership.check(connection)
            is_approved = may_go(connection, self.campaign)
        self._aside, waiting = self._holds.set_aside(self._store)
        return waiting if is_approved else self.counts()["planned"]

    def chunks(self) -> list[int]:
        """Return the numbers of the chunks with rows still to go, in order."""
        rows = self._store.asked(
            "SELECT chunk FROM chunk c WHERE campaign=? AND state IS NULL AND EXISTS (SELECT 1 FROM recipient r "
            "WHERE r.campaign=c.campaign AND r.chunk=c.chunk AND r.own_state=?) ORDER BY chunk",
            (self.campaign, PLANNED),
        )
        return [chunk for (chunk,) in rows if chunk not in self._aside]

    def pending(self, chunk: int) -> list[Pending]:
        """Return the rows of a chunk still to go that no rule holds back now, in order."""
        if self._holds.of(chunk):
            with self._changing() as connection:
                if self._ownership is not None:
                    self._ownership.check(connection)
                if not set_aside(connection, self.campaign, chunk, self._holds):
                    return []
        rows = self._store.asked(
            "SELECT position, '+' || number, est_parts, rate, currency FROM fate "
            "JOIN destination d ON d.id=destination WHERE campaign=? AND chunk=? AND state=? ORDER BY position",
            (self.campaign, chunk, PLANNED),
        )
        # Multiplied here: in SQLite a product that is too large for an integer is a rough one.
        return [
            Pending(position, to, None if parts is None or rate is None else parts * rate, currency)
            for position, to, parts, rate, currency in rows
        ]

    def hold(self, problem: str, *, chunk: int | None = None, positions: Sequence[int] = ()) -> None:
        """Name what holds rows back: these of a chunk, or all still to go that have no problem of their own."""
        still = (problem, self.campaign, PLANNED)
        where = "problem IS NULL AND chunk IN (SELECT chunk FROM chunk WHERE campaign=? AND state IS NULL)"
        rows = [tuple[object, ...]((*still, self.campaign))]
        if chunk is not None:
            where = "chunk=? AND position=?"
            rows = [(*still, chunk, position) for position in positions]
        with self._changing() as connection:
            connection.executemany(f"UPDATE recipient SET problem=? WHERE campaign=? AND own_state=? AND {where}", rows)

    def release(self) -> None:
        """Begin to send: forget what held rows back in an earlier call."""
        with self._changing() as connection:
            runners.note_decision(connection, "sending", rows=self._rows, now=self._clock(), campaign=self.campaign)
            connection.execute(
                "UPDATE recipient SET problem=NULL, not_before=NULL "
                "WHERE campaign=? AND own_state=? AND problem IS NOT NULL",
                (self.campaign, PLANNED),
            )

    def spoken(self) -> bool:
        """Say whether this campaign's service ever gave a valid reply, here or in another one."""
        found = self._store.asked(
            "SELECT 1 FROM campaign mine JOIN campaign c ON c.service=mine.service "
            "JOIN attempt a ON a.campaign=c.id WHERE mine.id=? "
            "AND (a.outcome IN ('accepted', 'partial') OR a.error_code IS NOT NULL) LIMIT 1",
            (self.campaign,),
        )
        return bool(found)

    def reached(self) -> Ints:
        return digits_of(self._store, self.campaign, MAY_HAVE_LEFT).to_numpy("int64")

    def billed(self) -> dict[str, int]:
        found = billed(self._store, [self.campaign])
        return dict(found[self.campaign].micros) if found else {}

    def without_estimate(self) -> list[str]:
        return of_estimate(
            self._store, self.campaign, "region", "(est_parts IS NULL OR rate IS NULL OR currency IS NULL)"
        )

    def estimate_currencies(self) -> list[str]:
        return of_estimate(self._store, self.campaign, "currency", "currency IS NOT NULL")

    def claim(self, chunk: int, positions: Sequence[int] | None = None) -> Claim | None:
        """Record the intent to send the planned rows of a chunk, or those of them at ``positions``.

        When this returns, the intent is on the disk. None: none of them is left, and then nothing may be sent.
        """
        wanted = Wanted(chunk, positions)
        return self._owned(self._store.together(lambda connection: self._claim(connection, wanted), "FULL"))

    def may_begin(self, claim: Claim) -> bool:
        """Say, last before its first byte, whether a claim still holds: it is not void, and nobody has opted out since.

        A claim that was made a moment ago has heard what was said by then.
        """
        if not claim.good_until.is_fresh():
            try:
                with self._store.reading() as connection:
                    if self._holds.has_stopped(connection, claim.to, since=claim.upto[1]):
                        return False
            except LedgerError:  # the next claim says why
                return False
        return not claim.good_until.has_passed()

    def uncount(self, claim: Claim, positions: Sequence[int]) -> None:
        """Let an attempt of which nothing was sent count as one with the next, for those of its rows still to go."""
        with self._changing() as connection:
            connection.executemany(
                "UPDATE recipient SET attempts=attempts-1 WHERE campaign=? AND chunk=? AND attempt=? AND own_state=? "
                "AND position=?",
                [(self.campaign, claim.chunk, claim.attempt, PLANNED, position) for position in positions],
            )

    def settle_reply(
        self, claim: Claim, reply: SendReply, *, seconds: float, then: Wanted | None = None
    ) -> Claim | None:
        """Record an accepted request: every matched number accepted, every number without a record in doubt.

        ``then`` is claimed in the same transaction, so that one wait for the disk serves an answer and the next intent.
        """
        # Added up before the transaction, in which no other thread records anything.
        accepted = Accepted(self._settling, claim, reply, seconds, totals_of(reply))
        found = self._settled(accepted.write, then)
        accepted.confirm()
        return self._owned(found)

    def settle(self, claim: Claim, ending: Ending, *, then: Wanted | None = None) -> Claim | None:
        """Record a request that was not accepted, or of which nobody knows; ``then`` as for ``settle_reply``."""
        return self._owned(
            self._settled(lambda connection: self._settling.not_accepted(connection, claim, ending), then)
        )

    def _settled(self, write: Callable[[Statements], None], then: Wanted | None) -> Found | None:
        def work(connection: Statements) -> Found | None:
            if not self._lock.is_held(connection):  # taken over: an answer that is late changes its contacts
                contacts.unpack(connection, self.campaign)
            write(connection)
            return self._claim(connection, then) if then else None

        return self._store.together(work, "FULL" if then else "NORMAL")

    def _owned(self, found: Found | None) -> Claim | None:
        """Refuse, outside of the transaction that others may share, what another account has taken over."""
        if self._ownership is not None:
            self._ownership.refuse_if_lost()
        self._lock.refuse_if_lost()
        if found is None:
            return None
        if self._ownership is not None:
            self._ownership.is_recorded = True
        self._holds.confirm(found.upto)
        if (claim := found.claim()) is not None:
            return claim
        unread = Claim(found.attempt, found.chunk, 0, (), ())
        self.settle(unread, Ending("NOT_SENT", phase="before", error="the record of its recipients cannot be read"))
        raise LedgerError(
            f"the recipients of request {found.attempt} cannot be read from the ledger: it was altered or is damaged. "
            "Nothing of this request was sent. See who else writes into it"
        )

    def _claim(self, connection: Statements, wanted: Wanted) -> Found | None:
        good_until = void_at()
        if not self._lock.renews(connection):
            return None
        said = self._holds.look(connection)
        attempt = self._begin_attempt(connection, wanted.chunk)
        if attempt is None:
            return None
        if not set_aside(connection, self.campaign, wanted.chunk, self._holds):
            connection.execute(_TAKE_BACK, (attempt,))
            return None
        going = f"own_state={PLANNED}"
        if wanted.positions is not None:
            going += f" AND position IN ({','.join(str(int(number)) for number in wanted.positions)})"
        mine = (self.campaign, wanted.chunk)
        is_whole = not wanted.is_part and self._claim_whole(connection, attempt, wanted.chunk, going)
        if not is_whole:
            usually = Guess(len(wanted.positions)) if wanted.positions else ANY
            claimed = guessed(
                connection,
                "UPDATE recipient SET own_state=?, problem=NULL, not_before=NULL, attempts=attempts+1, attempt=? "
                f"WHERE campaign=? AND chunk=? AND {going} "
                "AND (SELECT state FROM chunk WHERE campaign=? AND chunk=?) IS NULL",
                (SENDING, attempt, *mine, *mine),
                usually,
            ).rowcount
            if not claimed:
                connection.execute(_TAKE_BACK, (attempt,))
                return None
        # One row of text instead of a row for each number: every row fetched lets another thread in.
        row = later(
            connection,
            "SELECT count(*), group_concat(r.position), group_concat(r.number), max(c.body), "
            "count(*) FILTER (WHERE typeof(r.number)<>'integer' OR r.number<=0) FROM chunk c "
            "JOIN recipient r USING (campaign, chunk) WHERE campaign=? AND chunk=? "
            "AND (c.attempt=? OR r.attempt=? AND r.own_state=?)",
            (*mine, attempt, attempt, SENDING),
        )
        self._store.claimed(attempt, row)
        return Found(attempt, wanted.chunk, row, is_whole, (attempt, said), good_until)

    def _begin_attempt(self, connection: Statements, chunk: int) -> int | None:
        """Record an attempt and return its number; None where the campaign is not approved, or another account's."""
        values = (self.campaign, chunk, self._store.session, self._clock())
        may, asked = APPROVED, (self.campaign, self.campaign)
        mine = () if self._ownership is None else self._ownership.mine
        if self._ownership is not None:
            self._ownership.takes(connection, APPROVED, asked)
            may = f"{may} AND {OWNED}"
        begun = guessed(connection, f"{_ATTEMPT} SELECT ?, ?, ?, ? WHERE {may}", (*values, *asked, *mine), NEXT)
        if begun.rowcount:
            return begun.lastrowid
        self._not_approved = not may_go(connection, self.campaign)
        if self._not_approved or (self._ownership is not None and not self._ownership.held(connection)):
            return None
        return guessed(connection, f"{_ATTEMPT} VALUES (?, ?, ?, ?)", values, NEXT).lastrowid

    def _claim_whole(self, connection: Statements, attempt: int, chunk: int, going: str) -> bool:
        """Claim a chunk as a whole if all of its rows are to go; say whether it was."""
        sql = (
            "UPDATE chunk SET state=?, attempt=? WHERE campaign=? AND chunk=? AND state IS NULL AND NOT EXISTS ("
            f"SELECT 1 FROM recipient r WHERE r.campaign=chunk.campaign AND r.chunk=chunk.chunk AND NOT ({going}))"
        )
        return guessed(connection, sql, (SENDING, attempt, self.campaign, chunk), ONE).rowcount == 1

    def counts(self) -> dict[str, int]:
        return counts(self._store, self.campaign)

    def understood(self) -> AbstractContextManager[None]:
        """Run a block that works with what was read: what breaks on it is the ledger's."""
        return self._store.understood()

    def outcomes(self) -> pd.DataFrame:
        """Return the ledger's columns of the result table, one row for each recorded row, by position."""
        return outcomes(self._store, self.campaign)

    def placed(self, outcomes: pd.DataFrame, plan: Planned) -> pd.DataFrame:
        """Return outcomes of what was to be sent by their places in a plan's rows; the two are matched by person."""
        recorded = outcomes[outcomes["chunk"].notna().to_numpy()]
        with self._store.reading() as connection:
            place = places(connection, plan._as_planned, recorded["number"])
        return recorded.take(np.flatnonzero(place >= 0)).set_axis(place[place >= 0])

    def fates(self) -> pd.DataFrame:
        return fates(self._store, self.campaign)

    def close(self) -> None:
        """Leave what was recorded in the ledger's one file, and let the next runner in."""
        try:
            if self._store.is_open:  # else its file turned out to be another one
                end_changing(self._store, self.campaign, now=self._clock(), mine=self._lock.is_held)
                learn_currency(self._store, self.campaign)
                self._store.checkpoint()
        except LedgerError as error:  # every answer is recorded, or said to be in doubt when it is opened again
            warn_user(str(error))
        finally:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        # Where warnings are errors, the error that ends a send is the one to see.
        with contextlib.suppress(SmsOtpWarning) if kind else contextlib.nullcontext():
            self.close()


def tried(counts: Mapping[str, int]) -> int:
    """Return how many of the rows that `Run.counts` counted are no longer planned."""
    return sum(counts.values()) - counts["planned"] - counts["skipped"]


# By another key or spelling of the address the same name would be a new campaign and text everybody again. So a name
# belongs to the live service whose request claimed it first, for good: also when the campaign is purged, and when two
# begin at once. It passes on only as long as the former owner can have reached nobody.

OWNED = "(SELECT service FROM owner WHERE name_key=?)=?"  # in SQL: the name is this service's, see `Ownership.mine`


@dataclass(slots=True)
class Ownership:
    """The check of one run before each claim: whether the name is this service's, or can become its own."""

    name: str
    service: str
    mine: tuple[str, str] = field(init=False)  # the values of `OWNED`
    is_recorded: bool = False  # so that a claim need not take the name
    _lost_to: str = ""

    def __post_init__(self) -> None:
        self.mine = name_key(self.name), self.service

    def _owner(self, connection: Statements) -> str | None:
        found = connection.execute("SELECT service FROM owner WHERE name_key=?", self.mine[:1]).fetchone()
        return found[0] if found else None

    def held(self, connection: Statements) -> bool:
        """Take or keep the name, inside the transaction of a claim; return whether it is this service's."""
        owner = self._owner(connection)
        if owner == self.service:
            return True
        if owner is not None and _reached(connection, self.mine[0], owner):
            self._lost_to = owner
            return False
        sql = "INSERT INTO owner VALUES (?, ?) ON CONFLICT (name_key) DO UPDATE SET service=excluded.service"
        connection.execute(sql, self.mine)
        return True

    def takes(self, connection: Statements, condition: str, values: tuple[object, ...]) -> None:
        """Take a name that is nobody's, where a condition is true, inside the transaction of a claim."""
        if not self.is_recorded:
            sql = f"INSERT INTO owner (name_key, service) SELECT ?, ? WHERE {condition} ON CONFLICT DO NOTHING"
            guessed(connection, sql, (*self.mine, *values), ANY)

    def refuse_if_lost(self) -> None:
        """Raise the error for what `held` found, outside of the transaction."""
        if self._lost_to:
            raise self._refusal(self._lost_to)

    def check(self, connection: Statements) -> None:
        """Refuse at the start what every claim would refuse."""
        owner = self._owner(connection)
        self.is_recorded = owner == self.service
        if owner is not None and not self.is_recorded and _reached(connection, self.mine[0], owner):
            raise self._refusal(owner)

    def _refusal(self, owner: str) -> LedgerError:
        return LedgerError(
            f"campaign {self.name!r} has already texted people, recorded under another key, variant or address "
            f"({shown(owner)}, id {owner!r}). Nothing was sent. If this is the same account, go on with "
            f"Settings(..., service={owner!r}); if it is a new campaign, choose another campaign name"
        )


def _reached(connection: Statements, key: str, service: str) -> bool:
    """Return whether a campaign may have reached anybody; a purged one may have."""
    found = connection.execute(
        "SELECT 1 FROM campaign c WHERE c.name_key=? AND c.service=? AND c.kind='campaign' AND (c.purged<>0 OR EXISTS ("
        f"SELECT 1 FROM fate f WHERE f.campaign=c.id AND f.state IN ({SENDING}, {ACCEPTED}, {IN_DOUBT}))) LIMIT 1",
        (key, service),
    )
    return found.fetchone() is not None
