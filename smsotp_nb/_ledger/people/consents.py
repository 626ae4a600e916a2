"""The register of what people said about being texted: recorded in order and never purged.

What was said later counts; an opt-out wins over an opt-in of the same moment. What is unclear is read against texting:
an opt-out of a day counts until its end, and one that is said now is later than every opt-in recorded before it,
whatever a clock shows. Somebody who asked to be forgotten is kept as opted out under a hash (`persons`), and nothing
else is known of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from ..._moments import moment
from ..._pandas import STR, is_missing
from ..._phones import spellings
from ..._results.contract import STATES
from ..file.store import Store
from ..reading import frames as reading
from ..rows import contacts, runners
from ..rows.columns import TIME, framed, names_in
from ..rows.persons import hashed, keys, persons, secret_of, stored_as
from ..rows.statements import Statements
from ..rows.sums import pack_sums, sums_to_pack
from ..rows.tables import PLANNED, SKIPPED
from . import texts

FORGOTTEN = "asked to be forgotten"
_LATEST_OPT_IN = "SELECT max(at) FROM consent WHERE person=? AND opted_out=0"
_TICK = pd.Timedelta(microseconds=1)
_NEWER = "person IN (SELECT person FROM consent WHERE id>?)"


@dataclass(frozen=True, slots=True)
class Said:
    """What one person said: E.164 without its plus, whether they opted out, when (microseconds, minutes from UTC).

    ``at`` is None for what is said as it is recorded.
    """

    number: int = field(repr=False)
    opted_out: bool
    at: int | None
    zone: int
    proof: str | None = None


def record(connection: Statements, said: Iterable[Said], *, source: str, now: int) -> int:
    """Record what people said and return how much of it is new; inside a transaction."""
    known = connection.execute("SELECT coalesce(max(id), 0), count(*) FROM consent").fetchone()
    rows = list(said)
    who = persons(np.array([one.number for one in rows], np.int64)).tolist()
    connection.executemany(
        "INSERT INTO consent (person, opted_out, at, zone, recorded_at, source, proof) "
        f"VALUES (?, ?, greatest(?, coalesce(({_LATEST_OPT_IN}), 0)), ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [
            (person, int(one.opted_out), *_when(person, one, now), one.zone, now, source, one.proof)
            for person, one in zip(who, rows, strict=True)
        ],
    )
    connection.execute(f"DELETE FROM opted_out WHERE {_NEWER}", known[:1])
    connection.execute(
        "INSERT INTO opted_out SELECT person FROM consent "
        f"WHERE {_NEWER} GROUP BY person HAVING max(2*at + opted_out) % 2 = 1",
        known[:1],
    )
    _remember(connection, who)
    out = sum(one.opted_out for one in rows)
    for what, many in (("opted out", out), ("opted in", len(rows) - out)):
        if many:
            runners.note_decision(connection, what, rows=many, now=now)
    return int(connection.execute("SELECT count(*) FROM consent").fetchone()[0]) - int(known[1])


def _when(person: int, said: Said, now: int) -> tuple[int, int]:
    """Return when it was said, and whose opt-ins it is later than, whenever those were: 0 for nobody's."""
    if said.at is not None:
        return said.at, 0
    return now, person if said.opted_out else 0


def _remember(connection: Statements, people: Sequence[int]) -> None:
    """Lift the opt-out of people who were forgotten and have opted in since."""
    if not connection.execute("SELECT EXISTS (SELECT 1 FROM opted_out WHERE person<0)").fetchone()[0]:
        return
    codes = hashed(np.array(people, np.int64), secret_of(connection)).tolist()
    connection.executemany(
        "DELETE FROM opted_out WHERE person=? AND (SELECT max(2*at + opted_out) FROM consent WHERE person=?) > "
        "(SELECT max(2*at + opted_out) FROM consent WHERE person=?)",
        [(code, person, code) for code, person in zip(codes, people, strict=True)],
    )


def opted_out(connection: Statements, number: int) -> bool:
    found = connection.execute("SELECT 1 FROM opted_out WHERE person IN (?, ?)", keys(connection, number))
    return found.fetchone() is not None


def known(connection: Statements, said: Iterable[Said]) -> int:
    """Return how many of these people have said something before."""
    before = np.array(connection.execute("SELECT DISTINCT person FROM consent").fetchall(), np.int64)
    return int(np.isin(np.unique(persons(np.array([one.number for one in said], np.int64))), before).sum())


def still_out(connection: Statements, said: Iterable[Said]) -> int:
    """Return how many of those who opted in just now are opted out, by something that was said later."""
    return sum(opted_out(connection, one.number) for one in said if one.at is None and not one.opted_out)


def register(store: Store, number: int | None = None) -> pd.DataFrame:
    """Return what was said, by one person or by all, in the order of time."""
    with store.snapshot() as connection:
        where = "" if number is None else "WHERE person IN (?, ?)"
        found = connection.execute(
            "SELECT CASE WHEN person>0 THEN '+' || person END, CASE opted_out WHEN 1 THEN 'opted out' ELSE 'opted in' "
            f"END, at, zone, source, proof, recorded_at FROM consent {where} ORDER BY at, opted_out, id",
            () if number is None else keys(connection, number),
        ).fetchall()
    frame = framed(
        found,
        {"to": STR, "said": STR, "at": TIME, "zone": "Int64", "source": STR, "proof": STR, "recorded_at": TIME},
    )
    # A day without an hour counts from its beginning, or until its end.
    local = frame["at"] + pd.to_timedelta(frame["zone"].astype("int64"), unit="m")
    begins = local.where(frame["said"].ne("opted out"), local + _TICK)
    frame.insert(4, "whole_day", begins.eq(begins.dt.floor("D")).astype("bool"))
    return frame


def history(store: Store, number: int) -> pd.DataFrame:
    """Return one person's rows in all campaigns, in the order of time."""
    with store.snapshot() as connection:
        names = stored_as(connection, number)
        found = connection.execute(
            "SELECT k.name, k.service, k.kind, coalesce(a.settled_at, a.started_at, k.created_at), f.state, f.problem, "
            "f.not_before FROM fate f JOIN campaign k ON k.id=f.campaign LEFT JOIN attempt a ON a.id=f.attempt "
            f"WHERE f.number IN ({','.join('?' * len(names))}) ORDER BY 4, k.id",
            names,
        ).fetchall()
    text = {"campaign": STR, "service": STR, "kind": STR}
    frame = framed(found, {**text, "at": TIME, "status": object, "problem": STR, "not_before": TIME})
    return frame.assign(status=frame["status"].map(dict(enumerate(STATES))).astype(STR))


def forget(connection: Statements, numbers: Iterable[int], *, now: int) -> int:
    """Replace people by hashes in everything that is recorded, inside a transaction; return how many rows."""
    people = np.unique(persons(np.array([*numbers], np.int64)))
    codes = hashed(people, secret_of(connection))
    gone: list[int] = []
    for person, code in zip(people.tolist(), codes.tolist(), strict=True):
        latest = connection.execute("SELECT coalesce(max(at), 0) FROM consent WHERE person=?", (person,)).fetchone()[0]
        connection.execute("DELETE FROM consent WHERE person=?", (person,))
        connection.execute("DELETE FROM opted_out WHERE person=?", (person,))
        connection.execute(
            "INSERT INTO consent (person, opted_out, at, zone, recorded_at, source) VALUES (?, 1, ?, 0, ?, ?)",
            (code, max(now, latest), now, FORGOTTEN),
        )
        connection.execute("INSERT INTO opted_out VALUES (?) ON CONFLICT DO NOTHING", (code,))
        gone += _forget_rows(connection, person, code)
    mentioned = texts.forget(connection, [name for person in people.tolist() for name in spellings(person)])
    for campaign in {*gone, *mentioned}:  # what was packed of them goes without these people
        if connection.execute("SELECT 1 FROM contacts WHERE campaign=?", (campaign,)).fetchone():
            contacts.pack(connection, campaign, now=now)
        if connection.execute("SELECT 1 FROM sums WHERE campaign=? AND shared<>'[]'", (campaign,)).fetchone():
            pack_sums(connection, campaign, sums_to_pack(connection, campaign))
    runners.note_decision(connection, "forgotten", rows=len(codes), now=now)
    return len(gone)


def _forget_rows(connection: Statements, person: int, code: int) -> list[int]:
    names = spellings(person)
    those = f"number IN ({','.join('?' * len(names))})"
    rows = connection.execute(
        f"SELECT f.campaign, f.chunk, f.position, f.state, k.kept FROM fate f JOIN campaign k ON k.id=f.campaign "
        f"WHERE f.{those}",
        names,
    ).fetchall()
    for campaign, chunk, position, state, kept in rows:
        mine = (campaign, chunk, position)
        nothing = json.dumps([None] * len(json.loads(kept))) if json.loads(kept) else None
        connection.execute(
            "UPDATE recipient SET number=?, kept=? WHERE campaign=? AND chunk=? AND position=?", (code, nothing, *mine)
        )
        if state == PLANNED:
            connection.execute(
                "UPDATE recipient SET own_state=?, problem='OPTED_OUT', not_before=NULL "
                "WHERE campaign=? AND chunk=? AND position=?",
                (SKIPPED, *mine),
            )
    return [row[0] for row in rows]


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
