"""Excel workbooks: numbers as numbers, text as text that stays text, no formula."""

from __future__ import annotations

import errno
import importlib
import importlib.util
import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

import pandas as pd
import pyarrow
import pyarrow.csv

from .._foreign.gate import ours, refuse_packed, rows_of
from .._frames import AnyFrame, as_pandas
from .._outputs import Output, StrPath, outputs
from .._pandas import STR, holds_text
from .._showing import cited, spelled
from ..errors import UsageError
from .cells import headed, joined, map_distinct, neutral_frame, restored, told

ROWS: Final = 1_048_575  # and a header
DIGITS: Final = 15  # of a number; ids with more would become other numbers, so such a column is text
TEXT: Final = 32_767  # signs in a cell; openpyxl cuts off the rest without a word
_SAMPLE: Final = 200
_AMOUNT: Final = "#,##0.00####"
_FORMATS: Final = {
    **dict.fromkeys(
        (
            "price",
            "cost",
            "price_per_message",
            "price_per_part",
            "planned_rate",
            "compared_cost",
            "est_cost",
            "difference",
            "total",
        ),
        _AMOUNT,
    ),
    **dict.fromkeys(
        ("messages", "parts", "est_parts", "unpriced", "priced_parts", "compared", "compared_parts"), "#,##0"
    ),
    "share": "0.0%",
}
_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ESCAPED: Final = re.compile("_x([0-9A-Fa-f]{4})_")


Formats = Mapping[str, str]


def write(tables: Mapping[str, pd.DataFrame], file: BinaryIO, *, formats: Mapping[str, Formats] | None = None) -> None:
    """Write tables to a workbook, a sheet each, without their indexes; ``formats`` are of columns, by sheet."""
    for name, table in tables.items():
        refuse_long(name, len(table))
    with book(file) as sheets:
        for name, table in tables.items():
            Sheet(sheets, name, (formats or {}).get(name, _FORMATS)).add(table)


@contextmanager
def book(file: BinaryIO) -> Iterator[Any]:
    """Give a workbook whose sheets grow row by row; it is saved to the file when the block ends without an error."""
    made = _openpyxl().Workbook(write_only=True)
    try:
        yield made
        with _lxml_told(), zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
            importlib.import_module("openpyxl.writer.excel").ExcelWriter(made, archive).save()
    finally:
        for sheet in made.worksheets:
            _remove_scratch(sheet)


@contextmanager
def _lxml_told() -> Iterator[None]:
    """Raise what the system refused as OSError; openpyxl writes with lxml where that is installed, which does not."""
    try:
        yield
    except Exception as error:
        if type(error).__module__ != "lxml.etree" or not str(error).startswith("IO_"):
            raise
        number = getattr(errno, str(error).removeprefix("IO_"), errno.EIO)
    else:
        return
    raise OSError(number, os.strerror(number))


def _remove_scratch(sheet: Any) -> None:
    """Take away the temporary file of a sheet that was not saved: openpyxl leaves it until the process ends."""
    writer = sheet._writer
    if writer is not None and os.path.exists(writer.out):
        with suppress(OSError), _lxml_told():  # its last line may not fit on a full disk
            sheet.close()
        writer.cleanup()


class Sheet:
    """A sheet that grows frame by frame; the first one says the header and how wide the columns are drawn."""

    def __init__(self, book: Any, name: str, formats: Formats = _FORMATS) -> None:
        self._name, self._rows, self._formats = name, 0, formats
        self._sheet = book.create_sheet(name)

    def add(self, table: pd.DataFrame) -> None:
        first = not self._rows
        self._rows += len(table) + first
        refuse_long(self._name, self._rows - 1)
        table = headed(table)
        safe = [writable(told(table.iloc[:, at])) for at in range(table.shape[1])]
        names = writable(pd.Series(table.columns, dtype=object, name="of names"))
        frame = neutral_frame(pd.concat(safe, axis=1).set_axis(names.tolist(), axis=1)) if safe else table
        columns = [frame.iloc[:, at] for at in range(frame.shape[1])]
        sheet = self._sheet
        if first:
            sheet.freeze_panes = "A2"
            for at, (name, column) in enumerate(zip(frame.columns, columns, strict=True), start=1):
                sheet.column_dimensions[letter(at)].width = width(str(name), column)
            sheet.append([styled(sheet, name or None, bold=True) for name in frame.columns])
        cells = [_cells(sheet, column, self._formats) for column in columns]
        with _lxml_told():
            for row in zip(*cells, strict=True):
                sheet.append(row)


def refuse_long(name: str, rows: int) -> None:
    if rows > ROWS:
        raise UsageError(f"an Excel sheet holds {ROWS:,} rows, {name!r} has {rows:,}; use .csv or .parquet")


def _cells(sheet: Any, column: pd.Series, formats: Formats) -> Any:
    values = column.astype(object).where(column.notna(), None).tolist()
    if "" in values:
        from openpyxl.cell.rich_text import CellRichText

        # A text cell without a sign: openpyxl writes an empty text as a cell of nothing, and reads that as missing.
        empty = CellRichText([""])
        values = [empty if isinstance(value, str) and not value else value for value in values]
    # A cell of the text format stays text when it is edited: +1202... would become a number.
    number_format = formats.get(str(column.name))
    if not number_format and holds_text(column) and column.str.match(r"[+0-9]", na=False).any():
        number_format = "@"
    if not number_format:
        return values
    cell = styled(sheet, None, number_format=number_format)
    return filled(cell, values)


def filled(cell: Any, values: Iterable[Any]) -> Iterator[Any]:
    """One cell serves a whole column: it is written as soon as its row is appended."""
    for value in values:
        cell.value = value
        yield cell


def styled(sheet: Any, value: Any, *, bold: bool = False, number_format: str | None = None) -> Any:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    cell = WriteOnlyCell(sheet, value)
    if bold:
        cell.font = Font(bold=True)
    if number_format:
        cell.number_format = number_format
    return cell


def letter(at: int) -> str:
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(at))


def width(name: str, column: pd.Series) -> int:
    return min(max([len(name), *column.head(_SAMPLE).astype(STR).fillna("").str.len().tolist()]) + 3, 48)


def writable(column: pd.Series) -> pd.Series:
    too_long = pd.api.types.is_integer_dtype(column.dtype) and column.abs().ge(10**DIGITS).any()
    if isinstance(column.dtype, pd.DatetimeTZDtype) or too_long:
        return column.astype(STR)
    if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
        long = column[column.astype(STR).str.len() > TEXT]
        if len(long):
            raise UsageError(
                f"column {cited(spelled(column.name))}: an Excel cell holds {TEXT:,} characters; {len(long):,} cells "
                f"hold more, first in row {cited(next(iter(long.index)))}. Use .csv or .parquet"
            )
    return map_distinct(column, lambda cell: _UNWRITABLE.sub(lambda found: f"_x{ord(found[0]):04X}_", cell))


def unescaped(cell: str) -> str:
    """Return text whose unwritable signs were written as ``_x000B_``, as it was."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), cell)


def read(file: Path) -> pd.DataFrame:
    """Read the first sheet; text comes back as it was, numbers as numbers."""
    openpyxl = _openpyxl()
    refuse_packed(file)
    with ours(file, "a workbook"), file.open("rb") as raw:
        book = openpyxl.load_workbook(raw, read_only=True, data_only=True)
        try:
            rows = [row for _, row in rows_of(book.worksheets[0], file)]
        finally:
            book.close()
        names = [_name(cell) for cell in rows[0]] if rows else []
        width = max(map(len, rows), default=0)
        names += [""] * (width - len(names))
        cells = pd.DataFrame([[*row, *[None] * (width - len(row))] for row in rows[1:]], columns=names, dtype=object)
    columns = [_values(cells.iloc[:, at]) for at in range(cells.shape[1])]
    return joined(columns, cells, restore=True)


def _name(cell: object) -> str:
    return "" if cell is None else unescaped(str(cell))


def _values(cells: pd.Series) -> pd.Series:
    kinds = {type(cell) for cell in cells.dropna()}
    if kinds <= {str}:
        return map_distinct(restored(cells.astype(STR)), unescaped)
    if kinds == {int}:
        return cells.astype("Int64" if cells.isna().any() else "int64")
    return cells.astype("float64") if kinds <= {int, float} else cells.infer_objects()


def _openpyxl() -> Any:
    if importlib.util.find_spec("openpyxl") is None:
        raise UsageError("Excel files need openpyxl: pip install 'smsotp_nb[excel]', or use .csv or .parquet")
    return importlib.import_module("openpyxl")


SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
EXCEL: Final = ".xlsx"


class Growing:
    """A file of rows being written by `growing`; ``rows`` counts what was added, ``path`` is where it will appear.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with growing(Path(folder) / "a.xlsx") as (table,):
        ...         table.add(pd.DataFrame({"name": ["Zoë"]}))
        ...     table.rows, table.path.name
        (1, 'a.xlsx')
    """

    def __init__(self, output: Output, sheet: Any) -> None:
        self.path, self.rows = output.path, 0
        self._output, self._sheet, self._begun = output, sheet, False

    def add(self, frame: AnyFrame) -> None:
        """Add rows under the columns of the first frame. Formulas are made harmless; the index is omitted."""
        frame = as_pandas(frame)
        self._output.write(lambda _: self._add(frame))
        self.rows += len(frame)
        self._begun = True

    def _add(self, frame: pd.DataFrame) -> None:
        if self._sheet is not None:
            self._sheet.add(frame)
            return
        sep = SEPARATORS[self.path.suffix.lower()]
        options = pyarrow.csv.WriteOptions(include_header=not self._begun, delimiter=sep, quoting_style="needed")
        pyarrow.csv.write_csv(_texts(frame), self._output.file, options)


@contextmanager
def growing(*paths: StrPath, inputs: Iterable[StrPath] = (), overwrite: bool = False) -> Iterator[list[Growing]]:
    """Open tables that grow frame by frame. All of them appear when the block ends without an error, otherwise none.

    Raises:
        OutputExistsError: as `write`.
        UsageError: as `write`; an extension other than ``.csv, .tsv, .xlsx``; more rows than an Excel sheet holds.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with growing(Path(folder) / "a.csv") as (table,):
        ...         table.add(pd.DataFrame({"name": ["=1+1"]}))
        ...         table.add(pd.DataFrame({"name": ["Zoë"]}))
        ...     print(table.path.read_text(encoding="utf-8"), table.rows)
        "name"
        "'=1+1"
        "Zoë"
         2
    """
    for path in paths:
        if Path(path).suffix.lower() not in (*SEPARATORS, EXCEL):
            raise UsageError(f"{path or 'a name'}: write a file that ends in .csv, .tsv or .xlsx")
    with outputs(*paths, inputs=inputs, overwrite=overwrite) as opened, ExitStack() as books:
        yield [Growing(output, _sheet(output, books)) for output in opened]


def _sheet(output: Output, books: ExitStack) -> Sheet | None:
    if output.path.suffix.lower() != EXCEL:
        return None
    return Sheet(books.enter_context(book(output.file)), "list")


def _texts(frame: pd.DataFrame) -> pyarrow.Table:
    safe = neutral_frame(frame)
    texts = [safe.iloc[:, at].astype(STR) for at in range(safe.shape[1])]
    columns = [pyarrow.array(text, pyarrow.large_string(), from_pandas=True) for text in texts]
    return pyarrow.table(columns, names=[str(name) for name in safe.columns])
