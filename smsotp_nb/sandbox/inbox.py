"""What was accepted, as people and tests read it: the messages of ``/inbox.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from sqlite3 import Row
from typing import Any

from .service import money
from .state import State

COLUMNS = ("id", "to", "text", "code", "channel", "iso", "parts", "price", "currency", "at")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(micros: int) -> str:
    """Return microseconds since 1970 as ISO 8601 in UTC.

    Example:
        >>> moment(0)
        '1970-01-01T00:00:00.000000Z'
    """
    return (_EPOCH + timedelta(microseconds=micros)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def entry(row: Row, currency: str) -> dict[str, Any]:
    """Return one accepted message with the fields of `COLUMNS`; ``code`` is None unless it is a passcode."""
    return {
        "id": row["id"],
        "to": row["number"],
        "text": row["text"],
        "code": row["code"],
        "channel": row["channel"],
        "iso": row["iso"],
        "parts": row["parts"],
        "price": money(row["price"]),
        "currency": currency,
        "at": moment(row["at"]),
    }


def pages(state: State, currency: str, *, to: str | None = None) -> Iterator[bytes]:
    """Yield the JSON object ``{"messages": [...]}`` in pieces, oldest message first."""
    yield b'{"messages": ['
    after, mark = 0, b"\n"
    while rows := state.page(after=after, to=to):
        after = rows[-1]["n"]
        yield mark + b",\n".join(json.dumps(entry(row, currency), ensure_ascii=False).encode() for row in rows)
        mark = b",\n"
    yield b"\n]}\n"
