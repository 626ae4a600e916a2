"""Processes, deaths and changes at random: no cap, opt-out, withdrawal or window of the same words is broken."""

from __future__ import annotations

import pytest
from support.servers import Server

from .people_stories import run


@pytest.mark.slow
def test_in_stories_nobody_is_texted_too_often_or_after_a_stop() -> None:
    found = run(4, seed=2)
    assert not found.broken, found.line()
    assert found.messages > 20, found.line()
    assert found.held > 5, "no rule held anybody back: the stories show nothing"


@pytest.mark.slow
def test_the_same_stories_find_the_rules_switched_off() -> None:
    assert run(3, seed=2, careless="rules switched off").broken


@pytest.mark.slow
def test_in_stories_of_a_team_nobody_is_texted_too_often_or_after_a_stop(server: Server) -> None:
    found = run(2, seed=3, database=server.database)
    assert not found.broken, found.line()
    assert found.messages > 0
