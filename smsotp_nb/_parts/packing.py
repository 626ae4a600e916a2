"""One text: its alphabet, its units, its pieces."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from .._calling import in_our_words, not_text, refuse

Encoding = Literal["gsm7", "ucs2"]

# 3GPP TS 23.038, 6.2.1 and 6.2.1.1. The escape itself is no character of a text.
GSM: Final = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
GSM_EXTENSION: Final = "\f^{}\\[~]|€"

SINGLE: Final = {"gsm7": 160, "ucs2": 70}
JOINED: Final = {"gsm7": 153, "ucs2": 67}

MANY: Final = "; for many texts there is parts.counts"
OUTSIDE: Final = re.compile(f"[^{re.escape(GSM + GSM_EXTENSION)}]")


@dataclass(frozen=True, slots=True)
class Parts:
    """What a text costs in parts, by the usual rule.

    ``units`` are septets (gsm7) or UTF-16 units (ucs2), ``room`` is the number of units free before one more part is
    needed, ``forcing`` are the characters that force ucs2, each once, in the order of the text.

    Example:
        >>> Parts(encoding="gsm7", parts=1, units=5, room=155, forcing=()).parts
        1
    """

    encoding: Encoding
    parts: int
    units: int
    room: int
    forcing: tuple[str, ...]


@in_our_words
def count(text: str) -> Parts:
    """Count the parts of one text, and say which characters force the more expensive encoding. An empty text is one
    part.

    Example:
        >>> count("20 € off")
        Parts(encoding='gsm7', parts=1, units=9, room=151, forcing=())
        >>> count("It’s 20% off").forcing
        ('’',)
    """
    refuse(not_text("text", text, hint=MANY))
    forcing = tuple(dict.fromkeys(OUTSIDE.findall(text)))
    encoding: Encoding = "ucs2" if forcing else "gsm7"
    units = units_of(text, encoding)
    if units <= SINGLE[encoding]:
        return Parts(encoding, 1, units, SINGLE[encoding] - units, forcing)
    pieces = _pack(text, encoding)
    return Parts(encoding, len(pieces), units, JOINED[encoding] - units_of(pieces[-1], encoding), forcing)


@in_our_words
def split(text: str) -> list[str]:
    """Split a text into its parts as they would be sent; joined they are the text.

    Example:
        >>> [len(piece) for piece in split("a" * 152 + "€" + "a" * 152)]
        [152, 152, 1]
    """
    refuse(not_text("text", text, hint=MANY))
    encoding: Encoding = "ucs2" if OUTSIDE.search(text) else "gsm7"
    return [text] if units_of(text, encoding) <= SINGLE[encoding] else _pack(text, encoding)


def units_of(text: str, encoding: Encoding) -> int:
    """Return septets (gsm7) or UTF-16 units (ucs2) of a text."""
    if encoding == "gsm7":
        return len(text) + sum(map(text.count, GSM_EXTENSION))
    return len(text) + sum(char > "\uffff" for char in text)


def _pack(text: str, encoding: Encoding) -> list[str]:
    pieces = []
    start = used = 0
    for index, char in enumerate(text):
        units = units_of(char, encoding)
        if used + units > JOINED[encoding]:
            pieces.append(text[start:index])
            start, used = index, 0
        used += units
    return [*pieces, text[start:]]
