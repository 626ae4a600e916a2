"""The time of a sandbox, for a form that is open while a test moves it."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ..._moments import utc_now
from ...errors import SmsOtpError

if TYPE_CHECKING:
    from ..._sandbox import Sandbox


class SandboxClock:
    """A clock that goes with the sandbox's as it was when it was last looked at.

    Example:
        >>> from smsotp_nb import Sandbox
        >>> with Sandbox() as box:
        ...     clock, before = SandboxClock(box), utc_now()
        ...     _ = box.advance(300)
        ...     clock.look()
        ...     (clock() - before).total_seconds() >= 299
        True
    """

    def __init__(self, box: Sandbox) -> None:
        self._box = box
        self._ahead = 0.0
        self.look()

    def look(self) -> None:
        """Ask the sandbox for its time; one that has ended keeps the time it had."""
        with suppress(SmsOtpError):
            self._ahead = self._box.ahead

    def __call__(self) -> datetime:
        return utc_now() + timedelta(seconds=self._ahead)
