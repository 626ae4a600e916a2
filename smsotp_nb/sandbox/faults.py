"""What can go wrong between a client and a service, on demand: for a share of the requests or for the next few."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, NamedTuple

from .._calling import given as describe_value
from .._calling import nearest
from ..errors import UsageError
from .service import Reply

Moment = Literal["before", "after", "around"]


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One kind of fault: whether it strikes before or after the request is accepted, and what the client gets."""

    name: str
    when: Moment
    meaning: str
    options: tuple[str, ...] = ()


KINDS: Final = (
    FaultKind("latency", "around", "the reply comes late, by seconds plus up to jitter", ("seconds", "jitter")),
    FaultKind("drop_before", "before", "the connection is reset, nothing was accepted"),
    FaultKind(
        "drop_after", "after", "the request is accepted, then, after seconds, the connection is reset without a reply",
        ("seconds",),
    ),
    FaultKind("half", "after", "the reply breaks off in the middle"),
    FaultKind("html", "after", "a page of HTML with status 200"),
    FaultKind("fewer", "after", "the last record is missing"),
    FaultKind("shuffled", "after", "the records come in another order"),
    FaultKind("throttle", "before", "429 with Retry-After: seconds, nothing was accepted", ("seconds",)),
    FaultKind("error_before", "before", "status (default 503), nothing was accepted", ("status",)),
    FaultKind("error_after", "after", "status (default 502) although the request was accepted", ("status",)),
)  # fmt: skip
KIND: Final[Mapping[str, FaultKind]] = {kind.name: kind for kind in KINDS}
OPERATIONS: Final = ("sms.message.send", "otp.send", "otp.verify")
LONGEST_SECONDS: Final = 3600  # an hour is longer than any client waits


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault that is switched on.

    Args:
        kind: a name of `KINDS`.
        action: strike only this operation; all of them where it is empty.
        share: the part of requests it strikes.
        next: strike only so many more requests, then never again; None for no end.
        seconds: for latency and throttle (default 1), and drop_after (default 0).
        jitter, status: for the kinds that use them.

    Raises:
        UsageError: lists everything that is wrong.

    Example:
        >>> Fault(kind="drop_after", next=1).describe()
        'drop_after, next 1'
    """

    kind: str
    action: str = ""
    share: float = 1.0
    next: int | None = None
    seconds: float | None = None
    jitter: float = 0.0
    status: int | None = None

    def __post_init__(self) -> None:
        problems = tuple(_problems(self))
        if problems:
            raise UsageError("This fault cannot be switched on: " + "; ".join(problems), problems=problems)

    @classmethod
    def read(cls, fault: Fault | str | Mapping[str, Any]) -> Fault:
        """Read a fault as people write it: ``"drop_after next=1"``, a mapping, or a Fault.

        Raises:
            UsageError: it is none of these, or has a field that a fault has not.
        """
        if isinstance(fault, Fault):
            return fault
        if isinstance(fault, str):
            options = _parse_words(fault)
        elif isinstance(fault, Mapping):
            options = dict(fault)
        else:
            value = describe_value(fault)
            raise UsageError(f"a fault is written 'drop_after next=1', or as a dict of its fields, got {value}")
        known = [field.name for field in fields(cls)]
        unknown = [name for name in options if name not in known]
        if unknown or "kind" not in options:
            suggestion = nearest(unknown[0], known) if unknown else ""
            raise UsageError(f"a fault has {', '.join(known)}; got {', '.join(map(str, options))}{suggestion}")
        return cls(**options)

    @property
    def delay(self) -> float:
        """Seconds of this fault, by default those of its kind."""
        if self.seconds is not None:
            return self.seconds
        return 0.0 if self.kind == "drop_after" else 1.0

    def describe(self) -> str:
        """Return it in a few words."""
        words = [self.kind]
        if self.action:
            words.append(f"only {self.action}")
        if self.share < 1:
            words.append(f"share {self.share:g}")
        if self.next is not None:
            words.append(f"next {self.next}")
        options = [(name, getattr(self, name)) for name in KIND[self.kind].options]
        words += [f"{name} {value:g}" for name, value in options if value]
        return ", ".join(words)


def _parse_words(text: str) -> dict[str, Any]:
    kind, *settings = text.split() or [""]
    options: dict[str, Any] = {"kind": kind}
    for setting in settings:
        name, _, value = setting.partition("=")
        try:
            options[name] = json.loads(value)
        except (ValueError, RecursionError):
            options[name] = value
    return options


def _problems(fault: Fault) -> Iterator[str]:
    if not isinstance(fault.kind, str) or fault.kind not in KIND:
        suggestion = nearest(fault.kind, KIND) if isinstance(fault.kind, str) else ""
        yield f"kind must be one of {', '.join(KIND)}, got {describe_value(fault.kind)}{suggestion}"
    if fault.action not in ("", *OPERATIONS):
        yield f"action must be one of {', '.join(OPERATIONS)}, got {describe_value(fault.action)}"
    if not _is_number(fault.share) or not 0 < fault.share <= 1:
        yield f"share must be more than 0 and at most 1, got {describe_value(fault.share)}"
    if fault.next is not None and (not _is_integer(fault.next) or fault.next < 1):
        yield f"next must be a whole number of at least 1, got {describe_value(fault.next)}"
    for name, value in (("seconds", fault.seconds), ("jitter", fault.jitter)):
        if value is not None and (not _is_number(value) or not 0 <= value <= LONGEST_SECONDS):
            yield f"{name} must be from 0 to {LONGEST_SECONDS}, got {describe_value(value)}"
    if fault.status is not None and (not _is_integer(fault.status) or not 300 <= fault.status <= 599):
        yield f"status must be from 300 to 599, got {describe_value(fault.status)}"


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


class FaultSwitches:
    """The faults that are switched on now; one of each kind and operation."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._on: dict[tuple[str, str], Fault] = {}
        for fault in faults:
            self.switch_on(fault)

    def __iter__(self) -> Iterator[Fault]:
        return iter(tuple(self._on.values()))

    def __bool__(self) -> bool:
        return bool(self._on)

    def switch_on(self, fault: Fault) -> None:
        """Switch one on; it takes the place of one of the same kind and operation."""
        self._on[fault.kind, fault.action] = fault

    def switch_off(self, kind: str | None = None) -> None:
        """Switch off the faults of a kind, or all of them."""
        self._on = {key: fault for key, fault in self._on.items() if kind not in (None, fault.kind)}

    def strike(self, action: str, chance: float) -> list[Fault]:
        """Return the faults that strike this request: latency, and at most one other.

        ``chance`` is a number from 0 to 1, the same for the same request of a seeded run.
        """
        due = [fault for fault in self._on.values() if fault.action in ("", action) and chance < fault.share]
        late = [fault for fault in due if fault.kind == "latency"][:1]
        broken = [fault for fault in due if fault.kind != "latency"][:1]
        for fault in late + broken:
            self._count_down(fault)
        return late + broken

    def _count_down(self, fault: Fault) -> None:
        if fault.next is None:
            return
        if fault.next > 1:
            self._on[fault.kind, fault.action] = replace(fault, next=fault.next - 1)
        else:
            del self._on[fault.kind, fault.action]


# -- what the client gets

JSON: Final = "application/json"
SIGN_IN_PAGE: Final = b"<!doctype html><title>Welcome</title><p>Please sign in to the network.</p>"
_encode: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


class Outcome(NamedTuple):
    """What the client gets: a reply, or the end of the connection.

    Attributes:
        status: 0 if nothing is answered.
        body: the bytes that are sent; with ``is_cut`` only the first half of them.
        retry_after: seconds that the header Retry-After asks for, or None.
        delay: seconds before any of this happens.
    """

    status: int = 0
    body: bytes = b""
    content_type: str = JSON
    retry_after: float | None = None
    is_cut: bool = False
    delay: float = 0.0


def as_json_bytes(value: Any) -> bytes:
    return _encode(value).encode()


def outcome_before(fault: Fault) -> Outcome:
    """Return what the client gets when the service never sees its request."""
    if fault.kind == "throttle":
        return Outcome(429, b"Too Many Requests", "text/plain", retry_after=fault.delay)
    if fault.kind == "error_before":
        return Outcome(fault.status or 503, b"Service Unavailable", "text/plain")
    return Outcome()  # drop_before


def outcome_after(fault: Fault, reply: Reply) -> Outcome:
    """Return what the client gets in place of the service's reply."""
    if fault.kind == "drop_after":
        return Outcome(delay=fault.delay)
    if fault.kind == "error_after":
        return Outcome(fault.status or 502, b"Bad Gateway", "text/plain")
    if fault.kind == "html":
        return Outcome(200, SIGN_IN_PAGE, "text/html")
    if fault.kind == "half":
        return Outcome(200, as_json_bytes(reply.envelope), is_cut=True)
    return Outcome(reply.status, as_json_bytes(_without_order(fault.kind, reply.envelope)))


def _without_order(kind: str, envelope: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an envelope with its last record missing (fewer), or its records in another order (shuffled)."""
    data = envelope.get("data")
    if data is None:
        return envelope
    if "messages" not in data:  # a passcode has one record
        return {**envelope, "data": {}} if kind == "fewer" else envelope
    records = data["messages"]
    changed = records[:-1] if kind == "fewer" else records[1:] + records[:1]
    return {**envelope, "data": {**data, "messages": changed}}
