"""Which other campaigns that are not finished have people of a plan: under a new name they would be texted twice."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np

from ..file.store import Store
from ..record.recording import Planned
from ..rows.answers import Ints
from ..rows.columns import Columns
from ..rows.persons import persons
from ..rows.tables import ACCEPTED, IN_DOUBT, PLANNED, SENDING, SKIPPED

RECENT = 7 * 86_400_000_000  # microseconds: what has rested longer is taken for given up
_REACHED = (SENDING, ACCEPTED, IN_DOUBT)

# Only the chunks that are not kept as a whole are looked into: a campaign of a million rows that is finished costs the
# reading of its chunks.
_FOUND = f"""
SELECT id, name FROM campaign k WHERE service=? AND kind='campaign' AND purged=0 AND id IS NOT ?
AND max(created_at, coalesce((SELECT max(started_at) FROM attempt a WHERE a.campaign=k.id), 0))>=?
AND EXISTS (
  SELECT 1 FROM chunk c WHERE c.campaign=k.id AND c.state IS NULL
  AND EXISTS (SELECT 1 FROM recipient r WHERE r.campaign=c.campaign AND r.chunk=c.chunk AND r.own_state={PLANNED})
) ORDER BY id DESC
"""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A campaign with rows to go that has people of a plan.

    Attributes:
        campaign: its name.
        to_go: how many rows it has still to send.
        texted: how many of the plan's people it may have reached.
        both: how many of the plan's people it may have reached or has still to text.
    """

    campaign: str
    to_go: int
    texted: int
    both: int


def unfinished(store: Store, plan: Planned, *, campaign: int | None, service: str, now: int) -> list[Unfinished]:
    """Return the campaigns of a service that have rows to go and people of the plan, the latest first.

    ``campaign`` is the plan's own, which does not count.
    """
    with store.snapshot() as connection:
        found = connection.execute(_FOUND, (service, campaign, now - RECENT)).fetchall()
        people = _planned_people(plan) if found else np.array([], np.int64)
        meetings = [_meeting(connection, number, name, people) for number, name in found]
    return [one for one in meetings if one.both]


def _planned_people(plan: Planned) -> Ints:
    rows = plan.rows
    to = rows.loc[rows["status"].eq("planned").to_numpy(), "to"]
    return persons(np.array(to.str[1:].astype("int64")))


def _meeting(connection: sqlite3.Connection, campaign: int, name: str, people: Ints) -> Unfinished:
    columns = Columns(("number", "chunk", "position", "state"), ())
    columns.read(connection, campaign)
    rows = columns.series()
    state = rows["state"].to_numpy("int64")
    known = persons(rows["number"].fillna(0).to_numpy("int64"))
    reached, waits = np.isin(state, _REACHED), state == PLANNED
    met = np.isin(known, people) & (state != SKIPPED)
    return Unfinished(
        name, to_go=int(waits.sum()), texted=int((met & reached).sum()), both=int((met & (reached | waits)).sum())
    )
