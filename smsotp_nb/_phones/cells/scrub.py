"""Do the work of ``repairs`` by column, for the few forms that most of the cells to repair have.

Each form is a pattern for the whole text, with what ``repairs.clean`` makes of every text that matches. Texts without a
form go to ``clean`` itself, each distinct text once. A test compares the two on the same lists.
"""

from __future__ import annotations

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
DIGITS: Final = r"^\+?[0-9]{2,}$"
PLAIN: Final = rf"^{BODY}$"  # nothing here for the repairs of a cell to look at, unless
NOT_SO_PLAIN: Final = (
    r"(?:[0-9][^0-9]*){16}|^\(?0[1-9](?:[^0-9]*[0-9]){5,}\s+\(?0[0-9](?:[^0-9]*[0-9]){5,}"
    r"|\(\s*0\s*\)|[.]0+$|\(\s*[0-9]{1,4}\s*\)$|[0-9]{7} +\(?[0-9]{7}|[.]{3}"
    r"|^(?:(?:19|20)[0-9]{2}[-.][0-9]{1,2}[-.][0-9]{1,2}|[0-9]{1,2}[-.][0-9]{1,2}[-.](?:19|20)[0-9]{2})(?: [0-9.]+)?$"
)
READABLE_NOT_PLAIN: Final = rf"{NOT_SO_PLAIN}|[\[\]/]"
FOREIGN: Final = r"[^ -~]"  # letters, digits and blanks of other scripts; they are written in ASCII first
WHOLE: Final = r"[+(]?(?:[ ()\-]*[.]?[ ()\-]*[0-9]){7,}"  # more than one dot hides digits
TWO: Final = rf"^{WHOLE}(?: (?i:or|and|und|oder|ou|et) | / | ?[;,&|] ?){WHOLE}$"
LAST: Final = 7  # digits that two notations of one number have in common at least
TRUNK_ZERO: Final = r"^(?P<code>(?:\+|00)[0-9 )]{1,7}?) *\( *0 *\) *(?P<number>[0-9 .\-]*[0-9])$"
WORDS: Final = "telephone|telefon|telefono|tel|phone|mobile|mobil|cellphone|cell|mob|handy|portable|gsm|whatsapp|sms|ph"


FEW: Final = 32  # cells that are cleaned one by one in less time than the patterns of all forms take
USUAL: Final = "home|work|office|mobile|mobil|cell|private|privat|handy"  # notes that say no are told from these

ANYTHING, LETTER, QUOTE, NUMBER, BLANK, DIGIT, BRACKET = range(7)  # what a text begins or ends with


class Form(NamedTuple):
    """A form: the pattern of the whole text, how it begins and ends, and the notes and problem that it gives.

    The group ``number`` of the pattern is what is read. ``unless`` names a repair that would read the text differently.
    """

    begins: int
    ends: int
    pattern: str
    notes: tuple[str, ...] = ()
    problem: str = ""
    unless: str = ""


TRIMMED: Final = rf"^ *(?P<number>{BODY})[ ,;]*$"
FORMS: Final = (
    Form(LETTER, DIGIT, rf"^(?i:{WORDS})(?:[.] ?|[.]? ?: ?| )(?P<number>{BODY})$", ("LABEL_REMOVED",)),
    Form(QUOTE, DIGIT, rf"^'(?P<number>{BODY})$", ("QUOTE_REMOVED",)),
    Form(NUMBER, DIGIT, r"^(?P<number>\+?(?:[ ()\-]*[0-9]){7,})[.,]0$", ("FLOAT_ENDING",)),
    Form(
        NUMBER,
        DIGIT,
        rf"^(?P<number>{BODY}) ?(?:x|#|(?i:ext|extn|extension)[.:]?) ?[0-9]{{1,6}}$",
        ("EXTENSION_DROPPED",),
    ),
    Form(BLANK, ANYTHING, TRIMMED, ("TRIMMED",)),
    Form(ANYTHING, BLANK, TRIMMED, ("TRIMMED",)),
    Form(NUMBER, DIGIT, rf"^{LONG} ?/[ \-]*[0-9]{{1,4}}$", problem="MULTIPLE_NUMBERS"),
    Form(
        NUMBER,
        BRACKET,
        rf"^(?P<number>[+(]?[0-9](?:[ ().\-]*[0-9]){{5,}}) \((?i:{USUAL})\)$",
        ("TRAILING_NOTE_DROPPED",),
    ),
    Form(LETTER, LETTER, r"^(?i:n/a|nan|none|null)$", problem="MISSING"),
)


def _kinds() -> npt.NDArray[np.uint8]:
    table = np.zeros((2, 256), np.uint8)
    for kind, signs in ((LETTER, ascii_letters), (QUOTE, "'"), (NUMBER, "+(0123456789"), (BLANK, " ")):
        table[0, list(signs.encode())] = kind
    for kind, signs in ((LETTER, ascii_letters), (DIGIT, "0123456789"), (BRACKET, ")"), (BLANK, " ,;")):
        table[1, list(signs.encode())] = kind
    return table


BEGINS, ENDS = _kinds()


def _edges(texts: pa.Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return what each text begins and ends with; an empty text has nothing of interest."""
    _, offset_buffer, data_buffer = texts.buffers()
    if data_buffer is None or not data_buffer.size:
        return np.zeros(len(texts), np.uint8), np.zeros(len(texts), np.uint8)
    offsets = np.frombuffer(offset_buffer, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    data = np.frombuffer(data_buffer, np.uint8)
    filled = offsets[:-1] < offsets[1:]
    begins = BEGINS.take(data.take(offsets[:-1], mode="clip")) * filled
    return begins, ENDS.take(data.take(offsets[1:] - 1, mode="clip")) * filled


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

    def finish(self) -> None:
        """Write all decisions into the columns at once."""
        self.text, self.other = _with(self.text, self._read), _with(self.other, self._others)


def _with(texts: pa.Array, pieces: list[tuple[Rows, pa.Array]]) -> pa.Array:
    if not pieces:
        return texts
    return replaced(
        texts, np.concatenate([rows for rows, _ in pieces]), pa.concat_arrays([piece for _, piece in pieces])
    )


def scrub(texts: pa.Array, repair: Collection[str] = ()) -> Scrubbed:
    """Return, for a column of texts that are not plain, what ``repairs.clean`` makes of each."""
    found = Scrubbed(texts)
    left = np.ones(len(texts), bool)
    if len(texts) > FEW:
        _by_forms(found, left, repair)
    _one_by_one(found, texts, np.flatnonzero(left), repair)
    found.finish()
    return found


def _by_forms(found: Scrubbed, left: Mask, repair: Collection[str]) -> None:
    foreign = _in_ascii(found)
    left[foreign[plain(found.text.take(pa.array(foreign)))]] = False
    begins, ends = _edges(found.text)
    _trunk_zeros(found, left, np.flatnonzero(left & (begins == NUMBER) & (ends == DIGIT)))
    for form in FORMS:
        if form.unless not in repair or not form.unless:
            mine = left & ((begins == form.begins) | (form.begins == ANYTHING))
            _apply(found, form, left, np.flatnonzero(mine & ((ends == form.ends) | (form.ends == ANYTHING))))
    _two_numbers(found, left, np.flatnonzero(left & (begins == NUMBER) & (ends == DIGIT)))


def plain(texts: pa.Array) -> Mask:
    """Return which texts have nothing to repair.

    Example:
        >>> plain(pa.array(["030 901820", "030 901820.0", "Tel. 030"], pa.large_string())).tolist()
        [True, False, False]
    """
    flags = np.zeros(len(texts), bool)
    every = np.arange(len(texts))
    flags[matching(texts, every, DIGITS)] = True
    rows = matching(texts, every[~flags], PLAIN)
    flags[rows] = True
    flags[matching(texts, rows, NOT_SO_PLAIN)] = False
    return flags


def plain_by_digits(texts: pa.Array, found: Digits) -> Mask:
    """Return the same as `plain` for texts whose digits have been read, which decide most of them.

    Between the first digit and the last one of a readable text stands nothing but punctuation.
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
    flags[matching(texts, separated, READABLE_NOT_PLAIN)] = False
    uncommon = (found.count > digits.MOST_DIGITS) | (found.count < 3)
    unusual = np.flatnonzero(uncommon & (found.state != digits.READABLE))
    flags[unusual] = plain(texts.take(pa.array(unusual)))
    return flags


def _is_digit(signs: npt.NDArray[np.uint8]) -> Mask:
    flags: Mask = (signs - np.uint8(ord("0"))) < np.uint8(10)
    return flags


def _in_ascii(found: Scrubbed) -> Rows:
    """Rewrite texts of other scripts in ASCII where that is possible; return their rows."""
    rows = matching(found.text, np.arange(len(found.text)), FOREIGN)
    if len(rows):
        text, found.notes[rows] = written(found.text.take(pa.array(rows)))
        found.text = replaced(found.text, rows, text)
    return rows


def _two_numbers(found: Scrubbed, left: Mask, rows: Rows) -> None:
    """``030 901820 or 030 901821``: two numbers, unless its last digits come twice: one number in two notations."""
    rows = matching(found.text, rows, TWO)
    digits = pc.replace_substring_regex(taken(found.text, rows), r"[^0-9]", "").to_pylist()
    rows = rows[[text[-LAST:] not in text[:-LAST] for text in digits]]
    _refuse(found, rows, "MULTIPLE_NUMBERS")
    left[rows] = False


def _trunk_zeros(found: Scrubbed, left: Mask, rows: Rows) -> None:
    """``+44 (0)20 ...``: as ``repairs`` drops the zero, with the text as it was beside it."""
    rows, as_it_was, parts = _matched(found, rows, TRUNK_ZERO)
    if not len(rows):
        return
    dropped = pc.binary_join_element_wise(parts.field("code"), parts.field("number"), pa.scalar(" ", STRING))
    sure = plain(dropped)
    rows = rows[sure]
    found.or_else(rows, as_it_was.filter(pa.array(sure)))
    found.other_notes[rows] = found.notes[rows]
    found.read(rows, dropped.filter(pa.array(sure)))
    found.notes[rows] |= bits(["TRUNK_ZERO_DROPPED"])
    left[rows] = False


def _matched(found: Scrubbed, rows: Rows, pattern: str) -> tuple[Rows, pa.Array, pa.Array]:
    """Return the rows whose text matches the pattern, these texts, and their named groups."""
    texts = taken(found.text, rows)
    parts = pc.extract_regex(texts, pattern, memory_pool=SHARED)
    hit = np.flatnonzero(parts.is_valid())
    return rows[hit], taken(texts, hit), taken(parts, hit)


def _apply(found: Scrubbed, form: Form, left: Mask, rows: Rows) -> None:
    """Decide the rows that have a form, and take them off the rows that are left."""
    if form.problem:
        rows = matching(found.text, rows, form.pattern)
        _refuse(found, rows, form.problem)
    else:
        rows, _, parts = _matched(found, rows, form.pattern)
        number = parts.field("number")
        sure = plain(number) if form.begins == NUMBER else ~_has(number, NOT_SO_PLAIN)
        rows = rows[sure]
        found.read(rows, number.filter(pa.array(sure)))
        found.notes[rows] |= bits(form.notes)
    left[rows] = False


def _has(texts: pa.Array, pattern: str) -> Mask:
    flags = np.zeros(len(texts), bool)
    flags[matching(texts, np.arange(len(texts)), pattern)] = True
    return flags


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
