"""What the campaign form knows, says and does: write, plan, send, stop, change what has not left, settle doubt."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from ... import _planning as planning
from ... import phones
from ..._calling import not_whole, refuse
from ..._cards import about, counted
from ..._client import Client
from ..._dispatch import Limits, revise, send, send_test
from ..._experiments.assigning import foreseen
from ..._experiments.declaring import HOLDOUT
from ..._experiments.experiment import Experiment
from ..._guards import GUARDS
from ..._ledger import Ledger, LedgerOrPath, Prospect, Record, Unfinished, not_a_ledger, state_line
from ..._people import People
from ..._planning import UNASKED, Plan
from ..._policy import Policy, not_policy
from ...sandbox import Sandbox
from ...sandbox.facade import client_of
from ..._showing import capital
from ..._wire import mask
from ...errors import SmsOtpError, SmsOtpWarning, UsageError
from ...problems import PROBLEMS, Problem
from ...results import Progress
from ..lists import NONE_CHOSEN, names_of
from ..stages import CHANGED, PRESSED_ANOTHER, UNREAD, Notice, Sending, Sign, broken, ended_early, refused, sentence
from .arms import NOBODY, Arm, Comparison, of_arm, shared, together
from .choices import DRAWN, SECOND, Choices, Guards, by_field

LIVE_ROWS = 3000  # a list of up to this many rows is planned while typing, of a longer one its beginning
NO_PLAN = "There is no plan yet."
IN_THE_FORM = "corrected in the form"
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
    "VALUE_ODD": "correct the cells that are named here in the list",
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


@dataclass(frozen=True, eq=False)
class Reached:
    """Whom a recorded campaign may have reached, as ``plan`` asks its record."""

    _reached: pd.Series


class CampaignSteps(Sending):
    """The campaign form without a widget: write, check and send a campaign, or several texts that are compared.

    A campaign has one arm, a comparison one for each of its texts; ``guards.first`` of each go alone, to be looked at
    before the others. ``notice`` says how things stand, ``refusal`` why the last click did nothing, ``faults`` which
    field is why. The ledger is the only memory: what a screen says of a campaign is read there, so it is right after a
    kernel's restart.
    """

    busy = ("planning", "testing", "sending")
    _known: tuple[tuple[str, ...], list[Reached]] = ((), [])

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
            (plan._held.figures["rows"] - going - waiting - reached, "left out"),
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

    # -- the moves

    def campaigns(self) -> list[str]:
        """Return the names of the recorded campaigns whose people can be left out, the latest first."""
        return self.ledger._names(service=self.client.service)

    def take(self, frame: pd.DataFrame | None, called: str = IN_CODE) -> bool:
        """Take another list, or none, and forget all that was planned and sent by the one before.

        Return whether it was taken: not while something is being done with the one before.
        """
        if frame is not None:
            names_of(frame)
        with self._lock:
            if self.stage in self.busy:
                return False
            self.stage = "write"
            self.frame, self._called = pd.DataFrame() if frame is None else frame, called
            self._forget_plan()
        self._show("write")
        return True

    def draft(self, choices: Choices) -> Draft:
        """Plan the first rows, quietly, with both texts where two are compared, for the preview beside the text."""
        head, missing = self.frame.head(LIVE_ROWS), self._missing(choices)
        if missing:
            return Draft(problems=tuple(missing.values()))
        compared, other, said = choices.compared, None, list[str]()
        try:
            plan = self._planned(head, choices)
            if compared.on:
                said = compared.foreseen(round(len(self.frame) * plan.recipients / len(head)))
            if compared.other.strip():
                other = self._planned(head, of_arm(choices, SECOND, compared.other))
        except SmsOtpError as error:
            return Draft(problems=tuple(by_field(error, choices.kind).values()))
        return Draft(plan, len(head) == len(self.frame), other=other, foreseen=tuple(said))

    def check(self, choices: Choices, *, both: int = 0) -> bool:
        """Plan the whole list; sends nothing. Return whether there is a plan now of just these choices.

        ``both`` is how many people a person agreed to text under this name and under that of another campaign, too,
        which is not finished.
        """
        missing = self._missing(choices)
        if self.stage == "write" and missing:
            self._refuse("write", f"{NO_PLAN} {' '.join(missing.values())}", "warn", missing)
            return False
        if not self._begin({"write"}, "planning", f"Planning {counted(len(self.frame), 'row')} …"):
            return False
        self._kind = choices.kind
        with self._telling("write", NO_PLAN):
            plan, arms, comparison = self._make(choices)
            others = [arm.others() for arm in arms]
            met = [one for found in others for one in found]
            if not met or both == in_both(met):
                for arm, found in zip(arms, others, strict=True):
                    arm.agreed = in_both(found)
                self.plan, self.arms, self.comparison = plan, arms, comparison
                self._campaign, self._to, self._leave_out = plan.campaign, choices.to, choices.leave_out
                self.tested = Notice()
                self.alone = self.alone if self.unfinished else 0
                self._show("planned", *self._standing())
                return True
            self.plan, self.met = None, met
            words = " ".join(_meeting(one) for one in met)
            faults = {"campaign": "Another name, the same people."}
            self._refuse("write", f"{NO_PLAN} {words} {_WAYS_ON}", "warn", faults)
        return False

    def back(self) -> None:
        """Go back to the text; nothing is lost, what was sent stays recorded."""
        if self._begin({"planned", "done"}, "write", ""):
            self.plan, self.results, self.running = None, None, None
            self._show("write", *self._before_writing())

    def _make(self, choices: Choices) -> tuple[Plan, list[Arm], Comparison | None]:
        plan = self._planned(self.frame, choices)
        if choices.compared.on:
            comparison = self._compared(choices, plan)
            return plan, [*comparison.arms.values()], comparison
        arm = Arm(self.frame, plan, self.ledger, self.client.service)
        return arm.plan, [arm], None

    def _compared(self, choices: Choices, whole: Plan) -> Comparison:
        """Draw the people of each text and plan them."""
        compared = choices.compared
        test = Experiment(choices.campaign, ledger=self.ledger, **compared.declared())
        arm_of = foreseen(self.frame[compared.unit], test._declared, self.ledger).to_numpy(object)
        planned = whole._as_planned["status"].eq("planned").to_numpy()
        if (nobody := planned & pd.isna(arm_of)).any():
            labels = ", ".join(map(repr, self.frame.index[nobody][:3].tolist()))
            raise UsageError(f"unit= is blank in {counted(int(nobody.sum()), 'row')} that can be texted: {labels}")
        arms = {}
        for name, words in compared.texts(choices.words).items():
            people = self.frame[planned & (arm_of == name)]
            plan = self._planned(people, of_arm(choices, name, words))
            arms[name] = Arm(people, plan, self.ledger, self.client.service)
        held, said = int((planned & (arm_of == HOLDOUT)).sum()), tuple(compared.foreseen(int(planned.sum())))
        names = dict.fromkeys([choices.to, choices.second, choices.region, compared.unit])
        asked = self.frame[[name for name in names if name != NONE_CHOSEN]]
        given = self._asked(choices)
        return Comparison(test, asked, {name: given[name] for name in DRAWN if name in given}, arms, held, said)

    def _planned(self, frame: pd.DataFrame, choices: Choices) -> Plan:
        """Plan without the ledger: with ten million contacts it is too much to ask at every key."""
        return planning.plan(frame, **self._asked(choices), ledger=UNASKED)

    def _asked(self, choices: Choices) -> dict[str, Any]:
        """Return the arguments of ``plan``, the campaigns whose people are left out among them."""
        asked = replace(choices, policy=self.policy).arguments()
        if choices.exclude:
            given = choices.leave_out
            # In a list text is a number unless it ends as a file's name does.
            beside = given if isinstance(given, list) else [Path(given) if isinstance(given, str) else given]
            asked["leave_out"] = [*(beside if "leave_out" in asked else []), *self._reached(choices.exclude)]
        return asked

    def _reached(self, campaigns: tuple[str, ...]) -> list[Reached]:
        """Return whom these campaigns may have reached; read once, not with every key."""
        if self._known[0] != campaigns or self.stage == "planning":
            found = [self.ledger.record(name, service=self.client.service)._reached for name in campaigns]
            self._known = campaigns, [Reached(numbers) for numbers in found]
        return self._known[1]

    def _missing(self, choices: Choices) -> Mapping[str, str]:
        if len(self.frame):
            return choices.missing()
        return {"": "The list has no rows." if len(self.frame.columns) else "Choose the list of recipients."}

    def _before_writing(self) -> tuple[str, Sign]:
        if not self.unfinished:
            return "", ""
        said = f"{self.tried:,} of this campaign were texted and keep their text."
        return f"{said} What you write here is for the other {self.waiting:,}.", "warn"

    # -- one to oneself

    def send_test(self, number: str, default_region: str = "", *, plan: Plan | None = None) -> bool:
        """Send the first message of each text to oneself, beside the campaign; say whether all were accepted."""
        plan = self.plan if plan is None else plan
        if plan is None or not self._begin({"planned"}, "testing", self.notice.text, still=lambda: plan is self.plan):
            return False
        standing = self._before
        try:
            tested = [self._test(arm.plan, number, default_region) for arm in self.arms]
        except Exception as error:
            self._refuse("planned", *broken(error))
            raise
        self._show("planned", standing.text, standing.sign)
        worst: Sign = next((one.sign for one in tested if one.sign != "ok"), "ok")
        self.tested = Notice(" ".join(dict.fromkeys(one.text for one in tested)), worst)
        self._changed()
        return worst == "ok"

    def _test(self, plan: Plan, number: str, default_region: str) -> Notice:
        try:
            to = _number(number, default_region)
            return _tested(send_test(plan, to=to, client=self.client, ledger=self.ledger).iloc[0])
        except SmsOtpError as error:
            return Notice(*refused(error, "No test message was sent."))

    # -- to everybody

    def send(self, guards: Guards, typed: str = "", reason: str = "", *, plan: Plan | None = None) -> None:
        """Send the plan, or what is left of it with a new text where it has one; blocks until it ends or was stopped.

        ``reason`` is why the text changed, for the record; ``plan`` is the one that the button was pressed for.
        """
        plan = self.plan if plan is None else plan
        if self.stage not in ("planned", "done") or plan is None or not self.to_go:
            return
        if plan is not self.plan:
            self.pressed_another()
            return
        faults = guards.faults()
        if faults:
            self._refuse(self.stage, f"Not sent. {' '.join(faults.values())}", "warn", faults)
            return
        if not self._as_shown("Not sent."):
            return
        wanted = self.to_type(guards)
        if wanted and typed.replace(",", "").strip() != wanted:
            self._refuse(self.stage, f"Type {wanted} to confirm; nothing was sent.", "warn", {"typed": ""})
            return
        back = self.stage
        alone = self.tried + self.first(guards) if self.first(guards) else self.alone
        if self._begin({"planned", "done"}, "sending", "", still=lambda: plan is self.plan):
            self.alone = alone
            self._send(guards, back, reason.strip() or IN_THE_FORM)

    def _as_shown(self, outcome: str) -> bool:
        """Return whether what is to go is what was seen; say so where it is not."""
        with self._telling(self.stage, outcome):
            meanwhile = self._meanwhile()
            if meanwhile:
                self._refuse(self.stage, f"{outcome} {meanwhile}", "warn")
            return not meanwhile
        return False

    def _meanwhile(self) -> str:
        """Say what the ledger has that the button does not know of; nothing where it says what would be sent."""
        if any(arm.has_changed() for arm in self.arms):
            self._look_again()
            self._show(self.stage, *self._standing())
            return CHANGED
        return _MEANWHILE if any(in_both(arm.others()) != arm.agreed for arm in self.arms if not arm.counts) else ""

    def _send(self, guards: Guards, back: str, reason: str) -> None:
        waiting = self.waiting
        self._start(self.tried)
        for arm, prospect in zip(self.arms, self._prospects(guards), strict=True):
            arm.going, arm.progress = prospect.to_go, None
        try:
            if self.comparison is not None:
                expected = self.to_go
                self.comparison.record()
                self._look_again()
                if self.to_go != expected:
                    self._refuse(back, f"Not sent. {CHANGED}", "warn")
                    return
            self._send_arms(guards, reason)
            self._finished()
        except SmsOtpError as error:
            self._broke_off(error, back, waiting)
        except Exception as error:
            self._refuse(back, *broken(error))
            raise
        finally:
            self._stop.clear()

    def _send_arms(self, guards: Guards, reason: str) -> None:
        """Send one text after the other, until something ends the send for all of them."""
        for arm, share in zip(self.arms, shared(guards, self.arms), strict=True):
            if self._stop.is_set() or not arm.to_go:
                continue
            asked = share.limits(tried=arm.tried)
            if arm.revises and arm.counts:
                revise(arm.plan, self.client, reason=reason, ledger=self.ledger)
            hear = partial(self._heard, arm)
            with suppress(SmsOtpWarning):  # where warnings are errors: what it says is shown in any case
                send(arm.plan, self.client, limits=asked, ledger=self.ledger, progress=hear, stop=self._stop)
            if arm is not self.arms[-1]:
                arm.look()
                if (why := _held_back(arm.results)) and why.code in ENDS:
                    return

    def _heard(self, arm: Arm, progress: Progress) -> None:
        arm.progress = progress
        self._told(together([one.told() for one in self.arms]))

    def _finished(self) -> None:
        try:
            self._look_again()
            self._take_results()
        except SmsOtpError:  # whose words are about this reading alone: messages have left
            self._show("done", UNREAD, "bad")
            return
        said = self._come_to()
        self._show("done", said.text, said.sign)

    def _come_to(self) -> Notice:
        planned, doubt = self.counts["planned"], self.counts["in_doubt"]
        line = f"{state_line(self.counts)}."
        if planned:
            why = PROBLEMS["STOPPED"] if self._stop.is_set() else _held_back(self.results)
            line = (
                f"{capital(why.meaning)}: {line} {capital(NEXT.get(why.code, why.next_step))}."
                if why
                else f"Not complete: {line}"
            )
        line += " Rows in doubt are never sent again automatically." if doubt else ""
        return Notice(line, "warn" if planned or doubt else "ok")

    def _broke_off(self, error: SmsOtpError, back: str, before: int) -> None:
        """Say of a send that ended with an error whether anything was sent before: then fewer wait."""
        try:
            self._look_again()
            if self.waiting == before:
                self._refuse_for(error, back, "Not sent.")
                return
            self._take_results()
        except SmsOtpError:
            self._show("done", UNREAD, "bad")
        else:
            self._show("done", *refused(error, ended_early(self.counts)))

    # -- change what has not left, and settle what is in doubt

    def opt_out(self, number: str, source: str, default_region: str = "") -> bool:
        """Record that a person does not want to be texted; the next request already obeys. Say whether it was done."""
        if self.stage not in ("planned", "done"):
            return False
        if not number.strip() or not source.strip():
            need = "the number" if source.strip() else "how it came, such as: phone call"
            field = "stop_source" if number.strip() else "stop_number"
            self._refuse(self.stage, f"Nothing was recorded. Enter {need}.", "warn", {field: f"Enter {need}."})
            return False
        try:
            People(self.ledger).opt_out(number.strip(), source=source, default_region=default_region or None)
            self._look_again()
        except SmsOtpError as error:
            words, sign = refused(error, "Nothing was recorded.")
            self._refuse(self.stage, words, sign, {"stop_number": words})
            return False
        said = f"{mask(number.strip())} opted out, and no campaign of this ledger texts this number."
        self._show(self.stage, f"{said} {self._standing()[0]}", "ok")
        return True

    def withdraw(self, reason: str = "", *, plan: Plan | None = None) -> None:
        """Take all rows not yet sent out for good; ``plan`` as for `send`. A text that is not recorded is left."""
        if self.stage not in ("planned", "done") or not self.counts or not self.waiting:
            return
        if plan is not None and plan is not self.plan:
            self.pressed_another()
            return
        if not self._as_shown("Nothing was changed."):
            return
        unrecorded = [arm for arm in self.arms if not arm.counts]
        gone = 0
        for campaign, _ in self.doubtful():
            with self._telling(self.stage, f"{counted(gone, 'row')} withdrawn." if gone else "Nothing was changed."):
                gone += campaign.withdraw(reason=reason.strip() or "withdrawn in the form")
                continue
            return
        gone += sum(arm.waiting for arm in unrecorded)
        said = f"{counted(gone, 'row')} withdrawn: this campaign never texts them."
        with self._telling("done", said):
            self.arms = [arm for arm in self.arms if arm not in unrecorded]
            if self.comparison is not None:
                arms = {name: arm for name, arm in self.comparison.arms.items() if arm in self.arms}
                self.comparison = replace(self.comparison, arms=arms)
            self._look_again()
            self._take_results()
            self._show("done", said, "ok")

    def settled(self, words: str, sign: Sign = "ok") -> None:
        self._look_again()
        self._show(self.stage, words, sign)


def in_both(met: list[Unfinished]) -> int:
    return sum(one.both for one in met)


# What ends a send for all that is to go, of other texts, too; other reasons hold back rows.
ENDS = frozenset({"STOPPED", "NO_FUNDS", "FAILING", "ACCOUNT", "UNKNOWN_SERVICE", "THROTTLED", "NOT_SENT"})
# What may hold rows back, in the order in which one is told where there are several.
TOLD_FIRST = (
    *("STOPPED", "NO_FUNDS"),
    *(guard.code for guard in sorted(GUARDS, key=lambda guard: not guard.ends)),
    *("SAME_TEXT", "CAPPED"),
    *("THROTTLED", "ACCOUNT", "NOT_SENT", "UNKNOWN_SERVICE"),
)


def _held_back(results: pd.DataFrame | None) -> Problem | None:
    """Return what held the rest back: the first of these reasons that stands in the rows themselves."""
    held = set() if results is None else set(results.loc[results["status"].eq("planned"), "problem"].dropna())
    return next((PROBLEMS[code] for code in TOLD_FIRST if code in held), None)


_MEANWHILE = (
    "Another campaign of this ledger began meanwhile with people of this list. Go back to the text and check the plan "
    "again."
)


def _number(typed: str, default_region: str) -> str:
    """Return a number as E.164; a UsageError where it is none that could be texted."""
    found = phones.normalize(pd.Series([typed.strip()], dtype=object), default_region=default_region or None).iloc[0]
    if pd.isna(found["to"]):
        raise UsageError(f"enter your own number with its plus: this is {PROBLEMS[str(found['problem'])].meaning}")
    return str(found["to"])


def _tested(sent: pd.Series) -> Notice:
    to = mask(str(sent["to"]))
    if sent["status"] == "accepted":
        cost = f", {about(sent['price'], sent['currency'])}" if pd.notna(sent["price"]) else ""
        parts = f": {counted(int(sent['parts']), 'part')}{cost}" if pd.notna(sent["parts"]) else ""
        return Notice(f"Test message to {to} accepted{parts}. It is not part of the campaign.", "ok")
    if sent["status"] == "in_doubt":
        return Notice(f"No answer came for the test message to {to}: it may arrive all the same.", "warn")
    known = PROBLEMS.get(str(sent["problem"]))
    said = known.meaning if known else str(sent["error"] or sent["problem"])
    return Notice(f"The test message to {to} was not sent: {said}.", "bad")


_WAYS_ON = (
    "To change the text for those to go, keep the name. To begin anew, keep the name, check it and withdraw those to "
    "go first."
)


def _meeting(one: Unfinished) -> str:
    texted = f"texted {one.texted:,} of these people and " if one.texted else ""
    many = counted(one.both, "person is", "people are")
    return f"Campaign {one.campaign} {texted}has {one.to_go:,} to go: under another name {many} texted by both."
