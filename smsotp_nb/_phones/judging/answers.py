"""phonenumbers' verdict: a frame for everybody, and small integers with which the judgement works.

A column of texts costs more to compare and to change than a column of numbers, and a list has few regions, kinds and
reasons. So only the numbers themselves are text in `Answers`; the rest are positions in tables.
"""

from __future__ import annotations

from typing import Final

import pandas as pd
import pyarrow as pa

from ..._calling import in_our_words, not_callable, not_text, refuse
from ..._pandas import texts
from .. import reference
from ..cells import text as cells
from ..fast import engine, tables
from ..fast.assembly import Answers, of_answers
from ..fast.engine import Progress, Stretch
from ..fast.tables import Tables

FEW: Final = 128  # rows; about as many as the first look-up in the tables costs
WORTH_NEW_TABLES: Final = 100_000
VERY_FEW: Final = 12


@in_our_words
def parse(
    phones: object,
    *,
    region: object = None,
    default_region: str | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Return phonenumbers' own answer for a column of numbers, unmodified.

    Args:
        phones: the column of numbers. Numeric cells are first read as text, whole decimals without their ``.0``.
        region: column of two-letter country codes, used as they are.
        default_region: one code for blank cells of ``region``.
        progress: called with the number of rows done after each chunk.

    Returns:
        A frame on the index of ``phones``: ``e164, region, cc, type, extension`` (``str``, missing where phonenumbers
        has none), ``valid`` (bool) and ``reason``: missing for a valid number, otherwise the name of the parse error or
        of the ValidationResult, or NOT_IN_USE for a number that is possible but not valid.

    Raises:
        UsageError: ``region`` has another length or index than ``phones``.

    Example:
        >>> parse(["+44 7700 900123", "030 901820"], default_region="DE")[["e164", "valid", "reason"]]
                    e164  valid      reason
        0  +447700900123  False  NOT_IN_USE
        1    +4930901820   True         NaN
    """
    code = None if default_region is None else not_text("default_region", default_region, hint="; a code such as 'DE'")
    refuse(not_callable("progress", progress, example="print"), code)
    column = cells.column(phones, what="phones")
    plain = cells.plain(column) if len(column) < FEW else None
    if plain is not None:
        beside = None if region is None else cells.column(region, what="region", like=column)
        codes = [None] * len(column) if beside is None else cells.plain_words(beside)
        answers = reference.all_of(plain, [code or default_region for code in codes])
        return reference.frame(answers, index=column.index)
    text, regions = cells.read(column).text, _regions(region, default_region, column)
    if few(len(text)):
        return reference.verdict(text, regions).set_axis(column.index, axis=0)
    return engine.verdict(text, regions, progress=progress).set_axis(column.index, axis=0)


def _regions(region: object, default_region: str | None, like: pd.Series) -> pd.Series:
    if region is None:
        return cells.same(default_region, len(like))
    codes = texts(cells.column(region, what="region", like=like)).reset_index(drop=True)
    if default_region is None:  # to phonenumbers a blank is no region either
        return codes
    return codes.mask(codes.isna() | (codes == ""), default_region)


def of(texts: pa.Array, regions: pa.Array) -> Answers:
    """Ask about a column of texts, each with its region (or null)."""
    it = _tables(len(texts))
    if it is None:
        return of_answers(reference.all_of(texts.to_pylist(), regions.to_pylist()))
    return engine.answered(texts, regions, it)


def few(size: int, limit: int = FEW) -> bool:
    """Return whether phonenumbers itself is asked about every row of a list, because tables are missing or dearer.

    Where another version of phonenumbers is installed than the shipped tables were made from, new ones are made only
    for a list that is long enough.
    """
    return size < limit or (size < WORTH_NEW_TABLES and not tables.shipped_fits()) or tables.load() is None


def begun(texts: pa.Array, regions: pa.Array) -> Stretch:
    """Return a stretch whose digits have been read."""
    it = tables.load()
    if it is None:
        raise AssertionError("a list without tables is read row by row")
    return Stretch(texts, regions, it)


def _tables(size: int) -> Tables | None:
    """Return the tables if they are quicker than asking phonenumbers: of a long list, for fewer rows than else."""
    if tables.load.cache_info().currsize:
        return tables.load() if size >= VERY_FEW else None
    return None if few(size) else tables.load()
