"""Frames as tables of a card, and counts as notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .blocks import Align, Cell, Note, Sign, Table
from .words import and_more, money, places_by

if TYPE_CHECKING:
    import pandas as pd

Row: TypeAlias = dict[str, Any]
Column: TypeAlias = tuple[str, Align, str | Callable[[Row], Cell]]
SHOWN: Final = 8  # rows of a table


def records(frame: pd.DataFrame) -> list[Row]:
    """Return a small frame row by row."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def listed(
    frame: pd.DataFrame, *columns: Column, most: int = SHOWN, title: str = "", where: str = "", more: str = ""
) -> list[Table]:
    """Return the first rows of a frame as a table, none of an empty one; ``where`` says where all of them are.

    A column is its heading, its side, and a column of the frame or what makes its cell of a row.
    """
    rows = [
        tuple(row[cell] if isinstance(cell, str) else cell(row) for _, _, cell in columns)
        for row in records(frame.head(most))
    ]
    heads, align = tuple(head for head, _, _ in columns), tuple(side for _, side, _ in columns)
    more = and_more(len(frame) - len(rows), where) if where else more
    return [Table(heads, tuple(rows), align, title, more)] if rows else []


def amounts(frame: pd.DataFrame, name: str, unknown: str, *, like: str = "", most: int = SHOWN) -> Callable[[Row], str]:
    """Return what shows an amount of a row with as many places as those of its currency need, of the rows shown."""
    first = frame.head(most)
    places = places_by(first["currency"], first[like or name])

    def shown(row: Row) -> str:
        currency = row["currency"]
        return money(row[name], currency, places=places[currency]) if isinstance(currency, str) else unknown

    return shown


def notes(*said: tuple[Sign, int, str]) -> list[Note]:
    """Return the notes of which there is anything to count."""
    return [Note(sign, text) for sign, many, text in said if many]
