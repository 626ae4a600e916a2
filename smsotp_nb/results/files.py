"""Result tables on disk: CSV, Excel and Parquet, without losing a dtype, a plus, a leading zero or Namibia.

In CSV text is quoted and numbers are not, so that both come back as what they were. Columns before ``campaign`` are
the index. Cells that a spreadsheet would run as a formula get an apostrophe, which `read` takes away again.
"""

from __future__ import annotations

import codecs
import csv
import functools
import importlib.util
import os
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyarrow

from ..errors import UsageError
from .contract import COLUMNS, check

EXCEL_ROWS: Final = 1_048_575  # and a header
_SAMPLE: Final = 200
_AMOUNT: Final = "#,##0.00####"
_FORMATS: Final = {
    **dict.fromkeys(("price", "price_per_message", "est_cost", "difference", "total"), _AMOUNT),
    **dict.fromkeys(("messages", "parts", "est_parts", "unpriced", "left_out"), "#,##0"),
    "share": "0.0%",
}

_FORMULA: Final = re.compile(r"'*[=+\-@\t\r\n]")
_E164: Final = re.compile(r"\+[0-9]+")
_NUMBER: Final = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_WHOLE: Final = r"-?(?:0|[1-9][0-9]{0,17})"


def write(frame: pd.DataFrame, path: str | Path, *, excel_safe: bool = True) -> Path:
    """Write a result or cost table to ``.csv``, ``.xlsx`` or ``.parquet`` and return the path.

    CSV and Excel: text that begins with ``= + - @`` gets an apostrophe before it, E.164 numbers stay whole. In CSV
    ``excel_safe=False`` leaves such text as it is and the byte order mark out. Excel holds times as ISO text, to the
    microsecond. An existing file is replaced only when the new one is complete.

    Raises:
        UsageError: an unknown ending, a missing folder, a column the format cannot hold, too many rows for Excel, or
            Excel support is not installed.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = write(pd.DataFrame({"to": ["+12025550123"], "name": ["=1+1"]}), Path(folder) / "r.csv")
        ...     print(file.read_text(encoding="utf-8-sig"))
        "to","name"
        "+12025550123","'=1+1"
        <BLANKLINE>
    """
    file = Path(path).expanduser()
    csv_writer = functools.partial(_write_csv, excel_safe=excel_safe)
    writer = _by_ending(file, {".csv": csv_writer, ".xlsx": _write_excel, ".parquet": _write_parquet})
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise UsageError(f"two columns are named {repeated[0]!r}; a file needs different names")
    frame = frame.copy(deep=False)
    frame.attrs = {}  # a file format writes them too, and fails on what it does not know
    return _replaced(file, functools.partial(writer, frame))


def write_book(tables: Mapping[str, pd.DataFrame], path: str | Path) -> Path:
    """Write tables to one Excel workbook, a sheet each, as safely as `write`; their indexes stay out.

    Raises:
        UsageError: as `write`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = write_book({"total": pd.DataFrame({"price": [0.5]})}, Path(folder) / "spent.xlsx")
        ...     pd.read_excel(file, sheet_name="total")["price"].tolist()
        [0.5]
    """
    file = Path(path).expanduser()
    _by_ending(file, {".xlsx": _write_book})
    return _replaced(file, functools.partial(_write_book, tables))


def write_text(text: str, path: str | Path) -> Path:
    """Write a text file as UTF-8 and return its path; an existing one is replaced only when the new one is complete.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_text("Zoë", Path(folder) / "name.txt").read_text(encoding="utf-8")
        'Zoë'
    """

    def write_it(partial: Path) -> None:
        partial.write_text(text, encoding="utf-8")

    return _replaced(Path(path).expanduser(), write_it)


def _replaced(file: Path, write_it: Callable[[Path], None]) -> Path:
    """Write beside the file and put it in its place when it is complete."""
    if not file.parent.is_dir():
        raise UsageError(f"the folder {str(file.parent)!r} does not exist; create it first")
    partial = file.with_name(f".{file.stem}.partial{file.suffix}")
    try:
        write_it(partial)
        os.replace(partial, file)
    finally:
        partial.unlink(missing_ok=True)
    return file


def read(path: str | Path) -> pd.DataFrame:
    """Read a result table that `write` wrote, or one that a spreadsheet saved since.

    The contract's columns come back with its dtypes. The caller's own columns keep theirs in Parquet; in CSV and Excel
    a column of plain numbers comes back as numbers (never one with a leading zero or a plus), all else as text.

    Raises:
        UsageError: the file is not there, cannot be read, or is not a result table.

    Example:
        >>> import tempfile
        >>> table = pd.DataFrame({name: pd.Series(["NA"] if name == "iso" else [None], dtype=dtype)
        ...                       for name, dtype in COLUMNS.items()}).assign(status="accepted")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     read(write(table, Path(folder) / "r.csv"))["iso"].tolist()
        ['NA']
    """
    file = Path(path).expanduser()
    reader = _by_ending(file, {".csv": _read_csv, ".xlsx": _read_excel, ".parquet": _read_parquet})
    try:
        frame = reader(file)
    except FileNotFoundError:
        raise UsageError(f"there is no file {str(file)!r}") from None
    return check(frame)


def neutral(texts: pd.Series) -> pd.Series:
    """Return a column whose text no spreadsheet runs as a formula; E.164 numbers and other values stay as they are.

    Example:
        >>> neutral(pd.Series(["=1+1", "-5", "+12025550123", "plain", "'=x"])).tolist()
        ["'=1+1", "'-5", '+12025550123', 'plain', "''=x"]
    """
    return _map_distinct(texts, lambda cell: f"'{cell}" if _FORMULA.match(cell) and not _E164.fullmatch(cell) else cell)


def _restored(texts: pd.Series) -> pd.Series:
    return _map_distinct(texts, lambda cell: cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell)


def _map_distinct(column: pd.Series, change: Callable[[str], str]) -> pd.Series:
    """Change the text of a column, one call for each distinct value; numbers and other dtypes pass."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if not (column.dtype == object or isinstance(column.dtype, pd.StringDtype)):
        return column
    changes = {cell: change(cell) for cell in column.unique() if isinstance(cell, str)}
    changes = {old: new for old, new in changes.items() if old != new}
    if not changes:
        return column
    changed = column.map(changes)
    return column.where(changed.isna(), changed)


def _by_ending(file: Path, known: dict[str, Any]) -> Any:
    found = known.get(file.suffix.lower())
    if found is None:
        raise UsageError(f"{file.name!r} must end in {', '.join(known)}; the ending says the format")
    return found


def _flat(frame: pd.DataFrame) -> pd.DataFrame:
    """Put a meaningful index before the columns, where `read` finds it; a plain count of rows is none."""
    index = frame.index
    if isinstance(index, pd.RangeIndex) and index.name is None and index.start == 0 and index.step == 1:
        return frame
    levels = {name or "": index.get_level_values(level) for level, name in enumerate(index.names)}
    flat = pd.DataFrame({name: pd.Series(values, index=index) for name, values in levels.items()}, index=index)
    return pd.concat([flat, frame], axis=1)


def _unflattened(frame: pd.DataFrame) -> pd.DataFrame:
    position = list(frame.columns).index("campaign") if "campaign" in frame.columns else 0
    if not position:
        return frame
    names = list(frame.columns[:position])
    return frame.set_index(names).rename_axis([name or None for name in names])


# -- CSV ---------------------------------------------------------------------------------------------------------------


def _write_csv(frame: pd.DataFrame, file: Path, *, excel_safe: bool) -> None:
    flat = _flat(frame)
    if excel_safe:
        flat = _neutral_frame(flat)
    encoding = "utf-8-sig" if excel_safe else "utf-8"
    flat.to_csv(file, index=False, quoting=csv.QUOTE_NONNUMERIC, encoding=encoding, lineterminator="\n")


def _neutral_frame(flat: pd.DataFrame) -> pd.DataFrame:
    columns = [neutral(flat.iloc[:, position]) for position in range(flat.shape[1])]
    done = pd.concat(columns, axis=1) if columns else flat
    done.columns = neutral(pd.Series(flat.columns.astype("str"), dtype="object")).tolist()
    return done


def _read_csv(file: Path) -> pd.DataFrame:
    text = file.read_bytes()
    marked = text.startswith(codecs.BOM_UTF8)
    separator = max(",;\t", key=text[: text.find(b"\n")].decode("utf-8", "replace").count)
    try:
        texts = pd.read_csv(
            file, sep=separator, dtype="str", keep_default_na=False, na_values=[""], encoding="utf-8-sig"
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise UsageError(f"{file.name!r} cannot be read as UTF-8 CSV: {str(error).strip()}") from None
    texts.columns = ["" if re.fullmatch(r"Unnamed: [0-9]+", name) else name for name in texts.columns]
    if separator == ";":
        texts = _points_for_commas(texts)
    own = [position for position, name in enumerate(texts.columns) if name not in COLUMNS]
    first = {at: int(texts.iloc[:, at].notna().to_numpy().argmax()) for at in own if texts.iloc[:, at].notna().any()}
    bare = set(first) - _quoted(text.decode("utf-8-sig"), separator, first)
    columns = [
        _plain_numbers(texts.iloc[:, at]) if at in bare else (_restored if marked else _as_it_is)(texts.iloc[:, at])
        for at in range(texts.shape[1])
    ]
    return _unflattened(_joined(columns, texts, restore=marked))


def _joined(columns: list[pd.Series], like: pd.DataFrame, *, restore: bool) -> pd.DataFrame:
    joined = pd.concat(columns, axis=1) if columns else like.copy()
    names = pd.Series(like.columns, dtype="str")
    joined.columns = pd.Index(_restored(names) if restore else names)
    return joined


def _as_it_is(column: pd.Series) -> pd.Series:
    return column


def _points_for_commas(texts: pd.DataFrame) -> pd.DataFrame:
    """A spreadsheet that writes semicolons writes 0,0075 for an amount."""
    amounts = [name for name, dtype in COLUMNS.items() if dtype == "float64" and name in texts.columns]
    return texts.assign(**{name: texts[name].str.replace(",", ".", regex=False) for name in amounts})


def _quoted(text: str, separator: str, first: dict[int, int]) -> set[int]:
    """Return the columns whose first value (its row in ``first``) stands in quotes: text, whatever it looks like."""
    quoted, row, at, last = set(), -1, 0, max(first.values(), default=-1)
    for match in re.finditer(rf'("(?:[^"]|"")*"|[^{separator}\r\n]*)({separator}|\r?\n|\Z)', text):
        if row > last:
            break
        if first.get(at) == row and match[1].startswith('"'):
            quoted.add(at)
        ends = match[2] != separator
        row, at = (row + 1, 0) if ends else (row, at + 1)
    return quoted


def _plain_numbers(texts: pd.Series) -> pd.Series:
    present = texts.dropna()
    if present.isin(["True", "False"]).all():
        flags = texts.map({"True": True, "False": False})
        return flags.astype("boolean" if texts.isna().any() else "bool")
    if present.str.fullmatch(_WHOLE).all():
        return texts.astype("Int64" if texts.isna().any() else "int64")
    return texts.astype("float64") if present.str.fullmatch(_NUMBER).all() else texts


# -- Excel -------------------------------------------------------------------------------------------------------------

_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ESCAPED: Final = re.compile("_x([0-9A-Fa-f]{4})_")


def _need_excel() -> None:
    if importlib.util.find_spec("openpyxl") is None:
        raise UsageError("Excel files need openpyxl: pip install 'smsotp_nb[excel]', or use .csv or .parquet")


def _write_excel(frame: pd.DataFrame, file: Path) -> None:
    _write_book({"results": _flat(frame)}, file)


def _write_book(tables: Mapping[str, pd.DataFrame], file: Path) -> None:
    _need_excel()
    for name, table in tables.items():
        if len(table) > EXCEL_ROWS:
            raise UsageError(
                f"an Excel sheet holds {EXCEL_ROWS:,} rows, {name!r} has {len(table):,}; use .csv or .parquet"
            )
    with pd.ExcelWriter(file, engine="openpyxl") as book:
        for name, table in tables.items():
            safe = _neutral_frame(pd.concat([_excel_column(table.iloc[:, at]) for at in range(table.shape[1])], axis=1))
            safe.to_excel(book, index=False, sheet_name=name, freeze_panes=(1, 0))
            _dress(book.sheets[name], safe)


def _dress(sheet: Any, table: pd.DataFrame) -> None:
    """Set number formats and widths, so that what was written can be read."""
    for at in range(table.shape[1]):
        column, name = table.iloc[:, at], str(table.columns[at])
        longest = max([len(name), *column.head(_SAMPLE).astype("str").fillna("").str.len().tolist()])
        letter = sheet.cell(1, at + 1).column_letter
        sheet.column_dimensions[letter].width = min(longest + 3, 48)
        # A cell of the text format stays text when it is edited: +1202... would become a number.
        number_format = "@" if isinstance(column.dtype, pd.StringDtype) else _FORMATS.get(name)
        if number_format and len(table):
            _format(next(sheet.iter_cols(min_col=at + 1, max_col=at + 1, min_row=2)), number_format)


def _format(cells: Any, number_format: str) -> None:
    for cell in cells:
        cell.number_format = number_format


def _excel_column(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        return column.astype("str")
    return _map_distinct(column, lambda cell: _UNWRITABLE.sub(lambda found: f"_x{ord(found[0]):04X}_", cell))


def _read_excel(file: Path) -> pd.DataFrame:
    _need_excel()
    try:
        cells = pd.read_excel(file, sheet_name=0, dtype=object, keep_default_na=False, na_values=[""])
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise UsageError(f"{file.name!r} cannot be read as an Excel workbook: {error}") from None
    cells.columns = ["" if str(name).startswith("Unnamed: ") else str(name) for name in cells.columns]
    columns = [_excel_values(cells.iloc[:, at]) for at in range(cells.shape[1])]
    return _unflattened(_joined(columns, cells, restore=True))


def _excel_values(cells: pd.Series) -> pd.Series:
    kinds = {type(cell) for cell in cells.dropna()}
    if kinds <= {str}:
        texts = _map_distinct(
            cells.astype("str"), lambda cell: _ESCAPED.sub(lambda found: chr(int(found[1], 16)), cell)
        )
        return _restored(texts)
    if kinds == {int}:
        return cells.astype("Int64" if cells.isna().any() else "int64")
    return cells.astype("float64") if kinds <= {int, float} else cells.infer_objects()


# -- Parquet -----------------------------------------------------------------------------------------------------------


def _write_parquet(frame: pd.DataFrame, file: Path) -> None:
    try:
        frame.to_parquet(file, engine="pyarrow")
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise UsageError(f"Parquet cannot hold this table: {error}") from None


def _read_parquet(file: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(file, engine="pyarrow")
    except (pyarrow.ArrowException, ValueError) as error:
        raise UsageError(f"{file.name!r} cannot be read as Parquet: {error}") from None
