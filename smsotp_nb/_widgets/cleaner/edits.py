"""What was changed in a list beside its file: cells typed in the form, rows left out, answers; with undo."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import pandas as pd

from ..._pandas import STR
from ..._phones import Cells, name_of_row, text_of, with_cells

PEOPLE: Final = "people = "
COLUMNS: Final = ("row", "column", "before", "after")


@dataclass(frozen=True, slots=True)
class Step:
    """One gesture: by place, new cells by column, or None for a row left out; and the code of one that has its own."""

    changes: Mapping[int, Cells | None]
    code: str = ""


@dataclass(frozen=True, slots=True)
class Edits:
    """A list and the steps taken since it was read; the list itself is never changed."""

    source: pd.DataFrame
    steps: tuple[Step, ...] = ()

    def after(self, step: Step) -> Edits:
        return replace(self, steps=(*self.steps, step))

    def undone(self) -> Edits:
        return replace(self, steps=self.steps[:-1])

    @property
    def cells(self) -> dict[int, Cells]:
        """The new cells by place and column; a cell that was put back as it was is none."""
        found = _together(self.steps)[0]
        changed = {place: self._changed(place, row) for place, row in found.items()}
        return {place: row for place, row in changed.items() if row}

    @property
    def left_out(self) -> set[int]:
        """The places of the rows left out."""
        return _together(self.steps)[1]

    def frame(self) -> pd.DataFrame:
        """Return the list with its new cells; rows that are left out are still in it."""
        cells = self.cells
        return with_cells(self.source, cells) if cells else self.source

    def record(self) -> pd.DataFrame:
        """Return what was changed: ``row``, ``column``, ``before``, ``after`` (str); a row left out has no column."""
        rows: list[tuple[str, str | None, str | None, str | None]] = []
        for place, row in sorted(self.cells.items()):
            rows += [(self.name(place), str(name), self._was(place, name), text_of(cell)) for name, cell in row.items()]
        rows += [(self.name(place), None, None, "left out") for place in sorted(self.left_out)]
        return pd.DataFrame(rows, columns=list(COLUMNS), dtype=STR)

    def told(self, place: int) -> str:
        row = self.cells.get(place, {})
        return "; ".join(f"{name} was {self._was(place, name) or 'blank'}" for name in row)

    def name(self, place: int) -> str:
        return name_of_row(self.source.index[place])

    def code(self) -> list[str]:
        if not self.steps:
            return []
        unique = self.source.index.is_unique
        labels = self.source.index.tolist() if unique else list(range(len(self.source)))
        first = [] if unique else [f"{PEOPLE}people.reset_index(drop=True)"]
        return [*first, *(group[0].code or _line(group, labels) for group in self._groups())]

    def _groups(self) -> list[tuple[Step, ...]]:
        """Return the steps as one line of code each can do them: those with code of their own alone."""
        alone = itertools.groupby(self.steps, key=lambda step: step.code)
        groups = [tuple(group) for _, group in alone]
        gone = set().union(*(_together(group)[1] for group in groups))
        return groups if gone == self.left_out else [tuple(replace(step, code="") for step in self.steps)]

    def _changed(self, place: int, row: Cells) -> Cells:
        return {name: cell for name, cell in row.items() if self._was(place, name) != text_of(cell)}

    def _was(self, place: int, name: Hashable) -> str | None:
        return text_of(self.source[name].iat[place])


def _line(steps: tuple[Step, ...], labels: list[Any]) -> str:
    cells, left_out = _together(steps)
    said: dict[Any, Any] = {labels[place]: dict(row) for place, row in cells.items() if place not in left_out}
    said |= {labels[place]: None for place in sorted(left_out)}
    return f"{PEOPLE}sms.phones.edit(people, {said!r})"


def _together(steps: tuple[Step, ...]) -> tuple[dict[int, Cells], set[int]]:
    """Return what all steps come to: the cells, and the rows left out; a row that is edited again is in again."""
    cells: dict[int, Cells] = {}
    left_out: set[int] = set()
    for step in steps:
        for place, row in step.changes.items():
            if row is None:
                left_out.add(place)
            else:
                left_out.discard(place)
                cells[place] = {**cells.get(place, {}), **row}
    return {place: row for place, row in cells.items() if row}, left_out
