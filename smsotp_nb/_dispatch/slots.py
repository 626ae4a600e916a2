"""How many requests may be under way at once, where more threads than that claim."""

from __future__ import annotations

import threading
from collections.abc import Callable

LOOK_AROUND = 0.1  # seconds between two looks whether the call has ended
AHEAD = 2.0  # seconds for which a claim may wait: a fifth of the time after which it is void
MOST_AHEAD = 32  # claims that wait for a slot


class Slots:
    """The right to have a request under way, taken when its claim is recorded and before its first byte.

    Args:
        many: how many requests may be under way.

    Example:
        >>> slots = Slots(1)
        >>> slots.take(lambda: False), slots.take(lambda: False, seconds=0.01)
        (True, False)
    """

    def __init__(self, many: int) -> None:
        self._left = threading.Semaphore(many)

    def take(self, over: Callable[[], bool], *, seconds: float = float("inf")) -> bool:
        """Wait until a request may begin; return False if ``over`` says that none may, or after so many seconds."""
        while not over():
            if self._left.acquire(timeout=min(seconds, LOOK_AROUND)):
                if not over():
                    return True
                self.give_back()
                break
            seconds -= LOOK_AROUND
            if seconds <= 0:
                break
        return False

    def give_back(self) -> None:
        """Say that a request has ended."""
        self._left.release()
