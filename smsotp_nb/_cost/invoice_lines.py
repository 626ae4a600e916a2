"""The lines of a provider's invoice: read, whatever it calls its columns and however it writes times, and on a card."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pandas as pd

from .. import _dates as dates
from .._calling import given
from .._cards import Block, Card, Cell, Code, Figures, Note, Table, and_more, counted, money, places_by
from .._cards.blocks import Align
from .._dates import Written, spanned
from .._pandas import STR
from .._pandas import texts as texts_of
from .._results import contract
from .._showing import cited
from .._showing import label as called
from .._wire import mask
from ..columns import absent, listed
from ..errors import SmsOtpWarning, UsageError
from .sources import records

FIELDS: Final = ("id", "to", "at", "parts", "price", "currency")
_LEAST_DIGITS: Final = 5  # of a number
_TOO_MUCH: Final = 1e9  # of a message: what is more is no price and no number of parts
_LONGEST: Final = 40  # characters of a cell
_THOUSANDS: Final = "[. '\u00a0\u2019\u202f]"  # the characters themselves: Arrow's expressions know no \u
_WITH_COMMA: Final = rf"^[+-]?(?:\d+|\d{{1,3}}(?:{_THOUSANDS}\d{{3}})+)(?:,\d+)?$"
_EXPECTED: Final = {
    "price": "a number such as 0.0075",
    "parts": "a whole number",
    "at": "a time such as 2026-11-23 14:05, or a day such as 2026-11-23,",
}


def lines_of(frame: pd.DataFrame, names: dict[str, Any], tz: str, written: Written, decimal: str) -> pd.DataFrame:
    """Return the lines of an invoice in our columns; what cannot be read is missing, and a warning says so.

    ``dated`` (bool) says which lines have a day and no time: their ``at`` is the beginning of the day.
    """
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"invoice= must be a frame or the path of a file, got {given(frame)}")
    unknown = [name for name in names if name not in FIELDS]
    if unknown:
        raise UsageError(f"columns= names {given(unknown[0])}; it can name {', '.join(FIELDS)}")
    wanted = [name for name in FIELDS if name in names or name in frame.columns or name in ("price", "currency")]
    problems = [wrong for name in wanted if (wrong := absent(names.get(name, name), frame.columns, beside=False))]
    if not {"id"} <= {*wanted} and not {"to", "at"} <= {*wanted}:
        problems.append("neither a column 'id' nor both 'to' and 'at'; name them: columns={'id': \"...\"}")
    if problems:
        raise UsageError(f"invoice=: {'; '.join(problems)} {listed(frame.columns)}")
    empty = pd.Series(pd.NA, index=frame.index, dtype=STR)
    cells = {name: frame[names.get(name, name)] if name in wanted else empty for name in FIELDS}
    texts = {name: texts_of(column).str.strip() for name, column in cells.items()}
    at, dated, no_dates = _times(cells["at"], tz, written)
    lines = pd.DataFrame(
        {
            "id": texts["id"],
            "to": _numbers(texts["to"]),
            "at": at,
            "parts": _amounts(cells["parts"], decimal).round().astype("Int64"),
            "price": _amounts(cells["price"], decimal).round(6),
            "currency": texts["currency"].str.upper(),
            "dated": dated,
        }
    )
    for name in _EXPECTED:
        _warn_of_unreadable(name, texts[name], lines[name], decimal, no_dates)
    return lines


def _amounts(cells: pd.Series, decimal: str) -> pd.Series:
    """Return numbers; those of a text have this decimal sign, and with a comma their thousands may be apart."""
    texts = texts_of(cells).str.strip()
    if decimal == ",":
        whole = texts.where(texts.str.contains(_WITH_COMMA, regex=True, na=False))
        commas = whole.str.replace(_THOUSANDS, "", regex=True).str.replace(",", ".", regex=False)
        numbers = cells.map(lambda cell: not isinstance(cell, str)).astype("bool")
        texts = texts.where(numbers, commas)
    found = pd.to_numeric(texts, errors="coerce").astype("float64")
    return found.where(found.abs() < _TOO_MUCH)


def _warn_of_unreadable(name: str, texts: pd.Series, read: pd.Series, decimal: str, no_dates: dict[int, str]) -> None:
    """Warn of cells that say something that cannot be read; an empty cell is no such."""
    unread = texts.fillna("").ne("").to_numpy(dtype=bool) & read.isna().to_numpy(dtype=bool)
    wrong = texts[unread]
    if wrong.empty:
        return
    why = no_dates.get(int(np.flatnonzero(unread)[0]), "") if name == "at" else ""
    cell = wrong.iloc[0]
    shown = given(cell) if name != "at" else repr(cell[:_LONGEST])
    rows = ", ".join(called(label) for label in wrong.index[:3]) + ", ..." * (len(wrong) > 3)
    comma = "," in cell and name != "at" and decimal == "."
    next_step = (
        "pass decimal=',' if the comma is the decimal sign"
        if comma
        else "correct the invoice; in .lines they are missing"
    )
    expected = _EXPECTED[name] if decimal == "." or name == "at" else _EXPECTED[name].replace(".", ",")
    warnings.warn(
        f"column {cited(texts.name)} of the invoice: {counted(len(wrong), 'cell')} of {len(texts)} cannot be read, "
        f"such as {shown} (rows {rows}){f', {why}' if why.startswith('a number;') else ''}; {expected} is expected; "
        f"{next_step}",
        SmsOtpWarning,
        stacklevel=4,
    )


def _numbers(texts: pd.Series) -> pd.Series:
    """Return numbers as E.164: an invoice may leave out the plus, write 00, or hold them as floats."""
    whole = texts.str.replace(r"\.0$", "", regex=True)
    digits = whole.str.replace(r"\D", "", regex=True).str.replace("^00", "", regex=True)
    return ("+" + digits).where(digits.fillna("").str.len().ge(_LEAST_DIGITS))


def _times(column: pd.Series, tz: str, written: Written) -> tuple[pd.Series, pd.Series, dict[int, str]]:
    """Return the times, which of them are days without a time, and what is wrong with others, by place.

    Midnight is no time where all lines have it, as dates of a sheet do.
    """
    found = dates.read(column, written)
    if found.unclear:
        raise UsageError(f"column {cited(column.name)} of the invoice has {found.unclear}")
    known = ~np.isnat(found.wall)
    sheet = bool((found.midnight | ~found.clock)[known].all())
    dated = known & (~found.clock | (found.midnight & sheet))
    return found.utc(tz, column.index), pd.Series(dated, index=column.index), found.wrong


_SAID: Final = {
    "matched": "Same price",
    "other_price": "Other price",
    "in_doubt": "In doubt in the ledger",
    "only_theirs": "On the invoice only",
    "ambiguous": "Several messages that day",
    "repeated": "Repeated line",
    "unreadable": "Unreadable line",
}
_SHOWN: Final = 8
_AMBIGUOUS: Final = (
    "have a day and no time, and there are several messages to the number on that day. Nothing is guessed: ask the "
    "provider for ids or times."
)


def card_of(
    lines: pd.DataFrame, only_ours: pd.DataFrame, totals: pd.DataFrame, doubts: pd.DataFrame, source: str
) -> Card:
    """Return the card of a `Reconciled`, of what its attributes give."""
    sums = _sums(lines, only_ours)
    figures = Figures(
        (
            ("lines", len(lines)),
            ("with the same price", int(lines["match"].eq("matched").sum())),
            ("recorded only", len(only_ours)),
            ("doubts it settles", len(doubts)),
        )
    )
    blocks: list[Block] = [figures, *_days(lines["at"]), *_totals(totals), *_kinds(sums)]
    if ambiguous := int(lines["match"].eq("ambiguous").sum()):
        blocks.append(Note("!", f"{counted(ambiguous, 'line')} {_AMBIGUOUS}"))
    blocks += [*_doubts(doubts), *_prices(lines[lines["match"].eq("other_price")])]
    closing = "Next: look at .doubts, then .settle(reason=...) marks these rows as accepted." if len(doubts) else ""
    return Card("Invoice and ledger", f"Compared with {source}. Nothing has been changed.", tuple(blocks), closing)


def _days(at: pd.Series) -> Iterator[Note]:
    """Say of which days the lines are, so that a wrong order of day and month shows."""
    known = at.dropna().dt.date
    if len(known):
        yield Note("i", f"Its lines are {spanned((known.min(), known.max()))}.")


def _totals(totals: pd.DataFrame) -> Iterator[Table]:
    if len(totals):
        places = places_by([*totals["currency"]] * 2, [*totals["theirs"], *totals["ours"]])
        rows = [
            (row["currency"], *(money(amount, places=places[row["currency"]]) for amount in _three(row)))
            for row in records(totals)
        ]
        yield Table(
            ("Currency", "Invoiced", "Recorded", "Difference"), tuple(rows), ("left", "right", "right", "right")
        )


def _three(row: dict[str, Any]) -> tuple[float, float, float]:
    return row["theirs"], row["ours"], round(row["theirs"] - row["ours"], 6)


def _sums(lines: pd.DataFrame, only_ours: pd.DataFrame) -> pd.DataFrame:
    """Return counts and exact amounts by kind and currency, in the order in which they are told."""
    theirs, ours = lines[["match", "currency", "price"]], only_ours[["currency", "price"]].assign(match="only_ours")
    cells = (pd.concat([theirs, ours]) if len(ours) else theirs).rename(columns={"match": "kind"})
    micros = contract.micros(cells["price"].astype("float64"))
    groups = cells.assign(micros=micros).groupby(["kind", "currency"], dropna=False, sort=True)
    sums = groups.agg(count=("kind", "size"), micros=("micros", "sum")).reset_index()
    order = {kind: place for place, kind in enumerate([*_SAID, "only_ours"])}
    return sums.sort_values("kind", key=lambda kinds: kinds.map(order), kind="stable")


def _kinds(sums: pd.DataFrame) -> Iterator[Table]:
    amounts = contract.money(sums["micros"].astype("Int64")).tolist()
    currencies = [None if pd.isna(code) else str(code) for code in sums["currency"]]
    places = places_by(currencies, amounts)
    said = {**_SAID, "only_ours": "Recorded only"}
    rows = tuple(
        (said[kind], int(count), "unknown currency" if code is None else money(amount, code, places=places[code]))
        for kind, count, code, amount in zip(sums["kind"], sums["count"], currencies, amounts, strict=True)
    )
    if rows:
        yield Table(("What", "Messages", "Amount"), rows, ("left", "right", "right"))


def _doubts(doubts: pd.DataFrame) -> Iterator[Table]:
    if len(doubts):
        rows = tuple(_doubt(label, row) for label, row in zip(doubts.index, records(doubts.head(_SHOWN)), strict=False))
        more = and_more(len(doubts) - _SHOWN, ".doubts")
        heads = ("Line", "Number", "Campaign", "Row", "Time, UTC", "Price")
        align: tuple[Align, ...] = ("left", "left", "left", "right", "left", "right")
        yield Table(heads, rows, align, "Doubts that this invoice settles", more)


def _doubt(label: Any, row: dict[str, Any]) -> tuple[Cell, ...]:
    at = "" if pd.isna(row["at"]) else f"{row['at']:%Y-%m-%d %H:%M}"
    return (
        called(label),
        Code(mask(row["to"])),
        row["campaign"],
        int(row["row"]),
        at,
        money(row["price"], row["currency"]),
    )


def _prices(lines: pd.DataFrame) -> Iterator[Table]:
    if len(lines):
        rows = tuple(_price(label, row) for label, row in zip(lines.index, records(lines.head(_SHOWN)), strict=False))
        more = and_more(len(lines) - _SHOWN, ".lines")
        heads = ("Line", "Campaign", "Row", "Invoiced", "Recorded")
        align: tuple[Align, ...] = ("left", "left", "right", "right", "right")
        yield Table(heads, rows, align, "Other price", more)


def _price(label: Any, row: dict[str, Any]) -> tuple[Cell, ...]:
    ours = None if pd.isna(row["our_price"]) else row["our_price"]
    named = "" if pd.isna(row["our_currency"]) else row["our_currency"]
    return (
        called(label),
        row["campaign"],
        int(row["row"]),
        money(row["price"], row["currency"]),
        money(ours, named),
    )
