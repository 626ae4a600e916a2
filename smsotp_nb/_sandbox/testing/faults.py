"""What can go wrong between a client and a service, on demand: for a share of the requests or for the next few."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, NamedTuple

from ..._calling import given as shown
from ..._calling import nearest
from ...errors import UsageError
from ..service import Answer

When = Literal["before", "after", "around"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fault: whether it strikes before or after the request is accepted, and what the client gets."""

    name: str
    when: When
    meaning: str
    uses: tuple[str, ...] = ()


KINDS: Final = (
    Kind("latency", "around", "the reply comes late, by seconds plus up to jitter", ("seconds", "jitter")),
    Kind(
        "refuse",
        "before",
        "connections are refused for that many seconds, including this page and its data",
        ("seconds",),
    ),
    Kind("drop_before", "before", "the connection is reset, nothing was accepted"),
    Kind("drop_after", "after", "the request is accepted, then the connection is reset without a reply"),
    Kind("stall", "after", "the request is accepted, then nothing comes for that many seconds", ("seconds",)),
    Kind("half", "after", "the reply breaks off in the middle"),
    Kind("html", "after", "a page of HTML with status 200"),
    Kind("bad_json", "after", "a reply that is not JSON, with status 200"),
    Kind("no_data", "after", "an envelope of success without data"),
    Kind("fewer", "after", "the last record is missing"),
    Kind("shuffled", "after", "the records come in another order"),
    Kind("foreign", "after", "the last record names another number"),
    Kind("throttle", "before", "429 with Retry-After: seconds, nothing was accepted", ("seconds",)),
    Kind("error_before", "before", "status (default 503), nothing was accepted", ("status",)),
    Kind("error_after", "after", "status (default 502) although the request was accepted", ("status",)),
)
BY_NAME: Final[Mapping[str, Kind]] = {kind.name: kind for kind in KINDS}
OPERATIONS: Final = ("sms.message.send", "otp.send", "otp.verify")
FOREIGN: Final = "+19075550199"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault that is switched on.

    Args:
        kind: a name of `KINDS`.
        action: strike only this operation; all of them where it is empty.
        share: the part of requests it strikes.
        next: strike only so many more requests, then never again; None for no end.
        seconds, jitter, status: for the kinds that use them.

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
    seconds: float = 1.0
    jitter: float = 0.0
    status: int | None = None

    def __post_init__(self) -> None:
        wrong = _check(self)
        if wrong:
            raise UsageError("This fault cannot be switched on: " + "; ".join(wrong), problems=tuple(wrong))

    @classmethod
    def read(cls, given: Fault | str | Mapping[str, Any]) -> Fault:
        """Read a fault as people write it: ``"drop_after next=1"``, a mapping, or a Fault."""
        if isinstance(given, Fault):
            return given
        if not isinstance(given, str | Mapping):
            raise UsageError(f"a fault is written 'drop_after next=1', or as a dict of its fields, got {shown(given)}")
        asked = _words(given) if isinstance(given, str) else dict(given)
        known = [field.name for field in fields(cls)]
        unknown = [name for name in asked if name not in known]
        if unknown or "kind" not in asked:
            close = nearest(unknown[0], known) if unknown else ""
            raise UsageError(f"a fault has {', '.join(known)}; got {', '.join(map(str, asked))}{close}")
        return cls(**asked)

    def describe(self) -> str:
        """Return it in a few words."""
        said = [self.kind]
        said += [f"only {self.action}"] if self.action else []
        said += [f"share {self.share:g}"] if self.share < 1 else []
        said += [f"next {self.next}"] if self.next is not None else []
        said += [f"{name} {getattr(self, name):g}" for name in BY_NAME[self.kind].uses if getattr(self, name)]
        return ", ".join(said)


class Faults:
    """The faults that are switched on now; one of each kind and operation."""

    def __init__(self, switched_on: Iterable[Fault] = ()) -> None:
        self._on: dict[tuple[str, str], Fault] = {}
        for fault in switched_on:
            self.switch_on(fault)

    def __iter__(self) -> Iterator[Fault]:
        return iter(tuple(self._on.values()))

    def __bool__(self) -> bool:
        return bool(self._on)

    def switch_on(self, fault: Fault) -> None:
        """Switch one on; it takes the place of one of the same kind and operation."""
        if fault.kind == "refuse":
            raise UsageError("refuse begins at once: switch it on while the sandbox runs")
        self._on[fault.kind, fault.action] = fault

    def switch_off(self, kind: str | None = None) -> None:
        self._on = {key: fault for key, fault in self._on.items() if kind is not None and fault.kind != kind}

    def strike(self, action: str, chance: float) -> list[Fault]:
        """Return the faults that hit this request: latency, if any, and at most one other.

        ``chance`` is between 0 and 1, the same for the same request of a seeded run.
        """
        meant = [fault for fault in self._on.values() if fault.action in ("", action) and chance < fault.share]
        late = [fault for fault in meant if fault.kind == "latency"][:1]
        broken = [fault for fault in meant if fault.kind != "latency"][:1]
        for fault in late + broken:
            self._count(fault)
        return late + broken

    def _count(self, fault: Fault) -> None:
        if fault.next is None:
            return
        if fault.next == 1:
            del self._on[fault.kind, fault.action]
        else:
            self._on[fault.kind, fault.action] = replace(fault, next=fault.next - 1)


def spoil(kind: str, envelope: Mapping[str, Any]) -> bytes:
    """Return the bytes of a reply with status 200 that this kind of fault has spoiled."""
    if kind == "html":
        return b"<!doctype html><title>Welcome</title><p>Please sign in to the network.</p>"
    whole = json.dumps(envelope, ensure_ascii=False).encode()
    if kind == "bad_json":
        return b"{" + whole
    if kind == "no_data":
        return json.dumps({name: value for name, value in envelope.items() if name != "data"}).encode()
    data = envelope.get("data")
    return whole if data is None else json.dumps({**envelope, "data": _other_records(kind, data)}).encode()


def _other_records(kind: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
    if "messages" not in data:  # a passcode has one record, and nothing to shuffle
        return {} if kind == "fewer" else {**data, "to": FOREIGN} if kind == "foreign" else data
    records = list(data["messages"])
    if kind == "fewer":
        return {**data, "messages": records[:-1]}
    if kind == "shuffled":
        return {**data, "messages": records[1:] + records[:1]}
    return {**data, "messages": [*records[:-1], {**records[-1], "to": FOREIGN}]}


def _words(text: str) -> dict[str, Any]:
    kind, *settings = text.split() or [""]
    found: dict[str, Any] = {"kind": kind}
    for setting in settings:
        name, _, value = setting.partition("=")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
    return found


def _check(fault: Fault) -> list[str]:
    wrong = []
    if not isinstance(fault.kind, str) or fault.kind not in BY_NAME:
        close = nearest(fault.kind, BY_NAME) if isinstance(fault.kind, str) else ""
        wrong.append(f"kind must be one of {', '.join(BY_NAME)}, got {shown(fault.kind)}{close}")
    if fault.action not in ("", *OPERATIONS):
        wrong.append(f"action must be one of {', '.join(OPERATIONS)}, got {shown(fault.action)}")
    if not (_is_number(fault.share) and 0 < fault.share <= 1):
        wrong.append(f"share must be more than 0 and at most 1, got {shown(fault.share)}")
    if fault.next is not None and not (_is_whole(fault.next) and fault.next >= 1):
        wrong.append(f"next must be a whole number of at least 1, got {shown(fault.next)}")
    for name in ("seconds", "jitter"):
        value = getattr(fault, name)
        if not (_is_number(value) and 0 <= value <= 3600):
            wrong.append(f"{name} must be from 0 to 3600, got {shown(value)}")
    if fault.status is not None and not (_is_whole(fault.status) and 300 <= fault.status <= 599):
        wrong.append(f"status must be from 300 to 599, got {shown(fault.status)}")
    return wrong


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


Transfer = Literal["whole", "half", "closed", "reset"]
JSON: Final = "application/json"
# json.dumps would make an encoder each time.
_encode: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


class Outcome(NamedTuple):
    """A reply, or the end of a connection.

    ``body`` is what is sent, ``length`` what is announced: more than the body if the reply breaks off. ``status`` is 0
    if nothing is answered; ``seconds`` is the time before this happens.
    """

    status: int = 0
    body: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = {}
    transfer: Transfer = "whole"
    length: int = 0
    seconds: float = 0.0


def as_bytes(value: Any) -> bytes:
    return _encode(value).encode()


def of_answer(answer: Answer) -> Outcome:
    return Outcome(answer.status, as_bytes(answer.envelope))


def strikes_before(fault: Fault) -> bool:
    """Return whether a fault strikes before the service sees the request."""
    return BY_NAME[fault.kind].when == "before"


def of_fault_before(fault: Fault) -> Outcome:
    """Return what the client gets when the service never sees its request."""
    if fault.kind == "throttle":
        return Outcome(429, b"Too Many Requests", "text/plain", {"Retry-After": f"{fault.seconds:g}"})
    if fault.kind == "error_before":
        return Outcome(fault.status or 503, b"Service Unavailable", "text/plain")
    return Outcome(transfer="reset")


def of_fault_after(fault: Fault, answer: Answer) -> Outcome:
    """Return what the client gets in place of the service's answer."""
    if fault.kind == "drop_after":
        return Outcome(transfer="reset")
    if fault.kind == "stall":
        return Outcome(transfer="closed", seconds=fault.seconds)
    if fault.kind == "error_after":
        return Outcome(fault.status or 502, b"Bad Gateway", "text/plain")
    whole = as_bytes(answer.envelope)
    if fault.kind == "half":
        return Outcome(200, whole[: len(whole) // 2], transfer="half", length=len(whole))
    status = 200 if fault.kind in ("html", "bad_json") else answer.status
    return Outcome(status, spoil(fault.kind, answer.envelope), "text/html" if fault.kind == "html" else JSON)
