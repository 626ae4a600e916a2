"""Whatever becomes of the files of a ledger, nobody is texted twice, and nobody is lost."""

from __future__ import annotations

import pytest

from .files import run


@pytest.mark.slow
def test_copies_restores_moves_forks_and_readers_at_random_text_nobody_twice() -> None:
    found = run(6)
    assert (found.duplicates, found.lost) == (0, 0), found.odd
    assert found.kills > 0, "no file was ever refused: the stories do no harm"


@pytest.mark.slow
def test_a_ledger_that_believes_every_file_texts_people_twice() -> None:
    assert any(run(2, seed=seed, careless="every file believed").duplicates for seed in range(6))
