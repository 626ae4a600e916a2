"""Values that nobody else has, and how each may be spelled in what leaves the package."""

from __future__ import annotations

import base64
import html
import json
from functools import cache
from urllib.parse import quote, quote_plus


def hits(text: str | bytes, *canaries: str) -> list[str]:
    """Return the canaries that stand in a text in any spelling; numbers with or without their plus."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    return [canary for canary in canaries if any(spelled in raw for spelled in spellings(canary))]


@cache
def spellings(canary: str) -> frozenset[bytes]:
    """Return a canary plain, as an address, HTML or JSON spells it, in base64 and hex inside of longer texts.

    A canary of digits may also be an integer, as a database writes one.
    """
    plain = canary.lstrip("+")
    texts = {plain, quote(plain, safe=""), quote(plain), quote_plus(plain), html.escape(plain), json.dumps(plain)[1:-1]}
    texts |= {plain.encode().hex(), plain.encode().hex().upper()}
    integers = {int(plain).to_bytes(4 if int(plain) < 2**31 else 6, "big")} if plain.isdecimal() else set()
    return frozenset(text.encode() for text in texts) | _base64(plain.encode()) | integers


def _base64(raw: bytes) -> set[bytes]:
    """Return the part of the base64 that is the same whatever stands before and after, for the three alignments."""
    found = set()
    for before in range(3):
        whole = len(raw) + before - (len(raw) + before) % 3  # what follows decides the rest
        first = -(-before * 8 // 6)
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            found.add(encode(b"\0" * before + raw)[first : whole // 3 * 4])
    return found
