"""Rewrite the characters of a whole column as ``repairs.characters`` does: blanks, digits and dashes of every script.

``repairs`` is asked once about each character that occurs; a table then holds what it becomes and what is noted.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..judging.answers import STRING
from ..vocabulary import Bits, bits
from . import repairs

MET, DELETED, NOTED = 1 << 31, 1 << 30, 21  # flags of a table's entry; where its notes begin
CODE: Final = (1 << NOTED) - 1
NOTES: Final = (("INVISIBLE_REMOVED",), ("DIGITS_TRANSLATED",))


class _Becomes:
    """What each character becomes: a code point, whether it is dropped, and what is noted (bits of ``NOTES``)."""

    def __init__(self) -> None:
        self.table = np.zeros(0x110000, np.uint32)

    def take(self, codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        found: npt.NDArray[np.uint32] = self.table.take(codes)
        new = codes[found == 0]
        if len(new):
            for code in np.unique(new).tolist():
                self.table[code] = _entry(chr(code))
            found = self.table.take(codes)
        return found


def _entry(sign: str) -> int:
    text, notes = repairs.characters(sign)
    noted = sum(1 << place for place, (note,) in enumerate(NOTES) if note in notes)
    return MET | (noted << NOTED) | (ord(text) if text else DELETED)


BECOMES: Final = _Becomes()


def written(texts: pa.Array) -> tuple[pa.Array, Bits]:
    """Return texts (none missing) with blanks, digits and dashes in ASCII, and the notes on what was changed.

    Example:
        >>> texts, notes = written(pa.array(["\\u0660\\u00a01", "a\\u20131"], pa.large_string()))
        >>> texts.to_pylist(), notes.tolist() == [int(bits(["INVISIBLE_REMOVED", "DIGITS_TRANSLATED"])), 0]
        (['0 1', 'a-1'], True)
    """
    codes = np.frombuffer("".join(texts.to_pylist()).encode("utf-32-le"), np.uint32)
    lengths = pc.utf8_length(texts).to_numpy()
    found = BECOMES.take(codes)
    row = np.repeat(np.arange(len(texts)), lengths)
    notes = np.zeros(len(texts), np.uint32)
    for place, note in enumerate(NOTES):
        notes[row[(found >> np.uint32(NOTED + place)) & np.uint32(1) == 1]] |= bits(note)
    kept = (found & np.uint32(DELETED)) == 0
    return _texts(found[kept] & np.uint32(CODE), row[kept], len(texts)), notes


def _texts(codes: npt.NDArray[np.uint32], row: npt.NDArray[np.intp], size: int) -> pa.Array:
    """Return code points, each with its row (in order), as a text column."""
    width = 1 + (codes > 0x7F).astype(np.int64) + (codes > 0x7FF) + (codes > 0xFFFF)
    offsets = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(row, width, size).astype(np.int64), out=offsets[1:])
    text = codes.astype("<u4").tobytes().decode("utf-32-le").encode()
    return pa.Array.from_buffers(STRING, size, [None, pa.py_buffer(offsets), pa.py_buffer(text)])
