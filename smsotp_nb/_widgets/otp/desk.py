"""What a demonstrator does to the sandbox behind a passcode form, without a widget."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..._cards import counted
from ..._sandbox.choices import Rules
from ...errors import InDoubt, SmsOtpError, Throttled
from .exchanges import Exchange, exchanges
from .steps import OtpSteps
from .words import spoken

if TYPE_CHECKING:
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
