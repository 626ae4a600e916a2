"""Our judgement on top of phonenumbers' verdict: which number, if any, we would text.

The verdict says what a text *can* be read as; a list needs more. First, cells are repaired (``repairs``). Then the
verdict is taken and compared with the other readings that a text can have (``readings``, ``weighing``), using the
evidence of the column (``evidence``). Policy comes last. A list is processed in stretches that fit into a processor's
cache; everything but the texts is small integers until the frame is built.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from ..._calling import in_our_words, not_callable, refuse
from ..._frames import as_pandas
from ..._pandas import STR
from ..._recipients import KEY, source_of
from ..._showing import cited
from ..cells import notes, scrub
from ..cells import text as cells
from ..fast import assembly
from ..fast.assembly import CODE_WORDS, KIND_WORDS, REGION_SPELLER, only
from ..fast.engine import Progress, Stretch, distinct_rows
from ..fast.memory import SHARED, STRING, Mask, Rows, picked, replaced, taken
from ..reference import framed
from ..vocabulary import PROBLEMS, note_words
from . import answers, policy, rows, weighing
from .evidence import DRAWN, NOTHING, SAMPLE, WRITTEN_ONLY, Evidence, Level, drawn, gather
from .policy import NumberOptions, not_reading
from .readings import SECOND_SPELLING, Rewritten
from .work import Intake, Work, take_in

COLUMNS: Final = ("to", "region", "cc", "type", "problem", "note")

JUDGED_BY_ROWS: Final = 256  # rows of a list that takes less time row by row; from some 350 on it takes more
STRETCH: Final = 100_000  # rows at a time: each call of a column function costs the same for few rows and many

PROBLEM_WORDS: Final = pa.array([*PROBLEMS, None], STRING)


@in_our_words
def normalize(
    phones: object,
    *,
    region: object = None,
    default_region: str | None = None,
    numbers: NumberOptions = NumberOptions(),
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Turn a column of phone numbers into E.164, or say why a number cannot be used.

    ``to`` is filled only if we would text the number. Nothing is guessed: where two readings of a cell are valid
    numbers, the row is refused unless the other rows of the column settle it.

    Args:
        phones: the column of numbers; any dtype. Of a frame, such as ``people[["mobile", "phone"]]``, the first usable
            number of each row counts; where a cell says no (NOTE_SAYS_NO), none of the row's does.
        region: each number's country, used for numbers without a calling code: codes in any case, ``UK``, three-letter
            codes, English names or calling codes.
        default_region: two-letter country code used where ``region`` is blank.
        numbers: how numbers are read, see `NumberOptions`.
        progress: called with the number of rows done. An exception that it raises stops the work.

    Returns:
        A frame on the index of ``phones`` with ``str`` columns: ``to``, ``region``, ``cc`` and ``type`` (of every
        valid number), ``problem`` (one code, or missing) and ``note`` (codes separated by blanks); of a frame also
        ``column``, the name of the column that the row's number or problem is of.

    Raises:
        UsageError: columns of different length or index, or an unknown default region.

    Example:
        >>> normalize(["(415) 555-0100", "14155550100.0", "hello"], default_region="US")[["to", "problem"]]
                     to       problem
        0  +14155550100           NaN
        1  +14155550100           NaN
        2           NaN  NOT_A_NUMBER
    """
    refuse(not_reading(numbers), not_callable("progress", progress, example="print"))
    people = phones if isinstance(phones, list | tuple) else as_pandas(phones)
    if isinstance(people, pd.DataFrame):
        refuse(None if len(people.columns) else "phones is a frame without columns; name those of the numbers")
        columns = [people.iloc[:, at] for at in range(len(people.columns))]
        refuse(*map(_not_of_numbers, columns))
        how: dict[str, Any] = {"region": region, "default_region": default_region, "progress": progress}
        return first_usable(columns, normalize_columns(columns, numbers=numbers, **how))
    phones = column = cells.column(phones, what="phones")  # a traceback shows a column as a column
    if answers.few(len(column), JUDGED_BY_ROWS):
        made = _by_rows(rows.judge(column, region, default_region, numbers), column.index)
        if progress is not None:
            progress(len(column))
    else:
        made = framed(COLUMNS, _by_columns(column, region, default_region, numbers, progress), column.index)
    if isinstance(people, pd.Series):  # how its file was read, for the report
        source = source_of(people, people.name, getattr(region, "name", None))
        made.attrs = {**people.attrs, KEY: source} if source else dict(people.attrs)
    return made


def _not_of_numbers(column: pd.Series) -> str | None:
    """Say which column of a frame is none of numbers, as where a whole list was given for its column."""
    words = column.dropna().astype(str)
    if words.empty or words.str.contains(r"\d").any():
        return None
    return (
        f"phones must be a column, or a frame of such columns: {cited(column.name)} of the DataFrame holds no digit. "
        "Name the columns of the numbers, as in people[['mobile', 'phone']]"
    )


def normalize_columns(
    columns: Sequence[pd.Series], evidence: Sequence[Evidence] = (), *, numbers: NumberOptions, **how: Any
) -> list[pd.DataFrame]:
    """Judge each column by its own evidence."""
    readings = [numbers.replace(evidence=found) for found in evidence] or [numbers] * len(columns)
    return [normalize(column, numbers=one, **how) for column, one in zip(columns, readings, strict=True)]


def first_usable(columns: Sequence[pd.Series], judged: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return of each row the first number, else the first that is not blank.

    Whoever said no beside one of their numbers is not texted at another; a fax says nothing of the others.
    """
    if len(judged) == 1:
        return judged[0]
    usable = [one["to"].notna().to_numpy() for one in judged]
    filled = [~one["problem"].eq("MISSING").to_numpy(bool) for one in judged]
    which = np.where(np.any(usable, axis=0), np.argmax(usable, axis=0), np.argmax(filled, axis=0))
    said_no = np.zeros(len(which), bool)
    for at in reversed(range(len(columns))):
        noted = np.flatnonzero(judged[at]["problem"].isin(["NOTE_SAYS_NO", "NOT_A_NUMBER"]).to_numpy(bool))
        words = cells.read(columns[at].iloc[noted]).text
        beside = judged[at]["problem"].iloc[noted].eq("NOTE_SAYS_NO")
        says_no = [
            (notes.of_all_numbers if one else notes.refuses_alone)(text)
            for text, one in zip(words, beside, strict=True)
        ]
        noted = noted[says_no]
        which[noted], said_no[noted] = at, True
    rows = which * len(judged[0]) + np.arange(len(judged[0]))
    found = pd.concat(judged, ignore_index=True).take(rows).set_axis(judged[0].index)
    named = pd.Series([str(column.name) for column in columns], dtype=STR).take(which).set_axis(found.index)
    found.attrs = judged[0].attrs
    return found.assign(
        problem=found["problem"].mask(said_no, "NOTE_SAYS_NO"), column=named.where(np.any(filled, axis=0))
    )


def _by_rows(judged: list[rows.Row], index: pd.Index) -> pd.DataFrame:
    columns = zip(*(row.spelled() for row in judged), strict=True) if judged else ((),) * len(COLUMNS)
    return framed(COLUMNS, [[pa.array(it, STRING) for it in columns]], index)


def _by_columns(
    column: pd.Series, region: object, default_region: str | None, numbers: NumberOptions, progress: Progress | None
) -> list[list[pa.Array]]:
    evidence = numbers.evidence
    known: dict[str, bool] = {}  # what only the whole list can show
    if isinstance(evidence, Evidence):
        known = {"of_parts": evidence.of_parts, "narrow": evidence.narrow}
    elif evidence == "none":
        known = {"narrow": False}
    intake = take_in(column, region, default_region, **known)
    if len(intake) <= SAMPLE:  # the sample is the list
        return [_at_once(intake, numbers, progress)]
    said = evidence if isinstance(evidence, Evidence) else look(intake, numbers.repair, evidence)
    return _pieces(intake, numbers, said, progress)


def _at_once(intake: Intake, asked: NumberOptions, progress: Progress | None) -> list[pa.Array]:
    """Return the answer for a short list, whose evidence is counted from the same verdicts."""
    work = intake.part(slice(0, len(intake)))
    second = _read(work, asked.repair)
    evidence = asked.evidence
    if not isinstance(evidence, Evidence):
        evidence = _weighed(work, evidence, np.flatnonzero(_two_ways(intake.text)))
    _decide(work, asked, evidence, second)
    if progress is not None:
        progress(len(intake))
    return spelled(work)


def _pieces(
    intake: Intake, asked: NumberOptions, evidence: Evidence, progress: Progress | None
) -> list[list[pa.Array]]:
    """Return the answer stretch by stretch; a repetitive list is judged once for each distinct row."""
    repeats = distinct_rows(intake.text, intake.beside())
    if repeats is None:
        return list(_stretches(intake, asked, evidence, progress))
    first, which = repeats
    judged = list(_stretches(intake.only(first), asked, evidence, progress))
    columns = [pa.concat_arrays(parts, SHARED) for parts in zip(*judged, strict=True)]
    if progress is not None:
        progress(len(intake))
    rows = range(0, len(which), STRETCH)
    return [[taken(column, which[begin : begin + STRETCH]) for column in columns] for begin in rows]


def _stretches(
    intake: Intake, asked: NumberOptions, evidence: Evidence, progress: Progress | None
) -> Iterator[list[pa.Array]]:
    for first in range(0, max(len(intake), 1), STRETCH):
        work = intake.part(slice(first, first + STRETCH))
        _decide(work, asked, evidence, _read(work, asked.repair))
        yield spelled(work)
        if progress is not None:
            progress(min(first + STRETCH, len(intake)))


@in_our_words
def weigh_column(
    phones: object,
    *,
    region: object = None,
    default_region: str | None = None,
    numbers: NumberOptions = NumberOptions(),
) -> Evidence:
    """Gather the evidence of a whole column, for ``NumberOptions(evidence=...)`` of pieces of it.

    Example:
        >>> chunk = [f"4479111234{n:02}" for n in range(60)]
        >>> found = weigh_column(chunk, default_region="DE")
        >>> numbers = NumberOptions(evidence=found)
        >>> normalize(chunk[:1], default_region="DE", numbers=numbers)[["to", "note"]].values.tolist()
        [['+447911123400', 'PLUS_RESTORED COLUMN_EVIDENCE:100%:44']]
    """
    refuse(not_reading(numbers))
    if isinstance(numbers.evidence, Evidence):
        return numbers.evidence
    phones = column = cells.column(phones, what="phones")
    if answers.few(len(column), JUDGED_BY_ROWS):
        return rows.weigh(column, region, default_region, numbers)
    intake = take_in(column, region, default_region)
    return replace(look(intake, numbers.repair, numbers.evidence), of_parts=intake.known.of_parts, narrow=intake.narrow)


def look(intake: Intake, repair: Collection[str], level: Level) -> Evidence:
    """Gather the evidence of a column from a sample of the rows that can be read in more than one way."""
    if level == "none" or not len(intake):
        return NOTHING
    rows = drawn(len(intake), DRAWN)
    rows = rows[_two_ways(picked(intake.text, rows))]
    work = intake.part(rows[drawn(len(rows), SAMPLE)])
    _read(work, repair)
    return _weighed(work, level, np.arange(len(work)))


def _weighed(work: Work, level: Level, rows: Rows) -> Evidence:
    """Gather the evidence of these rows, which have been read; a row is no evidence for itself."""
    return NOTHING if level == "none" or len(rows) < 2 else gather(work.only(rows), level)


def _two_ways(texts: pa.ChunkedArray) -> Mask:
    """Return which cells may have another reading, judged by their first characters: no plus and no single zero."""
    return ~cells.matches(texts, WRITTEN_ONLY)


def _decide(work: Work, asked: NumberOptions, evidence: Evidence, second: Rewritten) -> None:
    weighing.weigh(work, asked.repair, evidence, second)
    policy.apply(work, asked)


def _read(work: Work, repair: Collection[str]) -> Rewritten:
    """Repair every cell and take the verdict on it; return the second spellings."""
    work.stretch = stretch = answers.begun(work.text, work.regions())
    second = _clean(work, stretch, repair)
    stretch.close(~work.open())
    work.answers = stretch.answer()
    return second


def _clean(work: Work, stretch: Stretch, repair: Collection[str]) -> Rewritten:
    """Repair the text of every cell that is not plain; return the second spellings."""
    rows = np.flatnonzero(work.open())
    rows = rows[~scrub.plain(work.text, stretch.found)[rows]]
    scrubbed = scrub.scrub(taken(work.text, rows), repair)
    place = np.flatnonzero(scrubbed.other.is_valid())
    text, notes = scrubbed.other.take(pa.array(place)), work.notes[rows[place]] | scrubbed.other_notes[place]
    work.text = replaced(work.text, rows, scrubbed.text)
    work.problem[rows] = scrubbed.problem
    work.notes[rows] |= scrubbed.notes
    stretch.replace(rows, scrubbed.text, work.text)
    return Rewritten(SECOND_SPELLING, rows[place], text, notes)


def spelled(work: Work) -> list[pa.Array]:
    """Return a stretch of the answer as texts, column by column, in the order of ``COLUMNS``."""
    valid = work.answers.valid & ~work.answers.extended
    texted = work.valid()
    e164 = work.answers.e164
    if not texted.all():
        e164 = only(e164, texted)
    return [
        e164,
        REGION_SPELLER.spelled(np.where(valid, work.answers.region, -1)),
        assembly.spelled(CODE_WORDS, np.where(valid, work.answers.cc, -1)),
        assembly.spelled(KIND_WORDS, np.where(valid, work.answers.kind, -1)),
        assembly.spelled(PROBLEM_WORDS, work.problem.astype(np.int16) - 1),
        note_words(work.notes, work.detail),
    ]
