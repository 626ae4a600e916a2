"""Read a list of people from a file without losing anything: every cell stays the text that stands in it.

A phone list read the usual way loses plus signs and leading zeros, turns long numbers into decimals and Namibia
(``NA``) into a blank. Here nothing is guessed: every column has dtype ``str``, only empty cells are missing.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import warnings
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO
from zipfile import BadZipFile

import pandas as pd

from .errors import SmsOtpWarning, UsageError

SEPARATORS: Final = (",", ";", "\t", "|")
SHOWN: Final = 3
AT_ONCE: Final = 200_000  # rows held as Python texts before they become a frame
SAMPLE: Final = 100_000  # characters from which the separator is told
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
        UsageError: an argument that is no path, separator or encoding, no such file, an unknown kind, an empty file,
            two columns of one name, rows with more cells than the header has names (the first lines are named), a
            quote that is not closed, an encoding that does not fit, a missing Excel extra.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
        >>> _ = file.write_text("phone;country\\n+14155550100;US\\n0491570156;NA\\n", encoding="utf-8")
        >>> read_recipients(file)
                  phone country
        0  +14155550100      US
        1    0491570156      NA
    """
    return pd.concat(list(_frames(path, sheet, sep, encoding, AT_ONCE)))


def read_chunks(
    path: str | os.PathLike[str],
    *,
    rows: int = 50_000,
    sheet: str | int | None = None,
    sep: str | None = None,
    encoding: str | None = None,
) -> Iterator[pd.DataFrame]:
    """Read a file as ``read_recipients`` does, in frames of at most ``rows`` rows whose index goes on.

    A CSV or Excel file of any size is read with bounded memory. At least one frame comes, with the columns.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
        >>> _ = file.write_text("phone\\n1\\n2\\n3\\n", encoding="utf-8")
        >>> [chunk.index.tolist() for chunk in read_chunks(file, rows=2)]
        [[0, 1], [2]]
    """
    if not isinstance(rows, int) or rows < 1:
        raise UsageError(f"rows={rows!r}: give how many rows at most a chunk has, such as 50000")
    return _frames(path, sheet, sep, encoding, rows)


def _frames(
    path: str | os.PathLike[str], sheet: str | int | None, sep: str | None, encoding: str | None, size: int
) -> Iterator[pd.DataFrame]:
    file = _checked(path, sep, encoding)
    if not file.is_file():
        raise UsageError(f"no file at {file}: give the path of a CSV, Excel or Parquet file")
    suffix = file.suffix.lower()
    if suffix in (".parquet", ".pq"):
        frame = _of_parquet(file)
        return (frame.iloc[first : first + size] for first in range(0, len(frame) or 1, size))
    if suffix in (".xlsx", ".xlsm"):
        return _tables(_workbook_rows(file, sheet), file, size)
    if suffix in (".xls", ".ods", ".numbers", ".xlsb"):
        raise UsageError(f"{file.name}: {suffix} is not read; save it as .xlsx or .csv and read that")
    return _tables(_csv_rows(file, sep, encoding), file, size)


def _checked(path: object, sep: object, encoding: object) -> Path:
    """Return the path of a call whose arguments can be what they say."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise UsageError(f"path must be the text or Path of a file, not {type(path).__name__}: such as 'people.csv'")
    if sep is not None and (not isinstance(sep, str) or len(sep) != 1 or sep in '"\r\n'):
        raise UsageError(f"sep={sep!r}: give the one sign that stands between cells, such as ';', or leave it out")
    if encoding is not None and (not isinstance(encoding, str) or not encoding):
        raise UsageError(f"encoding={encoding!r}: give a name such as 'utf-8' or 'cp1252', or leave it out")
    return Path(path).expanduser()


class Row(NamedTuple):
    """A record of a file: the line or row it stands on (counted from 1) and its cells."""

    line: int
    cells: list[str]


def _tables(rows: Iterator[Row], file: Path, size: int) -> Iterator[pd.DataFrame]:
    """Build frames: the first row with a cell is the header, later rows without a cell are left out."""
    filled = (row for row in rows if any(cell.strip() for cell in row.cells))
    header = next(filled, None)
    if header is None:
        raise UsageError(f"{file.name} is empty: expected a header line and rows of recipients")
    names = _names(header.cells, file)
    first = 0
    while True:
        body = [_without_blank_tail(row, len(names)) for row in islice(filled, size)]
        _refuse_nameless(body, names, len(header.cells), file)
        if first and not body:
            return
        yield _table(body, names, file, first)
        first += len(body)
        if len(body) < size:
            return


def _table(body: list[Row], names: list[str], file: Path, first: int) -> pd.DataFrame:
    _refuse_wide(body, len(names), file)
    _warn_of_short(body, len(names), file)
    cells = [row.cells + [""] * (len(names) - len(row.cells)) for row in body]
    columns = zip(*cells, strict=True) if body else [()] * len(names)
    index = pd.RangeIndex(first, first + len(body))
    return pd.DataFrame(
        {name: _text(column, index) for name, column in zip(names, columns, strict=True)}, columns=names
    )


def _text(cells: tuple[str, ...], index: pd.RangeIndex) -> pd.Series:
    column = pd.Series(list(cells), index=index, dtype="str")
    return column.mask(column.str.strip() == "")


def _names(cells: list[str], file: Path) -> list[str]:
    """Header names, trimmed; a nameless column is called by its place, two of one name are an error."""
    while len(cells) > 1 and not cells[-1].strip():
        cells = cells[:-1]
    names = [cell.strip() or f"column_{place}" for place, cell in enumerate(cells, start=1)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        nameless = ", a nameless column is called by its place" if not all(cell.strip() for cell in cells) else ""
        listed = ", ".join(map(repr, twice))
        raise UsageError(f"{file.name} has more than one column named {listed}{nameless}: rename them first")
    return names


def _without_blank_tail(row: Row, width: int) -> Row:
    """Drop blank cells past the header: a separator at the end of a line makes one."""
    cells = row.cells
    while len(cells) > width and not cells[-1].strip():
        cells = cells[:-1]
    return Row(row.line, cells)


def _refuse_nameless(rows: list[Row], names: list[str], header: int, file: Path) -> None:
    """Cells may stand under blank ones at the end of the header only where they are blank too."""
    found = tuple(_width(row, len(names)) for row in rows if len(names) < len(row.cells) <= header)
    if found:
        raise UsageError(
            f"{file.name}: the header is blank behind {names[-1]!r}, but {len(found)} rows have cells there "
            f"({'; '.join(found[:SHOWN])}); give these columns names in the header, or empty the cells",
            problems=found,
        )


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
    encoding = encoding or find_encoding(file)
    end = 0
    try:
        with file.open(encoding=encoding, newline="") as stream:
            sample = stream.read(SAMPLE).removeprefix("\ufeff")
        with file.open(encoding=encoding, newline="") as stream:
            reader = csv.reader(_lines(stream, file), delimiter=sep or separator(sample), strict=True)
            for cells in reader:
                yield Row(end + 1, cells)
                end = reader.line_num
    except csv.Error as error:  # an open quote would swallow the rows after it without a word
        message = f"{file.name}, the row that begins on line {end + 1}: a quote is not closed ({error})"
    except LookupError:
        message = f"encoding={encoding!r} is not known; try 'utf-8', 'cp1252' or 'utf-16'"
    except UnicodeError:
        message = f"{file.name} is not {encoding} (after line {end}); leave encoding= out"
    else:
        return
    raise UsageError(message)


def _lines(stream: TextIO, file: Path) -> Iterator[str]:
    for number, line in enumerate(stream):
        if "\x00" in line:
            raise UsageError(
                f"{file.name} holds zero bytes: a workbook with another name, or give encoding= (such as 'utf-16-le')"
            )
        yield line if number else line.removeprefix("\ufeff")


def find_encoding(file: Path) -> str:
    """Return the encoding of a text file: by its mark, else UTF-8 if all of it is, else cp1252, else latin-1.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
        >>> _ = file.write_bytes("Zoë".encode("cp1252"))
        >>> find_encoding(file)
        'cp1252'
    """
    with file.open("rb") as raw:
        beginning = raw.read(4)
    for mark, marked in BYTE_ORDER_MARKS:
        if beginning.startswith(mark):
            return marked
    return next((encoding for encoding in ("utf-8", "cp1252") if _fits(file, encoding)), "latin-1")


def _fits(file: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with file.open("rb") as raw:
            while block := raw.read(1 << 20):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


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
