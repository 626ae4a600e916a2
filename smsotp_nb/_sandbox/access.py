"""Check who sends a request: the access key, and in HMAC mode the signature of the query (beyond the interface).

The body is not signed. Clients in the field write the digest as base64 or hex, the time in seconds or milliseconds, and
sign values raw, percent-encoded, form-encoded or just as they stand in the address: all of it is taken.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from typing import Final
from urllib.parse import parse_qsl, quote, quote_plus

MISSING_KEY: Final = "104110"
INVALID_SIGNATURE: Final = "104201"
INVALID_TIMESTAMP: Final = "104202"

TOLERANCE: Final = 600.0  # seconds
MOST_NONCES: Final = 100_000
NONCE: Final = re.compile(r".{8,64}", re.S)
# What encoders leave as it is beside letters, digits, -._: nothing, a star (Java, Ruby), those of .NET, of JavaScript
JAVASCRIPT: Final = "!'()*"
DOTNET: Final = "!*()"
UNESCAPED: Final = ("", "*", DOTNET, JAVASCRIPT)
_ESCAPE: Final = re.compile(r"%[0-9A-F]{2}")
SECONDS_END: Final = 100_000_000_000  # a timestamp below is in seconds (until the year 5138), above in milliseconds


def _encoders() -> Iterable[Callable[[str], str]]:
    """Return every way to escape a value: a blank as %20 or +, a tilde as it is or as %7E, hex in either case."""
    for safe, how, tilde, small in product(UNESCAPED, (quote, quote_plus), (True, False), (False, True)):
        yield partial(escaped, safe=safe, how=how, tilde=tilde, small=small)


def escaped(
    value: str, *, safe: str = "", how: Callable[..., str] = quote, tilde: bool = True, small: bool = False
) -> str:
    """Escape a value, ``how`` for the blank; ``tilde`` leaves that as it is, ``small`` writes %2f for %2F."""
    written = how(value, safe=safe)
    written = written if tilde else written.replace("~", "%7E")
    return _ESCAPE.sub(lambda found: found[0].lower(), written) if small else written


ENCODERS: Final = tuple(_encoders())


class Nonces:
    """Remembers every nonce for as long as its timestamp could be taken, the last `MOST_NONCES` of them."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}

    def take(self, nonce: str, now: float) -> bool:
        """Return whether this nonce is new, and remember it."""
        while self._seen:  # insertion order is the order of time
            oldest = next(iter(self._seen))
            if now - self._seen[oldest] <= 2 * TOLERANCE:
                break
            del self._seen[oldest]
        if nonce in self._seen:
            return False
        if len(self._seen) >= MOST_NONCES:
            del self._seen[next(iter(self._seen))]
        self._seen[nonce] = now
        return True


class Access:
    """Checks the query of a request.

    Args:
        secret: the access key secret; with it HMAC mode is on and every request must be signed.
        now: the machine's clock, which tests cannot move, because clients sign with theirs.
    """

    def __init__(self, secret: str | None, now: Callable[[], float]) -> None:
        self._secret = secret
        self._now = now
        self._nonces = Nonces()

    def refusal(self, query: Mapping[str, str], query_string: str) -> str:
        """Return the error code that this query brings, else ``""``."""
        if not query.get("accessKeyId"):
            return MISSING_KEY
        if self._secret is None:
            return ""
        if query.get("algorithm", "").lower() != "hmac-sha256" or not NONCE.fullmatch(query.get("nonce", "")):
            return INVALID_SIGNATURE
        if not self._in_time(query.get("timestamp", "")):
            return INVALID_TIMESTAMP
        if not self._signed(query, query_string, self._secret.encode()):
            return INVALID_SIGNATURE
        return "" if self._nonces.take(query["nonce"], self._now()) else INVALID_SIGNATURE

    def _in_time(self, timestamp: str) -> bool:
        if not re.fullmatch(r"[0-9]{1,16}", timestamp):
            return False
        value = int(timestamp)
        seconds = value if value < SECONDS_END else value / 1000
        return abs(self._now() - seconds) <= TOLERANCE

    @staticmethod
    def _signed(query: Mapping[str, str], query_string: str, secret: bytes) -> bool:
        given = query.get("signature", "")
        found = False
        for text in signed_texts(query_string):
            digest = hmac.new(secret, text.encode(), hashlib.sha256).digest()
            for spelling in spellings(digest):
                found |= hmac.compare_digest(spelling.encode(), given.encode())
        return found


def spellings(digest: bytes) -> tuple[str, ...]:
    """Return the ways to write a digest; a plus that a client did not escape arrives as a blank."""
    text = base64.b64encode(digest).decode()
    return text, text.replace("+", " "), base64.urlsafe_b64encode(digest).decode(), digest.hex()


def signed_texts(query_string: str) -> tuple[str, ...]:
    """Return the texts a client may have signed for this query, each once.

    Example:
        >>> signed_texts("b=1%202&a=x&signature=s")
        ('a=x&b=1 2', 'a=x&b=1%202', 'a=x&b=1+2')
    """
    pairs = sorted(pair for pair in parse_qsl(query_string, keep_blank_values=True) if pair[0] != "signature")
    as_sent = sorted(pair for pair in _split(query_string) if pair[0] != "signature")
    encoded: Iterable[Iterable[tuple[str, str]]] = (
        pairs,
        *([(encode(key), encode(value)) for key, value in pairs] for encode in ENCODERS),
        as_sent,
    )
    return tuple(dict.fromkeys("&".join(f"{key}={value}" for key, value in form) for form in encoded))


def _split(query_string: str) -> list[tuple[str, str]]:
    pieces = (piece.partition("=") for piece in query_string.split("&") if piece)
    return [(key, value) for key, _, value in pieces]
