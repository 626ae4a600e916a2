"""Processes, kernels and Stops get in each other's way without texting anybody twice."""

from __future__ import annotations

import pytest

from .many import CAMPAIGNS, ROWS, THREADS, stopped, together


@pytest.mark.slow
def test_eight_processes_on_the_campaigns_of_one_ledger_text_everybody_once() -> None:
    found = together()
    assert (found.rows, found.campaigns) == (CAMPAIGNS * ROWS, CAMPAIGNS)
    assert (found.duplicates, found.lost, found.in_doubt) == (0, 0, 0), found.odd


@pytest.mark.slow
def test_two_hundred_stops_begin_nothing_more_and_record_every_answer() -> None:
    found = stopped(200)
    assert found.stops == 200
    assert found.most_after <= THREADS
    assert (found.duplicates, found.unrecorded, found.wrong) == (0, 0, [])
