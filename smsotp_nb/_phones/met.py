"""Remember which numbers were seen before, in eight bytes each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

Numbers = npt.NDArray[np.int64]


class Met:
    """A set of integers that grows chunk by chunk, kept as sorted runs, each more than twice as long as the next.

    A single sorted array would be copied for every chunk, so that a list twice as long would take four times as long.

    Example:
        >>> met = Met()
        >>> met.add(np.array([3, 1, 3])).tolist(), met.add(np.array([2, 1])).tolist()
        ([False, False, True], [False, True])
    """

    def __init__(self) -> None:
        self._runs: list[Numbers] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, numbers: Numbers) -> npt.NDArray[np.bool_]:
        """Add numbers and return which of them were there, from an earlier chunk or further up in this one."""
        again = pd.Series(numbers).duplicated().to_numpy(copy=True)
        new = np.sort(numbers[~again])
        known = np.zeros(len(new), bool)
        for run in self._runs:
            known |= _holds(run, new)
        if known.any():
            again |= _holds(new[known], numbers)
            new = new[~known]
        self._keep(new)
        return again

    def _keep(self, run: Numbers) -> None:
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")  # merges what is sorted already
        if len(run):
            self._runs.append(run)


def _holds(run: Numbers, numbers: Numbers) -> npt.NDArray[np.bool_]:
    place = np.searchsorted(run, numbers)
    inside = place < len(run)
    inside[inside] = run[place[inside]] == numbers[inside]
    return inside
