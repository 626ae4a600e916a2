"""The workbook of questions when it comes back: what its cells say, whatever a spreadsheet has made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..._outputs import StrPath
from ..._recipients.reading import workbook_rows
from ..._results import questions
from ...errors import UsageError
from .questions import LEAVE_OUT, NEW_COUNTRY, NEW_NUMBER, NUMBER, ROW, text_of

YES: Final = frozenset({"yes", "y", "x", "true", "1", "leave out", "ja", "oui", "si", "sí"})
NO: Final = frozenset({"no", "n", "false", "0", "nein", "non"})
READ: Final = (ROW, NUMBER, NEW_NUMBER, NEW_COUNTRY, LEAVE_OUT)
NEEDED: Final = (ROW, NUMBER, NEW_NUMBER)
ROUNDED: Final = re.compile(r"\A[1-9][0-9]{5,30}0{5}\Z")  # what is left of 4.15556E+11


@dataclass(frozen=True, slots=True)
class Reply:
    """One row of the workbook: where it stands, which row of the list it is about, and the answer."""

    at: int
    row: str
    number: str
    new_number: str
    new_country: str
    leave_out: str
    as_number: bool
    number_as_number: bool

    @property
    def blank(self) -> bool:
        return not (self.new_number or self.new_country) and self.leave_out.lower() in NO | {""}

    @property
    def leaves_out(self) -> bool:
        return self.leave_out.lower() in YES or self.new_number.lower() == LEAVE_OUT.lower()

    def unclear(self) -> str:
        """Say why the answer cannot be read; nothing where it can."""
        word = self.leave_out.lower()
        if word and word not in YES | NO:
            return f"{LEAVE_OUT} says {self.leave_out!r}; yes or no is understood"
        if word in YES and (self.new_number or self.new_country):
            return "it has a new number or country and is to be left out; only one of the two is possible"
        if self.as_number and ROUNDED.match(self.new_number):
            digits = float(self.new_number)
            return f"a spreadsheet wrote the new number as {digits:.5E}, and its last digits may be lost"
        return ""

    def is_about(self, cell: str) -> bool:
        """Say whether the list still has the number that was asked about; a spreadsheet may have dropped its zeros."""
        if self.number.split() == cell.split():
            return True
        return self.number_as_number and self.number.lstrip("0") == "".join(filter(str.isdigit, cell)).lstrip("0")


def read(path: StrPath) -> list[Reply]:
    """Return the rows of a workbook of questions: columns in any order, other columns, rows and sheets beside them.

    Raises:
        UsageError: it has no sheet of questions.
    """
    replies: list[Reply] = []
    sheet, places, asked = "", None, False
    for name, at, cells in workbook_rows(path):
        head = _head(cells)
        places = head or (places if name == sheet else None)
        sheet, asked = name, asked or head is not None
        if places is not None and head is None:
            replies += _reply(at, cells, places)
    if not asked:
        columns = ", ".join(map(repr, NEEDED))
        raise UsageError(f"no sheet has the columns {columns}; pass the workbook that ask_owner wrote, as it came back")
    return replies


def _head(cells: Sequence[Any]) -> dict[str, int] | None:
    """Return where the columns of questions stand, if this row is their header."""
    words = [str(cell).strip().lower() if isinstance(cell, str) else "" for cell in cells]
    places = {name: words.index(name.lower()) for name in READ if name.lower() in words}
    return places if places.keys() >= set(NEEDED) else None


def _reply(at: int, cells: Sequence[Any], places: dict[str, int]) -> Iterator[Reply]:
    found = {name: cells[place] if (place := places.get(name, len(cells))) < len(cells) else None for name in READ}
    texts = {name: questions.asked(text_of(cell) or "") for name, cell in found.items()}
    if any(texts.values()):
        yield Reply(
            at,
            texts[ROW],
            texts[NUMBER],
            texts[NEW_NUMBER],
            texts[NEW_COUNTRY],
            texts[LEAVE_OUT],
            _is_number(found[NEW_NUMBER]),
            _is_number(found[NUMBER]),
        )


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)
