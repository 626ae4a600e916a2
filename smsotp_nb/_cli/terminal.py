"""Lines that a person reads, and paths that a person typed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

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


def add_ledger(command: argparse.ArgumentParser) -> None:
    """Add the option that names a ledger."""
    what = "file or address of the ledger (default: this user's)"
    command.add_argument("--ledger", type=ledger_typed, metavar="PLACE", help=what)
