"""What ends a call before all is sent, in codes and words; and what the ledger records of an error."""

from __future__ import annotations

from .._ledger import Verdict
from .._wire import ACCOUNT_CODES
from ..errors import InsufficientFunds, NotSent, ServiceError, Throttled, TransportError

STOPPED, ISOLATING, STRANGER = "STOPPED", "ISOLATING", "UNKNOWN_SERVICE"


def verdict(error: ServiceError | TransportError) -> tuple[Verdict, str | None]:
    """Return what the ledger records of an error, and what it stops the campaign with, if it does."""
    stopper: str | None = None
    if isinstance(error, ServiceError):
        name = "rejected"
        if isinstance(error, InsufficientFunds):
            name = stopper = "NO_FUNDS"
        elif error.error_code in ACCOUNT_CODES:
            stopper = "ACCOUNT"
        return Verdict(name, "body", error.http_status, error.error_code, str(error), error.request_id), stopper
    if isinstance(error, NotSent):
        name = stopper = "NOT_SENT"
    elif isinstance(error, Throttled):
        name = stopper = "THROTTLED"
    else:
        name = "in_doubt"
    evidence = (error.phase, error.http_status, None, str(error), error.request_id, error.seconds)
    return Verdict(name, *evidence), stopper
