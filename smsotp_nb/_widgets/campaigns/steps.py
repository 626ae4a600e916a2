"""What the campaigns page does, without a widget: list, open, send the rest, withdraw it.

Everything is read in the ledger and nothing is remembered beside it, so another process may change it at any moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from ... import cost as told
from ..._cards import Card, counted, number
from ..._client import Client
from ..._dispatch import send
from ..._ledger import Entry, Ledger, LedgerOrPath, Listing, Prospect, Record, listed, not_a_ledger, path_of, state_line
from ..._planning import Plan
from ...sandbox import Sandbox
from ...sandbox.facade import client_of
from ..._services import shown
from ...errors import SmsOtpError, SmsOtpWarning, UsageError
from ..stages import CHANGED, PRESSED_ANOTHER, TRIED, UNREAD, Sending, Sign, broken, ended_early, refused

PAGE: Final = 10
TYPE_ABOVE: Final = 1000
IN_THE_FORM: Final = "withdrawn on the campaigns page"
NOTHING: Final = Listing((), 0, 0)
OPENED: Final = ("open", "asking", "working", "sending")


@dataclass(frozen=True, slots=True)
class Question:
    """Which campaigns to list: of which ledger, with which words in their names, from which page on."""

    ledger: int = 0
    search: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The campaigns that were asked for, or why they cannot be read."""

    question: Question
    listing: Listing = NOTHING
    trouble: str = ""

    @property
    def pages(self) -> int:
        return max(1, -(-self.listing.found // PAGE))


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """One campaign as it was read: its cards, its rows and counts, and how the plan that was passed in stands to it."""

    entry: Entry
    ledger: Ledger
    campaign: Record
    card: Card
    costs: Card
    frame: pd.DataFrame
    counts: dict[str, int]
    plan: Plan | None = None
    prospect: Prospect = Prospect(None)  # noqa: RUF009 - a frozen value

    @property
    def waiting(self) -> int:
        return self.counts["planned"]

    @property
    def to_go(self) -> int:
        return self.prospect.to_go


class CampaignsSteps(Sending):
    """The state and moves of the campaigns page.

    ``stage`` is ``list``, ``reading``, ``open``, ``asking`` (whether the rest is to be withdrawn), ``working`` or
    ``sending``.
    """

    busy = ("reading", "working", "sending")

    def __init__(
        self,
        ledgers: Iterable[LedgerOrPath | None],
        *,
        client: Client | Sandbox | None = None,
        plans: Iterable[Plan] = (),
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__("list", changed=changed)
        self._ledgers = list(ledgers)
        for one in self._ledgers:
            if not isinstance(one, Ledger | str | Path | None):
                raise not_a_ledger(one)
        self.client = None if client is None else client_of(client, what="the campaigns page")
        self.plans = {plan.campaign: plan for plan in map(_checked, plans)}
        self.answer = Answer(Question())
        self.opened: Opened | None = None

    # -- the list

    def ledger(self, at: int) -> Ledger:
        """Return a ledger, opened when it is first asked for.

        Raises:
            LedgerError: it is not there, is damaged or cannot be used.
        """
        found = self._ledgers[at]
        if not isinstance(found, Ledger):
            if found is not None:
                path_of(found)  # refused where there is none: nothing begins here
            found = self._ledgers[at] = Ledger(found)
        return found

    def places(self) -> list[str]:
        return [str(one.path) if isinstance(one, Ledger) else str(one or "your own ledger") for one in self._ledgers]

    def read(self, question: Question) -> Answer:
        """Read one page of campaigns; a page beyond the last is the last."""
        try:
            ledger = self.ledger(question.ledger)
            found = listed(ledger, search=question.search, first=question.page * PAGE, most=PAGE)
        except SmsOtpError as error:
            return Answer(question, trouble=refused(error, "The ledger cannot be read.")[0])
        if question.page and not found.entries:
            last = max(0, -(-found.found // PAGE) - 1)
            return self.read(Question(question.ledger, question.search, last))
        return Answer(question, found)

    def take(self, answer: Answer) -> None:
        self.answer = answer
        self._changed()

    def lines(self) -> str:
        listing = self.answer.listing
        if not listing.total:
            return "No campaign is recorded yet: send(...) records the first one."
        if listing.found < listing.total:
            return f"{number(listing.found)} of {counted(listing.total, 'campaign')}"
        return f"{counted(listing.total, 'campaign')}, the latest first"

    # -- one campaign

    def open(self, entry: Entry, at: int | None = None) -> None:
        """Read a campaign and show it; ``at`` is its ledger's place, by default that of the list."""
        at = self.answer.question.ledger if at is None else at
        if not self._begin({"list"}, "reading", f"Reading {entry.name} …"):
            return
        with self._telling("list", "The campaign cannot be read."):
            self.opened = self._read(entry, self.ledger(at))
            self._show("open")

    def again(self, words: str = "", sign: Sign = "") -> None:
        """Read the campaign that is open anew: another process may have changed it."""
        if self.opened is None or not self._begin({"open", "asking"}, "working", "Reading …"):
            return
        self._reread(words, sign)

    def back(self) -> None:
        if self.stage in ("open", "asking"):
            self.opened = None
            self._show("list")

    def _reread(self, words: str, sign: Sign) -> None:
        assert self.opened is not None
        with self._telling("open", f"{words} The campaign cannot be read.".strip()):
            self.opened = self._read(self.opened.entry, self.opened.ledger)
            self._show("open", words, sign)

    def _read(self, entry: Entry, ledger: Ledger) -> Opened:
        campaign = ledger.record(entry.name, service=entry.service)
        card, counts, frame = campaign.card(), campaign.counts, campaign._table()
        costs = told.card(frame)
        plan = self.plans.get(entry.name)
        if plan is None or not counts["planned"]:
            return Opened(entry, ledger, campaign, card, costs, frame, counts)
        prospect = ledger._prospect(plan, service=entry.service)
        return Opened(entry, ledger, campaign, card, costs, frame, counts, plan, prospect)

    # -- withdraw

    def ask_to_withdraw(self) -> None:
        if self.stage == "open" and self.opened is not None and self.opened.waiting:
            self._show("asking")

    def keep(self) -> None:
        if self.stage == "asking":
            self._show("open", "Nothing was changed.")

    def withdraw(self, reason: str = "", *, opened: Opened | None = None) -> None:
        """Take what was not sent out of the campaign for good; ``opened`` as for `send`."""
        opened = self.opened if opened is None else opened
        if opened is None or not self._as_shown(opened, "Nothing was changed."):
            return
        if not self._begin({"asking"}, "working", "Withdrawing …", still=lambda: opened is self.opened):
            return
        with self._telling("open", "Nothing was changed."):
            gone = opened.campaign.withdraw(reason=reason.strip() or IN_THE_FORM)
            self._reread(f"{counted(gone, 'row')} withdrawn: this campaign never texts them.", "ok")

    # -- send the rest

    @property
    def live(self) -> bool:
        return self.client is not None and self.client.sandbox is None

    def needed(self) -> str:
        """Say what is needed to send the rest; empty where nothing is missing, or nothing is to go."""
        opened = self.opened
        if opened is None or not opened.waiting:
            return ""
        if opened.plan is None:
            return (
                "The ledger keeps no filled texts, so sending the rest needs the plan. Run the cells that made it, and "
                "pass it to this page: CampaignsPage(ledger, client=client, plans=[plan])."
            )
        if self.client is None:
            return "Sending the rest needs the service, too: CampaignsPage(ledger, client=client, plans=[plan])."
        if self.client.service != opened.entry.service:
            return (
                f"This campaign is of {shown(opened.entry.service)}, the page's client of another account or sandbox: "
                "nothing can be sent from here."
            )
        if opened.prospect.refused or not opened.to_go:
            return opened.prospect.refused or "Rules hold back all rows that are to go; the card says until when."
        return ""

    def send_label(self) -> str:
        opened = self.opened
        if opened is None:
            return "Send"
        whom = " to real people" if self.live else ""
        cost = f", about {cost}" if (cost := opened.prospect.money()) else ""
        return f"Send the other {counted(opened.to_go, 'message')}{whom}{cost}"

    def to_type(self) -> str:
        """Return the number to be typed before sending, when messages are many or real; or ``""``."""
        going = self.opened.to_go if self.opened else 0
        return str(going) if going and (self.live or going > TYPE_ABOVE) else ""

    def send(self, typed: str = "", *, opened: Opened | None = None) -> None:
        """Send what is to go by the plan that was passed in; blocks until it ends or was stopped.

        ``opened`` is the campaign as it was shown when the button was pressed.
        """
        opened = self.opened if opened is None else opened
        if self.stage != "open" or opened is None or opened.plan is None or not opened.waiting or self.needed():
            return
        if not self._as_shown(opened, "Not sent."):
            return
        wanted = self.to_type()
        if wanted and typed.replace(",", "").strip() != wanted:
            self._show("open", f"Type {wanted} to confirm; nothing was sent.", "warn")
            return
        if self._begin({"open"}, "sending", "", still=lambda: opened is self.opened):
            self._send(opened, opened.plan)

    def pressed_another(self, outcome: str = "Nothing was done.") -> None:
        if self.stage in ("open", "asking"):
            self._show("open", f"{outcome} {PRESSED_ANOTHER}", "warn")

    def _as_shown(self, opened: Opened, outcome: str) -> bool:
        """Return whether a campaign still is as it was shown; say so where it is not."""
        if self.stage not in ("open", "asking"):
            return False
        if opened is not self.opened:
            self.pressed_another(outcome)
            return False
        with self._telling("open", outcome):
            changed = opened.campaign.counts != opened.counts
            if changed:
                self.again(f"{outcome} {CHANGED}", "warn")
            return not changed
        return False

    def _send(self, opened: Opened, plan: Plan) -> None:
        self._start(sum(opened.counts[state] for state in TRIED))
        assert self.client is not None
        try:
            with suppress(SmsOtpWarning):  # where warnings are errors: what it says is shown in any case
                send(plan, client=self.client, ledger=opened.ledger, progress=self._told, stop=self._stop)
            self._sent(opened)
        except SmsOtpError as error:
            self._sent(opened, error)
        except Exception as error:
            self._show("open", *broken(error))
            raise
        finally:
            self._stop.clear()

    def _sent(self, opened: Opened, error: SmsOtpError | None = None) -> None:
        """Say what a send came to; of one that ended with an error, whether anything was sent before."""
        try:
            counts = opened.campaign.counts
        except SmsOtpError:  # whose words are about this reading alone: messages may have left
            self._show("open", UNREAD, "bad")
            return
        unfinished = counts["planned"] + counts["in_doubt"]
        if error is not None:
            self._reread(*refused(error, "Not sent." if counts == opened.counts else ended_early(counts)))
        elif unfinished:
            self._reread(f"Not complete: {state_line(counts)}.", "warn")
        else:
            self._reread(f"Sent: {state_line(counts)}.", "ok")


def _checked(plan: object) -> Plan:
    if not isinstance(plan, Plan):
        raise UsageError(f"plans= must be plans, what plan(...) returns, got {type(plan).__name__}")
    return plan
