"""One runner for a campaign at a time; the lock ends with its process, however that ends."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import weakref
from pathlib import Path

from ..._own_files import READ_WRITE
from ...errors import CampaignHeld, LedgerError
from ..rows.statements import Statements
from .disk import OWN, read_at

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


_held: weakref.WeakSet[RunLock] = weakref.WeakSet()


class RunLock:
    """The lock of one campaign, held from construction until ``release``."""

    _descriptor: int | None = None
    _process: int | None = None

    def __init__(self, path: Path, campaign: str) -> None:
        try:
            self._descriptor = _open(path)
            _held.add(self)
            holder = _holder(self._descriptor)
            if holder is not None:
                raise _held_by(holder, campaign)
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


def _open(path: Path) -> int:
    try:
        OWN.make_folder(path.parent)
        return OWN.open(path, READ_WRITE | os.O_CREAT)
    except OSError as error:
        reason = error.strerror
    raise LedgerError(
        f"the campaign cannot be locked with {path}: {reason}. Nothing was sent; see that the folder may be written "
        "and that the disk has room, then call again"
    )


def _holder(descriptor: int) -> str | None:
    """Take the lock and return None, or return what its holder noted in it."""
    try:
        _take(descriptor)
    except OSError:
        return read_at(descriptor, 300, 0).decode(errors="replace")
    return None


def _held_by(holder: str, campaign: str) -> CampaignHeld:
    pid, _, host = holder.partition(" ")
    who = f"process {pid} on {host}" if pid else "another process"
    if holder == f"{os.getpid()} {socket.gethostname()}":
        who = "another call in this kernel"
    return CampaignHeld(
        f"campaign {campaign!r} is being run by {who}; wait for it, or stop it there, then call send again",
        pid=int(pid) if pid.isdigit() else None,
        host=host or None,
    )


def _let_go() -> None:
    # A lock belongs to the open file, which a fork shares: the child must not keep it alive after its parent's death.
    for lock in list(_held):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
