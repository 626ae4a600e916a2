"""Second step: from digits to calling code and national number, as phonenumbers' ``parse`` does it.

The order of the questions is phonenumbers' own:

1. A plus: the calling code is the shortest one that exists. If none does, the digits are read once more as if there
   were no plus, and must then show a calling code.
2. The region's international prefix (00, 011 ...), unless a 0 follows it: a calling code comes next.
3. The calling code of the region itself without any plus: believed only if the number makes no sense with it and
   does without it, or is too long with it.
4. At last the national prefix (the 0 of 030) goes, unless the number made sense with it and does not without it, or
   what is left would be too short. Some plans' rules put other digits in its place.

A row is a stretch of the digits. Only a rule that puts digits in front makes a new stretch, appended at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from . import automata, tables
from .automata import END, STRIDE
from .digits import Digits
from .tables import Tables

PARSED, INVALID_COUNTRY_CODE, TOO_SHORT_AFTER_IDD, TOO_SHORT_NSN, TOO_LONG, UNDECIDED = range(6)

NO_REGION: Final = -1
ODD_REGION: Final = -2  # unknown as written, known in capitals: phonenumbers uses it in one place only

Ints = npt.NDArray[Any]  # int32
Rows = npt.NDArray[Any]  # positions
Flags = npt.NDArray[Any]  # bool


@dataclass(slots=True)
class Reading:
    """Rows being parsed: their stretch of digits, the plan they are read by, and the error that ended them."""

    tables: Tables
    signs: npt.NDArray[np.uint8]
    start: Ints
    count: Ints
    plan: Ints
    error: npt.NDArray[np.uint8]
    extracted: Flags  # a calling code stood in the number

    def move(self, rows: Rows, start: Ints, count: Ints) -> None:
        self.start[rows] = start
        self.count[rows] = count


def parse(digits: Digits, rows: Rows, region: Ints, tables: Tables) -> Reading:
    """Parse readable rows as phonenumbers does; ``region`` is the plan of each, NO_REGION or ODD_REGION."""
    start, count, size = digits.start.take(rows), digits.count.take(rows), len(rows)
    error, extracted = np.zeros(size, np.uint8), np.zeros(size, bool)
    reading = Reading(tables, digits.signs, start, count, region.copy(), error, extracted)
    plus = digits.plus.take(rows)
    retried = after_plus(reading, np.flatnonzero(plus))
    without = np.flatnonzero(~plus)
    without_plus(reading, np.concatenate((without, retried)) if len(retried) else without)
    lost = retried[(reading.error[retried] == PARSED) & ~reading.extracted[retried]]
    reading.error[lost] = INVALID_COUNTRY_CODE
    national_number(reading)
    return reading


def after_plus(reading: Reading, rows: Rows) -> Rows:
    """Take calling codes after a plus; return the rows that have none."""
    found = _take_calling_code(reading, rows)
    left: Rows = rows[~found]
    odd = reading.plan[left] == ODD_REGION
    reading.error[left[odd]] = UNDECIDED
    known: Rows = left[~odd]
    return known


def _take_calling_code(reading: Reading, rows: Rows) -> Flags:
    three = _leading(reading, rows, 3)
    plan = reading.tables.three_plan.take(three)
    length = reading.tables.three_length.take(three)
    found: Flags = plan >= 0
    taken = rows if found.all() else rows[found]
    reading.plan[taken] = plan[found]
    reading.extracted[taken] = True
    reading.start[taken] += length[found]
    reading.count[taken] -= length[found]
    return found


def _leading(reading: Reading, rows: Rows, digits: int) -> Ints:
    """Return the first digits as a number; rows have at least so many."""
    at = reading.start.take(rows)
    value = reading.signs.take(at).astype(np.int32)
    for _ in range(digits - 1):
        at += 1
        value *= 10
        value += reading.signs.take(at)
    return value


def without_plus(reading: Reading, rows: Rows) -> None:
    reading.error[rows[reading.plan[rows] < 0]] = INVALID_COUNTRY_CODE
    rows = rows[reading.plan[rows] >= 0]
    state = reading.tables.idd_start.take(reading.plan[rows])
    end, _ = _match_prefix(reading, state, reading.start[rows], reading.count[rows])
    matched = end >= 0
    abroad, length = rows[matched], end[matched]
    followed_by_zero = reading.signs.take(reading.start[abroad] + length) == 0
    abroad, length = abroad[~followed_by_zero], length[~followed_by_zero]
    reading.move(abroad, reading.start[abroad] + length, reading.count[abroad] - length)
    short = reading.count[abroad] <= 2
    reading.error[abroad[short]] = TOO_SHORT_AFTER_IDD
    long_enough = abroad[~short]
    found = _take_calling_code(reading, long_enough)
    reading.error[long_enough[~found]] = INVALID_COUNTRY_CODE
    at_home = np.ones(len(reading.start), bool)
    at_home[abroad] = False
    _own_calling_code(reading, rows[at_home[rows]])


def _own_calling_code(reading: Reading, rows: Rows) -> None:
    code = reading.tables.plan_code.take(reading.plan[rows])
    length = 1 + (code > 9) + (code > 99)
    begins = np.zeros(len(rows), bool)
    for digits in (1, 2, 3):
        fit = np.flatnonzero((length == digits) & (reading.count[rows] >= digits))
        begins[fit] = _leading(reading, rows[fit], digits) == code[fit]
    rows, length = rows[begins], length[begins].astype(np.int32)
    if not len(rows):
        return
    plan, start, count = reading.plan[rows], reading.start[rows], reading.count[rows]
    whole = _is_general(reading, plan, start, count)
    too_long = reading.tables.lengths[plan, count] == tables.TOO_LONG
    start, count = _strip_national_prefix(reading, plan, start + length, count - length)
    believed = (~whole & _is_general(reading, plan, start, count)) | too_long
    rows = rows[believed]
    reading.move(rows, start[believed], count[believed])
    reading.plan[rows] = reading.tables.plan_main.take(reading.plan[rows])
    reading.extracted[rows] = True


def national_number(reading: Reading) -> None:
    """Strip the national prefix where enough is left; refuse what is too short or too long."""
    _refuse(reading, reading.count < 2, TOO_SHORT_NSN)
    rows = np.flatnonzero(reading.error == PARSED)
    plan = reading.plan[rows]
    start, count = _strip_national_prefix(reading, plan, reading.start[rows], reading.count[rows])
    left = reading.tables.lengths[plan, count]
    enough = (left == tables.POSSIBLE) | (left == tables.TOO_LONG)
    reading.move(rows[enough], start[enough], count[enough])
    _refuse(reading, reading.count < 2, TOO_SHORT_NSN)
    _refuse(reading, reading.count > tables.LONGEST, TOO_LONG)


def _refuse(reading: Reading, mask: Flags, error: int) -> None:
    reading.error[mask & (reading.error == PARSED)] = error


def _is_general(reading: Reading, plan: Ints, start: Ints, count: Ints) -> Flags:
    """Return which stretches match the general description of their plan."""
    if not len(plan):
        return np.zeros(0, bool)
    state = reading.tables.general_start.take(plan)
    state = automata.run(reading.tables.following, state, reading.signs, start.copy(), start + count, int(count.max()))
    return reading.tables.general.take(reading.tables.label.take(state // STRIDE))


def _match_prefix(reading: Reading, state: Ints, start: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Run a prefix automaton: the end of the match in digits (-1: none) and what it says of a rule's group."""
    it = reading.tables
    end = np.full(len(state), -1, np.int32)
    span = np.zeros(len(state), np.int32)
    alive = np.flatnonzero(state)
    state = state[alive]
    for depth in range(int(count.max(initial=0)) + 1):
        at_end = count.take(alive) == depth
        number = state // STRIDE
        outcome = np.where(at_end, it.prefix_at_end.take(number), it.prefix_here.take(number))
        matched = outcome != tables.NO_MATCH
        end[alive[matched]] = depth
        span[alive[matched]] = outcome[matched]
        state = it.prefix_following.take(state + reading.signs.take(start.take(alive) + depth))
        going = (state != 0) & ~at_end
        if not going.all():
            alive, state = alive[going], state[going]
        if not len(alive):
            break
    return end, span


def _strip_national_prefix(reading: Reading, plan: Ints, start: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Return the stretches without their national prefix, unchanged where that would unmake a good number."""
    end, span = _match_prefix(reading, reading.tables.national_start.take(plan), start, count)
    rows = np.flatnonzero((end > 0) & (count > 0) | (span > 0) & (count > 0))
    if not len(rows):
        return start, count
    new_start, new_count = start[rows] + end[rows], count[rows] - end[rows]
    ruled = np.flatnonzero(span[rows] > 0)
    if len(ruled):
        which = rows[ruled]
        new_start[ruled], new_count[ruled] = _transformed(
            reading, plan[which], start[which], count[which], end[which], span[which]
        )
    good_before = np.flatnonzero(_is_general(reading, plan[rows], start[rows], count[rows]))
    good_after = _is_general(reading, plan[rows[good_before]], new_start[good_before], new_count[good_before])
    unmade = good_before[~good_after]
    new_start[unmade], new_count[unmade] = start[rows[unmade]], count[rows[unmade]]
    start, count = start.copy(), count.copy()
    start[rows], count[rows] = new_start, new_count
    return start, count


def _transformed(reading: Reading, plan: Ints, start: Ints, count: Ints, end: Ints, span: Ints) -> tuple[Ints, Ints]:
    """Append what a transform rule makes of each stretch: the rule's digits, its group, what follows the match."""
    rule = reading.tables.rule_digits.take(plan)
    front = np.char.str_len(rule).astype(np.int32)
    begin = reading.tables.span_begin.take(span).astype(np.int32)
    group = reading.tables.span_end.take(span) - begin
    length = front + group + count - end
    width = int(length.max()) + 1
    column = np.arange(width, dtype=np.int32)
    source = np.where(
        column < (front + group)[:, None],
        (start + begin - front)[:, None] + column,
        (start + end - front - group)[:, None] + column,
    )
    signs = reading.signs.take(source, mode="clip")
    signs[column >= length[:, None]] = END
    for row in np.flatnonzero(front):
        signs[row, : front[row]] = [int(digit) for digit in str(rule[row])]
    first = len(reading.signs) + np.arange(len(plan), dtype=np.int32) * width
    reading.signs = np.concatenate((reading.signs, signs.ravel()))
    return first.astype(np.int32), length.astype(np.int32)
