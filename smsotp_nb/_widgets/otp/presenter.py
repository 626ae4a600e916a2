"""The passcode form for an audience: a phone, what goes over the line, and buttons that let things go wrong."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import ipywidgets

from ..._calling.words import in_our_words
from ..._cards import Card
from .. import saved, skin
from ..columns import sandbox_of
from .desk import Desk
from .exchanges import log_html
from .form import OtpForm
from .steps import RESEND_WAIT

if TYPE_CHECKING:
    from ..._client import Client
    from ..._ledger import LedgerOrPath
    from ..._sandbox import Sandbox

ONLY_HERE = "on the live service nobody can move the clock or lose a reply; OtpForm serves both"


class OtpPresenter(skin.Shown):
    """The passcode form for an audience. Make it the last line of a cell, in a notebook or a page of voila.

    Beside the form stand the phone, which is the sandbox's inbox, and every request with its reply and the Python that
    makes it. Buttons let the code expire (on the sandbox's clock), lose the next reply, throttle the next request, and
    use up the wrong codes that the sandbox takes. Reset takes all of that back and empties the sandbox's inbox. Numbers
    are masked and passcodes are dots, except on the phone while they are open.

    Args:
        box: the sandbox, or a client of one.
        ledger: a Ledger, or its path, in which each passcode's number, country, parts and price are recorded; see
            `OtpForm`.
        resend_wait: seconds before another passcode can be requested.

    Attributes:
        widget: the ipywidgets root, to place in a layout of your own.
        form: the `OtpForm` inside.

    Raises:
        UsageError: not a sandbox; on the live service nothing can be made to go wrong.
        LedgerError: the ledger cannot be used.

    Example:
        >>> from smsotp_nb import Sandbox
        >>> from smsotp_nb.widgets import OtpPresenter
        >>> with Sandbox() as box:
        ...     presenter = OtpPresenter(box)
        >>> presenter
        <OtpPresenter at step 'Request'; run the cell to use it>
    """

    _calls = "sms.otp.send(...), challenge.verify(...)"

    @in_our_words
    def __init__(
        self, box: Sandbox | Client, *, ledger: LedgerOrPath | None = None, resend_wait: float = RESEND_WAIT
    ) -> None:
        sandbox = sandbox_of(box, what="a presenter", live=ONLY_HERE)
        self.form = OtpForm(box, ledger=ledger, resend_wait=resend_wait)
        self._desk = Desk(sandbox, self.form.steps)
        self._acting = threading.Lock()
        self._seen: object = None
        self.widget = self._lay_out()
        self.form.drawn = self._form_drawn
        self._draw_log()

    def __repr__(self) -> str:
        return repr(self.form).replace("OtpForm", "OtpPresenter")

    def _lay_out(self) -> ipywidgets.VBox:
        self._said, self._log = skin.block(""), skin.block("", "smsotp-side")
        self.expire_button = self._button("Let the code expire", self._desk.expire)
        self.lose_button = self._button("Lose the next reply", self._desk.lose_reply)
        self.throttle_button = self._button("Throttle the next request", self._desk.throttle)
        self.lock_button = self._button("Use up the wrong codes", self._desk.lock)
        self.reset_button = self._button("Reset", self._desk.reset)
        acts = (self.expire_button, self.lose_button, self.throttle_button, self.lock_button, self.reset_button)
        desk = skin.box(skin.box(*acts, classes=("smsotp-acts",)), self._said, classes=("smsotp-desk",))
        phone = skin.box(self.form.side, classes=("smsotp-phone",))
        stage = skin.box(self.form.main, phone, self._log, classes=("smsotp-body", "smsotp-stage"))
        return skin.form(self.form.head, desk, stage, classes=("smsotp-otp", "smsotp-presenter"))

    def _button(self, label: str, act: Callable[[], str]) -> ipywidgets.Button:
        made = skin.button(label)
        made.on_click(lambda _: self._work(act))
        return made

    def _work(self, act: Callable[[], str]) -> None:
        threading.Thread(target=self._act, args=(act,), name="smsotp-desk", daemon=True).start()

    def _act(self, act: Callable[[], str]) -> None:
        """Do one thing at a time; a second press meanwhile does nothing."""
        if not self._acting.acquire(blocking=False):
            return
        try:
            said = act()
        finally:
            self._acting.release()
        self.form.refresh()
        self._said.value = skin.notice(said)
        self._draw_log()

    def _form_drawn(self) -> None:
        """Follow the form: what was announced at the buttons has come about, or was overtaken."""
        if self._seen != self._of_form():
            self._said.value = ""
            self._draw_log()

    def _draw_log(self) -> None:
        """Read the journal when something happened, not with every tick of the countdown."""
        self._seen = self._of_form()
        self._log.value = log_html(self._desk.exchanges())
        self._save_card()

    def _of_form(self) -> object:
        return self.form.steps.stage, self.form.steps.notice

    def _moment(self) -> object:
        return self.form.steps.stage

    def _saved(self) -> Card:
        return Card("One-time passcode, presented", "", closing=saved.TO_USE)
