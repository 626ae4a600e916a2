"""The number of the latest request that this user saw in a record, kept outside of it.

A copy of yesterday or a restored backup ends below it: in such a record people who were texted stand as not texted.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from .._cards import counted
from .._own_files import private_folder
from ..errors import LedgerError, StaleLedgerError
from ..settings import state_folder

_WIDTH = 20  # digits: one write of a fixed length is never read half


class Watermark:
    """The file of one record, by its id, in this user's state folder."""

    def __init__(self, ledger: str) -> None:
        self._path = state_folder() / "ledgers" / f"{ledger}.seen"
        self._lock = threading.Lock()
        self._highest = 0
        self._file: int | None = None

    def check(self, newest: int, path: Any, *, accept_older: bool) -> bool:
        """Compare a record, whose latest request is ``newest``, with what was seen; return whether it was accepted.

        Raises:
            StaleLedgerError: it lacks requests, and ``accept_older`` is False.
        """
        seen = self._read()
        if newest >= seen:
            return False
        if not accept_older:
            missing = counted(seen - newest, "request")
            raise StaleLedgerError(
                f"the ledger {path} ends at request {newest:,}, and this user saw request {seen:,} in it: it is an "
                f"older copy that lacks {missing}. Nothing was sent. Next: put the newer ledger back; or, if that is "
                "lost, open it with sms.Ledger(path, accept_older=True), and plan with exclude= those who were texted "
                "since",
                recipients=seen - newest,
            )
        self._write(newest)
        return True

    def write(self, attempt: int) -> None:
        """Note a request that is on the disk; several threads may note theirs in any order."""
        with self._lock:
            if attempt > self._highest:
                self._highest = attempt
                self._write(attempt)

    def _read(self) -> int:
        try:
            text = self._path.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise self._unusable(error) from None
        return int(text) if text.isdigit() else 0

    def _write(self, attempt: int) -> None:
        try:
            if self._file is None:
                private_folder(self._path.parent)
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            os.lseek(self._file, 0, os.SEEK_SET)  # pwrite is missing on Windows
            os.write(self._file, b"%*d" % (_WIDTH, attempt))
        except OSError as error:
            raise self._unusable(error) from None

    def _unusable(self, error: OSError) -> LedgerError:
        return LedgerError(
            f"{self._path}, where the latest request of the ledger is noted, cannot be used: {error.strerror}. Nothing "
            "was sent. Next: see that this user may write there, then call again"
        )

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None


def folder_of(path: Path) -> Path:
    """Return the folder in which a new record is created, for its owner alone."""
    private_folder(path.parent)
    return path.parent
