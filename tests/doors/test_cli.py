"""The commands: what they print, where they write, how they end."""

from __future__ import annotations

import functools
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kills.people import plan_of
from support.commands import main
from support.servers import Server

from smsotp_nb import Ledger

DEMO_CAMPAIGN = "autumn-sale"
ROOT = Path(__file__).parents[2]


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "smsotp_nb", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=ROOT, **options)


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[str]:
    """A sandbox in a process of its own; its address, read from the end of its first line."""
    command = [sys.executable, "-m", "smsotp_nb", "sandbox", "--port", "0", "--state", str(tmp_path / "state")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0, "Ctrl-C ends it cleanly"


def inbox(url: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{url}/state.json?messages_after=0", timeout=120) as reply:
        messages: list[dict[str, Any]] = json.load(reply)["inbox"]
    return messages


@pytest.mark.slow
def test_the_demo_shows_the_whole_job_and_again_accepts_nobody(tmp_path: Path) -> None:
    """`demo` prints plan, results and cost by country and ends with 0; on the same ledger it accepts nobody new.

    Nobody knows whom a deleted ledger texted; one that only held rehearsals texted nobody, and it begins anew.
    """
    ledger = tmp_path / "ledger"
    first = run("demo", "--ledger", str(ledger))
    assert first.returncode == 0, first.stderr
    for said in ("Plan: autumn-sale", "Nothing has been sent", "Results: ", "By country", "Germany"):
        assert said in first.stdout
    accepted = re.search(r"Accepted by this run: ([0-9,]+)", first.stdout)
    assert accepted
    assert int(accepted[1].replace(",", "")) > 200
    again = run("demo", "--ledger", str(ledger))
    assert again.returncode == 0
    assert "Accepted by this run: 0" in again.stdout
    ledger.unlink()
    assert f"Accepted by this run: {accepted[1]}" in run("demo", "--ledger", str(ledger)).stdout


@pytest.mark.slow
def test_commands_take_a_teams_ledger_and_the_demo_leaves_it_alone(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = server.database()
    with Ledger(address, create=True) as ledger:
        ledger._begin(plan_of(3), service="sandbox:a").close()
    its_own = {**os.environ, "SMSOTP_LEDGER": address, "XDG_DATA_HOME": str(tmp_path)}
    demo = run("demo", env=its_own)
    assert demo.returncode == 0, demo.stderr
    assert (tmp_path / "smsotp_nb" / "ledger.sqlite").is_file()
    monkeypatch.setenv("SMSOTP_LEDGER", address)
    for asked in (["campaigns"], ["campaigns", "--ledger", address]):
        assert main(asked) == 0
        listed = capsys.readouterr().out
        assert "autumn" in listed
        assert DEMO_CAMPAIGN not in listed


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize("after", [0.02, 0.1, 0.2], ids=lambda seconds: f"{seconds}s")
def test_a_killed_demo_texts_nobody_twice(sandbox: str, tmp_path: Path, after: float) -> None:
    """kill -9 half way and run again: by the sandbox's own count nobody is texted twice and nobody is lost."""
    ledger = tmp_path / "ledger"
    command = [sys.executable, "-m", "smsotp_nb", "demo", "--ledger", str(ledger), "--service", sandbox]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT) as process:
        deadline = time.monotonic() + 120
        while not inbox(sandbox) and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(after)  # how far it comes does not matter: the rule holds wherever it is killed
        process.kill()
    again = run("demo", "--ledger", str(ledger), "--service", sandbox)
    assert again.returncode == 0, again.stderr
    times = Counter(message["to"] for message in inbox(sandbox))
    assert max(times.values()) == 1
    counts = Ledger(ledger).record(DEMO_CAMPAIGN).counts
    assert counts["planned"] == counts["sending"] == 0
    assert counts["accepted"] <= len(times) <= counts["accepted"] + counts["in_doubt"]


def test_clean_reports_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`clean` counts, says why rows fail, and writes the list and its unusable rows."""
    source = tmp_path / "list.csv"
    source.write_text("name;mobile\nAnn;+1 202 555 0123\n=cmd;0\n", encoding="utf-8")
    code = main(
        ["clean", str(source), "--out", str(tmp_path / "out.csv"), "--unusable", str(tmp_path / "unusable.csv")]
    )
    assert code == 0
    said = capsys.readouterr().out
    assert "column 'mobile'" in said
    assert "2 rows written" in said
    out = pd.read_csv(tmp_path / "out.csv", dtype="str")
    assert out["to"].tolist()[0] == "+12025550123"
    unusable = pd.read_csv(tmp_path / "unusable.csv", dtype="str")
    assert unusable["name"].tolist() == ["'=cmd"], "no spreadsheet runs it as a formula"


LIST = """\
name;mobile;note
Ann;+1 202 555 0123;
"Bo
the second";12;"a
b"

Cy;n/a;=cmd
Di;+12025550123;
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "list.csv"
    file.write_text(LIST, encoding="utf-8")
    return file


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".xlsx"])
def test_unusable_rows_lead_back_to_the_list(people: Path, tmp_path: Path, ending: str) -> None:
    """`row` counts as a spreadsheet does: header and blank rows count, a line break in a cell does not."""
    file = tmp_path / f"bad{ending}"
    assert main(["clean", str(people), "--default-region", "US", "--unusable", str(file)]) == 0
    read = {
        ".csv": pd.read_csv,
        ".xlsx": functools.partial(pd.read_excel, engine="openpyxl"),
        ".tsv": lambda file: pd.read_csv(file, sep="\t"),
    }[ending]
    unusable = read(file)  # type: ignore[operator]
    assert unusable["row"].tolist() == [3, 5]
    assert unusable["name"].tolist() == ["Bo\nthe second", "Cy"]
    assert unusable["note"].tolist() == ["a\nb", "'=cmd"], "the list's own column of that name stays"
    assert unusable["problem"].tolist() == ["TOO_SHORT", "MISSING"]
    assert unusable["meaning"].tolist() == [
        "fewer digits than any number of that country",
        "no number in the cell: blank, or a word such as n/a",
    ]
    assert unusable["ask"].notna().all()


def test_the_rows_of_a_sheet_are_those_of_excel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of several sheets one is read, which is said; blank rows count, and the clean list is a workbook too."""
    with pd.ExcelWriter(tmp_path / "list.xlsx") as book:
        pd.DataFrame({"phone": ["1"]}).to_excel(book, sheet_name="Notes", index=False)
        rows = pd.DataFrame({"phone": ["+12025550123", None, "12"], "plz": ["01067", None, "+5"]})
        rows.to_excel(book, sheet_name="People", index=False, startrow=2)
    command = ["clean", str(tmp_path / "list.xlsx"), "--sheet", "People", "--unusable", str(tmp_path / "bad.csv")]
    assert main([*command, "--default-region", "US", "--out", str(tmp_path / "clean.xlsx")]) == 0
    assert "sheet 'People': numbers in column" in " ".join(capsys.readouterr().out.split())
    assert pd.read_csv(tmp_path / "bad.csv")["row"].tolist() == [6]
    clean = pd.read_excel(tmp_path / "clean.xlsx", dtype="str", engine="openpyxl")
    assert clean["to"].tolist()[0] == "+12025550123"
    assert clean["plz"].tolist() == ["01067", "+5"]


@pytest.mark.parametrize("force", [(), ("--force",)], ids=["unasked", "forced"])
@pytest.mark.parametrize("option", ["--out", "--unusable"])
def test_the_list_is_never_written_over(
    people: Path, option: str, force: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """The list stays, under whichever name it is meant, and the command fails in one line."""
    os.link(people, people.with_name("other.csv"))
    assert main(["clean", str(people), option, str(people.with_name("other.csv")), *force]) == 2
    error = capsys.readouterr().err
    assert "itself, which is being read" in error
    assert "Traceback" not in error
    assert people.read_text(encoding="utf-8") == LIST


def test_files_are_replaced_only_with_force(people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second file is looked at before the first is written."""
    (tmp_path / "bad.csv").write_text("mine")
    command = ["clean", str(people), "--out", str(tmp_path / "out.csv"), "--unusable", str(tmp_path / "bad.csv")]
    assert main(command) == 2
    assert f"smsotp-nb: {tmp_path / 'bad.csv'} already exists; --force replaces it" in capsys.readouterr().err
    assert (tmp_path / "bad.csv").read_text() == "mine"
    assert not (tmp_path / "out.csv").exists()
    assert main([*command, "--force"]) == 0
    assert (tmp_path / "bad.csv").read_text().startswith('"row","name"')


def test_a_list_that_breaks_half_way_leaves_what_was_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only a list that was judged to its end takes the place of an older file."""
    source, out = tmp_path / "list.csv", tmp_path / "out.csv"
    rows = "".join(f"+1202555{n:04},x\n" for n in range(1000, 9999)) * 20
    source.write_text(f"phone,name\n{rows}+12025550123,y,z\n", encoding="utf-8")
    out.write_text("mine")
    assert main(["clean", str(source), "--out", str(out), "--force"]) == 2
    assert "line 179982: 3 of 2 cells" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["list.csv", "out.csv"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda sent: sent.name)
def test_a_stopped_clean_leaves_what_was_there(tmp_path: Path, sent: signal.Signals) -> None:
    source, out = tmp_path / "list.csv", tmp_path / "out.csv"
    source.write_text("phone\n" + "".join(f"+1202{n}\n" for n in range(2_000_000, 5_000_000)), encoding="utf-8")
    out.write_text("mine")
    command = [sys.executable, "-m", "smsotp_nb", "clean", str(source), "--out", str(out), "--force"]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a child inherits a signal that is ignored
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
        process.send_signal(sent)
        code = process.wait(120)
    assert code == (130 if sent is signal.SIGINT else -sent)
    assert out.read_text() == "mine"
    beside = [path for path in tmp_path.iterdir() if path not in (source, out)]
    if sent is signal.SIGINT:
        assert not beside
    assert all(path.match(".smsotp-*.partial") for path in beside), "all that a kill may leave"


@pytest.mark.parametrize("kind", ["pipe", "folder", "stdin"])
def test_a_list_that_is_no_file_is_explained(tmp_path: Path, kind: str) -> None:
    """Nothing waits for a pipe that nobody fills."""
    source = tmp_path / "list.csv"
    os.mkfifo(source) if kind == "pipe" else source.mkdir()
    found = run("clean", "/dev/stdin" if kind == "stdin" else str(source), input="phone\n1\n")
    assert found.returncode == 2
    assert ("is a folder" if kind == "folder" else "is a pipe or a device") in found.stderr


def test_a_clean_list_can_be_cleaned_again(people: Path, tmp_path: Path) -> None:
    """Columns of an earlier run stay as they are; new ones find a name of their own."""
    files = [people, *(tmp_path / f"{turn}.csv" for turn in range(3))]
    for source, out in itertools.pairwise(files):
        assert main(["clean", str(source), "--phone", "mobile", "--out", str(out)]) == 0
    last = pd.read_csv(files[-1], dtype="str")
    assert last.columns.is_unique
    assert [last[name].tolist()[0] for name in ("to", "sms_to", "sms_to_2")] == ["+12025550123"] * 3


WRONG = Path(__file__).with_name("wrong_commands.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def odd_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder with a list, and with what is not what its name says."""
    noise = random.Random(16).randbytes(3000)
    (tmp_path / "folder").mkdir()
    (tmp_path / "list.csv").write_text("name,phone,country\nAnn,+12025550123,US\n", encoding="utf-8")
    (tmp_path / "header.csv").write_text("phone\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("hello", encoding="utf-8")
    (tmp_path / "empty.csv").touch()
    for ending in ("csv", "xlsx", "parquet"):
        (tmp_path / f"noise.{ending}").write_bytes(noise)
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("SMSOTP_")]:
        monkeypatch.delenv(name)


@pytest.mark.sampled(30)
@pytest.mark.usefixtures("odd_files")
@pytest.mark.parametrize("line", WRONG, ids=lambda line: line.partition("|")[0].strip())
def test_a_wrong_command_ends_with_one_line(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It names the option, the file and the way on; nothing is printed as if it had worked."""
    command, _, said = (part.strip() for part in line.partition("|"))
    if command.startswith("sandbox"):  # runs a loop of its own, and the tests of the browser leave one running here
        ended = subprocess.run([sys.executable, "-m", "smsotp_nb", *command.split()], capture_output=True, text=True)
        status, out, err = ended.returncode, ended.stdout, ended.stderr
    else:
        status, (out, err) = main(command.split()), capsys.readouterr()
    lines = [one for one in err.splitlines() if not one.startswith("! ")]
    assert status == 2
    assert said in lines[0].removeprefix("smsotp-nb: ")
    assert len(lines) == 1
    assert "[Errno" not in err
    assert out == ""


@pytest.mark.parametrize("command", ["clean", "notebooks", "demo --ledger", "sandbox --state"])
def test_a_blank_path_is_a_variable_that_is_not_set(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*command.split(), ""])
    assert stop.value.code == 2
    assert "the path is empty" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such devices and no SIGPIPE")
@pytest.mark.parametrize(("into", "code"), [("| true", 141), ("> /dev/full", 2), (">&-", 0)])
def test_what_cannot_be_printed_is_no_traceback(into: str, code: int, tmp_path: Path) -> None:
    command = f"{sys.executable} -m smsotp_nb clean sample_data/recipients.csv --out {tmp_path}/clean.csv"
    shell = ["bash", "-c", f"set -o pipefail; {command} {into}"]
    ended = subprocess.run(shell, capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)
    assert "Traceback" not in ended.stderr
    assert ended.returncode == code
    assert ("cannot be written: No space left" in ended.stderr) == (code == 2)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such shell")
def test_an_error_ends_with_its_code_where_nobody_can_be_told() -> None:
    command = ["bash", "-c", f"{sys.executable} -m smsotp_nb clean nowhere.csv 2>&-"]
    assert subprocess.run(command, cwd=ROOT, timeout=300, check=False).returncode == 2
