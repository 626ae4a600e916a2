"""Rows of an Excel sheet, and how a cell that is no text becomes one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from .._foreign.gate import ours, refuse_packed, rows_of
from ..errors import UsageError
from . import tables
from .records import Record, batches, empty, headed
from .tables import Part

EXACT_INTEGERS: Final = 2**53  # beyond this a float no longer holds every digit: its exponent stays for all to see


def parts(file: Path, sheet: str | int | None) -> Iterator[Part]:
    """Give the rows of a sheet in parts, the first of which is empty and has the names of the columns."""
    rows = _records(file, sheet)
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


def _records(file: Path, sheet: str | int | None) -> Iterator[Record]:
    width = 0
    with opened(file) as book, closing(rows_of(_sheet(book, sheet, file), file)) as rows:
        for row, cells in rows:
            width = width or len(cells)
            texts = [cell_text(cell) for cell in cells]
            yield Record(row, row, texts + [""] * (width - len(texts)))


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


def _sheet(book: Any, sheet: str | int | None, file: Path) -> Any:
    names = book.sheetnames
    if sheet is None and names:
        return _with_rows(book[names[0]], file)
    if isinstance(sheet, int) and 0 <= sheet < len(names):
        return _with_rows(book[names[sheet]], file)
    if sheet in names:
        return _with_rows(book[sheet], file)
    raise UsageError(f"{file.name} has no sheet {sheet!r}; it has {', '.join(map(repr, names))}")


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
