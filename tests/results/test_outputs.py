"""What this package writes stands whole or not at all, and destroys nothing of the user's."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from smsotp_nb import Client, Ledger, charts, plan, results, send
from smsotp_nb._outputs import Output, outputs, write_file
from smsotp_nb._results import files, workbook
from smsotp_nb.errors import FileExists, UsageError

OLD = b"what the user had"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    file = tmp_path / "list.csv"
    file.write_bytes(OLD)
    return file


def new(file: Path, **options: object) -> Path:
    return write_file(file, lambda opened: opened.write(b"new"), **options)  # type: ignore[arg-type]


# -- replacing


def test_a_file_is_replaced_only_when_told(old: Path) -> None:
    with pytest.raises(FileExists, match=r"list\.csv already exists; overwrite=True replaces it") as caught:
        new(old)
    assert caught.value.path == str(old)
    assert old.read_bytes() == OLD
    assert new(old, overwrite=True).read_bytes() == b"new"
    assert os.listdir(old.parent) == ["list.csv"]


def test_a_file_that_appears_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    """Between the first look and the last step a file may come from elsewhere, even where replacing was allowed."""
    for overwrite in (False, True):
        file = tmp_path / f"{overwrite}.csv"
        with pytest.raises(FileExists, match="appeared while"):
            write_file(file, lambda opened, file=file: file.write_bytes(OLD), overwrite=overwrite)  # type: ignore[misc]
        assert file.read_bytes() == OLD
    assert sorted(os.listdir(tmp_path)) == ["False.csv", "True.csv"]


def test_nothing_is_there_before_all_is(tmp_path: Path, old: Path) -> None:
    """Neither of two files changes before both are complete, and an error in the block leaves no trace."""

    def half(first: Output, second: Output) -> None:
        first.file.write(b"1")
        second.file.write(b"2")
        first.file.flush()
        assert old.read_bytes() == OLD
        assert not (tmp_path / "b.csv").exists()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), outputs(old, tmp_path / "b.csv", overwrite=True) as both:
        half(*both)
    assert old.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["list.csv"]


@pytest.mark.parametrize(("mode", "then"), [(0o600, 0o600), (0o664, 0o600), (0o755, 0o600), (0o200, 0o200)])
def test_a_replaced_file_is_never_less_strict(old: Path, mode: int, then: int) -> None:
    old.chmod(mode)
    assert stat.S_IMODE(new(old, overwrite=True).stat().st_mode) == then


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    """Whatever the umask leaves to others: a list of people is nobody else's."""
    before = os.umask(0)
    try:
        assert stat.S_IMODE(new(tmp_path / "new.csv").stat().st_mode) == 0o600
    finally:
        os.umask(before)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_of_a_replaced_file_stays(old: Path) -> None:
    os.chown(old, 65534, 65534)
    found = new(old, overwrite=True).stat()
    assert (found.st_uid, found.st_gid) == (65534, 65534)


@pytest.mark.parametrize("leads_to", ["list.csv", "nothing.csv"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_planted_link_is_never_followed(old: Path, leads_to: str, overwrite: bool) -> None:
    """What it leads to is neither replaced nor made, and the link stays."""
    link = old.parent / "out.csv"
    link.symlink_to(leads_to)
    with pytest.raises(UsageError, match=r"out\.csv is a link to (list|nothing)\.csv.*; name that file itself"):
        new(link, overwrite=overwrite)
    assert link.is_symlink()
    assert old.read_bytes() == OLD
    assert not (old.parent / "nothing.csv").exists()


def test_a_link_that_is_planted_meanwhile_is_not_followed_either(old: Path) -> None:
    file = old.parent / "out.csv"
    with pytest.raises(FileExists, match="appeared while"):
        write_file(file, lambda _: file.symlink_to(old))
    assert old.read_bytes() == OLD


def test_a_folder_may_be_a_link(tmp_path: Path, old: Path) -> None:
    (tmp_path / "links").symlink_to(tmp_path)
    new(tmp_path / "links" / "list.csv", overwrite=True)
    assert old.read_bytes() == b"new"


# -- what is refused


def same_spelling(file: Path) -> str:
    return str(file)


def another_spelling(file: Path) -> str:
    return f"{file.parent}/./sub/../{file.name}"


def relative(file: Path) -> str:
    return os.path.relpath(file)


def symbolic_link(file: Path) -> str:
    (file.parent / "link.csv").symlink_to(file)
    return str(file.parent / "link.csv")


def link_of_link(file: Path) -> str:
    (file.parent / "link2.csv").symlink_to(symbolic_link(file))
    return str(file.parent / "link2.csv")


def linked_folder(file: Path) -> str:
    (file.parent / "folder").symlink_to(file.parent)
    return str(file.parent / "folder" / file.name)


def hard_link(file: Path) -> str:
    os.link(file, file.parent / "hard.csv")
    return str(file.parent / "hard.csv")


SPELLINGS = [same_spelling, another_spelling, relative, symbolic_link, link_of_link, linked_folder, hard_link]


@pytest.mark.parametrize("spelled", SPELLINGS, ids=lambda spelled: spelled.__name__)
def test_an_input_is_never_written_over(old: Path, spelled: Callable[[Path], str]) -> None:
    """Whatever its name and even when replacing was allowed: the inode tells."""
    (old.parent / "sub").mkdir()
    for path, source in ((spelled(old), str(old)), (str(old), spelled(old) if spelled is relative else str(old))):
        with pytest.raises(UsageError, match="itself"):
            write_file(path, lambda file: file.write(b"new"), inputs=[source], overwrite=True)
    assert old.read_bytes() == OLD


@pytest.mark.parametrize("spelled", SPELLINGS, ids=lambda spelled: spelled.__name__)
def test_one_file_is_not_named_twice(old: Path, spelled: Callable[[Path], str]) -> None:
    (old.parent / "sub").mkdir()
    with pytest.raises(UsageError, match="are the same file"), outputs(old, spelled(old), overwrite=True):
        pass
    assert old.read_bytes() == OLD


def a_folder(folder: Path) -> Path:
    (folder / "out.csv").mkdir()
    return folder / "out.csv"


def a_pipe(folder: Path) -> Path:
    os.mkfifo(folder / "out.csv")
    return folder / "out.csv"


def no_folder(folder: Path) -> Path:
    return folder / "missing" / "out.csv"


def a_file_as_folder(folder: Path) -> Path:
    (folder / "file").write_bytes(OLD)
    return folder / "file" / "out.csv"


def a_circle(folder: Path) -> Path:
    (folder / "a.csv").symlink_to("b.csv")
    (folder / "b.csv").symlink_to("a.csv")
    return folder / "a.csv"


UNFIT: list[tuple[Callable[[Path], object], str]] = [
    (a_folder, "is a folder; name a file in it"),
    (a_pipe, "is a pipe or a device"),
    (lambda _: "/dev/full", "is a pipe or a device"),
    (no_folder, "folder not found: .*; create it first"),
    (a_file_as_folder, "folder not found: .*; create it first"),
    (a_circle, "cannot be written: Too many levels"),
    (lambda folder: folder / ("x" * 300), "cannot be written: File name too long"),
    (lambda _: "a\0b", "cannot be written"),
    (lambda _: "", "must be the name of a file"),
]


@pytest.mark.parametrize(("where", "said"), UNFIT, ids=range(len(UNFIT)))
def test_what_cannot_be_written_is_said(tmp_path: Path, where: Callable[[Path], object], said: str) -> None:
    """One sentence names the file and the trouble, with and without leave to replace; nothing is left behind."""
    path = where(tmp_path)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(UsageError, match=said):
        new(path, overwrite=True)  # type: ignore[arg-type]
    assert sorted(os.listdir(tmp_path)) == before


UNPRIVILEGED = """
import os, sys
from smsotp_nb.errors import UsageError
from smsotp_nb._outputs import write_file
os.setgroups([]), os.setgid(65534), os.setuid(65534)
try:
    write_file(sys.argv[1], lambda file: file.write(b"new"), overwrite=True)
except UsageError as error:
    print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="as root, who gives up his rights in a process of its own")
@pytest.mark.parametrize(
    ("folder_mode", "file_mode", "said"),
    [(0o555, 0o666, "Permission denied"), (0o777, 0o444, "is write-protected")],
    ids=["folder", "file"],
)
def test_protection_is_respected(folder_mode: int, file_mode: int, said: str) -> None:
    """A rename asks only the folder for leave; a file that is write-protected stays all the same."""
    with tempfile.TemporaryDirectory() as folder:  # everyone may look into this one
        file = Path(folder) / "list.csv"
        file.write_bytes(OLD)
        file.chmod(file_mode)
        os.chmod(folder, folder_mode)
        command = [sys.executable, "-c", UNPRIVILEGED, str(file)]
        told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        assert said in told.stdout, told
        assert file.read_bytes() == OLD
        assert os.listdir(folder) == ["list.csv"]


# -- when it breaks off


@contextlib.contextmanager
def small_files() -> Iterator[None]:
    """No file may grow beyond 20,000 bytes: the system refuses to write on, as on a full disk.

    Around the writing alone: the limit holds for the whole process, and pytest's own report may be a longer file.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


BIG = pd.DataFrame(
    {"to": [f"+1202555{n:04}" for n in range(9_000)], "name": [f"{n * 7919 % 9973}" for n in range(9_000)]}
)
WRITERS: dict[str, Callable[[Path], object]] = {
    "csv": lambda folder: results.write(BIG, folder / "a.csv", overwrite=True),
    "parquet": lambda folder: results.write(BIG, folder / "a.parquet", overwrite=True),
    "xlsx": lambda folder: results.write(BIG, folder / "a.xlsx", overwrite=True),
    "book": lambda folder: files.write_book({"one": BIG}, folder / "a.xlsx", overwrite=True),
    "text": lambda folder: files.write_text("x" * 90_000, folder / "a.txt", overwrite=True),
    "stream csv": lambda folder: stream(folder / "a.csv"),
    "stream xlsx": lambda folder: stream(folder / "a.xlsx"),
}


def stream(file: Path, rows: pd.DataFrame = BIG, *, stopped: bool = False) -> None:
    with workbook.growing(file, overwrite=True) as (table,):
        for _ in range(3):
            table.add(rows)
        if stopped:
            raise KeyboardInterrupt


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_full_disk_leaves_the_old_file_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], object]
) -> None:
    """The file is as it was, no other is left, nor one among the temporary files, and the error names the trouble."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    files = [tmp_path / f"a.{ending}" for ending in ("csv", "parquet", "xlsx", "txt")]
    for file in files:
        file.write_bytes(OLD)
    said = rf"a\.\w+ cannot be written: {os.strerror(errno.EFBIG)}; what was there is"
    with small_files(), pytest.raises(UsageError, match=said):
        write(tmp_path)
    assert {file.read_bytes() for file in files} == {OLD}
    assert sorted(os.listdir(tmp_path)) == sorted(["scratch", *(file.name for file in files)])
    assert os.listdir(tmp_path / "scratch") == []


def test_ctrl_c_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for ending in ("csv", "xlsx"):
        with pytest.raises(KeyboardInterrupt):
            stream(tmp_path / f"a.{ending}", stopped=True)
    assert os.listdir(tmp_path) == []


KILLED = """
import sys, pandas as pd
from smsotp_nb._results import workbook
rows = pd.DataFrame({"to": ["+12025550123"] * 50_000})
with workbook.growing(sys.argv[1], overwrite=True) as (table,):
    for turn in range(10_000):
        table.add(rows)
        print(turn, flush=True)
"""


@pytest.mark.parametrize("signalled", [signal.SIGKILL, signal.SIGTERM], ids=lambda one: one.name)
def test_a_killed_process_leaves_the_old_file_and_what_had_grown(old: Path, signalled: signal.Signals) -> None:
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(old)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        for _ in range(5):
            process.stdout.readline()
        assert old.read_bytes() == OLD
        process.send_signal(signalled)
        assert process.wait(120) == -signalled
    assert old.read_bytes() == OLD
    (left,) = {*os.listdir(old.parent)} - {"list.csv"}
    assert re.fullmatch(r"\.smsotp-\w+\.partial", left)
    assert stat.S_IMODE((old.parent / left).stat().st_mode) == 0o600


def test_whoever_reads_meanwhile_sees_one_whole_file(tmp_path: Path) -> None:
    """Replaced again and again, the file is never missing, never empty and never mixed."""
    file = new(tmp_path / "list.csv")
    seen: set[bytes] = set()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            seen.add(file.read_bytes())

    reader = threading.Thread(target=look)
    reader.start()
    texts = [letter * 50_000 for letter in (b"a", b"b", b"c")]
    until = time.monotonic() + 1
    while time.monotonic() < until:
        for text in texts:
            write_file(file, lambda opened, text=text: opened.write(text), overwrite=True)  # type: ignore[misc]
    stop.set()
    reader.join()
    assert seen <= {b"new", *texts}


# -- everything that writes asks the same


ALL: dict[str, Callable[[Path, bool], object]] = {
    "results.write": lambda folder, told: results.write(BIG, folder / "a.csv", overwrite=told),
    "results.write excel": lambda folder, told: results.write(BIG, folder / "a.xlsx", overwrite=told),
    "results.write parquet": lambda folder, told: results.write(BIG, folder / "a.parquet", overwrite=told),
    "results.write_book": lambda folder, told: files.write_book({"one": BIG}, folder / "a.xlsx", overwrite=told),
    "results.write_text": lambda folder, told: files.write_text("x", folder / "a.txt", overwrite=told),
    "charts.report html": lambda folder, told: charts.report(SPENT, folder / "a.html", overwrite=told),
    "charts.report excel": lambda folder, told: charts.report(SPENT, folder / "a.xlsx", overwrite=told),
}
SPENT = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"], "iso": ["US"]})


@pytest.mark.parametrize("write", ALL.values(), ids=ALL)
def test_every_writer_replaces_only_when_told(tmp_path: Path, write: Callable[[Path, bool], object]) -> None:
    files = [tmp_path / f"a.{ending}" for ending in ("csv", "parquet", "xlsx", "txt", "html")]
    for file in files:
        file.write_bytes(OLD)
    with pytest.raises(FileExists):
        write(tmp_path, False)
    assert {file.read_bytes() for file in files} == {OLD}
    write(tmp_path, True)
    assert sum(file.read_bytes() != OLD for file in files) == 1


@pytest.mark.parametrize("ending", ["html", "xlsx"])
def test_a_report_is_not_written_over_its_ledger(tmp_path: Path, ending: str) -> None:
    """That would be the end of "never twice"."""
    with Ledger(tmp_path / f"ledger.{ending}", create=True) as ledger:
        before = ledger.path.read_bytes()
        with pytest.raises(UsageError, match="itself"):
            charts.report(ledger, ledger.path, overwrite=True)
        assert ledger.path.read_bytes() == before


def test_a_campaign_is_not_exported_over_its_ledger(tmp_path: Path, client: Client) -> None:
    with Ledger(tmp_path / "ledger.csv", create=True) as ledger:
        people = pd.DataFrame({"phone": ["+12025550123"]})
        send(plan(people, "Hello", to="phone", campaign="hello"), client=client, ledger=ledger)
        campaign = ledger.record("hello")
        with pytest.raises(UsageError, match="itself"):
            campaign.export(ledger.path, overwrite=True)
        assert campaign.export(tmp_path / "hello.csv").is_file()
        with pytest.raises(FileExists):
            campaign.export(tmp_path / "hello.csv")
        assert campaign.counts["accepted"] == 1


def test_a_cell_that_excel_cannot_hold_is_refused(tmp_path: Path) -> None:
    """openpyxl would cut it off at 32,767 characters without a word."""
    with pytest.raises(UsageError, match=r"column 'note'.*1 cells hold more, first in row 1\. Use \.csv"):
        results.write(pd.DataFrame({"note": ["x", "x" * 32_768]}), tmp_path / "a.xlsx")
    assert os.listdir(tmp_path) == []


def test_ids_with_more_digits_than_excel_keeps_are_text(tmp_path: Path) -> None:
    frame = pd.DataFrame({"customer": [102345678901234567, 102345678901234568], "n": [1, 2]})
    back = pd.read_excel(results.write(frame, tmp_path / "a.xlsx"), dtype=object)
    assert back["customer"].tolist() == ["102345678901234567", "102345678901234568"]
    assert back["n"].tolist() == [1, 2]


def test_a_streamed_sheet_ends_where_excel_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = BIG.head(20)
    monkeypatch.setattr(workbook, "ROWS", 60)
    stream(tmp_path / "a.xlsx", few)
    assert len(pd.read_excel(tmp_path / "a.xlsx", engine="openpyxl")) == 60
    monkeypatch.setattr(workbook, "ROWS", 59)
    with pytest.raises(UsageError, match=r"holds 59 rows, 'list' has 60; use \.csv"):
        stream(tmp_path / "b.xlsx", few)
    assert os.listdir(tmp_path) == ["a.xlsx"]


WRITES = re.compile(
    r"(?<!contract)\.write_(?:text|bytes)\(|open\([^)]*[\"'][wax]b?\+?b?[\"']|os\.(?:replace|rename)\(|\.savefig\("
    r"|ParquetWriter\("
)


def test_no_other_module_opens_a_file_to_write() -> None:
    """One mechanism for the user's files: `outputs`. Ledger, sandbox and the folder of a large plan keep their own."""
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in sorted((ROOT / "smsotp_nb").rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if WRITES.search(line) and not line.strip().startswith((">>>", "..."))
    ]
    ours = ("smsotp_nb/_outputs.py", "smsotp_nb/_ledger/", "smsotp_nb/sandbox/", "smsotp_nb/_planning/joining.py")
    assert [line for line in found if not line.startswith(ours)] == []
    assert found, "the pattern finds those that there are"


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_an_index_that_is_a_column_as_well_is_written_once(tmp_path: Path, ending: str) -> None:
    """``set_index("team", drop=False)`` makes one; two that differ have no place in one file."""
    table = pd.DataFrame({"team": ["a", "b"], "campaign": "autumn"}).set_index("team", drop=False)
    path = results.write(table, tmp_path / f"r{ending}")
    read = pd.read_csv(path) if ending == ".csv" else pd.read_excel(path, engine="openpyxl")
    assert read.to_dict("list") == {"team": ["a", "b"], "campaign": ["autumn", "autumn"]}
    with pytest.raises(UsageError, match="the index and a column are both named 'team', and hold different values"):
        results.write(table.assign(team=["a", "c"]), tmp_path / f"other{ending}")
