"""Numbers of rows: of one that is new, and of rows that stand once for all that say the same, such as destinations."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import LedgerError
from .statements import foreseen


def inserted(connection: sqlite3.Connection, sql: str, values: Sequence[Any]) -> int:
    """Insert one row and return its number."""
    return _numbered(connection.execute(sql, values))


def numbers_of(
    connection: sqlite3.Connection, table: str, rows: Sequence[Mapping[str, Any]], *, key: Sequence[str] = ()
) -> list[int]:
    """Return the number of each of these rows in a table, and record those that are new.

    Args:
        connection: in a transaction that writes.
        table: its name.
        rows: values by the names of the columns, the same ones in each row.
        key: the columns by which a row is known; all of them where none are named.
    """
    if not rows:
        return []
    names = key or tuple(rows[0])
    keys = [tuple(row[name] for name in names) for row in rows]
    distinct: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for values, row in zip(keys, rows, strict=True):
        distinct.setdefault(values, row)
    sql = f"SELECT id FROM {table} WHERE {' AND '.join(f'{name} IS ?' for name in names)}"
    insert = f"INSERT INTO {table} ({', '.join(rows[0])}) VALUES ({', '.join('?' * len(rows[0]))})"
    foreseen(connection, *((sql, values) for values in distinct))
    found = {values: connection.execute(sql, values).fetchone() for values in distinct}
    new = {
        values: connection.execute(insert, tuple(distinct[values].values()))
        for values, row in found.items()
        if row is None
    }
    numbers = {values: _numbered(new[values]) if row is None else int(row[0]) for values, row in found.items()}
    return [numbers[values] for values in keys]


def number_of(connection: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> int:
    """Return the number of a row as `numbers_of` does of several."""
    return numbers_of(connection, table, [row])[0]


def _numbered(result: sqlite3.Cursor) -> int:
    if result.lastrowid is None:
        raise LedgerError("the ledger gave a new row no number")
    return result.lastrowid
