"""Whom campaigns may have reached, when, and with which body.

A contact is a row that is being sent, accepted or in doubt. Its time is when its request ended, which is never before
the message left. While the request is under way, its message is taken to leave as late as it can.

The contacts of a campaign that is not running are packed beside it, in the order of people, so that ten million of
them are read in a second. `Run` deletes them when it begins and packs them when it closes; whatever else changes the
state of a row deletes them, too. Where they are absent, because the process died, they are read row by row. The packed
contacts of a purged campaign stay, with keyed hashes in the place of people and bodies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ..._services import REHEARSAL, is_rehearsal
from .answers import Ints
from .persons import hashed, keyed, persons, recorded, secret_of
from .statements import Statements, in_blocks
from .sums import unpack_sums
from .tables import MAY_HAVE_LEFT

IN_FLIGHT = 120_000_000  # microseconds in which a request that is under way ends
_CHUNKS = 500  # whose numbers are read at once
_KINDS = (np.dtype("<u1"), np.dtype("<u2"), np.dtype("<u4"), np.dtype("<i8"))
LIVE = f"substr(service, 1, {len(REHEARSAL)}) <> '{REHEARSAL}'"


@dataclass(frozen=True, slots=True)
class Contacts:
    """Arrays with an entry a contact, in the order of people: who, when (microseconds since 1970), which body.

    Those of a purged campaign are ``keyed``: their bodies are hashes that only this ledger makes.
    """

    people: Ints = field(repr=False)
    at: Ints
    body: Ints
    keyed: bool = False


def in_realm(service: str) -> str:
    """Return in SQL, with this service as its value, whose contacts count: every live service's, or one sandbox's."""
    return "service=?" if is_rehearsal(service) else f"({LIVE} OR service=?)"


def others(
    connection: Statements, service: str, *, but: int | None, since: int, now: int
) -> Iterator[tuple[int, Contacts]]:
    """Yield the contacts of each other campaign that may have contacted somebody since a moment, see `in_realm`."""
    found = connection.execute(
        "SELECT k.id, c.campaign IS NOT NULL, k.purged FROM campaign k LEFT JOIN contacts c ON c.campaign=k.id "
        f"WHERE {in_realm(service)} AND k.kind='campaign' AND k.id IS NOT ? AND (c.latest>? OR c.campaign IS NULL "
        "AND EXISTS (SELECT 1 FROM attempt a WHERE a.campaign=k.id))",
        (service, but, since),
    ).fetchall()
    for campaign, is_packed, purged in found:
        contacts = packed(connection, campaign) if is_packed else read(connection, campaign, now=now)
        if len(contacts.people):
            yield campaign, replace(contacts, keyed=bool(purged))


def read(connection: Statements, campaign: int, *, now: int) -> Contacts:
    numbers: list[Ints] = [np.array([], np.int64)]
    times: list[Ints] = [np.array([], np.int64)]
    bodies: list[Ints] = [np.array([], np.int64)]
    whole = connection.execute(
        "SELECT (SELECT group_concat(coalesce(number, 0)) FROM recipient r "
        "WHERE r.campaign=c.campaign AND r.chunk=c.chunk), coalesce(a.settled_at, ?), c.body "
        "FROM chunk c JOIN attempt a ON a.id=c.attempt WHERE c.campaign=? AND c.state IS NOT NULL",
        (now + IN_FLIGHT, campaign),
    )
    for chunks in in_blocks(whole, _CHUNKS):
        texts, at, body = zip(*chunks, strict=True)
        many = np.array([text.count(",") + 1 for text in texts])
        found: Ints = np.fromstring(",".join(texts), np.int64, sep=",")
        numbers.append(found)
        times.append(np.repeat(np.array(at, np.int64), many))
        bodies.append(np.repeat(np.array(body, np.int64), many))
    rows = connection.execute(
        "SELECT r.number, coalesce(a.settled_at, ?), c.body FROM chunk c "
        "CROSS JOIN recipient r USING (campaign, chunk) JOIN attempt a ON a.id=r.attempt "
        f"WHERE c.campaign=? AND c.state IS NULL AND r.own_state IN {MAY_HAVE_LEFT}",
        (now + IN_FLIGHT, campaign),
    ).fetchall()
    if rows:
        by_row = np.array(rows, np.int64).T
        for known, column in zip((numbers, times, bodies), by_row, strict=True):
            known.append(column)
    return _sorted(persons(recorded(np.concatenate(numbers))), np.concatenate(times), np.concatenate(bodies))


def unsettled(connection: Statements, *, but: int) -> list[tuple[int, str]]:
    """Return number and name of other campaigns with requests under way, whether their process lives or not."""
    found: list[tuple[int, str]] = connection.execute(
        "SELECT id, name FROM campaign k WHERE id<>? AND NOT EXISTS (SELECT 1 FROM contacts c WHERE c.campaign=k.id) "
        "AND EXISTS (SELECT 1 FROM attempt a WHERE a.campaign=k.id AND a.outcome IS NULL)",
        (but,),
    ).fetchall()
    return found


def pack(connection: Statements, campaign: int, *, now: int) -> None:
    """Store a campaign's packed contacts. The caller holds the campaign's lock and has a transaction open."""
    _write(connection, campaign, read(connection, campaign, now=now))


def pack_hashed(connection: Statements, campaign: int, *, now: int) -> None:
    """Pack a campaign's contacts with hashes in the place of people and bodies, before its rows are purged."""
    found, secret = read(connection, campaign, now=now), secret_of(connection)
    _write(connection, campaign, _sorted(hashed(found.people, secret), found.at, keyed(found.body, secret)))


def unpack(connection: Statements, campaign: int) -> None:
    connection.execute("DELETE FROM contacts WHERE campaign=?", (campaign,))
    unpack_sums(connection, campaign)


def _write(connection: Statements, campaign: int, found: Contacts) -> None:
    connection.execute("DELETE FROM contacts WHERE campaign=?", (campaign,))
    if len(found.people):
        first = found.people[:1]
        people = first.astype("<i8").tobytes() + _small(np.diff(found.people, prepend=first))
        connection.execute(
            "INSERT INTO contacts VALUES (?, ?, ?, ?, ?)",
            (campaign, int(found.at.max()), people, _repeated(found.at), _repeated(found.body)),
        )


def packed(connection: Statements, campaign: int) -> Contacts:
    people, at, body = connection.execute(
        "SELECT people, at, body FROM contacts WHERE campaign=?", (campaign,)
    ).fetchone()
    steps = _from_small(people[8:])
    steps[0] = np.frombuffer(people[:8], "<i8")[0]
    return Contacts(np.cumsum(steps), _from_repeated(at), _from_repeated(body))


def _sorted(people: Ints, at: Ints, body: Ints) -> Contacts:
    order = np.argsort(people, kind="stable")
    return Contacts(people[order], at[order], body[order])


def _repeated(values: Ints) -> bytes:
    """Pack integers of which few are different: the distinct ones, then an index for each."""
    distinct, which = np.unique(values, return_inverse=True)
    head = np.array([len(distinct)], "<i8").tobytes() + distinct.astype("<i8").tobytes()
    return head + _small(which.ravel())


def _from_repeated(packed: bytes) -> Ints:
    many = int(np.frombuffer(packed[:8], "<i8")[0])
    distinct = np.frombuffer(packed[8 : 8 + 8 * many], "<i8")
    return np.array(np.take(distinct, _from_small(packed[8 + 8 * many :])), np.int64)


def _small(values: Ints) -> bytes:
    """Pack integers from 0 in as few bytes each as the largest needs."""
    most = int(values.max(initial=0))
    kind = next(kind for kind in _KINDS if most <= np.iinfo(kind).max)
    return bytes([_KINDS.index(kind)]) + values.astype(kind).tobytes()


def _from_small(packed: bytes) -> Ints:
    return np.frombuffer(packed, _KINDS[packed[0]], offset=1).astype(np.int64)
