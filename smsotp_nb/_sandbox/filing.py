"""Accepted requests on their way into the tables: noted one by one, filed many at a time.

With a state file, an answer waits for a single row: the note from which a request is restored after a kill. The tables
with their indices and sums are filled before anybody reads them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from . import wording

_SPEND = (
    "INSERT INTO spend (messages, parts, price, iso) VALUES (?, ?, ?, ?) ON CONFLICT (iso) DO UPDATE SET "
    "messages = messages + excluded.messages, parts = parts + excluded.parts, price = price + excluded.price"
)
_SHAPES = (
    "INSERT INTO shapes (messages, parts, price, n, action, sample, last) VALUES (?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (n) DO UPDATE SET last = excluded.last, messages = messages + excluded.messages, "
    "parts = parts + excluded.parts, price = price + excluded.price"
)
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


class Request(NamedTuple):
    """One accepted request, with the text that all of its recipients read."""

    at: int
    action: str
    text: str
    code: str | None = None
    channel: str | None = None
    intent: str | None = None
    signature: str | None = None
    template_id: str | None = None


class Message(NamedTuple):
    """One accepted message; ``price`` in millionths."""

    id: str
    number: str
    iso: str
    cc: str
    parts: int
    price: int


class NewPasscode(NamedTuple):
    """What is kept of a passcode beside its message; ``ttl`` only for a custom code, ``replaces`` earlier ones."""

    intent: str
    ttl: int | None
    replaces: bool


class Accepted(NamedTuple):
    """One accepted request, its messages, and the number of the last of them."""

    request: Request
    messages: Sequence[Message]
    last: int
    passcode: NewPasscode | None = None

    @property
    def first(self) -> int:
        """The number of the first message."""
        return self.last - len(self.messages) + 1

    @property
    def shape(self) -> int:
        """The number of its wording."""
        return wording.shape_number(self.request.text, self.request.template_id)

    def note(self) -> str:
        """Return the request as JSON, from which `read` restores it after a kill."""
        return _encode(self)

    @classmethod
    def read(cls, note: str) -> Self:
        """Restore a request from what `note` returned."""
        request, messages, last, passcode = json.loads(note)
        kept = None if passcode is None else NewPasscode(*passcode)
        return cls(Request(*request), [Message(*message) for message in messages], last, kept)


def file(db: sqlite3.Connection, several: Sequence[Accepted], first_request: int) -> None:
    """Insert accepted requests into the tables, numbered from ``first_request``; call it inside a transaction."""
    shapes = [accepted.shape for accepted in several]
    db.executemany(
        "INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(n, *one.request, shape) for n, (one, shape) in enumerate(zip(several, shapes, strict=True), first_request)],
    )
    db.executemany(
        "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (n, request, *message)
            for request, one in enumerate(several, first_request)
            for n, message in enumerate(one.messages, one.first)
        ],
    )
    db.executemany(_SPEND, _by_country(several))
    db.executemany(_SHAPES, _by_shape(several, shapes))
    for one in several:
        _file_passcode(db, one)


def _by_country(several: Iterable[Accepted]) -> list[tuple[int | str, ...]]:
    found: dict[str, list[int]] = {}
    for one in several:
        for message in one.messages:
            _add(found.setdefault(message.iso, [0, 0, 0]), message)
    return [(*sums, iso) for iso, sums in found.items()]


def _by_shape(several: Iterable[Accepted], shapes: Iterable[int]) -> list[tuple[int | str, ...]]:
    """Return the sums of each wording, with its number, its first text and its last message."""
    found: dict[int, list[int]] = {}
    first: dict[int, Request] = {}
    last: dict[int, int] = {}
    for one, shape in zip(several, shapes, strict=True):
        sums = found.setdefault(shape, [0, 0, 0])
        for message in one.messages:
            _add(sums, message)
        first.setdefault(shape, one.request)
        last[shape] = one.last
    return [(*found[shape], shape, request.action, request.text, last[shape]) for shape, request in first.items()]


def _add(sums: list[int], message: Message) -> None:
    """Add a message to the number of messages, their parts and their price."""
    sums[0] += 1
    sums[1] += message.parts
    sums[2] += message.price


def _file_passcode(db: sqlite3.Connection, one: Accepted) -> None:
    if one.passcode is None:
        return
    intent, ttl, replaces = one.passcode
    number = one.messages[0].number
    if replaces:
        db.execute("DELETE FROM passcodes WHERE number = ? AND intent = ?", (number, intent))
    db.execute(
        "INSERT INTO passcodes (number, intent, code, made, ttl) VALUES (?, ?, ?, ?, ?)",
        (number, intent, one.request.code, one.request.at, ttl),
    )
