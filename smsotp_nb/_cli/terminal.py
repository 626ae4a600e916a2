"""Lines that a person reads, and paths that a person typed."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

from .._cards import fitted, terminal_width
from .._sandbox.command import path_typed
from .._showing import visible
from ..settings import is_address


def say(words: str, *, hang: str = "", error: bool = False) -> None:
    """Print words, broken between them; an error stays one line for whoever reads a log by lines."""
    stream = sys.stderr if error else sys.stdout
    if stream is None:  # it was closed before the program began
        return
    most = None if error and not stream.isatty() else terminal_width()
    print(fitted(visible(words, keep="\n\t"), most, hang=hang), file=stream)


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
    """Return these options as the arguments of `read_recipients`."""
    names = ("sheet", "header", "hidden", "sep", "encoding")
    return {name: getattr(options, name) for name in names}


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


_CALL = re.compile(
    r"(?P<other>, or pass )?(?:\b\w{1,40}=)?\b(?:sms\.)?\w{1,40}\((?P<given>[^()]{0,400})\)(?P<aside> if [^.;]*)?"
)
_VALUE = re.compile(r"'[^']*'|[\w.]+")


def with_options(said: str, options: argparse.Namespace) -> str:
    """Name the options of a command where words for who calls functions name their arguments.

    A call with an argument that the command has is that option; another way out that only code has is left out.

    Example:
        >>> given = argparse.Namespace(default_region=None, repair=[])
        >>> with_options("3 with words behind: NumberOptions(repair=['trailing_note'])", given)
        '3 with words behind: --repair trailing_note'
        >>> with_options("Pass default_region='DE', or pass numbers=NumberOptions(unreadable='ignore')", given)
        "Pass --default-region 'DE'"
        >>> with_options("Write '{name}', or pass sms.Message(..., literal=True) if it is meant literally", given)
        "Write '{name}'"
        >>> with_options("message= is empty", argparse.Namespace(message=""))
        'the message is empty'
    """
    rest, whole = 0, []
    for call in _CALL.finditer(said):  # what else a call says is Python, and no option
        whole += [_options_in(said[rest : call.start()], options), _as_options(call, options)]
        rest = call.end()
    return "".join([*whole, _options_in(said[rest:], options)])


def _as_options(call: re.Match[str], options: argparse.Namespace) -> str:
    name, _, given = re.sub(r"^words,\s+", "", call["given"]).partition("=")
    if name not in vars(options):
        return "" if call["other"] else call[0]
    aside = call["aside"] or ""
    option = f"--{name.replace('_', '-')}"
    values = [value.strip("'") for value in _VALUE.findall(given) if value != "..."]
    return (call["other"] or "") + (" ".join(f"{option} {value}" for value in values) or option) + aside


def _options_in(said: str, options: argparse.Namespace) -> str:
    for name in vars(options):
        option = "the message" if name == "message" else f"--{name.replace('_', '-')}"
        said = re.sub(rf"(?<![\w.(]){name}=True\b", option, said)
        said = re.sub(rf"(?<![\w.(]){name}=False\b", option.replace("--", "--no-", 1), said)
        said = re.sub(rf"(?<![\w.(]){name}=(?=['\"\[\d])", f"{option} ", said)
        said = re.sub(rf"(?<![\w.(]){name}=(?: of read_recipients)?", option, said)
    return said
