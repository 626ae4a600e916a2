"""A reconciled invoice as a card: what agrees and what does not, with amounts, and what `settle` would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pandas as pd

from .._cards import Block, Card, Cell, Code, Figures, Note, Table, and_more, counted, money, places_by
from .._cards.blocks import Align
from .._dates import spanned
from .._results import contract
from .._showing import label as called
from .._wire import mask
from .invoice_totals import total_lines
from .sources import records

_SAID: Final = {
    "matched": "Same price",
    "other_price": "Other price",
    "in_doubt": "In doubt in the ledger",
    "only_theirs": "On the invoice only",
    "ambiguous": "Several messages that day",
    "repeated": "Repeated line",
    "unreadable": "Unreadable line",
    "tax": "Tax",
    "fee": "Fee, of no message",
    "credit": "Credit",
    "total": "Total of other lines, not counted",
}
_SHOWN: Final = 8
_AMBIGUOUS: Final = (
    "have a day and no time, and there are several messages to the number on that day. Nothing is guessed: ask the "
    "provider for ids or times."
)


def card_of(
    lines: pd.DataFrame,
    only_ours: pd.DataFrame,
    totals: pd.DataFrame,
    doubts: pd.DataFrame,
    notes: Sequence[str],
    source: str,
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
    told = [Note("i", said) for said in (*notes, *total_lines(lines))]
    blocks: list[Block] = [figures, *_days(lines), *told, *_totals(totals), *_kinds(sums)]
    if ambiguous := int(lines["match"].eq("ambiguous").sum()):
        blocks.append(Note("!", f"{counted(ambiguous, 'line')} {_AMBIGUOUS}"))
    blocks += [*_doubts(doubts), *_prices(lines[lines["match"].eq("other_price")])]
    closing = "Next: look at .doubts, then .settle(reason=...) marks these rows as accepted." if len(doubts) else ""
    return Card("Invoice and ledger", f"Compared with {source}. Nothing has been changed.", tuple(blocks), closing)


def _days(lines: pd.DataFrame) -> Iterator[Note]:
    """Say of which days the lines are, so that a wrong order of day and month shows."""
    known = lines["at"].dropna().dt.date
    if len(known):
        said = f"are {spanned((known.min(), known.max()))}"
        if lines[["id", "to"]].isna().all(axis=None):  # totals, by days or longer periods
            first, last = known.min(), known.max()
            said = f"begin on {first}" if first == last else f"begin on days from {first} to {last}"
        yield Note("i", f"Its lines {said}.")


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
        yield Table(("What", "Lines", "Amount"), rows, ("left", "right", "right"))


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
        heads = ("Line", "Of", "Messages", "Recorded", "Invoiced", "Recorded")
        align: tuple[Align, ...] = ("left", "left", "right", "right", "right", "right")
        yield Table(heads, rows, align, "Other price", more)


def _price(label: Any, row: dict[str, Any]) -> tuple[Cell, ...]:
    ours = None if pd.isna(row["our_price"]) else row["our_price"]
    named = "" if pd.isna(row["our_currency"]) else row["our_currency"]
    return (
        called(label),
        _whose(row),
        *("" if pd.isna(row[name]) else f"{int(row[name]):,}" for name in ("messages", "our_messages")),
        money(row["price"], row["currency"]),
        money(ours, named),
    )


def _whose(row: dict[str, Any]) -> str:
    """Return the message of a line, or what a line of totals is about."""
    if pd.notna(row["row"]):
        return f"{row['campaign']}, row {int(row['row'])}"
    begins = "from " * ("period" in row["found_by"])
    day = "" if pd.isna(row["at"]) else f"{begins}{row['at']:%Y-%m-%d}"
    return " ".join(
        part for part in (day, *(row[name] for name in ("country", "kind"))) if isinstance(part, str) and part
    )
