"""The query of a request: the key alone, or signed with the key's secret (HMAC mode, beyond the interface).

The signature is an HMAC-SHA256 over all other query pairs, sorted by name and joined as ``k=v&...``. The body is not
signed. Services accept several spellings; this client sends milliseconds and base64.

Keys come in and queries go out sealed. What is between has no name here: a traceback may print the variables of every
frame, and a memoryview shows nothing of what it views.
"""

from __future__ import annotations

import binascii
import hmac
from urllib.parse import quote_plus, urlencode

from ..settings import Secret

# str.translate has no frame, which quote_plus has; a key is plain ASCII.
_QUOTED = {number: quote_plus(chr(number)) for number in range(128)}


def plain(action: str, key: Secret) -> Secret:
    """Return the encoded query of an attempt that is not signed.

    Example:
        >>> plain("otp.send", Secret("key")).reveal()
        'action=otp.send&accessKeyId=key'
    """
    return Secret(f"action={quote_plus(action)}&accessKeyId={_quoted(key)}")


def signed(action: str, key: Secret, secret: Secret, *, now: float, nonce: str) -> Secret:
    """Return the encoded query of one signed attempt.

    Args:
        now: the wall clock, seconds since 1970; the service takes ten minutes either way.
        nonce: 8 to 64 characters, never used before.

    Example:
        >>> signed("otp.send", Secret("key"), Secret("secret"), now=1.5, nonce="abcdefgh").reveal().count("&")
        5
    """
    others = {"action": action, "algorithm": "hmac-sha256", "nonce": nonce, "timestamp": str(round(now * 1000))}
    pairs = Secret(f"accessKeyId={_quoted(key)}&{urlencode(others)}")  # sorted by name
    return Secret(f"{pairs.reveal()}&signature={quote_plus(_signature(secret, pairs))}")


def _quoted(key: Secret) -> str:
    return key.reveal().translate(_QUOTED)


def _signature(secret: Secret, text: Secret) -> str:
    digest = hmac.digest(memoryview(secret.reveal().encode()), memoryview(text.reveal().encode()), "sha256")
    return binascii.b2a_base64(digest, newline=False).decode()
