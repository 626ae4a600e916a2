"""What a notebook shows of a call under way, and keeps of it: a card, in a kernel of its own and in words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.notebooks import execute, written

START = (
    "import threading, time, _thread, pandas as pd, smsotp_nb as sms\n"
    "sandbox = sms.Sandbox()\n"
    "box = sandbox.client()\n"
    "ledger = sms.Ledger('ledger.sqlite', create=True)\n"
    "people = pd.DataFrame({'phone': [f'+1 202 555 {n:04d}' for n in range(100, 140)]})\n"
    "plan = sms.plan(people, 'Hi', to='phone', campaign='autumn-<b>sale', requests=sms.RequestOptions(chunk_size=1))\n"
)
SENDS = {
    "first": "done = sms.send(plan, client=box, ledger=ledger, limits=sms.Limits(first=4))",
    "interrupted": "def interrupt():\n"
    "    while len(sandbox.inbox) < 8: time.sleep(0.05)\n"
    "    _thread.interrupt_main()\n"
    "threading.Thread(target=interrupt).start()\n"
    "sms.send(plan.with_requests(threads=1), box, ledger=ledger, limits=sms.Limits(per_second=4))",
    "failed": "import smsotp_nb._ledger.sending.run as run\n"
    "def broken(self, *_, **__): raise RuntimeError('the disk is gone')\n"
    "whole, run.Run.settle_reply = run.Run.settle_reply, broken\n"
    "sms.send(plan, client=box, ledger=ledger)",
    "rest": "run.Run.settle_reply = whole\ndone = sms.send(plan, client=box, ledger=ledger)",
    "again": "done = sms.send(plan, client=box, ledger=ledger)",
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """The outputs of each call, as a notebook that was run without a browser keeps them."""
    folder = tmp_path_factory.mktemp("kept")
    done = execute(written(START, *SENDS.values()), folder, allow_errors=True)
    assert done["cells"][0]["outputs"] == []
    return {name: cell["outputs"] for name, cell in zip(SENDS, done["cells"][1:], strict=True)}


def card(outputs: list[dict[str, Any]]) -> tuple[str, str]:
    """Return the one card among outputs, as HTML and as text."""
    shown = [output.get("data", {}) for output in outputs]
    cards = [data for data in shown if "smsotp-card" in "".join(data.get("text/html", ""))]
    assert len(cards) == 1
    return "".join(cards[0]["text/html"]), "".join(cards[0]["text/plain"])


@pytest.mark.notebook
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            "first",
            (
                "not complete",
                "4 of 4 in",
                " 4  accepted",
                " 0  to go",
                "36  held back for now",
                "36 rows were not sent. Their problem",
            ),
        ),
        ("interrupted", ("sale: interrupted", "to go", "Run this cell again", "Recorded in ")),
        ("failed", ("sale: ended by an error", "the ledger has what was recorded since", "Run this cell again")),
        ("rest", ("sale: complete but for rows in doubt", "40 of 40 in", " 0  to go", "USD ", "Recorded in ")),
        ("again", ("sale: complete", "None by this call, 40 of 40", "in doubt and never", "USD ")),
    ],
)
def test_a_call_ends_as_a_card_of_its_result(
    kept: dict[str, list[dict[str, Any]]], call: str, says: tuple[str, ...]
) -> None:
    """No widget, no bar at its beginning, nothing under way: what is saved is how it ended."""
    html, text = card(kept[call])
    assert [words for words in says if words not in text] == []
    assert "sending" not in text
    assert "progressbar" not in html
    assert "autumn-&lt;b&gt;sale" in html
    assert "widget" not in json.dumps(kept[call])


@pytest.mark.notebook
def test_an_interrupted_call_counts_what_was_recorded(kept: dict[str, list[dict[str, Any]]]) -> None:
    """Also the answers that came after the interrupt; the message of the error says the same."""
    [error] = [output for output in kept["interrupted"] if output["output_type"] == "error"]
    said = re.search(r"recorded: (\d+) accepted, .* (\d+) to go", error["evalue"])
    assert said is not None
    _, text = card(kept["interrupted"])
    assert re.search(rf"^ *{said[1]}  accepted$", text, re.MULTILINE)
    assert re.search(rf"^ *{said[2]}  to go$", text, re.MULTILINE)


def test_the_package_draws_without_a_widget_of_tqdm() -> None:
    """What a widget draws is gone with its kernel."""
    source = Path(__file__).resolve().parents[2] / "smsotp_nb"
    assert [path.name for path in source.rglob("*.py") if "tqdm.notebook" in path.read_text(encoding="utf-8")] == []
