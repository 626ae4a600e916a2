"""The register of what people said about being texted, and what is stored about one person.

What was said later counts; an opt-out wins over an opt-in of the same moment. What is unclear is read against texting:
an opt-out of a day counts until its end, and one that is said now is later than every opt-in recorded before it.
Somebody who asked to be forgotten is kept as opted out by the key of the person, and nothing else is known of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pandas as pd

from .._pandas import STR, is_missing
from .._results.contract import STATES
from .frames import TIME, campaign_table, frame_of
from .store import Store, Transaction, note_event
from .tables import OPTED_OUT, PLANNED, SKIPPED

FORGOTTEN: Final = "asked to be forgotten"
_TICK: Final = pd.Timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class ConsentEntry:
    """What one person said: E.164 without its plus, whether they opted out, when (microseconds, minutes from UTC).

    ``at`` is None for what is said as it is recorded.
    """

    number: int = field(repr=False)
    opted_out: bool
    at: int | None
    zone: int
    proof: str | None = None


def record(store: Store, tx: Transaction, entries: Sequence[ConsentEntry], *, source: str, now: int) -> int:
    """Record what people said and return how much of it is new."""
    before = _count(tx)
    people = _people(store, entries)
    latest = _latest_opt_ins(tx, people)
    rows = []
    for person, entry in zip(people, entries, strict=True):
        at = entry.at
        if at is None:
            # Said now: an opt-out is later than every opt-in before it, whatever a clock showed then.
            at = max(now, latest.get(person, 0)) if entry.opted_out else now
        rows.append((person, entry.number, int(entry.opted_out), at, entry.zone, now, source, entry.proof))
    tx.many(
        "INSERT INTO consent (person, number, opted_out, at, zone, recorded_at, source, proof) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        rows,
    )
    _decide(tx, people)
    opted_out = sum(entry.opted_out for entry in entries)
    for what, number in (("opted out", opted_out), ("opted in", len(rows) - opted_out)):
        if number:
            note_event(tx, what, now=now, rows=number)
    return _count(tx) - before


def _count(tx: Transaction) -> int:
    return int(tx.rows("SELECT count(*) FROM consent")[0][0])


def _people(store: Store, entries: Sequence[ConsentEntry]) -> list[int]:
    return store.persons(np.array([entry.number for entry in entries], np.int64)).tolist()


def _latest_opt_ins(tx: Transaction, people: Sequence[int]) -> dict[int, int]:
    if not people:
        return {}
    found = dict(tx.rows("SELECT person, max(at) FROM consent WHERE opted_out=0 GROUP BY person"))
    return {person: found[person] for person in people if person in found}


def _decide(tx: Transaction, people: Sequence[int]) -> None:
    """Say for each of these people whether they are opted out now, by the latest that they said."""
    who = [(person,) for person in dict.fromkeys(people)]
    tx.many("DELETE FROM opted_out WHERE person=?", who)
    tx.many(
        "INSERT INTO opted_out SELECT person FROM consent WHERE person=? "
        "GROUP BY person HAVING max(2*at + opted_out) % 2 = 1",
        who,
    )


def is_opted_out(store: Store, tx: Transaction, number: int) -> bool:
    return bool(tx.rows("SELECT 1 FROM opted_out WHERE person=?", (store.person(number),)))


def known(store: Store, tx: Transaction, entries: Sequence[ConsentEntry]) -> int:
    """Return how many of these people have said something before."""
    said = {person for (person,) in tx.rows("SELECT DISTINCT person FROM consent")}
    return len(said.intersection(_people(store, entries)))


def still_out(store: Store, tx: Transaction, entries: Sequence[ConsentEntry]) -> int:
    """Return how many of those who opted in just now are opted out, by something that was said later."""
    opted_in = [entry for entry in entries if entry.at is None and not entry.opted_out]
    return sum(is_opted_out(store, tx, entry.number) for entry in opted_in)


def register(store: Store, number: int | None = None) -> pd.DataFrame:
    """Return what was said, by one person or by all, in the order of time."""
    where, values = ("", ()) if number is None else ("WHERE person=?", (store.person(number),))
    rows = store.rows(
        "SELECT number, opted_out, at, zone, source, proof, recorded_at FROM consent "
        f"{where} ORDER BY at, opted_out, id",
        values,
    )
    entries = [
        (None if row[0] is None else f"+{row[0]}", "opted out" if row[1] else "opted in", *row[2:]) for row in rows
    ]
    frame = frame_of(
        entries,
        {"to": STR, "said": STR, "at": TIME, "zone": "Int64", "source": STR, "proof": STR, "recorded_at": TIME},
    )
    # A day without an hour counts from its beginning, or until its end.
    local = frame["at"] + pd.to_timedelta(frame["zone"].astype("int64"), unit="m")
    begins = local.where(frame["said"].ne("opted out"), local + _TICK)
    frame.insert(4, "whole_day", begins.eq(begins.dt.floor("D")).astype("bool"))
    return frame


def history(store: Store, number: int) -> pd.DataFrame:
    """Return one person's rows in all campaigns, in the order of time."""
    rows = store.rows(
        "SELECT k.name, coalesce(a.service, k.service), k.kind, coalesce(a.settled_at, a.started_at, k.created_at), "
        "r.state, r.problem, r.not_before FROM recipient r JOIN campaign k ON k.id=r.campaign "
        "LEFT JOIN attempt a ON a.id=r.attempt WHERE r.person=? ORDER BY 4, k.id",
        (store.person(number),),
    )
    values = [(*row[:4], STATES[row[4]], *row[5:]) for row in rows]
    texts = {"campaign": STR, "service": STR, "kind": STR}
    return frame_of(values, {**texts, "at": TIME, "status": STR, "problem": STR, "not_before": TIME})


def messages(store: Store, number: int) -> list[dict[str, Any]]:
    """Return a person's rows as the result tables of campaigns, tests and passcodes have them.

    Each says of which ``kind`` it is, and has the caller's own columns under ``kept``.
    """
    person = store.person(number)
    found = []
    with store.reading() as tx:
        rows = tx.rows(
            "SELECT k.id, k.name, k.service, k.kind, k.kept, r.position, r.kept FROM recipient r "
            "JOIN campaign k ON k.id=r.campaign WHERE r.person=? ORDER BY k.id",
            (person,),
        )
        for campaign, name, service, kind, names, position, kept in rows:
            frame = campaign_table(store, campaign, name=name, service=service, kept=())
            values = dict(zip(map(str, json.loads(names)), json.loads(kept or "[]"), strict=False))
            found.append({"kind": kind, **as_records(frame.loc[[position]])[0], "kept": values})
    return found


def as_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as JSON has them."""
    return [{str(name): _as_json(value) for name, value in row.items()} for row in frame.to_dict("records")]


def _as_json(value: Any) -> Any:
    if is_missing(value):
        return None
    if isinstance(value, datetime):  # of a result table it is UTC, without its zone
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    return value


def forget(store: Store, tx: Transaction, numbers: Iterable[int], *, now: int) -> int:
    """Delete the numbers, kept columns and words of people, and return how many rows of campaigns that were.

    Their keys stay: they stay opted out until a later opt-in, limits on messages hold, and costs stay true.
    """
    people = dict.fromkeys(store.persons(np.array([*numbers], np.int64)).tolist())
    gone = 0
    for person in people:
        latest = tx.rows("SELECT coalesce(max(at), 0) FROM consent WHERE person=?", (person,))[0][0]
        tx.run("DELETE FROM consent WHERE person=?", (person,))
        tx.run(
            "INSERT INTO consent (person, opted_out, at, zone, recorded_at, source) VALUES (?, 1, ?, 0, ?, ?)",
            (person, max(now, latest), now, FORGOTTEN),
        )
        tx.run("INSERT INTO opted_out VALUES (?) ON CONFLICT DO NOTHING", (person,))
        gone += tx.run("UPDATE recipient SET number=NULL, kept=NULL WHERE person=?", (person,))
        tx.run(
            f"UPDATE recipient SET state={SKIPPED}, problem='{OPTED_OUT}', not_before=NULL "
            f"WHERE person=? AND state={PLANNED}",
            (person,),
        )
    note_event(tx, "forgotten", now=now, rows=len(people))
    return gone
