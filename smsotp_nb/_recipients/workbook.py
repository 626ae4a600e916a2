"""Rows of an Excel sheet, and how a cell that is no text becomes one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

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
    """Give the rows of every sheet as (sheet, row as Excel counts, cells as they are)."""
    with opened(file) as book:
        for name in book.sheetnames:
            rows = getattr(book[name], "iter_rows", None)  # a sheet that is a chart has none
            for row, cells in enumerate(rows(values_only=True) if rows else (), start=1):
                yield name, row, cells


def _records(file: Path, sheet: str | int | None) -> Iterator[Record]:
    with opened(file) as book:
        for row, cells in enumerate(_sheet(book, sheet, file).iter_rows(values_only=True), start=1):
            yield Record(row, row, [cell_text(cell) for cell in cells])


@contextmanager
def opened(file: Path) -> Iterator[Any]:
    try:
        import openpyxl
    except ImportError:
        raise UsageError("reading Excel files needs the extra: pip install 'smsotp_nb[excel]'") from None
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    except (OSError, KeyError, ValueError, BadZipFile) as error:
        raise UsageError(f"{file.name} cannot be read as a workbook: {error}") from None
    try:
        yield book
    finally:
        book.close()


def _sheet(book: Any, sheet: str | int | None, file: Path) -> Any:
    names = book.sheetnames
    if sheet is None:
        return book[names[0]]
    if isinstance(sheet, int) and 0 <= sheet < len(names):
        return book[names[sheet]]
    if sheet in names:
        return book[sheet]
    raise UsageError(f"{file.name} has no sheet {sheet!r}; it has {', '.join(map(repr, names))}")


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
