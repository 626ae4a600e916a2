"""Which signs phonenumbers' patterns know, and a text of any script written with ASCII signs of the same fate.

phonenumbers looks at a text by regular expressions. A sign that stands in none of their classes and is none of their
letters cannot be part of a number: it is dropped in front of it, dropped behind it, and between two parts of it there
is no number at all. So it is enough to know, for every sign there is, which of these it is:

==========  ===============================================  =======================================================
fate        which signs                                      written as
==========  ===============================================  =======================================================
digit       decimal digits of any script                     0-9
plus        what phonenumbers reads as a plus                ``+``
punctuation signs it drops between two digits                ``-``
odd         known, and none of these: an extension's label,  ``~``, or ``q`` if it is a letter; both are left
            a letter in other dress, a combining accent      undecided between digits
unknown     stands in no pattern                             ``SIGN``, or ``LETTER`` if it is a letter or a number:
                                                             that is not dropped behind
==========  ===============================================  =======================================================

Nothing of this is a list kept here. What is known is read from the compiled pattern of a viable number; whether a known
sign is a plus or punctuation, phonenumbers itself is asked, by putting the sign into a number and looking whether the
number stays what it is. (That is how the wide tilde, punctuation *and* label, is found to be odd.)
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt
import phonenumbers
import pyarrow as pa
import pyarrow.compute as pc
from phonenumbers import phonenumberutil

from .memory import SHARED

PROBE: Final = "+4930901820"
CLASS: Final = re.compile(r"(?<!\\)\[(?P<members>(?:\\.|[^\[\]\\])+)\]", re.DOTALL)
SYNTAX: Final = re.compile(r"\(\?:|\{\d+(?:,\d*)?\}|(?<!\\)[()|*+?^$]")
TOKEN: Final = re.compile(r"\\.|.", re.DOTALL)

_STRING: Final = pa.large_string()


def known_by(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """Return a pattern of one sign that matches every sign an expression knows, and perhaps some more.

    An expression that takes any sign somewhere, or any but some, knows them all.

    Example:
        >>> known = known_by(re.compile("[a-c.]x{2}", re.IGNORECASE))
        >>> [bool(known.fullmatch(sign)) for sign in "B.X-d2"]
        [True, True, True, False, False, False]
    """
    classes = [found["members"] for found in CLASS.finditer(pattern.pattern)]
    tokens = dict.fromkeys(TOKEN.findall(SYNTAX.sub("", CLASS.sub("", pattern.pattern))))
    if "." in tokens or any(members.startswith("^") for members in classes):
        return re.compile(".", re.DOTALL)
    single = [token if len(token) == 2 else re.escape(token) for token in tokens]
    return re.compile("|".join([*(f"[{members}]" for members in dict.fromkeys(classes)), *single]), pattern.flags)


def _viable() -> re.Pattern[str]:
    """phonenumbers' pattern of a viable number; where it has none by this name, every sign counts as known."""
    everything = re.compile("[^a]|a")
    pattern: re.Pattern[str] = getattr(phonenumberutil, "_VALID_PHONE_NUMBER_PATTERN", everything)
    return pattern


KNOWN: Final = known_by(_viable())


def is_known(sign: str) -> bool:
    """Return whether phonenumbers' patterns know a sign.

    Example:
        >>> [is_known(sign) for sign in ("7", "\\u2013", "\\u0301", "@", "\\u4e00")]
        [True, True, True, False, False]
    """
    return KNOWN.fullmatch(sign) is not None


UNKNOWN_ASCII: Final = "".join(sign for sign in map(chr, range(128)) if not is_known(sign))
SIGN: Final = UNKNOWN_ASCII[:1]  # both are empty, and never written, where every sign counts as known
LETTER: Final = UNKNOWN_ASCII[1:2]


def fate(sign: str) -> str:
    """Return the ASCII sign that is written for a sign.

    Example:
        >>> [fate(sign) for sign in ("a", "\\u0663", "\\uff0b", "\\u2013", "\\uff5e", "\\uff58")]
        ['a', '3', '+', '-', '~', 'q']
        >>> [fate(sign) in (SIGN, LETTER) for sign in ("\\u2603", "\\u4e00")]
        [True, True]
    """
    if sign.isascii():
        return SIGN if sign == LETTER else sign
    if sign.isdecimal():
        return str(int(sign))
    if not is_known(sign):
        return LETTER if sign.isalnum() else SIGN
    if sign.isalnum():
        return "q"
    if _reads_as_probe(sign + PROBE[1:]):
        return "+"
    early, late = PROBE[:2] + sign + PROBE[2:], PROBE[:-4] + sign + PROBE[-4:]
    return "-" if _reads_as_probe(early) and _reads_as_probe(late) else "~"


def _reads_as_probe(text: str) -> bool:
    try:
        return bool(phonenumbers.parse(text, None) == phonenumbers.parse(PROBE, None))
    except phonenumbers.NumberParseException:
        return False


class _Fates:
    """The fate of every code point, looked up once when it is first met; 255 is not met yet."""

    def __init__(self) -> None:
        self.table = np.full(0x110000, 255, np.uint8)

    def take(self, codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
        fates: npt.NDArray[np.uint8] = self.table.take(codes)
        if (fates == 255).any():
            for code in np.unique(codes[fates == 255]).tolist():
                self.table[code] = ord(fate(chr(code)))
            fates = self.table.take(codes)
        return fates


FATES: Final = _Fates()


def in_ascii(texts: pa.Array) -> pa.Array:
    """Return a text column of which each sign is written as its fate says; no text is missing.

    Example:
        >>> in_ascii(pa.array(["\\u0661\\u00a0\\u0662", "12"], pa.large_string())).to_pylist()
        ['1-2', '12']
    """
    text = "".join(texts.to_pylist())
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(pc.utf8_length(texts, memory_pool=SHARED), out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(FATES.take(codes))]
    return pa.Array.from_buffers(_STRING, len(texts), buffers)


def one_of(members: str) -> str:
    """Return a pattern of one of these ASCII signs, in RE2's dialect; of none of them one that never matches.

    Example:
        >>> print(one_of("a]"), one_of(""))
        [\\x61\\x5d] \\z.
    """
    return "[" + "".join(f"\\x{ord(sign):02x}" for sign in members) + "]" if members else r"\z."
