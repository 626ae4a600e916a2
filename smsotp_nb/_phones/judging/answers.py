"""phonenumbers' verdict: a frame for everybody, and small integers with which the judgement works.

A column of texts costs more to compare and to change than a column of numbers, and a list has few regions, kinds and
reasons. So only the numbers themselves are text in `Answers`; the rest are positions in tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from ..._calling import in_our_words, not_callable, not_text, refuse
from .. import reference
from ..cells import text as cells
from ..fast import assembly, engine, tables
from ..fast.engine import Progress, Stretch
from ..fast.memory import SHARED, STRING, Mask, Rows, replaced, taken
from ..fast.tables import KINDS, Tables
from ..reference import Answer

FEW: Final = 128  # rows; about as many as the first look-up in the tables costs
WORTH_NEW_TABLES: Final = 100_000
REGIONS: Final = ("001", *sorted(reference.SUPPORTED_REGIONS))
REGION_PLACE: Final = {name: place for place, name in enumerate(REGIONS)}
REASONS: Final = assembly.REASONS
SMALL: Final = ("region", "cc", "kind", "reason", "extended")  # what of an answer is no text
VERY_FEW: Final = 12


@in_our_words
def verdict(
    numbers: object,
    *,
    region: object = None,
    default_region: str | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Return phonenumbers' own answer for a column of numbers, unmodified.

    Args:
        numbers: the column of numbers. Numeric cells are first read as text, whole decimals without their ``.0``.
        region: column of two-letter country codes, used as they are.
        default_region: one code for blank cells of ``region``.
        progress: called with the number of rows done after each chunk.

    Returns:
        A frame on the index of ``numbers``: ``e164, region, cc, type, extension`` (``str``, missing where phonenumbers
        has none), ``valid`` (bool) and ``reason``: missing for a valid number, otherwise the name of the parse error or
        of the ValidationResult, or NOT_IN_USE for a number that is possible but not valid.

    Raises:
        UsageError: ``region`` has another length or index than ``numbers``.

    Example:
        >>> verdict(["+44 7700 900123", "030 901820"], default_region="DE")[["e164", "valid", "reason"]]
                    e164  valid      reason
        0  +447700900123  False  NOT_IN_USE
        1    +4930901820   True         NaN
    """
    code = None if default_region is None else not_text("default_region", default_region, hint="; a code such as 'DE'")
    refuse(not_callable("progress", progress, example="print"), code)
    column = cells.column(numbers, what="numbers")
    plain = cells.plain(column) if len(column) < FEW else None
    if plain is not None:
        beside = None if region is None else cells.column(region, what="region", like=column)
        codes = [None] * len(column) if beside is None else cells.plain_words(beside)
        answers = reference.all_of(plain, [code or default_region for code in codes])
        return reference.frame(answers, index=column.index)
    text = cells.read(column).text
    return _frame(text, _regions(region, default_region, column), progress=progress).set_axis(column.index, axis=0)


def _frame(text: pd.Series, region: pd.Series, *, progress: Progress | None = None) -> pd.DataFrame:
    """Answer for ``str`` columns with a positional index."""
    if few(len(text)):
        return reference.verdict(text, region)
    return engine.verdict(text, region, progress=progress)


def _regions(region: object, default_region: str | None, like: pd.Series) -> pd.Series:
    if region is None:
        return cells.same(default_region, len(like))
    codes = cells.words(cells.column(region, what="region", like=like)).reset_index(drop=True)
    if default_region is None:  # to phonenumbers a blank is no region either
        return codes
    return codes.mask(codes.isna() | (codes == ""), default_region)


@dataclass(slots=True)
class Answers:
    """The verdict on a stretch of rows. ``cc`` is the calling code (-1: none), the rest are places in the tables."""

    e164: pa.Array
    region: npt.NDArray[np.int16]
    cc: npt.NDArray[np.int16]
    kind: npt.NDArray[np.int8]
    reason: npt.NDArray[np.int8]
    extended: Mask  # phonenumbers found an extension

    @property
    def valid(self) -> Mask:
        return np.equal(self.reason, 0)

    def __len__(self) -> int:
        return len(self.reason)

    def take(self, rows: Any) -> Answers:
        return Answers(taken(self.e164, rows), **{name: getattr(self, name).take(rows) for name in SMALL})

    def part(self, rows: slice) -> Answers:
        """Return some rows next to each other, without copying."""
        return Answers(self.e164[rows], **{name: getattr(self, name)[rows] for name in SMALL})

    def adopt(self, rows: Rows, other: Answers) -> None:
        """Replace the answers of these rows."""
        if len(rows):
            self.e164 = replaced(self.e164, rows, other.e164)
            for name in SMALL:
                getattr(self, name)[rows] = getattr(other, name)


def of(texts: pa.Array, regions: pa.Array) -> Answers:
    """Ask about a column of texts, each with its region (or null)."""
    it = _tables(len(texts))
    if it is None:
        return _of_answers(reference.all_of(texts.to_pylist(), regions.to_pylist()))
    return _of_columns(engine.columns(texts, regions, it), it)


def few(size: int, limit: int = FEW) -> bool:
    """Return whether phonenumbers itself is asked about every row of a list, because tables are missing or dearer.

    Where another version of phonenumbers is installed than the shipped tables were made from, new ones are made only
    for a list that is long enough.
    """
    return size < limit or (size < WORTH_NEW_TABLES and not tables.shipped_fits()) or tables.load() is None


def begun(texts: pa.Array, regions: pa.Array) -> Stretch:
    """Return a stretch whose digits have been read, for ``told``."""
    it = tables.load()
    if it is None:
        raise AssertionError("a list without tables is read row by row")
    return Stretch(texts, regions, it)


def told(stretch: Stretch) -> Answers:
    """Return the verdicts on a stretch."""
    return _of_columns(stretch.answer(), stretch.tables)


def _tables(size: int) -> Tables | None:
    """Return the tables if they are quicker than asking phonenumbers: of a long list, for fewer rows than else."""
    if tables.load.cache_info().currsize:
        return tables.load() if size >= VERY_FEW else None
    return None if few(size) else tables.load()


def _of_answers(found: list[Answer]) -> Answers:
    return Answers(
        e164=pa.array([it.e164 for it in found], STRING),
        region=np.array([REGION_PLACE.get(it.region or "", -1) for it in found], np.int16),
        cc=np.array([int(it.cc or -1) for it in found], np.int16),
        kind=np.array([KINDS.index(it.type) if it.type else -1 for it in found], np.int8),
        reason=np.array([REASONS.index(it.reason) for it in found], np.int8),
        extended=np.array([it.extension is not None for it in found], bool),
    )


def _of_columns(columns: assembly.Columns, it: Tables) -> Answers:
    extension = columns.extension
    return Answers(
        e164=columns.e164,
        region=_region_places(it).take(columns.region),
        cc=_codes(it).take(columns.code),
        kind=columns.kind,
        reason=columns.reason,
        extended=np.array(extension.is_valid(), bool),
    )


@cache
def _region_places(it: Tables) -> npt.NDArray[np.int16]:
    """Return the place in ``REGIONS`` of each plan's region; the last one is for none."""
    return np.array([*(REGION_PLACE[str(name)] for name in it.plan_region), -1], np.int16)


@cache
def _codes(it: Tables) -> npt.NDArray[np.int16]:
    return np.append(it.plan_code, np.int16(-1))


def joined(parts: list[Answers]) -> Answers:
    """Return stretches of rows as one."""
    small = {name: np.concatenate([getattr(part, name) for part in parts]) for name in SMALL}
    return Answers(e164=pa.concat_arrays([part.e164 for part in parts], SHARED), **small)
