"""The envelope of every reply: JSON as the interface has it, or nothing that is believed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any


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
