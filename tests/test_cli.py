"""The commands: what they print, where they write, how they end."""

from __future__ import annotations

import json
import os
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

from smsotp_nb import cli
from smsotp_nb.ledger import Ledger

ROOT = Path(__file__).parent.parent


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "smsotp_nb", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, cwd=ROOT, **options)


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[str]:
    """A sandbox in a process of its own; its address, read from the end of its first line."""
    command = [sys.executable, "-m", "smsotp_nb", "sandbox", "--port", "0", "--state", str(tmp_path / "state")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0, "Ctrl-C ends it cleanly"


def inbox(url: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{url}/inbox.json", timeout=20) as reply:
        messages: list[dict[str, Any]] = json.load(reply)["messages"]
    return messages


def test_the_demo_shows_the_whole_job_and_again_accepts_nobody(tmp_path: Path) -> None:
    """`demo` prints plan, results and cost by country and ends with 0; on the same ledger it accepts nobody new."""
    first = run("demo", "--ledger", str(tmp_path / "ledger"))
    assert first.returncode == 0, first.stderr
    for said in ("Plan: autumn-sale", "Nothing has been sent", "Results: ", "Cost by country", "Germany"):
        assert said in first.stdout
    accepted = re.search(r"accepted by this run: ([0-9,]+)", first.stdout)
    assert accepted
    assert int(accepted[1].replace(",", "")) > 200
    again = run("demo", "--ledger", str(tmp_path / "ledger"))
    assert again.returncode == 0
    assert "accepted by this run: 0" in again.stdout


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.02, 0.1, 0.2], ids=lambda seconds: f"{seconds}s")
def test_a_killed_demo_texts_nobody_twice(sandbox: str, tmp_path: Path, after: float) -> None:
    """kill -9 half way and run again: by the sandbox's own count nobody is texted twice and nobody is lost."""
    ledger = tmp_path / "ledger"
    command = [sys.executable, "-m", "smsotp_nb", "demo", "--ledger", str(ledger), "--service", sandbox]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT) as process:
        deadline = time.monotonic() + 60
        while not inbox(sandbox) and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(after)  # how far it comes does not matter: the rule holds wherever it is killed
        process.kill()
    again = run("demo", "--ledger", str(ledger), "--service", sandbox)
    assert again.returncode == 0, again.stderr
    times = Counter(message["to"] for message in inbox(sandbox))
    assert max(times.values()) == 1
    counts = Ledger(ledger).campaign(cli.DEMO_CAMPAIGN).counts
    assert counts["planned"] == counts["sending"] == 0
    assert counts["accepted"] <= len(times) <= counts["accepted"] + counts["in_doubt"]


def test_the_demo_refuses_a_service_that_is_no_sandbox(tmp_path: Path) -> None:
    """Sample data never goes to a live service."""
    found = run("demo", "--ledger", str(tmp_path / "ledger"), "--service", "https://sms.example")
    assert found.returncode == 2
    assert "this machine" in found.stderr


def test_clean_reports_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`clean` counts, says why rows fail, and writes the list and its rejected rows."""
    source = tmp_path / "list.csv"
    source.write_text("name;mobile\nAnn;+1 202 555 0123\n=cmd;0\n", encoding="utf-8")
    code = cli.main(
        ["clean", str(source), "--out", str(tmp_path / "out.csv"), "--rejected", str(tmp_path / "rejected.csv")]
    )
    assert code == 0
    said = capsys.readouterr().out
    assert "column 'mobile'" in said
    assert "2 rows written" in said
    out = pd.read_csv(tmp_path / "out.csv", dtype="str")
    assert out["to"].tolist()[0] == "+12025550123"
    rejected = pd.read_csv(tmp_path / "rejected.csv", dtype="str")
    assert rejected["name"].tolist() == ["'=cmd"], "no spreadsheet runs it as a formula"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["clean", "no-such-file.csv"], "no-such-file.csv"),
        (["clean", "sample_data/recipients.csv", "--phone", "fone"], "fone"),
        (["demo", "--data", "nowhere"], "--data"),
    ],
    ids=["no file", "no column", "no data"],
)
def test_what_cannot_be_used_is_said(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong call ends with 2 and one line on the error stream."""
    monkeypatch.chdir(ROOT)
    assert cli.main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("smsotp-nb: ")
    assert said in error


HELP = """\
usage: smsotp-nb [-h] COMMAND ...

Text campaigns and one-time passcodes from tables; tried out on a local
sandbox.

positional arguments:
  COMMAND
    demo      run a campaign from sample data against a sandbox, nothing
              leaves this machine
    sandbox   run a local service that answers the interface, until Ctrl-C
    clean     normalize the phone numbers of a list to E.164

options:
  -h, --help  show this help message and exit
"""


def test_help_is_held(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The help text changes only on purpose."""
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stop:
        cli.main(["--help"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == HELP


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX")
def test_the_installed_command_is_the_module() -> None:
    """`smsotp-nb` and `python -m smsotp_nb` are one thing."""
    assert run("--help").stdout.replace("__main__.py", "smsotp-nb").startswith("usage: smsotp-nb")
