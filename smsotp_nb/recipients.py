"""Read a list of people from a file without losing anything: every cell stays the text that stands in it.

A phone list read the usual way loses plus signs and leading zeros, turns long numbers into decimals and Namibia
(``NA``) into a blank. Here nothing is guessed: every column has dtype ``str``, only empty cells are missing.
"""

from __future__ import annotations

import csv
import io
import os
import warnings
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple
from zipfile import BadZipFile

import pandas as pd

from .errors import SmsOtpWarning, UsageError

SEPARATORS: Final = (",", ";", "\t", "|")
SHOWN: Final = 3
EXACT_INTEGERS: Final = 2**53  # beyond this a float no longer holds every digit: its exponent stays for all to see
BYTE_ORDER_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def read_recipients(
    path: str | os.PathLike[str], *, sheet: str | int | None = None, sep: str | None = None, encoding: str | None = None
) -> pd.DataFrame:
    """Read a CSV, Excel or Parquet file with every cell as text.

    All columns have dtype ``str``; blank cells are missing, every other text (``NA`` included) stays. Where ``sep`` is
    not given, it is the one of ``, ; tab |`` that splits the first rows most evenly. Where ``encoding`` is not given:
    a byte order mark decides; else UTF-8 if the whole file is valid UTF-8; else cp1252, or latin-1 where a byte has no
    meaning in cp1252. Numeric cells of a workbook or a Parquet file become digits without ``.0`` or exponent.

    Warns:
        SmsOtpWarning: rows with fewer cells than the header; the missing ones are blank.

    Raises:
        UsageError: no such file, an unknown kind, an empty file, two columns of one name, rows with more cells than
            the header (the first lines are named), a quote that is not closed, an encoding that does not fit, a
            missing Excel extra.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
        >>> _ = file.write_text("phone;country\\n+14155550100;US\\n0491570156;NA\\n", encoding="utf-8")
        >>> read_recipients(file)
                  phone country
        0  +14155550100      US
        1    0491570156      NA
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise UsageError(f"no file at {file}: give the path of a CSV, Excel or Parquet file")
    suffix = file.suffix.lower()
    if suffix in (".xlsx", ".xlsm"):
        return _table(_workbook_rows(file, sheet), file)
    if suffix in (".parquet", ".pq"):
        return _of_parquet(file)
    if suffix in (".xls", ".ods", ".numbers", ".xlsb"):
        raise UsageError(f"{file.name}: {suffix} is not read; save it as .xlsx or .csv and read that")
    return _table(_csv_rows(file, sep, encoding), file)


class Row(NamedTuple):
    """A record of a file: the line or row it stands on (counted from 1) and its cells."""

    line: int
    cells: list[str]


def _table(rows: Iterator[Row], file: Path) -> pd.DataFrame:
    """Build the frame: the first row with a cell is the header, later rows without a cell are left out."""
    filled = (row for row in rows if any(cell.strip() for cell in row.cells))
    header = next(filled, None)
    if header is None:
        raise UsageError(f"{file.name} is empty: expected a header line and rows of recipients")
    names = _names(header.cells, file)
    body = [_without_blank_tail(row, len(names)) for row in filled]
    _refuse_wide(body, len(names), file)
    _warn_of_short(body, len(names), file)
    columns = (
        zip(*(row.cells + [""] * (len(names) - len(row.cells)) for row in body), strict=True)
        if body
        else [()] * len(names)
    )
    return pd.DataFrame({name: _text(cells) for name, cells in zip(names, columns, strict=True)}, columns=names)


def _text(cells: tuple[str, ...]) -> pd.Series:
    column = pd.Series(list(cells), dtype="str")
    return column.mask(column.str.strip() == "")


def _names(cells: list[str], file: Path) -> list[str]:
    """Header names, trimmed; a nameless column is called by its place, two of one name are an error."""
    while len(cells) > 1 and not cells[-1].strip():
        cells = cells[:-1]
    names = [cell.strip() or f"column_{place}" for place, cell in enumerate(cells, start=1)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"{file.name} has more than one column named {', '.join(map(repr, twice))}: rename them first")
    return names


def _without_blank_tail(row: Row, width: int) -> Row:
    """Drop blank cells past the header: a separator at the end of a line makes one."""
    cells = row.cells
    while len(cells) > width and not cells[-1].strip():
        cells = cells[:-1]
    return Row(row.line, cells)


def _refuse_wide(rows: list[Row], width: int, file: Path) -> None:
    wide = tuple(_width(row, width) for row in rows if len(row.cells) > width)
    if wide:
        raise UsageError(
            f"{file.name}: {len(wide)} rows have more cells than the header has columns ({'; '.join(wide[:SHOWN])}); "
            "a separator inside a cell must be in quotes, or give sep= if it was guessed wrong",
            problems=wide,
        )


def _warn_of_short(rows: list[Row], width: int, file: Path) -> None:
    short = [_width(row, width) for row in rows if len(row.cells) < width]
    if short:
        message = f"{file.name}: {len(short)} rows have fewer cells than the header ({'; '.join(short[:SHOWN])})"
        warnings.warn(f"{message}; the missing ones are blank", SmsOtpWarning, stacklevel=4)


def _width(row: Row, width: int) -> str:
    return f"line {row.line}: {len(row.cells)} of {width} cells"


# CSV


def _csv_rows(file: Path, sep: str | None, encoding: str | None) -> Iterator[Row]:
    text = decode(file.read_bytes(), encoding, name=file.name)
    if "\x00" in text:
        raise UsageError(
            f"{file.name} holds zero bytes: a workbook with another name, or give encoding= (such as 'utf-16-le')"
        )
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep or separator(text), strict=True)
    end = 0
    try:
        for cells in reader:
            yield Row(end + 1, cells)
            end = reader.line_num
    except csv.Error as error:  # an open quote would swallow the rows after it without a word
        raise UsageError(
            f"{file.name}, the row that begins on line {end + 1}: a quote is not closed ({error})"
        ) from None


def decode(raw: bytes, encoding: str | None = None, *, name: str = "the file") -> str:
    """Turn the bytes of a list into text by the rule of ``read_recipients``.

    Example:
        >>> decode("Zoë".encode("utf-16")), decode("Zoë".encode("cp1252"))
        ('Zoë', 'Zoë')
    """
    if encoding is not None:
        return _decode_as(raw, encoding, name)
    for mark, marked in BYTE_ORDER_MARKS:
        if raw.startswith(mark):
            return _decode_as(raw, marked, name)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_single_byte(raw)


def _decode_as(raw: bytes, encoding: str, name: str) -> str:
    try:
        return raw.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise UsageError(f"encoding={encoding!r} is not known; try 'utf-8', 'cp1252' or 'utf-16'") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not {encoding}: byte {error.start} does not fit; leave encoding= out") from None


def _decode_single_byte(raw: bytes) -> str:
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def separator(text: str) -> str:
    """Return the separator that splits the first rows into the same number of cells, the most cells winning.

    Example:
        >>> separator("name;phone\\nDoe, Jane;+14155550100\\n")
        ';'
    """
    sample = "\n".join(text.splitlines()[:200])
    return max(SEPARATORS, key=lambda sign: _evenness(sample, sign))


def _evenness(sample: str, sign: str) -> tuple[float, int]:
    widths = [len(cells) for cells in csv.reader(io.StringIO(sample, newline=""), delimiter=sign) if cells]
    if not widths or widths[0] < 2:
        return 0.0, 0
    return sum(width == widths[0] for width in widths) / len(widths), widths[0]


# workbooks and Parquet


def _workbook_rows(file: Path, sheet: str | int | None) -> Iterator[Row]:
    try:
        import openpyxl
    except ImportError:
        raise UsageError("reading Excel files needs the extra: pip install 'smsotp_nb[excel]'") from None
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    except (OSError, KeyError, ValueError, BadZipFile) as error:
        raise UsageError(f"{file.name} cannot be read as a workbook: {error}") from None
    try:
        for line, cells in enumerate(_sheet(book, sheet, file).iter_rows(values_only=True), start=1):
            yield Row(line, [_cell_text(cell) for cell in cells])
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


def _cell_text(cell: object) -> str:
    """Text stays, whole decimals lose their ``.0``, dates become ISO, a blank becomes ``""``."""
    if cell is None or cell != cell:  # NaN differs from itself
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT_INTEGERS:
        return str(int(cell))
    if isinstance(cell, Decimal):
        return f"{cell:f}"
    if hasattr(cell, "isoformat"):
        return str(cell.isoformat()).removesuffix("T00:00:00")
    return str(cell)


def _of_parquet(file: Path) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(file)
    except (OSError, ValueError) as error:
        raise UsageError(f"{file.name} cannot be read as Parquet: {error}") from None
    if not isinstance(frame.index, pd.RangeIndex) and frame.index.names != [None]:
        frame = frame.reset_index()
    twice = sorted({str(name) for name in frame.columns[frame.columns.duplicated()]})
    if twice:
        raise UsageError(f"{file.name} has more than one column named {', '.join(map(repr, twice))}: rename them first")
    return pd.DataFrame({str(name): _parquet_text(frame[name]) for name in frame.columns}, index=frame.index)


def _parquet_text(column: pd.Series) -> pd.Series:
    if not isinstance(column.dtype, pd.StringDtype):
        column = column.astype(object).map(
            lambda cell: None if pd.api.types.is_scalar(cell) and pd.isna(cell) else _cell_text(cell)
        )
    text = column.astype("str")
    return text.mask(text.str.strip() == "")
