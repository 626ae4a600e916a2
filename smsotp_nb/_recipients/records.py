"""Records of a file: their cells against the header's names, and what a reader decided about the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import pandas as pd

from .._cards import counted
from .._foreign.gate import BLANK, refuse_large
from .._warnings import warn_user
from ..errors import UsageError

AT_ONCE: Final = 100_000  # records held as Python texts before they become columns


class Record(NamedTuple):
    """A record of a file: its number and the line it begins on, both counted from 1, and its cells.

    The number is the row in which a spreadsheet shows it: the header and blank records count, line breaks inside a
    cell do not.
    """

    number: int
    line: int
    cells: list[str]


@dataclass(slots=True)
class Header:
    """The header of a list: the names of its columns, and how many cells it has with the blank ones behind them.

    ``short`` collects the records that have fewer cells than the header, so that they are named in one warning.
    """

    origin: Origin
    names: list[str]
    cells: int
    short: list[str] = field(default_factory=list)
    shorter: int = 0

    @classmethod
    def of(cls, cells: list[str], origin: Origin) -> Header:
        return cls(origin, _names(cells, origin.facts["file"]), len(cells))

    @property
    def width(self) -> int:
        return len(self.names)

    def takes(self, records: list[Record]) -> bool:
        """Return whether no record has a filled cell beyond the names."""
        return not any(cell.strip() for record in records for cell in record.cells[self.width :])

    def fitted(self, records: Iterable[Record]) -> list[Record]:
        """Return records with exactly one cell for each name; a record with filled cells beyond them is an error."""
        cut = [_without_blank_tail(record, self.width) for record in records]
        odd = [record for record in cut if len(record.cells) != self.width]
        if not odd:
            return cut
        self._refuse_wide(odd)
        self.short += [_width(record, self.width) for record in odd[: SHOWN - len(self.short)]]
        self.shorter += len(odd)
        blanks = [""] * self.width
        return [record._replace(cells=record.cells + blanks[len(record.cells) :]) for record in cut]

    def warn_of_short(self) -> None:
        if self.shorter:
            self.origin.note(
                f"{counted(self.shorter, 'row has', 'rows have')} fewer cells than the header "
                f"({'; '.join(self.short)}); the missing ones are blank"
            )

    def _refuse_wide(self, records: list[Record]) -> None:
        wide = [record for record in records if len(record.cells) > self.width]
        if not wide:
            return
        cure = "a separator inside a cell must be quoted, or pass sep= if it was guessed wrong"
        if any(len(record.cells) <= self.cells for record in wide):
            cure = f"the header is blank after {self.names[-1]!r}: name these columns in it, or clear the cells"
        told = tuple(_width(record, self.width) for record in wide)
        rows = counted(len(told), "row has", "rows have")
        more = f"{rows} more cells than the header has columns ({'; '.join(told[:SHOWN])})"
        raise UsageError(f"{self.origin.facts['file']}: {more}; {cure}", problems=told)


def filled(record: Record) -> bool:
    return any(cell.strip() for cell in record.cells)


def batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    """Give the records that have a cell, many at once."""
    kept = (record for record in records if filled(record))
    while batch := list(islice(kept, AT_ONCE)):
        yield batch


TOTALS: Final = frozenset(
    (  # noqa: SIM905
        "total totals sum sums summe gesamt gesamtsumme insgesamt somme totaux suma totale somma soma totaal razem "
        "summa yhteensä toplam итого всего 合计 总计 合計 المجموع"
    ).split()
)
SUM: Final = re.compile(r"[-+]?[0-9][0-9.,' \u00a0]*")
LONGEST_SUM: Final = 6  # digits of a sum; a longer one may be somebody's number


def is_of_totals(cells: Sequence[str | None], sums: Collection[int] = ()) -> bool:
    """Return whether a last row sums up the others: it begins with such a word, and the rest are sums.

    ``sums`` are the places of cells that are known to be the sum of those above, and so may be as long as a number.
    """
    filled = {at: cell.strip() for at, cell in enumerate(cells) if cell and cell.strip()}
    at = next(iter(filled), None)
    if at is None or filled.pop(at).rstrip(":").casefold() not in TOTALS or not filled:
        return False
    return all(
        place in sums or (SUM.fullmatch(it) and sum(map(str.isdigit, it)) <= LONGEST_SUM)
        for place, it in filled.items()
    )


def empty(file: str) -> UsageError:
    return UsageError(f"{file} is empty: expected a header line and rows of recipients")


def _names(cells: list[str], file: str) -> list[str]:
    """Return the names of the header, trimmed; a blank one becomes the column's position, equal ones are an error."""
    blank = len(cells)
    filled = max((place for place, cell in enumerate(cells, start=1) if cell.strip()), default=1)
    cells = cells[:filled]
    refuse_large(Path(file), columns=len(cells) if blank <= BLANK else blank)
    names = [cell.strip() or f"column_{place}" for place, cell in enumerate(cells, start=1)]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        nameless = ", a nameless column is called by its place" if not all(cell.strip() for cell in cells) else ""
        listed = ", ".join(map(repr, twice))
        raise UsageError(f"{file} has more than one column named {listed}{nameless}: rename them first")
    return names


def _without_blank_tail(record: Record, width: int) -> Record:
    """Drop blank cells past the header: a separator at the end of a line makes one."""
    filled = len(record.cells)
    while filled > width and not record.cells[filled - 1].strip():
        filled -= 1
    return record if filled == len(record.cells) else record._replace(cells=record.cells[:filled])


def _width(record: Record, width: int) -> str:
    return f"line {record.line}: {len(record.cells)} of {width} cells"


KEY: Final = "smsotp_nb"
SHOWN: Final = 3


@dataclass(slots=True)
class Origin:
    """Where a frame comes from.

    Attributes:
        facts: ``file``, ``kind``, and where they apply ``sheet``, ``other_sheets`` (those with rows),
            ``header`` (its row in the file, None without one), ``encoding``, ``separator``, ``rows``, ``left_out`` (how
            many rows, by reason), ``columns`` (those that were chosen for numbers and countries, with the reason),
            ``no_value`` (by column the cells with an error or a formula that was not computed),
            ``changed_by`` (the arguments that would change what the notes say).
        notes: what somebody should look at, as sentences without the name of the file.
    """

    facts: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def note(self, words: str, *, argument: str | None = None) -> None:
        """Keep what somebody should look at, with the argument that would change it, and warn of it."""
        if argument is not None:  # callers that take a path have no such argument of their own
            words = words.replace(f"{argument}= ", f"{argument}= of read_recipients ")
        self.notes.append(words)
        if argument is not None and argument not in self.facts.setdefault("changed_by", []):
            self.facts["changed_by"].append(argument)
        warn_user(f"{called(self.facts)}: {words}", field=argument)

    def left_out(self, reason: str, rows: int) -> None:
        left = self.facts.setdefault("left_out", {})
        left[reason] = left.get(reason, 0) + rows

    def as_attrs(self, rows: int) -> dict[str, Any]:
        """Return it as plain values: pandas copies them with a frame, and pickle and Parquet keep them."""
        return {KEY: {**self.facts, "rows": rows, "notes": list(self.notes)}}


def source_of(table: pd.DataFrame | pd.Series[Any], *used: object) -> dict[str, Any]:
    """Return what the reader of a table decided; nothing where it was not read here, or pandas lost it.

    Where other columns are ``used`` than those that were chosen, why these were chosen is left out.
    """
    found = table.attrs.get(KEY)
    source = dict(found) if isinstance(found, dict) and "file" in found else {}
    if used and "columns" in source:
        source["columns"] = {name: why for name, why in source["columns"].items() if name in used}
    return source


def without_value(table: pd.DataFrame | pd.Series[Any], column: object) -> list[str]:
    """Return which cells of a column show an error or have a formula without a value, and are read as blank."""
    source = source_of(table)
    if source.get("rows") != len(table):  # rows were taken out since it was read
        return []
    cells = source.get("no_value", {}).get(column, [])
    return [f"cell {cell}: an error or a formula without a value" for cell in cells]


def add_columns(table: pd.DataFrame, chosen: Mapping[str, str]) -> None:
    """Keep which columns were chosen, and why, where the reader of a table has left its record."""
    if source := source_of(table):
        table.attrs[KEY] = source | {"columns": dict(chosen)}


def called(source: Mapping[str, Any]) -> str:
    """Return the name of a file, with the sheet of a workbook."""
    sheet = source.get("sheet")
    return f"{source['file']}, sheet {sheet!r}" if sheet else str(source["file"])


def in_words(source: Mapping[str, Any]) -> str:
    """Say in one line how a file was read."""
    facts = [f"{source['encoding']}, {source['separator']!r} between cells"] if "separator" in source else []
    if "header" in source:
        facts.append("no header" if source["header"] is None else f"header in row {source['header']}")
    left = [f"{rows:,} {reason}" for reason, rows in source.get("left_out", {}).items()]
    facts += [f"rows left out: {', '.join(left)}"] if left else []
    chosen = [f"{name!r} ({why})" for name, why in source.get("columns", {}).items()]
    facts += [f"columns: {', '.join(chosen)}"] if chosen else []
    return f"Read from {called(source)}{': ' * bool(facts)}{'; '.join(facts)}."


def listed(what: str, which: list[Any]) -> str:
    """Return the first few of many in words: ``rows 3, 4, 9, ...``."""
    more = ", ..." if len(which) > SHOWN else ""
    return f"{what}{'s' if len(which) > 1 else ''} {', '.join(map(str, which[:SHOWN]))}{more}"
