"""What a client gets in the end: the service's reply, or what a fault made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from .faults import BY_NAME, Fault, spoil
from .service import Answer

Transfer = Literal["whole", "half", "closed", "reset"]
JSON: Final = "application/json"
# json.dumps would make an encoder each time.
_encode: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


class Outcome(NamedTuple):
    """A reply, or the end of a connection.

    ``body`` is what is sent, ``length`` what is announced: more than the body if the reply breaks off. ``status`` is 0
    if nothing is answered; ``seconds`` is the time before this happens.
    """

    status: int = 0
    body: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = {}
    transfer: Transfer = "whole"
    length: int = 0
    seconds: float = 0.0


def as_bytes(value: Any) -> bytes:
    """Return a value as the bytes of its JSON."""
    return _encode(value).encode()


def of_answer(answer: Answer) -> Outcome:
    """Return the reply that the service gave."""
    return Outcome(answer.status, as_bytes(answer.envelope))


def strikes_before(fault: Fault) -> bool:
    """Return whether a fault strikes before the service sees the request."""
    return BY_NAME[fault.kind].when == "before"


def of_fault_before(fault: Fault) -> Outcome:
    """Return what the client gets when the service never sees its request."""
    if fault.kind == "throttle":
        return Outcome(429, b"Too Many Requests", "text/plain", {"Retry-After": f"{fault.seconds:g}"})
    if fault.kind == "error_before":
        return Outcome(fault.status or 503, b"Service Unavailable", "text/plain")
    return Outcome(transfer="reset")


def of_fault_after(fault: Fault, answer: Answer) -> Outcome:
    """Return what the client gets in place of the service's answer."""
    if fault.kind == "drop_after":
        return Outcome(transfer="reset")
    if fault.kind == "stall":
        return Outcome(transfer="closed", seconds=fault.seconds)
    if fault.kind == "error_after":
        return Outcome(fault.status or 502, b"Bad Gateway", "text/plain")
    whole = as_bytes(answer.envelope)
    if fault.kind == "half":
        return Outcome(200, whole[: len(whole) // 2], transfer="half", length=len(whole))
    status = 200 if fault.kind in ("html", "bad_json") else answer.status
    return Outcome(status, spoil(fault.kind, answer.envelope), "text/html" if fault.kind == "html" else JSON)
