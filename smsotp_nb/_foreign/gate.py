"""The gate for files that others made: limits on what is taken in, and only errors of our own.

A few kilobytes can ask for more rows than there is memory. What a file says of itself is looked at before it is read,
and what no list of people reaches is refused in words.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from ..errors import SmsOtpError, SmsOtpWarning, UsageError

ROWS: Final = 1_048_576  # of a sheet, as Excel counts
COLUMNS: Final = 4_000  # with a name
BLANK: Final = 16_384  # columns without one at the end of a row, as wide as a sheet is
CELLS: Final = 50_000_000
UNPACKED: Final = 1 << 30  # bytes
RATIO: Final = 250  # unpacked to packed, of a part that is large: rows of numbers reach 50
LARGE: Final = 1 << 24  # bytes; a smaller part may be packed as tightly as it likes


def file_at(path: str | os.PathLike[str], *, kind: str, of: str = "") -> Path:
    """Return the path of a file that there is; refuse a folder, and a pipe or a device, on which reading may wait.

    The error says first what it is the file ``of``.

    Example:
        >>> file_at("no.csv", kind="a CSV file")
        Traceback (most recent call last):
        smsotp_nb.errors.UsageError: file not found: no.csv; pass the path of a CSV file
    """
    file = Path(os.path.expanduser(path))
    if not os.path.exists(file):
        raise UsageError(f"{of}file not found: {file}; pass the path of {kind}")
    if file.is_dir():
        raise UsageError(f"{of}{file} is a folder; pass the path of {kind} in it")
    if not file.is_file():
        raise UsageError(f"{of}{file} is a pipe or a device; save what it gives in a file first")
    return file


@contextmanager
def ours(file: Path, kind: str) -> Iterator[None]:
    """Let a block read a file with another library; whatever that raises becomes a UsageError that names the file.

    Example:
        >>> with ours(Path("list.xlsx"), "a workbook"):
        ...     raise KeyError("sheet1.xml")
        Traceback (most recent call last):
        smsotp_nb.errors.UsageError: list.xlsx cannot be read as a workbook: it is damaged or of another kind ...
    """
    try:
        yield
    except (SmsOtpError, SmsOtpWarning, FileNotFoundError):
        raise
    except RecursionError:
        said = "it is nested too deeply"
    except MemoryError:
        said = "it holds more than fits into memory"
    except BaseException as error:
        # A damaged file makes a library raise anything; a library in Rust has a class beside Exception for it.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        said = f"it is damaged or of another kind ({type(error).__name__}{_brief(error)})"
    else:
        return
    raise UsageError(
        f"{file.name} cannot be read as {kind}: {said}; open it in the program it came from and save it anew"
    ) from None


def _brief(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f": {text[:120]}" if text else ""


def refuse_packed(file: Path) -> None:
    """Refuse a workbook whose parts unpack to more than a list of people holds."""
    with ours(file, "a workbook"), zipfile.ZipFile(file) as archive:
        parts = archive.infolist()
    for size, packed in [(part.file_size, part.compress_size) for part in parts]:
        refuse_swollen(file, size, packed)
    refuse_swollen(file, sum(part.file_size for part in parts), file.stat().st_size)


def refuse_swollen(file: Path, size: int, packed: int, *, most: int = UNPACKED) -> None:
    """Refuse what unpacks to more bytes than a list of people holds, or is packed more tightly than one is.

    Example:
        >>> refuse_swollen(Path("list.parquet"), 3_000_000_000, 57_000)
        Traceback (most recent call last):
        smsotp_nb.errors.UsageError: list.parquet unpacks to 3,000 MB, which is more than a list needs; ...
    """
    if size > min(most, max(LARGE, RATIO * packed)):
        raise UsageError(
            f"{file.name} unpacks to {size / 1e6:,.0f} MB, which is more than a list needs; keep the columns and rows "
            "that matter, or save the list as .csv and read that"
        )


def refuse_large(file: Path, *, rows: int = 0, columns: int = 0, cells: int = 0) -> None:
    """Refuse more columns, rows or cells than a list has.

    Example:
        >>> refuse_large(Path("list.csv"), columns=100_000)
        Traceback (most recent call last):
        smsotp_nb.errors.UsageError: list.csv has 100,000 columns, and at most 4,000 are read; ...
    """
    for found, most, what in ((columns, COLUMNS, "columns"), (rows, ROWS, "rows"), (cells, CELLS, "cells")):
        if found > most:
            raise UsageError(
                f"{file.name} has {found:,} {what}, and at most {most:,} are read; keep those that matter, or save the "
                "list in several files"
            )


def rows_of(sheet: Any, file: Path) -> Generator[tuple[int, tuple[Any, ...]], None, None]:
    """Give the filled rows of a sheet of openpyxl with their numbers, each without the blank cells at its end."""
    if hasattr(sheet, "reset_dimensions"):
        sheet.reset_dimensions()  # what the sheet says of its size need not be true
    cells = 0
    with closing(sheet.iter_rows(values_only=True)) as rows:
        for at, found in enumerate(rows, start=1):
            cells += len(found)
            if at > ROWS or cells > CELLS:
                refuse_large(file, rows=at, cells=cells)
            filled = len(found)
            while filled and found[filled - 1] is None:
                filled -= 1
            if filled:
                refuse_large(file, columns=filled)
                yield at, found[:filled]
