"""DuckDB, which is an extra, within the memory that it is given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from .._calling.arguments import given, refuse
from ..errors import UsageError

LEAST: Final = 1_000  # MB
OURS: Final = 600  # MB for Python, its libraries and the piece of the list that is being judged
_AMOUNT: Final = re.compile(r"\A([0-9]{1,7}(?:\.[0-9]{1,3})?) ?(MB|GB)", re.IGNORECASE)


def megabytes(memory: Any) -> int:
    """Return an amount of memory in MB.

    Raises:
        UsageError: it is none, or too little to work with.

    Example:
        >>> megabytes("2 GB")
        2000
    """
    found = _AMOUNT.fullmatch(memory.strip()) if isinstance(memory, str) else None
    if found is None:
        raise UsageError(f"memory= must be an amount such as '2 GB' or '1500 MB', got {given(memory)}")
    amount = int(float(found[1]) * (1000 if found[2].upper() == "GB" else 1))
    refuse(None if amount >= LEAST else f"memory={given(memory)} is too little; a plan needs at least '1 GB'")
    return amount


def library() -> Any:
    """Return DuckDB.

    Raises:
        UsageError: it is not installed.
    """
    try:
        import duckdb
    except ImportError:
        raise UsageError("plan_dataset needs DuckDB; pip install 'smsotp_nb[datasets]'") from None
    return duckdb


@contextmanager
def opened(work: Path, memory: int) -> Iterator[Any]:
    """Open a database in a folder for work, which keeps on disk what does not fit into its share of the memory."""
    connection = library().connect(str(work / "work.duckdb"))
    try:
        connection.execute(f"SET memory_limit='{memory - OURS}MB'")
        connection.execute(f"SET temp_directory={text(work / 'spilled')}")
        connection.execute("SET enable_progress_bar=false")
        yield connection
    finally:
        connection.close()


def text(value: object) -> str:
    """Return a value as text in SQL.

    Example:
        >>> text("it's")
        "'it''s'"
    """
    return "'" + str(value).replace("'", "''") + "'"


def named(name: str) -> str:
    """Return the name of a column in SQL.

    Example:
        >>> named('a"b')
        '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'
