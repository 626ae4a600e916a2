"""Waking those who wait for something to happen, all on the server's event loop."""

from __future__ import annotations

import asyncio


class Bell:
    """Rings whenever something has happened; whoever waits looks again whether it concerns them."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()
        self.closed = False

    @property
    def waiting(self) -> int:
        """How many wait now."""
        return len(self._waiting)

    def ring(self) -> None:
        """Wake everyone who waits."""
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    def close(self) -> None:
        """Let nobody wait any longer."""
        self.closed = True
        self.ring()

    async def wait(self, seconds: float) -> None:
        """Return at the next ring, or after so many seconds."""
        if self.closed:
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.add(waiter)
        try:
            async with asyncio.timeout(seconds):
                await waiter
        except TimeoutError:
            return
        finally:
            self._waiting.discard(waiter)
