"""The interface, and nothing else: request bodies, reply envelopes, limits, codes, and what is not shown.

The only room that knows a camelCase field, an error number or a length limit. It has no clock, no socket and no pandas.
Constants marked "beyond the interface" come from public knowledge; nothing depends on them being right.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter
from typing import Any, Literal, NamedTuple, overload

Variant = Literal["intl", "cn"]
Form = Literal["current", "earlier"]

SEND = "sms.message.send"
OTP_SEND = "otp.send"
OTP_VERIFY = "otp.verify"

SUCCESS = "0"
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
_E164_LINE = re.compile(rf"{E164.pattern}(,{E164.pattern})*")
MAX_RECIPIENTS = 1000  # ours: the interface shows no maximum

# How the service joins content and signature is not shown; the estimate and the sandbox use these.
SIGNATURE_JOIN: Mapping[str, str] = {"intl": "[{signature}] {content}", "cn": "【{signature}】{content}"}


@dataclass(frozen=True, slots=True)
class Assumption:
    """One thing the interface does not show, and what this package assumes instead."""

    topic: str
    assumed: str
    consequence: str


NOT_SHOWN: tuple[Assumption, ...] = (
    Assumption(
        "a failure reply on a send",
        "HTTP 400 with an envelope means that nothing of the request was sent",
        "its rows are rejected and may be reopened by a person; 101000 Internal is treated as in doubt instead",
    ),
    Assumption(
        "HTTP 429",
        "a throttled request was not accepted",
        "it is retried after Retry-After, kept between 0 and 300 seconds",
    ),
    Assumption(
        "any other status, a broken reply, a reply that names other recipients",
        "the request may have been accepted",
        "its rows are in doubt and never sent again by themselves",
    ),
    Assumption(
        "recipients in one request",
        f"at most {MAX_RECIPIENTS}",
        "the default chunk is 100; larger chunks are refused here, not by the service",
    ),
    Assumption(
        "a list with some invalid numbers",
        "the whole request is refused with 107111",
        "all rows of the chunk are rejected with that code",
    ),
    Assumption(
        "text length and part-splitting",
        "GSM 03.38 septets or UCS-2, 160/153 or 70/67 to a part, pairs never straddle",
        "est_parts is an estimate; parts and price of the reply are what counts",
    ),
    Assumption(
        "price of a message",
        "parts x the rate of the country",
        "est_cost is an estimate; a country without a rate has none, never 0",
    ),
    Assumption(
        "how content and signature join",
        "[signature] content, and with lenticular brackets in the cn variant",
        "changes est_parts only; plan(signature_join=...) sets another",
    ),
    Assumption(
        "text of a template",
        "unknown here",
        "est_parts and est_cost of template messages are missing unless template_text= is given",
    ),
    Assumption(
        "a money amount that is not decimal text with at most 6 fractional digits",
        "unreadable",
        "the message counts as accepted, its price is missing and the totals check says so",
    ),
    Assumption(
        "`to` in a reply",
        "the same digits as in the request, with or without the plus",
        "records are matched by it, never by position",
    ),
    Assumption(
        "a signature on a passcode in the intl variant",
        "accepted and passed on",
        "only the cn variant documents it",
    ),
)


class Unreadable(ValueError):
    """A reply that is not an envelope of the interface; what it means for the request is for the caller to say."""


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
        """Return the request fields of this body, in the interface's spelling."""
        fields: dict[str, Any] = {}
        if self.text is not None:
            fields["text"] = self.text
        if self.content is not None:
            fields["content"] = self.content
        if self.template_id is not None:
            fields["templateId"] = self.template_id
        if self.template_data:
            fields["templateData"] = dict(self.template_data)
        if self.signature is not None:
            fields["signature"] = self.signature
        return fields


# -- limits ------------------------------------------------------------------------------------------------------------


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
    """Return everything wrong with the recipients of one request."""
    if _are_e164(to) and len(set(to)) == len(to) <= MAX_RECIPIENTS:
        return []
    if not to:
        return ["to= is empty; at least one number is needed"]
    wrong = [] if len(to) <= MAX_RECIPIENTS else [f"{len(to)} recipients in one request; the most is {MAX_RECIPIENTS}"]
    bad = [str(number) for number in to if not isinstance(number, str) or not E164.fullmatch(number)]
    if bad:
        shown = ", ".join(mask(number) for number in bad[:3])
        wrong.append(f"{len(bad)} of {len(to)} numbers are not E.164 (a plus and 2 to 15 digits), such as {shown}")
    repeated = len(to) - len({str(number) for number in to})
    if repeated:
        wrong.append(f"{repeated} numbers stand more than once in one request")
    return wrong


def _are_e164(to: Sequence[str]) -> bool:
    """Say of all numbers at once whether they are E.164: a campaign asks it of every request."""
    try:
        line = ",".join(to)
    except TypeError:
        return False
    return bool(_E164_LINE.fullmatch(line)) and line.count(",") == len(to) - 1


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
    """Return everything wrong with the arguments of ``otp.send``."""
    wrong = check_recipients([to]) + _check_signature(signature) + _check_intent(intent) + _check_ttl(ttl)
    low, high = DIGITS
    if digits is not None and not (_is_int(digits) and low <= digits <= high):
        wrong.append(f"digits= must be a whole number from {low} to {high}, got {digits!r}")
    if channel is not None and channel not in CHANNELS:
        wrong.append(f"channel= must be one of {', '.join(CHANNELS)}, got {channel!r}")
    if code is not None:
        wrong += _check_code(code)
    if variant == "cn" and signature is None and isinstance(to, str) and to.startswith("+86"):
        wrong.append("signature= is required for +86 numbers in the cn variant")
    return wrong


def check_otp_verify(to: str, code: str, *, intent: str | None = None, ttl: int | None = None) -> list[str]:
    """Return everything wrong with the arguments of ``otp.verify``."""
    return check_recipients([to]) + _check_code(code) + _check_intent(intent) + _check_ttl(ttl)


def _check_text(what: str, value: object, *, empty: bool = False) -> list[str]:
    if not isinstance(value, str):
        return [f"{what} must be text, got {type(value).__name__}"]
    if not (empty or value.strip()):
        return [f"{what} is empty"]
    return [] if _is_unicode(value) else [f"{what} holds half of a surrogate pair, which no message can carry"]


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
    if ttl is None or (_is_int(ttl) and 0 < ttl <= TTL_MAX):
        return []
    return [f"ttl= must be a whole number of seconds from 1 to {TTL_MAX}, got {ttl!r}"]


def _check_code(code: str) -> list[str]:
    low, high = DIGITS
    if isinstance(code, str) and CODE.fullmatch(code):
        return []
    return [f"code= must be text of {low} to {high} digits (given: {type(code).__name__} of length {len(str(code))})"]


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# -- requests ----------------------------------------------------------------------------------------------------------


def send_request(to: Sequence[str], body: Body) -> dict[str, Any]:
    """Return the JSON object of ``sms.message.send``; one recipient travels as text, several as an array."""
    return {"to": to[0] if len(to) == 1 else list(to), **body.fields()}


def otp_send_request(
    to: str,
    *,
    digits: int | None = None,
    intent: str | None = None,
    channel: str | None = None,
    signature: str | None = None,
    code: str | None = None,
    ttl: int | None = None,
) -> dict[str, Any]:
    """Return the JSON object of ``otp.send``; what is None is left out, so the service's defaults hold."""
    return _without_none(to=to, digits=digits, intent=intent, channel=channel, signature=signature, code=code, ttl=ttl)


def otp_verify_request(to: str, code: str, *, intent: str | None = None, ttl: int | None = None) -> dict[str, Any]:
    """Return the JSON object of ``otp.verify``."""
    return _without_none(to=to, code=code, intent=intent, ttl=ttl)


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def encode(request: Mapping[str, Any]) -> bytes:
    """Return a request as UTF-8 JSON bytes."""
    return _ENCODER.encode(request).encode()


def _without_none(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


# -- replies -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Envelope:
    """The JSON envelope of every reply: ``code`` "0" on success, else an error number."""

    code: str
    message: str
    data: Any


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """One accepted message as the service billed it; a field it left out or made unreadable is None.

    ``price_micros`` is the amount in millionths of the currency unit; ``price`` the same as an exact Decimal.

    Example:
        >>> MessageRecord(id="a", to="+12025550123", price_micros=7500).price
        Decimal('0.007500')
    """

    id: str | None
    to: str
    iso: str | None = None
    cc: str | None = None
    parts: int | None = None
    price_micros: int | None = None

    def __repr__(self) -> str:
        return f"<MessageRecord for {mask(self.to)}, iso {self.iso}, {self.parts} parts, price {self.price}>"

    @property
    def price(self) -> Decimal | None:
        return None if self.price_micros is None else amount(self.price_micros)


class Billing(NamedTuple):
    """Where a message went and what it cost, as the service says; the records of a reply share a few of them."""

    iso: str | None
    cc: str | None
    parts: int | None
    price_micros: int | None


class Messages(Sequence[MessageRecord]):
    """The message records of one reply, kept by column: a campaign reads millions of them.

    ``to``, ``ids`` and ``billings`` have an entry for each record, ``tally`` says how often each billing stands.

    Example:
        >>> Messages.of([MessageRecord(id="a", to="+12025550123")])[0].id
        'a'
    """

    __slots__ = ("billings", "ids", "tally", "to")

    def __init__(
        self,
        to: Sequence[str],
        ids: Sequence[str | None],
        billings: Sequence[Billing],
        tally: Counter[Billing] | None = None,
    ) -> None:
        self.to, self.ids, self.billings = to, ids, billings
        self.tally = Counter(billings) if tally is None else tally

    @classmethod
    def of(cls, records: Iterable[MessageRecord]) -> Messages:
        """Return these records by column."""
        each = [
            (record.to, record.id, Billing(record.iso, record.cc, record.parts, record.price_micros))
            for record in records
        ]
        to, ids, billings = zip(*each, strict=True) if each else ((), (), ())
        return cls(to, ids, billings)

    def parts(self) -> int | None:
        """Return the sum of the parts, None if one is not known."""
        return _sum([(billing.parts, times) for billing, times in self.tally.items()])

    def price_micros(self) -> int | None:
        """Return the sum of the prices, None if one is not known."""
        return _sum([(billing.price_micros, times) for billing, times in self.tally.items()])

    def billed_micros(self) -> int:
        """Return the sum of the prices that are known."""
        return sum((billing.price_micros or 0) * times for billing, times in self.tally.items())

    @overload
    def __getitem__(self, place: int) -> MessageRecord: ...
    @overload
    def __getitem__(self, place: slice) -> Messages: ...
    def __getitem__(self, place: int | slice) -> MessageRecord | Messages:
        if isinstance(place, slice):
            return Messages(self.to[place], self.ids[place], self.billings[place])
        return MessageRecord(self.ids[place], self.to[place], *self.billings[place])

    def __len__(self) -> int:
        return len(self.to)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Messages) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<{len(self)} messages>"


@dataclass(frozen=True, slots=True)
class SendReply:
    """The reply of ``sms.message.send``.

    ``messages`` are the records of numbers that were asked for, one each, ``to`` as it was asked; ``missing`` the
    numbers without one, which are in doubt; ``unexpected`` records of other numbers, or second records of the same one.

    Example:
        >>> SendReply(messages=(), missing=("+12025550123",)).missing
        ('+12025550123',)
    """

    messages: Messages
    missing: tuple[str, ...] = ()
    unexpected: tuple[MessageRecord, ...] = ()
    recipients: int | None = None
    message_count: int | None = None
    currency: str | None = None
    total_micros: int | None = None
    request_id: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.messages, Messages):
            object.__setattr__(self, "messages", Messages.of(self.messages))

    def __repr__(self) -> str:
        others = f", {len(self.missing)} missing, {len(self.unexpected)} unexpected"
        shown = others if self.missing or self.unexpected else ""
        return f"<SendReply: {len(self.messages)} messages{shown}, total {self.currency} {self.total}>"

    @property
    def total(self) -> Decimal | None:
        """The reply's own total amount, exact."""
        return None if self.total_micros is None else amount(self.total_micros)

    def disagreements(self) -> tuple[str, ...]:
        """Return, in words, where the reply's own totals differ from the sum of its records.

        Example:
            >>> SendReply(messages=(), recipients=2).disagreements()
            ('recipients says 2, the records are 0',)
        """
        records = Messages.of([*self.messages, *self.unexpected]) if self.unexpected else self.messages
        found = []
        if self.recipients is not None and self.recipients != len(records):
            found.append(f"recipients says {self.recipients}, the records are {len(records)}")
        parts, total = records.parts(), records.price_micros()
        if self.message_count is not None and parts not in (None, self.message_count):
            found.append(f"messageCount says {self.message_count}, the parts add up to {parts}")
        if self.total_micros is not None and total is not None and self.total_micros != total:
            found.append(f"totalAmount says {amount(self.total_micros)}, the prices add up to {amount(total)}")
        if self.unexpected:
            found.append(f"{len(self.unexpected)} records are of numbers that were not asked for, or repeated")
        if total is None:
            unpriced = sum(billing.price_micros is None for billing in records.billings)
            found.append(f"{unpriced} prices are missing or unreadable")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class OtpReply:
    """The reply of ``otp.send``: the passcode's message record.

    Example:
        >>> OtpReply(record=MessageRecord(id="a", to="+12025550123")).record.to
        '+12025550123'
    """

    record: MessageRecord
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class VerifyReply:
    """The reply of ``otp.verify``: whether the code is the right one for the number.

    Example:
        >>> VerifyReply(to="+12025550123", valid=True).valid
        True
    """

    to: str
    valid: bool
    request_id: str | None = None

    def __repr__(self) -> str:
        return f"<VerifyReply for {mask(self.to)}: {'valid' if self.valid else 'not valid'}>"


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=Decimal)


def read_envelope(raw: bytes) -> Envelope:
    """Return the envelope in these bytes.

    Raises:
        Unreadable: the bytes are not JSON of the interface: not Unicode, not an object, a ``code`` that is not text,
            NaN or Infinity, or nesting that is too deep.
    """
    try:
        found = _DECODER.decode(raw.decode(json.detect_encoding(raw), "surrogatepass"))
    except (ValueError, RecursionError, ArithmeticError) as error:  # the last from a number with a huge exponent
        raise Unreadable(f"the reply is not JSON ({type(error).__name__})") from None
    if not isinstance(found, dict):
        raise Unreadable(f"the reply is JSON but not an object ({type(found).__name__})")
    code = found.get("code")
    if not isinstance(code, str):
        raise Unreadable(f"the envelope's code is not text ({type(code).__name__})")
    message = found.get("message")
    return Envelope(_whole(code), _whole(message) if isinstance(message, str) else "", found.get("data"))


def read_send(data: Any, to: Sequence[str], *, request_id: str | None = None) -> SendReply:
    """Return the send result in an envelope's ``data``, its records matched to ``to`` by number.

    Raises:
        Unreadable: ``data`` is not an object or ``messages`` not an array of objects.
    """
    records = data.get("messages") if isinstance(data, dict) else None
    if not isinstance(records, list) or not set(map(type, records)) <= {dict}:
        raise Unreadable("the reply has no list of message records")
    read, unexpected = _matched(_messages(records), to)
    return SendReply(
        messages=read,
        missing=_without(to, read.to) if len(read) < len(to) else (),
        unexpected=unexpected,
        recipients=_count(data.get("recipients")),
        message_count=_count(data.get("messageCount")),
        currency=_text(data.get("currency")),
        total_micros=micros(data.get("totalAmount")),
        request_id=request_id,
    )


def _matched(read: Messages, to: Sequence[str]) -> tuple[Messages, tuple[MessageRecord, ...]]:
    """Return the first record of each number, by the number as it was asked, and all other records."""
    if len(set(read.to)) == len(read) and set(to).issuperset(read.to):
        return read, ()
    number_of = dict(zip(to, to, strict=True)) | {number[1:]: number for number in to}
    matched: dict[str, MessageRecord] = {}
    unexpected = []
    for record in read:
        number = number_of.get(record.to)
        if number is None or number in matched:
            unexpected.append(record)
        else:
            matched[number] = dataclasses.replace(record, to=number)
    return Messages.of(matched.values()), tuple(unexpected)


def _without(numbers: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    known = set(others)
    return tuple(number for number in numbers if number not in known)


def read_otp_send(data: Any, to: str, *, request_id: str | None = None) -> OtpReply:
    """Return the message record in an envelope's ``data``.

    Raises:
        Unreadable: ``data`` is not an object, or speaks of another number.
    """
    record = _messages([_object_for(data, to)])[0]
    return OtpReply(record=record, request_id=request_id)


def read_verify(data: Any, to: str, *, request_id: str | None = None) -> VerifyReply:
    """Return whether the code was valid.

    Raises:
        Unreadable: ``data`` is not an object, speaks of another number, or ``valid`` is not true or false.
    """
    valid = _object_for(data, to).get("valid")
    if not isinstance(valid, bool):
        raise Unreadable("the reply does not say whether the code is valid")
    return VerifyReply(to=to, valid=valid, request_id=request_id)


def _object_for(data: Any, to: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise Unreadable("the reply has no data object")
    if str(data.get("to", to)).removeprefix("+") != to.removeprefix("+"):
        raise Unreadable("the reply speaks of another number")
    return data


_FIELDS = ("to", "id", "iso", "cc", "parts", "price")
_ABSENT = dict.fromkeys(_FIELDS)
_EACH = [*map(itemgetter, _FIELDS)]
FEW = 4  # records that are read sooner one by one
_PLAIN = {str, int, type(None)}


def _messages(records: Sequence[dict[str, Any]]) -> Messages:
    """Read records column by column: what they say of a message, and what they say over and over of its billing."""
    try:
        to, ids, *columns = [[*map(field, records)] for field in _EACH]
    except KeyError:
        records = [_ABSENT | fields for fields in records]
        to, ids, *columns = [[*map(field, records)] for field in _EACH]
    said = [*zip(*columns, strict=True)]
    # What is equal must read alike, but True is 1 and 10.0 is 1E+1; and a hostile reply's integers may share one hash.
    if FEW < len(said) <= MAX_RECIPIENTS and all(_PLAIN.issuperset(map(type, column)) for column in columns):
        known = {kind: _billing(kind) for kind in set(said)}
        billings = [*map(known.__getitem__, said)] if len(known) > 1 else [*known.values()] * len(said)
    else:
        billings = [*map(_billing, said)]
    tally = Counter(billings)
    if None in [billing.parts for billing in tally]:
        billings = [*map(_parts_elsewhere, billings, records)]
        tally = Counter(billings)
    return Messages([number or "" for number in _texts(to)], _texts(ids), billings, tally)


def _billing(said: tuple[Any, Any, Any, Any]) -> Billing:
    iso, cc, parts, price = said
    return Billing(_text(iso), _text(cc), _count(parts) or None, micros(price))


def _parts_elsewhere(billing: Billing, fields: Mapping[str, Any]) -> Billing:
    if billing.parts is not None:
        return billing
    return billing._replace(parts=_count(fields.get("count")) or _count(fields.get("messageCount")) or None)


def _sum(terms: Iterable[tuple[int | None, int]]) -> int | None:
    total = 0
    for value, times in terms:
        if value is None:
            return None
        total += value * times
    return total


LONGEST_TEXT = 256  # characters of an id, a country, a currency; far above any


def _text(value: Any) -> str | None:
    if isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT:
        return value if value.isascii() else _whole(value)
    return None


def _texts(values: Sequence[Any]) -> Sequence[str | None]:
    """Return each as ``_text`` does; a column of plain ones is looked at as a whole."""
    if len(values) > FEW and set(map(type, values)) == {str} and "".join(values).isascii():
        sizes = set(map(len, values))
        if 0 not in sizes and max(sizes) <= LONGEST_TEXT:
            return values
    return [_text(value) for value in values]


def _whole(text: str) -> str:
    """Return the text with half surrogates, which JSON can hold and UTF-8 and a ledger cannot, as question marks."""
    return text.encode("utf-8", "replace").decode()


def _count(value: Any) -> int | None:
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"[0-9]{1,9}", value) else None
    return value if _is_int(value) and 0 <= value < 10**9 else None


# -- money -------------------------------------------------------------------------------------------------------------

_AMOUNT = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,12}))?")
LONGEST_AMOUNT = 25  # characters


def micros(value: Any) -> int | None:
    """Return a money amount in millionths, or None where it is missing, negative or not exact to six places.

    Example:
        >>> micros("0.007500"), micros("1"), micros("NaN"), micros("0.0000001")
        (7500, 1000000, None, None)
    """
    if isinstance(value, Decimal) or (_is_int(value) and abs(value) < 10**12):
        value = str(value)
    return _micros(value) if isinstance(value, str) and len(value) <= LONGEST_AMOUNT else None


@lru_cache(10_000)  # a tariff has few prices, a campaign many messages
def _micros(text: str) -> int | None:
    found = _AMOUNT.fullmatch(text)
    if not found:
        return None
    places = (found[2] or "").ljust(6, "0")
    return None if places[6:].strip("0") else int(found[1] + places[:6])


def amount(value: int) -> Decimal:
    """Return millionths as an exact Decimal with six places.

    Example:
        >>> amount(38420000)
        Decimal('38.420000')
    """
    return Decimal(value).scaleb(-6).quantize(Decimal("0.000001"))


# -- people ------------------------------------------------------------------------------------------------------------


class Numbers(tuple[Any, ...]):
    """Numbers whose repr counts them: a traceback may print the variables of every frame.

    Example:
        >>> Numbers(["+12025550123"])
        <1 numbers>
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self)} numbers>"


def mask(number: str) -> str:
    """Return a number that can be recognized but not called: the first five and the last four characters stay.

    Example:
        >>> mask("+12025550123")
        '+1202...0123'
    """
    if len(number) > 11:
        return f"{number[:5]}...{number[-4:]}"
    return f"{number[:2]}...{number[-2:]}" if len(number) > 8 else "..."  # short enough to be a passcode


def request_id(headers: Iterable[tuple[str, str]]) -> str | None:
    """Return the value of the first header whose name ends in ``request-id`` (beyond the interface), else None.

    Example:
        >>> request_id([("X-Uni-Request-Id", "abc")])
        'abc'
    """
    return next((value for name, value in headers if name.lower().endswith("request-id")), None)
