"""The two calls that read a list: whole, and in chunks."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow

from .._calling import given, in_our_words, not_flag, refuse
from .._cards import counted
from .._foreign.gate import file_at, ours, refuse_large
from .._showing import cited
from ..errors import UsageError
from . import comma, encodings, parquet, tables, workbook
from .heading import FIND
from .kinds import BOOKS, NAMED_BOOKS, Opener, kind_of
from .records import SHOWN, Origin, listed
from .tables import TEXT, Part
from .workbook import cell_text

ROW: Final = "row"


@in_our_words
def read_recipients(
    path: str | os.PathLike[str],
    *,
    sheet: str | int | None = None,
    header: int | str | None = FIND,
    hidden: bool = False,
    sep: str | None = None,
    encoding: str | None = None,
) -> pd.DataFrame:
    """Read a file of people with every cell as text: CSV, a workbook, Parquet or JSON.

    The content tells the format, not the name: text with any separator, also packed (``.gz``, or the one file in
    a ``.zip``), workbooks (``.xlsx``, ``.xlsm``, ``.xls``, ``.xlsb``, ``.ods``), Parquet, a list of JSON objects or one
    on each line. All columns have dtype ``str``; blank cells and the errors of a spreadsheet (``#REF!``) are
    missing, every other text (``NA`` included) stays. The index has the number of each row as a spreadsheet shows it:
    blank rows and titles count, and a line break inside a cell does not begin a row. Rows of Parquet and JSON are
    counted from 1. Plans, results and records keep the number in their column ``row``. Numbers
    become digits without ``.0`` or exponent, with the plus and the zeros that the number format of an ``.xlsx`` file shows.

    What is decided for you is said in a `SmsOtpWarning` where it could be wrong, and kept in
    ``frame.attrs["smsotp_nb"]``: plain values, which pandas hands on to copies and selections of the frame, and loses
    where frames are joined.

    Args:
        path: of the file.
        sheet: of a workbook, by name or counted from 0. Otherwise the first visible sheet with a table.
        header: the row that names the columns, counted from 1 as a spreadsheet does, among the first 60 with cells;
            None where there is none, and the columns are called ``column_1`` and so on. Otherwise the first row below
            titles, or none if that row has a phone number or an e-mail address.
        hidden: take the hidden rows of a sheet, too. Otherwise they are left out. Hidden rows are those that a filter
            or a person hid.
        sep: the character between cells. Otherwise the one of ``, ; tab |`` that splits the most rows evenly, or that
            of a first line ``sep=;``.
        encoding: of a text. Otherwise a byte order mark decides; else it is UTF-8 if all of it is; else the encoding in
            which its names read as words of one language.

    Warns:
        SmsOtpWarning: an encoding that was guessed; titles above the header, no header; rows that are hidden, or that
            sum up the others, left out; rows with fewer cells than the header; the errors of a spreadsheet and formulas
            without a value, by cell; other sheets with rows, hidden columns, merged cells; cells of an ``.xlsx``
            that are crossed out (a number among them gets these words) or have a comment.

    Raises:
        UsageError: an argument that cannot be meant, no such file, a folder, a pipe or a device, a document that is no
            list or is protected, an empty file, two columns of one name, rows with more cells than the header has names
            (the first lines are named), a quote that is not closed, an encoding that does not fit.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
        >>> _ = file.write_text("phone;country\\n+14155550100;US\\n\\n0491570156;NA\\n", encoding="utf-8")
        >>> read_recipients(file)
                  phone country
        2  +14155550100      US
        4    0491570156      NA
    """
    how = How(sheet, header, hidden, sep, encoding)
    file, origin = _checked(path, how)
    with _on_its_disk(file):
        whole = tables.joined(list(_parts(file, how, origin)))
        return _frame(whole, len(whole), origin)


def read_chunks(
    path: str | os.PathLike[str],
    *,
    rows: int = 50_000,
    sheet: str | int | None = None,
    header: int | str | None = FIND,
    hidden: bool = False,
    sep: str | None = None,
    encoding: str | None = None,
) -> Iterator[pd.DataFrame]:
    """Read a file like ``read_recipients``, in frames of at most ``rows`` rows.

    A CSV file of any size is read with bounded memory; of a workbook, the sheet is held. An empty list gives one frame,
    with the columns.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
        >>> _ = file.write_text("phone\\n1\\n2\\n3\\n", encoding="utf-8")
        >>> [chunk.index.tolist() for chunk in read_chunks(file, rows=2)]
        [[2, 3], [4]]
    """
    if not isinstance(rows, int) or rows < 1:
        raise UsageError(f"rows={rows!r}: pass the maximum number of rows of a chunk, such as 50000")
    how = How(sheet, header, hidden, sep, encoding)
    file, origin = _checked(path, how)
    with _on_its_disk(file):
        parts = _parts(file, how, origin)
    return _chunks(file, parts, rows, origin)


def workbook_rows(path: str | os.PathLike[str]) -> Iterator[tuple[str, int, list[Any]]]:
    """Give the rows of every sheet of a workbook as (sheet, row as Excel counts, cells as they are).

    Raises:
        UsageError: no such file, or no workbook.
    """
    file, _ = _checked(path, How())
    kind, _ = kind_of(file)
    if kind not in BOOKS:
        raise UsageError(f"{file.name} is no Excel workbook; save it as .xlsx and read that")
    return workbook.every_row(file, kind)


def _chunks(file: Path, parts: Iterator[Part], rows: int, origin: Origin) -> Iterator[pd.DataFrame]:
    first, resized = 0, tables.resized(parts, rows)
    while True:
        with _on_its_disk(file):
            part = next(resized, None)
        if part is None:
            return
        first += len(part)
        yield _frame(part, first, origin)


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


def _frame(part: Part, rows: int, origin: Origin) -> pd.DataFrame:
    frame = part.frame(pd.Index(part.numbers))
    frame.attrs.update(origin.as_attrs(rows))
    return frame


@dataclass(frozen=True, slots=True)
class How:
    sheet: str | int | None = None
    header: int | str | None = FIND
    hidden: bool = False
    sep: str | None = None
    encoding: str | None = None


def _parts(file: Path, how: How, origin: Origin) -> Iterator[Part]:
    kind, opener = kind_of(file)
    origin.facts["kind"] = kind
    if kind in BOOKS:
        parts = workbook.parts(file, kind, how.sheet, how.header, how.hidden, origin)
    elif how.sheet is not None:
        raise UsageError(f"sheet={given(how.sheet)}: {file.name} has no sheets, as Excel files do; leave sheet= out")
    elif kind == "parquet":
        parts = iter([parquet.part(file)])
    elif kind == "json":
        parts = iter([_of_json(opener, file)])
    else:
        if file.suffix.lower() in NAMED_BOOKS:
            origin.note("is a text and no workbook, whatever its name says")
        parts = comma.parts(opener, how.sep, how.encoding, how.header, origin)
    return _without_errors(parts, origin)


def _without_errors(parts: Iterator[Part], origin: Origin) -> Iterator[Part]:
    """Give parts in which the errors of a spreadsheet, such as ``#REF!``, are blank, and cells without their guard
    against formulas, and say how many there were.
    """
    count, guards, shown = 0, 0, list[str]()
    for part in parts:
        cleared, found = tables.without_errors(part)
        cleared, many = tables.without_guards(cleared)
        count, guards = count + len(found), guards + many
        shown += [f"{name!r} in row {row}" for name, row in found[: SHOWN + 1]]
        yield cleared
    if count:
        cells = counted(count, "cell shows an error", "cells show an error")
        origin.note(f"{cells} of a spreadsheet ({listed('cell', shown)}), read as blank")
    if guards:
        cells = counted(guards, "cell begins", "cells begin")
        origin.note(f"{cells} with the apostrophe that keeps a spreadsheet from running a formula, read without it")


def _checked(path: object, how: How) -> tuple[Path, Origin]:
    """Return the path of a call whose arguments can be what they say."""
    sep, encoding, header = how.sep, how.encoding, how.header
    refuse(not_flag("hidden", how.hidden))
    if header not in (None, FIND) and (isinstance(header, bool) or not isinstance(header, int) or header < 1):
        raise UsageError(
            f"header={given(header)}: pass the row of the names as a spreadsheet counts it, 1 for the first, or None "
            "where there is none"
        )
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise UsageError(f"path must be the text or Path of a file, not {given(path)}: such as 'people.csv'")
    if sep is not None and (not isinstance(sep, str) or len(sep) != 1 or sep in '"\r\n'):
        raise UsageError(f"sep={sep!r}: pass the one character that separates cells, such as ';', or omit it")
    if encoding is not None and (not isinstance(encoding, str) or not encoding):
        raise UsageError(f"encoding={encoding!r}: pass a name such as 'utf-8' or 'cp1252', or omit it")
    file = file_at(path, kind="a CSV, Excel or Parquet file")
    return file, Origin({"file": file.name})


def _of_json(opener: Opener, file: Path) -> Part:
    """Return all objects, counted from 1; their keys are the columns, in the order met.

    Raises:
        UsageError: it is no list of flat objects.
    """
    with opener() as raw:
        content = raw.read()
    with ours(file, "JSON"):
        objects = _objects(content.decode(encodings.marked(content[:4096]) or "utf-8"))
    rows = [it for it in objects if isinstance(it, dict)]
    if len(rows) != len(objects) or not rows:
        raise UsageError(f'{file.name} is no list of JSON objects such as [{{"phone": "+12025550123"}}]')
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    refuse_large(file, columns=len(names))
    nested = next((name for row in rows for name, cell in row.items() if isinstance(cell, dict | list)), None)
    if nested is not None:
        raise UsageError(
            f"{file.name}: {nested!r} holds lists or objects; write one value for each, or make a frame of it with "
            "pandas.json_normalize"
        )
    texts = [pyarrow.chunked_array([pyarrow.array([cell_text(row.get(name)) for row in rows], TEXT)]) for name in names]
    return tables.of_texts(names, texts, np.arange(1, len(rows) + 1))


def _objects(text: str) -> list[Any]:
    load = partial(json.loads, parse_float=_as_written, object_pairs_hook=_with_each_key_once)
    try:
        found = load(text)
    except json.JSONDecodeError:
        return [load(line) for line in text.splitlines() if line.strip()]
    if isinstance(found, dict):
        lists = [value for value in found.values() if isinstance(value, list)]
        return lists[0] if len(lists) == 1 and len(found) <= 3 else [found]
    return found if isinstance(found, list) else [found]


def _with_each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key in found if [name for name, _ in pairs].count(key) > 1)
        raise UsageError(f"an object of the JSON file has {cited(twice)} twice, of which one would be lost; rename one")
    return found


def _as_written(number: str) -> float | str:
    """Return a decimal as it is written unless it is a whole number with ``.0``."""
    return float(number) if float(number).is_integer() else number
