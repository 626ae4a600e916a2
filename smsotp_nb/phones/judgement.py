"""Our judgement on top of phonenumbers' verdict: which number, if any, we would text.

The verdict says what a text *can* be read as; a list needs more. Cells are repaired first, then the verdict is taken,
then come the repairs that need a country's plan (each tried only where the plain reading is invalid, and kept only
where the repaired one is valid), then the readings that must not be trusted although they are valid, then policy.
All work is on whole columns with positional index; ``Work`` is one list on its way through.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import UsageError
from . import cells, fiction, reference, regions, repairs, verdicts
from .fast.engine import Progress
from .vocabulary import NOTE_BIT, PROBLEM_CODE, REPAIRS, Bits, Codes, bits, note_text, problem_text

Mask = npt.NDArray[np.bool_]
Policy = Literal["note", "refuse"]

KINDS: Final = frozenset({name for name in vars(reference.PhoneNumberType) if name.isupper()})
TEXTABLE: Final = frozenset({"MOBILE", "FIXED_LINE_OR_MOBILE", "FIXED_LINE", "VOIP"})

PLAIN: Final = r"^[+(]?[0-9][0-9 ().\-]*[0-9]$"  # nothing here for the repairs of a cell to look at, unless
NOT_SO_PLAIN: Final = (
    r"\(\s*0\s*\)|[.]0+$|[0-9]{7} +\(?[0-9]{7}"
    r"|^(?:19|20)[0-9]{2}[-.][0-9]{1,2}[-.][0-9]{1,2}$|^[0-9]{1,2}[-.][0-9]{1,2}[-.](?:19|20)[0-9]{2}$"
)

OURS: Final = {"INVALID_COUNTRY_CODE": "UNKNOWN_CALLING_CODE", "IS_POSSIBLE_LOCAL_ONLY": "LOCAL_ONLY"}

KIND_PROBLEM: Final = {
    cells.MISSING: "MISSING",
    cells.NOT_TEXT: "NOT_TEXT",
    cells.LOST_DIGITS: "SCI_NOTATION_LOST_DIGITS",
    cells.NOT_WHOLE: "NOT_A_NUMBER",
}


@dataclass(slots=True)
class Work:
    """One list on its way: what is read, where, what came out, and what has been said about each row."""

    text: pd.Series
    region: pd.Series
    region_named: Mask  # read from the row's own cell, not filled in by default
    region_unknown: Mask
    problem: Codes
    notes: Bits
    verdict: pd.DataFrame

    def open(self) -> Mask:
        return _mask(self.problem == 0)

    def valid(self) -> Mask:
        return self.open() & _mask(self.verdict["valid"])

    def refuse(self, mask: Mask, problem: str) -> None:
        self.problem[mask & self.open()] = PROBLEM_CODE[problem]

    def note(self, mask: Mask, note: str) -> None:
        self.notes[mask] |= NOTE_BIT[note]


def _mask(flags: object) -> Mask:
    """Return flags as a plain array; missing ones are False."""
    return np.asarray(flags.fillna(False) if isinstance(flags, pd.Series) else flags, dtype=bool)


def normalize(
    numbers: object,
    *,
    region: object = None,
    default_region: str | None = None,
    repair: Collection[str] = (),
    allow_types: Collection[str] = TEXTABLE,
    region_mismatch: Policy = "note",
    test_numbers: Policy = "note",
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Read a column of numbers for texting: E.164 where we would send, else the reason why not.

    ``region`` is a column of country cells (codes in any case, ``UK``, three letters, English names), used for numbers
    without a calling code; ``default_region`` serves where that cell is blank. ``repair`` names the repairs made only
    when asked: ``lost_plus, trailing_note, vanity, mx_1``. ``allow_types`` are the kinds of number that are texted;
    ``region_mismatch`` and ``test_numbers`` say ``"refuse"`` to turn those notes into problems. ``progress`` is called
    with the number of rows done; an exception it raises stops the work.

    Returns a frame on the index of ``numbers`` with ``str`` columns: ``to`` (only where we would text), ``region``,
    ``cc`` and ``type`` (of every valid number), ``problem`` (one code or missing) and ``note`` (codes joined by a
    blank). The codes stand in the docstring of ``smsotp_nb.phones``.

    Raises:
        UsageError: columns of different length or index, an unknown repair, kind of number or default region.

    Example:
        >>> normalize(["(415) 555-0100", "14155550100.0", "hello"], default_region="US")[["to", "problem"]]
                     to       problem
        0  +14155550100           NaN
        1  +14155550100           NaN
        2           NaN  NOT_A_NUMBER
    """
    _check(repair, allow_types, region_mismatch, test_numbers)
    numbers = column = cells.column(numbers, what="numbers")  # a traceback shows a column as a column
    work = _begin(column, region, default_region)
    other = _clean(work, repair)
    work.verdict = verdicts.answers(work.text.where(pd.Series(work.open())), work.region, progress=progress)
    _second_reading(work, other)
    _plan_repairs(work, repair)
    _explain_invalid(work)
    _distrust(work)
    _policy(work, allow_types, region_mismatch, test_numbers)
    return _frame(work, column.index)


def _check(repair: Collection[str], kinds: Collection[str], mismatch: str, tests: str) -> None:
    wrong = []
    if isinstance(repair, str) or not set(repair) <= set(REPAIRS):
        wrong.append(f"repair={repair!r}: give a set of {', '.join(REPAIRS)}")
    if isinstance(kinds, str) or not set(kinds) <= KINDS:
        wrong.append(f"allow_types={kinds!r}: give a set of {', '.join(sorted(KINDS))}")
    for name, value in (("region_mismatch", mismatch), ("test_numbers", tests)):
        if value not in ("note", "refuse"):
            wrong.append(f"{name}={value!r}: say 'note' or 'refuse'")
    if wrong:
        raise UsageError("; ".join(wrong), problems=tuple(wrong))


def _begin(column: pd.Series, region: object, default_region: str | None) -> Work:
    """Read cells and countries; a row whose country cell cannot be read does not get the default."""
    read = cells.read(column)
    fallback = regions.default(default_region)
    size = len(read.text)
    if region is None:
        nowhere = pd.Series([None], dtype="str").repeat(size)
        known = regions.Regions(nowhere, np.zeros(size, np.uint32), np.zeros(size, bool))
    else:
        known = regions.read(cells.column(region, what="region", like=column))
    code = known.code.reset_index(drop=True)
    if fallback is not None:
        code = code.mask(code.isna() & ~known.unknown, fallback)
    named = _mask(known.code.notna())
    work = Work(read.text, code, named, known.unknown, np.zeros(size, np.uint8), known.notes.copy(), pd.DataFrame())
    for kind, problem in KIND_PROBLEM.items():
        work.refuse(read.kind == kind, problem)
    work.note(read.kind == cells.FLOAT, "FLOAT_ENDING")
    return work


def _clean(work: Work, repair: Collection[str]) -> pd.Series:
    """Repair the text of every cell that is not plain; return the second readings (missing for nearly all rows)."""
    plain = cells.matches(work.text, PLAIN) & ~cells.matches(work.text, NOT_SO_PLAIN)
    rows = np.flatnonzero(work.open() & ~plain)
    other = pd.Series([None], dtype="str").repeat(len(work.text)).reset_index(drop=True)
    place, distinct = pd.factorize(work.text.iloc[rows])
    if not len(distinct):
        return other
    cleaned = [repairs.clean(str(text), repair) for text in distinct]
    work.text.iloc[rows] = pd.Series([it.text for it in cleaned], dtype="str").take(place).array
    work.problem[rows] = np.array([PROBLEM_CODE.get(it.problem, 0) for it in cleaned], np.uint8)[place]
    work.notes[rows] |= np.array([bits(it.notes) for it in cleaned], np.uint32)[place]
    other.iloc[rows] = pd.Series([it.other for it in cleaned], dtype="str").take(place).array
    return other


def _second_reading(work: Work, other: pd.Series) -> None:
    """Where a cell can be read in two ways, keep the valid one; two valid ones are two people."""
    rows = np.flatnonzero(other.notna() & work.open())
    if not len(rows):
        return
    plain = verdicts.answers(other.iloc[rows].reset_index(drop=True), work.region.iloc[rows].reset_index(drop=True))
    repaired = work.verdict.iloc[rows].reset_index(drop=True)
    differ = (plain["e164"] != repaired["e164"]).to_numpy(bool)
    both = plain["valid"].to_numpy(bool) & repaired["valid"].to_numpy(bool)
    only_plain = plain["valid"].to_numpy(bool) & ~repaired["valid"].to_numpy(bool)
    work.problem[rows[both & differ]] = PROBLEM_CODE["AMBIGUOUS_READING"]
    _adopt(work, rows[only_plain], plain[only_plain], other.iloc[rows[only_plain]])
    work.notes[rows[only_plain]] &= ~bits(["TRUNK_ZERO_DROPPED", "FLOAT_ENDING"])


def _adopt(work: Work, rows: npt.NDArray[np.intp], verdict: pd.DataFrame, text: pd.Series) -> None:
    if len(rows):
        work.text.iloc[rows] = text.array
        work.verdict = work.verdict.assign(
            **{name: _replace(work.verdict[name], rows, verdict[name]) for name in reference.COLUMNS}
        )


def _replace(column: pd.Series, rows: npt.NDArray[np.intp], values: pd.Series) -> pd.Series:
    changed = column.copy()
    changed.iloc[rows] = values.array
    return changed


def _plan_repairs(work: Work, repair: Collection[str]) -> None:
    """Repairs that only the country's plan can confirm: tried where the plain reading is invalid."""
    _try(work, r"^\s*00[1-9]", lambda text: text.str.replace(r"^\s*00", "+", regex=True), "IDD_00_READ")
    _try(work, r"^[1-9][0-9]{5,13}$", lambda text: "0" + text, "LEADING_ZERO_RESTORED", keep=_zero_belongs)
    if "mx_1" in repair:
        _try(
            work,
            r"^\+ ?52[ .()\-]*1",
            lambda t: t.str.replace(r"^(\+ ?52[ .()\-]*)1", r"\1", regex=True),
            "MX_1_DROPPED",
        )
    if "lost_plus" in repair:
        _try(work, r"^\(?[1-9]", lambda text: "+" + text, "PLUS_RESTORED")


def _zero_belongs(verdict: pd.DataFrame) -> Mask:
    """The zero is part of the number itself (Italy, Congo ...), not a prefix for calls at home."""
    national = verdict["e164"].str.slice(1)
    return np.array(
        [str(number).startswith(f"{code}0") for number, code in zip(national, verdict["cc"], strict=True)], dtype=bool
    )


def _try(
    work: Work,
    pattern: str,
    rewrite: Callable[[pd.Series], pd.Series],
    note: str,
    keep: Callable[[pd.DataFrame], Mask] | None = None,
) -> None:
    candidates = work.open() & ~work.verdict["valid"].to_numpy(bool)
    rows = np.flatnonzero(candidates)
    rows = rows[cells.matches(work.text.iloc[rows], pattern)]
    if not len(rows):
        return
    text = rewrite(work.text.iloc[rows].reset_index(drop=True))
    verdict = verdicts.answers(text, work.region.iloc[rows].reset_index(drop=True))
    good = verdict["valid"].to_numpy(bool)
    if keep is not None:
        good = good & keep(verdict)
    _adopt(work, rows[good], verdict[good], text[good])
    work.notes[rows[good]] |= NOTE_BIT[note]


def _explain_invalid(work: Work) -> None:
    """Turn phonenumbers' reason into ours: it has one name for four different things to ask the list's owner for."""
    rows = np.flatnonzero(work.open() & ~_mask(work.verdict["valid"]))
    reason = work.verdict["reason"].iloc[rows].to_numpy(dtype=object)
    region = work.region.iloc[rows]
    problem = np.array([PROBLEM_CODE.get(OURS.get(name, name), 0) for name in reason], np.uint8)
    nowhere = (problem == PROBLEM_CODE["UNKNOWN_CALLING_CODE"]) & ~cells.matches(work.text.iloc[rows], r"^[\s(]*\+")
    problem[nowhere & _mask(region.isna())] = PROBLEM_CODE["REGION_MISSING"]
    problem[nowhere & (work.region_unknown[rows] | _unusable(region))] = PROBLEM_CODE["REGION_UNKNOWN"]
    work.problem[rows] = problem


def _unusable(region: pd.Series) -> Mask:
    """Countries without a numbering plan of their own, such as Antarctica."""
    return (region.notna() & ~region.isin(reference.SUPPORTED_REGIONS)).to_numpy(bool)


def _distrust(work: Work) -> None:
    """Valid readings that are not to be trusted: an extension still inside, the calling code as an area code."""
    work.refuse(work.verdict["extension"].notna().to_numpy(bool), "MULTIPLE_NUMBERS")
    rows = np.flatnonzero(work.valid())
    rows = rows[cells.matches(work.text.iloc[rows], r"^[ (]*[1-9]")]  # without a plus and without a zero in front
    digits = work.text.iloc[rows].str.replace(r"[^0-9]", "", regex=True).reset_index(drop=True)
    codes = work.verdict["cc"].iloc[rows].tolist()
    starts = [text.startswith(code) for text, code in zip(digits.tolist(), codes, strict=True)]
    rows, digits = rows[starts], digits[starts]
    if not len(rows):
        return
    international = verdicts.answers("+" + digits.reset_index(drop=True), pd.Series([None] * len(rows), dtype="str"))
    differ = international["e164"].to_numpy(object) != work.verdict["e164"].iloc[rows].to_numpy(object)
    work.problem[rows[international["valid"].to_numpy(bool) & differ]] = PROBLEM_CODE["AMBIGUOUS_READING"]


def _policy(work: Work, allow_types: Collection[str], region_mismatch: Policy, test_numbers: Policy) -> None:
    valid = work.valid()
    kind = work.verdict["type"]
    work.refuse(valid & ~kind.isin(list(allow_types)).to_numpy(bool), "TYPE_NOT_ALLOWED")
    mismatch = valid & work.region_named & (work.region != work.verdict["region"]).to_numpy(bool)
    tests = valid & fiction.reserved(work.verdict["e164"].where(pd.Series(valid)))
    for mask, name, policy in ((mismatch, "REGION_MISMATCH", region_mismatch), (tests, "TEST_NUMBER", test_numbers)):
        work.note(mask, name)
        if policy == "refuse":
            work.refuse(mask, name)
    texted = work.valid()
    work.note(texted & (kind == "FIXED_LINE").to_numpy(bool), "FIXED_LINE")
    work.note(texted & (kind == "VOIP").to_numpy(bool), "VOIP")
    work.note(texted & work.region_unknown, "REGION_UNKNOWN")


def _frame(work: Work, index: pd.Index) -> pd.DataFrame:
    valid = pd.Series(work.verdict["valid"].to_numpy(bool) & (work.verdict["extension"].isna()).to_numpy(bool))
    columns = {
        "to": work.verdict["e164"].where(pd.Series(work.valid())),
        "region": work.verdict["region"].where(valid),
        "cc": work.verdict["cc"].where(valid),
        "type": work.verdict["type"].where(valid),
        "problem": problem_text(work.problem),
        "note": note_text(work.notes),
    }
    return pd.DataFrame(columns).set_axis(index, axis=0)
