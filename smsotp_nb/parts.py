"""How a text is cut into billed parts: GSM 03.38 or UCS-2, packed greedily.

The service shows no rule for this; what stands here is the usual one and gives an estimate (``wire.NOT_SHOWN``).
A text whose every character is in the GSM alphabet counts septets, any other text UTF-16 units. What does not fit one
part loses room in each to the header that joins the parts. An escaped character and a surrogate pair are two units
and never straddle two parts. National shift tables are not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

Encoding = Literal["gsm7", "ucs2"]

# 3GPP TS 23.038, 6.2.1 and 6.2.1.1. The escape itself is no character of a text.
GSM: Final = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
GSM_EXTENSION: Final = "\f^{}\\[~]|€"

SINGLE: Final = {"gsm7": 160, "ucs2": 70}
JOINED: Final = {"gsm7": 153, "ucs2": 67}

_OUTSIDE = re.compile(f"[^{re.escape(GSM + GSM_EXTENSION)}]")
_CHUNK = 1 << 15  # texts measured at a time; keeps the arrays of `counts` small


@dataclass(frozen=True, slots=True)
class Parts:
    """What a text costs in parts, by the usual rule.

    ``units`` are septets (gsm7) or UTF-16 units (ucs2), ``room`` the units still free before one more part is needed,
    ``forcing`` the characters that force ucs2, each once, in the order of the text.

    Example:
        >>> Parts(encoding="gsm7", parts=1, units=5, room=155, forcing=()).parts
        1
    """

    encoding: Encoding
    parts: int
    units: int
    room: int
    forcing: tuple[str, ...]


def count(text: str) -> Parts:
    """Count the parts of one text, and say which characters force the dearer encoding.

    An empty text is one part.

    Example:
        >>> count("20 € off")
        Parts(encoding='gsm7', parts=1, units=9, room=151, forcing=())
        >>> count("It’s 20 % off").forcing
        ('’',)
    """
    forcing = tuple(dict.fromkeys(_OUTSIDE.findall(text)))
    encoding: Encoding = "ucs2" if forcing else "gsm7"
    units = _units(text, encoding)
    if units <= SINGLE[encoding]:
        return Parts(encoding, 1, units, SINGLE[encoding] - units, forcing)
    pieces = _pack(text, encoding)
    return Parts(encoding, len(pieces), units, JOINED[encoding] - _units(pieces[-1], encoding), forcing)


def split(text: str) -> list[str]:
    """Return the pieces of a text as they would travel; joined they are the text.

    Example:
        >>> [len(piece) for piece in split("a" * 152 + "€" + "a" * 152)]
        [152, 152, 1]
    """
    encoding: Encoding = "ucs2" if _OUTSIDE.search(text) else "gsm7"
    return [text] if _units(text, encoding) <= SINGLE[encoding] else _pack(text, encoding)


def counts(texts: Iterable[str]) -> tuple[list[int], list[str]]:
    """Count the parts of many texts: the parts of each and the encoding of each, in order.

    Equal to `count` on every text, without a Python step per character.

    Example:
        >>> counts(["Hello", "日" * 71])
        ([1, 2], ['gsm7', 'ucs2'])
    """
    found: list[int] = []
    encodings: list[str] = []
    source = iter(texts)
    while chunk := list(islice(source, _CHUNK)):
        parts, wide = _measure(chunk)
        found += parts.tolist()
        encodings += np.where(wide, "ucs2", "gsm7").tolist()
    return found, encodings


def _units(text: str, encoding: Encoding) -> int:
    if encoding == "gsm7":
        return len(text) + sum(map(text.count, GSM_EXTENSION))
    return len(text) + sum(char > "\uffff" for char in text)


def _pack(text: str, encoding: Encoding) -> list[str]:
    pieces = []
    start = used = 0
    for index, char in enumerate(text):
        units = _units(char, encoding)
        if used + units > JOINED[encoding]:
            pieces.append(text[start:index])
            start, used = index, 0
        used += units
    return [*pieces, text[start:]]


# -- many texts --------------------------------------------------------------------------------------------------------

_Ints = npt.NDArray[np.int64]


def _weights() -> _Ints:
    """Weigh every character of the basic plane, and at the end all others: ucs2 units + outside << 21 + septets << 42.

    One running sum of these gives three; 32,768 texts of 64 characters are the 21 bits' measure (see `_measure`).
    """
    weights = np.full(0x10001, 1 + (1 << 21), dtype=np.int64)
    weights[-1] += 1
    weights[[ord(char) for char in GSM]] = 1 + (1 << 42)
    weights[[ord(char) for char in GSM_EXTENSION]] = 1 + (2 << 42)
    return weights


_WEIGHTS = _weights()
_FIELD = (1 << 21) - 1


def _measure(texts: list[str]) -> tuple[_Ints, npt.NDArray[np.bool_]]:
    """Return the parts of each text and whether it needs ucs2."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    if len(texts) > 1 and int(lengths.sum()) > _FIELD // 2:
        middle = len(texts) // 2
        halves = _measure(texts[:middle]), _measure(texts[middle:])
        return np.concatenate([halves[0][0], halves[1][0]]), np.concatenate([halves[0][1], halves[1][1]])
    if int(lengths.sum()) > _FIELD // 2:
        found = count(texts[0])
        return np.array([found.parts]), np.array([found.encoding == "ucs2"])
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    sums = np.zeros(len(codes) + 1, dtype=np.int64)
    np.cumsum(_WEIGHTS[np.minimum(codes, 0x10000)], out=sums[1:])
    ends = np.cumsum(lengths)
    starts = ends - lengths
    wide = (((sums[ends] >> 21) & _FIELD) - ((sums[starts] >> 21) & _FIELD)) > 0
    parts = np.ones(len(texts), dtype=np.int64)
    for encoding, running, rows in (("gsm7", sums >> 42, ~wide), ("ucs2", sums & _FIELD, wide)):
        long = rows & (running[ends] - running[starts] > SINGLE[encoding])
        if long.any():
            parts[long] = _count_joined(running, starts[long], ends[long], JOINED[encoding])
    return parts, wide


def _count_joined(running: _Ints, starts: _Ints, ends: _Ints, limit: int) -> _Ints:
    """Pack many texts at once, one part a round: the furthest character whose running sum still fits."""
    parts = np.zeros(len(starts), dtype=np.int64)
    at = starts.copy()
    active = np.arange(len(starts))
    while len(active):
        parts[active] += 1
        reached = np.searchsorted(running, running[at[active]] + limit, side="right") - 1
        at[active] = np.minimum(reached, ends[active])
        active = active[at[active] < ends[active]]
    return parts
