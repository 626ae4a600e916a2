"""The disk under a ledger: which file systems are fit for it, and how its file is created."""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from ..._own_files import READ_WRITE, OwnFiles, private_folder
from ...errors import LedgerError
from ...settings import lent_by, state_folder

NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "lustre", "ncpfs", "davfs"}
    | {"9p", "virtiofs", "drvfs"}  # folders of the host in a virtual machine: locks do not reach the other side
    | {"beegfs", "gpfs", "wekafs", "lustre_lite", "fuse"}
)
# Of the others that a program serves (Google Drive, DBFS, buckets, sshfs) none keeps SQLite's log in shared memory and
# on its medium when asked to; these pass on to a disk of this machine.
_FUSE_ON_DISK = frozenset(
    f"fuse.{name}"
    for name in ("fuse-overlayfs", "ntfs-3g", "ntfs", "exfat", "gocryptfs", "encfs", "mergerfs", "bindfs", "lxcfs")
)
MEMORY_FILE_SYSTEMS = frozenset({"tmpfs", "ramfs"})
_OF_CONTAINERS = frozenset({"overlay", "overlayfs", "aufs", "fuse.fuse-overlayfs", "unionfs", "shiftfs"})
OWN = OwnFiles(LedgerError, "; nothing was sent or written", of_others=True)  # a team may share a ledger
_seeking = threading.Lock()


@functools.lru_cache(maxsize=16)  # each table of costs is read by a connection of its own
def file_system(path: Path, mounts: str) -> str:
    """Return the kind of file system that a path is on, by a table such as /proc/mounts; "" if it does not say.

    Example:
        >>> file_system(Path("/home/ann/l.sqlite"), "/dev/vda / ext4 rw 0 0\\nserver:/h /home nfs4 rw 0 0")
        'nfs4'
    """
    lines = [line.split() for line in mounts.splitlines()]
    points = [(fields[1].replace("\\040", " "), fields[2]) for fields in lines if len(fields) > 2]
    # Of two mounts on one point the later one is seen.
    above = [(len(Path(point).parts), n, kind) for n, (point, kind) in enumerate(points) if path.is_relative_to(point)]
    return max(above, default=(0, 0, ""))[2]


def _mounts() -> str:
    try:
        return Path("/proc/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:  # not Linux: there is no such table to look at
        return ""


def check_file_system(path: Path) -> None:
    kind = file_system(path.parent.resolve(), _mounts())
    if kind in NETWORK_FILE_SYSTEMS or (kind.startswith("fuse.") and kind not in _FUSE_ON_DISK):
        raise LedgerError(
            f"{path} is on a network file system ({kind}), where SQLite cannot keep the record safe against a second "
            "runner; set SMSOTP_LEDGER to a path on a disk of this machine, or to the address of a PostgreSQL server "
            "(docs/guides/hosted.md)"
        )


def in_memory(path: Path) -> str:
    """Return the kind of file system if a path is on one that does not survive a restart of the machine, else ""."""
    kind = file_system(path.parent.resolve(), _mounts())
    return kind if kind in MEMORY_FILE_SYSTEMS else ""


def lent(path: Path, mounts: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """Return in words why a file at this path may be gone tomorrow, with what says so; "" where nothing does.

    Example:
        >>> lent(Path("/home/ann/l.sqlite"), "overlay / overlay rw 0 0", {})
        'a container: /home/ann is on its own layer (overlay)'
        >>> lent(Path("/home/ann/l.sqlite"), "overlay / overlay rw 0 0\\n/dev/sda /home ext4 rw 0 0", {})
        ''
    """
    if host := lent_by(environ):
        return host
    folder = path.parent.resolve()
    kind = file_system(folder, _mounts() if mounts is None else mounts)
    if kind in MEMORY_FILE_SYSTEMS:
        return f"a machine whose folder {folder} is in memory ({kind})"
    if kind in _OF_CONTAINERS:
        return f"a container: {folder} is on its own layer ({kind})"
    return ""


def notes_folder() -> Path:
    return state_folder() / "ledgers"


def make_notes_folder(folder: Path) -> None:
    """Make such a folder; it, and the package's own around it, are behind no link, and this user's alone."""
    private_folder(folder.parent.parent)
    for one in (folder.parent, folder):
        OWN.make_folder(one)


def create_private(path: Path) -> bool:
    """Create the file readable by its owner alone; SQLite would make it readable by everybody."""
    try:
        private_folder(path.parent)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        sync_folder(path.parent)
    except OSError as error:
        if isinstance(error, FileExistsError) and path.exists():
            return False
        reason = error.strerror
    else:
        return True
    raise LedgerError(f"the ledger {path} cannot be created: {reason}; choose another path or set SMSOTP_LEDGER")


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that the name of a new file is safe; skip that where a system cannot open folders."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def beside(path: Path, ending: str) -> Path:
    """Return what belongs beside a ledger, the same through whatever link it was opened."""
    path = path.resolve()
    return path.with_name(path.name + ending)


if sys.platform == "win32":

    def read_at(descriptor: int, length: int, offset: int) -> bytes:
        with _seeking:
            os.lseek(descriptor, offset, os.SEEK_SET)
            return os.read(descriptor, length)

    def write_at(descriptor: int, data: bytes, offset: int) -> int:
        """Write to a place of a file, as `read_at`."""
        with _seeking:
            os.lseek(descriptor, offset, os.SEEK_SET)
            return os.write(descriptor, data)
else:
    read_at, write_at = os.pread, os.pwrite


def sync_file(path: Path) -> None:
    descriptor = os.open(path, READ_WRITE)  # Windows syncs nothing that is open for reading only
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
