"""The later steps of the campaign form: guards, a test message and the buttons that send; the outcome and its rows."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from ..._guards import GUARDS
from .. import skin
from ..controls import FieldFaults, Pinned, Withdrawal
from ..results_table import ResultsTable
from ..settling import Doubts
from ..stages import Sign
from . import cards
from .cards import groups, refusals_html
from .choices import SPEED, Guards
from .steps import CampaignSteps


class SendPane:
    """Fields and buttons; the first recipients stand in sight, the other guards are folded away.

    ``sticky``, the button that sends, stands between ``widget`` and ``below`` in the box in which it is kept in sight.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self.faults = FieldFaults()
        self.guard_fields = {field.name: skin.field(field) for guard in GUARDS for field in guard.fields}
        self.guard_fields[SPEED] = skin.whole("Messages a second, at most (0: no limit)", most=10**6)
        self.typed = skin.text("")
        self.reason = skin.text("Why the text changes, for the record", placeholder="typo")
        self.test_number = skin.text("Your own number", placeholder="+1 202 555 0123")
        self.test, self.send = Pinned("Send me the first message as a test"), Pinned("Send")
        self._withdrawal = Withdrawal()
        self.sure, self.keep_button = self._withdrawal.sure, self._withdrawal.keep_button
        self.test_button, self.send_button, self.sure_button = self.test.button, self.send.button, self.sure.button
        self.back_button = skin.button("Back to the text")
        self.withdraw_button = skin.button("Withdraw")
        self.stop_button = skin.button("Stop sending")
        for field in (*self.guard_fields.values(), self.reason):
            field.observe(lambda _: changed(), "value")
        self.widget = self._lay_out()

    def guards(self) -> Guards:
        entered = {name: field.value for name, field in self.guard_fields.items()}
        return Guards({name: value.strip() if isinstance(value, str) else value for name, value in entered.items()})

    def draft(self) -> dict[str, str | int]:
        """Return what a draft keeps of the guards: those that are not as they were at first."""
        first = {field.name: field.value for guard in GUARDS for field in guard.fields}
        now = {name: field.value for name, field in self.guard_fields.items()}
        return {name: value for name, value in now.items() if value and value != first.get(name)}

    def forget(self) -> None:
        """Forget what was typed for a list that is no longer in use."""
        self.guard_fields["canary"].value, self.typed.value, self.reason.value = 0, "", ""

    def draw(self, steps: CampaignSteps, *, sure: bool) -> None:
        """Show what can be done now; ``sure``: it is asked whether the rest is to be withdrawn."""
        guards, sending = self.guards(), steps.stage == "sending"
        can_send = not sending and steps.to_go > 0
        self.faults.show(steps.faults)
        for part in (self._guards, self.send_button, self._limits):
            skin.show(part, can_send)
        skin.show(self._test, can_send and steps.stage != "done")
        self._tested.value = skin.line(steps.tested.text, steps.tested.sign) if steps.tested.text else ""
        self.test.offer(steps.test_label(), steps.plan if can_send else None)
        self.test_button.disabled = self.send_button.disabled = steps.stage == "testing"
        skin.show(self.reason, can_send and steps.revises)
        skin.mark(self.widget, "smsotp-framed", can_send and steps.live)
        skin.show(self.widget, can_send)
        skin.show(self.sticky, can_send or sending)
        skin.show(self.typed, can_send and bool(steps.to_type(guards)))
        self.typed.description = f"Type {steps.to_type(guards)} to confirm"
        self._where.value = skin.line(steps.where(), "warn" if steps.live else "") + skin.line(steps.asked_for())
        self._draw_buttons(steps, guards, can_send=can_send, sending=sending, sure=sure)

    def _draw_buttons(self, steps: CampaignSteps, guards: Guards, *, can_send: bool, sending: bool, sure: bool) -> None:
        self.send.offer(steps.send_label(guards), (steps.plan, guards) if can_send else None)
        self._limits.value = skin.line(steps.limits(guards))
        skin.primary(self.send_button, True)
        skin.show(self.stop_button, sending)
        self.stop_button.disabled = bool(steps.running and steps.running.stopping)
        skin.show(self.back_button, not sending)
        skin.primary(self.back_button, not can_send)
        self.back_button.description = steps.back_label()
        skin.show(self.withdraw_button, not sending and not sure and bool(steps.unfinished))
        self.withdraw_button.description = f"Withdraw the other {steps.waiting:,}"
        self._withdrawal.draw(steps.waiting, steps.plan if sure else None)

    def _lay_out(self) -> ipywidgets.VBox:
        self._where, self._tested, self._limits = skin.block(), skin.block(), skin.block()
        self._first = self.faults.around("canary", self.guard_fields["canary"])
        limits = ("Limits: cost, speed, quiet hours, failures", "Hide the limits")
        self._guards = skin.Folded(*limits, *self._guard_rows()).widget
        number = self.faults.around("test_number", self.test_number)
        tests = ("Send me a test message first", "Hide the test message")
        self._test = skin.Folded(*tests, number, self.test.widget, self._tested).widget
        buttons = (self.send.widget, self.stop_button, self._limits)
        self.sticky = skin.box(*buttons, classes=("smsotp-field", "smsotp-sticky"))
        actions = skin.box(self.back_button, self.withdraw_button, classes=("smsotp-act",))
        self.below = skin.main(actions, self._withdrawal.widget, self._test, self._guards)
        typed = self.faults.around("typed", self.typed)
        return skin.main(self._first, self._where, self.reason, typed)

    def _guard_rows(self) -> list[ipywidgets.DOMWidget]:
        """Return the fields of the other guards in rows of two: those of one guard together, single ones in pairs."""
        names = [[field.name for field in guard.fields] for guard in GUARDS if guard.name != "first"] + [[SPEED]]
        around = [[self.faults.around(name, self.guard_fields[name]) for name in group] for group in names]
        single = [one for group in around if len(group) == 1 for one in group]
        pairs = [single[i : i + 2] for i in range(0, len(single), 2)]
        rows = (*pairs, *(many for many in around if len(many) > 1))
        return [skin.pair(*row) for row in rows]


class ResultPane:
    """The outcome, the card, the rows that are not sent, doubt, and opt-outs."""

    def __init__(self, settled: Callable[[str, Sign], None]) -> None:
        """``settled`` is told in words what was decided about rows in doubt."""
        self.faults = FieldFaults()
        self.stop_number = skin.text("Number of the person", placeholder="+1 202 555 0123")
        self.stop_source = skin.text("How it came", placeholder="phone call")
        self.opt_out_button = skin.button("Record the opt-out")
        self.doubts, self.table = Doubts(settled=settled), ResultsTable()
        self._drawn: object = None
        self.widget = self._lay_out()

    def draw(self, steps: CampaignSteps, guards: Guards) -> None:
        sending = steps.stage == "sending"
        said = steps.notice.text if steps.stage == "done" else f"{steps.summary(guards)} {steps.notice.text}"
        self.outcome.value = skin.notice(said.strip(), steps.notice.sign)
        self._draw_card(steps)
        for part in (self.outcome, self.card, self._people):
            skin.show(part, not sending)
        skin.show(self._fold, not sending and steps.stage != "done")
        skin.show(self.refused, steps.stage == "done")
        skin.show(self.progress, sending)
        self.progress.value = skin.running(steps.running) if sending else ""
        self.faults.show(steps.faults)
        skin.show(self._found, not sending)

    def _draw_card(self, steps: CampaignSteps) -> None:
        """Make the card when there is a new one to show, not with every key: it looks at the whole list."""
        done = steps.stage == "done"
        shown = steps.results if done else steps.plan
        if shown is None or shown is self._drawn or steps.plan is None or steps.stage == "sending":
            return
        self._drawn = shown
        numbers = steps.numbers()
        if done:
            self.card.value = cards.results_html(steps.results, steps.counts)
            rows = steps.results
            self.refused.value = "" if rows is None else refusals_html(groups(rows, numbers), "Not sent")
        else:
            first, rest = cards.check_screen(steps.plan)
            self.card.value = first
            self.details.value = refusals_html(groups(steps.plan.rows, numbers), "Not texted now") + rest
        skin.show(self._rows, done)
        self.table.show(steps.results if done else None, steps.plan.campaign)
        self.doubts.settling.show(*steps.doubtful())

    def _lay_out(self) -> ipywidgets.VBox:
        self.outcome, self.card, self.progress = skin.block(), skin.block(), skin.block()
        self.refused, self.details = skin.block(), skin.block()
        details = ("Who is not texted and why; cost by country; more messages", "Hide the details")
        self._fold = skin.Folded(*details, self.details).widget
        self._rows = skin.Folded("All rows: filter, sort, download", "Hide the rows", self.table.widget).widget
        self._found = skin.main(self.doubts.widget, self._rows)
        around = self.faults.around
        number, source = around("stop_number", self.stop_number), around("stop_source", self.stop_source)
        opt_outs = ("Opt-outs: somebody does not want to be texted", "Hide the opt-outs")
        self._people = skin.Folded(*opt_outs, skin.pair(number, source), self.opt_out_button).widget
        self.below = skin.main(self._fold, self._people)
        parts = (self.outcome, self.card, self.progress, self._found, self.refused)
        return skin.main(*parts)
