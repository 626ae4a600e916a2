"""A closer look at the few rows that are not plain digits and punctuation: rewrite them into ones that are.

Every rewriting here keeps phonenumbers' answer, by these arguments:

*Other scripts.* phonenumbers takes any decimal digit for its value, a wide plus for a plus, and a list of blanks and
dashes for punctuation. What it does not know is dropped in front, dropped behind unless it is a letter or digit, and
refused in between. So digits become 0-9, known punctuation a dash, other letters ``q`` and other signs ``'``, which
have just these fates in front and are undecided elsewhere. (U+30FC is known punctuation *and* a letter, so it counts as
a letter here. Digits behind a label stay as they are in the extension; no label is looked for in such a text.)

*Extensions.* With nothing but digits and plain punctuation before a label, no extension can begin further left, so the
digits behind the label are the extension, if they are few enough for that label.

*Letters.* A text that ends in a letter has no extension, and neither has one without comma, ``#``, ``x`` and ``int``:
every label has one of these. From three letters on they are keys of a telephone, below that they are dropped; at least
three digits must come first.

Whatever fits none of these forms stays undecided, and phonenumbers is asked itself.
"""

from __future__ import annotations

import re
from string import ascii_letters, ascii_lowercase, ascii_uppercase
from typing import Final

import numpy as np
import pyarrow as pa

from . import digits
from .digits import Digits
from .memory import taken

NUMBER: Final = r"\+?[0-9(\[][0-9 ().\[\]/-]*"
EXTENSION: Final = re.compile(
    r"[^+0-9;]*("
    + NUMBER
    + r"[0-9]) *(?:(?:extension|extn?)[:.]? *([0-9]{1,20})|(?:x|#|int)[:.]? *([0-9]{1,9})|,([0-9]{1,9}))",
    re.IGNORECASE,
)
WITH_LETTERS: Final = re.compile(r"[^+0-9;]*(" + NUMBER + r"[A-WYZa-wyz][0-9 ().\[\]/A-WYZa-wyz-]*)")
TRIMMED: Final = re.compile(r".*[A-Za-z0-9](?=[^A-Za-z0-9#]*\Z)", re.DOTALL)
KNOWN_PUNCTUATION: Final = frozenset(
    "\u00a0\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u200b\u2053\u2060\u2212\u223c\u3000\uff08\uff09\uff0d\uff0e\uff0f\uff3b\uff3d\uff5e"
)
ENOUGH_DIGITS: Final = re.compile(r"(?:[^0-9A-Za-z]*[0-9]){3}")  # before any letter
KEYS: Final = str.maketrans(ascii_uppercase + ascii_lowercase, 2 * "22233344455566677778889999")
NO_LETTERS: Final = str.maketrans("", "", ascii_letters)


class _Plain(dict[int, str]):
    """What each sign outside ASCII becomes; filled as signs are met."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        if code < 128:
            plain = sign
        elif sign.isdecimal():
            plain = str(int(sign))
        elif sign == "\uff0b":
            plain = "+"
        elif sign in KNOWN_PUNCTUATION:
            plain = "-"
        else:
            plain = "q" if sign.isalnum() else "'"
        self[code] = plain
        return plain


PLAIN: Final = _Plain()


def rewrite(text: str) -> tuple[str, str | None] | None:
    """Return an equivalent plain text and the extension that was taken off, or None.

    Example:
        >>> rewrite("030 901820 ext. 12"), rewrite("٠٣٠\\u00a0٩٠١٨٢٠"), rewrite("030 (home)"), rewrite("030;ext=1")
        (('030 901820', '12'), ('030-901820', None), ('030 (4663', None), None)
    """
    if len(text) > digits.LONGEST_ROW or ";" in text:
        return None
    if not text.isascii():
        return text.translate(PLAIN), None
    extension = EXTENSION.fullmatch(text)
    if extension:
        number, *found = extension.groups("")  # one of the three labels
        return (number, "".join(found)) if ENOUGH_DIGITS.match(number) else None
    return _with_letters(text)


def _with_letters(text: str) -> tuple[str, str | None] | None:
    trimmed = TRIMMED.match(text)
    fits = WITH_LETTERS.fullmatch(trimmed[0]) if trimmed else None
    if fits is None or not ENOUGH_DIGITS.match(fits[1]) or (fits[1][-1].isdigit() and "int" in fits[1].lower()):
        return None
    without = fits[1].translate(NO_LETTERS)
    return (without if len(fits[1]) - len(without) < 3 else fits[1].translate(KEYS)), None


def look(found: Digits, texts: pa.Array) -> dict[int, str]:
    """Decide undecided rows where a rewriting can; return the extensions taken off, by row."""
    rows = np.flatnonzero(found.state == digits.UNDECIDED)
    plain, extensions, decided = [], {}, []
    for row, text in zip(rows.tolist(), taken(texts, rows).to_pylist(), strict=True):
        rewritten = rewrite(text)
        if rewritten is not None:
            plain.append(rewritten[0].encode())
            decided.append(row)
            if rewritten[1] is not None:
                extensions[row] = rewritten[1]
    if not decided:
        return {}
    offsets = np.zeros(len(plain) + 1, np.int32)
    np.cumsum([len(text) for text in plain], out=offsets[1:])
    again = digits.read(np.frombuffer(b"".join(plain), np.uint8), offsets)
    place = np.array(decided)
    found.start[place] = again.start + len(found.signs)
    found.signs = np.concatenate((found.signs, again.signs))
    found.count[place], found.plus[place], found.state[place] = again.count, again.plus, again.state
    return {row: text for row, text in extensions.items() if found.state[row] == digits.READABLE}
