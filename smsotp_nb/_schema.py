"""Whether an SQLite file has the tables that we wrote, and no view, trigger or index beside them."""

from __future__ import annotations

import contextlib
import functools
import re
import sqlite3
from typing import Final

LONGEST: Final = 2**27  # bytes of one value: the packed contacts of sixteen million people
_COMMENT: Final = re.compile(r"--[^\n]*")  # a quote that hides one in a value stays in front of it
_STATISTICS: Final = ("sqlite_stat1", "sqlite_stat4")  # of ANALYZE, which anybody may run

Schema = frozenset[tuple[str, str, str]]


def limit(connection: sqlite3.Connection) -> None:
    """Let no value of a file be longer than any of ours, and no function of its schema have effects."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    connection.execute("PRAGMA trusted_schema=OFF")


def strange(connection: sqlite3.Connection, tables: str) -> str:
    """Return in words what is missing from a file that these statements made, differs, or is none of theirs."""
    names = sorted({name for _, name, _ in _written(tables) ^ _schema(connection)})
    return ", ".join(repr(name[:60]) for name in names[:3])


@functools.cache
def _written(tables: str) -> Schema:
    with contextlib.closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(tables)
        return _schema(empty)


def _schema(connection: sqlite3.Connection) -> Schema:
    found = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master").fetchall()
    return frozenset((kind, name, _plain(sql)) for kind, name, sql in found if name not in _STATISTICS)


def _plain(sql: str) -> str:
    """Return SQL without comments and line breaks, so that another wording of a comment is no other table."""
    return " ".join(_COMMENT.sub("", sql).split())
