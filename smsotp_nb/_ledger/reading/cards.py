"""The ledger for people to read: a card of the ledger, a card of a campaign, a campaign in one line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ... import _cards as cards
from ..._moments import said as moment
from ..._services import is_rehearsal, shown
from ..._wire import mask
from ...problems import explain
from .frames import Named

LATEST = 20
SHOWN = 10


def of_ledger(path: Path, campaigns: pd.DataFrame, kept: str, unreached: str, *, approval: bool = False) -> cards.Card:
    """Return a card of what ``Ledger.campaigns`` gives, whether they need an approval, how long they are kept, and what
    no deletion reaches."""
    latest = campaigns.iloc[::-1].head(LATEST)
    told = latest[["campaign", "kind", "service", "created_at", "accepted", "in_doubt", "rejected", "planned"]]
    rows = tuple(
        (
            f"{name} (test)" if kind == "test" else name,
            shown(of),
            f"{created:%Y-%m-%d %H:%M}",
            *(map(int, counts) if pd.notna(counts[0]) else ("purged", "", "", "")),
        )
        for name, kind, of, created, *counts in told.itertuples(index=False)
    )
    columns = ("Campaign", "Service", "Recorded, UTC", "Accepted", "In doubt", "Rejected", "To go")
    more = f"and {len(campaigns) - LATEST:,} earlier ones" if len(campaigns) > LATEST else ""
    notes = [
        "Each campaign needs the approval of a second person (campaign.approve)." * approval,
        kept,
        f"What is deleted can still be read in {unreached}." * bool(unreached),
    ]
    blocks: list[cards.Block] = [cards.Note("i", note) for note in notes if note]
    if rows:
        blocks.insert(0, cards.Table(columns, rows, ("left",) * 3 + ("right",) * 4, more=more))
    what = "campaign or test is" if len(campaigns) == 1 else "campaigns and tests are"
    state = f"{len(campaigns):,} {what} recorded." if rows else "No campaign is recorded yet."
    return cards.Card(
        f"Ledger: {path}", state, tuple(blocks), closing="Next: ledger.record(name) shows one." if rows else ""
    )


def whose_line(it: Named, others: Sequence[str]) -> str:
    """Return the service and the time in words, and how many others have a campaign of the name."""
    more = f", {len(others):,} more of this name" if others else ""
    where = "rehearsal" if is_rehearsal(it.service) else f"live service {shown(it.service)}"
    return f"{where} since {moment(it.created)}{more}"


def _others(it: Named, others: Sequence[str]) -> tuple[cards.Note, ...]:
    """Return which other services have a campaign of this name, and how to look at theirs."""
    if not others:
        return ()
    live = [shown(service) for service in others if not is_rehearsal(service)]
    rehearsed = len(others) - len(live)
    counts = [f"live service {one}" for one in live] + [cards.counted(rehearsed, "rehearsal")] * bool(rehearsed)
    doubtful = bool(live) and not is_rehearsal(it.service)
    latest = "; this is the latest of the live ones" if doubtful else ""
    names = f"record({it.name!r}, client) shows that of a client"
    return (cards.Note("!" if doubtful else "i", f"Also of this name: {', '.join(counts)}{latest}. {names}."),)


def of_campaign(
    it: Named,
    others: Sequence[str],
    counts: dict[str, int] | None,
    in_doubt: pd.DataFrame,
    held: pd.DataFrame,
    changes: pd.DataFrame,
    runner: str = "",
    approval: str = "",
) -> cards.Card:
    """Return a card of one campaign, of its properties, `reading.held`, `Store.runner` and `approving.state`.

    ``others`` are the services that have one of its name as well. ``counts`` is None of a purged one.
    """
    words = ("accepted", "in_doubt", "rejected", "planned", "skipped")
    said = {"in_doubt": "in doubt", "planned": "to go", "skipped": "left out"}
    first: cards.Block = cards.Note("i", "Purged: its rows are gone. cost.card(record) has what it cost.")
    if counts is not None:
        first = cards.Figures(tuple((said.get(state, state), cards.number(counts[state])) for state in words))
    blocks: tuple[cards.Block, ...] = (first, *_others(it, others))
    blocks += (cards.Note("i", f"Being run by {runner}."),) * bool(runner)
    blocks += (cards.Note("i" if approval.startswith("Approved") else "!", approval),) * bool(approval)
    blocks += (*_held(held), *_changes(changes))
    closing = ""
    if len(in_doubt):
        rows = tuple(
            (
                cards.Code(mask(to)) if isinstance(to, str) else "forgotten",
                phase,
                "" if pd.isna(status) else str(status),
                error,
            )
            for to, phase, status, error in in_doubt[["to", "phase", "http_status", "error"]]
            .head(SHOWN)
            .itertuples(index=False)
        )
        more = f"and {len(in_doubt) - SHOWN:,} more" if len(in_doubt) > SHOWN else ""
        blocks += (cards.Table(("In doubt", "Phase", "HTTP", "What is known"), rows, ("left",) * 4, more=more),)
        closing = (
            "Next: find out what happened, then campaign.settle(rows, accepted=True or False). "
            "Never sent again automatically."
        )
    where = "A rehearsal on a sandbox" if is_rehearsal(it.service) else f"Live service {shown(it.service)}"
    state = f"{where}, recorded on {moment(it.created)}."
    return cards.Card(f"Campaign: {it.name}", state, blocks, closing=closing)


def _held(held: pd.DataFrame) -> list[cards.Note]:
    """Return in words which rule holds back how many rows, and until when."""
    return [
        cards.Note("!", f"{cards.counted(int(rows), 'row')}{until(first, last)}: {explain(problem)} ({problem}).")
        for problem, rows, first, last in held.itertuples(index=False)
    ]


def _changes(changes: pd.DataFrame) -> list[cards.Note]:
    because = (", by " + changes["source"]).fillna("") + (": " + changes["reason"]).fillna("")
    return [
        cards.Note("i", f"{what} on {at:%Y-%m-%d %H:%M} UTC, {cards.counted(int(rows), 'row')}{why}.")
        for at, what, rows, why in zip(changes["at"], changes["what"], changes["rows"], because, strict=True)
    ]


def until(first: pd.Timestamp, last: pd.Timestamp) -> str:
    """Return in words until when rows are held back, between two times that may be missing."""
    if pd.isna(first):
        return ""
    begins, ends = f"{first:%Y-%m-%d %H:%M}", f"{last:%Y-%m-%d %H:%M}"
    return f", until {begins}{'' if begins == ends else f' to {ends}'} UTC"


def state_line(found: dict[str, int]) -> str:
    words = (("accepted", "accepted"), ("in_doubt", "in doubt"), ("rejected", "rejected"), ("planned", "to go"))
    said = [f"{found.get(state, 0):,} {word}" for state, word in words]
    under_way = found.get("sending", 0)
    return ", ".join(said + [f"{under_way:,} under way"] * bool(under_way))
