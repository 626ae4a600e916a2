"""Who decided what, and when: noted in the transaction of each decision, so that neither is there without the other.

It names no recipient. What people gave as a reason is their own text, and goes when the campaign is purged.
"""

from __future__ import annotations

import pandas as pd

from ..._pandas import STR
from . import runners
from .columns import TIME, framed
from .statements import Statements


def note(
    connection: Statements,
    what: str,
    *,
    rows: int,
    now: int,
    campaign: int | None = None,
    reason: str | None = None,
) -> None:
    """Note a decision, inside its transaction."""
    name = getattr(connection, "user", "")  # by which a server let them in
    who = f"{name} ({runners.person()})" if name else runners.person()
    connection.execute(
        "INSERT INTO decision (at, who, what, campaign, rows, reason) VALUES (?, ?, ?, ?, ?, ?)",
        (now, who, what, campaign, rows, reason),
    )


def decisions(connection: Statements) -> pd.DataFrame:
    """Return all decisions, the earliest first, see `Ledger.audit`."""
    found = connection.execute(
        "SELECT d.at, d.who, d.what, k.service, k.name, d.rows, d.reason FROM decision d "
        "LEFT JOIN campaign k ON k.id=d.campaign ORDER BY d.id"
    ).fetchall()
    text = dict.fromkeys(("who", "what", "service", "campaign"), STR)
    return framed(found, {"at": TIME, **text, "rows": "Int64", "reason": STR})


def decider(connection: Statements) -> str:
    """Return who decides, so that two people differ: on a server the name by which it let them in."""
    return getattr(connection, "user", "") or runners.person()
