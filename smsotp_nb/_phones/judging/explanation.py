"""Follow one number through every step, in words: for people with a question about a row, and for readers of the code.

The steps are those of ``fast`` on a list of one row, with a look at the row between them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ..._calling import given, in_our_words, refuse
from .. import reference
from ..cells import regions, repairs
from ..cells import text as cells
from ..countries import country_name
from ..fast import assembly, digits, prefixes, signs, tables
from ..vocabulary import NOTES, PROBLEMS, meaning_of_note
from . import rows
from .evidence import Evidence
from .judgement import COLUMNS
from .policy import Reading, not_reading
from .rows import Row, Trial

ERRORS = {
    prefixes.INVALID_COUNTRY_CODE: "there is no country to read it by",
    prefixes.TOO_SHORT_AFTER_IDD: "two digits or fewer follow the international prefix",
    prefixes.TOO_SHORT_NSN: "fewer than two digits are left",
    prefixes.TOO_LONG: "more than 17 digits are left",
    prefixes.UNDECIDED: "this case is left to phonenumbers itself",
}
POSSIBLE = {
    tables.POSSIBLE: "a possible length",
    tables.LOCAL_ONLY: "a length used without area code only",
    tables.TOO_SHORT: "too short",
    tables.INVALID_LENGTH: "a length no number there has",
    tables.TOO_LONG: "too long",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The steps in words, and the row that ``normalize`` makes of the number.

    Example:
        >>> explain("+1 415 555 0100").row["to"]
        '+14155550100'
    """

    steps: tuple[str, ...]
    row: dict[str, str | None]

    def __str__(self) -> str:
        return "\n".join(f"{place:>2}. {step}" for place, step in enumerate(self.steps, start=1))

    def __repr__(self) -> str:
        return str(self)


@in_our_words
def explain(
    number: object,
    *,
    region: object = None,
    default_region: str | None = None,
    reading: Reading = Reading(),
) -> Explanation:
    """Explain step by step how one cell is read and judged: every other reading that was weighed, and why it was
    dropped.

    The evidence of ``reading`` is what ``weigh_column`` found in the cell's column; a cell alone has none.

    Example:
        >>> explain("0491 570 156", region="Australia")
         1. The cell reads '0491 570 156'.
         2. The country cell 'Australia' is AU (REGION_NAME: the country as a name or nationality, in any language).
         3. Its digits are 0491570156, without a plus.
         4. 0 is the prefix for calls within Australia: 491570156 is left.
         5. 9 digits are a possible length in Australia.
         6. The digits belong to Australia and to a range of kind MOBILE.
         7. phonenumbers' verdict: +61491570156, valid.
         8. Judged: texted as +61491570156, noted REGION_NAME, TEST_NUMBER.
    """
    one = "a single cell, such as people['phone'].iloc[0]"
    refuse(
        None if pd.api.types.is_scalar(number) else f"number must be {one}, got {given(number)}",
        None if pd.api.types.is_scalar(region) else f"region= must be {one} of the countries, got {given(region)}",
        not_reading(reading),
    )
    number = column = pd.Series([number], dtype=object)
    (row,) = rows.judge(column, [region], default_region, reading)
    judged = dict(zip(COLUMNS, row.spelled(), strict=True))
    steps = (
        *_steps(column, region, default_region, reading.repair),
        *_weighed(row, reading._gathered, reading.repair),
    )
    return Explanation((*steps, _judged(judged)), judged)


def _weighed(row: Row, evidence: Evidence, asked: Collection[str]) -> Iterator[str]:
    """Describe each other reading: the number that it gives, and whether it was used."""
    if row.trials and evidence.counts:
        yield f"The column: {evidence}."
    for trial in row.trials:
        head = f"Weighed: {trial.reading.name}, {trial.text!r}"
        if not trial.good:
            why = trial.answer.reason or "not in the way this reading is meant"
            yield f"{head}: no number ({why}), so it says nothing."
            continue
        yield f"{head}: {trial.answer.e164}, valid, {trial.answer.type}; {_fate(trial, row, asked)}."


def _fate(trial: Trial, row: Row, asked: Collection[str]) -> str:
    number, kept = trial.answer.e164, row.answer.e164
    if row.problem == "AMBIGUOUS_READING":
        return "the same number" if number == kept else "another number than the other reading's, and we do not choose"
    if number == kept:
        return "taken" if row.notes & rows.BIT.get(trial.reading.note, 0) else "the same number"
    if row.answer.valid:
        if row.notes & rows.BIT["COLUMN_EVIDENCE"]:
            return "lost: the column speaks for the other reading"
        return f"lost: {row.answer.type} as it is read is no weaker"
    if trial.reading.repair in asked or not trial.reading.repair:
        return "not taken"
    return f"not taken: only when asked for with Reading(repair=[{trial.reading.repair!r}])"


def _steps(column: pd.Series, region: object, default_region: str | None, repair: Collection[str]) -> Iterator[str]:
    cell = cells.read(column)
    text = cell.text.iloc[0]
    if not isinstance(text, str):
        yield "The cell is blank."
        return
    yield f"The cell reads {text!r}." if isinstance(column.iloc[0], str) else f"The cell becomes the text {text!r}."
    code = yield from _region(region, default_region)
    cleaned = repairs.clean(text, repair)
    for note in cleaned.notes:
        yield f"{note}: {NOTES[note]}."
    if cleaned.problem:
        return
    if cleaned.text != text:
        yield f"What is left is {cleaned.text!r}."
    yield from _read(cleaned.text, code)
    yield _verdict(reference.ask(cleaned.text, code))


def _region(cell: object, default_region: str | None) -> Any:
    if not isinstance(cell, str) or not cell.strip():
        code = regions.default(default_region)
        yield f"No country beside it; the default is {code}." if code else "No country beside it."
        return code
    code, note = regions.one(cell)
    yield f"The country cell {cell!r} is {code or 'unknown'}{f' ({note}: {NOTES[note]})' if note else ''}."
    return code


def _read(text: str, code: str | None) -> Iterator[str]:
    it = tables.load()
    if it is None:
        yield "phonenumbers itself is asked, since its metadata cannot be read into tables."
        return
    raw = text.encode("utf-8", "replace")
    found = digits.read(np.frombuffer(raw, np.uint8), np.array([0, len(raw)], np.int32))
    extension = signs.look(found, pa.array([text], pa.large_string())).texts
    if found.state[0] != digits.READABLE:
        few = "It has too few digits." if found.count[0] < 3 else "A letter or sign is where no number has one."
        yield "It has letters or signs that are put to phonenumbers itself." if found.state[0] else few
        return
    if len(extension):
        yield f"{extension[0]} behind it is an extension."
    plan = it.region_plan().get(code or "", prefixes.NO_REGION)
    reading = prefixes.begin(found, np.array([0]), np.array([plan], np.int32), it)
    plus = bool(found.plus[0])
    yield f"Its digits are {_left(reading)}, {'behind a plus' if plus else 'without a plus'}."
    yield from _calling_code(reading, plus)
    if reading.error[0] == prefixes.PARSED:
        yield from _national(reading)
    if reading.error[0] != prefixes.PARSED:
        yield f"No number: {ERRORS[int(reading.error[0])]}."
        return
    yield from _classified(reading)


def _calling_code(reading: prefixes.Reading, plus: bool) -> Iterator[str]:
    before, row = _left(reading), np.array([0])
    if plus and not len(prefixes.after_plus(reading, row)):
        yield f"{_code(reading)} is the calling code of {_country(reading)}: {_left(reading)} is left."
        return
    if plus:
        yield "No calling code begins like this; it is read again as if there were no plus."
    home = _country(reading) if reading.plan[0] >= 0 else ""
    prefixes.without_plus(reading, row)
    if reading.extracted[0]:
        gone = before[: len(before) - len(_left(reading))].removesuffix(_code(reading))
        prefix = f"{gone} is the international prefix in {home}; " if gone else ""
        yield f"{prefix}{_code(reading)} is the calling code of {_country(reading)}: {_left(reading)} is left."
    elif plus and reading.error[0] == prefixes.PARSED:
        reading.error[0] = prefixes.INVALID_COUNTRY_CODE


def _national(reading: prefixes.Reading) -> Iterator[str]:
    before = _left(reading)
    prefixes.national_number(reading)
    after = _left(reading)
    if after == before:
        return
    if before.endswith(after):
        gone = before[: len(before) - len(after)]
        yield f"{gone} is the prefix for calls within {_country(reading)}: {after} is left."
    else:
        yield f"A rule of {_country(reading)} turns {before} into {after}."


def _classified(reading: prefixes.Reading) -> Iterator[str]:
    it = reading.tables
    main = it.plan_main.take(reading.plan)
    length = int(reading.count[0])
    possible = POSSIBLE[int(it.lengths[main[0], length])]
    yield f"{length} digits are {possible} in {_country(reading)}."
    region, kind = assembly.classify(reading, main, reading.start, reading.count)
    if kind[0] == tables.UNKNOWN:
        yield "They are in no range of the plan."
        return
    owner = country_name(str(it.plan_region[region[0]]))
    yield f"The digits belong to {owner} and to a range of kind {tables.KINDS[kind[0]]}."


def _left(reading: prefixes.Reading) -> str:
    stretch = reading.signs[reading.start[0] : reading.start[0] + reading.count[0]]
    return "".join(str(digit) for digit in stretch)


def _code(reading: prefixes.Reading) -> str:
    return str(reading.tables.plan_code[reading.plan[0]])


def _country(reading: prefixes.Reading) -> str:
    return country_name(str(reading.tables.plan_region[reading.plan[0]]))


def _verdict(answer: reference.Answer) -> str:
    if answer.e164 is None:
        return f"phonenumbers' verdict: {answer.reason}."
    return f"phonenumbers' verdict: {answer.e164}, {'valid' if answer.valid else answer.reason}."


def _judged(row: dict[str, str | None]) -> str:
    notes = f", noted {', '.join(row['note'].split())}" if row["note"] else ""
    evidence = [meaning_of_note(note) for note in (row["note"] or "").split() if note.startswith("COLUMN_EVIDENCE")]
    notes += "".join(f" ({words})" for words in evidence)
    if row["problem"]:
        return f"Judged: not texted, {row['problem']}: {PROBLEMS[row['problem']]}{notes}."
    return f"Judged: texted as {row['to']}{notes}."
