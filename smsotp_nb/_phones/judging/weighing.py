"""Compare the readings of a row: use the number on which they agree, refuse the row if they do not."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..fast.assembly import Answers, joined
from ..fast.engine import Stretch
from ..fast.memory import Mask, Rows, taken
from ..vocabulary import NOTE_BIT, PROBLEM_CODE
from . import readings
from .evidence import Evidence, meets, met, mixes
from .readings import IDD, RANK, WITH_PLUS, Reading, Rewritten, Said, Trial
from .work import Work

AS_WRITTEN, AMBIGUOUS = -1, -2  # in place of the position of a reading

SKIPPED: Final = {IDD: 2, WITH_PLUS: 0}  # how many digits a plus takes the place of
MOST: Final = 2  # other readings of a row that fit into a number, each with
BITS: Final = 20

Other = tuple[Reading, Said]


class Scales:
    """Decide which reading of a row is used, given the repairs asked for and the evidence of its column."""

    def __init__(self, asked: Collection[str], evidence: Evidence) -> None:
        self.asked = asked
        self.evidence = evidence
        self.mixed = {name: mixes(evidence, name) for name in evidence.counts}
        self.shares: dict[tuple[str, int, bool], int] = {}

    def choose(self, here: Said, others: Sequence[Other], *, placed: bool, tells: bool) -> tuple[int, int]:
        """Return the position of the reading that is used, and the percentage of the column's evidence for it.

        Args:
            here: the verdict on the text as it is written.
            others: other readings that gave a number, in order of preference.
            placed: the row has a region.
            tells: the column's evidence can decide the row, see `Work.tells`.
        """
        numbers, strong = {here.number} - {None}, []
        for at, (reading, said) in enumerate(others):
            share = self._share(reading, said, own=said.code == here.code) if tells else 0
            if here.number is None or self._doubts(here, reading, said, share):
                numbers.add(said.number)
                strong.append((at, reading, said, share))
        if not strong:
            return AS_WRITTEN, 0
        if len(numbers) == 1:
            free = (
                (at, share) for at, reading, said, share in strong if share or self._free(reading, said, placed=placed)
            )
            return next(free, (AS_WRITTEN, 0))
        favoured = [it for it in strong if it[3] and not self._equal(here, *it[1:3])]
        if len({said.number for _, _, said, _ in favoured}) != 1:
            return AMBIGUOUS, 0
        return favoured[0][0], favoured[0][3]

    def _share(self, reading: Reading, said: Said, *, own: bool) -> int:
        key = reading.name, said.code, own
        if key not in self.shares:
            self.shares[key] = self.evidence.share_for(reading.name, said.code, own=own)
        return self.shares[key]

    def _doubts(self, here: Said, reading: Reading, said: Said, share: int) -> bool:
        """Return whether a reading is strong enough to doubt a valid one as written."""
        if here.number == said.number or reading.doubts == "never":
            return False
        if reading.doubts in ("as good", "landlines"):
            return said.rank >= here.rank
        if reading.doubts == "any" or said.rank > here.rank or reading.repair in self.asked or said.code == here.code:
            return True
        if share > 0 or (said.rank > 0 and met(self.evidence, reading.name, said.code)):
            return True
        return said.rank >= max(here.rank, 1) and self._share(reading, said, own=True) > 0

    def _equal(self, here: Said, reading: Reading, said: Said) -> bool:
        """Return whether a row fits both readings equally in a column that has rows of both."""
        if here.mobile and reading.name == WITH_PLUS and said.code != here.code:  # 131 2345 6788 beside China
            return True
        return here.number is not None and said.rank <= here.rank and self.mixed.get(reading.name, False)

    def _free(self, reading: Reading, said: Said, *, placed: bool) -> bool:
        """Return whether a row without a number as written may be read so without evidence."""
        return not reading.repair or reading.repair in self.asked or (placed and said.rank == 2)


def weigh(work: Work, asked: Collection[str], evidence: Evidence, second: Rewritten) -> None:
    """Read every row in all plausible ways, and decide what it is.

    ``second`` has other spellings left by repairs.
    """
    trials = [readings.good(trial) for trial in _trials(work, asked, evidence, second)]
    trials = [trial for trial in trials if len(trial.rows)]
    if trials:
        _settle(work, trials, Scales(asked, evidence))


def _trials(work: Work, asked: Collection[str], evidence: Evidence, second: Rewritten) -> list[Trial]:
    tried = [second]
    front = readings.fronts(work.text)
    for reading in readings.READINGS:
        rows = readings.candidates(work, reading, front)
        rows = _worth(work, reading, rows, asked, equals=meets(evidence, reading.name))
        if len(rows):
            tried.append(readings.rewrite(work, reading, rows))
    return readings.attempt(work, [it for it in tried if len(it.rows)])


def _worth(work: Work, reading: Reading, rows: Rows, asked: Collection[str], *, equals: bool) -> Rows:
    """Return those of the rows where this reading could change something.

    Where the engine read the digits of a text directly, another reading follows from them without writing it: all of
    them, or all but the first few, with a plus in front.
    """
    if not len(rows) or work.stretch is None or reading.name not in SKIPPED:
        return rows
    direct = work.stretch.direct[rows]
    sure, others = rows[direct], rows[~direct]
    as_good = equals or reading.repair in asked
    if len(sure):
        sure = sure[_promising(work, work.stretch, reading, sure, as_good)]
    return np.sort(np.concatenate((sure, others))) if len(others) else sure


def _promising(work: Work, stretch: Stretch, reading: Reading, rows: Rows, as_good: bool) -> Mask:
    """Return which rows a reading could change, judged by their digits."""
    found = stretch.with_plus(rows, SKIPPED[reading.name])
    valid = work.answers.valid[rows]
    fits = found.valid & ~(valid & found.same)
    if reading.name == WITH_PLUS and not as_good:
        here = RANK.take(work.answers.kind[rows])
        useful = here < 2
        useful |= found.code == work.answers.cc[rows]
        fits = fits & (~valid | useful)
    return fits | ~found.sure


def _settle(work: Work, trials: list[Trial], scales: Scales) -> None:
    """Use the chosen reading of each row, and refuse the ambiguous ones; rows alike in all that counts choose once."""
    every = np.concatenate([trial.rows for trial in trials])
    order = np.argsort(every, kind="stable")
    first = np.flatnonzero(np.diff(every[order], prepend=-1))
    rows, size = every[order[first]], np.diff(first, append=len(order))
    here, found = work.answers.take(rows), joined([trial.answers for trial in trials]).take(order)
    which_trial = np.repeat(np.arange(len(trials)), [len(trial.rows) for trial in trials])[order]
    placed, tells = work.place[rows] >= 0, work.tells(rows)
    alike = _alike(here, found, which_trial, first, size) << 2 | placed << 1 | tells
    encoded = pc.dictionary_encode(pa.array(alike)).indices.to_numpy()
    one_of = np.zeros(int(encoded.max()) + 1, np.intp)
    one_of[encoded[::-1]] = np.arange(len(rows))[::-1]
    places = np.flatnonzero(np.repeat(np.isin(np.arange(len(rows)), one_of), size))  # of all that these can be
    named = [trials[at].reading for at in which_trial[places].tolist()]
    told = zip(named, readings.said(found.take(places)), strict=True)
    chosen = [
        scales.choose(said, list(itertools.islice(told, size[row])), placed=bool(placed[row]), tells=bool(tells[row]))
        for row, said in zip(one_of.tolist(), readings.said(here.take(one_of)), strict=True)
    ]
    which, share = np.array(chosen, np.int64).take(encoded, axis=0).T
    work.problem[rows[which == AMBIGUOUS]] = PROBLEM_CODE["AMBIGUOUS_READING"]
    used = which >= 0
    place, rows, share = (first + which)[used], rows[used], share[used]
    work.notes[rows] = np.concatenate([trial.notes for trial in trials])[order[place]]
    work.notes[rows[share > 0]] |= NOTE_BIT["COLUMN_EVIDENCE"]
    work.detail[rows[share > 0]] = (share * 1000 + found.cc[place])[share > 0]
    work.answers.adopt(rows, found.take(place))


def _alike(here: Answers, found: Answers, trial: Rows, first: Rows, size: Rows) -> npt.NDArray[np.int64]:
    """Return a number for each row: rows with the same one differ in nothing by which readings are compared.

    Of the numbers themselves only counts which are the same. Rows with more than two other readings are unlike all.
    """
    row = np.repeat(np.arange(len(first)), size)
    packed = trial << 14 | _packed(found) << 2
    packed |= _same(here, row, found) & here.valid[row]
    packed |= _same(found, first[row], found).astype(np.int64) << 1
    alike = np.where(here.valid, _packed(here) << 1 | 1, 0)
    for place in range(MOST):
        at = np.minimum(first + place, len(packed) - 1)
        alike = alike << BITS | np.where(place < size, packed[at], (1 << BITS) - 1)
    alike[size > MOST] = -1 - np.flatnonzero(size > MOST)
    return alike


def _packed(found: Answers) -> npt.NDArray[np.int64]:
    return (found.cc.astype(np.int64) + 1) << 2 | RANK.take(found.kind)


def _same(one: Answers, rows: Rows, other: Answers) -> Mask:
    equal = pc.fill_null(pc.equal(taken(one.e164, rows), other.e164), False)
    return np.asarray(equal, bool)
