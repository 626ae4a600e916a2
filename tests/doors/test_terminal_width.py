"""What is printed is as wide as the terminal at most: words go to the next line, numbers stay whole."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST_LABEL = len("Sandbox ")  # stands before a path, which is never broken
COMMANDS = ("", "demo", "sandbox", "notebooks", "clean")


def width(line: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(sign) in "WF") for sign in line)


def on_a_terminal(folder: Path, columns: int, *arguments: str) -> list[str]:
    """Run a command on a terminal of so many columns; return its lines as they stand at the end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    env |= {"PYTHONPATH": str(ROOT), "TERM": "xterm", "SMSOTP_LEDGER": str(folder / "other.sqlite")}
    command = [sys.executable, "-m", "smsotp_nb", *arguments]
    with subprocess.Popen(command, cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs) as run:
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(ours, 65536):
                said += piece
        except OSError:  # the terminal is gone with its last user
            pass
        finally:
            os.close(ours)
    assert run.returncode == 0, said.decode()
    plain = re.sub(r"\x1b\[[\d;]*m", "", said.decode())  # argparse of Python 3.14 writes in colours
    return [line.rpartition("\r")[2] for line in plain.replace("\r\n", "\n").split("\n")]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_demo_fits_the_terminal(columns: int, tmp_path: Path) -> None:
    """Every line of it; only a word that is longer than a line stands out, such as the path of a deep folder."""
    lines = on_a_terminal(tmp_path, columns, "demo", "--ledger", "l.sqlite")
    assert any(line.startswith("Results: 232 accepted") for line in lines)
    assert any("1 part, GSM-7" in line for line in lines)
    wide = [line for line in lines if width(line) > columns]
    assert [line for line in wide if max(map(len, line.split())) < columns - LONGEST_LABEL] == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_fits_the_terminal(command: str, columns: int, tmp_path: Path) -> None:
    lines = on_a_terminal(tmp_path, columns, *filter(None, (command,)), "--help")
    assert [line for line in lines if width(line) > columns] == []
    assert len(lines) > 5
