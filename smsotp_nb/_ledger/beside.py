"""What this package and SQLite open by name beside a ledger: files and folders of our own, and nothing else.

Whoever may write into the folder could put something else there: a pipe, which nobody ever reads to its end, a link to
a file of their choice, a device without an end. So what is there is looked at before it is opened, opened without
waiting and without following a link, and read up to a limit. What others may read or write of it is closed to them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from pathlib import Path

from ..errors import LedgerError
from .disk import NO_LINK, NO_WAIT, READ

_KINDS = (
    (stat.S_ISREG, "a file"), (stat.S_ISDIR, "a folder"), (stat.S_ISLNK, "a link"), (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)  # fmt: skip
_SQLITE_ENDS = ("", "-journal", "-wal", "-shm")  # of the files that SQLite opens by itself


def refuse_other(path: Path, *, wanted: str = "a file") -> None:
    """Refuse what is in the place of a file of ours, or a folder, and is something else.

    Raises:
        LedgerError: it names the place and what is there.
    """
    try:
        found = kind(os.lstat(path).st_mode)
    except OSError:  # nothing is there, or opening it says more
        return
    if found != wanted:
        raise LedgerError(
            f"{path} is {found}, where this package has {wanted} of its own. See who put it there, take it away, then "
            "call again; nothing was sent or written"
        )


def kind(mode: int) -> str:
    """Return in words what a mode is of."""
    return next((name for is_it, name in _KINDS if is_it(mode)), "a device")


def files_of_sqlite(path: Path) -> list[Path]:
    """Return the files that SQLite opens of a database: beside what a link leads to."""
    file = path.resolve()
    return [file.with_name(file.name + end) for end in _SQLITE_ENDS]


def open_own(path: Path, how: int) -> int:
    """Open a file of ours and return its descriptor; where it is made it is for its owner alone.

    Raises:
        LedgerError: something else is in its place.
    """
    refuse_other(path)
    descriptor = os.open(path, how | NO_LINK | NO_WAIT, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # put there between the two
            raise OSError(errno.EINVAL, "it was replaced by something that is no file")
        tighten(path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_own(path: Path, most: int) -> bytes:
    """Return the bytes of a file of ours that has at most so many.

    Raises:
        LedgerError: something else is in its place, or it is longer than any that this package writes.
    """
    descriptor = open_own(path, READ)
    found = bytearray()
    try:
        while len(found) <= most and (piece := os.read(descriptor, most + 1 - len(found))):
            found += piece
    finally:
        os.close(descriptor)
    if len(found) > most:
        raise LedgerError(
            f"{path} has more than {most:,} bytes, so this package did not write it. See who put it there, take it "
            "away, then call again; nothing was sent or written"
        )
    return bytes(found)


def own_folder(folder: Path) -> None:
    """Make a folder of ours where it is missing, for its owner alone; one that others may enter is closed to them.

    Raises:
        LedgerError: something else is in its place, such as a link to somebody else's folder.
    """
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    refuse_other(folder, wanted="a folder")
    tighten(folder)


def tighten(path: Path) -> None:
    """Take from everybody else what they may do with a file or folder of this user.

    A stricter mode stays. What another user owns stays as it is, and so it is on a disk or a system without modes.
    """
    if sys.platform != "win32":
        with contextlib.suppress(FileNotFoundError, PermissionError):
            found = os.lstat(path)
            if found.st_mode & 0o077 and found.st_uid == os.geteuid():
                os.chmod(path, stat.S_IMODE(found.st_mode) & ~0o077)


def is_of_another(path: Path) -> bool:
    """Return whether another user owns a file, and so may read it whatever its mode is."""
    return sys.platform != "win32" and os.stat(path).st_uid != os.geteuid()
