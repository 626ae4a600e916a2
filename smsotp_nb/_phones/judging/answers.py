"""phonenumbers' verdict as small integers, with which the judgement works until the frame is built.

A column of texts costs more to compare and to change than a column of numbers, and a list has few regions, kinds and
reasons. So only the numbers themselves are text here; the rest are positions in ``REGIONS``, ``KINDS`` and ``REASONS``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .. import reference
from ..fast import assembly, engine, tables
from ..fast.memory import SHARED, taken
from ..fast.stretch import Plans, Stretch
from ..fast.tables import KINDS, Tables
from ..reference import Answer
from . import verdicts

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]

REGIONS: Final = ("001", *sorted(reference.SUPPORTED_REGIONS))
REGION_PLACE: Final = {name: place for place, name in enumerate(REGIONS)}
REASONS: Final = assembly.REASONS
SMALL: Final = ("region", "cc", "kind", "reason", "extended")  # what of an answer is no text
VERY_FEW: Final = 12
STRING: Final = pa.large_string()


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


def replaced(texts: pa.Array, rows: Rows, others: pa.Array) -> pa.Array:
    """Return a text column with other texts in some rows.

    Example:
        >>> replaced(pa.array(["a", "b", "c"], pa.large_string()), np.array([2, 0]), pa.array(["C", "A"])).to_pylist()
        ['A', 'b', 'C']
    """
    if not len(rows):
        return texts
    place = np.arange(len(texts))
    place[rows] = np.arange(len(texts), len(texts) + len(rows))
    return taken(pa.concat_arrays([texts, others.cast(texts.type)], SHARED), place)


def of(texts: pa.Array, regions: pa.Array) -> Answers:
    """Ask about a column of texts, each with its region (or null).

    Example:
        >>> found = of(pa.array(["030 901820"], pa.large_string()), pa.array(["DE"], pa.large_string()))
        >>> found.e164.to_pylist(), KINDS[found.kind[0]], int(found.cc[0])
        (['+4930901820'], 'FIXED_LINE', 49)
    """
    it = _tables(len(texts))
    if it is None:
        return _of_answers(_asked(texts, regions))
    return _of_columns(engine.columns(texts, regions, it), it)


def begun(texts: pa.Array, regions: pa.Array) -> Stretch | None:
    """Return a stretch whose digits have been read, for ``told``; None if asking phonenumbers itself is quicker.

    Example:
        >>> begun(pa.array(["030 901820"], pa.large_string()), pa.array(["DE"], pa.large_string())) is None
        True
    """
    it = _tables(len(texts))
    return None if it is None else Stretch(texts, regions, _plans(it))


@cache
def _plans(it: Tables) -> Plans:
    return Plans(it)


def told(stretch: Stretch) -> Answers:
    """Return the verdicts on a stretch."""
    return _of_columns(stretch.answer(), stretch.tables)


def _tables(size: int) -> Tables | None:
    """Return the tables if they are quicker than asking phonenumbers, by the rule of ``verdicts``.

    A few rows of a long list are asked about repeatedly; once the tables are loaded, they are quicker for these, too.
    """
    few = VERY_FEW if tables.load.cache_info().currsize else verdicts.FEW
    if size < few or (size < verdicts.WORTH_NEW_TABLES and not tables.shipped_fits()):
        return None
    return tables.load()


def _asked(texts: pa.Array, regions: pa.Array) -> list[Answer]:
    """Put the rows to phonenumbers itself, each distinct pair once."""
    reference.enable_pattern_cache()
    pairs = list(zip(texts.to_pylist(), regions.to_pylist(), strict=True))
    known = {pair: reference.ask_once(*pair) for pair in dict.fromkeys(pairs)}
    return [known[pair] for pair in pairs]


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
