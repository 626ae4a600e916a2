"""What comes back in the envelope: the records of messages, a passcode sent, a passcode checked."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import itemgetter
from typing import Any, Literal, NamedTuple, overload

from .._amounts import amount
from .._showing import mask, masked, visible
from .interface import E164, MAX_RECIPIENTS, is_int, micros


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
        made = f"<MessageRecord for {mask(self.to)}, iso {self.iso}, {self.parts} parts, price {self.price}>"
        return visible(made)

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

    def total(self, what: Literal["parts", "price_micros"]) -> int | None:
        """Return the sum of the parts or prices, None if one is not known."""
        terms = [(getattr(billing, what), times) for billing, times in self.tally.items()]
        return None if any(value is None for value, _ in terms) else sum(value * times for value, times in terms)

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
        return f"<Messages: {len(self)}>"


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
        others = f", missing {len(self.missing)}, unexpected {len(self.unexpected)}"
        shown = others if self.missing or self.unexpected else ""
        return visible(f"<SendReply: messages {len(self.messages)}{shown}, total {self.currency} {self.total}>")

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
        parts, total = records.total("parts"), records.total("price_micros")
        if self.message_count is not None and parts not in (None, self.message_count):
            found.append(f"messageCount says {self.message_count}, the parts add up to {parts}")
        if self.total_micros is not None and total is not None and self.total_micros != total:
            found.append(f"totalAmount says {amount(self.total_micros)}, the prices add up to {amount(total)}")
        if self.unexpected:
            found.append(f"{len(self.unexpected)} records are of numbers that were not asked for, or repeated")
        repeated = len(records) - len(set(records.ids))
        if repeated and None in records.ids:
            repeated -= records.ids.count(None) - 1
        if repeated:
            found.append(f"{repeated} records repeat the id of another one")
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

    def __repr__(self) -> str:
        """Mask a number that the service wrote into its id of the request, as that of the record is."""
        return visible(masked(f"<OtpReply: {self.record!r}, request {self.request_id}>"))


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


def read_send(
    data: Any, to: Sequence[str], *, request_id: str | None = None, canonical: Callable[[str], str] = str
) -> SendReply:
    """Return the send result in an envelope's ``data``, its records matched to ``to`` by number.

    A record that spells a number otherwise than it was asked is matched where ``canonical`` makes the two equal, such
    as +549 11 and +54 11 in Argentina.

    Raises:
        Unreadable: ``data`` is not an object or ``messages`` not an array of objects.
    """
    records = data.get("messages") if isinstance(data, dict) else None
    if not isinstance(records, list) or not set(map(type, records)) <= {dict}:
        raise Unreadable("the reply has no list of message records")
    read, unexpected = _matched(_messages(records), to, canonical)
    known = set(read.to)
    return SendReply(
        messages=read,
        missing=tuple(number for number in to if number not in known) if len(read) < len(to) else (),
        unexpected=unexpected,
        recipients=_count(data.get("recipients")),
        message_count=_count(data.get("messageCount")),
        currency=_short(data.get("currency")),
        total_micros=micros(data.get("totalAmount")),
        request_id=request_id,
    )


def _matched(
    read: Messages, to: Sequence[str], canonical: Callable[[str], str]
) -> tuple[Messages, tuple[MessageRecord, ...]]:
    """Return the first record of each number, by the number as it was asked, and all other records."""
    if len(set(read.to)) == len(read) and set(to).issuperset(read.to):
        return read, ()
    number_of = dict(zip(to, to, strict=True)) | {number[1:]: number for number in to}
    matched: dict[str, MessageRecord] = {}
    others = []
    for record in read:
        number = number_of.get(record.to)
        if number is None or number in matched:
            others.append(record)
        else:
            matched[number] = dataclasses.replace(record, to=number)
    unexpected = []
    by_phone = _by_phone([number for number in to if number not in matched], canonical) if others else {}
    for record in others:
        number = by_phone.pop(_phone_of(record.to, canonical), None) if record.to not in number_of else None
        if number is None:
            unexpected.append(record)
        else:
            matched[number] = dataclasses.replace(record, to=number)
    return Messages.of(matched.values()), tuple(unexpected)


def _by_phone(numbers: Sequence[str], canonical: Callable[[str], str]) -> dict[str, str]:
    """Return numbers by their canonical form, but for those that share one: nobody knows which of them is meant."""
    phones = [_phone_of(number, canonical) for number in numbers]
    repeats = Counter(phones)
    return {phone: number for phone, number in zip(phones, numbers, strict=True) if repeats[phone] == 1}


def _phone_of(number: str, canonical: Callable[[str], str]) -> str:
    """Return the canonical form of a number that may lack its plus, and what is no number as it is."""
    plus = number if number.startswith("+") else f"+{number}"
    return canonical(plus) if E164.fullmatch(plus) else number


def read_otp_send(
    data: Any, to: str, *, request_id: str | None = None, canonical: Callable[[str], str] = str
) -> OtpReply:
    """Return the message record in an envelope's ``data``.

    Raises:
        Unreadable: ``data`` is not an object, or does not speak of this number.
    """
    found = _messages([_object_of(data, to, canonical)])[0]
    return OtpReply(record=dataclasses.replace(found, to=to), request_id=request_id)


def read_verify(
    data: Any, to: str, *, request_id: str | None = None, canonical: Callable[[str], str] = str
) -> VerifyReply:
    """Return whether the code was valid.

    Raises:
        Unreadable: ``data`` is not an object, its ``to`` is not the number that was asked for, with its plus, or
            ``valid`` is not true or false.
    """
    valid = _object_of(data, to, canonical, needs_plus=True).get("valid")
    if not isinstance(valid, bool):
        raise Unreadable("the reply does not say whether the code is valid")
    return VerifyReply(to=to, valid=valid, request_id=request_id)


def _object_of(data: Any, to: str, canonical: Callable[[str], str], *, needs_plus: bool = False) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise Unreadable("the reply has no data object")
    number = data.get("to")
    if number == to:
        return data
    if not isinstance(number, str) or (needs_plus and not number.startswith("+")):
        raise Unreadable("the reply does not speak of this number")
    if _phone_of(number, canonical) != canonical(to):
        raise Unreadable("the reply does not speak of this number")
    return data


_FIELDS = ("to", "id", "iso", "cc", "parts", "price")
_ABSENT = dict.fromkeys(_FIELDS)
_EACH = [*map(itemgetter, _FIELDS)]
FEW = 4  # records that are read sooner one by one
_PLAIN = {str, int, type(None)}


def _messages(records: Sequence[dict[str, Any]]) -> Messages:
    """Read records column by column: the fields of each message, and its billing, which many records share."""
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
    return Billing(_country(iso), _calling_code(cc), _count(parts) or None, micros(price))


def _country(value: Any) -> str | None:
    """Return a country code in capitals, as every table of countries has it."""
    text = _short(value)
    return text.upper() if text is not None and len(text) == 2 and text.isascii() else text


def _calling_code(value: Any) -> str | None:
    """Return a calling code as text; some services write it as a number."""
    return str(value) if is_int(value) and 0 < value < 10_000 else _short(value)


def _short(value: Any) -> str | None:
    """Return a text that is nobody's number: it stands once for many messages, and longer than any of them."""
    text = _text(value)
    return None if text is None or sum(map(str.isdigit, text)) > _MOST_DIGITS else text


def _parts_elsewhere(billing: Billing, fields: Mapping[str, Any]) -> Billing:
    if billing.parts is not None:
        return billing
    return billing._replace(parts=_count(fields.get("count")) or _count(fields.get("messageCount")) or None)


LONGEST_TEXT = 256  # characters of an id, a country, a currency; far above any
_MOST_DIGITS = 4  # of a country, a calling code or a currency: a number has more


def _text(value: Any) -> str | None:
    if isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT:
        return value if value.isascii() else whole(value)
    return None


def _texts(values: Sequence[Any]) -> Sequence[str | None]:
    """Return each value as ``_text`` does; a column in which all are plain text is checked at once."""
    if len(values) > FEW and set(map(type, values)) == {str} and "".join(values).isascii():
        sizes = set(map(len, values))
        if 0 not in sizes and max(sizes) <= LONGEST_TEXT:
            return values
    return [_text(value) for value in values]


def _count(value: Any) -> int | None:
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"[0-9]{1,9}", value) else None
    return value if is_int(value) and 0 <= value < 10**9 else None


class Unreadable(ValueError):
    """A reply that is not an envelope of the interface; what it means for the request is for the caller to say."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The JSON envelope of every reply: ``code`` "0" on success, else an error number."""

    code: str
    message: str
    data: Any


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


class _NameTwice(ValueError):
    """An object says something twice; each reader of JSON believes another one of the two."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _NameTwice
    return found


MOST_VALUES = 200_000  # of a reply, by its commas and brackets: far above any, and a list for each byte takes gigabytes
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=Decimal)
_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=Decimal, object_pairs_hook=_each_once)


def read_envelope(raw: bytes) -> Envelope:
    """Return the envelope in these bytes.

    Raises:
        Unreadable: the bytes are not JSON of the interface: not Unicode, not an object, a ``code`` that is not text,
            NaN or Infinity, a name twice in one object, nesting that is too deep, or more values than any reply has.
    """
    if sum(map(raw.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise Unreadable("the reply holds more values than any of this interface")
    try:
        found = _parsed(raw.decode(json.detect_encoding(raw), "surrogatepass"))
    except _NameTwice:
        raise Unreadable("the reply has a name twice in one object") from None
    except (ValueError, RecursionError, ArithmeticError) as error:  # the last from a number with a huge exponent
        raise Unreadable(f"the reply is not JSON ({type(error).__name__})") from None
    if not isinstance(found, dict):
        raise Unreadable(f"the reply is JSON but not an object ({type(found).__name__})")
    code = found.get("code")
    if not isinstance(code, str):
        raise Unreadable(f"the envelope's code is not text ({type(code).__name__})")
    message = found.get("message")
    return Envelope(whole(code), whole(message) if isinstance(message, str) else "", found.get("data"))


def _parsed(text: str) -> Any:
    """Return the JSON in a text.

    A reader that looks at the names of every object takes half as long again. A colon stands behind each name, so
    where there are no more colons than names that were read, none was read twice; only other replies are read again.
    """
    found = _DECODER.decode(text)
    if text.count(":") != _names(found):
        found = _STRICT.decode(text)
    for one in (found, found.get("data") if isinstance(found, dict) else None):
        if isinstance(one, dict) and len({*map(str.casefold, one)}) < len(one):
            raise _NameTwice
    return found


def _names(found: Any) -> int:
    """Return how many names an envelope, its data and the message records have."""
    data = found.get("data") if isinstance(found, dict) else None
    records = data.get("messages") if isinstance(data, dict) else None
    objects = [found, data, *(records if isinstance(records, list) else ())]
    return sum(len(one) for one in objects if type(one) is dict)


def whole(text: str) -> str:
    """Return the text with half surrogates, which JSON can hold and UTF-8 and a ledger cannot, as question marks."""
    return text.encode("utf-8", "replace").decode()


def request_id(headers: Iterable[tuple[str, str]]) -> str | None:
    """Return the value of the first header whose name ends in ``request-id`` (beyond the interface), else None.

    Example:
        >>> request_id([("X-Uni-Request-Id", "abc")])
        'abc'
    """
    return next((value for name, value in headers if name.lower().endswith("request-id")), None)
