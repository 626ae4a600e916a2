"""The record of experiments: how each was declared, who is in which arm, and what was sent to them and billed.

Who is held out may be texted all the same, by a campaign that is not the experiment's: `elsewhere` finds them when an
experiment is read, and ``unheeded`` before a campaign is sent.

A purge leaves hashes in the place of its people, by which holdout and arms still hold. Nothing can be read by them
until the whole list is drawn again, which brings its people back into their arms.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import chain, islice

import numpy as np
import pandas as pd

from ..._pandas import STR
from ..._policy import window_of
from ..._services import name_key, shown
from ...errors import UsageError
from ..file.store import Store
from ..record.recording import TOGETHER
from ..rows.answers import Ints
from ..rows.columns import MISSING, integers_in, rows_of
from ..rows.contacts import in_realm, packed
from ..rows.persons import hashed, persons, secret_of
from ..rows.statements import Statements, inserted
from ..rows.tables import ACCEPTED, MAY_HAVE_LEFT, PLANNED

_ASSIGNED = ("person", "unit", "arm", "place", "stratum", "at")
_READ = ("number", "state", "attempt", "price")
_EXPERIMENTS = "SELECT id, name, declared, created_at, until, purged FROM experiment"


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment as it is recorded; times in microseconds since 1970."""

    number: int
    name: str
    declared: str
    created_at: int
    until: int | None
    purged: int = 0

    @property
    def window(self) -> int:
        """How long an outcome counts after its message, in microseconds."""
        window = window_of("read_after=", json.loads(self.declared)["window"], [])
        assert window is not None
        return window // timedelta(microseconds=1)

    def has(self, campaign: str, created_at: int) -> bool:
        """Return whether a campaign counts for it: one of its name, or any till the end of a holdout of all."""
        if self.until is not None:
            return created_at < self.until
        return self.owns(campaign)

    def owns(self, campaign: str) -> bool:
        return experiment_key(campaign) == name_key(self.name)

    def is_open(self, connection: Statements, now: int) -> bool:
        """Return whether an outcome may still count for somebody: until the reading day, or the end of a holdout."""
        if self.until is not None or self.created_at + self.window > now:
            return (self.until or now + 1) > now
        sql = "SELECT coalesce(max(at), 0) FROM assigned WHERE experiment=?"
        latest: int = connection.execute(sql, (self.number,)).fetchone()[0]
        names = connection.execute("SELECT id, name FROM campaign WHERE kind='campaign'").fetchall()
        mine = ",".join(str(number) for number, name in names if self.owns(name)) or "NULL"
        sql = f"SELECT coalesce(max(started_at), 0) FROM attempt WHERE campaign IN ({mine})"
        return max(latest, int(connection.execute(sql).fetchone()[0])) + self.window > now


@dataclass(frozen=True, slots=True)
class Drawn:
    """People to record: who, their unit, the number of their arm (0: held out) and their stratum, in list order."""

    person: Ints = field(repr=False)
    unit: Sequence[str] = field(repr=False)
    arm: Ints
    stratum: Sequence[str | None]


def find(connection: Statements, name: str) -> Experiment | None:
    """Return the experiment of this name, as it is recorded."""
    found = connection.execute(f"{_EXPERIMENTS} WHERE name_key=?", (name_key(name),)).fetchone()
    return None if found is None else Experiment(*found)


def everyone(connection: Statements) -> list[Experiment]:
    """Return all experiments, in the order in which they were first drawn."""
    return [Experiment(*row) for row in connection.execute(f"{_EXPERIMENTS} ORDER BY id").fetchall()]


def begin(connection: Statements, name: str, declared: str, *, until: int | None, now: int) -> Experiment:
    row = {
        "name": name,
        "name_key": name_key(name),
        "declared": declared,
        "created_at": now,
        "until": until,
        "drawn": 0,
    }
    number = inserted(connection, "experiment", row)
    return Experiment(number, name, declared, now, until)


def add(connection: Statements, experiment: int, drawn: Drawn, *, now: int) -> None:
    """Record people in their arms; a campaign that runs looks at once whom it has to leave out."""
    if not len(drawn.person):
        return
    first = connection.execute(
        "SELECT coalesce(max(place)+1, 0) FROM assigned WHERE experiment=?", (experiment,)
    ).fetchone()[0]
    size = len(drawn.person)
    order = np.argsort(drawn.person)  # the table's: rows in order are written in a third of the time
    places = (first + order).tolist()
    units, strata = [drawn.unit[at] for at in order], [drawn.stratum[at] for at in order]
    values = zip(drawn.person[order].tolist(), units, drawn.arm[order].tolist(), places, strata, strict=True)
    for begins in range(0, size, TOGETHER):
        many = min(TOGETHER, size - begins)
        sql = "INSERT INTO assigned (experiment, at, person, unit, arm, place, stratum) VALUES "
        rows = ",".join([f"({experiment},{now},?,?,?,?,?)"] * many)
        connection.execute(sql + rows, [*chain.from_iterable(islice(values, many))])
    connection.execute("UPDATE experiment SET drawn=drawn+1 WHERE id=?", (experiment,))


def assigned(connection: Statements, experiment: int) -> pd.DataFrame:
    """Return who is in which arm, in list order: person, arm, place, at (int64), unit, stratum (objects, or None)."""
    found = connection.execute(
        f"SELECT {', '.join(_ASSIGNED)} FROM assigned WHERE experiment=? ORDER BY place", (experiment,)
    ).fetchall()
    frame = pd.DataFrame(found, columns=list(_ASSIGNED), dtype=object)
    return frame.astype(dict.fromkeys(("person", "arm", "place", "at"), "int64"))


def hide(connection: Statements, experiment: int, people: Ints, codes: Ints) -> None:
    """Replace people by the hashes that stand for them, without unit and stratum."""
    pairs = [*zip(codes.tolist(), people.tolist(), strict=True)]
    connection.executemany(
        "DELETE FROM assigned WHERE experiment=? AND person=? AND EXISTS "
        "(SELECT 1 FROM assigned o WHERE o.experiment=? AND o.person=?)",
        [(experiment, person, experiment, code) for code, person in pairs],
    )
    connection.executemany(
        "UPDATE assigned SET person=?, unit=NULL, stratum=NULL WHERE experiment=? AND person=?",
        [(code, experiment, person) for code, person in pairs],
    )


def purge(connection: Statements, experiment: int) -> int:
    """Replace all people of an experiment by hashes; return how many they were."""
    found = connection.execute("SELECT person FROM assigned WHERE experiment=? AND person>0", (experiment,)).fetchall()
    people = np.array(found, np.int64).ravel()
    hide(connection, experiment, people, hashed(people, secret_of(connection)))
    connection.execute("UPDATE experiment SET purged=1 WHERE id=?", (experiment,))
    return len(people)


def over(connection: Statements, campaign: int, *, now: int) -> list[int]:
    """Return the experiments that nobody can read any more, because this campaign, purged, was the last one of theirs.

    An experiment that was drawn after the campaign was recorded is still to be sent.
    """
    sql = "SELECT id, name, created_at, purged FROM campaign WHERE kind='campaign'"
    campaigns = connection.execute(sql).fetchall()
    found = []
    for one in everyone(connection):
        mine = {number: (at, purged) for number, name, at, purged in campaigns if one.has(name, at)}
        if campaign not in mine or one.purged or (one.until or 0) > now or one.created_at > mine[campaign][0]:
            continue
        if all(purged for _, purged in mine.values()):
            found.append(one.number)
    return found


def hidden(connection: Statements, experiment: int) -> Ints:
    """Return the hashes of people of an experiment, but for those who were forgotten and have not opted in since."""
    found = connection.execute(
        "SELECT person FROM assigned WHERE experiment=? AND person<0 AND person NOT IN (SELECT person FROM opted_out)",
        (experiment,),
    ).fetchall()
    return np.array(found, np.int64).ravel()


def bring_back(connection: Statements, experiment: int, codes: Ints, drawn: Drawn) -> None:
    """Put people in the place of their hashes, each with unit and stratum; their arms stay."""
    values = zip(drawn.person.tolist(), drawn.unit, drawn.stratum, codes.tolist(), strict=True)
    connection.executemany(
        "UPDATE assigned SET person=?, unit=?, stratum=? WHERE experiment=? AND person=?",
        [(person, unit, stratum, experiment, code) for person, unit, stratum, code in values],
    )
    connection.execute("UPDATE experiment SET purged=0 WHERE id=?", (experiment,))


def sent(
    store: Store,
    name: str,
    *,
    service: str | None = None,
    by_all: bool = False,
    since: int | None = None,
    until: int | None = None,
) -> pd.DataFrame:
    """Return what was sent to each person by the campaigns of an experiment, or by all of them, one row a person.

    Columns: ``at`` (int64: the first request that may have reached the person, microseconds since 1970), ``micros``
    (int64: billed), ``currency`` (str; missing where nothing was billed), ``in_doubt`` and ``unpriced`` (int64: how
    many messages may have been billed, and how many were without a price that can be read), indexed by person.

    ``service`` is by default the only one that has any; with ``by_all`` every campaign counts, whatever it is called.
    """
    with store.snapshot() as connection:
        mine = _campaigns(connection, None if by_all else name_key(name), service)
        pieces = [_rows(connection, number) for number in mine]
        started = pd.DataFrame(
            connection.execute("SELECT id, started_at, currency FROM attempt").fetchall(),
            columns=["attempt", "at", "currency"],
        ).set_index("attempt")
    none = pd.DataFrame(np.zeros((0, len(_READ)), np.int64), columns=[*_READ])
    rows = pd.concat([none, *pieces])
    requests = started.reindex(rows["attempt"])
    rows["at"], rows["currency"] = requests["at"].to_numpy("int64"), requests["currency"].array
    first, last = rows["at"].min() if since is None else since, rows["at"].max() + 1 if until is None else until
    return _by_person(rows[rows["at"].between(first, last, inclusive="left").to_numpy()])


def elsewhere(
    store: Store, found: Experiment, people: Ints, *, service: str | None, since: int, until: int
) -> pd.DataFrame:
    """Return which of these people were texted, or may have been, by which campaign: person, campaign, own, at.

    Campaigns of every live account count, or those of one sandbox. ``own`` says whether the experiment has the
    campaign; ``at`` is when its request began, within ``since`` and ``until`` (microseconds since 1970). The rows are
    in the order of the campaigns.
    """
    with store.snapshot() as connection:
        if service is None:
            by_all = found.until is not None
            number = _campaigns(connection, None if by_all else name_key(found.name), None)[0]
            service = connection.execute("SELECT service FROM campaign WHERE id=?", (number,)).fetchone()[0]
        campaigns = connection.execute(
            f"SELECT id, name, purged FROM campaign k WHERE {in_realm(service)} AND kind='campaign' AND (purged<>0 "
            "OR EXISTS (SELECT 1 FROM attempt a WHERE a.campaign=k.id AND a.started_at>=? AND a.started_at<?)) "
            "ORDER BY id",
            (service, since, until),
        ).fetchall()
        codes = hashed(people, secret_of(connection)) if any(purged for _, _, purged in campaigns) else people
        pieces = []
        for number, name, purged in campaigns:
            who, at = _contacts(connection, number, purged=bool(purged))
            place = pd.Index(codes if purged else people).get_indexer(pd.Index(who))
            mine = (place >= 0) & (at >= since) & (at < until)
            told = {"person": people[place[mine]], "campaign": name, "own": found.owns(name), "at": at[mine]}
            pieces.append(pd.DataFrame(told))
    empty = pd.DataFrame({"person": people[:0], "campaign": "", "own": False, "at": people[:0]})
    return pd.concat(pieces, ignore_index=True) if pieces else empty


def _contacts(connection: Statements, campaign: int, *, purged: bool) -> tuple[Ints, Ints]:
    """Return whom a campaign may have reached, and when; of a purged one hashes, and when each request ended."""
    if purged:
        if not connection.execute("SELECT 1 FROM contacts WHERE campaign=?", (campaign,)).fetchone():
            return np.array([], np.int64), np.array([], np.int64)
        kept = packed(connection, campaign)
        return kept.people, kept.at
    rows = _rows(connection, campaign)
    begun = dict(connection.execute("SELECT id, started_at FROM attempt WHERE campaign=?", (campaign,)).fetchall())
    at = rows["attempt"].map(begun).to_numpy("int64")
    return persons(rows["number"].to_numpy("int64")), at


def to_go(store: Store, name: str, *, service: str | None = None) -> int:
    with store.snapshot() as connection:
        sql = "SELECT id, name FROM campaign WHERE kind='campaign' AND purged=0 AND service=coalesce(?, service)"
        found = connection.execute(sql, (service,)).fetchall()
        mine = ",".join(str(number) for number, one in found if experiment_key(one) == name_key(name)) or "NULL"
        sql = f"SELECT count(*) FROM fate WHERE campaign IN ({mine}) AND state={PLANNED}"
        return int(connection.execute(sql).fetchone()[0])


def _campaigns(connection: Statements, key: str | None, service: str | None) -> list[int]:
    """Return the numbers of the campaigns of one service that count, without those that sent nothing."""
    found = connection.execute(
        "SELECT id, name, service, purged FROM campaign k WHERE kind='campaign' AND service=coalesce(?, service) "
        "AND (purged<>0 OR EXISTS (SELECT 1 FROM attempt a WHERE a.campaign=k.id)) ORDER BY id",
        (service,),
    ).fetchall()
    mine = [row for row in found if key is None or experiment_key(row[1]) == key]
    services = list(dict.fromkeys(row[2] for row in mine))
    if len(services) > 1:
        names = ", ".join(f"{one!r} ({shown(one)})" for one in services)
        raise UsageError(f"several services sent campaigns of this experiment; pass service= one of {names}")
    purged = [row[1] for row in mine if row[3]]
    if purged and key is not None:
        raise UsageError(
            f"campaign {purged[0]!r} was purged, and with it what each person was billed. Read an experiment before "
            "its campaigns are purged"
        )
    return [row[0] for row in mine if not row[3]]


def _rows(connection: Statements, campaign: int) -> pd.DataFrame:
    """Return the rows of a campaign that may have left: number, state, attempt, price (int64; MISSING if unknown)."""
    rows = rows_of(connection, campaign, *_READ, whole=True)[[*_READ]].fillna(MISSING).astype("int64")
    return rows[rows["state"].isin(MAY_HAVE_LEFT).to_numpy()]


def _by_person(rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows.assign(person=persons(rows["number"].to_numpy("int64")))
    billed = rows[rows["price"].gt(0).to_numpy()]
    currencies = billed.drop_duplicates(["person", "currency"])
    if currencies["person"].duplicated().any():
        raise UsageError(
            "some people were billed in two currencies, which are never added together; give each account an "
            "experiment of its own"
        )
    rows["in_doubt"] = rows["state"].ne(ACCEPTED).astype("int64")
    rows["unpriced"] = (rows["state"].eq(ACCEPTED) & rows["price"].lt(0)).astype("int64")
    found = rows.groupby("person").agg({"at": "min", "in_doubt": "sum", "unpriced": "sum"})
    found["micros"] = billed.groupby("person")["price"].sum().reindex(found.index, fill_value=0)
    found["currency"] = currencies.set_index("person")["currency"].reindex(found.index).astype(STR)
    return found


_HELD = (
    "SELECT group_concat(a.person) FROM experiment e JOIN assigned a ON a.experiment=e.id AND a.arm=0 "
    "WHERE e.name_key=? OR ?=1 AND e.until>?"
)
_OTHERS = "SELECT group_concat(person) FROM assigned WHERE experiment=? AND arm NOT IN (0, ?)"
NO_PEOPLE: Ints = np.array([], np.int64)


def experiment_key(campaign: str) -> str:
    """Return the key of the experiment that a campaign of this name belongs to, if there is such an experiment."""
    return name_key(campaign).partition("/")[0].strip()


def held_out(connection: Statements, campaign: str, *, marketing: bool, now: int) -> Ints:
    """Return the people whom experiments hold out of a campaign of this name, forgotten ones as their hashes."""
    asked = (experiment_key(campaign), int(marketing), now)
    return _people(connection.execute(_HELD, asked).fetchone()[0])


def in_other_arms(connection: Statements, campaign: str) -> Ints:
    """Return the people of all arms but that of a campaign of this name, forgotten ones as their hashes."""
    found = connection.execute(
        "SELECT id, declared FROM experiment WHERE name_key=?", (experiment_key(campaign),)
    ).fetchone()
    number = None if found is None else arm_number(campaign, found[1])
    return NO_PEOPLE if number is None else _people(connection.execute(_OTHERS, (found[0], number)).fetchone()[0])


def arm_number(campaign: str, declared: str) -> int | None:
    """Return the number of the arm that a campaign of this name texts; arms have numbers from 1, by their names.

    Example:
        >>> arm_number("Autumn / plain / 2", '{"arms": {"plain": 45, "emoji": 45}}')
        2
        >>> arm_number("autumn/reminder", '{"arms": {"plain": 45, "emoji": 45}}') is None
        True
    """
    arm = name_key(campaign).split("/")[1:2]
    keys = [name_key(name) for name in sorted(json.loads(declared)["arms"])]
    return next((number for number, key in enumerate(keys, 1) if arm and key == arm[0].strip()), None)


def _people(joined: str | None) -> Ints:
    return np.unique(integers_in(joined))
