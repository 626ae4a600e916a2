"""What a campaign has cost so far, for a guard that watches it while it runs."""

from __future__ import annotations

import sqlite3
from collections import Counter

import pandas as pd

from ..file.store import Store
from ..rows.columns import sums_whole
from ..rows.tables import ACCEPTED, IN_DOUBT, PLANNED
from .frames import outcomes, recorded

# An estimate, by currency and micro-units, and what messages of it were billed: currency, micro-units, how many.
Price = tuple[tuple[str | None, int | None], str | None, int | None, int]
_MAY_HAVE_LEFT = ("accepted", "in_doubt", "sending")
# What rows kept one by one have cost: as billed, in two halves, for SQLite's sums end at 2^63; and as estimated where
# no price is known, which is so of rows in doubt.
HALF = 31
_BILLED = (
    f"SELECT {{currency}}, sum(r.price >> {HALF}), sum(r.price & {2**HALF - 1}) FROM recipient r "
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
    with store.snapshot() as connection:
        found = _billed(connection, campaign, "coalesce(a.currency, d.currency)", IN_DOUBT)
        for currency, parts, rate, rows in connection.execute(_ESTIMATED, (campaign, ACCEPTED, IN_DOUBT)):
            found[currency] += (parts or 0) * (rate or 0) * rows
    return {currency: micros for currency, micros in found.items() if currency is not None}


def prices(store: Store, campaign: int) -> list[Price]:
    """Return what the rows that may have left were billed, added up by their estimate and the billed currency.

    Free messages are left out. Of rows without a known price, the sum is None.
    """
    with store.snapshot():
        rows = outcomes(store, campaign)
        rows = rows[rows["status"].isin(_MAY_HAVE_LEFT)].join(recorded(store, campaign)[["est_currency", "est_cost"]])
    if rows.empty:
        return []
    cost = (rows["est_cost"] * 1_000_000).round()
    price = (rows["price"] * 1_000_000).round()
    table = pd.DataFrame({"of": rows["est_currency"], "cost": cost, "currency": rows["currency"], "price": price})
    table = table[table["price"].ne(0) & (table["price"].isna() | rows["parts"].ne(0).fillna(True))]
    table["currency"] = table["currency"].where(table["price"].notna())
    sums = table.groupby(["of", "cost", "currency"], dropna=False)["price"].agg(["sum", "size"])
    return [
        (
            (None if pd.isna(of) else str(of), None if pd.isna(cost) else int(cost)),
            None if pd.isna(currency) else str(currency),
            None if pd.isna(currency) else int(total),
            int(many),
        )
        for (of, cost, currency), total, many in sums.itertuples()
    ]


def billed(store: Store, campaign: int) -> dict[str, int]:
    """Return micro-units by currency: what the accepted rows were billed; a price without a currency is in no sum."""
    with store.snapshot() as connection:
        found = _billed(connection, campaign, "a.currency", ACCEPTED)
    return {currency: micros for currency, micros in found.items() if currency is not None}


def _billed(connection: sqlite3.Connection, campaign: int, currency: str, state: int) -> Counter[str]:
    """Add up the prices of the rows that are accepted or in another state."""
    found = Counter[str]()
    for code, above, below in connection.execute(_BILLED.format(currency=currency), (campaign, ACCEPTED, state)):
        found[code] += (above << HALF) + below
    of = dict(connection.execute("SELECT id, currency FROM attempt WHERE campaign=?", (campaign,)))
    for attempt, micros in sums_whole(connection, campaign)["price"].items():
        found[of[attempt]] += int(micros)
    return found


def of_estimate(store: Store, campaign: int, what: str, where: str) -> list[str]:
    """Return the distinct values of a column of the estimates, for rows still to go of which a condition is true."""
    with store.reading() as connection:
        rows = connection.execute(
            f"SELECT DISTINCT coalesce({what}, 'unknown') FROM fate JOIN destination d ON d.id=destination "
            f"WHERE campaign=? AND state=? AND {where} ORDER BY 1",
            (campaign, PLANNED),
        )
        return [row[0] for row in rows]
