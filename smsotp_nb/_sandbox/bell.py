"""Wake those who wait for something to happen, all on the server's event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from .filing import Accepted
from .journal import Told


class Happened(NamedTuple):
    """A request as the journal tells it, and what was accepted for it."""

    told: Told
    accepted: Accepted | None


Concerns = Callable[[Happened | None], bool]  # None: the clock was moved


class Bell:
    """Rings whenever something has happened. Only those concerned wake up; until then waiting costs nothing."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Future[bool], Concerns] = {}
        self.closed = False

    @property
    def waiting(self) -> int:
        """How many wait now."""
        return len(self._waiting)

    def ring(self, happened: Happened | None = None) -> None:
        """Wake everyone concerned."""
        for waiter, concerns in self._waiting.items():
            if not waiter.done() and concerns(happened):
                waiter.set_result(True)

    def close(self) -> None:
        """End all waiting."""
        self.closed = True
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(False)

    async def wait(self, seconds: float, concerns: Concerns) -> bool:
        """Return True as soon as something happens for which ``concerns`` is true, False after so many seconds."""
        if self.closed:
            return False
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[waiter] = concerns
        try:
            async with asyncio.timeout(seconds):
                return await waiter
        except TimeoutError:
            return False
        finally:
            del self._waiting[waiter]
