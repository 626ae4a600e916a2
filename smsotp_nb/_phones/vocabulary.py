"""The codes of a row of numbers: at most one problem, and any number of notes on what was done to it.

The same words stand as a table in the docstring of ``smsotp_nb.phones``; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..problems import of_stage
from .fast.memory import SHARED, taken

PROBLEMS: Final[dict[str, str]] = of_stage("number")

NOTES: Final[dict[str, str]] = {
    "TRIMMED": "blanks or stray punctuation around the number removed",
    "INVISIBLE_REMOVED": "invisible characters or unusual blanks removed",
    "DIGITS_TRANSLATED": "digits of another script written as 0-9",
    "QUOTE_REMOVED": 'a spreadsheet\'s apostrophe, quotes or ="..." removed',
    "LABEL_REMOVED": "a label, a name, a link or an e-mail address around the number removed",
    "LETTERS_READ": "O or l in place of a 0 or 1 read as that digit",
    "SAME_NUMBER_TWICE": "the cell has the same number in two notations",
    "FLOAT_ENDING": "the cell was a decimal number; its .0 is not part of the phone number",
    "SCI_NOTATION": "scientific notation with all digits present written out",
    "EXTENSION_DROPPED": "an extension after the number dropped",
    "TRUNK_ZERO_DROPPED": "a zero that is dialled at home only, such as the (0) after a calling code, dropped",
    "LEADING_ZERO_RESTORED": "a leading zero that belongs to the number put back",
    "IDD_00_READ": "00 read as the plus sign",
    "PLUS_RESTORED": "read as if it began with a plus, which was lost",
    "TRAILING_NOTE_DROPPED": "words behind the number that say nothing against it, such as (home) or a name, dropped",
    "VANITY_LETTERS": "repair 'vanity': letters read as digits of a keypad",
    "OLD_PREFIX_DROPPED": "a prefix that is dialled no more, such as Mexico's 01, 044 or +52 1, dropped",
    "OVERSEAS_READ": "a number of a French overseas department, written as in France",
    "CODE_SAID_TWICE": "a calling code written twice read once",
    "PLUS_MOVED": "a plus at the end, as in right-to-left exports, moved to the front",
    "COLUMN_EVIDENCE": "the other rows of the column show which of two readings is meant",
    "REGION_CASE": "the country code was not in capitals",
    "REGION_ALIAS": "a customary code such as UK, a flag, a locale such as en-US",
    "REGION_ALPHA3": "the country as a three-letter code",
    "REGION_NAME": "the country as a name or nationality, in any language",
    "REGION_CALLING_CODE": "the country as a calling code such as +49",
    "REGION_UNKNOWN": "the country cell cannot be read; the number has its own calling code",
    "REGION_MISMATCH": "a number of another country than the one beside it",
    "TEST_NUMBER": "a number reserved for fiction",
    "FIXED_LINE": "a landline; it may not receive texts",
    "VOIP": "an internet telephony number; it may not receive texts",
}

REPAIRS: Final[dict[str, str]] = {
    "lost_plus": "PLUS_RESTORED",
    "trailing_note": "TRAILING_NOTE_DROPPED",
    "vanity": "VANITY_LETTERS",
}

Codes = npt.NDArray[np.uint8]
Bits = npt.NDArray[np.uint32]

PROBLEM_CODE: Final = {name: place for place, name in enumerate(PROBLEMS, start=1)}
BIT: Final = {name: 1 << place for place, name in enumerate(NOTES)}
NOTE_BIT: Final = {name: np.uint32(bit) for name, bit in BIT.items()}


def bits(notes: Iterable[str]) -> int:
    """Return a set of notes as one number: inside the room a row's notes are the bits of a ``uint32``.

    Example:
        >>> bits(["TRIMMED", "DIGITS_TRANSLATED"])
        5
    """
    total = 0
    for note in notes:
        total |= BIT[note]
    return total


def note_words(notes: Bits, detail: npt.NDArray[np.int32]) -> pa.Array:
    """Return note bits as codes joined by a blank, in the order of the table, missing where a row has none.

    ``detail`` is what the evidence of a column said: percent times 1000, plus the calling code it is for (0: for the
    reading as written).

    Example:
        >>> note_words(np.array([5, 0], dtype=np.uint32), np.zeros(2, np.int32)).to_pylist()
        ['TRIMMED DIGITS_TRANSLATED', None]
    """
    kinds = notes + (detail.astype(np.uint64) << np.uint64(32)) if detail.any() else notes
    found = pc.dictionary_encode(pa.array(kinds), memory_pool=SHARED)
    words = [sentence(kind) if kind else None for kind in found.dictionary.to_pylist()]
    return taken(pa.array(words, pa.large_string()), found.indices)


def sentence(kind: int) -> str:
    """Return the notes of a row, whose bits have what the evidence of its column said in front of them, in words."""
    percent, code = divmod(kind >> 32, 1000)
    evidence = f"COLUMN_EVIDENCE:{percent}%" + (f":{code}" if code else "")
    names = [name for name, bit in BIT.items() if kind & bit]
    return " ".join(evidence if name == "COLUMN_EVIDENCE" else name for name in names)


def meaning_of_note(code: str) -> str:
    """Return the meaning of a note, which may carry what it found after a colon.

    Example:
        >>> meaning_of_note("FIXED_LINE"), meaning_of_note("COLUMN_EVIDENCE:92%:55")
        ('a landline; it may not receive texts', '92% of the rows of this column that tell anything carry 55')
    """
    name, _, found = code.partition(":")
    if name == "COLUMN_EVIDENCE" and found:
        share, _, carried = found.partition(":")
        what = f"carry {carried}" if carried else "fit as written only"
        return f"{share[:-1]}% of the rows of this column that tell anything {what}"
    return NOTES.get(name, code)
