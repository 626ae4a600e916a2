"""Which numbers were met before: eight bytes each, whatever the length of the list."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

Numbers = npt.NDArray[np.int64]


class Met:
    """A set of whole numbers that grows chunk by chunk, as sorted runs of which each is more than twice the next.

    Adding to one sorted array would move all of it for every chunk: twice the list, four times the time.

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
