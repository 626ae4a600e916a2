"""Processes that die while they send an experiment, and several at once, change no arm and text nobody held out."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from pathlib import Path

import pytest
from kills.child import fork

from smsotp_nb import Ledger, RequestOptions, Sandbox, send
from smsotp_nb.errors import SmsOtpWarning
from smsotp_nb.results import Progress

from .people import NUMBERS, arm_plan, arms_of, customers, experiment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks")


def work(path: Path, url: str, arm: str, *, dies_at: int | None = None, everybody: bool = False) -> int:
    """Draw, plan and send one arm, as a notebook does from its first cell; die when so many are accepted."""

    def watch(told: Progress) -> None:
        if dies_at is not None and told.accepted >= dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    with Ledger(path) as ledger, warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        parts = dict(experiment(ledger).assign(customers(), to="phone").texted())
        made = arm_plan(customers() if everybody else parts[arm], arm, requests=RequestOptions(chunk_size=2))
        return len(send(made.with_requests(threads=2), client=Sandbox.at(url).client(), ledger=ledger, progress=watch))


def test_kills_and_resumes_change_nothing(ledger: Ledger, box: Sandbox) -> None:
    arms = arms_of(experiment(ledger), customers())
    held = {number for number, arm in zip(NUMBERS, arms.values(), strict=True) if arm == "holdout"}
    ledger.close()
    killed = [
        fork(lambda arm=arm, at=at: work(ledger.path, box.url, arm, dies_at=at)).wait() is None  # type: ignore[misc]
        for arm in ("plain", "emoji")
        for at in (2, 12, 24)
    ]
    assert sum(killed) >= 4
    for arm in ("plain", "emoji"):
        fork(lambda arm=arm: work(ledger.path, box.url, arm)).result()  # type: ignore[misc]
    found = experiment(ledger).assigned()
    assert dict(zip(found["unit"], found["arm"], strict=True)) == arms
    assert found["contacted"].to_numpy().tolist() == found["arm"].ne("holdout").tolist()
    assert box.inbox["to"].is_unique
    assert not held & set(box.inbox["to"])


def test_processes_at_once_text_nobody_held_out(ledger: Ledger, box: Sandbox) -> None:
    """Each draws for itself in an empty ledger, and one plans everybody under the experiment's name."""
    ledger.close()
    children = [
        fork(lambda: work(ledger.path, box.url, "plain")),
        fork(lambda: work(ledger.path, box.url, "emoji")),
        fork(lambda: work(ledger.path, box.url, "reminder", everybody=True)),
    ]
    for child in children:
        child.result()
    arms = arms_of(experiment(ledger), customers())
    held = {number for number, arm in zip(NUMBERS, arms.values(), strict=True) if arm == "holdout"}
    assert len(held) > 10
    assert not held & set(box.inbox["to"])
    assert set(NUMBERS) - held == set(box.inbox["to"])


def test_processes_at_once_text_each_person_the_words_of_one_arm(ledger: Ledger, box: Sandbox) -> None:
    """Two processes draw at once, and each plans everybody for its own arm, as a cell does that took the wrong list."""
    ledger.close()
    children = [
        fork(lambda arm=arm: work(ledger.path, box.url, arm, everybody=True))  # type: ignore[misc]
        for arm in ("plain", "emoji")
    ]
    for child in children:
        child.result()
    arms = dict(zip(NUMBERS, arms_of(experiment(ledger), customers()).values(), strict=True))
    told = dict(zip(box.inbox["to"], box.inbox["text"], strict=True))
    assert told == {to: f"Hello from {arm}!" for to, arm in arms.items() if arm != "holdout"}
    assert box.inbox["to"].is_unique
