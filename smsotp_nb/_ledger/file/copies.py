"""Backups: write the state of a ledger at one moment to one file, and restore it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from ..._own_files import files_of_sqlite, private_folder
from ..._schema import FARTHEST
from ...errors import LedgerError
from ..opening import break_seal, check_ledger, refuse_if_older, refuse_others
from ..rows import runners
from ..rows.statements import Statements
from .disk import sync_file, sync_folder
from .locks import in_use
from .store import Store, named

PARQUET = "month=*/*.parquet"
PLANNED = "*.parquet"  # of a plan in pieces
FILES = ("", "-wal", "-shm")  # of one ledger; what was last seen of it (-mark) stays with its place


def backup(store: Store, path: Path, *, now: int) -> Path:
    """Write a ledger as of one moment to a new file, for its owner alone."""
    if os.path.lexists(path):
        raise LedgerError(f"{path} already exists; choose another path for the backup")
    # Noted before it is made: a backup that lacked the note would count as older.
    with noted(store, path, "backup", now=now), named(path), _begun_beside(path) as beside:
        with store.snapshot() as connection, contextlib.closing(sqlite3.connect(beside)) as copy:
            assert isinstance(connection, sqlite3.Connection)  # a ledger on a server is refused before
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file; the ledger that is opened on it logs again
        sync_file(beside)
        _put(beside, path)
        sync_folder(path.parent)
    return path


@contextlib.contextmanager
def _begun_beside(path: Path) -> Iterator[Path]:
    """Begin a file that is to take a place once it is whole; refuse what SQLite would take for its journal or log."""
    private_folder(path.parent)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    for file in files_of_sqlite(beside)[1:]:
        if os.path.lexists(file):
            raise LedgerError(f"{file} is in the way: left over, or put there by somebody. Delete it, then call again")
    os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        yield beside
    finally:
        beside.unlink(missing_ok=True)


def note(store: Store, path: Path, what: str, *, now: int, durably: bool = True) -> None:
    """Record that a copy of the ledger's rows is being made: no deletion reaches it.

    A ledger without a note that was made durably counts as older than this one.
    """
    with store.writing("FULL" if durably else "NORMAL") as connection:
        note_in(connection, path, what, now=now)


def note_in(connection: Statements, path: Path, what: str, *, now: int) -> None:
    sql = "INSERT INTO copy VALUES (?, ?, ?, ?) ON CONFLICT (path, who) DO UPDATE SET what=excluded.what, made_at=?"
    connection.execute(sql, (str(path), runners.person(), what, now, now))


@contextlib.contextmanager
def noted(store: Store, path: Path, what: str, *, now: int, durably: bool = True) -> Iterator[None]:
    """Record a copy that is made in this block; where it fails, what was recorded of the path before stands again."""
    mine = (str(path), runners.person())
    before = store.asked("SELECT path, who, what, made_at FROM copy WHERE path=? AND who=?", mine)
    note(store, path, what, now=now, durably=durably)
    try:
        yield
    except BaseException:
        with store.writing("FULL" if durably else "NORMAL") as connection:
            connection.execute("DELETE FROM copy WHERE path=? AND who=?", mine)
            connection.executemany("INSERT INTO copy VALUES (?, ?, ?, ?)", before)
        raise


def take_over(store: Store, replaced: Path) -> None:
    """Record the copies that a replaced ledger knew of, as far as it can be read: they are there still."""
    found: list[tuple[str, str, str, int]] = []
    log = replaced.with_name(replaced.name + "-wal").exists()
    how = "mode=ro" if log else "mode=ro&immutable=1"  # which leaves nothing beside it
    with (
        contextlib.suppress(LedgerError, sqlite3.Error),
        contextlib.closing(sqlite3.connect(f"{replaced.absolute().as_uri()}?{how}", uri=True)) as old,
    ):
        check_ledger(old, replaced)
        rows = old.execute("SELECT path, who, what, made_at FROM copy").fetchall()
        sound = [row for row in rows if [*map(type, row)] == [str, str, str, int]]
        found = [row for row in sound if 0 <= row[3] <= FARTHEST]
    if found:
        with store.writing() as connection:
            connection.executemany("INSERT INTO copy VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", found)


def there(path: str) -> bool:
    """Return whether something of a copy that was made is still in its place; of a folder, any of its files."""
    place = Path(path)
    if os.path.isdir(place):
        return any(place.glob(PARQUET)) or any(place.glob(PLANNED))
    return os.path.lexists(place)  # a name may be too long


def restore(backup: Path, path: Path, *, accept_older: bool) -> Path | None:
    """Replace a ledger by a backup; return the path under which the replaced file is kept."""
    if not backup.is_file():
        raise LedgerError(f"backup not found: {backup}")
    refuse_others(backup)
    if path.exists():
        refuse_others(path)
        with named(path):
            if os.path.samefile(backup, path):
                raise LedgerError(f"{path} is the ledger itself; name the backup that is to take its place")
            if in_use(path):
                raise LedgerError(f"the ledger {path} is in use, so nothing was restored; close it, then call again")
    with named(backup), contextlib.closing(sqlite3.connect(f"{backup.absolute().as_uri()}?mode=ro", uri=True)) as copy:
        check_ledger(copy, backup)
        if not accept_older:
            refuse_if_older(copy, path)
        with named(path), _begun_beside(path) as beside:
            with contextlib.closing(sqlite3.connect(beside)) as written:
                copy.backup(written)
            sync_file(beside)
            break_seal(path)
            kept = _set_aside(path)
            os.replace(beside, path)
            sync_folder(path.parent)
    return kept


def _put(beside: Path, path: Path) -> None:
    """Rename a complete file to its final name without replacing anything."""
    try:
        os.link(beside, path)
    except FileExistsError:
        raise LedgerError(f"{path} already exists; choose another path for the backup") from None
    except OSError:  # a file system without links
        os.rename(beside, path)


def _set_aside(path: Path) -> Path | None:
    """Rename the file that is in the place of a ledger, with its log, so that it is kept; return its path."""
    there = os.path.lexists(path)
    kept = f"{path.name}-replaced-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}"
    number = 0
    while path.with_name(kept + f".{number}" * bool(number)).exists():
        number += 1
    kept += f".{number}" * bool(number)
    for end in FILES:
        with contextlib.suppress(FileNotFoundError):
            os.rename(path.with_name(path.name + end), path.with_name(kept + end))
    return path.with_name(kept) if there else None
