"""Whether an SQLite file has the tables that we wrote, and no view, trigger or index beside them."""

from __future__ import annotations

import contextlib
import functools
import re
import sqlite3
from collections import Counter
from typing import Final

LONGEST: Final = 2**27  # bytes of one value: the packed contacts of sixteen million people
# A quote that hides one in a value stays in front of it, and so does a zero character, where SQLite stops to read.
_COMMENT: Final = re.compile(r"--[^\n\0]*")
_BLANKS: Final = re.compile(r"[ \t\n\f\r]+")  # SQLite's: to it a non-breaking space is part of a name
_STATISTICS: Final = frozenset({  # of ANALYZE, which anybody may run; a trigger of that name is no statistics
    ("table", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    ("table", "sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
})  # fmt: skip

FARTHEST: Final = 9_000_000_000_000_000  # a moment in the year 2255, in microseconds; and no sum of them overflows

Schema = Counter[tuple[str, str, str]]


def limit(connection: sqlite3.Connection) -> None:
    """Let no value of a file be longer than any of ours, no function of its schema have effects, and overwrite what is
    deleted from it, which SQLite does by itself on some systems only.
    """
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA secure_delete=ON")


def strange(connection: sqlite3.Connection, tables: str) -> str:
    """Return in words what is missing from a file that these statements made, differs, or is none of theirs."""
    ours, found = _written(tables), _schema(connection)
    names = sorted({name for _, name, _ in (ours - found) + (found - ours - Counter(_STATISTICS))})
    return ", ".join(repr(name[:60]) for name in names[:3])


@functools.cache
def _written(tables: str) -> Schema:
    with contextlib.closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(tables)
        return _schema(empty)


def _schema(connection: sqlite3.Connection) -> Schema:
    found = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master").fetchall()
    return Counter((kind, name, _plain(sql)) for kind, name, sql in found)


@functools.lru_cache(maxsize=128)
def _plain(sql: str) -> str:
    """Return SQL without comments and line breaks, so that another wording of a comment is no other table."""
    return _BLANKS.sub(" ", _COMMENT.sub("", sql)).strip(" ")
