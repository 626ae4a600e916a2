"""Lines that a person reads, and paths that a person typed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from .._cards import fitted, terminal_width
from .._sandbox.command import path_typed
from .._showing import visible
from ..errors import SmsOtpError, SmsOtpWarning, UsageError
from ..settings import is_address


def say(words: str, *, hang: str = "", error: bool = False) -> None:
    """Print words, broken between them; an error stays one line for whoever reads a log by lines.

    What a file's name or a cell holds moves no cursor.
    """
    stream = sys.stderr if error else sys.stdout
    width = None if error and not stream.isatty() else terminal_width()
    print(fitted(visible(words, keep="\n"), width, hang=hang), file=stream)


def ledger_typed(text: str) -> str | Path:
    """Return the path of a ledger's file, or the address of its server."""
    return text if is_address(text) else path_typed(text)


def add_numbers(command: argparse.ArgumentParser) -> None:
    """Add the options that say how numbers are read."""
    add = command.add_argument
    add("--region", metavar="COLUMN", help="column of each number's country")
    add("--default-region", metavar="CC", help="country of the numbers without one, such as DE")
    repairs = "a repair made only when asked for: lost_plus, ..."
    add("--repair", action="append", default=[], metavar="NAME", help=repairs)


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


def let_interrupts_through() -> None:
    """Take Ctrl-C from pyarrow, before it reads a list in this process.

    Its handlers lose an interrupt that comes as a block ends: 47 of 400 on a machine with much to do.
    """
    import pyarrow

    pyarrow.enable_signal_handlers(False)


def _header(typed: str) -> int | str | None:
    from .._recipients import row_typed  # with pandas, which the sandbox's command does without

    return row_typed(typed)


def add_ledger(command: argparse.ArgumentParser) -> None:
    what = "file or address of the ledger (default: this user's)"
    command.add_argument("--ledger", type=ledger_typed, metavar="PLACE", help=what)


def in_options(error: SmsOtpError, options: argparse.Namespace) -> str:
    """Return an error with the options of a command in place of the arguments that its causes are about.

    Example:
        >>> error = UsageError("default_region= is no country, got 'X'", field="default_region", hint="pass 'DE'")
        >>> in_options(error, argparse.Namespace(default_region="X"))
        "--default-region is no country, got 'X'"
    """
    if not isinstance(error, UsageError):
        return str(error)
    return "; ".join(dict.fromkeys(_cause_in_options(cause, options) for cause in error.causes))


def warning_in_options(warning: Warning | str) -> str:
    """Return a warning with the option of a command in place of the argument that would change what it says.

    Example:
        >>> warning = SmsOtpWarning("row 3 is hidden and left out; hidden=True takes it")
        >>> warning.field = "hidden"
        >>> warning_in_options(warning)
        'row 3 is hidden and left out; --hidden takes it'
    """
    text = str(warning)
    if not isinstance(warning, SmsOtpWarning) or warning.field is None:
        return text
    option = f"--{warning.field.replace('_', '-')}"
    for argument in (f"{warning.field}= of read_recipients", f"{warning.field}=True"):
        text = text.replace(argument, option)
    return text


def _cause_in_options(cause: UsageError, options: argparse.Namespace) -> str:
    if cause.field is None or cause.field not in vars(options):
        return str(cause)
    name = f"--{cause.field.replace('_', '-')}"
    if cause.field in ("file", "message"):  # these have no option
        name = f"the {cause.field}"
    words = cause._with_label(name)
    return words if name in words else f"{words} ({name})"
