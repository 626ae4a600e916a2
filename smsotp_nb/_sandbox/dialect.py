"""Describe how a client signed a request, for the journal."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, quote, quote_plus

from .access import DOTNET, JAVASCRIPT, SECONDS_END, escaped, signed_texts, spellings
from .masking import MASK

ALGORITHM: Final = "hmac-sha256"
ENCODERS: Final[Mapping[str, Callable[[str], str]]] = {
    "values as they are": str,
    "values percent-encoded": lambda value: quote(value, safe=""),
    "values percent-encoded in lower case": partial(escaped, small=True),
    "values form-encoded": quote_plus,
    "values form-encoded in lower case": partial(escaped, how=quote_plus, small=True),
    "values form-encoded as by .NET": partial(escaped, how=quote_plus, safe=DOTNET, tilde=False),
    "values form-encoded as by .NET, in lower case": partial(escaped, how=quote_plus, safe=DOTNET, small=True),
    "values form-encoded as by Ruby or Java": partial(escaped, how=quote_plus, safe="*", tilde=False),
    "values encoded as by encodeURIComponent": lambda value: quote(value, safe=JAVASCRIPT),
}


def dialect(query_string: str, secret: str) -> str:
    """Return how the query of a request was signed: digest, time and the encoding of values.

    Example:
        >>> dialect("action=otp.send&algorithm=hmac-sha256&timestamp=1700000000&signature=00", "secret")
        'hmac-sha256, signature of another text or secret'
        >>> dialect("action=otp.send&accessKeyId=k", "secret")
        ''
    """
    pairs = parse_qsl(query_string, keep_blank_values=True)
    query = dict(pairs)
    if query.get("algorithm", "").lower() != ALGORITHM or query.get("signature", MASK) == MASK:
        return query.get("algorithm", "")
    for text in signed_texts(query_string):
        digest = hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()
        if any(hmac.compare_digest(one.encode(), query["signature"].encode()) for one in spellings(digest)):
            said = (ALGORITHM, _digest(query["signature"], digest), _time(query.get("timestamp", "")))
            return ", ".join(part for part in (*said, _encoding(text, pairs)) if part)
    return f"{ALGORITHM}, signature of another text or secret"


def _digest(signature: str, digest: bytes) -> str:
    if signature.lower() == digest.hex():
        return "hexadecimal"
    return "base64 for addresses" if re.search(r"[-_]", signature) else "base64"


def _time(timestamp: str) -> str:
    if not timestamp.isdigit():
        return ""
    return "seconds" if int(timestamp[:20]) < SECONDS_END else "milliseconds"


def _encoding(text: str, pairs: list[tuple[str, str]]) -> str:
    """Return how values were encoded in the signed text; nothing if it makes no difference."""
    rest = sorted(pair for pair in pairs if pair[0] != "signature")
    texts = {
        name: "&".join(f"{encode(key)}={encode(value)}" for key, value in rest) for name, encode in ENCODERS.items()
    }
    if len(set(texts.values())) == 1:
        return ""
    return next((name for name, one in texts.items() if one == text), "values escaped in a way of its own")
