"""How long campaigns are kept: which ones are older than an age, and the age that somebody decided on.

Nothing is deleted by itself: a person calls `Ledger.retain`, and the card of the ledger says what has come due since.
"""

from __future__ import annotations

import re
from typing import Any, Final

import pandas as pd

from .._arguments import given
from .._pandas import STR
from ..errors import UsageError
from . import audit
from .reading import times
from .store import Store

_WRITTEN: Final = re.compile(r"\A\s{0,9}(\d{1,4})\s{0,9}(day|week|month|year)s?\s{0,9}\Z")
_MOST: Final = 1_200


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
    moment = pd.Timestamp(now, unit="us", tz="UTC") - pd.DateOffset(**{f"{found[2]}s": int(found[1])})  # type: ignore[arg-type]
    return moment.value // 1000


def older(store: Store, moment: int) -> pd.DataFrame:
    """Return campaigns and tests that hold people and of which nothing was recorded since a moment.

    Columns: ``id`` (int64), ``campaign, service, kind`` (str), ``latest`` (UTC: its latest request, else when it was
    recorded) and ``rows`` (Int64).
    """
    asked = "SELECT max(coalesce(settled_at, started_at)) FROM attempt WHERE campaign=k.id"
    latest = f"max(k.created_at, coalesce(({asked}), 0))"
    with store.reading() as connection:
        found = connection.execute(
            f"SELECT * FROM (SELECT id, name, service, kind, {latest} AS latest, rows FROM campaign k WHERE purged=0) "
            "AS still WHERE latest<? ORDER BY kind, latest",
            (moment,),
        ).fetchall()
    frame = pd.DataFrame(found, columns=["id", "campaign", "service", "kind", "latest", "rows"])
    frame["latest"] = times(frame["latest"])
    return frame.astype({"id": "int64", "campaign": STR, "service": STR, "kind": STR, "rows": "Int64"})


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
    many = len(older(store, before(age, now)))
    what = "campaign or test is" if many == 1 else "campaigns and tests are"
    said = f"{many:,} {what} older: ledger.retain({age!r}) deletes their numbers" if many else "nothing is older"
    return f"Numbers are kept for {age}; {said}."
