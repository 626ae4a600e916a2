"""How many rows of a ledger the service refused: by campaign, day, and country of the number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pandas as pd

from ..._pandas import STR
from ..file.store import Store
from ..rows.tables import REJECTED
from .spending import services_asked, snapshot_of, table_of

if TYPE_CHECKING:
    from ..book import Ledger

COLUMNS: Final[dict[str, str | pd.StringDtype]] = {
    **dict.fromkeys(("service", "campaign", "kind"), STR),
    "day": "datetime64[us]",
    **dict.fromkeys(("region", "type", "currency"), STR),
    "refused": "Int64",
}
_SQL: Final = f"""
SELECT r.campaign, coalesce(a.settled_at, a.started_at, c.created_at), d.region, d.type, d.currency, count(*)
FROM recipient r JOIN campaign c ON c.id=r.campaign JOIN destination d ON d.id=r.destination
LEFT JOIN attempt a ON a.id=r.attempt
WHERE r.own_state={REJECTED} {{}} GROUP BY 1, 2, 3, 4, 5
"""
_NAMES: Final = ("at", "region", "type", "currency", "refused")
_DAY: Final = 86_400_000_000  # microseconds


def refusals(ledger: Ledger | str | Path, *, tz: str = "UTC") -> pd.DataFrame:
    """Return the rejected rows of the campaigns that `spending` sums up, counted; see `COLUMNS`.

    ``currency`` is the one of the estimate, because nothing was billed. The days of a purged campaign are in UTC.
    """
    with snapshot_of(ledger) as store:
        return _refusals(store, tz)


def _refusals(store: Store, tz: str) -> pd.DataFrame:
    campaigns = services_asked(store, None)
    recorded = table_of(store, _SQL.format(""), _NAMES)
    local = pd.to_datetime(recorded["at"].astype("int64"), unit="us", utc=True).dt.tz_convert(tz).dt.tz_localize(None)
    found = recorded.assign(day=local.dt.normalize())
    purged = _of_purged(store)
    if len(purged):
        found = pd.concat([found, purged]) if len(found) else purged
    found = found.join(campaigns, how="inner")
    return found.reindex(columns=list(COLUMNS)).astype(COLUMNS).reset_index(drop=True)


# -- what a purge leaves -----------------------------------------------------------------------------------------------


def refused_of(store: Store, campaign: int) -> str:
    """Return the refusals of a campaign as JSON, by day, UTC; they name nobody."""
    rows = table_of(store, _SQL.format("AND r.campaign=?"), _NAMES, (campaign,))
    rows = rows.assign(at=rows["at"] // _DAY * _DAY)
    by = rows.groupby(list(_NAMES[:-1]), dropna=False, sort=True)["refused"].sum().reset_index()
    return json.dumps(by.astype(object).where(by.notna(), None).values.tolist())


def _of_purged(store: Store) -> pd.DataFrame:
    with store.reading() as connection:
        found = connection.execute("SELECT campaign, refused FROM sums WHERE refused<>'[]'").fetchall()
    lines = [(campaign, *line) for campaign, refused in found for line in json.loads(refused)]
    frame = pd.DataFrame(lines, columns=["number", *_NAMES], dtype=object).set_index("number")
    return frame.assign(day=pd.to_datetime(frame["at"].astype("int64"), unit="us"))
