"""What may happen to a ledger's file while it is open and between two runs: nobody is texted twice by it."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kills.child import fork
from kills.people import plan_of
from support.live import live_client

from smsotp_nb import Ledger, Limits, People, Sandbox, cost, preflight, record, revise, send
from smsotp_nb.errors import CampaignIncomplete, LedgerError, SmsOtpWarning, UsageError

OTHER_PROGRAM = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM campaign").fetchall()
connection.close()
"""


def texts(box: Sandbox) -> list[int]:
    """How often each number was texted."""
    return box.inbox["to"].value_counts().tolist()


def sent(box: Sandbox, ledger: Ledger | Path, rows: int = 20, **options: Any) -> dict[str, int]:
    """Send a campaign, or go on with it; return its rows by state."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CampaignIncomplete)
        table = send(plan_of(rows, chunk_size=5), client=live_client(box), ledger=ledger, progress=False, **options)
    found: dict[str, int] = table["status"].value_counts().to_dict()
    return found


# -- another reader in the process -------------------------------------------------------------------------------------


def copy(path: Path) -> None:
    shutil.copy(path, path.with_name("copied"))


def read(path: Path) -> None:
    path.read_bytes()


def copy_all(path: Path) -> None:
    shutil.copytree(path.parent, path.parent.with_name("copies"))


def second_library(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("SELECT count(*) FROM campaign").fetchall()
    connection.close()
    path.with_name(path.name + "-shm").read_bytes()


@pytest.mark.parametrize("reader", [copy, read, copy_all, second_library])
@pytest.mark.parametrize("other", ["another program", "another kernel"])
def test_a_reader_in_the_process_lets_nobody_delete_the_log(
    reader: Callable[[Path], None], other: str, box: Sandbox, tmp_path: Path
) -> None:
    """Closing any descriptor of the file drops SQLite's locks; the log, with every answer in it, must stay."""
    path = tmp_path / "folder" / "l.sqlite"
    with Ledger(path, create=True) as ledger, ledger._begin(plan_of(20, chunk_size=5), service="a service") as run:
        assert run.claim(0)
        reader(path)
        if other == "another kernel":
            fork(lambda: Ledger(path).close()).result()
        else:
            subprocess.run([sys.executable, "-c", OTHER_PROGRAM, str(path)], check=True)
        assert run.claim(1)
    with Ledger(path) as again:
        assert again.record("autumn").counts["in_doubt"] == 10


def test_nobody_is_texted_again_after_a_reader_in_the_process(box: Sandbox, tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path, create=True) as ledger:
        sent(box, ledger, limits=Limits(first=10))
        copy(path)
        subprocess.run([sys.executable, "-c", OTHER_PROGRAM, str(path)], check=True)
        sent(box, ledger)
        copy(path)
        subprocess.run([sys.executable, "-c", OTHER_PROGRAM, str(path)], check=True)
        sent(box, ledger)
    sent(box, path)
    assert texts(box) == [1] * 20


# -- under an open ledger ----------------------------------------------------------------------------------------------


def older(path: Path) -> Path:
    return path.with_name("older.sqlite")


def deleted(path: Path) -> None:
    path.unlink()


def moved(path: Path) -> None:
    path.rename(path.with_name("elsewhere.sqlite"))


def replaced(path: Path) -> None:
    os.replace(older(path), path)


def written_over(path: Path) -> None:
    shutil.copyfile(older(path), path)


def log_deleted(path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()


def log_written_over(path: Path) -> None:
    path.with_name(path.name + "-wal").write_bytes(bytes(64))


def log_replaced(path: Path) -> None:
    log = path.with_name(path.name + "-wal")
    content = log.read_bytes()
    log.unlink()
    log.write_bytes(content)


HARM = [deleted, moved, replaced, written_over, log_deleted, log_written_over, log_replaced]


@pytest.mark.parametrize("harm", HARM)
def test_a_file_that_is_not_the_one_that_was_opened_is_noticed_before_anything_is_posted(
    harm: Callable[[Path], None], box: Sandbox, tmp_path: Path
) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path, create=True) as ledger:
        ledger.backup(older(path))
        sent(box, ledger, limits=Limits(first=5))
        run = ledger._begin(plan_of(20, chunk_size=5), service=live_client(box).service)
        assert run.claim(1)
        harm(path)
        with pytest.raises(LedgerError, match=r"l\.sqlite .*(while it was open|malformed)"):
            run.claim(2)
        run.close()
        if harm is log_replaced:  # by the same bytes: what was recorded before is all there
            with pytest.warns(SmsOtpWarning, match="5 rows .* in doubt"):
                sent(box, ledger)
        else:
            with pytest.raises(LedgerError):
                sent(box, ledger)
            with pytest.raises(LedgerError):
                sent(box, path)
    assert set(texts(box)) == {1}


# -- copies and older states -------------------------------------------------------------------------------------------


def test_a_plain_copy_after_a_run_is_the_whole_ledger(box: Sandbox, tmp_path: Path) -> None:
    path, other = tmp_path / "l.sqlite", tmp_path / "copy.sqlite"
    with Ledger(path, create=True) as ledger:
        sent(box, ledger)
        shutil.copy(path, other)  # while it is open, and without its log
        assert Ledger(other).record("autumn").counts["accepted"] == 20
        assert sent(box, other) == {"accepted": 20}
    assert texts(box) == [1] * 20


@pytest.fixture
def yesterday(box: Sandbox, tmp_path: Path) -> tuple[Path, Path]:
    """A ledger with 20 recipients, and the copy of it that was made when it had 5."""
    path, backup = tmp_path / "l.sqlite", tmp_path / "backup" / "l.sqlite"
    with Ledger(path, create=True) as ledger:
        sent(box, ledger, limits=Limits(first=5))
        ledger.backup(backup)
        sent(box, ledger)
    return path, backup


def test_an_older_copy_is_refused_with_what_may_be_missing(box: Sandbox, yesterday: tuple[Path, Path]) -> None:
    path, backup = yesterday
    shutil.copy(backup, path)
    for use in (lambda: Ledger(path), lambda: sent(box, path), lambda: Ledger(backup)):
        with pytest.raises(LedgerError, match=r"older than .* up to 15 recipients .* accept_older=True"):
            use()
    assert texts(box) == [1] * 20


def test_a_copy_that_a_killed_kernel_left_behind_is_refused(box: Sandbox, tmp_path: Path) -> None:
    """The mark is brought up to date with every request, not only when a ledger is closed."""
    path, backup = tmp_path / "l.sqlite", tmp_path / "b.sqlite"

    def dies() -> None:
        ledger = Ledger(path, create=True)
        sent(box, ledger, limits=Limits(first=5))
        ledger.backup(backup)
        sent(box, ledger, limits=Limits(first=10))
        os.kill(os.getpid(), 9)

    assert fork(dies).wait() is None
    for left in tmp_path.glob("l.sqlite*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    shutil.copy(backup, path)
    with pytest.raises(LedgerError, match="up to 5 recipients"):
        Ledger(path)


def test_a_person_may_accept_an_older_one_and_it_is_then_the_latest(box: Sandbox, yesterday: tuple[Path, Path]) -> None:
    path, backup = yesterday
    later = path.with_name("later.sqlite")
    path.rename(later)
    shutil.copy(backup, path)
    with Ledger(path, accept_older=True) as ledger:
        assert ledger.record("autumn").counts["planned"] == 15
    with Ledger(path) as ledger:
        sent(box, ledger, limits=Limits(first=6))
    with pytest.raises(LedgerError, match="older"):  # it lacks what was done with the other one
        Ledger(later)


def test_a_ledger_that_was_deleted_does_not_begin_anew_in_silence(box: Sandbox, yesterday: tuple[Path, Path]) -> None:
    path, _ = yesterday
    for left in path.parent.glob("l.sqlite*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    with pytest.raises(LedgerError, match="ledger not found"):
        sent(box, path)
    with pytest.raises(LedgerError, match=r"a new file in the place of another.* up to 20 recipients"):
        Ledger(path, create=True)
    with Ledger(path, create=True, accept_older=True) as ledger:
        assert len(ledger.campaigns()) == 0


def test_an_emptied_file_is_not_a_new_ledger(box: Sandbox, yesterday: tuple[Path, Path]) -> None:
    path, _ = yesterday
    os.truncate(path, 0)
    with pytest.raises(LedgerError, match="is empty and not a ledger"):
        sent(box, path)
    with pytest.raises(LedgerError, match=r"older than .* up to 20 recipients"):
        Ledger(path, create=True)
    assert texts(box) == [1] * 20
    assert path.stat().st_size == 0


def test_an_empty_file_that_another_program_made_does_not_become_a_ledger(box: Sandbox, tmp_path: Path) -> None:
    """As a second SQLite library does that looks for a ledger that was moved: it would know of nobody, by any name."""
    path, other = tmp_path / "l.sqlite", tmp_path / "other.sqlite"
    path.touch()
    with pytest.raises(LedgerError, match="is empty"):
        sent(box, path)
    path.rename(other)
    with pytest.raises(LedgerError, match="is empty"):
        sent(box, other)
    assert other.stat().st_size == len(box.inbox) == 0


def test_another_user_of_the_machine_is_warned_by_the_mark_beside_the_ledger(
    yesterday: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path, backup = yesterday
    shutil.copy(backup, path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another user"))
    with pytest.raises(LedgerError, match="up to 15 recipients"):
        Ledger(path)


def test_a_ledger_without_marks_is_taken_as_it_is(
    yesterday: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As on the machine to which a backup was moved."""
    _, backup = yesterday
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another machine"))
    assert Ledger(backup).record("autumn").counts["accepted"] == 5


def test_a_purge_is_no_older_state(box: Sandbox, yesterday: tuple[Path, Path]) -> None:
    path, backup = yesterday
    with Ledger(path) as ledger, pytest.warns(SmsOtpWarning, match=re.escape(f"the backup {backup} of ")):
        ledger.record("autumn").purge()
    Ledger(path).close()
    shutil.copy(yesterday[1], path)
    with pytest.raises(LedgerError, match="older"):
        Ledger(path)


def test_what_a_person_said_is_part_of_what_was_seen(tmp_path: Path) -> None:
    """A word of a person is no request; an older copy would not know it either."""
    path, backup = tmp_path / "l.sqlite", tmp_path / "b.sqlite"
    with Ledger(path, create=True) as ledger:
        with ledger._begin(plan_of(10), service="a service") as run:
            run.claim(0)
        ledger.backup(backup)
        ledger.record("autumn").settle(ledger.record("autumn").in_doubt, accepted=True)
    shutil.copy(backup, path)
    with pytest.raises(LedgerError, match="older"):
        Ledger(path)


def test_a_mark_that_cannot_be_written_is_said_and_the_send_goes_on(
    box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in the way").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "in the way"))
    with Ledger(tmp_path / "l.sqlite", create=True) as ledger, pytest.warns(SmsOtpWarning, match="older copy"):
        assert sent(box, ledger) == {"accepted": 20}


def test_a_torn_mark_counts_as_never_written(yesterday: tuple[Path, Path]) -> None:
    path, _ = yesterday
    mark = path.with_name(path.name + "-mark")
    content = bytearray(mark.read_bytes())
    content[80] ^= 1
    mark.write_bytes(content[:-3])
    Ledger(path).close()


def test_what_was_accepted_once_is_not_accepted_for_ever(box: Sandbox, yesterday: tuple[Path, Path]) -> None:
    path, backup = yesterday
    with Ledger.restore(backup, path, accept_older=True) as ledger:
        sent(box, ledger, limits=Limits(first=10))
        ledger.close()
        shutil.copy(backup, path)
        with pytest.raises(LedgerError, match="older"):
            sent(box, ledger)


def test_an_older_copy_is_refused_after_a_purge_too(box: Sandbox, tmp_path: Path) -> None:
    """The number of a purged request is never given to another one: it would look like one that is known."""
    path, backup = tmp_path / "l.sqlite", tmp_path / "b.sqlite"
    spring, autumn = (plan_of(10, chunk_size=1, campaign=name) for name in ("spring", "autumn"))
    with warnings.catch_warnings(), Ledger(path, create=True) as ledger:
        warnings.simplefilter("ignore", CampaignIncomplete)
        send(spring, client=live_client(box), ledger=ledger, progress=False)
        ledger.record("spring").purge()
        send(autumn, client=live_client(box), ledger=ledger, progress=False, limits=Limits(first=2))
        ledger.backup(backup)
        send(autumn, client=live_client(box), ledger=ledger, progress=False)
    shutil.copy(backup, path)
    with pytest.raises(LedgerError, match=r"older than .* up to \d+ recipients"):
        Ledger(path)


# -- what is no harm ---------------------------------------------------------------------------------------------------


def test_a_ledger_reached_by_a_link_is_the_same_one(box: Sandbox, tmp_path: Path) -> None:
    path, link = tmp_path / "real" / "l.sqlite", tmp_path / "link.sqlite"
    Ledger(path, create=True).close()
    link.symlink_to(path)
    sent(box, link, limits=Limits(first=5))
    sent(box, path)
    assert sent(box, link) == {"accepted": 20}
    assert texts(box) == [1] * 20


def test_a_long_purge_and_a_reader_at_the_end_of_a_run_are_no_harm(box: Sandbox, tmp_path: Path) -> None:
    """A log that was copied back may begin anew at any time, also by another connection, and when a reader goes."""
    with Ledger(tmp_path / "l.sqlite", create=True) as ledger, Ledger(ledger.path) as other:
        with ledger._begin(plan_of(5000, chunk_size=1, campaign="long"), service="a service") as run:
            for chunk in range(600):
                assert run.claim(chunk)
        with contextlib.closing(sqlite3.connect(ledger.path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM campaign").fetchall()
            sent(box, ledger, limits=Limits(first=5))
            sent(box, other, limits=Limits(first=10))
            sent(box, ledger, limits=Limits(first=15))
        sent(box, other)
        ledger.record("long").purge()
        sent(box, ledger)
        assert sent(box, other) == {"accepted": 20}
    assert texts(box) == [1] * 20


def test_a_transaction_that_fails_before_the_first_request_spoils_nothing(box: Sandbox, tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    Ledger(path, create=True).close()
    with Ledger(path) as ledger:
        with ledger._store.writing("NORMAL"):
            """The session stands in the ledger, and in no mark yet."""
        with contextlib.suppress(RuntimeError), ledger._store.writing():
            raise RuntimeError
        assert sent(box, ledger) == {"accepted": 20}


def test_many_calls_by_a_path_leave_no_file_open(box: Sandbox, tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    Ledger(path, create=True).close()
    sent(box, path)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        sent(box, path)
        Ledger(path).campaigns()  # and nobody closes it
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before + 2
    Ledger.restore(Ledger(path).backup(tmp_path / "b.sqlite"), path).close()


# -- damage ------------------------------------------------------------------------------------------------------------


def test_one_flipped_byte_anywhere_is_noticed(box: Sandbox, yesterday: tuple[Path, Path]) -> None:
    path, _ = yesterday
    whole = path.read_bytes()
    for place in range(0, len(whole), len(whole) // 60):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(LedgerError, match=r"damaged|cannot be used|database of another program|version|older"):
            sent(box, path)
        assert path.read_bytes() == bytes(damaged)
    path.write_bytes(whole)
    assert sent(box, path) == {"accepted": 20}


def test_a_flipped_byte_in_the_log_of_a_killed_kernel_is_noticed(box: Sandbox, tmp_path: Path) -> None:
    """SQLite stops reading a log where a checksum fails, without a word: what comes after is an older state."""
    path = tmp_path / "l.sqlite"

    def dies() -> None:
        ledger = Ledger(path, create=True)
        run = ledger._begin(plan_of(20, chunk_size=5), service=live_client(box).service)
        for chunk in range(3):
            assert run.claim(chunk)
        os.kill(os.getpid(), 9)

    assert fork(dies).wait() is None
    log = path.with_name(path.name + "-wal")
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)
    with pytest.raises(LedgerError, match=r"older than|malformed|damaged|no such table"):
        sent(box, path)
    assert len(box.inbox) == 0


def test_an_older_file_under_the_log_of_a_later_one_is_refused(box: Sandbox, tmp_path: Path) -> None:
    """SQLite would read the two as one ledger: requests between the file's state and the log's would be unknown."""
    path, early = tmp_path / "l.sqlite", tmp_path / "early.sqlite"

    def dies() -> None:
        ledger = Ledger(path, create=True)
        sent(box, ledger, limits=Limits(first=5))
        ledger._store.checkpoint()
        shutil.copy(path, early)
        sent(box, ledger, limits=Limits(first=10))
        ledger._begin(plan_of(20, chunk_size=5), service=live_client(box).service).claim(2)
        os.kill(os.getpid(), 9)

    assert fork(dies).wait() is None
    assert path.with_name("l.sqlite-wal").stat().st_size
    shutil.copy(early, path)
    with pytest.raises(LedgerError, match=r"log \(-wal\) beside it belongs to another state|malformed"):
        sent(box, path)
    assert set(texts(box)) == {1}


def test_a_power_cut_while_the_log_is_copied_back_is_no_damage(box: Sandbox, tmp_path: Path) -> None:
    """The seal is broken on the disk before the file can change: no cut finds an old seal on a changed file."""
    path = tmp_path / "l.sqlite"
    with Ledger(path, create=True) as ledger:
        sent(box, ledger, limits=Limits(first=5))
        order: list[str] = []
        fsync = os.fsync

        def watched(descriptor: int) -> None:
            order.append("mark" if os.readlink(f"/proc/self/fd/{descriptor}").endswith("-mark") else "other")
            fsync(descriptor)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", watched)
            sent(box, ledger, limits=Limits(first=10))
        assert order[:1] == ["mark"]


def test_a_plain_copy_takes_the_place_of_a_damaged_ledger(box: Sandbox, yesterday: tuple[Path, Path]) -> None:
    path, _ = yesterday
    nightly = path.with_name("nightly.sqlite")
    shutil.copy(path, nightly)
    damaged = bytearray(path.read_bytes())
    damaged[9000] ^= 4
    path.write_bytes(damaged)
    with pytest.raises(LedgerError, match="damaged"):
        Ledger(path)
    with Ledger.restore(nightly, path) as ledger:
        assert sent(box, ledger) == {"accepted": 20}
    with pytest.raises(LedgerError, match="the ledger itself"):
        Ledger.restore(path, path)
    assert texts(box) == [1] * 20


@pytest.mark.parametrize("wrong", [None, 5, "", chr(0)])
def test_what_is_no_path_of_a_backup_is_refused_in_words(wrong: Any, tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite", create=True) as ledger:
        with pytest.raises(UsageError):
            ledger.backup(wrong)
        with pytest.raises(UsageError, match="name of a campaign must be text"):
            ledger.record(wrong if wrong == 5 else None)
    with pytest.raises(UsageError):
        Ledger.restore(wrong, tmp_path / "m.sqlite")


# -- backup and restore ------------------------------------------------------------------------------------------------


def test_a_backup_is_one_private_file_and_is_made_while_a_campaign_runs(tmp_path: Path) -> None:
    path, backup = tmp_path / "l.sqlite", tmp_path / "b.sqlite"
    with Ledger(path, create=True) as ledger, ledger._begin(plan_of(20), service="a service") as run:
        run.claim(0)
        assert ledger.backup(backup) == backup
    assert backup.stat().st_mode & 0o777 == 0o600
    assert sorted(found.name for found in tmp_path.glob("b.*")) == ["b.sqlite"]
    with sqlite3.connect(backup) as connection:
        assert connection.execute("SELECT count(*) FROM attempt").fetchone() == (1,)
    connection.close()


def test_a_backup_replaces_nothing(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite", create=True) as ledger:
        (tmp_path / "b.sqlite").write_text("mine")
        for target in (tmp_path / "b.sqlite", tmp_path / "l.sqlite"):
            with pytest.raises(LedgerError, match="exists"):
                ledger.backup(target)
    assert (tmp_path / "b.sqlite").read_text() == "mine"


def test_restoring_the_latest_backup_asks_nothing(box: Sandbox, tmp_path: Path) -> None:
    path, backup = tmp_path / "l.sqlite", tmp_path / "b.sqlite"
    with Ledger(path, create=True) as ledger:
        sent(box, ledger)
        ledger.backup(backup)
    path.unlink()
    with Ledger.restore(backup, path) as ledger:
        assert sent(box, ledger) == {"accepted": 20}
    assert texts(box) == [1] * 20


def test_restoring_an_older_backup_says_what_it_lacks_and_keeps_what_it_replaces(
    box: Sandbox, yesterday: tuple[Path, Path]
) -> None:
    path, backup = yesterday
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=r"up to 15 recipients .* accept_older=True"):
        Ledger.restore(backup, path)
    assert path.read_bytes() == before
    with Ledger.restore(backup, path, accept_older=True) as ledger:
        assert ledger.record("autumn").counts["planned"] == 15
    Ledger(path).close()  # it is the latest now
    kept = list(path.parent.glob("l.sqlite-replaced-*"))
    assert [found.read_bytes() for found in kept] == [before]


def test_a_ledger_that_is_in_use_is_not_restored(yesterday: tuple[Path, Path]) -> None:
    path, backup = yesterday
    with Ledger(path), pytest.raises(LedgerError, match="in use"):
        Ledger.restore(backup, path, accept_older=True)


def test_a_file_that_is_no_ledger_is_not_restored(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(LedgerError):
        Ledger.restore(tmp_path / "notes.txt", tmp_path / "l.sqlite")
    assert not (tmp_path / "l.sqlite").exists()


# -- paths -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelled", ["file:{}", "file://{}?mode=rwc", "sqlite:///{}", ":memory:", "", " "])
def test_an_address_is_no_path_of_a_ledger(spelled: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="path of a file"):
        Ledger(spelled.format(tmp_path / "l.sqlite"), create=True)
    assert list(tmp_path.iterdir()) == []


def test_a_record_begins_at_a_path_where_nothing_says_that_there_was_one(
    monkeypatch: pytest.MonkeyPatch, box: Sandbox, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys.modules["smsotp_nb._ledger.places"], "lent", lambda _: "")
    path = tmp_path / "new.sqlite"
    assert path.name in preflight(plan_of(20), box, ledger=str(path)).text()
    sent(box, path)
    assert len(box.inbox) == 20
    with Ledger(path) as ledger:
        assert ledger.record("autumn").counts["accepted"] == 20
    assert Ledger(tmp_path / "other.sqlite").created


def test_a_path_that_is_not_there_is_an_error_that_says_create(box: Sandbox, tmp_path: Path) -> None:
    """Where no record is kept on purpose: a drive that is not mounted, a mistyped name, a ledger that is gone."""
    with Ledger(tmp_path / "ledger.sqlite", create=True) as ledger:
        sent(box, ledger)
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "away.sqlite")
    (tmp_path / "moved.sqlite-mark").touch()
    for name in ("legder.sqlite", "no folder/l.sqlite", "link.sqlite", "moved.sqlite"):
        with pytest.raises(LedgerError, match=r"ledger not found: .* create=True"):
            sent(box, tmp_path / name)
    with pytest.raises(LedgerError, match=r"there is 'ledger\.sqlite' beside it"):
        Ledger(tmp_path / "legder.sqlite")
    assert len(box.inbox) == 20
    assert not (tmp_path / "no folder").exists()


def test_no_record_begins_unasked_on_a_machine_that_forgets_it(
    monkeypatch: pytest.MonkeyPatch, box: Sandbox, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys.modules["smsotp_nb._ledger.places"], "lent", lambda _: "a container")
    with pytest.raises(LedgerError, match="ledger not found"):
        sent(box, tmp_path / "l.sqlite")


@pytest.mark.parametrize(
    "read",
    [
        cost.spending,
        People,
        lambda path: record("autumn", ledger=path),
    ],
)
def test_what_only_reads_makes_no_ledger(box: Sandbox, tmp_path: Path, read: Callable[[Path], object]) -> None:
    (tmp_path / "lists").mkdir()
    for call in (read, lambda path: revise(plan_of(3), box, reason="typo", ledger=path)):
        with pytest.raises(LedgerError, match="ledger not found"):
            call(tmp_path / "lists" / "l.sqlite")
    assert not [*(tmp_path / "lists").iterdir()]


def test_a_named_folder_that_is_not_there_is_not_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SMSOTP_LEDGER", str(tmp_path / "no folder" / "l.sqlite"))
    with pytest.raises(LedgerError, match=r"SMSOTP_LEDGER names .* does not exist"):
        Ledger()


def test_the_default_ledger_in_memory_is_said_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smsotp_nb._ledger.file.disk._mounts", lambda: "tmpfs / tmpfs rw 0 0")
    with pytest.warns(SmsOtpWarning, match=r"in memory \(tmpfs\).*SMSOTP_LEDGER"):
        Ledger().close()


@pytest.mark.parametrize("kind", ["9p", "virtiofs", "drvfs", "nfs4"])
def test_folders_of_another_machine_are_refused(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("smsotp_nb._ledger.file.disk._mounts", lambda: f"host / {kind} rw 0 0")
    with pytest.raises(LedgerError, match=rf"network file system \({kind}\)"):
        Ledger(tmp_path / "l.sqlite", create=True)
