"""Killed at random moments and called again, a campaign texts nobody twice and loses nobody."""

from __future__ import annotations

from functools import partial

import pytest
from support.servers import Server

from .random_kills import run


@pytest.mark.slow
def test_kills_at_random_moments_text_nobody_twice_and_lose_nobody() -> None:
    found = run(25)
    assert found.kills == 25, found.line()
    assert (found.duplicates, found.lost) == (0, 0), found.odd
    assert found.in_doubt > 0, "no kill met a request under way: the test shows nothing"


@pytest.mark.slow
def test_the_same_kills_find_the_ledger_that_records_after_the_fact() -> None:
    assert any(run(5, seed=seed, careless="intents after the fact").duplicates for seed in range(6))


@pytest.mark.slow
def test_kills_of_a_team_text_nobody_twice_and_lose_nobody(server: Server) -> None:
    found = run(6, rows=120, database=server.database)
    assert (found.kills, found.duplicates, found.lost) == (6, 0, 0), found.odd


@pytest.mark.slow
def test_the_same_kills_of_a_team_find_the_ledger_that_records_after_the_fact(server: Server) -> None:
    careless = partial(run, 6, rows=120, careless="intents after the fact", database=server.database)
    assert any(careless(seed=seed).duplicates for seed in range(8))
