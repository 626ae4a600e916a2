"""Killed at any system call that others could see, and called again, a campaign texts nobody twice, loses nobody."""

from __future__ import annotations

import os

import pytest

from .system_calls import CHUNK, EFFECTS, STRACE, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        STRACE is None and "strace" not in os.environ.get("SMSOTP_REQUIRE", ""), reason="strace is not installed"
    ),
]


DEATHS = 6  # of each pass; `python -m tests.kills` takes every call


# What each pass leaves in doubt: nothing is under way in the calling thread; at a death one request is.
@pytest.mark.parametrize(("name", "at_most"), [("begin", CHUNK), ("threads", CHUNK), ("recover", 2 * CHUNK)])
def test_death_at_a_system_call_texts_nobody_twice_and_loses_nobody(name: str, at_most: int) -> None:
    found = run(calls=EFFECTS, passes=(name,), deaths=DEATHS)
    assert found.kills == DEATHS, found.line()
    assert (found.duplicates, found.lost) == (0, 0), found.odd
    assert found.most_in_doubt <= at_most
