"""The passcode form: fields, buttons and the sandbox's inbox around ``OtpSteps``."""

from __future__ import annotations

import html
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import ipywidgets

from .._arguments import not_callable, not_number, refuse
from .._calls import in_our_words
from .._cards import Card, Note
from .._moments import Now, utc_now
from .._sandbox.facade import client_of
from .._wire import DEFAULT_DIGITS, DIGITS, INTENT_LENGTH, TTL_DEFAULT, TTL_MAX, mask
from ..otp import Request
from ..settings import Secret
from . import saved, skin
from .inbox import draw
from .otp_steps import RESEND_WAIT, OtpSteps, View, number_hint
from .sandbox_clock import SandboxClock
from .stages import plain, sentence

if TYPE_CHECKING:
    from .._client import Client
    from .._sandbox import Sandbox

STEPS = ("Request", "Enter code", "Verified")
CHANNELS = (("Automatic (SMS first)", "auto"), ("SMS", "sms"), ("Voice call", "call"), ("WhatsApp", "whatsapp"))
SANDBOX = "Sandbox: nothing leaves this machine, every message appears in the inbox."
LIVE = "Live service at {host}: the passcode goes to a real phone and is billed. There is no inbox here."
TICK = 1.0
ANYBODY = "+12025550123"  # reserved for fiction: stands for a number not typed yet


class OtpForm(skin.Shown):
    """A form that sends a passcode and verifies it. Make it the last line of a cell.

    If ``client`` is a sandbox's, its inbox is shown beside the form; on a live service the form says that there is
    none. Codes that are typed are read and cleared at once, so that no saved notebook holds one.

    Args:
        client: the service, or a sandbox to try it.
        resend_wait: seconds before another passcode can be requested.
        now: the clock. By default the sandbox's, so that ``box.advance`` has effect, or this machine's on a live
            service.

    Attributes:
        widget: the ipywidgets root, to place in a layout of your own.
        steps: the state behind the form; ``steps.challenge`` is the open challenge.

    Raises:
        UsageError: ``client`` is not a client.

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
    def __init__(self, client: Client | Sandbox, *, resend_wait: float = RESEND_WAIT, now: Now | None = None) -> None:
        client = client_of(client, what="a form")
        refuse(
            not_number("resend_wait", resend_wait, of="seconds"),
            not_callable("now", now, example="lambda: datetime.now(UTC)"),
        )
        self._box = client.sandbox
        self._clock = None if now is not None or self._box is None else SandboxClock(self._box)
        self.steps = OtpSteps(client, resend_wait=resend_wait, now=now or self._clock or utc_now, changed=self._render)
        self._cn = client.settings.variant == "cn"
        self._where = SANDBOX if self._box else LIVE.format(host=urlsplit(client.settings.base_url).hostname)
        self._drawing = threading.RLock()
        self._ticking = False
        self._settle = skin.SETTLE
        self._asked_to_verify = False
        self._drawn: object = None
        self._make_fields()
        self._make_buttons()
        self.widget = self._lay_out()
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
            verified = Note("check", f"Verified {mask(challenge.to)} on {saved.moment()}")
            return Card("One-time passcode", "", (verified,), "Run this cell again to send another passcode.")
        if stage == "request":
            return Card("One-time passcode", "", closing=saved.TO_USE)
        step = STEPS[self.steps.view().step - 1]
        return saved.unfinished("One-time passcode", step, "Run this cell again to send a new passcode.")

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
        self.custom = skin.text("Custom code", placeholder="none: generated", continuous_update=False)
        self.code = skin.text("Code from the message", "smsotp-code")
        plain = (self.phone, self.channel, self.digits, self.intent)
        self._request_fields = (*plain, self.signature, self.lifetime, self.custom)
        self.phone.observe(lambda _: self._hint_number(), "value")
        self.code.observe(lambda _: self._code_typed(), "value")
        for field in (self.digits, self.lifetime, self.intent, self.custom):
            field.observe(lambda _: self._render(), "value")

    def _make_buttons(self) -> None:
        self.send_button = skin.button("Send code")
        self.verify_button = skin.button("Verify")
        self.restart_button = skin.button("Start over")
        self.send_button.on_click(lambda _: self._send())
        self.verify_button.on_click(lambda _: self._verify())
        self.restart_button.on_click(lambda _: self._restart())
        skin.on_enter(self.code, self._verify)

    def _lay_out(self) -> ipywidgets.VBox:
        self._head = skin.block("")
        self._hint = skin.block("", "smsotp-hint")
        self._countdown, self._notice = skin.block(""), skin.block("")
        rare = (self.lifetime, self.custom) if self._cn else (self.signature, self.lifetime, self.custom)
        more = skin.folded("More options", "Fewer options", skin.box(*rare, classes=("smsotp-pair",)))
        main = skin.box(
            self.phone,
            self._hint,
            *([self.signature] if self._cn else []),
            skin.box(self.channel, self.digits, classes=("smsotp-pair", "smsotp-uneven")),
            self.intent,
            *more,
            self.send_button,
            self._countdown,
            self.code,
            skin.box(self.verify_button, self.restart_button, classes=("smsotp-act",)),
            self._notice,
            classes=("smsotp-main",),
        )
        self._side = skin.block("", "smsotp-side")
        body = [main, self._side] if self._box else [main]
        layout = ("smsotp-body", "smsotp-two") if self._box else ("smsotp-body",)
        slim = () if self._box else ("smsotp-slim",)
        return skin.form(self._head, skin.box(*body, classes=layout), classes=("smsotp-otp", *slim))

    # -- gestures: one line each, the work is on a thread of its own

    def _send(self) -> None:
        custom, self.custom.value = self.custom.value.strip(), ""
        first = self.steps.stage == "request"
        self._work((lambda: self._request(custom)) if first else self.steps.resend)

    def _request(self, custom: str) -> None:
        request = skin.settled(lambda: self._asked(number_hint(self.phone.value)[1], custom), wait=self._settle)
        wrong = _missing(request, cn=self._cn)
        if wrong:
            self.steps.refuse(wrong)
            self.phone.focus()
        else:
            self.steps.send(request)

    def _asked(self, number: str, custom: str) -> Request:
        return Request(
            number,
            digits=None if custom or self.digits.value == DEFAULT_DIGITS else self.digits.value,
            intent=self.intent.value.strip() or None,
            channel=None if self.channel.value == "auto" else self.channel.value,
            signature=self.signature.value.strip() or None,
            code=Secret(custom) if custom else None,
            ttl=None if self.lifetime.value == TTL_DEFAULT else self.lifetime.value,
        )

    def _verify(self) -> None:
        """Take the code once it is whole: the last keys typed may arrive after the Enter or the click."""
        code, wanted = skin.digits_of(self.code.value), self.steps.view().code_length
        self._asked_to_verify = len(code) < wanted
        if self._asked_to_verify:
            self.steps.incomplete()
            self.code.focus()
        else:
            self.code.value = ""
            self._work(lambda: self.steps.verify(code))

    def _code_typed(self) -> None:
        if self._asked_to_verify and len(skin.digits_of(self.code.value)) >= self.steps.view().code_length:
            self._verify()

    def _restart(self) -> None:
        self.code.value = ""
        self.steps.restart()
        self.phone.focus()

    def _work(self, move: Callable[[], None]) -> None:
        threading.Thread(target=self._move, args=(move,), name="smsotp-form", daemon=True).start()

    def _move(self, move: Callable[[], None]) -> None:
        before = self.steps.stage
        self._look_at_the_clock()
        move()
        self._focus(before)
        self._tick()

    def _focus(self, before: str) -> None:
        """Leave the focus where the next key belongs; on a disabled button it would fall to the notebook."""
        if self.steps.view().can_enter:
            self.code.focus()
        elif self.steps.stage == "verified":
            self.restart_button.focus()
        elif before != "request":
            self.send_button.focus()

    def _tick(self) -> None:
        """Redraw the countdown once a second while there is one, on the thread of the move that opened it."""
        with self._drawing:
            if self._ticking:
                return
            self._ticking = True
        while self._counting():
            time.sleep(TICK)
            self._look_at_the_clock()
            self._render()

    def _look_at_the_clock(self) -> None:
        if self._clock is not None:
            self._clock.look()

    def _counting(self) -> bool:
        with self._drawing:
            self._ticking = self.steps.stage in ("sending", "entry", "checking")
            return self._ticking

    # -- drawing

    def _hint_number(self) -> None:
        hint, _ = number_hint(self.phone.value)
        self._hint.value = skin.line(hint.text, hint.sign)

    def _advice(self) -> str:
        if len(self.intent.value.strip()) > INTENT_LENGTH:
            return f"An intent has at most {INTENT_LENGTH} characters."
        advice = [*self._asked(ANYBODY, "").advice()]
        if self.custom.value:
            advice.insert(0, "a generated code is safer than one of your own")
        words = "; ".join(advice)
        return f"{words[:1].upper()}{words[1:]}." if words else ""

    def _render(self) -> None:
        with self._drawing:
            view = self.steps.view()
            self._head.value = skin.head(
                "One-time passcode",
                self._where,
                STEPS,
                view.step,
                done=view.stage == "verified",
                live=self._box is None,
            )
            self._draw_inbox(view)  # first: when the words say verified, the code is gone
            self._draw_fields(view)
            self._draw_buttons(view)
            self._countdown.value = _countdown_html(view, self._advice())
            self._notice.value = _notice_html(view)
            self._save_card()

    def _draw_fields(self, view: View) -> None:
        for field in self._request_fields:
            field.disabled = view.locked
        for text, example in ((self.intent, "login"), (self.signature, "Acme"), (self.custom, "none: generated")):
            text.placeholder = "–" if view.locked else example
        self.code.disabled = not view.can_enter
        self.code.placeholder = "–" * (self.digits.value if view.stage == "request" else view.code_length)

    def _draw_buttons(self, view: View) -> None:
        self.send_button.description = view.send_label
        self.send_button.disabled = not view.can_send
        self.verify_button.description = "Checking …" if view.stage == "checking" else "Verify"
        self.verify_button.disabled = not view.can_enter
        self.restart_button.disabled = not view.can_restart
        for name, target in (
            ("send", self.send_button),
            ("verify", self.verify_button),
            ("restart", self.restart_button),
        ):
            skin.primary(target, view.next == name)

    def _draw_inbox(self, view: View) -> None:
        """Read the inbox when something happened, not with every tick of the countdown."""
        moment = (view.stage, view.expired, self.steps.challenge)
        if self._box is None or moment == self._drawn:
            return
        self._drawn = moment
        showing = view.stage in ("entry", "checking") and not view.expired and self.steps.challenge
        open_ids = (self.steps.challenge.record.id or "",) if showing and self.steps.challenge else ()
        draw(self._side, self._box, open_ids)


def _missing(request: Request, *, cn: bool) -> str:
    """Say in the form's own words what keeps the first step from going on."""
    if not request.to:
        return "Enter a phone number in international format."
    wrong = request.problems(variant="cn" if cn else "intl")
    return sentence(plain("; ".join(wrong))) if wrong else ""


def _countdown_html(view: View, advice: str) -> str:
    """The line and the bar between the two halves: advice before sending, the time left after."""
    counting = view.stage in ("entry", "checking")
    if not counting:
        return skin.line(advice, "warn" if advice else "") + '<div class="smsotp-track smsotp-idle"></div>'
    minutes, seconds = divmod(view.left, 60)
    clock = f'Code valid for <span class="smsotp-num">{minutes}:{seconds:02d}</span>'
    share = view.left / view.lifetime if view.lifetime else 0
    bar = f'<div class="smsotp-track"><div class="smsotp-bar" style="width:{share:.1%}"></div></div>'
    return f'<p class="smsotp-line">{"! Code expired" if view.expired else clock}</p>{bar}'


def _notice_html(view: View) -> str:
    if view.stage != "verified":
        return skin.notice(view.notice.text, view.notice.sign)
    badge = f'<span class="smsotp-badge">✓ {html.escape(view.notice.text)}</span>'
    return f'<p class="smsotp-notice" role="status">{badge}</p>'
