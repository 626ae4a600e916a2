"""What is stored about one person beside rows and the register: their arms, and contacts of purged campaigns."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from .._phones.several import spellings
from . import contacts, mentions
from .people import hashed, persons, secret_of
from .store import Store

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def drawn(store: Store, number: int) -> list[dict[str, Any]]:
    """Return what a person was drawn into: experiment, arm, unit and stratum, and when."""
    with store.snapshot() as connection:
        mine = persons(np.array([number]))
        found = connection.execute(
            "SELECT e.name, e.declared, a.arm, a.unit, a.stratum, a.at FROM assigned a "
            "JOIN experiment e ON e.id=a.experiment WHERE a.person IN (?, ?) ORDER BY a.at, e.id",
            (int(mine[0]), int(hashed(mine, secret_of(connection))[0])),
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
        code = int(hashed(persons(np.array([number])), secret_of(connection))[0])
        purged = connection.execute(
            "SELECT k.id, k.name, k.service FROM campaign k JOIN contacts c ON c.campaign=k.id "
            "WHERE k.purged<>0 ORDER BY k.id"
        ).fetchall()
        for campaign, name, service in purged:
            found = contacts.packed(connection, campaign)
            told += [
                {"campaign": name, "service": service, "at": _moment(at)}
                for at in found.at[found.people == code].tolist()
            ]
    return told


def mentioned(store: Store, number: int) -> list[dict[str, str]]:
    """Return where texts quote the number of a person, and how; the texts themselves may be about other people."""
    with store.snapshot() as connection:
        return mentions.quoted(connection, spellings(int(persons(np.array([number]))[0])))


def _moment(micros: int) -> str:
    return (_EPOCH + timedelta(microseconds=micros)).isoformat()
