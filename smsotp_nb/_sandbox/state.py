"""What the sandbox remembers: in one SQLite file, or in a private temporary one.

With a path, the file is created with mode 0600 and locked by one process (the operating system releases it when that
process dies), and everything that a reply states is in the file before the reply leaves. Without a path, SQLite keeps
an unnamed temporary database, so that a long run does not fill the memory. Values that every request needs are cached.
"""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

from .. import _moments
from .._own_files import FILE_MODE, JOURNAL, OwnFiles, files_of_sqlite
from .._schema import limit
from ..errors import UsageError
from .messages import shape_number

_OF_ONE: Final = "WHERE number = ? AND intent = ?"


@dataclass(frozen=True, slots=True)
class Passcode:
    """A passcode on record: ``made`` in microseconds, ``ttl`` only for a custom code, ``wrong`` tries so far."""

    code: str
    made: int
    ttl: int | None
    wrong: int


class State:
    """Requests, messages, passcodes, balance and identity of one sandbox.

    Not for several threads at once: the server's thread has it after the start.

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
        self._db = connect(path)
        try:
            self._prepare()
            with self.transaction():
                self._begin(variant, balance, seed)
                self.keep_fact("starts", self.fact("starts") + 1)
            self.id: str = self.fact("id")
            self.starts: int = self.fact("starts")
            self._key: bytes = self.fact("key")
            self.balance: int = self.fact("balance")  # millionths
            self.last: int = self.fact("messages")  # the number of the last message; none is used twice
        except UsageError:
            self._db.close()
            raise
        except (sqlite3.Error, TypeError) as error:  # of the disk, or of what the file holds
            self._db.close()
            raise unusable(path, error) from None

    def _prepare(self) -> None:
        # WAL and NORMAL: a commit outlives the process; an exclusive lock keeps other processes out until it ends.
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        limit(self._db)
        layout = self._db.execute("PRAGMA user_version").fetchone()[0]  # before anything is written
        if layout != LAYOUT and self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise UsageError(
                f"{self.path} was written by another version of the sandbox, or by another program; name another file"
            )
        self._db.execute(f"PRAGMA journal_mode = {'MEMORY' if self.path is None else 'WAL'}")
        self._db.execute(f"PRAGMA synchronous = {'OFF' if self.path is None else 'NORMAL'}")
        self._db.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
        self._db.executescript(f"{SCHEMA} PRAGMA user_version = {LAYOUT};")

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def top_up(self, micros: int) -> None:
        with self.transaction():
            self.keep_fact("balance", self.balance + micros)
        self.balance += micros

    def mark(self, purpose: str, number: int, size: int = 16) -> bytes:
        """Return bytes that look random and are the same for the same seed, purpose and number."""
        return blake2b(f"{purpose}/{number}".encode(), key=self._key, digest_size=size).digest()

    def accept(self, request: Request, messages: Sequence[Message], ttl: int | None = None) -> bool:
        """Record one request and deduct its price from the balance; do nothing and return False if that is too low.

        ``ttl`` is that of a custom passcode. With a file, the request survives the process from here on.
        """
        price, last = sum(message.price for message in messages), self.last + len(messages)
        if price > self.balance:
            return False
        with self.transaction():
            number = self._db.execute(
                "INSERT INTO requests (at, action, text, code, channel, intent, signature, template_id, shape) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*request, shape_number(request.text, request.template_id)),
            ).lastrowid
            self._db.executemany(
                "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(n, number, *message) for n, message in enumerate(messages, self.last + 1)],
            )
            if request.code is not None:
                self._db.execute(
                    "INSERT OR REPLACE INTO passcodes (number, intent, code, made, ttl) VALUES (?, ?, ?, ?, ?)",
                    (messages[0].number, request.intent or "", request.code, request.at, ttl),
                )
            self.keep_fact("balance", self.balance - price)
            self.keep_fact("messages", last)
        self.balance -= price
        self.last = last
        return True

    def count(self) -> int:
        return int(self.rows("SELECT count(*) FROM messages")[0][0])

    def clear(self) -> None:
        """Delete every accepted message, also from the file's bytes; balance and passcodes stay.

        Message numbers are not used again.
        """
        with self.transaction():
            self._db.execute("DELETE FROM messages")
            self._db.execute("DELETE FROM requests")
        self.overwrite()

    def overwrite(self) -> None:
        """Rewrite the file without what was deleted, and empty its log: SQLite leaves deleted rows in both."""
        if self.path is not None:
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def forget(self, id_: str) -> bool:
        """Delete one accepted message; return False if there is none with this id."""
        with self.transaction():
            row = self._db.execute("DELETE FROM messages WHERE id = ? RETURNING request", (id_,)).fetchone()
            if row is None:
                return False
            unused = "DELETE FROM requests WHERE n = ? AND NOT EXISTS (SELECT 1 FROM messages WHERE request = ?)"
            self._db.execute(unused, (*row, *row))
        self.overwrite()
        return True

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        return self._db.execute(query, values).fetchall()

    def passcode(self, number: str, intent: str) -> Passcode | None:
        """Return the latest passcode for a number and intent, unless it was used."""
        rows = self.rows(f"SELECT code, made, ttl, wrong FROM passcodes {_OF_ONE}", (number, intent))
        return Passcode(*rows[0]) if rows else None

    def count_passcodes(self, number: str, *, since: int) -> int:
        """Return how many passcodes were sent to a number after a moment, in microseconds."""
        found = self.rows(
            "SELECT count(*) FROM messages m JOIN requests r ON r.n = m.request "
            "WHERE m.number = ? AND r.action = 'otp.send' AND r.at > ?",
            (number, since),
        )
        return int(found[0][0])

    def end_passcode(self, number: str, intent: str) -> None:
        self._db.execute(f"DELETE FROM passcodes {_OF_ONE}", (number, intent))

    def count_wrong(self, number: str, intent: str) -> None:
        self._db.execute(f"UPDATE passcodes SET wrong = wrong + 1 {_OF_ONE}", (number, intent))

    def _begin(self, variant: str, balance: int, seed: str | None) -> None:
        found = self.fact("variant")
        if found is None:
            key = os.urandom(32) if seed is None else blake2b(seed.encode(), digest_size=32).digest()
            begun: dict[str, Any] = {"id": uuid.uuid4().hex, "variant": variant, "key": key, "seed": seed}
            begun |= {"balance": balance, "messages": 0, "starts": 0}
            self._db.executemany("INSERT INTO facts VALUES (?, ?)", list(begun.items()))
            return
        if found != variant:
            raise UsageError(
                f"{self.path} holds a sandbox of the {found} variant, not {variant}; use another state file"
            )
        if seed is not None and seed != self.fact("seed"):
            raise UsageError(f"{self.path} was started with another seed; use another state file, or omit seed=")

    def fact(self, name: str) -> Any:
        row = self._db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else row[0]

    def keep_fact(self, name: str, value: Any) -> None:
        """Store a fact by name; call it inside a transaction."""
        self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))


LATEST: Final = 7_258_118_400_000_000  # the year 2200, in microseconds; further no test of a lifetime goes


class Clock:
    """A clock that can be moved; how far is kept by the state."""

    def __init__(self, state: State, base: Callable[[], float] = time.time) -> None:
        self._state = state
        self._base = base
        self._offset: int = state.fact("clock_offset") or 0

    def now(self) -> int:
        """Return the sandbox's time in microseconds since 1970."""
        return int(self._base() * 1_000_000) + self._offset

    def told(self) -> dict[str, Any]:
        return {"now": moment(self.now()), "ahead": round(self._offset / 1_000_000, 3)}

    def move(self, asked: Mapping[str, Any]) -> None:
        """Move it forward or back, or reset it to the machine's time, as ``/clock.json`` takes it.

        Raises:
            UsageError: what is asked for cannot be done; nothing has changed.
        """
        if set(asked) == {"reset"} and asked["reset"] is True:
            offset = 0
        elif set(asked) != {"advance"}:
            raise UsageError('send {"advance": seconds}, or {"reset": true} for the machine\'s time')
        else:
            offset = self._offset + _micros(asked["advance"])
        if not 0 <= self.now() - self._offset + offset <= LATEST:
            raise UsageError("that is before 1970 or after 2200; the clock goes no further")
        with self._state.transaction():
            self._state.keep_fact("clock_offset", offset)
        self._offset = offset


def _micros(seconds: Any) -> int:
    """Return seconds as microseconds, those beyond what any clock goes as more than that."""
    try:
        exact = Decimal(str(seconds))
        return int(exact * 1_000_000) if abs(exact) <= LATEST else LATEST + 1  # before it has as many digits as said
    except (ValueError, ArithmeticError):
        raise UsageError("advance is a number of seconds") from None


def moment(micros: int) -> str:
    """Return microseconds since 1970 as ISO 8601 in UTC."""
    return _moments.moment(micros).isoformat(timespec="microseconds").replace("+00:00", "Z")


SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID; -- without a type a seed stays a text
CREATE TABLE IF NOT EXISTS requests (
    n INTEGER PRIMARY KEY, at INTEGER NOT NULL, action TEXT NOT NULL, text TEXT NOT NULL, code TEXT, channel TEXT,
    intent TEXT, signature TEXT, template_id TEXT, shape INTEGER NOT NULL
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
LAYOUT = 8
_OWN = OwnFiles(UsageError)
CHECKPOINT = 4_000  # pages, 16 MB: a checkpoint waits for the disk


def connect(path: Path | None) -> sqlite3.Connection:
    """Open the file of a state, or an unnamed temporary one."""
    if path is not None:
        own_database(path)
    try:
        db = sqlite3.connect("" if path is None else path, isolation_level=None, timeout=0, check_same_thread=False)
    except sqlite3.OperationalError as error:
        raise unusable(path, error) from None
    db.row_factory = sqlite3.Row
    return db


def unusable(path: Path | None, error: Exception) -> UsageError:
    """Return the error for a state file that is held, damaged or none, or whose disk has no room."""
    if "locked" in str(error):
        return UsageError(
            f"the state file {path} is in use by another sandbox; close that one, or connect to it with Sandbox.at(url)"
        )
    if isinstance(error, sqlite3.OperationalError):
        return UsageError(f"the state file {path} cannot be used: {error}")
    return UsageError(f"{path} is not a sandbox state file, or is damaged; name another one, or restore a copy")


def own_database(path: Path) -> None:
    """Make the file of a database that its owner alone can read, or look at the one that is there."""
    try:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, FILE_MODE))
        except FileExistsError:  # by its own name: O_EXCL follows no link
            _OWN.look(path)
        files = files_of_sqlite(path)
        for file in files[1:]:
            if os.path.lexists(file):
                _OWN.look(file)
        _OWN.refuse_journal(files[JOURNAL])
    except OSError as error:
        said = f"{path} cannot be used: {error.strerror}; name another one, or restore a copy"
        raise UsageError(said) from None


class Request(NamedTuple):
    """One accepted request, with the text that all of its recipients read."""

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
