"""The files of a sandbox are its user's alone; what somebody else put in their place is refused."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smsotp_nb import Ledger
from smsotp_nb.errors import UsageError
from smsotp_nb.sandbox import Sandbox

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither modes nor pipes with a name")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A sandbox's state, as it stands after the sandbox's end."""
    Sandbox(state=tmp_path / "box.sqlite").close()
    return tmp_path / "box.sqlite"


@pytest.fixture
def everybody_may_do_everything() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(place: Path) -> dict[str, str]:
    return {path.name: oct(stat.S_IMODE(path.lstat().st_mode)) for path in place.rglob("*") if not path.is_symlink()}


# modes


@posix
@pytest.mark.parametrize(("before", "after"), [(0o666, 0o600), (0o640, 0o600), (0o600, 0o600), (0o400, 0o400)])
@pytest.mark.usefixtures("everybody_may_do_everything")
def test_a_state_that_others_could_read_is_its_owners_alone_from_now_on(state: Path, before: int, after: int) -> None:
    if before == 0o400 and os.geteuid():
        pytest.skip("only root writes to a file that its owner may not write to")
    state.chmod(before)
    with Sandbox(state=state):
        found = modes(state.parent)
        assert {mode for name, mode in found.items() if name.endswith((".sqlite", ".sqlite-wal"))} == {oct(after)}


@posix
@pytest.mark.usefixtures("everybody_may_do_everything")
def test_an_empty_file_that_others_could_read_becomes_a_state_that_they_cannot(tmp_path: Path) -> None:
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "box.sqlite").touch(mode=0o666)
    with Sandbox(state=tmp_path / "box" / "box.sqlite") as box, box.client() as client:
        client.send_message("+12025550123", text="Hello")
        assert set(modes(tmp_path / "box").values()) == {"0o600"}


@posix
@pytest.mark.parametrize("said", [errno.EPERM, errno.EOPNOTSUPP], ids=errno.errorcode.get)
def test_a_disk_without_modes_holds_a_state_and_a_ledger(
    said: int, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It calls every file open to everybody, and refuses to change that."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(said, os.strerror(said))

    Ledger(tmp_path / "l.sqlite", create=True).close()
    for path in (state, tmp_path / "l.sqlite"):
        path.chmod(0o666)
    monkeypatch.setattr(os, "chmod", refuse)
    Sandbox(state=state).close()
    assert len(Ledger(tmp_path / "l.sqlite").campaigns()) == 0


@posix
def test_a_state_of_another_user_is_refused(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = state.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: theirs + 1)
    with pytest.raises(UsageError, match=r"box\.sqlite is a file of another user"):
        Sandbox(state=state)


# what stands in their place


@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing"])
@pytest.mark.parametrize("ending", ["", "-journal", "-wal", "-shm"], ids=lambda ending: ending or "the state")
def test_a_state_is_not_written_through_a_link(tmp_path: Path, ending: str, there: bool) -> None:
    theirs = tmp_path / "theirs"
    if there:
        theirs.write_bytes(b"")
    (tmp_path / f"box.sqlite{ending}").symlink_to(theirs)
    with pytest.raises(UsageError, match=f"box.sqlite{ending} is a link to .*theirs, which is never followed; it"):
        Sandbox(state=tmp_path / "box.sqlite")
    assert theirs.exists() == there
    assert not there or theirs.read_bytes() == b""


@posix
@pytest.mark.parametrize("ending", ["", "-journal", "-wal", "-shm"], ids=lambda ending: ending or "the state")
def test_a_pipe_is_no_state_and_nobody_waits_for_it(tmp_path: Path, ending: str) -> None:
    os.mkfifo(tmp_path / f"box.sqlite{ending}")
    with pytest.raises(UsageError, match=f"box.sqlite{ending} is a pipe; it must be a file"):
        Sandbox(state=tmp_path / "box.sqlite")


@posix
@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_a_device_is_no_state(device: str) -> None:
    with pytest.raises(UsageError, match=f"{device} is a device; it must be a file"):
        Sandbox(state=device)


def test_a_path_with_a_zero_byte_is_refused_by_its_argument() -> None:
    with pytest.raises(UsageError, match=r"state= must be the path of a file"):
        Sandbox(state="box\0.sqlite")


def test_a_port_that_is_taken_leaves_no_state_open(state: Path) -> None:
    with Sandbox() as other, pytest.raises(UsageError, match="cannot be used") as caught:
        Sandbox(state=state, port=int(other.url.rpartition(":")[2]))
    Sandbox(state=state).close()  # while the error with its frames is still there
    assert caught.value
