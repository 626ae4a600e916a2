"""The connection to the ledger: durable intents, shared transactions, forks, and checks that the file is ours.

An intent must be on the disk before the first byte of its request: that commit is made with ``synchronous=FULL``. An
outcome may be lost in a power cut: its row is then found without one and becomes in doubt, so it is not sent again.
That is why ``synchronous=NORMAL`` is enough for outcomes.

Around each transaction this module adds what SQLite lacks. Only one process writes at a time, even if SQLite's locks
were lost. After a durable commit, the path must still lead to the file that was written (`locks`), and what was
recorded is noted outside of the file (`last_seen`), before a request leaves that relies on it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from ..._showing.text import visible
from ...errors import LedgerError, ReplacedLedgerError
from ..opening import Opened, open_ledger
from ..rows import damage
from ..rows.statements import Row, Statements
from . import locks as anchors
from .disk import beside, check_file_system, create_private
from .locks import RunLock

Result = TypeVar("Result")
FOREIGN = (*damage.FOREIGN, OSError)
LOG_FRAMES = 1000  # pages of the log before they are copied into the file, as SQLite does by itself
LOOK_AT_LOG = 16  # durable transactions between two looks at its length


@dataclass(slots=True, eq=False)
class _Shared:
    """A piece of work that waits for a transaction, and later its result or error."""

    work: Callable[[Statements], object]
    synchronous: str
    result: Any = None
    failure: BaseException | None = None
    done: bool = False


class Store:
    """One SQLite file, with one connection for each process and one transaction at a time."""

    beyond = ""  # in words, where deleted rows stay that no ledger can reach
    packs_ids = True  # ids of 32 hexadecimal digits are kept as 16 bytes
    claims_ahead = False  # the next requests are claimed while others are under way

    def __init__(self, path: Path, *, create: bool = True, accept_older: bool = False, moving: bool = False) -> None:
        self.path: Any = path  # of a ledger on a server its address
        self._create, self._accept_older, self._moving = create, accept_older, moving
        self._guard = threading.RLock()
        self._opened: Opened | None = None
        self._is_lost = False  # an interrupt came, and nobody knows how far a call was: the next one opens it anew
        self._synchronous = ""  # of this process's connection, where it is known
        self._claims: list[tuple[int, Callable[[], Row]]] = []  # of the transaction under way, see `claimed`
        self._unlooked = 0  # durable transactions since the length of the log was looked at
        self._waiting: deque[_Shared] = deque()
        check_file_system(path)
        self.created = create_private(path) if create else False
        _stores.add(self)
        with self.reading():
            self._create = False  # a file that is emptied later is no new ledger

    def lock(self, campaign: int, name: str) -> RunLock:
        return RunLock(beside(self.path, "-runs") / str(campaign), name)

    @contextlib.contextmanager
    def writing(self, synchronous: Literal["FULL", "NORMAL"] = "FULL") -> Iterator[Statements]:
        """Run a block in one immediate transaction; with FULL it is on the disk when the block ends."""
        with self._turn() as opened:
            if synchronous != self._synchronous:
                self._synchronous = ""  # an interrupt may come between the two
                opened.connection.execute(f"PRAGMA synchronous={synchronous}")
                self._synchronous = synchronous
            try:
                opened.connection.execute("BEGIN IMMEDIATE")
                opened.prepare_to_write()
                yield opened.connection
                opened.note_acts(durable=synchronous == "FULL", claimed=bool(self._claims))
                opened.connection.execute("COMMIT")
                opened.committed()
            except BaseException as error:
                self._claims = []
                # Where there is nothing to take back, it was recorded, or nobody knows.
                if not (_taken_back(opened.connection) and isinstance(error, Exception)):
                    self._is_lost = True
                opened.rolled_back()
                raise
            if synchronous == "FULL":
                self._attest(opened)

    def now(self, _connection: Statements, own: int) -> int:
        """Return the time by the clock that all who share the ledger go by, microseconds: the caller's own."""
        return own

    def deciding(self) -> contextlib.AbstractContextManager[Statements]:
        """Run a block as `writing` does, for a decision that counts for every claim recorded after it.

        The turn to write is taken before the block begins, so that a time read in it is later than that of every claim
        which the decision came too late for.
        """
        return self.writing()

    def runner(self, _campaign: int) -> str:
        """Return in words who runs a campaign and since when; empty where nobody does or the ledger does not know."""
        return ""

    def recording(self) -> contextlib.AbstractContextManager[Statements]:
        """Run a block that records a plan in a transaction; see the store of a server."""
        return self.writing()

    def take_turn(self) -> None:
        """Do nothing: in a file a transaction that writes has the turn from its beginning."""

    def claimed(self, attempt: int, row: Callable[[], Row]) -> None:
        """Note that the current transaction records an intent, so that it enters the marks after the commit.

        ``row`` begins with the number of its recipients.
        """
        self._claims.append((attempt, row))

    def _taken_claims(self) -> tuple[int, int]:
        """Return the latest attempt that was noted and how many recipients all have, and forget them."""
        claims, self._claims = self._claims, []
        return (claims[-1][0] if claims else 0), sum(int(row()[0]) for _, row in claims)

    @property
    def is_open(self) -> bool:
        """Whether this process has the file open; it lets go of a file that turns out to be another one."""
        return self._opened is not None

    @property
    def session(self) -> int:
        """The number of this process's session in the ledger, inside a transaction that writes."""
        assert self._opened is not None
        return self._opened.session

    def together(self, work: Callable[[Statements], Result], synchronous: Literal["FULL", "NORMAL"]) -> Result:
        """Run one piece of work in a transaction that it may share with those of other threads, and return its result.

        Threads that wait while a transaction is on its way to the disk put their work into the next one, so that many
        intents cost one wait for the disk. Each of them still returns only when its own is there. When the transaction
        fails, all that shared it fail.
        """
        piece = _Shared(work, synchronous)
        self._waiting.append(piece)
        with self._guard:
            if not piece.done:
                self._run_waiting()
        if piece.failure is not None:
            raise piece.failure
        result: Result = piece.result
        return result

    def _run_waiting(self) -> None:
        pieces = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            self._run_pieces(pieces, "FULL" if any(piece.synchronous == "FULL" for piece in pieces) else "NORMAL")
        except BaseException as error:  # noqa: BLE001 - handed to every thread whose work was in it, each of which raises it
            for piece in pieces:
                piece.failure = None if piece.done else error
        finally:
            for piece in pieces:
                piece.done = True

    def _run_pieces(self, pieces: list[_Shared], synchronous: Literal["FULL", "NORMAL"]) -> None:
        with self.writing(synchronous) as connection:
            for piece in pieces:
                piece.result = piece.work(connection)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Statements]:
        with self._guard, self.understood(FOREIGN):
            try:
                opened = self._open()
                if not opened.connection.in_transaction:  # of the block around this one, which has asked
                    opened.refuse_moved()
                yield opened.connection
            except BaseException as error:
                self._is_lost = self._is_lost or not isinstance(error, Exception)
                raise

    def asked(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows that answer one question."""
        with self.reading() as connection:
            return connection.execute(sql, values).fetchall()

    def understood(
        self, foreign: tuple[type[Exception], ...] = damage.FOREIGN
    ) -> contextlib.AbstractContextManager[None]:
        """Run a block that works with what was read from the file: what breaks on it is the file's."""
        return _in_our_words(self.refusal, foreign)

    def refusal(self, error: Exception, campaign: str = "") -> Exception:
        """Return our error for one of the disk, of SQLite, or of a value in the file that cannot be."""
        return _refusal(self.path, error, campaign)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Statements]:
        """Run a block of reads that all see the ledger as of one moment, whatever others record meanwhile."""
        with self.reading():
            connection = self._open().connection
            if connection.in_transaction:  # of the block around this one
                yield connection
                return
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                _taken_back(connection)

    def checkpoint(self) -> bool:
        """Copy the log into the file and empty it, so that a plain copy of the file is the whole ledger."""
        with self._guard:
            if self._opened is None or self._opened.connection.in_transaction:
                return False
            with self._turn() as opened:
                opened.anchor.verify()
                return opened.checkpoint()

    def vacuum(self) -> bool:
        """Remove the remains of deleted rows from the file and its log; return whether they are gone from both."""
        self.checkpoint()
        with self._turn() as opened:
            opened.connection.execute("BEGIN IMMEDIATE")  # a log of its own generation
            opened.prepare_to_write()
            opened.connection.execute("COMMIT")
            opened.committed()
            opened.connection.execute("VACUUM")  # which SQLite allows only outside of a transaction
        return self.checkpoint()

    def remains_where(self) -> str:
        """Return in words where rows that were deleted still are, as long as `vacuum` has not reached all of it."""
        return (
            f"the file {self.path} itself, because something else is reading it (it is overwritten when the ledger is "
            "next opened)"
        )

    def close_if_written(self) -> None:
        """Close it where somebody has written to the file since it was found undamaged: opening it again looks."""
        with self._guard:
            opened = self._opened
            if opened is None or opened.connection.in_transaction:
                return
            if opened.anchor.state() != opened.anchor.files.whole:
                self.close()

    def close(self) -> None:
        """Close this process's connection; the next use opens it again."""
        with self._guard, named(self.path):
            opened, self._opened = self._opened, None
            if opened is not None:
                opened.close()

    def __del__(self) -> None:
        opened = getattr(self, "_opened", None)
        if opened is not None:  # nobody closed it; what a run recorded is in the file already
            opened.abandon()

    def _attest(self, opened: Opened) -> None:
        """After a durable commit, check that the file is still in its place, and note in the marks what it recorded."""
        attempt, recipients = self._taken_claims()
        opened.anchor.verify(after_commit=True)
        opened.begin_noting()
        if attempt and attempt <= opened.marks.latest:
            raise ReplacedLedgerError(
                f"the ledger {self.path} was altered while it was in use: it gave the number of an earlier request "
                "once more. Nothing more was sent. See who else writes into it"
            )
        now, live = time.time_ns() // 1000, opened.holds_people()
        opened.marks.note(attempt=attempt, recipients=recipients, acts=opened.acts, at=now, live=live)
        self._unlooked += 1
        if self._unlooked >= LOOK_AT_LOG:
            self._unlooked = 0
            if opened.anchor.frames() >= LOG_FRAMES:
                opened.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    @contextlib.contextmanager
    def _turn(self) -> Iterator[Opened]:
        """Give the open ledger to one writer at a time; abandon it if its file was replaced."""
        with self._guard:
            try:
                opened = self._open()
                with opened.anchor.writing():
                    yield opened
            except ReplacedLedgerError:
                self._let_go()
                raise
            except damage.OURS:
                raise
            except FOREIGN as error:  # not by `named`: each manager between a claim and its bytes costs a hundredth
                refusal = self.refusal(error)
            except BaseException as error:
                self._is_lost = self._is_lost or not isinstance(error, Exception)
                raise
            else:
                return
            raise refusal from None

    def _let_go(self) -> None:
        opened, self._opened, self._is_lost = self._opened, None, False
        if opened is not None:
            opened.abandon()

    def _open(self) -> Opened:
        if self._is_lost:
            self._let_go()
        if self._opened is None:
            self._opened = open_ledger(
                self.path, create=self._create, accept_older=self._accept_older, moving=self._moving
            )
            self._accept_older = False  # said of the file as it was found, not of what may stand there later
            self._synchronous = ""
        return self._opened


def _taken_back(connection: sqlite3.Connection) -> bool:
    """Roll back a transaction; return whether there was one."""
    with contextlib.suppress(sqlite3.ProgrammingError):  # it was closed meanwhile
        if connection.in_transaction:
            connection.execute("ROLLBACK")
            return True
    return False


# SQLite keeps what it has locked in the memory of the process. A child that inherits it believes in locks that only its
# parent has, and writes unprotected. So no connection is open while a process forks; each opens its own afterwards.

_stores: weakref.WeakSet[Store] = weakref.WeakSet()
_forking: list[Store] = []


def _before_fork() -> None:
    for store in list(_stores):
        store._guard.acquire()  # waits for the transaction of another thread
        _forking.append(store)
        if store._opened is not None and not store._opened.connection.in_transaction:
            with contextlib.suppress(LedgerError, sqlite3.Error, OSError):
                store.close()


def _after_fork_in_parent() -> None:
    while _forking:
        _forking.pop()._guard.release()


def _after_fork_in_child() -> None:
    _forking.clear()
    anchors.forget_after_fork()
    for store in list(_stores):
        store._guard, store._waiting = threading.RLock(), deque()
        if store._opened is not None:  # it was in the middle of a transaction, which is its parent's
            _inherited.append(store._opened)
            store._opened = None


_inherited: list[Opened] = []  # never closed here: SQLite would tidy up the files of the parent

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)


@contextlib.contextmanager
def _in_our_words(
    refusal: Callable[[Exception], Exception], foreign: tuple[type[Exception], ...] = FOREIGN
) -> Iterator[None]:
    """Translate the errors of others into ours, which name the file and the next step."""
    try:
        yield
    except damage.OURS:
        raise
    except foreign as error:
        ours = refusal(error)
    else:
        return
    raise ours from None


def named(path: Path) -> contextlib.AbstractContextManager[None]:
    """Translate the errors of work on the file of a ledger."""
    return _in_our_words(partial(_refusal, path))


def _refusal(path: Path, error: Exception, campaign: str = "") -> Exception:
    if isinstance(error, OSError) or not damage.by_value(error):
        return unusable(path, error)
    return damage.explained(path, error, campaign)


def unusable(path: Path, error: Exception) -> LedgerError:
    reason = str(error.strerror or error if isinstance(error, OSError) else error)
    reason = visible(reason[:300])  # SQLite quotes what stands in the file
    if damage.is_corrupt(error):
        return LedgerError(f"the ledger {path} is damaged: {reason}. Nothing more is sent. {damage.RESTORE}")
    return LedgerError(
        f"the ledger {path} cannot be used: {reason}. Nothing that was not recorded before is sent; see that the "
        "disk has room, that the file may be written and that it is a ledger, then call again"
    )
