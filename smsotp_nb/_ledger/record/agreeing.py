"""Whether a plan may go on with a recorded campaign: the same plan, the same with fewer people, or a refusal."""

from __future__ import annotations

from ...errors import LedgerError
from ..file.store import Store
from . import beginning, changing
from .recording import Planned


def agree(store: Store, campaign: int, plan: Planned, *, now: int) -> None:
    """Accept a plan for a recorded campaign, or refuse it. The caller holds the campaign's lock.

    Raises:
        PlanChanged: the plan is not the recorded one.
        LedgerError: the campaign was purged, or its name is spelt in another way.
    """
    _refuse_another_name(store, campaign, plan)
    with store.reading() as connection:
        known = connection.execute(*beginning.what_planned(campaign)).fetchone()[0]
        corrected = changing.was_corrected(connection, campaign)
    if known == plan.fingerprint and not corrected:
        return
    if plan.folder is not None:
        raise changing.refusal_in_pieces(plan)
    with store.snapshot() as connection:
        found = changing.compare(connection, campaign, plan)
        replaced = changing.replaced_at(connection, campaign, plan.fingerprint)
    if known == plan.fingerprint:
        with store.writing() as connection:
            changing.reword(connection, campaign, plan)
    elif replaced or not found.resumes or (found.others and not corrected):
        raise changing.refusal(plan, found, replaced)
    elif len(found.dropped):
        with store.writing() as connection:
            changing.adopt(connection, campaign, plan, found, what="suppressed", reason=None, now=now)


def _refuse_another_name(store: Store, campaign: int, plan: Planned) -> None:
    with store.reading() as connection:
        purged, name = connection.execute(*beginning.what_named(campaign)).fetchone()
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
