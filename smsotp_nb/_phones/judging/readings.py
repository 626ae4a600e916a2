"""The plausible readings of a text: a row is texted only if the valid ones agree.

A text is first read as it is written, under the plan of its region. Each row of ``READINGS`` says which texts can also
be meant in another way, how they would be written then, and when that is enough to doubt a valid reading as written:

* ``any``: always. Nothing but the other rows of the column can tell ``0055 ...`` (a Brazilian carrier, or the plus of
  somebody abroad) apart.
* ``stronger``: if it is a mobile number and the text as written a landline. In plans of variable length nearly
  everything is a landline, so a landline is weak evidence, and a mobile number of ten given digits is strong.
* ``as good``: if it is a mobile number or a landline, whatever the text is as written.
* ``landlines``: the same, but no mobile number as written is looked at.
* ``never``: a valid reading as written is not doubted.

If the text is not valid as written, the only valid reading is used, with its note; two that differ are ambiguous. A
reading with a ``repair`` is always compared with the others, but is used only if that repair was requested or the
evidence of the column supports it, or, of a lost plus, if it is a mobile number and the text as written none at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..countries import calling_codes
from ..fast.assembly import Answers
from ..fast.digits import bytes_of
from ..fast.memory import STRING, Mask, Rows, matching
from ..fast.tables import KINDS
from ..vocabulary import NOTE_BIT, Bits
from . import answers
from .work import Work

Doubts = Literal["any", "stronger", "as good", "landlines", "never"]

OTHER, PLUS, ZERO, DOUBLE_ZERO, BARE = range(5)  # what a text begins with, perhaps behind blanks and brackets
WRAPPED: Final = 5  # such a blank or bracket

RANK: Final = np.array([2 if "MOBILE" in k else k in ("FIXED_LINE", "VOIP", "PERSONAL_NUMBER") for k in KINDS], np.int8)

RANKS: Final = RANK.tolist()  # -1, the last one, is of no kind
MOBILE: Final = KINDS.index("MOBILE")


@dataclass(frozen=True, slots=True)
class Reading:
    """Another way to mean a text.

    Attributes:
        name: what ``explain`` and the table of costs call it.
        note: what a row says that is read so.
        fronts: what a text begins with that can be read so.
        pattern: which of these can be (in RE2's dialect).
        replaced, by: how they would be written: what is replaced, and by what; "": `_said_once`.
        doubts: when a valid reading as written is doubted for it.
        repair: the repair that must be asked for, or ``""``.
        regions: regions it is for; none named: all.
        keeps_zero: only a number that itself begins with a zero is really of this reading.
    """

    name: str
    note: str
    fronts: tuple[int, ...]
    pattern: str
    replaced: str
    by: str
    doubts: Doubts
    repair: str = ""
    regions: frozenset[str] = frozenset()
    keeps_zero: bool = False

    def fits(self, text: str) -> bool:
        """Return whether a text that begins as it must can be meant so."""
        return not self.pattern or _compiled(self.pattern).search(text) is not None

    def of_text(self, text: str) -> str | None:
        """Return how a text would be written in this reading, None if it cannot be."""
        return _compiled(self.replaced).sub(self.by, text, count=1) if self.replaced else _said_once(text)

    def of_texts(self, texts: pa.Array) -> pa.Array:
        if self.replaced:
            return pc.replace_substring_regex(texts, self.replaced, self.by)
        return pa.array([_said_once(text) for text in texts.to_pylist()], STRING)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("$", r"\Z"), re.ASCII)


def zero_belongs(number: str | None, code: object) -> bool:
    """Return whether the zero is part of the number itself (Italy, Congo ...), not a prefix for domestic calls."""
    return number is not None and number.startswith(f"+{code}0")


def code_again(number: str | None, code: object) -> bool:
    """Return whether an E.164 number continues with the digits of its calling code, or with a zero."""
    digits = str(code)
    return (number or "")[1 + len(digits) :].startswith((digits, "0"))


def codes_again(found: Answers, rows: Rows) -> Mask:
    """Do for some valid numbers of a column what `code_again` does for one."""
    data, offsets = bytes_of(found.e164)
    if not len(data):
        return np.zeros(len(rows), bool)
    first, code = offsets.take(rows) + 1, found.cc.take(rows)
    size = 1 + (code > 9) + (code > 99)
    again: Mask = np.ones(len(rows), bool)
    for place in range(3):
        alike = data.take(first + place, mode="clip") == data.take(first + size + place, mode="clip")
        again &= alike | (place >= size)
    again |= data.take(first + size, mode="clip") == ord("0")
    return again


CODES: Final = calling_codes()
TWICE: Final = re.compile(rf"\A[ (]*+(?:\+|00)\D*+({'|'.join(CODES)})\D*+(?:00)?(?=\1)(.*)", re.DOTALL)
# In RE2's dialect, which cannot say that the same digits come again, only that the first of them does.
AGAIN: Final = "|".join(f"{it}[0-9]{{0,2}}[^0-9]*(?:00)?{it}" for it in "123456789")
PERHAPS_TWICE: Final = rf"^[ (]*(?:\+|00)[^0-9]*(?:{AGAIN})"


def _said_once(text: str) -> str | None:
    """``+49 49171 ...`` and ``+49 0049 171 ...`` without the first 49; None for a text without such a pair."""
    pair = TWICE.fullmatch(text)
    return f"+{pair[2]}" if pair else None


def _overseas(code: int, own: str = "[2567]", doubts: Doubts = "never") -> Reading:
    """``0692 12 34 56`` in a French list: a number of Réunion, which is called in this way from France."""
    at_home = (  # no two repetitions can share a sign: RE2 has no possessive ones
        r"^[( ]*(?:(?:\+ ?|00 ?)33[ .)\-]*(?:\((?:0\))?[ .()\-]*)?|0[ .()\-]*|[.)\-][ .()\-]*)?"
    )
    name = f"overseas, +{code}"
    return Reading(
        name,
        "OVERSEAS_READ",
        (PLUS, DOUBLE_ZERO, ZERO, BARE),
        at_home + own,
        at_home,
        f"+{code} ",
        doubts,
        regions=frozenset({"FR"}),
    )


# whose plans have numbers that begin with a zero (by the metadata's general descriptions and examples)
ZERO_KEPT: Final = frozenset(
    "AC BF BJ BW BZ CG CI FJ GA ID IT JP KR MO NC NE NO QA RW SJ SM SZ TJ TO VA".split()  # noqa: SIM905
)
# Nobody writes a blank inside a calling code or, behind +1, inside the three digits of an area code: 131 2345 6788 is
# Chinese, 8 486 132-64-36 Russian. A spreadsheet does: 4.915.121.643.501.
NOT_CUT: Final = r"^[ (]*(?:7|1(?:[0-9]{3}|[^0-9])|[2-689][0-9]|[2-689](?:[ .\-][0-9]{3}){3,4}$)"
IDD: Final = "00 as plus"
WITH_PLUS: Final = "with a plus"
CODE_ONCE: Final = "calling code once"
WITH_ZERO: Final = "zero restored"

READINGS: Final = (
    Reading(IDD, "IDD_00_READ", (DOUBLE_ZERO,), r"^[ (]*00[ )]*[1-9]", r"^([ (]*)00", r"\1+", "any"),
    Reading(
        WITH_ZERO,
        "LEADING_ZERO_RESTORED",
        (BARE,),
        r"^[1-9][0-9]{5,13}$",
        r"^",
        "0",
        "as good",
        regions=ZERO_KEPT,
        keeps_zero=True,
    ),
    Reading(
        "without Mexico's old prefix",
        "OLD_PREFIX_DROPPED",
        (PLUS, DOUBLE_ZERO, BARE),
        r"^[( ]*(?:\+ ?|00 ?)?52[ .()\-]*(?:0?1|04[45])",
        r"^[( ]*(?:\+ ?|00 ?)?52[ .()\-]*(?:0?1|04[45])[ .()\-]*",
        "+52 ",
        "never",
    ),
    Reading(
        "without Mexico's old prefix, at home",
        "OLD_PREFIX_DROPPED",
        (ZERO, BARE),
        r"^[( ]*(?:01|04[45]|1)",
        r"^[( ]*(?:01|04[45]|1)[ .()\-]*",
        "+52 ",
        "never",
        regions=frozenset({"MX"}),
    ),
    *map(_overseas, (262, 590, 594, 596)),
    _overseas(262, "2[ .-]?69", "landlines"),  # Mayotte and Martinique, which phonenumbers also finds in France itself
    _overseas(596, "5[ .-]?96", "landlines"),
    Reading(WITH_PLUS, "PLUS_RESTORED", (BARE,), NOT_CUT, r"^[ ]*", "+", "stronger", repair="lost_plus"),
    Reading(CODE_ONCE, "CODE_SAID_TWICE", (PLUS, DOUBLE_ZERO), "", "", "", "as good"),
)
SECOND_SPELLING: Final = Reading("the other spelling", "", (), "", "", "", "any")
BY_NAME: Final = {reading.name: reading for reading in READINGS}


def front(text: str) -> int:
    """Return what a text begins with, as `fronts` of a column."""
    rest = text.lstrip(" (")
    if rest[:1] == "0":
        return DOUBLE_ZERO if rest[1:2] == "0" else ZERO
    return PLUS if rest[:1] == "+" else BARE if rest[:1] in set("123456789") else OTHER


def fronts(texts: pa.Array) -> npt.NDArray[np.uint8]:
    """Return what each text begins with: a plus, one zero, two, another digit (bare), or something else.

    Example:
        >>> texts = pa.array(["+1", "01", "001", "1", "(01", None, ""], pa.large_string())
        >>> fronts(texts).tolist()
        [1, 2, 3, 4, 2, 0, 0]
        >>> fronts(pa.array(["+", "0", " (0", "( 00", "(", "x"], pa.large_string())).tolist()
        [1, 2, 2, 3, 0, 0]
    """
    _, offset_buffer, data_buffer = texts.buffers()
    if data_buffer is None or not data_buffer.size:
        return np.full(len(texts), OTHER, np.uint8)
    offsets = np.frombuffer(offset_buffer, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    data = np.frombuffer(data_buffer, np.uint8)
    at, end = offsets[:-1].copy(), offsets[1:]
    found = KIND_OF_SIGN.take(data.take(at, mode="clip"))
    wrapped = np.flatnonzero(found == WRAPPED)
    while len(wrapped):
        at[wrapped] += 1
        wrapped = wrapped[at[wrapped] < end[wrapped]]
        found[wrapped] = KIND_OF_SIGN.take(data.take(at[wrapped]))
        wrapped = wrapped[found[wrapped] == WRAPPED]
    found[(at >= end) | (found == WRAPPED)] = OTHER
    again = np.flatnonzero((found == ZERO) & (at + 1 < end))
    found[again[data.take(at[again] + 1) == ord("0")]] = DOUBLE_ZERO
    if texts.null_count:
        found[np.asarray(texts.is_null(), bool)] = OTHER
    return found


def _chosen(kinds: tuple[int, ...]) -> Mask:
    return np.isin(np.arange(5), kinds)


def _kind_of_sign() -> npt.NDArray[np.uint8]:
    table = np.full(256, OTHER, np.uint8)
    table[ord("+")], table[ord("0")], table[ord("1") : ord("9") + 1] = PLUS, ZERO, BARE
    table[[ord(" "), ord("(")]] = WRAPPED
    return table


KIND_OF_SIGN: Final = _kind_of_sign()
CHOSEN: Final = {reading.fronts: _chosen(reading.fronts) for reading in READINGS}


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A reading that is to be tried: its rows, their texts rewritten, and the notes they would get."""

    reading: Reading
    rows: Rows
    text: pa.Array
    notes: Bits


@dataclass(frozen=True, slots=True)
class Trial:
    """A reading that was tried: its rows, the notes they would get, and the verdicts on their texts as rewritten."""

    reading: Reading
    rows: Rows
    notes: Bits
    answers: Answers

    def only(self, chosen: Mask) -> Trial:
        if chosen.all():
            return self
        return Trial(self.reading, self.rows[chosen], self.notes[chosen], self.answers.take(np.flatnonzero(chosen)))


class Said(NamedTuple):
    """The verdict on one text as far as readings are compared by it; without a number it is not valid."""

    number: str | None
    code: int
    rank: int
    mobile: bool  # and its plan tells mobile numbers from landlines


def said(found: Answers) -> list[Said]:
    """Return verdicts one by one."""
    columns = (found.e164.to_pylist(), found.valid.tolist(), found.cc.tolist(), found.kind.tolist())
    return [
        Said(number if valid else None, code, RANKS[kind], kind == MOBILE)
        for number, valid, code, kind in zip(*columns, strict=True)
    ]


def candidates(work: Work, reading: Reading, front: npt.NDArray[np.uint8]) -> Rows:
    """Return the undecided rows that this reading applies to."""
    if reading.regions and reading.regions.isdisjoint(work.names):
        return np.zeros(0, np.intp)
    chosen = CHOSEN[reading.fronts].take(front) & work.open()
    if reading.doubts == "landlines":
        chosen &= RANK.take(work.answers.kind) < 2
    rows = np.flatnonzero(chosen & ~work.answers.valid if reading.doubts == "never" else chosen)
    if not len(rows):
        return rows
    if reading.name == CODE_ONCE:
        rows = rows[~work.answers.valid[rows] | codes_again(work.answers, rows)]
        return matching(work.text, rows, PERHAPS_TWICE)
    if reading.regions:
        rows = rows[work.placed_in(rows, reading.regions)]
    return matching(work.text, rows, reading.pattern) if reading.pattern else rows


def rewrite(work: Work, reading: Reading, rows: Rows) -> Rewritten:
    """Rewrite rows as one reading has them."""
    text = reading.of_texts(work.text.take(pa.array(rows)))
    if text.null_count:
        can = np.asarray(text.is_valid())
        rows, text = rows[can], text.filter(pa.array(can))
    return Rewritten(reading, rows, text, work.notes[rows] | NOTE_BIT[reading.note])


def attempt(work: Work, written: Sequence[Rewritten]) -> list[Trial]:
    """Take the verdict on rewritten rows, all readings at once."""
    if not written:
        return []
    ends = np.cumsum([len(it.rows) for it in written]).tolist()
    regions = work.regions(np.concatenate([it.rows for it in written]))
    found = answers.of(pa.concat_arrays([it.text for it in written]), regions)
    stretches = [found.part(slice(end - len(it.rows), end)) for it, end in zip(written, ends, strict=True)]
    return [Trial(it.reading, it.rows, it.notes, own) for it, own in zip(written, stretches, strict=True)]


def good(trial: Trial) -> Trial:
    """Return the part of a trial that is valid and belongs to this reading."""
    fits = trial.answers.valid
    if trial.reading.keeps_zero:
        numbers, codes = trial.answers.e164.to_pylist(), trial.answers.cc.tolist()
        fits = fits & np.array(list(map(zero_belongs, numbers, codes)), bool)
    return trial.only(fits)
