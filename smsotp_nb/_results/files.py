"""Result tables on disk: CSV, Excel and Parquet, without losing a dtype, a plus, a leading zero or Namibia.

In CSV text is quoted and numbers are not, so that both come back as what they were; as `quoted` says. Columns before
the first one of the result table are the index. Cells that a spreadsheet would run as a formula get an apostrophe,
which `read` takes away again.
"""

from __future__ import annotations

import codecs
import functools
import io
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

import numpy as np
import pandas as pd
import pyarrow

from .._calling import given, in_our_words, not_choice, not_flag, not_list, not_path, refuse
from .._foreign.gate import file_at, ours, refuse_large
from .._foreign.parquet import read_parquet
from .._frames import AnyFrame, as_pandas
from .._outputs import StrPath, write_file
from .._showing import cited
from .._showing import label as shown_label
from ..errors import UsageError
from . import cells, workbook
from .cells import headed, joined, neutral_frame, restored, told
from .contract import ALL, TIMES, check, in_zone, refuse_repeated, repeated_ids

_NUMBER: Final = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_WHOLE: Final = r"-?(?:0|[1-9][0-9]{0,17})"
_REFUSED: Final = re.compile(r"[\[\]:*?/\\\x00-\x1f]")  # in the name of a sheet
_LONGEST: Final = 31  # signs of the name of a sheet
_EXCELS_OWN: Final = "history"  # a sheet of this name is refused by Excel, in any case of letters


@in_our_words
def write(
    frame: AnyFrame,
    path: str | Path,
    *,
    excel_safe: bool = True,
    sheet_name: str | None = None,
    overwrite: bool = False,
    inputs: Iterable[StrPath] = (),
) -> Path:
    """Write a result or cost table to ``.csv``, ``.xlsx`` or ``.parquet`` and return the path.

    In CSV and Excel, text that begins with ``= + - @`` gets a leading apostrophe; E.164 numbers are unchanged. In CSV,
    ``excel_safe=False`` leaves such text as it is and omits the byte order mark. Excel holds times as ISO text, to the
    microsecond. An empty text is told from a missing one: in CSV it is ``""`` against nothing at all, in Excel a text
    cell without a sign against no cell; both are missing once LibreOffice Calc has saved the file. An existing file is
    replaced only with ``overwrite=True``, and only once the new one is complete. A file named in ``inputs``, from which
    the table was made, is never replaced. In Excel the sheet of results is named ``results``, that of another table
    like the file, or as ``sheet_name`` says.

    Raises:
        OutputExistsError: the file already exists.
        UsageError: an unknown extension, a missing folder, a column the format cannot hold, too many rows for Excel, a
            full disk, or Excel support is not installed.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = write(pd.DataFrame({"to": ["+12025550123"], "name": ["=1+1"]}), Path(folder) / "r.csv")
        ...     print(file.read_text(encoding="utf-8-sig"))
        to,name
        "+12025550123","'=1+1"
        <BLANKLINE>
    """
    frame = as_pandas(frame)
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"write needs a DataFrame, got {given(frame)}; send() returns one")
    refuse(
        not_path("path", path, example="'results.csv'"),
        not_flag("overwrite", overwrite),
        not_flag("excel_safe", excel_safe),
    )
    refuse(_not_sheet(sheet_name, Path(path)))
    writer = _writer(frame, Path(path), excel_safe=excel_safe, sheet_name=sheet_name)
    return write_file(path, writer, inputs=inputs, overwrite=overwrite)


def as_bytes(frame: pd.DataFrame, name: str) -> bytes:
    """Return what `write` would write to a file of this name, for a page that downloads it."""
    file = io.BytesIO()
    _writer(frame, Path(name))(file)
    return file.getvalue()


def _writer(
    frame: pd.DataFrame, path: Path, *, excel_safe: bool = True, sheet_name: str | None = None
) -> Callable[[BinaryIO], object]:
    csv_writer = functools.partial(_write_csv, excel_safe=excel_safe)
    named = sheet_name or ("results" if "status" in [*headed(frame).columns] else _sheet_of(path))
    excel_writer = functools.partial(_write_excel, sheet_name=named)
    writer = _by_ending(path, {".csv": csv_writer, ".xlsx": excel_writer, ".parquet": _write_parquet})
    frame = frame.copy(deep=False)
    frame.attrs = {}  # a file format writes them too, and fails on what it does not know
    return functools.partial(writer, frame)


def write_book(
    tables: Mapping[str, AnyFrame],
    path: str | Path,
    *,
    formats: Mapping[str, workbook.Formats] | None = None,
    overwrite: bool = False,
    inputs: Iterable[StrPath] = (),
) -> Path:
    """Write tables to one Excel workbook, a sheet each, as safely as `write`. Indexes are omitted.

    ``formats`` are the number formats of columns, by sheet; without them a column has that of its name.
    """
    _by_ending(Path(path), {".xlsx": workbook.write})
    sheets = {name: as_pandas(table) for name, table in tables.items()}
    writer = functools.partial(workbook.write, sheets, formats=formats)
    return write_file(path, writer, inputs=inputs, overwrite=overwrite)


def write_text(text: str, path: str | Path, *, overwrite: bool = False, inputs: Iterable[StrPath] = ()) -> Path:
    """Write a text file as UTF-8, as safely as `write`, and return its path."""
    return write_file(path, lambda file: file.write(text.encode("utf-8")), inputs=inputs, overwrite=overwrite)


@in_our_words
def read(path: str | Path) -> pd.DataFrame:
    """Read a result table that `write` wrote, or that a spreadsheet has saved since.

    The result columns come back with their dtypes. Your own columns keep theirs in Parquet; in CSV and Excel a column
    of plain numbers comes back as numbers (never one with a leading zero or a plus), everything else as text. An empty
    text comes back as one. In a CSV whose header is quoted, as pandas writes one that quotes everything, ``""`` is
    missing, also beside cells with nothing at all: most such writers put it for both. LibreOffice Calc makes every
    empty text missing in the files that it saves, Excel and CSV.

    Raises:
        UsageError: file not found or not readable, not a result table, or its numbers have lost their plus.

    Example:
        >>> import tempfile
        >>> table = pd.DataFrame({name: pd.Series(["NA"] if name == "iso" else [None], dtype=dtype)
        ...                       for name, dtype in ALL.items()}).assign(status="accepted")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     read(write(table, Path(folder) / "r.csv"))["iso"].tolist()
        ['NA']
    """
    refuse(not_path("path", path, example="'results.csv'"))
    readers = {".csv": _read_csv, ".xlsx": lambda file: _unflattened(workbook.read(file)), ".parquet": _read_parquet}
    reader = _by_ending(Path(path), readers)
    file = file_at(path, kind="a CSV, Excel or Parquet file that results.write wrote")
    table = check(reader(file))
    lost = table["to"][~table["to"].str.match(r"\+[1-9]", na=True)]
    if len(lost):  # a spreadsheet took it for a number: 1.20256E+10 cannot be undone, and a guess is a stranger
        raise UsageError(
            f"column 'to' of {file.name!r} must hold numbers with their plus; {len(lost):,} have none, first in row "
            f"{next(iter(lost.index))!r}. A spreadsheet saved this file: read the one that results.write wrote"
        )
    return table


@in_our_words
def concat(tables: Iterable[AnyFrame | str | Path], *, repeated: Literal["refuse", "once"] = "refuse") -> pd.DataFrame:
    """Put result tables, or the files of some, below each other, and no message in twice.

    Files overlap easily: a campaign saved after its first day is in the file of its last day as well, and costs over
    both would count it twice. A message is known by its ``id``.

    Args:
        tables: frames and paths, in the order in which they stand.
        repeated: what becomes of a message that stands in several places: ``"refuse"``, or ``"once"``, which takes its
            first row where all of them say the same of number, parts, price and currency. A row without an id, such as
            one still to go, counts as it stands in the last table that has it.

    Raises:
        UsageError: a message stands twice; names the rows and their files. Or as `read` and `check`.

    Example:
        >>> table = pd.DataFrame({"id": ["m1", "m2"], "status": "accepted", "price": 0.01})
        >>> concat([table, table.head(1)], repeated="once")["id"].tolist()
        ['m1', 'm2']
    """
    refuse(not_list("tables", tables, of="tables or paths"), not_choice("repeated", repeated, ["refuse", "once"]))
    several = list(tables)
    refuse("tables= must have at least one table or path" if not several else None)
    read_ones = [read(one) if isinstance(one, str | Path) else check(one, columns=["id", "status"]) for one in several]
    names = [Path(one).name if isinstance(one, str | Path) else f"table {at}" for at, one in enumerate(several)]
    whole, ends = pd.concat(read_ones), np.cumsum([len(one) for one in read_ones])

    def where(place: int) -> str:
        return f"{names[int(np.searchsorted(ends, place, 'right'))]}, row {shown_label(whole.index[place])}"

    refuse_repeated(whole, where, contradicting=repeated == "once")
    again = repeated_ids(whole)
    if repeated == "once":
        again = again | _superseded(whole, np.repeat(np.arange(len(read_ones)), [*map(len, read_ones)]))
    return whole[~again]


def _superseded(whole: pd.DataFrame, table: Any) -> Any:
    """Mark rows without an id that a later table has as well: the same row of a list, of one campaign and person."""
    if not {"campaign", "to"} <= {*whole.columns}:
        return np.zeros(len(whole), bool)
    key = pd.DataFrame({name: whole[name].array for name in ("service", "campaign", "to") if name in whole})
    key["label"] = pd.factorize(whole.index)[0]
    last = pd.Series(table).groupby(key.groupby([*key], dropna=False).ngroup()).transform("max")
    return (whole["id"].isna() & whole["to"].notna()).to_numpy(bool) & (table < last.to_numpy())


def _by_ending(file: Path, known: dict[str, Any]) -> Any:
    found = known.get(file.suffix.lower())
    if found is None:
        raise UsageError(f"{file.name!r} must end in {', '.join(known)}; the extension selects the format")
    return found


def _flat(frame: pd.DataFrame) -> pd.DataFrame:
    """Put a meaningful index before the columns, where `read` finds it; a plain count of rows is none."""
    index = frame.index
    if isinstance(index, pd.RangeIndex) and index.name is None and index.start == 0 and index.step == 1:
        return frame
    levels = [level for level in _levels(index) if not _stands_in(frame, level)]
    return headed(pd.concat([*(level.set_axis(index) for level in levels), frame], axis=1))


def _stands_in(frame: pd.DataFrame, level: pd.Series) -> bool:
    """Say whether a level of the index is a column as well, as by ``set_index(..., drop=False)``."""
    if level.name not in frame.columns:
        return False
    if not level.array.equals(frame[level.name].array):
        raise UsageError(
            f"the index and a column are both named {cited(level.name)}, and hold different values; a file needs "
            "different names: rename one of them, or leave the index out with reset_index(drop=True)"
        )
    return True


def _levels(index: pd.Index) -> list[pd.Series]:
    """Return the levels of an index as columns, named as `read` expects them."""
    found = [index.get_level_values(at) for at in range(index.nlevels)]
    return [pd.Series(level.array, dtype=level.dtype, name=level.name or "") for level in found]


def _unflattened(frame: pd.DataFrame) -> pd.DataFrame:
    position = next((at for at, name in enumerate(frame.columns) if name in ALL), 0)
    if not position or "status" not in frame.columns:
        return frame
    levels = [frame.iloc[:, at] for at in range(position)]
    names = [name or None for name in frame.columns[:position]]
    rest = frame.iloc[:, position:]  # set_index drops the columns one after the other: slow where a file has many
    index = pd.Index(levels[0].rename(names[0])) if position == 1 else pd.MultiIndex.from_arrays(levels, names=names)
    return rest.set_axis(index)


def _write_csv(frame: pd.DataFrame, file: BinaryIO, *, excel_safe: bool) -> None:
    flat = _flat(headed(frame))
    if excel_safe:
        flat = neutral_frame(flat)
    elif flat.shape[1]:
        flat = pd.concat([told(flat.iloc[:, at]) for at in range(flat.shape[1])], axis=1)
    cells.write(flat, file, marked=excel_safe)


def _read_csv(file: Path) -> pd.DataFrame:
    text = file.read_bytes()
    marked = text.startswith(codecs.BOM_UTF8)
    head = text[: text.find(b"\n")].decode("utf-8", "replace")
    separator = max(",;\t", key=head.count)
    refuse_large(file, columns=head.count(separator) + 1)
    try:
        table = cells.read(text, separator)
    except pd.errors.ParserWarning:
        raise UsageError(f"{file.name!r} has a row with more cells than its header has names; correct it") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise UsageError(f"{file.name!r} cannot be read as UTF-8 CSV: {str(error).strip()}") from None
    table.columns = ["" if re.fullmatch(r"Unnamed: [0-9]+", name) else name for name in table.columns]
    if separator == ";":  # a spreadsheet that writes semicolons writes 0,0075 for an amount
        amounts = [name for name, dtype in ALL.items() if dtype == "float64" and name in table.columns]
        table = table.assign(**{name: table[name].str.replace(",", ".", regex=False) for name in amounts})
    own = [position for position, name in enumerate(table.columns) if name not in ALL]
    first = {at: int(table.iloc[:, at].notna().to_numpy().argmax()) for at in own if table.iloc[:, at].notna().any()}
    bare = set(first) - _quoted(text.decode("utf-8-sig"), separator, first)
    columns = [table.iloc[:, at] for at in range(table.shape[1])]
    columns = [
        _plain_numbers(column) if at in bare else restored(column) if marked else column
        for at, column in enumerate(columns)
    ]
    return _unflattened(joined(columns, table, restore=marked))


def _quoted(text: str, separator: str, first: dict[int, int]) -> set[int]:
    """Return the columns whose first value (its row in ``first``) stands in quotes: text, whatever it looks like."""
    quoted, row, at, last = set(), -1, 0, max(first.values(), default=-1)
    for match in re.finditer(rf'("[^"]*+(?:""[^"]*+)*+"|[^{separator}\r\n]*)({separator}|\r?\n|\Z)', text):
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


def _write_excel(frame: pd.DataFrame, file: BinaryIO, *, sheet_name: str) -> None:
    table = headed(frame)
    if "status" in table.columns:  # Excel's own times end at the millisecond: with their zone they are text
        naive = [name for name in TIMES if name in table.columns and table[name].dtype == ALL[name]]
        table = table.assign(**{name: in_zone(table[name], "UTC") for name in naive})
    workbook.write({sheet_name: _flat(table)}, file)


def _sheet_of(path: Path) -> str:
    """Return the name of a file as that of a sheet: without what Excel refuses in one."""
    name = _REFUSED.sub(" ", path.stem)[:_LONGEST].strip("' ")
    return name if name and name.lower() != _EXCELS_OWN else "table"


def _not_sheet(name: object, path: Path) -> str | None:
    if name is None:
        return None
    if not isinstance(name, str) or not name.strip("' ") or len(name) > _LONGEST or _REFUSED.search(name):
        return f"sheet_name= must be text of at most {_LONGEST} signs without [ ] : * ? / \\, got {given(name)}"
    if name.lower() == _EXCELS_OWN:
        return f"sheet_name= must be another name: Excel keeps {given(name)} for itself"
    return None if path.suffix.lower() == ".xlsx" else "sheet_name= is for Excel files: write to one that ends in .xlsx"


def _write_parquet(frame: pd.DataFrame, file: BinaryIO) -> None:
    named = headed(frame)
    try:
        (named if "mixed" in frame.columns.inferred_type else frame).to_parquet(file, engine="pyarrow")
    except (pyarrow.ArrowException, TypeError, ValueError, ArithmeticError, SystemError) as error:
        for column in (*_levels(frame.index), *(column for _, column in named.items())):
            told(column)  # which names column and row of what has no text
        raise UsageError(f"Parquet cannot hold this table: {error}") from None


def _read_parquet(file: Path) -> pd.DataFrame:
    with ours(file, "Parquet"):
        return read_parquet(file)
