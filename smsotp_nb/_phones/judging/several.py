"""Cells with several numbers, and rows with the same one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import phonenumbers

from ..._calling import in_our_words, not_frame, not_series, refuse
from ..._frames import AnyFrame, AnySeries, as_pandas
from ..._pandas import STR, is_missing
from ..._showing import is_whole
from ...columns import require
from ..cells import notes, repairs, times
from ..cells import text as cells
from ..cells.repairs import SEVEN, digits_in
from .judgement import normalize

AMONG_WORDS: Final = re.compile(r"(?:\+|(?<!\w))\(?\d(?:[ ().\-/]*\d)*(?!\d|[^\W\d_](?![^\W\d_]))")
LONGEST: Final = 16  # with its plus
AMONG_OTHERS: Final = ("NOTE_SAYS_NO", "OTHER_PERSON", "TEXT_IN_NUMBER", "MULTIPLE_NUMBERS")


@in_our_words
def explode(frame: AnyFrame, column: str) -> pd.DataFrame:
    """Give every number of a cell a row of its own; the other cells and the row's label are repeated.

    Only cells with the problem MULTIPLE_NUMBERS are divided, and only if each piece has at least seven digits: the
    shorthand ``4155550100/2`` is left alone, because its second number would be a guess.

    Example:
        >>> frame = pd.DataFrame({"name": ["Ada", "Bob"], "phone": ["+14155550100", "0491570156 / 0491570157"]})
        >>> explode(frame, "phone")["phone"].tolist()
        ['+14155550100', '0491570156', '0491570157']
    """
    people: pd.DataFrame = as_pandas(frame)
    refuse(not_frame("frame", people))
    require(column, people.columns)
    text = cells.read(people[column]).text
    parts = [_numbers(cell) for cell in text.fillna("")]
    rows = np.repeat(np.arange(len(people)), [max(len(found), 1) for found in parts])
    divided = [number for found, cell in zip(parts, people[column], strict=True) for number in found or [cell]]
    exploded = people.iloc[rows].copy()
    exploded[column] = pd.Series(divided, index=exploded.index, dtype=object if len(rows) == len(people) else STR)
    return exploded if len(rows) > len(people) else people.copy()


def said_no(phones: pd.Series, *, region: pd.Series | None, **how: Any) -> pd.DataFrame:
    """Judge the numbers of people who said no, on the places 0.. of their cells; a cell of several has several rows.

    On such a list, words beside a number that say no say what the list says, and each number of a cell counts. Cells of
    which a number cannot be read are as `normalize` judges them.

    Example:
        >>> cells = pd.Series(["+1 202 555 0100 STOP", "+12025550101 / +12025550102", "STOP"])
        >>> said_no(cells, region=None)[["to", "problem"]]
                     to       problem
        0  +12025550100           NaN
        1  +12025550101           NaN
        1  +12025550102           NaN
        2           NaN  NOT_A_NUMBER
    """
    judged = normalize(phones, region=region, **how).reset_index(drop=True)
    among = judged["problem"].isin(AMONG_OTHERS)
    texts = cells.read(phones[among.to_numpy(bool)]).text.set_axis(judged.index[among])
    found = texts.astype(object).map(_among_others).explode().dropna()
    if found.empty:
        return judged
    beside = None if region is None else region.reset_index(drop=True).loc[found.index].set_axis(found.index)
    each = normalize(found.astype(STR), region=beside, **how)
    read = each["problem"].isna() | each["problem"].eq("TYPE_NOT_ALLOWED")
    whole = each[read.groupby(level=0).transform("all").to_numpy(bool)]
    return pd.concat([judged.drop(whole.index.unique()), whole]).sort_index(kind="stable")


def _among_others(cell: str) -> list[str]:
    """Return the numbers of a cell that stand among words or side by side; none where one of them is shorthand."""
    pieces = repairs.pieces(repairs.characters(cell)[0])
    if len(pieces) > 1 and any(digits_in(piece) < SEVEN for piece in pieces):
        return []
    found = [written for piece in pieces for written in AMONG_WORDS.findall(piece)]
    return [one for one in found if digits_in(one) >= SEVEN and not times.is_moment(one)]


def of_any_country(numbers: pd.Series) -> pd.Series:
    """Return all numbers that the digits of each cell may be, with blanks between them: as they stand, or nationally.

    Example:
        >>> found = of_any_country(pd.Series(["0151 2345678 STOP"]))[0].split()
        >>> {"+1512345678", "+491512345678", "+3901512345678"}.issubset(found)
        True
    """
    return cells.read(numbers).text.astype(object).map(_of_any_country)


def _of_any_country(cell: str) -> str:
    digits = {re.sub(r"\D", "", one) for one in _among_others(cell)}
    codes = ("", *phonenumbers.COUNTRY_CODE_TO_REGION_CODE)
    found = {f"+{code}{one}" for written in digits for one in (written, written.lstrip("0")) for code in codes}
    return " ".join(sorted(one for one in found if SEVEN < len(one) <= LONGEST))


def _numbers(cell: str) -> list[str]:
    if repairs.clean(cell).problem != "MULTIPLE_NUMBERS" or notes.of_all_numbers(cell):
        return []
    found = repairs.pieces(cell)
    whole = all(digits_in(piece) >= SEVEN for piece in found)
    return found if whole and len(found) > 1 else []


# phonenumbers holds the digit that some countries put before a mobile number which is called from abroad (+54 9 11 ...
# and +54 11 ... ring one phone). Mexico's, which it held before, went out of use in 2019; lists have it still.
_MOBILE_DIGITS = {
    code: digit
    for code in phonenumbers.COUNTRY_CODE_TO_REGION_CODE
    if (digit := phonenumbers.country_mobile_token(code))
} | {52: "1"}


@lru_cache
def _mobile_beginnings() -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return how numbers with a mobile digit begin: how without it, and how many digits may follow."""
    found = {}
    for code, digit in _MOBILE_DIGITS.items():
        plan = phonenumbers.PhoneMetadata.metadata_for_region(phonenumbers.region_code_for_country_code(code))
        lengths = plan.general_desc.possible_length if plan and plan.general_desc else ()
        found[f"+{code}{digit}"] = f"+{code}", tuple(lengths)
    return found


@in_our_words
def one_phone(to: AnySeries) -> pd.Series:
    """Return E.164 numbers in a form in which two numbers that ring the same phone are equal.

    Use it only to compare: the result is not necessarily the number to text.

    Example:
        >>> one_phone(pd.Series(["+5491123456789", "+541123456789", "+14155550100", None], dtype="str")).tolist()
        ['+541123456789', '+541123456789', '+14155550100', nan]
    """
    numbers: pd.Series = as_pandas(to)
    refuse(_not_numbers(numbers))
    text = numbers.astype(STR)
    mine = text.str.startswith(tuple(_mobile_beginnings()), na=False).to_numpy(bool)
    if not mine.any():
        return numbers
    alike = text.to_numpy(object, copy=True)
    alike[mine] = [_without_mobile_digit(number) for number in alike[mine]]
    found: pd.Series = pd.Series(alike, index=numbers.index, name=numbers.name, dtype=STR)
    return found


def one_phone_digits(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return `one_phone` of E.164 numbers without their plus, as integers.

    Example:
        >>> one_phone_digits(np.array([5491123456789, 541123456789, 14155550100])).tolist()
        [541123456789, 541123456789, 14155550100]
    """
    found = numbers
    for begins, (without, lengths) in _mobile_beginnings().items():
        for length in lengths:
            mine = numbers // 10**length == int(begins[1:])
            if mine.any():
                found = np.where(mine, int(without[1:]) * 10**length + numbers % 10**length, found)
    return found


def spellings(number: int) -> list[int]:
    """Return all numbers that `one_phone_digits` takes for this one.

    Example:
        >>> spellings(541123456789), spellings(14155550100)
        ([541123456789, 5491123456789], [14155550100])
    """
    written = f"+{number}"
    found = [number]
    for begins, (without, lengths) in _mobile_beginnings().items():
        rest = written.removeprefix(without)
        if rest != written and len(rest) in lengths:
            found.append(int(begins[1:] + rest))
    return found


def _not_numbers(to: pd.Series) -> str | None:
    """Report a column that does not hold E.164 numbers; missing ones are fine."""
    wrong = not_series("to", to, example="phones.normalize(numbers)['to']")
    if wrong or isinstance(to.dtype, pd.StringDtype):
        return wrong
    if all(is_missing(number) or (isinstance(number, str) and is_whole(number)) for number in to.array):
        return None
    return f"to must hold E.164 numbers as text, got {to.dtype}; take the column 'to' of phones.normalize"


def _without_mobile_digit(number: str) -> str:
    for begins, (without, lengths) in _mobile_beginnings().items():
        rest = number.removeprefix(begins)
        if rest != number and len(rest) in lengths:
            return without + rest
    return number


@in_our_words
def duplicates(to: AnySeries) -> pd.Series:
    """Return, for each row that repeats an earlier phone, the label of the first row that has it; otherwise missing.

    Two numbers that ring the same phone, such as +54 9 11 ... and +54 11 ..., count as a repetition.

    Example:
        >>> to = pd.Series(["+14155550100", None, "+14155550100"], index=["a", "b", "c"], dtype="str")
        >>> duplicates(to).tolist()
        [nan, nan, 'a']
    """
    to = as_pandas(to)
    refuse(_not_numbers(to))
    which, _ = pd.factorize(one_phone(to), use_na_sentinel=True)
    first = pd.Series(np.arange(len(to))).groupby(which).transform("min").to_numpy()
    repeats = (which >= 0) & (first != np.arange(len(to)))
    labels = pd.Series(np.where(repeats, to.index.to_numpy(dtype=object)[first], np.nan), index=to.index)
    return labels.infer_objects()
