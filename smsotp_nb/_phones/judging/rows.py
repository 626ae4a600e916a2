"""A short list, row by row: what ``judgement`` does in columns, without Arrow or numpy, whose calls cost more.

The rules are the same ones: ``repairs.clean`` for the cell, phonenumbers for the verdict, ``READINGS`` for the other
readings, ``Evidence`` for what the column says, ``Scales`` for the decision. A test holds the two ways together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

import pandas as pd

from .. import reference
from ..cells import regions, repairs
from ..cells import text as cells
from ..countries import calling_code
from ..fast.tables import KINDS
from ..reference import Answer
from ..vocabulary import BIT, bits, sentence
from . import evidence as column_evidence
from . import readings
from .evidence import NOTHING, Count, Evidence, Level
from .policy import FICTION, FICTION_CODES, WITH_A_PLUS, Facts, NumberOptions, decided
from .readings import SECOND_SPELLING, Said
from .weighing import AMBIGUOUS, AS_WRITTEN, Scales
from .work import KIND_PROBLEM

RANKS: Final[dict[str | None, int]] = {None: 0, **dict(zip(KINDS, readings.RANK.tolist(), strict=True))}
NO_NUMBER: Final = Answer(None, None, None, False, None, "NOT_A_NUMBER", None)
WRITTEN_ONLY: Final = re.compile(column_evidence.WRITTEN_ONLY)  # no plus and no single zero in front
BEGINS_WITH_PLUS: Final = re.compile(WITH_A_PLUS, re.ASCII)
OF_FICTION: Final = re.compile(FICTION)
CODES_OF_FICTION: Final = frozenset(map(str, FICTION_CODES))
BY_FRONT: Final = [tuple(it for it in readings.READINGS if front in it.fronts) for front in range(5)]


class Asked(dict[tuple[str | None, str | None], Answer]):
    """phonenumbers' answers; nothing is asked twice."""

    def __missing__(self, pair: tuple[str | None, str | None]) -> Answer:
        self[pair] = reference.ask(*pair)
        return self[pair]


@dataclass(slots=True)
class Trial:
    """A reading that was tried: the row's text rewritten, the notes it would get, and the verdict."""

    reading: readings.Reading
    text: str
    notes: int
    answer: Answer

    @property
    def good(self) -> bool:
        """The verdict is a number that is really of this reading."""
        return self.answer.valid and (
            not self.reading.keeps_zero or readings.zero_belongs(self.answer.e164, self.answer.cc)
        )


@dataclass(slots=True)
class Row:
    """One row on its way; the attributes are those of `work.Work`."""

    text: str | None
    region: str | None
    named: bool
    lost: bool
    coded: bool
    problem: str
    notes: int
    detail: int = 0
    answer: Answer = NO_NUMBER
    second: tuple[str, int] | None = None
    trials: list[Trial] = field(default_factory=list)

    @property
    def tells(self) -> bool:
        """As `work.Work.tells`."""
        return self.region is not None and not (self.text or "").startswith("(")

    def spelled(self) -> tuple[str | None, ...]:
        """Return the row of the frame, in the order of its columns."""
        it, number = self.answer, self.answer.valid and self.answer.extension is None
        return (
            it.e164 if it.valid and not self.problem else None,
            *((it.region, it.cc, it.type) if number else (None, None, None)),
            self.problem or None,
            _words(self.notes, self.detail),
        )


@lru_cache(maxsize=4096)
def _words(notes: int, detail: int) -> str | None:
    return sentence(notes | detail << 32) if notes else None


def judge(column: pd.Series, region: object, default_region: str | None, asked: NumberOptions) -> list[Row]:
    """Judge a whole list."""
    rows, evidence, ask = _weighed(column, region, default_region, asked)
    scales = Scales(asked.repair, evidence)
    for row in rows:
        _decide(row, asked, scales, ask)
    return rows


def weigh(column: pd.Series, region: object, default_region: str | None, asked: NumberOptions) -> Evidence:
    """Gather the evidence of a whole list."""
    return _weighed(column, region, default_region, asked)[1]


def _weighed(
    column: pd.Series, region: object, default_region: str | None, asked: NumberOptions
) -> tuple[list[Row], Evidence, Asked]:
    """Read a list, repair its cells, take the verdict on them and gather their evidence."""
    given = asked.evidence if isinstance(asked.evidence, Evidence) else None
    narrow = given.narrow if given else asked.evidence != "none" and cells.was_float32(column)
    said, of_parts = _countries(column, region, given.of_parts if given else None)
    fallback, ask = regions.default(default_region), Asked()
    rows, two_ways = [], []
    for (text, kind), (code, note) in zip(_texts(column, narrow=narrow), said, strict=True):
        lost = note == "REGION_UNKNOWN"
        row = Row(
            text=text,
            region=code or (None if lost else fallback),
            named=code is not None,
            lost=lost,
            coded=note == "REGION_CALLING_CODE",
            problem="MISSING" if text is None else KIND_PROBLEM.get(kind, ""),
            notes=BIT.get(note, 0) | (BIT["FLOAT_ENDING"] if kind == cells.FLOAT else 0),
        )
        rows.append(row)
        if text is None or not WRITTEN_ONLY.match(text):
            two_ways.append(row)
        _read(row, asked.repair, ask)
    if given is None:
        level = "none" if isinstance(asked.evidence, Evidence) else asked.evidence
        given = replace(_gathered(two_ways, level, ask), of_parts=of_parts, narrow=narrow)
    return rows, given, ask


def _texts(column: pd.Series, *, narrow: bool) -> Iterator[tuple[str | None, Any]]:
    texts = cells.plain(column)
    if texts is not None:
        return ((text, cells.MISSING if text is None else cells.TEXT) for text in texts)
    read = cells.read(column, narrow=narrow)
    return zip((text if isinstance(text, str) else None for text in read.text.tolist()), read.kind, strict=True)


def _countries(column: pd.Series, region: object, of_parts: bool | None) -> tuple[list[tuple[str | None, str]], bool]:
    if region is None:
        return [(None, "")] * len(column), False
    words = cells.plain_words(cells.column(region, what="region", like=column))
    times = Counter(word for word in words if word is not None)
    read, of_parts = regions.of_words(times, of_parts=of_parts)
    return [(None, "") if word is None else read[word] for word in words], of_parts


def _read(row: Row, repair: Collection[str], ask: Asked) -> None:
    """Repair a cell and take the verdict on it."""
    if row.problem or row.text is None:
        return
    cleaned = repairs.clean(row.text, repair)
    if cleaned.other is not None:
        row.second = cleaned.other, row.notes | bits(cleaned.other_notes)
    row.text, row.problem = cleaned.text, cleaned.problem
    row.notes |= bits(cleaned.notes)
    if not row.problem:
        row.answer = ask[row.text, row.region]


def _decide(row: Row, asked: NumberOptions, scales: Scales, ask: Asked) -> None:
    if not row.problem:
        row.trials = list(_tried(row, ask))
        if row.trials:
            _settle(row, scales)
    if not row.problem:
        row.problem, notes = decided(_facts(row), asked)
        row.notes |= notes


def _tried(row: Row, ask: Asked) -> Iterator[Trial]:
    text = row.text or ""
    if row.second is not None:
        other, notes = row.second
        yield Trial(SECOND_SPELLING, other, notes, ask[other, row.region])
    for reading in BY_FRONT[readings.front(text)]:
        yield from _tried_as(row, reading, ask)


def _tried_as(row: Row, reading: readings.Reading, ask: Asked) -> Iterator[Trial]:
    """Try one other reading of a row that it applies to."""
    text, valid = row.text or "", row.answer.valid
    if (valid and reading.doubts == "never") or (reading.regions and row.region not in reading.regions):
        return
    if reading.name == readings.CODE_ONCE and valid and not readings.code_again(row.answer.e164, row.answer.cc):
        return
    if reading.fits(text) and (written := reading.of_text(text)) is not None:
        yield Trial(reading, written, row.notes | BIT[reading.note], ask[written, row.region])


def _gathered(rows: list[Row], level: Level, ask: Asked) -> Evidence:
    """Count the rows by the reading that fits them; a row is no evidence for itself."""
    if level == "none" or len(rows) < 2:
        return NOTHING
    counts = {name: Count() for name in column_evidence.TOLD}
    with_zero = readings.BY_NAME[readings.WITH_ZERO]
    for row in rows:
        if row.problem:
            continue
        fits = row.answer.valid or (
            with_zero in BY_FRONT[readings.front(row.text or "")]
            and any(trial.good for trial in _tried_as(row, with_zero, ask))
        )
        for reading in BY_FRONT[readings.front(row.text or "")]:
            if reading.name in counts:
                for trial in _tried_as(row, reading, ask):
                    if row.tells:
                        plus = reading.name == readings.WITH_PLUS
                        counts[reading.name].add(_said(row.answer), _said(trial.answer), written=fits, plus=plus)
    return Evidence(counts, level)


def _said(answer: Answer) -> Said:
    number = answer.e164 if answer.valid else None
    return Said(number, int(answer.cc or -1), RANKS[answer.type], answer.type == "MOBILE")


def _settle(row: Row, scales: Scales) -> None:
    good = [trial for trial in row.trials if trial.good]
    others = [(trial.reading, _said(trial.answer)) for trial in good]
    which, share = scales.choose(_said(row.answer), others, placed=row.region is not None, tells=row.tells)
    if which == AMBIGUOUS:
        row.problem = "AMBIGUOUS_READING"
    elif which != AS_WRITTEN:
        row.answer, row.notes = good[which].answer, good[which].notes
        if share:
            row.notes |= BIT["COLUMN_EVIDENCE"]
            row.detail = share * 1000 + int(row.answer.cc or 0)


def _facts(row: Row) -> Facts:
    it = row.answer
    nowhere = ""
    if not it.valid and not BEGINS_WITH_PLUS.match(row.text or ""):
        unknown = row.lost or (row.region is not None and row.region not in reference.SUPPORTED_REGIONS)
        nowhere = "REGION_UNKNOWN" if unknown else "REGION_MISSING" if row.region is None else ""
    return Facts(
        it.reason,
        it.type,
        it.extension is not None,
        nowhere,
        row.lost,
        row.named and _elsewhere(row),
        it.cc in CODES_OF_FICTION and OF_FICTION.match(it.e164 or "") is not None,
    )


def _elsewhere(row: Row) -> bool:
    if row.coded:
        return calling_code(row.region or "") != row.answer.cc
    return row.region != row.answer.region
