"""When rows begin and end to change: what a dead runner left is in doubt, and what is packed beside them goes."""

from __future__ import annotations

from collections.abc import Callable

from ..file.store import Store
from ..rows.columns import which_kept
from ..rows.contacts import pack, unpack, whether_packed, which_by_row
from ..rows.statements import Question, Statements, foreseen
from ..rows.sums import pack_sums, sums_to_pack
from ..rows.tables import IN_DOUBT, SENDING, spread

OWNER_DIED = "the sending process ended before the answer was recorded"


def give_up(store: Store, campaign: int, why: str, *, now: int) -> int:
    """Make every row under way in doubt and return how many; to be called by whoever holds the campaign's lock."""
    with store.reading() as connection:
        if not connection.execute(*whether_under_way(campaign)).fetchone()[0]:
            return 0
    with store.writing() as connection:
        unpack(connection, campaign)
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


def whether_under_way(campaign: int) -> Question:
    return (
        "SELECT EXISTS (SELECT 1 FROM attempt WHERE campaign=? AND outcome IS NULL) "
        "OR EXISTS (SELECT 1 FROM chunk WHERE campaign=? AND state=?) "
        "OR EXISTS (SELECT 1 FROM recipient WHERE campaign=? AND own_state=?)",
        (campaign, campaign, SENDING, campaign, SENDING),
    )


def begin_changing(store: Store, campaign: int) -> None:
    """Delete packed contacts and sums of a campaign whose rows are about to change; write nothing if there are none."""
    with store.reading() as connection:
        packed = connection.execute(*whether_packed(campaign)).fetchone()
    if packed:
        with store.writing("NORMAL") as connection:
            unpack(connection, campaign)


def end_changing(store: Store, campaign: int, *, now: int, mine: Callable[[Statements], bool]) -> None:
    """Pack contacts and sums of a campaign whose rows no longer change; write nothing if nothing was ever requested.

    Those of passcodes are never packed: one may be recorded at any time, by whoever sends it.

    ``mine`` says whether the caller still holds the campaign: else somebody else changes its rows now.
    Both are read and written in one transaction; otherwise somebody who is forgotten in between would stay in the
    contacts, and an answer that came in between would be missing from the sums.
    """
    with store.reading() as connection:
        sql = "SELECT 1 FROM campaign k WHERE id=? AND kind<>'passcode' AND EXISTS "
        tried = connection.execute(f"{sql}(SELECT 1 FROM attempt a WHERE a.campaign=k.id)", (campaign,)).fetchone()
    if tried:
        with store.writing("NORMAL") as connection:
            foreseen(connection, which_by_row(campaign, now), which_kept(campaign))
            if mine(connection):
                pack(connection, campaign, now=now)
                pack_sums(connection, campaign, sums_to_pack(connection, campaign))
