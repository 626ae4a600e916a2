"""Options of several commands, as they are typed."""

from __future__ import annotations

import argparse
from pathlib import Path

from .._sandbox.command import path_typed
from ..settings import is_address


def ledger_typed(text: str) -> str | Path:
    """Return the path of a ledger's file, or the address of its server.

    Example:
        >>> ledger_typed("postgresql://anna@db.example/campaigns"), ledger_typed("/data/l.sqlite").name
        ('postgresql://anna@db.example/campaigns', 'l.sqlite')
    """
    return text if is_address(text) else path_typed(text)


def add_ledger(command: argparse.ArgumentParser) -> None:
    """Add the option that names a ledger."""
    what = "file or address of the ledger (default: this user's)"
    command.add_argument("--ledger", type=ledger_typed, metavar="PLACE", help=what)
