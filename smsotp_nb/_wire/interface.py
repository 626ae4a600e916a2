"""What the interface says of itself: actions, codes, limits and amounts.

Constants marked "beyond the interface" come from public knowledge; nothing depends on them being right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal

Variant = Literal["intl", "cn"]
Form = Literal["current", "earlier"]

SEND = "sms.message.send"
OTP_SEND = "otp.send"
OTP_VERIFY = "otp.verify"

SUCCESS, SUCCESS_NAME = "0", "Success"
INSUFFICIENT_FUNDS = "105400"
INVALID_PHONE_NUMBERS = "107111"
MISSING_PARAMS = "104001"
INTERNAL = "101000"  # beyond the interface; a refusal that may hide an accepted send

# Beyond the interface, seen in public: the account or its key is wrong, so every further request would be refused too.
ACCOUNT_CODES = frozenset({"104110", "104111", "104201", "104202", "105001", "105100"})

# Both spellings of 105400 are in the interface; the rest beyond the first three is public knowledge.
ERROR_NAMES: Mapping[str, tuple[str, ...]] = {
    INSUFFICIENT_FUNDS: ("InsufficientFunds", "FundsInsufficient"),
    INVALID_PHONE_NUMBERS: ("InvalidPhoneNumbers",),
    MISSING_PARAMS: ("MissingParams",),
    INTERNAL: ("Internal",),
    "101301": ("NoUpstreamConfigured",),
    "101303": ("NoUpstreamAvailable",),
    "104002": ("InvalidParams",),
    "104003": ("RestrictedParams",),
    "104110": ("MissingAccessKeyId",),
    "104111": ("InvalidAccessKeyId",),
    "104201": ("InvalidSignature",),
    "104202": ("InvalidSignatureTimestamp",),
    "105001": ("Unauthorized",),
    "105100": ("IpRestricted",),
    "105300": ("LimitExceed",),
    "107120": ("MissingSmsSignature",),
    "107121": ("SmsSignatureNotExists",),
    "107122": ("InvalidSmsSignature",),
    "107123": ("RestrictedSmsSignature",),
    "107141": ("SmsTemplateNotExists",),
    "107143": ("MissingSmsTemplateData",),
    "107144": ("InvalidSmsTemplateData",),
    "107145": ("RestrictedSmsTemplate",),
}

SIGNATURE_LENGTH = (2, 16)
DIGITS = (4, 8)
DEFAULT_DIGITS = 6
INTENT_LENGTH = 36
TTL_MAX = 1800
TTL_DEFAULT = 300
CHANNELS = ("sms", "call", "whatsapp", "auto")
CODE = re.compile(r"[0-9]{4,8}")
E164 = re.compile(r"\+[1-9][0-9]{1,14}")
E164_LINE = re.compile(rf"{E164.pattern}(,{E164.pattern})*")
MAX_RECIPIENTS = 1000  # ours: the interface shows no maximum

# How the service joins content and signature is not shown; the estimate and the sandbox use these.
SIGNATURE_JOIN: Mapping[str, str] = {"intl": "[{signature}] {content}", "cn": "【{signature}】{content}"}


def is_int(value: object) -> bool:
    """Return whether a value is a whole number; True and False do not count."""
    return isinstance(value, int) and not isinstance(value, bool)


class Numbers(tuple[Any, ...]):
    """Numbers whose repr counts them: a traceback may print the variables of every frame."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Numbers: {len(self)}>"


_AMOUNT = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,12}))?")
LONGEST_AMOUNT = 25  # characters


def micros(value: Any) -> int | None:
    """Return a money amount in millionths, or None where it is missing, negative or not exact to six places.

    Example:
        >>> micros("0.007500"), micros("1"), micros("NaN"), micros("0.0000001")
        (7500, 1000000, None, None)
    """
    if isinstance(value, Decimal) or (is_int(value) and abs(value) < 10**12):
        value = str(value)
    return _micros(value) if isinstance(value, str) and len(value) <= LONGEST_AMOUNT else None


@lru_cache(10_000)  # a tariff has few prices, a campaign many messages
def _micros(text: str) -> int | None:
    found = _AMOUNT.fullmatch(text)
    if not found:
        return None
    places = (found[2] or "").ljust(6, "0")
    return None if places[6:].strip("0") else int(found[1] + places[:6])
