"""What is stored about one person beside the register: their rows, their arms, and contacts of purged campaigns."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from ..._moments import moment
from ..._pandas import is_missing
from ..._phones import spellings
from ..file.store import Store
from ..reading import frames as reading
from ..rows import contacts
from ..rows.columns import names_in
from ..rows.persons import keys, persons, stored_as
from . import texts


def messages(store: Store, number: int) -> list[dict[str, Any]]:
    """Return a person's rows as the result tables of campaigns, tests and passcodes have them.

    Each says of which ``kind`` it is, and has the caller's own columns under ``kept``.
    """
    told: list[dict[str, Any]] = []
    with store.snapshot() as connection:
        numbers = stored_as(connection, number)
        found = connection.execute(
            "SELECT k.id, k.name, k.service, k.kind, k.kept, r.position, r.kept FROM recipient r JOIN campaign k "
            f"ON k.id=r.campaign WHERE r.number IN ({','.join('?' * len(numbers))}) ORDER BY k.id, r.position",
            numbers,
        )
        for (campaign, name, service, kind, names), rows in groupby(found.fetchall(), key=lambda row: tuple(row[:5])):
            kept = {row[5]: _kept(names, row[6]) for row in rows}
            frame = reading.campaign_frame(store, campaign, name=name, service=service, names=())
            mine = zip(records(frame.loc[[*kept]]), kept.values(), strict=True)
            told += [{"kind": kind, **columns, "kept": values} for columns, values in mine]
    return told


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): _as_json(value) for name, value in row.items()} for row in frame.to_dict("records")]


def _as_json(value: Any) -> Any:
    if is_missing(value):
        return None
    if isinstance(value, datetime):  # of a result table it is UTC, without its zone
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    return value


def _kept(listed: str, values: str | None) -> dict[str, Any]:
    """Return kept columns by their names as text, or where a number and a text are spelt alike, as Python has them."""
    names = names_in(listed)
    texts = list(map(str, names))
    keys = texts if len({*texts}) == len(texts) else list(map(repr, names))
    return dict(zip(keys, json.loads(values or "[]"), strict=True))


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
            "at": moment(at).isoformat(),
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
                {"campaign": name, "service": service, "kind": kind, "at": moment(at).isoformat()}
                for at in found.at[found.people == code].tolist()
            ]
    return told


def mentioned(store: Store, number: int) -> list[dict[str, str]]:
    """Return where texts quote the number of a person, and how; the texts themselves may be about other people."""
    with store.snapshot() as connection:
        return texts.quoted(connection, spellings(int(persons(np.array([number]))[0])))
