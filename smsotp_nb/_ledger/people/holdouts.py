"""Whom experiments keep from a campaign: those who are held out, and those who are in another arm.

A campaign belongs to an experiment by its name: ``autumn`` and ``autumn/plain`` are campaigns of the experiment
``autumn``, in whatever cell or process they are sent. A holdout that was declared for every campaign holds until its
end, whatever a campaign is called, unless the campaign is transactional. ``autumn/plain``, or that with a slash and
more, texts the people of the arm ``plain`` only, and those who have no arm.
"""

from __future__ import annotations

import json
import sqlite3

import numpy as np

from ..._services import name_key
from ..rows.answers import Ints
from ..rows.statements import Question

_HELD = (
    "SELECT group_concat(a.person) FROM experiment e JOIN assigned a ON a.experiment=e.id AND a.arm=0 "
    "WHERE e.name_key=? OR ?=1 AND e.until>?"
)
_OTHERS = "SELECT group_concat(person) FROM assigned WHERE experiment=? AND arm NOT IN (0, ?)"
NO_PEOPLE: Ints = np.array([], np.int64)


def experiment_key(campaign: str) -> str:
    """Return the key of the experiment that a campaign of this name belongs to, if there is such an experiment.

    Example:
        >>> experiment_key("Autumn / plain"), experiment_key("autumn")
        ('autumn', 'autumn')
    """
    return name_key(campaign).partition("/")[0].strip()


def held_out(connection: sqlite3.Connection, campaign: str, *, marketing: bool, now: int) -> Ints:
    """Return the people whom experiments hold out of a campaign of this name, forgotten ones as their hashes."""
    asked = (experiment_key(campaign), int(marketing), now)
    return _people(connection.execute(_HELD, asked).fetchone()[0])


def in_other_arms(connection: sqlite3.Connection, campaign: str) -> Ints:
    """Return the people of all arms but that of a campaign of this name, forgotten ones as their hashes."""
    found = connection.execute(
        "SELECT id, declared FROM experiment WHERE name_key=?", (experiment_key(campaign),)
    ).fetchone()
    number = None if found is None else arm_number(campaign, found[1])
    return NO_PEOPLE if number is None else _people(connection.execute(_OTHERS, (found[0], number)).fetchone()[0])


def arm_number(campaign: str, declared: str) -> int | None:
    """Return the number of the arm that a campaign of this name texts; arms have numbers from 1, by their names.

    Example:
        >>> arm_number("Autumn / plain / 2", '{"arms": {"plain": 45, "emoji": 45}}')
        2
        >>> arm_number("autumn/reminder", '{"arms": {"plain": 45, "emoji": 45}}') is None
        True
    """
    arm = name_key(campaign).split("/")[1:2]
    keys = [name_key(name) for name in sorted(json.loads(declared)["arms"])]
    return next((number for number, key in enumerate(keys, 1) if arm and key == arm[0].strip()), None)


def _people(joined: str | None) -> Ints:
    return np.unique(np.fromstring(joined, np.int64, sep=",")) if joined else NO_PEOPLE


DRAWN: Question = ("SELECT coalesce(sum(drawn), 0) FROM experiment", ())


def drawn(connection: sqlite3.Connection) -> int:
    """Return how often people were added to experiments."""
    found = connection.execute(*DRAWN).fetchone()
    return int(found[0])
