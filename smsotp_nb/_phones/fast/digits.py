"""First step: from the bytes of a column of text to the digits of each row.

Where a number begins and ends, and whether only punctuation stands between, follows for most rows from *how many* bytes
of a kind stand in a stretch. So every byte is looked up as a packed counter (digits, pluses, signs that may not stand
inside, signs that may not stand behind), and one running sum over all bytes answers every such question by a
subtraction. A row of up to 250 bytes cannot overflow a field of eight bits; differences are exact although sums wrap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .automata import END

NOT_A_NUMBER, READABLE, UNDECIDED = range(3)

LONGEST_ROW: Final = 250  # phonenumbers refuses longer texts; also the most a counter of eight bits can hold
BLOCK: Final = 1 << 16
MOST_DIGITS: Final = 27  # more go to the reference: tables end at 32, and a rule may put four digits in front

_DIGIT, _PLUS, _INSIDE, _BEHIND = 1, 1 << 8, 1 << 16, 1 << 24
_FIELD: Final = np.uint32(255)

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[Any]  # int32
Flags = npt.NDArray[Any]  # bool


@dataclass(slots=True)
class Digits:
    """The digits of many rows: ``signs[start : start + count]``, each row closed by an END sign."""

    signs: Bytes
    start: Ints
    count: Ints
    plus: Flags
    state: Bytes  # NOT_A_NUMBER, READABLE or UNDECIDED

    def only(self, rows: Any) -> Digits:
        return Digits(self.signs, *(it.take(rows) for it in (self.start, self.count, self.plus, self.state)))


def _packed_counters() -> npt.NDArray[np.uint32]:
    table = np.zeros(256, np.uint32)
    for code in range(256):
        sign = chr(code)
        if code < 128 and sign.isdigit():
            table[code] = _DIGIT
        elif sign == "+":
            table[code] = _PLUS
        elif sign not in " -.()[]/":
            letter_or_hash = code >= 128 or sign.isalpha() or sign == "#"
            table[code] = _INSIDE + (_BEHIND if letter_or_hash else 0)
    return table


COUNTERS: Final = _packed_counters()


def bytes_of(texts: pa.Array) -> tuple[Bytes, Ints]:
    """The bytes of a text column, and where each row begins."""
    _, offset_buffer, data_buffer = texts.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    if data_buffer is None:
        return np.zeros(0, np.uint8), np.zeros(len(texts) + 1, np.int32)
    data = np.frombuffer(data_buffer, np.uint8)[offsets[0] : offsets[-1]]
    return data, (offsets - offsets[0]).astype(np.int32)


def read(data: Bytes, offsets: Ints) -> Digits:
    """Find the digits of each row; row ``r`` is ``data[offsets[r] : offsets[r + 1]]``.

    Example:
        >>> text = b"+49 (30) 12;call me"
        >>> found = read(np.frombuffer(text, np.uint8), np.array([0, 11, 19], np.int32))
        >>> found.signs.tolist(), found.count.tolist(), found.plus.tolist(), found.state.tolist()
        ([4, 9, 3, 0, 1, 2, 10, 10], [6, 0], [True, False], [1, 2])
    """
    values, count, plus, state = _judged(data, offsets)
    signs, start = _closed_rows(values, count)
    return Digits(signs, start, count, plus, state)


def _judged(data: Bytes, offsets: Ints) -> tuple[Bytes, Ints, Flags, Bytes]:
    """Return all digits of all rows, how many each row has, whether a plus comes first, and each row's state."""
    begin, end = offsets[:-1], offsets[1:]
    running = _running_sum(data)
    at_begin, at_end = running.take(begin), running.take(end)
    count = ((at_end - at_begin) & _FIELD).astype(np.int32)
    state = np.full(len(begin), NOT_A_NUMBER, np.uint8)
    long = (end - begin) > LONGEST_ROW
    count[long] = 0
    place, first_place = _places(data, count, begin, end, long)
    some = np.flatnonzero(count)
    first = place.take(first_place.take(some))
    last = place.take(first_place.take(some) + count.take(some) - 1)
    before = (running.take(first) - at_begin.take(some)) >> np.uint32(8) & _FIELD
    inside = (running.take(last) - running.take(first)) >> np.uint32(8)  # no pluses, no signs that may not stand inside
    behind = (at_end.take(some) - running.take(last + 1)) >> np.uint32(24)
    plain = ((inside & np.uint32(0xFFFF)) == 0) & (behind == 0) & (before <= 1) & (count.take(some) <= MOST_DIGITS)
    plus = np.zeros(len(begin), bool)
    plus[some] = before == 1
    plain &= ~plus[some] | _plus_close(data, running, first, before)
    few = (count.take(some) == 2) & ~plus[some] & (last - first == 1)
    enough = (count.take(some) >= 3) | few
    state[some] = np.where(plain, np.where(enough, READABLE, NOT_A_NUMBER), UNDECIDED)
    state[long] = UNDECIDED
    state[_foreign_rows(data, offsets)] = UNDECIDED
    return data.take(place) - np.uint8(48), count, plus, state


def _running_sum(data: Bytes) -> npt.NDArray[np.uint32]:
    """Sum up the counters of all bytes; looked up in blocks, because numpy widens each byte it looks up to eight."""
    running = np.zeros(len(data) + 1, np.uint32)
    counters = running[1:]
    for first in range(0, len(data), BLOCK):
        block = slice(first, first + BLOCK)
        COUNTERS.take(data[block], out=counters[block], mode="clip")
    np.cumsum(counters, out=counters, dtype=np.uint32)
    return running


def _places(data: Bytes, count: Ints, begin: Ints, end: Ints, long: Flags) -> tuple[npt.NDArray[np.intp], Ints]:
    """Return where digits stand in ``data``, and for each row the number of its first digit."""
    is_digit = (data - np.uint8(48)) < np.uint8(10)
    for row in np.flatnonzero(long):
        is_digit[begin[row] : end[row]] = False
    first_place = np.zeros(len(count), np.int32)
    np.cumsum(count[:-1], out=first_place[1:])
    return np.flatnonzero(is_digit), first_place


def _plus_close(data: Bytes, running: npt.NDArray[np.uint32], first: Ints, before: Ints) -> Flags:
    """Only punctuation may stand between the plus and the first digit; nearly always they are neighbours."""
    close: Flags = data.take(np.maximum(first - 1, 0)) == ord("+")
    apart = np.flatnonzero((before == 1) & ~close)
    at = first[apart] - 1
    while (back := data.take(at) != ord("+")).any():
        at -= back
    between = (running.take(first[apart]) - running.take(at + 1)) >> np.uint32(16)
    close[apart] = (between & _FIELD) == 0
    return close


def _foreign_rows(data: Bytes, offsets: Ints) -> npt.NDArray[np.intp]:
    """Rows with signs outside ASCII (they may be digits) or a semicolon (it may begin parameters of a tel: address)."""
    foreign = np.flatnonzero((data >= 128) | (data == ord(";")))
    rows: npt.NDArray[np.intp] = np.searchsorted(offsets, foreign, side="right") - 1  # a row for each of its signs
    return rows


def _closed_rows(values: Bytes, count: Ints) -> tuple[Bytes, Ints]:
    """Pack the digits of all rows, an END after each row."""
    closing = np.cumsum(count + 1, dtype=np.int32) - 1
    signs = np.full(len(values) + len(count), END, np.uint8)
    digit = np.ones(len(signs), bool)
    digit[closing] = False
    signs[digit] = values
    return signs, (closing - count).astype(np.int32)
