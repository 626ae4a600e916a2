"""Report on a list: counts by problem and note, examples, countries, and what to ask its owner."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow
import pyarrow.compute

from .._calling import given, in_our_words, not_frame, refuse
from .._cards import Card, Figures, Note, Table, WithCard, share
from .._frames import AnyFrame, as_pandas
from .._pandas import STR, is_missing
from .._recipients import in_words, source_of
from ..errors import UsageError
from ..problems import asked_for
from .advice import Advice, cells_judged
from .cells import text as cells
from .countries import country_name
from .judging.policy import NumberOptions
from .judging.several import one_phone
from .vocabulary import NOTES, PROBLEMS

Numbers = npt.NDArray[np.int64]

EXAMPLES: Final = 3
SHOWN_REGIONS: Final = 12
REPAIRS_END: Final = list(NOTES).index("REGION_CASE")
REPAIR_NOTES: Final = frozenset(list(NOTES)[:REPAIRS_END])

ASKS: Final = {code: ask for code in PROBLEMS if (ask := asked_for(code)) is not None}


def free_names(new: Iterable[str], taken: Iterable[Hashable]) -> dict[str, str]:
    """Return a name for each new column: its own or, if the list has that, ``sms_...``, then ``sms_..._2``.

    Example:
        >>> free_names(["to", "note"], ["note", "phone"])
        {'to': 'to', 'note': 'sms_note'}
        >>> free_names(["to"], ["to", "sms_to"])
        {'to': 'sms_to_2'}
    """
    used = {str(name) for name in taken}
    named = {}
    for name in new:
        tries = itertools.chain([name, f"sms_{name}"], (f"sms_{name}_{count}" for count in itertools.count(2)))
        named[name] = next(one for one in tries if one not in used)
        used.add(named[name])
    return named


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


@dataclass(frozen=True, slots=True)
class Report(WithCard):
    """A normalized list in figures.

    Attributes:
        rows: number of rows.
        usable: rows with a ``to``.
        repaired: usable rows that were repaired.
        repeated: usable rows that repeat another row.
        problems: frame of ``problem, rows, share, meaning, ask`` (what to ask the list's owner for), ``examples``.
        notes: frame of ``note, rows, share, meaning, examples``.
        regions: frame of ``region, country, rows`` of the usable rows.
        types: frame of ``type, rows`` of the usable rows.
        columns: frame of ``column, rows`` of the usable rows, where several columns were judged.
        source: what `read_recipients` decided of the list's file; empty of a list that was not read so.
        advice: what each repair would bring, and whether another default country fits better, if the raw numbers were
            given.

    Example:
        >>> from smsotp_nb import phones
        >>> report = phones.report(phones.normalize(["+14155550100", "n/a"]))
        >>> report.rows, report.usable, report.problems["problem"].tolist()
        (2, 1, ['MISSING'])
    """

    rows: int
    usable: int
    repaired: int
    repeated: int
    problems: pd.DataFrame
    notes: pd.DataFrame
    regions: pd.DataFrame
    types: pd.DataFrame
    columns: pd.DataFrame
    source: Mapping[str, Any] = field(default_factory=dict)
    advice: tuple[str, ...] = ()

    def card(self) -> Card:
        """Return the report as a card; examples are shortened so that nobody can be called from it."""
        left_out = self.rows - self.usable
        figures = (("rows", self.rows), ("usable", self.usable), ("repaired", self.repaired))
        blocks = [Figures((*figures, ("repeated", self.repeated), ("not usable", left_out)))]
        return Card(
            "Phone list",
            f"{share(self.usable / self.rows if self.rows else 0.0)} of the rows can be texted.",
            (*blocks, *self._tables(), *([Note("i", in_words(self.source))] if self.source else [])),
            "Ask the list's owner for what the table says. Unusable rows: phones.rejected, or --unusable FILE."
            if left_out
            else "Every row has a number.",
        )

    def _tables(self) -> list[Table]:
        tables = []
        if self.advice:
            tables.append(Table(("What would help",), tuple((line,) for line in self.advice), ("left",)))
        if len(self.problems):
            rows = _rows(self.problems, "problem", "rows", "meaning", "ask")
            columns = ("Problem", "Rows", "Meaning", "Ask for")
            tables.append(Table(columns, rows, ("code", "right", "left", "left"), title="Not usable"))
        if len(self.notes):
            rows = _rows(self.notes, "note", "rows", "meaning")
            tables.append(Table(("Note", "Rows", "Meaning"), rows, ("code", "right", "left"), title="Noted"))
        if len(self.columns):
            rows = _rows(self.columns, "column", "rows")
            tables.append(Table(("Column", "Usable rows"), rows, ("left", "right"), title="By column"))
        if len(self.regions):
            rows = _rows(self.regions.head(SHOWN_REGIONS), "region", "country", "rows")
            left = len(self.regions) - SHOWN_REGIONS
            more = f"and {left} more" if left > 0 else ""
            heads = ("Code", "Country", "Usable rows")
            tables.append(Table(heads, rows, ("code", "left", "right"), title="By country", more=more))
        return tables

    def __repr__(self) -> str:
        return str(self)


def _rows(table: pd.DataFrame, *columns: str) -> tuple[tuple[Any, ...], ...]:
    return tuple(zip(*(table[name].tolist() for name in columns), strict=True))


@dataclass(slots=True)
class Tally:
    """Counts that grow chunk by chunk. Numbers seen are kept as integers, eight bytes each.

    Example:
        >>> from smsotp_nb import phones
        >>> tally = Tally()
        >>> for numbers in (["+14155550100"], ["+1 415 555 0100", "n/a"]):
        ...     repeats = tally.add(phones.normalize(numbers), numbers)
        >>> tally.report().usable, tally.report().repeated
        (2, 1)
    """

    rows: int = 0
    usable: int = 0
    repaired: int = 0
    repeated: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    regions: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    columns: Counter[str] = field(default_factory=Counter)
    source: Mapping[str, Any] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)
    met: Met = field(default_factory=Met)
    advice: Advice = field(default_factory=Advice)

    @in_our_words
    def add(
        self,
        judged: AnyFrame,
        phones: object = None,
        *,
        region: object = None,
        default_region: str | None = None,
        numbers: NumberOptions = NumberOptions(),
    ) -> npt.NDArray[np.bool_]:
        """Count a judged frame; return which rows repeat a number seen before, in this frame or an earlier one.

        The advice needs the raw ``numbers``, and with what they were judged.
        """
        judged = as_pandas(judged)
        phones = as_pandas(phones)
        refuse(not_judged("Tally.add", judged), _not_beside(judged, phones))
        if isinstance(phones, pd.DataFrame):
            phones = cells_judged(phones, judged)
        usable = judged["to"].notna().to_numpy(bool)
        self.rows += len(judged)
        self.usable += int(usable.sum())
        self.problems.update(_counts(judged["problem"]))
        self.regions.update(_counts(judged["region"][usable]))
        self.types.update(_counts(judged["type"][usable]))
        self.source = {**self.source, **source_of(judged)}  # the columns are chosen in the first chunk
        if "column" in judged:
            self.columns.update(_counts(judged["column"][usable]))
        self._count_notes(judged["note"], usable)
        self._keep_examples(judged, phones)
        if phones is not None:
            column = cells.column(phones, what="phones")
            self.advice.add(judged, column, region=region, default_region=default_region, numbers=numbers)
        repeats = np.zeros(len(judged), bool)
        repeats[usable] = self.met.add(_digits(one_phone(judged["to"][usable])))
        self.repeated += int(repeats.sum())
        return repeats

    def _count_notes(self, note: pd.Series, usable: npt.NDArray[np.bool_]) -> None:
        """Count notes by combination, of which there are few."""
        for text, rows in _counts(note).items():
            self.notes.update(dict.fromkeys(_codes(text), rows))
        repaired = (rows for text, rows in _counts(note[usable]).items() if not REPAIR_NOTES.isdisjoint(_codes(text)))
        self.repaired += sum(repaired)

    def _keep_examples(self, judged: pd.DataFrame, numbers: object) -> None:
        if numbers is None:
            return
        wanted = {
            code
            for code in (*PROBLEMS, *NOTES)
            if (code in self.problems or code in self.notes) and len(self.examples.get(code, ())) < EXAMPLES
        }
        if not wanted:
            return
        raw = numbers if isinstance(numbers, pd.Series) else pd.Series(np.asarray(numbers, dtype=object))
        for code in wanted:
            kept = self.examples.setdefault(code, [])
            together = [codes for codes in judged["note"].dropna().unique() if code in _codes(codes)]
            has = (judged["problem"] == code) | judged["note"].isin(together)
            rows = np.flatnonzero(has.to_numpy(bool))[: EXAMPLES - len(kept)]
            cells = raw.iloc[rows].tolist()
            kept += [str(cell) for cell in cells if not is_missing(cell)]

    def report(self) -> Report:
        regions = _counted("region", self.regions)
        regions.insert(1, "country", pd.Series([country_name(str(code)) for code in regions["region"]], dtype=STR))
        return Report(
            rows=self.rows,
            usable=self.usable,
            repaired=self.repaired,
            repeated=self.repeated,
            problems=self._table("problem", self.problems, PROBLEMS, ask=True),
            notes=self._table("note", self.notes, NOTES, ask=False),
            regions=regions,
            types=_counted("type", self.types),
            columns=_counted("column", self.columns),
            source=self.source,
            advice=self.advice.told(),
        )

    def _table(self, name: str, counts: Counter[str], meanings: dict[str, str], *, ask: bool) -> pd.DataFrame:
        table = _counted(name, counts)
        codes = [str(code) for code in table[name]]
        table["share"] = (table["rows"].astype("float64") / max(self.rows, 1)).round(6)
        table["meaning"] = pd.Series([meanings[code] for code in codes], dtype=STR)
        if ask:
            table["ask"] = pd.Series([ASKS.get(code, "") for code in codes], dtype=STR)
        table["examples"] = pd.Series(["; ".join(self.examples.get(code, [])) for code in codes], dtype=STR)
        return table


def _counts(texts: pd.Series) -> dict[str, int]:
    return {str(text): int(rows) for text, rows in texts.value_counts().items()}


def _codes(note: str) -> set[str]:
    """Return the codes of a note, without the details that may follow a code after a colon."""
    return {word.partition(":")[0] for word in note.split()}


def _digits(to: pd.Series) -> npt.NDArray[np.int64]:
    """Return E.164 numbers as whole numbers."""
    texts = pyarrow.array(to, pyarrow.large_string(), from_pandas=True)
    whole = pyarrow.compute.cast(pyarrow.compute.utf8_slice_codeunits(texts, 1), pyarrow.int64())
    return np.asarray(whole.to_numpy(zero_copy_only=False), np.int64)


def _counted(name: str, counts: Counter[str]) -> pd.DataFrame:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return pd.DataFrame(
        {
            name: pd.Series([code for code, _ in ordered], dtype=STR),
            "rows": pd.Series([count for _, count in ordered], dtype="Int64"),
        }
    )


@in_our_words
def report(
    judged: AnyFrame,
    *,
    phones: object = None,
    region: object = None,
    default_region: str | None = None,
    numbers: NumberOptions = NumberOptions(),
) -> Report:
    """Summarize what ``normalize`` returned.

    If the raw ``numbers`` are passed, every code comes with examples, and ``advice`` counts what would help; for that,
    pass ``region``, ``default_region`` and ``numbers`` as they were given to ``normalize``.

    Example:
        >>> from smsotp_nb import phones
        >>> numbers = ["+14155550100", "n/a", "5550100"]
        >>> phones.report(phones.normalize(numbers, default_region="US"), phones=numbers).problems["ask"].tolist()
        ['the area codes', 'the numbers that are missing']
    """
    judged = as_pandas(judged)
    phones = as_pandas(phones)
    refuse(not_judged("report()", judged), _not_beside(judged, phones))
    tally = Tally()
    tally.add(judged, phones, region=region, default_region=default_region, numbers=numbers)
    return tally.report()


def not_judged(reader: str, judged: Any) -> str | None:
    """Report a frame that `phones.normalize` did not return."""
    if not isinstance(judged, pd.DataFrame):
        return f"{reader} reads the frame that phones.normalize() returns, got {given(judged)}"
    missing = {"to", "region", "type", "problem", "note"} - set(judged.columns)
    if not missing:
        return None
    return f"{reader} reads the frame that phones.normalize() returns; {', '.join(sorted(missing))} missing"


def _not_beside(judged: Any, numbers: Any) -> str | None:
    """Report raw numbers that do not belong to the judged rows."""
    if numbers is None or not isinstance(judged, pd.DataFrame):
        return None
    if isinstance(numbers, str) or not hasattr(numbers, "__len__"):
        return f"numbers= must be the column that was judged, such as people['phone'], got {given(numbers)}"
    if len(numbers) == len(judged):
        return None
    return f"numbers= has {len(numbers)} rows and the judged frame {len(judged)}; give the column that was judged"


@in_our_words
def rejected(people: AnyFrame, judged: AnyFrame) -> pd.DataFrame:
    """Return the rows that cannot be texted, with ``problem``, ``note``, ``meaning`` and what to ``ask`` for.

    They are ordered by problem, then as in the list; ``results.write`` exports the frame safely. If ``people`` has a
    column with one of these names, it is kept and the new one is called ``sms_problem`` and so on.

    Example:
        >>> from smsotp_nb import phones
        >>> people = pd.DataFrame({"name": ["Ada", "Bob"], "phone": ["+14155550100", "n/a"]})
        >>> phones.rejected(people, phones.normalize(people["phone"]))[["name", "problem"]]
          name  problem
        1  Bob  MISSING
    """
    people = as_pandas(people)
    judged = as_pandas(judged)
    refuse(not_frame("people", people), not_judged("rejected()", judged))
    if len(people) != len(judged) or not people.index.equals(judged.index):
        raise UsageError("people and judged must be the same rows: judged = phones.normalize(people[column])")
    rows = np.flatnonzero(judged["to"].isna())
    found = with_reasons(people.iloc[rows], judged.iloc[rows])
    place = judged["problem"].iloc[rows].map({code: at for at, code in enumerate(PROBLEMS)}).to_numpy()
    return found.iloc[np.argsort(place, kind="stable")]


def with_reasons(people: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    """Put ``problem, note, meaning, ask`` beside rows of a list; a name that the list has becomes ``sms_...``."""
    problem = judged["problem"]
    meaning, ask = (problem.map(words).astype(STR) for words in (PROBLEMS, ASKS))
    reasons = pd.DataFrame({"problem": problem, "note": judged["note"], "meaning": meaning, "ask": ask})
    return pd.concat([people, reasons.rename(columns=free_names(reasons.columns, people.columns))], axis=1)
