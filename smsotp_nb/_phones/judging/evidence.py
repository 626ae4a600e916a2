"""Gather evidence from a column: which of two readings do the rows support that allow only one?

A British list has rows that are no German numbers at all, a German one has rows that are nobody's with a plus. These
count, and rows that are mobile numbers with a plus and landlines as written: a text of ten digits is hardly ever
a mobile number by chance. Rows that fit both readings say nothing: the plans of some countries fit nearly everything.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

import numpy as np

from ..fast.memory import Mask, Rows
from . import readings
from .readings import Said
from .work import Work

Level = Literal["overwhelming", "majority", "none"]

DRAWN: Final = 20_000  # rows of a column
SAMPLE: Final = 2_000  # of these, that can be read in more than one way


class Bar(NamedTuple):
    """How much evidence is enough: the share of one reading, of at least how many rows, and how many of its code."""

    share: float
    rows: int
    of_code: int


BARS: Final[dict[str, Bar]] = {"overwhelming": Bar(0.95, 20, 3), "majority": Bar(0.75, 5, 1)}
MUCH_MORE: Final = 20  # times
MANY: Final = 0.15  # of the rows are equally good mobile numbers of one calling code
FEW: Final = 2  # rows of a column that fit only as written by chance, or
PURE: Final = 98  # percent that fit only the other reading
WRITTEN_ONLY: Final = r"^[ '\"(]*(?:\+|0[1-9])"  # begins a cell that has no other reading: a plus, a single zero
TOLD: Final = (readings.IDD, readings.WITH_PLUS, readings.CODE_ONCE)  # readings that a column can show


@dataclass(slots=True)
class Count:
    """Counts of a column's rows that can be read in another way, by what fits them.

    Attributes:
        other: rows that only the other reading fits, by calling code.
        better: rows that are mobile numbers in the other reading and landlines as written, by calling code.
        mobile: how many rows of these two are mobile numbers in the other reading.
        written: rows that only the reading as written fits.
        both: rows that both fit, with different numbers, by calling code of the other one.
        mobiles: those of them whose plan tells mobile numbers from landlines, by calling code.
        rows: all rows looked at.
    """

    other: Counter[int] = field(default_factory=Counter)
    better: Counter[int] = field(default_factory=Counter)
    mobile: int = 0
    written: int = 0
    both: Counter[int] = field(default_factory=Counter)
    mobiles: Counter[int] = field(default_factory=Counter)
    rows: int = 0

    def add(self, here: Said, other: Said, *, written: bool, plus: bool) -> None:
        """Count a row: the verdict as written, that of the other reading, and whether the row fits as written.

        With a plus the same number counts for the other reading.
        """
        self.rows += 1
        if other.number is None:
            self.written += written
            return
        differs = here.number != other.number
        both = written and differs
        better = both and other.rank == 2 and other.rank > here.rank
        only = not written or (plus and not differs)
        self.other[other.code] += only
        self.better[other.code] += better
        self.both[other.code] += both
        self.mobile += (only or better) and other.rank == 2
        self.mobiles[other.code] += both and other.mobile and other.rank >= here.rank

    def telling(self, code: int) -> int:
        """Return how many rows of a calling code fit the other reading only, or better."""
        return self.other[code] + self.better[code]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a column for and against another reading of it; ``weigh_column`` returns it.

    ``of_parts`` is true if the column of countries holds states or provinces, in which CA is not Canada;
    ``narrow`` if the numbers were float32 once and have lost digits.

    Example:
        >>> from smsotp_nb import phones
        >>> british = [f"4479111234{n:02}" for n in range(60)]
        >>> str(phones.weigh_column(british, default_region="US"))
        'with a plus: 60 of 60 rows fit only this reading, 0 fit it better, 0 only as written, 0 both'
    """

    counts: dict[str, Count] = field(default_factory=dict)
    level: Level = "overwhelming"
    of_parts: bool = False
    narrow: bool = False

    def share_for(self, reading: str, code: int, *, own: bool = False) -> int:
        """Return the percentage of telling rows that support this reading; 0 if that is not enough.

        Of its ``own`` code, that of the country of a row, no other row is needed.
        """
        count, bar = self.counts.get(reading), BARS.get(self.level)
        if count is None or bar is None:
            return 0
        of_code = count.telling(code)
        support = count.other.total() + count.better.total()
        share = support / max(support + count.written, 1)
        enough = support >= bar.rows and share >= bar.share
        enough &= own or of_code >= max(bar.of_code, support / 100)
        enough &= 2 * count.mobile >= support  # numbers of a town may fit by chance, but next to none as mobiles
        return int(100 * share) if enough else 0

    def __str__(self) -> str:
        told = (
            f"{name}: {it.other.total()} of {it.rows} rows fit only this reading, {it.better.total()} fit it better, "
            f"{it.written} only as written, {it.both.total()} both"
            for name, it in self.counts.items()
            if it.rows
        )
        return "; ".join(told) or "no row can be read in another way"


NOTHING: Final = Evidence(level="none")


def met(evidence: Evidence, reading: str, code: int) -> bool:
    """Return whether the column has rows of a calling code in this reading, so that any row of it may be one.

    That is so if rows fit only this reading, or fit it better, unless so many rows fit both equally that these few
    are among them by chance; or if more rows are mobile numbers of that code than can be by chance.
    """
    count = evidence.counts.get(reading)
    if count is None:
        return False
    telling = count.telling(code)
    many = count.rows >= BARS["overwhelming"].rows and count.mobiles[code] >= MANY * count.rows
    return many or telling * MUCH_MORE > count.both[code] - count.better[code]


def mixes(evidence: Evidence, reading: str) -> bool:
    """Return whether a column whose evidence is for this reading still has rows that are meant as written."""
    count = evidence.counts.get(reading)
    if count is None or count.written <= FEW:
        return False
    support = count.other.total() + count.better.total()
    return 100 * support < PURE * (support + count.written)


def meets(evidence: Evidence, reading: str) -> bool:
    """Return whether the column has rows of any calling code in this reading."""
    count = evidence.counts.get(reading)
    return count is not None and any(met(evidence, reading, code) for code in count.other | count.both)


def gather(work: Work, level: Level) -> Evidence:
    """Count the rows of a column by the reading that fits them; ``work`` has their verdicts as written."""
    front = readings.fronts(work.text)
    counts: dict[str, Count] = {}
    written = _with_zero(work, front)
    here, told = readings.said(work.answers), work.tells(np.arange(len(work)))
    for name in TOLD:
        reading, count = readings.BY_NAME[name], Count()
        counts[name] = count
        rows = readings.candidates(work, reading, front)
        if not len(rows):
            continue
        (trial,) = readings.attempt(work, [readings.rewrite(work, reading, rows)])
        for row, other in zip(trial.rows.tolist(), readings.said(trial.answers), strict=True):
            if told[row]:
                count.add(here[row], other, written=bool(written[row]), plus=name == readings.WITH_PLUS)
    return Evidence(counts, level)


def _with_zero(work: Work, front: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> Mask:
    """Return which rows are valid as written, or would be with the zero that belongs to them."""
    valid = work.answers.valid.copy()
    zero = readings.BY_NAME[readings.WITH_ZERO]
    rows = readings.candidates(work, zero, front)
    rows = rows[~valid[rows]]
    if not len(rows):
        return valid
    (trial,) = readings.attempt(work, [readings.rewrite(work, zero, rows)])
    valid[readings.good(trial).rows] = True
    return valid


def drawn(size: int, most: int) -> Rows:
    """Draw rows at random, the same ones for the same size; all of them if there are no more than that."""
    if size <= most:
        return np.arange(size)
    return np.sort(np.random.default_rng(0).choice(size, most, replace=False))
