"""What a test expects of the accepted messages.

Patterns are matched by RE2, which comes with pyarrow: its time grows linearly with the text, so that no expectation can
block the sandbox. A pattern is compiled again at each call, so that a page of messages is matched by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from sqlite3 import Row
from typing import Any, Final

from ... import _wire as wire
from ..._showing import is_whole
from ...errors import UsageError
from .. import inbox, parameters
from ..state import State, moment
from .faults import BY_NAME
from .journal import Entry, Journal, Wanted

FIELDS: Final = ("to", "text", "code", "channel", "iso", "kind", "intent", "signature", "templateId", "id", "parts")
WHOLE: Final = ("parts",)
LONGEST_PATTERN: Final = 1_000
LONGEST_SETTLE: Final = 20.0
MOST_TIMES: Final = 1_000_000
SHOWN: Final = 100  # messages in an answer
PAGE: Final = 1_000  # messages looked at before others are answered
HOW: Final = (
    f'send an object of {", ".join(FIELDS)} (equal) or with a tilde (a regular expression: "text~"), '
    "and times, within, settle, after"
)


def facts(row: Row) -> dict[str, Any]:
    return {
        "to": row["number"],
        "text": row["text"],
        "code": row["code"],
        "channel": row["channel"],
        "iso": row["iso"],
        "kind": "passcode" if row["action"] == "otp.send" else "message",
        "intent": row["intent"],
        "signature": row["signature"],
        "templateId": row["template_id"],
        "id": row["id"],
        "parts": row["parts"],
    }


@dataclass(frozen=True, slots=True)
class Test:
    """One field that must equal a value, or match a regular expression anywhere in it.

    Example:
        >>> Test("text", r"code is \\d+", pattern=True).holds(["Your code is 4211.", None])
        [True, False]
    """

    field: str
    value: Any
    pattern: bool = False

    def holds(self, found: Sequence[Any]) -> list[bool]:
        if not self.pattern:
            return [value == self.value for value in found]
        texts = [None if value is None else str(value) for value in found]
        return [bool(matched) for matched in _matches(texts, self.value)]

    def words(self) -> str:
        if self.value is None:
            return f"no {self.field}"
        return f"{self.field} {'matching ' if self.pattern else ''}{_quoted(self.field, self.value)}"

    def miss(self, found: Any) -> str:
        """Return what is wrong with a value, as part of a sentence; of a passcode only its length."""
        if self.field == "code" and found is not None:
            return f"its code is another one, of {len(found)} digits"
        is_found = f"{self.field} is {_quoted(self.field, found)}" if found is not None else f"it has no {self.field}"
        if self.value is None or (found is None and not self.pattern):
            return is_found
        return f"{is_found}, {'which does not match' if self.pattern else 'not'} {_quoted(self.field, self.value)}"


def _matches(texts: Sequence[str | None], pattern: str) -> list[bool | None]:
    import pyarrow  # only patterns need it
    import pyarrow.compute

    column = pyarrow.array(texts, pyarrow.string())
    found: list[bool | None] = pyarrow.compute.match_substring_regex(column, pattern).to_pylist()
    return found


def _quoted(field: str, value: Any) -> str:
    text = str(value)
    short = text if len(text) <= 80 else f"{text[:79]}…"
    return short if field in ("to", "iso", "id", *WHOLE) else repr(short)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a test expects: messages that pass every test, and how many of them.

    Args:
        tests: all must hold.
        times: exactly so many messages; None for at least one.
        within: seconds to wait for them; with ``times=0`` seconds in which none may come.
        settle: seconds in which no further one may come, once there are ``times`` of them.
        after: only messages after this number, the ``last`` of an earlier answer.
    """

    tests: tuple[Test, ...] = ()
    times: int | None = None
    within: float = 0.0
    settle: float = 0.0
    after: int = 0

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Expectation:
        """Read it from a JSON object.

        Raises:
            UsageError: lists everything that is wrong with it.
        """
        problems = [problem for name, value in given.items() if (problem := _problem(name, value))]
        if problems:
            raise UsageError(f"{'; '.join(problems)}; {HOW}", problems=tuple(problems))
        tests = (_test(name, value) for name, value in given.items() if name not in _COUNTS)
        counts = {name: given[name] for name in _COUNTS if given.get(name) is not None}
        return cls(tuple(tests), **counts)

    def describe(self) -> str:
        times = "at least 1" if self.times is None else "no" if self.times == 0 else f"exactly {self.times}"
        said = f"{times} message{'' if self.times in (None, 1) else 's'}"
        said += " with " + " and ".join(test.words() for test in self.tests) if self.tests else ""
        said += f" after number {self.after}" if self.after else ""
        said += f" within {self.within:g} s" if self.within else ""
        return said + (f" and no more for {self.settle:g} s" if self.settle else "")

    def failed(self, messages: Sequence[Mapping[str, Any]]) -> list[list[Test]]:
        """Return of each message the tests that do not hold."""
        held = [test.holds([message.get(test.field) for message in messages]) for test in self.tests]
        return [
            [test for test, holds in zip(self.tests, held, strict=True) if not holds[at]] for at in range(len(messages))
        ]

    @property
    def number(self) -> str | None:
        """The number asked for, if it is one: the database finds its messages, so that not every one is read."""
        numbers = (test.value for test in self.tests if test.field == "to" and not test.pattern and test.value)
        return next(numbers, None)

    def met(self, found: int) -> bool:
        return found >= 1 if self.times is None else found == self.times

    def settles(self, found: int) -> bool:
        """Return whether there are enough messages, but ``settle`` seconds must show that no more arrive."""
        return self.settle > 0 and bool(self.times) and found == self.times

    def decided(self, found: int) -> bool:
        """Return whether waiting cannot change the outcome any more; too many messages never become fewer."""
        return found >= (1 if self.times is None else max(self.times, 1))


_COUNTS: Final = ("times", "within", "settle", "after")


def _problem(name: str, value: Any) -> str:
    """Return what is wrong with one field of an expectation, or ``""``."""
    if name in ("times", "after"):
        most = MOST_TIMES if name == "times" else parameters.LARGEST
        return "" if value is None or _is_whole(value, most) else f"{name} must be a whole number, got {value!r}"
    if name in ("within", "settle"):
        top = parameters.LONGEST_WAIT if name == "within" else LONGEST_SETTLE
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return "" if number and 0 <= value <= top else f"{name} must be from 0 to {top:g} seconds, got {value!r}"
    field = name.removesuffix("~")
    if field not in FIELDS:
        return f"{name} is unknown"
    if name.endswith("~"):
        return _pattern_problem(name, value)
    if field in WHOLE:
        return "" if _is_whole(value, MOST_TIMES) else f"{name} must be a whole number, got {value!r}"
    if value is not None and not isinstance(value, str):
        return f"{name} must be one text, got {value!r}"
    return "" if is_whole(value or "") else f"{name} holds half a character"


def _is_whole(value: Any, top: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= top


def _pattern_problem(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_PATTERN:
        return f"{name} must be a regular expression of at most {LONGEST_PATTERN} characters"
    if not is_whole(value):
        return f"{name} holds half a character"
    try:
        _matches([""], value)
    except ModuleNotFoundError:
        return f"{name} needs pyarrow, which is not installed here: pip install pyarrow"
    except ValueError as error:
        return f"{name} is not a regular expression of RE2: {error}"
    return ""


def _test(name: str, value: Any) -> Test:
    if name == "to" and value:
        value = parameters.number(value)
    return Test(name.removesuffix("~"), value, pattern=name.endswith("~"))


class Count:
    """Counts the messages that are as expected, page by page, continuing where it stopped."""

    def __init__(self, expectation: Expectation, state: State) -> None:
        self._expectation = expectation
        self._state = state
        self._seen = expectation.after
        self.found = 0
        self.rows: list[Row] = []

    def look(self) -> bool:
        """Look at the next messages; return whether there are more."""
        last = self._state.last
        if last <= self._seen:
            return False
        chosen = inbox.Filter(after=self._seen, before=last + 1, to=self._expectation.number)
        page = inbox.find(self._state, chosen, limit=PAGE)
        failures = self._expectation.failed([facts(row) for row in page])
        fitting = [row for row, failed in zip(page, failures, strict=True) if not failed]
        self.found += len(fitting)
        self.rows += fitting[: SHOWN - len(self.rows)]
        self._seen = page[-1]["n"] if len(page) == PAGE else last
        return self._seen < last


MESSAGES: Final = 200  # the newest messages that are looked at
REQUESTS: Final = 200  # the newest requests that are looked at
TOLD: Final = 5
COMPARED: Final = 200  # characters of a text that tell how near it is


Miss = tuple[int, float, int, str]  # tests that failed, how far off, the newest first, and what is said of it


def summary(expectation: Expectation, count: Count, state: State, journal: Journal) -> str:
    """Return one sentence: what was expected, and what was found among how many messages and requests."""
    found = f"{count.found}" if count.found else "none"
    messages = len(state.rows("SELECT 1 FROM messages WHERE n > ? LIMIT ?", (expectation.after, MESSAGES)))
    lost = sum(map(_is_lost, _newest(journal)))
    among = _counted(messages, MESSAGES, "message")
    others = f"; {_counted(lost, REQUESTS, 'request')} refused or struck" if lost else ""
    return f"Expected {expectation.describe()}; found {found} among {among}{others}."


def _counted(number: int, most: int, one: str) -> str:
    return f"{number}{' or more' if number == most else ''} {one}{'' if number == 1 else 's'}"


def nearest(expectation: Expectation, count: Count, state: State, journal: Journal) -> list[str]:
    """Describe the messages that are as expected and, unless they are too many, what comes near."""
    fitting = [f"{_heading(row['n'], row['at'])} to {row['number']} is as expected" for row in count.rows[:TOLD]]
    if expectation.times is not None and count.found > expectation.times:
        return fitting
    near = sorted([*_messages(expectation, state), *_requests(expectation, journal)])
    return [*fitting, *(words for *_, words in near)][:TOLD]


def _heading(n: int, at: int, thing: str = "message") -> str:
    return f"{thing} {n} at {moment(at)[11:19]}"


def _messages(expectation: Expectation, state: State) -> Iterator[Miss]:
    rows = inbox.find(state, inbox.Filter(after=expectation.after, newest=True), limit=MESSAGES)
    for row, failed in zip(rows, expectation.failed([facts(row) for row in rows]), strict=True):
        if not failed:
            continue
        found = _without_code(facts(row))
        said = "; ".join(test.miss(found[test.field]) for test in failed)
        words = f"{_heading(row['n'], row['at'])} to {found['to']}: {said}"
        yield len(failed), sum(_distance(test, found[test.field]) for test in failed), -row["n"], words


def _without_code(found: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with the passcode masked in the text, because failed tests end up in logs."""
    code = found["code"]
    return found if code is None else found | {"text": found["text"].replace(code, "*" * len(code))}


def _distance(test: Test, found: Any) -> float:
    if test.pattern:
        return 1.0
    return 1.0 - SequenceMatcher(None, str(test.value)[:COMPARED], str(found)[:COMPARED]).quick_ratio()


def _newest(journal: Journal) -> Iterator[Entry]:
    return journal.select(Wanted(newest=True, limit=REQUESTS))


def _is_lost(request: Entry) -> bool:
    return not request.accepted and request.outcome != "answered"


def _requests(expectation: Expectation, journal: Journal) -> Iterator[Miss]:
    """Yield requests that resemble the expectation and were not accepted."""
    about = [test for test in expectation.tests if test.field in ("to", "text", "kind")]
    lost = [request for request in _newest(journal) if _is_lost(request)]
    every = [_asked(request) for request in lost]
    held = [_any_of(test, [asked[test.field] for asked in every]) for test in about]
    for at, (request, asked) in enumerate(zip(lost, every, strict=True)):
        failed = [test for test, holds in zip(about, held, strict=True) if not holds[at]]
        if len(failed) < max(len(about), 1):
            said = [test.miss(next(iter(asked[test.field]), None)) for test in failed]
            words = "; ".join(
                [f"{_heading(request.n, request.at, 'request')} ({request.action}) {_fate(request)}", *said]
            )
            yield len(failed), 0.5, -request.n, words


def _any_of(test: Test, columns: Sequence[Sequence[Any]]) -> list[bool]:
    """Return of each list of values whether one of them is as expected."""
    held = iter(test.holds([value for values in columns for value in values]))
    return [any(list(islice(held, len(values)))) for values in columns]


def _asked(request: Entry) -> dict[str, list[Any]]:
    texts = [request.fields[name] for name in ("text", "content") if isinstance(request.fields.get(name), str)]
    return {"to": list(request.to), "text": texts, "kind": ["passcode" if request.action == "otp.send" else "message"]}


def _fate(request: Entry) -> str:
    if request.outcome == "struck":
        kind = request.fault.split(",")[-1]
        return f"was struck by {kind}: {BY_NAME[kind].meaning}"
    return f"was refused: {request.code} {wire.ERROR_NAMES.get(request.code, ('',))[0]}".rstrip()
