"""What the journal shows of a request without its secrets: access key, signature, tokens, cookies.

A value is masked by its name, in the address, the headers and the body. The access key is also masked wherever else it
appears in the request, as in a ``Referer``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import unquote_plus

MASK: Final = "***"
_WORDS: Final = ("key", "secret", "token", "passw", "authorization", "cookie")  # one stands in every secret name
_SECRET_NAME: Final = re.compile(r"access[-_]?key|secret|token|passw|api[-_]?key|authorization|cookie", re.I)
# In a query `signature` is the one of the request; in a body it is the sender's name and stays.
_SECRET_QUERY: Final = re.compile(rf"{_SECRET_NAME.pattern}|^signature$|^key$", re.I)
_SECRET_HEADER: Final = re.compile(rf"{_SECRET_NAME.pattern}|signature", re.I)
_PERCENT: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_SECRET_FIELD: Final = re.compile(
    rf'("[^"\\]{{0,40}}?(?:{_SECRET_NAME.pattern})[^"\\]{{0,40}}"[ \t\r\n]{{0,20}}:[ \t\r\n]{{0,20}})'
    r'(?:"(?:[^"\\]|\\.)*+"?|[^\s,}\]"]++)',
    re.I | re.S,
)
SHORTEST: Final = 6  # a shorter key stands in ordinary words too, so it is masked by its name only


def target(path: str, secrets: Iterable[str] = ()) -> str:
    """Return the target of a request, its path and query, without its secrets.

    Example:
        >>> target("/?action=otp.send&accessKeyId=abc&signature=Zm9v")
        '/?action=otp.send&accessKeyId=***&signature=***'
    """
    before, mark, query = path.partition("?")
    pairs = (_pair(piece) for piece in query.split("&"))
    return wherever(before + mark + "&".join(pairs), secrets)


def _pair(piece: str) -> str:
    name, mark, _value = piece.partition("=")
    return f"{name}={MASK}" if mark and _is_secret_query(name) else piece


@lru_cache(maxsize=512)  # the same few names come with every request
def _is_secret_query(name: str) -> bool:
    return _SECRET_QUERY.search(unquote_plus(name)) is not None


@lru_cache(maxsize=512)
def _is_secret_header(name: str) -> bool:
    return _SECRET_HEADER.search(name) is not None


def header(name: str, value: str, secrets: Iterable[str] = ()) -> str:
    """Return the value of a header, masked where its name says that it is a secret."""
    return MASK if _is_secret_header(name) else wherever(value, secrets)


def text(body: str, secrets: Iterable[str] = ()) -> str:
    """Return a body of JSON, whole or cut off, without the fields whose names say that they are secrets.

    Example:
        >>> text('{"accessKeyId": "abc", "to": "+12025550123", "signature": "Acme"}')
        '{"accessKeyId": "***", "to": "+12025550123", "signature": "Acme"}'
    """
    lowered = body.lower()
    if any(word in lowered for word in _WORDS):  # most bodies have none, and this is the quicker question
        body = _SECRET_FIELD.sub(rf'\1"{MASK}"', body)
    return wherever(body, secrets)


def wherever(value: str, secrets: Iterable[str]) -> str:
    """Return a text with all secrets masked that are too long to be ordinary words."""
    for secret in secrets:
        if len(secret) >= SHORTEST:
            value = value.replace(secret, MASK)
    return value


def key_of(path: str) -> tuple[str, ...]:
    """Return the secrets in the query of a request, to be masked wherever else they occur.

    Example:
        >>> key_of("/?action=otp.send&accessKeyId=a%2Fb")
        ('a/b', 'a%2Fb', 'a%2fb')
    """
    pairs = (piece.partition("=") for piece in path.partition("?")[2].split("&"))
    as_sent = [value for name, _, value in pairs if value and _is_secret_query(name)]
    spelled = [way(value) for way in (unquote_plus, str, _in_small_letters, _in_capitals) for value in as_sent]
    return tuple(dict.fromkeys(spelled))


def _in_small_letters(value: str) -> str:
    """Write the numbers behind percent signs as .NET does."""
    return _PERCENT.sub(lambda found: found[0].lower(), value)


def _in_capitals(value: str) -> str:
    return _PERCENT.sub(lambda found: found[0].upper(), value)
