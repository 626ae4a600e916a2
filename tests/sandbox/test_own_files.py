"""The files of a sandbox and of its tenants are its user's alone; what somebody else put in their place is refused."""

from __future__ import annotations

import errno
import http.client
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from smsotp_nb import Ledger
from smsotp_nb.errors import UsageError
from smsotp_nb.sandbox import Rules, Sandbox

TENANT = "job-1"
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither modes nor pipes with a name")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A sandbox's state, with one tenant, as it stands after the sandbox's end."""
    with Sandbox(state=tmp_path / "box.sqlite", tenants=True) as box:
        box.tenant(TENANT, rules=Rules(attempts=3))
    return tmp_path / "box.sqlite"


@pytest.fixture
def everybody_may_do_everything() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def folder(state: Path) -> Path:
    return state.with_name(f"{state.name}.tenants")


def options(state: Path) -> Path:
    return next(folder(state).glob("*/options.json"))


def modes(place: Path) -> dict[str, str]:
    return {path.name: oct(stat.S_IMODE(path.lstat().st_mode)) for path in place.rglob("*") if not path.is_symlink()}


# modes


@posix
@pytest.mark.parametrize(("before", "after"), [(0o666, 0o600), (0o640, 0o600), (0o600, 0o600), (0o400, 0o400)])
@pytest.mark.usefixtures("everybody_may_do_everything")
def test_a_state_that_others_could_read_is_its_owners_alone_from_now_on(state: Path, before: int, after: int) -> None:
    if before == 0o400 and os.geteuid():
        pytest.skip("only root writes to a file that its owner may not write to")
    inside = [path for path in folder(state).rglob("*") if path.is_file()]
    for path in (state, *inside):
        path.chmod(before)
    for path in (folder(state), options(state).parent):
        path.chmod(0o777)
    with Sandbox(state=state, tenants=True):
        found = modes(state.parent)
        assert {mode for name, mode in found.items() if name.endswith((".sqlite", ".sqlite-wal", ".json"))} == {
            oct(after)
        }
        assert {stat.S_IMODE(path.stat().st_mode) for path in (folder(state), options(state).parent)} == {0o700}


@posix
@pytest.mark.usefixtures("everybody_may_do_everything")
def test_an_empty_file_that_others_could_read_becomes_a_state_that_they_cannot(tmp_path: Path) -> None:
    (tmp_path / "box.sqlite").touch(mode=0o666)
    with Sandbox(state=tmp_path / "box.sqlite") as box, box.client() as client:
        client.send_message("+12025550123", text="Hello")
        assert set(modes(tmp_path).values()) == {"0o600"}


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
    Sandbox(state=state, tenants=True).close()
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


def a_link_to(place: Callable[[Path], Path]) -> Callable[[Path], None]:
    """Return what puts a link in a place; what stood there is behind it now, where somebody else put it."""

    def put(state: Path) -> None:
        path, theirs = place(state), state.parent / "theirs"
        shutil.move(path, theirs)
        path.symlink_to(theirs)

    return put


def written(text: str | bytes) -> Callable[[Path], None]:
    def write(state: Path) -> None:
        options(state).write_bytes(text if isinstance(text, bytes) else text.encode())

    return write


def a_file_for_the_folder(state: Path) -> None:
    shutil.rmtree(folder(state))
    folder(state).write_text("no folder")


def a_folder_for_the_options(state: Path) -> None:
    file = options(state)
    file.unlink()
    file.mkdir()


DAMAGED: dict[str, tuple[Callable[[Path], None], str]] = {
    "half of JSON": (written("{"), "options.json is damaged or was altered: JSONDecodeError. Restore a copy"),
    "no text": (written(b"\xff"), "options.json is damaged or was altered: UnicodeDecodeError. Restore a copy"),
    "a list": (written("[1]"), "options.json is damaged or was altered: TypeError. Restore a copy"),
    "null": (written("null"), "options.json is damaged or was altered: TypeError. Restore a copy"),
    "nested without end": (written("[" * 100_000), "options.json is damaged or was altered: RecursionError. Restore"),
    "a number without end": (written('{"balance": ' + "9" * 5_000 + "}"), "options.json is damaged .* ValueError"),
    "an unknown option": (written('{"colour": 1}'), "options.json is damaged or was altered: colour is unknown"),
    "a rule of words": (written('{"rules": {"attempts": "x"}}'), "options.json is damaged .* attempts"),
    "a template of numbers": (written('{"rules": {"templates": {"a": 5}}}'), "options.json is damaged .*template"),
    "none": (lambda state: options(state).unlink(), "options.json cannot be used: No such file"),
    "a folder for a file": (a_folder_for_the_options, "options.json is a folder"),
    "a file for the folder": (a_file_for_the_folder, r"box.sqlite.tenants is a file; it must be a folder"),
    "a link for the options": (a_link_to(options), "options.json is a link to .*theirs"),
    "a link for the state": (
        a_link_to(lambda state: options(state).with_name("state.sqlite")),
        "is a link to .*theirs",
    ),
    "a link for a tenant": (
        a_link_to(lambda state: options(state).parent),
        "is a link .*theirs, .* must be a folder",
    ),
    "a link for the folder": (a_link_to(folder), "box.sqlite.tenants is a link to .*theirs"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_folder_of_tenants_is_refused_by_the_name_of_the_file(case: str, state: Path) -> None:
    damage, said = DAMAGED[case]
    damage(state)
    with pytest.raises(UsageError, match=said):
        Sandbox(state=state, tenants=True)
    Sandbox(state=state).close()  # nothing holds it any more


def test_options_too_long_to_be_ours_are_refused(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smsotp_nb._sandbox.tenants.LONGEST_OPTIONS", 10)
    with pytest.raises(UsageError, match=r"options.json is longer than 10 bytes, so this package"):
        Sandbox(state=state, tenants=True)


def test_of_several_tenants_none_is_held_when_one_is_damaged(state: Path) -> None:
    with Sandbox(state=state, tenants=True) as box:
        box.tenant("job-2")
    last = max(folder(state).glob("*/options.json"))
    whole = last.read_bytes()
    last.write_text("{")
    with pytest.raises(UsageError, match=r"options.json is damaged") as caught:
        Sandbox(state=state, tenants=True)
    last.write_bytes(whole)
    Sandbox(state=state, tenants=True).close()  # while the first error with its frames is still there
    assert str(last) in str(caught.value)


def test_a_tenants_options_are_not_written_through_a_link(state: Path) -> None:
    named, theirs = options(state), state.parent / "theirs"
    named.with_name("state.sqlite").unlink()
    named.unlink()
    theirs.write_text("theirs")
    named.symlink_to(theirs)
    with Sandbox(state=state, tenants=True) as box:
        with pytest.raises(UsageError, match=r"options.json is a link to .*theirs"):
            box.tenant(TENANT)
        with closing(http.client.HTTPConnection("127.0.0.1", int(box.url.rpartition(":")[2]), timeout=30)) as line:
            line.request("POST", f"/?action=sms.message.send&accessKeyId={TENANT}", b"{}")
            reply = line.getresponse()
            assert json.loads(reply.read())["code"] == "101000"
    assert theirs.read_text() == "theirs"


def test_tenants_with_templates_from_a_file_are_opened_again(tmp_path: Path) -> None:
    (tmp_path / "templates.json").write_text('{"welcome": "Hello {name}"}')
    rules = Rules(templates=tmp_path / "templates.json")
    for n in (1, 2):
        with Sandbox(state=tmp_path / "box.sqlite", tenants=True, rules=rules) as box:
            tenant = box.tenant(TENANT)
            tenant.client().send_message("+12025550123", template_id="welcome", template_data={"name": "Zoë"})
            assert tenant.inbox["text"].tolist() == ["Hello Zoë"] * n


def test_a_port_that_is_taken_leaves_no_tenant_open(state: Path) -> None:
    with Sandbox() as other, pytest.raises(UsageError, match="cannot be used") as caught:
        Sandbox(state=state, tenants=True, port=int(other.url.rpartition(":")[2]))
    Sandbox(state=state, tenants=True).close()  # while the error with its frames is still there
    assert caught.value
