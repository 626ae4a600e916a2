"""What the interface does not show, and what the sandbox does there: one table, and the switches that go with it.

At the end the numbers that make it answer in a special way, from any client. All lie in +1 907 555 01xx, which is
reserved for fiction; nobody can be reached there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Final

from .. import _wire as wire
from .._calling import made_in_our_words, not_a, not_whole, refuse
from .._showing import is_whole
from ..settings import Secret

MOST: Final = 1_000_000  # of what is counted


@made_in_our_words
@dataclass(frozen=True, slots=True)
class Rules:
    """The switchable part of `CHOICES`; each field is named in the ``switch`` of its row.

    The secret is sealed: neither a repr nor ``asdict`` nor a pickle hands it out.

    Example:
        >>> Rules(attempts=3).sends is None
        True
    """

    attempts: int = 5
    sends: int | None = None
    templates: Mapping[str, str] | str | Path | None = None
    secret: str | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "secret", Secret.of(self.secret))
        wanted = "a mapping of ids to texts, or the path of a JSON file"
        refuse(
            not_whole("attempts", self.attempts, most=MOST),
            not_whole("sends", self.sends, most=MOST, none=True),
            not_a("templates", self.templates, (Mapping, str, Path, NoneType), wanted=wanted),
            None if self.secret is None else _not_secret(self._revealed()),
        )

    def _revealed(self) -> str | None:
        """Return the secret in the clear, for what checks signatures with it; None in the mode without."""
        return self.secret.reveal() if isinstance(self.secret, Secret) else None


def _not_secret(value: object) -> str | None:
    """Complain of what cannot sign, by its kind alone."""
    if not isinstance(value, str):
        return f"secret= must be text, got a value of the kind {type(value).__name__}"
    if not is_whole(value):
        return "secret= holds half a character; retype it"
    return None if value.strip() else "secret= must not be empty; leave it out for the mode without signatures"


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing the interface does not show and what the sandbox does about it.

    ``switch`` is the field of `Rules` that changes it, empty where it is fixed.
    """

    key: str
    topic: str
    choice: str
    switch: str = ""


CHOICES: tuple[Choice, ...] = (
    Choice("key", "a missing or wrong access key", "any key is taken; without one 104110 MissingAccessKeyId"),
    Choice(
        "hmac", "signed requests", "not asked for; with a secret an unsigned or wrongly signed one is 104201", "secret"
    ),
    Choice("timestamp", "a signed request's timestamp more than 10 minutes off", "104202 InvalidSignatureTimestamp"),
    Choice("nonce", "a nonce of a signed request that was used before", "104201 InvalidSignature"),
    Choice("action", "an unknown action", "104002 InvalidParams"),
    Choice("json", "a body that is not a JSON object, or is sent as another content type", "104002 InvalidParams"),
    Choice("size", "a request larger than 1 MiB", "104002 InvalidParams"),
    Choice("values", "a parameter of the wrong type or outside its limit", "104002 InvalidParams"),
    Choice("signature", "a signature outside 2 to 16 characters", "107122 InvalidSmsSignature"),
    Choice("empty", "a parameter that is null, or a text that is empty", "counts as absent"),
    Choice("extra", "a parameter the interface does not name", "ignored"),
    Choice("required", "a required parameter that is missing, in any operation", "104001 MissingParams"),
    Choice("invalid", "a number that is not E.164, has no country or does not exist", "107111 InvalidPhoneNumbers"),
    Choice("list", "a list with an invalid number", "the whole request is refused, nobody is texted"),
    Choice("repeated", "a number that appears twice in one list", "two messages, two records"),
    Choice("recipients", "most recipients in one request", "1000, more are refused with 104002"),
    Choice("several", "more than one of templateId, text and content", "the first of templateId, text, content counts"),
    Choice("join", "how content and signature join", "[signature] content; in the cn variant 【signature】content"),
    Choice("text", "a signature beside text", "the text is sent unchanged"),
    Choice("templates", "which templates exist", "a few of its own, and yours; another one is 107141", "templates"),
    Choice("template_data", "a variable the template needs and does not get", "107143 MissingSmsTemplateData"),
    Choice("template_value", "a variable that is neither text nor a number", "107144 InvalidSmsTemplateData"),
    Choice("parts", "how a text is split", "160/153 GSM-7 septets or 70/67 UCS-2 units to a part, packed greedily"),
    Choice("counts", "what a record calls its parts", "parts, and count in the earlier form"),
    Choice("price", "the price of a message", "parts x the rate of its country in the sample rate table, any channel"),
    Choice("balance", "a balance that does not cover a request", "105400, all of the request is refused"),
    Choice("funds_name", "which spelling of 105400", "InsufficientFunds, and FundsInsufficient in the earlier form"),
    Choice("channel", "which channel auto takes", "sms"),
    Choice("wording", "the text of a passcode message", "one English sentence, one Chinese one in the cn variant"),
    Choice("custom_digits", "digits beside a custom code", "without effect"),
    Choice("single_use", "a passcode that was verified", "is used up: the same code is not valid again"),
    Choice("attempts", "wrong codes for one passcode", "after 5 of them no code is valid for it", "attempts"),
    Choice(
        "sends", "passcodes to one number in 10 minutes", "as many as wanted; with a limit more are 105300", "sends"
    ),
    Choice("replace", "a second passcode for the same number and intent", "replaces the first one"),
    Choice(
        "intents", "passcodes of one number for different intents", "live side by side; no intent is one of its own"
    ),
    Choice("expiry", "the last moment of a lifetime", "a code is valid before its ttl has passed, not at that second"),
    Choice("wrong", "a wrong, expired, used or unknown code", "success with valid false"),
)


PREFIX = "+190755501"


@dataclass(frozen=True, slots=True)
class Reserved:
    """One special number: ``effect`` names what its reply does, ``code`` is the error it causes (else empty).

    Example:
        >>> RESERVED["+19075550110"].code
        '105400'
    """

    number: str
    effect: str
    meaning: str
    code: str = ""


def _refusals() -> Iterable[Reserved]:
    for place, (code, names) in enumerate(wire.ERROR_NAMES.items()):
        yield Reserved(f"{PREFIX}{10 + place}", "refused", f"{code} {names[0]}, nothing is sent", code)


NUMBERS: tuple[Reserved, ...] = (
    Reserved(f"{PREFIX}01", "iso", "iso CA: another country than the number's"),
    Reserved(f"{PREFIX}02", "parts", "one part more than the text needs, and billed so"),
    Reserved(f"{PREFIX}03", "recipients", "recipients one higher than the records"),
    Reserved(f"{PREFIX}04", "messageCount", "messageCount one higher than the sum of the parts"),
    Reserved(f"{PREFIX}05", "totalAmount", "totalAmount 0.010000 higher than the sum of the prices"),
    Reserved(f"{PREFIX}06", "plus", "to without its plus in the record"),
    *_refusals(),
)
RESERVED: Mapping[str, Reserved] = {row.number: row for row in NUMBERS}


def effects(numbers: Iterable[str]) -> frozenset[str]:
    """Return the effects of the special numbers among these."""
    return frozenset(RESERVED[number].effect for number in numbers if number in RESERVED)


def refusal(numbers: Iterable[str]) -> str:
    """Return the error code that the first refusing number among these causes, or ``""``."""
    return next((RESERVED[number].code for number in numbers if number in RESERVED and RESERVED[number].code), "")
