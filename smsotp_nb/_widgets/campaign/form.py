"""The campaign form: its panes around ``CampaignSteps``, what each click does, and where the focus goes."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets
import pandas as pd

from ... import rates as rate_tables
from ..._calling import in_our_words, not_frame, refuse
from ..._cards import Card, Note
from ..._client import Client
from ..._frames import AnyFrame, as_pandas
from ..._ledger import LedgerOrPath, Record
from ..._planning import Plan
from ..._planning.suppression import usable
from ..._policy import Policy
from ...sandbox import Sandbox
from ...errors import UsageError
from .. import skin
from ..controls import fill_in
from ..lists import Uploaded, names_of
from ..stages import Latest, Notice, Sign
from . import cards
from .choices import Choices, Guards
from .drafts import UPLOADED, Drafts
from .reading import ReadPane
from .send_pane import ResultPane, SendPane
from .steps import IN_THE_FORM, TYPE_ABOVE, CampaignSteps, Draft, in_both
from .write_pane import ComparePane, Fields, WritePane

QUIET = 0.35  # seconds without a key before the preview is made anew


class CampaignForm(skin.Shown):
    """A form that writes, checks and sends a campaign to the rows of a list. Make it the last line of a cell.

    Nothing is sent before you press the button that says how many messages it sends. Sent messages are recorded in the
    ledger: after a kernel restart, run the cell again, check the same campaign, and continue with the rest. On the live
    service the number of messages must be typed each time.

    People who stand in another campaign of the ledger that is not finished are texted by both only after you say so.

    Where texts were compared, "Read a comparison" reads it on its reading day from the orders, after a restart, too.

    Args:
        frame: the recipients. The frame is not changed. Without one, the list is uploaded in the form.
        client: the service, or a sandbox to try it.
        ledger: where the campaign is recorded: a Ledger or its path. By default this user's one ledger.
        leave_out: as for ``plan``; a path can be changed in the form.
        rates: as for ``plan``; a path can be changed in the form.
        policy: as for ``plan``.
        default_region: as for ``plan``; can be changed in the form.
        orders: a row for each order, from which a comparison is read; without it they are uploaded in the form.
        type_above: on a sandbox, the number of messages above which it must be typed before sending.

    Attributes:
        widget: the ipywidgets root, to place in a layout of your own.
        steps: the state behind the form, such as ``steps.plan`` and ``steps.counts``.

    Raises:
        UsageError: ``frame`` or ``orders`` is not a frame with columns, ``client`` is not a client, or ``leave_out`` or
            ``rates`` cannot be read.

    Example:
        >>> import pathlib, tempfile
        >>> from smsotp_nb import Ledger, Sandbox
        >>> from smsotp_nb.widgets import CampaignForm
        >>> people = pd.DataFrame({"phone": ["+1 202 555 0123"], "name": ["Ann"]})
        >>> with Sandbox() as box, Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True) as ledger:
        ...     form = CampaignForm(people, client=box.client(), ledger=ledger)
        >>> form.steps.plan is None  # nothing is written yet
        True
    """

    _calls = "sms.plan(...), sms.preflight(...), sms.send(...)"

    @in_our_words
    def __init__(
        self,
        frame: AnyFrame | None = None,
        *,
        client: Client | Sandbox,
        ledger: LedgerOrPath | None = None,
        leave_out: Any = None,
        rates: Any = None,
        policy: Policy | None = None,
        default_region: str = "",
        orders: AnyFrame | None = None,
        type_above: int = TYPE_ABOVE,
    ) -> None:
        frame = None if frame is None else as_pandas(frame)
        self.steps = CampaignSteps(
            frame, client=client, ledger=ledger, policy=policy, type_above=type_above, changed=self._render
        )
        given = {
            # In a form it is read more than once, which a plan and a record can be anyway.
            "leave_out": leave_out if isinstance(leave_out, Record | Plan | None) else usable(leave_out),
            "rates": _usable_rates(rates),
            "default_region": default_region,
        }
        variant = self.steps.client.settings.variant
        self._draft: Draft | None = None
        self._latest: Latest[Choices, Draft] = Latest(self._keep, self._take, wait=QUIET)
        self._stage = "write"
        self._sure = False  # whether it is asked if the rest is to be withdrawn
        self._gesture = 0  # counts what was clicked
        self._opted_out = ""  # the source of the opt-out recorded last
        self._uploaded: Uploaded | None = None
        self._checked: Choices | None = None  # what the plan was made of
        self._settle = skin.SETTLE
        self.work = self.steps.work
        self._drawing = threading.RLock()
        self.fields = Fields(given, variant=variant, policy=policy, typed=self._typed)
        self.compare = ComparePane(self._typed)
        self.write = WritePane(self.fields, self.compare, upload=frame is None, take=self._take_list)
        self.sending, self.outcome = SendPane(self.steps.forget_refusal), ResultPane(self._settled)
        self.reading = ReadPane(
            self.steps.ledger,
            service=self.steps.client.service,
            orders=None if orders is None else _with_columns(orders),
            changed=self._save_card,
        )
        self._drafts = Drafts(self.steps.ledger.path)
        self._offered = self._drafts.latest()
        self._wire()
        self.widget = self._lay_out()
        self.fields.offer_campaigns(self.steps.campaigns())
        if frame is not None:
            self._offer(self.steps.frame)
        self.write.offer(self._offered.words(uploads=frame is None) if self._offered else "")
        self._render()
        self._latest.ask(self._choices(), at_once=True)

    @property
    def results(self) -> pd.DataFrame | None:
        """The result table of the last send, one row for every row of the list; None before the first send."""
        return self.steps.results

    def _choices(self) -> Choices:
        return dataclasses.replace(self.fields.choices(), compared=self.compare.choices())

    def __repr__(self) -> str:
        return f"<CampaignForm at step {self._step()!r}; run the cell to use it>"

    def _step(self) -> str:
        names, now = self.steps.path(self.sending.guards())
        return names[now - 1]

    # -- what a saved notebook keeps

    def _moment(self) -> object:
        return self.steps.stage, self.steps.notice, tuple(self.steps.counts.items()), self.reading.steps.reading

    def _saved(self) -> Card:
        reading = self.reading.steps.reading
        return cards.below(self._saved_campaign(), *([] if reading is None else [reading.card()]))

    def _saved_campaign(self) -> Card:
        stage, notice = self.steps.stage, self.steps.notice
        if stage == "write" and not self.steps.unfinished:
            return Card("Campaign form", "", closing=skin.TO_USE)
        if stage == "done" and self.results is not None:
            said = Notice(f"{notice.text} {self.steps.listed()}", notice.sign)
            compared = [cards.comparison_card(self.steps.comparison)] if self.steps.comparison else []
            return cards.below(cards.saved_card(self.results, self.steps.counts, said), *compared)
        card = skin.unfinished("Campaign form", self._step())
        card = dataclasses.replace(card, state=f"{card.state} {self.steps.listed()}")
        return dataclasses.replace(card, blocks=(Note("i", notice.text),) if notice.text else ())

    # -- parts

    def _wire(self) -> None:
        write, sending, outcome = self.write, self.sending, self.outcome
        write.check_button.on_click(lambda _: self._check())
        write.keep_name_button.on_click(lambda _: self._keep_name())
        stale = self.steps.pressed_another
        test = self._moves(self._test, then=lambda: sending.test_number)
        sending.test.does(test, work=self.work, stale=stale)
        sending.send.does(self._moves(self._send), work=self.work, stale=stale, draw=self._render)
        sending.sure.does(self._moves(self._withdraw), work=self.work, stale=stale)
        sending.back_button.on_click(lambda _: self._back())
        sending.withdraw_button.on_click(lambda _: self._ask_to_withdraw())
        sending.keep_button.on_click(lambda _: self._keep_rest())
        sending.stop_button.on_click(lambda _: self.steps.stop())
        outcome.opt_out_button.on_click(lambda _: self._opt_out())
        write.take_button.on_click(lambda _: self._take_draft())
        write.discard_button.on_click(lambda _: self._discard_draft())

    def _lay_out(self) -> ipywidgets.VBox:
        self._head = skin.block("", "smsotp-top")  # takes the focus after a step: reading goes on there
        self._notice, self._lines = skin.block(), skin.block()
        sending, outcome = self.sending, self.outcome
        rest = (outcome.widget, sending.widget, sending.sticky, sending.below, outcome.below)
        self._rest = skin.main(*rest, classes=("smsotp-pad",))
        foot = skin.main(self._notice, self._lines, classes=("smsotp-end",))
        parts = (self._head, self.write.widget, self._rest, self.reading.widget, foot)
        return skin.form(*parts, classes=("smsotp-campaign",))

    # -- gestures

    def _take_list(self, read: Uploaded) -> str:
        """Take an uploaded list, or none where it cannot be read; nothing is left of the one before."""
        before = self._uploaded
        if not self.steps.take(read.frame, read.called):
            return f"{read.name} was not taken: work on another list is going on. {self.steps.listed()}"
        self._uploaded, self._checked, self._sure = read if read.frame is not None else None, None, False
        if before is not None:
            self.sending.forget()
        self._offer(read.frame)
        self._typed()
        return ""

    def _offer(self, frame: pd.DataFrame | None) -> None:
        self.fields.offer(frame)
        self.compare.offer([] if frame is None else names_of(frame))
        self.write.show_columns()

    def _check(self) -> None:
        def check() -> None:
            choices, both = skin.settled(lambda: (self._choices(), self.write.both.value), wait=self._settle)
            if self.steps.check(choices, both=in_both(self.steps.met) if both else 0):
                self._checked = choices
            if self.steps.stage == "planned" and self._offered is not None:  # another campaign is on its way
                self._offered = None
                self.write.offer("")

        self.work.begin("check", self._moves(check))

    def _keep_name(self) -> None:
        self.fields.campaign.value = self.steps.met[0].campaign
        self._check()

    def _test(self, plan: Plan) -> None:
        number = skin.settled(lambda: self.sending.test_number.value, wait=self._settle)
        if self.steps.send_test(number, self._choices().default_region, plan=plan):
            self.sending.test_number.value = ""

    def _send(self, pressed: tuple[Plan, Guards]) -> None:
        """Send what the button said; what was typed meanwhile is shown on it first."""
        plan, guards = pressed
        choices, now, typed, reason = skin.settled(
            lambda: (self._choices(), self.sending.guards(), self.sending.typed.value, self.sending.reason.value),
            wait=self._settle,
        )
        self.sending.typed.value = ""
        if now != guards or self._checked not in (None, choices):
            self._render()
            self.steps.pressed_another()
            return
        self.steps.send(guards, typed, reason, plan=plan)
        if self.steps.stage == "done" and not self.steps.to_go:
            self._drafts.discard()
        if self.steps.stage == "done" and not self.steps.refusal.text:
            self.sending.forget()

    def _back(self) -> None:
        self._sure = False
        self._gesture += 1
        self.steps.back()
        skin.focus(self.fields.words)

    def _ask_to_withdraw(self) -> None:
        self._sure = True
        self._gesture += 1
        self._render()
        skin.focus(self.sending.keep_button)

    def _withdraw(self, plan: Plan) -> None:
        self.steps.withdraw(self.sending.reason.value, plan=plan)

    def _keep_rest(self) -> None:
        self._sure = False
        self._render()
        skin.focus(self.sending.withdraw_button)

    def _opt_out(self) -> None:
        fields = self.outcome

        def record() -> None:
            number, source = skin.settled(
                lambda: (fields.stop_number.value, fields.stop_source.value), wait=self._settle
            )
            if self.steps.opt_out(number, source, self._choices().default_region):
                self._opted_out, fields.stop_number.value = source.strip(), ""
                self._render()

        self.work.begin("opt-out", self._moves(record))

    def _settled(self, words: str, sign: Sign) -> None:
        self.steps.settled(words, sign)
        skin.focus(self._head)

    def _moves(
        self, move: Callable[..., None], then: Callable[[], ipywidgets.DOMWidget] | None = None
    ) -> Callable[..., Callable[[], None]]:
        """Return a job that makes a move, and then puts the focus where reading goes on."""

        def job(*pressed: Any) -> Callable[[], None]:
            self._sure = False
            self._gesture = mine = self._gesture + 1
            move(*pressed)

            def focus() -> None:
                if mine == self._gesture:  # who has gone on meanwhile keeps the focus
                    skin.focus((then or self._next_to_read)())

            return focus

        return job

    def _next_to_read(self) -> ipywidgets.DOMWidget:
        """Return what takes the focus after a move: the top of the new screen, or what a refusal asks for."""
        if not self.steps.refusal.text:
            return self._head
        if self.steps.met:
            return self.write.both
        if self.steps.stage == "write":
            return self.fields.faults.first() or self.compare.faults.first() or self.write.check_button
        at_fault = self.sending.faults.first() or self.outcome.faults.first()
        return at_fault or (
            self.sending.typed if self.steps.to_type(self.sending.guards()) else self.sending.send_button
        )

    # -- the draft

    def _take_draft(self) -> None:
        if self._offered is not None:
            draft, self._offered = self._offered, None
            self._drafts.take(draft)
            # What this list does not have, such as a column, stays as it is.
            fill_in({**self.fields.kept, **self.compare.kept, **self.sending.guard_fields}, draft.values)
            if self.compare.choices().on:
                self.compare.unfold()
            self.write.offer("")
        skin.focus(self.fields.words)

    def _discard_draft(self) -> None:
        if self._offered is not None:
            self._drafts.discard(self._offered)
            self._offered = None
            self.write.offer("")
        skin.focus(self.fields.campaign)

    def _keep(self, choices: Choices) -> Draft:
        """Make the preview; beside it keep the draft, which is as late as the preview is."""
        if self.steps.stage == "write":
            typed, file = self.fields.draft(), {UPLOADED: self._uploaded.name} if self._uploaded else {}
            try:
                self._drafts.keep(typed | self.compare.draft() | self.sending.draft() | file if typed else {})
            except UsageError as error:
                self.write.offer(str(error), keep=False)
        return self.steps.draft(choices)

    # -- the preview, a moment after the last key

    def _typed(self) -> None:
        self.steps.forget_refusal()
        self._latest.ask(self._choices())

    def _take(self, draft: Draft) -> None:
        with self._drawing:
            self._draft = draft
            self._render()

    # -- drawing

    def _render(self) -> None:
        with self._drawing:
            steps, stage = self.steps, self.steps.stage
            names, now = steps.path(self.sending.guards())
            done = stage == "done" and not steps.to_go and not steps.counts.get("in_doubt")
            self._head.value = skin.head(
                "Campaign", steps.where(), names, now, done=done, live=steps.live, about=steps.listed()
            )
            writing = stage in ("write", "planning")
            skin.show(self.write.widget, writing)
            skin.show(self._rest, not writing)
            if writing:
                self.write.draw(steps, self._draft)
            else:
                self.outcome.draw(steps, self.sending.guards())
                self.sending.draw(steps, sure=self._sure)
            if stage == "sending" != self._stage:
                skin.focus(self.sending.stop_button)  # the button that was pressed is gone
            self._stage = stage
            self.reading.draw(stage, steps.comparison.test.name if steps.comparison else "")
            said = Notice() if steps.met else steps.refusal  # that stands where it is answered
            self._notice.value = skin.notice(said.text, said.sign)
            self._lines.value = skin.lines(self._code())
            self._save_card()

    def _code(self) -> str:
        choices, tried = self._choices(), self.steps.tried
        first = [self._uploaded.line] if self._uploaded else []
        try:
            return choices.lines(
                self.sending.guards(),
                tried=tried,
                first=first,
                before=self._lines_before(),
                arms=self.steps.asked(self.sending.guards()),
                reason=self._reason() if self.steps.revises else "",
            )
        except UsageError as error:
            return f"{choices.lines(first=first)}\n# {error}"

    def _reason(self) -> str:
        return self.sending.reason.value.strip() or IN_THE_FORM

    def _lines_before(self) -> list[str]:
        """Return the calls between plan and send: an opt-out, and the revision of what was begun."""
        lines = []
        if self._opted_out:  # the number is not printed
            lines.append(f"sms.People().opt_out(number, source={self._opted_out!r})")
        if self.steps.revises:
            lines.append(f"sms.revise(plan, client, reason={self._reason()!r})")
        return lines


def _with_columns(orders: AnyFrame) -> pd.DataFrame:
    frame = as_pandas(orders)
    refuse(not_frame("orders", frame))
    names_of(frame)
    return frame


def _usable_rates(rates: Any) -> Any:
    """Return rates as they were given, once they are known to be some."""
    if rates is not None:
        rate_tables.read(rates) if isinstance(rates, str | Path) else rate_tables.check(rates)
    return rates
