"""Open a ledger: check that it is one, that it is undamaged, and that it has everything this user last saw in it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import sqlite3
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .._cards import counted
from .._moments import said
from .._own_files import JOURNAL, files_of_sqlite, is_of_another, tighten
from .._schema import limit, strange
from .._services import REHEARSAL
from ..errors import LedgerError, StaleLedgerError
from .file.disk import OWN, beside, notes_folder
from .file.last_seen import Mark, Marks, Seal, Session
from .file.locks import Anchor
from .rows.statements import Statements
from .rows.tables import APPLICATION_ID, TABLES, VERSION

# The user version holds two numbers: the version of the tables, and how often a log was begun (`Opened`).
ONE_GENERATION = 256
PATIENCE = 30.0  # seconds to wait for another process's lock
LATEST_SESSIONS = 64  # that are looked at to the last request
ID_BYTES = 16
_LONGEST_NOTE = 4096  # bytes
_HOLDS_PEOPLE = (
    f"SELECT EXISTS (SELECT 1 FROM campaign WHERE substr(service, 1, {len(REHEARSAL)})<>'{REHEARSAL}')"
    " OR EXISTS (SELECT 1 FROM consent)"
)


@dataclass(slots=True)
class Opened:
    """An open ledger: its connection, its hold on the files, and its marks.

    The first transaction of every log raises the file's user version, its generation. Once the log has been copied into
    the file, the file itself has the higher generation; a file with a lower one than before is an older file.
    """

    path: Path
    connection: sqlite3.Connection
    anchor: Anchor
    ledger: bytes
    marks: Marks
    moving: bool = False  # to a server: the one use that is left to a file whose ledger went there
    session: int = 0  # 0: nothing was written yet
    acts: int = 0  # of this session, other than requests
    live: bool = False  # it holds more than rehearsals
    _token: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)
    _begun: bool = False  # the session is in the ledger
    _noted: bool = False  # and in the marks
    _raised: int = -1  # the file's generation above which the log's was raised
    _raising: int = -1

    def prepare_to_write(self) -> None:
        """Begin the session with its first transaction, and every log with a higher generation."""
        now = self.anchor.generation()
        self._raising = now
        if now != self._raised:
            known = self.connection.execute("PRAGMA user_version").fetchone()[0]
            if known == now:
                self.marks.first.break_seal()  # from here on the file may change at any time
                self.connection.execute(f"PRAGMA user_version={known + ONE_GENERATION}")
        self.refuse_moved()
        if not self.session:
            inserted = self.connection.execute(
                "INSERT INTO session (token, started_at) VALUES (?, ?)", (self._token, time.time_ns() // 1000)
            )
            self.session = int(inserted.lastrowid or 0)

    def refuse_moved(self) -> None:
        """Refuse every use of a file whose ledger is on a server; another process may have moved it a moment ago."""
        if not self.moving:
            refuse_moved(self.connection, self.path)

    def note_acts(self, *, durable: bool, claimed: bool) -> None:
        """Count a durable transaction without a request, so that an older copy that lacks it is recognized as well."""
        if durable and not claimed:
            self.acts += 1
            self.connection.execute("UPDATE session SET acts=? WHERE id=?", (self.acts, self.session))

    def committed(self) -> None:
        self._raised, self._begun = self._raising, True

    def rolled_back(self) -> None:
        self._raised = -1
        if not self._begun:
            self.session, self.acts = 0, 0

    def holds_people(self) -> bool:
        """Say whether it holds more than rehearsals; once it does, it is not asked again."""
        self.live = self.live or bool(self.connection.execute(_HOLDS_PEOPLE).fetchone()[0])
        return self.live

    def begin_noting(self) -> None:
        """Begin the session in the marks, once it is in the ledger."""
        if not self._noted:
            self._noted = True
            self.marks.begin(Session(self._token, at=time.time_ns() // 1000))
            _note_place(self.path, self.ledger)

    def checkpoint(self) -> bool:
        """Copy the log into the file, empty it if nobody reads, and note how the file then stands."""
        self.connection.execute("PRAGMA busy_timeout=0")
        busy = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        self.connection.execute(f"PRAGMA busy_timeout={PATIENCE * 1000:.0f}")
        if not busy:
            self.marks.first.note_seal(Seal(self.anchor.generation(), *self.anchor.checksum()))
        return not busy

    def close(self) -> None:
        """Leave the ledger in one file and note its checksum."""
        try:
            with contextlib.suppress(LedgerError, sqlite3.Error, OSError), self.anchor.writing():
                if self._noted:
                    self.anchor.verify()
                    self.checkpoint()
                self.anchor.leave()
                self.connection.close()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close it without letting SQLite copy its log into the file, which may be another one by now."""
        try:
            self.connection.close()  # while the anchor holds the file, unless it was closed before
        finally:
            try:
                self.anchor.close()
            finally:
                self.marks.close()


def open_ledger(path: Path, *, create: bool, accept_older: bool, moving: bool = False) -> Opened:
    """Open a ledger; with ``create`` an empty file becomes one."""
    if not path.exists():
        raise LedgerError(
            f"the ledger {path} is gone: it was deleted or moved. Nothing was sent. Put it back, or "
            "`Ledger.restore` a backup"
        )
    connection, began = _connect(path, create=create, accept_older=accept_older)
    anchor = None
    try:
        anchor = Anchor(path)
        ledger = connection.execute("SELECT id FROM ledger").fetchone()[0]
        anchor.settle()
        marks = _marks(path, ledger)
        with anchor.writing():
            if began:
                marks.first.break_seal()
            _refuse_damaged(path, connection, anchor, marks.first.seal())
        if not moving:
            refuse_moved(connection, path)
        behind = _behind(connection, marks.sessions())
        if behind and not accept_older and _held_people(marks):
            raise _older(path, connection, behind)
        if behind:
            marks.set_aside(behind)
            _note_place(path, ledger)
        return Opened(path, connection, anchor, ledger, marks, moving)
    except BaseException:
        connection.close()
        if anchor is not None:
            anchor.close()
        raise


def check_ledger(connection: sqlite3.Connection, path: Path) -> None:
    limit(connection)
    _refuse_others(connection, path)
    if _is_new(connection):
        raise LedgerError(f"{path} is empty and not a ledger")
    _refuse_altered(connection, path)
    _refuse(path, _looked_at(connection))


def refuse_others(path: Path) -> None:
    """Refuse a ledger that is no file, or where something else is in the place of what belongs beside it.

    Beside a ledger of this user everything is this user's; one that another user owns may be used by several.
    """
    files = files_of_sqlite(path)
    for file in files:
        OWN.refuse_other(file)
    if not is_of_another(files[0]):
        for file in (*files[1:], beside(path, "-mark"), beside(path, "-runs")):
            OWN.refuse_of_another(file)
    OWN.refuse_journal(files[JOURNAL])


def break_seal(place: Path) -> None:
    """Forget the seal of the file at a path, because another one is about to replace it on purpose."""
    _marks(place, b"").first.break_seal()


def refuse_if_older(connection: sqlite3.Connection, place: Path) -> None:
    """Refuse a ledger that lacks what was last seen of it, or of the ledger it is to replace."""
    ledger = connection.execute("SELECT id FROM ledger").fetchone()[0]
    marks = _marks(place, ledger)
    behind = _behind(connection, marks.sessions())
    if behind and _held_people(marks):
        raise _older(place, connection, behind)


def _refuse_new(path: Path, connection: sqlite3.Connection, *, create: bool, accept_older: bool) -> None:
    """Refuse an empty file where a ledger should be, before it becomes one in which nobody was texted."""
    if not create:
        raise LedgerError(
            f"the file {path} is empty and not a ledger. A new ledger does not know who was texted: correct the path, "
            "or, to begin a record there, pass create=True"
        )
    # Somebody else may have put it there, so that a new ledger becomes theirs to read.
    found = "is a link to" if path.is_symlink() else "belongs to another user, as" if is_of_another(path) else ""
    if found:
        raise LedgerError(
            f"the ledger {path} {found} an empty file, and a new ledger is only put into a file of your own. Delete "
            "it, or name another path, then call again"
        )
    marks = _marks(path, b"")
    if not accept_older and _held_people(marks):
        raise _older(path, connection, marks.sessions())


def _connect(path: Path, *, create: bool, accept_older: bool) -> tuple[sqlite3.Connection, bool]:
    """Return a connection, and whether the file had no log before: it is new, or a backup."""
    refuse_others(path)
    address = path.absolute().as_uri() + "?mode=rw"  # never a new file in the place of one that is gone
    connection = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    connection.create_function("greatest", 2, max, deterministic=True)  # which a server has
    try:
        limit(connection)
        _refuse_others(connection, path)  # before the journal mode, which is written into the file
        _refuse_altered(connection, path)
        if _is_new(connection):
            _refuse_new(path, connection, create=create, accept_older=accept_older)
        for file in files_of_sqlite(path):  # not before: a file of another program is left as it is
            tighten(file)
        began = connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal"
        _keep_log(connection)
        connection.execute("PRAGMA wal_autocheckpoint=0")  # only where the file is known to be ours, see `Store`
        connection.execute("PRAGMA fullfsync=1")  # macOS: a plain fsync does not reach the disk
        _prepare(connection)
        refuse_others(path)  # what was put there between the look and the log
    except BaseException:
        connection.close()
        raise
    return connection, began


def _keep_log(connection: sqlite3.Connection) -> None:
    """Let the file have a log; SQLite itself does not wait for others who have the same new file at this moment."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.001)
        else:
            return


def _is_new(connection: sqlite3.Connection) -> bool:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    return version == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone()


def _prepare(connection: sqlite3.Connection) -> None:
    if not _is_new(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    if _is_new(connection):  # nobody else has begun it meanwhile
        for statement in TABLES.split(";\n"):
            connection.execute(statement)
        connection.execute(
            "INSERT INTO ledger (id, secret) VALUES (?, ?)", (secrets.token_bytes(ID_BYTES), secrets.token_bytes(32))
        )
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={VERSION}")
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _refuse_others(connection: sqlite3.Connection, path: Path) -> None:
    new = _is_new(connection)  # first: another process may be creating the ledger at this moment
    version = connection.execute("PRAGMA user_version").fetchone()[0] % ONE_GENERATION
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if not new and application != APPLICATION_ID:
        raise LedgerError(f"{path} is a database of another program; choose another path for the ledger")
    if version > VERSION:
        raise LedgerError(
            f"{path} was written by a newer version of this package (ledger version {version}, this one knows "
            f"{VERSION}); upgrade smsotp_nb, or choose another path for the ledger"
        )
    if not new and version < VERSION:
        raise LedgerError(
            f"{path} was written before the first release (ledger version {version}, this one knows {VERSION}); "
            "choose another path for the ledger, and pass to `exclude=` those whom its campaigns texted"
        )


def _refuse_altered(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse tables, views and triggers that we did not write: one of them could answer for a table of ours."""
    if not _is_new(connection) and (found := strange(connection, TABLES)):
        raise LedgerError(
            f"the ledger {path} is damaged or was altered: {found} is not as this package wrote it. "
            "Nothing was sent, and the file is unchanged. Restore a backup with `Ledger.restore(backup, path)`"
        )


def _refuse_damaged(path: Path, connection: sqlite3.Connection, anchor: Anchor, seal: Seal | None) -> None:
    """Compare the file with its checksum when it was closed; after an unclean end, let SQLite check it.

    Once is enough while this process holds the file: a table of costs is read by a connection of its own.
    """
    now, log = anchor.generation(), connection.execute("PRAGMA user_version").fetchone()[0]
    # A file whose making ended half way has nothing in it yet, and all in its first log.
    if log - now not in (0, ONE_GENERATION) and not (now == 0 and log in (VERSION, VERSION + ONE_GENERATION)):
        _refuse(path, "the log (-wal) beside it belongs to another state of it")
    state = anchor.state()
    if anchor.files.whole == state:  # found undamaged by this process and held since, and nobody has written to it
        return
    if seal is None or seal.generation != now:
        _refuse(path, _looked_at(connection))
    elif anchor.checksum() != (seal.size, seal.crc):
        _refuse(path, "its bytes changed since it was closed")
    anchor.files.whole = state


def _looked_at(connection: sqlite3.Connection) -> str:
    try:
        said = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if said == "ok" else said.splitlines()[-1]


def _refuse(path: Path, found: str) -> None:
    if found:
        raise LedgerError(
            f"the ledger {path} is damaged: {found}. Nothing was sent, and the file is unchanged. Restore a "
            "backup with `Ledger.restore(backup, path)`; it reports how many recipients the backup may lack"
        )


def _place(path: Path) -> Path:
    return notes_folder() / f"at-{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]}"


def was_there(path: Path) -> bool:
    """Return whether anything says that a ledger was ever at a path: a file beside it, a link, or this user's notes."""
    files = (path, *files_of_sqlite(path), beside(path, "-mark"), beside(path, "-runs"), _place(path))
    return any(os.path.lexists(file) for file in files)


def _note_place(path: Path, ledger: bytes) -> None:
    """Note which ledger is at a path; otherwise a deleted one would be started afresh without notice."""
    with contextlib.suppress(OSError):  # the mark in this folder has said so
        if _noted_at(path) != ledger:
            with os.fdopen(OWN.open(_place(path), os.O_CREAT | os.O_TRUNC | os.O_WRONLY), "w") as file:
                file.write(ledger.hex())


def _noted_at(path: Path) -> bytes:
    """Return which ledger was last noted at a path; of bytes that no such note has, none."""
    with contextlib.suppress(OSError, ValueError):
        known = bytes.fromhex(OWN.read(_place(path), _LONGEST_NOTE).decode())
        return known if len(known) == ID_BYTES else b""
    return b""


def _marks(path: Path, ledger: bytes) -> Marks:
    """Return the marks of a ledger, and those of another one that was at its path before."""
    path = path.resolve()
    known = _noted_at(path)
    noted = [
        Mark(notes_folder() / f"{one.hex()}.mark", one, noted=True)
        for one in (ledger, *([known] if known not in (b"", ledger) else []))
    ]
    return Marks([Mark(beside(path, "-mark"), ledger), noted[0]], noted[1:])


def _behind(connection: Statements, seen: list[Session]) -> list[Session]:
    """Return what was seen and is missing now, session by session."""
    missing = []
    known_sessions = {row[0]: row[1:] for row in connection.execute("SELECT token, id, acts, upto FROM session")}
    for n, session in enumerate(sorted(seen, key=lambda session: -session.at)):
        if session.token not in known_sessions:
            missing.append(session)
            continue
        if n >= LATEST_SESSIONS:  # a ledger that ends within an earlier one lacks the later ones
            continue
        number, acts, upto = known_sessions[session.token]
        request = connection.execute("SELECT 1 FROM attempt WHERE id=? AND session=?", (session.attempt, number))
        if acts < session.acts or (session.attempt > upto and not request.fetchone()):
            known = connection.execute(
                "SELECT count(*) FROM fate f JOIN attempt a ON a.id=f.attempt WHERE a.session=?", (number,)
            ).fetchone()[0]
            missing.append(session._replace(recipients=max(session.recipients - known, 0)))
    return missing


def _held_people(marks: Marks) -> bool:
    """Say whether what was last seen held more than rehearsals: an older copy that lacks some of those texts nobody."""
    return any(session.live for session in marks.sessions())


def _older(path: Path, connection: sqlite3.Connection, behind: list[Session]) -> StaleLedgerError:
    latest = "SELECT max(max(started_at), max(coalesce(settled_at, 0))) FROM attempt"
    own = None if _is_new(connection) else connection.execute(latest).fetchone()[0]
    recipients = sum(session.recipients for session in behind)
    ends = f"It ends at {said(own)}" if own else "No request is recorded in it"
    return StaleLedgerError(
        f"the ledger {path} is older than the one that was last used here: it is a copy or a backup, or a new file in "
        f"the place of another. {ends}; the latest was used at {said(max(session.at for session in behind))}, and up "
        f"to {counted(recipients, 'recipient')} whom it texted since may stand as not texted in "
        "this one. Nothing was sent. Put the latest file back; or, if you know whom it texted, open this one with "
        "Ledger(path, accept_older=True)",
        recipients=recipients,
    )


# The note is made before the server confirms, so that a process that dies between the two leaves a file that nobody
# uses: whether the server has it all, only the server knows. ``Ledger.import_from`` asks it when it is called again.


@dataclass(frozen=True, slots=True)
class Move:
    """Where a ledger went: the address in words, the id of the ledger there, and the token of this one move."""

    to: str
    ledger: str
    token: str
    at: int
    ended: bool = False

    def note(self, connection: Statements) -> None:
        """Record it in the file, inside a transaction."""
        connection.execute("UPDATE ledger SET moved=?", (json.dumps(asdict(self)),))


def move_of(connection: Statements) -> Move | None:
    """Return where the ledger of a file went; None: it is here."""
    noted = connection.execute("SELECT moved FROM ledger").fetchone()[0]
    return Move(**json.loads(noted)) if noted is not None else None


def refuse_moved(connection: Statements, path: Path) -> None:
    move = move_of(connection)
    if move is None:
        return
    when = said(move.at)
    if move.ended:
        raise LedgerError(
            f"the ledger {path} was taken over by {move.to} on {when}, and is used there alone. Nothing was sent; open "
            "the one there"
        )
    raise LedgerError(
        f"the ledger {path} was being taken over by {move.to} on {when}, and it is not known here whether that ended. "
        f"Nothing was sent; call import_from({path.name!r}) of the ledger there again, which ends it or begins anew"
    )
