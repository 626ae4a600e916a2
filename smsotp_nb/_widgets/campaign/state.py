"""What the campaign form knows and says: the list, the plan, what the ledger says of the two, words on buttons.

The ledger is the only memory: what a screen says of a campaign is read there, so it is right after a kernel's restart.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ... import _planning as planning
from ..._calling import not_whole, refuse
from ..._cards import counted
from ..._client import Client
from ..._dispatch.guards import Ahead, read
from ..._ledger import Ledger, LedgerOrPath, Prospect, Record, Unfinished, limited, not_a_ledger, state_line
from ..._moments import utc_now
from ..._planning import Plan
from ..._policy import Policy, not_policy
from ..._sandbox import Sandbox
from ..._sandbox.facade import client_of
from ...errors import SmsOtpError, UsageError
from ...results import Progress
from ..lists import names_of
from ..stages import PRESSED_ANOTHER, Notice, Sign, Stages, sentence
from .choices import Guards, by_field

TYPE_ABOVE = 1000
IN_CODE = "the list given in code"
TRIED = ("accepted", "rejected", "in_doubt")
STEPS = ("Write", "Check", "Send", "Results")
_KINDS = ("to_go", "waiting", "reached")
NOBODY = Prospect(None)  # what becomes of no list


# Where the words of `problems` name what only code has.
NEXT = {
    "REFUSED": "plan the list with which this campaign began, or choose another name",
    "CANARY": "look at the results, then send to the others or change their text",
    "EXCLUDED": "nothing, or leave out one campaign less",
    "SAME_TEXT": "change the text, or send again at the time said here",
    "VALUE_MISSING": "fill the column in the list, or write what to say instead behind a bar in the placeholder",
    "REJECTED": "ask the service why; the result table has its words for each row",
    "ACCOUNT": "check address and key with the account's owner, then send again",
    "THROTTLED": "send again later, or with fewer messages a second",
    "OPTED_OUT": "nothing: this person said no",
    "HELD_OUT": "nothing: they are compared with those who are texted",
    "OTHER_ARM": "nothing: they get the text of their own arm",
    "CAPPED": "send again at the time said here",
    "DUPLICATE_OF": "nothing: the other row is texted",
}
MEANS = {
    "REFUSED": "this campaign is recorded with people who are not in the list any more, so nothing of it is sent",
    "EXCLUDED": "texted by an earlier campaign that you left out",
    "DUPLICATE_OF": "the same number as another row that is planned",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan made while typing, of all rows or the first ones, or what keeps it from being one."""

    plan: Plan | None = None
    whole: bool = True
    problems: tuple[str, ...] = ()
    other: Plan | None = None  # of the second text, where two are compared
    foreseen: tuple[str, ...] = ()  # what the comparison can show


@dataclass(frozen=True, slots=True)
class Running:
    """A send under way: the last progress, and how long it has been going, in seconds.

    ``before`` are those who were texted before it began.
    """

    progress: Progress
    seconds: float
    stopping: bool
    before: int = 0

    @property
    def remaining(self) -> float | None:
        """Seconds that the rest may take at the pace so far; None before anything is known."""
        done = self.progress.done - self.before
        return self.seconds / done * self.progress.left if done > 0 and self.seconds else None


class CampaignState(Stages):
    """The state that all moves of the form share.

    ``notice`` says how things stand, ``refusal`` why the last click did nothing, ``faults`` which field is why.
    """

    busy = ("planning", "testing", "sending")

    def __init__(
        self,
        frame: pd.DataFrame | None = None,
        *,
        client: Client | Sandbox,
        ledger: LedgerOrPath | None = None,
        policy: Policy | None = None,
        type_above: int = TYPE_ABOVE,
        changed: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if frame is not None:
            names_of(frame)
        refuse(not_whole("type_above", type_above, least=0), not_policy(policy))
        super().__init__("write", changed=changed)
        self.refusal = self._before = Notice()
        self.faults: Mapping[str, str] = {}
        self.frame = pd.DataFrame() if frame is None else frame
        self._called = IN_CODE  # the file of the list, and its sheet
        self._kind = "content"  # of the message that was checked last
        self.client = client_of(client, what="a form")
        if not isinstance(ledger, Ledger | str | Path | None):
            raise not_a_ledger(ledger)
        self.ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        self.policy = policy
        self._type_above = type_above
        self._clock = clock
        self._stop = threading.Event()
        self._started = 0.0
        self._forget_plan()

    def _forget_plan(self) -> None:
        """Know nothing of a plan, of what was sent by it, or of what a person agreed to."""
        self.plan: Plan | None = None
        self._to: Hashable = None  # the column of its numbers
        self._leave_out: Any = None  # whom it leaves out
        self.met: list[Unfinished] = []  # campaigns whose people the plan would text under another name
        self._agreed = 0  # how many a person let be texted by such a campaign and by this one
        self.unfinished = ""  # the campaign that was begun here and has rows to go
        self.results: pd.DataFrame | None = None
        self.counts: dict[str, int] = {}
        self.running: Running | None = None
        self._texted = 0  # before the send under way
        self.alone = 0  # how many went first, to be looked at
        self.tested = Notice()
        self._under: tuple[Any, Prospect] | None = None  # what was asked last of the limits, and the answer

    @property
    def live(self) -> bool:
        """Whether a send reaches real people and costs real money."""
        return self.client.sandbox is None

    def where(self) -> str:
        """Say in words whom a send would reach."""
        if not self.live:
            return "Sandbox: nobody is texted, nothing leaves this machine."
        return f"Live service at {self.client.settings.base_url}: real people are texted, and every text is billed."

    def listed(self) -> str:
        """Name the list that is in use: its file, its sheet, its rows."""
        if not len(self.frame.columns):
            return "No list is in use."
        return f"List: {self._called.removeprefix('the list ')}, {counted(len(self.frame), 'row')}."

    def asked_for(self) -> str:
        """Say whom the plan is for and whom it leaves out."""
        if self._leave_out is None:
            return f"{self.listed()} Suppression list: none."
        given = self._leave_out if isinstance(self._leave_out, str | Path) else "given in code"
        return f"{self.listed()} Suppression list: {given}."

    @property
    def prospect(self) -> Prospect:
        """What the next send does with each row of the list, without limits; the ledger is not asked again."""
        return (self.plan._prospect_now if self.plan else None) or NOBODY

    def under(self, guards: Guards) -> Prospect:
        """Return the same under these limits; a limit that cannot be read holds nobody back."""
        prospect, asked = self.prospect, guards.fields
        if self.plan is None or guards.faults() or not prospect.to_go:
            return prospect
        limits = read(guards.limits(tried=self.tried))
        if not limits.looks_at_rows:
            return prospect
        if self._under is None or self._under[0] != (id(prospect), asked):
            account = self.ledger._account(self.plan.campaign, service=self.client.service)
            made = limited(prospect, self.plan._as_planned, Ahead(limits, account, utc_now))
            self._under = (id(prospect), asked), made
        return self._under[1]

    @property
    def tried(self) -> int:
        """Rows of the recorded campaign that were posted."""
        return sum(self.counts.get(state, 0) for state in TRIED)

    @property
    def waiting(self) -> int:
        """Rows that are to be texted, now or when a rule lets them."""
        return self.counts["planned"] if self.counts else self.prospect.to_go + self.prospect.waiting

    @property
    def to_go(self) -> int:
        """Rows that the next send would post without limits."""
        return self.prospect.to_go

    @property
    def reworded(self) -> int:
        """Rows not yet sent that are recorded with another text than the plan has."""
        return self.prospect.changed

    @property
    def revises(self) -> bool:
        """Whether what is recorded has to follow the plan before it is sent."""
        return bool(self.prospect.changed or self.prospect.added)

    def path(self, guards: Guards) -> tuple[tuple[str, ...], int]:
        """Return the steps of this campaign, and the number of the one in force, from 1.

        Where some go first, sending them, looking, and sending the others are steps of their own.
        """
        first = self.alone or self.first(guards)
        if not first:
            return STEPS, {"write": 1, "sending": 3, "done": 4}.get(self.stage, 2)
        names = ("Write", "Check", f"The first {first:,}", "Look", "The others", "Results")
        sending, done = 3 if guards.first else 5, 4 if self.to_go else 6
        return names, {"write": 1, "sending": sending, "done": done}.get(self.stage, 2)

    def going(self, guards: Guards) -> int:
        """Rows that the next send posts under these limits."""
        return self.under(guards).to_go

    def cost(self, guards: Guards) -> str:
        return self.under(guards).money()

    def first(self, guards: Guards) -> int:
        """Rows that go first, to be looked at before the others; 0 where nobody waits for them."""
        return self.going(guards) if guards.first and self.going(guards) < self.to_go else 0

    def send_label(self, guards: Guards | None = None) -> str:
        """Say on the button what it does: how many messages, which of them, at what estimated and highest cost."""
        if self.plan is None:
            return "Send"
        guards = guards or Guards()
        going, cost, first = self.going(guards), self.cost(guards), self.first(guards)
        which = ("the next " if first else "the other ") if self.tried else "the first " if first else ""
        what = f"Send {which}{counted(going, 'message')}"
        if going < self.to_go and not first:
            what = f"Send {going:,} of {counted(self.to_go, 'message')}"
        what = f"Change the text and s{what[1:]}" if self.reworded else what
        what += " to real people" if self.live else ""
        what += f", about {cost}" if cost else ""
        return what + (f", at most {guards.budget}" if guards.budget else "")

    def summary(self, guards: Guards) -> str:
        """Say in one sentence who is texted at what cost, and how many rows of the list are not."""
        plan = self.plan  # read once: another thread may take it away meanwhile
        if plan is None:
            return ""
        prospects, cost = self._prospects(guards), self.cost(guards)
        going, waiting, reached = (sum(getattr(one, what) for one in prospects) for what in _KINDS)
        rest = (
            (reached, "texted already, or in doubt"),
            (waiting, "held back for now"),
            (plan._size - going - waiting - reached, "left out"),
        )
        what = [f"{counted(going, 'person', 'people')}", *([f"about {cost}"] if cost else []), f"from {self._called}"]
        return sentence(", ".join([*what, *(f"{many:,} {words}" for many, words in rest if many)]))

    def _prospects(self, guards: Guards) -> list[Prospect]:
        """Return what becomes of the rows of each text under these limits."""
        return [self.under(guards)]

    def limits(self, guards: Guards) -> str:
        said = [guards.quiet, guards.pace, guards.failures]
        return sentence("; ".join(words for words in said if words))

    def back_label(self) -> str:
        if not self.unfinished:
            return "Back to the text"
        return f"Change the text for the other {self.to_go or self.waiting:,}"

    def to_type(self, guards: Guards | None = None) -> str:
        """Return the number to be typed before sending: that of the messages, when they are many or real; or ``""``."""
        going = self.going(guards or Guards())
        return str(going) if self.live or going > self._type_above else ""

    def test_label(self) -> str:
        return "Send me the first message as a test"

    def numbers(self) -> pd.Series | None:
        """Return the numbers as the list has them, in its order."""
        return self.frame.get(self._to)

    def pressed_another(self) -> None:
        """Say that the button said something else when it was pressed; nothing was done."""
        if self.stage not in self.busy:
            self._refuse(self.stage, f"Nothing was done. {PRESSED_ANOTHER}", "warn")

    def forget_refusal(self) -> None:
        """Take away why the last click did nothing, for somebody is typing; faults go with their own fields."""
        self.refusal, self.met = Notice(), []
        self._changed()

    # -- inside a move

    def _others(self) -> list[Unfinished]:
        """Return the unfinished campaigns with these people; one that is recorded itself was let through before."""
        if self.plan is None or self.counts:
            return []
        return self.ledger._unfinished(self.plan, service=self.client.service)

    def _show(self, stage: str, words: str = "", sign: Sign = "") -> None:
        if stage in self.busy:
            self._before = self.notice
        self.refusal, self.faults, self.met = Notice(), {}, []
        super()._show(stage, words, sign)

    def _refuse(self, stage: str, words: str, sign: Sign, faults: Mapping[str, str] | None = None) -> None:
        """Leave how things stand, and say why the click did nothing."""
        if self.stage in self.busy:
            self.notice = self._before
        self.stage, self.refusal, self.faults = stage, Notice(words, sign), faults or {}
        self._changed()

    def _refuse_for(self, error: SmsOtpError, stage: str, outcome: str) -> None:
        """Refuse for an error, at the fields that it is about."""
        if isinstance(error, UsageError):
            faults = by_field(error, self._kind)
            self._refuse(stage, f"{outcome} {' '.join(faults.values())}", "warn", faults)
        else:
            super()._refuse_for(error, stage, outcome)

    def _look(self) -> pd.DataFrame | None:
        """Read in the ledger how the plan stands to it; return what is recorded of the campaign."""
        if self.plan is None:
            return None
        campaign = self.recorded()
        if campaign is not None:
            campaign._heed_opt_outs()
        self.counts = campaign.counts if campaign else {}
        # Read once a stage: a million rows are not looked up at every redraw.
        self.plan = planning.seen(self.plan, self._now())
        frame = campaign._table() if campaign else None
        self.unfinished = self.plan.campaign if self.tried and self.waiting else ""
        return frame

    def _now(self) -> Prospect:
        """Ask the ledger what the next send does, after what is recorded has followed the plan."""
        assert self.plan is not None
        return self.ledger._prospect(self.plan, service=self.client.service, revised=True)

    def _look_again(self) -> None:
        (self._read_results if self.stage == "done" else self._look)()

    def _read_results(self) -> None:
        frame = self._look()
        if frame is not None and self.plan is not None:
            self.results = frame.set_axis(self.plan._as_planned.index) if len(frame) == self.plan._size else frame

    def recorded(self) -> Record | None:
        if self.plan is None or not self.ledger._knows(self.plan.campaign, service=self.client.service):
            return None
        return self.ledger.record(self.plan.campaign, service=self.client.service)

    def doubtful(self) -> list[tuple[Record, pd.Index]]:
        campaign = self.recorded()
        return [] if campaign is None or self.plan is None else [(campaign, self.plan._as_planned.index)]

    def _standing(self) -> tuple[str, Sign]:
        if not self.counts:
            return self.prospect.state(), ""
        said = f"This campaign is already recorded: {state_line(self.counts)}."
        if self.reworded:
            rows = counted(min(self.reworded, self.to_go), "row")
            return f"{said} {rows} not yet sent get the new text, the others keep theirs.", "warn"
        return f"{said} Sending continues where it stopped.", "warn"


def in_both(met: list[Unfinished]) -> int:
    return sum(one.both for one in met)
