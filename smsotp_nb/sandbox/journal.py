"""The latest requests to the three operations as they were received, with their replies, refused and struck ones too.

They are in memory and end with the sandbox; older ones are dropped.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

from .state import iso_moment

MAX_ENTRIES: Final = 5_000
MAX_BYTES: Final = 16 << 20  # of all entries together, so that large requests do not fill the memory
LONGEST: Final = 64 << 10  # bytes kept of one body, and of one reply
ENTRY_BYTES: Final = 1_024  # that an entry takes beside body and reply, headers included

# What hides a secret: the access key, a signature, a token or a cookie, each by its name.
_SECRET_PAIR: Final = re.compile(r"(?i)([?&][^=&]*(?:key|secret|token|passw|signature)[^=&]*=)[^&]*")
_SECRET_HEADER: Final = re.compile(r"(?i)key|secret|token|passw|signature|authorization|cookie")


class Entry(NamedTuple):
    """One request; ``at`` is in microseconds of the sandbox's clock, ``status`` is 0 if nothing was answered."""

    n: int
    at: int
    method: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    size: int
    fault: str
    status: int
    code: str
    reply: bytes
    reply_size: int
    accepted: int
    request_id: str

    def __repr__(self) -> str:
        return f"Entry({self.n})"  # without its secrets

    @property
    def weight(self) -> int:
        return ENTRY_BYTES + len(self.body) + len(self.reply)

    @property
    def outcome(self) -> str:
        """accepted (messages), answered (a passcode was checked), refused, or struck by a fault."""
        if self.fault not in ("", "latency"):
            return "struck"
        if self.code != "0":
            return "refused"
        return "accepted" if self.accepted else "answered"

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it, its secrets masked."""
        return {
            "n": self.n,
            "at": iso_moment(self.at),
            "action": dict(parse_qsl(self.target.partition("?")[2])).get("action", ""),
            "to": _recipients(self.body),
            "outcome": self.outcome,
            "status": self.status or None,
            "code": self.code or None,
            "fault": self.fault or None,
            "accepted": self.accepted,
            "request_id": self.request_id,
            "method": self.method,
            "path": _SECRET_PAIR.sub(r"\1***", self.target),
            "headers": [[name, "***" if _SECRET_HEADER.search(name) else value] for name, value in self.headers],
            "body": self.body.decode(errors="replace"),
            "size": self.size,
            "reply": self.reply.decode(errors="replace"),
            "reply_size": self.reply_size,
        }


def _recipients(body: bytes) -> list[str]:
    """Return the numbers that a body names."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return []
    to = fields.get("to") if isinstance(fields, Mapping) else None
    numbers = to if isinstance(to, list) else [to]
    # A body may spell half a character, which no text that is kept can hold.
    return [number.encode(errors="replace").decode() for number in numbers if isinstance(number, str)]


class Journal:
    """The latest requests of one account."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque()
        self._bytes = 0
        self.last = 0  # number of the last request

    def add(self, entry: Entry) -> None:
        self.last = entry.n
        self._entries.append(entry)
        self._bytes += entry.weight
        while len(self._entries) > MAX_ENTRIES or self._bytes > MAX_BYTES:
            self._bytes -= self._entries.popleft().weight

    def after(self, n: int, limit: int | None = None) -> list[Entry]:
        """Return the requests after a number, oldest first: all of them, or the latest ``limit``."""
        entries = [entry for entry in self._entries if entry.n > n]
        return entries if limit is None else entries[max(0, len(entries) - limit) :]

    def clear(self) -> None:
        """Forget every request; numbers are not used again."""
        self._entries.clear()
        self._bytes = 0
