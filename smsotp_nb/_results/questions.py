"""A workbook that somebody else fills in: what to do stands above, shaded cells are for answers, text stays text."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import pandas as pd

from .._outputs import StrPath, write_file
from .._pandas import STR
from ..errors import UsageError
from . import workbook
from .cells import map_distinct, neutral, restored

NUMBER: Final = re.compile(r"\+[0-9 ()/.\-]*\Z")  # signs and digits without a name or a cell: nothing to be run
WIDEST: Final = 44


@dataclass(frozen=True, slots=True)
class Questions:
    """A sheet of questions: its name, what is said above the table, the table, and its columns for answers.

    ``answers`` names the columns to be filled in, each with the words to choose from; none of them: any text.
    """

    title: str
    words: tuple[str, ...]
    table: pd.DataFrame
    answers: Mapping[str, tuple[str, ...]]


def write(questions: Questions, path: StrPath, *, inputs: Iterable[StrPath] = (), overwrite: bool = False) -> Path:
    """Write a workbook of questions and return its path.

    Text that a spreadsheet would run gets an apostrophe. A number with a plus stays as it is written, blanks and
    brackets included: it is a cell of text that stays text when it is edited.

    Raises:
        OutputExistsError: the file is there and ``overwrite`` is not set.
        UsageError: another ending than ``.xlsx``, more rows than a sheet holds, or the file cannot be written.
    """
    if Path(path).suffix.lower() != ".xlsx":
        raise UsageError(f"{path or 'a name'}: the workbook's name must end in .xlsx")
    return write_file(path, functools.partial(_write, questions), inputs=inputs, overwrite=overwrite)


def asked(cell: str) -> str:
    """Return the text of a cell as it was before `write` made it harmless."""
    return workbook.unescaped(str(restored(pd.Series([cell], dtype=STR)).iat[0]))


def _write(questions: Questions, file: BinaryIO) -> None:
    table, top = questions.table, len(questions.words) + 3
    workbook.refuse_long(questions.title, len(table) + top)
    columns = [_text(table.iloc[:, at]) for at in range(table.shape[1])]
    with workbook.book(file) as book:
        sheet = book.create_sheet(questions.title)
        _lay_out(sheet, questions, columns, top)
        sheet.append([workbook.styled(sheet, questions.title, bold=True)])
        for words in (*questions.words, None):
            sheet.append([words])
        sheet.append([workbook.styled(sheet, name, bold=True) for name in table.columns])
        cells = [_cells(sheet, column, fill=column.name in questions.answers) for column in columns]
        for row in zip(*cells, strict=True):
            sheet.append(row)


def _text(column: pd.Series) -> pd.Series:
    """Return a column of text in which only what a spreadsheet could run has changed."""
    texts = workbook.writable(map_distinct(column.astype(STR), str))
    numbers = [isinstance(text, str) and NUMBER.match(text) is not None for text in texts]
    return texts.where(pd.Series(numbers, index=texts.index, dtype="bool"), neutral(texts))


def _lay_out(sheet: Any, questions: Questions, columns: list[pd.Series], top: int) -> None:
    """Say what must be known before the first row is written: widths, what stays in view, choices."""
    from openpyxl.worksheet.datavalidation import DataValidation

    sheet.freeze_panes = f"A{top + 1}"
    sheet.auto_filter.ref = f"A{top}:{workbook.letter(len(columns))}{top + len(questions.table)}"
    for at, column in enumerate(columns, start=1):
        letter = workbook.letter(at)
        sheet.column_dimensions[letter].width = min(max(workbook.width(str(column.name), column), 13), WIDEST)
        choices = questions.answers.get(str(column.name), ())
        if choices:
            listed = DataValidation(type="list", formula1=f'"{",".join(choices)}"', allow_blank=True)
            listed.add(f"{letter}{top + 1}:{letter}{top + max(len(questions.table), 1)}")
            sheet.data_validations.append(listed)


def _cells(sheet: Any, column: pd.Series, *, fill: bool) -> Iterator[Any]:
    from openpyxl.styles import Alignment, Border, PatternFill, Side

    cell = workbook.styled(sheet, None, number_format="@")
    cell.quotePrefix = True
    cell.alignment = Alignment(vertical="top", wrap_text=True)
    if fill:
        line = Side(style="thin", color="9E9E9E")
        cell.fill, cell.border = PatternFill("solid", fgColor="FFF4CC"), Border(line, line, line, line)
    return workbook.filled(cell, column.astype(object).where(column.notna(), None))
