"""What a test expects of the accepted messages."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .. import _wire as wire
from .._calling import given as describe_value
from .._calling import nearest, not_number, not_whole, refuse
from ..errors import NotAsExpected

FIELDS: Final = (
    "to", "text", "code", "channel", "iso", "kind", "intent", "signature", "template_id", "id", "parts",
)  # fmt: skip
LONGEST_WAIT: Final = 60.0  # seconds
POLL_SECONDS: Final = 0.02  # an answer takes about one millisecond
SHOWN: Final = 5  # messages that a failure lists

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a test expects: messages with these values, and how many of them.

    Attributes:
        equal: values by field that must be equal.
        patterns: regular expressions by field that must match somewhere in it.
        times: exactly so many messages; None for at least one.
        within: seconds to wait for them; with ``times=0`` seconds in which none may come.
        settle: seconds in which no further one may come, once there are ``times`` of them.
        after: only messages after this number.
    """

    equal: Mapping[str, Any]
    patterns: Mapping[str, re.Pattern[str]]
    times: int | None = None
    within: float = 0.0
    settle: float = 0.0
    after: int = 0

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> Expectation:
        """Read the arguments of `Sandbox.expect`.

        Raises:
            UsageError: lists everything that is wrong with them.
        """
        options = dict(arguments)
        times, within = options.pop("times", None), options.pop("within", 0.0)
        settle, after = options.pop("settle", 0.0), options.pop("after", 0)
        problems = [
            not_whole("times", times, least=0, none=True),
            not_number("within", within, of="seconds"),
            not_number("settle", settle, of="seconds"),
            not_whole("after", after, least=0),
        ]
        equal: dict[str, Any] = {}
        patterns: dict[str, re.Pattern[str]] = {}
        for name, value in options.items():
            field = name.removesuffix("_matches")
            if field not in FIELDS:
                problems.append(f"expect has no argument {name}={nearest(name, FIELDS) or ';'} it has {_NAMES}")
            elif name == field:
                equal[field] = value
                if not isinstance(value, str | int | None):
                    problems.append(f"{name}= must be one text or number, got {describe_value(value)}")
            else:
                try:
                    patterns[field] = re.compile(value)
                except (re.error, TypeError) as error:
                    problems.append(f"{name}= is not a regular expression: {error}")
        refuse(*problems)
        return cls(equal, patterns, times, min(within, LONGEST_WAIT), min(settle, LONGEST_WAIT), after)

    def matches(self, message: Message) -> bool:
        for field, value in self.equal.items():
            if message[field] != value:
                return False
        for field, pattern in self.patterns.items():
            if message[field] is None or not pattern.search(str(message[field])):
                return False
        return True

    def is_met(self, count: int) -> bool:
        return count >= 1 if self.times is None else count == self.times

    def describe(self) -> str:
        if self.times is None:
            words = "at least 1 message"
        elif self.times == 1:
            words = "exactly 1 message"
        else:
            words = f"exactly {self.times} messages"
        tests = [f"{field} {value!r}" for field, value in self.equal.items()]
        tests += [f"{field} matching {pattern.pattern!r}" for field, pattern in self.patterns.items()]
        if tests:
            words += " with " + " and ".join(tests)
        if self.after:
            words += f" after number {self.after}"
        if self.within:
            words += f" within {self.within:g} s"
        if self.settle:
            words += f" and no more for {self.settle:g} s"
        return words


_NAMES: Final = (
    f"{', '.join(FIELDS)}, each also with _matches for a regular expression, and times, within, settle, after"
)


def wait_for(expectation: Expectation, read_after: Callable[[int], Sequence[Message]]) -> list[Message]:
    """Return the expected messages as soon as nothing can change the outcome.

    ``read_after`` returns the messages after a number, oldest first.

    Raises:
        NotAsExpected: says what was expected and what came last instead.
    """
    matching: list[Message] = []
    latest: list[Message] = []
    seen = expectation.after
    end = time.monotonic() + expectation.within
    is_settling = False
    while True:
        for message in read_after(seen):
            seen = message["n"]
            latest = [*latest[1 - SHOWN :], message]
            if expectation.matches(message):
                matching.append(message)
        count = len(matching)
        if expectation.times is not None and count > expectation.times:
            break  # messages never become fewer
        if expectation.is_met(count) and expectation.times != 0 and not is_settling:
            if not expectation.settle:
                break
            is_settling = True
            end = time.monotonic() + expectation.settle
        if time.monotonic() >= end:
            break
        time.sleep(POLL_SECONDS)
    if expectation.is_met(len(matching)):
        return matching
    raise _not_as_expected(expectation, len(matching), latest)


def _not_as_expected(expectation: Expectation, count: int, latest: Sequence[Message]) -> NotAsExpected:
    lines = tuple(_describe_message(message) for message in reversed(latest))
    words = _mask_numbers(f"Expected {expectation.describe()}; found {count or 'none'}.")
    for line in lines:
        words += f"\n  came last: {line}"
    return NotAsExpected(words, found=count, misses=lines)


def _describe_message(message: Message) -> str:
    """Describe a message without its number and passcode, because failed tests end up in logs."""
    text = message["text"]
    if message["code"] is not None:
        text = text.replace(message["code"], "*" * len(message["code"]))
    return _mask_numbers(f"message {message['n']} at {message['at'][11:19]} to {message['to']}: {text[:80]!r}")


def _mask_numbers(words: str) -> str:
    return re.sub(r"\+\d{6,15}", lambda match: wire.mask(match[0]), words)
