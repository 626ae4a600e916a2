"""What a run hands out and takes back: what is claimed, what may be, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...errors import LedgerError
from ..rows.runners import Until
from .holds import Upto


@dataclass(frozen=True, slots=True)
class Claim:
    """Rows whose intent to be sent is on the disk: one attempt, one chunk, its numbers by position."""

    attempt: int
    chunk: int
    body: int
    positions: tuple[int, ...]
    to: tuple[str, ...] = field(repr=False)
    is_whole: bool = True  # the chunk as a whole is under way, and its rows have no state of their own
    upto: Upto = (0, 0, 0)  # what was recorded when it was decided, see holds
    good_until: Until | None = None  # a request that has not begun by then may not begin

    @property
    def may_begin(self) -> Callable[[], bool] | None:
        """What the request asks right before its first byte; None where its claim has no end."""
        return None if self.good_until is None else self._is_good

    def _is_good(self) -> bool:
        return self.good_until is None or not self.good_until.has_passed()


class Found(NamedTuple):
    """A claim as its transaction read it, in texts; others may share the transaction, so it is read after that.

    ``row`` gives how many rows there are, their positions and numbers, the body, and how many have no number
    that may be texted.
    """

    attempt: int
    chunk: int
    row: Callable[[], tuple[Any, ...]]
    is_whole: bool
    upto: Upto
    good_until: Until | None = None

    def __repr__(self) -> str:
        return f"<claim {self.attempt}>"  # a traceback prints the variables of every frame

    def claim(self) -> Claim | None:
        """Return the claim; None where the record of its recipients cannot be read."""
        _, positions, numbers, body, odd = self.row()
        if odd:
            return None
        try:
            numbered = ("+" + numbers.replace(",", ",+")).split(",")
            pairs = sorted(zip(map(int, positions.split(",")), numbered, strict=True))
            places, to = zip(*pairs, strict=True)
            return Claim(self.attempt, self.chunk, int(body), places, to, self.is_whole, self.upto, self.good_until)
        except (AttributeError, TypeError, ValueError):
            return None

    def unreadable(self) -> LedgerError:
        return LedgerError(
            f"the recipients of request {self.attempt} cannot be read from the ledger: it was altered or is damaged. "
            "Nothing of this request was sent. Restore a backup with Ledger.restore(backup, path)"
        )


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a thread would claim next: the planned rows of a chunk, or those of them at ``positions``."""

    chunk: int
    positions: Sequence[int] | None = None
    is_part: bool = False  # other rows of the chunk are still to go after these


@dataclass(frozen=True, slots=True)
class Pending:
    """A row still to go: its position, its number and its estimate, so that a guard can say whether it may go."""

    position: int
    to: str = field(repr=False)
    est_micros: int | None
    currency: str | None


@dataclass(frozen=True, slots=True)
class Ending:
    """How one attempt ended, in the words that the ledger keeps as evidence.

    ``outcome`` is ``accepted``, ``partial``, ``rejected``, ``in_doubt`` or, where certainly nothing was accepted and
    the rows go back to planned, a ``problem`` such as NOT_SENT.
    """

    outcome: str
    phase: str | None = None
    http_status: int | None = None
    error_code: str | None = None
    error: str | None = None
    request_id: str | None = None
    seconds: float | None = None
