"""What the phone cleaner does, without a widget: judge a column, say what became of each row, show the difference."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import phones
from .._cards import Marked, State, Table
from .._pandas import STR
from .._phones import vocabulary
from .._phones.beside import free_names
from .._results import streaming
from ..errors import SmsOtpError
from .arguments import NONE_CHOSEN

Outcome = Literal["unchanged", "fixed", "invalid", "duplicate"]
Which = Literal["unusable", "usable"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("unchanged", "fixed", "invalid", "duplicate")
STATES: Final = {
    "unchanged": State("check", "unchanged"),
    "fixed": State("check", "fixed"),
    "invalid": State("cross", "invalid"),
    "duplicate": State("!", "duplicate"),
}
PAGE: Final = 20


@dataclass(frozen=True, slots=True)
class Question:
    """What to judge: the column of the numbers, that of the countries, the default country, repairs asked for.

    Example:
        >>> print(Question("phone", region="country", default_region="DE").line())
        people.sms.normalize("phone", region="country", default_region="DE")
    """

    column: Hashable
    region: Hashable = NONE_CHOSEN
    default_region: str = ""
    repair: tuple[str, ...] = ()

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of ``frame.sms.normalize``."""
        given = {"region": self.region, "default_region": self.default_region, "repair": list(self.repair)}
        return {name: value for name, value in given.items() if value not in ("", [])}

    def line(self) -> str:
        """Return the line of code that judges the same."""
        said = "".join(f", {name}={_quoted(value)}" for name, value in self.arguments().items())
        return f"people.sms.normalize({_quoted(self.column)}{said})"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A judged list: ``judged`` has ``to, region, cc, type, problem, note, result`` (str) on the list's index.

    ``problem`` is why it could not be judged at all, empty otherwise.
    """

    frame: pd.DataFrame
    column: Hashable
    judged: pd.DataFrame
    problem: str = ""

    @property
    def counts(self) -> dict[Outcome, int]:
        """Rows by what became of them."""
        found = self.judged["result"].value_counts().to_dict()
        return {name: int(found.get(name, 0)) for name in OUTCOMES}

    @property
    def table(self) -> pd.DataFrame:
        """The list with the new columns beside its own; one whose name is taken already is called ``sms_...``."""
        new = self.judged.rename(columns=free_names(self.judged.columns, self.frame.columns)).reset_index(drop=True)
        return pd.concat([self.frame.reset_index(drop=True), new], axis=1).set_axis(self.frame.index)

    @property
    def unusable(self) -> pd.DataFrame:
        """The rows of ``table`` without a usable number of their own: invalid and duplicate ones."""
        return self.table[self._is_unusable()]

    @property
    def usable(self) -> pd.DataFrame:
        """The rows of ``table`` that are not unusable: each has a number that no row before it has."""
        return self.table[~self._is_unusable()]

    def explained(self) -> pd.DataFrame:
        """Return the unusable rows between ``row``, their labels in the list, and ``meaning``, the reason in words."""
        found = self.unusable
        judged = self.judged[self._is_unusable()]
        named = free_names(["row", "meaning"], found.columns)
        words = [_why(problem, note) for problem, note in zip(judged["problem"], judged["note"], strict=True)]
        labels = found.index.map(_label) if isinstance(found.index, pd.MultiIndex) else found.index
        found.insert(0, named["row"], labels)
        found[named["meaning"]] = pd.Series(words, index=found.index, dtype=STR)
        return found

    def _is_unusable(self) -> npt.NDArray[np.bool_]:
        return self.judged["result"].isin(["invalid", "duplicate"]).to_numpy(bool)


def clean(frame: pd.DataFrame, question: Question) -> Cleaned:
    """Judge a column of a list; the list itself is not changed.

    Example:
        >>> people = pd.DataFrame({"phone": ["+12025550123", "(202) 555-0123", "nobody", "202 555 0147"]})
        >>> clean(people, Question("phone", default_region="US")).table["result"].tolist()
        ['unchanged', 'duplicate', 'invalid', 'fixed']
    """
    if question.column == NONE_CHOSEN:
        return Cleaned(frame, question.column, _nothing(frame), problem="no column is chosen")
    before = frame[question.column]
    arguments = question.arguments()
    region = frame[arguments.pop("region")] if "region" in arguments else None
    try:
        judged = phones.normalize(before, region=region, **arguments)
    except SmsOtpError as error:
        return Cleaned(frame, question.column, _nothing(frame), problem=str(error))
    judged["result"] = _outcomes(before, judged["to"])
    _name_duplicates(judged)
    return Cleaned(frame, question.column, judged)


def rows(cleaned: Cleaned, shown: str, *, page: int = 0) -> tuple[Table, int]:
    """Return one page of the rows with this result (``""``: of all rows) as a table, and how many pages there are."""
    result = cleaned.judged["result"]
    places = range(len(result)) if not shown else (result == shown).to_numpy().nonzero()[0]
    pages = max(1, -(-len(places) // PAGE))
    here = places[page * PAGE : (page + 1) * PAGE]
    lines = tuple(_line(cleaned, int(place)) for place in here)
    return Table(("Row", "Before", "After", "Result", "Why"), lines, ("left", "code", "code", "left", "left")), pages


def marked(before: str, after: str) -> tuple[Marked, Marked]:
    """Return both texts in pieces: what was taken away in the first, what was added in the second.

    Example:
        >>> marked("(202) 555", "+1202555")[1].pieces
        (('+1', 'ins'), ('202', ''), ('555', ''))
    """
    old: list[tuple[str, Literal["", "ins", "del"]]] = []
    new: list[tuple[str, Literal["", "ins", "del"]]] = []
    for what, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        old += [(before[a:b], "" if what == "equal" else "del")] * (b > a)
        new += [(after[c:d], "" if what == "equal" else "ins")] * (d > c)
    return Marked(tuple(old)), Marked(tuple(new))


def export(
    cleaned: Cleaned,
    path: str,
    *,
    which: Which = "unusable",
    source: str | Path | None = None,
    overwrite: bool = False,
) -> tuple[Path, int]:
    """Write the unusable rows with their reasons, or the usable ones, to a file; return it and how many rows went in.

    Cells that a spreadsheet would run as formulas are made harmless; E.164 numbers stay whole.

    Args:
        path: of a file that ends in ``.csv``, ``.tsv`` or ``.xlsx``.
        source: the file that the list was read from; it is never written over.
        overwrite: replace a file that is there already.

    Raises:
        FileExists: it is there already.
        UsageError: the name ends in something else, or the file cannot be written.
    """
    rows = cleaned.explained() if which == "unusable" else cleaned.usable
    file = Path(os.path.expanduser(path.strip())).absolute() if path.strip() else Path()
    with streaming.growing(file, inputs=[] if source is None else [source], overwrite=overwrite) as (table,):
        table.add(rows)
    return file, len(rows)


def _outcomes(before: pd.Series, to: pd.Series) -> pd.Series:
    usable = to.notna()
    result: pd.Series = pd.Series("fixed", index=to.index, dtype=STR)
    result = result.mask((before.astype(STR).to_numpy() == to.to_numpy()) & usable, "unchanged")
    return result.mask(usable & to.duplicated(), "duplicate").mask(~usable, "invalid")


def _name_duplicates(judged: pd.DataFrame) -> None:
    """Name the row that a duplicate repeats, as planning does."""
    again = (judged["result"] == "duplicate").to_numpy()
    first = judged.index[~judged["to"].duplicated().to_numpy() & judged["to"].notna().to_numpy()]
    label_of = dict(zip(judged.loc[~judged["to"].duplicated() & judged["to"].notna(), "to"], first, strict=True))
    named = pd.Series([f"DUPLICATE_OF:{_label(label_of[to])}" for to in judged["to"][again]], dtype=STR)
    judged["problem"] = judged["problem"].mask(again, "DUPLICATE_OF")
    notes = judged["note"].to_numpy(dtype=object, copy=True)
    notes[again] = named.to_numpy(dtype=object)
    judged["note"] = pd.Series(notes, index=judged.index, dtype=STR)


def _nothing(frame: pd.DataFrame) -> pd.DataFrame:
    names = ("to", "region", "cc", "type", "problem", "note")
    empty = pd.DataFrame({name: pd.Series(None, index=frame.index, dtype=STR) for name in names})
    return empty.assign(result=pd.Series("invalid", index=frame.index, dtype=STR))


def _line(cleaned: Cleaned, place: int) -> tuple[Any, ...]:
    row = cleaned.judged.iloc[place]
    cell: Any = cleaned.frame[cleaned.column].iat[place]
    before = "" if pd.isna(cell) else str(cell)
    label, outcome = _label(cleaned.judged.index[place]), str(row["result"])
    if outcome == "unchanged":
        return (label, _same(before), _same(before), STATES[outcome], "")
    if outcome == "invalid":
        return (label, _same(before) if before else "–", "–", STATES[outcome], _why(row["problem"], ""))
    old, new = marked(before, str(row["to"]))
    return (label, old, new, STATES[outcome], _why(row["problem"], row["note"]))


def _label(label: Any) -> str:
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _same(text: str) -> Marked:
    return Marked(((text, ""),))


def _why(problem: Any, note: Any) -> str:
    if isinstance(note, str) and note.startswith("DUPLICATE_OF:"):
        return f"the number of row {note.removeprefix('DUPLICATE_OF:')}"
    if isinstance(problem, str):
        return vocabulary.PROBLEMS[problem]
    codes: Sequence[str] = note.split() if isinstance(note, str) else ()
    return "; ".join(vocabulary.meaning_of_note(code) for code in codes)


def _quoted(value: Any) -> str:
    return (
        repr(value).replace("'", '"')
        if isinstance(value, str) and "'" not in value and '"' not in value
        else repr(value)
    )
