"""The sandbox's SQLite file: its tables, how one process opens it exclusively, and accepted requests."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self

from .._own_files import FILE_MODE, JOURNAL, OwnFiles, files_of_sqlite
from .._schema import limit
from ..errors import UsageError
from .messages import shape_number

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


def unusable(path: Path | None, error: sqlite3.Error) -> UsageError:
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
