"""Threads that share a transaction, and what was seen of a ledger before."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kills.people import plan_of
from support.live import live_client

from smsotp_nb import Ledger, People, Sandbox, send
from smsotp_nb._ledger import opening
from smsotp_nb._ledger.file import disk
from smsotp_nb._ledger.file import last_seen as marks
from smsotp_nb._ledger.file.disk import file_system
from smsotp_nb._ledger.file.last_seen import SLOT, Mark, Session
from smsotp_nb._ledger.file.store import Store
from smsotp_nb._ledger.rows.statements import numbers_of
from smsotp_nb._ledger.server.last_seen import Sighting
from smsotp_nb.errors import LedgerError, StaleLedgerError

WAIT = 10.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "l.sqlite")
    yield made
    made.close()


def insert(name: str) -> Callable[[sqlite3.Connection], str]:
    def work(connection: sqlite3.Connection) -> str:
        connection.execute("INSERT INTO country (iso) VALUES (?)", (name,))
        return name

    return work


def names(store: Store) -> list[str]:
    """What a second connection finds: only what was committed."""
    connection = sqlite3.connect(store.path)
    try:
        return sorted(row[0] for row in connection.execute("SELECT iso FROM country"))
    finally:
        connection.close()


class Crowd:
    """Threads that put work into one transaction, because all of them wait while another one is busy."""

    def __init__(self, store: Store, works: list[tuple[Callable[[sqlite3.Connection], object], str]]) -> None:
        self.store, self.outcomes = store, dict[int, object]()
        self._threads = [threading.Thread(target=self._one, args=(n, *work)) for n, work in enumerate(works)]

    def run(self) -> list[object]:
        with self.store._guard:
            for thread in self._threads:
                thread.start()
            waiting = threading.Event()
            while len(self.store._waiting) < len(self._threads):
                waiting.wait(0.001)
        for thread in self._threads:
            thread.join(WAIT)
        return [self.outcomes[n] for n in range(len(self._threads))]

    def _one(self, number: int, work: Callable[[sqlite3.Connection], object], synchronous: str) -> None:
        try:
            self.outcomes[number] = self.store.together(work, synchronous)  # type: ignore[arg-type]
        except (LedgerError, KeyboardInterrupt) as error:
            self.outcomes[number] = error


@pytest.fixture
def statements(store: Store) -> list[str]:
    """Every statement that the connection runs from here on."""
    found: list[str] = []
    with store.reading() as connection:
        connection.set_trace_callback(found.append)
    return found


def test_a_row_that_many_share_is_recorded_once(store: Store) -> None:
    rows = [{"iso": iso, "cc": cc} for iso, cc in (("US", "1"), (None, None), ("CA", "1"), ("US", "1"), (None, "1"))]
    with store.writing() as connection:
        first, again = numbers_of(connection, "country", rows), numbers_of(connection, "country", rows[::-1])
    assert first == again[::-1] == [1, 2, 3, 1, 4]


def test_alone_it_is_a_transaction_of_its_own(store: Store) -> None:
    assert store.together(insert("a"), "FULL") == "a"
    assert names(store) == ["a"]


def test_threads_that_wait_share_one_transaction_and_each_gets_its_own_result(
    store: Store, statements: list[str]
) -> None:
    found = Crowd(store, [(insert(f"n{n:02}"), "FULL") for n in range(20)]).run()
    assert found == [f"n{n:02}" for n in range(20)]
    assert names(store) == found
    assert statements.count("COMMIT") == 1


@pytest.mark.parametrize(
    ("asked", "used"),
    [(("NORMAL", "NORMAL"), "NORMAL"), (("NORMAL", "FULL"), "FULL"), (("FULL", "NORMAL"), "FULL")],
)
def test_one_intent_makes_the_whole_transaction_wait_for_the_disk(
    asked: tuple[str, ...], used: str, store: Store, statements: list[str]
) -> None:
    Crowd(store, [(insert(f"n{n}"), synchronous) for n, synchronous in enumerate(asked)]).run()
    assert [line for line in statements if "synchronous" in line] == [f"PRAGMA synchronous={used}"]


def test_when_one_piece_fails_all_fail_and_nothing_is_written(store: Store) -> None:
    def fails(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO nowhere VALUES (1)")

    found = Crowd(store, [(insert("a"), "FULL"), (fails, "NORMAL"), (insert("b"), "FULL")]).run()
    assert all(isinstance(outcome, LedgerError) for outcome in found), found
    assert names(store) == []
    assert store.together(insert("c"), "FULL") == "c"
    assert names(store) == ["c"]


def test_when_the_commit_fails_all_fail(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class NoCommit:
        def __init__(self, connection: sqlite3.Connection) -> None:
            self._connection = connection

        def __getattr__(self, name: str) -> object:
            return getattr(self._connection, name)

        def execute(self, sql: str, *values: object) -> object:
            if sql == "COMMIT":
                raise sqlite3.OperationalError("disk I/O error")
            return self._connection.execute(sql, *values)

    with store.reading() as connection, monkeypatch.context() as patch:
        patch.setattr(store._opened, "connection", NoCommit(connection))
        found = Crowd(store, [(insert("a"), "FULL"), (insert("b"), "NORMAL")])
        patch.setattr(store, "_guard", threading.RLock())
        outcomes = found.run()
    assert all(isinstance(outcome, LedgerError) for outcome in outcomes), outcomes
    assert names(store) == []
    assert store.together(insert("c"), "FULL") == "c"


# -- network file systems ----------------------------------------------------------------------------------------------

MOUNTS = """\
/dev/vda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/vdb1 /home/local ext4 rw 0 0
//server/share /mnt/my\\040share cifs rw 0 0
ann@host:/ /mnt/ssh fuse.sshfs rw 0 0
server:/scratch /scratch nfs4 rw 0 0
none /scratch ext4 rw 0 0
/etc/auto.misc /net autofs rw 0 0
server:/net /net nfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/srv/l.sqlite", "ext4"),
        ("/home/ann/l.sqlite", "nfs4"),
        ("/home/local/l.sqlite", "ext4"),
        ("/homely/l.sqlite", "ext4"),
        ("/mnt/my share/l.sqlite", "cifs"),
        ("/mnt/ssh/deep/down/l.sqlite", "fuse.sshfs"),
        ("/scratch/l.sqlite", "ext4"),
        ("/net/l.sqlite", "nfs"),
    ],
)
def test_the_mount_nearest_above_a_path_says_what_it_is_on(path: str, kind: str) -> None:
    assert file_system(Path(path), MOUNTS) == kind


def test_a_ledger_on_a_network_file_system_is_refused_before_a_file_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "file_system", lambda *_: "nfs4")
    with pytest.raises(LedgerError, match=r"network file system \(nfs4\).*set SMSOTP_LEDGER"):
        Ledger(tmp_path / "l.sqlite", create=True)
    assert list(tmp_path.iterdir()) == []


# -- an interrupt at a bad moment --------------------------------------------------------------------------------------


class Interrupted:
    """A connection on which an interrupt comes just after a statement."""

    def __init__(self, connection: sqlite3.Connection, statement: str) -> None:
        self._connection, self._statement = connection, statement

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, *values: Any) -> Any:
        done = self._connection.execute(sql, *values)
        if sql.startswith(self._statement):
            self._statement = "none"
            raise KeyboardInterrupt
        return done


def test_an_interrupt_while_the_durability_is_set_leaves_the_next_intent_durable(store: Store) -> None:
    """What was asked of SQLite last is not believed after an interrupt in between."""
    with store.writing("FULL"):
        pass
    assert store._opened
    store._opened.connection = Interrupted(store._opened.connection, "PRAGMA synchronous=NORMAL")  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt), store.writing("NORMAL"):
        pass
    with store.writing("FULL") as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_an_interrupt_in_a_shared_transaction_reaches_all_who_shared_it(store: Store) -> None:
    """Nobody believes in a record that is not there."""

    def stops(connection: sqlite3.Connection) -> object:
        raise KeyboardInterrupt

    outcomes = Crowd(store, [(insert("a"), "FULL"), (stops, "FULL"), (insert("b"), "NORMAL")]).run()
    assert [type(outcome) for outcome in outcomes] == [KeyboardInterrupt] * 3
    assert names(store) == []


HOME = Path("/home/ann/.local/share/smsotp_nb/ledger.sqlite")
DISK = "/dev/vda / ext4 rw 0 0\n"


@pytest.mark.parametrize(
    ("mounts", "said"),
    [
        ("overlay / overlay rw 0 0", "a container.*overlay"),
        ("none / aufs rw 0 0", "a container.*aufs"),
        (f"{DISK}tmpfs /home tmpfs rw 0 0", "in memory.*tmpfs"),
        ("overlay / overlay rw 0 0\n/dev/sdb /home ext4 rw 0 0", "^$"),
        (f"{DISK}/dev/sdb /home/ann/.local btrfs rw 0 0\ntmpfs /tmp tmpfs rw 0 0", "^$"),
        ("", "^$"),
    ],
)
def test_a_machine_is_known_by_the_disk_under_its_home(mounts: str, said: str) -> None:
    found = disk.lent(HOME, mounts, {})
    assert re.search(said, found)


@pytest.mark.parametrize(
    "kind", ["fuse.drive", "fuse", "fuse.goofys", "fuse.blobfuse2", "fuse.mountpoint-s3", "fuse.gcsfuse", "nfs4"]
)
def test_storage_that_is_no_disk_of_this_machine_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(disk, "_mounts", lambda: f"{DISK}x {tmp_path} {kind} rw 0 0")
    with pytest.raises(LedgerError, match=rf"network file system \({kind}\).*PostgreSQL"):
        disk.check_file_system(tmp_path / "ledger.sqlite")


@pytest.mark.parametrize("kind", ["ext4", "fuseblk", "fuse.gocryptfs", "fuse.fuse-overlayfs", "overlay"])
def test_a_disk_of_this_machine_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(disk, "_mounts", lambda: f"{DISK}x {tmp_path} {kind} rw 0 0")
    disk.check_file_system(tmp_path / "ledger.sqlite")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives a file away")
def test_a_log_that_somebody_put_there_meanwhile_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, keep = tmp_path / "l.sqlite", opening._prepare

    def and_then(connection: sqlite3.Connection) -> None:
        keep(connection)
        os.chown(f"{path}-wal", 54_321, 54_321)  # a user that nobody is

    monkeypatch.setattr(opening, "_prepare", and_then)
    with pytest.raises(LedgerError, match=r"-wal is a file of another user"):
        Ledger(path, create=True).campaigns()


# -- what was seen of a ledger -------------------------------------------------------------------------------------

LEDGER = bytes(range(16))


def token(number: int) -> bytes:
    return number.to_bytes(16, "big")


def begun(path: Path, number: int, at: int) -> None:
    mark = Mark(path, LEDGER)
    mark.begin(Session(token(number), at=at))
    mark.close()


def test_a_new_session_takes_the_place_of_the_oldest_where_a_mark_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marks, "KEPT", 5)
    path = tmp_path / "mark"
    for number in range(1, 12):
        begun(path, number, at=number)
    assert path.stat().st_size == 6 * SLOT
    assert sorted(session.token for session in Mark(path, LEDGER).sessions()) == [token(n) for n in range(7, 12)]
    Mark(path, LEDGER).set_aside([token(9)])
    begun(path, 12, at=12)
    assert sorted(session.token for session in Mark(path, LEDGER).sessions()) == [token(n) for n in (7, 8, 10, 11, 12)]


def test_an_older_copy_is_noticed_by_a_mark_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "KEPT", 3)
    path, copy = tmp_path / "l.sqlite", tmp_path / "copy.sqlite"
    for number in range(8):
        with Ledger(path, create=True) as ledger:
            People(ledger).opt_out(f"+120255501{number:02}", source="phone")
            if number == 5:
                ledger.backup(copy)
    assert (tmp_path / "l.sqlite-mark").stat().st_size == 4 * SLOT
    Ledger(path).close()
    path.write_bytes(copy.read_bytes())
    with pytest.raises(StaleLedgerError):
        Ledger(path)


def opts_out(ledger: Ledger) -> None:
    People(ledger).opt_out("+12025550100", source="phone")


def texts_people(ledger: Ledger) -> None:
    with Sandbox() as box, live_client(box) as client:
        send(plan_of(5), client, ledger=ledger, progress=False)


@pytest.mark.parametrize("act", [opts_out, texts_people])
def test_an_older_copy_of_what_only_held_rehearsals_is_taken_as_it_is(
    act: Callable[[Ledger], None], tmp_path: Path
) -> None:
    """Until it held people: their copy, and a new file in its place, are refused, also where the copy held none."""
    path, copy = tmp_path / "l.sqlite", tmp_path / "copy.sqlite"
    with Sandbox() as box, Ledger(path, create=True) as ledger:
        ledger.backup(copy)
        send(plan_of(5), box, ledger=ledger, progress=False)
    path.write_bytes(copy.read_bytes())
    with Sandbox() as box, Ledger(path) as ledger:
        send(plan_of(5), box, ledger=ledger, progress=False)
        assert len(box.inbox) == 5
    path.write_bytes(b"")
    with Ledger(path, create=True) as ledger:
        act(ledger)
    for held in (copy.read_bytes(), b""):
        path.write_bytes(held)
        with pytest.raises(StaleLedgerError):
            Ledger(path, create=True)


# -- each sign that a database is not the one that was seen is told, by itself -------------------------------------

SEEN = Sighting(b"a ledger", place="7/00000001/16384/16390", log=5000, requests=12)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"ledger": b"another"}, "it is another ledger"),
        ({"place": "8/00000001/16384/16390"}, "it is on another server, or on one made anew"),
        ({"place": "7/00000002/16384/16390"}, "a standby was promoted, or the server was restored"),
        ({"place": "7/00000001/16385/16390"}, "the database or its tables were made anew"),
        ({"place": "7/00000001/16384/16391"}, "the database or its tables were made anew"),
        ({"log": 4999}, "its log went back"),
        ({"requests": 11}, "its latest requests are missing"),
        ({"log": 5001, "requests": 13}, ""),
        ({}, ""),
    ],
)
def test_each_sign_of_another_or_older_database_is_told(other: dict[str, Any], said: str) -> None:
    assert SEEN.differences(replace(SEEN, **other)) == said


@pytest.mark.parametrize("part", range(4))
def test_a_database_says_itself_that_it_is_elsewhere(part: int) -> None:
    there = replace(SEEN, was=SEEN.place)
    assert there.moved() == ""
    parts = SEEN.place.split("/")
    parts[part] = "9"
    assert replace(there, place="/".join(parts)).moved()


def test_the_log_of_another_server_is_not_compared() -> None:
    assert (
        SEEN.differences(replace(SEEN, place="8/00000001/16384/16390", log=1))
        == "it is on another server, or on one made anew"
    )
