"""The query of a request: the key alone, or signed with the key's secret (HMAC mode, beyond the interface).

The signature is an HMAC-SHA256 over all other query pairs, sorted by name and joined as ``k=v&...``. The body is not
signed. Services accept several spellings; this client sends milliseconds and base64.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from urllib.parse import quote_plus, urlencode


def plain(action: str, key: str) -> str:
    """Return the encoded query of an attempt that is not signed.

    Example:
        >>> plain("otp.send", "key")
        'action=otp.send&accessKeyId=key'
    """
    return f"action={quote_plus(action)}&accessKeyId={quote_plus(key)}"


def signed(action: str, key: str, secret: str, *, now: float, nonce: str) -> str:
    """Return the encoded query of one signed attempt.

    Args:
        now: the wall clock, seconds since 1970; the service takes ten minutes either way.
        nonce: 8 to 64 characters, never used before.

    Example:
        >>> signed("otp.send", "key", "secret", now=1.5, nonce="abcdefgh").count("&")
        5
    """
    pairs = {
        "action": action, "accessKeyId": key,
        "algorithm": "hmac-sha256", "timestamp": str(round(now * 1000)), "nonce": nonce,
    }  # fmt: skip
    text = urlencode(sorted(pairs.items()))
    digest = hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()
    return urlencode({**pairs, "signature": base64.b64encode(digest).decode()})
