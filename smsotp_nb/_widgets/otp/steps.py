"""What the passcode form does, without a widget: three steps, one request at a time, every outcome in words.

Methods that talk to the service block and are called on a worker thread; a second call while one is under way does
nothing, whatever the buttons look like. ``view()`` says what a screen shows now.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from math import ceil
from typing import Literal

from ..._cards import counted
from ..._client import Client
from ..._client.meaning import LONGEST_PAUSE
from ..._ledger import Ledger
from ..._moments import Now, utc_now
from ..._phones import ask, clean, country_name
from ...sandbox import Sandbox
from ..._wire import CODE, MessageRecord, mask
from ...errors import InDoubt, NotSent, SmsOtpError, Throttled
from ...otp import Challenge, Request
from ..inbox import currency_of, passcodes_to
from ..stages import Notice, Sign, Stages, sentence
from . import words
from .words import View


class SandboxClock:
    """A clock that goes with the sandbox's as it was when it was last looked at."""

    def __init__(self, box: Sandbox) -> None:
        self._box = box
        self._ahead = 0.0
        self.look()

    def look(self) -> None:
        """Ask the sandbox for its time; one that has ended keeps the time it had."""
        with suppress(SmsOtpError):
            self._ahead = self._box._ahead

    def __call__(self) -> datetime:
        return utc_now() + timedelta(seconds=self._ahead)


RESEND_WAIT = 30.0
MAX_TRIES = 5  # common guidance; how many the service allows is not shown


class OtpSteps(Stages):
    """The passcode form's state and moves; ``changed`` is called after every change, on the thread that made it."""

    busy = ("sending", "checking")

    def __init__(
        self,
        client: Client,
        *,
        ledger: Ledger | None = None,
        now: Now = utc_now,
        resend_wait: float = RESEND_WAIT,
        max_tries: int = MAX_TRIES,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__("request", changed=changed)
        self.client = client
        self.ledger = ledger
        self.challenge: Challenge | None = None
        self.request: Request | None = None
        self.tries = 0
        self.sent = 0
        self._clock = "this machine's clock" if client.sandbox is None else "the sandbox's clock"
        self._now = now
        self._resend_wait = resend_wait
        self._max_tries = max_tries
        self._answered, self._unanswered = True, False
        self._earlier: list[str] = []
        self._pause: tuple[datetime, int] | None = None
        self._told_at = now()

    # -- moves

    def send(self, request: Request) -> None:
        if self._pausing() <= 0 and self._begin({"request"}, "sending", words.ASKING):
            self.sent = 0
            self._send(request, back="request")

    def resend(self, seen: Challenge | None = None) -> None:
        """Send another passcode to the same number, once the wait is over; ``seen`` as for `verify`."""
        request, challenge = self.request, self.challenge if seen is None else seen
        if request is None or self._wait() > 0:
            return
        if self._begin({"entry"}, "sending", words.ASKING, still=lambda: challenge is self.challenge):
            self._send(request, back="entry")

    def verify(self, code: str, seen: Challenge | None = None) -> None:
        """Check a code of digits; ``seen`` is the challenge that was open when it was entered, if it is another one."""
        challenge = self.challenge if seen is None else seen
        if challenge is None or not self.view().can_enter:
            return
        if not CODE.fullmatch(code):
            self._show("entry", "A passcode has digits only.", "warn")
        elif self._begin({"entry"}, "checking", words.ASKING, still=lambda: challenge is self.challenge):
            self._check(challenge, code)

    def incomplete(self) -> None:
        """Say how long the code is; nothing was asked of the service."""
        if self.view().can_enter:
            self._show("entry", f"The code has {self.view().code_length} digits.", "warn")

    def stop_waiting(self) -> None:
        """End the pause that the service asked for: the next request is a person's decision again."""
        if self._pausing() > 0 and self._pause is not None:
            until, self._pause = self._pause[0], None
            self._show(self.stage, f"You stopped waiting. Until {until:%H:%M:%S} UTC the service may refuse.", "warn")

    def restart(self) -> None:
        """Go back to the first step; a passcode that is under way stays what it is."""
        if self.stage not in self.busy:
            self.challenge, self.request, self.tries = None, None, 0
            self._show("request")

    def reset(self) -> None:
        """Begin again as if nothing had been asked, a pause included; nothing that is under way is given up."""
        if self.stage not in self.busy:
            self._pause = None
            self.restart()

    def refuse(self, said: str) -> None:
        """Say why the first step cannot go on; nothing was asked of the service."""
        if self.stage == "request":
            self._show("request", said, "warn")

    # -- what a screen shows

    def view(self) -> View:
        left = self.challenge.seconds_left if self.challenge else 0.0
        expired = self.stage in ("entry", "checking") and left <= 0
        pausing = self._pausing()
        open_ = self.stage == "entry" and self.tries < self._max_tries and not pausing
        return View(
            stage=self.stage,
            step={"request": 1, "verified": 3}.get(self.stage, 2 if self.challenge else 1),
            notice=self._notice(expired=expired),
            can_send=not pausing and (self.stage == "request" or (self.stage == "entry" and not self._wait())),
            send_label=self._send_label(max(self._wait(), pausing)),
            can_enter=open_,
            next=self._next(expired=expired),
            asked=words.asked(self.request, mask(self.request.to)) if self.request else "",
            answered=self._answered,
            left=round(left),
            lifetime=self.request.lifetime if self.request else 0,
            expired=expired,
            code_length=self.request.length if self.request else 0,
            pausing=pausing,
            pause=self._pause[1] if self._pause else 0,
        )

    def open_ids(self) -> tuple[str, ...]:
        """Return the ids of the sandbox's messages whose code the form asks for; in doubt those that arrived since."""
        if self.challenge is None or self.stage not in ("entry", "checking"):
            return ()
        if self.challenge.record.id is not None:
            return (self.challenge.record.id,)
        arrived = passcodes_to(self.client.sandbox, self.challenge.to)
        return tuple(one for one in arrived if one not in self._earlier)

    def _notice(self, *, expired: bool) -> Notice:
        """Return what was last said, unless time has passed over it."""
        if self.stage == "entry" and expired and self.challenge and self._told_at < self.challenge.expires_at:
            return Notice(words.expired(self._clock), "warn")
        if self._pause and not self._pausing() and self._told_at < self._pause[0]:
            return Notice("The pause that the service asked for is over. Try again.", "warn")
        return self.notice

    def _next(self, *, expired: bool) -> Literal["send", "verify", "restart"]:
        if self.stage == "verified":
            return "restart"
        entering = self.stage in ("entry", "checking") and not expired and self.tries < self._max_tries
        return "verify" if entering else "send"

    def _wait(self) -> int:
        """Return the whole seconds until another passcode may be asked for."""
        if self.challenge is None or self.stage not in ("entry", "checking"):
            return 0
        over = self.challenge._sent_at + timedelta(seconds=self._resend_wait)
        return max(self._until(over), self._pausing())

    def _pausing(self) -> int:
        """Return the whole seconds that are left of the pause that the service asked for."""
        return 0 if self._pause is None else self._until(self._pause[0])

    def _until(self, moment: datetime) -> int:
        return max(0, ceil((moment - self._now()).total_seconds()))

    def _send_label(self, waiting: int) -> str:
        if self.stage == "sending":
            return "Sending …"
        label = "Send code" if self.challenge is None else "Send a new code"
        return f"{label} in {waiting // 60}:{waiting % 60:02d}" if waiting else label

    def _show(self, stage: str, said: str = "", sign: Sign = "") -> None:
        self._told_at = self._now()
        super()._show(stage, said, sign)

    # -- inside a move: the stages "sending" and "checking" belong to the thread that began them

    def _send(self, request: Request, *, back: str) -> None:
        self._earlier = passcodes_to(self.client.sandbox, request.to)
        unrecorded: list[str] = []
        with self._telling(back, words.NOTHING_SENT):
            try:
                challenge = request.send(self.client, ledger=self.ledger, now=self._now, unrecorded=unrecorded.append)
            except InDoubt:
                record = MessageRecord(id=None, to=request.to)
                challenge = Challenge(request, client=self.client, record=record, now=self._now)
                self._opened(request, challenge, answered=False)
                look = words.ASK_THE_PERSON if self.client.sandbox is None else words.LOOK_IN_THE_INBOX
                self._show("entry", f"{words.SEND_IN_DOUBT} {look}", "warn")
            else:
                self._opened(request, challenge, answered=True)
                said = [self._receipt(challenge.record), *map(sentence, unrecorded)]
                self._show("entry", " ".join(said), "warn" if unrecorded else "ok")

    def _opened(self, request: Request, challenge: Challenge, *, answered: bool) -> None:
        self.challenge, self.request, self.tries, self._unanswered = challenge, request, 0, False
        self._answered = answered
        self.sent += 1

    def _check(self, challenge: Challenge, digits: str) -> None:
        with self._telling("entry", words.NOTHING_CHECKED):
            try:
                valid = challenge.verify(digits)
            except InDoubt:
                self.tries += 1
                self._unanswered = True
                self._show("entry", words.CHECK_IN_DOUBT, "warn")
            else:
                self._judge(challenge, valid=valid)

    def _judge(self, challenge: Challenge, *, valid: bool) -> None:
        if valid:
            at = f"{self._now():%H:%M:%S} UTC"
            self._show("verified", f"The service confirmed the code for {mask(challenge.to)} at {at}.", "ok")
            return
        self.tries += 1
        said = words.no_match(
            age=(self._now() - challenge._sent_at).total_seconds(),
            lifetime=self.request.lifetime if self.request else 0,
            clock=self._clock,
            left=self._max_tries - self.tries,
            most=self._max_tries,
            unanswered=self._unanswered,
            sent=self.sent,
            accepted=self._answered,
        )
        self._show("entry", said, "bad")

    def _refuse_for(self, error: SmsOtpError, stage: str, outcome: str) -> None:
        if isinstance(error, NotSent):
            self._show(stage, f"{outcome} {words.UNREACHED}", "warn")
        elif isinstance(error, Throttled):
            if error.retry_after:
                self._pause = self._now() + timedelta(seconds=error.retry_after), ceil(error.retry_after)
            self._show(stage, f"{outcome} {words.pause(error.retry_after, longest=LONGEST_PAUSE)}", "warn")
        else:
            super()._refuse_for(error, stage, outcome)

    def _receipt(self, record: MessageRecord) -> str:
        parts = None if record.parts is None else counted(record.parts, "part")
        found = (mask(record.to), record.iso, parts, self._price(record))
        return "Accepted for " + ", ".join(item for item in found if item) + "."

    def _price(self, record: MessageRecord) -> str | None:
        if record.price is None:
            return None
        currency = currency_of(self.client.sandbox, record.id)
        return f"{currency or 'price'} {record.price.normalize():f}"


def number_hint(typed: str) -> tuple[Notice, str]:
    """Return what to say below the number field, and the number in E.164 where it may be sent to, else ``""``."""
    read = clean(typed)  # as a cell of a list: tel:, invisible marks, digits of other scripts
    if read.problem == "MISSING":
        return Notice("International format: a plus, the calling code, the number."), ""
    number = read.text or typed.strip()
    if not number.startswith("+"):
        return Notice("Start with a plus and the calling code, such as +1.", "warn"), ""
    found = ask(number)
    if not found.e164:
        return Notice("Not a complete number yet.", "warn"), ""
    place = country_name(found.region) if found.region else f"calling code {found.cc}"
    if not found.valid:
        return Notice(f"Not a valid number ({place}).", "warn"), ""
    kind = " (a landline; it may not receive texts)" if found.type == "FIXED_LINE" else ""
    return Notice(f"{place}, {found.e164}{kind}", "ok"), found.e164
