"""Where a record is stored, whichever engine it is: reading, writing, and lists of statements.

A list of statements needs no answer between them, so that a server gets all of it in one message. Lists of threads that
wait for their turn share one transaction: one wait for the disk serves all of them.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from .._phones import one_phone_digits
from ..errors import LedgerError
from . import leases
from .tables import VERSION
from .watermark import Watermark

Ints = npt.NDArray[np.int64]
Row = tuple[Any, ...]
Statement = tuple[str, Sequence[Any]]


class Many(list[Row]):
    """The values of one statement that is run for each of them."""


@dataclass(frozen=True, slots=True)
class Staged:
    """Rows of the table ``recipient``, without their campaign, that a transaction is to insert.

    A server gets them before the turn to write is taken: whoever is suspended while sending them delays nobody.
    """

    columns: tuple[str, ...]
    rows: Iterable[Row] = field(repr=False)


class Result(NamedTuple):
    """What a statement brought: how many rows it changed, and those that it returned."""

    changed: int
    rows: list[Row]


class Transaction(Protocol):
    """What runs statements inside one transaction."""

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run a statement and return how many rows it changed."""

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run a statement and return its rows."""

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each of these values."""

    def insert_staged(self, campaign: int) -> None:
        """Insert the staged rows as recipients of a campaign."""


@dataclass(eq=False, slots=True)
class _Waiting:
    """A list of statements that waits for its turn, and what came of it."""

    statements: Sequence[Statement]
    durable: bool
    results: list[Result] = field(default_factory=list)
    error: BaseException | None = None
    is_done: bool = False


class Store(ABC):
    """One record. ``writing`` takes turns with every other writer; ``reading`` sees one moment and disturbs nobody."""

    one_machine: ClassVar[bool]  # whether all who use it are on this machine
    path: Any
    id: str
    created: bool = False

    def __init__(self, path: Any) -> None:
        self.path = path
        self._secret = b""
        self._watermark: Watermark | None = None
        self._write_lock = threading.RLock()
        self._read_lock = threading.RLock()
        self._queue: deque[_Waiting] = deque()
        self._reader: Transaction | None = None  # of the snapshot that is open in the thread that holds the lock
        self.is_moving = False
        _stores.add(self)

    def open(self, *, create: bool, accept_older: bool) -> None:
        """Open the record, or with ``create`` begin one.

        Raises:
            LedgerError: there is none, it is of another version, or it was moved to a server.
            StaleLedgerError: it lacks requests that this user saw in it.
        """
        with self.writing() as tx:
            if not self.has_tables(tx):
                if not create:
                    raise LedgerError(
                        f"there is no ledger at {self.path}, and a new one does not know who was texted. Next: correct "
                        f"the path, or begin a record there with sms.Ledger({str(self.path)!r}, create=True)"
                    )
                self.make_tables(tx)
                values = {"version": VERSION, "id": secrets.token_hex(16), "secret": secrets.token_hex(32)}
                tx.many("INSERT INTO meta (key, value) VALUES (?, ?)", list(values.items()))
                self.created = True
            self.read_identity(tx)
            assert self._watermark is not None
            newest = tx.rows("SELECT coalesce(max(id), 0) FROM attempt")[0][0]
            if self._watermark.check(newest, self.path, accept_older=accept_older):
                note_event(tx, "older ledger accepted", now=self.now(), rows=0)
            self.accept_place(tx, accept_older=accept_older)

    def read_identity(self, tx: Transaction) -> None:
        """Learn the record's id and secret; refuse another version, and a file whose record is on a server."""
        meta = dict(tx.rows("SELECT key, value FROM meta"))
        if meta.get("version") != VERSION:
            raise LedgerError(
                f"{self.path} has tables of version {meta.get('version')}, and this package knows {VERSION}. Next: use "
                "the version of smsotp_nb that made it, or choose another path"
            )
        if "moved_to" in meta and not self.is_moving:
            raise LedgerError(
                f"the ledger {self.path} was moved to {meta['moved_to']}, and nothing is sent from the file any more. "
                "Next: set SMSOTP_LEDGER, or pass ledger=, to that address"
            )
        self.id, self._secret = meta["id"], bytes.fromhex(meta["secret"])
        self._watermark = Watermark(self.id)

    # The engine.

    @abstractmethod
    def has_tables(self, tx: Transaction) -> bool: ...

    @abstractmethod
    def make_tables(self, tx: Transaction) -> None: ...

    def accept_place(self, tx: Transaction, *, accept_older: bool) -> None:  # noqa: B027 - files have no such thing
        """Refuse a database that is on another server than when it was made or last accepted."""

    @abstractmethod
    def now(self) -> int:
        """Return the time by which leases run, in microseconds since 1970: the same for all who use the store."""

    @abstractmethod
    def begin_writing(
        self, *, durable: bool, staged: Staged | None
    ) -> contextlib.AbstractContextManager[Transaction]: ...

    @abstractmethod
    def begin_reading(self) -> contextlib.AbstractContextManager[Transaction]: ...

    @abstractmethod
    def run_lists(self, lists: Sequence[Sequence[Statement]], *, durable: bool) -> list[list[Result]]:
        """Run lists of statements in one transaction; when it returns, a durable one is on the disk."""

    @abstractmethod
    def disconnect(self) -> None:
        """Close the connections; the next use opens them again."""

    @abstractmethod
    def overwrite_deleted(self) -> bool:
        """Remove what was deleted from the disk as far as it can be reached; return whether all of it is gone."""

    # What both engines share.

    @contextlib.contextmanager
    def writing(self, *, durable: bool = True, staged: Staged | None = None) -> Iterator[Transaction]:
        """Run a block in one transaction, in turn with all other writers; a durable one is on the disk at the end."""
        with self._write_lock, self.begin_writing(durable=durable, staged=staged) as tx:
            yield tx

    @contextlib.contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Run a block that sees the record as of one moment; blocks inside it see the same moment."""
        with self._read_lock:
            if self._reader is not None:
                yield self._reader
                return
            with self.begin_reading() as tx:
                self._reader = tx
                try:
                    yield tx
                finally:
                    self._reader = None

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        with self.reading() as tx:
            return tx.rows(sql, values)

    def submit(self, statements: Sequence[Statement], *, durable: bool = True) -> list[Result]:
        """Run a list of statements as a whole; those that other threads submitted meanwhile share its transaction."""
        entry = _Waiting(statements, durable)
        self._queue.append(entry)
        with self._write_lock:
            if not entry.is_done:
                self._run_queue()
        if entry.error is not None:
            raise entry.error
        return entry.results

    def _run_queue(self) -> None:
        entries = [self._queue.popleft() for _ in range(len(self._queue))]
        try:
            self._run_together(entries)
        except BaseException as error:  # noqa: BLE001 - each thread raises the error of its own list
            if len(entries) == 1:
                entries[0].error = error
            for entry in entries if len(entries) > 1 else ():
                self._run_alone(entry)
        finally:
            for entry in entries:
                entry.is_done = True

    def _run_together(self, entries: Sequence[_Waiting]) -> None:
        durable = any(entry.durable for entry in entries)
        results = self.run_lists([entry.statements for entry in entries], durable=durable)
        for entry, own in zip(entries, results, strict=True):
            entry.results = own

    def _run_alone(self, entry: _Waiting) -> None:
        try:
            self._run_together([entry])
        except BaseException as error:  # noqa: BLE001 - its thread raises it
            entry.error = error

    def note(self, attempt: int) -> None:
        """Note outside of the record which request was recorded last, before its first byte."""
        assert self._watermark is not None
        self._watermark.write(attempt)

    def person(self, number: int) -> int:
        """Return the key of the person whose phone a number rings."""
        return int(self.persons(np.array([number], np.int64))[0])

    def persons(self, numbers: Ints) -> Ints:
        """Return the keys of persons: 64 bits of a hash that is keyed with the record's secret.

        Whoever has the record has the secret, too, and can try all numbers there are: keys are pseudonyms.
        """
        return self._hashed(one_phone_digits(numbers), b"%d")

    def bodies(self, keys: Ints) -> Ints:
        """Return what stands for filled texts, by the keys that plans have of them."""
        return self._hashed(keys, b"body %d")

    def _hashed(self, values: Ints, form: bytes) -> Ints:
        secret = self._secret
        digests = b"".join(
            [blake2b(form % value, key=secret, digest_size=8).digest() for value in values.tolist()]
        )
        return np.frombuffer(digests, ">i8").astype(np.int64)

    def close(self) -> None:
        with self._write_lock, self._read_lock:
            self.disconnect()
            if self._watermark is not None:
                self._watermark.close()


def note_event(
    tx: Transaction,
    what: str,
    *,
    now: int,
    rows: int,
    campaign: int | None = None,
    reason: str | None = None,
    replaced: str | None = None,
) -> None:
    """Record a decision in the transaction of what it changes."""
    user = getattr(tx, "user", "")  # by which a server let them in
    who = f"{user} ({leases.person()})" if user else leases.person()
    tx.run(
        "INSERT INTO event (at, who, what, campaign, rows, reason, replaced) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (now, who, what, campaign, rows, reason, replaced),
    )


@contextlib.contextmanager
def friendly_errors(path: Any, foreign: tuple[type[Exception], ...]) -> Iterator[None]:
    """Turn the errors of a database into a `LedgerError` that names the place and the next step."""
    try:
        yield
    except foreign as error:
        text = str(error.strerror or error) if isinstance(error, OSError) else str(error)
        refusal = LedgerError(
            f"the ledger {path} cannot be used: {text.strip()[:300]}. What was not recorded before is not sent. Next: "
            "see that the disk has room and that the file may be written, or that the server is up, then call again"
        )
    else:
        return
    raise refusal from None


# SQLite keeps what it has locked in the memory of the process. A forked child that inherits it believes in locks that
# only its parent has. So no connection is open while a process forks; parent and child open their own afterwards.

_stores: weakref.WeakSet[Store] = weakref.WeakSet()
_forking: list[Store] = []


def _before_fork() -> None:
    for store in list(_stores):
        store._write_lock.acquire()  # waits for the transactions of other threads
        store._read_lock.acquire()
        _forking.append(store)
        with contextlib.suppress(LedgerError, OSError):
            store.disconnect()


def _after_fork_in_parent() -> None:
    while _forking:
        store = _forking.pop()
        store._read_lock.release()
        store._write_lock.release()


def _after_fork_in_child() -> None:
    _forking.clear()
    for store in list(_stores):
        store._write_lock, store._read_lock = threading.RLock(), threading.RLock()
        store._queue, store._reader = deque(), None


_register: Callable[..., None] | None = getattr(os, "register_at_fork", None)
if _register is not None:
    _register(
        before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child
    )
