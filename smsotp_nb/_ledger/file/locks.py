"""What keeps an open ledger's files where they are, and notices when they are not.

SQLite guards its files with POSIX locks, which the kernel drops as soon as *any* descriptor of the file is closed in
the process: a copy, a hash or a second SQLite library is enough. Another process that then closes the ledger believes
itself the last one, and deletes the log (``-wal``) under us, with every answer in it.

An `Anchor` therefore holds locks of its own beside SQLite's, of the kind that belongs to an open file instead of a
process (F_OFD_SETLK, Linux 3.15): on the bytes that a process must lock alone before it deletes the log, on the byte
that says whether anybody uses the shared memory (``-shm``), and on one more while it writes, so that two processes
never write at once, whatever became of SQLite's locks. Where the kernel has no such locks (macOS, Windows), `verify`
still notices a log that was deleted before the next request leaves.

A `RunLock` admits one runner for a campaign at a time; it ends with its process, however that ends.
"""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import struct
import sys
import threading
import time
import weakref
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..._own_files import READ, READ_WRITE
from ...errors import CampaignLockedError, LedgerError, ReplacedLedgerError
from ..rows.statements import Statements
from .disk import OWN, read_at

HEADER = 100  # bytes; the format of SQLite's files says what stands where
GENERATION = slice(60, 64)  # the user version
JOURNAL_MODE, WITH_LOG = slice(18, 20), b"\2\2"
SHARED_BYTES = (0x40000002, 510)  # of the file: read-locked by whoever uses it, locked alone to delete the log
WRITER_BYTE = (0x40000300, 1)  # of the file: ours, nothing else looks at it
IN_USE_BYTE = (128, 1)  # of the shared memory: read-locked by whoever uses it
PATIENCE = 30.0  # seconds; as long as SQLite waits for a lock
FRAMES_AT = 16  # of the shared memory: the number of valid pages of the log
LOG_HEADER = 32  # bytes; with the salts, which change whenever the log begins anew

if sys.platform == "linux":
    import fcntl

    _READ, _WRITE, _FREE = fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK

    @functools.cache
    def _flock(kind: int, place: tuple[int, int]) -> bytes:
        return struct.pack("hhqqi4x", kind, os.SEEK_SET, *place, 0)

    def _lock(descriptor: int, kind: int, place: tuple[int, int]) -> bool:
        """Take or free a lock of the open file; return whether that succeeded."""
        try:
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _flock(kind, place))
        except (BlockingIOError, PermissionError):
            return False
        return True
else:
    _READ, _WRITE, _FREE = 0, 1, 2

    def _lock(descriptor: int, kind: int, place: tuple[int, int]) -> bool:  # noqa: ARG001
        """Report success: this system has no such locks, so only SQLite's own hold."""
        return True


@dataclass(slots=True)
class _Held:
    """The open files of one ledger, shared by all connections of this process; closing one early would drop locks."""

    file: int
    shared_memory: int | None = None
    users: int = 0
    writers: threading.RLock = field(default_factory=threading.RLock)
    turns: int = 0  # of the thread that writes: one connection may be closed while another one writes
    whole: tuple[int, ...] = ()  # the state in which the file was last found undamaged, while it has been held

    def let_go(self) -> None:
        os.close(self.file)
        self.let_go_of_memory()

    def let_go_of_memory(self) -> None:
        memory, self.shared_memory = self.shared_memory, None
        if memory is not None:
            os.close(memory)


_held: dict[tuple[int, int], _Held] = {}
_guard = threading.RLock()  # an anchor that nobody closed is closed wherever its memory is given back


class Anchor:
    """One connection's hold on the files of a ledger, from after its opening until after its closing."""

    _joined = False
    _log: int | None = None

    def __init__(self, path: Path) -> None:
        self._path, self._file = str(path), path.resolve()  # SQLite keeps its other files beside what a link leads to
        self._log_path = f"{self._file}-wal"
        self._log_key: tuple[int, int] | None = None
        self._seen: tuple[int, bytes] = (0, b"")
        with _guard:
            key = _key(os.stat(path))
            if key not in _held:  # a file that is held is not opened again: closing it would drop SQLite's locks
                descriptor = os.open(path, READ_WRITE)
                key = _key(os.fstat(descriptor))
                _held[key] = _Held(descriptor)
            self._key, self.files = key, _held[key]
            self.files.users, self._joined = self.files.users + 1, True
        _lock(self.files.file, _READ, SHARED_BYTES)

    def settle(self) -> None:
        """Hold the log and the shared memory, which exist once a connection has read the file."""
        with _guard, contextlib.suppress(FileNotFoundError):
            if self.files.shared_memory is None:
                shared_memory = self._file.with_name(self._file.name + "-shm")
                self.files.shared_memory = os.open(shared_memory, READ_WRITE)
        if self.files.shared_memory is not None:
            _lock(self.files.shared_memory, _READ, IN_USE_BYTE)
        with contextlib.suppress(FileNotFoundError):
            self._open_log()
        self._seen = self.generation(), b""

    def _open_log(self) -> int:
        self._log = os.open(self._log_path, READ)
        self._log_key = _key(os.fstat(self._log))
        return self._log

    def leave(self) -> None:
        """Release the locks, so that SQLite may tidy up. `close` must still be called."""
        with _guard:
            if self.files.users == 1:
                _lock(self.files.file, _FREE, SHARED_BYTES)
                if self.files.shared_memory is not None:
                    _lock(self.files.shared_memory, _FREE, IN_USE_BYTE)
        if sys.platform == "win32":  # deletes no file that is open; SQLite's locks there outlive our closing
            self._close_log()
            with _guard:
                if self.files.users == 1:
                    self.files.let_go_of_memory()

    def close(self) -> None:
        """Close the files, when SQLite has closed its own; calling it again does nothing."""
        with _guard:
            if self._joined:
                self.files.users, self._joined = self.files.users - 1, False
                if not self.files.users:
                    _held.pop(self._key, None)
                    self.files.let_go()
                elif not self.files.turns:  # an interrupt may have come before it was freed
                    _lock(self.files.file, _FREE, WRITER_BYTE)
        self._close_log()

    def __del__(self) -> None:
        self.close()

    def _close_log(self) -> None:
        log, self._log = self._log, None
        if log is not None:
            os.close(log)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Exclude all other writers, threads and processes, for the length of a ``with`` block."""
        files = self.files
        with files.writers:
            files.turns += 1
            try:
                if files.turns == 1 and not _lock(files.file, _WRITE, WRITER_BYTE):
                    self._wait_to_write()
                yield
            finally:
                files.turns -= 1
                if not files.turns and files.users:  # else they were closed
                    _lock(files.file, _FREE, WRITER_BYTE)

    def generation(self) -> int:
        """Return the generation in the file itself, ignoring the log; it grows with every checkpoint."""
        header = read_at(self.files.file, HEADER, 0)
        ours = header.startswith(b"SQLite format 3\0") and header[JOURNAL_MODE] == WITH_LOG
        return int.from_bytes(header[GENERATION]) if ours else -1

    def state(self) -> tuple[int, ...]:
        """Return what differs once anybody has written into the file itself: its generation, size and times."""
        found = os.fstat(self.files.file)
        return self.generation(), found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def verify(self, *, after_commit: bool = False) -> None:
        """Check that the path still leads to the file that was opened, and to its log.

        After a commit the log is one generation ahead of the file, and cannot begin anew, with other salts, before all
        of it is copied back, which raises the file's generation.
        """
        trouble = self._trouble(after_commit)
        if trouble:
            raise ReplacedLedgerError(
                f"the ledger {self._path} {trouble} while it was open. Nothing more was sent, and what was recorded "
                "last may be missing there. Put the file back as it was (or `Ledger.restore` a backup), then call "
                "again: it is compared with what was last recorded before anything is sent"
            )

    def frames(self) -> int:
        if self.files.shared_memory is None:
            return 0
        return int.from_bytes(read_at(self.files.shared_memory, 4, FRAMES_AT), sys.byteorder)

    def checksum(self) -> tuple[int, int]:
        size = total = 0
        while piece := read_at(self.files.file, 1 << 20, size):
            total, size = zlib.crc32(piece, total), size + len(piece)
        return size, total

    def _trouble(self, after_commit: bool) -> str:
        try:
            if _key(os.stat(self._path)) != self._key:
                return "was replaced by another file"
        except FileNotFoundError:
            return "was deleted or moved"
        known, salts = self._seen
        now = self.generation()
        if now < known:
            return "was written over with an older one"
        try:
            log = os.stat(self._log_path)
        except FileNotFoundError:
            return "lost its log (-wal), which was deleted"
        opened = self._open_log() if self._log is None else self._log
        if _key(log) != self._log_key:
            return "lost its log (-wal), which was replaced by another file"
        header = read_at(opened, LOG_HEADER, 0)
        if now == known and salts and header != salts:
            return "lost its log (-wal), which was written over"
        if after_commit:
            self._seen = now, header
        return ""

    def _wait_to_write(self) -> None:
        until, pause = time.monotonic() + PATIENCE, 0.0005
        while not _lock(self.files.file, _WRITE, WRITER_BYTE):
            if time.monotonic() > until:
                raise LedgerError(
                    f"the ledger {self._path} has been locked by another process for {PATIENCE:.0f} seconds. Nothing "
                    "that was not recorded before is sent; see what uses it, then call again"
                )
            time.sleep(pause)
            pause = min(2 * pause, 0.02)


def in_use(path: Path) -> bool:
    """Return whether a ledger is open, in this process or in another one."""
    with _guard:
        if _key(os.stat(path)) in _held:
            return True
        descriptor = os.open(path, READ_WRITE)
        try:
            return not _lock(descriptor, _WRITE, SHARED_BYTES)
        finally:
            os.close(descriptor)


def _key(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def forget_after_fork() -> None:
    """Start afresh in a forked child: the parent's files belong to the parent."""
    global _guard
    _guard = threading.RLock()
    for known in _held.values():
        known.let_go()
    _held.clear()


if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)  # beyond the text, which others must be able to read
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _free(descriptor: int) -> None:
        """Closing the file is enough."""
else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _free(descriptor: int) -> None:
        # Closing is not enough: a child forked a moment ago may not have closed its copy yet.
        fcntl.flock(descriptor, fcntl.LOCK_UN)


_runs: weakref.WeakSet[RunLock] = weakref.WeakSet()


class RunLock:
    """The lock of one campaign, held from construction until ``release``."""

    _descriptor: int | None = None
    _process: int | None = None

    def __init__(self, path: Path, campaign: str) -> None:
        try:
            self._descriptor = _open_run(path)
            _runs.add(self)
            try:
                _take(self._descriptor)
            except OSError:
                raise _held_by(self._descriptor, campaign) from None
            self._process = os.getpid()
            with contextlib.suppress(OSError):  # on a full disk the lock holds without the note of who holds it
                os.ftruncate(self._descriptor, 0)
                os.lseek(self._descriptor, 0, os.SEEK_SET)
                os.write(self._descriptor, f"{os.getpid()} {socket.gethostname()}".encode())
        except BaseException:  # an interrupt comes between any two steps; a lock that nobody knows of would never end
            self.release()
            raise

    def __del__(self) -> None:
        self.release()

    def keep(self, deadline: float) -> None:
        """Do nothing more to keep the lock: the kernel does."""

    def renews(self, _connection: Statements) -> bool:
        return True

    def is_held(self, _connection: Statements) -> bool:
        return True

    def refuse_if_lost(self) -> None:
        """Raise nothing: a lock of the kernel is not lost."""

    def release(self) -> None:
        """Release the lock; calling it again does nothing."""
        if self._descriptor is not None and self._process == os.getpid():
            _free(self._descriptor)
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def _open_run(path: Path) -> int:
    try:
        OWN.make_folder(path.parent)
        return OWN.open(path, READ_WRITE | os.O_CREAT)
    except OSError as error:
        reason = error.strerror
    raise LedgerError(
        f"the campaign cannot be locked with {path}: {reason}. Nothing was sent; see that the folder may be written "
        "and that the disk has room, then call again"
    )


def _held_by(descriptor: int, campaign: str) -> CampaignLockedError:
    holder = read_at(descriptor, 300, 0).decode(errors="replace")  # what its holder noted in it
    pid, _, host = holder.partition(" ")
    who = f"process {pid} on {host}" if pid else "another process"
    if holder == f"{os.getpid()} {socket.gethostname()}":
        who = "another call in this kernel"
    return CampaignLockedError(
        f"campaign {campaign!r} is being run by {who}; wait for it, or stop it there, then call send again",
        pid=int(pid) if pid.isdigit() else None,
        host=host or None,
    )


def _let_go() -> None:
    # A lock belongs to the open file, which a fork shares: the child must not keep it alive after its parent's death.
    for lock in list(_runs):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
