"""The files of a sandbox and of its tenants: its user's alone, see `smsotp_nb._own_files`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from .._own_files import FILE_MODE, JOURNAL, OwnFiles, files_of_sqlite
from ..errors import UsageError

_OWN: Final = OwnFiles(UsageError)


def own_database(path: Path) -> None:
    """Make the file of a database that its owner alone can read, or look at the one that is there.

    Raises:
        UsageError: it, or a file of SQLite's beside it, is a link, a folder, a pipe, a device or somebody else's, or
            the system refuses to make it.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     own_database(Path(folder) / "box.sqlite")
        ...     oct((Path(folder) / "box.sqlite").stat().st_mode & 0o777)
        '0o600'
    """
    with _told(path):
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, FILE_MODE))
        except FileExistsError:  # by its own name: O_EXCL follows no link
            _OWN.look(path)
        files = files_of_sqlite(path)
        for file in files[1:]:
            if os.path.lexists(file):
                _OWN.look(file)
        _OWN.refuse_journal(files[JOURNAL])


def own_folder(path: Path) -> None:
    """Make a folder that its owner alone can enter, or look at the one that is there, as `own_database` does."""
    with _told(path):
        _OWN.make_folder(path)


def read_own(path: Path, most: int) -> bytes:
    """Read a file of our own, which is no longer than ``most`` bytes.

    Raises:
        UsageError: there is none, it is longer, or it is a link, a folder, a pipe, a device or somebody else's.
    """
    with _told(path):
        return _OWN.read(path, most)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        said = f"{path} cannot be used: {error.strerror}; name another one, or restore a copy"
        raise UsageError(said) from None
