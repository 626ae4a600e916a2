"""Files and folders that this package keeps for itself: for their owner alone, and nobody else's things in their place.

Whoever may write into the folder could put something else there: a pipe, which nobody ever reads to its end, a link to
a file of their choice, a device without an end. So what is there is looked at before anything opens it, opened without
waiting and without following a link, and read up to a limit. What others may read or write of it is closed to them.

A database is looked at only: closing it again would drop the lock that this very process may hold on it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .errors import LedgerError, UsageError

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
FILE, FOLDER = "a file", "a folder"
_KINDS = (
    (stat.S_ISREG, FILE), (stat.S_ISDIR, FOLDER), (stat.S_ISLNK, "a link"), (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)  # fmt: skip
_SQLITE_ENDS = ("", "-journal", "-wal", "-shm")  # of the files that SQLite opens by itself
JOURNAL: Final = 1  # its place among them
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")  # what a journal that names a super-journal ends with
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # a file of our own is never one that somebody else's link leads to
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # for the other end of a pipe
# Windows would turn bytes that look like line ends into others. No child inherits a descriptor: Python sees to that.
READ, READ_WRITE = (how | getattr(os, "O_BINARY", 0) for how in (os.O_RDONLY, os.O_RDWR))


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """How one part of the package keeps its files.

    Args:
        error: what is raised for something else in the place of a file.
        undone: what the error says was not done.
        of_others: whether a file of another user is used as it is; otherwise it is refused.
    """

    error: type[LedgerError] | type[UsageError]
    undone: str = ""
    of_others: bool = False

    def refuse_other(self, path: Path, *, wanted: str = FILE) -> None:
        """Refuse what is in the place of a file, or a folder, and is something else; it is not opened.

        Raises:
            LedgerError, UsageError: it names the place and what is there.
        """
        try:
            mode = os.lstat(path).st_mode
            led = f" to {os.readlink(path)}, which is never followed" if stat.S_ISLNK(mode) else ""
        except OSError:  # nothing is there, or opening it says more
            return
        if (found := kind(mode)) != wanted:
            raise self._refused(path, f"{found}{led}; it must be {wanted} of your own")

    def look(self, path: Path, *, wanted: str = FILE) -> None:
        """Look at what is there: refused as by `refuse_other` and by its owner, or closed to others from now on."""
        self.refuse_other(path, wanted=wanted)
        if not self.of_others and is_of_another(path):
            raise self._refused(path, f"{wanted} of another user, who can read what is in it")
        tighten(path)

    def refuse_of_another(self, path: Path) -> None:
        """Refuse what another user put in the place of this user's; root may, who can read anything.

        Raises:
            LedgerError, UsageError: it names the place.
        """
        with contextlib.suppress(OSError):  # nothing is there, or opening it says more
            found = os.lstat(path)
            if sys.platform != "win32" and found.st_uid not in (0, os.geteuid()):
                raise self._refused(path, f"{kind(found.st_mode)} of another user, who can read what is in it")

    def refuse_journal(self, path: Path) -> None:
        """Refuse a journal beside a database that names a further file: SQLite would read it, and delete it.

        One of ours names none, because only a transaction over several databases does.

        Raises:
            LedgerError, UsageError: it names one, or something else is in the journal's place.
        """
        with contextlib.suppress(FileNotFoundError, PermissionError):
            descriptor = self.open(path, READ)
            try:
                end = os.lseek(descriptor, 0, os.SEEK_END)
                os.lseek(descriptor, max(end - len(_NAMES_ANOTHER), 0), os.SEEK_SET)
                if os.read(descriptor, len(_NAMES_ANOTHER)) == _NAMES_ANOTHER:
                    raise self._refused(path, "a journal that names further files, so this package did not write it")
            finally:
                os.close(descriptor)

    def open(self, path: Path, how: int) -> int:
        """Open a file and return its descriptor; where it is made it is for its owner alone.

        Raises:
            LedgerError, UsageError: something else is in its place.
            OSError: the system refuses.
        """
        self.refuse_other(path)
        descriptor = os.open(path, how | _NO_LINK | _NO_WAIT, FILE_MODE)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # put there between the two
                raise OSError(errno.EINVAL, "it was replaced by something that is no file")
            self.look(path)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def read(self, path: Path, most: int) -> bytes:
        """Return the bytes of a file that has at most so many.

        Raises:
            LedgerError, UsageError: something else is in its place, or it is longer than any that this package writes.
            OSError: there is none, or the system refuses.
        """
        descriptor = self.open(path, READ)
        found = bytearray()
        try:
            while len(found) <= most and (piece := os.read(descriptor, most + 1 - len(found))):
                found += piece
        finally:
            os.close(descriptor)
        if len(found) > most:
            raise self._refused(path, f"longer than {most:,} bytes, so this package did not write it")
        return bytes(found)

    def make_folder(self, folder: Path) -> None:
        """Make a folder where it is missing, for its owner alone; one that others may enter is closed to them.

        Raises:
            LedgerError, UsageError: something else is in its place, such as a link to somebody else's folder.
            OSError: the system refuses.
        """
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, FOLDER_MODE)
        self.look(folder, wanted=FOLDER)

    def _refused(self, path: Path, found: str) -> LedgerError | UsageError:
        step = "See who put it there, take it away or name another path, then call again"
        return self.error(f"{path} is {found}. {step}{self.undone}")


def private_folder(folder: Path) -> None:
    """Create a folder, and those above it that are missing, for their owner alone."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=FOLDER_MODE, exist_ok=True)


def kind(mode: int) -> str:
    """Return in words what a mode is of."""
    return next((name for is_it, name in _KINDS if is_it(mode)), "a device")


def files_of_sqlite(path: Path) -> list[Path]:
    """Return the files that SQLite opens of a database: beside what a link leads to."""
    file = path.resolve()
    return [file.with_name(file.name + end) for end in _SQLITE_ENDS]


def tighten(path: Path) -> None:
    """Take from everybody else what they may do with a file or folder of this user.

    A stricter mode stays. What another user owns stays as it is, and so it is on a disk or a system without modes.
    """
    if sys.platform != "win32":
        with contextlib.suppress(OSError):  # it is gone, or its disk has no modes: each says so in its own way
            found = os.lstat(path)
            if found.st_mode & 0o077 and found.st_uid == os.geteuid():
                os.chmod(path, stat.S_IMODE(found.st_mode) & ~0o077)


def is_of_another(path: Path) -> bool:
    """Return whether another user owns a file, and so may read it whatever its mode is."""
    try:
        return sys.platform != "win32" and os.stat(path).st_uid != os.geteuid()
    except FileNotFoundError:
        return False
