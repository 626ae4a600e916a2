"""Run all steps for one stretch of rows; rows that they leave undecided go to phonenumbers itself.

A stretch is an object rather than a function because the judgement returns to it: it repairs texts between the first
step and the second, and later reads the digits of some rows again as if a plus preceded them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .. import reference
from . import assembly, closer, digits, prefixes, tables
from .assembly import Asked, Columns
from .digits import Digits
from .memory import SHARED, taken
from .prefixes import NO_REGION, ODD_REGION, PARSED, Reading
from .tables import Tables

Ints = npt.NDArray[Any]  # int32
Rows = npt.NDArray[Any]  # positions
Flags = npt.NDArray[Any]  # bool


class Plans:
    """Look up the plans of regions as written, each distinct region of a column once."""

    def __init__(self, it: Tables) -> None:
        self.tables = it
        self.plans = it.region_plan()

    def read(self, regions: pa.Array) -> Ints:
        """Return the plan of each region (of a text column, with a dictionary or without)."""
        if not isinstance(regions, pa.DictionaryArray):
            regions = pc.dictionary_encode(regions, memory_pool=SHARED)
        plans = np.array([*(self._plan(name) for name in regions.dictionary.to_pylist()), NO_REGION], np.int32)
        rows: Ints = plans.take(pc.fill_null(regions.indices, len(plans) - 1).to_numpy())
        return rows

    def _plan(self, name: str | None) -> int:
        if name is None:
            return NO_REGION
        return self.plans.get(name, ODD_REGION if name.upper() in self.plans else NO_REGION)


@dataclass(frozen=True, slots=True)
class Again:
    """The result of reading digits again.

    Attributes:
        sure: this is phonenumbers' answer (else nothing is known).
        valid, kind, code: whether it is a number, of which kind (place in KINDS) and calling code (-1: none).
        same: it is the number that was read at first.
    """

    sure: Flags
    valid: Flags
    kind: npt.NDArray[np.int8]
    code: npt.NDArray[np.int16]
    same: Flags


class Stretch:
    """Rows on their way from text to verdict.

    Example:
        >>> number, germany = (pa.array([text], pa.large_string()) for text in ("030 901820", "DE"))
        >>> Stretch(number, germany, Plans(tables.load())).answer().e164.to_pylist()
        ['+4930901820']
    """

    def __init__(self, texts: pa.Array, regions: pa.Array, plans: Plans) -> None:
        self.texts = _missing_as_empty(texts)
        self.regions = regions
        self.tables = plans.tables
        self.plan = plans.read(regions)
        self.found: Digits = digits.read(*digits.bytes_of(self.texts))
        self.direct: Flags  # rows whose digits were read without a closer look, by a plan that needs none
        self.reading: Reading
        self.rows: Rows  # of the reading

    def replace(self, rows: Rows, texts: pa.Array, all_texts: pa.Array) -> None:
        """Replace the texts of some rows before the answer; ``all_texts`` is the whole column with the new ones."""
        if len(rows):
            closer.read_again(self.found, rows, texts)
        self.texts = all_texts

    def close(self, rows: Rows) -> None:
        """Answer NOT_A_NUMBER for some rows without looking at them."""
        self.found.state[rows] = digits.NOT_A_NUMBER

    def answer(self) -> Columns:
        """Return the verdicts."""
        found, plan, it = self.found, self.plan, self.tables
        readable = found.state == digits.READABLE
        self.direct = readable & ~((plan >= 0) & it.plan_slow.take(plan))
        extensions = closer.look(found, self.texts)
        found.state[(found.state == digits.READABLE) & (plan >= 0) & it.plan_slow.take(plan)] = digits.UNDECIDED
        self.rows = np.flatnonzero(found.state == digits.READABLE)
        self.reading = reading = prefixes.parse(found, self.rows, plan[self.rows], it)
        found.state[self.rows[reading.error == prefixes.UNDECIDED]] = digits.UNDECIDED
        asked = self._ask(np.flatnonzero(found.state == digits.UNDECIDED))
        columns = assembly.assemble(reading, self.rows, len(self.texts), asked)
        columns.extension = _extension(columns, extensions, asked)
        return columns

    def _ask(self, rows: Rows) -> Asked:
        """Ask phonenumbers about the rows that are left."""
        reference.enable_pattern_cache()
        pairs = zip(taken(self.texts, rows).to_pylist(), taken(self.regions, rows).to_pylist(), strict=True)
        return Asked(rows, [reference.ask_once(text, region) for text, region in pairs])

    def digits_of(self, rows: Rows) -> Digits:
        """Return the digits of some rows as they are now."""
        return self.found.only(rows)

    def with_plus(self, rows: Rows, skip: Any) -> Again:
        """Read direct rows again with a plus in place of their first ``skip`` digits.

        Example:
            >>> number, home = (pa.array([text], pa.large_string()) for text in ("0049 30 901820", "DE"))
            >>> stretch = Stretch(number, home, Plans(tables.load()))
            >>> _ = stretch.answer()
            >>> found = stretch.with_plus(np.array([0]), 2)
            >>> bool(found.valid[0]), int(found.code[0]), bool(found.same[0])
            (True, 49, True)
        """
        part = self.digits_of(rows)
        part.start += skip
        part.count -= skip
        part.plus[:] = True
        return self.again(rows, part)

    def again(self, rows: Rows, part: Digits) -> Again:
        """Read direct rows again with other digits; fewer than three are not a number."""
        some = np.flatnonzero(part.count >= 3)
        reading = prefixes.parse(part, some, self.plan.take(rows[some]), self.tables)
        parsed = np.flatnonzero(reading.error == PARSED)
        main = self.tables.plan_main.take(reading.plan[parsed])
        _, kind = assembly.classify(reading, main, reading.start[parsed], reading.count[parsed])
        at = some[parsed]
        sure, valid, same = np.ones(len(rows), bool), np.zeros(len(rows), bool), np.zeros(len(rows), bool)
        kinds, code = np.full(len(rows), -1, np.int8), np.full(len(rows), -1, np.int16)
        sure[some[reading.error == prefixes.UNDECIDED]] = False
        valid[at], kinds[at], code[at] = kind != tables.UNKNOWN, kind, self.tables.plan_code.take(main)
        same[at] = self._as_first(rows[at], reading, parsed, main)
        return Again(sure, valid, kinds, code, same)

    def _as_first(self, rows: Rows, again: Reading, parsed: Rows, main: Ints) -> Flags:
        """Return which national numbers equal the result of the row's first reading."""
        first, at = self.reading, np.searchsorted(self.rows, rows)
        same: Flags = (first.error[at] == PARSED) & (first.count[at] == again.count[parsed])
        same &= self.tables.plan_main.take(first.plan[at]) == main
        left = np.flatnonzero(same)
        here, there, count = first.start[at[left]], again.start[parsed[left]], again.count[parsed[left]]
        for place in range(int(count.max(initial=0))):
            differs = first.signs.take(here + place, mode="clip") != again.signs.take(there + place, mode="clip")
            same[left[differs & (place < count)]] = False
        return same


def _missing_as_empty(texts: pa.Array) -> pa.Array:
    """Return the texts with missing ones as empty ones, as phonenumbers reads them."""
    if not texts.null_count:
        return texts
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
    missing = texts.is_null().to_numpy(zero_copy_only=False)
    return texts.fill_null("") if (np.diff(offsets)[missing] != 0).any() else texts


def _extension(columns: Columns, found: closer.Extensions, asked: Asked) -> pa.Array:
    """Return the column of extensions; a text that could not be parsed has none, and phonenumbers' answers win."""
    told = [(row, it.extension) for row, it in zip(asked.rows, asked.answers, strict=True) if it.extension is not None]
    if not (told or len(found.rows)):
        return columns.extension
    texts = pa.concat_arrays([found.texts, pa.array([text for _, text in told], pa.large_string())], SHARED)
    place = np.full(len(columns.code), -1, np.int32)
    place[found.rows] = np.arange(len(found.rows))
    place[[row for row, _ in told]] = len(found.rows) + np.arange(len(told))
    return taken(texts, pa.array(place, mask=(place < 0) | (columns.code < 0)))
