"""The step of the campaign form that sends: who goes first, the guards, a test message, and the buttons."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import ipywidgets

from ..._cards import counted
from ..._guards import GUARDS
from .. import skin
from ..field_faults import FieldFaults
from ..pinned import Pinned
from .choices import SPEED, Guards
from .steps import CampaignSteps


class SendPane:
    """Fields and buttons; the first recipients stand in sight, the other guards are folded away.

    Args:
        changed: called when a guard changes.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self.faults = FieldFaults()
        self.guard_fields = {field.name: skin.field(field) for guard in GUARDS for field in guard.fields}
        self.guard_fields[SPEED] = skin.whole("Messages a second, at most (0: no limit)", most=10**6)
        self.typed = skin.text("")
        self.reason = skin.text("Why the text changes, for the record", placeholder="typo")
        self.test_number = skin.text("Your own number", placeholder="+1 202 555 0123")
        self.test, self.send = Pinned("Send me the first message as a test"), Pinned("Send")
        self.sure = Pinned("Yes, withdraw")
        self.test_button, self.send_button, self.sure_button = self.test.button, self.send.button, self.sure.button
        self.back_button = skin.button("Back to the text")
        self.withdraw_button = skin.button("Withdraw")
        self.keep_button = skin.button("No, keep them")
        self.stop_button = skin.button("Stop sending")
        for field in (*self.guard_fields.values(), self.reason):
            field.observe(lambda _: changed(), "value")
        self.widget = self._lay_out()

    def guards(self) -> Guards:
        """Return what the guards say now."""
        entered = {name: field.value for name, field in self.guard_fields.items()}
        return Guards({name: value.strip() if isinstance(value, str) else value for name, value in entered.items()})

    def draft(self) -> dict[str, str | int]:
        """Return what a draft keeps of the guards: those that are not as they were at first."""
        first = {field.name: field.value for guard in GUARDS for field in guard.fields}
        now = {name: field.value for name, field in self.guard_fields.items()}
        return {name: value for name, value in now.items() if value and value != first.get(name)}

    def fill_in(self, draft: Mapping[str, str | int]) -> None:
        """Fill in a draft."""
        for name, field in self.guard_fields.items():
            if name in draft and isinstance(draft[name], type(field.value)):
                field.value = draft[name]

    def forget(self) -> None:
        """Forget what was typed for a list that is no longer in use."""
        self.guard_fields["canary"].value, self.typed.value, self.reason.value = 0, "", ""

    def draw(self, steps: CampaignSteps, *, sure: bool) -> None:
        """Show what can be done now; ``sure``: it is asked whether the rest is to be withdrawn."""
        guards, sending = self.guards(), steps.stage == "sending"
        can_send = not sending and steps.to_go > 0
        self.faults.show(steps.faults)
        for part in (self._first, self._guards, self._where, self.send_button, self._limits):
            skin.show(part, can_send)
        skin.show(self._test, can_send and steps.stage != "done")
        self._tested.value = skin.line(steps.tested.text, steps.tested.sign) if steps.tested.text else ""
        self.test.offer(steps.test_label(), steps.plan if can_send else None)
        self.test_button.disabled = self.send_button.disabled = steps.stage == "testing"
        skin.show(self.reason, can_send and bool(steps.reworded))
        skin.mark(self.widget, "smsotp-framed", can_send and steps.live)
        skin.show(self.typed, can_send and bool(steps.to_type(guards.first)))
        self.typed.description = f"Type {steps.to_type(guards.first)} to confirm"
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
        skin.show(self._sure, sure)
        rows = counted(steps.waiting, "row")
        self._warning.value = skin.line(f"{rows} will be taken out for good: this campaign never texts them.", "warn")
        self.sure.offer(f"Yes, withdraw {steps.waiting:,}", steps.plan if sure else None)

    def _lay_out(self) -> ipywidgets.VBox:
        self._where, self._tested, self._limits = skin.block(""), skin.block(""), skin.block("")
        self._warning = skin.block("")
        answers = skin.box(self.sure.widget, self.keep_button, classes=("smsotp-pair",))
        self._sure = skin.box(self._warning, answers, classes=("smsotp-main", "smsotp-framed"))
        self._first = self.faults.around("canary", self.guard_fields["canary"])
        self._guards = skin.box(
            *skin.folded("Limits: cost, speed, quiet hours, failures", "Hide the limits", *self._guard_rows()),
            classes=("smsotp-main",),
        )
        self._test = skin.box(
            *skin.folded(
                "Send me a test message first",
                "Hide the test message",
                self.faults.around("test_number", self.test_number),
                self.test.widget,
                self._tested,
            ),
            classes=("smsotp-main",),
        )
        return skin.box(
            self._test,
            self._first,
            self._guards,
            self._where,
            self.reason,
            self.faults.around("typed", self.typed),
            skin.box(self.send.widget, self.stop_button, self._limits, classes=("smsotp-field",)),
            skin.box(self.back_button, self.withdraw_button, classes=("smsotp-act",)),
            self._sure,
            classes=("smsotp-main",),
        )

    def _guard_rows(self) -> list[ipywidgets.DOMWidget]:
        """Return the fields of the other guards in rows of two: those of one guard together, single ones in pairs."""
        names = [[field.name for field in guard.fields] for guard in GUARDS if guard.name != "canary"] + [[SPEED]]
        around = [[self.faults.around(name, self.guard_fields[name]) for name in group] for group in names]
        single = [one for group in around if len(group) == 1 for one in group]
        pairs = [single[i : i + 2] for i in range(0, len(single), 2)]
        rows = (*pairs, *(many for many in around if len(many) > 1))
        return [skin.box(*row, classes=("smsotp-pair",)) for row in rows]
