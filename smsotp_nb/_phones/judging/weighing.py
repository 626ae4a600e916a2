"""Compare the readings of each row: use the number on which they agree, refuse the row if they do not."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..fast.assembly import joined
from ..fast.memory import STRING, Mask, Rows
from ..vocabulary import NOTE_BIT
from . import prospects, readings
from .evidence import Evidence, differing, meets, met, mixes, tells
from .readings import RANK, SECOND_SPELLING, Rewritten, Trial
from .work import Second, Work

Fronts = npt.NDArray[np.uint8]

AS_WRITTEN: Final = -1  # in place of the number of a trial


@dataclass(slots=True)
class Entries:
    """The readings of rows, those of one row together, in order of preference; the first may be as written."""

    row: Rows
    trial: npt.NDArray[np.int64]  # which one, or AS_WRITTEN
    place: Rows  # of the row in the trial
    number: npt.NDArray[np.int64]  # equal ones are the same number
    taken: Mask  # may be taken where nothing speaks against it
    share: npt.NDArray[np.int64]  # percent of the column's evidence that is for it, 0: not enough

    def only(self, chosen: Any) -> Entries:
        return Entries(*(getattr(self, name)[chosen] for name in self.__slots__))


def weigh(work: Work, asked: Collection[str], evidence: Evidence, second: Second) -> None:
    """Read every row in all plausible ways, and decide what it is.

    ``second`` has other spellings left by repairs.
    """
    front = readings.fronts(work.text)
    trials = _trials(work, front, asked, evidence, second)
    strong = [_strong(work, readings.good(trial), asked, evidence) for trial in trials]
    if any(len(trial.rows) for trial in strong):
        _settle(work, strong, _entries(work, strong, asked, evidence))


def _trials(work: Work, front: Fronts, asked: Collection[str], evidence: Evidence, second: Second) -> list[Trial]:
    second = prospects.other_numbers(work, second.only(work.open()[second.rows]))
    tried = [Rewritten(SECOND_SPELLING, second.rows, second.text, second.notes)]
    for reading in readings.READINGS:
        rows = prospects.candidates(work, reading, front)
        rows = prospects.worth(work, reading, rows, asked, equals=meets(evidence, reading.name))
        if len(rows):
            tried.append(readings.rewrite(work, reading, rows))
    return readings.attempt(work, [it for it in tried if len(it.rows)])


def _strong(work: Work, trial: Trial, asked: Collection[str], evidence: Evidence) -> Trial:
    """Return the part of a trial that is strong enough to doubt a valid reading as written."""
    reading, here = trial.reading, work.answers.take(trial.rows)
    rank, rank_here = RANK.take(trial.answers.kind), RANK.take(here.kind)
    if reading.doubts == "stronger":
        enough = (rank > rank_here) | (reading.repair in asked) | (_shares(work, trial, evidence) > 0)
        if reading.name == readings.WITH_PLUS:
            enough |= trial.answers.cc == here.cc
        enough |= (rank > 0) & _by_code(trial, partial(met, evidence)).astype(bool)
    elif reading.doubts == "as good":
        enough = rank >= rank_here
    else:
        enough = np.full(len(trial.rows), reading.doubts != "never")
    doubted = here.valid & enough
    doubted[doubted] = differing(work, trial.rows[doubted], trial.answers.take(np.flatnonzero(doubted)))
    return trial.only(~here.valid | doubted)


def _shares(work: Work, trial: Trial, evidence: Evidence) -> npt.NDArray[np.int64]:
    """Return, for each row, the percentage of the column's evidence that supports this reading."""
    return np.where(tells(work, trial), _by_code(trial, evidence.share_for), 0)


def _support(work: Work, trial: Trial, evidence: Evidence) -> npt.NDArray[np.int64]:
    """Return the same; in a column that has rows of both readings, none for a row that fits both equally."""
    shares, here = _shares(work, trial, evidence), work.answers.take(trial.rows)
    if mixes(evidence, trial.reading.name):
        shares[here.valid & (RANK.take(trial.answers.kind) <= RANK.take(here.kind))] = 0
    return shares


def _by_code(trial: Trial, share: Callable[[str, int], int | bool]) -> npt.NDArray[np.int64]:
    codes = {code: share(trial.reading.name, code) for code in np.unique(trial.answers.cc).tolist()}
    return np.array([codes[code] for code in trial.answers.cc.tolist()], np.int64)


def _entries(work: Work, trials: list[Trial], asked: Collection[str], evidence: Evidence) -> Entries:
    rows = [trial.rows for trial in trials]
    weighed = np.unique(np.concatenate(rows)) if rows else np.zeros(0, np.intp)
    written = weighed[work.answers.valid[weighed]]
    rows = [written, *rows]
    sizes = [len(part) for part in rows]
    numbers = [work.answers.e164.take(pa.array(written)), *(trial.answers.e164 for trial in trials)]
    shares = [np.zeros(len(written), np.int64), *(_support(work, trial, evidence) for trial in trials)]
    free = [np.ones(len(written), bool), *(_free(work, trial, asked) for trial in trials)]
    entries = Entries(
        row=np.concatenate(rows),
        trial=np.repeat(np.arange(len(sizes)) + AS_WRITTEN, sizes),
        place=np.concatenate([np.arange(size) for size in sizes]),
        number=_numbered(numbers),
        taken=np.concatenate(free) | (np.concatenate(shares) > 0),
        share=np.concatenate(shares),
    )
    return entries.only(np.argsort(entries.row, kind="stable"))


def _free(work: Work, trial: Trial, asked: Collection[str]) -> Mask:
    """Return which rows may be read so without evidence: a lost plus where only that gives a number, a mobile one."""
    if not trial.reading.repair or trial.reading.repair in asked:
        return np.ones(len(trial.rows), bool)
    only: Mask = work.placed(trial.rows) & ~work.answers.valid[trial.rows] & (RANK.take(trial.answers.kind) == 2)
    return only


def _numbered(numbers: list[pa.Array]) -> npt.NDArray[np.int64]:
    """Number texts so that equal ones have equal numbers."""
    encoded = pc.dictionary_encode(pa.concat_arrays([column.cast(STRING) for column in numbers]))
    return np.asarray(encoded.indices, np.int64)


def _settle(work: Work, trials: list[Trial], entries: Entries) -> None:
    """Use the number on which all readings of a row agree, or which the column supports; refuse the other rows."""
    first = np.flatnonzero(np.diff(entries.row, prepend=-1))
    agreed = _agreeing(entries, first)
    favoured = _one_favoured(entries, first)
    chosen = np.where(agreed, _first(entries.taken, first), favoured)
    work.refuse(_flags(len(work), entries.row[first[~agreed & (favoured < 0)]]), "AMBIGUOUS_READING")
    chosen = chosen[chosen >= 0]
    _take(work, trials, entries.only(chosen))


def _first(flags: Mask, first: Rows) -> Rows:
    """Return the position of the first True of each row, -1 if it has none."""
    place = np.minimum.reduceat(np.where(flags, np.arange(len(flags)), len(flags)), first)
    return np.where(place < len(flags), place, -1)


def _one_favoured(entries: Entries, first: Rows) -> Rows:
    """Return the position of the one number of each row that the column supports; -1 for none or several."""
    flags = entries.share > 0
    most = np.iinfo(np.int64).max
    lowest = np.minimum.reduceat(np.where(flags, entries.number, most), first)
    highest = np.maximum.reduceat(np.where(flags, entries.number, -1), first)
    return np.where(lowest == highest, _first(flags, first), -1)


def _agreeing(entries: Entries, first: Rows) -> Mask:
    agreeing: Mask = np.minimum.reduceat(entries.number, first) == np.maximum.reduceat(entries.number, first)
    return agreeing


def _take(work: Work, trials: list[Trial], chosen: Entries) -> None:
    """Replace the reading of rows by the chosen entry; their texts are no longer needed."""
    rows, found = [], []
    for at, trial in enumerate(trials):
        mine = chosen.only(chosen.trial == at)
        if not len(mine.row):
            continue
        rows.append(mine.row)
        found.append(trial.answers.take(mine.place))
        work.notes[mine.row] = trial.notes[mine.place]
        told = mine.share > 0
        work.notes[mine.row[told]] |= NOTE_BIT["COLUMN_EVIDENCE"]
        work.detail[mine.row[told]] = mine.share[told] * 1000 + trial.answers.cc[mine.place[told]]
    if rows:
        work.answers.adopt(np.concatenate(rows), joined(found))


def _flags(size: int, rows: Rows) -> Mask:
    flags = np.zeros(size, bool)
    flags[rows] = True
    return flags
