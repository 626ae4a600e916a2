"""What is posted: bodies and recipients within the limits, the JSON of each action, and how a campaign travels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from .._calling import Options, made_in_our_words, not_choice, not_flag, not_whole, refuse
from .._showing import cited, is_whole, mask
from .interface import (
    CHANNELS,
    CODE,
    DIGITS,
    E164,
    E164_LINE,
    INTENT_LENGTH,
    MAX_RECIPIENTS,
    SIGNATURE_LENGTH,
    TTL_MAX,
    Form,
    Variant,
    is_int,
)

MOST_THREADS: Final = 256


@dataclass(frozen=True, slots=True)
class Body:
    """The message of one request, without its recipients: ``text``, ``content`` or a template, and the signature.

    ``template_data`` is a tuple of (variable, value) pairs so that equal bodies are equal and hashable.

    Example:
        >>> Body(content="Hello", signature="Acme").kind
        'content'
    """

    text: str | None = None
    content: str | None = None
    template_id: str | None = None
    template_data: tuple[tuple[str, str], ...] = ()
    signature: str | None = None

    @property
    def kind(self) -> str:
        if self.template_id is not None:
            return "template"
        return "text" if self.text is not None else "content"

    def fields(self) -> dict[str, Any]:
        fields = {
            "text": self.text,
            "content": self.content,
            "templateId": self.template_id,
            "templateData": dict(self.template_data) or None,
            "signature": self.signature,
        }
        return {name: value for name, value in fields.items() if value is not None}


@made_in_our_words
@dataclass(frozen=True, slots=True, repr=False)
class RequestOptions(Options):
    """How a campaign travels to the service.

    Args:
        variant: ``"intl"`` or ``"cn"``, as the client has it.
        chunk_size: recipients per request, at most 1,000.
        threads: requests under way at once, 1 to 256. At most ``threads`` x ``chunk_size`` rows can be in doubt.
        isolate_invalid: when a list is refused with 107111, send its halves again until the invalid numbers stand
            alone. This assumes that nothing of a refused list was sent.

    Raises:
        UsageError: an option that is none; lists all of them.

    Example:
        >>> RequestOptions(chunk_size=500).replace(threads=8)
        RequestOptions(chunk_size=500, threads=8)
    """

    variant: Variant = "intl"
    chunk_size: int = 100
    threads: int = 4
    isolate_invalid: bool = False

    def __post_init__(self) -> None:
        refuse(
            not_choice("variant", self.variant, get_args(Variant)),
            not_whole("chunk_size", self.chunk_size, most=MAX_RECIPIENTS),
            not_whole("threads", self.threads, most=MOST_THREADS),
            not_flag("isolate_invalid", self.isolate_invalid),
        )
        object.__setattr__(self, "chunk_size", int(self.chunk_size))


def check_body(body: Body, *, variant: Variant = "intl", form: Form = "current") -> list[str]:
    """Return everything wrong with a message body, in words; an empty list when it may be sent."""
    wrong = _check_signature(body.signature)
    alternatives = {"template_id": body.template_id, "text": body.text, "content": body.content}
    given = [name for name, value in alternatives.items() if value is not None]
    for name in given:
        wrong += _check_text(f"{name}=", alternatives[name])
    if form == "earlier" and body.text is not None:
        wrong.append("text= is not part of the earlier form; use content= with signature=, or template_id=")
    if not given:
        wrong.append("one of text=, content= or template_id= is needed")
    if len(given) > 1:
        wrong.append(f"only one of text=, content= and template_id= may be given, got {' and '.join(given)}")
    if body.signature is None and (variant == "cn" or form == "earlier"):
        where = "the cn variant" if variant == "cn" else "the earlier form"
        wrong.append(f"signature= is required in {where}")
    if body.template_data and body.template_id is None:
        wrong.append("template_data= needs template_id=")
    for name, value in body.template_data:
        wrong += _check_text("a name in template_data=", name)
        wrong += _check_text(f"template_data[{name!r}]", value, empty=True)
    return wrong


def check_recipients(to: Sequence[str]) -> list[str]:
    if _are_e164(to) and len(set(to)) == len(to) <= MAX_RECIPIENTS:
        return []
    if not to:
        return ["to= is empty; at least one number is needed"]
    wrong = [] if len(to) <= MAX_RECIPIENTS else [f"{len(to)} recipients in one request; the most is {MAX_RECIPIENTS}"]
    bad = [str(number) for number in to if not isinstance(number, str) or not E164.fullmatch(number)]
    if bad:
        shown = ", ".join(mask(number) for number in bad[:3])
        which = f"{len(bad)} of {len(to)} numbers are not E.164" if len(to) > 1 else "the number is not E.164"
        wrong.append(f"{which} (a plus and 2 to 15 digits): {shown}; phones.normalize reads other writings")
    repeated = len(to) - len({str(number) for number in to})
    if repeated:
        wrong.append(f"{repeated} numbers appear more than once in one request")
    return wrong


def _are_e164(to: Sequence[str]) -> bool:
    """Return whether all numbers are E.164, checked at once because a campaign asks it for every request."""
    try:
        line = ",".join(to)
    except TypeError:
        return False
    return bool(E164_LINE.fullmatch(line)) and line.count(",") == len(to) - 1


def check_otp_send(
    to: str,
    *,
    digits: int | None = None,
    intent: str | None = None,
    channel: str | None = None,
    signature: str | None = None,
    code: str | None = None,
    ttl: int | None = None,
    variant: Variant = "intl",
) -> list[str]:
    wrong = check_recipients([to]) + _check_signature(signature) + _check_intent(intent) + _check_ttl(ttl)
    low, high = DIGITS
    if digits is not None and not (is_int(digits) and low <= digits <= high):
        wrong.append(f"digits= must be a whole number from {low} to {high}, got {cited(digits)}")
    if channel is not None and channel not in CHANNELS:
        wrong.append(f"channel= must be one of {', '.join(CHANNELS)}, got {cited(channel)}")
    if code is not None:
        wrong += _check_code(code)
    if variant == "cn" and signature is None and isinstance(to, str) and to.startswith("+86"):
        wrong.append("signature= is required for +86 numbers in the cn variant")
    return wrong


def check_otp_verify(to: str, code: str, *, intent: str | None = None, ttl: int | None = None) -> list[str]:
    return check_recipients([to]) + _check_code(code) + _check_intent(intent) + _check_ttl(ttl)


def _check_text(what: str, value: object, *, empty: bool = False) -> list[str]:
    if not isinstance(value, str):
        return [f"{what} must be text, got {type(value).__name__}"]
    if not (empty or value.strip()):
        return [f"{what} is empty"]
    return [] if is_whole(value) else [f"{what} holds half of a surrogate pair, which no message can carry"]


def _check_signature(signature: str | None) -> list[str]:
    low, high = SIGNATURE_LENGTH
    if isinstance(signature, str) and not low <= len(signature) <= high:
        return [f"signature= must have {low} to {high} characters, got {len(signature)}"]
    return [] if signature is None else _check_text("signature=", signature)


def _check_intent(intent: str | None) -> list[str]:
    if isinstance(intent, str) and len(intent) > INTENT_LENGTH:
        return [f"intent= must be text of at most {INTENT_LENGTH} characters, got {len(intent)}"]
    return [] if intent is None else _check_text("intent=", intent, empty=True)


def _check_ttl(ttl: int | None) -> list[str]:
    if ttl is None or (is_int(ttl) and 0 < ttl <= TTL_MAX):
        return []
    return [f"ttl= must be a whole number of seconds from 1 to {TTL_MAX}, got {cited(ttl)}"]


def _check_code(code: str) -> list[str]:
    low, high = DIGITS
    if isinstance(code, str) and CODE.fullmatch(code):
        return []
    return [f"code= must be text of {low} to {high} digits (given: {type(code).__name__} of length {len(str(code))})"]


def send_request(to: Sequence[str], body: Body) -> dict[str, Any]:
    """Return the JSON object of ``sms.message.send``; one recipient travels as text, several as an array."""
    return {"to": to[0] if len(to) == 1 else list(to), **body.fields()}


def otp_request(**fields: Any) -> dict[str, Any]:
    """Return the JSON object of ``otp.send`` or ``otp.verify``; for what is None the service's defaults hold."""
    return {name: value for name, value in fields.items() if value is not None}


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def encode(request: Mapping[str, Any]) -> bytes:
    return _ENCODER.encode(request).encode()
