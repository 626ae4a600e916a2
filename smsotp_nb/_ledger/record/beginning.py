"""What a campaign is asked when it begins, many questions with one message, and whether its plan may go on with it."""

from __future__ import annotations

from ..._services import name_key
from ...errors import LedgerError
from ..file.store import Store
from ..rows.contacts import whether_packed, which_unsettled
from ..rows.damage import Unfit
from ..rows.statements import Question, Statements
from ..rows.tables import ACCEPTED, SENDING
from ..server.address import in_code
from . import changing
from .changing import which_changes
from .recording import Planned
from .recovering import whether_under_way

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


def refuse_contradicted(connection: Statements, campaign: int) -> None:
    """Refuse a campaign whose rows may stand as not texted although its requests say otherwise."""
    if connection.execute(*whether_contradicted(campaign)).fetchone()[0]:
        raise Unfit("what it says of rows contradicts what it says of their requests")


def which_kinds() -> Question:
    return "SELECT DISTINCT kind FROM campaign", ()


def refuse_unknown_kinds(connection: Statements) -> None:
    """Refuse a ledger with a campaign that is neither a campaign, nor a test, nor passcodes.

    Nobody would find it by its name: its people would be texted again, by it and beyond what a policy lets through.
    """
    if not {kind for (kind,) in connection.execute(*which_kinds())} <= _KINDS:
        raise Unfit("a campaign of it is of an unknown kind")


def before_a_run(campaign: int) -> list[Question]:
    """Return what is asked by whoever holds a campaign, before anything of it is changed."""
    return [
        what_named(campaign),
        what_planned(campaign),
        which_changes(campaign),
        which_unsettled(campaign),
        whether_under_way(campaign),
        whether_packed(campaign),
        how_many(campaign),
        whether_contradicted(campaign),
    ]


def agree(store: Store, campaign: int, plan: Planned, *, now: int) -> None:
    """Accept a plan for a recorded campaign, or refuse it. The caller holds the campaign's lock."""
    with store.reading() as connection:
        purged, name = connection.execute(*what_named(campaign)).fetchone()
        known = connection.execute(*what_planned(campaign)).fetchone()[0]
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
    if plan.folder is not None:
        with store.reading() as connection:
            if changing.takes_in_pieces(connection, campaign, plan):
                return
        raise changing.refusal_in_pieces(plan)
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
