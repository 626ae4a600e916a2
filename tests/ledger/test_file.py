"""The ledger's file: private, refused by name where it cannot be used, and nothing lost where the disk gives out."""

from __future__ import annotations

import contextlib
import os
import resource
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from kills.child import fork
from kills.people import plan_of

from smsotp_nb import Ledger, cost
from smsotp_nb.errors import LedgerError

SERVICE = "a service"


def test_what_the_ledger_writes_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Ledger(tmp_path / "a" / "l.sqlite", create=True) as ledger:
            run = ledger._begin(plan_of(10), service=SERVICE)
            assert run.claim(0)
            found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a").rglob("*")}
            run.close()
    finally:
        os.umask(before)
    assert found.pop("l.sqlite-runs") == 0o700
    assert set(found) == {"l.sqlite", "l.sqlite-wal", "l.sqlite-shm", "l.sqlite-mark", "1"}
    assert set(found.values()) == {0o600}


def test_a_ledger_says_whether_it_is_new(tmp_path: Path) -> None:
    assert Ledger(tmp_path / "l.sqlite", create=True).created
    assert not Ledger(tmp_path / "l.sqlite", create=True).created


def another_program(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url)")
    connection.commit()
    connection.close()


def newer_version(path: Path) -> None:
    Ledger(path, create=True).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.commit()
    connection.close()


def torn(path: Path) -> None:
    with Ledger(path, create=True) as ledger:
        ledger._begin(plan_of(2000), service=SERVICE).close()
    damaged = bytearray(path.read_bytes())
    damaged[4096 : len(damaged) // 2] = np.random.default_rng(7).bytes(len(damaged) // 2 - 4096)
    path.write_bytes(damaged)


UNUSABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "another program's database": (another_program, "database of another program"),
    "a newer version": (newer_version, "newer version .* upgrade smsotp_nb"),
    "not a database": (lambda path: path.write_text("name,phone\n" * 400), "not a database"),
    "torn pages": (torn, "damaged: its bytes changed since it was closed|malformed"),
    "a folder": (lambda path: path.mkdir(), "is a folder; name the file"),
    "a truncated file": (
        lambda path: (torn(path), os.truncate(path, 5000)),
        "damaged: its bytes changed since it was closed|malformed",
    ),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_a_file_that_cannot_be_used_is_refused_by_name_and_left_as_it_is(case: str, tmp_path: Path) -> None:
    spoil, said = UNUSABLE[case]
    path = tmp_path / "l.sqlite"
    spoil(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(LedgerError, match=said) as caught:
        Ledger(path)._begin(plan_of(2000), service=SERVICE)
    assert str(path) in str(caught.value)
    assert (path.read_bytes() if path.is_file() else b"") == before


@pytest.mark.parametrize("path", ["/proc/nowhere/l.sqlite", "{file}/l.sqlite", "/proc/l.sqlite"])
def test_a_place_where_no_file_can_be_made_is_refused_with_the_reason(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match=r"cannot be created: .*; choose another path or set SMSOTP_LEDGER"):
        Ledger(path.format(file=tmp_path / "file"), create=True)


def test_a_lock_that_cannot_be_made_is_a_ledger_error(ledger: Ledger) -> None:
    ledger.path.with_name(ledger.path.name + "-runs").write_text("in the way")
    with pytest.raises(LedgerError, match="-runs is a file; it must be a folder of your own"):
        ledger._begin(plan_of(10), service=SERVICE)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1.5 MB, where the machine lets us mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.system(f"mount -t tmpfs -o size=1536k tmpfs {folder} 2>/dev/null"):
        pytest.skip("no right to mount a file system")
    yield folder
    os.system(f"umount -l {folder}")


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass


def test_a_full_disk_refuses_new_claims_and_loses_nothing(small_disk: Path) -> None:
    with Ledger(small_disk / "l.sqlite", create=True) as ledger:
        run = ledger._begin(plan_of(200, chunk_size=1), service=SERVICE)
        assert run.claim(0)
        filler = small_disk / "filler"
        fill(filler)
        with pytest.raises(LedgerError, match="disk is full"):
            all(run.claim(chunk) for chunk in range(1, 200))
        before = run.counts()
        filler.unlink()
        assert run.claim(199) is not None  # the failed commit left nothing open
        run.close()
        with ledger._begin(plan_of(200, chunk_size=1), service=SERVICE) as again:
            assert again.recovered == before["sending"] + 1
            assert again.counts()["planned"] == before["planned"] - 1


def test_a_disk_that_becomes_read_only_is_a_ledger_error(small_disk: Path) -> None:
    with Ledger(small_disk / "l.sqlite", create=True) as ledger:
        ledger._begin(plan_of(10), service=SERVICE).close()
    assert os.system(f"mount -o remount,ro {small_disk}") == 0
    with pytest.raises(LedgerError, match=r"l\.sqlite cannot be used|cannot be locked"):
        Ledger(small_disk / "l.sqlite", create=True)._begin(plan_of(10), service=SERVICE)
    with pytest.raises(LedgerError, match="Read-only file system"):
        Ledger(small_disk / "new.sqlite", create=True)


def test_a_file_that_may_not_grow_is_a_ledger_error_and_recording_leaves_no_half_campaign(tmp_path: Path) -> None:
    def limited() -> int:
        ledger = Ledger(tmp_path / "l.sqlite", create=True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        with pytest.raises(LedgerError, match=r"l\.sqlite cannot be used: .*Nothing that was not recorded"):
            ledger._begin(plan_of(5000), service=SERVICE)
        return len(ledger.campaigns())

    assert fork(limited).result() == 0
    with Ledger(tmp_path / "l.sqlite", create=True) as ledger:
        ledger._begin(plan_of(5000), service=SERVICE).close()


def test_a_full_disk_while_the_lock_is_signed_does_not_keep_the_campaign_held(small_disk: Path) -> None:
    with Ledger(small_disk / "l.sqlite", create=True) as ledger:
        ledger._begin(plan_of(5), service=SERVICE).close()
        (small_disk / "l.sqlite-runs" / "1").write_text("")
        fill(small_disk / "filler")
        for _ in range(2):  # nothing is recorded here, and the lock's own words are worth less than the lock
            ledger._begin(plan_of(5), service=SERVICE).close()


def test_bytes_are_compared_again_when_the_file_was_written_to_while_it_is_held(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path, create=True) as ledger:
        ledger._begin(plan_of(2000), service=SERVICE).close()
    with Ledger(path) as ledger:
        cost.spending(ledger)
        cost.spending(path)
        with path.open("r+b") as file:  # in place, and the generation at its beginning stays as it is
            file.seek(path.stat().st_size - 2)
            file.write(b"\xff\xff")
        with pytest.raises(LedgerError, match="its bytes changed since it was closed"):
            cost.spending(ledger)
