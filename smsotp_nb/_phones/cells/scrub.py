"""Do the work of ``repairs`` by column, for the few forms that most of the cells to repair have.

Each form is a pattern for the whole text, with what ``repairs.clean`` makes of every text that matches. Texts without a
form go to ``clean`` itself, each distinct text once. A test compares the two on the same lists.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from string import ascii_letters
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..fast import digits
from ..fast.digits import Digits
from ..fast.memory import SHARED, STRING, ByCode, Mask, Rows, matching, replaced, taken
from ..vocabulary import NOTE_BIT, PROBLEM_CODE, Bits, Codes, bits
from . import repairs

MET, DELETED, NOTED = 1 << 31, 1 << 30, 21  # flags of a table's entry; where its notes begin
CODE: Final = (1 << NOTED) - 1
NOTES: Final = ("INVISIBLE_REMOVED", "DIGITS_TRANSLATED")


def _entry(sign: str) -> int:
    text, notes = repairs.characters(sign)
    noted = sum(1 << place for place, note in enumerate(NOTES) if note in notes)
    return MET | (noted << NOTED) | (ord(text) if text else DELETED)


BECOMES: Final = ByCode(_entry, np.uint32)


def written(texts: pa.Array) -> tuple[pa.Array, Bits]:
    """Return texts (none missing) with blanks, digits and dashes in ASCII, and the notes on what was changed."""
    codes = np.frombuffer("".join(texts.to_pylist()).encode("utf-32-le"), np.uint32)
    lengths = pc.utf8_length(texts).to_numpy()
    found = BECOMES.take(codes)
    row = np.repeat(np.arange(len(texts)), lengths)
    notes = np.zeros(len(texts), np.uint32)
    for place, note in enumerate(NOTES):
        notes[row[(found >> np.uint32(NOTED + place)) & np.uint32(1) == 1]] |= NOTE_BIT[note]
    kept = (found & np.uint32(DELETED)) == 0
    return _of_codes(found[kept] & np.uint32(CODE), row[kept], len(texts)), notes


def _of_codes(codes: npt.NDArray[np.uint32], row: npt.NDArray[np.intp], size: int) -> pa.Array:
    """Return code points, each with its row (in order), as a text column."""
    width = 1 + (codes > 0x7F).astype(np.int64) + (codes > 0x7FF) + (codes > 0xFFFF)
    offsets = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(row, width, size).astype(np.int64), out=offsets[1:])
    text = codes.astype("<u4").tobytes().decode("utf-32-le").encode()
    return pa.Array.from_buffers(STRING, size, [None, pa.py_buffer(offsets), pa.py_buffer(text)])


BODY: Final = r"[+(]?[0-9][0-9 ().\-]*[0-9]"
LONG: Final = r"[+(]?(?:[ ().\-]*[0-9]){7,}"
PLAIN: Final = rf"^{BODY}$"  # nothing here for the repairs of a cell to look at, unless
NOT_SO_PLAIN: Final = (
    r"^\(?0[1-9](?:[^0-9]*[0-9]){5,}\s+\(?0[0-9](?:[^0-9]*[0-9]){5,}"
    r"|\(\s*0\s*\)|[.]0+$|[0-9]{7} +\(?[0-9]{7}|[.]{3}|[\[\]/]"
    r"|^[0-9]{1,4}[-.] ?[0-9]{1,2}[-.] ?[0-9]{1,4}(?:[^0-9]|$)|^[0-9]{1,4}[-.][0-9]{2,4}(?:[^0-9]|$)|^[1-9][0-9]?\)"
)
WHOLE: Final = r"[+(]?(?:[ ()\-]*[.]?[ ()\-]*[0-9]){7,}"  # more than one dot hides digits
TWO: Final = rf"^{WHOLE}(?: (?i:or|and|und|oder|ou|et) | / | ?[;,&|] ?){WHOLE}$"
LAST: Final = 7  # digits that two notations of one number have in common at least
TRUNK_ZERO: Final = r"^(?:\+[0-9]|\+[0-9][0-9 )]{0,5}[0-9)]|00[0-9 )]{0,6}[0-9)]) *\( *0 *\) *[0-9 .\-]*[0-9]$"
WORDS: Final = "telephone|telefon|telefono|tel|phone|mobile|mobil|cellphone|cell|mob|handy|portable|gsm|whatsapp|sms|ph"


FEW: Final = 32  # cells that are cleaned one by one in less time than the patterns of all forms take
USUAL: Final = "home|work|office|mobile|mobil|cell|private|privat|handy"  # notes that say no are told from these

ANYTHING, LETTER, QUOTE, NUMBER, BLANK, DIGIT, BRACKET = (0, *(1 << bit for bit in range(6)))  # begins or ends a text
FRACTION: Final = 1 << 6  # ends it: a point or a comma, and a zero
FOREIGN, LETTERED, OPEN, SLASH, BETWEEN = (1 << bit for bit in range(5))
HELD: Final = {  # what a text has: signs of other scripts (FOREIGN), and these
    LETTERED: ascii_letters + "#",
    OPEN: "([",
    SLASH: "/",
    BETWEEN: ";,&|",  # between two numbers
}


class Form(NamedTuple):
    """A form: how a text begins and ends, what of which it has any, its pattern, and its notes or its problem.

    What ``gone`` matches is removed; what is left is read.
    """

    begins: int
    ends: int
    has: int
    pattern: str
    gone: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""


TRIMMED: Final = (rf"^ *{BODY}[ ,;]*$", r"^ +|[ ,;]+$", ("TRIMMED",))
FORMS: Final = (
    Form(LETTER, DIGIT, LETTERED, rf"^(?i:{WORDS})(?:[.] ?|[.]? ?: ?| ){BODY}$", r"^[A-Za-z.: ]+", ("LABEL_REMOVED",)),
    Form(QUOTE, DIGIT, 0, rf"^'{BODY}$", "^'", ("QUOTE_REMOVED",)),
    Form(NUMBER, FRACTION, 0, r"^[+(]?[0-9](?:[ ()\-]*[0-9]){6,}[.,]0$", "..$", ("FLOAT_ENDING",)),
    Form(
        NUMBER,
        DIGIT,
        LETTERED,
        rf"^{BODY} ?(?:x|#|(?i:ext|extn|extension)[.:]?) ?[0-9]{{1,6}}$",
        " ?[A-Za-z#].*",
        ("EXTENSION_DROPPED",),
    ),
    Form(BLANK, ANYTHING, 0, *TRIMMED),
    Form(ANYTHING, BLANK, 0, *TRIMMED),
    Form(NUMBER, DIGIT, SLASH, rf"^{LONG} ?/[ \-]*[0-9]{{1,4}}$", problem="MULTIPLE_NUMBERS"),
    Form(
        NUMBER,
        BRACKET,
        LETTERED,
        rf"^[+(]?[0-9](?:[ ().\-]*[0-9]){{5,}} \((?i:{USUAL})\)$",
        r" \([A-Za-z].*",
        ("TRAILING_NOTE_DROPPED",),
    ),
)


def _kinds() -> npt.NDArray[np.uint8]:
    table = np.zeros((3, 256), np.uint8)
    for kind, signs in ((LETTER, ascii_letters), (QUOTE, "'"), (NUMBER, "+(0123456789"), (BLANK, " ")):
        table[0, list(signs.encode())] = kind
    for kind, signs in ((LETTER, ascii_letters), (DIGIT, "0123456789"), (BRACKET, ")"), (BLANK, " ,;")):
        table[1, list(signs.encode())] = kind
    table[2, :32] = table[2, 127:] = FOREIGN
    for kind, signs in HELD.items():
        table[2, list(signs.encode())] = kind
    return table


BEGINS, ENDS, HAS = _kinds()


class Signs:
    """What each text begins with, ends with and has; an empty one has nothing of interest."""

    def __init__(self, texts: pa.Array) -> None:
        data, offsets = digits.bytes_of(texts)
        filled = offsets[:-1] < offsets[1:]
        self.begins, self.ends, self.has = np.zeros((3, len(texts)), np.uint8)
        begin, end = offsets[:-1][filled], offsets[1:][filled]
        self.begins[filled], self.ends[filled] = BEGINS.take(data.take(begin)), ENDS.take(data.take(end - 1))
        point = data.take(np.maximum(end - 2, begin))
        whole = (data.take(end - 1) == ord("0")) & ((point == ord(".")) | (point == ord(",")))
        self.ends[filled] |= whole * np.uint8(FRACTION)
        if len(begin):
            self.has[filled] = np.bitwise_or.reduceat(HAS.take(data[: end[-1]]), begin)

    def rows(self, left: Mask, form: Form) -> Rows:
        """Return those of the rows left that may have a form."""
        chosen = left
        for signs, wanted in ((self.has, form.has), (self.begins, form.begins), (self.ends, form.ends)):
            chosen = chosen & (signs & wanted != 0) if wanted else chosen
        return np.flatnonzero(chosen)


class Scrubbed:
    """Texts after their repairs: what to read, notes, problems, and other spellings where there are any."""

    def __init__(self, texts: pa.Array) -> None:
        self.text = texts
        self.notes: Bits = np.zeros(len(texts), np.uint32)
        self.problem: Codes = np.zeros(len(texts), np.uint8)
        self.other = pa.nulls(len(texts), STRING)
        self.other_notes: Bits = np.zeros(len(texts), np.uint32)
        self._read: list[tuple[Rows, pa.Array]] = []
        self._others: list[tuple[Rows, pa.Array]] = []

    def read(self, rows: Rows, texts: pa.Array) -> None:
        """Decide how rows are read."""
        self._read.append((rows, texts))

    def or_else(self, rows: Rows, texts: pa.Array) -> None:
        """Decide how else rows may be read."""
        self._others.append((rows, texts))

    def decided(self) -> tuple[Rows, pa.Array]:
        """Return the rows decided so far, and how they are read."""
        return _joined(self._read)

    def finish(self) -> None:
        """Write all decisions into the columns at once; of two on one row the later one counts."""
        self.text, self.other = replaced(self.text, *_joined(self._read)), replaced(self.other, *_joined(self._others))


def _joined(pieces: list[tuple[Rows, pa.Array]]) -> tuple[Rows, pa.Array]:
    rows = np.concatenate([np.zeros(0, np.intp), *(rows for rows, _ in pieces)])
    return rows, pa.concat_arrays([pa.array([], STRING), *(piece for _, piece in pieces)])


def scrub(texts: pa.Array, repair: Collection[str] = ()) -> Scrubbed:
    """Return, for a column of texts that are not plain, what ``repairs.clean`` makes of each."""
    found = Scrubbed(texts)
    left = np.ones(len(texts), bool)
    if len(texts) > FEW:
        _by_forms(found, left)
    _one_by_one(found, texts, np.flatnonzero(left), repair)
    found.finish()
    return found


def _by_forms(found: Scrubbed, left: Mask) -> None:
    signs = Signs(found.text)
    foreign = np.flatnonzero(signs.has & FOREIGN)
    if len(foreign):
        _in_ascii(found, foreign)
        signs = Signs(found.text)
        rows = matching(found.text, foreign, PLAIN)
        _read(found, left, rows, taken(found.text, rows))
    _trunk_zeros(found, left, signs.rows(left, Form(NUMBER, DIGIT, OPEN, TRUNK_ZERO)))
    for form in FORMS:
        _apply(found, form, left, signs.rows(left, form))
    rows, numbers = found.decided()
    count = np.diff(_digits_before(*digits.bytes_of(numbers)))
    left[rows[_not_so_plain(numbers, np.arange(len(rows)), count)]] = True
    _two_numbers(found, left, signs.rows(left, Form(NUMBER, DIGIT, LETTERED | SLASH | BETWEEN, TWO)))


def plain(texts: pa.Array, found: Digits) -> Mask:
    """Return which texts, whose digits have been read, certainly have nothing to repair.

    Between the first digit and the last one of a readable text stands nothing but punctuation.

    Example:
        >>> texts = pa.array(["030 901820", "030 901820.0", "Tel. 030"], pa.large_string())
        >>> plain(texts, digits.read(*digits.bytes_of(texts))).tolist()
        [True, False, False]
    """
    data, offsets = digits.bytes_of(texts)
    readable = np.flatnonzero(found.state == digits.READABLE)
    begin, end = offsets.take(readable), offsets.take(readable + 1)
    first = data.take(begin)
    sound = _is_digit(data.take(end - 1))
    sound &= _is_digit(first) | (((first == ord("+")) | (first == ord("("))) & _is_digit(data.take(begin + 1)))
    rows = readable[sound]
    flags = np.zeros(len(texts), bool)
    flags[rows] = True
    separated = rows[(found.count.take(rows) + found.plus.take(rows)) < (end - begin)[sound]]
    flags[_not_so_plain(texts, separated, found.count.take(separated))] = False
    return flags


def _not_so_plain(texts: pa.Array, rows: Rows, count: Rows) -> Rows:
    """Return those rows, of texts with so many digits and separators alone, that may need a repair all the same."""
    long = count >= repairs.TWO_NUMBERS
    return np.concatenate((rows[long], matching(texts, rows[~long], NOT_SO_PLAIN)))


def _is_digit(signs: npt.NDArray[np.uint8]) -> Mask:
    flags: Mask = (signs - np.uint8(ord("0"))) < np.uint8(10)
    return flags


def _in_ascii(found: Scrubbed, rows: Rows) -> None:
    """Rewrite texts of other scripts in ASCII where that is possible."""
    text, found.notes[rows] = written(taken(found.text, rows))
    found.text = replaced(found.text, rows, text)


def _two_numbers(found: Scrubbed, left: Mask, rows: Rows) -> None:
    """``030 901820 or 030 901821``: two numbers, or one in two notations, whose last digits come twice."""
    rows = matching(found.text, rows, TWO)
    texts = taken(found.text, rows)
    again = np.array([text[-LAST:] in text[:-LAST] for text in _digits_of(texts)], bool)
    _refuse(found, rows[~again], "MULTIPLE_NUMBERS")
    left[rows[~again]] = False
    both = [repairs.twice(text) for text in texts.filter(pa.array(again)).to_pylist()]
    rows = rows[again][[pair is not None for pair in both]]
    one, other = (pa.array([pair[side] for pair in both if pair], STRING) for side in (0, 1))
    found.read(rows, one)
    found.or_else(rows, other)
    found.notes[rows] |= bits(["SAME_NUMBER_TWICE"])
    found.other_notes[rows] = found.notes[rows]
    left[rows] = False


def _digits_of(texts: pa.Array) -> list[bytes]:
    data, offsets = digits.bytes_of(texts)
    signs = data[_is_digit(data)].tobytes()
    return [signs[begin:end] for begin, end in itertools.pairwise(_digits_before(data, offsets).tolist())]


def _digits_before(data: npt.NDArray[np.uint8], offsets: Rows) -> Rows:
    """Return how many digits stand before each offset."""
    return np.concatenate(([0], np.cumsum(_is_digit(data)))).take(offsets)


def _trunk_zeros(found: Scrubbed, left: Mask, rows: Rows) -> None:
    """``+44 (0)20 ...``: as ``repairs`` drops the zero, with the text as it was beside it."""
    rows = matching(found.text, rows, TRUNK_ZERO)
    as_it_was = taken(found.text, rows)
    dropped = pc.replace_substring_regex(as_it_was, r" *\( *0 *\) *", " ", max_replacements=1, memory_pool=SHARED)
    found.or_else(rows, as_it_was)
    found.other_notes[rows] = found.notes[rows]
    _read(found, left, rows, dropped, ("TRUNK_ZERO_DROPPED",))


def _apply(found: Scrubbed, form: Form, left: Mask, rows: Rows) -> None:
    """Decide the rows that have a form, and take them off the rows that are left."""
    rows = matching(found.text, rows, form.pattern)
    if form.problem:
        _refuse(found, rows, form.problem)
        left[rows] = False
    elif len(rows):
        number = pc.replace_substring_regex(taken(found.text, rows), form.gone, "", memory_pool=SHARED)
        _read(found, left, rows, number, form.notes)


def _read(found: Scrubbed, left: Mask, rows: Rows, number: pa.Array, notes: tuple[str, ...] = ()) -> None:
    """Read numbers in place of the texts of these rows."""
    found.read(rows, number)
    found.notes[rows] |= bits(notes)
    left[rows] = False


def _refuse(found: Scrubbed, rows: Rows, problem: str) -> None:
    found.problem[rows] = PROBLEM_CODE[problem]
    found.notes[rows] = 0


def _one_by_one(found: Scrubbed, raw: pa.Array, rows: Rows, repair: Collection[str]) -> None:
    """Let ``repairs.clean`` decide texts without a form."""
    if not len(rows):
        return
    distinct = pc.dictionary_encode(raw.take(pa.array(rows)))
    place = distinct.indices.to_numpy()
    cleaned = [repairs.clean(text, repair) for text in distinct.dictionary.to_pylist()]
    found.read(rows, _texts([it.text for it in cleaned], place))
    found.or_else(rows, _texts([it.other for it in cleaned], place))
    found.problem[rows] = np.array([PROBLEM_CODE.get(it.problem, 0) for it in cleaned], np.uint8)[place]
    found.notes[rows] = np.array([bits(it.notes) for it in cleaned], np.uint32)[place]
    found.other_notes[rows] = np.array([bits(it.other_notes) for it in cleaned], np.uint32)[place]


def _texts(texts: list[str | None] | list[str], place: Rows) -> pa.Array:
    return pa.array(texts, STRING).take(pa.array(place))
