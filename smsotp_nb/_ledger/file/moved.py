"""The note in a ledger's file that it went to a server: from then on nothing is recorded in it, and nothing sent by it.

It is made before the server confirms, so that a process that dies between the two leaves a file that nobody uses:
whether the server has it all, only the server knows, and ``Ledger.import_from`` asks it when it is called again.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from ..._moments import said
from ...errors import LedgerError
from ..rows.statements import Statements


@dataclass(frozen=True, slots=True)
class Move:
    """Where a ledger went: the address in words, the id of the ledger there, and the token of this one move."""

    to: str
    ledger: str
    token: str
    at: int
    ended: bool = False

    def note(self, connection: Statements) -> None:
        """Record it in the file, inside a transaction."""
        connection.execute("UPDATE ledger SET moved=?", (json.dumps(asdict(self)),))


def move_of(connection: Statements) -> Move | None:
    """Return where the ledger of a file went; None: it is here."""
    said = connection.execute("SELECT moved FROM ledger").fetchone()[0]
    return Move(**json.loads(said)) if said is not None else None


def refuse_moved(connection: Statements, path: Path) -> None:
    move = move_of(connection)
    if move is None:
        return
    when = said(move.at)
    if move.ended:
        raise LedgerError(
            f"the ledger {path} was taken over by {move.to} on {when}, and is used there alone. Nothing was sent; open "
            "the one there"
        )
    raise LedgerError(
        f"the ledger {path} was being taken over by {move.to} on {when}, and it is not known here whether that ended. "
        f"Nothing was sent; call import_from({path.name!r}) of the ledger there again, which ends it or begins anew"
    )
