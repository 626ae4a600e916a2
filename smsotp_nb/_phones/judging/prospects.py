"""Select the rows that can be read in another way, and among them those where that could change the result.

Where the engine read the digits of a text directly, its other readings follow from these digits without writing them:
all of them, or all but the first few, with a plus in front.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..fast.digits import READABLE
from ..fast.engine import Stretch
from ..fast.memory import Mask, Rows, matching
from .readings import CHOSEN, CODE_ONCE, IDD, RANK, WITH_PLUS, Reading, code_again, holds
from .work import Second, Work

Places = npt.NDArray[Any]  # int32


def candidates(work: Work, reading: Reading, front: npt.NDArray[np.uint8]) -> Rows:
    """Return the undecided rows that this reading applies to."""
    chosen = CHOSEN[reading.fronts].take(front) & work.open()
    rows = np.flatnonzero(chosen & ~work.answers.valid if reading.doubts == "never" else chosen)
    if not len(rows):
        return rows
    if reading.name == CODE_ONCE:
        rows = _perhaps_twice(work, rows)
        return rows[~work.answers.valid[rows] | holds(work.answers.take(rows), code_again)]
    if reading.regions:
        rows = rows[work.placed_in(rows, reading.regions)]
    return matching(work.text, rows, reading.pattern) if reading.pattern else rows


def worth(work: Work, reading: Reading, rows: Rows, asked: Collection[str], *, equals: bool) -> Rows:
    """Return those of the rows where this reading could change something; only digits read directly tell."""
    if not len(rows) or work.stretch is None or reading.name not in SKIPPED:
        return rows
    direct = work.stretch.direct[rows]
    sure, others = rows[direct], rows[~direct]
    as_good = equals or reading.repair in asked
    if reading.name == WITH_PLUS and not as_good:
        sure = sure[_may_be_better(work, work.stretch, sure)]
    if len(sure):
        sure = sure[_promising(work, work.stretch, reading, sure, as_good)]
    return np.sort(np.concatenate((sure, others))) if len(others) else sure


def other_numbers(work: Work, second: Second) -> Second:
    """Return the second spellings that are, or may be, a number other than the one read."""
    if work.stretch is None or second.before is None:
        return second
    told = np.flatnonzero(work.stretch.direct[second.rows] & (second.before.state == READABLE) & second.untouched)
    found = work.stretch.again(second.rows[told], second.before.only(told))
    nothing_new = ~found.valid | (found.same & work.answers.valid[second.rows[told]])
    keep = np.ones(len(second.rows), bool)
    keep[told[found.sure & nothing_new]] = False
    return second.only(keep)


def _may_be_better(work: Work, stretch: Stretch, rows: Rows) -> Mask:
    """Leave out rows that are no number either way, and mobile numbers unless they may begin with their own code."""
    valid, kind, cc = (it.take(rows) for it in (work.answers.valid, work.answers.kind, work.answers.cc))
    first = stretch.found.signs.take(stretch.found.start.take(rows))
    own = first == FIRST_DIGIT.take(cc)
    flags: Mask = ~valid | (RANK.take(kind) < 2) | own
    return flags


def _promising(work: Work, stretch: Stretch, reading: Reading, rows: Rows, as_good: bool) -> Mask:
    """Return which rows a reading could change, judged by their digits."""
    found = stretch.with_plus(rows, SKIPPED[reading.name](stretch, rows))
    valid, fits = work.answers.valid[rows], found.valid
    if reading.name in (IDD, WITH_PLUS):
        fits = fits & ~(valid & found.same)
    if reading.name == WITH_PLUS and not as_good:
        here = RANK.take(work.answers.kind[rows])
        useful = here < 2
        useful |= found.code == work.answers.cc[rows]
        fits = fits & (~valid | useful)
    return fits | ~found.sure


def _perhaps_twice(work: Work, rows: Rows) -> Rows:
    """Leave out rows whose digits show that the calling code is not repeated."""
    if work.stretch is None:
        return rows
    direct = work.stretch.direct[rows]
    sure, others = rows[direct], rows[~direct]
    sure = sure[_before_second_code(work.stretch, sure) > 0]
    return np.sort(np.concatenate((sure, others))) if len(others) else sure


def _before_second_code(stretch: Stretch, rows: Rows) -> npt.NDArray[Any]:
    """Return how many digits come before the repeated calling code, 00 included; 0 if it is not repeated."""
    found = stretch.found
    start, end = found.start.take(rows), (found.start + found.count).take(rows)
    first = np.where(found.plus.take(rows), start, _behind_zeros(stretch, start, end))
    length = _code_length(stretch, first, end)
    second = _behind_zeros(stretch, first + length, end)
    same = length > 0
    for place in range(3):
        alike = _digit(stretch, first + place, end) == _digit(stretch, second + place, end)
        same &= alike | (place >= length)
    return np.where(same, second - start, 0)


def _behind_zeros(stretch: Stretch, at: Places, end: Places) -> Places:
    """Skip two zeros at a position."""
    zeros = (_digit(stretch, at, end) == 0) & (_digit(stretch, at + 1, end) == 0)
    behind: Places = at + 2 * zeros.astype(np.int32)
    return behind


def _code_length(stretch: Stretch, at: Places, end: Places) -> Places:
    """Return the length of the calling code at a position, 0 where there is none."""
    three = np.zeros(len(at), np.int32)
    for place in range(3):
        three = three * 10 + np.minimum(_digit(stretch, at + place, end), 9)
    known = (at + 3 <= end) & (stretch.tables.three_plan.take(three) >= 0)
    return np.where(known, stretch.tables.three_length.take(three), 0).astype(np.int32)


def _digit(stretch: Stretch, at: Places, end: Places) -> Places:
    """Return the digit at a position; beyond the end, a value that no digit equals."""
    return np.where(at < end, stretch.found.signs.take(at, mode="clip"), BEHIND).astype(np.int32)


BEHIND: Final = 99
FIRST_DIGIT: Final = np.array([*(int(str(code)[0]) for code in range(1000)), 0], np.uint8)  # the last one is for none
SKIPPED: Final[dict[str, Callable[[Stretch, Rows], Any]]] = {  # how many digits a plus takes the place of
    IDD: lambda *_: 2,
    WITH_PLUS: lambda *_: 0,
    CODE_ONCE: _before_second_code,
}
