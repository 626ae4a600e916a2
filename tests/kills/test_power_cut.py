"""A power cut at any moment of a campaign texts nobody twice; intents that are not synced would."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .power_cut import CHUNK, THREADS, Disk, Event, events, run
from .system_calls import STRACE

needs_strace = pytest.mark.skipif(
    STRACE is None and "strace" not in os.environ.get("SMSOTP_REQUIRE", ""), reason="strace is not installed"
)


@pytest.mark.slow
@needs_strace
def test_cuts_text_nobody_twice_and_lose_nobody() -> None:
    found = run(50)
    assert found.kills == 50, found.line()
    assert (found.duplicates, found.lost, found.odd) == (0, 0, [])
    assert 0 < found.most_in_doubt <= THREADS * CHUNK


@pytest.mark.slow
@needs_strace
def test_the_same_cuts_find_intents_that_are_not_synced() -> None:
    assert run(20, careless="intents not synced").duplicates > 0


# -- the model itself --------------------------------------------------------------------------------------------------

FOLDER = Path("/d")


def after(tmp_path: Path, *happened: Event, keep: bool = False) -> dict[str, bytes]:
    disk = Disk()
    for at, event in enumerate(happened):
        disk.apply(at, event)
    disk.cut(lambda: keep, FOLDER, tmp_path)
    return {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def create(name: str = "f") -> Event:
    return Event("create", f"/d/{name}")


def write(data: bytes, offset: int = 0) -> Event:
    return Event("write", "/d/f", data, offset)


def sync(began: int, path: str = "/d/f") -> Event:
    return Event("sync", path, began=began)


NAMED = (create(), sync(1, "/d"))


def test_only_what_was_written_before_a_sync_began_is_sure(tmp_path: Path) -> None:
    assert after(tmp_path, *NAMED, write(b"ab"), sync(3), write(b"X")) == {"f": b"ab"}


def test_a_write_while_a_sync_runs_is_not_sure(tmp_path: Path) -> None:
    assert after(tmp_path, *NAMED, write(b"ab"), write(b"cd", 2), sync(3)) == {"f": b"ab"}


def test_what_is_not_sure_may_have_arrived(tmp_path: Path) -> None:
    assert after(tmp_path, *NAMED, write(b"ab"), sync(3), write(b"X"), keep=True) == {"f": b"Xb"}


def test_a_sector_is_torn_from_its_neighbour(tmp_path: Path) -> None:
    turns = iter([True, False] * 4)
    disk = Disk()
    for at, event in enumerate([*NAMED, write(b"a" * 1024)]):
        disk.apply(at, event)
    disk.cut(lambda: next(turns), FOLDER, tmp_path)
    assert (tmp_path / "f").read_bytes() == b"a" * 512


def test_a_name_is_sure_after_a_sync_of_its_folder(tmp_path: Path) -> None:
    assert after(tmp_path, create(), write(b"ab"), sync(2)) == {}


def test_an_unlinked_file_may_come_back_until_its_folder_is_synced(tmp_path: Path) -> None:
    gone = Event("unlink", "/d/f")
    kept = (*NAMED, write(b"ab"), sync(3), gone)
    assert after(tmp_path, *kept) == {"f": b"ab"}
    (tmp_path / "f").unlink()
    assert after(tmp_path, *kept, sync(5, "/d")) == {}


def test_a_truncation_is_not_sure_either(tmp_path: Path) -> None:
    cut = Event("truncate", "/d/f", offset=1)
    assert after(tmp_path, *NAMED, write(b"ab"), sync(3), cut) == {"f": b"ab"}
    assert after(tmp_path, *NAMED, write(b"ab"), sync(3), cut, sync(5)) == {"f": b"a"}


def hexed(text: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in text.encode())


def test_lines_of_strace_are_read_in_the_order_of_their_ends() -> None:
    lines = [
        f'7 openat(AT_FDCWD<{hexed("/")}>, "{hexed("/d/f")}", O_RDWR|O_CREAT|O_NOFOLLOW, 0644) = 3<{hexed("/d/f")}>',
        f"7 fdatasync(3<{hexed('/d/f')}> <unfinished ...>",
        f'8 pwrite64(3<{hexed("/d/f")}>, "{hexed("ab")}", 2, 4096) = 2',
        f'8 pwrite64(4<{hexed("/d/f-shm")}>, "{hexed("x")}", 1, 0) = 1',
        "7 <... fdatasync resumed>) = 0",
        f'8 sendto(5<{hexed("socket:[1]")}>, "{hexed("POST /?a")}", 8, 0, NULL, 0 <unfinished ...>',
        f"8 ftruncate(3<{hexed('/d/f')}>, 17) = 0",
        f'8 unlink("{hexed("/d/f")}") = 0',
        "8 +++ exited with 0 +++",
    ]
    assert events(lines) == [
        Event("create", "/d/f"),
        Event("write", "/d/f", b"ab", 4096),
        Event("sync", "/d/f", began=1),
        Event("send", data=b"POST /?a"),
        Event("truncate", "/d/f", offset=17),
        Event("unlink", "/d/f", began=5),
    ]
