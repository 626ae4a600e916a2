"""The campaigns page: the ledger as a form around ``CampaignsSteps``."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import ipywidgets

from ..._calling import in_our_words
from ..._cards import Card, Note, Table, counted, money, number, safe
from ..._client import Client
from ..._ledger import Entry, LedgerOrPath
from ..._planning import Plan, overview
from ...sandbox import Sandbox
from ..._services import shown
from ..._showing import visible
from ..._wire import amount
from .. import skin
from ..controls import Leafing, Pinned, Withdrawal
from ..results_table import ResultsTable
from ..settling import Doubts
from ..stages import Latest, Sign
from .steps import OPENED, PAGE, Answer, CampaignsSteps, Opened, Question


def state_of(entry: Entry) -> tuple[Sign, str]:
    if entry.purged:
        return "", "purged: its numbers were deleted"
    counts = entry.counts
    named = (("in_doubt", "in doubt"), ("sending", "being sent now"), ("planned", "to go"))
    said = [f"{counted(counts[state], 'row')} {words}" for state, words in named if counts[state]]
    return ("warn", ", ".join(said)) if said else ("ok", "finished")


def entry_html(entry: Entry) -> str:
    sign, state = state_of(entry)
    said = [shown(entry.service), f"{entry.created:%Y-%m-%d %H:%M} UTC", counted(entry.rows, "row")]
    if not entry.purged:
        said.append(f"{number(entry.counts['accepted'])} accepted")
        said += [f"{number(entry.counts['rejected'])} rejected"] if entry.counts["rejected"] else []
    said.append(billed(entry))
    return f'{skin.line(state, sign)}<p class="smsotp-line smsotp-num">{safe(" · ".join(said))}</p>'


def billed(entry: Entry) -> str:
    sums = [money(amount(micros), currency) for currency, micros in entry.billed.micros]
    doubt = entry.purged or entry.counts["in_doubt"]
    said = f"{' and '.join(sums)} billed" if sums else "nothing known to be billed" if doubt else "nothing billed"
    unpriced = entry.billed.unpriced
    return f"{said}, {counted(unpriced, 'message')} without a price" if unpriced else said


def list_card(place: str, answer: Answer, words: str) -> Card:
    """Return the list as a card, for a notebook whose kernel is gone."""
    rows = tuple(
        (entry.name, shown(entry.service), f"{entry.created:%Y-%m-%d %H:%M}", state_of(entry)[1], billed(entry))
        for entry in answer.listing.entries
    )
    columns = ("Campaign", "Service", "Recorded, UTC", "State", "Cost")
    tables = (Table(columns, rows),) if rows else ()
    closing = "Run this cell to open a campaign."
    return Card("Campaigns", f"Ledger: {place}. {answer.trouble or words}", tables, closing)


def opened_card(opened: Opened) -> Card:
    """Return a campaign as a card: rows by state, what was changed, what it cost by country.

    What is in doubt stands below the card, row by row.
    """
    card = opened.card
    if opened.entry.purged:
        cost_said = billed(opened.entry)
        words = f"Its numbers were deleted, and it is never sent again. In all, {cost_said}."
        return Card(card.title, card.state, (Note("i", words),))
    said = tuple(block for block in card.blocks if not isinstance(block, Table))
    costs = opened.costs
    held = overview.fates(opened.prospect) if opened.plan is not None else []
    return Card(card.title, f"{card.state} {costs.state}.", (*said, *held, *costs.blocks[1:]))


class CampaignsPage(skin.Shown):
    """A form over the ledger: its campaigns with state, cost and doubt. Make it the last line of a cell.

    A campaign is opened to see and download its rows, to settle what is in doubt, to withdraw what was not sent, and to
    send the rest. The ledger keeps no filled texts, so the rest is sent only with the plan of the campaign.

    Args:
        ledger: a Ledger or its path, or several of them to choose from. By default this user's one ledger.
        client: the service, or a sandbox, to send the rest of a campaign.
        plans: the plans of campaigns whose rest may be sent from the page.

    Attributes:
        widget: the ipywidgets root, to place in a layout of your own.
        steps: the state behind the form, such as ``steps.answer`` and ``steps.opened``.

    Raises:
        UsageError: not a ledger or a path, not a client, or not a plan. A ledger that cannot be read is told on the
            page.

    Example:
        >>> import pathlib, tempfile
        >>> from smsotp_nb import Ledger
        >>> from smsotp_nb.widgets import CampaignsPage
        >>> page = CampaignsPage(Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True))
        >>> page.settle().steps.answer.listing.total
        0
    """

    _calls = "sms.Ledger().campaigns()"

    @in_our_words
    def __init__(
        self,
        ledger: LedgerOrPath | Sequence[LedgerOrPath] | None = None,
        *,
        client: Client | Sandbox | None = None,
        plans: Plan | Sequence[Plan] = (),
    ) -> None:
        self.steps = CampaignsSteps(
            _several(ledger),
            client=client,
            plans=_several(plans),
            changed=self._render,
        )
        self.work = self.steps.work
        self._drawing = threading.RLock()
        self._drawn: Opened | None = None
        self._stage = "list"
        self._settle = skin.SETTLE
        self._came_from = ""  # the campaign whose button takes the focus when the list is back
        self._latest: Latest[Question, Answer] = Latest(self.steps.read, self._take, wait=0.0)
        self._make_parts()
        self.widget = self._lay_out()
        self._render()
        self._ask()

    def settle(self) -> CampaignsPage:
        """Wait until the list that was asked for last is shown, and return this page."""
        self._latest.settle()
        return self

    def __repr__(self) -> str:
        return "<CampaignsPage; run the cell to use it>"

    def _moment(self) -> object:
        return self.steps.opened or self.steps.answer

    def _saved(self) -> Card:
        opened = self.steps.opened
        if opened is not None:
            return opened_card(opened)
        return list_card(self.steps.places()[self.ledger.value], self.steps.answer, self.steps.lines())

    # -- parts

    def _make_parts(self) -> None:
        places = [(place, at) for at, place in enumerate(self.steps.places())]
        self.ledger: ipywidgets.Dropdown = ipywidgets.Dropdown(description="Ledger", options=places)
        self.search = skin.text("Search by name, then Enter", placeholder="autumn", continuous_update=False)
        self.refresh_button = skin.button("Refresh")
        self.open_buttons = [skin.button("Open", "smsotp-open") for _ in range(PAGE)]
        self._leafing = Leafing("Later campaigns", "Earlier campaigns", self._leaf)
        self.back_button = skin.button("Back to the campaigns")
        self.again_button = skin.button("Refresh")
        self.typed = skin.text("")
        self.send = Pinned("Send")
        self.send_button = self.send.button
        self.stop_button = skin.button("Stop sending")
        self.withdraw_button = skin.button("Withdraw")
        self.reason = skin.text("Why, for the record", placeholder="wrong price")
        self._withdrawal = Withdrawal(self.reason)
        self.sure, self.keep_button = self._withdrawal.sure, self._withdrawal.keep_button
        self.sure_button = self.sure.button
        self.doubts = Doubts(settled=self._settled)
        self.results = ResultsTable()
        self._listen()

    def _listen(self) -> None:
        for field in (self.ledger, self.search):
            field.observe(lambda _: self._ask(), "value")
        self.refresh_button.on_click(lambda _: self._ask(self.steps.answer.question.page))
        for at, button in enumerate(self.open_buttons):
            button.on_click(lambda _, at=at: self._open(at))
        self.back_button.on_click(lambda _: self._back())
        self.again_button.on_click(lambda _: self.work.begin("again", self.steps.again, self._focus))
        stale, focus = self.steps.pressed_another, self._focus
        self.send.does(self._send, work=self.work, stale=stale, draw=self._render, then=focus)
        self.sure.does(self._withdraw, work=self.work, stale=stale, then=focus)
        self.stop_button.on_click(lambda _: self.steps.stop())
        self.withdraw_button.on_click(lambda _: self._ask_to_withdraw())
        self.keep_button.on_click(lambda _: self._keep())

    def _lay_out(self) -> ipywidgets.VBox:
        self._head = skin.block("", "smsotp-top")  # takes the focus after a step: reading goes on there
        self._notice, self._lines = skin.block(), skin.block()
        self._list, self._one = self._lay_out_list(), self._lay_out_one()
        foot = skin.main(self._notice, self._lines, classes=("smsotp-end",))
        return skin.form(self._head, self._list, self._one, foot, classes=("smsotp-campaigns", "smsotp-campaign"))

    def _lay_out_list(self) -> ipywidgets.VBox:
        self._total = skin.block()
        self._entries = [skin.block("", "smsotp-entry") for _ in range(PAGE)]
        self._rows = [
            skin.box(button, entry, classes=("smsotp-tick",))
            for button, entry in zip(self.open_buttons, self._entries, strict=True)
        ]
        skin.show(self.ledger, len(self.ledger.options) > 1)
        asked = skin.pair(self.search, self.refresh_button, classes=("smsotp-uneven",))
        return skin.main(self.ledger, asked, self._total, *self._rows, self._leafing.widget, classes=("smsotp-pad",))

    def _lay_out_one(self) -> ipywidgets.VBox:
        self._card, self._outcome, self._needed = skin.block(), skin.block(), skin.block()
        self._progress = skin.block()
        self._confirm = skin.main(
            self._needed,
            self.typed,
            skin.box(self.send.widget, self.stop_button, self.withdraw_button, classes=("smsotp-act",)),
        )
        self._doubts = skin.main(self.doubts.widget)
        self._results = skin.main(self.results.widget)
        return skin.main(
            skin.pair(self.back_button, self.again_button, classes=("smsotp-always",)),
            self._outcome,
            self._card,
            self._progress,
            self._doubts,
            self._confirm,
            self._withdrawal.widget,
            self._results,
            classes=("smsotp-pad",),
        )

    # -- gestures

    def _ask(self, page: int = 0) -> None:
        self._latest.ask(Question(self.ledger.value, self.search.value, page), at_once=True)

    def _take(self, answer: Answer) -> None:
        with self._drawing:
            self.steps.take(answer)

    def _leaf(self, by: int) -> None:
        self._ask(self.steps.answer.question.page + by)

    def _open(self, at: int) -> None:
        answer = self.steps.answer
        if at < len(answer.listing.entries):
            entry = answer.listing.entries[at]
            self._came_from = entry.name
            self.work.begin("open", lambda: self.steps.open(entry, answer.question.ledger), self._focus)

    def _back(self) -> None:
        self.steps.back()
        self._ask(self.steps.answer.question.page)
        names = [entry.name for entry in self.steps.answer.listing.entries]
        skin.focus(self.open_buttons[names.index(self._came_from)] if self._came_from in names else self.search)

    def _send(self, opened: Opened) -> None:
        typed = skin.settled(lambda: self.typed.value, wait=self._settle)
        self.typed.value = ""
        self.steps.send(typed, opened=opened)

    def _ask_to_withdraw(self) -> None:
        self.steps.ask_to_withdraw()
        if self.steps.stage == "asking":
            skin.focus(self.reason)

    def _withdraw(self, opened: Opened) -> None:
        reason = skin.settled(lambda: self.reason.value, wait=self._settle)
        self.reason.value = ""
        self.steps.withdraw(reason, opened=opened)

    def _settled(self, words: str, sign: Sign) -> None:
        if self.doubts.settling.left:
            self.steps.again()  # the boxes say what was settled
        else:
            self.steps.again(words, sign)
            skin.focus(self._head)  # the boxes are gone

    def _keep(self) -> None:
        self.steps.keep()
        skin.focus(self.withdraw_button)

    def _focus(self) -> None:
        skin.focus(self.typed if self.steps.notice.text.startswith("Type ") else self._head)

    # -- drawing

    def _render(self) -> None:
        with self._drawing:
            steps = self.steps
            opened = steps.opened if steps.stage in OPENED else None
            self._head.value = skin.head(*self._title(opened), live=opened is not None and steps.live)
            skin.show(self._list, opened is None)
            skin.show(self._one, opened is not None)
            if opened is None:
                self._draw_list()
            else:
                self._draw_one(opened)
            self._lines.value = skin.lines(self._code(opened))
            if steps.stage == "sending" != self._stage:
                skin.focus(self.stop_button)  # the button that was pressed is gone
            self._stage = steps.stage
            self._save_card()

    def _title(self, opened: Opened | None) -> tuple[str, str]:
        if opened is None:
            return "Campaigns", f"Ledger: {self.steps.places()[self.ledger.value]}"
        if self.steps.live:
            return opened.entry.name, "A send from here reaches real people, and every text is billed."
        return opened.entry.name, f"Record of the ledger {opened.ledger.path}"

    def _draw_list(self) -> None:
        steps, answer = self.steps, self.steps.answer
        self._total.value = "" if answer.trouble else skin.line(steps.lines())
        trouble = skin.notice(answer.trouble, "bad") if answer.trouble else ""
        self._notice.value = skin.notice(steps.notice.text, steps.notice.sign) if steps.notice.text else trouble
        for at, (row, button, line) in enumerate(zip(self._rows, self.open_buttons, self._entries, strict=True)):
            entry = answer.listing.entries[at] if at < len(answer.listing.entries) else None
            skin.show(row, entry is not None)
            if entry is not None:
                button.description = f"Open {visible(entry.name)}"
                line.value = entry_html(entry)
        self._leafing.draw(answer.question.page, answer.pages)

    def _draw_one(self, opened: Opened) -> None:
        steps, sending, asking = self.steps, self.steps.stage == "sending", self.steps.stage == "asking"
        self._outcome.value = skin.notice(steps.notice.text, steps.notice.sign)
        self._notice.value = ""
        if opened is not self._drawn:
            self._drawn = opened
            self._card.value = opened_card(opened).html()
            self.doubts.settling.show((opened.campaign, None))
            self.results.show(None if opened.entry.purged else opened.frame, opened.entry.name)
        for part in (self._card, self._doubts, self._results, self.back_button, self.again_button):
            skin.show(part, not sending)
        skin.show(self._progress, sending)
        self._progress.value = skin.running(steps.running) if sending else ""
        self._draw_actions(opened, sending=sending, asking=asking)

    def _draw_actions(self, opened: Opened, *, sending: bool, asking: bool) -> None:
        steps, needed = self.steps, self.steps.needed()
        can_send = opened.waiting > 0 and not needed and not asking
        skin.show(self._confirm, opened.waiting > 0 or sending)
        self._needed.value = skin.line(needed) if needed and not sending else ""
        skin.mark(self._confirm, "smsotp-framed", can_send and steps.live)
        skin.show(self.typed, can_send and not sending and bool(steps.to_type()))
        self.typed.description = f"Type {steps.to_type()} to confirm"
        skin.show(self.send_button, can_send and not sending)
        self.send.offer(steps.send_label(), opened if can_send and not sending else None)
        skin.primary(self.send_button, True)
        skin.show(self.stop_button, sending)
        skin.show(self.withdraw_button, opened.waiting > 0 and not sending and not asking)
        self.withdraw_button.description = f"Withdraw the other {counted(opened.waiting, 'row')}"
        self._withdrawal.draw(opened.waiting, opened if asking else None)

    def _code(self, opened: Opened | None) -> str:
        at = str(opened.ledger.path) if opened else self.steps.places()[self.ledger.value]
        book = f"ledger = sms.Ledger({'' if at.startswith('your own') else repr(at)})"
        if opened is None:
            return f"{book}\nledger.campaigns()"
        entry = opened.entry
        lines = [book, f"campaign = ledger.record({entry.name!r}, service={entry.service!r})", "campaign.results"]
        lines += ["sms.cost.by_country(campaign.results)"]
        if opened.counts["in_doubt"]:
            lines += ["campaign.settle(campaign.in_doubt, accepted=True)  # or False, or only some of its rows"]
        if opened.waiting:
            reason = self.reason.value.strip() or "wrong price"
            lines += [f"campaign.withdraw(reason={reason!r})", "# or, to send the rest:"]
            lines += ["sms.send(plan, client, ledger=ledger)"]
        return "\n".join(lines)


def _several(given: Any) -> Sequence[Any]:
    """Return a list as it is, and one thing, of whatever kind, as a list of one."""
    return given if isinstance(given, list | tuple) else [given]
