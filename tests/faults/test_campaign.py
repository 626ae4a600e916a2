"""The fault campaign: for every kind of fault in every place the right outcome, and nobody texted twice."""

from __future__ import annotations

import pytest

from .campaign import Case, CaseResult, Ground, cases, run_all
from .kinds import TABLE, Kind

CASES = cases()
KINDS = [kind for kinds in TABLE.values() for kind in kinds]


@pytest.fixture(scope="module")
def results(request: pytest.FixtureRequest, ground: Ground) -> dict[str, CaseResult]:
    """Every case of the kinds that were asked for, run side by side."""
    params = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    asked = {params["kind"].name for params in params if isinstance(params.get("kind"), Kind)}
    return run_all([case for case in CASES if case.kind.name in asked], ground)


def test_the_campaign_is_as_large_as_it_claims() -> None:
    """At least 60 kinds in at least 400 cases, each with a name of its own; the documents say 140 and 2,000."""
    assert len(KINDS) == len({kind.name for kind in KINDS}) >= 140
    assert len(CASES) == len({case.name for case in CASES}) >= 2000


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_fault_is_judged_right_and_texts_nobody_twice(kind: Kind, results: dict[str, CaseResult]) -> None:
    """The outcome of the table; the service took the request as often as the table says, which is never twice."""
    wrong = [fault for case in CASES if case.kind is kind for fault in faults(case, results[case.name])]
    assert not wrong, "\n".join(["", *wrong])


def faults(case: Case, found: CaseResult) -> list[str]:
    """Return everything that is not as the table says, in words."""
    kind, said = case.kind, []
    if found.outcome != kind.outcome:
        said.append(f"{case.name}: {found.outcome!r} instead of {kind.outcome!r} ({found.found!r})")
    if found.sends != kind.sends or found.sends > 1:
        said.append(f"{case.name}: taken {found.sends} times instead of {kind.sends}")
    if found.begun > attempts(case):
        said.append(f"{case.name}: begun {found.begun} times, allowed are {attempts(case)}")
    return said


def attempts(case: Case) -> int:
    """Return how often a request may begin to arrive at all."""
    if case.kind.outcome == "not sent":
        return 0
    return 3 if case.kind.outcome == "throttled" else len(case.kind.places[case.place])
