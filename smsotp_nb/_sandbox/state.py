"""What the sandbox remembers: in one SQLite file, or in a private temporary one.

With a path, the file is created with mode 0600 and locked by one process (the operating system releases it when that
process dies), and everything that a reply states is in the file before the reply leaves. Without a path, SQLite keeps
an unnamed temporary database, so that a long run does not fill the memory. Values that every request needs are cached.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from .. import _moments
from .._amounts import CONTEXT, exact
from .._own_files import FILE_MODE, JOURNAL, OwnFiles, files_of_sqlite
from .._schema import limit
from ..errors import UsageError
from .messages import shape_number

MOST_UNFILED: Final = 1 << 17  # what waits to be filed, by its texts and messages: a few hundred messages
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

    def __init__(self, path: str | Path | None, *, variant: str, balance: int, seed: str | None = None) -> None:
        self.path = None if path is None else Path(path).expanduser().absolute()
        self._db = connect(self.path)
        try:
            self._read(variant, balance, seed)
        except UsageError:
            self._db.close()
            raise
        except (sqlite3.Error, TypeError, ValueError, LookupError) as error:  # of the disk, or of what the file holds
            self._db.close()
            raise unusable(self.path, error) from None

    def _read(self, variant: str, balance: int, seed: str | None) -> None:
        with self._atomic():
            self._begin(variant, balance, seed)
            self.keep_fact("starts", self.fact("starts") + 1)
        self.id: str = self.fact("id")
        self.starts: int = self.fact("starts")
        self._key: bytes = self.fact("key")
        self.balance: int = self.fact("balance")  # millionths
        self.last: int = self.fact("messages")  # the number of the last message; none is used twice
        self._unfiled: list[Accepted] = []
        self._weight = 0
        # Notes of an earlier process that was killed before it could file them.
        for (note,) in self._db.execute("SELECT accepted FROM unfiled ORDER BY n").fetchall():
            accepted = Accepted.read(note)
            self._take(accepted, sum(message.price for message in accepted.messages))
        self.file()

    def close(self) -> None:
        """File everything if there is a file, and release it."""
        if self.path is not None:
            self.file()
        self._db.close()

    def __del__(self) -> None:
        db = getattr(self, "_db", None)
        if db is not None:  # nobody closed it; what has to stay in a file was filed with each transaction
            db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.file()
        with self._atomic():
            yield

    @contextmanager
    def _atomic(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def file(self) -> None:
        """Insert into the tables what was accepted since the last call."""
        if not self._unfiled:
            return
        with self._atomic():
            for accepted in self._unfiled:
                file(self._db, accepted)
            self.keep_fact("balance", self.balance)
            self.keep_fact("messages", self.last)
            self._db.execute("DELETE FROM unfiled")
        self._unfiled.clear()
        self._weight = 0

    def top_up(self, micros: int) -> None:
        with self.transaction():
            self.keep_fact("balance", self.balance + micros)
        self.balance += micros

    def mark(self, purpose: str, number: int, size: int = 16) -> bytes:
        """Return bytes that look random and are the same for the same seed, purpose and number."""
        return blake2b(f"{purpose}/{number}".encode(), key=self._key, digest_size=size).digest()

    def accept(
        self, request: Request, messages: Sequence[Message], price: int, passcode: NewPasscode | None = None
    ) -> bool:
        """Record one request and deduct its price from the balance; do nothing and return False if that is too low.

        With a file, the request survives the process from here on.
        """
        if price > self.balance:
            return False
        accepted = Accepted(request, messages, self.last + len(messages), passcode)
        if self.path is not None:
            self._db.execute("INSERT INTO unfiled (accepted) VALUES (?)", (accepted.note(),))
        self._take(accepted, price)
        if self._weight > MOST_UNFILED:
            self.file()
        return True

    def _take(self, accepted: Accepted, price: int) -> None:
        self._unfiled.append(accepted)
        self._weight += len(accepted.request.text) + 256 * len(accepted.messages)
        self.balance -= price
        self.last = accepted.last

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
        self.file()
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
        number = exact(str(seconds))
        return (
            int(number.scaleb(6, CONTEXT)) if number.copy_abs() <= LATEST else LATEST + 1
        )  # before it has as many digits as said
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
CREATE TABLE IF NOT EXISTS unfiled (n INTEGER PRIMARY KEY, accepted TEXT NOT NULL);
"""
LAYOUT = 8
_OWN = OwnFiles(UsageError)
CHECKPOINT = 4_000  # pages, 16 MB: a checkpoint waits for the disk


def connect(path: Path | None) -> sqlite3.Connection:
    """Open the file of a state, or an unnamed temporary one.

    Raises:
        UsageError: another process holds it, it is not a state of this version, or no file of this user.
    """
    db = _opened(path)
    try:
        # WAL and NORMAL: a commit outlives the process; an exclusive lock keeps other processes out until it ends.
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        limit(db)
        _check_layout(db, path)  # before anything is written: the file may be another program's
        db.execute(f"PRAGMA journal_mode = {'MEMORY' if path is None else 'WAL'}")
        db.execute(f"PRAGMA synchronous = {'OFF' if path is None else 'NORMAL'}")
        db.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
        db.executescript(f"{SCHEMA} PRAGMA user_version = {LAYOUT};")
    except UsageError:
        db.close()
        raise
    except sqlite3.Error as error:
        db.close()
        raise unusable(path, error) from None
    return db


def _opened(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        own_database(path)
    try:
        db = sqlite3.connect("" if path is None else path, isolation_level=None, timeout=0, check_same_thread=False)
    except sqlite3.OperationalError as error:
        raise unusable(path, error) from None
    db.row_factory = sqlite3.Row
    return db


def _check_layout(db: sqlite3.Connection, path: Path | None) -> None:
    layout = db.execute("PRAGMA user_version").fetchone()[0]
    if layout != LAYOUT and db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise UsageError(
            f"{path} was written by another version of the sandbox, or by another program; name another file"
        )


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


_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


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


class NewPasscode(NamedTuple):
    """What is kept of a passcode beside its message; ``ttl`` only for a custom code."""

    intent: str
    ttl: int | None


class Accepted(NamedTuple):
    """One accepted request, its messages, and the number of the last of them."""

    request: Request
    messages: Sequence[Message]
    last: int
    passcode: NewPasscode | None = None

    def note(self) -> str:
        """Return the request as JSON, from which `read` restores it after a kill."""
        return _encode(self)

    @classmethod
    def read(cls, note: str) -> Self:
        """Restore a request from what `note` returned."""
        request, messages, last, passcode = json.loads(note)
        kept = None if passcode is None else NewPasscode(*passcode)
        return cls(Request(*request), [Message(*message) for message in messages], last, kept)


def file(db: sqlite3.Connection, accepted: Accepted) -> None:
    """Insert an accepted request into the tables; call it inside a transaction."""
    request, messages, last, passcode = accepted
    number = db.execute(
        "INSERT INTO requests (at, action, text, code, channel, intent, signature, template_id, shape) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*request, shape_number(request.text, request.template_id)),
    ).lastrowid
    db.executemany(
        "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(n, number, *message) for n, message in enumerate(messages, last - len(messages) + 1)],
    )
    if passcode is not None:
        db.execute(
            "INSERT OR REPLACE INTO passcodes (number, intent, code, made, ttl) VALUES (?, ?, ?, ?, ?)",
            (messages[0].number, passcode.intent, request.code, request.at, passcode.ttl),
        )
