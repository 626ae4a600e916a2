"""The accepted messages, as people, tests and the inbox page read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from sqlite3 import Row
from typing import Any, ClassVar, Final

from .. import parts
from . import parameters
from .service import money
from .state import State, moment

COLUMNS: Final = ("id", "to", "text", "code", "channel", "iso", "parts", "price", "currency", "at")
KINDS: Final = {"passcode": "r.action = 'otp.send'", "message": "r.action <> 'otp.send'"}
PAGE: Final = 100  # messages looked at in one turn; each may have a text of a megabyte
PIECE: Final = 1 << 16  # characters that are sent at once
_SELECT = (
    "SELECT m.*, r.at, r.action, r.text, r.code, r.channel, r.intent, r.signature, r.template_id, r.shape "
    "FROM messages m JOIN requests r ON r.n = m.request"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter(parameters.Section):
    """Which messages are asked for: also by ``kind`` (message or passcode), and by ``shape``, the number of a wording.

    ``text`` is a piece of the text or number; ``detail`` adds what the inbox page shows.

    Example:
        >>> Filter.read({"to": "+12025550123", "wait": "5"}).wait
        5.0
    """

    READERS: ClassVar[parameters.Readers] = {
        "kind": parameters.one_of(*KINDS),
        "shape": parameters.whole,
        "detail": parameters.flag,
    }

    kind: str | None = None
    shape: int | None = None
    detail: bool = False

    def where(self) -> tuple[str, list[Any]]:
        tests: list[tuple[str, list[Any]]] = [("m.n > ?", [self.after])]
        if self.before is not None:
            tests.append(("m.n < ?", [self.before]))
        if self.to is not None:
            tests.append(("m.number = ?", [self.to]))
        if self.kind is not None:
            tests.append((KINDS[self.kind], []))
        if self.shape is not None:
            tests.append(("r.shape = ?", [self.shape]))
        if self.text is not None:
            tests.append(("(instr(lower(r.text), lower(?)) OR instr(m.number, ?))", [self.text, self.text]))
        return " AND ".join(test for test, _ in tests), [value for _, values in tests for value in values]


def find(state: State, chosen: Filter, *, limit: int | None = None) -> list[Row]:
    """Return the rows that a filter chooses, the first ``limit`` of them."""
    where, values = chosen.where()
    order = "DESC" if chosen.newest else "ASC"
    most = -1 if limit is None else limit
    return state.rows(f"{_SELECT} WHERE {where} ORDER BY m.n {order} LIMIT ?", [*values, most])


def entry(row: Row, currency: str, *, detail: bool = False) -> dict[str, Any]:
    """Return one accepted message with the fields of `COLUMNS`; ``code`` is None unless it is a passcode."""
    found = {
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
    return found | _detail(row) if detail else found


def _detail(row: Row) -> dict[str, Any]:
    counted = parts.count(row["text"])
    return {
        "n": row["n"],
        "kind": "passcode" if row["action"] == "otp.send" else "message",
        "shape": row["shape"],
        "intent": row["intent"],
        "signature": row["signature"],
        "templateId": row["template_id"],
        "country": _country_name(row["iso"]),
        "encoding": counted.encoding,
        "units": counted.units,
        "room": counted.room,
        "forcing": list(counted.forcing),
        "pieces": parts.split(row["text"]),
    }


def search(state: State, chosen: Filter) -> Iterator[list[Row]]:
    """Yield the rows that a filter selects, in pieces that may be empty, so that other requests get a turn in between.

    Messages accepted after the start are not included.
    """
    last, left = state.last, chosen.limit
    low, high = chosen.after, last + 1 if chosen.before is None else min(chosen.before, last + 1)
    while low + 1 < high and left != 0:
        start, end = (max(low, high - 1 - PAGE), high) if chosen.newest else (low, min(high, low + 1 + PAGE))
        rows = find(state, replace(chosen, after=start, before=end), limit=left)
        yield rows
        left = None if left is None else left - len(rows)
        low, high = (low, start + 1) if chosen.newest else (end - 1, high)


def pages(state: State, currency: str, chosen: Filter) -> Iterator[bytes]:
    """Yield the JSON object ``{"messages": [...], "last": n}`` in pieces; ``last`` serves as the next ``after``."""
    last, mark = state.last, b"\n"
    yield b'{"messages": ['
    for rows in search(state, replace(chosen, before=last + 1 if chosen.before is None else chosen.before)):
        piece: list[str] = []
        for row in rows:
            piece.append(json.dumps(entry(row, currency, detail=chosen.detail), ensure_ascii=False))
            if sum(map(len, piece)) > PIECE:
                yield mark + ",\n".join(piece).encode()
                piece, mark = [], b",\n"
        yield mark + ",\n".join(piece).encode() if piece else b""
        mark = b",\n" if piece else mark
    yield f'\n], "last": {last}}}\n'.encode()


def summary(state: State, currency: str, *, shapes: int = 50) -> dict[str, Any]:
    """Return how much was accepted: in all, by country (most expensive first), and by wording (latest first)."""
    sums = "count(*) AS messages, sum(m.parts) AS parts, sum(m.price) AS price"
    spend = state.rows(f"SELECT iso, {sums} FROM messages m GROUP BY iso ORDER BY price DESC, iso")
    wordings = state.rows(
        f"SELECT w.*, r.action, r.text FROM (SELECT r.shape, min(r.n) AS first, max(m.n) AS last, {sums} "
        "FROM messages m JOIN requests r ON r.n = m.request GROUP BY r.shape ORDER BY last DESC LIMIT ?) w "
        "JOIN requests r ON r.n = w.first ORDER BY w.last DESC",
        [shapes],
    )
    return {
        "messages": sum(row["messages"] for row in spend),
        "parts": sum(row["parts"] for row in spend),
        "price": money(sum(row["price"] for row in spend)),
        "currency": currency,
        "balance": money(state.balance),
        "countries": [_sums(row) | {"iso": row["iso"], "country": _country_name(row["iso"])} for row in spend],
        "wordings": [
            _sums(row) | {"shape": row["shape"], "action": row["action"], "text": row["text"]} for row in wordings
        ],
    }


def _country_name(iso: str) -> str:
    from .._phones import country_name  # as in tariff: not at the start

    return country_name(iso)


def _sums(row: Row) -> dict[str, Any]:
    return {"messages": row["messages"], "parts": row["parts"], "price": money(row["price"])}
