"""Take a ledger in a file over into one on a server: wholly, or not at all.

Everything is copied in one transaction of the server, while the file is locked for all who write. What arrived is
counted and compared by digests with what the file holds. Then the file is noted to have gone (`opening.Move`), and only
then does the server confirm. A process that dies before that note leaves the file as it was; one that dies after it
leaves a file that is refused everywhere, until the next call asks the server whether it has it.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CampaignLockedError, LedgerError
from .file import copies
from .file.store import Store
from .opening import Move, move_of
from .record.beginning import OWNER_DIED, give_up
from .rows import runners
from .rows.statements import Statements
from .rows.tables import PLANNED, SENDING
from .server.dialect import COLUMNS, NUMBERED, OF_SERVER

if TYPE_CHECKING:
    from .server.connection import Connection

TABLES = tuple(table for table in COLUMNS if table != "ledger" and f"CREATE TABLE {table} " not in OF_SERVER)
TOLD = {  # in the words of people
    "campaign": "campaigns", "recipient": "recipients", "attempt": "requests", "consent": "opt-outs and opt-ins",
}  # fmt: skip
_EMPTY = ("campaign", "consent", "opted_out", "attempt", "contacts")
_MESSAGE = "CASE typeof(message) WHEN 'blob' THEN lower(hex(message)) ELSE message END"
_WHOLE = 2**128
_SHIFTED = {"session": ("id", "session"), "attempt": ("session", "session"), "decision": ("id", "decision")}
_OWN = {of for _, of in _SHIFTED.values()}  # tables of which an empty ledger on a server has rows already


def move(source: Store, target: Store, *, now: int) -> dict[str, int]:
    """Take over the ledger of a file; return how many there are of what people know."""
    from .server.connection import Connection  # the driver is an extra

    with source.reading() as file:
        begun = move_of(file)
    moved = "SELECT 1 FROM imported WHERE token=?"
    with target.reading() as served:
        here = bytes(served.execute("SELECT id FROM ledger").fetchone()[0]).hex()
        arrived = begun is not None and served.execute(moved, (bytes.fromhex(begun.token),)).fetchone() is not None
    if begun and (begun.ledger != here or (begun.ended and not arrived)):
        raise LedgerError(
            f"the ledger {source.path} was taken over by {begun.to}, and this is another ledger or an older state of "
            "it; nothing was changed"
        )
    if begun and arrived:
        return _ended(source, begun)
    with _at_rest(source, now=now) as held:
        mine = Move(str(target.path), here, secrets.token_hex(16), now)
        with target.writing() as served:
            assert isinstance(served, Connection)
            served.execute("SET LOCAL idle_in_transaction_session_timeout=0")  # the file may be waited for
            _refuse_filled(served, source.path)
            with source.writing() as file:
                _refuse_changed(file, source.path, begun, held)
                _copy(file, served)
                note = (bytes.fromhex(mine.token), str(source.path), now)
                served.execute("INSERT INTO imported (token, path, at) VALUES (?, ?, ?)", note)
                copies.note_in(served, source.path, "imported file", now=now)
                runners.note_decision(served, "imported", rows=_many(served), now=now, reason=source.path.name)
                target.created = False  # from now on the file says that it went there, and it is asked for it
                mine.note(file)
    return _ended(source, mine)


@contextlib.contextmanager
def unmade_if_refused(target: Store) -> Iterator[None]:
    """Take a ledger away that was made just now and is still empty, where a block could not take one over into it."""
    try:
        yield
    except BaseException:
        if target.created:
            with contextlib.suppress(LedgerError):
                _unmake(target)
        raise


def _unmake(target: Store) -> None:
    with target.writing("NORMAL") as served:
        if _filled(served):
            return
        served.execute("DROP VIEW fate")
        served.execute(f"DROP TABLE {', '.join(COLUMNS)}")
    target.created = False
    target.close()


def _ended(source: Store, mine: Move) -> dict[str, int]:
    """Note in the file that the server has it all; return what that is."""
    with source.writing() as file:
        replace(mine, ended=True).note(file)
        return {told: file.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table, told in TOLD.items()}


@contextlib.contextmanager
def _at_rest(source: Store, *, now: int) -> Iterator[set[int]]:
    """Hold every campaign that somebody could be running, with what dead processes left of them in doubt."""
    with source.reading() as file:
        found = _unfinished(file)
    with contextlib.ExitStack() as held:
        for number, name in found:
            held.callback(source.lock(number, name).release)
            give_up(source, number, OWNER_DIED, now=now)
        yield {number for number, _ in found}


def _unfinished(file: Statements) -> list[tuple[int, str]]:
    """Return number and name of each campaign that somebody could be running: it has rows to go, or is not packed."""
    sql = (
        "SELECT id, name FROM campaign k WHERE purged=0 AND (EXISTS (SELECT 1 FROM fate f WHERE f.campaign=k.id "
        f"AND f.state IN ({PLANNED}, {SENDING})) OR NOT EXISTS (SELECT 1 FROM contacts c WHERE c.campaign=k.id))"
    )
    return file.execute(sql).fetchall()


def _refuse_changed(file: Statements, path: Path, begun: Move | None, held: set[int]) -> None:
    """Refuse what came between the first look at the file and its lock: another move, or a campaign that began."""
    if move_of(file) != begun:
        raise LedgerError(f"the ledger {path} is being taken over by another server; nothing was changed here")
    began = [name for number, name in _unfinished(file) if number not in held]
    if began:
        raise CampaignLockedError(
            f"campaign {began[0]!r} was begun in {path} meanwhile; nothing was changed. Call again"
        )


def _filled(served: Statements) -> bool:
    return any(served.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in _EMPTY)


def _refuse_filled(served: Statements, path: Path) -> None:
    if _filled(served):
        raise LedgerError(
            f"the ledger on the server already has records, and {path} can only be taken over by an empty one. Nothing "
            "was changed. Let its campaigns end in the file, and record its opt-outs on the server with People.opt_out"
        )


def _copy(file: Statements, served: Connection) -> None:
    """Copy every table, and compare what arrived."""
    after = {table: _last(served, table) for table in _OWN}
    for table in TABLES:
        sent, received = _Sum(), _Sum()
        kept = {row[0] for row in served.execute(f"SELECT id FROM {table}")} if table in _OWN else set()
        served.copy_in(table, COLUMNS[table], sent.of(_rows(file, table, after)))
        for _ in received.of(row for row in served.copy_out(table, COLUMNS[table]) if row[0] not in kept):
            pass
        if sent != received:
            raise LedgerError(
                f"what the server has of the table {table!r} is not what the file holds ({received.many:,} rows of "
                f"{sent.many:,}). Nothing was changed; call again, and if it happens again, please report it"
            )
    for table in NUMBERED - {"ledger"}:
        if table in TABLES:
            served.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")
    # People have other names here: who takes the file over answers for what is in it.
    served.execute("UPDATE campaign SET author=?", (runners.decider(served),))
    secret, retention, approval = file.execute("SELECT secret, retention, approval FROM ledger").fetchone()
    sql = "UPDATE ledger SET secret=?, retention=coalesce(retention, ?), approval=greatest(approval, ?)"
    served.execute(sql, (secret, retention, approval))


def _many(served: Statements) -> int:
    return int(served.execute("SELECT count(*) FROM recipient").fetchone()[0])


def _last(served: Statements, table: str) -> int:
    return int(served.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])


def _rows(file: Statements, table: str, after: Mapping[str, int]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table as the server has them: what it numbers itself comes after what it has."""
    from .server.connection import fit

    other = {"message": _MESSAGE} if table == "recipient" else {}
    if table in _SHIFTED:
        column, of = _SHIFTED[table]
        other = {column: f"{column}+{after[of]}"}
    columns = ", ".join(other.get(name, name) for name in COLUMNS[table])
    for row in file.execute(f"SELECT {columns} FROM {table}"):
        yield tuple(fit(value) if isinstance(value, str) else value for value in row)


@dataclass(slots=True)
class _Sum:
    """How many rows there are, and a sum of their digests that does not ask for their order."""

    many: int = 0
    digest: int = 0

    def of(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Pass rows on, and add them up."""
        for row in rows:
            self.many += 1
            digest = blake2b(repr(tuple(row)).encode(), digest_size=16).digest()
            self.digest = (self.digest + int.from_bytes(digest, "big")) % _WHOLE
            yield row
