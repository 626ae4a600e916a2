"""A limit on the time of the processor, so that a loop without an end fails a test instead of hanging it."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


class TooSlow(BaseException):
    """It takes more time than it may; nothing of ours catches this."""


@contextlib.contextmanager
def at_most(cpu_seconds: float) -> Iterator[None]:
    """Interrupt what needs more time of the processor than this; how busy the machine is does not count."""

    def stop(*_: object) -> None:
        raise TooSlow(f"more than {cpu_seconds:g} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
