"""Make only what was asked for last: for previews that follow every key."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Made = TypeVar("Made")


class Latest(Generic[Asked, Made]):
    """Call ``make`` a moment after the last ``ask``, on a thread of its own, and ``take`` unless newer was asked since.

    Example:
        >>> latest = Latest(str.upper, print, wait=0.0)
        >>> latest.ask("hello")
        >>> latest.settle()
        HELLO
    """

    def __init__(self, make: Callable[[Asked], Made], take: Callable[[Made], None], *, wait: float) -> None:
        self._make, self._take, self._wait = make, take, wait
        self._guard = threading.Lock()
        self._number = 0
        self._timer: threading.Timer | None = None

    def ask(self, asked: Asked, *, at_once: bool = False) -> None:
        """Ask for something; what was asked for before and is not made yet is forgotten."""
        with self._guard:
            self._number += 1
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(0.0 if at_once else self._wait, self._run, args=(self._number, asked))
            self._timer.daemon = True
            self._timer.start()

    def settle(self, seconds: float = 60.0) -> None:
        """Wait until what was asked for last is made."""
        if self._timer is not None:
            self._timer.join(seconds)

    def _run(self, number: int, asked: Asked) -> None:
        made = self._make(asked)
        with self._guard:
            newest = number == self._number
        if newest:
            self._take(made)
