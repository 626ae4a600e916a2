"""Rows whose runner is dead, or was told to leave: what was under way is in doubt from then on."""

from __future__ import annotations

from ..file.store import Store
from ..rows import contacts
from ..rows.statements import Question
from ..rows.tables import IN_DOUBT, SENDING, spread

OWNER_DIED = "the sending process ended before the answer was recorded"


def give_up(store: Store, campaign: int, why: str, *, now: int) -> int:
    """Make every row under way in doubt and return how many; to be called by whoever holds the campaign's lock."""
    if not _anything_under_way(store, campaign):
        return 0
    with store.writing() as connection:
        contacts.unpack(connection, campaign)
        whole_ones = "SELECT chunk, attempt FROM chunk WHERE campaign=? AND state=?"
        for chunk, attempt in connection.execute(whole_ones, (campaign, SENDING)).fetchall():
            spread(connection, campaign, chunk, attempt)
        found = connection.execute(
            "UPDATE recipient SET own_state=?, problem='NO_ANSWER' WHERE campaign=? AND own_state=?",
            (IN_DOUBT, campaign, SENDING),
        ).rowcount
        connection.execute(
            "UPDATE attempt SET outcome='in_doubt', phase='unknown', error=?, settled_at=? "
            "WHERE campaign=? AND outcome IS NULL",
            (why, now, campaign),
        )
    return found


def _anything_under_way(store: Store, campaign: int) -> bool:
    with store.reading() as connection:
        return bool(connection.execute(*whether_under_way(campaign)).fetchone()[0])


def whether_under_way(campaign: int) -> Question:
    return (
        "SELECT EXISTS (SELECT 1 FROM attempt WHERE campaign=? AND outcome IS NULL) "
        "OR EXISTS (SELECT 1 FROM chunk WHERE campaign=? AND state=?) "
        "OR EXISTS (SELECT 1 FROM recipient WHERE campaign=? AND own_state=?)",
        (campaign, campaign, SENDING, campaign, SENDING),
    )
