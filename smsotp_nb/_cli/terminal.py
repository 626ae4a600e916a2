"""Lines that a person reads, and paths that a person typed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from .._cards import fitted, terminal_width
from .._sandbox.command import path_typed
from ..settings import is_address


def say(words: str, *, hang: str = "", error: bool = False) -> None:
    """Print words, broken between them; an error stays one line for whoever reads a log by lines."""
    stream = sys.stderr if error else sys.stdout
    if stream is None:  # it was closed before the program began
        return
    most = None if error and not stream.isatty() else terminal_width()
    print(fitted(words, most, hang=hang), file=stream)


def ledger_typed(text: str) -> str | Path:
    """Return the path of a ledger's file, or the address of its server."""
    return text if is_address(text) else path_typed(text)


def add_reading(command: argparse.ArgumentParser) -> None:
    """Add the options that `read_recipients` takes."""
    add = command.add_argument
    add("--sheet", metavar="NAME", help="sheet of an Excel file (default: the first with a table)")
    add("--header", type=_header, default="find", metavar="ROW", help="row of the names, or none (default: found)")
    add("--hidden", action="store_true", help="take the hidden rows of a sheet, too")
    add("--sep", metavar="SIGN", help="character between cells (default: found)")
    add("--encoding", metavar="NAME", help="encoding of a CSV (default: UTF-8, else found by content)")


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """Return these options as the arguments of `read_recipients`; rows are numbered as a spreadsheet shows them."""
    names = ("sheet", "header", "hidden", "sep", "encoding")
    return {name: getattr(options, name) for name in names} | {"numbered": True}


def _header(typed: str) -> int | str | None:
    from .._recipients import row_typed  # with pandas, which the sandbox's command does without

    return row_typed(typed)


def add_ledger(command: argparse.ArgumentParser) -> None:
    """Add the option that names a ledger."""
    what = "file or address of the ledger (default: this user's)"
    command.add_argument("--ledger", type=ledger_typed, metavar="PLACE", help=what)
