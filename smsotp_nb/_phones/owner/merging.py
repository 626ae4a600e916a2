"""Cells of a list replaced and rows left out; the answers of its owner merged back, each judged again."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd

from ..._calling import given, in_our_words, not_frame, not_mapping, not_path, refuse
from ..._cards import Card, Figures, Note, State, Table, WithCard, and_more, counted
from ..._frames import AnyFrame, as_pandas
from ..._outputs import StrPath
from ..._pandas import STR
from ...columns import require
from ...errors import UsageError
from ...problems import in_words
from ..judging.judgement import normalize
from ..judging.policy import NumberOptions, not_reading
from ..judging.several import duplicates
from .questions import Reply, answers_in, names_of_rows, text_of

CORRECTED, LEFT_OUT, NO_ANSWER, ALREADY = "corrected", "left out", "no answer", "already in the list"
UNUSABLE, CHANGED, UNKNOWN, UNCLEAR = "still unusable", "changed meanwhile", "not in the list", "unclear"
REFUSED: Final = (UNUSABLE, CHANGED, UNKNOWN, UNCLEAR)
SHOWN: Final = 20
NAMED: Final = 3  # rows in an error
COLUMNS: Final = ("row", "number", "new_number", "new_country", "result", "meaning")

Cells = Mapping[Hashable, Any]


@dataclass(frozen=True, slots=True)
class Answers(WithCard):
    """A list with its owner's answers, and what became of each.

    Attributes:
        people: the list with the answers; rows that the owner left out are gone.
        answers: one row for each row of the workbook, on the index ``answer_row`` (its row there): ``row`` (in the
            list), ``number``, ``new_number``, ``new_country``, ``result``, ``meaning`` (all str). ``result`` is one of
            corrected, left out, no answer, already in the list, still unusable, changed meanwhile, not in the list,
            unclear; of the last four nothing was taken, and ``meaning`` says why.
        edits: what was taken, by row label, as ``edit`` takes it.
        unusable: rows of ``people`` that still cannot be texted.

    Example:
        >>> Answers(pd.DataFrame({"phone": []}), pd.DataFrame(columns=["row", "result", "meaning"]), {}, 0)
        Answers
        0 answers. The list as it was is unchanged.
        <BLANKLINE>
        0  corrected
        0  left out
        0  without an answer
        0  not taken
        0  rows still unusable
    """

    people: pd.DataFrame
    answers: pd.DataFrame
    edits: Mapping[Hashable, Mapping[Hashable, Any] | None]
    unusable: int

    @property
    def refused(self) -> pd.DataFrame:
        """The answers of which nothing was taken."""
        return self.answers[self.answers["result"].isin(REFUSED)]

    def card(self) -> Card:
        """Return the answers as a card; it shows rows and reasons, no numbers."""
        counts = self.answers["result"].value_counts().to_dict()
        refused = self.refused
        figures = (
            ("corrected", counts.get(CORRECTED, 0)),
            ("left out", counts.get(LEFT_OUT, 0)),
            ("without an answer", counts.get(NO_ANSWER, 0)),
            ("not taken", len(refused)),
            ("rows still unusable", self.unusable),
        )
        state = f"{counted(len(self.answers), 'answer')}. The list as it was is unchanged."
        closing = "Write another workbook for what is still unusable." if self.unusable else ""
        return Card("Answers", state, (Figures(figures), *_told(refused)), closing)

    def __repr__(self) -> str:
        return str(self)


@in_our_words
def merge_answers(
    people: AnyFrame,
    path: StrPath,
    *,
    phone: Hashable,
    region: Hashable | None = None,
    default_region: str | None = None,
    numbers: NumberOptions = NumberOptions(),
) -> Answers:
    """Merge the workbook of ``ask_owner`` back into the list once its owner has filled it in.

    The workbook may have its columns in another order, fewer rows, and other sheets. Each new number is judged again,
    with its new country or the one of its row; one that cannot be texted either is not taken. Nor is the answer for a
    row in which the list has another number by now. The list that was given is not changed.

    Args:
        people: the list, with the row labels that it had when the workbook was written.
        path: of the workbook as it came back.
        phone: the column of numbers.
        region: the column of countries. Without one, a new country is used to write the number as E.164.
        default_region: as in ``normalize``.
        numbers: as in ``normalize``.

    Raises:
        UsageError: no workbook, or one without questions; a missing column; row labels that repeat.

    Example:
        >>> import tempfile
        >>> from openpyxl import load_workbook
        >>> from smsotp_nb import phones
        >>> people = pd.DataFrame({"phone": ["+14155550100", "555-0100"]}, index=[2, 3])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = phones.ask_owner(people, phones.normalize(people["phone"]), f"{folder}/ask.xlsx", phone="phone")
        ...     book = load_workbook(file)
        ...     book.active["E10"] = "+1 202 555 0100"  # the owner's answer, under "New number"
        ...     book.save(file)
        ...     merged = merge_answers(people, file, phone="phone")
        >>> merged.people["phone"].tolist(), merged.edits
        (['+14155550100', '+1 202 555 0100'], {3: {'phone': '+1 202 555 0100'}})
    """
    people = as_pandas(people)
    refuse(not_frame("people", people), not_path("path", path, example="'questions.xlsx'"), not_reading(numbers))
    for name in (phone, *([] if region is None else [region])):
        require(name, people.columns)
    asked = {"default_region": default_region, "numbers": numbers}
    return _Merge(people, phone, region, asked).of(answers_in(path))


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What becomes of a reply: a result and its meaning; and the cells it brings, None where its row goes."""

    reply: Reply
    result: str
    meaning: str = ""
    place: int = -1
    cells: Cells | None = None


@dataclass(frozen=True, slots=True)
class _Merge:
    """The list, its columns, and how its numbers are judged."""

    people: pd.DataFrame
    phone: Hashable
    region: Hashable | None
    asked: dict[str, Any]

    def of(self, found: list[Reply]) -> Answers:
        names = names_of_rows(self.people.index)
        places = {name: place for place, name in enumerate(names)}
        read = [self._read(reply, places) for reply in found]
        outcomes, unusable = self._judged(_without_contradictions(read), names)
        taken = {one.place: one.cells for one in outcomes if one.result in (CORRECTED, LEFT_OUT)}
        labels = self.people.index[list(taken)].tolist()
        people = with_cells(self.people, {place: cells for place, cells in taken.items() if cells is not None})
        gone = {place for place, cells in taken.items() if cells is None}
        edits = dict(zip(labels, taken.values(), strict=True))
        return Answers(without_rows(people, gone), _table(outcomes), edits, unusable)

    def _read(self, reply: Reply, places: Mapping[str, int]) -> _Outcome:
        """Say what a reply asks for, before any number is judged."""
        if reply.blank:
            return _Outcome(reply, NO_ANSWER)
        place = places.get(reply.row)
        if place is None:
            return _Outcome(reply, UNKNOWN, f"the list has no row {reply.row}" if reply.row else "it names no row")
        unclear = reply.unclear()
        if unclear:
            return _Outcome(reply, UNCLEAR, unclear)
        there = text_of(self.people[self.phone].iat[place]) or ""
        if not reply.is_about(there):
            same = bool(reply.new_number) and reply.new_number.split() == there.split()
            return _Outcome(
                reply, ALREADY if same else CHANGED, "" if same else "the list has another number there now"
            )
        return _Outcome(reply, CORRECTED, place=place, cells=None if reply.leaves_out else self._cells(reply))

    def _cells(self, reply: Reply) -> Cells:
        cells: dict[Hashable, Any] = {self.phone: reply.new_number} if reply.new_number else {}
        if reply.new_country and self.region is not None:
            cells[self.region] = reply.new_country
        return cells

    def _judged(self, read: list[_Outcome], names: list[str]) -> tuple[list[_Outcome], int]:
        """Judge the list with all answers; those whose rows cannot be texted are not taken."""
        asked = {one.place: one for one in read if one.result == CORRECTED}
        changed = with_cells(self.people, {place: one.cells for place, one in asked.items() if one.cells is not None})
        judged = normalize(changed[self.phone], region=self._regions(changed, asked), **self.asked)
        left = without_rows(judged.set_axis(range(len(judged))), {at for at, one in asked.items() if one.cells is None})
        first = duplicates(left["to"]).dropna()
        again = {int(place): names[int(of)] for place, of in zip(first.index, first, strict=True)}
        return [self._told(one, judged, again) for one in read], int(left["to"].isna().sum())

    def _regions(self, changed: pd.DataFrame, asked: Mapping[int, _Outcome]) -> pd.Series | None:
        if self.region is not None:
            return changed[self.region]
        given = {place: one.reply.new_country for place, one in asked.items() if one.reply.new_country}
        if not given:
            return None
        regions = pd.Series(None, index=range(len(changed)), dtype=object)
        regions.iloc[list(given)] = list(given.values())
        return regions.astype(STR).set_axis(changed.index)

    def _told(self, one: _Outcome, judged: pd.DataFrame, again: Mapping[int, str]) -> _Outcome:
        if one.result != CORRECTED:
            return one
        if one.cells is None:
            return replace(one, result=LEFT_OUT)
        row = judged.iloc[one.place]
        if pd.isna(row["to"]):
            return replace(one, result=UNUSABLE, meaning=in_words(str(row["problem"])))
        if one.reply.new_country and self.region is None:
            one = replace(one, cells={self.phone: str(row["to"])})
        words = [f"the number of row {again[one.place]}"] if one.place in again else []
        words += ["a spreadsheet took it for a number; check that no zero is missing"] * one.reply.as_number
        return replace(one, meaning="; ".join(words))


def _without_contradictions(read: list[_Outcome]) -> list[_Outcome]:
    """Take the same answer for a row once, and of different ones none."""
    by_place: dict[int, list[Cells | None]] = {}
    for one in read:
        if one.result == CORRECTED and one.cells not in by_place.setdefault(one.place, []):
            by_place[one.place].append(one.cells)
    told = "the workbook has more than one answer for this row"
    several = {place for place, answers in by_place.items() if len(answers) > 1}
    return [
        _Outcome(one.reply, UNCLEAR, told) if one.result == CORRECTED and one.place in several else one for one in read
    ]


def _table(outcomes: list[_Outcome]) -> pd.DataFrame:
    index = pd.Index([one.reply.at for one in outcomes], name="answer_row", dtype="int64")
    cells = [
        (one.reply.row, one.reply.number, one.reply.new_number, one.reply.new_country, one.result, one.meaning)
        for one in outcomes
    ]
    table = pd.DataFrame(cells, index=index, columns=list(COLUMNS), dtype=STR)
    return table.mask(table == "")


def _told(refused: pd.DataFrame) -> list[Table | Note]:
    """Return the answers of which nothing was taken as a table; their meaning is in words."""
    if refused.empty:
        return []
    rows = tuple(
        (
            str(row.row) if isinstance(row.row, str) else "",
            f"{row.Index:,}",
            State("cross", str(row.result)),
            str(row.meaning),
        )
        for row in refused.head(SHOWN).itertuples()
    )
    more = and_more(len(refused) - SHOWN, ".refused")
    heads = ("Row of the list", "Row of the workbook", "Result", "Why")
    return [Table(heads, rows, ("left", "right", "left", "left"), title="Not taken", more=more)]


@in_our_words
def edit(people: AnyFrame, edits: Mapping[Hashable, Cells | None]) -> pd.DataFrame:
    """Return a list with some cells replaced and some rows left out; the list that was given is not changed.

    Args:
        people: the list.
        edits: by row label, the new cells by column, or None for a row that is left out. With
            ``read_recipients(path)`` the labels are the rows of the file as a spreadsheet counts them.

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
    more = f" and {len(labels) - NAMED:,} more" if len(labels) > NAMED else ""
    return ", ".join(map(repr, labels[:NAMED])) + more
