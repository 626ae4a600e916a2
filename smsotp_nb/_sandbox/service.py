"""The three operations of the interface, from a request's query and bytes to its envelope.

Written from the interface, not from the client; where the interface is silent docs/sandbox.md says what happens.
No socket and no clock of its own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

from .. import _wire as wire
from .. import parts
from .._amounts import half_up
from .._schema import FARTHEST
from ..errors import UsageError
from . import choices, messages, parameters
from .access import Access
from .choices import Rules
from .state import Clock, Message, NewPasscode, Request, State

MAX_BYTES: Final = 1 << 20
INVALID_PARAMS: Final = "104002"
LIMIT_EXCEEDED: Final = "105300"
SENDS_WITHIN: Final = 600  # seconds; a common norm
INVALID_SIGNATURE: Final = "107122"
NO_TEMPLATE: Final = "107141"
MISSING_TEMPLATE_DATA: Final = "107143"
INVALID_TEMPLATE_DATA: Final = "107144"

Fields = Mapping[str, Any]
Done = tuple[dict[str, Any], int]  # the data of a reply, and how many messages were accepted


class Refused(Exception):
    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Answer(NamedTuple):
    """A reply: HTTP status, envelope, and how many messages were accepted for it."""

    status: int
    envelope: Mapping[str, Any]
    accepted: int = 0


class Billed(NamedTuple):
    """The messages of one request and their price in all, millionths."""

    messages: list[Message]
    total: int


class Service:
    """Answers requests from a state."""

    def __init__(
        self,
        state: State,
        *,
        variant: wire.Variant = "intl",
        form: wire.Form = "current",
        rules: Rules | None = None,
        clock: Clock | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.state = state
        self.variant = variant
        self.form = form
        self.rules = rules or Rules()
        self.tariff = messages.sample(variant)
        self.clock = clock or Clock(state, base=now)
        self.access = Access(self.rules._revealed(), now)
        self.templates = messages.templates(self.rules.templates)
        self._count = "count" if form == "earlier" else "parts"
        self._operations = {
            "sms.message.send": self._send_message,
            "otp.send": self._send_otp,
            "otp.verify": self._verify_otp,
        }

    def answer(self, query: Mapping[str, str], content_type: str, raw: bytes, *, query_string: str = "") -> Answer:
        """Answer one POST, given its query (parsed and as sent), its content type without parameters, and its body."""
        try:
            refusal = self.access.refusal(query, query_string)
            if refusal:
                raise Refused(refusal)
            operation = self._operations.get(query.get("action", ""))
            if operation is None:
                raise Refused(INVALID_PARAMS)
            data, accepted = operation(_read_object(content_type, raw))
        except Refused as refused:
            return self.refuse(refused.code)
        return Answer(200, {"code": "0", "message": "Success", "data": data}, accepted)

    def refuse(self, code: str) -> Answer:
        names = wire.ERROR_NAMES[code]
        return Answer(400, {"code": code, "message": names[-1] if self.form == "earlier" else names[0]})

    def _send_message(self, fields: Fields) -> Done:
        numbers = self._recipients(fields)
        signature = _signature(fields)
        text, template_id = self._message_text(fields, signature)
        if signature is None and (self.variant == "cn" or self.form == "earlier"):
            raise Refused(wire.MISSING_PARAMS)
        places = _countries(numbers)
        request = Request(
            self.clock.now(), "sms.message.send", text, channel="sms", signature=signature, template_id=template_id
        )
        billed = self._bill(numbers, places, text)
        odd = choices.effects(numbers)
        return {
            "recipients": len(numbers) + ("recipients" in odd),
            "messageCount": sum([message.parts for message in billed.messages]) + ("messageCount" in odd),
            "currency": self.tariff.currency,
            "totalAmount": money(billed.total + 10_000 * ("totalAmount" in odd)),
            "messages": [self._record(message) for message in billed.messages],
        }, self._accept(request, billed)

    def _send_otp(self, fields: Fields) -> Done:
        number = _single_number(fields)
        digits = _whole(fields, "digits", *wire.DIGITS) or wire.DEFAULT_DIGITS
        intent = _text(fields, "intent", longest=wire.INTENT_LENGTH)
        channel = _text(fields, "channel") or "auto"
        signature = _signature(fields)
        custom = _code(fields)
        ttl = _whole(fields, "ttl", 1, wire.TTL_MAX) or wire.TTL_DEFAULT
        if channel not in wire.CHANNELS:
            raise Refused(INVALID_PARAMS)
        if signature is None and self.variant == "cn" and number.startswith("+86"):
            raise Refused(wire.MISSING_PARAMS)
        places = _countries([number])
        self._limit_sends(number)
        mark = int.from_bytes(self.state.mark("passcode", self.state.last + 1))
        code = custom or f"{mark % 10**digits:0{digits}d}"
        text = messages.passcode(code, signature, self.variant)
        billed = self._bill([number], places, text)
        sent_by = "sms" if channel == "auto" else channel
        request = Request(self.clock.now(), "otp.send", text, code, sent_by, intent, signature)
        kept = NewPasscode(intent or "", ttl if custom else None)
        return self._record(billed.messages[0]), self._accept(request, billed, kept)

    def _verify_otp(self, fields: Fields) -> Done:
        number = _single_number(fields)
        code = _code(fields)
        if code is None:
            raise Refused(wire.MISSING_PARAMS)
        intent = _text(fields, "intent", longest=wire.INTENT_LENGTH) or ""
        ttl = _whole(fields, "ttl", 1, wire.TTL_MAX) or wire.TTL_DEFAULT
        _countries([number])
        with self.state.transaction():
            valid = self._check_code(number, intent, code, ttl)
        return {"to": number, "valid": valid}, 0

    def _recipients(self, fields: Fields) -> list[str]:
        numbers = fields.get("to")
        if numbers is None or numbers in ("", []):
            raise Refused(wire.MISSING_PARAMS)
        if isinstance(numbers, str):
            numbers = [numbers]
        if not isinstance(numbers, list) or not all(isinstance(number, str) for number in numbers):
            raise Refused(INVALID_PARAMS)
        if len(numbers) > wire.MAX_RECIPIENTS:
            raise Refused(INVALID_PARAMS)
        return numbers

    def _message_text(self, fields: Fields, signature: str | None) -> tuple[str, str | None]:
        """Return the text as it is sent, and the template that it came from."""
        template_id, content = _text(fields, "templateId"), _text(fields, "content")
        text = _text(fields, "text") if self.form == "current" else None
        data = fields.get("templateData")
        data = {} if data in (None, "", []) else data  # some languages write an empty map as a list
        if not isinstance(data, dict):
            raise Refused(INVALID_PARAMS)
        if template_id is not None:
            return messages.signed(self._from_template(template_id, data), signature, self.variant), template_id
        if text is not None:
            return text, None
        if content is None:
            raise Refused(wire.MISSING_PARAMS)
        return messages.signed(content, signature, self.variant), None

    def _from_template(self, template_id: str, data: Fields) -> str:
        template = self.templates.get(template_id)
        if template is None:
            raise Refused(NO_TEMPLATE)
        values = {}
        for name in messages.variables(template):
            if data.get(name) is None:
                raise Refused(MISSING_TEMPLATE_DATA)
            if isinstance(data[name], bool) or not isinstance(data[name], (str, int, float)):
                raise Refused(INVALID_TEMPLATE_DATA)
            values[name] = str(data[name])
        return messages.fill(template, values)

    def _bill(self, numbers: list[str], places: list[messages.Country], text: str) -> Billed:
        one = parts.count(text).parts
        first = self.state.last + 1
        billed = []
        for n, (number, place) in enumerate(zip(numbers, places, strict=True), first):
            effect = choices.RESERVED[number].effect if number in choices.RESERVED else ""
            count = one + (effect == "parts")
            iso = "CA" if effect == "iso" else place.iso
            price = self.tariff.price(iso, count)
            billed.append(Message(self.state.mark("message", n).hex(), number, iso, place.cc, count, price))
        return Billed(billed, sum(message.price for message in billed))

    def _accept(self, request: Request, billed: Billed, passcode: NewPasscode | None = None) -> int:
        """Record a request and deduct its price from the balance; return how many messages it has."""
        if not self.state.accept(request, billed.messages, billed.total, passcode):
            raise Refused(wire.INSUFFICIENT_FUNDS)
        return len(billed.messages)

    def _record(self, message: Message) -> dict[str, Any]:
        id_, number, iso, cc, billed, price = message
        special = choices.RESERVED.get(number)
        to = number[1:] if special and special.effect == "plus" else number
        return {"id": id_, "to": to, "iso": iso, "cc": cc, self._count: billed, "price": money(price)}

    def _limit_sends(self, number: str) -> None:
        if self.rules.sends is None:
            return
        if self.state.count_passcodes(number, since=self.clock.now() - SENDS_WITHIN * 1_000_000) >= self.rules.sends:
            raise Refused(LIMIT_EXCEEDED)

    def _check_code(self, number: str, intent: str, code: str, ttl: int) -> bool:
        """Compare a code with the passcode of a number and intent: the right one uses it up, a wrong one counts."""
        passcode = self.state.passcode(number, intent)
        if passcode is None or passcode.wrong >= self.rules.attempts:
            return False
        if self.clock.now() >= passcode.made + (passcode.ttl or ttl) * 1_000_000:
            return False
        if passcode.code == code:
            self.state.end_passcode(number, intent)
            return True
        self.state.count_wrong(number, intent)
        return False


def money(micros: int) -> str:
    return f"{micros // 1_000_000}.{micros % 1_000_000:06d}"


def millionths(amount: str | float | Decimal) -> int:
    try:
        exact = half_up(str(amount), 6)
    except InvalidOperation:
        raise UsageError(f"an amount such as 12.50 was expected, got {amount!r}") from None
    found = wire.micros(exact)
    if found is None:
        raise UsageError(f"an amount of zero or more was expected, got {amount!r}")
    if found > FARTHEST:
        raise UsageError(f"an amount of at most {FARTHEST // 1_000_000:,} was expected, got {amount!r}")
    return found


def _read_object(content_type: str, raw: bytes) -> Fields:
    if content_type != "application/json" or len(raw) > MAX_BYTES:
        raise Refused(INVALID_PARAMS)
    try:
        text = raw.decode(json.detect_encoding(raw))
        fields = _decode(text)
        if "\\u" in text:
            json.dumps(fields, ensure_ascii=False).encode()  # half a surrogate pair is JSON but no text
    except (ValueError, RecursionError):
        raise Refused(INVALID_PARAMS) from None
    if not isinstance(fields, dict):
        raise Refused(INVALID_PARAMS)
    return fields


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


_decode = json.JSONDecoder(parse_constant=_no_number).decode


def _text(fields: Fields, name: str, *, longest: int | None = None) -> str | None:
    value = fields.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str) or (longest is not None and len(value) > longest):
        raise Refused(INVALID_PARAMS)
    return value


def _whole(fields: Fields, name: str, low: int, high: int) -> int | None:
    if fields.get(name) is None:
        return None
    value = parameters.integer(fields[name])
    if value is None or not low <= value <= high:
        raise Refused(INVALID_PARAMS)
    return value


def _signature(fields: Fields) -> str | None:
    signature = _text(fields, "signature")
    shortest, longest = wire.SIGNATURE_LENGTH
    if signature is not None and not shortest <= len(signature) <= longest:
        raise Refused(INVALID_SIGNATURE)
    return signature


def _code(fields: Fields) -> str | None:
    code = _text(fields, "code")
    if code is not None and not wire.CODE.fullmatch(code):
        raise Refused(INVALID_PARAMS)
    return code


def _single_number(fields: Fields) -> str:
    number = _text(fields, "to")
    if number is None:
        raise Refused(wire.MISSING_PARAMS)
    return number


def _countries(numbers: list[str]) -> list[messages.Country]:
    refusal = choices.refusal(numbers)
    if refusal:
        raise Refused(refusal)
    places = []
    for number in numbers:
        place = messages.country(number)
        if place is None:
            raise Refused(wire.INVALID_PHONE_NUMBERS)
        places.append(place)
    return places
