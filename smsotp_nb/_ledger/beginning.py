"""What the ledger is asked when a campaign begins, so that a server answers many questions with one message."""

from __future__ import annotations

from .._services import name_key
from .changing import whether_corrected
from .contacts import whether_packed, which_unsettled
from .guessing import Question
from .recovering import whether_under_way


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
    ]
