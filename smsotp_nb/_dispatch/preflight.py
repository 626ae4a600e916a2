"""Show what ``send`` would do now, without recording or sending anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _cards as cards
from .._calling import in_our_words, not_callable, not_flag, refuse
from .._client import Client
from .._ledger import LedgerOrPath, opened
from .._moments import Now, utc_now
from .._planning import Plan, overview
from . import guards
from .sending import client_for

if TYPE_CHECKING:
    from .._sandbox import Sandbox


@in_our_words
def preflight(
    plan: Plan,
    client: Client | Sandbox,
    *,
    limits: guards.Limits = guards.Limits(),
    repeat_text: bool = False,
    ledger: LedgerOrPath | None = None,
    now: Now = utc_now,
) -> cards.Card:
    """Show what ``send`` with the same arguments would do now. Nothing is recorded or sent.

    Returns:
        A card with the service, the ledger, how many people are texted now and at what estimated cost, if nothing fails
        and all is billed as estimated; what becomes of the other rows of the list: texted already, held back by the
        ledger (opted out, texted as often as the policy allows and so on) or by a limit, left out; and the time it
        takes at the chosen speed.

    Raises:
        UsageError: ``plan`` or ``client`` is something else, or an argument is something else.
        LedgerError: ``send`` would refuse the ledger.

    Example:
        >>> import tempfile, pathlib, pandas as pd, smsotp_nb as sms
        >>> plan = sms.plan(pd.DataFrame({"phone": ["+1 202 555 0123"]}), "Hello!", to="phone", campaign="hello")
        >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True)
        >>> with sms.Sandbox() as box:
        ...     "the sandbox" in preflight(plan, box, ledger=ledger).text()
        True
    """
    client = client_for(plan, client)
    clock = not_callable("now", now, example="lambda: datetime.now(UTC)", none=False)
    refuse(not_flag("repeat_text", repeat_text), guards.not_limits(limits), clock)
    asked = guards.read(limits)
    with opened(plan._ledger if ledger is None else ledger, begin=True) as book:
        book._refuse_lent(client.service)
        ahead = guards.Ahead(asked, book._account(plan.campaign, service=client.service), now)
        admit = ahead if asked.looks_at_rows else None
        prospect = book._prospect(plan, service=client.service, repeat_text=repeat_text, admit=admit)
        lines = [cards.Note("i", f"Recorded in {book.path}{', a new file' if book.created else ''}.")]
    if ahead.refused:
        lines.append(cards.Note("cross", f"Send refuses these limits: {ahead.refused}"))
    where = "the sandbox: nobody is texted" if client.sandbox else f"the live service at {client.settings.base_url}"
    if asked.per_second is not None:
        took = _duration(prospect.to_go / asked.per_second)
        lines.append(cards.Note("i", f"At {asked.per_second:g} recipients a second: about {took}."))
    if asked.stop_after is not None:
        lines.append(cards.Note("i", f"Stops after {cards.counted(asked.stop_after, 'failure')} in a row."))
    blocks = *overview.standing(plan._size, prospect), *lines, *prospect.notes()
    return cards.Card(f"Ready to send: {plan.campaign}", f"To {where}.", blocks, closing=prospect.state())


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
