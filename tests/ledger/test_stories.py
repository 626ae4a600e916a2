"""Any story of sends, faults, deaths, interrupts and what a person says keeps the promise."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test
from kills.stories import BROKEN, Story, on_a_server
from kills.worker import intents_after_the_fact
from support.servers import Server

from smsotp_nb.errors import LedgerError

SIZE = settings(
    max_examples=8,
    stateful_step_count=15,
    deadline=None,
    database=None,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)


@pytest.fixture(autouse=True)
def nothing_broken_yet() -> None:
    BROKEN.clear()


@pytest.mark.slow
def test_every_story_keeps_the_promise() -> None:
    with contextlib.suppress(Flaky):
        run_state_machine_as_test(Story, settings=SIZE)
    assert not BROKEN


@pytest.mark.slow
def test_every_story_on_a_server_keeps_the_promise(server: Server) -> None:
    with contextlib.suppress(Flaky):
        run_state_machine_as_test(on_a_server(server), settings=settings(SIZE, max_examples=2))
    assert not BROKEN


@pytest.mark.slow
def test_the_stories_find_a_ledger_that_records_after_the_fact() -> None:
    without_shrinking = settings(SIZE, phases=(Phase.generate,), max_examples=100, report_multiple_bugs=False)
    noticed = ""  # by the ledger itself, which compares what it recorded at the end of a send
    with intents_after_the_fact(), contextlib.suppress(AssertionError, Flaky):
        try:
            run_state_machine_as_test(Story, settings=without_shrinking)
        except LedgerError as error:
            noticed = str(error)
    assert any("was posted after" in said or "is planned after" in said for said in [*BROKEN, noticed]) or (
        "was altered while" in noticed
    )
