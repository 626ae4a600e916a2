"""Describe the nearest misses of an expectation: messages that almost fit, and requests that were not accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple

from .. import _wire as wire
from . import inbox
from .clock import moment
from .expect import Count, Expectation, Test, facts
from .faults import BY_NAME
from .journal import Journal, Told, Wanted
from .state import State

MESSAGES: Final = 200  # the newest messages that are looked at
REQUESTS: Final = 200  # the newest requests that are looked at
TOLD: Final = 5
COMPARED: Final = 200  # characters of a text that tell how near it is


class Miss(NamedTuple):
    """One near miss; the smallest is the nearest."""

    failed: int
    distance: float
    age: int
    words: str


def summary(expectation: Expectation, count: Count, state: State, journal: Journal) -> str:
    """Return one sentence: what was expected, and what was found among how many messages and requests."""
    found = f"{count.found}" if count.found else "none"
    messages = state.count_after(expectation.after, most=MESSAGES)
    lost = sum(1 for told in _newest(journal) if _is_lost(told))
    among = _counted(messages, MESSAGES, "message")
    others = f"; {_counted(lost, REQUESTS, 'request')} refused or struck" if lost else ""
    return f"Expected {expectation.describe()}; found {found} among {among}{others}."


def _counted(number: int, most: int, one: str) -> str:
    return f"{number}{' or more' if number == most else ''} {one}{'' if number == 1 else 's'}"


def nearest(expectation: Expectation, count: Count, state: State, journal: Journal) -> list[str]:
    """Describe the messages that are as expected and, unless they are too many, what comes near."""
    fitting = [f"{_heading(row['n'], row['at'])} to {row['number']} is as expected" for row in count.rows[:TOLD]]
    if expectation.too_many(count.found):
        return fitting
    near = sorted([*_messages(expectation, state), *_requests(expectation, journal)])
    return [*fitting, *(miss.words for miss in near)][:TOLD]


def _heading(n: int, at: int, thing: str = "message") -> str:
    return f"{thing} {n} at {moment(at)[11:19]}"


def _messages(expectation: Expectation, state: State) -> Iterator[Miss]:
    for row in inbox.find(state, inbox.Filter(after=expectation.after, newest=True), limit=MESSAGES):
        found = _without_code(facts(row))
        failed = expectation.failed(facts(row))
        if not failed:
            continue
        said = "; ".join(test.miss(found[test.field]) for test in failed)
        words = f"{_heading(row['n'], row['at'])} to {found['to']}: {said}"
        yield Miss(len(failed), _distance(failed, found), -row["n"], words)


def _without_code(found: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with the passcode masked in the text, because failed tests end up in logs."""
    code = found["code"]
    return found if code is None else found | {"text": found["text"].replace(code, "*" * len(code))}


def _distance(failed: Iterable[Test], found: Mapping[str, Any]) -> float:
    return sum(1.0 if test.pattern else 1.0 - _likeness(test.value, found[test.field]) for test in failed)


def _likeness(one: Any, other: Any) -> float:
    return SequenceMatcher(None, str(one)[:COMPARED], str(other)[:COMPARED]).quick_ratio()


def _newest(journal: Journal) -> Iterator[Told]:
    return journal.select(Wanted(newest=True, limit=REQUESTS))


def _is_lost(told: Told) -> bool:
    return not told.accepted and told.outcome != "answered"


def _requests(expectation: Expectation, journal: Journal) -> Iterator[Miss]:
    """Yield requests that resemble the expectation and were not accepted."""
    about = [test for test in expectation.tests if test.field in ("to", "text", "kind")]
    for told in filter(_is_lost, _newest(journal)):
        asked = _asked(told)
        failed = [test for test in about if not any(test.holds(value) for value in asked[test.field])]
        if len(failed) < max(len(about), 1):
            said = [test.miss(next(iter(asked[test.field]), None)) for test in failed]
            words = "; ".join([f"{_heading(told.n, told.at, 'request')} ({told.action}) {_fate(told)}", *said])
            yield Miss(len(failed), 0.5, -told.n, words)


def _asked(told: Told) -> dict[str, list[Any]]:
    texts = [told.fields[name] for name in ("text", "content") if isinstance(told.fields.get(name), str)]
    return {"to": list(told.to), "text": texts, "kind": ["passcode" if told.action == "otp.send" else "message"]}


def _fate(told: Told) -> str:
    if told.outcome == "struck":
        kind = told.fault.split(",")[-1]
        return f"was struck by {kind}: {BY_NAME[kind].meaning}"
    return f"was refused: {told.code} {wire.ERROR_NAMES.get(told.code, ('',))[0]}".rstrip()
