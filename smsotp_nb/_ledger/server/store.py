"""A ledger on a PostgreSQL server: the verbs of `store.Store`, over a connection that speaks as SQLite's does.

All writers of a ledger take turns, by a lock on its one row in the table ``ledger``, as a file has one writer:
what a claim looks at cannot change before it is recorded, and requests are numbered in the order in which they are
recorded. Nothing depends on the state of a session, so a pooler in transaction mode may stand in between.

The same statement that takes the turn says whether this is still the database that was opened (`last_seen`), and
whether it keeps what it confirms.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import psycopg

from ..._moments import said
from ...errors import CampaignLockedError, LedgerError, ReplacedLedgerError
from ..file import store as stores
from ..file.last_seen import Session
from ..file.store import Store
from ..rows import damage, runners
from ..rows.statements import ONE, Draft, NotGuessed, Row, Statements, guessed
from ..rows.tables import VERSION
from .address import Address
from .connection import Connection, seen_again
from .dialect import tables
from .last_seen import PLACE, SEEN, TURN, Notes, Sighting

SINCE = "0.1"
# Asked for, because the default of a role may be another one: a snapshot that is older than the turn that was waited
# for does not know whom others have texted meanwhile.
BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
# Seconds that a transaction may stand still while it has the turn to write. A sender that is suspended (a laptop that
# sleeps, a container that is paused) holds up everybody else's opt-outs for so long, and the pages promise ten at most.
IDLE = 8.0
# Seconds that one may stand still which records a plan: until `take_turn` nobody waits for it.
IDLE_RECORDING = 3600.0
_SET = (
    "SELECT set_config('lock_timeout', '30s', true), "
    "set_config('idle_in_transaction_session_timeout', '{idle:g}s', true), "
    "set_config('synchronous_commit', {synchronous}, true)"
)
# A setting of the server above "on", such as remote_apply, stays as it is.
_NOW = "current_setting('synchronous_commit')"
_AS_SAFE = f"CASE WHEN {_NOW} IN ('off', 'local') THEN 'on' ELSE {_NOW} END"
_SYNCHRONOUS = {"FULL": _AS_SAFE, "NORMAL": "'off'"}


NOT_GUESSED = object()


@dataclass(slots=True)
class Served:
    """An open ledger on a server: its connection, the database it was seen to be, and what was noted of it here."""

    connection: Connection
    ledger: bytes
    sighting: Sighting
    notes: Notes
    acts: int = 0
    latest: int = 0  # the number of the latest request, as far as it is known
    _token: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)
    _inserted: Any = field(default=None, repr=False)
    _begun: bool = False
    _noted: bool = False

    @property
    def session(self) -> int:
        """The number of this session, in a transaction that writes."""
        return int((self._inserted and self._inserted.lastrowid) or 0)

    def begin(self, synchronous: str, *, has_turn: bool = True) -> None:
        """Begin a transaction: wait for the turn to write, and see that the database is the one that was opened.

        Without the turn it holds up nobody, and `take_turn` is called before it changes what others look at.
        """
        look = TURN if has_turn else f"SELECT {SEEN} FROM ledger l, served s"
        self.connection.begin([*_beginning(synchronous, IDLE if has_turn else IDLE_RECORDING), look], self._see)
        self.connection.has_turn = has_turn
        if self._inserted is None:
            sql, now = "INSERT INTO session (token, started_at) VALUES (?, ?)", time.time_ns() // 1000
            self._inserted = self.connection.execute(sql, (self._token, now))

    def take_turn(self) -> None:
        """Wait, in a transaction that began without it, for the turn to write."""
        self.connection.execute(f"SELECT set_config('idle_in_transaction_session_timeout', '{IDLE:g}s', true)")
        self._see(self.connection.execute(TURN).fetchone())
        self.connection.has_turn = True

    def drafted(self, works: Sequence[Callable[[Any], Any]], synchronous: str) -> list[Any]:
        """Record pieces of work with one message, as one transaction; return their results if all were guessed.

        `NOT_GUESSED` stands for work that was left out, because it needs a result that nobody can guess. Where a guess
        was wrong or there is nothing to send, the list is empty, and the transaction, if any, is to be rolled back.
        """
        if not self._begun:
            return []
        draft, results = Draft(self.latest), []
        for work in works:
            try:
                results.append(draft.run(work))
            except NotGuessed:
                results.append(NOT_GUESSED)
        if not draft.statements:
            return []
        began = [*((text, ()) for text in _beginning(synchronous, IDLE)), seen_again(self.sighting)]
        brought = self.connection.together(began, draft.guesses())
        if not brought:  # the plain way meets the same error and says so, unless a wrong guess caused it
            return []
        self._see(next((row[:-1] for row in brought[len(began) - 1].rows), None))
        draft.brought = brought[len(began) :]
        return results

    def _see(self, row: Row | None) -> None:
        """Hold what the statement that takes the turn said against what was opened."""
        if row is None:
            raise LedgerError("the database of the ledger is empty; nothing was sent")
        seen = Sighting.read(row)
        seen.refuse_unsafe()
        self.sighting.refuse_another(seen)
        self.sighting = seen
        self.latest = max(self.latest, seen.requests)

    def note_acts(self, *, durable: bool, claimed: bool) -> None:
        """Count a durable transaction without a request, as for a file."""
        if durable and not claimed:
            self.acts += 1
            self.connection.execute("UPDATE session SET acts=? WHERE token=?", (self.acts, self._token))

    def commit(self) -> None:
        """End the transaction; when this returns, the server has confirmed it."""
        if not self.connection.commit():
            raise LedgerError("the server took back what was recorded; nothing was sent. Call again")
        self._begun = True

    def rolled_back(self) -> None:
        if not self._begun:
            self._inserted, self.acts = None, 0

    def attest(self, attempt: int, recipients: int) -> None:
        now = time.time_ns() // 1000
        self.latest = max(self.latest, attempt)
        if not self._noted:
            self._noted = True
            self.notes.begin(Session(self._token, at=now))
        self.notes.note(self.sighting, attempt=attempt, recipients=recipients, acts=self.acts, at=now)

    def abandon(self) -> None:
        """Close the connection; what was not confirmed is rolled back by the server."""
        try:
            self.notes.close()
        finally:
            with contextlib.suppress(psycopg.Error):
                self.connection.close()

    close = abandon


class ServerStore(Store):
    """One database, with one connection for each process and one transaction at a time."""

    beyond = "the server's own files: free space until other rows take it, its log, standbys and backups"
    packs_ids = False
    claims_ahead = True

    def __init__(self, address: Address, *, create: bool = True, accept_older: bool = False) -> None:
        self.path = address
        self._create, self._accept_older = create, accept_older
        self._guard = threading.RLock()
        self._opened: Any = None
        self._claims = []
        self._waiting = deque()
        self.created = False
        stores._stores.add(self)
        with self.reading():
            self._create = False

    def lock(self, campaign: int, name: str) -> Any:
        return Lease(self, campaign, name)

    @contextlib.contextmanager
    def writing(
        self, synchronous: Literal["FULL", "NORMAL"] = "FULL", *, has_turn: bool = True
    ) -> Iterator[Connection]:
        """Run a block in one transaction; the server ends it if it stands still (`IDLE`)."""
        with self._using() as served:
            try:
                served.begin(synchronous, has_turn=has_turn)
                yield served.connection
                served.note_acts(durable=synchronous == "FULL", claimed=bool(self._claims))
                served.commit()
            except BaseException as error:
                self._end(served, error)
                raise
            self._committed(served, synchronous)

    def recording(self) -> contextlib.AbstractContextManager[Connection]:
        """Run a block in a transaction that has no turn yet: a million rows take longer than others can wait."""
        return self.writing(has_turn=False)

    def take_turn(self) -> None:
        """Wait for the turn to write, inside of `recording`."""
        with self._using() as served:
            served.take_turn()

    def now(self, connection: Statements, own: int) -> int:  # noqa: ARG002 - the server's counts for all
        return int(connection.execute(f"SELECT {NOW}").fetchone()[0])

    @contextlib.contextmanager
    def deciding(self) -> Iterator[Connection]:
        with self.writing() as connection:
            connection.send()  # what begins it waits otherwise for the first result
            yield connection

    def _committed(self, served: Served, synchronous: str) -> None:
        attempt, recipients = self._taken_claims()
        if synchronous == "FULL":
            served.attest(attempt, recipients)

    def _run_pieces(self, pieces: list[stores._Shared], synchronous: Literal["FULL", "NORMAL"]) -> None:
        if rest := self._run_drafted(pieces, synchronous):
            with self.writing(synchronous) as connection:
                for piece in rest:
                    piece.result = piece.work(connection)

    def _run_drafted(
        self, pieces: list[stores._Shared], synchronous: Literal["FULL", "NORMAL"]
    ) -> list[stores._Shared]:
        """Run pieces on guesses, in one round trip; return those that are not recorded: all where one was wrong."""
        with self._using() as served:
            try:
                if not (drafted := served.drafted([piece.work for piece in pieces], synchronous)):
                    self._claims = []
                    served.connection.roll_back(at_once=False)  # the same work follows, statement by statement
                    served.rolled_back()
                    return pieces
            except BaseException as error:
                self._end(served, error)
                raise
            self._committed(served, synchronous)
        for piece, result in zip(pieces, drafted, strict=True):
            piece.result, piece.done = result, result is not NOT_GUESSED
        return [piece for piece in pieces if not piece.done]

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._using() as served:
            yield served.connection

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Connection]:
        with self._using() as served:
            if served.connection.in_transaction:
                yield served.connection
                return
            try:
                served.connection.begin(["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"])
                yield served.connection
            finally:
                with contextlib.suppress(psycopg.Error):
                    served.connection.roll_back()

    def runner(self, _campaign: int) -> str:
        with self.reading() as connection:
            row = connection.execute(_ROW, (_campaign,)).fetchone()
        return f"{row[1]} since {said(row[3])}" if row and row[4] > row[5] else ""

    def refusal(self, error: Exception, campaign: str = "") -> Exception:
        """Return our error for work that broke on a value in the tables, without repeating that value."""
        return damage.explained(self.path, error, campaign)

    def checkpoint(self) -> bool:
        """Do nothing: the server does so by itself."""
        return True

    def vacuum(self) -> bool:
        """Let the server reuse the place of deleted rows; what its disk still holds is its administrator's matter."""
        with self._using() as served:
            served.connection.script("VACUUM")
        return True

    def remains_where(self) -> str:
        return f"the tables of {self.path}, whose deleted rows were not given up yet (the next opening does so)"

    def _end(self, served: Served, error: BaseException) -> None:
        self._claims = []
        if isinstance(error, Exception) and served.connection.in_transaction:
            with contextlib.suppress(psycopg.Error):
                served.connection.roll_back()
            served.rolled_back()
        else:  # it may be recorded or not: the next call connects anew
            served.connection.close()

    @contextlib.contextmanager
    def _using(self) -> Iterator[Served]:
        with self._guard:
            try:
                if self._opened is not None and self._opened.connection.closed:
                    self._let_go()
                if self._opened is None:
                    self._opened = self._connect()
                    self._accept_older = False
                served: Served = self._opened
                yield served
            except ReplacedLedgerError:
                self._let_go()
                raise
            except damage.OURS:
                raise
            except damage.FOREIGN as error:
                refusal = self.refusal(error)
            except psycopg.Error as error:
                refusal = _unusable(self.path, error)
                if self._opened is not None and self._opened.connection.closed:
                    self._let_go()
            except BaseException as error:
                if self._opened is not None and not isinstance(error, Exception):
                    self._opened.connection.close()
                raise
            else:
                return
            raise refusal from None

    def _connect(self) -> Served:
        address: Address = self.path
        connection = Connection.to(address)
        try:
            self.created = _make(connection, address, create=self._create) or self.created
            notes = Notes(address)
            row = connection.script(f"SELECT {SEEN} FROM ledger l, served s")
            if row is None:
                raise LedgerError(f"{address} has the tables of a ledger, and no ledger in them")
            seen = Sighting.read(row)
            seen.refuse_unsafe()
            seen = notes.refuse_older(connection, seen, partial(_accepted, connection) if self._accept_older else None)
        except BaseException:
            connection.close()
            raise
        return Served(connection, seen.ledger, seen, notes)


def _accepted(connection: Connection, seen: Sighting, why: str) -> Sighting:
    """Note in a database that somebody accepted it where it is now, for everybody."""
    connection.begin([BEGIN, "SELECT 1 FROM ledger FOR UPDATE"])
    connection.execute(f"UPDATE served SET place={PLACE}, accepted=accepted+1")
    runners.note_decision(connection, "older database accepted", rows=0, now=time.time_ns() // 1000, reason=why)
    connection.commit()
    return replace(seen, was=seen.place, accepted=seen.accepted + 1)


def _beginning(synchronous: str, idle: float) -> list[str]:
    return [BEGIN, _SET.format(synchronous=_SYNCHRONOUS[synchronous], idle=idle)]


# Not to_regclass, whose cache may say no although another client has made the table meanwhile.
_THERE = "SELECT EXISTS (SELECT 1 FROM pg_class WHERE relname='ledger' AND relkind='r' AND pg_table_is_visible(oid))"


def _make(connection: Connection, address: Address, *, create: bool) -> bool:
    """Make the tables of a ledger in an empty database; return whether they were made now."""
    if connection.script(_THERE)[0]:
        return False
    if not create:
        raise LedgerError(
            f"{address} has no ledger. A new ledger does not know who was texted: correct the address, or, to begin a "
            "record there, pass create=True"
        )
    # An error or an interrupt closes the connection, and the server rolls back what was begun.
    made = not connection.script(f"{BEGIN}; SELECT pg_advisory_xact_lock(1397575503); {_THERE}")[0]
    if made:  # nobody else has begun it meanwhile
        connection.script(tables())
        values = (secrets.token_bytes(16), secrets.token_bytes(32))
        connection.execute("INSERT INTO ledger (id, secret) VALUES (?, ?)", values)
        sql = f"INSERT INTO served (version, since, place, accepted) SELECT ?, ?, {PLACE}, 0"
        connection.execute(sql, (VERSION, SINCE))
    connection.script("COMMIT")
    return made


_REFUSED = re.compile(
    r'\A(?:permission denied for (?:table|view)|new row violates row-level security policy for table) "?(\w+)'
)
# What tells the documented roles apart: into which table only one of them writes. The owner of the tables may do all.
_TAKES = {
    "approval": "campaigns_approver",
    "decision": "campaigns_sender to plan and send, campaigns_approver to decide about rows in doubt",
    "consent": "campaigns_sender to record what people say, campaigns_team to forget them",
    **dict.fromkeys(("campaign", "attempt", "chunk"), "campaigns_sender"),
}


def _unusable(address: object, error: psycopg.Error) -> LedgerError:
    """Return our error for one of the driver; what its details quote of a row is left out."""
    said = error.diag.message_primary or next(iter(str(error).splitlines()), "")
    if not said or isinstance(error, psycopg.DataError):  # which quotes the value
        said = type(error).__name__
    if isinstance(error, psycopg.errors.InsufficientPrivilege) and (found := _REFUSED.search(said)):
        return LedgerError(
            f"the server does not let you do this in {address}: {said}. Nothing was recorded. It takes the role "
            f"{_TAKES.get(found[1], 'campaigns_team')}, as the guide of a team's ledger sets it up"
        )
    return LedgerError(
        f"the ledger {address} cannot be used: {said}. Nothing that was not recorded before is sent; see that the "
        "server runs and that you may use the database, then call again"
    )


NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"
_ROW = f"SELECT token, who, process, since, until, {NOW} FROM runner WHERE campaign=?"

# The holds of this process by their tokens, whether or not the server knows that one has ended.
_live: weakref.WeakValueDictionary[bytes, Lease] = weakref.WeakValueDictionary()


class Lease:
    """The hold on one campaign, from construction until ``release``."""

    def __init__(self, store: Store, campaign: int, name: str) -> None:
        self._store, self._campaign, self._name = store, campaign, name
        self._token, self._process, self._length = secrets.token_bytes(16), os.getpid(), runners.lease()
        self._ended, self._lost_to = threading.Event(), ""
        self._taken = False
        with store.reading() as connection:  # most of those who ask only look, and need not wait for others' writes
            self._refuse(connection)
        try:
            self._take(campaign)
        except BaseException:  # perhaps it was taken all the same, and only the server's answer was lost
            self._ended.set()
            _live.pop(self._token, None)
            raise

    def _take(self, campaign: int) -> None:
        with self._store.writing() as connection:
            self._refuse(connection)
            connection.execute("DELETE FROM runner WHERE campaign=?", (campaign,))
            connection.execute(
                "INSERT INTO runner (campaign, token, who, process, since, until) "
                f"VALUES (?, ?, ?, ?, {NOW}, {NOW} + ?)",
                (campaign, self._token, runners.me(), runners.process_key(), self._micros),
            )
            self._taken = True
            _live[self._token] = self

    def keep(self, deadline: float) -> None:
        """Report from now on that this runner is at work, whose requests end within this many seconds."""
        self._length = runners.lease(deadline)
        threading.Thread(target=_report, args=(weakref.ref(self), self._ended), daemon=True).start()

    def renews(self, connection: Statements) -> bool:
        """Prolong the hold inside a transaction; return whether it is still this one's, for `refuse_if_lost` too."""
        renewed = self.is_held(connection)
        if not renewed:
            row = connection.execute(_ROW, (self._campaign,)).fetchone()
            self._lost_to = row[1] if row else "somebody who has ended it since"
        return renewed

    def is_held(self, connection: Statements) -> bool:
        """Prolong the hold inside a transaction; return whether it is still this one's."""
        sql = f"UPDATE runner SET until={NOW} + ? WHERE campaign=? AND token=?"
        return guessed(connection, sql, (self._micros, self._campaign, self._token), ONE).rowcount == 1

    def refuse_if_lost(self) -> None:
        """Raise the error for what `renews` found, outside of the transaction."""
        if self._lost_to:
            raise CampaignLockedError(
                f"campaign {self._name!r} was taken over by {self._lost_to}, because this process did not report in "
                f"time. Nothing more was sent from here; call send again when it has ended there"
            )

    def release(self) -> None:
        """Let the next runner in; calling it again does nothing."""
        self._ended.set()
        if not self._taken or self._process != os.getpid():
            return
        self._taken = False
        _live.pop(self._token, None)
        try:
            with self._store.writing("NORMAL") as connection:
                connection.execute("DELETE FROM runner WHERE campaign=? AND token=?", (self._campaign, self._token))
        except LedgerError:  # the server is out of reach: the hold ends by itself
            return

    @property
    def _micros(self) -> int:
        return int(self._length * 1_000_000)

    def _refuse(self, connection: Statements) -> None:
        row = connection.execute(_ROW, (self._campaign,)).fetchone()
        if row is None or row[4] <= row[5] or runners.is_dead(row[2]):
            return
        token, who, process, since, until, _ = row
        mine = process == runners.process_key() and process
        if mine and bytes(token) not in _live:  # it has ended here, and could not say so to the server
            return
        found = re.search(r" on (\S+) \(process (\d+)\)$", who)
        raise CampaignLockedError(
            f"campaign {self._name!r} is being run by {'another call in this kernel' if mine else who} since "
            f"{said(since)}; wait for it, or stop it there, then call send again. If it has died, it can be taken "
            f"over after {said(until)} by the server's clock",
            host=found[1] if found else None,
            pid=int(found[2]) if found else None,
        )

    def _reported(self) -> bool:
        """Prolong the hold; return whether there is more to report."""
        try:
            with self._store.writing("NORMAL") as connection:
                return self.renews(connection)
        except LedgerError:  # the next report or claim may reach the server again; if none does, the hold ends
            return True


def _report(lease: weakref.ref[Lease], ended: threading.Event) -> None:
    while not ended.wait(runners.REPORT_EVERY):
        held = lease()
        if held is None or held._process != os.getpid() or not held._reported():
            return
        del held
