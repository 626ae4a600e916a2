"""The plausible readings of a text beside each other: a row is texted only where those that are valid agree.

A text is first read as it is written, under the plan of its region. Each row of ``READINGS`` says which texts can also
be meant in another way, how they would be written then, and when that is enough to doubt a valid reading as written:

* ``any``: always. Nothing but the other rows of the column can tell ``0055 ...`` (a Brazilian carrier, or the plus of
  somebody abroad) apart.
* ``stronger``: where people have mobile numbers of the other kind and a landline as written. In plans of free length
  nearly everything is a landline, so that a landline says little and a mobile number of ten given digits much.
* ``as good``: where people have mobile numbers or landlines of the other kind, whichever they have as written.
* ``never``: where the reading as written is valid it is not doubted.

Where nothing is valid as written, a reading that alone is valid is taken, with its note; two that differ are ambiguous.
A reading with a ``repair`` is weighed against the others always, and taken only when that repair is asked for, or when
the evidence of the column is for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from . import answers
from .answers import STRING, Answers, Mask, Rows
from .fast.tables import KINDS
from .lookup import calling_codes
from .vocabulary import NOTE_BIT, Bits
from .work import Work, matching

Doubts = Literal["any", "stronger", "as good", "never"]
Kinds = npt.NDArray[np.int8]

OTHER, PLUS, ZERO, DOUBLE_ZERO, BARE = range(5)  # what a text begins with

RANK: Final = np.array([2 if "MOBILE" in k else k in ("FIXED_LINE", "VOIP", "PERSONAL_NUMBER") for k in KINDS], np.int8)


@dataclass(frozen=True, slots=True)
class Reading:
    """Another way to mean a text.

    Attributes:
        name: what ``explain`` and the table of costs call it.
        note: what a row says that is read so.
        fronts: what a text begins with that can be read so.
        pattern: which of these can be (in RE2's dialect).
        rewrite: how they would be written.
        doubts: when a valid reading as written is doubted for it.
        repair: the repair that must be asked for, or ``""``.
        regions: regions it is for; none named: all.
        keep: which valid answers are really of this reading.
    """

    name: str
    note: str
    fronts: tuple[int, ...]
    pattern: str
    rewrite: Callable[[pa.Array], pa.Array]
    doubts: Doubts
    repair: str = ""
    regions: frozenset[str] = frozenset()
    keep: Callable[[Answers], Mask] | None = None


def _replacing(pattern: str, by: str) -> Callable[[pa.Array], pa.Array]:
    return lambda texts: pc.replace_substring_regex(texts, pattern, by)


def _zero_belongs(found: Answers) -> Mask:
    """The zero is part of the number itself (Italy, Congo ...), not a prefix for calls at home."""
    pairs = zip(found.e164.to_pylist(), found.cc.tolist(), strict=True)
    return np.array([number is not None and number.startswith(f"+{cc}0") for number, cc in pairs], bool)


CODES: Final = calling_codes()
LIKE_TWICE: Final = r"^[ (]*(?:\+|00)[^0-9]*(?:" + "|".join(rf"{it}[^0-9]*(?:00)?{it}" for it in CODES) + ")"
TWICE: Final = re.compile(rf"\A[ (]*+(?:\+|00)\D*+({'|'.join(CODES)})\D*+(?:00)?(?=\1)(.*)", re.DOTALL)


def _said_once(texts: pa.Array) -> pa.Array:
    """``+49 49171 ...`` and ``+49 0049 171 ...`` without the first 49; a text without such a pair becomes null."""
    found = [TWICE.fullmatch(text) for text in texts.to_pylist()]
    return pa.array([f"+{pair[2]}" if pair else None for pair in found], STRING)


# whose plans have numbers that begin with a zero (by the metadata's general descriptions and examples)
ZERO_KEPT: Final = frozenset(
    "AC BF BJ BW BZ CG CI FJ GA ID IT JP KR MO NC NE NO QA RW SJ SM SZ TJ TO VA".split()  # noqa: SIM905
)
IDD: Final = "00 as plus"
WITH_PLUS: Final = "with a plus"
CODE_ONCE: Final = "calling code once"
WITH_ZERO: Final = "zero restored"

READINGS: Final = (
    Reading(IDD, "IDD_00_READ", (DOUBLE_ZERO,), r"^[ (]*00[ )]*[1-9]", _replacing(r"^([ (]*)00", r"\1+"), "any"),
    Reading(
        WITH_ZERO,
        "LEADING_ZERO_RESTORED",
        (BARE,),
        r"^[1-9][0-9]{5,13}$",
        _replacing(r"^", "0"),
        "as good",
        regions=ZERO_KEPT,
        keep=_zero_belongs,
    ),
    Reading(
        "zero dropped",
        "LEADING_ZERO_DROPPED",
        (ZERO,),
        r"^[ (]*0[ )]*3",
        _replacing(r"^([ (]*)0", r"\1"),
        "any",
        regions=frozenset({"CO"}),
    ),
    Reading(
        "without the 1 of Mexico",
        "MX_1_DROPPED",
        (PLUS,),
        r"^\+ ?52[ .()\-]*1",
        _replacing(r"^(\+ ?52[ .()\-]*)1", r"\1"),
        "never",
        repair="mx_1",
    ),
    Reading(WITH_PLUS, "PLUS_RESTORED", (BARE,), r"", _replacing(r"^[ ]*", "+"), "stronger", repair="lost_plus"),
    Reading(CODE_ONCE, "CODE_SAID_TWICE", (PLUS, DOUBLE_ZERO), LIKE_TWICE, _said_once, "as good"),
)
SECOND_SPELLING: Final = Reading("the other spelling", "", (), "", lambda texts: texts, "any")
BY_NAME: Final = {reading.name: reading for reading in READINGS}


def fronts(texts: pa.Array) -> npt.NDArray[np.uint8]:
    """Tell what each text begins with: a plus, one zero, two, another digit (bare), or something else.

    Example:
        >>> texts = pa.array(["+1", "01", "001", "1", "(01", None, ""], pa.large_string())
        >>> fronts(texts).tolist()
        [1, 2, 3, 4, 2, 0, 0]
    """
    found = np.full(len(texts), OTHER, np.uint8)
    filled = np.flatnonzero(pc.fill_null(pc.greater(pc.binary_length(texts), 1), False))
    if not len(filled):
        return found
    _, offset_buffer, data_buffer = texts.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)[texts.offset :].take(filled)
    data = np.frombuffer(data_buffer, np.uint8)
    first, second = data.take(offsets), data.take(offsets + 1)
    kind = KIND_OF_SIGN.take(first)
    found[filled] = np.where((kind == ZERO) & (second == ord("0")), DOUBLE_ZERO, kind)
    for front, pattern in ((PLUS, r"^[ (]+\+"), (ZERO, r"^[ (]+0"), (DOUBLE_ZERO, r"^[ (]+00"), (BARE, r"^[ (]*[1-9]")):
        odd = np.flatnonzero(found == (ZERO if front == DOUBLE_ZERO else OTHER))
        found[matching(texts, odd, pattern)] = front
    return found


def _chosen(kinds: tuple[int, ...]) -> Mask:
    return np.isin(np.arange(5), kinds)


def _kind_of_sign() -> npt.NDArray[np.uint8]:
    table = np.full(256, OTHER, np.uint8)
    table[ord("+")], table[ord("0")], table[ord("1") : ord("9") + 1] = PLUS, ZERO, BARE
    return table


KIND_OF_SIGN: Final = _kind_of_sign()
CHOSEN: Final = {reading.fronts: _chosen(reading.fronts) for reading in READINGS}


@dataclass(frozen=True, slots=True)
class Trial:
    """A reading that was tried: of which rows, how they are written so, what they would note, what the verdict says."""

    reading: Reading
    rows: Rows
    text: pa.Array
    notes: Bits
    answers: Answers

    def only(self, chosen: Mask) -> Trial:
        place = np.flatnonzero(chosen)
        text = self.text.take(pa.array(place))
        return Trial(self.reading, self.rows[chosen], text, self.notes[chosen], self.answers.take(place))


def attempt(work: Work, reading: Reading, rows: Rows) -> Trial:
    """Read rows in another way."""
    text = reading.rewrite(work.text.take(pa.array(rows)))
    can = np.asarray(text.is_valid())
    rows, text = rows[can], text.filter(pa.array(can))
    found = answers.of(text, work.region.take(pa.array(rows)))
    return Trial(reading, rows, text, work.notes[rows] | NOTE_BIT[reading.note], found)


def good(trial: Trial) -> Trial:
    """Return the part of a trial that is valid and really of its reading."""
    fits = trial.answers.valid
    if trial.reading.keep is not None:
        fits = fits & trial.reading.keep(trial.answers)
    return trial.only(fits)


def candidates(work: Work, reading: Reading, front: npt.NDArray[np.uint8]) -> Rows:
    """Return the open rows that can be read so."""
    rows = np.flatnonzero(CHOSEN[reading.fronts].take(front) & work.open())
    if reading.name == CODE_ONCE:
        rows = rows[~work.answers.valid[rows] | _code_again(work.answers, rows)]
    if reading.regions:
        named = np.asarray(pc.is_in(work.region.take(pa.array(rows)), pa.array(sorted(reading.regions), STRING)))
        rows = rows[named.astype(bool)]
    return matching(work.text, rows, reading.pattern) if reading.pattern else rows


def _code_again(found: Answers, rows: Rows) -> Mask:
    """Tell which E.164 numbers go on with the digits of their calling code, or with a zero."""
    again = np.zeros(len(rows), bool)
    known = np.flatnonzero(found.cc[rows] > 0)
    _, offset_buffer, data_buffer = found.e164.buffers()
    if not len(known):
        return again
    code = found.cc[rows[known]].astype(np.int32)
    data = np.frombuffer(data_buffer, np.uint8)
    length = 1 + (code > 9) + (code > 99)
    at = np.frombuffer(offset_buffer, np.int64)[found.e164.offset :].take(rows[known]) + 1 + length
    after = data.take(at, mode="clip")  # the first digit behind the code
    zero = after == ord("0")
    maybe = np.flatnonzero(after == data.take(at - length))
    code, length, at = code[maybe], length[maybe], at[maybe]
    number = np.zeros(len(maybe), np.int32)
    for place in range(3):
        inside = length > place
        number[inside] = number[inside] * 10 + data.take(at[inside] + place, mode="clip") - np.uint8(ord("0"))
    again[known[zero]] = True
    again[known[maybe[number == code]]] = True
    return again


def worth(
    work: Work, reading: Reading, rows: Rows, asked: Collection[str], *, equals: bool = False, alone: Mask | None = None
) -> Rows:
    """Return those of the rows where this reading could change something.

    ``alone`` are rows with no other reading than the one as written (None: that does not matter): where that is not
    valid, a reading that must be asked for changes nothing there.
    """
    valid = work.answers.valid[rows]
    if reading.name == IDD:
        return rows[~(valid & _same_after_00(work, rows))]
    if reading.doubts == "any":
        return rows
    if reading.doubts == "never":
        return rows[~valid]
    if reading.doubts == "as good" or equals or reading.repair in asked:
        return rows
    useful = valid & (RANK.take(work.answers.kind[rows]) < 2)
    useful |= ~valid & (True if alone is None else ~alone[rows])
    rest = np.flatnonzero(valid & ~useful)
    useful[rest] = own_code_in_front(work, rows[rest])
    return rows[useful]


def _same_after_00(work: Work, rows: Rows) -> Mask:
    """Tell which texts are read as if their 00 were a plus anyway: where it is the prefix to call abroad."""
    digits = pc.replace_substring_regex(work.text.take(pa.array(rows)), r"^[ (]*00|[^0-9]", "")
    number = pc.utf8_slice_codeunits(work.answers.e164.take(pa.array(rows)), 1, 32)
    return np.asarray(pc.fill_null(pc.equal(digits, number), False), bool)


def own_code_in_front(work: Work, rows: Rows) -> Mask:
    """Tell which bare texts begin with the digits of the calling code they are read with."""
    cc = work.answers.cc[rows]
    first = np.where(cc > 99, cc // 100, np.where(cc > 9, cc // 10, cc))
    found: Mask = first_digits(work.text.take(pa.array(rows))) == first
    maybe = np.flatnonzero(found)
    digits = pc.replace_substring_regex(work.text.take(pa.array(rows[maybe])), r"[^0-9]", "").to_pylist()
    found[maybe] = [text.startswith(str(code)) for text, code in zip(digits, cc[maybe].tolist(), strict=True)]
    return found


def first_digits(texts: pa.Array) -> npt.NDArray[np.uint8]:
    """Return the first digit of texts that begin with one, perhaps behind blanks and brackets (there: any number).

    Example:
        >>> first_digits(pa.array(["41", "7"], pa.large_string())).tolist()
        [4, 7]
    """
    _, offset_buffer, data_buffer = texts.buffers()
    if not len(texts) or data_buffer is None:
        return np.zeros(len(texts), np.uint8)
    offsets = np.frombuffer(offset_buffer, np.int64)[texts.offset : texts.offset + len(texts)]
    first = np.frombuffer(data_buffer, np.uint8).take(offsets) - np.uint8(ord("0"))
    behind = np.flatnonzero(first > 9)
    inside = texts.take(pa.array(behind)).to_pylist()
    first[behind] = [int(next((sign for sign in text if sign.isdigit()), "0")) for text in inside]
    return first
