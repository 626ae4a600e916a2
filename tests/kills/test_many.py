"""Processes, kernels and interrupts get in each other's way without texting anybody twice."""

from __future__ import annotations

import pytest

from .many import CAMPAIGNS, FEW, ROWS, interrupted, together


@pytest.mark.slow
def test_eight_processes_on_the_campaigns_of_one_ledger_text_everybody_once() -> None:
    found = together()
    assert (found.rows, found.campaigns) == (CAMPAIGNS * ROWS, CAMPAIGNS)
    assert (found.duplicates, found.lost, found.in_doubt) == (0, 0, 0), found.odd


@pytest.mark.slow
def test_an_interrupt_ends_the_send_and_every_answer_is_recorded() -> None:
    found = interrupted(60)
    assert found.interrupts == 60
    assert found.most_after <= FEW
    assert (found.duplicates, found.unrecorded, found.wrong) == (0, 0, [])
