"""Tokens of the sandboxes of this user, for their other processes: each in a file of their own, called by its port."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from urllib.parse import urlsplit

from .._own_files import READ_WRITE, OwnFiles, private_folder
from ..errors import UsageError
from ..settings import state_folder

_OWN = OwnFiles(UsageError)
_LONGEST = 200
_UNKEPT = (OSError, UsageError, ValueError)


def keep(url: str, token: str) -> None:
    """Keep the token of a sandbox; where that cannot be done, `Sandbox.at` needs it as an argument."""
    with contextlib.suppress(*_UNKEPT):
        place = _place(url)
        private_folder(state_folder().parent)
        for folder in (state_folder(), place.parent):
            _OWN.make_folder(folder)
        with open(_OWN.open(place, os.O_CREAT | os.O_TRUNC | READ_WRITE), "w", encoding="ascii") as file:
            file.write(token)


def kept(url: str) -> str | None:
    """Return the token of this user's sandbox at an address, if one was kept."""
    with contextlib.suppress(*_UNKEPT):
        return _OWN.read(_place(url), _LONGEST).decode("ascii") or None
    return None


def drop(url: str) -> None:
    with contextlib.suppress(*_UNKEPT):
        _place(url).unlink()


def _place(url: str) -> Path:
    return state_folder() / "sandboxes" / str(urlsplit(url).port)
