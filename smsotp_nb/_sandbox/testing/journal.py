"""Every request to the three operations as it was received, and what was answered: refused and struck ones too.

The last `MOST` requests, or `MOST_BYTES` of them if that is fewer, are in memory; older ones are dropped, and all of
them when the sandbox ends.
"""

from __future__ import annotations

import base64
import codecs
import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar, Final, NamedTuple
from urllib.parse import parse_qsl, unquote_plus

from .. import parameters
from ..state import moment

MOST: Final = 5_000
MOST_BYTES: Final = 16 << 20
LONGEST: Final = 64 << 10  # bytes kept of one body, and of one reply
WEIGHT: Final = 512  # bytes that an entry takes beside what it holds
OUTCOMES: Final = ("accepted", "answered", "refused", "struck")
_UTF8: Final = codecs.getincrementaldecoder("utf-8")

Headers = tuple[tuple[bytes, bytes], ...]

_HALF: Final = re.compile("[\ud800-\udfff]")  # of a character

# What hides a secret: access key, signature, token, cookie, each by its name.
MASK: Final = "***"
_WORDS: Final = ("key", "secret", "token", "passw", "authorization", "cookie")  # one stands in every secret name
_SECRET_NAME: Final = re.compile(r"access[-_]?key|secret|token|passw|api[-_]?key|authorization|cookie", re.I)
# In a query `signature` is the one of the request; in a body it is the sender's name and stays.
_SECRET_QUERY: Final = re.compile(rf"{_SECRET_NAME.pattern}|^signature$|^key$", re.I)
_SECRET_HEADER: Final = re.compile(rf"{_SECRET_NAME.pattern}|signature", re.I)
_SECRET_FIELD: Final = re.compile(
    rf'("[^"\\]{{0,40}}?(?:{_SECRET_NAME.pattern})[^"\\]{{0,40}}"[ \t\r\n]{{0,20}}:[ \t\r\n]{{0,20}})'
    r'(?:"(?:[^"\\]|\\.)*+"?|[^\s,}\]"]++)',
    re.I | re.S,
)


def masked_target(path: str) -> str:
    """Return the target of a request, its path and query, without its secrets."""
    before, mark, query = path.partition("?")
    return before + mark + "&".join(_pair(piece) for piece in query.split("&"))


def _pair(piece: str) -> str:
    name, mark, _value = piece.partition("=")
    return f"{name}={MASK}" if mark and _SECRET_QUERY.search(unquote_plus(name)) else piece


def masked_headers(headers: Headers) -> list[list[str]]:
    """Return headers, a name and a value each, masked where the name says that it is a secret."""
    read = [(name.decode("latin-1"), value.decode("utf-8", "replace")) for name, value in headers]
    return [[name, MASK if _SECRET_HEADER.search(name) else value] for name, value in read]


def masked_text(body: str) -> str:
    """Return a body of JSON, whole or cut off, without the fields whose names say that they are secrets."""
    lowered = body.lower()
    if any(word in lowered for word in _WORDS):  # most bodies have none, and this is the quicker question
        body = _SECRET_FIELD.sub(rf'\1"{MASK}"', body)
    return body


class Entry(NamedTuple):
    """One request, including its secrets; only what `brief`, `whole`, ``fields``, ``to`` and ``text`` say leaves it.

    ``at`` is in microseconds of the sandbox's clock. ``size`` and ``reply_size`` count all bytes received and answered;
    ``body`` and ``reply`` hold the first of them. ``status`` is 0 if nothing was answered.
    """

    n: int
    at: int
    method: str
    path: str
    headers: Headers
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
        return f"Entry({self.n})"

    def weight(self) -> int:
        return WEIGHT + len(self.path) + _weight(self.headers) + len(self.body) + len(self.reply)

    @property
    def action(self) -> str:
        return dict(parse_qsl(self.path.partition("?")[2])).get("action", "")

    @property
    def outcome(self) -> str:
        """accepted (messages), answered (a passcode was checked), refused, or struck by a fault."""
        if self.fault not in ("", "latency"):
            return "struck"
        if self.code != "0":
            return "refused"
        return "accepted" if self.accepted else "answered"

    @property
    def fields(self) -> Mapping[str, Any]:
        """The object of the body, empty where it is none."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def to(self) -> list[str]:
        """The numbers that the body names."""
        named = self.fields.get("to")
        return [one for one in (named if isinstance(named, list) else [named]) if isinstance(one, str)]

    def brief(self) -> dict[str, Any]:
        """Return it without headers, body and reply."""
        return {
            "n": self.n,
            "at": moment(self.at),
            "action": self.action,
            "to": self.to,
            "outcome": self.outcome,
            "status": self.status or None,
            "code": self.code or None,
            "fault": self.fault or None,
            "accepted": self.accepted,
            "request_id": self.request_id,
        }

    def whole(self) -> dict[str, Any]:
        """Return all of it; a body or reply that is not text is in base64."""
        body, encoding = self.text
        reply, reply_encoding = _text(self.reply)
        return self.brief() | {
            "method": self.method,
            "path": masked_target(self.path),
            "headers": masked_headers(self.headers),
            "body": body,
            "encoding": encoding,
            "size": self.size,
            "reply": reply,
            "reply_encoding": reply_encoding,
            "reply_size": self.reply_size,
        }

    @property
    def text(self) -> tuple[str, str]:
        """The body as it may be shown, and its encoding."""
        return _text(self.body)


def _text(raw: bytes) -> tuple[str, str]:
    cut_off = len(raw) == LONGEST  # perhaps in the middle of a character
    try:
        return masked_text(_UTF8().decode(raw, not cut_off)), "utf-8"
    except UnicodeDecodeError:
        return base64.b64encode(raw).decode(), "base64"


@lru_cache(maxsize=256)
def _weight(headers: Headers) -> int:
    return sum(len(name) + len(value) for name, value in headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted(parameters.Section):
    """Which requests are asked for: also by ``action``, an operation, and by ``outcome``, one of `OUTCOMES`.

    ``to`` is a number that the body names, ``text`` a piece of the body; ``brief`` leaves headers, body and reply out.

    Example:
        >>> Wanted.read({"outcome": "refused"}).outcome
        'refused'
    """

    READERS: ClassVar[parameters.Readers] = {
        "action": str,
        "outcome": parameters.one_of(*OUTCOMES),
        "brief": parameters.flag,
    }

    action: str | None = None
    outcome: str | None = None
    brief: bool = False

    def fits(self, entry: Entry) -> bool:
        return (
            self.after < entry.n
            and (self.before is None or entry.n < self.before)
            and (self.action is None or entry.action == self.action)
            and (self.outcome is None or entry.outcome == self.outcome)
            and (self.to is None or self.to in entry.to)
            and (self.text is None or self.text.lower() in entry.text[0].lower())
        )


class Journal:
    """The last requests of one account."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._entries: deque[Entry] = deque()
        self._bytes = 0
        self.last = 0

    def __len__(self) -> int:
        return len(self._entries)

    def add(
        self,
        *,
        method: str,
        path: str,
        headers: Headers,
        body: bytes,
        fault: str = "",
        status: int = 0,
        code: str = "",
        reply: bytes = b"",
        accepted: int = 0,
        request_id: str = "",
    ) -> None:
        """Record one request; a body longer than `LONGEST` is cut off, and so is a reply."""
        self.last += 1
        entry = Entry(
            self.last, self._now(), method, path, headers, body[:LONGEST], len(body), fault,
            status, code, reply[:LONGEST], len(reply), accepted, request_id,
        )  # fmt: skip
        self._entries.append(entry)
        self._bytes += entry.weight()
        while len(self._entries) > MOST or self._bytes > MOST_BYTES:
            self._bytes -= self._entries.popleft().weight()

    def select(self, wanted: Wanted) -> Iterator[Entry]:
        known = max(0, len(self._entries) - (self.last - wanted.after))  # how many are not after it
        later = islice(self._entries, known, None)
        entries = [entry for entry in later if wanted.before is None or entry.n < wanted.before]
        ordered = reversed(entries) if wanted.newest else entries
        return islice((entry for entry in ordered if wanted.fits(entry)), wanted.limit)

    def clear(self) -> None:
        """Forget every request; numbers are not used again."""
        self._entries.clear()
        self._bytes = 0


def pages(journal: Journal, wanted: Wanted) -> Iterator[bytes]:
    """Yield the JSON object ``{"requests": [...], "last": n}`` in pieces; ``last`` serves as the next ``after``."""
    last, mark = journal.last, b"\n"
    yield b'{"requests": ['
    for entry in journal.select(replace(wanted, before=min(wanted.before or last + 1, last + 1))):
        yield mark + _as_json(entry.brief() if wanted.brief else entry.whole())
        mark = b",\n"
    yield f'\n], "last": {last}}}\n'.encode()


def _as_json(told: Mapping[str, Any]) -> bytes:
    """Return JSON; half a character, which a request may hold and no text that is kept, is written as its number."""
    written = json.dumps(told, ensure_ascii=False)
    try:
        return written.encode()
    except UnicodeEncodeError:
        return _HALF.sub(lambda found: f"\\\\u{ord(found[0]):04x}", written).encode()
