"""What is stored about one person beside the register: their rows, their arms, and contacts of purged campaigns."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..._pandas import is_missing
from ..._phones import spellings
from ..file.store import Store
from ..reading import frames as reading
from ..rows import contacts
from ..rows.columns import names_in
from ..rows.persons import keys, persons, stored_as
from ..rows.statements import Statements
from . import texts

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def messages(store: Store, number: int) -> list[dict[str, Any]]:
    """Return a person's rows as the result tables of campaigns, tests and passcodes have them.

    Each says of which ``kind`` it is, and has the caller's own columns under ``kept``.
    """
    told: list[dict[str, Any]] = []
    with store.snapshot() as connection:
        for campaign, group in groupby(_rows(connection, number), key=lambda row: row.campaign):
            rows = list(group)
            frame = reading.campaign_frame(store, campaign, name=rows[0].name, service=rows[0].service, names=())
            mine = records(frame.loc[[row.position for row in rows]])
            told += [{"kind": row.kind, **columns, "kept": _kept(row)} for row, columns in zip(rows, mine, strict=True)]
    return told


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): _as_json(value) for name, value in row.items()} for row in frame.to_dict("records")]


def _as_json(value: Any) -> Any:
    if is_missing(value):
        return None
    if isinstance(value, datetime):  # of a result table it is UTC, without its zone
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    return value


class _Row(NamedTuple):
    """A row that is a person's: of which campaign, where in it, and the values of the kept columns as JSON."""

    campaign: int
    name: str
    service: str
    kind: str
    names: str
    position: int
    kept: str | None


def _rows(connection: Statements, number: int) -> list[_Row]:
    numbers = stored_as(connection, number)
    found = connection.execute(
        "SELECT k.id, k.name, k.service, k.kind, k.kept, r.position, r.kept FROM recipient r JOIN campaign k "
        f"ON k.id=r.campaign WHERE r.number IN ({','.join('?' * len(numbers))}) ORDER BY k.id, r.position",
        numbers,
    )
    return [_Row(*row) for row in found.fetchall()]


def _kept(row: _Row) -> dict[str, Any]:
    """Return kept columns by their names as text, or where a number and a text are spelt alike, as Python has them."""
    names = names_in(row.names)
    texts = list(map(str, names))
    keys = texts if len({*texts}) == len(texts) else list(map(repr, names))
    return dict(zip(keys, json.loads(row.kept or "[]"), strict=True))


def drawn(store: Store, number: int) -> list[dict[str, Any]]:
    """Return what a person was drawn into: experiment, arm, unit and stratum, and when."""
    with store.snapshot() as connection:
        found = connection.execute(
            "SELECT e.name, e.declared, a.arm, a.unit, a.stratum, a.at FROM assigned a "
            "JOIN experiment e ON e.id=a.experiment WHERE a.person IN (?, ?) ORDER BY a.at, e.id",
            keys(connection, number),
        ).fetchall()
    return [
        {
            "experiment": name,
            "arm": ["holdout", *sorted(json.loads(declared)["arms"])][arm],
            "unit": unit,
            "stratum": None if stratum is None else json.loads(stratum),
            "at": _moment(at),
        }
        for name, declared, arm, unit, stratum, at in found
    ]


def contacted(store: Store, number: int) -> list[dict[str, Any]]:
    """Return when purged campaigns contacted a person, which the ledger knows by the hash of the number."""
    told = []
    with store.snapshot() as connection:
        _, code = keys(connection, number)
        purged = connection.execute(
            "SELECT k.id, k.name, k.service, k.kind FROM campaign k JOIN contacts c ON c.campaign=k.id "
            "WHERE k.purged<>0 ORDER BY k.id"
        ).fetchall()
        for campaign, name, service, kind in purged:
            found = contacts.packed(connection, campaign)
            told += [
                {"campaign": name, "service": service, "kind": kind, "at": _moment(at)}
                for at in found.at[found.people == code].tolist()
            ]
    return told


def mentioned(store: Store, number: int) -> list[dict[str, str]]:
    """Return where texts quote the number of a person, and how; the texts themselves may be about other people."""
    with store.snapshot() as connection:
        return texts.quoted(connection, spellings(int(persons(np.array([number]))[0])))


def _moment(micros: int) -> str:
    return (_EPOCH + timedelta(microseconds=micros)).isoformat()
