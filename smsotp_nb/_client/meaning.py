"""What one reply means: accepted, refused, throttled, or in doubt.

A reply counts as accepted only if it says so as the interface describes, and as refused only if it is HTTP 400 with an
envelope. Everything else (another status, a reply that does not parse, a success that describes something else) may
hide an accepted send.
"""

from __future__ import annotations

import email.utils
import re
from collections.abc import Callable
from datetime import UTC
from typing import Any
from urllib.parse import quote, quote_plus

from .. import _wire as wire
from .._moments import Now
from ..errors import (
    InDoubt,
    InsufficientFunds,
    InvalidPhoneNumbers,
    MissingParams,
    NotSent,
    ServiceError,
    SmsOtpError,
    Throttled,
)
from .transport import NOTHING_SENT, Failure, RawReply

LONGEST_PAUSE = 300.0
SHORT = 4  # characters of the shortest passcode; a country or a calling code has fewer
LONG = 16  # characters of a secret that is part of no other text by chance
RECORDED = ("id", "iso", "cc", "currency")  # fields of a reply that are kept as they came
ERRORS: dict[str, type[ServiceError]] = {
    wire.INSUFFICIENT_FUNDS: InsufficientFunds,
    wire.INVALID_PHONE_NUMBERS: InvalidPhoneNumbers,
    wire.MISSING_PARAMS: MissingParams,
}
NEXT_STEP = {
    wire.INSUFFICIENT_FUNDS: "Top up the balance and call send again: it goes on where it stopped.",
    wire.INVALID_PHONE_NUMBERS: "Check the numbers with phones.normalize; a list is refused as a whole (assumption).",
    wire.MISSING_PARAMS: "The service misses a parameter; check variant and form in the settings.",
}
ACCOUNT_STEP = "The account or its key is refused; check SMSOTP_ACCESS_KEY_ID, variant and address."


class Scrubber:
    """Takes the secrets of one request out of any text that leaves: the key, passcodes, and all but a hint of numbers.

    Example:
        >>> Scrubber("key-1")("key-1 is not for +12025550123")
        '*** is not for +1202...0123'
    """

    def __init__(self, *secrets: str) -> None:
        self._secrets = secrets

    def secrets(self, text: str) -> str:
        """Return the text without secrets; numbers stay, for an id may look like one."""
        spelled = {form for one in self._secrets if one for form in _spellings(one)}
        for secret in sorted(spelled, key=len, reverse=True):  # one may be a part of another
            text = text.replace(secret, "***")
        return text

    def may_be_in(self, raw: bytes) -> bool:
        """Return whether a secret may stand in JSON: as it is, or behind a backslash; sound replies have none."""
        return b"\\" in raw or any(form.encode() in raw for one in self._secrets if one for form in _spellings(one))

    def field(self, text: str) -> str:
        """Return a field of a reply without secrets. A short one may be a part of an id by chance, and then stays."""
        if len(text) >= SHORT and text in self._secrets:
            return "***"
        return Scrubber(*(one for one in self._secrets if len(one) >= LONG)).secrets(text)

    def __call__(self, text: str) -> str:
        text = self.secrets(text)
        text = re.sub(r"\+?[0-9]{7,17}", lambda found: wire.mask(found[0]), text)
        return " ".join(text.split())[:200]


def _spellings(secret: str) -> tuple[str, ...]:
    """Return every way to write a secret: as it is and, unless it is all letters and digits, escaped for a URL."""
    plain = secret.isascii() and secret.isalnum()
    return (secret,) if plain else (secret, quote_plus(secret), quote(secret, safe=""))


def error_of(failure: Failure, *, action: str, seconds: float) -> SmsOtpError:
    """Return the error that a request without a complete reply ends in."""
    if failure.phase in NOTHING_SENT:
        text = f"{action}: no connection ({failure.reason}); nothing was sent"
        return NotSent(text, phase=failure.phase, seconds=seconds)
    return _doubt(action, failure.reason, failure.phase, failure.status, seconds)


def success(
    reply: RawReply, read: Callable[[Any, str | None], Any], *, action: str, seconds: float, scrub: Scrubber, now: Now
) -> Any:
    """Return what ``read`` makes of an accepted reply's data, or the error that the reply means.

    Errors are returned, not raised, so that they carry no context of parsing.
    """
    request_id = scrub.secrets(wire.request_id(reply.headers) or "") or None
    if reply.status == 429:
        headers = {name.lower(): value for name, value in reply.headers}
        pause = retry_after(headers.get("retry-after"), now=now().timestamp())
        said = "no pause given" if pause is None else f"asked to pause {pause:.0f} s"
        return Throttled(f"{action}: throttled, {said}", retry_after=pause, seconds=seconds, request_id=request_id)
    if reply.status not in (200, 400):
        return _doubt(action, f"HTTP {reply.status}", "body", reply.status, seconds, request_id)
    try:
        envelope = wire.read_envelope(reply.body)
        refused = envelope.code != wire.SUCCESS
        if reply.status == 200 and not refused:
            if action == wire.OTP_VERIFY and envelope.message != wire.SUCCESS_NAME:  # what opens a door is exact
                raise wire.Unreadable(f"code 0 with message {scrub(envelope.message)!r}")
            return read(_without_secrets(envelope.data, reply.body, scrub), request_id)
    except wire.Unreadable as error:
        reason = str(error)
    else:
        if reply.status == 400 and refused and envelope.code != wire.INTERNAL:
            return _refusal(envelope, action=action, scrub=scrub, request_id=request_id)
        reason = f"HTTP {reply.status} with code {scrub(envelope.code)}"
    return _doubt(action, reason, "body", reply.status, seconds, request_id)


def _without_secrets(data: Any, raw: bytes, scrub: Scrubber) -> Any:
    """Return the data of a reply without secrets in what is recorded of it, which a strange service may send back."""
    if not isinstance(data, dict) or not scrub.may_be_in(raw):
        return data
    clean = _scrubbed(data, scrub)
    if isinstance(data.get("messages"), list):
        clean["messages"] = [_scrubbed(one, scrub) if isinstance(one, dict) else one for one in data["messages"]]
    return clean


def _scrubbed(told: dict[str, Any], scrub: Scrubber) -> dict[str, Any]:
    return told | {name: scrub.field(told[name]) for name in RECORDED if isinstance(told.get(name), str)}


def retry_after(value: str | None, *, now: float) -> float | None:
    """Return the pause that a Retry-After header asks for, seconds, kept between 0 and 300; None if it says nothing.

    Example:
        >>> [retry_after(text, now=0.0) for text in ("2", "99999", "-5", "soon", None)]
        [2.0, 300.0, None, None, None]
    """
    text = (value or "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return min(float(text), LONGEST_PAUSE)
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the second from an offset of years
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max(moment.timestamp() - now, 0.0), LONGEST_PAUSE)


def _refusal(envelope: wire.Envelope, *, action: str, scrub: Scrubber, request_id: str | None) -> ServiceError:
    code = envelope.code if envelope.code in wire.ERROR_NAMES else scrub(envelope.code)
    name = scrub(envelope.message)
    step = ACCOUNT_STEP if code in wire.ACCOUNT_CODES else NEXT_STEP.get(code, "")
    text = f"{action}: the service refused it with {code} {name}. {step}".strip()
    kind = ERRORS.get(code, ServiceError)
    return kind(text, error_code=code, name=name, http_status=400, request_id=request_id)


UNKNOWN = {
    wire.OTP_SEND: "the passcode may have been sent and is not sent again; after otp.send, error.challenge verifies "
    "it or sends another",
    wire.OTP_VERIFY: "the check may have used up a try and is not repeated; ask the person before you verify again",
}
MAYBE = "it may have been accepted and is not repeated; a campaign keeps it in doubt until you settle it"


def _doubt(
    action: str, reason: str, phase: str, status: int | None, seconds: float, request_id: str | None = None
) -> InDoubt:
    text = f"{action}: the answer is not known ({reason}, phase {phase}); {UNKNOWN.get(action, MAYBE)}"
    return InDoubt(text, phase=phase, http_status=status, seconds=seconds, request_id=request_id)
