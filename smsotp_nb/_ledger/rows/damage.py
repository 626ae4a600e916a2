"""What stands in a ledger and cannot be: one error of ours that names the campaign, whatever broke on it.

Reading checks nothing beforehand, because that would cost every reader of a sound ledger time.
"""

from __future__ import annotations

import functools
import inspect
import sqlite3
import struct
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import pandas as pd
import pyarrow as pa

from ..._calling.tracebacks import without_variables
from ..._calling.words import as_printed
from ..._showing.text import visible
from ...errors import LedgerError, SmsOtpError, SmsOtpWarning, UsageError

Owner = TypeVar("Owner", bound=type)

OURS: Final = (SmsOtpError, SmsOtpWarning)
# What work on a value raises that is not what it should be; the warnings are of numpy and pandas, where they
# are made errors.
BROKEN: Final = (
    ArithmeticError, AttributeError, LookupError, MemoryError, NotImplementedError, RecursionError, TypeError,
    ValueError, Warning, pa.ArrowException, pd.errors.InvalidIndexError, struct.error,
)  # fmt: skip
FOREIGN: Final = (*BROKEN, sqlite3.Error)
_BY_VALUE: Final = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH}  # neither disk nor lock
HALF: Final = "a text holds half a character, which no ledger can keep; retype what was given"
RESTORE: Final = "Restore a backup with `Ledger.restore(backup, path)`"  # where SQLite itself says that it is damaged
_PACKAGE: Final = Path(__file__).parents[1]
SMALLEST_NUMBER, LARGEST_NUMBER = -(2**62), 10**15 - 1  # of a recipient: a hash, or E.164 with its 15 digits


def by_value(error: Exception) -> bool:
    """Return whether an error may come from what stands in the file, rather than from the disk or a lock."""
    if not isinstance(error, sqlite3.Error):
        return True
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)  # Python itself gives none for bytes of no text
    return not isinstance(error, sqlite3.ProgrammingError) and code & 0xFF in _BY_VALUE


def is_corrupt(error: Exception) -> bool:
    """Return whether SQLite itself says that a file is damaged; one that is no database is another file."""
    return bool((getattr(error, "sqlite_errorcode", 0) & 0xFF) == sqlite3.SQLITE_CORRUPT)


class Unfit(ValueError):
    """Something that a reader found and that no ledger holds; what it says names nobody."""


def explained(place: object, error: Exception, campaign: str = "") -> Exception:
    """Return our error for one that was raised by work on what stands in a ledger.

    The error itself says nothing here, because it may quote somebody's number; where it was raised says as much.
    """
    if isinstance(error, UnicodeEncodeError):
        return UsageError(HALF)
    if isinstance(error, MemoryError):
        return error
    of = f" of campaign {visible(campaign)!r}" if campaign else ""
    if isinstance(error, Unfit):
        return LedgerError(
            f"the ledger {place} is damaged or was altered: what it holds{of} cannot be: {visible(str(error))}. Its "
            "other campaigns can still be read"
        )
    return LedgerError(
        f"what the ledger {place} holds{of} does not fit together here ({where(error)}): this package has a defect, or "
        "something else wrote to the file. Nothing was changed; if nothing else did, please report this"
    )


def where(error: Exception) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _PACKAGE in Path(frame.filename).parents]
    at = f" at {Path(frames[-1].filename).relative_to(_PACKAGE)}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{at}"


def understood(owner: Owner) -> Owner:
    """Let the public methods and properties of a class that has a ``_store`` raise errors of ours, without variables.

    Nothing is paid for it until something breaks, so that a claim costs what it did.
    """
    for name, member in list(vars(owner).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, property) and member.fget is not None:
            setattr(owner, name, property(_explaining(member.fget)))
        elif inspect.isfunction(member):
            setattr(owner, name, _explaining(member))
    return owner


def _explaining(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return as_printed(function(self, *args, **kwargs))
        except BaseException as error:
            without_variables(error)
            if isinstance(error, OURS) or not isinstance(error, FOREIGN):
                raise
            if error.__traceback__ is None or error.__traceback__.tb_next is None:
                raise  # the call itself was wrong: nothing was read yet
            refusal = self._store.refusal(error, getattr(self, "name", ""))
        finally:
            args, kwargs = (), {}  # a traceback may print the variables of every frame
        raise refusal from None

    return call
