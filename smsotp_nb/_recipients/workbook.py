"""Rows of the sheet of a workbook that its owner sees, and how a cell that is no text becomes one.

python-calamine reads xlsx, xls, xlsb and ods; what it does not tell of a sheet is in ``unseen``. What a person who
opens the file does not see must not become part of the list unnoticed: hidden sheets are read only by name, hidden rows
only on request, and each is said.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow

from .._cards import counted
from .._foreign.gate import ours, refuse_large, refuse_packed
from ..errors import UsageError
from . import tables
from .heading import LOOKED_AT, Heading, heading, of_a_person
from .records import SHOWN, Header, Origin, Record, empty, is_of_totals, listed
from .tables import TEXT, Part
from .unseen import Place, Unseen, cell_name, look, shown

if TYPE_CHECKING:
    import python_calamine

EXACT_INTEGERS: Final = 2**53  # beyond this a float no longer holds every digit: its exponent stays for all to see
Rows = list[list[Any]]


@dataclass(slots=True)
class _Sheet:
    """A sheet: its rows from A1 on, which of them have cells, its merged ranges, and what is unseen of it."""

    name: str
    rows: Rows
    filled: list[int]
    merged: list[tuple[Place, Place]]
    unseen: Unseen

    @property
    def is_table(self) -> bool:
        return len(self.filled) > 1 and any(_width(self.rows[at]) > 1 for at in self.filled[:LOOKED_AT])


def parts(
    file: Path, kind: str, sheet: str | int | None, header: int | str | None, hidden: bool, origin: Origin
) -> Iterator[Part]:
    """Give the rows of a sheet, after a part without any that has the names of the columns."""
    with opened(file, kind) as book:
        chosen, others = _chosen(book, file, kind, sheet, hidden)
        origin.facts["sheet"] = chosen.name
        visible = _names_of_cells(book, hidden=False)
        unread = [repr(name) for name in _names_of_cells(book) if name not in visible and name != chosen.name]
        if unread and not chosen.is_table:
            words = f"is no table, and there are hidden sheets ({', '.join(unread)}): sheet= names one"
            origin.note(words, argument="sheet")
        if others:
            origin.facts["other_sheets"] = others
            origin.note(
                f"is read, the first that shows with a table; there are rows in {', '.join(map(repr, others))} as "
                "well: sheet= names another",
                argument="sheet",
            )
        if not chosen.filled:
            raise empty(file.name)
        found = heading(_records(chosen), header, origin, _groups(chosen))
        origin.facts["header"] = None if found.place is None else chosen.filled[found.place] + 1
        body = chosen.filled[found.body :]
        names = _names(chosen, found, body, origin)
        yield tables.none(names)
        body = _without_hidden(chosen, body, hidden, origin)
        body = _without_totals(chosen, body, origin)
        _note_merged(chosen, body, origin)
        _shape(chosen, body)
        _note_unseen(chosen, names, body, origin)
        if body:
            yield _part(chosen, names, body)


def every_row(file: Path, kind: str) -> Iterator[tuple[str, int, list[Any]]]:
    """Give the filled rows of every sheet as (sheet, row as Excel counts, cells as they are)."""
    with opened(file, kind) as book:
        for name in _names_of_cells(book):
            read = _sheet(book, file, kind, name)
            for at in read.filled:
                yield name, at + 1, read.rows[at]


@contextmanager
def opened(file: Path, kind: str) -> Iterator[python_calamine.CalamineWorkbook]:
    """Give a workbook to read; whatever goes wrong with it meanwhile is our error."""
    import python_calamine

    if kind != "xls":
        refuse_packed(file)
    with ours(file, "a workbook"):
        if kind == "ods":
            look(file, kind, None)
        try:
            book = python_calamine.CalamineWorkbook.from_path(file)
        except python_calamine.PasswordError:
            raise UsageError(
                f"{file.name} is protected with a password; open it, save it without one, and read that"
            ) from None
        try:
            yield book
        finally:
            book.close()


def _names_of_cells(book: Any, *, hidden: bool = True) -> list[str]:
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    shown = (it for it in book.sheets_metadata if hidden or it.visible == SheetVisibleEnum.Visible)
    return [it.name for it in shown if it.typ == SheetTypeEnum.WorkSheet]


def _sheet(book: Any, file: Path, kind: str, name: str) -> _Sheet:
    unseen = look(file, kind, name)  # before it is read: a stray cell may ask for more memory than there is
    read = book.get_sheet_by_name(name)
    rows = read.to_python(skip_empty_area=False)
    refuse_large(file, rows=len(rows))
    filled = [
        at
        for at, cells in enumerate(rows)
        if any(cell != "" and (type(cell) is not str or cell.strip()) for cell in cells)
    ]
    if filled:
        refuse_large(file, columns=max(map(_width, (rows[at] for at in filled[:LOOKED_AT]))))
    return _Sheet(name, rows, filled, read.merged_cell_ranges or [], unseen)


def _width(cells: Sequence[Any]) -> int:
    return max((at for at, cell in enumerate(cells, start=1) if cell != ""), default=0)


def _chosen(book: Any, file: Path, kind: str, sheet: str | int | None, hidden: bool) -> tuple[_Sheet, list[str]]:
    """Return the sheet to read, and if none was named the others that have rows, hidden ones only on request."""
    names = [it.name for it in book.sheets_metadata]
    if sheet is None:
        seen = [_sheet(book, file, kind, name) for name in _names_of_cells(book, hidden=hidden)]
        visible = _names_of_cells(book, hidden=False)
        first = _first([one for one in seen if one.name in visible])
        if first is None:
            raise UsageError(
                f"{file.name}: no sheet that shows has rows; sheet= names one of {', '.join(map(repr, names))}"
            )
        return first, [
            it.name for it in seen if it is not first and (len(it.filled) > 1 or any(map(of_a_person, _records(it))))
        ]
    name = names[sheet] if isinstance(sheet, int) and 0 <= sheet < len(names) else sheet
    if name not in names:
        raise UsageError(f"{file.name} has no sheet {sheet!r}; it has {', '.join(map(repr, names))}")
    if name not in _names_of_cells(book):
        raise UsageError(f"{file.name}: the sheet {name!r} is a chart and has no rows; name another with sheet=")
    return _sheet(book, file, kind, str(name)), []


def _first(sheets: list[_Sheet]) -> _Sheet | None:
    """Return the first sheet with a table; else the first with two rows, else with one."""
    orders = (lambda it: it.is_table, lambda it: len(it.filled) > 1, lambda it: bool(it.filled))
    return next((it for fits in orders for it in sheets if fits(it)), sheets[0] if len(sheets) == 1 else None)


def _records(sheet: _Sheet) -> list[Record]:
    return [Record(at + 1, at + 1, list(map(cell_text, sheet.rows[at]))) for at in sheet.filled[:LOOKED_AT]]


def _groups(sheet: _Sheet) -> set[int]:
    """Return the rows, counted from 1, with merged cells over several filled cells of the next row."""
    return {
        top + 1
        for (top, left), (bottom, right) in sheet.merged
        if left < right
        and bottom + 1 < len(sheet.rows)
        and sum(it != "" for it in sheet.rows[bottom + 1][left : right + 1]) > 1
        and any(it != "" for at, it in enumerate(sheet.rows[top]) if not left <= at <= right)
    }


def _names(sheet: _Sheet, found: Heading, body: list[int], origin: Origin) -> list[str]:
    """Return the names of the columns as far as there are cells; what a merged range says holds for all its columns."""
    width = max((_width(sheet.rows[at]) for at in body), default=0)
    if found.place is None:
        return [f"column_{at}" for at in range(1, width + 1)]
    row = sheet.filled[found.place]
    own = [name.strip() for name in found.names]
    above: dict[int, str] = {}
    for (top, left), (bottom, right) in sheet.merged:
        text = cell_text(sheet.rows[top][left]).strip() if top < len(sheet.rows) and left < len(own) else ""
        if top < row <= bottom:
            own[left] = own[left] or text
        elif top == bottom == row - 1 and left < right and right - left + 1 < len([name for name in own if name]):
            above |= dict.fromkeys(range(left, right + 1), text)
    repeated = {name for name in own if name and own.count(name) > 1}
    own = [f"{above[at]} {name}" if name in repeated and above.get(at) else name for at, name in enumerate(own)]
    named = max((at for at, name in enumerate(own, start=1) if name), default=1)
    if width > named:
        first = next(at for at in body if _width(sheet.rows[at]) > named)
        beside = listed("column", [f"column_{at}" for at in range(named + 1, width + 1)])
        origin.note(f"cells beyond the last name of the header (row {first + 1}) are read as {beside}")
        own = [*own, *[""] * (width - len(own))][:width]
        own[width - 1] = own[width - 1] or f"column_{width}"
    return Header.of(own, origin).names


def _without_hidden(sheet: _Sheet, body: list[int], taken: bool, origin: Origin) -> list[int]:
    hidden = [at for at in body if at + 1 in sheet.unseen.rows]
    if not hidden:
        return body
    are = counted(len(hidden), "row is", "rows are")
    which = listed("row", [at + 1 for at in hidden])
    if taken:
        words = f"{are} hidden ({which}), by a filter or by hand, and read like the others"
        origin.note(words, argument="hidden")
        return body
    words = f"{are} hidden ({which}), by a filter or by hand, and left out; hidden=True takes them"
    origin.note(words, argument="hidden")
    origin.left_out("hidden", len(hidden))
    return [at for at in body if at + 1 not in sheet.unseen.rows]


def _without_totals(sheet: _Sheet, body: list[int], origin: Origin) -> list[int]:
    if not body:
        return body
    cells = sheet.rows[body[-1]]
    texts, numbers = [cell_text(cell) for cell in cells], [at for at, cell in enumerate(cells) if _is_number(cell)]
    if not is_of_totals(texts, numbers):  # which takes no look at the other rows
        return body
    above = [sheet.rows[at] for at in body[:-1]]
    if not is_of_totals(texts, [at for at in numbers if _sum(above, at) == round(cells[at], 6)]):
        return body
    word = next(cell_text(cell) for cell in cells if cell != "")
    origin.note(f"row {body[-1] + 1} ({word!r} and numbers) sums up the others; left out")
    origin.left_out("totals", 1)
    return body[:-1]


CROSSED_OUT: Final = " (crossed out)"  # which nobody means who is to be texted
A_NUMBER: Final = re.compile(r"\A(?!\d{4}-\d\d-\d\d)(?:[ ()./+-]*+\d){7,}+[ ()./-]*+")
SUMMED: Final = re.compile(r"[-+]?[0-9]+(?:[.][0-9]+)?")


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _sum(rows: list[list[Any]], at: int) -> float:
    cells = (cell_text(row[at]) for row in rows if at < len(row))
    return round(math.fsum(float(cell) for cell in cells if SUMMED.fullmatch(cell)), 6)


def _note_merged(sheet: _Sheet, body: list[int], origin: Origin) -> None:
    rows = set(body)
    below = [
        f"{cell_name((top + 1, left + 1))}:{cell_name((bottom + 1, right + 1))}"
        for (top, left), (bottom, right) in sheet.merged
        if any(row in rows for row in range(top, min(bottom, top + LOOKED_AT) + 1))
    ]
    if below:
        origin.note(
            f"merged cells ({', '.join(below[:SHOWN])}) have their value in the first cell alone; the others are blank"
        )


def _note_unseen(sheet: _Sheet, names: list[str], body: list[int], origin: Origin) -> None:
    unseen, rows = sheet.unseen, {at + 1 for at in body}
    errors, formulas, no_days, crossed, comments = (
        [place for place in places if place[0] in rows and place[1] <= len(names)]
        for places in (unseen.errors, unseen.uncomputed, unseen.no_days, unseen.crossed, unseen.comments)
    )
    hidden = [repr(name) for at, name in enumerate(names, start=1) if at in unseen.columns]
    if hidden:
        origin.note(f"hidden columns ({', '.join(hidden)}) are read like the others")
    for place in (*errors, *formulas, *no_days):
        origin.facts.setdefault("no_value", {}).setdefault(names[place[1] - 1], []).append(cell_name(place))
    for found, is_so, are_so, and_so in (
        (errors, "cell shows an error", "cells show an error", ", read as blank"),
        (
            *(no_days, "cell shows the day 0", "cells show the day 0"),
            ", as a formula does that refers to a blank cell; read as blank",
        ),
        (
            *(formulas, "formula has no value", "formulas have no value"),
            ", read as blank; open the file in a spreadsheet program and save it, which computes them",
        ),
        (
            *(crossed, "cell is crossed out", "cells are crossed out"),
            ": a number is read with these words, so that it is not texted, and anything else like other cells",
        ),
        (
            *(comments, "cell has a comment", "cells have a comment"),
            ", which is not read; where one says that somebody is not to be texted, write that beside the number",
        ),
    ):
        if found:
            where = listed("cell", [*map(cell_name, found)])
            origin.note(f"{counted(len(found), is_so, are_so)} ({where}){and_so}")


def _part(sheet: _Sheet, names: list[str], body: list[int]) -> Part:
    width = len(names)
    columns = zip(*(sheet.rows[at] for at in body), strict=True)
    texts = [
        pyarrow.chunked_array([pyarrow.array([it if type(it) is str else cell_text(it) for it in column], TEXT)])
        for column, _ in zip(columns, names, strict=False)
    ]
    blank = pyarrow.chunked_array([pyarrow.nulls(len(body), TEXT)])
    texts += [blank] * (width - len(texts))
    return tables.of_texts(names, texts, np.array(body, np.int64) + 1)


def _shape(sheet: _Sheet, body: list[int]) -> None:
    """Write numbers as they are shown, where the format adds a plus, zeros or a unit or crosses them out; note days
    that are none.
    """
    rows = set(body)
    for (row, column), shape in sheet.unseen.shapes.items():
        if row - 1 in rows and column <= len(sheet.rows[row - 1]):
            cell = sheet.rows[row - 1][column - 1]
            number = _serial(cell)
            if number is None or (text := shown(number, shape)) is None:
                continue
            sheet.rows[row - 1][column - 1] = text
            if not text:
                sheet.unseen.no_days.append((row, column))
    for row, column in sheet.unseen.crossed:
        if row - 1 in rows and column <= len(sheet.rows[row - 1]):
            text = cell_text(sheet.rows[row - 1][column - 1])
            sheet.rows[row - 1][column - 1] = text + CROSSED_OUT if A_NUMBER.fullmatch(text) else text


def _serial(cell: object) -> float | None:
    """Return the number of a cell, of a length of time or a time of day as the fraction of a day; None of others."""
    if isinstance(cell, dt.timedelta):
        return cell / dt.timedelta(days=1)
    if isinstance(cell, dt.time):
        return dt.timedelta(hours=cell.hour, minutes=cell.minute, seconds=cell.second) / dt.timedelta(days=1)
    return cell if isinstance(cell, int | float) and not isinstance(cell, bool) else None


def cell_text(cell: object) -> str:
    """Return a cell as text: whole decimals without ``.0``, dates in ISO form, a blank cell as ``""``."""
    if cell is None or cell != cell:  # NaN differs from itself
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT_INTEGERS:
        return str(int(cell))
    if isinstance(cell, Decimal):
        return f"{cell:f}"
    if type(cell) is dt.timedelta:  # as a workbook without a format of its own shows it
        seconds = round(abs(cell).total_seconds())
        more = f":{seconds % 60:02d}" if seconds % 60 else ""
        return f"{'-' * (cell < dt.timedelta())}{seconds // 3600}:{seconds // 60 % 60:02d}{more}"
    if hasattr(cell, "isoformat"):
        return str(cell.isoformat()).removesuffix("T00:00:00")
    return str(cell)
