"""The tables of the ledger, and the connection that keeps its promises.

An intent must be on the disk before the first byte of its request: that commit is made with ``synchronous=FULL``. An
outcome may be lost in a power cut, for then the row is found without one and becomes in doubt, never a second send:
``synchronous=NORMAL`` is enough there.

Rows are compact (about 54 MB for a million recipients): money in micro-units, numbers as integers, and whatever
repeats - where a number is, what a country is billed as - stands once and is pointed to.

A chunk whose rows all go out in one request is one row here as long as one word is true of all of them: its state is
then that of the chunk, and its answers stand with the request (`answers`). `spread` gives the rows states of their own
again. What is true of a row, wherever it stands, is told by the view ``fate``.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, cast

from ..errors import CampaignHeld, LedgerError
from ..results import STATES
from .lock import RunLock

VERSION = 2
APPLICATION_ID = 0x534D534F  # "SMSO": tells a ledger from any other SQLite file
PLANNED, SENDING, ACCEPTED, REJECTED, IN_DOUBT, SKIPPED = range(len(STATES))

TABLES = """
CREATE TABLE campaign (
  id INTEGER PRIMARY KEY,
  service TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,            -- 'campaign', or 'test' for a message to oneself
  fingerprint TEXT NOT NULL,
  created_at INTEGER NOT NULL,   -- microseconds since 1970, UTC
  rows INTEGER NOT NULL,
  kept TEXT NOT NULL,            -- JSON list: names of the caller's own columns
  purged INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX campaign_name ON campaign (service, name) WHERE kind = 'campaign';

CREATE TABLE chunk (             -- rows of one request: one body, so one encoding and one estimate of parts
  campaign INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  body INTEGER NOT NULL,         -- the body's key; texts are not recorded
  est_parts INTEGER,
  encoding TEXT,
  state INTEGER,                 -- sending or accepted: of all its rows, as a whole; NULL: each has its own
  attempt INTEGER,               -- NULL where state is
  PRIMARY KEY (campaign, chunk)
) WITHOUT ROWID;

CREATE TABLE recipient (
  campaign INTEGER NOT NULL,
  chunk INTEGER NOT NULL,        -- -1: left out of the plan
  position INTEGER NOT NULL,     -- row of the caller's frame
  number INTEGER,                -- E.164 without its plus
  destination INTEGER NOT NULL,
  kept TEXT,                     -- JSON list of the caller's own columns
  own_state INTEGER NOT NULL,    -- not looked at while its chunk has a state
  problem TEXT,
  attempts INTEGER NOT NULL,
  attempt INTEGER,               -- the latest one
  message,                       -- the service's id: 16 bytes, or text where it is not 32 hexadecimal characters
  billed INTEGER,
  parts INTEGER,
  price INTEGER,                 -- micro-units
  PRIMARY KEY (campaign, chunk, position)
) WITHOUT ROWID;

CREATE TABLE destination (       -- our reading before sending; rate in micro-units a part
  id INTEGER PRIMARY KEY, region TEXT, type TEXT, rate INTEGER, currency TEXT
);

CREATE TABLE billed (            -- the service's reading
  id INTEGER PRIMARY KEY, iso TEXT, cc TEXT
);

CREATE TABLE attempt (           -- one intent: committed before the first byte of its request
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  settled_at INTEGER,
  verdict TEXT,                  -- NULL while in flight
  phase TEXT,
  http_status INTEGER,
  error_code TEXT,
  error TEXT,
  request_id TEXT,
  seconds REAL,
  currency TEXT,
  recipients INTEGER,            -- the reply's own totals, for reconciliation
  message_count INTEGER,
  total INTEGER,
  disagreement TEXT,
  ids BLOB,                      -- the answers of a chunk that was accepted as a whole, see answers.Whole
  kinds BLOB
);
CREATE INDEX attempt_campaign ON attempt (campaign);
"""

# What the messages of a campaign were billed as, for chunks that are kept whole; and what is true of each row, wherever
# it stands - but for the answers of a chunk that is kept whole, which SQL does not take apart.
BESIDE = """
CREATE TABLE billing (
  campaign INTEGER NOT NULL, id INTEGER NOT NULL, billed INTEGER NOT NULL, parts INTEGER NOT NULL,
  price INTEGER NOT NULL, PRIMARY KEY (campaign, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX billing_kind ON billing (campaign, billed, parts, price);
CREATE VIEW fate AS
SELECT r.campaign, r.chunk, r.position, r.number, r.destination, c.body, c.est_parts, c.encoding,
  coalesce(c.state, r.own_state) AS state, CASE WHEN c.state IS NULL THEN r.problem END AS problem,
  r.attempts + (c.state IS NOT NULL) AS attempts, coalesce(c.attempt, r.attempt) AS attempt,
  r.message, r.billed, r.parts, r.price
FROM recipient r LEFT JOIN chunk c ON c.campaign=r.campaign AND c.chunk=r.chunk;
"""

# The first version kept everything by row. A column of another name stops a program of that version that has the file
# open: it would find rows planned whose chunk is accepted.
FROM_FIRST = """
ALTER TABLE recipient RENAME COLUMN state TO own_state;
ALTER TABLE chunk ADD COLUMN state INTEGER;
ALTER TABLE chunk ADD COLUMN attempt INTEGER;
ALTER TABLE attempt ADD COLUMN ids BLOB;
ALTER TABLE attempt ADD COLUMN kinds BLOB;
"""


Result = TypeVar("Result")


@dataclass(slots=True, eq=False)
class _Shared:
    """A piece of work that waits for a transaction, then its result or what went wrong."""

    work: Callable[[sqlite3.Connection], object]
    synchronous: str
    result: object = None
    failure: BaseException | None = None
    done: bool = False


class Store:
    """One SQLite file, one connection a process, one transaction at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard = threading.RLock()
        self._connections: dict[int, sqlite3.Connection] = {}
        self._synchronous = ""  # of this process's connection, where it is known
        self._waiting: deque[_Shared] = deque()
        _stores.add(self)
        _refuse_network(path)
        self.created = _create_private(path)
        with self.reading():
            pass

    @contextlib.contextmanager
    def writing(self, synchronous: Literal["FULL", "NORMAL"] = "FULL") -> Iterator[sqlite3.Connection]:
        """Run a block in one immediate transaction; with FULL it is on the disk when the block ends."""
        with self._guard, _named(self.path):
            connection = self._connection()
            if synchronous != self._synchronous:
                self._synchronous = ""  # a Stop may come between the two
                connection.execute(f"PRAGMA synchronous={synchronous}")
                self._synchronous = synchronous
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # A full disk or a Stop may leave it open at any of the three, and then no other one could begin.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def together(self, work: Callable[[sqlite3.Connection], Result], synchronous: Literal["FULL", "NORMAL"]) -> Result:
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
        return cast("Result", piece.result)

    def _run_waiting(self) -> None:
        pieces = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            with self.writing(
                "FULL" if any(piece.synchronous == "FULL" for piece in pieces) else "NORMAL"
            ) as connection:
                for piece in pieces:
                    piece.result = piece.work(connection)
        except BaseException as error:  # noqa: BLE001 - handed to every thread whose work was in it, each of which raises it
            for piece in pieces:
                piece.failure = error
        finally:
            for piece in pieces:
                piece.done = True

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Run a block of reads on the connection."""
        with self._guard, _named(self.path):
            yield self._connection()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Run a block of reads that all find the ledger as of one moment, whatever others record meanwhile."""
        with self.reading() as connection:
            if connection.in_transaction:  # of the block around this one
                yield connection
                return
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close this process's connection; the next use opens it again."""
        with self._guard:
            connection = self._connections.pop(os.getpid(), None)
            if connection is not None:
                connection.close()

    def _connection(self) -> sqlite3.Connection:
        # A connection carried over a fork would corrupt the file: each process opens its own, and leaves the other be.
        found = self._connections.get(os.getpid())
        if found is None:
            found = self._connections[os.getpid()] = _connect(self.path)
            self._synchronous = ""
        return found


_stores: weakref.WeakSet[Store] = weakref.WeakSet()


def _fresh_guards() -> None:
    # Another thread of the parent may have held the guard at the moment of the fork; in the child nobody would free it.
    for store in list(_stores):
        store._guard, store._waiting = threading.RLock(), deque()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_fresh_guards)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30.0, isolation_level=None, check_same_thread=False)
    try:
        _refuse_others(connection, path)  # before the journal mode, which is written into the file
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA fullfsync=1")  # macOS: a plain fsync does not reach the disk
        with _no_runner_of_the_first(connection, path):
            connection.execute("BEGIN IMMEDIATE")
            _prepare(connection)
            connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def _no_runner_of_the_first(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Hold all campaigns of a file of the first version: one under way by it could not record its answers any more."""
    with contextlib.ExitStack() as held:
        if connection.execute("PRAGMA user_version").fetchone()[0] == 1:
            for lock in sorted(runs(path).glob("*")):
                try:
                    held.callback(RunLock(lock, lock.name).release)
                except CampaignHeld as error:
                    raise LedgerError(
                        f"{path} was written by an earlier version of this package, which sends a campaign by it now "
                        f"(process {error.pid} on {error.host}). Wait until it has ended, then call again: the file is "
                        "moved on to this version"
                    ) from None
        yield


def runs(path: Path) -> Path:
    """Return the folder of the locks of a ledger's campaigns; by whatever link it was opened, it is the same."""
    path = path.resolve()
    return path.with_name(path.name + "-runs")


def _is_new(connection: sqlite3.Connection) -> bool:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    return version == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone()


def _prepare(connection: sqlite3.Connection) -> None:
    known = connection.execute("PRAGMA user_version").fetchone()[0]
    if known == VERSION:
        return
    for statement in ((FROM_FIRST if known else TABLES) + BESIDE).split(";\n"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={VERSION}")


def _refuse_others(connection: sqlite3.Connection, path: Path) -> None:
    new = _is_new(connection)  # first: another process may be creating the ledger at this moment
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if not new and application != APPLICATION_ID:
        raise LedgerError(f"{path} is a database of another program; choose another path for the ledger")
    if version > VERSION:
        raise LedgerError(
            f"{path} was written by a newer version of this package (ledger version {version}, this one knows "
            f"{VERSION}); upgrade smsotp_nb, or choose another path for the ledger"
        )


def spread(connection: sqlite3.Connection, campaign: int, chunk: int, attempt: int) -> None:
    """Let the rows of a chunk that is under way as a whole, by this attempt, be under way each by itself.

    Whoever calls it goes on to say what became of them.
    """
    mine = (campaign, chunk, attempt)
    sql = f"UPDATE chunk SET state=NULL, attempt=NULL WHERE campaign=? AND chunk=? AND attempt=? AND state={SENDING}"
    if connection.execute(sql, mine).rowcount:
        connection.execute(
            f"UPDATE recipient SET own_state={SENDING}, attempts=attempts+1, attempt=?3 WHERE campaign=?1 AND chunk=?2",
            mine,
        )


NETWORK_FILESYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "lustre", "fuse.sshfs", "fuse.rclone"}
    | {"fuse.s3fs", "fuse.gcsfuse", "fuse.glusterfs", "ncpfs", "davfs", "fuse.davfs2"}
)


def network_filesystem(path: Path, mounts: str) -> str | None:
    """Return the kind of network file system that a path is on, by a table such as /proc/mounts; None if it is on none.

    Example:
        >>> network_filesystem(Path("/home/ann/l.sqlite"), "/dev/vda / ext4 rw 0 0\\nserver:/h /home nfs4 rw 0 0")
        'nfs4'
    """
    lines = [line.split() for line in mounts.splitlines()]
    points = [(fields[1].replace("\\040", " "), fields[2]) for fields in lines if len(fields) > 2]
    # Of two mounts on one point the later one is seen.
    above = [(len(Path(point).parts), n, kind) for n, (point, kind) in enumerate(points) if path.is_relative_to(point)]
    kind = max(above, default=(0, 0, ""))[2]
    return kind if kind in NETWORK_FILESYSTEMS else None


def _refuse_network(path: Path) -> None:
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:  # not Linux: there is no such table to look at
        return
    kind = network_filesystem(path.parent.resolve(), mounts)
    if kind:
        raise LedgerError(
            f"{path} is on a network file system ({kind}), where SQLite cannot keep the record safe against a second "
            "runner; set SMSOTP_LEDGER to a path on a disk of this machine"
        )


def _create_private(path: Path) -> bool:
    """Create the file for its owner alone; SQLite would create it for everybody to read."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        _sync_folder(path.parent)
    except OSError as error:
        if isinstance(error, FileExistsError) and path.exists():
            return False
        reason = error.strerror
    else:
        return True
    raise LedgerError(f"the ledger {path} cannot be created: {reason}; choose another path or set SMSOTP_LEDGER")


def _sync_folder(folder: Path) -> None:
    """Put the new file's name on the disk too; a platform that opens no folder keeps it by itself."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, which name the file and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        reason = str(error)
    else:
        return
    raise LedgerError(
        f"the ledger {path} cannot be used: {reason}. Nothing that was not recorded before is sent; see that the "
        "disk has room, that the file may be written and that it is a ledger, then call again"
    )
