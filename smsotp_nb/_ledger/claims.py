"""What a claim took: as it was read in its transaction, and as it is sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..errors import LedgerError
from .holds import Upto


@dataclass(frozen=True, slots=True)
class Claim:
    """Rows whose intent to be sent is on the disk: one attempt, one chunk, its numbers by position."""

    attempt: int
    chunk: int
    body: int
    positions: tuple[int, ...]
    to: tuple[str, ...] = field(repr=False)
    upto: Upto = (0, 0, 0)  # what was recorded when it was decided, see holds


class Found(NamedTuple):
    """A claim as its transaction read it, in texts; others may share the transaction, so it is read after that."""

    attempt: int
    chunk: int
    positions: Any
    numbers: Any
    body: Any
    odd: int  # rows whose number is none
    upto: Upto

    def __repr__(self) -> str:
        return f"<claim {self.attempt}>"  # a traceback prints the variables of every frame

    def claim(self) -> Claim | None:
        """Return the claim; None where the record of its recipients cannot be read."""
        if self.odd:
            return None
        try:
            numbered = ("+" + self.numbers.replace(",", ",+")).split(",")
            pairs = sorted(zip(map(int, self.positions.split(",")), numbered, strict=True))
            places, to = zip(*pairs, strict=True)
            return Claim(self.attempt, self.chunk, int(self.body), places, to, self.upto)
        except (AttributeError, TypeError, ValueError):
            return None

    def unreadable(self) -> LedgerError:
        return LedgerError(
            f"the recipients of request {self.attempt} cannot be read from the ledger: it was altered or is damaged. "
            "Nothing of this request was sent. Restore a backup with Ledger.restore(backup, path)"
        )
