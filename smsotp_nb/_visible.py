"""The one place that makes text from outside fit to be printed, logged or raised: nothing in it moves a cursor."""

from __future__ import annotations

import unicodedata
from typing import Final

LONGEST: Final = 1_900  # characters of an error; a notebook keeps every one of them
HEAD: Final = 1_400

_DIRECTIONS: Final = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: str, *, keep: str = "") -> str:
    """Return text with its control and direction characters, which would move a cursor or turn a line, as numbers.

    Example:
        >>> visible("a\\x1b[2J")
        'a\\\\u001b[2J'
    """
    if text.isprintable():
        return text
    return "".join(c if c in keep or not _is_control(c) else f"\\u{ord(c):04x}" for c in text)


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} or character in _DIRECTIONS


def said(text: str) -> str:
    """Return a message as an error may carry it: visible, and where it is endless its beginning and its end.

    Example:
        >>> said("no\\x1b[2J"), len(said("x" * 1_000_000))
        ('no\\\\u001b[2J', 1900)
    """
    shown = visible(text[:HEAD], keep="\n\t") + visible(text[HEAD:][-LONGEST:], keep="\n\t")
    if len(text) <= LONGEST and len(shown) <= LONGEST:
        return shown
    gap = " [...] "
    return shown[:HEAD] + gap + shown[-(LONGEST - HEAD - len(gap)) :]
