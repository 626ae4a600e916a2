"""What the ledger hands to `cost`: spending rows, result rows, and when what was sent was answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from .book import LedgerOrPath
from .campaign import Record
from .places import path_of, snapshot_of
from .reading import spending
from .reading.spending import Sent


def spending_rows(source: LedgerOrPath | Record, names: list[str], **filters: Any) -> pd.DataFrame:
    """Return what the accepted messages of a ledger, or of one campaign of it, were billed; see `spending`."""
    if isinstance(source, Record):
        filters |= {"service": source.service, "campaign": source._number}
        source = source._ledger
    with snapshot_of(source) as store:
        return spending.spending_rows(store, names, **filters)


def result_rows(source: LedgerOrPath | Record) -> tuple[pd.DataFrame, int]:
    """Return the result rows of a ledger or campaign with their details, and how many campaigns have none any more."""
    if isinstance(source, Record):
        return source._table(), int(source._is_purged())
    with snapshot_of(source) as store:
        return spending.all_rows(store)


def sent_rows(source: LedgerOrPath | Record) -> Sent:
    """Return when requests were answered, and how many rows are in each state."""
    campaign = source._number if isinstance(source, Record) else None
    with snapshot_of(source._ledger if isinstance(source, Record) else source) as store:
        return spending.when_sent(store, campaign)


def files_of(source: LedgerOrPath | Record) -> list[Path]:
    """Return the files that a ledger is read from, which nothing may be written over; none of one on a server."""
    path = path_of(source._ledger if isinstance(source, Record) else source)
    if not isinstance(path, Path):
        return []
    return [path, *(path.with_name(path.name + ending) for ending in ("-wal", "-shm"))]
