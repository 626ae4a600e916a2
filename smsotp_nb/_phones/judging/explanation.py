"""Follow one number through every step, in words: for people with a question about a row, and for readers of the code.

How a number is read is told from what phonenumbers says of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd
import phonenumbers

from ..._calling import given, in_our_words, refuse
from .. import reference
from ..cells import regions, repairs
from ..cells import text as cells
from ..countries import country_name
from ..vocabulary import BIT, NOTES, PROBLEMS, meaning_of_note
from . import rows
from .evidence import Evidence
from .judgement import COLUMNS
from .policy import NumberOptions, not_reading
from .rows import Row, Trial

_Error, _Result = phonenumbers.NumberParseException, phonenumbers.ValidationResult
ERRORS: Final = {
    _Error.INVALID_COUNTRY_CODE: "there is no country to read it by, or none has its calling code",
    _Error.NOT_A_NUMBER: "it has too few digits, or a letter or sign where no number has one",
    _Error.TOO_SHORT_AFTER_IDD: "two digits or fewer follow the international prefix",
    _Error.TOO_SHORT_NSN: "fewer than two digits are left",
    _Error.TOO_LONG: "more than 17 digits are left",
}
POSSIBLE: Final = {
    _Result.IS_POSSIBLE: "a possible length",
    _Result.IS_POSSIBLE_LOCAL_ONLY: "a length used without area code only",
    _Result.TOO_SHORT: "too short",
    _Result.INVALID_LENGTH: "a length no number there has",
    _Result.TOO_LONG: "too long",
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
    numbers: NumberOptions = NumberOptions(),
) -> Explanation:
    """Explain step by step how one cell is read and judged: every other reading that was weighed, and why it was
    dropped.

    The evidence of ``numbers`` is what ``weigh_column`` found in the cell's column; a cell alone has none.

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
        not_reading(numbers),
    )
    number = column = pd.Series([number], dtype=object)
    (row,) = rows.judge(column, [region], default_region, numbers)
    judged = dict(zip(COLUMNS, row.spelled(), strict=True))
    steps = (
        *_steps(column, region, default_region, numbers.repair),
        *_weighed(row, numbers._gathered, numbers.repair),
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
        return "the same number" if number == kept else "another number than the other reading's, and none is chosen"
    if number == kept:
        return "taken" if row.notes & BIT.get(trial.reading.note, 0) else "the same number"
    if row.answer.valid:
        if row.notes & BIT["COLUMN_EVIDENCE"]:
            return "lost: the column speaks for the other reading"
        return f"lost: {row.answer.type} as it is read is no weaker"
    if trial.reading.repair in asked or not trial.reading.repair:
        return "not taken"
    return f"not taken: only when asked for with NumberOptions(repair=[{trial.reading.repair!r}])"


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
    """Tell how phonenumbers comes from the text to the national number, and what that is."""
    try:
        parsed = phonenumbers.parse(text, code, keep_raw_input=True)
    except phonenumbers.NumberParseException as refusal:
        yield f"No number: {ERRORS.get(refusal.error_type, str(refusal))}."
        return
    digits = phonenumbers.normalize_digits_only(text).removesuffix(parsed.extension or "")
    left = phonenumbers.national_significant_number(parsed)
    country = country_name(phonenumbers.region_code_for_country_code(parsed.country_code or 0))
    yield f"Its digits are {digits}, {'behind a plus' if text.lstrip(' (').startswith('+') else 'without a plus'}."
    if parsed.extension:
        yield f"{parsed.extension} behind it is an extension."
    yield from _left(parsed, digits, left, country, country_name(code or ""))
    possible = phonenumbers.is_possible_number_with_reason(parsed)
    yield f"{len(left)} digits are {POSSIBLE.get(possible, 'no length')} in {country}."
    kind = phonenumbers.number_type(parsed)
    if kind == phonenumbers.PhoneNumberType.UNKNOWN:
        yield "They are in no range of the plan."
        return
    owner = country_name(phonenumbers.region_code_for_number(parsed) or "")
    yield f"The digits belong to {owner} and to a range of kind {phonenumbers.PhoneNumberType.to_string(kind)}."


def _left(parsed: phonenumbers.PhoneNumber, digits: str, left: str, country: str, home: str) -> Iterator[str]:
    """Tell what was taken off the digits, or put in front of them."""
    at_home = parsed.country_code_source == phonenumbers.CountryCodeSource.FROM_DEFAULT_COUNTRY
    if not at_home:
        abroad = digits.removesuffix(left).rpartition(str(parsed.country_code))[0] if digits.endswith(left) else ""
        prefix = f"{abroad} is the international prefix; " if abroad else ""
        yield f"{prefix}{parsed.country_code} is the calling code of {country}: {left} is left."
    elif digits != left and digits.endswith(left):
        yield f"{digits.removesuffix(left)} is the prefix for calls within {home}: {left} is left."
    elif digits != left:
        yield f"A rule of {home} turns {digits} into {left}."


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
