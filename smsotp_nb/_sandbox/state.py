"""What the sandbox remembers: one SQLite file, committed before any reply leaves; or a private temporary one.

With a path the file is created 0600 and held by one process (the operating system frees it when that process dies).
Without one SQLite keeps an unnamed temporary database, so that a long run does not fill the memory.
"""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import UsageError
from . import wording

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
CREATE INDEX IF NOT EXISTS requests_by_shape ON requests (shape);
CREATE INDEX IF NOT EXISTS messages_by_request ON messages (request);
CREATE TABLE IF NOT EXISTS spend (
    iso TEXT PRIMARY KEY, messages INTEGER NOT NULL, parts INTEGER NOT NULL, price INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shapes (
    n INTEGER PRIMARY KEY, shape TEXT NOT NULL UNIQUE, action TEXT NOT NULL, sample TEXT NOT NULL,
    last INTEGER NOT NULL, messages INTEGER NOT NULL, parts INTEGER NOT NULL, price INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS passcodes (
    n INTEGER PRIMARY KEY, number TEXT NOT NULL, intent TEXT NOT NULL, code TEXT NOT NULL, made INTEGER NOT NULL,
    ttl INTEGER, wrong INTEGER NOT NULL DEFAULT 0, used INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS passcodes_by_number ON passcodes (number, intent);
CREATE TABLE IF NOT EXISTS journal (
    n INTEGER PRIMARY KEY, at INTEGER NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, headers TEXT NOT NULL,
    body BLOB NOT NULL, size INTEGER NOT NULL, signing TEXT NOT NULL, fault TEXT NOT NULL, status INTEGER NOT NULL,
    code TEXT NOT NULL, reply BLOB NOT NULL, reply_size INTEGER NOT NULL, accepted INTEGER NOT NULL,
    request_id TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS receipts (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL, number TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'waiting',
    attempts INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL, error TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS receipts_by_due ON receipts (due) WHERE state = 'waiting';
"""
LAYOUT = 4


class Request(NamedTuple):
    """One accepted request as it went out: the text every recipient of it reads."""

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


class Accepted(NamedTuple):
    """One accepted request, its messages, the number of the last of them, and the number of its wording."""

    request: Request
    messages: Sequence[Message]
    last: int
    shape: int


@dataclass(frozen=True, slots=True)
class Passcode:
    """A passcode on record: ``made`` in microseconds, ``ttl`` only for a custom code, ``wrong`` tries so far."""

    n: int
    code: str
    made: int
    ttl: int | None
    wrong: int
    used: bool


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
        self._db = _connect(self.path)
        try:
            with self.transaction():
                self._begin(variant, balance, seed)
                self.keep_fact("starts", self.fact("starts") + 1)
        except UsageError:
            self._db.close()
            raise
        self.id: str = self.fact("id")
        self.starts: int = self.fact("starts")
        self._key: bytes = self.fact("key")
        self.receipt_delay: int | None = None  # microseconds; None: no receipts are kept

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what is done inside, all of it or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # money

    @property
    def balance(self) -> int:
        """The balance in millionths."""
        return int(self.fact("balance"))

    def pay(self, price: int) -> bool:
        """Take a price from the balance; False, and nothing taken, where it is not enough."""
        taken = self._db.execute(
            "UPDATE facts SET value = value - ?1 WHERE name = 'balance' AND value >= ?1", (price,)
        ).rowcount
        return taken == 1

    def top_up(self, micros: int) -> None:
        """Add to the balance."""
        with self.transaction():
            self._db.execute("UPDATE facts SET value = value + ? WHERE name = 'balance'", (micros,))

    # messages

    def next_number(self) -> int:
        """Return the number that the next message will have; numbers are never used twice."""
        return int(self.fact("messages")) + 1

    def mark(self, purpose: str, number: int, size: int = 16) -> bytes:
        """Return bytes that look random and are the same for the same seed, purpose and number."""
        return blake2b(f"{purpose}/{number}".encode(), key=self._key, digest_size=size).digest()

    def accept(self, request: Request, messages: Sequence[Message]) -> Accepted:
        """Record one accepted request; belongs inside a transaction."""
        last = self.next_number() - 1
        spend = _by_country(messages)
        shape = self._add_to_shape(request, _sums(spend.values()), last + len(messages))
        columns = "at, action, text, code, channel, intent, signature, template_id, shape"
        request_n = self._db.execute(
            f"INSERT INTO requests ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*request, shape)
        ).lastrowid
        self._db.executemany(
            "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(n, request_n, *message) for n, message in enumerate(messages, last + 1)],
        )
        self._db.executemany(
            "INSERT INTO spend (messages, parts, price, iso) VALUES (?, ?, ?, ?) ON CONFLICT (iso) DO UPDATE SET "
            "messages = messages + excluded.messages, parts = parts + excluded.parts, price = price + excluded.price",
            [(*sums, iso) for iso, sums in spend.items()],
        )
        if self.receipt_delay is not None:
            due = request.at + self.receipt_delay
            rows = [(n, message.id, message.number, due) for n, message in enumerate(messages, last + 1)]
            self._db.executemany("INSERT INTO receipts (n, id, number, due) VALUES (?, ?, ?, ?)", rows)
        self.keep_fact("messages", last + len(messages))
        return Accepted(request, messages, last + len(messages), shape)

    def _add_to_shape(self, request: Request, sums: Sums, last: int) -> int:
        """Count a request with those of the same wording, and return the number of the wording."""
        row = self._db.execute(
            "INSERT INTO shapes (shape, action, sample, last, messages, parts, price) VALUES (?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (shape) DO UPDATE SET last = excluded.last, messages = messages + excluded.messages, "
            "parts = parts + excluded.parts, price = price + excluded.price RETURNING n",
            (wording.shape(request.text, request.template_id), request.action, request.text, last, *sums),
        ).fetchone()
        return int(row[0])

    def count(self) -> int:
        """Return how many messages are on record."""
        return int(self._db.execute("SELECT coalesce(sum(messages), 0) FROM spend").fetchone()[0])

    def count_after(self, n: int, *, most: int) -> int:
        """Return how many messages are on record after a number, counting no further than ``most``."""
        counted = "SELECT count(*) FROM (SELECT 1 FROM messages WHERE n > ? LIMIT ?)"
        return int(self._db.execute(counted, (n, most)).fetchone()[0])

    def clear(self) -> None:
        """Forget every accepted message; balance and passcodes stay, numbers are not used again."""
        with self.transaction():
            for table in ("messages", "requests", "spend", "shapes", "receipts"):
                self._db.execute(f"DELETE FROM {table}")

    def forget(self, id_: str) -> bool:
        """Forget one accepted message, also in the sums; False where there is none with this id."""
        with self.transaction():
            row = self._db.execute("DELETE FROM messages WHERE id = ? RETURNING *", (id_,)).fetchone()
            if row is None:
                return False
            self._db.execute("DELETE FROM receipts WHERE n = ?", (row["n"],))
            sums = (row["parts"], row["price"])
            less = "messages = messages - 1, parts = parts - ?, price = price - ?"
            self._db.execute(f"UPDATE spend SET {less} WHERE iso = ?", (*sums, row["iso"]))
            of_request = "WHERE n = (SELECT shape FROM requests WHERE n = ?)"
            self._db.execute(f"UPDATE shapes SET {less} {of_request}", (*sums, row["request"]))
            for table in ("spend", "shapes"):
                self._db.execute(f"DELETE FROM {table} WHERE messages = 0")
            unused = "DELETE FROM requests WHERE n = ? AND NOT EXISTS (SELECT 1 FROM messages WHERE request = ?)"
            self._db.execute(unused, (row["request"], row["request"]))
        return True

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """Return the rows of a reading query."""
        return self._db.execute(query, values).fetchall()

    # passcodes

    def keep_passcode(self, number: str, intent: str, code: str, *, made: int, ttl: int | None, replace: bool) -> None:
        """Record a new passcode, in place of the earlier ones for the same number and intent when ``replace``."""
        if replace:
            self._db.execute("DELETE FROM passcodes WHERE number = ? AND intent = ?", (number, intent))
        self._db.execute(
            "INSERT INTO passcodes (number, intent, code, made, ttl) VALUES (?, ?, ?, ?, ?)",
            (number, intent, code, made, ttl),
        )

    def passcodes(self, number: str, intent: str) -> list[Passcode]:
        """Return the passcodes on record for a number and intent, newest first."""
        rows: Iterable[Any] = self._db.execute(
            "SELECT n, code, made, ttl, wrong, used FROM passcodes WHERE number = ? AND intent = ? ORDER BY n DESC",
            (number, intent),
        )
        return [Passcode(n, code, made, ttl, wrong, bool(used)) for n, code, made, ttl, wrong, used in rows]

    def count_passcodes(self, number: str, *, since: int) -> int:
        """Return how many passcodes were sent to a number after a moment, in microseconds."""
        found: int = self._db.execute(
            "SELECT count(*) FROM messages m JOIN requests r ON r.n = m.request "
            "WHERE m.number = ? AND r.action = 'otp.send' AND r.at > ?",
            (number, since),
        ).fetchone()[0]
        return found

    def use_passcode(self, n: int) -> None:
        self._db.execute("UPDATE passcodes SET used = 1 WHERE n = ?", (n,))

    def count_wrong(self, n: int) -> None:
        self._db.execute("UPDATE passcodes SET wrong = wrong + 1 WHERE n = ?", (n,))

    # journal

    def journal(self) -> list[sqlite3.Row]:
        """Return the requests that are kept on file, oldest first."""
        return self.rows("SELECT * FROM journal ORDER BY n")

    def keep_journal(self, rows: Iterable[Sequence[Any]], *, first: int, last: int) -> None:
        """Keep more requests on file up to number ``last``, and none before number ``first``."""
        with self.transaction():
            self._db.executemany(f"INSERT INTO journal VALUES ({', '.join('?' * 15)})", rows)
            self._db.execute("DELETE FROM journal WHERE n < ?", (first,))
            self.keep_fact("requests", last)

    # receipts

    def receipts(self, most: int) -> list[sqlite3.Row]:
        """Return the newest receipts, posted or not."""
        return self.rows("SELECT * FROM receipts ORDER BY n DESC LIMIT ?", (most,))

    def due_receipts(self, now: int, most: int) -> list[sqlite3.Row]:
        """Return receipts that are due at a moment, in microseconds."""
        return self.rows(
            "SELECT * FROM receipts WHERE state = 'waiting' AND due <= ? ORDER BY due LIMIT ?", (now, most)
        )

    def count_receipts(self) -> dict[str, int]:
        """Return how many receipts are in each state."""
        return dict(self._db.execute("SELECT state, count(*) FROM receipts GROUP BY state").fetchall())

    def settle_receipt(self, n: int, state: str, *, attempts: int, due: int, error: str) -> None:
        """Record what became of a receipt, or when it is due again."""
        settled = "UPDATE receipts SET state = ?, attempts = ?, due = ?, error = ? WHERE n = ?"
        self._db.execute(settled, (state, attempts, due, error, n))

    def keep_callback(self, callback: str | None) -> None:
        """Keep where receipts go; those that wait are forgotten."""
        with self.transaction():
            self._db.execute("DELETE FROM receipts WHERE state = 'waiting'")
            self.keep_fact("receipts", callback)

    # beginning

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
            raise UsageError(f"{self.path} was begun with another seed; use another state file or leave seed= out")

    def fact(self, name: str) -> Any:
        """Return one of the facts that are kept by name, None where there is none."""
        row = self._db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else row[0]

    def keep_fact(self, name: str, value: Any) -> None:
        """Keep a fact by name; belongs inside a transaction."""
        self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))


Sums = tuple[int, int, int]  # messages, parts, price in millionths


def _by_country(messages: Sequence[Message]) -> dict[str, Sums]:
    found: dict[str, Sums] = {}
    for message in messages:
        count, parts, price = found.get(message.iso, (0, 0, 0))
        found[message.iso] = count + 1, parts + message.parts, price + message.price
    return found


def _sums(several: Iterable[Sums]) -> Sums:
    messages, parts, prices = zip(*several, strict=True)
    return sum(messages), sum(parts), sum(prices)


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        _create_private(path)
    db = sqlite3.connect("" if path is None else path, isolation_level=None, timeout=0, check_same_thread=False)
    db.row_factory = sqlite3.Row
    try:
        # WAL and NORMAL: a commit outlives the process; an exclusive lock keeps other processes out until it ends.
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        _check_layout(db, path)  # before anything is written: the file may be another program's
        db.execute(f"PRAGMA journal_mode = {'MEMORY' if path is None else 'WAL'}")
        db.execute(f"PRAGMA synchronous = {'OFF' if path is None else 'NORMAL'}")
        db.executescript(f"{SCHEMA} PRAGMA user_version = {LAYOUT};")
    except sqlite3.OperationalError as error:
        db.close()
        raise UsageError(_why(path, error)) from None
    except sqlite3.DatabaseError:
        db.close()
        raise UsageError(f"{path} is not a sandbox state file; name another one") from None
    return db


def _check_layout(db: sqlite3.Connection, path: Path | None) -> None:
    layout = db.execute("PRAGMA user_version").fetchone()[0]
    if layout == LAYOUT or db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        return
    db.close()
    raise UsageError(f"{path} was written by another version of the sandbox, or by another program; name another file")


def _create_private(path: Path) -> None:
    # Never open a file that exists: closing it again would drop the lock of a sandbox in this very process.
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise UsageError(f"the state file {path} cannot be used: {error.strerror}") from None


def _why(path: Path | None, error: sqlite3.OperationalError) -> str:
    if "locked" in str(error):
        return f"the state file {path} is in use by another sandbox; end that one, or reach it with Sandbox.at(url)"
    return f"the state file {path} cannot be used: {error}"
