"""What the ledger is asked when a campaign begins, so that a server answers many questions with one message."""

from __future__ import annotations

import sqlite3

from ..._services import name_key
from ..rows.contacts import whether_packed, which_unsettled
from ..rows.damage import Unfit
from ..rows.statements import Question
from ..rows.tables import ACCEPTED, SENDING
from ..sending.recovering import whether_under_way
from .changing import whether_corrected

_KINDS = {"campaign", "test", "passcode"}


def which(service: str, name: str) -> Question:
    return (
        "SELECT id FROM campaign WHERE service=? AND name_key=? AND kind='campaign'",
        (service, name_key(name)),
    )


def what_named(campaign: int) -> Question:
    return "SELECT purged, name FROM campaign WHERE id=?", (campaign,)


def what_planned(campaign: int) -> Question:
    return "SELECT fingerprint FROM campaign WHERE id=?", (campaign,)


def how_many(campaign: int) -> Question:
    return "SELECT rows FROM campaign WHERE id=?", (campaign,)


def whether_contradicted(campaign: int) -> Question:
    """Ask whether a chunk and its request tell different stories: one says that it was sent, the other does not."""
    return (
        f"SELECT EXISTS (SELECT 1 FROM attempt a WHERE a.campaign=? AND a.ids IS NOT NULL AND NOT EXISTS (SELECT 1 "
        f"FROM chunk c WHERE c.campaign=a.campaign AND c.chunk=a.chunk AND c.attempt=a.id AND c.state={ACCEPTED})) "
        "OR EXISTS (SELECT 1 FROM chunk c WHERE c.campaign=? AND c.state IS NOT NULL AND NOT EXISTS (SELECT 1 "
        "FROM attempt a WHERE a.id=c.attempt AND a.campaign=c.campaign AND a.chunk=c.chunk "
        f"AND c.state IN ({SENDING}, {ACCEPTED})))",
        (campaign, campaign),
    )


def refuse_contradicted(connection: sqlite3.Connection, campaign: int) -> None:
    """Refuse a campaign whose rows may stand as not texted although its requests say otherwise.

    Raises:
        Unfit: what is recorded of a chunk contradicts what is recorded of its request.
    """
    if connection.execute(*whether_contradicted(campaign)).fetchone()[0]:
        raise Unfit("what it says of rows contradicts what it says of their requests")


def which_kinds() -> Question:
    return "SELECT DISTINCT kind FROM campaign", ()


def refuse_unknown_kinds(connection: sqlite3.Connection) -> None:
    """Refuse a ledger with a campaign that is neither a campaign, nor a test, nor passcodes.

    Nobody would find it by its name: its people would be texted again, by it and beyond what a policy lets through.

    Raises:
        Unfit: there is one.
    """
    if not {kind for (kind,) in connection.execute(*which_kinds())} <= _KINDS:
        raise Unfit("a campaign of it is of an unknown kind")


def before_a_run(campaign: int) -> list[Question]:
    """Return what is asked by whoever holds a campaign, before anything of it is changed."""
    return [
        what_named(campaign),
        what_planned(campaign),
        whether_corrected(campaign),
        which_unsettled(campaign),
        whether_under_way(campaign),
        whether_packed(campaign),
        how_many(campaign),
        whether_contradicted(campaign),
    ]
