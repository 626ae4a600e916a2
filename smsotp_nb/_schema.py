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
_BOUNDED: Final = frozenset({  # not the numbers of shapes, which are hashes
    "accepted", "at", "attempts", "due", "last", "made", "messages", "parts", "price", "reply_size", "request", "size",
    "status", "ttl", "used", "wrong",
})  # fmt: skip
_SOUND: Final = {
    "INTEGER": "typeof({0})='integer'",
    "TEXT": "typeof({0})='text' AND ({0} NOT GLOB '*[^ -~]*' OR is_text(CAST({0} AS BLOB)))",  # ASCII is asked in C
    "BLOB": "typeof({0})='blob'",
}

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


def misfit(connection: sqlite3.Connection) -> str:
    """Return in words the first column with a value that is not of its type, or that is no moment; empty: none."""
    connection.create_function("is_text", 1, is_text)
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'")
    for (table,) in tables.fetchall():
        columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
        wrong = [f"WHEN {_wrong(name, kind, needed or key)} THEN '{name}'" for _, name, kind, needed, _, key in columns]
        found = connection.execute(  # `found_` is no column of ours
            f"SELECT CASE {' '.join(wrong)} END AS found_ FROM {table} WHERE found_ IS NOT NULL LIMIT 1"
        ).fetchone()
        if found:
            return f"{table}.{found[0]} holds a value that cannot be"
    return ""


def _wrong(name: str, kind: str, needed: object) -> str:
    """Return the SQL that is true where a column's value cannot be."""
    sound = _SOUND[kind].format(name) if kind else "1"
    sound += f" AND {name} BETWEEN {-FARTHEST} AND {FARTHEST}" if name in _BOUNDED else ""
    return f"NOT coalesce({sound}, 0)" + ("" if needed else f" AND {name} IS NOT NULL")


def is_text(value: bytes | None) -> bool:
    """Return whether bytes are UTF-8; SQLite asks about NULL as well."""
    try:
        (value or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


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
