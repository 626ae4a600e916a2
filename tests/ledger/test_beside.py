"""What is in the place of a file of the ledger's own and is none is refused before it is opened; modes become ours."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from smsotp_nb import Ledger, Sandbox, plan, send
from smsotp_nb.errors import LedgerError, UsageError
from smsotp_nb.settings import state_folder
from smsotp_nb.widgets import CampaignForm

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders and no modes")
PEOPLE = pd.DataFrame({"phone": [f"+1202555{n:04}" for n in range(100, 104)]})


def at(path: Path) -> Path:
    return state_folder() / "ledgers" / f"at-{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]}"


def mark_elsewhere(path: Path) -> Path:
    return next((state_folder() / "ledgers").glob("*.mark"))


def end(name: str) -> Callable[[Path], Path]:
    return lambda path: Path(f"{path}{name}")


PLACES = {
    "the file": end(""), "journal": end("-journal"), "log": end("-wal"), "memory": end("-shm"), "mark": end("-mark"),
    "note of the path": at, "mark elsewhere": mark_elsewhere, "lock of a campaign": end("-runs/2"),
}  # fmt: skip


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(path.parent)  # the path of a socket is short
        try:
            listening.bind(path.name)
        finally:
            os.chdir(here)


THINGS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a socket": a_socket,
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to nothing": lambda path: path.symlink_to(path.with_name("planted")),
    "a link to a file": lambda path: (path.with_name("theirs").write_bytes(b"theirs"), path.symlink_to("theirs")),
}


def sent(path: Path, name: str, box: Sandbox) -> list[str]:
    made = plan(PEOPLE, f"Hello of {name}", to="phone", campaign=name)
    with Ledger(path) as ledger, box.client() as client:
        return send(made, client=client, ledger=ledger, progress=False)["status"].tolist()


@pytest.fixture
def used(tmp_path: Path, box: Sandbox) -> Path:
    """A ledger that was used and closed; its campaign is number 1."""
    path = tmp_path / "home" / "l.sqlite"
    Ledger(path, create=True).close()
    assert sent(path, "autumn", box) == ["accepted"] * 4
    return path


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with Sandbox() as box:
        yield box


@pytest.fixture(autouse=True)
def soon() -> Iterator[None]:
    """A pipe that is waited for ends the test."""
    before = signal.signal(signal.SIGALRM, _late)
    signal.alarm(30)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _late(*_: object) -> None:
    raise TimeoutError("it waits for what somebody else put there")


@pytest.mark.sampled(16)
@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_file_of_ours_is_named_and_not_opened(place: str, thing: str, used: Path, box: Sandbox) -> None:
    """A pipe would be waited for, a device read without end, a link written through."""
    planted = PLACES[place](used)
    planted.unlink(missing_ok=True)
    THINGS[thing](planted)
    with pytest.raises(LedgerError) as caught:
        sent(used, "winter", box)
    assert any(name in str(caught.value) for name in (planted.name, "/dev/zero"))
    assert box.inbox["text"].eq("Hello of autumn").all()
    assert not planted.with_name("planted").exists()
    theirs = planted.with_name("theirs")
    assert not theirs.exists() or theirs.read_bytes() == b"theirs"


@pytest.mark.parametrize("content", [b"\xff\x00" * 50, b"ab" * 50_000, "é".encode(), b"", b"abcd"], ids=len)
def test_a_note_of_the_path_that_says_nothing_is_written_anew(content: bytes, used: Path, box: Sandbox) -> None:
    """The ledger is sound, whatever a file beside it says."""
    before = at(used).read_bytes()
    at(used).write_bytes(content)
    if len(content) > 4096:
        with pytest.raises(LedgerError, match="is longer than 4,096 bytes"):
            sent(used, "winter", box)
    else:
        assert sent(used, "winter", box) == ["accepted"] * 4
        assert at(used).read_bytes() == before


def test_a_mark_without_an_end_is_refused(used: Path, box: Sandbox) -> None:
    os.truncate(end("-mark")(used), 1 << 40)
    with pytest.raises(LedgerError, match="-mark is longer than"):
        sent(used, "winter", box)


@pytest.mark.parametrize("thing", ["a pipe", "a link to nothing"])
def test_a_backup_is_not_made_or_restored_beside_what_somebody_put_there(thing: str, used: Path) -> None:
    backup = used.with_name("b.sqlite")
    with Ledger(used) as ledger:
        THINGS[thing](used.with_name(f".b.sqlite.{os.getpid()}-journal"))
        with pytest.raises(LedgerError, match=r"-journal is in the way"):
            ledger.backup(backup)
        used.with_name(f".b.sqlite.{os.getpid()}-journal").unlink()
        ledger.backup(backup)
    THINGS[thing](used.with_name("b.sqlite-journal"))
    with pytest.raises(LedgerError, match=r"b.sqlite-journal is a "):
        Ledger.restore(backup, used)


# -- modes and folders -------------------------------------------------------------------------------------------------


def open_to_others(folder: Path) -> dict[str, str]:
    found = {str(one.relative_to(folder)): stat.S_IMODE(one.lstat().st_mode) for one in folder.rglob("*")}
    return {name: oct(mode) for name, mode in found.items() if mode & 0o077}


def test_files_and_folders_that_were_open_to_others_are_closed_to_them(tmp_path: Path, box: Sandbox) -> None:
    home, before = tmp_path / "home", os.umask(0)
    try:
        home.mkdir(mode=0o777)
        path = home / "l.sqlite"
        for name in ("", "-mark", "-wal", "-shm"):
            end(name)(path).touch(mode=0o666)
        for name in ("-runs", "-drafts"):
            end(name)(path).mkdir(mode=0o777)
        end("-runs/1")(path).touch(mode=0o666)
        with Ledger(path, create=True) as ledger:
            made = plan(PEOPLE, "Hello", to="phone", campaign="autumn")
            send(made, client=box.client(), ledger=ledger, progress=False)
            draft(ledger, box)
            ledger.to_parquet(home / "parquet")
            assert (home / "l.sqlite-wal").stat().st_size
            assert open_to_others(home) == {}
        next((home / "parquet").glob("month=*")).chmod(0o777)
        path.chmod(0o644)
        with Ledger(path) as ledger:
            sent(path, "winter", box)
            ledger.to_parquet(home / "parquet")
        assert open_to_others(home) == {}
    finally:
        os.umask(before)
    assert stat.S_IMODE(home.stat().st_mode) == 0o777, "the folder around it is not ours"


def test_a_file_of_another_program_and_a_stricter_mode_stay_as_they_are(tmp_path: Path) -> None:
    theirs, own = tmp_path / "notes.txt", tmp_path / "l.sqlite"
    theirs.write_bytes(b"no database " * 100)
    theirs.chmod(0o644)
    with pytest.raises(LedgerError):
        Ledger(theirs)
    assert stat.S_IMODE(theirs.stat().st_mode) == 0o644
    Ledger(own, create=True).close()
    own.chmod(0o400)
    with pytest.raises(LedgerError) if os.geteuid() else Ledger(own):  # type: ignore[attr-defined]
        Ledger(own).campaigns()
    assert stat.S_IMODE(own.stat().st_mode) == 0o400


def test_a_new_ledger_is_not_put_where_a_link_leads(tmp_path: Path) -> None:
    """A ledger that is there already may be reached through one."""
    theirs, path = tmp_path / "theirs", tmp_path / "l.sqlite"
    theirs.touch()
    path.symlink_to(theirs)
    with pytest.raises(LedgerError, match="is a link to an empty file"):
        Ledger(path, create=True)
    assert theirs.read_bytes() == b""
    theirs.unlink()
    Ledger(theirs, create=True).close()
    theirs.chmod(0o666)
    Ledger(path).close()
    assert stat.S_IMODE(theirs.stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_new_ledger_is_not_put_into_a_file_of_another_user(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    path.touch()
    os.chown(path, 12345, 12345)
    with pytest.raises(LedgerError, match="belongs to another user"):
        Ledger(path, create=True)
    assert path.read_bytes() == b""


def _run(ledger: Ledger, box: Sandbox) -> None:
    made = plan(PEOPLE, "Hello", to="phone", campaign="winter")
    send(made, client=box.client(), ledger=ledger, progress=False)


def _to_parquet(ledger: Ledger, _: Sandbox) -> None:
    ledger.to_parquet(ledger.path.with_name("parquet"))


def draft(ledger: Ledger, box: Sandbox) -> CampaignForm:
    form = CampaignForm(PEOPLE, client=box.client(), ledger=ledger)
    form.fields.campaign.value = "spring"
    form._latest.settle()
    return form


WRITERS: dict[str, Callable[[Ledger, Sandbox], object]] = {
    "-runs": _run,
    "parquet": _to_parquet,
    "parquet/month=": _to_parquet,
}


@pytest.mark.parametrize("name", WRITERS)
def test_no_folder_of_ours_is_a_link_to_another_one(name: str, used: Path, box: Sandbox, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    with Ledger(used) as ledger:
        month = pd.Timestamp.now("UTC").strftime("%Y-%m")
        place = used.parent / (name + month * name.endswith("=")) if "parquet" in name else end(name)(used)
        if place.is_dir():
            place.rename(tmp_path / "before")
        place.parent.mkdir(exist_ok=True)
        place.symlink_to(theirs)
        with pytest.raises((LedgerError, UsageError), match="is a link"):
            WRITERS[name](ledger, box)
    assert not any(theirs.iterdir())


@pytest.mark.parametrize("which", ["smsotp_nb", "smsotp_nb/ledgers"])
def test_what_is_noted_of_ledgers_is_not_put_where_a_link_leads(which: str, tmp_path: Path) -> None:
    theirs, place = tmp_path / "theirs", state_folder().parent / which
    theirs.mkdir()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(theirs)
    with pytest.raises(LedgerError, match=r"is a link to .*theirs"):
        Ledger(tmp_path / "l.sqlite", create=True).retain("24 months")
    assert not any(theirs.iterdir())


def test_the_folders_above_parquet_files_are_closed_to_others_as_well(tmp_path: Path, box: Sandbox) -> None:
    before = os.umask(0)
    try:
        with Ledger(tmp_path / "l.sqlite", create=True) as ledger:
            ledger.to_parquet(tmp_path / "deep" / "er" / "parquet")
    finally:
        os.umask(before)
    assert open_to_others(tmp_path / "deep") == {}
    assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o700


# -- what another user put there


STRANGER = 54_321  # a user that nobody is
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives a file away")


def given_away(path: Path) -> None:
    path.mkdir() if path.name.endswith("-runs") else path.touch()
    os.chown(path, STRANGER, STRANGER)


@as_root
@pytest.mark.parametrize("made", [True, False], ids=["made before", "new"])
@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm", "-mark", "-runs"])
def test_beside_a_ledger_of_ours_nothing_is_somebody_elses(ending: str, made: bool, tmp_path: Path) -> None:
    """Whoever may write into the folder put a log there, which they could read, and the numbers went into it."""
    path = tmp_path / "l.sqlite"
    if made:
        Ledger(path, create=True).close()
        path.with_name(path.name + "-mark").unlink(missing_ok=True)
    given_away(Path(f"{path}{ending}"))
    with pytest.raises(LedgerError, match=rf"l\.sqlite{ending} is a (file|folder) of another user, who can read"):
        Ledger(path, create=True).campaigns()


@as_root
def test_a_ledger_of_another_user_is_used_as_it_is(tmp_path: Path) -> None:
    """Several users may share it, and what is beside it belongs to whoever came first."""
    path = tmp_path / "l.sqlite"
    Ledger(path, create=True).close()
    given_away(Path(f"{path}-mark"))
    os.chown(path, STRANGER, STRANGER)
    assert len(Ledger(path).campaigns()) == 0


@as_root
def test_drafts_of_another_user_are_not_offered(tmp_path: Path, box: Sandbox) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path, create=True) as ledger:
        draft(ledger, box)
        folder = path.with_name(path.name + "-drafts")
        assert "campaign spring" in draft(ledger, box).write._kept.value
        os.chown(folder, STRANGER, STRANGER)
        assert "campaign spring" not in draft(ledger, box).write._kept.value
    assert len([*folder.iterdir()]) == 2, "none is put there"


def test_no_draft_is_put_into_a_folder_elsewhere(tmp_path: Path, box: Sandbox) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    with Ledger(tmp_path / "l.sqlite", create=True) as ledger:
        (tmp_path / "l.sqlite-drafts").symlink_to(theirs)
        draft(ledger, box)
    assert not any(theirs.iterdir())


def test_a_draft_is_made_through_no_link(tmp_path: Path, box: Sandbox) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path, create=True) as ledger:
        form = draft(ledger, box)
        (file,) = path.with_name(path.name + "-drafts").iterdir()
        file.unlink()
        file.symlink_to(tmp_path / "planted")
        form.fields.campaign.value = "autumn"
        form._latest.settle()
    assert not (tmp_path / "planted").exists()
