"""The repairs of ``repairs`` by column: for the few shapes that most cells have which are not plain.

Each form is a pattern that takes the whole text and says what ``repairs.clean`` makes of every text it takes. What no
form takes is put to ``clean`` itself, each distinct text once; a test puts both to the same lists.
"""

from __future__ import annotations

from collections.abc import Collection
from string import ascii_letters
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from . import answers, repairs
from .answers import STRING, Mask, Rows
from .fast import digits
from .fast.digits import Digits
from .vocabulary import PROBLEM_CODE, Bits, Codes, bits
from .work import matching

BODY: Final = r"[+(]?[0-9][0-9 ().\-]*[0-9]"
LONG: Final = r"[+(]?(?:[ ().\-]*[0-9]){7,}"
DIGITS: Final = r"^\+?[0-9]{2,}$"
PLAIN: Final = rf"^{BODY}$"  # nothing here for the repairs of a cell to look at, unless
NOT_SO_PLAIN: Final = (
    r"\(\s*0\s*\)|[.]0+$|\(\s*[0-9]{1,4}\s*\)$|[0-9]{7} +\(?[0-9]{7}|[.]{3}"
    r"|^(?:19|20)[0-9]{2}[-.][0-9]{1,2}[-.][0-9]{1,2}$|^[0-9]{1,2}[-.][0-9]{1,2}[-.](?:19|20)[0-9]{2}$"
)
READABLE_NOT_PLAIN: Final = rf"{NOT_SO_PLAIN}|[\[\]/]"
FOREIGN: Final = r"[^ -~]"  # letters, digits and blanks of other scripts; they are written in ASCII first
KNOWN_SIGNS: Final = (  # texts that have no other sign outside ASCII, that sign, what it becomes, and its note
    (r"^[ -~\x{a0}]+$", "\u00a0", " ", ("INVISIBLE_REMOVED",)),
    (r"^[ -~\x{2013}]+$", "\u2013", "-", ()),
)
TRUNK_ZERO: Final = r"^((?:\+|00)[0-9 )]{1,7}?) *\( *0 *\) *([0-9 .\-]*[0-9])$"
WORDS: Final = "telephone|telefon|telefono|tel|phone|mobile|mobil|cellphone|cell|mob|handy|portable|gsm|whatsapp|sms|ph"


ANYTHING, LETTER, QUOTE, NUMBER = range(4)  # what a text begins with


class Form(NamedTuple):
    """A shape: the pattern of the whole text, how it begins, what of it is the number, and what is said of it.

    ``unless`` names a repair that would read such a text in another way.
    """

    pattern: str
    begins: int
    number: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""
    unless: str = ""


FORMS: Final = (
    Form(rf"^(?i:{WORDS})(?:[.] ?|[.]? ?: ?| )({BODY})$", LETTER, r"\1", ("LABEL_REMOVED",)),
    Form(rf"^'({BODY})$", QUOTE, r"\1", ("QUOTE_REMOVED",)),
    Form(r"^(\+?(?:[ ()\-]*[0-9]){7,})[.,]0$", NUMBER, r"\1", ("FLOAT_ENDING",)),
    Form(rf"^({BODY}) ?(?:x|#|(?i:ext|extn|extension)[.:]?) ?[0-9]{{1,6}}$", NUMBER, r"\1", ("EXTENSION_DROPPED",)),
    Form(rf"^ *({BODY})[ ,;]*$", ANYTHING, r"\1", ("TRIMMED",)),
    Form(rf"^{LONG} ?/[ \-]*[0-9]{{1,4}}$|^{LONG} (?:or|/) {LONG}$", NUMBER, problem="MULTIPLE_NUMBERS"),
    Form(rf"^{BODY} \([A-Za-z]{{3,}}\)$", NUMBER, problem="TEXT_IN_NUMBER", unless="trailing_note"),
    Form(r"^(?i:n/a|nan|none|null)$", LETTER, problem="MISSING"),
)


def _begins() -> npt.NDArray[np.uint8]:
    table = np.zeros(256, np.uint8)
    for kind, signs in ((LETTER, ascii_letters), (QUOTE, "'"), (NUMBER, "+(0123456789")):
        table[list(signs.encode())] = kind
    return table


BEGINS: Final = _begins()


def _first_signs(texts: pa.Array) -> npt.NDArray[np.uint8]:
    """The first byte of every text, a blank for an empty one."""
    _, offset_buffer, data_buffer = texts.buffers()
    if data_buffer is None or not data_buffer.size:
        return np.full(len(texts), ord(" "), np.uint8)
    offsets = np.frombuffer(offset_buffer, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    first = np.frombuffer(data_buffer, np.uint8).take(offsets[:-1], mode="clip")
    return np.where(offsets[:-1] == offsets[1:], np.uint8(ord(" ")), first)


class Scrubbed:
    """Texts after their repairs: what to read, what was noted, why not, and the other spelling where there is one."""

    def __init__(self, texts: pa.Array) -> None:
        self.text = texts
        self.notes: Bits = np.zeros(len(texts), np.uint32)
        self.problem: Codes = np.zeros(len(texts), np.uint8)
        self.other = pa.nulls(len(texts), STRING)
        self.other_notes: Bits = np.zeros(len(texts), np.uint32)


def scrub(texts: pa.Array, repair: Collection[str] = ()) -> Scrubbed:
    """Do to a column of texts that are not plain what ``repairs.clean`` does to each of them.

    Example:
        >>> found = scrub(pa.array(["Tel: 030 901820", "(030) 901820 ext. 2", "call me"], pa.large_string()))
        >>> found.text.to_pylist(), found.problem.tolist() == [0, 0, PROBLEM_CODE["NOT_A_NUMBER"]]
        (['030 901820', '(030) 901820', 'call me'], True)
    """
    found = Scrubbed(texts)
    foreign = _in_ascii(found)
    now_plain = foreign[plain(found.text.take(pa.array(foreign)))]
    left = np.setdiff1d(np.arange(len(texts)), now_plain, assume_unique=True)
    left = _trunk_zeros(found, left)
    begins = BEGINS.take(_first_signs(found.text))
    for form in FORMS:
        if form.unless not in repair or not form.unless:
            mine = begins[left] == form.begins if form.begins else np.ones(len(left), bool)
            left = np.concatenate((left[~mine], _apply(found, form, left[mine])))
    _one_by_one(found, texts, left, repair)
    return found


def plain(texts: pa.Array) -> Mask:
    """Tell which texts have nothing to repair.

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
    """Tell the same, of texts whose digits are read; most are told by them.

    Between the first digit and the last one of a readable text stands nothing but punctuation.

    Example:
        >>> texts = pa.array(["030 901820", "030/901820", "030 901820.0", "Tel. 030"], pa.large_string())
        >>> plain_by_digits(texts, digits.read(*digits.bytes_of(texts))).tolist()
        [True, False, False, False]
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
    """Write texts of other scripts in ASCII, as far as they have such signs; return their rows."""
    every = foreign = matching(found.text, np.arange(len(found.text)), FOREIGN)
    for pattern, sign, by, notes in KNOWN_SIGNS:
        known = matching(found.text, foreign, pattern)
        if len(known):
            text = pc.replace_substring(found.text.take(pa.array(known)), sign, by)
            found.text = answers.replaced(found.text, known, text)
            found.notes[known] = bits(notes)
            foreign = np.setdiff1d(foreign, known, assume_unique=True)
    if not len(foreign):
        return every
    written = [repairs.characters(text) for text in found.text.take(pa.array(foreign)).to_pylist()]
    found.text = answers.replaced(found.text, foreign, pa.array([text for text, _ in written], STRING))
    found.notes[foreign] = [bits(notes) for _, notes in written]
    return every


def _trunk_zeros(found: Scrubbed, left: Rows) -> Rows:
    """``+44 (0)20 ...``: as ``repairs`` drops the zero, with the text as it was beside it."""
    rows = matching(found.text, left, TRUNK_ZERO)
    if not len(rows):
        return left
    as_it_was = found.text.take(pa.array(rows))
    dropped = pc.replace_substring_regex(as_it_was, TRUNK_ZERO, r"\1 \2")
    sure = plain(dropped)
    rows, as_it_was, dropped = rows[sure], as_it_was.filter(pa.array(sure)), dropped.filter(pa.array(sure))
    found.other = answers.replaced(found.other, rows, as_it_was)
    found.other_notes[rows] = found.notes[rows]
    found.text = answers.replaced(found.text, rows, dropped)
    found.notes[rows] |= bits(["TRUNK_ZERO_DROPPED"])
    return np.setdiff1d(left, rows, assume_unique=True)


def _apply(found: Scrubbed, form: Form, left: Rows) -> Rows:
    """Settle the rows that have a form; return the others."""
    rows = matching(found.text, left, form.pattern)
    if not len(rows):
        return left
    if form.problem:
        found.problem[rows] = PROBLEM_CODE[form.problem]
        found.notes[rows] = 0
    else:
        number = pc.replace_substring_regex(found.text.take(pa.array(rows)), form.pattern, form.number)
        sure = plain(number)
        rows, number = rows[sure], number.filter(pa.array(sure))
        found.text = answers.replaced(found.text, rows, number)
        found.notes[rows] |= bits(form.notes)
    return np.setdiff1d(left, rows, assume_unique=True)


def _one_by_one(found: Scrubbed, raw: pa.Array, rows: Rows, repair: Collection[str]) -> None:
    """Put what no form takes to ``repairs.clean``."""
    if not len(rows):
        return
    distinct = pc.dictionary_encode(raw.take(pa.array(rows)))
    place = distinct.indices.to_numpy()
    cleaned = [repairs.clean(text, repair) for text in distinct.dictionary.to_pylist()]
    found.text = answers.replaced(found.text, rows, _texts([it.text for it in cleaned], place))
    found.other = answers.replaced(found.other, rows, _texts([it.other for it in cleaned], place))
    found.problem[rows] = np.array([PROBLEM_CODE.get(it.problem, 0) for it in cleaned], np.uint8)[place]
    found.notes[rows] = np.array([bits(it.notes) for it in cleaned], np.uint32)[place]
    found.other_notes[rows] = np.array([bits(it.other_notes) for it in cleaned], np.uint32)[place]


def _texts(texts: list[str | None] | list[str], place: Rows) -> pa.Array:
    return pa.array(texts, STRING).take(pa.array(place))
