"""Killed at random moments and called again, a campaign texts nobody twice and loses nobody."""

from __future__ import annotations

import pytest
from support.servers import Server

from .random_kills import run


@pytest.mark.slow
@pytest.mark.timeout(150)
def test_a_hundred_kills_text_nobody_twice_and_lose_nobody() -> None:
    found = run(100, seconds=80)
    assert found.kills >= 30, found.line()  # on a slow machine the time is up first
    assert (found.duplicates, found.lost) == (0, 0), found.odd
    assert found.in_doubt > 0, "no kill met a request under way: the test shows nothing"


@pytest.mark.slow
def test_the_same_kills_find_the_ledger_that_records_after_the_fact() -> None:
    assert run(15, seconds=30, careless="intents after the fact").duplicates > 0


@pytest.mark.slow
def test_kills_of_a_team_text_nobody_twice_and_lose_nobody(server: Server) -> None:
    found = run(12, rows=120, database=server.database)
    assert (found.kills, found.duplicates, found.lost) == (12, 0, 0), found.odd


@pytest.mark.slow
def test_the_same_kills_of_a_team_find_the_ledger_that_records_after_the_fact(server: Server) -> None:
    found = run(30, rows=120, seconds=30, careless="intents after the fact", database=server.database)
    assert found.duplicates > 0
