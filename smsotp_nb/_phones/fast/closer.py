"""Look at the few rows that are not plain digits and punctuation: decide them, or rewrite them into plain rows.

Every form here gives phonenumbers' answer, for the reasons below. Not handled are texts of more than 250 characters,
texts with a context or subaddress as in ``tel:`` addresses, and texts with a slash before an ``x`` (which ends them).
(No form of an extension contains these, so texts of such a form are not searched for them.)

*Unknown signs.* What stands behind the first plus or digit, and in front of a letter, a digit or ``#``, is neither
dropped in front nor dropped behind. A sign there that no pattern of phonenumbers knows means that this is no number. So
does a plus behind a digit, since those are known in front only; and so does a letter behind a single digit, or behind a
plus and two digits: three have to come before it. (But for an ``x``, which is punctuation, too. Two digits without a
plus may be a whole number.)

*Other scripts.* ``signs`` writes each sign outside ASCII as an ASCII sign of the same fate. Digits behind a label stay
as they are in the extension, so no label is looked for in such a text, and neither are letters.

*Extensions.* With nothing but digits and plain punctuation before a label, no extension can begin further left, so the
digits behind the label are the extension, if they are few enough for that label.

*Letters.* A text that ends in a letter has no extension, and neither has one without comma, ``#``, ``x`` and ``int``:
every label has one of these, followed by digits. Three letters or more are read as keys of a telephone, fewer are
dropped; at least three digits must come first.

Texts of none of these forms stay undecided, and phonenumbers itself is asked. The patterns are in RE2's dialect
and run over columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from string import ascii_letters
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from . import digits, signs
from .digits import Digits
from .memory import SHARED, taken

BETWEEN: Final = r" ().\[\]/\-"  # punctuation that digits.COUNTERS lets stand between digits, too
NUMBER: Final = rf"^[^+0-9;]*\+?(?:[{BETWEEN}]*[0-9]){{3}}"  # how one begins: three digits come before any letter
ASIDE: Final = r";(?:phone-context|isub)=|[\\/] *x"
UNKNOWN: Final = rf"[+0-9].*{signs.one_of(signs.UNKNOWN_ASCII)}.*[0-9A-Za-z#]|[0-9].*\+.*[0-9A-Za-z#]"
TOO_EARLY: Final = r"^[^+0-9]*(?:\+(?:[^0-9A-Za-z]*[0-9]){0,2}|[0-9])[^0-9A-Za-z]*[A-WYZa-wyz]"
NO_NUMBER: Final = rf"(?s){UNKNOWN}|{TOO_EARLY}"
FOREIGN_NO_NUMBER: Final = rf"(?s){UNKNOWN}|[+0-9].*{signs.one_of(signs.LETTER)}"
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
    rows, texts = rows[looked_at], signs.in_ascii(taken(texts, looked_at))
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
