"""A record on a PostgreSQL server. A list of statements goes there in one message, by psycopg's pipeline.

All writers take turns by one advisory lock that ends with the transaction, as a file has one writer. Nothing depends on
the state of a session, so a pooler in transaction mode may stand in between. Whoever stops in the middle of a
transaction loses it after ten seconds, so that nobody else's opt-out waits longer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import psycopg

from ..errors import LedgerError, ReplacedLedgerError
from .address import Address
from .leases import boot_time
from .store import Many, Result, Row, Staged, Statement, Store, Transaction, friendly_errors, note_event
from .tables import TABLES

_TURN: Final = 0x534D534F  # the number of the advisory lock
# A server's setting above "on", such as remote_apply, stays as it is.
_AS_SAFE: Final = (
    "CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on' "
    "ELSE current_setting('synchronous_commit') END"
)
# Another isolation could be the default of the database, of a role or of one person: its snapshot would be older than
# the turn that was waited for.
_BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
_LIMITS: Final = (
    "SELECT set_config('lock_timeout', '30s', true), "
    "set_config('idle_in_transaction_session_timeout', '10s', true), set_config('synchronous_commit', {}, true)"
)
# Where a database is: the identifier of the server, its timeline, and the database. A promoted standby and a restored
# dump are elsewhere.
_PLACE: Final = (
    "concat_ws('/', (SELECT system_identifier FROM pg_control_system()), "
    "substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8), "
    "(SELECT oid FROM pg_database WHERE datname=current_database()), to_regclass('meta')::oid)"
)
_PLACES: Final = f"SELECT {_PLACE}, (SELECT value FROM meta WHERE key='place')"
_CLOCK: Final = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
_CLOCK_AFTER: Final = 600.0  # seconds after which the difference to the server's clock is measured again
_UNSAFE: Final = ("fsync", "full_page_writes")  # settings without which a power cut forgets what was confirmed


class _PostgresTransaction:
    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self.staged_columns: tuple[str, ...] = ()

    @property
    def user(self) -> str:
        return self.connection.info.user

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        return self.connection.execute(_marks(sql), tuple(values)).rowcount  # type: ignore[arg-type]

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        return self.connection.execute(_marks(sql), tuple(values)).fetchall()  # type: ignore[arg-type]

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self.connection.cursor() as cursor:
            cursor.executemany(_marks(sql), list(rows))  # type: ignore[arg-type]

    def insert_staged(self, campaign: int) -> None:
        names = ", ".join(self.staged_columns)
        self.run(f"INSERT INTO recipient (campaign, {names}) SELECT ?, {names} FROM staged", (campaign,))

    def stage(self, staged: Staged) -> None:
        """Send rows into a table that ends with the transaction."""
        self.staged_columns = staged.columns
        names = ", ".join(staged.columns)
        self.run("CREATE TEMP TABLE staged (LIKE recipient) ON COMMIT DROP")
        self.run("ALTER TABLE staged ALTER COLUMN campaign DROP NOT NULL")
        with self.connection.cursor() as cursor, cursor.copy(f"COPY staged ({names}) FROM STDIN") as copy:  # type: ignore[arg-type]
            for row in staged.rows:
                copy.write_row(row)


class PostgresStore(Store):
    """A database, with one connection that writes and one that reads in each process."""

    one_machine = False
    path: Address

    def __init__(self, address: Address, *, create: bool = False, accept_older: bool = False) -> None:
        super().__init__(address)
        self._writer_connection: psycopg.Connection[Any] | None = None
        self._reader_connection: psycopg.Connection[Any] | None = None
        self._ahead, self._measured = 0, float("-inf")  # the server's clock before ours, and when that was measured
        self._place: str | None = None
        with self._friendly_errors():
            self.open(create=create, accept_older=accept_older)

    def _friendly_errors(self) -> contextlib.AbstractContextManager[None]:
        return friendly_errors(self.path, (psycopg.Error, OSError))

    def _connect(self) -> psycopg.Connection[Any]:
        # Prepared statements belong to a session, which a pooler takes away.
        connection = psycopg.connect(**self.path.arguments(), autocommit=True, prepare_threshold=None)
        for setting in _UNSAFE:
            if connection.execute("SELECT current_setting(%s)", (setting,)).fetchone() != ("on",):
                connection.close()
                raise LedgerError(
                    f"the server of the ledger has {setting} switched off: after a power cut it would not know who "
                    "was texted. Nothing was sent. Next: switch it on, then call again"
                )
        return connection

    def _connected(self, connection: psycopg.Connection[Any] | None) -> psycopg.Connection[Any]:
        return self._connect() if connection is None or connection.closed else connection

    def _writer(self) -> psycopg.Connection[Any]:
        self._writer_connection = self._connected(self._writer_connection)
        return self._writer_connection

    def _reader_of(self) -> psycopg.Connection[Any]:
        self._reader_connection = self._connected(self._reader_connection)
        return self._reader_connection

    def has_tables(self, tx: Transaction) -> bool:
        return tx.rows("SELECT to_regclass('meta') IS NOT NULL") == [(True,)]

    def make_tables(self, tx: Transaction) -> None:
        tx.run(TABLES.format(identity="BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", clustered=""))

    def accept_place(self, tx: Transaction, *, accept_older: bool) -> None:
        place, recorded = tx.rows(_PLACES)[0]
        if recorded is None:
            tx.run("INSERT INTO meta (key, value) VALUES ('place', ?)", (place,))
        elif place != recorded and accept_older:
            tx.run("UPDATE meta SET value=? WHERE key='place'", (place,))
            note_event(tx, "older database accepted", now=self.now(), rows=0)
        elif place != recorded:
            raise ReplacedLedgerError(
                f"{self.path} is not the database that it was: a standby was promoted, or a backup restored ({place}, "
                f"and it was {recorded}). Its latest requests may be missing, and their people would be texted again. "
                "Nothing was sent. Next: open it with sms.Ledger(address, accept_older=True), once for everybody, and "
                "settle or exclude who was texted since"
            )
        self._place = place

    def _check_place(self, row: Row) -> None:
        if self._place is not None and (row[0] != self._place or row[0] != row[1]):
            raise ReplacedLedgerError(
                f"the database {self.path} is no longer the one that was opened: it was restored, or a standby was "
                "promoted. Nothing more was sent. Next: open it again, which says what to do"
            )

    def now(self) -> int:
        if boot_time() - self._measured > _CLOCK_AFTER:
            with self._read_lock, self._friendly_errors():
                began = boot_time()
                row = self._reader_of().execute(_CLOCK).fetchone()
                assert row is not None
                took = int((boot_time() - began) * 1_000_000)
                self._measured = boot_time()
                self._ahead = row[0] + took // 2 - int(self._measured * 1_000_000)
        return self._ahead + int(boot_time() * 1_000_000)

    @contextlib.contextmanager
    def begin_writing(self, *, durable: bool, staged: Staged | None = None) -> Iterator[Transaction]:
        with self._friendly_errors():
            connection = self._writer()
            try:
                connection.execute(_BEGIN)
                connection.execute(_LIMITS.format(_AS_SAFE if durable else "'off'"))  # type: ignore[arg-type]
                tx = _PostgresTransaction(connection)
                if staged is not None:
                    tx.stage(staged)
                connection.execute(f"SELECT pg_advisory_xact_lock({_TURN})")  # type: ignore[arg-type]
                if self._place is not None:
                    self._check_place(tx.rows(_PLACES)[0])
                yield tx
                _check_commit(connection.execute("COMMIT").statusmessage)
            except BaseException:
                _roll_back(connection)
                raise

    @contextlib.contextmanager
    def begin_reading(self) -> Iterator[Transaction]:
        with self._friendly_errors():
            connection = self._reader_of()
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                yield _PostgresTransaction(connection)
            finally:
                _roll_back(connection)

    def run_lists(self, lists: Sequence[Sequence[Statement]], *, durable: bool) -> list[list[Result]]:
        with self._friendly_errors():
            connection = self._writer()
            try:
                with connection.pipeline():
                    connection.execute(_BEGIN)
                    connection.execute(_LIMITS.format(_AS_SAFE if durable else "'off'"))  # type: ignore[arg-type]
                    connection.execute(f"SELECT pg_advisory_xact_lock({_TURN})")  # type: ignore[arg-type]
                    place = connection.execute(_PLACES)  # type: ignore[arg-type]
                    cursors = [[_queue(connection, *statement) for statement in statements] for statements in lists]
                    end = connection.execute("COMMIT")
                row = place.fetchone()
                assert row is not None
                self._check_place(row)
                _check_commit(end.statusmessage)
            except BaseException:
                _roll_back(connection)
                raise
            return [[_result(cursor) for cursor in own] for own in cursors]

    def disconnect(self) -> None:
        for connection in (self._reader_connection, self._writer_connection):
            if connection is not None:
                with contextlib.suppress(psycopg.Error):
                    connection.close()
        self._reader_connection = self._writer_connection = None

    def overwrite_deleted(self) -> bool:
        """A server overwrites deleted rows by itself; its log, standbys and backups are beyond our reach."""
        return True


def _marks(sql: str) -> str:
    return sql.replace("?", "%s")


def _queue(connection: psycopg.Connection[Any], sql: str, values: Sequence[Any]) -> psycopg.Cursor[Any]:
    if not isinstance(values, Many):
        return connection.execute(_marks(sql), tuple(values))  # type: ignore[arg-type]
    cursor = connection.cursor()
    cursor.executemany(_marks(sql), values)  # type: ignore[arg-type]
    return cursor


def _result(cursor: psycopg.Cursor[Any]) -> Result:
    return Result(cursor.rowcount, cursor.fetchall() if cursor.description else [])


def _check_commit(status: str | None) -> None:
    if status != "COMMIT":
        raise LedgerError("the server took back what was recorded. Nothing was sent. Next: call again")


def _roll_back(connection: psycopg.Connection[Any]) -> None:
    """End a transaction that failed; a connection that is gone has none."""
    with contextlib.suppress(psycopg.Error):
        if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            connection.execute("ROLLBACK")


