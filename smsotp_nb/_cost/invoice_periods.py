"""The periods of an invoice: months and ranges by their values, beginnings and ends, and dates that are none."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any, Final

import numpy as np
import pandas as pd

from .. import _dates as dates
from .._dates import Written
from .._pandas import STR
from .._pandas import texts as texts_of
from .invoice_special import special_words

_MOST_PERIODS: Final = 200  # different ones of an invoice
_YEAR: Final = re.compile(r"\b\d{4}\b")
_MONTHS: Final = (  # each as the text of its first day
    (re.compile(r"(?P<year>\d{4})[-./ ](?P<month>\d{1,2})"), "{year}-{month:0>2}-01"),
    (re.compile(r"(?P<month>\d{1,2})[-./ ](?P<year>\d{4})"), "{year}-{month:0>2}-01"),
    (re.compile(r"(?P<month>[^\W\d_]{3,10})\.?(?: de | of |[ /-]?)'?(?P<year>\d{4}|\d{2})"), "1 {month} {year}"),
    (re.compile(r"(?P<year>\d{4})[ /-]?(?P<month>[^\W\d_]{3,10})\.?"), "1 {month} {year}"),
)
_BETWEEN: Final = re.compile(
    r"(?<!\s)\s+(?:[-/]|to|until|through|thru|till|bis|au|al?|hasta|até|tot)\s|[–—~]|\.\.+|[-/]", re.IGNORECASE
)
_BEGIN: Final = re.compile(r"^(?:from|vom|von|du|del?|desde|dal?|van)\s+", re.IGNORECASE)
_STARTS: Final = re.compile(r"\b(?:from|start|begin\w*|von|ab|début|du|desde|inicio|dal?|inizio|van)\b", re.IGNORECASE)
_ENDS: Final = re.compile(r"\b(?:to|end|until|through|bis|ende|fin|au|hasta|al?|fine|tot)\b", re.IGNORECASE)
_ISSUED: Final = re.compile(r"invoice|rechnung|bill|factur|fattura|faktu|issue|beleg", re.IGNORECASE)


def periods_of(
    frame: pd.DataFrame, found: dict[str, Hashable], names: dict[str, Any], written: Written
) -> tuple[dict[str, pd.Series], str]:
    """Return the first days and ends of periods that a column has, by its values, or two columns by their names.

    Its column becomes that of the times. Beside them, what is to be told of columns that are no period.
    """
    columns = frame.columns[~frame.columns.duplicated(keep=False)]
    cells: dict[Hashable, pd.Series] = {
        column: texts_of(frame[column]).str.strip() for column in columns if frame[column].dtype.kind not in "fib"
    }
    numbers = {column: texts for column, texts in cells.items() if texts.str.contains(r"\d", na=False).any()}
    named = found["at"] if "at" in names else None
    if "until" in found or ("to" in found and not _are_days(numbers.get(found["to"]))):
        return {}, ""
    taken = {column for field, column in found.items() if field not in ("at", "clock", "kind", "to")}
    free = {column: texts for column, texts in numbers.items() if column not in taken}
    for column, texts in free.items():
        if named in (None, column) and (read := _read_periods(texts, written)) is not None:
            days = frame[found["at"]].nunique() if "at" in found else 0
            if "at" not in found or found["at"] == column or days < 2:  # days tell more than their months
                found["at"] = column
                found.pop("clock", None)
                for of in read.values():
                    of.name = column
                return read, ""
    starts, ends = (
        [column for column, texts in free.items() if words.search(re.sub("_", " ", str(column))) and _are_days(texts)]
        for words in (_STARTS, _ENDS)
    )
    if named is None and len(starts) == len(ends) == 1 and starts != ends:
        found["at"], found["until"] = starts[0], ends[0]
        if found.get("to") == ends[0]:
            del found["to"]
        return {}, ""
    at = found.get("at")
    if at is not None and named is None and "id" not in found and "to" not in found:
        start = at in starts and frame[at].nunique() == 1
        if (start or _ISSUED.search(str(at))) and {"country", "kind"} & {*found}:
            del found["at"]
            return {}, f"{at!r} is not read as the day of its messages."
    if "at" not in found:
        years = [column for column, texts in free.items() if texts.dropna().str.contains(r"\b20\d\d\b").all()]
        if years:
            return {}, f"Not read, though it may tell the period: {', '.join(map(repr, years))}."
    return {}, ""


def _are_days(texts: pd.Series | None) -> bool:
    return texts is not None and all(map(_is_day, texts[texts.str.contains(r"\d", na=False)].unique()[:_MOST_PERIODS]))


def _is_day(text: str) -> bool:
    read = dates.read(pd.Series([text], dtype=STR))
    return bool(read.unclear) or not np.isnat(read.wall[0])


def _read_periods(texts: pd.Series, written: Written) -> dict[str, pd.Series] | None:
    """Return the first day and the end of each cell as text, or None where a cell is no month and no range of days."""
    digits = texts[texts.str.contains(r"\d", na=False)]
    different = digits[special_words(digits).isna()].unique()
    ends = {cell: _ends(cell) for cell in different} if len(different) <= _MOST_PERIODS and not written.format else {}
    if not ends or None in ends.values():
        return None
    pairs = {cell: pair for cell, pair in ends.items() if pair is not None}
    read = dates.read(pd.Series([day for pair in pairs.values() for day in pair], dtype=STR), written)
    if not read.unclear and not np.isnat(read.wall).any():  # an end may show the order of day and month of all
        days = iter(read.wall.astype("datetime64[D]").astype(str).tolist())
        pairs = dict(zip(pairs, zip(days, days, strict=True), strict=True))
    return {name: texts.map({cell: pair[place] for cell, pair in pairs.items()}).astype(STR)
            for place, name in enumerate(("at", "until"))}  # fmt: skip


def _month(text: str) -> tuple[str, str] | None:
    """Return the first day of a month and of the next one, as text."""
    for shape, day in _MONTHS:
        if one := shape.fullmatch(text.strip()):
            first = dates.read(pd.Series([day.format(**one.groupdict())], dtype=STR)).wall[0]
            if not np.isnat(first):
                month = first.astype("datetime64[M]")
                return f"{month}-01", f"{month + np.timedelta64(1, 'M')}-01"
    return None


def _ends(cell: str) -> tuple[str, str] | None:
    """Return the first day of a period and its end, as text: its last day, or that after it where it has months.

    Example:
        >>> _ends("Nov-26"), _ends("01.11.-30.11.2026"), _ends("1-30 November 2026")
        (('2026-11-01', '2026-12-01'), ('01.11.2026', '30.11.2026'), ('1 November 2026', '30 November 2026'))
    """
    if whole := _month(cell):
        return whole
    if _is_day(cell):  # "05/10/2026" is a day, not months 5 to 10
        return None
    for sign in _BETWEEN.finditer(cell):
        start, end = _BEGIN.sub("", cell[: sign.start()].strip()), cell[sign.end() :].strip()
        year = _YEAR.search(end)
        if year and not _YEAR.search(start):
            if re.fullmatch(r"\d{1,2}\.?", start):
                start += re.sub(r"^\d{1,2}\.?", "", end)
            elif start[-1:].isalpha() or " " in start:
                start = f"{start}{', ' if start[-1:].isdigit() else ' '}{year[0]}"
            else:
                start = f"{start.rstrip('./-')}{(re.search('[./-]', start) or '.')[0]}{year[0]}"
        if _is_day(start) and _is_day(end):
            return start, end
        if (first := _month(start)) and (last := _month(end)):
            return first[0], last[1]
    return None
