"""Cells of a list replaced and rows left out, without touching the list that was given."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from ..._calling import given, in_our_words, not_frame, not_mapping, refuse
from ..._frames import AnyFrame, as_pandas
from ..._pandas import STR
from ...columns import require
from ...errors import UsageError

Cells = Mapping[Hashable, Any]
SHOWN: Final = 3


@in_our_words
def edit(people: AnyFrame, edits: Mapping[Hashable, Cells | None]) -> pd.DataFrame:
    """Return a list with some cells replaced and some rows left out; the list that was given is not changed.

    Args:
        people: the list.
        edits: by row label, the new cells by column, or None for a row that is left out. With
            ``read_recipients(path, numbered=True)`` the labels are the rows of the file as a spreadsheet counts them.

    Returns:
        A frame on the index of the rows that stay. A column that was given text becomes one of text where it held
        something else.

    Raises:
        UsageError: a label that is not there or stands more than once, or a column that is not there.

    Example:
        >>> people = pd.DataFrame({"phone": ["n/a", "+14155550100", "???"]}, index=[2, 3, 4])
        >>> edit(people, {2: {"phone": "+1 202 555 0123"}, 4: None})
                     phone
        2  +1 202 555 0123
        3     +14155550100
    """
    people = as_pandas(people)
    refuse(not_frame("people", people), not_mapping("edits", edits, example="{17: {'country': 'DE'}}"))
    places = places_of(people.index, list(edits))
    changed = dict(zip(places, edits.values(), strict=True))
    for label, cells in edits.items():
        refuse(_not_cells(label, cells))
    left_out = {place for place, cells in changed.items() if cells is None}
    kept = with_cells(people, {place: cells for place, cells in changed.items() if cells is not None})
    return without_rows(kept, left_out)


def places_of(index: pd.Index, labels: list[Hashable]) -> list[int]:
    """Return where these labels stand.

    Raises:
        UsageError: a label is not there, or stands more than once.
    """
    by_label: dict[Hashable, list[int]] = {label: [] for label in labels}
    for place in np.flatnonzero(index.isin(labels)).tolist() if labels else ():
        by_label[index[place]].append(place)
    missing = [label for label, at in by_label.items() if not at]
    if missing:
        raise UsageError(f"the list has no row {_labels(missing)}; rows are named by their labels, people.index")
    repeated = [label for label, at in by_label.items() if len(at) > 1]
    if repeated:
        raise UsageError(
            f"more than one row is called {_labels(repeated)}; give each row a label of its own first, "
            "people = people.reset_index(drop=True)"
        )
    return [at[0] for at in by_label.values()]


def with_cells(people: pd.DataFrame, cells: Mapping[int, Cells]) -> pd.DataFrame:
    """Return the list with these cells (by place, then column) replaced."""
    by_column: dict[Hashable, dict[int, Any]] = {}
    for place, row in cells.items():
        for column, cell in row.items():
            by_column.setdefault(column, {})[place] = cell
    changed = people.copy()
    for column, new in by_column.items():
        require(column, people.columns)
        changed[column] = _replaced(people[column], new)
    return changed


def without_rows(people: pd.DataFrame, places: Collection[int]) -> pd.DataFrame:
    """Return the list without the rows at these places."""
    return people.iloc[np.setdiff1d(np.arange(len(people)), list(places))] if places else people


def _replaced(column: pd.Series, new: Mapping[int, Any]) -> pd.Series:
    cells = column.to_numpy(dtype=object, copy=True)
    cells[list(new)] = list(new.values())
    text = isinstance(column.dtype, pd.StringDtype) and all(isinstance(cell, str | None) for cell in new.values())
    return pd.Series(cells, index=column.index, name=column.name, dtype=STR if text else object)


def _not_cells(label: Hashable, cells: object) -> str | None:
    if cells is None or isinstance(cells, Mapping):
        return None
    return f"edits of row {label!r} must be a dict such as {{'country': 'DE'}}, or None, got {given(cells)}"


def _labels(labels: list[Hashable]) -> str:
    more = f" and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else ""
    return ", ".join(map(repr, labels[:SHOWN])) + more
