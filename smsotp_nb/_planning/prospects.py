"""How a plan that was just made stands to what is recorded."""

from __future__ import annotations

from pathlib import Path

from .._ledger import LedgerOrPath, Prospect, opened
from .._ledger.places import own_place
from .._ledger.record.recording import AnyPlanned
from ..errors import LedgerError


def prospect(made: AnyPlanned, ledger: LedgerOrPath | None) -> Prospect | None:
    """Return what a send of a plan would meet; None where no ledger is given and this user has none."""
    if ledger is not None:
        with opened(ledger) as book:
            return book.prospect(made)
    own = own_place()
    if isinstance(own, Path) and not own.is_file():
        return None
    try:
        with opened(own) as book:
            return book.prospect(made)
    except LedgerError as error:  # the plan is whole without it, and send meets the same trouble
        return Prospect(own, trouble=str(error))
