"""What is stored about one person beside the register: their rows, their arms, and contacts of purged campaigns."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

import numpy as np

from .._phones.several import spellings
from . import contacts, mentions
from .book import Ledger
from .campaign import Campaign
from .kept import names_in
from .people import keys, persons, stored_as
from .store import Store

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def messages(ledger: Ledger, number: int) -> list[dict[str, Any]]:
    """Return a person's rows as the result tables of campaigns, tests and passcodes have them, each with its kind."""
    store = ledger._store
    with store.reading() as connection:
        names = stored_as(connection, number)
        found = connection.execute(
            "SELECT k.id, k.name, k.service, k.kept, k.kind, r.position FROM recipient r JOIN campaign k "
            f"ON k.id=r.campaign WHERE r.number IN ({','.join('?' * len(names))}) ORDER BY k.id, r.position",
            names,
        ).fetchall()
    rows: list[dict[str, Any]] = []
    for (campaign, name, service, kept, kind), mine in groupby(found, key=lambda row: row[:5]):
        frame = Campaign(ledger, store, campaign, name, service, tuple(names_in(kept))).frame
        told = frame.loc[[position for *_, position in mine]].to_json(orient="records", date_format="iso")
        rows += [{"kind": kind, **row} for row in json.loads(told)]
    return rows


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
