"""The two calls that read a list: whole, and in chunks."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pandas as pd

from .._calling import given, in_our_words, not_flag, refuse
from .._foreign.gate import file_at
from ..errors import UsageError
from . import comma, parquet, tables, workbook
from .tables import Part

ROW: Final = "row"
EXCEL: Final = (".xlsx", ".xlsm")


@in_our_words
def read_recipients(
    path: str | os.PathLike[str],
    *,
    sheet: str | int | None = None,
    sep: str | None = None,
    encoding: str | None = None,
    numbered: bool = False,
) -> pd.DataFrame:
    """Read a CSV, Excel or Parquet file with every cell as text.

    All columns have dtype ``str``; blank cells are missing, every other text (``NA`` included) stays. Where ``sep`` is
    not given, it is the one of ``, ; tab |`` that splits the first rows most evenly. Where ``encoding`` is not given:
    a byte order mark decides; else UTF-8 if the whole file is valid UTF-8; else cp1252, or latin-1 where a byte has no
    meaning in cp1252. Numeric cells of a workbook or a Parquet file become digits without ``.0`` or exponent. Of a
    workbook the sheet is read that shows when it is opened, or the one that ``sheet`` names or counts from 0.

    The index counts rows from 0, as usual. With ``numbered=True`` it is called ``row`` and holds the number of each
    row in the file, as a spreadsheet shows it: the header is row 1, blank rows count, and a line break inside a cell
    does not begin a row. A Parquet file has no header in its rows; its first one is 1.

    Warns:
        SmsOtpWarning: rows with fewer cells than the header; the missing ones are blank. Of a workbook: which sheet is
            read where another that is not hidden has rows; hidden columns and merged cells; a last row of totals,
            which is left out.

    Raises:
        UsageError: an argument that is no path, separator or encoding, no such file, a folder, a pipe or a device, an
            unknown kind, an empty file, two columns of one name, rows with more cells than the header has names (the
            first lines are named), hidden rows or a title above the header of a sheet, a quote that is not closed, an
            encoding that does not fit, a missing Excel extra.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
        >>> _ = file.write_text("phone;country\\n+14155550100;US\\n\\n0491570156;NA\\n", encoding="utf-8")
        >>> read_recipients(file)
                  phone country
        0  +14155550100      US
        1    0491570156      NA
        >>> read_recipients(file, numbered=True).index.tolist()
        [2, 4]
    """
    refuse(not_flag("numbered", numbered))
    file = _checked(path, sep, encoding)
    with _on_its_disk(file):
        return _frame(tables.joined(list(_parts(file, sheet, sep, encoding))), 0, numbered)


def read_chunks(
    path: str | os.PathLike[str],
    *,
    rows: int = 50_000,
    sheet: str | int | None = None,
    sep: str | None = None,
    encoding: str | None = None,
    numbered: bool = False,
) -> Iterator[pd.DataFrame]:
    """Read a file like ``read_recipients``, in frames of at most ``rows`` rows with a continuous index.

    A CSV or Excel file of any size is read with bounded memory. An empty list gives one frame, with the columns.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
        >>> _ = file.write_text("phone\\n1\\n2\\n3\\n", encoding="utf-8")
        >>> [chunk.index.tolist() for chunk in read_chunks(file, rows=2)]
        [[0, 1], [2]]
    """
    if not isinstance(rows, int) or rows < 1:
        raise UsageError(f"rows={rows!r}: pass the maximum number of rows of a chunk, such as 50000")
    file = _checked(path, sep, encoding)
    return _chunks(file, _parts(file, sheet, sep, encoding), rows, numbered)


def sheets(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of a workbook's sheets, first the one that is read if none is named; none for another file.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.xlsx"
        >>> pd.DataFrame({"phone": ["1"]}).to_excel(file, sheet_name="People")
        >>> sheets(file)
        ['People']
    """
    file = _checked(path, None, None)
    if file.suffix.lower() not in EXCEL:
        return []
    return workbook.in_order(file)


def workbook_rows(path: str | os.PathLike[str]) -> Iterator[tuple[str, int, tuple[Any, ...]]]:
    """Give the rows of every sheet of a workbook as (sheet, row as Excel counts, cells as they are).

    Raises:
        UsageError: no such file, or no workbook.
    """
    file = _checked(path, None, None)
    if file.suffix.lower() not in EXCEL:
        raise UsageError(f"{file.name} is no Excel workbook; save it as .xlsx and read that")
    return workbook.every_row(file)


def _chunks(file: Path, parts: Iterator[Part], rows: int, numbered: bool) -> Iterator[pd.DataFrame]:
    first, resized = 0, tables.resized(parts, rows)
    while True:
        with _on_its_disk(file):
            part = next(resized, None)
        if part is None:
            return
        yield _frame(part, first, numbered)
        first += len(part)


@contextlib.contextmanager
def _on_its_disk(file: Path) -> Iterator[None]:
    """Say of a disk or a share that fails while a file is read which file it is."""
    try:
        yield
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise UsageError(
            f"{file} cannot be read: {why}; see that its disk or share is there, and who may read it"
        ) from None


def _frame(part: Part, first: int, numbered: bool) -> pd.DataFrame:
    return part.frame(pd.Index(part.numbers, name=ROW) if numbered else pd.RangeIndex(first, first + len(part)))


def _parts(file: Path, sheet: str | int | None, sep: str | None, encoding: str | None) -> Iterator[Part]:
    suffix = file.suffix.lower()
    if suffix in (".parquet", ".pq"):
        return iter([parquet.part(file)])
    if suffix in EXCEL:
        return workbook.parts(file, sheet)
    if suffix in (".xls", ".ods", ".numbers", ".xlsb"):
        raise UsageError(f"{file.name}: {suffix} is not read; save it as .xlsx or .csv and read that")
    if sheet is not None:
        raise UsageError(f"sheet={given(sheet)}: {file.name} has no sheets, as Excel files do; leave sheet= out")
    return comma.parts(file, sep, encoding)


def _checked(path: object, sep: object, encoding: object) -> Path:
    """Return the path of a call whose arguments can be what they say."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise UsageError(f"path must be the text or Path of a file, not {given(path)}: such as 'people.csv'")
    if sep is not None and (not isinstance(sep, str) or len(sep) != 1 or sep in '"\r\n'):
        raise UsageError(f"sep={sep!r}: pass the one character that separates cells, such as ';', or omit it")
    if encoding is not None and (not isinstance(encoding, str) or not encoding):
        raise UsageError(f"encoding={encoding!r}: pass a name such as 'utf-8' or 'cp1252', or omit it")
    return file_at(path, kind="a CSV, Excel or Parquet file")
