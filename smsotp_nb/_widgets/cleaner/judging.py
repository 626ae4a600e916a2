"""What the phone cleaner does, without a widget: edit with undo, judge a column, write files, ask the owner."""

from __future__ import annotations

import itertools
import re
import tempfile
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ... import phones
from ..._calling import refuse
from ..._cards import Marked, State
from ..._outputs import write_file
from ..._pandas import STR
from ..._phones import (
    Advice,
    Cells,
    Evidence,
    country_name,
    free_names,
    name_of_row,
    text_of,
    vocabulary,
    why_states,
    with_cells,
    without_rows,
)
from ..._results import workbook
from ...errors import SmsOtpError, UsageError
from ...problems import PROBLEMS, in_words
from ..lists import NONE_CHOSEN
from ..stages import sentence

Outcome = Literal["unchanged", "fixed", "unusable", "duplicate", "left out"]
Which = Literal["left out", "usable"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("unchanged", "fixed", "unusable", "duplicate", "left out")
STATES: Final = {
    "unchanged": State("check", "unchanged"),
    "fixed": State("check", "fixed"),
    "unusable": State("cross", "unusable"),
    "duplicate": State("!", "duplicate"),
    "left out": State("!", "left out"),
}
USABLE: Final = ("unchanged", "fixed")
EDITED: Final = "edited"
PROBLEM: Final = "problem:"
PAGE: Final = 5
_REPAIR: Final = re.compile(r"\Arepair '[a-z_0-9]+': ")
_KINDS: Final = {
    "MOBILE": "mobile",
    "FIXED_LINE": "landline",
    "FIXED_LINE_OR_MOBILE": "mobile or landline",
    "VOIP": "internet telephony",
}


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


def coded(value: Any) -> str:
    return f"sms.{value!r}" if isinstance(value, phones.NumberOptions) else quoted(value)


@dataclass(frozen=True, slots=True)
class Question:
    """What to judge: the column of the numbers, that of the countries, the default country, repairs asked for."""

    column: Hashable
    region: Hashable = NONE_CHOSEN
    default_region: str = ""
    repair: tuple[str, ...] = ()

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of ``frame.smsotp.normalize``."""
        given = {
            "region": self.region,
            "default_region": self.default_region,
            "numbers": phones.NumberOptions(self.repair),
        }
        return {name: value for name, value in given.items() if value not in ("", phones.NumberOptions())}

    def line(self) -> str:
        said = "".join(f", {name}={coded(value)}" for name, value in self.arguments().items())
        return f"people.smsotp.normalize({quoted(self.column)}{said})"

    def lines(self, names: Iterable[Hashable]) -> list[str]:
        """Return the lines of code that put the same columns beside a list with columns of these names."""
        taken = {"to", "region", "cc", "type", "problem", "note"} & set(names)
        beside = 'numbers.add_prefix("sms_")' if taken else "numbers"
        return [f"numbers = {self.line()}", f"people.join({beside})"]


@dataclass(frozen=True, slots=True, eq=False)
class Cleaned:
    """A judged list: ``judged`` has ``to, region, cc, type, problem, note, result`` (str) on the list's index.

    ``frame`` is the list with the edits; ``problem`` is why it could not be judged at all, empty otherwise.
    """

    edits: Edits
    frame: pd.DataFrame
    question: Question
    judged: pd.DataFrame
    counts: Mapping[Outcome, int]
    problems: Mapping[str, int]
    evidence: Evidence | None = None
    problem: str = ""
    advice: tuple[str, ...] = ()

    @property
    def table(self) -> pd.DataFrame:
        """The list with the new columns beside its own; one whose name is taken already is called ``sms_...``.

        Where cells were edited, ``edited`` says what they were.
        """
        new = self.judged
        if self.edits.cells:
            told = {place: self.edits.told(place) for place in self.edits.cells}
            new = new.assign(edited=pd.Series([told.get(at) for at in range(len(new))], index=new.index, dtype=STR))
        new = new.rename(columns=free_names(new.columns, self.frame.columns)).reset_index(drop=True)
        return pd.concat([self.frame.reset_index(drop=True), new], axis=1).set_axis(self.frame.index)

    @property
    def left_out(self) -> pd.DataFrame:
        """The rows of ``table`` that the clean list does not have: unusable, repeated and left out."""
        return self.table[~self.is_usable()]

    @property
    def usable(self) -> pd.DataFrame:
        """The rows of ``table`` with a usable number that no row before them has: the clean list."""
        return self.table[self.is_usable()]

    @property
    def clean_rows(self) -> int:
        return sum(self.counts.get(name, 0) for name in USABLE)

    def explained(self) -> pd.DataFrame:
        """Return the rows left out between ``row``, their labels in the list, and ``meaning``, the reason in words."""
        found = self.left_out
        named = free_names(["row", "meaning"], found.columns)
        judged = self.judged[~self.is_usable()]
        words = map(_reason, judged["result"], judged["problem"], judged["note"])
        labels = found.index.map(name_of_row) if isinstance(found.index, pd.MultiIndex) else found.index
        found.insert(0, named["row"], labels)
        found[named["meaning"]] = pd.Series(list(words), index=found.index, dtype=STR)
        return found

    def is_usable(self) -> npt.NDArray[np.bool_]:
        return self.judged["result"].isin(USABLE).to_numpy(bool)


def clean(edits: Edits | pd.DataFrame, question: Question) -> Cleaned:
    """Judge a column of a list with its edits; the list itself is not changed."""
    edits = edits if isinstance(edits, Edits) else Edits(edits)
    frame = edits.frame()
    if question.column == NONE_CHOSEN:
        return Cleaned(edits, frame, question, _nothing(frame), {}, {}, problem="no column is chosen")
    asked = question.arguments()
    region = frame[asked.pop("region")] if "region" in asked else None
    try:
        if region is not None:
            refuse(why_states(frame[question.column], region, asked.get("default_region")))
        evidence = phones.weigh_column(frame[question.column], region=region, **asked)
        asked["numbers"] = phones.NumberOptions(question.repair, evidence=evidence)
        judged = phones.normalize(frame[question.column], region=region, **asked)
    except SmsOtpError as error:
        return Cleaned(edits, frame, question, _nothing(frame), {}, {}, problem=str(error))
    advice = Advice()
    advice.add(
        judged,
        frame[question.column],
        region=region,
        default_region=asked.get("default_region"),
        numbers=asked["numbers"],
    )
    gone = np.isin(np.arange(len(frame)), list(edits.left_out))
    judged["result"] = _outcomes(edits.source[question.column], judged["to"], gone)
    _name_duplicates(judged)
    counts = judged["result"].value_counts().to_dict()
    problems = judged.loc[(judged["result"] == "unusable").to_numpy(), "problem"].value_counts().to_dict()
    ordered = {code: int(problems[code]) for code in vocabulary.PROBLEMS if code in problems}
    outcomes = {name: int(counts.get(name, 0)) for name in OUTCOMES}
    return Cleaned(edits, frame, question, judged, outcomes, ordered, evidence, advice=advice.told())


@dataclass(frozen=True, slots=True)
class RowView:
    """One row as the form shows it: what it is called, its number before and after, its country, and why."""

    place: int
    name: str
    before: Marked
    after: Marked
    country: str
    state: State
    why: str
    edited: str = ""


def rows(cleaned: Cleaned, shown: str, *, find: str = "", page: int = 0) -> tuple[list[RowView], int]:
    """Return one page of the rows that are asked for, and how many there are.

    Args:
        shown: ``""`` for all rows, a result, ``"edited"``, or ``"problem:CODE"``.
        find: only rows whose number or label has these characters.
    """
    places = _places(cleaned, shown, find.strip().lower())
    here = places[page * PAGE : (page + 1) * PAGE]
    return [_view(cleaned, int(place)) for place in here], len(places)


def filters(cleaned: Cleaned | None) -> list[tuple[str, str]]:
    """Return what rows can be shown, as (label with their number, key)."""
    if cleaned is None:
        return [("all rows", "")]
    made = [(f"all rows ({len(cleaned.judged):,})", "")]
    for name in ("unusable", "duplicate", "fixed", "unchanged", "left out"):
        made += [(f"{name} ({cleaned.counts.get(name, 0):,})", name)]
    if cleaned.edits.cells:
        made.append((f"edited ({len(cleaned.edits.cells):,})", EDITED))
    return made + [(f"{in_words(code)} ({count:,})", PROBLEM + code) for code, count in cleaned.problems.items()]


def marked(before: str, after: str) -> tuple[Marked, Marked]:
    """Return both texts in pieces: what was taken away in the first, what was added in the second."""
    old: list[tuple[str, Literal["", "ins", "del"]]] = []
    new: list[tuple[str, Literal["", "ins", "del"]]] = []
    for what, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        old += [(before[a:b], "" if what == "equal" else "del")] * (b > a)
        new += [(after[c:d], "" if what == "equal" else "ins")] * (d > c)
    return Marked(tuple(old)), Marked(tuple(new))


def export(cleaned: Cleaned, name: str, *, which: Which = "left out") -> tuple[bytes, int]:
    """Return the clean list, or the rows left out with their reasons, as a file of this name, and its number of rows.

    Cells that a spreadsheet would run as formulas are made harmless; E.164 numbers stay whole.

    Raises:
        UsageError: the name ends in something else than ``.csv``, ``.tsv`` or ``.xlsx``; more rows than a sheet holds.
    """
    rows = cleaned.explained() if which == "left out" else cleaned.usable

    def write(file: Path) -> None:
        with workbook.growing(file) as (table,):
            table.add(rows)

    return _content(name, write), len(rows)


def _content(name: str, write: Callable[[Path], object]) -> bytes:
    """Return what is written to a file, which is on the disk, for this user only, while it is written."""
    with tempfile.TemporaryDirectory(prefix="smsotp-") as folder:
        write(Path(folder) / name)
        return (Path(folder) / name).read_bytes()


def judged_alone(cleaned: Cleaned, place: int, number: str, country: str) -> tuple[bool, str]:
    """Say in words what becomes of a row with another number or country: whether it can be texted, and why."""
    asked = cleaned.question.arguments()
    region = [country or None] if "region" in asked else None
    reading = phones.NumberOptions(cleaned.question.repair, evidence=cleaned.evidence or "none")
    row = phones.normalize([number], **{**asked, "region": region, "numbers": reading}).iloc[0]
    if pd.isna(row["to"]):
        return False, _why(row["problem"], None)
    same = np.flatnonzero((cleaned.judged["to"] == row["to"]).to_numpy(bool))
    others = [cleaned.edits.name(int(at)) for at in same if at != place and int(at) not in cleaned.edits.left_out]
    again = f"; the number of row {others[0]}" if others else ""
    return True, f"{row['to']}, {country_name(str(row['region']))}, {_KINDS.get(row['type'], 'phone')}{again}"


def _places(cleaned: Cleaned, shown: str, find: str) -> npt.NDArray[np.intp]:
    judged = cleaned.judged
    if shown == EDITED:
        places = np.array(sorted(cleaned.edits.cells), np.intp)
    elif shown.startswith(PROBLEM):
        code = (judged["problem"] == shown.removeprefix(PROBLEM)) & (judged["result"] == "unusable")
        places = np.flatnonzero(code.to_numpy(bool))
    else:
        places = np.flatnonzero((judged["result"] == shown).to_numpy(bool)) if shown else np.arange(len(judged))
    if not find:
        return places
    texts = cleaned.frame[cleaned.question.column].astype(STR).iloc[places]
    has = texts.str.lower().str.contains(find, regex=False, na=False).to_numpy(bool)
    has = has | judged["to"].iloc[places].str.contains(find, regex=False, na=False).to_numpy(bool)
    has = has | np.array([cleaned.edits.name(int(place)).lower() == find for place in places], bool)
    return np.asarray(places[has], np.intp)


def _outcomes(before: pd.Series, to: pd.Series, gone: npt.NDArray[np.bool_]) -> pd.Series:
    usable = to.notna()
    result: pd.Series = pd.Series("fixed", index=to.index, dtype=STR)
    result = result.mask((before.astype(STR).to_numpy() == to.to_numpy()) & usable, "unchanged")
    repeated = to.mask(gone).duplicated()
    return result.mask(usable & repeated, "duplicate").mask(~usable, "unusable").mask(gone, "left out")


def _name_duplicates(judged: pd.DataFrame) -> None:
    """Name the row that a duplicate repeats, as planning does."""
    again = (judged["result"] == "duplicate").to_numpy(bool)
    first = judged["result"].isin(USABLE).to_numpy(bool)
    label_of = dict(zip(judged["to"][first], judged.index[first], strict=True))
    named = pd.Series([f"DUPLICATE_OF:{name_of_row(label_of[to])}" for to in judged["to"][again]], dtype=STR)
    judged["problem"] = judged["problem"].mask(again, "DUPLICATE_OF")
    notes = judged["note"].to_numpy(dtype=object, copy=True)
    notes[again] = named.to_numpy(dtype=object)
    judged["note"] = pd.Series(notes, index=judged.index, dtype=STR)


def _nothing(frame: pd.DataFrame) -> pd.DataFrame:
    names = ("to", "region", "cc", "type", "problem", "note")
    empty = pd.DataFrame({name: pd.Series(None, index=frame.index, dtype=STR) for name in names})
    return empty.assign(result=pd.Series("unusable", index=frame.index, dtype=STR))


def _view(cleaned: Cleaned, place: int) -> RowView:
    row, question = cleaned.judged.iloc[place], cleaned.question
    outcome = str(row["result"])
    cell = cleaned.frame[question.column].iat[place]
    before = text_of(cell) or ""
    after = str(row["to"]) if isinstance(row["to"], str) and outcome != "unusable" else ""
    old, new = marked(before, after) if after and outcome != "left out" else (_same(before), _same(after))
    country = "" if question.region == NONE_CHOSEN else text_of(cleaned.frame[question.region].iat[place]) or ""
    name, told = cleaned.edits.name(place), cleaned.edits.told(place)
    why = _reason(row["result"], row["problem"], row["note"])
    why = sentence(why) if why else ""
    if row["result"] == "unusable" and isinstance(row["problem"], str):
        why += f" Edit the row, or {PROBLEMS[row['problem']].next_step}."
    return RowView(place, name, old, new, country, STATES[outcome], why, told)


def _reason(result: Any, problem: Any, note: Any) -> str:
    if result == "left out":
        return "left out here or by the owner of the list"
    return "" if result == "unchanged" else _why(problem, note)


def _same(text: str) -> Marked:
    return Marked(((text, ""),) if text else ())


def _why(problem: Any, note: Any) -> str:
    if isinstance(note, str) and note.startswith("DUPLICATE_OF:"):
        return f"the number of row {note.removeprefix('DUPLICATE_OF:')}"
    if isinstance(problem, str):
        return in_words(problem)
    codes: Sequence[str] = note.split() if isinstance(note, str) else ()
    return "; ".join(_REPAIR.sub("", vocabulary.meaning_of_note(code)) for code in codes)


def quoted(value: Any) -> str:
    return (
        repr(value).replace("'", '"')
        if isinstance(value, str) and "'" not in value and '"' not in value
        else repr(value)
    )


def ask(cleaned: Cleaned, name: str, *, keep: Iterable[Hashable] = ()) -> bytes:
    """Return a workbook with the unusable rows for the owner of the list."""
    asked, gone = cleaned.question, cleaned.edits.left_out

    def write(file: Path) -> None:
        phones.ask_owner(
            without_rows(cleaned.frame, gone),
            without_rows(cleaned.judged, gone),
            file,
            phone=asked.column,
            region=None if asked.region == NONE_CHOSEN else asked.region,
            keep=keep,
        )

    return _content(name, write)


def merge(cleaned: Cleaned, edits: Edits, name: str, content: bytes) -> tuple[phones.Answers, Step]:
    """Read the workbook as it came back; return what became of the answers, and those that were taken as one step."""
    column, asked = cleaned.question.column, cleaned.question.arguments()
    people = without_rows(edits.frame(), edits.left_out)
    with tempfile.TemporaryDirectory(prefix="smsotp-") as folder:
        file = Path(folder) / name
        write_file(file, lambda made: made.write(content))
        try:
            answers = phones.merge_answers(people, file, phone=column, **asked)
        except SmsOtpError as error:
            raise UsageError(str(error).replace(f"{folder}/", "")) from None
    said = "".join(f", {key}={coded(value)}" for key, value in {"phone": column, **asked}.items())
    code = f"{PEOPLE}sms.phones.merge_answers(people, {name!r}{said}).people"
    places = {label: place for place, label in enumerate(edits.source.index.tolist())}
    return answers, Step({places[label]: cells for label, cells in answers.edits.items()}, code)
