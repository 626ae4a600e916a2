"""Who is in which segment, and which segment goes first where a person stands in several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import _templates as templates
from .._calling import given, refuse
from .._results import contract
from ..columns import absent, nearest
from .wording import Wording, label_of, listed

Ints = npt.NDArray[np.int64]
NAME: Final = "segment"  # of the column that is kept, where ``by`` is a Series without a name
UNKNOWN: Final = -1
BLANK: Final = -2
# Notes on a row of a person whose row of another segment is planned: which segment that is, and why.
BY_PRIORITY: Final = "SEGMENT_PRIORITY:"
BY_ORDER: Final = "SEGMENT_FIRST:"
# Columns of a plan's own frames, beside those of the results.
OURS: Final = ("body", "note", "messages", "bodies", "rate", "est_low", "est_high", "confidence")
_LOOKED_AT: Final = 1_000  # rows, for the column that was meant


@dataclass(frozen=True, slots=True)
class Segments:
    """The segment of every row.

    ``codes`` has the position of each row's segment in ``labels``, or UNKNOWN or BLANK; ``values`` (str, indexed from
    0) the text of its cell as it is compared. ``column`` is the name under which the segments are carried into the
    results; ``priority`` has the labels that go first, in order.
    """

    name: str
    labels: tuple[str, ...]
    codes: Ints
    values: pd.Series[str]
    column: pd.Series[Any]
    priority: tuple[str, ...]

    @property
    def ranks(self) -> Ints:
        """The rank of every row: the lower goes first."""
        places = [self.priority.index(label) if label in self.priority else len(self.priority) for label in self.labels]
        return np.array([*places, len(places), len(places)], dtype=np.int64)[self.codes]

    def said_of(self, copies: npt.NDArray[np.intp], firsts: npt.NDArray[np.intp]) -> npt.NDArray[np.object_]:
        """Return what is added to the notes of rows whose person is texted as another row of another segment."""
        names = np.array([*self.labels, ""], dtype=object)[self.codes[firsts]]
        lost, won = self.ranks[copies], self.ranks[firsts]
        why = np.where(won < lost, f" {BY_PRIORITY}", f" {BY_ORDER}").astype(object)
        return np.where(self.codes[copies] == self.codes[firsts], "", why + names)


def as_labels(column: pd.Series[Any]) -> pd.Series[str]:
    """Return the cells of a column as they are compared: as text, without blanks around it."""
    return templates.as_text(column).str.strip()


def not_columns(frame: pd.DataFrame, by: Any, wording: Wording, priority: Any) -> list[str]:
    """Report arguments that do not go together, and a ``by`` or ``priority`` that names what is not there."""
    labels = wording.segments
    if not labels:
        message = "message is one for everybody; by= needs a dict with one for each segment"
        alone = "priority= says which segment goes first; it needs by= and a dict with a message for each segment"
        given_priority = not (isinstance(priority, list | tuple) and not priority)
        return [message] * (by is not None) + [alone] * (by is None and given_priority)
    if by is None:
        column = f"the column that holds each row's segment{_meant_column(frame, labels)}"
        return [f"message is a dict by segment; say by=, {column}"]
    _, wrong = _priority(priority, labels)
    name = by if isinstance(by, str) else _name(by) if isinstance(by, pd.Series) else None
    if name in contract.ALL or name in OURS:
        wrong.append(f"by=: {name!r} is a column of the results or the estimate, too; rename yours first")
    if isinstance(by, pd.Series):
        other = "by= is a Series on another index than the recipients; take it from the same frame"
        return wrong if by.index.equals(frame.index) else [other, *wrong]
    if not isinstance(by, str):
        return [f"by= must be a column's name or a Series, got {given(by)}", *wrong]
    missing = absent(by, frame.columns)
    return [f"by=: {missing}"] if missing else wrong


def read(frame: pd.DataFrame, by: Any, wording: Wording, priority: Any, kept: Sequence[str]) -> Segments | None:
    """Return who is in which segment; None where there are none. ``by`` and ``priority`` are as they have to be.

    Raises:
        UsageError: nobody is in a segment, or ``by`` and a kept column of its name differ.
    """
    labels = wording.segments
    if not labels:
        return None
    name = by if isinstance(by, str) else _name(by)
    column = frame[by] if isinstance(by, str) else by
    texts = templates.as_text(column).reset_index(drop=True)
    values = texts.str.strip()
    codes = _codes(values, labels)
    differs = not isinstance(by, str) and name in kept and not by.equals(frame[name])
    refuse(
        f"by= and keep= both name a column {name!r}, and they differ; rename one" if differs else None,
        _nobody(name, values, labels) if len(codes) and (codes < 0).all() else None,
    )
    # Blanks around a label would make two groups of one in the results.
    carried = column if texts.equals(values) else values.set_axis(frame.index)
    return Segments(name, labels, codes, values, carried.rename(name), _priority(priority, labels)[0])


def placed(found: Segments, column: pd.Series[str]) -> Segments:
    """Return the segments of other rows: of these cells, which hold text."""
    values = as_labels(column).reset_index(drop=True)
    carried = values.set_axis(column.index).rename(found.name)
    return Segments(found.name, found.labels, _codes(values, found.labels), values, carried, found.priority)


def _name(by: pd.Series[Any]) -> str:
    return by.name if isinstance(by.name, str) and by.name.strip() else NAME


def _meant_column(frame: pd.DataFrame, labels: tuple[str, ...]) -> str:
    """Suggest a column whose cells are these labels."""
    for name in frame.columns:
        if isinstance(name, str) and not absent(name, frame.columns):
            found = as_labels(frame[name].head(_LOOKED_AT)).dropna()
            if 2 * int(found.isin(labels).sum()) > len(found) > 0:
                return f"; did you mean by={name!r}?"
    return ""


def _codes(values: pd.Series[str], labels: tuple[str, ...]) -> Ints:
    number = {label: place for place, label in enumerate(labels)}
    codes, distinct = pd.factorize(values)
    places = np.array([*(number.get(label, UNKNOWN) for label in distinct.tolist()), BLANK], dtype=np.int64)
    return places[codes]


def _priority(priority: Any, labels: tuple[str, ...]) -> tuple[tuple[str, ...], list[str]]:
    if not isinstance(priority, list | tuple):
        return (), [f"priority= must be a list of segments, the first goes first, got {given(priority)}"]
    found = [(label, label_of(label)) for label in priority]
    wrong = [
        f"priority=: no segment {given(asked)}{meant(asked, labels)} (segments: {listed(labels)})"
        for asked, label in found
        if label not in labels
    ]
    named = tuple(label for _, label in found if label is not None)
    if not wrong and len(set(named)) < len(named):
        wrong.append("priority= names a segment twice")
    return named, wrong


def _nobody(name: str, values: pd.Series[str], labels: tuple[str, ...]) -> str:
    """Return the message that no row is in any of the segments, with the labels that there are instead."""
    there = values.dropna().value_counts().index.tolist()
    if not there:
        return f"by=: every cell of {name!r} is blank, so no row is in a segment of the message ({listed(labels)})"
    close = next((hint for label in there if (hint := meant(label, labels))), "")
    return f"by=: no row of {name!r} is in a segment of the message ({listed(labels)}); it holds {listed(there)}{close}"


def meant(label: Any, labels: Sequence[str]) -> str:
    """Return ``; did you mean ...?`` with the nearest label there is, or nothing."""
    close = nearest(str(label), labels)
    return f"; did you mean {close!r}?" if close is not None else ""
