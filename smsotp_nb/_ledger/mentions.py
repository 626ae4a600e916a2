"""Texts that name a person who asked to be forgotten, although they are not about that person alone.

A reason, a proof, the line of an invoice, a kept column of somebody else: what people or their systems wrote. A number
in them is known by its digits, however it is set apart, with a calling code or as it is dialled at home. In kept
columns, of which there are millions, only those are looked at that have the digits in one piece.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final

INSTEAD: Final = "(forgotten)"
_TEXTS: Final = (("consent", "proof"), ("change", "reason"), ("change", "evidence"), ("decision", "reason"))
_DIGITS: Final = re.compile(r"[+(]{0,2}\d(?:[ ().\-/]{0,3}\d){6,40}")
_LEAST: Final = 7  # digits; fewer are no number


def forget(connection: sqlite3.Connection, numbers: Iterable[int]) -> list[int]:
    """Take numbers out of the texts of the ledger, and of what rows of others keep; inside a transaction.

    Returns:
        The campaigns whose kept columns changed.
    """
    names = [str(number) for number in numbers]
    for table, column in _TEXTS:
        rows = connection.execute(f"SELECT id, {column} FROM {table} WHERE {column} IS NOT NULL").fetchall()
        told = [(without(text, names), text, number) for number, text in rows]
        connection.executemany(
            f"UPDATE {table} SET {column}=? WHERE id=?", [(new, number) for new, old, number in told if new != old]
        )
    return [campaign for name in names for campaign in _forget_in_kept(connection, name)]


def without(text: str, names: Sequence[str]) -> str:
    """Return a text without these numbers, which are E.164 without the plus.

    Example:
        >>> without("of +49 151 2345-6789 and 0151 23456789, not of 49151234567890", ["4915123456789"])
        'of (forgotten) and (forgotten), not of 49151234567890'
    """

    def told(found: re.Match[str]) -> str:
        digits = re.sub(r"\D", "", found[0])
        alone = digits.lstrip("0")
        mine = len(alone) >= _LEAST and any(name.endswith(alone) for name in names)
        several = " " in found[0] and any(name in digits for name in names)  # numbers with a blank between them
        return INSTEAD if mine or several else found[0]

    return _DIGITS.sub(told, text)


def _forget_in_kept(connection: sqlite3.Connection, name: str) -> list[int]:
    found = connection.execute(
        "SELECT campaign, chunk, position, kept FROM recipient WHERE kept LIKE ?", (f"%{name}%",)
    ).fetchall()
    rows = [(json.dumps(_values(kept, name), ensure_ascii=False), *place) for *place, kept in found]
    connection.executemany("UPDATE recipient SET kept=? WHERE campaign=? AND chunk=? AND position=?", rows)
    return [row[0] for row in found]


def _values(kept: str, name: str) -> list[Any]:
    return [_without(value, name) for value in json.loads(kept)]


def _without(value: Any, name: str) -> Any:
    if isinstance(value, str):
        return without(value, [name])
    return None if name in json.dumps(value) else value
