"""What this user last saw of a ledger, kept outside of it, so that an older copy is not used by mistake.

Whoever changes a ledger begins a *session*: a row in the ledger with a random token, and an entry in two small files,
the *marks*: one beside the ledger and one in the user's state folder, which a restored backup does not bring along. The
entry is brought up to date after each commit that must not be lost, before a request leaves. A ledger that lacks a
session, or the latest request of one, is older than what was seen: it has people as planned who were texted.

A mark has room for so many sessions; a new one then takes the place of the oldest. A copy that lacks one of those lacks
the later ones as well.

A mark also keeps the checksum of the ledger's file as it was closed, so that a byte that changed since is noticed.

The format, whole numbers with the most significant byte first: a header of 64 bytes, then 64 bytes for each session. A
slot whose CRC-32 does not fit, such as one that a power cut tore, counts as never written: a mark may be behind the
ledger, but never ahead.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import NamedTuple

from ..._own_files import READ_WRITE
from ..._warnings import warn_user
from .disk import OWN, make_notes_folder, read_at, write_at

SLOT = 64
KEPT = 4_096  # sessions of a mark; an older copy of the ledger lacks the latest of them
MOST = 1 << 24  # bytes of a mark; this package writes shorter ones
_HEADER = struct.Struct(">8s16sIQI20x")  # magic, ledger, generation, size, CRC-32 of the file
_SESSION = struct.Struct(">8s16sQQQQ?3x")  # magic, token, attempt, acts, recipients, microseconds since 1970, live
_CRC = struct.Struct(">I")
_GENERATION = slice(24, 28)  # of a header
HEADER_MAGIC, SESSION_MAGIC, VOID_MAGIC = b"smsotpH1", b"smsotpS1", b"smsotpV1"


class Session(NamedTuple):
    """How far one session came: its latest request, other acts, recipients of requests, and when it was seen.

    ``live``: the ledger held more than rehearsals by then.
    """

    token: bytes
    attempt: int = 0
    acts: int = 0
    recipients: int = 0
    at: int = 0
    live: bool = False


@dataclass(frozen=True, slots=True)
class Seal:
    """A ledger's file as it was when closed: its generation, its size and the CRC-32 of its bytes."""

    generation: int
    size: int
    crc: int


class Mark:
    """One file of sessions. A folder that cannot be written gives one warning and does not stop the ledger."""

    def __init__(self, path: Path, ledger: bytes, *, noted: bool = False) -> None:
        """``noted``: it is not beside the ledger, but in the folder of this user's notes, which is made if needed."""
        self.path, self._ledger, self._noted = path, ledger, noted
        self._descriptor: int | None = None
        self._place = 0

    def sessions(self) -> list[Session]:
        return [_session(slot) for slot in self._slots() if _is_session(slot)]

    def seal(self) -> Seal | None:
        """Return the ledger's file as it was last closed, if that was noted; only a mark beside it has that."""
        slots = self._slots()
        if not slots or not slots[0].startswith(HEADER_MAGIC):
            return None
        _, known, generation, size, crc = _HEADER.unpack(slots[0][: _HEADER.size])
        return Seal(generation, size, crc) if known == self._ledger and generation else None

    def begin(self, session: Session) -> None:
        """Add a session, whose entry this mark then keeps up to date."""
        with self._forgiven():
            if self._noted:
                make_notes_folder(self.path.parent)
            self._descriptor = OWN.open(self.path, os.O_CREAT | READ_WRITE)
            end = os.fstat(self._descriptor).st_size
            if end < SLOT:
                write_at(self._descriptor, self._header(), 0)
            self._place = max(-(-end // SLOT), 1) * SLOT  # behind what a full disk cut short
            if self._place > KEPT * SLOT:  # a free place, or that of the oldest session
                slots = self._slots()
                ages = [_session(slot).at if _is_session(slot) else -1 for slot in slots]
                self._place = min(range(1, len(slots)), key=ages.__getitem__) * SLOT
            write_at(self._descriptor, _slot(session), self._place)

    def note(self, slot: bytes) -> None:
        if self._descriptor is not None:
            try:
                write_at(self._descriptor, slot, self._place)
            except OSError as error:
                self._complain(error)

    def note_seal(self, seal: Seal) -> None:
        """Note how the file stands when its log is empty, to be compared when it is opened again."""
        if self._descriptor is not None:
            with self._forgiven():
                write_at(self._descriptor, self._header(*astuple(seal)), 0)

    def break_seal(self) -> None:
        """Forget how the file was closed: it is about to change, or another one was put in its place on purpose."""
        with self._forgiven(), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            descriptor = OWN.open(self.path, READ_WRITE)
            try:
                known = read_at(descriptor, SLOT, 0)
                if known.startswith(HEADER_MAGIC) and known[_GENERATION] != bytes(4):
                    write_at(descriptor, self._header(), 0)
                    os.fsync(descriptor)  # before a byte of the ledger's file can be another one
            finally:
                os.close(descriptor)

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def set_aside(self, tokens: Iterable[bytes]) -> None:
        """Stop expecting these sessions of the ledger: a person said that it may be older."""
        gone = set(tokens)
        with self._forgiven(), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            descriptor = OWN.open(self.path, READ_WRITE)
            try:
                for place in range(SLOT, os.fstat(descriptor).st_size, SLOT):
                    slot = read_at(descriptor, SLOT, place)
                    if _is_session(slot) and slot[8:24] in gone:
                        write_at(descriptor, _checked(VOID_MAGIC + slot[8 : _SESSION.size]), place)
            finally:
                os.close(descriptor)

    def _header(self, generation: int = 0, size: int = 0, crc: int = 0) -> bytes:
        return _checked(_HEADER.pack(HEADER_MAGIC, self._ledger, generation, size, crc))

    def _slots(self) -> list[bytes]:
        try:
            found = OWN.read(self.path, MOST)
        except (FileNotFoundError, NotADirectoryError):  # nothing was ever noted there
            return []
        except OSError as error:
            self._complain(error)
            return []
        slots = [found[place : place + SLOT] for place in range(0, len(found) - SLOT + 1, SLOT)]
        return [slot if _is_whole(slot) else b"" for slot in slots]

    @contextlib.contextmanager
    def _forgiven(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._complain(error)

    def _complain(self, error: OSError) -> None:
        complain(self.path, error.strerror, "an older copy of it")


def complain(path: Path, why: object, what: str) -> None:
    """Warn that what was seen cannot be noted, so that ``what`` may not be noticed."""
    warn_user(
        f"what was last seen of the ledger cannot be noted in {path} ({why}): {what} may not be noticed. See that the "
        "folder may be written and that the disk has room"
    )


class Marks:
    """The marks of one ledger, the one beside it first; ``others`` belong to ledgers that had its place before."""

    def __init__(self, marks: Sequence[Mark], others: Sequence[Mark] = ()) -> None:
        self.first, self._marks, self._others = marks[0], marks, others
        self._session: Session | None = None

    def sessions(self) -> list[Session]:
        """Return every session that any of the marks knows, as far as it came."""
        furthest: dict[bytes, Session] = {}
        for session in (session for mark in (*self._marks, *self._others) for session in mark.sessions()):
            known = furthest.setdefault(session.token, session)
            if (session.acts, session.recipients, session.at) > (known.acts, known.recipients, known.at):
                furthest[session.token] = session
        return list(furthest.values())

    def begin(self, session: Session) -> None:
        self._session = session
        for mark in self._marks:
            mark.begin(session)

    def note(self, *, attempt: int = 0, recipients: int = 0, acts: int = 0, at: int, live: bool = True) -> None:
        """Note the latest request, or the number of other acts, and add the recipients of new requests."""
        if self._session is None:
            return
        known = self._session
        self._session = Session(
            known.token, attempt or known.attempt, acts or known.acts, known.recipients + recipients, at, live
        )
        slot = _slot(self._session)
        for mark in self._marks:
            mark.note(slot)

    @property
    def latest(self) -> int:
        return self._session.attempt if self._session else 0

    def close(self) -> None:
        self._session = None
        for mark in self._marks:
            mark.close()

    def set_aside(self, sessions: Iterable[Session]) -> None:
        tokens = [session.token for session in sessions]
        for mark in (*self._marks, *self._others):
            mark.set_aside(tokens)


def _checked(content: bytes) -> bytes:
    padded = content.ljust(SLOT - _CRC.size, b"\0")[: SLOT - _CRC.size]
    return padded + _CRC.pack(zlib.crc32(padded))


def _is_whole(slot: bytes) -> bool:
    return slot[-_CRC.size :] == _CRC.pack(zlib.crc32(slot[: -_CRC.size]))


def _is_session(slot: bytes) -> bool:
    return slot.startswith(SESSION_MAGIC)


def _slot(session: Session) -> bytes:
    return _checked(_SESSION.pack(SESSION_MAGIC, *session))


def _session(slot: bytes) -> Session:
    return Session(*_SESSION.unpack(slot[: _SESSION.size])[1:])
