"""What ends a call before all is sent, in codes and words; and what the ledger records of an error."""

from __future__ import annotations

from collections.abc import Mapping

from .._ledger import Verdict
from .._wire import ACCOUNT_CODES
from ..errors import InsufficientFunds, NotSent, ServiceError, Throttled, TransportError
from . import guards

STOPPED, ISOLATING, STRANGER = "STOPPED", "ISOLATING", "UNKNOWN_SERVICE"
# What every further chunk would meet too: the problem of the rows left, and what to do about it.
STOPPERS: Mapping[str, str] = {
    "NO_FUNDS": "the balance does not cover the next chunk; top up and call send again",
    "NOT_SENT": "the service could not be reached; see the network and the address, then call send again",
    "THROTTLED": "the service asked to slow down for longer than we wait; call send again later, or with "
    "max_per_second=",
    "ACCOUNT": "the account or its key was refused; see the settings, then retry_rejected() and send again",
    STRANGER: "nobody at this address has answered in the words of the service yet, so it ended after one small "
    "request; see the address, the variant and the key, then call send again",
    guards.BUDGET: "the next request may cross the budget; call send again with a higher one",
    guards.CANARY: "the canary is out; look at what it did, then call send without canary=",
    guards.FAILING: "one request after the other was refused or left in doubt; look at their errors, then call again",
    STOPPED: "call send again to go on",
}


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
