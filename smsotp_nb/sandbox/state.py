"""What the sandbox remembers: requests, messages, passcodes, balance and clock, in one SQLite file or a temporary one.

With a path the file has mode 0600 and belongs to one process, which the operating system releases it from when that
process dies; what a reply states is in the file before the reply leaves. Without a path SQLite keeps an unnamed
temporary database, so that a long run does not fill the memory.
"""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

from .. import _moments
from .._own_files import FILE_MODE, JOURNAL, OwnFiles, files_of_sqlite
from .._schema import limit
from ..errors import UsageError

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID; -- no type: a seed of digits stays a text
CREATE TABLE IF NOT EXISTS requests (
    n INTEGER PRIMARY KEY, at INTEGER NOT NULL, action TEXT NOT NULL, text TEXT NOT NULL, code TEXT, channel TEXT,
    intent TEXT, signature TEXT, template_id TEXT
);
CREATE TABLE IF NOT EXISTS messages (
    n INTEGER PRIMARY KEY, request INTEGER NOT NULL REFERENCES requests, id TEXT NOT NULL, number TEXT NOT NULL,
    iso TEXT NOT NULL, cc TEXT NOT NULL, parts INTEGER NOT NULL, price INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS messages_by_number ON messages (number);
CREATE TABLE IF NOT EXISTS passcodes (
    number TEXT NOT NULL, intent TEXT NOT NULL, code TEXT NOT NULL, made INTEGER NOT NULL, ttl INTEGER,
    wrong INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (number, intent)
) WITHOUT ROWID;
"""
LAYOUT: Final = 9  # of the tables; a file of another one is refused
CHECKPOINT_PAGES: Final = 4_000  # 16 MB: a checkpoint waits for the disk
_OWN_FILES: Final = OwnFiles(UsageError)
_SELECT_MESSAGES: Final = (
    "SELECT m.*, r.at, r.action, r.text, r.code, r.channel, r.intent, r.signature, r.template_id "
    "FROM messages m JOIN requests r ON r.n = m.request"
)


class Request(NamedTuple):
    """One accepted request, with the text that all of its recipients read; ``at`` in microseconds since 1970."""

    at: int
    action: str
    text: str
    code: str | None = None
    channel: str | None = None
    intent: str | None = None
    signature: str | None = None
    template_id: str | None = None


class Message(NamedTuple):
    """One accepted message; ``price`` in millionths."""

    id: str
    number: str
    iso: str
    cc: str
    parts: int
    price: int


class Passcode(NamedTuple):
    """A passcode on record: ``made`` in microseconds, ``ttl`` only for a custom code, ``wrong`` tries so far."""

    code: str
    made: int
    ttl: int | None
    wrong: int


class State:
    """Requests, messages, passcodes, balance and identity of one sandbox; for one thread at a time.

    Args:
        path: a file to keep it in, or None.
        variant: written into a new file; a file of the other variant is refused.
        balance: what a new state begins with, in millionths; an existing file keeps its own.
        seed: makes ids and passcodes of a new state repeatable (the sandbox's id never is).

    Raises:
        UsageError: the file is held by another process, belongs to another variant or seed, or is no sandbox state.
    """

    def __init__(self, path: Path | None, *, variant: str, balance: int, seed: str | None = None) -> None:
        self.path = path
        self._db = _connect(path)
        try:
            with self._transaction():
                self._begin(variant, balance, seed)
                self.id = str(self._required_fact("id"))
                self.starts = int(self._required_fact("starts"))
                self._key = bytes(self._required_fact("key"))
                self.balance = int(self._required_fact("balance"))  # millionths
                self.last = int(self._required_fact("messages"))  # number of the last message; none is used twice
                self.clock_offset = int(self._required_fact("clock_offset"))  # microseconds
                self.count = int(self._db.execute("SELECT count(*) FROM messages").fetchone()[0])
        except UsageError:
            self._db.close()
            raise
        except (sqlite3.Error, TypeError, ValueError, LookupError) as error:
            self._db.close()
            raise _unusable(path, error) from None

    def _begin(self, variant: str, balance: int, seed: str | None) -> None:
        known_variant = self._fact("variant")
        if known_variant is None:
            key = os.urandom(32) if seed is None else blake2b(seed.encode(), digest_size=32).digest()
            facts = {
                "id": uuid.uuid4().hex, "variant": variant, "key": key, "seed": seed, "balance": balance,
                "messages": 0, "starts": 0, "clock_offset": 0,
            }  # fmt: skip
            self._db.executemany("INSERT INTO facts VALUES (?, ?)", list(facts.items()))
        elif known_variant != variant:
            raise UsageError(
                f"{self.path} holds a sandbox of the {known_variant} variant, not {variant}; use another state file"
            )
        elif seed is not None and seed != self._fact("seed"):
            raise UsageError(f"{self.path} was started with another seed; use another state file, or omit seed=")
        self._db.execute("UPDATE facts SET value = value + 1 WHERE name = 'starts'")

    def close(self) -> None:
        self._db.close()

    def mark(self, purpose: str, number: int, size: int = 16) -> bytes:
        """Return bytes that look random and are the same for the same seed, purpose and number."""
        return blake2b(f"{purpose}/{number}".encode(), key=self._key, digest_size=size).digest()

    # -- messages and money

    def accept(
        self, request: Request, messages: Sequence[Message], price: int, *, passcode_ttl: int | None = None
    ) -> bool:
        """Record one request and deduct its price from the balance; do nothing and return False if that is too low.

        ``passcode_ttl`` is the lifetime of a custom passcode, in seconds.
        """
        if price > self.balance:
            return False
        first = self.last + 1
        with self._transaction():
            cursor = self._db.execute(
                "INSERT INTO requests (at, action, text, code, channel, intent, signature, template_id) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                request,
            )
            rows = [(n, cursor.lastrowid, *message) for n, message in enumerate(messages, first)]
            self._db.executemany("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            if request.code is not None:
                self._db.execute(
                    "INSERT OR REPLACE INTO passcodes (number, intent, code, made, ttl) VALUES (?, ?, ?, ?, ?)",
                    (messages[0].number, request.intent or "", request.code, request.at, passcode_ttl),
                )
            self._keep_fact("balance", self.balance - price)
            self._keep_fact("messages", self.last + len(messages))
        self.balance -= price
        self.last += len(messages)
        self.count += len(messages)
        return True

    def top_up(self, micros: int) -> None:
        self._keep_fact("balance", self.balance + micros)
        self.balance += micros

    def messages(self, *, after: int = 0, to: str | None = None, limit: int | None = None) -> list[sqlite3.Row]:
        """Return the messages after a number, oldest first: all of them, or the latest ``limit``."""
        where, values = "m.n > ?", [after]
        if to is not None:
            where, values = f"{where} AND m.number = ?", [after, to]
        query = f"{_SELECT_MESSAGES} WHERE {where} ORDER BY m.n DESC LIMIT ?"
        rows = self._db.execute(query, [*values, -1 if limit is None else limit]).fetchall()
        rows.reverse()
        return rows

    def clear(self) -> None:
        """Delete every accepted message, also from the file's bytes; balance and passcodes stay.

        Message numbers are not used again.
        """
        with self._transaction():
            self._db.execute("DELETE FROM messages")
            self._db.execute("DELETE FROM requests")
        self.count = 0
        if self.path is not None:
            # secure_delete zeroed the rows in the file; the log beside it still has the pages as they were.
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    # -- passcodes

    def passcode(self, number: str, intent: str) -> Passcode | None:
        """Return the latest passcode for a number and intent, unless it was used."""
        query = "SELECT code, made, ttl, wrong FROM passcodes WHERE number = ? AND intent = ?"
        row = self._db.execute(query, (number, intent)).fetchone()
        return None if row is None else Passcode(*row)

    def count_passcodes(self, number: str, *, since: int) -> int:
        """Return how many passcodes were sent to a number after a moment, in microseconds."""
        query = (
            "SELECT count(*) FROM messages m JOIN requests r ON r.n = m.request "
            "WHERE m.number = ? AND r.action = 'otp.send' AND r.at > ?"
        )
        return int(self._db.execute(query, (number, since)).fetchone()[0])

    def end_passcode(self, number: str, intent: str) -> None:
        self._db.execute("DELETE FROM passcodes WHERE number = ? AND intent = ?", (number, intent))

    def count_wrong_code(self, number: str, intent: str) -> None:
        self._db.execute("UPDATE passcodes SET wrong = wrong + 1 WHERE number = ? AND intent = ?", (number, intent))

    # -- the clock

    def move_clock(self, offset: int) -> None:
        self._keep_fact("clock_offset", offset)
        self.clock_offset = offset

    # -- SQL

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _fact(self, name: str) -> Any:
        row = self._db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else row[0]

    def _required_fact(self, name: str) -> Any:
        value = self._fact(name)
        if value is None:
            raise LookupError(name)
        return value

    def _keep_fact(self, name: str, value: Any) -> None:
        self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))


LATEST_MOMENT: Final = 7_258_118_400_000_000  # the year 2200, in microseconds; no test of a lifetime goes further


class Clock:
    """A clock that can be moved; how far is kept by the state."""

    def __init__(self, state: State, system_time: Callable[[], float] = time.time) -> None:
        self._state = state
        self._system_time = system_time

    def now(self) -> int:
        """Return the sandbox's time in microseconds since 1970."""
        return int(self._system_time() * 1_000_000) + self._state.clock_offset

    @property
    def ahead(self) -> float:
        """Seconds that it is ahead of the machine's time; negative if it is behind."""
        return round(self._state.clock_offset / 1_000_000, 3)

    def advance(self, seconds: float) -> None:
        """Move it forward, or back by negative seconds.

        Raises:
            UsageError: no number, or the clock would leave the years 1970 to 2200; nothing has changed.
        """
        is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
        if not is_number or seconds != seconds:
            raise UsageError("the clock is moved by a number of seconds")
        # 2200 in seconds is below 2**33: a larger number is cut first, before it becomes microseconds.
        capped = max(-(2.0**34), min(2.0**34, seconds))
        offset = self._state.clock_offset + round(capped * 1_000_000)
        if not 0 <= self.now() - self._state.clock_offset + offset <= LATEST_MOMENT:
            raise UsageError("that is before 1970 or after 2200; the clock goes no further")
        self._state.move_clock(offset)

    def reset(self) -> None:
        """Return to the machine's time."""
        self._state.move_clock(0)


def iso_moment(micros: int) -> str:
    """Return microseconds since 1970 as ISO 8601 in UTC."""
    return _moments.moment(micros).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _connect(path: Path | None) -> sqlite3.Connection:
    """Open the file of a state, or an unnamed temporary one.

    Raises:
        UsageError: another process holds it, it is not a state of this version, or no file of this user.
    """
    if path is not None:
        _make_own_file(path)
    db: sqlite3.Connection | None = None
    try:
        # The threads of the server take turns, under the lock of the account.
        db = sqlite3.connect("" if path is None else path, isolation_level=None, timeout=0, check_same_thread=False)
        db.row_factory = sqlite3.Row
        # An exclusive lock keeps other processes out until this one ends; with WAL and NORMAL a commit outlives it.
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        limit(db)
        _check_layout(db, path)  # before anything is written: the file may be another program's
        db.execute(f"PRAGMA journal_mode = {'MEMORY' if path is None else 'WAL'}")
        db.execute(f"PRAGMA synchronous = {'OFF' if path is None else 'NORMAL'}")
        db.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        db.execute(f"PRAGMA secure_delete = {'OFF' if path is None else 'ON'}")
        db.executescript(f"{SCHEMA} PRAGMA user_version = {LAYOUT};")
    except sqlite3.Error as error:
        if db is not None:
            db.close()
        raise _unusable(path, error) from None
    except UsageError:
        if db is not None:
            db.close()
        raise
    return db


def _check_layout(db: sqlite3.Connection, path: Path | None) -> None:
    layout = db.execute("PRAGMA user_version").fetchone()[0]
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and layout != LAYOUT:
        raise UsageError(
            f"{path} was written by another version of the sandbox, or by another program; name another file"
        )


def _unusable(path: Path | None, error: Exception) -> UsageError:
    """Return the error for a state file that is held, damaged or none, or whose disk has no room."""
    if "locked" in str(error):
        return UsageError(
            f"the state file {path} is in use by another sandbox; close that one, or connect to it with Sandbox.at(url)"
        )
    if isinstance(error, sqlite3.OperationalError):
        return UsageError(f"the state file {path} cannot be used: {error}")
    return UsageError(f"{path} is not a sandbox state file, or is damaged; name another one, or restore a copy")


def _make_own_file(path: Path) -> None:
    """Create a file that its owner alone can read, or check the one that exists and those of SQLite beside it."""
    files = files_of_sqlite(path)
    try:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, FILE_MODE))  # O_EXCL follows no link
        except FileExistsError:
            _OWN_FILES.look(path)
        for file in files[1:]:
            if os.path.lexists(file):
                _OWN_FILES.look(file)
        _OWN_FILES.refuse_journal(files[JOURNAL])
    except OSError as error:
        raise UsageError(f"{path} cannot be used: {error.strerror}; name another one, or restore a copy") from None
