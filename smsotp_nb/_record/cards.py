"""The record for people to read: a card of the ledger, a card of a campaign, a campaign in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from .. import _cards as cards
from .._moments import said as moment
from .._services import is_rehearsal, shown
from .._wire import mask
from ..problems import explain
from .tables import LIVE

if TYPE_CHECKING:
    from .campaign import CampaignRow

_LATEST: Final = 20  # campaigns on the ledger's card
_SHOWN: Final = 10  # rows in doubt on a campaign's
_STATES: Final = {
    "accepted": "accepted", "in_doubt": "in doubt", "rejected": "rejected", "planned": "to go", "skipped": "left out"
}  # fmt: skip


def of_ledger(path: Any, campaigns: pd.DataFrame, retention: str) -> cards.Card:
    """Return a card of what ``Ledger.campaigns`` gives, and how long numbers are kept."""
    latest = campaigns.iloc[::-1].head(_LATEST)
    rows = [
        (
            f"{row.campaign} (test)" if row.kind == "test" else row.campaign,
            realm_in_words(row.realm),
            f"{row.created_at:%Y-%m-%d %H:%M}",
            int(row.accepted),
            int(row.in_doubt),
            int(row.rejected),
            int(row.planned),
        )
        for row in latest.itertuples(index=False)
    ]
    blocks: list[cards.Block] = []
    if rows:
        columns = ("Campaign", "Service", "Recorded, UTC", "Accepted", "In doubt", "Rejected", "To go")
        more = f"and {len(campaigns) - _LATEST:,} earlier ones" if len(campaigns) > _LATEST else ""
        blocks.append(cards.Table(columns, tuple(rows), ("left",) * 3 + ("right",) * 4, more=more))
    if retention:
        blocks.append(cards.Note("i", retention))
    what = "campaign or test is" if len(campaigns) == 1 else "campaigns and tests are"
    state = f"{len(campaigns):,} {what} recorded." if rows else "No campaign is recorded yet."
    closing = "Next: ledger.record(name) shows one." if rows else ""
    return cards.Card(f"Ledger: {path}", state, tuple(blocks), closing=closing)


def realm_in_words(realm: str) -> str:
    return "live" if realm == LIVE else "the sandbox"


def whose_line(campaign: CampaignRow, others: Sequence[CampaignRow]) -> str:
    """Return where and when a campaign was recorded, and how many others have its name."""
    more = f", {len(others):,} more of this name" if others else ""
    where = "rehearsal" if is_rehearsal(campaign.realm) else f"live service {shown(campaign.service)}"
    return f"{where} since {moment(campaign.created)}{more}"


def of_campaign(
    campaign: CampaignRow,
    others: Sequence[CampaignRow],
    counts: Mapping[str, int],
    in_doubt: pd.DataFrame,
    held: pd.DataFrame,
    changes: pd.DataFrame,
    runner: str,
    *,
    is_purged: bool,
) -> cards.Card:
    """Return a card of one campaign; ``others`` are those of its name in other realms."""
    figures = tuple((text, cards.number(counts[state])) for state, text in _STATES.items())
    blocks: list[cards.Block] = [cards.Figures(figures)]
    if is_purged:
        blocks.append(cards.Note("i", "Purged: nobody knows any more who it was. What it cost is known."))
    if others:
        blocks.append(cards.Note("i", _others_in_words(others)))
    if runner:
        blocks.append(cards.Note("i", f"Being run by {runner}."))
    blocks += _held_notes(held)
    blocks += _change_notes(changes)
    closing = ""
    if len(in_doubt):
        blocks.append(_doubt_table(in_doubt))
        closing = (
            "Next: find out what happened, then record.settle(rows, accepted=True or False). "
            "Never sent again automatically."
        )
    where = "Live service " + shown(campaign.service)
    if is_rehearsal(campaign.realm):
        where = "A rehearsal on a sandbox"
    return cards.Card(
        f"Campaign: {campaign.name}", f"{where}, recorded on {moment(campaign.created)}.", tuple(blocks), closing=closing
    )


def _others_in_words(others: Sequence[CampaignRow]) -> str:
    live = sum(not is_rehearsal(other.realm) for other in others)
    parts = []
    if live:
        parts.append("the live campaign")
    if len(others) > live:
        parts.append(cards.counted(len(others) - live, "rehearsal"))
    return f"Also of this name: {' and '.join(parts)}. record({others[0].name!r}, client) shows that of a client."


def _held_notes(held: pd.DataFrame) -> list[cards.Note]:
    """Say which rule holds back how many rows, and until when."""
    return [
        cards.Note("!", f"{cards.counted(int(rows), 'row')}{until(first, last)}: {explain(problem)} ({problem}).")
        for problem, rows, first, last in held.itertuples(index=False)
    ]


def _change_notes(changes: pd.DataFrame) -> list[cards.Note]:
    notes = []
    for change in changes.itertuples(index=False):
        why = f": {change.reason}" if isinstance(change.reason, str) else ""
        rows = cards.counted(int(change.rows), "row")
        notes.append(cards.Note("i", f"{change.what} on {change.at:%Y-%m-%d %H:%M} UTC, {rows}{why}."))
    return notes


def _doubt_table(in_doubt: pd.DataFrame) -> cards.Table:
    rows = []
    for row in in_doubt.head(_SHOWN).itertuples(index=False):
        who = cards.Code(mask(row.to)) if isinstance(row.to, str) else "forgotten"
        status = "" if pd.isna(row.http_status) else str(row.http_status)
        rows.append(("" if pd.isna(row.row) else str(row.row), who, row.phase, status, row.error))
    more = f"and {len(in_doubt) - _SHOWN:,} more" if len(in_doubt) > _SHOWN else ""
    columns = ("Row", "In doubt", "Phase", "HTTP", "What is known")
    return cards.Table(columns, tuple(rows), ("right", "left", "left", "left", "left"), more=more)


def until(first: pd.Timestamp, last: pd.Timestamp) -> str:
    """Return in words until when rows are held back, between two times that may be missing."""
    if pd.isna(first):
        return ""
    begins, ends = f"{first:%Y-%m-%d %H:%M}", f"{last:%Y-%m-%d %H:%M}"
    return f", until {begins} UTC" if begins == ends else f", until {begins} to {ends} UTC"


def state_line(counts: Mapping[str, int]) -> str:
    """Return the rows of a campaign by state, in one line."""
    parts = [f"{counts.get(state, 0):,} {text}" for state, text in _STATES.items() if state != "skipped"]
    if under_way := counts.get("sending", 0):
        parts.append(f"{under_way:,} under way")
    return ", ".join(parts)
