"""Rows that are not plain digits and punctuation: decided, or rewritten into plain rows with the same answer.

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

Not handled are texts of more than 250 characters, texts with a context or subaddress as in ``tel:`` addresses, and
texts with a slash before an ``x`` (which ends them).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from string import ascii_letters
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import phonenumbers
import pyarrow as pa
import pyarrow.compute as pc
from phonenumbers import phonenumberutil

from . import digits
from .digits import Digits
from .memory import SHARED, ByCode, taken

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
    """Return whether phonenumbers' patterns know a sign."""
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


FATES: Final = ByCode(lambda sign: ord(fate(sign)), np.uint8)


def in_ascii(texts: pa.Array) -> pa.Array:
    """Return a text column of which each sign is written as its fate says; no text is missing."""
    text = "".join(texts.to_pylist())
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(pc.utf8_length(texts, memory_pool=SHARED), out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(FATES.take(codes))]
    return pa.Array.from_buffers(_STRING, len(texts), buffers)


def one_of(members: str) -> str:
    """Return a pattern of one of these ASCII signs, in RE2's dialect; of none of them one that never matches."""
    return "[" + "".join(f"\\x{ord(sign):02x}" for sign in members) + "]" if members else r"\z."


BETWEEN: Final = r" ().\[\]/\-"  # punctuation that digits.COUNTERS lets stand between digits, too
NUMBER: Final = rf"^[^+0-9;]*\+?(?:[{BETWEEN}]*[0-9]){{3}}"  # how one begins: three digits come before any letter
ASIDE: Final = r";(?:phone-context|isub)=|[\\/] *x"
UNKNOWN: Final = rf"[+0-9].*{one_of(UNKNOWN_ASCII)}.*[0-9A-Za-z#]|[0-9].*\+.*[0-9A-Za-z#]"
TOO_EARLY: Final = r"^[^+0-9]*(?:\+(?:[^0-9A-Za-z]*[0-9]){0,2}|[0-9])[^0-9A-Za-z]*[A-WYZa-wyz]"
NO_NUMBER: Final = rf"(?s){UNKNOWN}|{TOO_EARLY}"
FOREIGN_NO_NUMBER: Final = rf"(?s){UNKNOWN}|[+0-9].*{one_of(LETTER)}"
LABELS: Final = ("explicit", "ambiguous", "comma")
EXTENSION: Final = (
    rf"(?i)(?P<number>{NUMBER}(?:[{BETWEEN}]*[0-9])*) *"
    r"(?:(?:extension|extn?)[:.]? *(?P<explicit>[0-9]{1,20})|(?:x|#|int)[:.]? *(?P<ambiguous>[0-9]{1,9})|"
    r",(?P<comma>[0-9]{1,9}))$"
)
WITH_LETTERS: Final = rf"{NUMBER}(?:[0-9{BETWEEN}A-Za-z]*[A-Za-z]|[0-9{BETWEEN}A-WYZa-wyz]*[0-9])[^0-9A-Za-z#]*$"
INTERNAL: Final = r"(?i)int[^a-z]*[0-9]"  # a label made of letters only
IN_FRONT: Final = r"^[^+0-9]+"
NOTHING: Final = pa.scalar("", pa.large_string())
NO_TEXTS: Final = pa.array([], pa.large_string())

Rows = npt.NDArray[Any]  # positions
Flags = npt.NDArray[Any]  # bool


def _written(letters: str) -> npt.NDArray[np.uint8]:
    """A table of bytes that writes A-Z, in either case, as these signs."""
    table = dict(zip(ascii_letters.encode(), (2 * letters).encode(), strict=True))
    return np.array([table.get(code, code) for code in range(256)], np.uint8)


KEYS: Final = _written("22233344455566677778889999")
DROPPED: Final = _written("." * 26)


@dataclass(slots=True)
class Plain:
    """Rows rewritten into plain ones, in pieces; extensions were taken off the first of them."""

    rows: list[Rows] = field(default_factory=list)
    texts: list[pa.Array] = field(default_factory=list)
    extension: pa.Array = field(default_factory=lambda: NO_TEXTS)

    def add(self, rows: Rows, texts: pa.Array) -> None:
        self.rows.append(rows)
        self.texts.append(texts)


@dataclass(frozen=True, slots=True)
class Extensions:
    """Extensions taken off, and the rows they were taken off."""

    rows: Rows
    texts: pa.Array


def look(found: Digits, texts: pa.Array) -> Extensions:
    """Decide those undecided rows that have one of the forms; return the extensions taken off."""
    rows = np.flatnonzero(found.state == digits.UNDECIDED)
    near = taken(texts, rows)
    length = _numbers(pc.utf8_length(near, memory_pool=SHARED))
    foreign = _numbers(pc.binary_length(near)) != length
    short = length <= digits.LONGEST_ROW
    plain = Plain()
    for rewrite, wanted in ((_ascii, ~foreign), (_other_script, foreign)):
        some = np.flatnonzero(wanted & short)
        if len(some):
            rewrite(found, rows[some], taken(near, some), plain)
    if plain.rows:
        read_again(found, np.concatenate(plain.rows), pa.concat_arrays(plain.texts, SHARED))
    return _of_readable(found, plain)


def _of_readable(found: Digits, plain: Plain) -> Extensions:
    rows = plain.rows[0] if len(plain.extension) else np.zeros(0, np.intp)
    readable = np.flatnonzero(found.state[rows] == digits.READABLE)
    return Extensions(rows[readable], taken(plain.extension, readable))


def _other_script(found: Digits, rows: Rows, texts: pa.Array, plain: Plain) -> None:
    looked_at = np.flatnonzero(~_matches(texts, ASIDE))
    rows, texts = rows[looked_at], in_ascii(taken(texts, looked_at))
    refused = _matches(texts, FOREIGN_NO_NUMBER)
    found.state[rows[refused]] = digits.NOT_A_NUMBER
    plain.add(rows[~refused], taken(texts, np.flatnonzero(~refused)))


def _ascii(found: Digits, rows: Rows, texts: pa.Array, plain: Plain) -> None:
    rest = np.flatnonzero(~_take_extensions(rows, texts, plain))
    rest = rest[~_matches(taken(texts, rest), ASIDE)]
    rows, texts = rows[rest], taken(texts, rest)
    rest = np.flatnonzero(~_take_letters(rows, texts, plain))
    refused = _matches(taken(texts, rest), NO_NUMBER)
    found.state[rows[rest[refused]]] = digits.NOT_A_NUMBER


def _take_extensions(rows: Rows, texts: pa.Array, plain: Plain) -> Flags:
    """Rewrite rows with an extension, and return which they are."""
    parts = pc.extract_regex(texts, EXTENSION, memory_pool=SHARED)
    labelled = _flags(parts.is_valid())
    some = np.flatnonzero(labelled)
    parts = taken(parts, some)
    plain.add(rows[some], parts.field("number"))
    found = [parts.field(label) for label in LABELS]  # one of them, the others are empty
    plain.extension = pc.binary_join_element_wise(*found, NOTHING, memory_pool=SHARED)
    return labelled


def _take_letters(rows: Rows, texts: pa.Array, plain: Plain) -> Flags:
    """Rewrite rows with letters (three or more as keys of a telephone), and return which they are."""
    lettered = _matches(texts, WITH_LETTERS) & ~_matches(texts, INTERNAL)
    some = np.flatnonzero(lettered)
    texts = pc.replace_substring_regex(taken(texts, some), IN_FRONT, "", memory_pool=SHARED)
    letters = _numbers(pc.count_substring_regex(texts, "[A-Za-z]", memory_pool=SHARED))
    for table, which in ((KEYS, letters >= 3), (DROPPED, letters < 3)):
        chosen = np.flatnonzero(which)
        plain.add(rows[some[chosen]], _with_table(taken(texts, chosen), table))
    return lettered


def _with_table(texts: pa.Array, table: npt.NDArray[np.uint8]) -> pa.Array:
    """Return a text column (one that is no slice) with each byte as the table says."""
    present, offsets, data = texts.buffers()
    data = pa.py_buffer(table.take(np.frombuffer(data, np.uint8))) if data else data
    return pa.Array.from_buffers(texts.type, len(texts), [present, offsets, data])


def read_again(found: Digits, rows: Rows, texts: pa.Array) -> None:
    data, offsets = digits.bytes_of(texts)
    again = digits.read(data, offsets)
    found.start[rows] = again.start + len(found.signs)
    found.signs = np.concatenate((found.signs, again.signs))
    found.count[rows], found.plus[rows], found.state[rows] = again.count, again.plus, again.state


def _matches(texts: pa.Array, pattern: str) -> Flags:
    return _flags(pc.match_substring_regex(texts, pattern, memory_pool=SHARED))


def _flags(column: pa.Array) -> Flags:
    flags: Flags = column.to_numpy(zero_copy_only=False)
    return flags


def _numbers(column: pa.Array) -> Any:
    return column.to_numpy()
