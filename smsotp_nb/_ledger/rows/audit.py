"""Who decided what, and when: noted in the transaction of each decision, so that neither is there without the other.

It names no recipient. What people gave as a reason is their own text, and goes when the campaign is purged.
"""

from __future__ import annotations

from . import runners
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


def decider(connection: Statements) -> str:
    """Return who decides, so that two people differ: on a server the name by which it let them in."""
    return getattr(connection, "user", "") or runners.person()
