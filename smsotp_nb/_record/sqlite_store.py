"""A record in a file, by SQLite: intents are on the disk (``synchronous=FULL``) before anything is sent."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from .._own_files import private_folder, tighten
from ..errors import LedgerError, ReplacedLedgerError
from .locations import check_file_system
from .store import Many, Result, Row, Staged, Statement, Store, Transaction, friendly_errors
from .tables import APPLICATION_ID, TABLES

PATIENCE: Final = 30.0  # seconds to wait for another process that writes
# Pages of 4 KB in the log before they are copied into the file: 16 MB, which a campaign fills in some 50,000 rows.
CHECKPOINT_AFTER: Final = 4_000
CACHE: Final = 64_000  # kilobytes: the index of persons of a million rows fits
_FOREIGN: Final = (sqlite3.Error, OSError)


class _SqliteTransaction:
    def __init__(self, connection: sqlite3.Connection, staged: Staged | None = None) -> None:
        self.connection, self._staged = connection, staged

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        return self.connection.execute(sql, values).rowcount

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        return self.connection.execute(sql, values).fetchall()

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        self.connection.executemany(sql, rows)

    def insert_staged(self, campaign: int) -> None:
        assert self._staged is not None
        columns = self._staged.columns
        marks = ", ".join("?" for _ in columns)
        self.connection.executemany(
            f"INSERT INTO recipient (campaign, {', '.join(columns)}) VALUES ({int(campaign)}, {marks})", self._staged.rows
        )


class SqliteStore(Store):
    """A file, with one connection that writes and one that reads in each process."""

    one_machine = True
    path: Path

    def __init__(
        self, path: Path, *, create: bool = False, accept_older: bool = False, moving: bool = False
    ) -> None:
        super().__init__(path)
        self.is_moving = moving
        self._writer_connection: sqlite3.Connection | None = None
        self._reader_connection: sqlite3.Connection | None = None
        self._files: dict[Path, os.stat_result] = {}
        with self._friendly_errors():
            check_file_system(path)
            if create:
                _create_private(path)
            self.open(create=create, accept_older=accept_older)

    def _friendly_errors(self) -> contextlib.AbstractContextManager[None]:
        return friendly_errors(self.path, _FOREIGN)

    def has_tables(self, tx: Transaction) -> bool:
        assert isinstance(tx, _SqliteTransaction)
        is_empty = not tx.rows("SELECT 1 FROM sqlite_master LIMIT 1")
        if not is_empty and tx.rows("PRAGMA application_id") != [(APPLICATION_ID,)]:
            raise LedgerError(f"{self.path} is a database of another program. Next: choose another path")
        return not is_empty

    def make_tables(self, tx: Transaction) -> None:
        sql = TABLES.format(identity="INTEGER PRIMARY KEY", clustered=" WITHOUT ROWID")
        for statement in sql.split(";\n"):
            tx.run(statement)
        tx.run(f"PRAGMA application_id={APPLICATION_ID}")

    def now(self) -> int:
        return time.time_ns() // 1_000

    def _connect(self) -> sqlite3.Connection:
        if not self.path.exists():
            raise ReplacedLedgerError(
                f"the ledger {self.path} is gone: it was deleted or moved. Nothing more was sent. Next: put it back"
            )
        address = self.path.absolute().as_uri() + "?mode=rw"  # never a new file in the place of one that is gone
        connection = sqlite3.connect(
            address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            _keep_log(connection)
            connection.execute("PRAGMA secure_delete=ON")
            connection.execute("PRAGMA fullfsync=ON")  # macOS: a plain fsync does not reach the disk
            connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_AFTER}")
            connection.execute(f"PRAGMA cache_size=-{CACHE}")
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # opens the log
        except BaseException:
            connection.close()
            raise
        return connection

    def _writer(self) -> sqlite3.Connection:
        if self._writer_connection is None:
            self._writer_connection = self._connect()
            for file in (self.path, self._log):
                tighten(file)
                self._files[file] = file.stat()
        return self._writer_connection

    @property
    def _log(self) -> Path:
        real = self.path.resolve()  # SQLite puts its log beside what a link leads to
        return real.with_name(real.name + "-wal")

    def _check_files(self) -> None:
        """Refuse a file, or a log, that was put in the place of the one that is open: its record lacks our intents."""
        for file, opened in self._files.items():
            try:
                same = os.path.samestat(file.stat(), opened)
            except FileNotFoundError:
                same = False
            if not same:
                raise ReplacedLedgerError(
                    f"{file} was deleted or replaced while it was open. Nothing more was sent. Next: put the file back "
                    "that was there, restart the kernel, then call again"
                )

    @contextlib.contextmanager
    def begin_writing(self, *, durable: bool, staged: Staged | None = None) -> Iterator[Transaction]:
        with self._friendly_errors():
            connection = self._writer()
            connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            self._check_files()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield _SqliteTransaction(connection, staged)
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise

    @contextlib.contextmanager
    def begin_reading(self) -> Iterator[Transaction]:
        with self._friendly_errors():
            if self._reader_connection is None:
                self._reader_connection = self._connect()
            connection = self._reader_connection
            connection.execute("BEGIN")
            try:
                yield _SqliteTransaction(connection)
            finally:
                _roll_back(connection)

    def run_lists(self, lists: Sequence[Sequence[Statement]], *, durable: bool) -> list[list[Result]]:
        with self.begin_writing(durable=durable) as tx:
            assert isinstance(tx, _SqliteTransaction)
            execute = partial(_execute, tx.connection)
            return [[execute(sql, values) for sql, values in statements] for statements in lists]

    def disconnect(self) -> None:
        with self._friendly_errors():
            for connection in (self._reader_connection, self._writer_connection):
                if connection is not None:
                    connection.close()
            self._reader_connection = self._writer_connection = None
            self._files = {}

    def overwrite_deleted(self) -> bool:
        with self._write_lock, self._friendly_errors():
            busy = self._writer().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            return not busy

    def checkpoint(self) -> None:
        """Copy the log into the file, as far as nobody reads it."""
        with self._write_lock, self._friendly_errors():
            self._writer().execute("PRAGMA wal_checkpoint(PASSIVE)")

    def backup(self, path: Path) -> None:
        """Write the record as of now to a new file."""
        with self._friendly_errors():
            _create_private(path, exist_ok=False)
            target = sqlite3.connect(path)
            try:
                with self._write_lock:
                    self._writer().backup(target)
            finally:
                target.close()


def _execute(connection: sqlite3.Connection, sql: str, values: Sequence[Any]) -> Result:
    if isinstance(values, Many):
        return Result(connection.executemany(sql, values).rowcount, [])
    cursor = connection.execute(sql, values)
    rows = [] if cursor.description is None else cursor.fetchall()
    return Result(cursor.rowcount, rows)


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _keep_log(connection: sqlite3.Connection) -> None:
    """Let the file have a log; SQLite itself does not wait for others who begin the same new file at this moment."""
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
        time.sleep(0.001)


def _create_private(path: Path, *, exist_ok: bool = True) -> None:
    """Create a file for its owner alone; SQLite itself would make one that everybody may read."""
    private_folder(path.parent)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        if not exist_ok:
            raise LedgerError(f"{path} already exists, and nothing was written. Next: choose another path") from None
