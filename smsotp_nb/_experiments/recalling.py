"""Experiments as the ledger has them, for somebody who reads one without declaring it again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from .._ledger import Ledger, experiments
from .._moments import Now, utc_now
from ..errors import UsageError
from .experiment import Experiment


@dataclass(frozen=True, slots=True)
class Recalled:
    """A recorded experiment, and whether its units are whole numbers."""

    test: Experiment
    integers: bool


def names(ledger: Ledger) -> list[str]:
    """Return the names of all recorded experiments, the latest first."""
    with ledger._store.snapshot() as connection:
        return [found.name for found in reversed(experiments.everyone(connection))]


def recall(name: str, ledger: Ledger, *, now: Now = utc_now) -> Recalled:
    """Return an experiment as it was declared when its arms were drawn.

    Raises:
        UsageError: the ledger has none of this name.
    """
    with ledger._store.snapshot() as connection:
        found = experiments.find(connection, name)
    if found is None:
        raise UsageError(f"experiment {name!r} is not in the ledger {ledger.path}: nobody has an arm yet")
    declared = json.loads(found.declared)
    until = declared["until"]
    test = Experiment(
        found.name,
        arms=declared["arms"],
        holdout=declared["holdout"],
        unit=declared["unit"],
        outcomes=declared["outcomes"],
        read_after=declared["window"],
        strata=declared["strata"],
        seed=declared["seed"],
        holdout_until=None if until is None else datetime.fromisoformat(until),
        ledger=ledger,
        now=now,
    )
    return Recalled(test, declared["integers"])
