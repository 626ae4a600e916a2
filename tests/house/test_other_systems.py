"""What reading for Windows and macOS found is mended: a child process obeys Windows' rules as far as Linux can."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
BEGIN = """
    import sys
    sys.path.insert(0, {here!r})
    import asyncio, IPython, ipywidgets, multiprocessing, openpyxl, pandas, requests
    import pyarrow.csv, pyarrow.parquet, sqlite3, subprocess, tempfile, tqdm, uuid
    asyncio.new_event_loop().close()  # Python 3.14 chooses the loop of the system at the first one
    from house import windows_rules
    windows_rules.obey()
"""
EVERY_MODULE = """
    import importlib, pkgutil
    import smsotp_nb
    names = [found.name for found in pkgutil.walk_packages(smsotp_nb.__path__, "smsotp_nb.")]
    for name in names:
        if not name.endswith("__main__"):
            importlib.import_module(name)
    assert len(names) > 100, names
    assert "fcntl" not in {name for name, module in sys.modules.items() if module is not None}
"""
CAMPAIGN = """
    from pathlib import Path
    import pandas as pd
    import smsotp_nb as sms
    from smsotp_nb.errors import CampaignHeld

    people = pd.DataFrame({"phone": ["+12025550123", "+12025550124"], "name": ["Ann", "Zoë"]})
    plan = sms.plan(people, "Hi {name}", to="phone", campaign="autumn", signature="Acme")
    home = Path("home")
    with sms.Sandbox(state="box.sqlite") as box, box.client() as client:
        with sms.Ledger(home / "l.sqlite", create=True) as ledger:
            first = sms.send(plan.with_wire(threads=2), client, ledger=ledger)
            again = sms.send(plan, client, ledger=ledger)
            ledger.backup("l.backup")
            assert sms.cost.by_country(ledger)["messages"].tolist() == [2]
        sms.Ledger.restore("l.backup", home / "l.sqlite")
        with sms.Ledger(home / "l.sqlite") as ledger:
            third = sms.send(plan, client, ledger=ledger)
        assert len(box.inbox) == 2, "nobody is texted twice"
    for table in (first, again, third):
        assert table["status"].tolist() == ["accepted", "accepted"], table
    for name in ("r.csv", "r.xlsx", "r.parquet"):
        for overwrite in (False, True):
            sms.results.write(first, name, overwrite=overwrite)
        assert sms.results.read(name)["id"].tolist() == first["id"].tolist()
    assert sorted(path.name for path in home.iterdir() if path.suffix != ".sqlite-runs") != []
    assert not list(Path().glob(".smsotp-*")), "what grows beside a file takes its place"
"""


def run(tmp_path: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = textwrap.dedent(BEGIN.format(here=str(TESTS))) + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", program, *arguments],
        capture_output=True, text=True, timeout=300, cwd=tmp_path, check=False,
        env={**os.environ, "LOCALAPPDATA": str(tmp_path / "local")},
    )  # fmt: skip


@pytest.mark.parametrize("code", [EVERY_MODULE, CAMPAIGN], ids=["every module", "a campaign"])
def test_it_works_without_what_windows_lacks(tmp_path: Path, code: str) -> None:
    """No module asks for what is not there, and a campaign, its files and its record are whole."""
    done = run(tmp_path, code)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_sandbox_ends_in_order_where_the_loop_takes_no_signal_handlers(tmp_path: Path, number: int) -> None:
    code = 'from smsotp_nb._cli import main; sys.exit(main(["sandbox", "--port", "0", "--state", "box.sqlite"]))'
    program = textwrap.dedent(BEGIN.format(here=str(TESTS))) + code
    child = subprocess.Popen(
        [sys.executable, "-u", "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path
    )
    with child:
        assert child.stdout is not None
        said = child.stdout.readline()
        assert "http://127.0.0.1" in said, said + child.stdout.read()
        os.kill(child.pid, number)
        rest = child.stdout.read()
    assert child.returncode == 0, rest


def test_a_terminal_that_knows_few_signs_is_written_to_all_the_same(tmp_path: Path) -> None:
    """Output that goes to a file on Windows is written in the code page of the machine."""
    environ = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "smsotp_nb", "demo", "--ledger", str(tmp_path / "l.sqlite")]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environ, timeout=300, check=False, cwd=TESTS.parent
    )
    assert done.returncode == 0, done.stderr
    assert "By country" in done.stdout
