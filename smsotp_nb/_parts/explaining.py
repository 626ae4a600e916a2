"""Why a text costs what it costs: the characters that force ucs2, the units over, and what plain characters save."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from .._calling import in_our_words, not_replacement, not_text, refuse
from . import packing
from .packing import Encoding

_PAIRS: Final = (
    ("‘’‚‛′´`‹›", "'"),
    ("“”„‟″«»", '"'),
    ("‐‑‒–—―−", "-"),
    ("…", "..."),
    ("\t\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    ("\u00ad\u200b\u2060\ufeff", ""),
)
PLAIN: Final[Mapping[str, str]] = MappingProxyType({char: to for chars, to in _PAIRS for char in chars})
"""Typographic characters and the GSM characters that say the same; letters are not among them."""

_NAMES: Final = {"gsm7": "GSM-7", "ucs2": "UCS-2"}


@dataclass(frozen=True, slots=True)
class Forcing:
    """A character that forces ucs2: its Unicode name, its positions in the text (from 0), and a possible replacement.

    Example:
        >>> explain("It’s").forcing[0].replacement
        "'"
    """

    character: str
    name: str
    places: tuple[int, ...]
    replacement: str | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a text costs in parts, and why; ``str()`` says it in words.

    ``room`` is the number of units free before one more part is needed, ``over`` the number of units in the last part
    (to be removed to save it; 0 in a text of one part). ``plain`` is the text with plain characters, ``saved`` the
    number of parts that saves: 0 if nothing is gained, below 0 if the replacements make it longer.

    Example:
        >>> print(explain("It’s 20% off" + " today" * 12))
        UCS-2, 2 parts: 84 units, 50 more fit; 14 fewer would save a part
        ’ RIGHT SINGLE QUOTATION MARK, at 2: ' instead
        With plain characters: GSM-7, 1 part
    """

    encoding: Encoding
    parts: int
    units: int
    room: int
    over: int
    pieces: tuple[str, ...]
    forcing: tuple[Forcing, ...]
    plain: str
    plain_encoding: Encoding
    plain_parts: int

    @property
    def saved(self) -> int:
        return self.parts - self.plain_parts

    def __str__(self) -> str:
        fewer = f"; {self.over:,} fewer would save a part" if self.over else ""
        lines = [f"{_size(self.encoding, self.parts)}: {self.units:,} units, {self.room:,} more fit{fewer}"]
        lines += [_line(found) for found in self.forcing]
        if any(found.replacement is not None for found in self.forcing):
            lines.append(f"With plain characters: {_size(self.plain_encoding, self.plain_parts)}")
        return "\n".join(lines)


@in_our_words
def explain(text: str, *, replace: Mapping[str, str] = PLAIN) -> Explanation:
    """Explain what one text costs in parts; ``replace`` says which characters could be replaced.

    Example:
        >>> explain("It’s on").encoding, explain("It’s on").plain
        ('ucs2', "It's on")
    """
    refuse(not_text("text", text, hint=packing.MANY), not_replacement("replace", replace))
    found = packing.count(text)
    pieces = tuple(packing.split(text))
    rewritten = plain(text, replace=replace)
    after = packing.count(rewritten)
    over = 0
    if found.parts == 2:
        over = found.units - packing.SINGLE[found.encoding]
    elif found.parts > 2:
        over = packing.units_of(pieces[-1], found.encoding)
    return Explanation(
        found.encoding,
        found.parts,
        found.units,
        found.room,
        over,
        pieces,
        tuple(_forcing(text, character, replace) for character in found.forcing),
        rewritten,
        after.encoding,
        after.parts,
    )


@in_our_words
def plain(text: str, *, replace: Mapping[str, str] = PLAIN) -> str:
    """Return a text with typographic characters replaced by GSM characters.

    Example:
        >>> print(plain("“Hi” – it’s on…"))
        "Hi" - it's on...
    """
    refuse(not_text("text", text, hint=packing.MANY), not_replacement("replace", replace))
    return text.translate({ord(character): to for character, to in replace.items()})


def _forcing(text: str, character: str, replace: Mapping[str, str]) -> Forcing:
    places = tuple(place for place, found in enumerate(text) if found == character)
    name = unicodedata.name(character, f"U+{ord(character):04X}")
    return Forcing(character, name, places, replace.get(character))


def _line(found: Forcing) -> str:
    places = ", ".join(map(str, found.places[:5])) + (" ..." if len(found.places) > 5 else "")
    shown = f"{found.character} " if found.character.isprintable() else ""
    line = f"{shown}{found.name}, at {places}"
    if found.replacement is None:
        return line
    return f"{line}: {found.replacement if found.replacement.strip() else repr(found.replacement)} instead"


def _size(encoding: Encoding, parts: int) -> str:
    return f"{_NAMES[encoding]}, {parts:,} part{'s' if parts > 1 else ''}"
