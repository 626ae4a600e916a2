"""What is called by the name of a campaign, without a Ledger at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._calling import in_our_words
from .._ledger import LedgerOrPath, Record, opened

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
        >>> plan = sms.plan(pd.DataFrame({"phone": ["+12025550123"]}), to="phone", campaign="autumn", text="Hi")
        >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True)
        >>> with sms.Sandbox() as box:
        ...     _ = sms.send(plan, box, ledger=ledger, progress=False)
        >>> sms.record("autumn", ledger=ledger).results["status"].tolist()
        ['accepted']
    """
    with opened(ledger) as book:
        return book.record(campaign, client)
