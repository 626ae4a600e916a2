"""What is recorded of a campaign, by its name, and how it follows another plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .._calling import in_our_words
from .._ledger import LedgerOrPath, Record, Revised, opened
from .._planning import Plan
from .sending import client_for

if TYPE_CHECKING:
    from .._client import Client
    from .._sandbox import Sandbox


@in_our_words
def record(campaign: str, client: Client | Sandbox | None = None, ledger: LedgerOrPath | None = None) -> Record:
    """Return what is recorded of a campaign: its rows, its requests, what is in doubt, and what you decide about them.

    Where several services have a campaign of that name, such as the sandboxes of earlier kernels, it is the one of the
    live service, or else the latest rehearsal. Its card says which, and that there are others; a client names another.

    Args:
        campaign: its name.
        client: a Client or a Sandbox, whose campaign is wanted.
        ledger: the Ledger or its path; by default this user's own.

    Raises:
        UsageError: no campaign of that name is recorded; the message names the nearest.
        LedgerError: the ledger cannot be used.

    Example:
        >>> import tempfile, pathlib, pandas as pd, smsotp_nb as sms
        >>> plan = sms.plan(pd.DataFrame({"phone": ["+12025550123"]}), "Hi", to="phone", campaign="autumn")
        >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True)
        >>> with sms.Sandbox() as box:
        ...     _ = sms.send(plan, box, ledger=ledger, progress=False)
        >>> sms.record("autumn", ledger=ledger).results["status"].tolist()
        ['accepted']
    """
    with opened(ledger) as book:
        return book.record(campaign, client)


@in_our_words
def revise(
    plan: Plan,
    client: Client | Sandbox,
    *,
    reason: str,
    missing: Literal["refuse", "withdraw"] = "refuse",
    ledger: LedgerOrPath | None = None,
) -> Revised:
    """Let what has not left of a recorded campaign follow another plan; return how many rows changed.

    The rows get the words of the plan, and its new recipients are added; nobody gets a second row, and rows that a
    message may have reached are never touched. It happens as a whole or not at all. From then on ``send`` takes this
    plan and refuses the earlier one. The same call again changes nothing and returns zeros.

    Recipients whom the plan leaves out, such as new entries of its opt-outs, are left out of the campaign, too. Whoever
    was withdrawn is never added again.

    Args:
        plan: a plan of the campaign's name over the whole list, earlier recipients and new ones.
        client: a Client or a Sandbox, as for ``send``.
        reason: why, for the record (`Record.changes`).
        missing: what becomes of recorded recipients who were not texted yet and are missing in the plan. ``"refuse"``
            changes nothing and says how many there are; ``"withdraw"`` takes them out for good.
        ledger: as for ``send``.

    Raises:
        UsageError: recipients are missing, no such campaign is recorded for this service, or new recipients come to
            one that was withdrawn. Nothing was changed.
        CampaignHeld: the campaign is running.
        LedgerError: the campaign was purged, or is recorded with other kept columns.

    Example:
        >>> import tempfile, pathlib, pandas as pd, smsotp_nb as sms
        >>> people = pd.DataFrame({"phone": ["+12025550123", "+12025550124"]})
        >>> begun = sms.plan(people.head(1), "Hello", to="phone", campaign="autumn")
        >>> longer = sms.plan(people, "Hello", to="phone", campaign="autumn")
        >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True)
        >>> with sms.Sandbox() as box:
        ...     _ = sms.send(begun, box, ledger=ledger, progress=False)
        ...     sms.revise(longer, box, reason="more people", ledger=ledger)
        Revised(reworded=0, added=1, withdrawn=0)
    """
    client = client_for(plan, client, what="revise")
    with opened(plan._ledger if ledger is None else ledger) as book:
        return book._revise(plan, service=client.service, reason=reason, missing=missing)
