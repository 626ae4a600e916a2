"""Campaigns a page at a time: only those of the page are counted, however many a ledger has."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from .._moments import moment
from .._services import name_key
from ..errors import CampaignLockedError
from .reading import frames as reading
from .reading import spending
from .reading.spending import Billed
from .rows.damage import Unfit

if TYPE_CHECKING:
    from .book import Ledger

_WANTED = "FROM campaign WHERE kind='campaign' AND (?='' OR instr(name_key, ?) > 0 OR instr(lower(name), ?) > 0)"


@dataclass(frozen=True, slots=True)
class Entry:
    """One campaign in a list: how it is known, its rows by state, and what was billed for it in each currency."""

    name: str
    service: str
    created: datetime
    rows: int
    purged: bool
    counts: dict[str, int]
    billed: Billed


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of campaigns, the latest first: ``found`` of ``total`` have a name that was searched for."""

    entries: tuple[Entry, ...]
    found: int
    total: int


def listed(ledger: Ledger, *, search: str = "", first: int = 0, most: int = 10) -> Listing:
    """Return up to ``most`` campaigns from the ``first`` on whose names contain ``search``. Tests are left out."""
    wanted = (name_key(search), name_key(search), search.strip().lower())
    with ledger._store.understood(), ledger._store.snapshot() as connection:
        total = connection.execute(f"SELECT count(*) {_WANTED}", ("", "", "")).fetchone()[0]
        found = connection.execute(f"SELECT count(*) {_WANTED}", wanted).fetchone()[0]
        rows = connection.execute(
            f"SELECT id, name, service, created_at, rows, purged {_WANTED} ORDER BY id DESC LIMIT ? OFFSET ?",
            (*wanted, most, first),
        ).fetchall()
        if not all(
            isinstance(name, str) and isinstance(of, str) and isinstance(size, int) for _, name, of, _, size, _ in rows
        ):
            raise Unfit("a campaign has a name, a service or a number of rows that is none")
        billed = spending.billed(ledger._store, [row[0] for row in rows])
    entries = tuple(
        Entry(name, service, moment(created), size, bool(purged),
              _counts(ledger, number, name, service), billed.get(number, Billed()))
        for number, name, service, created, size, purged in rows
    )  # fmt: skip
    return Listing(entries, found, total)


def _counts(ledger: Ledger, number: int, name: str, service: str) -> dict[str, int]:
    """Count the rows of a campaign; rows under way of a process that died are in doubt."""
    found = reading.counts(ledger._store, number)
    if found["sending"]:
        with contextlib.suppress(CampaignLockedError):
            return ledger.record(name, service=service).counts
    return found
