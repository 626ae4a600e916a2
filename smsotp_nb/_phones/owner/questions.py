"""What only the owner of a list can answer, as a workbook: written with room for answers, read when it comes back."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from ..._calling import in_our_words, not_flag, not_frame, not_list, not_path, refuse
from ..._frames import AnyFrame, as_pandas
from ..._outputs import StrPath
from ..._pandas import STR, is_missing
from ..._recipients import ROW as COUNTED
from ..._recipients import cell_text, workbook_rows
from ..._results import questions
from ...columns import require
from ...errors import UsageError
from ...problems import in_words
from ..summary import ASKS, free_names, not_judged

TITLE: Final = "Phone numbers to check"
ROW, NUMBER, COUNTRY, REASON, NEEDED = "Row", "Number", "Country", "Why it cannot be used", "What is needed"
NEW_NUMBER, NEW_COUNTRY, LEAVE_OUT = "New number", "New country", "Leave out"
YES: Final = "yes"
WORDS: Final = (
    "Please fill in the shaded cells, save this file as .xlsx and send it back.",
    "New number: the number to text, with a plus and the calling code, or as it is dialled in its country.",
    "New country: only where the country is missing or wrong, as a code such as DE or by its English name.",
    "Leave out: yes, if nobody is to be texted. A row without an answer stays as it is.",
)
OF_THE_FILE: Final = "Row is the row of the list as a spreadsheet counts it, its header being row 1."
OF_THE_FRAME: Final = "Row is what the list itself calls the row."
KEEP: Final = "Please leave Row and Number as they are: they show where an answer belongs."
WHOSE: Final = "This file holds complete phone numbers. It is for the owner of the list only."


@in_our_words
def ask_owner(
    people: AnyFrame,
    judged: AnyFrame,
    path: StrPath,
    *,
    phone: Hashable,
    region: Hashable | None = None,
    keep: Iterable[Hashable] = (),
    overwrite: bool = False,
    inputs: Iterable[StrPath] = (),
) -> Path:
    """Write the rows that cannot be texted to a workbook in which the owner of the list answers.

    It has a sheet with the row, the complete number, the reason in words, what is needed, and shaded cells for a new
    number, a new country, or to leave the row out; what to do stands above. Text that a spreadsheet would run is made
    harmless. ``merge_answers`` reads it when it comes back.

    Args:
        people: the list. Its row labels go into the workbook, so each must be different;
            ``read_recipients(path)`` labels the rows as a spreadsheet counts them.
        judged: what ``normalize`` returned for it.
        path: of the workbook, ``.xlsx``.
        phone: the column of numbers.
        region: the column of countries, if there is one.
        keep: further columns that show the owner who is meant, such as the name.
        overwrite: replace a file that is there.
        inputs: files that are never replaced, such as the one that the list was read from.

    Returns:
        The path.

    Raises:
        UsageError: no row to ask about, a missing column, row labels that repeat, or a file that cannot be written.
        FileExists: the file is there and ``overwrite`` is not set.

    Example:
        >>> import tempfile
        >>> from smsotp_nb import phones
        >>> people = pd.DataFrame({"phone": ["+14155550100", "555-0100"], "country": "US"}, index=[2, 3])
        >>> judged = phones.normalize(people["phone"], region=people["country"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = ask_owner(people, judged, f"{folder}/ask.xlsx", phone="phone", region="country")
        ...     pd.read_excel(file, header=8, dtype=str, engine="openpyxl")[["Row", "Number", "Why it cannot be used"]]
          Row    Number     Why it cannot be used
        0   3  555-0100  the area code is missing
    """
    people, judged = as_pandas(people), as_pandas(judged)
    refuse(not_frame("people", people), not_judged("ask_owner()", judged), not_list("keep", keep, of="columns"))
    refuse(not_path("path", path, example="'questions.xlsx'"), not_flag("overwrite", overwrite))
    shown = [keep] if isinstance(keep, str) else list(keep)
    for name in (phone, *([] if region is None else [region]), *shown):
        require(name, people.columns)
    if len(people) != len(judged) or not people.index.equals(judged.index):
        raise UsageError("people and judged must be the same rows: judged = phones.normalize(people[column])")
    table = _table(people, judged, phone, region, shown)
    if table.empty:
        raise UsageError("nothing to ask: every row of the list has a usable number")
    asked = questions.Questions(
        TITLE, _words(people.index), table, {NEW_NUMBER: (), NEW_COUNTRY: (), LEAVE_OUT: (YES,)}
    )
    return questions.write(asked, path, inputs=inputs, overwrite=overwrite)


def names_of_rows(index: pd.Index) -> list[str]:
    """Return the row labels as a workbook shows them.

    Raises:
        UsageError: two rows have the same one, so that no answer could find its row.
    """
    names = [name_of_row(label) for label in index]
    repeated = pd.Index(names, dtype=object).duplicated()
    if repeated.any():
        first = names[int(repeated.argmax())]
        raise UsageError(
            f"more than one row is called {first!r}, so no answer could find its row; give each a label of its own "
            "first: people = people.reset_index(drop=True)"
        )
    return names


def name_of_row(label: Any) -> str:
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _words(index: pd.Index) -> tuple[str, ...]:
    return (*WORDS, f"{OF_THE_FILE if index.name == COUNTED else OF_THE_FRAME} {KEEP}", WHOSE)


def _table(
    people: pd.DataFrame, judged: pd.DataFrame, phone: Hashable, region: Hashable | None, keep: Sequence[Hashable]
) -> pd.DataFrame:
    rows = np.flatnonzero(judged["to"].isna())
    names = names_of_rows(people.index)
    problem = judged["problem"].iloc[rows].tolist()
    columns: dict[str, Any] = {ROW: [names[row] for row in rows], NUMBER: _texts(people[phone].iloc[rows])}
    if region is not None:
        columns[COUNTRY] = _texts(people[region].iloc[rows])
    columns |= {REASON: [in_words(code) for code in problem], NEEDED: [ASKS.get(code, "") for code in problem]}
    columns |= dict.fromkeys((NEW_NUMBER, NEW_COUNTRY, LEAVE_OUT))
    free = free_names(map(str, keep), columns)
    columns |= {free[str(name)]: _texts(people[name].iloc[rows]) for name in keep}
    return pd.DataFrame({name: pd.Series(cells, index=range(len(rows)), dtype=STR) for name, cells in columns.items()})


def _texts(column: pd.Series) -> list[str | None]:
    return [text_of(cell) for cell in column]


def text_of(cell: Any) -> str | None:
    """Return a cell as text; None where it is blank."""
    return None if is_missing(cell) else cell_text(cell).strip() or None


YES_WORDS: Final = frozenset({"yes", "y", "x", "true", "1", "leave out", "ja", "oui", "si", "sí"})
NO_WORDS: Final = frozenset({"no", "n", "false", "0", "nein", "non"})
READ: Final = (ROW, NUMBER, NEW_NUMBER, NEW_COUNTRY, LEAVE_OUT)
ANSWERED: Final = (ROW, NUMBER, NEW_NUMBER)
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
        return not (self.new_number or self.new_country) and self.leave_out.lower() in NO_WORDS | {""}

    @property
    def leaves_out(self) -> bool:
        return self.leave_out.lower() in YES_WORDS or self.new_number.lower() == LEAVE_OUT.lower()

    def unclear(self) -> str:
        """Say why the answer cannot be read; nothing where it can."""
        word = self.leave_out.lower()
        if word and word not in YES_WORDS | NO_WORDS:
            return f"{LEAVE_OUT} says {self.leave_out!r}; yes or no is understood"
        if word in YES_WORDS and (self.new_number or self.new_country):
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


def answers_in(path: StrPath) -> list[Reply]:
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
        columns = ", ".join(map(repr, ANSWERED))
        raise UsageError(f"no sheet has the columns {columns}; pass the workbook that ask_owner wrote, as it came back")
    return replies


def _head(cells: Sequence[Any]) -> dict[str, int] | None:
    """Return where the columns of questions stand, if this row is their header."""
    words = [str(cell).strip().lower() if isinstance(cell, str) else "" for cell in cells]
    places = {name: words.index(name.lower()) for name in READ if name.lower() in words}
    return places if places.keys() >= set(ANSWERED) else None


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
