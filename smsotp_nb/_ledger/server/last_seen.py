"""Where a database is and what was last seen of it, so that one that went back in time is noticed by everybody.

An asynchronous standby that is promoted, or a dump that is restored, lacks the latest requests: its rows stand as
planned, and everybody would be texted twice. So the database itself says where it is: the identifier of its server, the
timeline, the database and its table. Where that is not so, everybody is refused until somebody accepts it, once.

What was restored in its own place, such as the disk of the server as of yesterday, says the same as before. So each
user also keeps, beside sessions, the position of the log and the latest request, as they were last seen.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from ... import __version__
from ..._cards import counted
from ..._own_files import READ_WRITE
from ..._showing.text import visible
from ...errors import LedgerError, ReplacedLedgerError, StaleLedgerError
from ..file.disk import OWN, make_notes_folder, notes_folder, write_at
from ..file.last_seen import Mark, Marks, Session, complain
from ..opening import _behind
from ..rows.statements import Statements
from ..rows.tables import VERSION
from .address import Address

# Where a database is: the identifier of the server, its timeline, the database and its table.
PLACE = (
    "concat_ws('/', (SELECT system_identifier FROM pg_control_system()), "
    "CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END, "
    "(SELECT oid FROM pg_database WHERE datname=current_database()), 'ledger'::regclass::oid)"
)
# In one row: what is noted, and what must be true of a server that keeps what it confirms.
SEEN = (
    f"l.id, {PLACE}, "
    "CASE WHEN pg_is_in_recovery() THEN 0 ELSE (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint END, "
    "coalesce((SELECT max(id) FROM attempt), 0), s.version, current_setting('fsync'), "
    "current_setting('full_page_writes'), pg_is_in_recovery(), s.since, s.place, s.accepted"
)
TURN = f"SELECT {SEEN} FROM ledger l, served s FOR UPDATE OF l"
NAMES = "ledger, place, log, requests, version, fsync, full_pages, standby, since, was, accepted"
_SIZE = 512
_LONGEST = 8 * _SIZE


@dataclass(frozen=True, slots=True)
class Sighting:
    """A database as it was at one moment."""

    ledger: bytes
    place: str
    log: int
    requests: int
    version: int = 0
    fsync: str = "on"
    full_pages: str = "on"
    standby: bool = False
    since: str = ""
    was: str = ""
    accepted: int = 0

    @classmethod
    def read(cls, row: tuple[Any, ...]) -> Sighting:
        """Return what a row of `SEEN` says."""
        return cls(bytes(row[0]), *row[1:])

    def refuse_unsafe(self) -> None:
        """Refuse a server that may lose what it has confirmed, or that asks for a later version of this package."""
        off = [name for name, value in (("fsync", self.fsync), ("full_page_writes", self.full_pages)) if value != "on"]
        if off:
            raise LedgerError(
                f"the server of the ledger has {' and '.join(off)} switched off: after a power cut it would not know "
                "who was texted. Nothing was sent; switch it on, then call again"
            )
        if self.standby:
            raise LedgerError("the server of the ledger is a standby, which records nothing. Nothing was sent")
        if _numbers(__version__) < _numbers(self.since):
            raise LedgerError(
                f"the ledger on the server asks for smsotp_nb {visible(self.since)} or later; this is {__version__}. "
                "Nothing was sent; upgrade it, restart the kernel, then call again"
            )

        if self.version != VERSION:
            raise LedgerError(
                f"the ledger on the server has version {self.version}, and this package knows {VERSION}; use the "
                "version of smsotp_nb with which it was made"
            )

    def refuse_another(self, now: Sighting) -> None:
        """Refuse, in the middle of a run, a database that is not the one that was opened."""
        found = self.differences(now)
        if found:
            raise ReplacedLedgerError(
                f"the ledger's database is no longer the one that was opened: {found}. Requests that it had recorded "
                "may be missing in it. Nothing more was sent; open it again, which says what to do"
            )

    def moved(self) -> str:
        """Return in words how a database is not where it was made or last accepted; empty if it is there."""
        return replace(self, place=self.was).differences(self)

    def differences(self, now: Sighting) -> str:
        """Return in words how a database differs from this sighting of it; empty if it only went on."""
        (system, timeline, *tables), (its_system, its_timeline, *its_tables) = (
            self.place.split("/"),
            now.place.split("/"),
        )
        same = (
            ("it is another ledger", self.ledger != now.ledger),
            ("it is on another server, or on one made anew", system != its_system),
            ("a standby was promoted, or the server was restored", timeline != its_timeline),
            ("the database or its tables were made anew", tables != its_tables),
            ("its log went back", system == its_system and now.log < self.log),
            ("its latest requests are missing", now.requests < self.requests),
        )
        return ", ".join(said for said, wrong in same if wrong)


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in re.findall(r"\d+", version)]
    return tuple([*numbers, 0, 0, 0][:3])


class Notes:
    """What this user noted of one database: the sessions of the marks, and the latest sighting.

    Made before the database is looked at: other processes of this user go on noting what it confirms.
    """

    _marks: Marks

    def __init__(self, address: Address) -> None:
        self._folder = notes_folder()
        self._address, self._path = address, self._folder / f"server-{address.key}.json"
        self._descriptor: int | None = None
        self._known = self._noted()

    def refuse_older(
        self, connection: Statements, seen: Sighting, accept: Callable[[Sighting, str], Sighting] | None
    ) -> Sighting:
        """Refuse a database that is not where it was, or lacks what was noted of it; return it as it was accepted.

        ``accept`` notes in it that it was, and why that was asked; None: nobody accepts it. What somebody has accepted
        since something was noted here needs no second acceptance.
        """
        self._marks = Marks([Mark(self._folder / f"{seen.ledger.hex()}.mark", seen.ledger, noted=True)])
        behind = _behind(connection, self._marks.sessions())
        lacks = self._known.differences(seen) if self._known else ""
        lacks = lacks or "its latest requests are missing" * bool(behind)
        is_overruled = self._known is not None and seen.accepted > self._known.accepted
        found = seen.moved() or lacks * (not is_overruled)
        if found and accept is None:
            raise _older(self._address, found, behind)
        if found and accept is not None:
            seen = accept(seen, found)
        if behind:
            self._marks.set_aside(behind)
        if found or lacks:
            self._open()
            self._write(seen)
        return seen

    def begin(self, session: Session) -> None:
        self._marks.begin(session)
        self._open()

    def note(self, seen: Sighting, *, attempt: int, recipients: int, acts: int, at: int) -> None:
        self._marks.note(attempt=attempt, recipients=recipients, acts=acts, at=at)
        self._write(replace(seen, requests=max(attempt, seen.requests)))

    def close(self) -> None:
        self._marks.close()
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def _noted(self) -> Sighting | None:
        try:
            found = OWN.read(self._path, _LONGEST).strip()
            if not found:  # an interrupt came between the file and what was to be noted in it
                return None
            values = json.loads(found)
            return Sighting(bytes.fromhex(values.pop("ledger")), **values)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
            self._complain(error)  # of another version, perhaps
            return None

    def _open(self) -> None:
        if self._descriptor is None:
            try:
                make_notes_folder(self._path.parent)
                self._descriptor = OWN.open(self._path, os.O_CREAT | READ_WRITE)
            except OSError as error:
                self._complain(error)

    def _write(self, seen: Sighting) -> None:
        if self._descriptor is None:
            return
        values = {**asdict(seen), "ledger": seen.ledger.hex()}
        with contextlib.suppress(OSError):  # the mark in this folder has said so
            write_at(self._descriptor, json.dumps(values).encode().ljust(_SIZE), 0)

    def _complain(self, error: Exception) -> None:
        complain(self._path, error, "a database that went back in time")


def _older(address: Address, found: str, behind: list[Session]) -> StaleLedgerError:
    recipients = sum(session.recipients for session in behind)
    lost = f" Up to {counted(recipients, 'recipient')} whom you texted since may stand as not texted in it." * bool(
        recipients
    )
    return StaleLedgerError(
        f"the ledger {address} is not the database that was last used here: {found}. Requests that it had recorded may "
        f"be missing in it, and their people stand as not texted.{lost} Nothing was sent. Have the latest state "
        "restored; or, if you know whom it texted, open this one with Ledger(address, accept_older=True), once for all",
        recipients=recipients,
    )
