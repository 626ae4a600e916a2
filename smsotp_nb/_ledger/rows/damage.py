"""What stands in a ledger and cannot be: one error of ours that names the campaign, whatever broke on it.

Reading checks nothing beforehand, because that would cost every reader of a sound ledger time. Only when something
breaks are all values held against their table: type, range, text that is text, JSON that is JSON.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
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
from ..._schema import FARTHEST, is_text
from ..._showing.text import visible
from ...errors import LedgerError, SmsOtpError, SmsOtpWarning, UsageError
from ...results import STATES

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
HALF: Final = "a text holds half a character, which no ledger can keep; retype what was given, or restore a backup"
_PACKAGE: Final = Path(__file__).parents[1]
SMALLEST_NUMBER, LARGEST_NUMBER = -(2**62), 10**15 - 1  # of a recipient: a hash, or E.164 with its 15 digits
_TIMES: Final = ("at", "latest", "not_before", "until")
_LISTS: Final = ("kept", "variables", "stratum")
_JSON: Final = (*_LISTS, "forcing", "declared", "currencies", "refused", "shared", "evidence")
_STATES: Final = ("state", "own_state")
_DEEPEST: Final = 100  # lists within lists
_WORDS: Final = {"INTEGER": "a whole number", "TEXT": "text", "BLOB": "bytes", "REAL": "a number"}


def by_value(error: Exception) -> bool:
    """Return whether an error may come from what stands in the file, rather than from the disk or a lock."""
    if not isinstance(error, sqlite3.Error):
        return True
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)  # Python itself gives none for bytes of no text
    return not isinstance(error, sqlite3.ProgrammingError) and code & 0xFF in _BY_VALUE


class Unfit(ValueError):
    """Something that a reader found and that no ledger holds; what it says names nobody."""


def explained(path: Path, connection: sqlite3.Connection | None, error: Exception, campaign: str = "") -> Exception:
    """Return our error for one that was raised by work on what stands in the file: what is wrong where.

    The error itself says nothing here, because it may quote somebody's number; where it was raised says as much.
    """
    found = "" if connection is None else _found(connection)
    if isinstance(error, UnicodeEncodeError) and not found:
        return UsageError(HALF)
    if isinstance(error, MemoryError) and not found:
        return error
    mended = "Restore a backup with `Ledger.restore(backup, path)`"
    if found or isinstance(error, Unfit):
        return LedgerError(
            f"the ledger {path} is damaged or was altered: {found or visible(str(error))}. Its other campaigns can "
            f"still be read. {mended}"
        )
    of = f" of campaign {visible(campaign)!r}" if campaign else ""
    return LedgerError(
        f"the ledger {path} is damaged or was altered, or this package has a defect: what it holds{of} does not fit "
        f"together ({where(error)}). {mended}; if nothing but this package wrote the file, please report this"
    )


def refuse_damaged(connection: sqlite3.Connection) -> None:
    """Refuse a file with a value that cannot be, wherever it stands."""
    if found := _found(connection):
        raise Unfit(found)


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


# -- where it is -------------------------------------------------------------------------------------------------------


def _found(connection: sqlite3.Connection) -> str:
    """Return in words the first value that cannot be; empty if all of them can."""
    for name, arguments, function in (("is_text", 1, is_text), ("is_json", 2, _is_json)):
        with contextlib.suppress(sqlite3.OperationalError):  # it is there already, and a statement is being read
            connection.create_function(name, arguments, function)
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'")
    for (table,) in tables.fetchall():
        try:
            if found := _first(connection, table):
                return found
        except sqlite3.Error as error:
            return f"{table}: {error}"
    return ""


def _first(connection: sqlite3.Connection, table: str) -> str:
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    tests = [
        (name, f"NOT coalesce({_sound(name, kind, needed or key)}, 0)") for _, name, kind, needed, _, key in columns
    ]
    names = [name for name, _ in tests]
    whose = "campaign" if "campaign" in names else "id" if table == "campaign" else "NULL"
    which = " ".join(f"WHEN {test} THEN {place}" for place, (_, test) in enumerate(tests))
    wrong = connection.execute(
        f"SELECT CASE {which} END AS wrong, {whose} FROM {table} WHERE wrong IS NOT NULL LIMIT 1"
    ).fetchone()
    if wrong is None:
        return ""
    _, name, kind, *_ = columns[wrong[0]]
    said = _WORDS.get(kind, "text or bytes") + (" within its range" if kind == "INTEGER" else "")
    return f"{_campaign(connection, wrong[1])}{table}.{name} holds a value that is not {said}"


def _campaign(connection: sqlite3.Connection, number: object) -> str:
    with contextlib.suppress(sqlite3.Error):
        row = connection.execute("SELECT CAST(name AS BLOB) FROM campaign WHERE id=?", (number,)).fetchone()
        if row and isinstance(row[0], bytes):
            return f"in campaign {row[0][:80].decode('utf-8', 'replace')!r}, "
    return ""


def _sound(name: str, kind: str, needed: object) -> str:
    """Return the SQL that is true where a column's value can be."""
    here = f"typeof({name})"
    sound = {
        "INTEGER": f"{here}='integer' AND {_range(name)}",
        "TEXT": f"{here}='text' AND {_text(name)}",
        "BLOB": f"{here}='blob'",
        "REAL": f"{here}='real' AND abs({name})<1e300",
    }.get(kind, f"{here}='blob' OR {here}='text' AND is_text(CAST({name} AS BLOB))")
    return f"({sound})" if needed else f"({name} IS NULL OR {sound})"


def _range(name: str) -> str:
    if name in _STATES:
        return f"{name} BETWEEN 0 AND {len(STATES) - 1}"
    if name == "number":
        return f"{name}<>0 AND {name} BETWEEN {SMALLEST_NUMBER} AND {LARGEST_NUMBER}"
    if name in _TIMES or name.endswith("_at"):
        return f"{name} BETWEEN 0 AND {FARTHEST}"
    return "1"


def _text(name: str) -> str:
    return (
        f"is_json(CAST({name} AS BLOB), {int(name in _LISTS)})" if name in _JSON else f"is_text(CAST({name} AS BLOB))"
    )


def _is_json(value: bytes | None, as_list: int) -> bool:
    try:
        found = json.loads(value or b"[]")
    except (ValueError, RecursionError):
        return False
    return (isinstance(found, list) or not as_list) and _depth(found) <= _DEEPEST


def _depth(value: Any) -> int:
    """Return how deep lists and objects are nested; never deeper than the parser went."""
    depth, level = 0, [value]
    while level := [inner for each in level for inner in _inside(each)]:
        depth += 1
    return depth


def _inside(value: Any) -> list[Any]:
    return value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
