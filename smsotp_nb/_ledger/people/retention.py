"""How long campaigns and experiments are kept: which ones are older than an age, and the age that somebody decided on.

Nothing is deleted by itself: a person calls `Ledger.retain`, and the card of the ledger says what has come due since.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pandas as pd

from ..._calling.arguments import given
from ..._pandas import STR
from ...errors import UsageError
from ..file.store import Store
from ..rows import audit
from ..rows.columns import times
from ..rows.damage import Unfit
from . import experiments

_WRITTEN: Final = re.compile(r"\A\s{0,9}(\d{1,4})\s{0,9}(day|week|month|year)s?\s{0,9}\Z")
_MOST: Final = 1_200
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_COLUMNS: Final = ["id", "campaign", "service", "kind", "latest", "rows"]
EXPERIMENT: Final = "experiment"


def before(age: Any, now: int) -> int:
    """Return the moment that lies so long ago, in microseconds since 1970.

    Raises:
        UsageError: it is no age such as ``"24 months"``.

    Example:
        >>> moment = before("24 months", 1_772_000_000_000_000)  # in February 2026
        >>> str(pd.Timestamp(moment, unit="us", tz="UTC").date())
        '2024-02-25'
    """
    found = _WRITTEN.match(age) if isinstance(age, str) else None
    if found is None or not 1 <= int(found[1]) <= _MOST:
        raise UsageError(
            f"age= needs a whole number from 1 to {_MOST:,} and a unit (days, weeks, months or years), such as "
            f'"24 months", got {given(age)}. Nothing was deleted'
        )
    # Microseconds have room for years before 1677 and after 2262, where a timestamp's own nanoseconds end.
    begun = pd.Timestamp(_EPOCH + timedelta(microseconds=now)).as_unit("us")
    moment = begun - pd.DateOffset(**{f"{found[2]}s": int(found[1])})  # type: ignore[arg-type]
    return (moment.to_pydatetime() - _EPOCH) // timedelta(microseconds=1)


def older(store: Store, moment: int) -> pd.DataFrame:
    """Return campaigns, tests and experiments that hold people and of which nothing was recorded since a moment.

    Columns: ``id`` (int64), ``campaign, service, kind`` (str; an experiment has no service), ``latest`` (UTC: its
    latest request, else when it was recorded) and ``rows`` (Int64).
    """
    asked = "SELECT max(coalesce(settled_at, started_at)) FROM attempt WHERE campaign=k.id"
    latest = f"max(k.created_at, coalesce(({asked}), 0))"
    with store.snapshot() as connection:
        every = connection.execute(
            f"SELECT id, name, service, kind, {latest} AS latest, rows, purged, created_at FROM campaign k "
            "ORDER BY kind, latest"
        ).fetchall()
        found = [row for *row, purged, _ in every if not purged]
        found += _experiments(connection, [(row[1], row[7], row[4]) for row in every if row[3] == "campaign"])
    found = [row for row in found if row[4] < moment]
    frame = pd.DataFrame(found, columns=_COLUMNS)
    frame["latest"] = times(frame["latest"])
    return frame.astype({"id": "int64", "campaign": STR, "service": STR, "kind": STR, "rows": "Int64"})


def _experiments(connection: sqlite3.Connection, campaigns: Sequence[tuple[str, int, int]]) -> list[list[Any]]:
    """Return each experiment that holds people, as campaigns are; of these: name, when it was recorded, its latest."""
    found: list[list[Any]] = []
    for one in experiments.everyone(connection):
        sql = "SELECT count(*), coalesce(max(at), 0) FROM assigned WHERE experiment=?"
        people, drawn = connection.execute(sql, (one.number,)).fetchone()
        sent = [latest for name, created_at, latest in campaigns if one.has(name, created_at)]
        latest = max(one.created_at, drawn, one.until or 0, *sent)
        if not one.purged:
            found.append([one.number, one.name, None, EXPERIMENT, latest, people])
    return found


def decide(store: Store, age: str, *, now: int) -> None:
    """Keep the age, for the card of the ledger."""
    kept = " ".join(age.split())
    with store.writing() as connection:
        connection.execute("UPDATE ledger SET retention=?", (kept,))
        audit.note(connection, "retention", rows=0, now=now, reason=kept)


def decided(store: Store) -> str | None:
    """Return the age that somebody decided on, or None."""
    with store.reading() as connection:
        found: str | None = connection.execute("SELECT retention FROM ledger").fetchone()[0]
    return found


def due(store: Store, now: int) -> str:
    """Return in words how long campaigns are kept and what has come due; empty where nobody decided that."""
    age = decided(store)
    if age is None:
        return ""
    try:
        moment = before(age, now)
    except UsageError:
        raise Unfit("the age that it keeps is none") from None
    many = len(older(store, moment))
    what = "campaign, test or experiment is" if many == 1 else "campaigns, tests and experiments are"
    said = f"{many:,} {what} older: ledger.retain({age!r}) deletes their numbers" if many else "nothing is older"
    return f"Numbers are kept for {age}; {said}."
