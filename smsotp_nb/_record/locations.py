"""Which record is meant, and whether it may be kept there.

A live call never begins a record: whoever texted people before has one elsewhere, and an empty one would let everybody
be texted again. Only ``Ledger(path, create=True)`` and the command for it create one.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import Final

from .._calling import given as describe
from ..errors import LedgerError, UsageError
from ..settings import Secret, is_address, ledger_place
from .address import Address, read_address

NETWORK_FILE_SYSTEMS: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "lustre", "ncpfs", "davfs"}
    | {"9p", "virtiofs", "drvfs"}  # folders of the host in a virtual machine: locks do not reach the other side
    | {"beegfs", "gpfs", "wekafs", "lustre_lite", "fuse"}
)
# Of the others that a program serves (Google Drive, DBFS, buckets, sshfs) none keeps SQLite's log in shared memory and
# on its medium when asked to; these pass on to a disk of this machine.
_FUSE_ON_DISK: Final = frozenset(
    f"fuse.{name}"
    for name in ("fuse-overlayfs", "ntfs-3g", "ntfs", "exfat", "gocryptfs", "encfs", "mergerfs", "bindfs", "lxcfs")
)
# Folders that a program copies to a cloud and back: it takes a file without its log, and brings yesterday's back.
_SYNCHRONIZED: Final = (
    "dropbox", "onedrive", "google drive", "googledrive", "my drive", "icloud drive", "mobile documents", "box sync",
    "nextcloud", "owncloud", "pcloud drive", "syncthing", "cloudstorage",
)  # fmt: skip
DEFAULT_CREATE: Final = "sms.Ledger(create=True)"


def location_of(ledger: str | Path | Address | None) -> Path | Address:
    """Return where a record is: this user's own for None, the address of a server, or a path.

    Raises:
        UsageError: it is none of these, or a relative path, which means another file in another folder.
    """
    if isinstance(ledger, Address):
        return ledger
    if ledger is None:
        return _own()
    if is_address(ledger):
        return read_address(Secret.of(ledger))
    if not isinstance(ledger, str | Path):
        raise not_a_ledger(ledger)
    return _path(ledger)


def not_a_ledger(ledger: object) -> UsageError:
    return UsageError(f"ledger= must be a Ledger, the path of one or its address, got {describe(ledger)}")


def check_creation(path: Path) -> None:
    """Refuse to begin a record in a folder that a program synchronizes with a cloud.

    Raises:
        LedgerError: it names the folder.
    """
    for part in path.resolve().parts[:-1]:
        if part.casefold().startswith(_SYNCHRONIZED):
            raise LedgerError(
                f"the folder {part!r} of {path} is synchronized with a cloud, which may bring an older state of the "
                "ledger back. Nothing was created. Next: choose a folder that stays on this machine"
            )


def no_ledger(path: Path) -> LedgerError:
    """Return the refusal of a live call where this user has no record yet."""
    return LedgerError(
        f"there is no ledger at {path} yet. Nothing was sent. Whoever texted people before has a record elsewhere: set "
        "SMSOTP_LEDGER, or pass ledger=, to it, because a new one does not know who was texted. Next, for the first "
        f"campaign ever: {DEFAULT_CREATE}"
    )


def check_file_system(path: Path) -> None:
    """Refuse a file system on which SQLite cannot keep the record safe from a second sender.

    Raises:
        LedgerError: it names the file system.
    """
    kind = file_system(path.parent.resolve(), _mounts())
    if kind in NETWORK_FILE_SYSTEMS or (kind.startswith("fuse.") and kind not in _FUSE_ON_DISK):
        raise LedgerError(
            f"{path} is on a network file system ({kind}), where SQLite cannot keep the record safe from a second "
            "sender. Next: set SMSOTP_LEDGER to a path on a disk of this machine, or to the address of a PostgreSQL "
            "server"
        )


def file_system(path: PurePath, mounts: str) -> str:
    """Return the kind of file system that a path is on, by a table such as /proc/mounts; "" if it does not say.

    Example:
        >>> table = "/dev/vda / ext4 rw 0 0\\nserver:/h /home nfs4 rw 0 0"
        >>> file_system(Path("/home/ann/l.sqlite"), table)
        'nfs4'
    """
    found = (0, "")
    for line in mounts.splitlines():
        fields = line.split()
        if len(fields) < 3:
            continue
        point = Path(fields[1].replace("\\040", " "))
        depth = len(point.parts)
        if path.is_relative_to(point) and depth >= found[0]:  # of two mounts on one point the later one is seen
            found = (depth, fields[2])
    return found[1]


def _mounts() -> str:
    try:
        return Path("/proc/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:  # another system has no such table to look at
        return ""


def _own() -> Path | Address:
    location = ledger_place()
    if isinstance(location, Secret):
        return read_address(location)
    spelled = os.environ.get("SMSOTP_LEDGER", "").strip()
    return _path(spelled) if spelled else location


def _path(spelled: str | Path) -> Path:
    text = str(spelled).strip()
    if not text or "\0" in text or "://" in text or text == ":memory:" or text.lower().startswith("file:"):
        raise UsageError(f"a ledger is a file, or on a server, got {str(spelled)!r}")
    try:
        path = Path(text).expanduser()
        is_folder = path.is_dir()
    except (RuntimeError, ValueError, OSError) as error:
        raise UsageError(f"{text!r} cannot be the path of a ledger: {error}") from None
    if not path.is_absolute():
        raise UsageError(
            f"the path {text!r} of a ledger is relative: from another folder it means another file, which does not "
            f"know who was texted. Next: pass {str(path.absolute())!r}"
        )
    if is_folder:
        raise UsageError(f"{path} is a folder; name the file of the ledger in it")
    return path
