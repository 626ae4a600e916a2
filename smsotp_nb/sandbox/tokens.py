"""The tokens of this user's sandboxes, kept by port, so that `Sandbox.at` finds that of another process."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from .._own_files import READ_WRITE, OwnFiles, private_folder
from ..errors import UsageError
from ..settings import state_folder
from .access import LONGEST_TOKEN

_OWN_FILES: Final = OwnFiles(UsageError)
# Where a token cannot be kept or read, `Sandbox.at` needs it as an argument, and says so.
_UNAVAILABLE: Final = (OSError, UsageError, ValueError)


def keep_token(url: str, token: str) -> None:
    with contextlib.suppress(*_UNAVAILABLE):
        path = _token_path(url)
        private_folder(state_folder().parent)
        for folder in (state_folder(), path.parent):
            _OWN_FILES.make_folder(folder)
        descriptor = _OWN_FILES.open(path, os.O_CREAT | os.O_TRUNC | READ_WRITE)
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(token)


def kept_token(url: str) -> str | None:
    """Return the token of this user's sandbox at an address, if one was kept."""
    with contextlib.suppress(*_UNAVAILABLE):
        return _OWN_FILES.read(_token_path(url), LONGEST_TOKEN).decode("ascii") or None
    return None


def drop_token(url: str) -> None:
    with contextlib.suppress(*_UNAVAILABLE):
        _token_path(url).unlink()


def _token_path(url: str) -> Path:
    return state_folder() / "sandboxes" / str(urlsplit(url).port)
