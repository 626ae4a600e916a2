"""The three operations of the interface, from a request's query and bytes to its envelope.

Written from the interface, not from the client; where the interface is silent docs/sandbox.md says what happens.
No socket and no clock of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple, NoReturn

from .. import _wire as wire
from .. import parts
from .._schema import FARTHEST
from ..errors import UsageError
from . import choices, messages
from .choices import Rules
from .state import Clock, Message, Request, State

MAX_BYTES: Final = 1 << 20  # of a request's body; 1,000 recipients and a long text take 20 KB
SEND_WINDOW: Final = 600 * 1_000_000  # microseconds in which Rules.sends counts; ten minutes are a common norm

INVALID_PARAMS: Final = "104002"
MISSING_KEY: Final = "104110"
UNAUTHORIZED: Final = "105001"
LIMIT_EXCEEDED: Final = "105300"
INVALID_SIGNATURE: Final = "107122"
NO_TEMPLATE: Final = "107141"
MISSING_TEMPLATE_DATA: Final = "107143"
INVALID_TEMPLATE_DATA: Final = "107144"

Fields = Mapping[str, Any]


class Refusal(Exception):
    """The service refuses a request with this code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Reply(NamedTuple):
    """A reply: HTTP status, envelope, and how many messages were accepted for it."""

    status: int
    envelope: Mapping[str, Any]
    accepted: int = 0


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
    ) -> None:
        self.state = state
        self.variant = variant
        self.form = form
        self.rules = rules or Rules()
        self.tariff = messages.sample_tariff(variant)
        self.clock = clock or Clock(state)
        self.templates = messages.load_templates(self.rules.templates)
        self._parts_field = "count" if form == "earlier" else "parts"
        self._operations = {
            "sms.message.send": self._send_message,
            "otp.send": self._send_otp,
            "otp.verify": self._verify_otp,
        }

    def answer(self, query: Mapping[str, str], content_type: str, body: bytes) -> Reply:
        """Answer one POST, given its parsed query, its content type without parameters, and its body."""
        try:
            if not query.get("accessKeyId"):
                raise Refusal(MISSING_KEY)
            operation = self._operations.get(query.get("action", ""))
            if operation is None:
                raise Refusal(INVALID_PARAMS)
            data, accepted = operation(_read_object(content_type, body))
        except Refusal as refusal:
            return self.refuse(refusal.code)
        return Reply(200, {"code": "0", "message": "Success", "data": data}, accepted)

    def refuse(self, code: str, status: int = 400) -> Reply:
        names = wire.ERROR_NAMES[code]
        name = names[-1] if self.form == "earlier" else names[0]
        return Reply(status, {"code": code, "message": name})

    # -- the operations: each returns the data of its reply, and how many messages were accepted

    def _send_message(self, fields: Fields) -> tuple[dict[str, Any], int]:
        numbers = _recipients(fields)
        signature = _signature(fields)
        text, template_id = self._message_text(fields, signature)
        if signature is None and (self.variant == "cn" or self.form == "earlier"):
            raise Refusal(wire.MISSING_PARAMS)
        countries = _countries(numbers)
        request = Request(
            self.clock.now(), "sms.message.send", text, channel="sms", signature=signature, template_id=template_id
        )
        billed = self._bill(numbers, countries, text)
        total = sum([message.price for message in billed])
        self._accept(request, billed, total)
        data = {
            "recipients": len(numbers),
            "messageCount": sum([message.parts for message in billed]),
            "currency": self.tariff.currency,
            "totalAmount": format_money(total),
            "messages": [self._record(message) for message in billed],
        }
        effects = choices.effects_of(numbers)
        if effects:
            data["recipients"] += "recipients" in effects
            data["messageCount"] += "messageCount" in effects
            data["totalAmount"] = format_money(total + 10_000 * ("totalAmount" in effects))
        return data, len(billed)

    def _send_otp(self, fields: Fields) -> tuple[dict[str, Any], int]:
        number = _single_number(fields)
        digits = _integer(fields, "digits", *wire.DIGITS) or wire.DEFAULT_DIGITS
        intent = _text(fields, "intent", longest=wire.INTENT_LENGTH)
        channel = _text(fields, "channel") or "auto"
        signature = _signature(fields)
        custom = _code(fields)
        ttl = _integer(fields, "ttl", 1, wire.TTL_MAX) or wire.TTL_DEFAULT
        if channel not in wire.CHANNELS:
            raise Refusal(INVALID_PARAMS)
        if signature is None and self.variant == "cn" and number.startswith("+86"):
            raise Refusal(wire.MISSING_PARAMS)
        countries = _countries([number])
        self._limit_sends(number)
        code = custom or self._new_code(digits)
        text = messages.passcode_text(code, signature, self.variant)
        (message,) = self._bill([number], countries, text)
        if channel == "auto":
            channel = "sms"
        request = Request(self.clock.now(), "otp.send", text, code, channel, intent, signature)
        self._accept(request, [message], message.price, passcode_ttl=ttl if custom else None)
        return self._record(message), 1

    def _verify_otp(self, fields: Fields) -> tuple[dict[str, Any], int]:
        number = _single_number(fields)
        code = _code(fields)
        if code is None:
            raise Refusal(wire.MISSING_PARAMS)
        intent = _text(fields, "intent", longest=wire.INTENT_LENGTH) or ""
        ttl = _integer(fields, "ttl", 1, wire.TTL_MAX) or wire.TTL_DEFAULT
        _countries([number])
        return {"to": number, "valid": self._check_code(number, intent, code, ttl)}, 0

    # -- parts of them

    def _message_text(self, fields: Fields, signature: str | None) -> tuple[str, str | None]:
        """Return the text as it is sent, and the template that it came from."""
        template_id = _text(fields, "templateId")
        content = _text(fields, "content")
        text = _text(fields, "text") if self.form == "current" else None
        data = fields.get("templateData")
        if data in (None, "", []):  # some languages write an empty map as a list
            data = {}
        if not isinstance(data, dict):
            raise Refusal(INVALID_PARAMS)
        if template_id is not None:
            filled = self._fill_template(template_id, data)
            return messages.add_signature(filled, signature, self.variant), template_id
        if text is not None:
            return text, None
        if content is None:
            raise Refusal(wire.MISSING_PARAMS)
        return messages.add_signature(content, signature, self.variant), None

    def _fill_template(self, template_id: str, data: Fields) -> str:
        template = self.templates.get(template_id)
        if template is None:
            raise Refusal(NO_TEMPLATE)
        values = {}
        for name in messages.variables(template):
            value = data.get(name)
            if value is None:
                raise Refusal(MISSING_TEMPLATE_DATA)
            if isinstance(value, bool) or not isinstance(value, (str, int, float)):
                raise Refusal(INVALID_TEMPLATE_DATA)
            values[name] = str(value)
        return messages.fill(template, values)

    def _bill(self, numbers: list[str], countries: list[messages.Country], text: str) -> list[Message]:
        parts_of_text = parts.count(text).parts
        billed = []
        for n, (number, country) in enumerate(zip(numbers, countries, strict=True), self.state.last + 1):
            effect = choices.effect_of(number)
            count = parts_of_text + 1 if effect == "parts" else parts_of_text
            iso = "CA" if effect == "iso" else country.iso
            price = self.tariff.price(iso, count)
            billed.append(Message(self.state.mark("message", n).hex(), number, iso, country.cc, count, price))
        return billed

    def _accept(self, request: Request, billed: list[Message], price: int, *, passcode_ttl: int | None = None) -> None:
        if not self.state.accept(request, billed, price, passcode_ttl=passcode_ttl):
            raise Refusal(wire.INSUFFICIENT_FUNDS)

    def _record(self, message: Message) -> dict[str, Any]:
        to = message.number
        if choices.effect_of(to) == "plus":
            to = to.removeprefix("+")
        return {
            "id": message.id, "to": to, "iso": message.iso, "cc": message.cc,
            self._parts_field: message.parts, "price": format_money(message.price),
        }  # fmt: skip

    def _new_code(self, digits: int) -> str:
        mark = int.from_bytes(self.state.mark("passcode", self.state.last + 1))
        return f"{mark % 10**digits:0{digits}d}"

    def _limit_sends(self, number: str) -> None:
        if self.rules.sends is None:
            return
        if self.state.count_passcodes(number, since=self.clock.now() - SEND_WINDOW) >= self.rules.sends:
            raise Refusal(LIMIT_EXCEEDED)

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
        self.state.count_wrong_code(number, intent)
        return False


def format_money(micros: int) -> str:
    return f"{micros // 1_000_000}.{micros % 1_000_000:06d}"


def parse_money(amount: str | float | Decimal) -> int:
    """Return an amount in millionths.

    Raises:
        UsageError: it is no amount of zero or more, or more than a balance can hold.
    """
    try:
        exact = Decimal(str(amount)).quantize(Decimal("0.000001"))
    except InvalidOperation:
        raise UsageError(f"an amount such as 12.50 was expected, got {amount!r}") from None
    micros = wire.micros(exact)
    if micros is None:
        raise UsageError(f"an amount of zero or more was expected, got {amount!r}")
    if micros > FARTHEST:
        raise UsageError(f"an amount of at most {FARTHEST // 1_000_000:,} was expected, got {amount!r}")
    return micros


# -- the fields of a request


def _read_object(content_type: str, body: bytes) -> Fields:
    if content_type != "application/json" or len(body) > MAX_BYTES:
        raise Refusal(INVALID_PARAMS)
    try:
        text = body.decode(json.detect_encoding(body))
        fields = _decode(text)
        if "\\u" in text:
            json.dumps(fields, ensure_ascii=False).encode()  # half a surrogate pair is JSON but no text
    except (ValueError, RecursionError):
        raise Refusal(INVALID_PARAMS) from None
    if not isinstance(fields, dict):
        raise Refusal(INVALID_PARAMS)
    return fields


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_decode: Final = json.JSONDecoder(parse_constant=_reject_constant).decode


def _text(fields: Fields, name: str, *, longest: int | None = None) -> str | None:
    value = fields.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str) or (longest is not None and len(value) > longest):
        raise Refusal(INVALID_PARAMS)
    return value


def _integer(fields: Fields, name: str, low: int, high: int) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or value != value // 1 or not low <= value <= high:  # 5.0 is an integer, as in JSON Schema
        raise Refusal(INVALID_PARAMS)
    return int(value)


def _signature(fields: Fields) -> str | None:
    signature = _text(fields, "signature")
    shortest, longest = wire.SIGNATURE_LENGTH
    if signature is not None and not shortest <= len(signature) <= longest:
        raise Refusal(INVALID_SIGNATURE)
    return signature


def _code(fields: Fields) -> str | None:
    code = _text(fields, "code")
    if code is not None and not wire.CODE.fullmatch(code):
        raise Refusal(INVALID_PARAMS)
    return code


def _single_number(fields: Fields) -> str:
    number = _text(fields, "to")
    if number is None:
        raise Refusal(wire.MISSING_PARAMS)
    return number


def _recipients(fields: Fields) -> list[str]:
    numbers = fields.get("to")
    if numbers is None or numbers in ("", []):
        raise Refusal(wire.MISSING_PARAMS)
    if isinstance(numbers, str):
        numbers = [numbers]
    if not isinstance(numbers, list) or len(numbers) > wire.MAX_RECIPIENTS:
        raise Refusal(INVALID_PARAMS)
    if not all(isinstance(number, str) for number in numbers):
        raise Refusal(INVALID_PARAMS)
    return numbers


def _countries(numbers: list[str]) -> list[messages.Country]:
    code = choices.error_code_of(numbers)
    if code:
        raise Refusal(code)
    countries = []
    for number in numbers:
        country = messages.country_of(number)
        if country is None:
            raise Refusal(wire.INVALID_PHONE_NUMBERS)
        countries.append(country)
    return countries
