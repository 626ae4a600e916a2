"""Whether a plan may go on with a campaign, and when its rows begin and end to change.

What a dead runner left is in doubt then, and what is packed beside the rows goes.
"""

from __future__ import annotations

from collections.abc import Callable

from ...errors import LedgerError, PlanChanged
from ..file.store import Store
from ..rows.contacts import pack, unpack
from ..rows.damage import Unfit
from ..rows.statements import Statements
from ..rows.sums import pack_sums, sums_to_pack
from ..rows.tables import ACCEPTED, IN_DOUBT, SENDING, spread
from ..server.address import in_code
from . import changing
from .recording import Planned

OWNER_DIED = "the sending process ended before the answer was recorded"


def refuse_contradicted(connection: Statements, campaign: int) -> None:
    """Refuse a campaign whose rows may stand as not texted although its requests say otherwise."""
    found = connection.execute(
        f"SELECT EXISTS (SELECT 1 FROM attempt a WHERE a.campaign=? AND a.ids IS NOT NULL AND NOT EXISTS (SELECT 1 "
        f"FROM chunk c WHERE c.campaign=a.campaign AND c.chunk=a.chunk AND c.attempt=a.id AND c.state={ACCEPTED})) "
        "OR EXISTS (SELECT 1 FROM chunk c WHERE c.campaign=? AND c.state IS NOT NULL AND NOT EXISTS (SELECT 1 "
        "FROM attempt a WHERE a.id=c.attempt AND a.campaign=c.campaign AND a.chunk=c.chunk "
        f"AND c.state IN ({SENDING}, {ACCEPTED})))",
        (campaign, campaign),
    )
    if found.fetchone()[0]:
        raise Unfit("what it says of rows contradicts what it says of their requests")


def refuse_unknown_kinds(connection: Statements) -> None:
    """Refuse a ledger with a campaign that is neither a campaign, nor a test, nor passcodes.

    Nobody would find it by its name: its people would be texted again, by it and beyond what a policy lets through.
    """
    kinds = connection.execute("SELECT DISTINCT kind FROM campaign")
    if not {kind for (kind,) in kinds} <= {"campaign", "test", "passcode"}:
        raise Unfit("a campaign of it is of an unknown kind")


def agree(store: Store, campaign: int, plan: Planned, *, now: int) -> None:
    """Accept a plan for a recorded campaign, or refuse it. The caller holds the campaign's lock."""
    with store.reading() as connection:
        sql = "SELECT purged, name, fingerprint FROM campaign WHERE id=?"
        purged, name, known = connection.execute(sql, (campaign,)).fetchone()
        changed = changing.changes_of(connection, campaign)
    if name != plan.campaign:
        raise LedgerError(
            f"campaign {plan.campaign!r} differs only in spelling from the recorded {name!r}. Nothing was sent. "
            f"Plan it as campaign={name!r} to continue that one, or choose a name that differs in more than case "
            "and blanks"
        )
    if purged:
        raise LedgerError(
            f"campaign {plan.campaign!r} was purged: it is no longer known who was texted, so it is never sent "
            "again. Nothing was sent; choose another campaign name"
        )
    if plan._held.folder is not None:
        with store.reading() as connection:
            if changing.takes_in_pieces(connection, campaign, plan):
                return
        raise PlanChanged(
            f"campaign {plan.campaign!r} is recorded with a different plan, or was corrected since. Nothing was sent. "
            "Plan the same files with the same arguments to continue it; a new campaign needs another name, and "
            f"exclude=sms.record({plan.campaign!r}) for whom this one reached"
        )
    in_force = known == plan.fingerprint
    if in_force and not changed & {"corrected", "withdrawn"}:
        return
    with store.snapshot() as connection:
        found = changing.compare(connection, campaign, plan)
        if not changing.takes(connection, campaign, plan, found):
            raise changing.refusal(connection, campaign, plan, found, ledger=in_code(store.path))
    if in_force:
        with store.writing() as connection:
            changing.reword(connection, campaign, plan)
    elif len(found.dropped):
        with store.writing() as connection:
            changing.adopt(connection, campaign, plan, found, reason=None, now=now)


def give_up(store: Store, campaign: int, why: str, *, now: int) -> int:
    """Make every row under way in doubt and return how many; to be called by whoever holds the campaign's lock."""
    is_under_way = store.asked(
        "SELECT EXISTS (SELECT 1 FROM attempt WHERE campaign=? AND outcome IS NULL) "
        "OR EXISTS (SELECT 1 FROM chunk WHERE campaign=? AND state=?) "
        "OR EXISTS (SELECT 1 FROM recipient WHERE campaign=? AND own_state=?)",
        (campaign, campaign, SENDING, campaign, SENDING),
    )[0][0]
    if not is_under_way:
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


def begin_changing(store: Store, campaign: int) -> None:
    """Delete packed contacts and sums of a campaign whose rows are about to change; write nothing if there are none."""
    sql = "SELECT 1 FROM contacts WHERE campaign=? UNION ALL SELECT 1 FROM sums WHERE campaign=?"
    if store.asked(sql, (campaign, campaign)):
        with store.writing("NORMAL") as connection:
            unpack(connection, campaign)


def end_changing(store: Store, campaign: int, *, now: int, mine: Callable[[Statements], bool]) -> None:
    """Pack contacts and sums of a campaign whose rows no longer change; write nothing if nothing was ever requested.

    Those of passcodes are never packed: one may be recorded at any time, by whoever sends it.

    ``mine`` says whether the caller still holds the campaign: else somebody else changes its rows now.
    Both are read and written in one transaction; otherwise somebody who is forgotten in between would stay in the
    contacts, and an answer that came in between would be missing from the sums.
    """
    sql = "SELECT 1 FROM campaign k WHERE id=? AND kind<>'passcode' AND EXISTS "
    if store.asked(f"{sql}(SELECT 1 FROM attempt a WHERE a.campaign=k.id)", (campaign,)):
        with store.writing("NORMAL") as connection:
            if mine(connection):
                pack(connection, campaign, now=now)
                pack_sums(connection, campaign, sums_to_pack(connection, campaign))
