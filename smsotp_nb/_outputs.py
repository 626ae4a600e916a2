"""Files that this package writes: whole or not at all, never onto what they are made from, never over others unasked.

A file grows beside the place it is meant for and takes that place when it is complete and on the disk. Whatever ends
the work before that - an error, a full disk, Ctrl-C, kill -9 - leaves what was there as it was; only a kill or a power
cut leaves what had grown, ``.smsotp-*.partial``, readable by its owner alone.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from ._calling import not_path, refuse
from .errors import OutputExistsError, UsageError

StrPath = str | os.PathLike[str]
OWNER: Final = 0o600  # what we write names people: nobody else reads it unless its owner says so


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a file is to stand: as the caller named it, behind all links, and what stands there now."""

    named: Path
    target: Path
    old: os.stat_result | None


class Output:
    """A file on its way into its place: ``file`` is open for binary writing, ``path`` is the place as it was named."""

    def __init__(self, place: _Place) -> None:
        self.path = place.named
        self._place = place
        with _told(self.path):
            self._beside = place.target.parent / f".smsotp-{secrets.token_hex(8)}.partial"
            descriptor = os.open(self._beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER)
            self.file: BinaryIO = os.fdopen(descriptor, "w+b")
            if place.old is not None:
                _like(descriptor, place.old)

    def write(self, write_it: Callable[[BinaryIO], object]) -> None:
        """Let ``write_it`` write to the file; what the system refuses is a UsageError that names the file."""
        with _told(self.path):
            write_it(self.file)

    def _finish(self) -> None:
        """Bring every byte to the disk, so that no cut of power can leave a name without its content."""
        with _told(self.path):
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()  # Windows renames no file that is open

    def _put_in_place(self) -> None:
        place = self._place
        with _told(self.path):
            if place.old is None:
                self._appear()
            else:
                os.replace(self._beside, place.target)
            _sync_folder(place.target.parent)

    def _appear(self) -> None:
        """Take a name that was free when the work began; whoever has taken it since keeps it."""
        try:
            _give_name(self._beside, self._place.target)
        except FileExistsError:
            message = f"{self.path} appeared while it was being written; it is unchanged"
            raise OutputExistsError(message, path=str(self.path)) from None

    def _discard(self) -> None:
        with suppress(OSError):  # what could not be written is not written now either
            self.file.close()
        self._beside.unlink(missing_ok=True)


@contextmanager
def outputs(*paths: StrPath, inputs: Iterable[StrPath] = (), overwrite: bool = False) -> Iterator[list[Output]]:
    """Open files to be written; they take their places together when the block ends without an error.

    A file is readable and writable by its owner alone; one that replaces a file is never less strict than that was,
    and has its owner where the system lets us. A symbolic link is refused: whoever planted it would say what is
    written over. Another hard link to a replaced file keeps the old content.

    Raises:
        OutputExistsError: a file is there and ``overwrite`` is not set, or it has appeared since.
        UsageError: a file is one of the ``inputs`` or is named twice (by whatever spelling or link), is a folder, a
            pipe, a device or a link, is write-protected, has no folder; or the system refuses to write it.
    """
    places = [_place(path) for path in paths]
    for at, place in enumerate(places):
        _refuse_inputs(place, inputs)
        _refuse_twice(place, places[:at])
        _refuse_unfit(place)
    for place in places:
        if place.old is not None and not overwrite:
            raise OutputExistsError(f"{place.named} already exists; overwrite=True replaces it", path=str(place.named))
    with ExitStack() as discarded:
        opened = []
        for place in places:
            opened.append(Output(place))
            discarded.callback(opened[-1]._discard)
        yield opened
        for output in opened:
            output._finish()
        for output in opened:
            output._put_in_place()


def write_file(
    path: StrPath, write_it: Callable[[BinaryIO], object], *, inputs: Iterable[StrPath] = (), overwrite: bool = False
) -> Path:
    """Write one file as `outputs` does and return its path."""
    with outputs(path, inputs=inputs, overwrite=overwrite) as (output,):
        output.write(write_it)
    return output.path


# -- where to ----------------------------------------------------------------------------------------------------------


def _place(path: object) -> _Place:
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes) or not os.fspath(path):
        raise UsageError(f"path must be the name of a file to write, not {path!r}: such as 'clean.csv'")
    named = Path(os.path.expanduser(path))
    try:
        target = _behind_folders(named)
        return _Place(named, target, _found(target))
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(named)!r} cannot be written: {_reason(error)}") from None


def _behind_folders(named: Path) -> Path:
    """Return the place behind the links of its folder; its own name is not followed."""
    if named.name in ("", "..") or not named.is_symlink():
        return Path(os.path.realpath(named))
    return Path(os.path.realpath(named.parent)) / named.name


def _found(path: StrPath) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _refuse_inputs(place: _Place, inputs: Iterable[StrPath]) -> None:
    for path in inputs:
        refuse(not_path("inputs", path, example="'list.csv'"))
        source = Path(os.path.expanduser(path))
        if _same(place, Path(os.path.realpath(source)), _found(source)):
            raise UsageError(f"{place.named} is {source} itself, which is being read; write to another file")


def _refuse_twice(place: _Place, others: Iterable[_Place]) -> None:
    for other in others:
        if _same(place, other.target, other.old):
            raise UsageError(f"{place.named} and {other.named} are the same file; name two different ones")


def _same(place: _Place, target: Path, found: os.stat_result | None) -> bool:
    """One file is known by its inode: no spelling, link or letter case hides it."""
    both = place.old is not None and found is not None and os.path.samestat(place.old, found)
    return both or place.target == target


def _refuse_unfit(place: _Place) -> None:
    parent = place.target.parent
    if not parent.is_dir():
        raise UsageError(f"folder not found: {parent}; create it first")
    if place.target.is_symlink():
        raise UsageError(
            f"{place.named} is a link to {os.readlink(place.target)}, which is never followed to write; name that file "
            "itself, or remove the link"
        )
    if place.old is None:
        return
    if stat.S_ISDIR(place.old.st_mode):
        raise UsageError(f"{place.named} is a folder; name a file in it")
    if not stat.S_ISREG(place.old.st_mode):
        raise UsageError(f"{place.named} is a pipe or a device; name a file, and read that where it should go")
    if not os.access(place.target, os.W_OK):
        raise UsageError(f"{place.named} is write-protected; write to another file, or allow writing first")


# -- the system --------------------------------------------------------------------------------------------------------


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {_reason(error)}; what was there is unchanged") from None


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _like(descriptor: int, old: os.stat_result) -> None:
    """Give a file what the one it replaces allows its owner, and that owner where it is allowed."""
    if sys.platform == "win32":  # a new file has the permissions of its folder there
        return
    with suppress(OSError):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & OWNER)


def _give_name(beside: Path, target: Path) -> None:
    """Rename a file to a name that is free; a file system without hard links leaves a moment between look and act."""
    try:
        os.link(beside, target)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(target):
            raise FileExistsError from None
        os.rename(beside, target)


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk; where a folder cannot be opened or synced, the file itself is safe."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
