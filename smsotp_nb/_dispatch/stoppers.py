"""Codes for what ends a call before everything is sent, and what the ledger records of an error."""

from __future__ import annotations

from .._ledger import Ending
from .._wire import ACCOUNT_CODES
from ..errors import InsufficientFunds, NotSent, ServiceError, Throttled, TransportError

STOPPED, ISOLATING, STRANGER = "STOPPED", "ISOLATING", "UNKNOWN_SERVICE"


def ending(error: ServiceError | TransportError) -> tuple[Ending, str | None]:
    """Return what the ledger records of an error, and the code with which it ends the call, None if it does not."""
    stopper: str | None = None
    if isinstance(error, ServiceError):
        outcome = "rejected"
        if isinstance(error, InsufficientFunds):
            outcome = stopper = "NO_FUNDS"
        elif error.error_code in ACCOUNT_CODES:
            stopper = "ACCOUNT"
        return Ending(outcome, "body", error.http_status, error.error_code, str(error), error.request_id), stopper
    if isinstance(error, NotSent):
        outcome = stopper = "NOT_SENT"
    elif isinstance(error, Throttled):
        outcome = stopper = "THROTTLED"
    else:
        outcome = "in_doubt"
    evidence = (error.phase, error.http_status, None, str(error), error.request_id, error.seconds)
    return Ending(outcome, *evidence), stopper
