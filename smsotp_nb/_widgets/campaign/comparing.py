"""The campaign form compares texts: people are drawn by chance, and each text is sent as a campaign of its own.

One press of the button sends all texts, one after the other. What is asked for holds for all of them together: the
number that is typed is that of all messages, the limit of the cost is divided between the texts in proportion to their
estimated cost, so that it cuts them alike, and of each text as many go first as were asked for.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from typing import Any

import pandas as pd

from ... import _planning as planning
from ..._cards import counted
from ..._dispatch import Limits
from ..._experiments.assigning import foreseen
from ..._experiments.declaring import HOLDOUT
from ..._experiments.experiment import Experiment
from ..._ledger import Prospect, Record, Unfinished
from ...errors import SmsOtpError, UsageError
from ...problems import PROBLEMS, Problem
from ...results import Progress
from ..lists import NONE_CHOSEN
from ..stages import CHANGED, Notice, Sign, refused
from .choices import DRAWN, SECOND, Choices, Guards, by_field
from .moves import ENDS, OneCampaign
from .state import NOBODY, TRIED, Draft, Running

_MICRO = Decimal("0.000001")


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """An experiment and the campaigns of its texts; ``held_out`` counts people of the list who are not texted."""

    test: Experiment
    frame: pd.DataFrame
    drawn: Mapping[str, Any]  # the arguments of `Experiment.assign`
    arms: dict[str, OneCampaign]
    held_out: int
    foreseen: tuple[str, ...]

    def record(self) -> None:
        self.test.assign(self.frame, **self.drawn)

    def results(self) -> pd.DataFrame:
        """Return the result tables of all texts below each other, with the column ``arm``."""
        tables = [(arm, steps.results) for arm, steps in self.arms.items() if steps.results is not None]
        return pd.concat([table.assign(arm=arm) for arm, table in tables])


class CampaignSteps(OneCampaign):
    """The campaign form without a widget: a campaign, or several texts compared and asked together.

    `CampaignState` says what it knows.
    """

    comparison: Comparison | None = None
    _halted = False
    _expected: Sequence[int] = ()  # how many each text is sent to

    @property
    def arms(self) -> list[OneCampaign]:
        """The campaigns of the texts that are compared; none where nothing is."""
        return [*self.comparison.arms.values()] if self.comparison else []

    @property
    def tried(self) -> int:
        return sum(arm.tried for arm in self.arms) if self.comparison else super().tried

    @property
    def waiting(self) -> int:
        return sum(arm.waiting for arm in self.arms) if self.comparison else super().waiting

    @property
    def to_go(self) -> int:
        return sum(arm.to_go for arm in self.arms) if self.comparison else super().to_go

    @property
    def reworded(self) -> int:
        return sum(arm.reworded for arm in self.arms) if self.comparison else super().reworded

    @property
    def revises(self) -> bool:
        return any(arm.revises for arm in self.arms) if self.comparison else super().revises

    def going(self, guards: Guards) -> int:
        if self.comparison is None:
            return super().going(guards)
        return sum(one.to_go for one in self._prospects(guards))

    def cost(self, guards: Guards) -> str:
        if self.comparison is None:
            return super().cost(guards)
        cost = sum((Counter(one.cost) for one in self._prospects(guards)), Counter[str]())
        return dataclasses.replace(NOBODY, cost=cost).money()

    def _prospects(self, guards: Guards) -> list[Prospect]:
        if self.comparison is None:
            return super()._prospects(guards)
        shared = [guards] * len(self.arms) if guards.faults() else self._shared(guards)
        return [arm.under(share) for arm, share in zip(self.arms, shared, strict=True)]

    def limits(self, guards: Guards) -> str:
        said = super().limits(guards)
        if len(self.arms) < 2:
            return said
        said += f" {guards.first:,} of each text go first." if self.first(guards) else ""
        said += " The limit of the cost is divided between the texts." if guards.budget else ""
        return said.strip()

    # -- write and check

    def _forget_plan(self) -> None:
        super()._forget_plan()
        self.comparison = None

    def draft(self, choices: Choices) -> Draft:
        """Plan the first rows, with both texts where two are compared, and say what these people can show."""
        made, compared = super().draft(choices), choices.compared
        if made.plan is None or not compared.on:
            return made
        share = made.plan.recipients / made.plan._size
        try:
            other = self._planned(self.frame.head(made.plan._size), _of_arm(choices, SECOND, compared.other))
            said = compared.foreseen(round(len(self.frame) * share))
        except SmsOtpError as error:
            return Draft(problems=tuple(by_field(error, choices.kind).values()))
        return dataclasses.replace(made, other=other if compared.other.strip() else None, foreseen=tuple(said))

    def _make(self, choices: Choices) -> list[Unfinished]:
        before, self.comparison = self.comparison, None
        if not choices.compared.on:
            return super()._make(choices)
        try:
            return self._make_arms(choices)
        except SmsOtpError:
            self.comparison = before
            raise

    def _make_arms(self, choices: Choices) -> list[Unfinished]:
        compared = choices.compared
        test = Experiment(choices.campaign, ledger=self.ledger, **compared.declared())
        whole = self._planned(self.frame, choices)
        arm_of = foreseen(self.frame[compared.unit], test._declared, self.ledger).to_numpy(object)
        planned = whole._as_planned["status"].eq("planned").to_numpy()
        if (nobody := planned & pd.isna(arm_of)).any():
            labels = ", ".join(map(repr, self.frame.index[nobody][:3].tolist()))
            raise UsageError(f"unit= is blank in {counted(int(nobody.sum()), 'row')} that can be texted: {labels}")
        arms: dict[str, OneCampaign] = {}
        met: list[Unfinished] = []
        for name, words in compared.texts(choices.words).items():
            arm = OneCampaign(
                self.frame[planned & (arm_of == name)], client=self.client, ledger=self.ledger, policy=self.policy,
                type_above=self._type_above, changed=self._heard_of_arms, clock=self._clock,
            )  # fmt: skip
            found = arm._make(_of_arm(choices, name, words))
            if arm.counts:
                arm._read_results()
            arm._agreed, arm.stage = sum(one.both for one in found), "planned"
            arms[name], met = arm, [*met, *found]
        people = int(planned.sum())
        held = int((planned & (arm_of == HOLDOUT)).sum())
        said = tuple(compared.foreseen(people))
        self.plan, self._to, self._leave_out = whole, choices.to, choices.leave_out
        self.comparison = Comparison(test, self._asked_for(choices), self._drawn(choices), arms, held, said)
        self._gather()
        return met

    def _asked_for(self, choices: Choices) -> pd.DataFrame:
        names = dict.fromkeys([choices.to, choices.second, choices.region, choices.compared.unit])
        return self.frame[[name for name in names if name != NONE_CHOSEN]]

    def _drawn(self, choices: Choices) -> dict[str, Any]:
        given = self._asked(choices)
        return {name: given[name] for name in DRAWN if name in given}

    # -- what all texts come to

    def _gather(self) -> None:
        assert self.comparison is not None
        assert self.plan is not None
        arms = self.arms
        begun = any(arm.counts for arm in arms)
        states = [arm.counts or {"planned": arm.waiting} for arm in arms] if begun else []
        self.counts = {state: sum(one.get(state, 0) for one in states) for one in states for state in one}
        self.plan = dataclasses.replace(self.plan)  # another one: what was drawn of it is not up to date
        self.unfinished = self.plan.campaign if self.tried and self.waiting else ""

    def _look_again(self) -> None:
        if self.comparison is None:
            super()._look_again()
            return
        for arm in self.arms:
            arm._look()
            if arm.counts:
                arm._read_results()
        self._gather()
        if self.stage == "done":
            self.results = self.comparison.results()

    def doubtful(self) -> list[tuple[Record, pd.Index]]:
        if self.comparison is None:
            return super().doubtful()
        return [found for arm in self.arms for found in arm.doubtful()]

    # -- send

    def send_test(self, number: str, default_region: str = "", *, plan: planning.Plan | None = None) -> bool:
        """Send the first message of each text to oneself; say whether all were accepted."""
        if self.comparison is None:
            return super().send_test(number, default_region, plan=plan)
        same = plan is None or plan is self.plan
        if not same or not self._begin({"planned"}, "testing", self.notice.text):
            return False
        standing = self._before
        done = [arm.send_test(number, default_region) for arm in self.arms]
        self._show("planned", standing.text, standing.sign)
        worst: Sign = "ok" if all(done) else "warn"
        self._tell_tested(Notice(" ".join(dict.fromkeys(arm.tested.text for arm in self.arms)), worst))
        return all(done)

    def test_label(self) -> str:
        return "Send me the first message of each text" if len(self.arms) > 1 else super().test_label()

    def stop(self) -> None:
        self._halted = self.stage == "sending"
        for arm in self.arms:
            arm.stop()
        super().stop()

    def _meanwhile(self) -> str:
        if self.comparison is None:
            return super()._meanwhile()
        said = next(filter(None, (arm._meanwhile() for arm in self.arms)), "")
        if said:
            self._look_again()
            self._show(self.stage, *self._standing())
        return said

    def _send(self, plan: planning.Plan, guards: Guards, back: str, reason: str) -> None:
        if self.comparison is None:
            super()._send(plan, guards, back, reason)
            return
        self._started, self.running, self._halted = self._clock(), None, False
        expected, tried = self.to_go, self.tried
        self._expected = [one.to_go for one in self._prospects(guards)]
        try:
            self.comparison.record()
            self._look_again()
        except SmsOtpError as error:
            self._refuse(back, *refused(error, "Not sent."))
            return
        if self.to_go != expected:
            self._refuse(back, f"Not sent. {CHANGED}", "warn")
            return
        for arm in self.arms:
            arm.running = None
        self._send_arms(guards, reason)
        self._gather()
        self._stop.clear()
        self._ended(back, posted=self.tried > tried)

    def _send_arms(self, guards: Guards, reason: str) -> None:
        for arm, share in zip(self.arms, self._shared(guards), strict=True):
            if self._halted or not arm.to_go:
                continue
            arm.send(share, arm.to_type(share), reason)
            why = arm._held_back()
            if arm.refusal.text or arm.notice.sign == "bad" or (why and why.code in ENDS):
                return

    def _held_back(self) -> Problem | None:
        """Return what held the rest back; of a text that was not begun, no row says so."""
        return PROBLEMS["STOPPED"] if self._halted and self.waiting else super()._held_back()

    def _ended(self, back: str, *, posted: bool) -> None:
        assert self.comparison is not None
        told = [arm.refusal if arm.refusal.text else arm.notice for arm in self.arms]
        trouble = [said for arm, said in zip(self.arms, told, strict=True) if arm.refusal.text or said.sign == "bad"]
        words = " ".join(said.text for said in trouble)
        if trouble and not posted:
            faults = {field: words for arm in self.arms for field, words in arm.faults.items()}
            self._refuse(back, words, trouble[0].sign, faults)
            return
        self.results = self.comparison.results()
        said = self._come_to()
        self._show(
            "done", f"{said.text} {words}".strip(), "bad" if any(one.sign == "bad" for one in told) else said.sign
        )

    def asked(self, guards: Guards) -> dict[str, Limits]:
        """Return the limits of each text; none where nothing is compared or a guard cannot be read."""
        if self.comparison is None or guards.faults():
            return {}
        shared = zip(self.comparison.arms.items(), self._shared(guards), strict=True)
        return {name: share.limits(tried=arm.tried) for (name, arm), share in shared}

    def _shared(self, guards: Guards) -> list[Guards]:
        """Divide the limit of the cost between the texts, in proportion to what their rows are estimated to cost."""
        limit = guards.limits().budget
        if not limit:
            return [guards] * len(self.arms)
        ((currency, amount),) = limit.items()
        costs = [
            0.0 if arm.plan is None else planning.overview.costs(arm.plan._as_planned).get(currency, 0.0)
            for arm in self.arms
        ]
        total = sum(costs)
        if not total:  # each send then says that it needs an estimate
            return [guards] * len(costs)
        parts = [(Decimal(amount) * Decimal(str(cost / total))).quantize(_MICRO, ROUND_DOWN) for cost in costs]
        return [Guards({**guards.fields, "budget": f"{currency} {part:f}"}) for part in parts]

    def _heard_of_arms(self) -> None:
        if self.stage != "sending":
            return
        told = [
            arm.running.progress if arm.running else _at_rest(arm, going)
            for arm, going in zip(self.arms, self._expected, strict=True)
        ]
        seconds = self._clock() - self._started
        self.running = Running(_together(told), seconds, self._halted, self._texted)
        self._changed()

    # -- change

    def withdraw(self, reason: str = "", *, plan: planning.Plan | None = None) -> None:
        """Take all rows not yet sent out of their campaigns for good; a text of which nothing is recorded is left."""
        if self.comparison is None:
            super().withdraw(reason, plan=plan)
            return
        if not self._may_withdraw(plan):
            return
        before = self.waiting
        for arm in self.arms:
            arm.withdraw(reason)
        for name in [name for name, arm in self.comparison.arms.items() if not arm.counts]:
            del self.comparison.arms[name]
        self._look_again()
        refusals = [arm.refusal for arm in self.arms if arm.refusal.text]
        if refusals:
            self._refuse(self.stage, refusals[0].text, refusals[0].sign)
            return
        self.results = self.comparison.results()
        gone = counted(before - self.waiting, "row")
        self._show("done", f"{gone} withdrawn: this campaign never texts them.", "ok")


def _of_arm(choices: Choices, name: str, words: str) -> Choices:
    return dataclasses.replace(choices, campaign=f"{choices.campaign}/{name}", words=words)


def _at_rest(arm: OneCampaign, going: int) -> Progress:
    counts: dict[str, Any] = {state: arm.counts.get(state, 0) for state in TRIED}
    return Progress(done=arm.tried, total=arm.tried + going, waiting=arm.waiting - going, **counts)


def _together(told: list[Progress]) -> Progress:
    currencies = {one.currency for one in told if one.cost_micros or one.currency}
    names = ("done", "total", *TRIED, "waiting")
    sums: dict[str, Any] = {name: sum(getattr(one, name) for one in told) for name in names}
    if len(currencies) == 1:
        sums |= {"cost_micros": sum(one.cost_micros for one in told), "currency": currencies.pop()}
    return Progress(**sums)
