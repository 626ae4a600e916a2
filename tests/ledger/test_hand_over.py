"""The notebook about it, run by two kernels: one dies in the middle of its campaign, and the other goes on with it."""

from __future__ import annotations

import json
import re
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
import pytest
from support.hosts import Host, Kernel, need_hosts
from support.servers import Server
from support.sockets import without_token

from smsotp_nb import Ledger, Sandbox

from .test_server import set_clock, with_clock

pytestmark = [pytest.mark.slow, pytest.mark.notebook]

ROOT = Path(__file__).parents[2]
PEOPLE, CHUNK, THREADS = 100, 2, 4
LATENCY = 1  # seconds, of the sandbox that the notebook makes slow


class Notebook:
    """The code of a notebook, in a folder of its own beside the sample data."""

    def __init__(self, folder: Path) -> None:
        for name in ("notebooks", "sample_data"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.sqlite*", "*.url"))
        self.folder = folder / "notebooks"
        cells = json.loads((self.folder / "hand_over.ipynb").read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        self.begins, self.plans, self.dies, self.sends, self.looks, *self.settles = code
        self.goes_on = self.sends.replace(f"seconds={LATENCY})", "seconds=0)")  # nobody has to die in it

    def begin(self, kernel: Kernel) -> str:
        """Run it down to the cell that sends; return what its first cell says."""
        begun = kernel.run(self.begins)
        assert "requests" in kernel.run(self.plans)
        return begun

    def settle(self, kernel: Kernel) -> str:
        """Run what is below the campaign's card; return all that it shows."""
        return "".join(kernel.run(cell) for cell in self.settles)


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    pytest.importorskip("ipykernel")
    return Notebook(tmp_path)


@pytest.fixture
def box() -> Iterator[Sandbox]:
    """The sandbox of a third machine, which both reach by a line of their own."""
    with without_token() as running:
        yield running


def service_of(box: Sandbox) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(urlsplit(box.url).port or 0)))


def ledger_of(server: Server) -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    line.connect(f"{server.folder}/.s.PGSQL.5432")
    return line


def wait_for_messages(box: Sandbox) -> None:
    while len(box.inbox) < 10:
        time.sleep(0.05)


def nobody_twice(texted: pd.Series, counts: dict[str, int], told: str) -> None:
    assert not texted.duplicated().any()
    assert counts["accepted"] == len(texted) == PEOPLE
    assert told.endswith(f"{PEOPLE} messages to {PEOPLE} people\n")


def test_a_kernel_on_another_machine_goes_on_and_texts_nobody_twice(
    server: Server, box: Sandbox, notebook: Notebook, tmp_path: Path
) -> None:
    need_hosts()
    address = with_clock(server)
    Ledger(address, create=True).close()
    path = urlsplit(address).path
    with Host("anna-laptop", "anna", tmp_path) as hers, Host("ben-desktop", "ben", tmp_path) as his:
        anna, ben = (
            host.kernel(
                notebook.folder,
                SMSOTP_SANDBOX=f"http://127.0.0.1:{host.line(lambda: service_of(box))}",
                SMSOTP_LEDGER=f"postgresql://postgres@127.0.0.1:{host.line(lambda: ledger_of(server))}{path}",
            )
            for host in (hers, his)
        )
        for kernel in (anna, ben):
            assert notebook.begin(kernel).startswith("Recorded in postgresql://postgres@127.0.0.1:")
        anna.begin(notebook.sends)
        wait_for_messages(box)
        anna.kill()
        # What she had under way arrives; a take-over waits two minutes for it, but the clock is moved here.
        time.sleep(2 * LATENCY)
        refused, line = ben.run(notebook.sends), ben.run(notebook.looks)
        card = ben.run("print(campaign.card())")
        assert re.search(
            r"CampaignLockedError: .* is being run by anna on anna-laptop \(process 1\) since 20.* it can be taken over after",  # noqa: E501
            refused,
        )
        assert "to go" in line
        assert "Being run by anna on anna-laptop (process 1) since 20" in card
        set_clock(address, "150 seconds")
        went_on = ben.run(notebook.goes_on)
        with Ledger(address) as ledger:
            doubtful = ledger.record("hand-over").counts["in_doubt"]
        told = notebook.settle(ben)
    print(refused, card, went_on, told, sep="\n")
    assert 0 < doubtful <= CHUNK * THREADS * 2
    assert re.search(rf"accepted +{PEOPLE - doubtful}\n", went_on)
    with Ledger(address) as ledger:
        nobody_twice(box.inbox["to"], ledger.record("hand-over").counts, told)
        sending = ledger.audit().loc[lambda decisions: decisions["what"].eq("sending"), "who"]
    assert sending.tolist() == [f"postgres ({who})" for who in ("anna on anna-laptop", *["ben on ben-desktop"] * 2)]


def test_run_all_tells_the_story_and_again_changes_nothing(notebook: Notebook, tmp_path: Path) -> None:
    """A process dies in the middle, the kernel goes on; a second run from the top texts nobody."""
    own = {"SMSOTP_LEDGER": str(tmp_path / "ledger.sqlite"), "HOME": str(tmp_path)}
    for again in (False, True):
        kernel = Kernel.here(notebook.folder, **own)
        try:
            notebook.begin(kernel)
            died, went_on, card = (kernel.run(cell) for cell in (notebook.dies, notebook.sends, notebook.looks))
            told = notebook.settle(kernel)
        finally:
            kernel.end()
        assert "messages had arrived when the first machine died." in died
        assert ("in_doubt" in went_on) is not again
        assert "hand-over" in card
        assert "Traceback" not in died + went_on + card + told
        with Sandbox(state=notebook.folder / "hand_over.sqlite") as box, Ledger(own["SMSOTP_LEDGER"]) as ledger:
            nobody_twice(box.inbox["to"], ledger.record("hand-over").counts, told)


def test_two_kernels_on_one_machine_hand_a_campaign_over(notebook: Notebook, tmp_path: Path) -> None:
    """The ledger is a file, and the sandbox runs in the kernel that dies."""
    own = {"SMSOTP_LEDGER": str(tmp_path / "ledger.sqlite"), "HOME": str(tmp_path)}
    state = notebook.folder / "hand_over.sqlite"
    first, second = Kernel.here(notebook.folder, **own), Kernel.here(notebook.folder, **own)
    try:
        for kernel in (first, second):
            assert "Recorded in" in notebook.begin(kernel)
        first.begin(notebook.sends)
        wait_for_messages(Sandbox.at(state.with_suffix(".url").read_text(encoding="utf-8")))
        assert "CampaignLockedError: " in second.run(notebook.sends)
        first.kill()
        notebook.begin(second)
        assert "accepted" in second.run(notebook.goes_on)
        assert "hand-over" in second.run(notebook.looks)
        told = notebook.settle(second)
    finally:
        first.end()
        second.end()
    with Sandbox(state=state) as box, Ledger(own["SMSOTP_LEDGER"]) as ledger:
        nobody_twice(box.inbox["to"], ledger.record("hand-over").counts, told)
