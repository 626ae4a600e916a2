"""What the passcode form does, without a widget: three steps, one request at a time, every outcome in words.

Methods that talk to the service block and are called on a worker thread; a second call while one is under way does
nothing, whatever the buttons look like. ``view()`` says what a screen shows now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING, Literal, cast

from .._cards import counted
from .._moments import Now, utc_now
from .._phones import lookup
from .._wire import CODE, MessageRecord
from ..errors import InDoubt, SmsOtpError
from ..otp import Challenge, Request
from .inbox import currency_of
from .stages import Notice, Stages, broken, refused

if TYPE_CHECKING:
    from .._client import Client

Stage = Literal["request", "sending", "entry", "checking", "verified"]

RESEND_WAIT = 30.0
MAX_TRIES = 5  # common guidance; how many the service allows is not shown

ASKING = "Asking the service …"
SEND_IN_DOUBT = "No answer came: the passcode may or may not have been sent. If it arrives, enter it here."
CHECK_IN_DOUBT = "No answer came: whether the code is right is not known. Enter it again, or send a new one."


EXPIRED = Notice("This passcode has expired. Send a new one.", "warn")


@dataclass(frozen=True, slots=True)
class View:
    """All that a screen needs: which step, what is enabled, what is the one thing to do next, and the words."""

    stage: Stage
    step: int
    notice: Notice
    locked: bool
    can_send: bool
    send_label: str
    can_enter: bool
    can_restart: bool
    next: Literal["send", "verify", "restart"]
    left: int = 0
    lifetime: int = 0
    expired: bool = False
    code_length: int = 0


class OtpSteps(Stages):
    """The passcode form's state and moves; ``changed`` is called after every change, on the thread that made it.

    Example:
        >>> from smsotp_nb import Sandbox
        >>> from smsotp_nb.otp import Request
        >>> with Sandbox() as box:
        ...     steps = OtpSteps(box.client())
        ...     steps.send(Request("+12025550123", intent="login"))
        ...     steps.verify(box.code("+12025550123"))
        >>> steps.stage
        'verified'
    """

    def __init__(
        self,
        client: Client,
        *,
        now: Now = utc_now,
        resend_wait: float = RESEND_WAIT,
        max_tries: int = MAX_TRIES,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__("request", changed=changed)
        self.client = client
        self.challenge: Challenge | None = None
        self.tries = 0
        self._now = now
        self._resend_wait = resend_wait
        self._max_tries = max_tries
        self._request: Request | None = None

    # -- moves

    def send(self, request: Request) -> None:
        """Send the passcode: from the first step only."""
        if self._begin({"request"}, "sending", ASKING):
            self._send(request, back="request")

    def resend(self) -> None:
        """Send another passcode to the same number, once the wait is over."""
        if self._request is not None and self._wait() <= 0 and self._begin({"entry"}, "sending", ASKING):
            self._send(self._request, back="entry")

    def verify(self, code: str) -> None:
        """Check a code of digits."""
        if self.challenge is None or not self.view().can_enter:
            return
        if not CODE.fullmatch(code):
            self._show("entry", "A passcode has digits only.", "warn")
        elif self._begin({"entry"}, "checking", ASKING):
            self._check(self.challenge, code)

    def incomplete(self) -> None:
        """Say how long the code is; nothing was asked of the service."""
        if self.view().can_enter:
            self._show("entry", f"The code has {self.view().code_length} digits.", "warn")

    def restart(self) -> None:
        """Go back to the first step; a passcode that is under way stays what it is."""
        if self.view().can_restart:
            self.challenge, self._request, self.tries = None, None, 0
            self._show("request")

    def refuse(self, words: str) -> None:
        """Say why the first step cannot go on; nothing was asked of the service."""
        if self.stage == "request":
            self._show("request", words, "warn")

    # -- what a screen shows

    def view(self) -> View:
        """Return the screen of this moment."""
        left = self.challenge.seconds_left if self.challenge else 0.0
        waiting = self._wait()
        expired = self.stage in ("entry", "checking") and left <= 0
        open_ = self.stage == "entry" and not expired and self.tries < self._max_tries
        return View(
            stage=cast(Stage, self.stage),
            step={"request": 1, "verified": 3}.get(self.stage, 2 if self.challenge else 1),
            notice=EXPIRED if expired and self.stage == "entry" else self.notice,
            locked=self.stage != "request",
            can_send=self.stage == "request" or (self.stage == "entry" and waiting <= 0),
            send_label=self._send_label(waiting),
            can_enter=open_,
            can_restart=self.stage in ("entry", "verified"),
            next="restart" if self.stage == "verified" else "verify" if open_ or self.stage == "checking" else "send",
            left=round(left),
            lifetime=self._request.lifetime if self._request else 0,
            expired=expired,
            code_length=self._request.length if self._request else 0,
        )

    def _wait(self) -> int:
        if self.challenge is None or self.stage not in ("entry", "checking"):
            return 0
        over = self.challenge.sent_at + timedelta(seconds=self._resend_wait)
        return max(0, ceil((over - self._now()).total_seconds()))

    def _send_label(self, waiting: int) -> str:
        if self.stage == "sending":
            return "Sending …"
        if self.challenge is None:
            return "Send code"
        return f"Send a new code in {waiting // 60}:{waiting % 60:02d}" if waiting else "Send a new code"

    # -- inside a move: the stages "sending" and "checking" belong to the thread that began them

    def _send(self, request: Request, *, back: str) -> None:
        try:
            challenge = request.send(self.client, now=self._now)
        except InDoubt:
            record = MessageRecord(id=None, to=request.to)
            self._opened(request, Challenge(request, client=self.client, record=record, now=self._now))
            self._show("entry", SEND_IN_DOUBT, "warn")
        except SmsOtpError as error:
            self._show(back, *refused(error, "No passcode was sent."))
        except Exception as error:
            self._show(back, *broken(error))
            raise
        else:
            self._opened(request, challenge)
            self._show("entry", self._receipt(challenge.record), "ok")

    def _opened(self, request: Request, challenge: Challenge) -> None:
        self.challenge, self._request, self.tries = challenge, request, 0

    def _check(self, challenge: Challenge, digits: str) -> None:
        try:
            valid = challenge.verify(digits)
        except InDoubt:
            self.tries += 1
            self._show("entry", CHECK_IN_DOUBT, "warn")
        except SmsOtpError as error:
            self._show("entry", *refused(error, "The code was not accepted."))
        except Exception as error:
            self._show("entry", *broken(error))
            raise
        else:
            self._judge(challenge, valid)

    def _judge(self, challenge: Challenge, valid: bool) -> None:
        self.tries += not valid
        left = self._max_tries - self.tries
        if valid:
            self._show("verified", f"Verified {challenge.to}", "ok")
        elif left <= 0:
            self._show("entry", f"Wrong {self.tries} times. Send a new code.", "bad")
        else:
            tries = "1 try" if left == 1 else f"{left} tries"
            self._show("entry", f"Wrong code. Check it and try again; {tries} left.", "bad")

    def _receipt(self, record: MessageRecord) -> str:
        parts = None if record.parts is None else counted(record.parts, "part")
        found = (record.to, record.iso, parts, self._price(record))
        return "Accepted for " + ", ".join(item for item in found if item) + "."

    def _price(self, record: MessageRecord) -> str | None:
        if record.price is None:
            return None
        currency = currency_of(self.client.sandbox, record.id)
        return f"{currency or 'price'} {record.price.normalize():f}"


def number_hint(typed: str) -> tuple[Notice, str]:
    """Return what to say below the number field, and the number in E.164 where it may be sent to, else ``""``.

    Example:
        >>> number_hint("+1 415 555 0100")
        (Notice(text='United States, +14155550100', sign='ok'), '+14155550100')
        >>> number_hint("0170 1234")[1]
        ''
    """
    typed = typed.strip()
    if not typed:
        return Notice("International format: a plus, the calling code, the number."), ""
    if not typed.startswith(("+", "+")):
        return Notice("Start with a plus and the calling code, such as +1.", "warn"), ""
    found = lookup.one(typed)
    if not found.e164:
        return Notice("Not a complete number yet.", "warn"), ""
    place = lookup.country_name(found.iso) if found.iso else f"calling code {found.cc}"
    if not found.valid:
        return Notice(f"Not a valid number ({place}).", "warn"), ""
    kind = " (a landline; it may not receive texts)" if found.type == "FIXED_LINE" else ""
    return Notice(f"{place}, {found.e164}{kind}", "ok"), found.e164
