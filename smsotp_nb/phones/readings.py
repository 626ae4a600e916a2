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


TWICE: Final = re.compile(rf"\A[ (]*+(?:\+|00)\D*+({'|'.join(calling_codes())})\D*+(?:00)?(?=\1)(.*)", re.DOTALL)


def _said_once(texts: pa.Array) -> pa.Array:
    """``+49 49171 ...`` and ``+49 0049 171 ...`` without the first 49; a text without such a pair becomes null."""
    found = [TWICE.fullmatch(text) for text in texts.to_pylist()]
    return pa.array([f"+{pair[2]}" if pair else None for pair in found], STRING)


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
    Reading(CODE_ONCE, "CODE_SAID_TWICE", (PLUS, DOUBLE_ZERO), r"", _said_once, "as good"),
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


def _kind_of_sign() -> npt.NDArray[np.uint8]:
    table = np.full(256, OTHER, np.uint8)
    table[ord("+")], table[ord("0")], table[ord("1") : ord("9") + 1] = PLUS, ZERO, BARE
    return table


KIND_OF_SIGN: Final = _kind_of_sign()


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
    rows = np.flatnonzero(np.isin(front, reading.fronts) & work.open())
    if reading.regions:
        named = np.asarray(pc.is_in(work.region.take(pa.array(rows)), pa.array(sorted(reading.regions), STRING)))
        rows = rows[named.astype(bool)]
    return matching(work.text, rows, reading.pattern) if reading.pattern else rows


def worth(work: Work, reading: Reading, rows: Rows, asked: Collection[str], *, equals: bool = False) -> Rows:
    """Return those of the rows where this reading could change something."""
    valid = work.answers.valid[rows]
    if reading.doubts == "any":
        return rows
    if reading.doubts == "never":
        return rows[~valid]
    if reading.doubts == "as good" or equals or reading.repair in asked:
        return rows
    weak = RANK.take(work.answers.kind[rows]) < 2
    return rows[~valid | weak | own_code_in_front(work, rows)]


def own_code_in_front(work: Work, rows: Rows) -> Mask:
    """Tell which bare texts begin with the digits of the calling code they are read with."""
    digits = pc.replace_substring_regex(work.text.take(pa.array(rows)), r"[^0-9]", "")
    cc = work.answers.cc[rows]
    found = np.zeros(len(rows), bool)
    for length, (least, most) in enumerate(((0, 9), (10, 99), (100, 999)), start=1):
        of_length = np.flatnonzero((cc >= least) & (cc <= most))
        if len(of_length):
            start = pc.utf8_slice_codeunits(digits.take(pa.array(of_length)), 0, length)
            found[of_length] = np.array([int(text or -1) for text in start.to_pylist()]) == cc[of_length]
    return found
