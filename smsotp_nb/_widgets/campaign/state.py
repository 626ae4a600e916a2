"""What the campaign form knows and says: the list, the plan, what the ledger says of the two, words on buttons.

The ledger is the only memory: what a screen says of a campaign is read there, so it is right after a kernel's restart.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..._calling import not_whole, refuse
from ..._cards import counted
from ..._client import Client
from ..._dispatch import Limits
from ..._ledger import Ledger, LedgerOrPath, Prospect, Record, Unfinished, not_a_ledger, state_line
from ..._planning import Plan
from ..._policy import Policy, not_policy
from ..._sandbox import Sandbox
from ..._sandbox.facade import client_of
from ...errors import SmsOtpError, UsageError
from ..lists import names_of
from ..stages import PRESSED_ANOTHER, Notice, Sending, Sign, sentence
from .arms import NOBODY, Arm, Comparison, shared
from .choices import Guards, by_field

TYPE_ABOVE = 1000
IN_CODE = "the list given in code"
STEPS = ("Write", "Check", "Send", "Results")
_KINDS = ("to_go", "waiting", "reached")


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


class CampaignState(Sending):
    """The state that all moves of the form share; a campaign has one arm, a comparison one for each of its texts.

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
        super().__init__("write", changed=changed, clock=clock)
        self.refusal = self._before = Notice()
        self.frame = pd.DataFrame() if frame is None else frame
        self._called = IN_CODE  # the file of the list, and its sheet
        self._kind = "content"  # of the message that was checked last
        self.client = client_of(client, what="a form")
        if not isinstance(ledger, Ledger | str | Path | None):
            raise not_a_ledger(ledger)
        self.ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        self.policy = policy
        self._type_above = type_above
        self._forget_plan()

    def _forget_plan(self) -> None:
        """Know nothing of a plan, of what was sent by it, or of what a person agreed to."""
        self.plan: Plan | None = None  # of all texts of a comparison; another one whenever the ledger was read
        self.arms: list[Arm] = []
        self.comparison: Comparison | None = None
        self._campaign = ""
        self._to: Hashable = None  # the column of its numbers
        self._leave_out: Any = None  # whom it leaves out
        self.met: list[Unfinished] = []  # campaigns whose people the plan would text under another name
        self.results: pd.DataFrame | None = None
        self.running = None
        self.alone = 0  # how many went first, to be looked at
        self.tested = Notice()

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

    # -- what the ledger says of all texts

    @property
    def counts(self) -> dict[str, int]:
        """Rows of what is recorded by state; empty where nothing is."""
        begun = any(arm.counts for arm in self.arms)
        states = [arm.counts or {"planned": arm.waiting} for arm in self.arms] if begun else []
        return {state: sum(one.get(state, 0) for one in states) for one in states for state in one}

    @property
    def tried(self) -> int:
        """Rows that were posted."""
        return sum(arm.tried for arm in self.arms)

    @property
    def waiting(self) -> int:
        """Rows that are to be texted, now or when a rule lets them."""
        return sum(arm.waiting for arm in self.arms)

    @property
    def to_go(self) -> int:
        """Rows that the next send would post without limits."""
        return sum(arm.to_go for arm in self.arms) if self.plan else 0

    @property
    def reworded(self) -> int:
        """Rows not yet sent that are recorded with another text than the plan has."""
        return sum(arm.prospect.changed for arm in self.arms)

    @property
    def revises(self) -> bool:
        """Whether what is recorded has to follow the plan before it is sent."""
        return self.plan is not None and any(arm.revises for arm in self.arms)

    @property
    def unfinished(self) -> str:
        """The campaign that was begun here and has rows to go, or nothing."""
        return self._campaign if self.tried and self.waiting else ""

    def doubtful(self) -> list[tuple[Record, pd.Index]]:
        """Return the recorded campaigns, each with the labels of its rows."""
        recorded = [(arm.recorded(), arm.plan._as_planned.index) for arm in self.arms]
        return [(campaign, labels) for campaign, labels in recorded if campaign is not None]

    def numbers(self) -> pd.Series | None:
        """Return the numbers as the list has them, in its order."""
        return self.frame.get(self._to)

    # -- under the limits that were chosen

    def _prospects(self, guards: Guards) -> list[Prospect]:
        """Return what becomes of the rows of each text under these limits."""
        if self.plan is None:
            return []
        return [arm.under(share) for arm, share in zip(self.arms, shared(guards, self.arms), strict=True)]

    def going(self, guards: Guards) -> int:
        """Rows that the next send posts under these limits."""
        return sum(one.to_go for one in self._prospects(guards))

    def cost(self, guards: Guards) -> str:
        cost = sum((Counter(one.cost) for one in self._prospects(guards)), Counter[str]())
        return replace(NOBODY, cost=cost).money()

    def first(self, guards: Guards) -> int:
        """Rows that go first, to be looked at before the others; 0 where nobody waits for them."""
        return self.going(guards) if guards.first and self.going(guards) < self.to_go else 0

    def asked(self, guards: Guards) -> dict[str, Limits]:
        """Return the limits of each text; none where nothing is compared or a guard cannot be read."""
        if self.comparison is None or guards.faults():
            return {}
        shares = zip(self.comparison.arms.items(), shared(guards, self.arms), strict=True)
        return {name: share.limits(tried=arm.tried) for (name, arm), share in shares}

    # -- words

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

    def limits(self, guards: Guards) -> str:
        conditions = guards.conditions()
        said = [sentence("; ".join(conditions))] if conditions else []
        if len(self.arms) > 1:
            said += [f"{guards.first:,} of each text go first."] if self.first(guards) else []
            said += ["The limit of the cost is divided between the texts."] if guards.budget else []
        return " ".join(said)

    def back_label(self) -> str:
        if not self.unfinished:
            return "Back to the text"
        return f"Change the text for the other {self.to_go or self.waiting:,}"

    def to_type(self, guards: Guards | None = None) -> str:
        """Return the number to be typed before sending: that of the messages, when they are many or real; or ``""``."""
        going = self.going(guards or Guards())
        return str(going) if self.live or going > self._type_above else ""

    def test_label(self) -> str:
        return f"Send me the first message {'of each text' if len(self.arms) > 1 else 'as a test'}"

    def pressed_another(self) -> None:
        """Say that the button said something else when it was pressed; nothing was done."""
        if self.stage not in self.busy:
            self._refuse(self.stage, f"Nothing was done. {PRESSED_ANOTHER}", "warn")

    def forget_refusal(self) -> None:
        """Take away why the last click did nothing, for somebody is typing; faults go with their own fields."""
        self.refusal, self.met = Notice(), []
        self._changed()

    # -- inside a move

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

    def _look_again(self) -> None:
        """Read in the ledger how all texts stand to it; after a send, their result tables too."""
        for arm in self.arms:
            arm.look()
        assert self.plan is not None
        self.plan = replace(self.plan) if self.comparison else self.arms[0].plan
        if self.stage == "done":
            self._take_results()

    def _take_results(self) -> None:
        self.results = self.comparison.results() if self.comparison else self.arms[0].results

    def _standing(self) -> tuple[str, Sign]:
        if not self.counts:
            return (NOBODY if self.comparison else self.arms[0].prospect).state(), ""
        said = f"This campaign is already recorded: {state_line(self.counts)}."
        if self.reworded:
            rows = counted(min(self.reworded, self.to_go), "row")
            return f"{said} {rows} not yet sent get the new text, the others keep theirs.", "warn"
        return f"{said} Sending continues where it stopped.", "warn"


def in_both(met: list[Unfinished]) -> int:
    return sum(one.both for one in met)
