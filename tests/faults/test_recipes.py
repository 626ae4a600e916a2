"""The campaign has teeth: the usual recipes, run against the same faults, text people twice."""

from __future__ import annotations

import pytest

from .campaign import Caller, Case, Ground, cases, ours, run_all
from .recipes import by_class, eager, in_the_adapter

# What a recipe without deadline or cap comes back from at all, over plain new connections.
FAIR = [
    case
    for case in cases()
    if (case.transport, case.connection, case.operation) == ("plain", "new", "message")
    and not (case.kind.slow or case.kind.endless or case.kind.listens != "yes" or case.kind.certificate != "ours")
]


def twice(ground: Ground, caller: Caller, among: list[Case] = FAIR) -> tuple[int, int]:
    """Return in how many cases people were texted more than once, and how many sends there were too many."""
    extra = [result.sends - 1 for result in run_all(among, ground, caller).values() if result.sends > 1]
    return len(extra), sum(extra)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("recipe", "at_least"),
    [(eager, 100), (by_class, 20), (in_the_adapter, 20)],
    ids=["eager", "by class", "in the adapter"],
)
def test_a_usual_recipe_texts_people_twice(ground: Ground, recipe: Caller, at_least: int) -> None:
    """Each of them sends again what may have been accepted; the counting server sees it."""
    found, extra = twice(ground, recipe)
    print(f"{recipe.__name__}: {found} of {len(FAIR)} cases, {extra} sends too many")
    assert found >= at_least


def test_the_client_texts_nobody_twice_in_the_same_cases(ground: Ground) -> None:
    """The same cases, counted by the same server."""
    assert len(FAIR) >= 250
    assert twice(ground, ours) == (0, 0)
