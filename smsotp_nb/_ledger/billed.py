"""What a campaign has cost so far, for a guard that watches it while it runs."""

from __future__ import annotations

from collections import Counter

from .columns import sums_whole
from .store import Store
from .tables import ACCEPTED, IN_DOUBT

# What rows kept one by one have cost: as billed, in two halves, for SQLite's sums end at 2^63; and as estimated where
# no price is known, which is so of rows in doubt.
HALF = 31
_BILLED = (
    f"SELECT coalesce(a.currency, d.currency), sum(r.price >> {HALF}), sum(r.price & {2**HALF - 1}) FROM recipient r "
    "JOIN destination d ON d.id=r.destination LEFT JOIN attempt a ON a.id=r.attempt "
    "WHERE r.campaign=? AND r.own_state IN (?, ?) AND r.price IS NOT NULL GROUP BY 1"
)
_ESTIMATED = (
    "SELECT d.currency, c.est_parts, d.rate, count(*) FROM recipient r "
    "JOIN chunk c ON c.campaign=r.campaign AND c.chunk=r.chunk JOIN destination d ON d.id=r.destination "
    "WHERE r.campaign=? AND r.own_state IN (?, ?) AND r.price IS NULL GROUP BY 1, 2, 3"
)


def spent(store: Store, campaign: int) -> dict[str, int]:
    """Return micro-units by currency: what was billed, and the estimate of rows that are in doubt or unpriced."""
    found = Counter[str]()
    with store.snapshot() as connection:
        mine = (campaign, ACCEPTED, IN_DOUBT)
        for currency, above, below in connection.execute(_BILLED, mine):
            found[currency] += (above << HALF) + below
        for currency, parts, rate, rows in connection.execute(_ESTIMATED, mine):
            found[currency] += (parts or 0) * (rate or 0) * rows
        of = dict(connection.execute("SELECT id, currency FROM attempt WHERE campaign=?", (campaign,)))
        for attempt, micros in sums_whole(connection, campaign)["price"].items():
            found[of[attempt]] += int(micros)
    return {currency: micros for currency, micros in found.items() if currency is not None}
