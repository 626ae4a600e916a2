"""Send a plan, or show what ``send`` would do now. The same call again resumes it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Literal

import pandas as pd

from .. import _cards as cards
from .._calling import given, in_our_words, not_callable, not_flag, refuse
from .._client import Client
from .._ledger import LedgerOrPath, Record, Revised, opened
from .._moments import Now, utc_now
from .._planning import Plan, overview, to_oneself
from .._progress import span
from .._warnings import warn_user
from .._wire import check_body
from ..errors import UsageError
from . import guards
from .requests import Requests
from .table import ProgressCallback, callback_of, nobody, silent

if TYPE_CHECKING:
    from .._sandbox import Sandbox


@in_our_words
def send(
    plan: Plan,
    client: Client | Sandbox,
    *,
    limits: guards.Limits = guards.Limits(),
    repeat_text: bool = False,
    progress: bool | ProgressCallback = True,
    stop: threading.Event | None = None,
    ledger: LedgerOrPath | None = None,
) -> pd.DataFrame:
    """Send a plan, or resume it. Rows that were accepted, rejected or are in doubt are never posted again.

    Every intent is written to disk before the first byte of its request, and rows that wait for their turn are still
    ``planned``. On Ctrl-C or Jupyter's Interrupt no new request starts; pending responses are recorded, then
    KeyboardInterrupt is raised. A second interrupt stops waiting: requests still pending are then in doubt.

    A service that has never answered as the interface describes gets one request with at most ten recipients first. If
    anything else answers, because the address or the key is wrong, the call ends there.

    Args:
        plan: what ``plan(...)`` returned.
        client: the service, such as ``connect()``, or a Sandbox to try it.
        limits: a budget, a speed, quiet hours and more, see `Limits`.
        repeat_text: let people have a message that they had within the time that the plan's policy says (three days).
        progress: True draws a progress bar, False draws nothing, a callable receives ``results.Progress`` values.
        stop: an event that ends the call like a first interrupt when another thread sets it, except that the table is
            returned. A form's Cancel button uses it.
        ledger: where the campaign is recorded: a Ledger or its path. By default that of the plan, else this user's one
            ledger. At most ``threads`` x ``chunk_size`` rows of the plan's `RequestOptions` can be in doubt, and twice
            as many with a ledger on a server.

    Returns:
        The result table: one row for every input row, on its index and in its order, with the columns
        ``results.COLUMNS``, the plan's kept columns before the last of them. `Record.details` has more of each row. If
        rows are still ``planned``, their ``problem`` says why, and a CampaignIncomplete warning is given. Of the plan
        of a ``Folder``: ``status, problem`` (str) and ``rows`` (Int64), a row for each status and problem;
        ``ledger.to_parquet`` writes every row.

    Warns:
        SmsOtpWarning: before anything is sent, that the campaign texts people whom an experiment that is not over holds
            out, because its name is none of the experiment's; and afterwards, of rows in doubt.

    Raises:
        UsageError: the call cannot work; nothing was sent.
        CampaignLockedError: another process runs this campaign; nothing new was sent.
        PlanChanged: the plan differs from the recorded one; nothing new was sent.
        LedgerError: the ledger cannot be used; nothing new was sent.
        KeyboardInterrupt: after an interrupt; every answer that came is recorded.

    Example:
        >>> import tempfile, pathlib, pandas as pd, smsotp_nb as sms
        >>> people = pd.DataFrame({"phone": ["+1 202 555 0123", "nobody"]})
        >>> plan = sms.plan(people, "Hello!", to="phone", campaign="hello")
        >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True)
        >>> with sms.Sandbox() as box:
        ...     sms.send(plan, box, ledger=ledger, progress=False)["status"].tolist()
        ['accepted', 'skipped']
    """
    client = _checked(plan, client)
    refuse(
        guards.not_limits(limits),
        not_flag("repeat_text", repeat_text),
        None if isinstance(progress, bool) else not_callable("progress", progress, example="print", none=False),
        None if stop is None or hasattr(stop, "is_set") else f"stop= must be a threading.Event, got {given(stop)}",
        said="nothing was sent: ",
    )
    wire = plan._wire
    with opened(plan._ledger if ledger is None else ledger, begin=True) as book:
        if not plan.recipients and not book._knows(plan.campaign, service=client.service):
            return nobody(plan)  # the name stays free for a plan that has someone
        with (
            book._begin(plan, service=client.service, repeat_text=repeat_text) as run,
            callback_of(progress, plan, book) as callback,
        ):
            for texted in run.unheeded:
                if not texted.exempt:
                    warn_user(texted.sentence())
            requests = Requests(plan, client, run, limits=limits, isolate=wire.isolate_invalid, cancel=stop)
            table = requests.work(wire.threads, callback)
    requests.tell()
    return table


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
    with opened(plan._ledger if ledger is None else ledger, begin=True) as book:
        book._refuse_lent(client.service)
        ahead = guards.Ahead(limits, book._account(plan.campaign, service=client.service), now)
        admit = ahead if limits._looks_at_rows else None
        prospect = book._prospect(plan, service=client.service, repeat_text=repeat_text, admit=admit)
        lines = [
            cards.Note("i", f"Recorded in {book.path}{', a new file' * (book.created and book.campaigns().empty)}.")
        ]
    if ahead.refused:
        lines.append(cards.Note("cross", f"Send refuses these limits: {ahead.refused}"))
    where = "the sandbox: nobody is texted" if client.sandbox else f"the live service at {client.settings.base_url}"
    if limits.per_second is not None:
        took = span(prospect.to_go / limits.per_second)
        lines.append(cards.Note("i", f"At {limits.per_second:g} recipients a second: about {took}."))
    if limits.stop_after is not None:
        lines.append(cards.Note("i", f"Stops after {cards.counted(limits.stop_after, 'failure')} in a row."))
    blocks = *overview.standing(plan._held.figures["rows"], prospect), *lines, *prospect.notes()
    return cards.Card(f"Ready to send: {plan.campaign}", f"To {where}.", blocks, closing=prospect.state())


@in_our_words
def send_test(
    plan: Plan, client: Client | Sandbox, *, to: str, row: int | None = None, ledger: LedgerOrPath | None = None
) -> pd.DataFrame:
    """Send one filled message of a plan to yourself.

    Each call sends a message. It is recorded, but not as part of the campaign.

    Args:
        plan: the plan whose message is sent.
        client: as for ``send``.
        to: your own number, with its plus.
        row: whose message to send: the number of a planned row as `Plan.rows` has it in the column ``row``. Without it
            the first planned one.
        ledger: as for ``send``; tests are kept apart from campaigns.

    Returns:
        The result table of this one message.

    Raises:
        UsageError: ``to`` is not a number to text, or the plan has no such recipient; nothing was sent.

    Example:
        >>> import tempfile, pathlib, pandas as pd, smsotp_nb as sms
        >>> people = pd.DataFrame({"phone": ["+1 202 555 0123"], "name": ["Ann"]})
        >>> plan = sms.plan(people, "Hello {name}!", to="phone", campaign="hello")
        >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True)
        >>> with sms.Sandbox() as box:
        ...     _ = sms.send_test(plan, box, to="+1 415 555 0100", ledger=ledger)
        ...     box.inbox["text"].tolist()
        ['Hello Ann!']
    """
    one = to_oneself(plan, to, row=row)
    client = _checked(one, client)
    with (
        opened(plan._ledger if ledger is None else ledger, begin=True) as book,
        book._begin(one, service=client.service, kind="test") as run,
    ):
        requests = Requests(one, client, run, limits=guards.Limits(), isolate=False)
        table = requests.work(1, silent)
    requests.tell()
    return table


def _checked(plan: Plan, given_client: Client | Sandbox) -> Client:
    """Check that the service can be sent the messages of a plan; all are of one kind and signature."""
    client = client_for(plan, given_client, what="send")
    if plan.recipients:
        wrong = check_body(plan._message(0), variant=client.settings.variant, form=client.settings.form)
        refuse(*dict.fromkeys(wrong), said="nothing was sent: ")
    return client


def client_for(plan: Plan, client: Client | Sandbox, *, what: str = "preflight") -> Client:
    """Return the client to send a plan through."""
    if not isinstance(plan, Plan):
        raise UsageError(f"{what} needs a Plan, got {given(plan)}; make one with plan(people, message, ...)")
    if not isinstance(client, Client):
        from .._sandbox.facade import client_of  # not for those who have a client

        client = client_of(client, what=what)
    if client.sandbox is not None and client.sandbox._ended:
        raise UsageError("client= speaks to a sandbox that is closed; start another: Sandbox()")
    return client


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
        CampaignLockedError: the campaign is running.
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
