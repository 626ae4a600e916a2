"""Whom experiments hold out, so that the others can be compared with people who were not texted.

A campaign belongs to an experiment by its name: ``autumn`` and ``autumn/plain`` are campaigns of the experiment
``autumn``, in whatever cell or process they are sent. A holdout that was declared for every campaign holds until its
end, whatever a campaign is called, unless the campaign is transactional.
"""

from __future__ import annotations

import sqlite3

import numpy as np

from .._services import name_key
from .answers import Ints

_HELD = (
    "SELECT group_concat(a.person) FROM experiment e JOIN assigned a ON a.experiment=e.id AND a.arm=0 "
    "WHERE e.name_key=:name OR :marketing AND e.until>:now"
)


def experiment_key(campaign: str) -> str:
    """Return the key of the experiment that a campaign of this name belongs to, if there is such an experiment.

    Example:
        >>> experiment_key("Autumn / plain"), experiment_key("autumn")
        ('autumn', 'autumn')
    """
    return name_key(campaign).partition("/")[0].strip()


def held_out(connection: sqlite3.Connection, campaign: str, *, marketing: bool, now: int) -> Ints:
    """Return the people whom experiments hold out of a campaign of this name, forgotten ones as their hashes."""
    asked = {"name": experiment_key(campaign), "marketing": marketing, "now": now}
    text = connection.execute(_HELD, asked).fetchone()[0]
    return np.unique(np.fromstring(text, np.int64, sep=",")) if text else np.array([], np.int64)


def drawn(connection: sqlite3.Connection) -> int:
    """Return how often people were added to experiments."""
    found = connection.execute("SELECT coalesce(sum(drawn), 0) FROM experiment").fetchone()
    return int(found[0])
