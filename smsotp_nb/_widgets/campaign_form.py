"""The campaign form: fields, panes and buttons around ``CampaignSteps``."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets
import pandas as pd

from .. import phones
from .. import rates as rate_tables
from .._calls import in_our_words
from .._cards import Card, Note, counted
from .._frames import AnyFrame, as_pandas
from .._guards import GUARDS
from .._ledger import LedgerOrPath
from .._planning.suppression import usable
from .._policy import Policy
from ..errors import UsageError
from . import campaign_html, saved, skin
from .arguments import names_of, with_none
from .campaign_choices import Choices, Guards
from .campaign_steps import IN_THE_FORM, TYPE_ABOVE, CampaignSteps, Draft
from .latest import Latest

if TYPE_CHECKING:
    from .._client import Client
    from .._sandbox import Sandbox

STEPS = ("Write", "Check", "Send", "Results")
STEP_OF = {"write": 1, "planning": 2, "planned": 2, "sending": 3, "done": 4}
KINDS = (("Text, signed", "content"), ("Whole text", "text"), ("Template", "template"))
QUIET = 0.35  # seconds without a key before the preview is made anew


class CampaignForm(skin.Shown):
    """A form that writes, checks and sends a campaign to the rows of a frame. Make it the last line of a cell.

    Nothing is sent before you press the button that says how many messages it sends. Sent messages are recorded in the
    ledger: after a kernel restart, run the cell again, check the same campaign, and continue with the rest. On the live
    service the number of messages must be typed each time.

    Args:
        frame: the recipients. The frame is not changed.
        client: the service, or a sandbox to try it.
        ledger: where the campaign is recorded: a Ledger or its path. By default this user's one ledger.
        suppress: as for ``plan``; a path can be changed in the form.
        rates: as for ``plan``; a path can be changed in the form.
        policy: as for ``plan``.
        type_above: on a sandbox, the number of messages above which it must be typed before sending.

    Attributes:
        widget: the ipywidgets root, to place in a layout of your own.
        steps: the state behind the form, such as ``steps.plan`` and ``steps.counts``.

    Raises:
        UsageError: ``frame`` is not a frame with columns, ``client`` is not a client, or ``suppress`` or ``rates``
            cannot be read.

    Example:
        >>> import pathlib, tempfile
        >>> from smsotp_nb import Ledger, Sandbox
        >>> from smsotp_nb.widgets import CampaignForm
        >>> people = pd.DataFrame({"phone": ["+1 202 555 0123"], "name": ["Ann"]})
        >>> with Sandbox() as box, Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True) as ledger:
        ...     form = CampaignForm(people, client=box.client(), ledger=ledger)
        >>> form.choices().to
        'phone'
    """

    _calls = "sms.plan(...), sms.preflight(...), sms.send(...)"

    @in_our_words
    def __init__(
        self,
        frame: AnyFrame,
        *,
        client: Client | Sandbox,
        ledger: LedgerOrPath | None = None,
        suppress: Any = None,
        rates: Any = None,
        policy: Policy | None = None,
        type_above: int = TYPE_ABOVE,
    ) -> None:
        frame = as_pandas(frame)
        self.steps = CampaignSteps(
            frame, client=client, ledger=ledger, policy=policy, type_above=type_above, changed=self._render
        )
        self._variant = self.steps.client.settings.variant
        self._given = {"suppress": _usable_people(suppress), "rates": _usable_rates(rates)}
        self._draft: Draft | None = None
        self._latest: Latest[Choices, Draft] = Latest(self.steps.draft, self._take, wait=QUIET)
        self._drawn: object = None
        self._stage = "write"
        self._sure = False  # whether the button that withdraws was pressed once
        self._opted_out = ""  # the source of the opt-out recorded last
        self._settle = skin.SETTLE
        self._drawing = threading.RLock()
        self._make_fields(frame)
        self._make_guards()
        self._make_buttons()
        self.widget = self._lay_out()
        self._render()
        self._latest.ask(self.choices(), at_once=True)

    @property
    def results(self) -> pd.DataFrame | None:
        """The result table of the last send, one row for every row of the frame; None before the first send."""
        return self.steps.results

    def choices(self) -> Choices:
        """Return what the fields say now."""
        return Choices(
            campaign=self.campaign.value.strip(),
            to=self.phone.value,
            region=self.region.value,
            default_region=self.default_region.value.strip().upper(),
            kind=self.kind.value,
            words=self.words.value,
            template_id=self.template_id.value.strip(),
            variables=tuple(name.strip() for name in self.variables.value.split(",") if name.strip()),
            signature=self.signature.value.strip(),
            fill=_pairs(self.fill.value),
            suppress=self._file("suppress", self.suppress.value),
            rates=self._file("rates", self.rates.value),
            keep=tuple(name.strip() for name in self.keep.value.split(",") if name.strip()),
            variant=self._variant,
            policy=self.steps.policy,
        )

    def guards(self) -> Guards:
        """Return what the guards say now."""
        entered = {name: field.value for name, field in self.guard_fields.items()}
        return Guards({name: value.strip() if isinstance(value, str) else value for name, value in entered.items()})

    def __repr__(self) -> str:
        return f"<CampaignForm at step {STEPS[STEP_OF[self.steps.stage] - 1]!r}; run the cell to use it>"

    # -- what a saved notebook keeps

    def _moment(self) -> object:
        return self.steps.stage, self.steps.notice, tuple(self.steps.counts.items())

    def _saved(self) -> Card:
        stage, notice = self.steps.stage, self.steps.notice
        if stage == "write" and not self.steps.unfinished:
            return Card("Campaign form", "", closing=saved.TO_USE)
        if stage == "done" and self.results is not None:
            return campaign_html.saved_card(self.results, self.steps.counts, notice)
        card = saved.unfinished("Campaign form", STEPS[STEP_OF[stage] - 1])
        return dataclasses.replace(card, blocks=(Note("i", notice.text),) if notice.text else ())

    # -- parts

    def _make_fields(self, frame: pd.DataFrame) -> None:
        names, found = names_of(frame), phones.find_columns(frame)
        numbers = names if found.phone is not None else with_none(names, "choose")
        self.campaign = skin.text("Campaign name", placeholder="autumn-sale")
        self.kind = ipywidgets.Dropdown(description="Message", options=KINDS, value="content")
        self.phone = skin.choice("Phone column", numbers, found.phone)
        countries = ((label, name) for label, name in names if isinstance(name, str))  # as plan takes them
        self.region = skin.choice("Country column", with_none(countries, "none"), found.region)
        self.default_region = skin.text("Default country", placeholder="DE")
        self.signature = skin.text("Signature", placeholder="Acme")
        self.template_id = skin.text("Template ID", placeholder="welcome-1")
        self.variables = skin.text("Template variables, from columns", placeholder="name, city")
        self.words = ipywidgets.Textarea(description="Text", placeholder="Hi {name}, 20 % off until Sunday.")
        self.fill = skin.text("If a value is missing", placeholder="name=there")
        self.suppress = skin.text("Suppression list", **self._path_field("suppress", "suppression.csv"))
        self.rates = skin.text("Rates", **self._path_field("rates", "rates.csv"))
        self.keep = skin.text("Columns to keep", placeholder="segment, city")
        self._names = [label for label, _ in names]
        for field in (self.campaign, self.kind, self.phone, self.region, self.default_region, self.signature):
            field.observe(lambda _: self._typed(), "value")
        for field in (self.template_id, self.variables, self.words, self.fill, self.suppress, self.rates, self.keep):
            field.observe(lambda _: self._typed(), "value")

    def _path_field(self, name: str, example: str) -> dict[str, Any]:
        given = self._given[name]
        if given is None or isinstance(given, str):
            return {"value": given or "", "placeholder": example}
        return {"value": "", "placeholder": "given in code", "disabled": True}

    def _file(self, name: str, typed: str) -> Any:
        given = self._given[name]
        return typed.strip() or None if given is None or isinstance(given, str) else given

    def _make_guards(self) -> None:
        self.guard_fields = {field.name: skin.field(field) for guard in GUARDS for field in guard.fields}
        self.typed = skin.text("")
        self.reason = skin.text("Why the text changes, for the record", placeholder="typo")
        self.stop_number = skin.text("Number of the person", placeholder="+1 202 555 0123")
        self.stop_source = skin.text("How it came", placeholder="phone call")
        for field in (*self.guard_fields.values(), self.reason):
            field.observe(lambda _: self._render(), "value")

    def _make_buttons(self) -> None:
        self.check_button = skin.button("Check the plan")
        self.send_button = skin.button("Send")
        self.back_button = skin.button("Back to the text")
        self.withdraw_button = skin.button("Withdraw")
        self.opt_out_button = skin.button("Record the opt-out")
        self.stop_button = skin.button("Stop sending")
        self.accepted_button = skin.button("They were accepted")
        self.again_button = skin.button("Not accepted: retry with the next send")
        self.check_button.on_click(lambda _: self._check())
        self.send_button.on_click(lambda _: self._send())
        self.back_button.on_click(lambda _: self._back())
        self.withdraw_button.on_click(lambda _: self._withdraw())
        self.opt_out_button.on_click(lambda _: self._opt_out())
        self.stop_button.on_click(lambda _: self.steps.stop())
        self.accepted_button.on_click(lambda _: self._resolve(accepted=True))
        self.again_button.on_click(lambda _: self._resolve(accepted=False))

    def _lay_out(self) -> ipywidgets.VBox:
        self._head = skin.block("", "smsotp-top")  # takes the focus after a step: reading goes on there
        self._notice, self._lines = skin.block(""), skin.block("")
        self._write, self._rest = self._lay_out_write(), self._lay_out_rest()
        foot = skin.box(self._notice, self._lines, classes=("smsotp-main", "smsotp-end"))
        return skin.form(self._head, self._write, self._rest, foot, classes=("smsotp-campaign",))

    def _lay_out_write(self) -> ipywidgets.VBox:
        self._preview, self._unfinished = skin.block("", "smsotp-side"), skin.block("")
        self._columns = skin.block(campaign_html.columns_html(self._names), "smsotp-hint")
        self._template = skin.box(self.template_id, self.variables, classes=("smsotp-pair",))
        more = skin.folded(
            "More options",
            "Fewer options",
            self.suppress,
            self.rates,
            skin.box(self.fill, self.keep, classes=("smsotp-pair",)),
        )
        return skin.box(
            skin.box(
                self._unfinished,
                skin.box(self.campaign, self.kind, classes=("smsotp-pair",)),
                skin.box(self.phone, self.region, classes=("smsotp-pair",)),
                skin.box(self.default_region, self.signature, classes=("smsotp-pair",)),
                self._template,
                self.words,
                self._columns,
                *more,
                self.check_button,
                classes=("smsotp-main",),
            ),
            self._preview,
            classes=("smsotp-body", "smsotp-two"),
        )

    def _lay_out_rest(self) -> ipywidgets.VBox:
        self._outcome, self._card, self._progress = skin.block(""), skin.block(""), skin.block("")
        self._where, self._doubt_line = skin.block(""), skin.block("")
        self._guards = skin.box(
            *skin.folded(
                f"Guards: {', '.join(guard.name.replace('_', ' ') for guard in GUARDS if guard.fields)}",
                "Hide the guards",
                *self._guard_rows(),
            ),
            classes=("smsotp-main",),
        )
        self._doubt = skin.box(
            self._doubt_line,
            skin.box(self.accepted_button, self.again_button, classes=("smsotp-pair",)),
            classes=("smsotp-main", "smsotp-doubt"),
        )
        self._people = skin.box(
            *skin.folded(
                "Opt-outs: somebody does not want to be texted",
                "Hide the opt-outs",
                skin.box(self.stop_number, self.stop_source, classes=("smsotp-pair",)),
                self.opt_out_button,
            ),
            classes=("smsotp-main",),
        )
        buttons = (self.send_button, self.stop_button, self.back_button, self.withdraw_button)
        self._confirm = skin.box(
            self._where,
            self.reason,
            self.typed,
            skin.box(*buttons, classes=("smsotp-act",)),
            classes=("smsotp-main",),
        )
        return skin.box(
            self._outcome,
            self._card,
            self._progress,
            self._doubt,
            self._people,
            self._guards,
            self._confirm,
            classes=("smsotp-main", "smsotp-pad"),
        )

    def _guard_rows(self) -> list[ipywidgets.DOMWidget]:
        """Return the fields of the guards in rows of two: those of one guard together, single ones side by side."""
        fields = [[self.guard_fields[field.name] for field in guard.fields] for guard in GUARDS]
        single = [one for group in fields if len(group) == 1 for one in group]
        pairs = [single[i : i + 2] for i in range(0, len(single), 2)]
        return [
            skin.box(*row, classes=("smsotp-pair",)) for row in (*pairs, *(many for many in fields if len(many) > 1))
        ]

    # -- gestures

    def _check(self) -> None:
        def check() -> None:
            self.steps.check(skin.settled(self.choices, wait=self._settle))

        self._work(check)

    def _send(self) -> None:
        def send() -> None:
            guards, typed, reason = skin.settled(
                lambda: (self.guards(), self.typed.value, self.reason.value), wait=self._settle
            )
            self.typed.value = ""
            self.steps.send(guards, typed, reason)
            if self.steps.stage == "done" and not self.steps.refusal.text:
                self.guard_fields["canary"].value, self.reason.value = 0, ""

        self._work(send)

    def _back(self) -> None:
        self._sure = False
        self.steps.back()
        self.words.focus()

    def _withdraw(self) -> None:
        if not self._sure:
            self._sure = True
            self._render()
            return
        self._work(lambda: self.steps.withdraw(self.reason.value))

    def _opt_out(self) -> None:
        def record() -> None:
            number, source = skin.settled(lambda: (self.stop_number.value, self.stop_source.value), wait=self._settle)
            if self.steps.opt_out(number, source, self.choices().default_region):
                self._opted_out, self.stop_number.value = source.strip(), ""
                self._render()

        self._work(record)

    def _resolve(self, *, accepted: bool) -> None:
        self._work(lambda: self.steps.resolve(accepted=accepted))

    def _work(self, move: Callable[[], None]) -> None:
        self._sure = False

        def work() -> None:
            move()
            self._next_to_read().focus()

        threading.Thread(target=work, name="smsotp-form", daemon=True).start()

    def _next_to_read(self) -> ipywidgets.DOMWidget:
        """Return what takes the focus after a move: the top of the new screen, or what a refusal asks for."""
        if not self.steps.refusal.text:
            return self._head
        if self.steps.stage == "write":
            return self.check_button
        return self.typed if self.steps.to_type(self.guards().canary) else self.send_button

    # -- the preview, a moment after the last key

    def _typed(self) -> None:
        self._render()
        self._latest.ask(self.choices())

    def _take(self, draft: Draft) -> None:
        with self._drawing:
            self._draft = draft
            self._render()

    # -- drawing

    def _render(self) -> None:
        with self._drawing:
            stage = self.steps.stage
            self._head.value = skin.head(
                "Campaign", self.steps.where(), STEPS, STEP_OF[stage], done=stage == "done", live=self.steps.live
            )
            writing = stage in ("write", "planning")
            skin.show(self._write, writing)
            skin.show(self._rest, not writing)
            if writing:
                self._draw_write(stage)
            else:
                self._draw_rest(stage)
            if stage == "sending" != self._stage:
                self.stop_button.focus()  # the button that was pressed is gone
            self._stage = stage
            self._notice.value = skin.notice(self.steps.refusal.text, self.steps.refusal.sign)
            self._lines.value = campaign_html.lines_html(self._code())
            self._save_card()

    def _draw_write(self, stage: str) -> None:
        template = self.kind.value == "template"
        skin.show(self._template, template)
        self.words.description = "Template's text, for the estimate only" if template else "Text"
        self._preview.value = campaign_html.draft_html(self._draft)
        unfinished = bool(self.steps.unfinished)
        self._unfinished.value = skin.notice(self.steps.notice.text, self.steps.notice.sign) if unfinished else ""
        skin.show(self._unfinished, unfinished)
        for field in (self.campaign, self.phone, self.region, self.default_region):
            field.disabled = unfinished
        self.check_button.description = "Planning …" if stage == "planning" else "Check the plan"
        self.check_button.disabled = stage == "planning"
        skin.primary(self.check_button, True)

    def _draw_rest(self, stage: str) -> None:
        steps, sending = self.steps, stage == "sending"
        self._outcome.value = skin.notice(steps.notice.text, steps.notice.sign)
        skin.show(self._outcome, not sending)
        self._draw_card(stage)
        skin.show(self._card, not sending)
        skin.show(self._progress, sending)
        self._progress.value = campaign_html.progress_html(steps.running) if sending else ""
        self._draw_doubt(stage)
        can_send = not sending and steps.to_go > 0
        canary = self.guards().canary
        skin.show(self._people, not sending)
        skin.show(self.reason, can_send and bool(steps.reworded))
        for part in (self._guards, self._where, self.send_button):
            skin.show(part, can_send)
        skin.mark(self._confirm, "smsotp-framed", can_send and steps.live)
        skin.show(self.typed, can_send and bool(steps.to_type(canary)))
        self.typed.description = f"Type {steps.to_type(canary)} to confirm"
        self._where.value = skin.line(steps.where(), "warn" if steps.live else "")
        self.send_button.description = steps.send_label(canary)
        skin.primary(self.send_button, True)
        skin.show(self.stop_button, sending)
        self.stop_button.disabled = bool(steps.running and steps.running.stopping)
        skin.show(self.back_button, not sending)
        skin.primary(self.back_button, not can_send)
        self.back_button.description = steps.back_label()
        skin.show(self.withdraw_button, not sending and bool(steps.unfinished))
        ask = "Yes, withdraw them for good" if self._sure else f"Withdraw the other {steps.waiting:,}"
        self.withdraw_button.description = ask

    def _draw_card(self, stage: str) -> None:
        """Make the card when there is a new one to show, not with every key: it looks at the whole list."""
        shown = {"planned": self.steps.plan, "done": self.steps.results}.get(stage)
        if shown is None or shown is self._drawn:
            return
        self._drawn = shown
        if stage == "done":
            self._card.value = campaign_html.results_html(self.steps.results, self.steps.counts)
        elif self.steps.plan is not None:
            self._card.value = campaign_html.plan_html(self.steps.plan)

    def _draw_doubt(self, stage: str) -> None:
        doubt = self.steps.counts.get("in_doubt", 0) if stage == "done" else 0
        skin.show(self._doubt, doubt > 0)
        rows = counted(doubt, "row is", "rows are")
        words = f"{rows} in doubt: no answer came, so they may have been accepted. Check the service's own records"
        self._doubt_line.value = skin.line(f"{words} or ask somebody on the list, then say which:", "warn")

    def _code(self) -> str:
        choices = self.choices()
        try:
            return choices.lines(self.guards(), before=self._lines_before())
        except UsageError as error:
            return f"{choices.lines()}\n# {error}"

    def _lines_before(self) -> list[str]:
        """Return the calls between plan and send: an opt-out, and the correction of what was begun."""
        lines = []
        if self._opted_out:  # the number is not printed
            lines.append(f"sms.People().opt_out(number, source={self._opted_out!r})")
        if self.steps.reworded:
            reason = self.reason.value.strip() or IN_THE_FORM
            name = f"sms.Ledger().campaign({self.choices().campaign!r}, service=client.service)"
            lines.append(f"{name}.correct(plan, reason={reason!r})")
        return lines


def _usable_people(suppress: Any) -> Any:
    return None if suppress is None else usable(suppress, "suppress=")


def _usable_rates(rates: Any) -> Any:
    """Return rates as they were given, once they are known to be some."""
    if rates is not None:
        rate_tables.read(rates) if isinstance(rates, str | Path) else rate_tables.check(rates)
    return rates


def _pairs(typed: str) -> dict[str, str]:
    """Return ``name=there, city=your town`` as a dict; a piece without ``=`` says nothing yet."""
    pieces = (piece.partition("=") for piece in typed.split(",") if "=" in piece)
    return {name.strip(): value.strip() for name, _, value in pieces}
