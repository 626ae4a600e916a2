"""What Windows does otherwise, as far as this system can be made to do it; for a child process of a test.

Its standard library lacks modules and functions, refuses to rename, replace or delete what is open, to sync what is
open for reading only, and to open a folder; its event loop takes no signal handlers.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import socket
import sys
import types
from collections.abc import Callable
from typing import Any

MISSING_MODULES = ("fcntl", "grp", "pwd", "resource", "termios", "pty", "tty")
MISSING_FUNCTIONS = (
    *("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC", "chown", "fchmod", "fchown"),
    *("fork", "forkpty", "geteuid", "getgid", "getuid", "killpg", "mkfifo", "posix_fallocate", "pread", "pwrite"),
    *("register_at_fork", "statvfs", "uname"),
)


def obey() -> None:
    """Make this process obey; what else is to be imported as on this system must have been imported before."""
    _watch_open_files()
    _watch_fsync(os.fsync)
    _watch_folders(os.open)
    for name in MISSING_MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for name in MISSING_FUNCTIONS:
        if hasattr(os, name):
            delattr(os, name)
    asyncio.SelectorEventLoop.add_signal_handler = _no_handlers  # type: ignore[method-assign,assignment]
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    socket.SO_EXCLUSIVEADDRUSE = socket.SO_REUSEADDR  # type: ignore[attr-defined]
    sys.modules["msvcrt"] = _msvcrt()
    sys.platform = "win32"


def _open_files() -> set[str]:
    found = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:  # the descriptor of the listing itself
            continue
    return found


def _watch_open_files() -> None:
    for name in ("rename", "replace", "unlink", "remove"):
        setattr(os, name, _refusing(getattr(os, name)))


def _refusing(act: Callable[..., Any]) -> Callable[..., Any]:
    def watched(*paths: Any, **options: Any) -> Any:
        taken = {os.path.realpath(path) for path in paths} & _open_files()
        if taken:
            raise PermissionError(13, "The process cannot access the file because it is being used", *taken)
        return act(*paths, **options)

    return watched


def _watch_fsync(fsync: Callable[[int], None]) -> None:
    how, flags = fcntl.fcntl, fcntl.F_GETFL

    def watched(file: Any) -> None:
        number = file if isinstance(file, int) else file.fileno()
        if how(number, flags) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(9, "Bad file descriptor")
        fsync(number)

    os.fsync = watched


def _watch_folders(opened: Callable[..., int]) -> None:
    def watched(path: Any, *rest: Any, **options: Any) -> int:
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *rest, **options)

    os.open = watched


def _no_handlers(*_: Any) -> None:
    raise NotImplementedError


def _msvcrt() -> types.ModuleType:
    """The lock of a region, which belongs to the open file there as flock does here."""
    made = types.ModuleType("msvcrt")
    flock, kind = fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB
    made.LK_NBLCK = 2  # type: ignore[attr-defined]
    made.locking = lambda descriptor, _mode, _length: flock(descriptor, kind)  # type: ignore[attr-defined]
    return made
