"""The passcode form: fields, buttons and the sandbox's inbox around ``OtpSteps``."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import ipywidgets

from ..._calling import in_our_words, not_callable, not_number, refuse
from ..._cards import Card, Note
from ..._client import Client, once
from ..._ledger import LedgerOrPath
from ..._moments import Now, utc_now
from ...sandbox import Sandbox
from ...sandbox.facade import client_of
from ..._showing import capital
from ..._wire import DEFAULT_DIGITS, DIGITS, INTENT_LENGTH, TTL_DEFAULT, TTL_MAX, mask
from ...otp import Challenge, Request, ledger_of
from ...settings import Secret
from .. import skin
from ..inbox import draw
from ..stages import in_the_form
from . import words
from .steps import RESEND_WAIT, OtpSteps, SandboxClock, number_hint
from .words import View

STEPS = ("Request", "Enter code", "Verified")
CHANNELS = (("Automatic (SMS first)", "auto"), ("SMS", "sms"), ("Voice call", "call"), ("WhatsApp", "whatsapp"))
SANDBOX = "Sandbox: nothing leaves this machine, every message appears in the inbox."
LIVE = "Live service at {host}: the passcode goes to a real phone and is billed. There is no inbox here."
TICK = 1.0
ANYBODY = "+12025550123"  # reserved for fiction: stands for a number not typed yet


class OtpForm(skin.Shown):
    """A form that sends a passcode and verifies it. Make it the last line of a cell.

    It shows one step at a time: request, enter the code, verified. A pause that the service asks for (``Retry-After``)
    counts down and can be ended; nothing is sent again without a press. If ``client`` is a sandbox's, its inbox is
    shown beside the form; on a live service the form says that there is none. A code leaves its field with Enter or
    when the field is left, and a number once it is sent to, so that no saved notebook holds one.

    Args:
        client: the service, or a sandbox to try it.
        ledger: a Ledger, or its path, in which number, country, parts and price of each passcode are recorded for
            `cost`; never the passcode. By default nothing is recorded.
        resend_wait: seconds before another passcode can be requested.
        now: the clock. By default the sandbox's, so that ``box.advance`` has effect, or this machine's on a live
            service.

    Attributes:
        widget: the ipywidgets root, to place in a layout of your own.
        steps: the state behind the form; ``steps.challenge`` is the open challenge.

    Raises:
        UsageError: ``client`` is not a client.
        LedgerError: the ledger cannot be used.

    Example:
        >>> from smsotp_nb import Sandbox
        >>> from smsotp_nb.widgets import OtpForm
        >>> with Sandbox() as box:
        ...     form = OtpForm(box)
        >>> form.steps.stage
        'request'
    """

    _calls = "sms.otp.send(...), challenge.verify(...)"

    @in_our_words
    def __init__(
        self,
        client: Client | Sandbox,
        *,
        ledger: LedgerOrPath | None = None,
        resend_wait: float = RESEND_WAIT,
        now: Now | None = None,
    ) -> None:
        client = once(client_of(client, what="a form"))  # a pause is shown and waited for here, not inside a request
        refuse(
            not_number("resend_wait", resend_wait, of="seconds"),
            not_callable("now", now, example="lambda: datetime.now(UTC)"),
        )
        self._box = client.sandbox
        self._clock = None if now is not None or self._box is None else SandboxClock(self._box)
        now = now or self._clock or utc_now
        books = ledger_of(ledger)
        self.steps = OtpSteps(client, ledger=books, resend_wait=resend_wait, now=now, changed=self._render)
        self._cn = client.settings.variant == "cn"
        self._where = SANDBOX if self._box else LIVE.format(host=urlsplit(client.settings.base_url).hostname)
        self.work = self.steps.work
        self._drawing = threading.RLock()
        self._ticking = False
        self._settle = skin.SETTLE
        self._asked_to_verify = False
        self._typed = ""
        self._own: Secret | None = None
        self._entered = Secret("")
        self._step = 1
        self._drawn: object = None
        self.drawn: Callable[[], None] = lambda: None  # called whenever the form was drawn
        self._make_fields()
        self._make_buttons()
        self.main = self._lay_out()
        self.widget = self._card()
        self._hint_number()
        self._render()

    def __repr__(self) -> str:
        return f"<OtpForm at step {STEPS[self.steps.view().step - 1]!r}; run the cell to use it>"

    # -- what a saved notebook keeps

    def _moment(self) -> object:
        return self.steps.stage

    def _saved(self) -> Card:
        stage, challenge = self.steps.stage, self.steps.challenge
        if stage == "verified" and challenge is not None:
            verified = Note("check", f"Verified {mask(challenge.to)} on {skin.moment()}")
            return Card("One-time passcode", "", (verified,), "Run this cell again to send another passcode.")
        if stage == "request":
            return Card("One-time passcode", "", closing=skin.TO_USE)
        step = STEPS[self.steps.view().step - 1]
        return skin.unfinished("One-time passcode", step, "Run this cell again to send a new passcode.")

    # -- parts

    def _make_fields(self) -> None:
        self.phone = skin.text("Phone number", placeholder="+1 415 555 0100")
        self.channel = ipywidgets.Dropdown(description="Channel", options=CHANNELS, value="auto")
        low, high = DIGITS
        self.digits = ipywidgets.Dropdown(
            description="Digits", options=[(str(n), n) for n in range(low, high + 1)], value=DEFAULT_DIGITS
        )
        self.intent = skin.text("Intent (optional)", placeholder="login", continuous_update=False)
        self.signature = skin.text(
            "Signature" if self._cn else "Signature (optional)", placeholder="Acme", continuous_update=False
        )
        self.lifetime = ipywidgets.BoundedIntText(
            description="Lifetime, seconds", value=TTL_DEFAULT, min=1, max=TTL_MAX, continuous_update=True
        )
        self.custom = skin.text("Custom code", continuous_update=False)
        self.code = skin.text("Code from the message", "smsotp-code", continuous_update=False)
        self.phone.observe(lambda _: self._hint_number(), "value")
        _taken(self.custom, self._custom_typed)
        _taken(self.code, self._code_typed)
        rare = (self.digits, self.lifetime, self.intent, self.channel, self.signature)
        for field in rare:
            field.observe(lambda _: self._render(), "value")
        self._asked_for = (self.phone, *rare, self.custom)

    def _make_buttons(self) -> None:
        self.send_button = skin.button("Send code")
        self.verify_button = skin.button("Verify")
        self.again_button = skin.button("Send a new code")
        self.change_button = skin.button("Change", "smsotp-link")
        self.change_button.tooltip = "Change the number or how it is reached"
        self.stop_button = skin.button("Stop waiting")
        self.restart_button = skin.button("Start over", "smsotp-primary")
        self.send_button.on_click(lambda _: self._send())
        self.verify_button.on_click(lambda _: self._verify())
        self.again_button.on_click(lambda _: self._resend(self.steps.challenge))
        self.stop_button.on_click(lambda _: self._stop_waiting())
        for button in (self.change_button, self.restart_button):
            button.on_click(lambda _: self._restart())
        skin.on_enter(self.code, self._verify)
        for field in (self.phone, self.intent, self.signature, self.custom):
            skin.on_enter(field, self._send)

    def _lay_out(self) -> ipywidgets.VBox:
        self.head, self._hint = skin.block(), skin.block("", "smsotp-hint")
        self._advice_line, self._past, self._countdown = skin.block(), skin.block(), skin.block()
        self._pause, self._verified = skin.block(), skin.block()
        self._notice, self._lines = skin.block(), skin.block()
        pause = (self._pause, self.stop_button)
        self._past_row = skin.box(self._past, self.change_button, classes=("smsotp-asked",))
        self._pause_row = skin.box(*pause, classes=("smsotp-pause",))
        self._panes = {
            1: skin.main(*self._request_fields()),
            2: skin.main(
                self._countdown, self.code, skin.box(self.verify_button, self.again_button, classes=("smsotp-act",))
            ),
            3: skin.main(self._verified, self.restart_button),
        }
        for step in (2, 3):
            skin.show(self._panes[step], False)
        # The pause stands before what it holds back: the Tab key goes on from one to the other.
        steps = (self._past_row, self._panes[1], self._pause_row, self.send_button, self._panes[2], self._panes[3])
        return skin.main(*steps, self._notice, self._lines)

    def _request_fields(self) -> tuple[ipywidgets.Widget, ...]:
        rare = (self.lifetime, self.custom) if self._cn else (self.signature, self.lifetime, self.custom)
        return (
            self.phone,
            self._hint,
            *([self.signature] if self._cn else []),
            skin.pair(self.channel, self.digits, classes=("smsotp-uneven",)),
            self.intent,
            skin.Folded("More options", "Fewer options", skin.pair(*rare)).widget,
            self._advice_line,
        )

    def _card(self) -> ipywidgets.VBox:
        self.side = skin.block("", "smsotp-side")
        body = (self.main, self.side) if self._box else (self.main,)
        layout = ("smsotp-body", "smsotp-two") if self._box else ("smsotp-body",)
        slim = () if self._box else ("smsotp-slim",)
        return skin.form(self.head, skin.box(*body, classes=layout), classes=("smsotp-otp", *slim))

    # -- gestures: one line each, the work is on a thread of its own

    def _send(self) -> None:
        self._work("send", self._request)

    def _request(self) -> None:
        typed, request = skin.settled(self._request_typed, wait=self._settle)
        wrong = request.problems(variant="cn" if self._cn else "intl")
        if not request.to:
            self.steps.refuse("Enter a phone number in international format.")
        elif wrong:
            self.steps.refuse(in_the_form("; ".join(wrong)))
        else:
            self._typed = typed
            self.steps.send(request)

    def _request_typed(self) -> tuple[str, Request]:
        typed = self.phone.value
        return typed, self._asked(number_hint(typed)[1])

    def _asked(self, number: str) -> Request:
        return Request(
            number,
            digits=None if self._own or self.digits.value == DEFAULT_DIGITS else self.digits.value,
            intent=self.intent.value.strip() or None,
            channel=None if self.channel.value == "auto" else self.channel.value,
            signature=self.signature.value.strip() or None,
            code=self._own,
            ttl=None if self.lifetime.value == TTL_DEFAULT else self.lifetime.value,
        )

    def _verify(self) -> None:
        """Take the code once it is whole: the last keys typed may arrive after the Enter or the click."""
        view = self.steps.view()
        if not view.can_enter:
            return
        code, challenge = self._entered, self.steps.challenge
        self._asked_to_verify = len(code.reveal()) < view.code_length
        if self._asked_to_verify:
            self.steps.incomplete()
            skin.focus(self.code)
        else:
            self._entered = Secret("")
            self._work("verify", lambda: self.steps.verify(code.reveal(), challenge))

    def _resend(self, challenge: Challenge | None) -> None:
        self._work("send", lambda: self.steps.resend(challenge))

    def _code_typed(self, typed: str) -> None:
        self._entered = Secret(skin.digits_of(typed))
        if self._asked_to_verify and len(self._entered.reveal()) >= self.steps.view().code_length:
            self._verify()
        self._render()

    def _custom_typed(self, typed: str) -> None:
        self._own = Secret(typed.strip()) if typed.strip() else None
        self._render()

    def _restart(self) -> None:
        self._entered = Secret("")
        self.phone.value = self._typed
        self.steps.restart()

    def _stop_waiting(self) -> None:
        self.steps.stop_waiting()
        self._focus()

    def _work(self, what: str, move: Callable[[], None]) -> None:
        def work() -> Callable[[], None]:
            self._look_at_the_clock()
            before = self.steps.stage, self.steps.notice
            move()

            def after() -> None:
                if (self.steps.stage, self.steps.notice) != before:
                    self._focus()
                self._count_down()

            return after

        self.work.begin(what, work)

    def _focus(self) -> None:
        """Leave the focus where the next key belongs; on what is disabled or gone it would fall to the notebook."""
        view = self.steps.view()
        entry = self.code if view.can_enter else self.again_button if view.can_send else self.change_button
        request = self.send_button if number_hint(self.phone.value)[1] else self.phone
        target = {1: request, 2: entry, 3: self.restart_button}[view.step]
        skin.focus(self.stop_button if view.pausing else target)

    def _count_down(self) -> None:
        with self._drawing:
            if self._ticking or not self._counting():
                return
        threading.Thread(target=self._tick, name="smsotp-tick", daemon=True).start()

    def _tick(self) -> None:
        while self._counting():
            time.sleep(TICK)
            self._look_at_the_clock()
            self._render()

    def _refresh(self) -> None:
        """Draw the form as it is now, by the time of the sandbox, and its inbox as it is now."""
        self._drawn = None
        self._look_at_the_clock()
        self._render()

    def _look_at_the_clock(self) -> None:
        if self._clock is not None:
            self._clock.look()

    def _counting(self) -> bool:
        with self._drawing:
            self._ticking = self.steps.stage in ("sending", "entry", "checking") or self.steps.view().pausing > 0
            return self._ticking

    # -- drawing

    def _hint_number(self) -> None:
        hint, _ = number_hint(self.phone.value)
        self._hint.value = skin.line(hint.text, hint.sign)

    def _advice(self) -> str:
        if len(self.intent.value.strip()) > INTENT_LENGTH:
            return f"An intent has at most {INTENT_LENGTH} characters."
        request = self._asked(ANYBODY)
        advice = [*request.advice()]
        if request.code:
            advice.insert(0, "a generated code is safer than one of your own")
        said = "; ".join(advice)
        return f"{capital(said)}." if said else ""

    def _render(self) -> None:
        with self._drawing:
            view = self.steps.view()
            done, live = view.stage == "verified", self._box is None
            self.head.value = skin.head("One-time passcode", self._where, STEPS, view.step, done=done, live=live)
            self._draw_inbox(view)  # first: when the words say verified, the code is gone
            self._draw_words(view)
            self._draw_buttons(view)
            self._turn(view)
            self._save_card()
        self.drawn()

    def _draw_words(self, view: View) -> None:
        advice = self._advice()
        self._advice_line.value = skin.line(advice, "warn" if advice else "")
        self._past.value = skin.line(view.asked, "ok" if view.answered else "warn") if view.asked else ""
        self._countdown.value = words.left_html(view)
        self._pause.value = words.pause_html(view)
        self._verified.value = words.verified_html(view)
        done = view.stage == "verified"  # the large words say it
        self._notice.value = "" if done else skin.notice(view.notice.text, view.notice.sign)
        request = self.steps.request or self._asked(ANYBODY)
        books = str(self.steps.ledger.path) if self.steps.ledger else ""
        self._lines.value = skin.lines(words.lines(request, sandbox=self._box is not None, ledger=books))
        typed = len(self._entered.reveal())
        self.code.placeholder = f"{typed} digits typed" if typed else "–" * view.code_length
        self.custom.placeholder = "as typed; a blank for none" if self._own else "none: generated"

    def _draw_buttons(self, view: View) -> None:
        """A button that was pressed stays enabled while the service is asked: its focus would fall to the notebook."""
        asking = view.stage in ("sending", "checking")
        for field in self._asked_for:
            field.disabled = view.stage == "sending"  # what is on its way is not edited
        self.send_button.description = self.again_button.description = view.send_label
        self.send_button.disabled = self.again_button.disabled = not (view.can_send or asking)
        self.verify_button.description = "Checking …" if view.stage == "checking" else "Verify"
        self.code.disabled = self.verify_button.disabled = not (view.can_enter or asking)
        skin.primary(self.send_button, view.next == "send")
        skin.primary(self.again_button, view.next == "send")
        skin.primary(self.verify_button, view.next == "verify")
        skin.show(self._pause_row, view.pausing > 0)
        skin.show(self.change_button, view.step == 2)
        skin.show(self._past_row, view.step > 1)

    def _turn(self, view: View) -> None:
        """Show the pane of the step, give it the focus, and only then take the other one away."""
        if view.step == self._step:
            return
        gone, self._step = self._panes[self._step], view.step
        skin.show(self._panes[view.step], True)
        skin.focus({1: self.phone, 2: self.code, 3: self.restart_button}[view.step])
        skin.show(gone, False)
        skin.show(self.send_button, view.step == 1)
        if view.step > 1:
            self._own, self.phone.value = None, ""  # a saved notebook holds no number

    def _draw_inbox(self, view: View) -> None:
        """Read the inbox when something happened, and while a message may still arrive."""
        if self._box is None:
            return
        moment = (view.stage, self.steps.challenge, self.steps.open_ids())
        if moment != self._drawn:
            self._drawn = moment
            draw(self.side, self._box, moment[2])


def _taken(field: ipywidgets.Text, hear: Callable[[str], None]) -> None:
    """Take what is typed out of a field as it arrives: the state of a field is saved with the notebook."""

    def heard(change: dict[str, str]) -> None:
        if typed := change["new"]:
            field.value = ""
            hear(typed)

    field.observe(heard, "value")
