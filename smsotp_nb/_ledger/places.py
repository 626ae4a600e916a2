"""Find the file of a ledger: this user's own, a path that was given, or that of a Ledger."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from .._calling import given as shown
from .._warnings import warn_user
from ..errors import LedgerError, UsageError
from ..settings import TEMPORARY, Secret, data_folder, is_address
from .file.disk import in_memory, lent
from .file.store import Store
from .opening import was_there
from .server.address import Address, load_driver, own_place, read_address

_MARK = "-mark"
_NEAR = 0.8


def path_of(ledger: object) -> Path | Address:
    if isinstance(ledger, Address):
        return ledger
    if isinstance(ledger, str | Path):
        return place_of(sealed(ledger), create=False)
    found = getattr(ledger, "path", None)
    if not isinstance(found, Path | Address):
        raise not_a_ledger(ledger)
    return found


def not_a_ledger(found: object) -> UsageError:
    return UsageError(f"ledger= must be a Ledger or the path of one, got {shown(found)}")


def place_of(place: str | Path | Address | Secret | None, *, create: bool) -> Path | Address:
    """Return where a ledger is: this user's own, the address of a server, or a path."""
    if place is None:
        return users_own()
    if isinstance(place, str) and place == TEMPORARY:
        return _default()
    if isinstance(place, Address):
        return place
    return read_address(place) if isinstance(place, Secret) else given(place, create=create)


def sealed(place: str | Path | Address | None) -> str | Path | Address | Secret | None:
    """Return the text of an address sealed: a traceback prints the variables of every frame."""
    return Secret.of(place) if is_address(place) else place


def store_of(place: Path | Address, *, create: bool, accept_older: bool = False) -> Store:
    if isinstance(place, Path):
        return Store(place, create=create, accept_older=accept_older)
    load_driver()
    from .server.store import ServerStore  # the driver is an extra

    return ServerStore(place, create=create, accept_older=accept_older)


@contextlib.contextmanager
def snapshot_of(ledger: object) -> Iterator[Store]:
    """Read everything as of one moment, by a separate connection, because a campaign may be running.

    An open ledger in a file keeps that connection: making it takes as long as reading the sums of a campaign.
    """
    place = path_of(ledger)
    kept: Store | None = getattr(ledger, "_reader", None) if isinstance(place, Path) else None
    if kept is not None:
        kept.close_if_written()
    store = kept or store_of(place, create=False)
    try:
        with store.snapshot():
            yield store
    finally:
        if store is not kept:
            store.close()


def own_file() -> Path:
    """Return the path of this user's one ledger; refuse one on a server, whose backups are not our files."""
    place = users_own()
    if isinstance(place, Path):
        return place
    raise LedgerError(
        f"SMSOTP_LEDGER names a ledger on a server, {place}, which the server's own tools back up and restore. Pass "
        "path=, where the backup becomes a ledger in a file"
    )


def users_own() -> Path | Address:
    """Return the place of this user's one ledger; refuse a folder named in the environment that does not exist."""
    path = own_place()
    if isinstance(path, Address):
        return path
    folder = path.parent
    if path != data_folder() / path.name and not folder.is_dir():
        raise LedgerError(
            f"SMSOTP_LEDGER names {path}, but the folder {folder} does not exist. Create it, or correct the variable: "
            "a ledger in another place does not know whom you texted"
        )
    kind = in_memory(path)
    if kind and path != _default():  # there, see `refuse_lent`
        warn_user(
            f"the ledger {path} is on a file system in memory ({kind}): it is lost when this machine restarts, and "
            "everybody may be texted again. Set SMSOTP_LEDGER to a path on a disk"
        )
    return path


def _default() -> Path:
    return data_folder() / "ledger.sqlite"


def refuse_lent(path: Path) -> None:
    """Refuse to begin the record of live campaigns at a default path that may be gone tomorrow."""
    if why := lent(path):
        raise LedgerError(
            f"this is {why}. The ledger {path} has no live campaign yet and may be gone tomorrow; the same cell would "
            "then text everybody again. Nothing was sent. Say where the record is kept: set SMSOTP_LEDGER, or pass "
            "ledger=, to a path on storage that lasts or to the address of a PostgreSQL server (docs/guides/hosted.md "
            f"has the lines for each host); if you need no record beyond this machine, to {TEMPORARY!r}"
        )


def begins(place: str | Path | Address | Secret | None) -> bool:
    """Return whether a path is one where a record may begin unasked, because there never was any.

    A folder that is missing may be a drive that is not mounted, a machine that forgets its files has forgotten its
    ledger, too, and a name that is nearly another ledger's is a mistyped one.
    """
    if place == TEMPORARY or not isinstance(place, str | Path):
        return False
    path = given(place, create=True)
    return path.parent.is_dir() and not (was_there(path) or lent(path) or _nearly(path))


def _nearly(path: Path) -> str:
    """Return the name of the ledger in the same folder that a name is nearly, if there is one."""
    ledgers = [mark.name.removesuffix(_MARK) for mark in path.parent.glob(f"*{_MARK}")]
    return next(iter(get_close_matches(path.name, ledgers, n=1, cutoff=_NEAR)), "")


def given(path: str | Path, *, create: bool) -> Path:
    if not isinstance(path, str | Path):
        raise UsageError(f"Ledger takes a path, got {shown(path)}; without one it opens this user's ledger")
    spelled = str(path).strip()
    if (
        not spelled
        or spelled == ":memory:"
        or "\0" in spelled
        or "://" in spelled
        or spelled.lower().startswith("file:")
    ):
        raise UsageError(f"Ledger takes the path of a file, got {str(path)!r}")
    try:
        found = Path(path).expanduser().absolute()
        there = found.exists()
    except (RuntimeError, ValueError, OSError) as error:
        reason = str(error)
    else:
        if there and found.is_dir():
            raise LedgerError(f"{found} is a folder; name the file of the ledger in it")
        if there or create:
            return found
        near = _nearly(found)
        raise LedgerError(
            f"ledger not found: {found}{f'; there is {near!r} beside it' if near else ''}. A new ledger does not know "
            f"who was texted: correct the path, or, to begin a record there, pass Ledger({str(path)!r}, create=True)"
        )
    raise UsageError(f"{str(path)!r} cannot be the path of a ledger: {reason}")
