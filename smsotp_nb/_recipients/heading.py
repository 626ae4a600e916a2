"""Which row of a file names its columns: the first one, one below titles, or none."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import UsageError
from .records import Origin, Record, listed

FIND: Final = "find"
LOOKED_AT: Final = 60  # filled records at the beginning
NUMBER: Final = re.compile(r"\A\W*+\+?[0-9][0-9 ().\-/\u00a0]{5,}[0-9]\W*+")
ADDRESS: Final = re.compile(r"\A[^@\s]++@[^@\s]+\.[A-Za-z]{2,}")
DAY: Final = re.compile(
    r"(?:(?:19|20)\d\d[-./]?(?:0?[1-9]|1[0-2])[-./]?(?:0?[1-9]|[12]\d|3[01])"
    r"|(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](?:19|20)?\d\d)(?:[T ][\d:.+Z]*+)?"
)
AMONG_WORDS: Final = re.compile(  # a number, perhaps behind a label or a STOP, and whatever stands behind it
    r"\A[^\w+]*+(?:[a-z]{2,10}:\s*+|stop\W+)?(\+?[0-9][0-9 ().\-/\u00a0]{5,}[0-9])(?!\w)", re.IGNORECASE
)
OF_YEARS: Final = re.compile(r"\A(?:19|20)\d\d(?:\D{0,3}+(?>(?:19|20)\d\d|[12]\d|3[01]|0?[1-9]))*+\D{0,3}+")
BEGINS_DAY: Final = re.compile(rf"(?:{DAY.pattern})(?!\d)")
SCIENTIFIC: Final = re.compile(r"[0-9](?:[.,][0-9]+)?[eE]\+?(?:0?[6-9]|1[0-9])")
OF_HEADERS: Final = 8  # digits that a header may have in a row: 2025-2026


@dataclass(frozen=True, slots=True)
class Heading:
    """Where the names stand: the place of their record among the filled ones, None if there is no header.

    ``body`` is the place of the first record of a person.
    """

    place: int | None
    body: int
    names: list[str]


def heading(
    records: Sequence[Record], header: int | str | None, origin: Origin, groups: Container[int] = ()
) -> Heading:
    """Find the header among the filled records at the beginning of a file, and say what is no usual one.

    ``groups`` are the rows whose merged cells stand over several names of the next row.

    Raises:
        UsageError: ``header`` names a row that has no cells.
    """
    if header is None:
        return _without(records, 0)
    if header != FIND:
        place = next((at for at, record in enumerate(records) if record.number == header), None)
        if place is None:
            there = listed("row", [record.number for record in records])
            raise UsageError(f"header={header}: row {header} of {origin.facts['file']} has no cells; {there} have")
        return Heading(place, place + 1, records[place].cells)
    place = _found(records, groups)
    if place and of_a_person(records[place]) and _names_with_a_gap(*records[place - 1 : place + 1]):
        place -= 1
    column = of_a_person(records[place])
    if place:
        above = [record.number for record in records[:place]]
        text = next(cell for cell in records[0].cells if cell.strip()).strip()
        begins, are = "list begins in" if column else "header is", "is no row" if place == 1 else "are no rows"
        origin.note(
            f"the {begins} row {records[place].number}; {listed('row', above)} above it ({_short(text)!r}) {are} of "
            "the list: header= names another",
            argument="header",
        )
        origin.left_out("above the header", len(above))
    if column:
        origin.note(
            f"row {records[place].number}, the first one, is read as a person and not as a header, because its cell "
            f"{column} is a number or an address; the columns are called column_1, column_2 and so on: "
            f"header={records[place].number} says otherwise",
            argument="header",
        )
        return _without(records, place)
    if _names_again(records, place):
        below = records[place + 1]
        origin.note(
            f"row {below.number} ({_short(', '.join(filter(None, map(str.strip, below.cells))))!r}), below the header, "
            f"may be the names, too, and is read as a person: header={below.number} says otherwise",
            argument="header",
        )
    return Heading(place, place + 1, records[place].cells)


def _names_again(records: Sequence[Record], place: int) -> bool:
    """Return whether the row below the header has a word alone where each row below it has a number to call."""
    below, rows = records[place + 1 : place + 2], records[place + 2 :]
    if not below or len(rows) < 2 or any(sign.isdigit() or sign == "@" for cell in below[0].cells for sign in cell):
        return False
    return any(
        cell.strip() and all(at < len(row.cells) and _is_number(row.cells[at]) for row in rows)
        for at, cell in enumerate(below[0].cells)
    )


def row_typed(typed: str) -> int | str | None:
    """Return ``header`` as a person types it: the number of the row, or none."""
    typed = typed.strip()
    return None if typed.lower() == "none" else int(typed) if typed.isdecimal() else typed


def _without(records: Sequence[Record], place: int) -> Heading:
    width = max(_reach(record) for record in records[place:])
    return Heading(None, place, [f"column_{at}" for at in range(1, width + 1)])


def _found(records: Sequence[Record], groups: Container[int]) -> int:
    """Return the place of the first record that is no title: one of names, or of a person where there are none."""
    widths = [_filled(record) for record in records]
    if len(records) < 2 or (widths[0] >= max(widths[1:]) and records[0].number not in groups):
        return 0
    common = Counter(widths).most_common()
    width = max(width for width, times in common if times == common[0][1])
    gaps = [at for at in range(1, len(records)) if records[at].number > records[at - 1].number + 1]
    for place, record in enumerate(records[:-1]):
        cells = [cell.strip() for cell in record.cells if cell.strip()]
        beside = widths[place] < width and (
            cells[0].endswith(":")
            or (any(place < gap and max(widths[:gap]) < width for gap in gaps) and not _is_table(records[place:]))
        )
        if widths[place] <= max(1, width // 2) or beside or record.number in groups:
            continue
        if place and not (of_a_person(record) or _names_below(records, place, width)):
            return 0
        return place
    return 0


def _is_table(records: Sequence[Record]) -> bool:
    """Return whether there are names, and below them at least two persons in as many columns."""
    names, *persons = records[:3]
    return (
        len(persons) > 1
        and not of_a_person(names)
        and all(of_a_person(it) and _filled(it) == _filled(names) for it in persons)
    )


def _names_with_a_gap(names: Record, person: Record) -> bool:
    """Return whether a row right above the first person names columns although cells of it are blank."""
    return names.number + 1 == person.number and _reach(names) > 1 and _reach(names) >= _reach(person) > _filled(names)


def _names_below(records: Sequence[Record], place: int, width: int) -> bool:
    """Return whether what stands below a title are names: no number among them, and persons below."""
    below = records[place + 1 :]
    numbers = [any(_is_number(cell) for cell in record.cells) for record in below]
    wide = sum(_filled(record) > max(1, width // 2) for record in below)
    return wide * 2 >= len(below) and (any(numbers) or width > 2)


def of_a_person(record: Record) -> int:
    """Return the place from 1 of a cell that no header has, a number to call or an address; 0 where there is none."""
    cells = enumerate(record.cells, start=1)
    return next((at for at, cell in cells if _holds_number(cell) or ADDRESS.fullmatch(cell.strip())), 0)


def _holds_number(cell: str) -> bool:
    """Return whether a cell is a number to call or has one among words, in the digits of any script."""
    if _is_number(cell):
        return True
    text = "".join(str(unicodedata.decimal(sign, sign)) for sign in unicodedata.normalize("NFKC", cell)).strip()
    if SCIENTIFIC.fullmatch(text):
        return True
    found = AMONG_WORDS.match(text)
    if found is None or OF_YEARS.fullmatch(found[1]) or BEGINS_DAY.match(found[1]):
        return False
    return "+" in found[1] or sum(map(str.isdigit, found[1])) > OF_HEADERS


def _is_number(cell: str) -> bool:
    digits = sum(sign.isdigit() for sign in cell)
    return 7 <= digits <= 17 and NUMBER.fullmatch(cell.strip()) is not None and DAY.fullmatch(cell.strip()) is None


def _filled(record: Record) -> int:
    return sum(bool(cell.strip()) for cell in record.cells)


def _reach(record: Record) -> int:
    return max((at for at, cell in enumerate(record.cells, start=1) if cell.strip()), default=0)


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
