"""Files and folders that the package keeps for itself: for their owner alone, and none behind somebody else's link.

Each is made, or looked at before anything opens it. A file that is there is not opened to be looked at: closing it
again would drop the lock that this very process may hold on it.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Final

from ._outputs import OWNER
from .errors import UsageError

FOLDER: Final = 0o700
BESIDE: Final = ("-journal", "-wal", "-shm")  # what SQLite reads and writes beside a database


def own_database(path: Path, *, what: str) -> None:
    """Make the file of a database, or look at the one that is there and at SQLite's files beside it.

    Raises:
        UsageError: as `own_file`; ``what`` says what the file is.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     own_database(Path(folder) / "box.sqlite", what="the state file")
        ...     oct((Path(folder) / "box.sqlite").stat().st_mode & 0o777)
        '0o600'
    """
    own_file(path, what=what)
    for beside in (path.with_name(path.name + ending) for ending in BESIDE):
        if os.path.lexists(beside):
            _look(beside, OWNER, what=f"the file beside {what}")


def own_file(path: Path, *, what: str) -> None:
    """Make a file that its owner alone can read, or look at the one that is there: open to others, it is so no more.

    Raises:
        UsageError: it is a link, a folder, a pipe, a device or somebody else's, or the system refuses to make it.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, OWNER))
    except FileExistsError:  # by its own name: O_EXCL follows no link
        _look(path, OWNER, what=what)
    except (OSError, ValueError) as error:
        raise _unusable(path, error, what=what) from None


def own_folder(path: Path, *, what: str) -> None:
    """Make a folder that its owner alone can enter, or look at the one that is there, as `own_file` does."""
    try:
        path.mkdir(mode=FOLDER)
    except FileExistsError:
        _look(path, FOLDER, what=what)
    except (OSError, ValueError) as error:
        raise _unusable(path, error, what=what) from None


def read_own(path: Path, *, what: str, most: int) -> bytes:
    """Read a file of our own, which is no longer than ``most`` bytes.

    Raises:
        UsageError: there is none, it is longer, or it is a link, a folder, a pipe, a device or somebody else's.
    """
    _look(path, OWNER, what=what)
    try:
        with path.open("rb") as file:
            found = file.read(most + 1)
    except OSError as error:
        raise _unusable(path, error, what=what) from None
    if len(found) > most:
        raise UsageError(f"{what} {path} is longer than the {most:,} bytes that it can have; restore a copy")
    return found


def _look(path: Path, mode: int, *, what: str) -> None:
    try:
        found = path.lstat()
        _refuse_unfit(path, found, what=what, folder=mode == FOLDER)
        if sys.platform != "win32":  # Windows has no such modes
            _keep_to_owner(path, found, mode, what=what)
    except OSError as error:
        raise _unusable(path, error, what=what) from None


def _refuse_unfit(path: Path, found: os.stat_result, *, what: str, folder: bool) -> None:
    if stat.S_ISLNK(found.st_mode):
        led = f"a link to {os.readlink(path)}, which is never followed"
        raise UsageError(f"{what} {path} is {led}; name what it leads to, or remove the link")
    if folder and not stat.S_ISDIR(found.st_mode):
        raise UsageError(f"{what} {path} is no folder; remove it, or name another one")
    if not folder and stat.S_ISDIR(found.st_mode):
        raise UsageError(f"{what} {path} is a folder; name a file in it")
    if not folder and not stat.S_ISREG(found.st_mode):
        raise UsageError(f"{what} {path} is a pipe or a device; remove it, or name another file")


def _keep_to_owner(path: Path, found: os.stat_result, mode: int, *, what: str) -> None:
    if found.st_uid != os.geteuid():
        raise UsageError(f"{what} {path} belongs to another user, who can read what is in it; name another one")
    if stat.S_IMODE(found.st_mode) & ~FOLDER:
        path.chmod(stat.S_IMODE(found.st_mode) & mode)


def _unusable(path: Path, error: Exception, *, what: str) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) else "that is no path"
    return UsageError(f"{what} {path} cannot be used: {reason}; name another one, or restore a copy")
