"""How many rows of a ledger the service refused: by campaign, day, and country of the number."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pandas as pd

from .._pandas import STR
from .store import Store
from .summing import services_asked, snapshot_of, table_of
from .tables import REJECTED

if TYPE_CHECKING:
    from .book import Ledger

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
WHERE r.own_state={REJECTED} GROUP BY 1, 2, 3, 4, 5
"""


def refusals(ledger: Ledger | str | Path, *, tz: str = "UTC") -> pd.DataFrame:
    """Return the rejected rows of the campaigns that `spending` sums up, counted; see `COLUMNS`.

    ``currency`` is the one of the estimate, because nothing was billed. Purged campaigns are not in it.
    """
    with snapshot_of(ledger) as store:
        return _refusals(store, tz)


def _refusals(store: Store, tz: str) -> pd.DataFrame:
    campaigns = services_asked(store, None)
    found = table_of(store, _SQL, ("at", "region", "type", "currency", "refused"))
    found = found.join(campaigns, how="inner")
    local = pd.to_datetime(found["at"].astype("int64"), unit="us", utc=True).dt.tz_convert(tz).dt.tz_localize(None)
    return found.assign(day=local.dt.normalize()).reindex(columns=list(COLUMNS)).astype(COLUMNS).reset_index(drop=True)
