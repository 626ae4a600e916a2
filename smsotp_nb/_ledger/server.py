"""A ledger on a PostgreSQL server: the verbs of `store.Store`, over a connection that speaks as SQLite's does.

All writers of a ledger take turns, by a lock on its one row in the table ``ledger``, as a file has one writer:
what a claim looks at cannot change before it is recorded, and requests are numbered in the order in which they are
recorded. Nothing depends on the state of a session, so a pooler in transaction mode may stand in between.

The same statement that takes the turn says whether this is still the database that was opened (`sighting`), and
whether it keeps what it confirms.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import psycopg
from psycopg.adapt import Loader
from psycopg.types.string import StrDumper

from .._visible import visible
from ..errors import LedgerError, LedgerReplaced
from . import store as stores
from .address import Address
from .damage import where
from .leasing import Lease, runner_of
from .marks import Session
from .sighting import SEEN, Notes, Sighting
from .spelling import spelled, tables
from .store import Store
from .tables import VERSION

SINCE = "0.1"
TOGETHER = 500  # statements of one round trip
_BEGIN = (
    "BEGIN; SET LOCAL lock_timeout='30s'; SET LOCAL idle_in_transaction_session_timeout='30s'; "
    "SELECT set_config('synchronous_commit', {synchronous}, true); "
    f"SELECT {SEEN} FROM ledger l, served s FOR UPDATE OF l"
)
# A setting of the server above "on", such as remote_apply, stays as it is.
_NOW = "current_setting('synchronous_commit')"
_AS_SAFE = f"CASE WHEN {_NOW} IN ('off', 'local') THEN 'on' ELSE {_NOW} END"
_SYNCHRONOUS = {"FULL": _AS_SAFE, "NORMAL": "'off'"}


class _Cursor(psycopg.ClientCursor[Any]):
    """A cursor with the attribute that the ledger reads of SQLite's."""

    @property
    def lastrowid(self) -> int | None:
        row = self.fetchone()
        return row[0] if row else None


class _Whole(Loader):
    """Sums of whole numbers come as ``numeric``."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text else int(text)


class _Text(StrDumper):
    """Text with what PostgreSQL cannot hold, a zero character or half a surrogate, has a question mark there."""

    def dump(self, obj: str) -> Any:
        return super().dump(fit(obj))

    def quote(self, obj: str) -> Any:
        return super().quote(fit(obj))


def fit(text: str) -> str:
    """Return a text as PostgreSQL holds it."""
    return text.replace("\0", "?").encode("utf-8", "replace").decode()


class Connection:
    """A connection to the server that takes the ledger's statements as SQLite's connection does."""

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self._raw = raw
        raw.adapters.register_loader("numeric", _Whole)
        raw.adapters.register_dumper(str, _Text)

    @property
    def user(self) -> str:
        """The name by which the server let this user in."""
        return str(self._raw.info.user)

    @property
    def in_transaction(self) -> bool:
        return not self._raw.closed and self._raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    @property
    def closed(self) -> bool:
        return bool(self._raw.closed)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> _Cursor:
        cursor = self._raw.cursor()
        cursor.execute(cast("Any", spelled(sql)), values)
        return cast("_Cursor", cursor)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> _Many:
        """Run a statement for each row, many in one round trip."""
        text, cursor, many = spelled(sql), cast("_Cursor", self._raw.cursor()), 0
        waiting: list[str] = []
        for values in rows:
            waiting.append(cursor.mogrify(cast("Any", text), values))
            if len(waiting) == TOGETHER:
                many += self._run(cursor, waiting)
        return _Many(many + self._run(cursor, waiting))

    def copy_in(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Record rows of a table, all in one go."""
        into = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        with self._raw.cursor() as cursor, cursor.copy(into.encode()) as copy:
            for row in rows:
                copy.write_row(row)

    def copy_out(self, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table in no order, without holding all of them."""
        listed = ", ".join(columns)
        with self._raw.cursor() as cursor:
            kinds = cursor.execute(f"SELECT {listed} FROM {table} LIMIT 0".encode()).description or ()
            with cursor.copy(f"COPY {table} ({listed}) TO STDOUT".encode()) as copy:
                copy.set_types([kind.type_code for kind in kinds])
                yield from copy.rows()

    def _run(self, cursor: _Cursor, waiting: list[str]) -> int:
        if not waiting:
            return 0
        cursor.execute(cast("Any", ";".join(waiting).encode()))
        waiting.clear()
        many = cursor.rowcount
        while cursor.nextset():
            many += cursor.rowcount
        return many

    def script(self, sql: str) -> Any:
        """Run several statements in one round trip and return the last one's first row."""
        cursor = self._raw.cursor()
        cursor.execute(cast("Any", sql.encode()))
        while cursor.nextset():
            pass
        return cursor.fetchone() if cursor.description else None

    def close(self) -> None:
        self._raw.close()


@dataclass(frozen=True, slots=True)
class _Many:
    rowcount: int


@dataclass(slots=True)
class Served:
    """An open ledger on a server: its connection, the database it was seen to be, and what was noted of it here."""

    connection: Connection
    ledger: bytes
    sighting: Sighting
    notes: Notes
    session: int = 0
    acts: int = 0
    _token: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)
    _begun: bool = False
    _noted: bool = False

    def begin(self, synchronous: str) -> None:
        """Begin a transaction, wait for the turn to write, and see that the database is the one that was opened."""
        row = self.connection.script(_BEGIN.format(synchronous=_SYNCHRONOUS[synchronous]))
        if row is None:
            raise LedgerError("the database of the ledger is empty; nothing was sent")
        seen = Sighting.read(row)
        seen.refuse_unsafe()
        self.sighting.refuse_another(seen)
        self.sighting = seen
        if not self.session:
            inserted = self.connection.execute(
                "INSERT INTO session (token, started_at) VALUES (?, ?)", (self._token, time.time_ns() // 1000)
            )
            self.session = int(inserted.lastrowid or 0)

    def note_acts(self, *, durable: bool, claimed: bool) -> None:
        """Count a durable transaction without a request, as for a file."""
        if durable and not claimed:
            self.acts += 1
            self.connection.execute("UPDATE session SET acts=? WHERE id=?", (self.acts, self.session))

    def commit(self) -> None:
        """End the transaction; when this returns, the server has confirmed it."""
        cursor = self.connection.execute("COMMIT")
        if cursor.statusmessage != "COMMIT":
            raise LedgerError("the server took back what was recorded; nothing was sent. Call again")
        self._begun = True

    def rolled_back(self) -> None:
        if not self._begun:
            self.session, self.acts = 0, 0

    def attest(self, attempt: int, recipients: int) -> None:
        """Note outside of the database what it has confirmed."""
        now = time.time_ns() // 1000
        if not self._noted:
            self._noted = True
            self.notes.begin(Session(self._token, at=now))
        self.notes.note(self.sighting, attempt=attempt, recipients=recipients, acts=self.acts, at=now)

    def abandon(self) -> None:
        """Close the connection."""
        self.notes.close()
        with contextlib.suppress(psycopg.Error):
            self.connection.close()

    close = abandon


class ServerStore(Store):
    """One database, with one connection for each process and one transaction at a time.

    Args:
        address: of the database.
        create: make the tables if there are none.
        accept_older: use it although more was seen in it.
    """

    beyond = "the server's own files: free space until other rows take it, its log, standbys and backups"
    packs_ids = False

    def __init__(self, address: Address, *, create: bool = True, accept_older: bool = False) -> None:
        self.path = cast("Any", address)
        self._create, self._accept_older = create, accept_older
        self._guard = threading.RLock()
        self._opened: Any = None
        self._claimed = (0, 0)
        self._waiting = deque()
        self.created = False
        stores._stores.add(self)
        with self.reading():
            self._create = False

    def lock(self, campaign: int, name: str) -> Any:
        return Lease(self, campaign, name)

    @contextlib.contextmanager
    def writing(self, synchronous: Literal["FULL", "NORMAL"] = "FULL") -> Iterator[sqlite3.Connection]:
        with self._using() as served:
            try:
                served.begin(synchronous)
                yield _as_file(served.connection)
                served.note_acts(durable=synchronous == "FULL", claimed=bool(self._claimed[0]))
                served.commit()
            except BaseException:
                self._claimed = (0, 0)
                self._roll_back(served)
                raise
            (attempt, recipients), self._claimed = self._claimed, (0, 0)
            if synchronous == "FULL":
                served.attest(attempt, recipients)

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with self._using() as served:
            yield _as_file(served.connection)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        with self._using() as served:
            if served.connection.in_transaction:
                yield _as_file(served.connection)
                return
            try:
                served.connection.script("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                yield _as_file(served.connection)
            finally:
                self._roll_back(served, ended=False)

    def runner(self, _campaign: int) -> str:
        with self.reading() as connection:
            return runner_of(connection, _campaign)

    def refusal(self, error: Exception, campaign: str = "") -> Exception:
        """Return our error for work that broke on a value in the tables, without repeating that value."""
        if isinstance(error, MemoryError):
            return error
        of = f" of campaign {visible(campaign)!r}" if campaign else ""
        return LedgerError(
            f"the ledger {self.path} was altered, or this package has a defect: what it holds{of} does not fit "
            f"together ({where(error)}). If nothing but this package wrote its tables, please report this; else have "
            "the database restored"
        )

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

    def close(self) -> None:
        with self._guard:
            opened, self._opened = self._opened, None
            if opened is not None:
                opened.close()

    def _roll_back(self, served: Served, *, ended: bool = True) -> None:
        with contextlib.suppress(psycopg.Error):
            if served.connection.in_transaction:
                served.connection.script("ROLLBACK")
        if ended:
            served.rolled_back()

    @contextlib.contextmanager
    def _using(self) -> Iterator[Served]:
        with self._guard:
            try:
                yield self._served()
            except LedgerReplaced:
                self._let_go()
                raise
            except psycopg.Error as error:
                refusal = _unusable(self.path, error)
                if self._opened is not None and self._opened.connection.closed:
                    self._let_go()
            else:
                return
            raise refusal from None

    def _let_go(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.abandon()

    def _served(self) -> Served:
        if self._opened is not None and self._opened.connection.closed:
            self._let_go()
        if self._opened is None:
            self._opened = self._connect()
            self._accept_older = False
        return cast("Served", self._opened)

    def _connect(self) -> Served:
        address = cast("Address", self.path)
        connection = Connection(
            psycopg.connect(
                **address.arguments(), autocommit=True, prepare_threshold=None, cursor_factory=cast("Any", _Cursor)
            )
        )
        try:
            self.created = _make(connection, address, create=self._create) or self.created
            notes = Notes(address)
            row = connection.script(f"SELECT {SEEN} FROM ledger l, served s")
            if row is None:
                raise LedgerError(f"{address} has the tables of a ledger, and no ledger in them")
            seen = Sighting.read(row)
            seen.refuse_unsafe()
            seen.refuse_version(VERSION)
            notes.refuse_older(_as_file(connection), seen, accept_older=self._accept_older)
        except BaseException:
            connection.close()
            raise
        return Served(connection, seen.ledger, seen, notes)


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
    began = f"BEGIN; SELECT pg_advisory_xact_lock(1397575503); {_THERE}"
    try:
        if made := not connection.script(began)[0]:  # nobody else has begun it meanwhile
            connection.script(tables())
            values = (secrets.token_bytes(16), secrets.token_bytes(32))
            connection.execute("INSERT INTO ledger (id, secret) VALUES (?, ?)", values)
            connection.execute("INSERT INTO served (version, since) VALUES (?, ?)", (VERSION, SINCE))
        connection.script("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.script("ROLLBACK")
        raise
    return made


_REFUSED = re.compile(
    r'\A(?:permission denied for (?:table|view)|new row violates row-level security policy for table) "?(\w+)'
)
# What tells the documented roles apart: into which table only one of them writes. The owner of the tables may do all.
_TAKES = {
    "approval": "campaigns_approver",
    "decision": "campaigns_sender to plan and send, campaigns_approver to decide about rows in doubt",
    "consent": "campaigns_sender to record what people say, campaigns_team to forget them",
    **dict.fromkeys(("campaign", "attempt", "chunk", "experiment"), "campaigns_sender"),
}


def _as_file(connection: Connection) -> sqlite3.Connection:
    """Hand a connection to code that is written for both."""
    return cast("sqlite3.Connection", connection)


def _unusable(address: object, error: psycopg.Error) -> LedgerError:
    """Return our error for one of the driver; what its details quote of a row is left out."""
    said = error.diag.message_primary or next(iter(str(error).splitlines()), type(error).__name__)
    if isinstance(error, psycopg.errors.InsufficientPrivilege) and (found := _REFUSED.search(said)):
        return LedgerError(
            f"the server does not let you do this in {address}: {said}. Nothing was recorded. It takes the role "
            f"{_TAKES.get(found[1], 'campaigns_team')}, as the guide of a team's ledger sets it up"
        )
    return LedgerError(
        f"the ledger {address} cannot be used: {said}. Nothing that was not recorded before is sent; see that the "
        "server runs and that you may use the database, then call again"
    )
