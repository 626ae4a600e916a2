"""Rows of the sheet of a workbook that its owner sees, and how a cell that is no text becomes one.

What a person who opens the file does not see must not become part of the list unnoticed. Hidden sheets are read only by
name. Hidden rows are refused: where a filter was left on, nobody can tell whether it is meant. Hidden columns, merged
cells, other sheets with rows and a row of totals are named in a warning.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, Final

from .._cards import counted
from .._foreign.gate import ours, refuse_packed, rows_of
from ..errors import SmsOtpWarning, UsageError
from . import tables
from .records import SHOWN, Record, batches, empty, headed
from .tables import Part

EXACT_INTEGERS: Final = 2**53  # beyond this a float no longer holds every digit: its exponent stays for all to see


def parts(file: Path, sheet: str | int | None) -> Iterator[Part]:
    """Give the rows of a sheet in parts, the first of which is empty and has the names of the columns."""
    with opened(file) as book:
        chosen = _sheet(book, sheet, file)
        if sheet is None:
            _warn_of_others(book, chosen, file)
        rows = _records(chosen, file)
        header = headed(rows, file.name)
        if header is None:
            raise empty(file.name)
        yield tables.none(header.names)
        for batch in batches(rows):
            yield tables.of_records(header.fitted(batch), header.names)
        header.warn_of_short()


def every_row(file: Path) -> Iterator[tuple[str, int, tuple[Any, ...]]]:
    """Give the filled rows of every sheet as (sheet, row as Excel counts, cells as they are)."""
    with opened(file) as book:
        for name in book.sheetnames:
            if hasattr(book[name], "iter_rows"):  # a sheet that is a chart has none
                with closing(rows_of(book[name], file)) as rows:
                    for row, cells in rows:
                        yield name, row, cells


def _records(sheet: Any, file: Path) -> Iterator[Record]:
    unseen = _unseen(sheet)
    with closing(rows_of(sheet, file)) as rows:
        width, before, at = 0, None, 0
        for at, cells in rows:
            if not width:
                width = len(cells)
                _refuse_unseen(unseen, at, sheet, file)
                _warn_of_unseen(unseen, cells, at, sheet, file)
            elif before is not None:
                _refuse_title(before, width, cells, sheet, file)
                yield _record(*before, width)
            before = at, cells
    if before is not None and not _is_of_totals(before[1]):
        yield _record(*before, width)
    elif before is not None:
        _warn(f"{_named(sheet, file)}: row {at} ({cell_text(before[1][0])!r} and numbers) sums up the others; left out")


def _record(row: int, cells: tuple[Any, ...], width: int) -> Record:
    texts = [cell_text(cell) for cell in cells]
    return Record(row, row, texts + [""] * (width - len(texts)))


@dataclass(slots=True)
class _Unseen:
    """What of a sheet is hidden or merged: numbers of rows and columns, and ranges with their rows and columns."""

    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    merged: list[tuple[str, int, int, int, int]] = field(default_factory=list)


TAG: Final = re.compile(r"<(?:\w++:)?(row|col|mergeCell)\b([^<>]*+)>")
ATTRIBUTE: Final = re.compile(r"""\b(\w++)=["']([^"'=]*+)["']""")
RANGE: Final = re.compile(r"\$?([A-Z]{1,3})\$?(\d+):\$?([A-Z]{1,3})\$?(\d+)")
PIECE: Final = 1 << 20  # bytes
WIDEST: Final = 16_384  # columns of a sheet
TOTALS: Final = frozenset(
    (  # noqa: SIM905
        "total totals sum sums summe gesamt gesamtsumme insgesamt somme totaux suma totale somma soma totaal razem "
        "summa yhteensä toplam итого всего 合计 总计 合計 المجموع"
    ).split()
)


def _unseen(sheet: Any) -> _Unseen:
    """Return what of a sheet is hidden or merged, as its XML says: openpyxl drops that where it reads row by row."""
    unseen, row = _Unseen(), 0
    for kind, attributes in _tags(sheet):
        if kind == "row" and "hidden" not in attributes and " ht=" not in attributes:
            number = attributes.find(' r="')
            row = int(attributes[number + 4 : attributes.index('"', number + 4)]) if number >= 0 else row + 1
            continue
        said = dict(ATTRIBUTE.findall(attributes))
        hidden = said.get("hidden") in ("1", "true") or said.get("ht", said.get("width")) in ("0", "0.0")
        if kind == "row":
            row = int(said.get("r", row + 1))
            unseen.rows |= {row} if hidden else set()
        elif kind == "col" and hidden:
            unseen.columns |= set(range(int(said["min"]), min(int(said["max"]), WIDEST) + 1))
        elif kind == "mergeCell" and (place := RANGE.fullmatch(said.get("ref", ""))):
            first, top, last, bottom = place.groups()
            unseen.merged.append((place[0], int(top), int(bottom), _column(first), _column(last)))
    return unseen


def _column(letters: str) -> int:
    """Return the number of a column: ``AB`` is 28."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _tags(sheet: Any) -> Iterator[tuple[str, str]]:
    with sheet._get_source() as source:  # openpyxl has no other way to a sheet's XML
        rest = ""
        while piece := source.read(PIECE):
            whole = rest + piece.decode("latin-1")  # tags are ASCII
            cut = whole.rfind("<")
            rest = whole[cut:] if cut >= 0 else ""
            yield from ((tag[1], tag[2]) for tag in TAG.finditer(whole, 0, max(cut, 0)))
        yield from ((tag[1], tag[2]) for tag in TAG.finditer(rest))


def _refuse_unseen(unseen: _Unseen, header: int, sheet: Any, file: Path) -> None:
    """Refuse hidden rows that hold something, and a header of merged cells."""
    if unseen.rows:
        with closing(rows_of(sheet, file)) as rows:
            hidden = [at for at, _ in rows if at in unseen.rows]
        if hidden:
            raise UsageError(
                f"{_named(sheet, file)}: {counted(len(hidden), 'row is', 'rows are')} hidden "
                f"({_listed('row', hidden)}), by a filter or by hand; clear the filter and show all rows, or copy "
                "those that are meant into a workbook of their own",
                problems=tuple(f"row {row} is hidden" for row in hidden),
            )
    wide = [name for name, top, bottom, first, last in unseen.merged if top <= header <= bottom and first < last]
    if wide:
        raise UsageError(
            f"{_named(sheet, file)}: row {header}, the first one with cells, has merged cells ({', '.join(wide)}) "
            "and is no header: the first row must name every column; delete titles above it, and unmerge its cells"
        )


def _refuse_title(
    before: tuple[int, tuple[Any, ...]], width: int, cells: tuple[Any, ...], sheet: Any, file: Path
) -> None:
    """Refuse a first row of one cell above a row of several: it is a title, and no header."""
    if width == 1 and len(before[1]) == 1 and len(cells) > 1:
        raise UsageError(
            f"{_named(sheet, file)}: row {before[0]} has one cell ({cell_text(before[1][0])!r}) and the next row "
            "more; the first row must name every column: delete titles above it"
        )


def _warn_of_unseen(unseen: _Unseen, header: tuple[Any, ...], at: int, sheet: Any, file: Path) -> None:
    names = [cell_text(cell) for place, cell in enumerate(header, start=1) if place in unseen.columns]
    hidden = [repr(name) for name in names if name.strip()]
    if hidden:
        _warn(f"{_named(sheet, file)}: hidden columns ({', '.join(hidden)}) are read like the others")
    below = [name for name, _, bottom, first, _ in unseen.merged if bottom > at and first <= len(header)]
    if below:
        _warn(
            f"{_named(sheet, file)}: merged cells ({', '.join(below[:SHOWN])}) have their value in the first cell "
            "alone; the others are blank"
        )


def _is_of_totals(cells: tuple[Any, ...]) -> bool:
    """Return whether a last row sums up the others: it begins with such a word, and has a number that is no text."""
    word = next((cell_text(cell) for cell in cells if cell is not None), "")
    numbers = any(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)
    return numbers and word.strip().rstrip(":").casefold() in TOTALS


def _warn_of_others(book: Any, chosen: Any, file: Path) -> None:
    """Say which sheet is read where another that can be seen has rows below its header."""
    others = [sheet.title for sheet in _seen(book) if sheet.title != chosen.title and _has_rows(sheet, file)]
    if others:
        _warn(
            f"{_named(chosen, file)} is read, which shows when the file is opened; there are rows in "
            f"{', '.join(map(repr, others))} as well: sheet= names another"
        )


def _has_rows(sheet: Any, file: Path) -> bool:
    with closing(rows_of(sheet, file)) as rows:
        return len(list(islice(rows, 2))) > 1


def _named(sheet: Any, file: Path) -> str:
    return f"{file.name}, sheet {sheet.title!r}"


def _listed(what: str, numbers: list[int]) -> str:
    more = ", ..." if len(numbers) > SHOWN else ""
    return f"{what}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers[:SHOWN]))}{more}"


def _warn(message: str) -> None:
    warnings.warn(message, SmsOtpWarning, stacklevel=6)


@contextmanager
def opened(file: Path) -> Iterator[Any]:
    """Give a workbook to read; whatever goes wrong with it meanwhile is our error."""
    try:
        import openpyxl
    except ImportError:
        raise UsageError("reading Excel files needs the extra: pip install 'smsotp_nb[excel]'") from None
    refuse_packed(file)
    with ours(file, "a workbook"), file.open("rb") as raw:  # opened here: it stays open where loading fails
        book = openpyxl.load_workbook(raw, read_only=True, data_only=True)
        try:
            yield book
        finally:
            book.close()


def in_order(file: Path) -> list[str]:
    """Return the names of all sheets, first the one that is read if none is named."""
    with opened(file) as book:
        names = list(book.sheetnames)
        chosen = _shown(book)
        return names if chosen is None else [chosen.title, *(name for name in names if name != chosen.title)]


def _sheet(book: Any, sheet: str | int | None, file: Path) -> Any:
    names = book.sheetnames
    if sheet is None:
        shown = _shown(book)
        if shown is not None:
            return shown
        listed = ", ".join(map(repr, names))
        raise UsageError(
            f"{file.name}: the sheet that shows when it is opened has no rows; sheet= names one of {listed}"
        )
    if isinstance(sheet, int) and 0 <= sheet < len(names):
        return _with_rows(book[names[sheet]], file)
    if sheet in names:
        return _with_rows(book[sheet], file)
    raise UsageError(f"{file.name} has no sheet {sheet!r}; it has {', '.join(map(repr, names))}")


def _seen(book: Any) -> list[Any]:
    """Return the sheets of cells that are not hidden."""
    sheets = [book[name] for name in book.sheetnames]
    return [sheet for sheet in sheets if hasattr(sheet, "iter_rows") and sheet.sheet_state == "visible"]


def _shown(book: Any) -> Any:
    """Return the sheet that shows when the workbook is opened, or the only one that can; None if that is a chart."""
    seen, active = _seen(book), book.active
    if active is None or getattr(active, "sheet_state", "visible") != "visible":
        return seen[0] if seen else None
    if any(sheet.title == active.title for sheet in seen):
        return active
    return seen[0] if len(seen) == 1 else None


def _with_rows(sheet: Any, file: Path) -> Any:
    if not hasattr(sheet, "iter_rows"):
        raise UsageError(f"{file.name}: the sheet {sheet.title!r} is a chart and has no rows; name another with sheet=")
    return sheet


def cell_text(cell: object) -> str:
    """Return a cell as text: whole decimals without ``.0``, dates in ISO form, a blank cell as ``""``."""
    if cell is None or cell != cell:  # NaN differs from itself
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT_INTEGERS:
        return str(int(cell))
    if isinstance(cell, Decimal):
        return f"{cell:f}"
    if hasattr(cell, "isoformat"):
        return str(cell.isoformat()).removesuffix("T00:00:00")
    return str(cell)
