"""Take the record of a file over into one on a server, in one transaction; a second file moves in by number.

An empty server takes the file's id and secret along, so that its keys of persons stay as they are. A server that has
records already has another secret: there the keys are made anew from the numbers, and a purged row, which has no number
any more, gets a key that is nobody's.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..errors import CampaignLockedError, LedgerError
from . import leases
from .store import Row, Staged, Store, Transaction, note_event
from .tables import CAMPAIGN

if TYPE_CHECKING:
    from .sqlite_store import SqliteStore

_BLOCK: Final = 10_000  # rows that are read at once
# What is counted, in words.
_COUNTED: Final = {
    "campaign": "campaigns", "recipient": "recipients", "attempt": "requests", "consent": "opt-outs and opt-ins"
}  # fmt: skip
_CAMPAIGN: Final = (
    "realm, name, name_key, kind, service, fingerprint, created_at, kept, skipped, withdrawn, purged"
)
_ATTEMPT: Final = (
    "chunk, service, started_at, settled_at, outcome, phase, http_status, error_code, error, request_id, milliseconds, "
    "currency, recipients, message_count, total, disagreement"
)
_RECIPIENT: Final = (
    "chunk", "person", "number", "position", "list_row", "body", "message", "region", "type", "encoding", "est_parts",
    "est_micros", "est_currency", "kept", "state", "problem", "not_before", "attempt", "attempts", "not_accepted", "id",
    "iso", "cc", "parts", "micros", "currency",
)  # fmt: skip
_MESSAGE: Final = "number, version, key, segment, text, since, reason"
_CONSENT: Final = "opted_out, at, zone, recorded_at, source, proof"
_EVENT: Final = "at, who, what, rows, reason, replaced"


def move(source: SqliteStore, target: Store, *, now: int) -> dict[str, int]:
    """Take a file's record over; return how many there are of what people know.

    The file is locked for all who write until the server has confirmed it, and is refused from then on. If this process
    dies between the two, the next call finds by the note on the server that it is there already.

    Raises:
        CampaignLockedError: a campaign of the file is running.
        LedgerError: the file went to another server, or a campaign of the same name is recorded there.
    """
    token = _token(source)
    with source.writing() as file:
        _refuse_running(file)
        moved_to = dict(file.rows("SELECT key, value FROM meta WHERE key='moved_to'")).get("moved_to")
        arrived = target.rows("SELECT 1 FROM meta WHERE key=?", (f"imported {token}",))
        if moved_to not in (None, str(target.path)):
            raise LedgerError(f"the ledger {source.path} was moved to {moved_to} before. Nothing was changed")
        if not arrived:
            _copy(file, target, source, token, now=now)
        file.run("DELETE FROM meta WHERE key='moved_to'")
        file.run("INSERT INTO meta (key, value) VALUES ('moved_to', ?)", (str(target.path),))
        return {told: _count(file, table) for table, told in _COUNTED.items()}


def _token(source: Store) -> str:
    """Return what tells this file from a second one with the same id, such as a copy: how far it went."""
    newest, events = source.rows("SELECT (SELECT max(id) FROM attempt), (SELECT max(id) FROM event)")[0]
    return f"{source.id} {newest or 0} {events or 0}"


def _count(tx: Transaction, table: str) -> int:
    return int(tx.rows(f"SELECT count(*) FROM {table}")[0][0])


def _refuse_running(file: Transaction) -> None:
    """Refuse a file of which a campaign is being sent; what dead processes left is in doubt."""
    runners = "SELECT id, name, who, coalesce(process, '') FROM campaign WHERE runner IS NOT NULL"
    for number, name, who, process in file.rows(runners):
        if not leases.is_dead(process, one_machine=True):
            raise CampaignLockedError(
                f"campaign {name!r} is being run by {who}. Nothing was changed. Next: let it end, then call again"
            )
        leases.put_in_doubt(file, number, leases.OWNER_DIED, now=0)
        file.run("UPDATE campaign SET runner=NULL, process=NULL, until=NULL WHERE id=?", (number,))


def _copy(file: Transaction, target: Store, source: SqliteStore, token: str, *, now: int) -> None:
    is_empty = not any(target.rows(f"SELECT 1 FROM {table} LIMIT 1") for table in ("campaign", "consent"))
    offsets = _Offsets(target, is_empty=is_empty)
    rekey = (lambda row: row) if is_empty else _rekeyed(target)
    rows = (rekey(row) for row in _blocks(file, f"SELECT campaign, {', '.join(_RECIPIENT)} FROM recipient"))
    staged = Staged(("campaign", *_RECIPIENT), (offsets.shifted(row) for row in rows))
    with target.writing(staged=staged) as tx:
        _refuse_same_names(file, tx)
        if is_empty:
            _take_identity(file, tx)
        _insert(file, tx, "campaign", f"id+{offsets.campaign}", f"id, {_CAMPAIGN}", _CAMPAIGN)
        tx.insert_staged(-1)
        attempts = f"id+{offsets.attempt}, campaign+{offsets.campaign}"
        _insert(file, tx, "attempt", attempts, f"id, campaign, {_ATTEMPT}", _ATTEMPT)
        _insert(file, tx, "message", f"campaign+{offsets.campaign}", f"campaign, {_MESSAGE}", _MESSAGE)
        _insert(file, tx, "event", f"campaign+{offsets.campaign}", f"campaign, {_EVENT}", _EVENT)
        _insert_consents(file, tx, None if is_empty else target)
        for table in ("campaign", "attempt"):
            tx.rows(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")
        _compare(file, tx, offsets)
        tx.run("INSERT INTO meta (key, value) VALUES (?, ?)", (f"imported {token}", source.path.name))
        note_event(tx, "imported", now=now, rows=_count(file, "recipient"), reason=source.path.name)


class _Offsets:
    """What is added to the file's numbers: those that the server has already."""

    def __init__(self, target: Store, *, is_empty: bool) -> None:
        self.campaign = self.attempt = 0
        self.before = 0
        if not is_empty:
            self.campaign, self.attempt, self.before = target.rows(
                "SELECT (SELECT coalesce(max(id), 0) FROM campaign), (SELECT coalesce(max(id), 0) FROM attempt), "
                "(SELECT count(*) FROM recipient)"
            )[0]

    def shifted(self, row: Row) -> Row:
        campaign, *rest = row
        at = _RECIPIENT.index("attempt")
        if rest[at] is not None:
            rest[at] += self.attempt
        return (campaign + self.campaign, *rest)


def _rekeyed(target: Store) -> Callable[[Row], Row]:
    person, number = _RECIPIENT.index("person") + 1, _RECIPIENT.index("number") + 1

    def rekey(row: Row) -> Row:
        key = secrets.randbits(63) if row[number] is None else target.person(row[number])
        return (*row[:person], key, *row[person + 1 :])

    return rekey


def _blocks(file: Transaction, sql: str) -> Iterator[Row]:
    """Give the rows of a table in blocks, by its key."""
    after: tuple[Any, ...] = (-1, -1, -(2**63))
    while True:
        rows = file.rows(
            f"{sql} WHERE (campaign, chunk, person) > (?, ?, ?) ORDER BY campaign, chunk, person LIMIT {_BLOCK}", after
        )
        yield from rows
        if len(rows) < _BLOCK:
            return
        after = rows[-1][:3]


def _insert(file: Transaction, tx: Transaction, table: str, key: str, columns: str, rest: str) -> None:
    rows = file.rows(f"SELECT {key}, {rest} FROM {table}")
    if rows:
        marks = ", ".join("?" for _ in rows[0])
        tx.many(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)


def _insert_consents(file: Transaction, tx: Transaction, target: Store | None) -> None:
    """Insert what people said; with ``target`` under the keys of that record."""
    rows = file.rows(f"SELECT person, number, {_CONSENT} FROM consent")
    out = [person for (person,) in file.rows("SELECT person FROM opted_out")]
    if target is not None:
        rows = [row for row in rows if row[1] is not None]
        people = target.persons(np.array([row[1] for row in rows], np.int64)).tolist()
        key_of = {row[0]: person for row, person in zip(rows, people, strict=True)}
        rows = [(key_of[row[0]], *row[1:]) for row in rows]
        out = [key_of[person] for person in out if person in key_of]
    marks = "?, ?, ?, ?, ?, ?, ?, ?"
    tx.many(
        f"INSERT INTO consent (person, number, {_CONSENT}) VALUES ({marks}) ON CONFLICT DO NOTHING", rows
    )
    tx.many("INSERT INTO opted_out VALUES (?) ON CONFLICT DO NOTHING", [(person,) for person in out])


def _refuse_same_names(file: Transaction, tx: Transaction) -> None:
    sql = f"SELECT realm, name_key, name FROM campaign WHERE kind='{CAMPAIGN}'"
    there = {(realm, key) for realm, key, _ in tx.rows(sql)}
    both = [name for realm, key, name in file.rows(sql) if (realm, key) in there]
    if both:
        raise LedgerError(
            f"campaign {both[0]!r} is recorded on the server, too: nobody could tell the two apart. Nothing was changed"
        )


def _take_identity(file: Transaction, tx: Transaction) -> None:
    """Give an empty server the id and the secret of the file: keys and the note of the latest request stay true."""
    for key, value in file.rows("SELECT key, value FROM meta WHERE key IN ('id', 'secret', 'retention')"):
        tx.run("DELETE FROM meta WHERE key=?", (key,))
        tx.run("INSERT INTO meta (key, value) VALUES (?, ?)", (key, value))


def _compare(file: Transaction, tx: Transaction, offsets: _Offsets) -> None:
    """Refuse a copy that has not as many rows in each state and as much money as the file."""
    sql = (
        "SELECT campaign+{}, state, count(*), coalesce(sum(micros), 0), coalesce(sum(attempts), 0) FROM recipient "
        "WHERE campaign>? GROUP BY 1, 2 ORDER BY 1, 2"
    )
    sent = file.rows(sql.format(offsets.campaign), (0,))
    received = tx.rows(sql.format(0), (offsets.campaign,))
    if [tuple(map(int, row)) for row in sent] != [tuple(map(int, row)) for row in received]:
        raise LedgerError(
            "what the server has of the recipients is not what the file holds. Nothing was changed. Next: call again, "
            "and if it happens again, please report it"
        )
