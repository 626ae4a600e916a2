"""Texts that name a person who asked to be forgotten, although they are not about that person alone.

A reason, a source, a proof, the line of an invoice, a kept column of somebody else, the words of a campaign and the
segment that gets them, an id or an error of the service: what people or their systems wrote. A number in them is known
by its digits, plain or full-width and however they are set apart, with a calling code or as it is dialled at home.
Digits that touch others belong to another number.

The database finds the few texts that have a few numbers' last digits in this order, whatever stands between them; what
they say is read here.
"""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ..rows.persons import keyed, secret_of
from ..rows.statements import Statements
from ..rows.tables import PEOPLE, Column, How

INSTEAD: Final = "(forgotten)"
_LEAST: Final = 7  # digits; fewer are no number
_MOST_SAID: Final = 24  # digits that may be one number, with zeros before it
_FEW: Final = 20  # people for whom the database looks; for more of them every text is read once
_CALLING_CODE: Final = 3  # digits of the longest
_NO_NUMBER: Final = 10**15  # has more digits than any
_BEGUN: Final = 8  # digits after a plus or 00 that are still the beginning of a number
_BETWEEN: Final = re.compile(r"[\W_]+")
_RUN: Final = re.compile(r"\d(?:[\W_]{0,3}\d)*")
_GROUP: Final = re.compile(r"\d+")
_DIGITS: Final = re.compile(rf"[0-9]{{{_LEAST},}}")
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{32}")  # an id as a server keeps it; its digits are no number
_WIDE: Final = str.maketrans("0123456789", "０１２３４５６７８９")
_NARROW: Final = str.maketrans("０１２３４５６７８９", "0123456789")


_PLACES: Final = tuple(one for one in PEOPLE if one.how in (How.TEXT, How.JSON))
_NAMES: Final = tuple(one for one in PEOPLE if one.how is How.NAME)

_SAID_ALREADY: Final = (
    "DELETE FROM consent WHERE id=? AND EXISTS (SELECT 1 FROM consent o WHERE o.person=consent.person AND "
    "o.at=consent.at AND o.opted_out=consent.opted_out AND o.source=? AND o.id<>consent.id)"
)


def forget(connection: Statements, numbers: Iterable[int]) -> list[int]:
    """Take numbers out of the texts of the ledger, and of what rows of others keep; inside a transaction.

    Returns:
        The campaigns whose rows changed.
    """
    people, secret = _by_ending(numbers), secret_of(connection)
    changed: set[int] = set()
    for place in _PLACES:
        clean = _in_json if place.how is How.JSON else without
        found = [(clean(text, names), text, key) for text, names, key in _quoting(connection, place, people)]
        new = [(new, *key) for new, text, key in found if new != text]
        _write(connection, place, new)
        if place.table == "wording":
            _key_anew(connection, [number for _, number in new], secret)
        changed |= {campaign for _, campaign, *_ in new} if place.table in ("recipient", "campaign") else set()
    return sorted(changed)


def quoted(connection: Statements, numbers: Iterable[int]) -> list[dict[str, str]]:
    """Return where texts of the ledger quote one of these numbers, and how it is written there."""
    people = _by_ending(numbers)
    return [
        {"where": place.called, "quoted": leaf[begin:end]}
        for place in (*_PLACES, *_NAMES)
        for text, names, _ in _quoting(connection, place, people)
        for leaf in map(str, _leaves(place, text, names))
        for begin, end in _spans(leaf, names)
    ]


def without(text: str, names: Sequence[str]) -> str:
    """Return a text without these numbers, which are E.164 without the plus.

    Example:
        >>> without("of +49 151 2345-6789 and 0151 23456789, not of 49151234567890", ["4915123456789"])
        'of (forgotten) and (forgotten), not of 49151234567890'
    """
    pieces, done = [], 0
    for begin, end in _spans(text, names):
        pieces += [text[done:begin], INSTEAD]
        done = end
    return "".join([*pieces, text[done:]])


def _by_ending(numbers: Iterable[int]) -> dict[str, list[str]]:
    """Return numbers as text, by their last digits."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(map(str, numbers)):
        found.setdefault(name[-_LEAST:], []).append(name)
    return found


def _quoting(
    connection: Statements, place: Column, people: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, list[str], tuple[Any, ...]]]:
    """Yield the texts that may quote a number, each with the numbers that it may quote and the key of its row."""
    like = [f"%{'%'.join(digits)}%" for ending in people for digits in (ending, ending.translate(_WIDE))]
    where = " OR ".join([f"{place.column} LIKE ?"] * len(like))
    if isinstance(connection, sqlite3.Connection):  # where a text ends for LIKE at a NUL, which no server can hold
        where += f" OR instr({place.column}, char(0))"
    if len(people) > _FEW:
        like, where = [], f"{place.column} IS NOT NULL"
    rows = connection.execute(f"SELECT {place.column}, {', '.join(place.key)} FROM {place.table} WHERE {where}", like)
    for text, *key in rows:
        if isinstance(text, str) and not _HEXADECIMAL.fullmatch(text) and (names := _near(place, text, people)):
            yield text, names, tuple(key)


def _near(place: Column, text: str, people: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the numbers that a text may quote: of many rows, few need a closer look."""
    near: dict[str, None] = {}
    for leaf in map(str, _leaves(place, text)):
        for digits in _DIGITS.findall(_BETWEEN.sub("", leaf).translate(_NARROW)):
            ends = (digits[at : at + _LEAST] for at in range(len(digits) - _LEAST + 1))
            near |= dict.fromkeys(name for end in ends for name in people.get(end, ()))
    return [*near]


def _leaves(place: Column, text: str, names: Sequence[str] | None = None) -> list[str | int]:
    """Return what is written in a text: itself, or the values and names in JSON, where signs are written otherwise.

    With the names of people no value is among them that is a number, but none of theirs.
    """
    leaves = _said(json.loads(text)) if place.how is How.JSON else [text]
    return [leaf for leaf in leaves if names is None or isinstance(leaf, str) or _is_number(leaf, names)]


def _said(value: Any) -> Iterator[str | int]:
    if isinstance(value, dict):
        yield from value
        value = [*value.values()]
    if isinstance(value, list):
        for one in value:
            yield from _said(one)
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _NO_NUMBER:
        yield int(value)
    elif isinstance(value, str):
        yield value


def _write(connection: Statements, place: Column, texts: Sequence[tuple[Any, ...]]) -> None:
    here = " AND ".join(f"{name}=?" for name in place.key)
    sql = f"UPDATE {place.table} SET {place.column}=? WHERE {here}"
    if place.column != "source":
        connection.executemany(sql, texts)
        return
    for text, number in texts:  # what somebody said at a time stands once for each source
        connection.execute(_SAID_ALREADY, (number, text))
        connection.execute(sql, (text, number))


def _key_anew(connection: Statements, wordings: Sequence[int], secret: bytes) -> None:
    """Key the hashes of wordings that lost a number: whoever knows the rest of the words could try numbers."""
    for wording in wordings:
        (key,) = connection.execute("SELECT key FROM wording WHERE id=?", (wording,)).fetchone()
        new = int(keyed(np.array([key], np.int64), secret)[0])
        connection.execute("UPDATE wording SET key=? WHERE id=?", (new, wording))


class _Group(NamedTuple):
    """Digits without a break: where they stand, and what they say."""

    begin: int
    end: int
    digits: str


def _spans(text: str, names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where these numbers stand in a text, in its order."""
    for run in _RUN.finditer(text):
        groups = [_group(one, run.start()) for one in _GROUP.finditer(run[0])]
        at = 0
        while at < len(groups):
            last = _last(text, groups, at, names)
            if last is not None:
                yield _whole(text, groups[at].begin, groups[last].end)
            at = at + 1 if last is None else last + 1


def _group(found: re.Match[str], start: int) -> _Group:
    digits = found[0] if found[0].isascii() else "".join(str(unicodedata.decimal(sign)) for sign in found[0])
    return _Group(start + found.start(), start + found.end(), digits)


def _last(text: str, groups: Sequence[_Group], at: int, names: Sequence[str]) -> int | None:
    """Return the last of the groups of digits that are one of these numbers, from this group on."""
    said, called, found = "", "", None  # with and without the 0 of +49 (0)151
    at_home = not _is_part(text, groups, at)
    for last in range(at, len(groups)):
        digits = groups[last].digits
        said, skipped = said + digits, digits == "0" and last > at
        called += "" if skipped else digits
        tried = {said.lstrip("0")} if skipped else {said.lstrip("0"), called.lstrip("0")}
        if any(_is(one, names, at_home=at_home) for one in tried):
            found = last
        if len(said) > _MOST_SAID or not any(one.lstrip("0") in name for one in (said, called) for name in names):
            break
    return found


def _is(digits: str, names: Sequence[str], *, at_home: bool) -> bool:
    return len(digits) >= _LEAST and any(digits == name or (at_home and name.endswith(digits)) for name in names)


def _is_part(text: str, groups: Sequence[_Group], at: int) -> bool:
    """Say whether digits cannot be a number as it is dialled at home: after a calling code, or of a fraction."""
    first, fraction = groups[at], {".", ","}
    if first.digits == "0" and at + 1 < len(groups) and text[first.end : groups[at + 1].begin] in fraction:
        return True
    if at and len(groups[at - 1].digits) < _LEAST and text[groups[at - 1].end : first.begin] in fraction:
        return True
    begun = 0
    for one in reversed(groups[max(at - _BEGUN, 0) : at]):
        begun += len(one.digits)
        if begun < _BEGUN and (text[max(one.begin - 1, 0) : one.begin] == "+" or one.digits.startswith("00")):
            return True
    return False


def _whole(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return the place of a number with the plus and the brackets that belong to it."""
    begin -= text[max(begin - 1, 0) : begin] == "+"
    if text[max(begin - 1, 0) : begin] == "(" and ")" in text[begin : end + 1]:
        begin, end = begin - 1, end + (text[end : end + 1] == ")")
    return begin, end


def _in_json(text: str, names: Sequence[str]) -> str:
    return json.dumps(_value(json.loads(text), names), ensure_ascii=False)


def _value(value: Any, names: Sequence[str]) -> Any:
    if isinstance(value, str):
        return without(value, names)
    if isinstance(value, list):
        return [_value(one, names) for one in value]
    if isinstance(value, dict):
        return _named([(without(name, names), _value(one, names)) for name, one in value.items()])
    return None if _is_number(value, names) else value


def _named(values: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return values by their names; those that have one name now are told apart."""
    found: dict[str, Any] = {}
    for name, value in values:
        key, many = name, 1
        while key in found:
            many += 1
            key = f"{name} {many}"
        found[key] = value
    return found


def _is_number(value: Any, names: Sequence[str]) -> bool:
    """Say whether a value that is no text is one of these numbers, at least as it is dialled within its country."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _NO_NUMBER or value % 1:
        return False
    digits = str(int(value))
    return any(name.endswith(digits) and len(digits) >= len(name) - _CALLING_CODE for name in names)
