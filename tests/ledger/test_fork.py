"""A forked child sends by the ledger that its parent has open, and nobody is texted twice by the two."""

from __future__ import annotations

import multiprocessing
import os
import threading
import warnings
from pathlib import Path

import pytest
from kills.child import fork
from kills.people import plan_of

from smsotp_nb import Ledger, Plan, Sandbox, send
from smsotp_nb.errors import SmsOtpWarning


def sent(url: str, ledger: Ledger | Path, *, campaign: str = "autumn", rows: int = 60) -> dict[str, int]:
    """Send a campaign to a sandbox, or go on with it; return its rows by state."""
    return sent_as_planned(url, ledger, plan_of(rows, chunk_size=5, campaign=campaign, text=campaign))


def sent_as_planned(url: str, ledger: Ledger | Path, plan: Plan) -> dict[str, int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        with Sandbox.at(url).client() as client:
            table = send(plan, client=client, ledger=ledger, progress=False)
    found: dict[str, int] = table["status"].value_counts().to_dict()
    return found


def most_often(box: Sandbox) -> int:
    """How often the person was texted who was texted most often, by the text of each campaign."""
    return int(box.inbox.groupby(["to", "text"]).size().max())


def test_a_child_sends_while_its_parent_has_the_ledger_open(box: Sandbox, ledger: Ledger) -> None:
    """When the parent closes, SQLite must not take the log away under the child, or the child's answers are lost."""
    sent(box.url, ledger, campaign="first")
    heard, ready = os.pipe()

    def child() -> dict[str, int]:
        early = sent(box.url, ledger)
        os.write(ready, b"x")
        go_on.wait(120)
        with ledger._begin(plan_of(60, chunk_size=5, campaign="later"), service="sandbox:x") as run:
            assert run.claim(0)
        return early

    go_on = multiprocessing.get_context("fork").Event()
    forked = fork(child)
    os.read(heard, 1)
    ledger.close()
    go_on.set()
    assert forked.result() == {"accepted": 60}
    assert sent(box.url, ledger) == {"accepted": 60}
    assert ledger.record("later").counts["in_doubt"] == 5
    assert most_often(box) == 1


def test_the_parent_goes_on_after_a_fork(box: Sandbox, ledger: Ledger) -> None:
    with ledger._begin(plan_of(20, chunk_size=5), service="sandbox:x") as run:
        assert run.claim(0)
        assert fork(lambda: ledger.record("autumn").counts["sending"]).result() == 5
        assert run.claim(1)
    assert ledger.record("autumn").counts["in_doubt"] == 10


def test_children_that_send_one_campaign_text_nobody_twice(box: Sandbox, ledger: Ledger) -> None:
    sent(box.url, ledger, campaign="first")
    for _ in range(3):
        children = [fork(lambda: sent(box.url, ledger)) for _ in range(4)]
        for child in children:
            child.wait()  # whoever finds it held says so
    assert sent(box.url, ledger) == {"accepted": 60}
    assert most_often(box) == 1


def test_forks_during_a_send_disturb_neither_side(box: Sandbox, ledger: Ledger) -> None:
    """Each fork closes the connection between two transactions; nobody hears that the database is locked."""
    # Planned and begun before any fork: a child would inherit the locks of phonenumbers and of cached_property taken.
    plan = plan_of(400, chunk_size=5, text="autumn")
    outcome: list[object] = []

    def sends() -> None:
        try:
            outcome.append(sent_as_planned(box.url, ledger, plan))
        except Exception as error:  # noqa: BLE001 - looked at below
            outcome.append(error)

    thread = threading.Thread(target=sends)
    thread.start()
    while thread.is_alive() and box.inbox.empty:
        thread.join(0.01)
    children = []
    while thread.is_alive() and len(children) < 25:
        children.append(fork(lambda: sent(box.url, ledger, campaign=f"of {os.getpid()}", rows=10)))
        thread.join(0.02)
    said = [child.result() for child in children]
    thread.join(120)
    assert outcome == [{"accepted": 400}]
    assert said == [{"accepted": 10}] * len(children)
    assert most_often(box) == 1
    assert children


@pytest.mark.parametrize("process", ["a fork in a transaction", "a reader's snapshot"])
def test_a_fork_in_the_middle_of_a_transaction_leaves_it_to_the_parent(process: str, ledger: Ledger) -> None:
    with ledger._begin(plan_of(20), service="sandbox:x"):
        block = ledger._store.writing() if process == "a fork in a transaction" else ledger._store.snapshot()
        with block as connection:
            connection.execute("SELECT count(*) FROM recipient").fetchone()
            child = fork(lambda: len(ledger.campaigns()))
            assert connection.in_transaction
        assert child.result() == 1
    assert len(ledger.campaigns()) == 1


def test_a_pool_of_forked_workers_ends_with_the_ledger_whole(box: Sandbox, ledger: Ledger) -> None:
    sent(box.url, ledger, campaign="first")
    jobs = [(box.url, ledger.path, f"job {number}") for number in range(6)]
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert pool.starmap(_job, jobs) == [{"accepted": 20}] * 6
    for job in jobs:
        assert _job(*job) == {"accepted": 20}
    assert most_often(box) == 1


def _job(url: str, path: Path, campaign: str) -> dict[str, int]:
    return sent(url, path, campaign=campaign, rows=20)
