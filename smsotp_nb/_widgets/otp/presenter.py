"""The passcode form for an audience: a phone, what goes over the line, and buttons that let things go wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import ipywidgets

from ..._calls import in_our_words
from ..._cards import Card, counted
from ..._sandbox.choices import Rules
from ...errors import InDoubt, SmsOtpError, Throttled
from .. import skin
from ..inbox import sandbox_of
from ..stages import Sign, Work
from .exchanges import Exchange, exchanges, log_html
from .form import OtpForm
from .steps import RESEND_WAIT, OtpSteps
from .words import spoken

if TYPE_CHECKING:
    from ..._client import Client
    from ..._ledger import LedgerOrPath
    from ..._sandbox import Sandbox


PAUSE = 10  # seconds that a throttled request is told to wait
WRONG = Rules().attempts
NO_CODE = "No code is open. Send one first."
ENDED = "The sandbox has ended. Run the notebook again."
FAULTY = "A check met the fault that is switched on. Reset, and send a new code."
LOST = "The next request will be accepted, and its reply lost."
THROTTLED = f"The next request will be refused, with a pause of {PAUSE} seconds."
LOCKED = (
    f"{counted(WRONG, 'wrong code')} were checked beside the form. By its usual rules the sandbox takes none for this "
    "passcode any more, and its reply does not say so: enter the right one."
)


class Desk:
    """The demonstrator's acts; each returns what it did, in words.

    Example:
        >>> from smsotp_nb import Sandbox
        >>> from smsotp_nb.otp import Request
        >>> with Sandbox() as box:
        ...     steps = OtpSteps(box.client())
        ...     desk = Desk(box, steps)
        ...     steps.send(Request("+12025550123"))
        ...     print(desk.expire(), [one.result for one in desk.exchanges()])
        The sandbox's clock moved on by 5 minutes: the code has expired. ['a Challenge']
    """

    def __init__(self, box: Sandbox, steps: OtpSteps) -> None:
        self._box, self._steps = box, steps
        self._moved = 0.0
        self._after = self._last()

    def expire(self) -> str:
        """Move the sandbox's clock past the lifetime of the open code."""
        challenge = self._steps.challenge
        if challenge is None or self._steps.stage != "entry":
            return NO_CODE
        left = challenge.seconds_left
        if not left:
            return "The code has expired already."
        said = f"The sandbox's clock moved on by {spoken(left + 1)}: the code has expired."
        return self._done(lambda: self._move(left + 1), said)

    def lose_reply(self) -> str:
        """Let the sandbox accept the next request and lose its reply."""
        return self._done(lambda: self._box.fault("drop_after", next=1), LOST)

    def throttle(self) -> str:
        """Let the sandbox refuse the next request and ask for a pause."""
        return self._done(lambda: self._box.fault("throttle", next=1, seconds=PAUSE), THROTTLED)

    def lock(self) -> str:
        """Check as many wrong codes as the sandbox takes for one passcode."""
        if self._steps.challenge is None or self._steps.stage != "entry":
            return NO_CODE
        return self._done(self._check_wrong_codes, LOCKED)

    def reset(self) -> str:
        """Take back the faults and the time that were brought about here, empty the inbox, and begin again."""

        def back() -> None:
            self._box.clear_faults("drop_after")
            self._box.clear_faults("throttle")
            self._move(-self._moved)
            self._box.clear()
            self._after = self._last()

        said = self._done(back, "")
        self._steps.reset()
        return said

    def exchanges(self) -> list[Exchange]:
        """Return the passcode requests since the beginning or the last reset, oldest first."""
        try:
            return exchanges(self._box.requests, after=self._after)
        except SmsOtpError:
            return []

    def _done(self, act: Callable[[], object], said: str) -> str:
        try:
            act()
        except (InDoubt, Throttled):
            return FAULTY
        except SmsOtpError:
            return ENDED
        return said

    def _move(self, seconds: float) -> None:
        self._box.advance(seconds)
        self._moved += seconds

    def _check_wrong_codes(self) -> None:
        challenge = self._steps.challenge
        if challenge is None:
            return
        right = self._box.code(challenge.to) or ""
        wrong = "0" * len(right) if right != "0" * len(right) else "1" * len(right)
        for _ in range(WRONG):
            challenge.verify(wrong)

    def _last(self) -> int:
        try:
            taken = self._box.requests["n"]
        except SmsOtpError:
            return 0
        return int(taken.max()) if len(taken) else 0


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
        self.work = Work(self._failed)
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
        made.on_click(lambda _: self.work.begin(made, lambda: self._act(act)))
        return made

    def _act(self, act: Callable[[], str]) -> Callable[[], None]:
        said = act()

        def show() -> None:
            self.form.refresh()
            self._said.value = skin.notice(said)
            self._draw_log()

        return show

    def _failed(self, words: str, sign: Sign) -> None:
        self._said.value = skin.notice(words, sign)

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
        return Card("One-time passcode, presented", "", closing=skin.TO_USE)
