"""A reconciled invoice as a card: what agrees and what does not, with amounts, and what `settle` would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pandas as pd

from .._cards import Block, Card, Code, Figures, Note, Table, amounts, counted, listed, money, places_by
from .._cards import notes as counts
from .._dates import spanned
from .._results import contract
from .._showing import label as called
from .._wire import mask

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
    "payment": "Payment, not counted",
    "only_ours": "Recorded only",
}
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
    figures = Figures(
        (
            ("totals" if lines["found_by"].notna().any() and _are_totals(lines) else "lines", len(lines)),
            ("with the same price", int(lines["match"].eq("matched").sum())),
            ("only in the ledger", len(only_ours)),
            ("rows in doubt it would settle", len(doubts)),
        )
    )
    told = [Note("i", said) for said in (*_days(lines), *notes)]
    ambiguous = int(lines["match"].eq("ambiguous").sum())
    blocks: tuple[Block, ...] = (
        figures,
        *told,
        *_totals(totals),
        *_kinds(lines, only_ours),
        *counts(("!", ambiguous, f"{counted(ambiguous, 'line')} {_AMBIGUOUS}")),
        *_doubts(doubts),
        *_prices(lines[lines["match"].eq("other_price")]),
    )
    closing = "Next: look at .doubts, then .settle(reason=...) marks these rows as accepted." if len(doubts) else ""
    return Card("Invoice and ledger", f"Compared with {source}. Nothing has been changed.", blocks, closing)


def _are_totals(lines: pd.DataFrame) -> bool:
    return bool(lines[["id", "to"]].isna().all(axis=None))


def _days(lines: pd.DataFrame) -> Iterator[str]:
    """Say of which days the lines are, so that a wrong order of day and month shows."""
    known = lines["at"].dropna().dt.date
    if len(known):
        said = f"are {spanned((known.min(), known.max()))}"
        if _are_totals(lines):  # totals, by days or longer periods
            first, last = known.min(), known.max()
            said = f"begin on {first}" if first == last else f"begin on days from {first} to {last}"
        yield f"Its lines {said}."


def _totals(totals: pd.DataFrame) -> list[Table]:
    places = places_by([*totals["currency"]] * 2, [*totals["theirs"], *totals["ours"]])

    def shown(amount: float, row: dict[str, Any]) -> str:
        return money(amount, places=places[row["currency"]])

    return listed(
        totals,
        ("Currency", "left", "currency"),
        ("Invoiced", "right", lambda row: shown(row["theirs"], row)),
        ("Recorded", "right", lambda row: shown(row["ours"], row)),
        ("Difference", "right", lambda row: shown(round(row["theirs"] - row["ours"], 6), row)),
        most=len(totals),
    )


def _kinds(lines: pd.DataFrame, only_ours: pd.DataFrame) -> list[Table]:
    """Return counts and exact amounts by kind and currency, in the order in which they are told."""
    theirs, ours = lines[["match", "currency", "price"]], only_ours[["currency", "price"]].assign(match="only_ours")
    cells = (pd.concat([theirs, ours]) if len(ours) else theirs).rename(columns={"match": "kind"})
    micros = contract.micros(cells["price"].astype("float64"))
    groups = cells.assign(micros=micros).groupby(["kind", "currency"], dropna=False, sort=True)
    sums = groups.agg(count=("kind", "size"), micros=("micros", "sum")).reset_index()
    sums["amount"] = contract.money(sums["micros"].astype("Int64"))
    order = {kind: place for place, kind in enumerate(_SAID)}
    return listed(
        sums.sort_values("kind", key=lambda kinds: kinds.map(order), kind="stable"),
        ("What", "left", lambda row: _SAID[row["kind"]]),
        ("Lines", "right", "count"),
        ("Amount", "right", amounts(sums, "amount", "unknown currency", most=len(sums))),
        most=len(sums),
    )


def _doubts(doubts: pd.DataFrame) -> list[Table]:
    return listed(
        doubts.assign(line=doubts.index),
        ("Line", "left", lambda row: called(row["line"])),
        ("Number", "left", lambda row: Code(mask(row["to"]))),
        ("Campaign", "left", "campaign"),
        ("Row", "right", "row"),
        ("Time, UTC", "left", lambda row: "" if pd.isna(row["at"]) else f"{row['at']:%Y-%m-%d %H:%M}"),
        ("Price", "right", lambda row: money(row["price"], row["currency"])),
        title="Doubts that this invoice settles",
        where=".doubts",
    )


def _prices(lines: pd.DataFrame) -> list[Table]:
    return listed(
        lines.assign(line=lines.index),
        ("Line", "left", lambda row: called(row["line"])),
        ("Of", "left", _whose),
        ("Messages", "right", lambda row: "" if pd.isna(row["messages"]) else f"{int(row['messages']):,}"),
        ("Recorded", "right", lambda row: "" if pd.isna(row["our_messages"]) else f"{int(row['our_messages']):,}"),
        ("Invoiced", "right", lambda row: money(row["price"], row["currency"])),
        ("Recorded", "right", _our_price),
        title="Other price",
        where=".lines",
    )


def _our_price(row: dict[str, Any]) -> str:
    return money(row["our_price"], "" if pd.isna(row["our_currency"]) else row["our_currency"])


def _whose(row: dict[str, Any]) -> str:
    """Return the message of a line, or what a line of totals is about."""
    if pd.notna(row["row"]):
        return f"{row['campaign']}, row {int(row['row'])}"
    begins = "from " * ("period" in row["found_by"])
    day = "" if pd.isna(row["at"]) else f"{begins}{row['at']:%Y-%m-%d}"
    return " ".join(part for part in (day, row["country"], row["kind"]) if isinstance(part, str) and part)
