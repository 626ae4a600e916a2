"""Tables that are written as they are made, frame by frame, so that their length does not matter: CSV, TSV or Excel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyarrow
import pyarrow.csv

from .._frames import AnyFrame, as_pandas
from .._outputs import Output, StrPath, outputs
from .._pandas import STR
from ..errors import UsageError
from . import workbook
from .cells import neutral_frame

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
        FileExists: as `write`.
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


def _sheet(output: Output, books: ExitStack) -> workbook.Sheet | None:
    if output.path.suffix.lower() != EXCEL:
        return None
    return workbook.Sheet(books.enter_context(workbook.book(output.file)), "list")


def _texts(frame: pd.DataFrame) -> pyarrow.Table:
    safe = neutral_frame(frame)
    texts = [safe.iloc[:, at].astype(STR) for at in range(safe.shape[1])]
    columns = [pyarrow.array(text, pyarrow.large_string(), from_pandas=True) for text in texts]
    return pyarrow.table(columns, names=[str(name) for name in safe.columns])
