"""How long a request is retried while none of it has left this machine, and the gate that every attempt passes.

The one retry rule of the package: a request is tried again after ``NotSent`` and ``Throttled``, and after nothing else.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import tenacity

from ..errors import NotSent, Throttled, TransportError

# Only these two prove that a repeat texts nobody twice; "everything but ..." would repeat after an interrupt too.
REPEATABLE = (NotSent, Throttled)
_NEVER = object()


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long a request is retried while none of it has left: attempts, seconds in all, and the waits between.

    Example:
        >>> RetryPolicy(attempts=1).attempts
        1
    """

    attempts: int = 6
    seconds: float = 120.0
    first_wait: float = 0.5
    longest_wait: float = 20.0


class Gate:
    """What attempts have in common. This one lets everything through; ``dispatch`` has one that paces and stops."""

    def __init__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        self._sleep = sleep

    def sleep(self, seconds: float) -> None:
        """Wait before the next attempt."""
        self._sleep(seconds)

    def throttled(self, seconds: float | None) -> None:
        """Note that the service asked for a pause of so many seconds; None if it named no time."""

    def stopped(self) -> bool:
        """Return whether no further attempt may be made."""
        return False


class Tries(tenacity.stop.stop_base):
    """The attempts at one request, which end when the gate says so, or when their number or their time is used up.

    Example:
        >>> Tries(Gate(), RetryPolicy()).make(lambda: "an answer")
        'an answer'
    """

    def __init__(self, gate: Gate, patience: RetryPolicy, clock: Callable[[], float] = time.monotonic) -> None:
        self._gate, self._patience, self._clock = gate, patience, clock
        self._began = clock()
        self._waited = 0.0
        self._made = 0

    @contextlib.contextmanager
    def at_the_gate(self) -> Iterator[None]:
        """Leave the time spent in this block, waiting for a turn, out of the time limit."""
        began = self._clock()
        try:
            yield
        finally:
            self._waited += self._clock() - began

    def make(self, attempt: Callable[[], Any]) -> Any:
        """Return the first outcome that is not ``NotSent`` or ``Throttled``, or the last one; errors are not raised."""
        first = self._one(attempt)
        if not isinstance(first, REPEATABLE):
            return first
        outcomes = itertools.chain([first], iter(lambda: self._one(attempt), _NEVER))
        return self._retrying()(lambda: next(outcomes))

    def _one(self, attempt: Callable[[], Any]) -> Any:
        self._made += 1
        outcome = attempt()
        if isinstance(outcome, Throttled):
            self._gate.throttled(outcome.retry_after)
        if isinstance(outcome, TransportError):
            outcome.attempts = self._made
        return outcome

    def _retrying(self) -> tenacity.Retrying:
        patience = self._patience
        backoff = tenacity.wait_random_exponential(multiplier=patience.first_wait, max=patience.longest_wait)

        def wait(state: tenacity.RetryCallState) -> float:
            outcome = state.outcome.result() if state.outcome else None
            asked = outcome.retry_after if isinstance(outcome, Throttled) else None
            return backoff(state) if asked is None else asked

        return tenacity.Retrying(
            retry=tenacity.retry_if_result(lambda outcome: isinstance(outcome, REPEATABLE)),
            wait=wait,
            stop=tenacity.stop_any(self, tenacity.stop_after_attempt(patience.attempts)),
            sleep=self._gate.sleep,
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        )

    def __call__(self, retry_state: tenacity.RetryCallState) -> bool:
        tried = self._clock() - self._began - self._waited
        return self._gate.stopped() or tried + retry_state.upcoming_sleep >= self._patience.seconds
