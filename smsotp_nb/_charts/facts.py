"""What a report is about: its period, when it was made, from what, and what its totals do not hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from zoneinfo import ZoneInfo

import pandas as pd

from .. import cost
from .._cards import Note, counted, number
from .._cost.sources import Source, is_summed
from .._ledger import Ledger
from .._ledger.places import path_of
from .._ledger.reading.spending import when_sent
from .._moments import Now
from .._pandas import STR
from .._services import is_rehearsal, shown

_NAMED: Final = 3
_OUTSIDE: Final[tuple[tuple[str, Literal["!", "i"], str], ...]] = (
    ("in_doubt", "!", "in doubt: possibly sent and billed, in no total"),
    ("rejected", "i", "rejected by the service: not billed according to its replies"),
    ("planned", "i", "still to be sent, in no total"),
)


@dataclass(frozen=True, slots=True)
class Facts:
    """Pairs of a name and what it is, for the head of a report, and notes on what its totals do not hold."""

    pairs: tuple[tuple[str, str], ...]
    notes: tuple[Note, ...]


def facts(source: Source, frame: pd.DataFrame, *, tz: str, now: Now) -> Facts:
    """Return what a report on ``source`` says of itself; ``frame`` is what was read of it."""
    recorded = when_sent(source) if isinstance(source, Ledger | str | Path) else None
    if recorded:
        period, rows = _span(recorded.first, recorded.last, tz), recorded.rows
    else:
        period, rows = _period(frame, tz), _states(frame)
    pairs = {
        "Period": period,
        "Made on": _moment(pd.Timestamp(now()), tz),
        "Source": _source(source, frame),
        "Sent by": _services(frame),
    }
    return Facts(tuple((name, said) for name, said in pairs.items() if said), _notes(frame, rows))


# -- when --------------------------------------------------------------------------------------------------------------


def _period(frame: pd.DataFrame, tz: str) -> str:
    """Say when the first and the last accepted message was sent; sums know days only."""
    if is_summed(frame):
        days = frame["day"].dropna() if "day" in frame.columns else pd.Series(dtype="datetime64[us]")
        return f"{_day(days.min())} to {_day(days.max())} (whole days)" if len(days) else _months(frame)
    if "at" not in frame.columns:
        return ""
    at = frame.loc[(frame["status"] == "accepted").to_numpy(), "at"].dropna()
    return _span(at.min(), at.max(), tz) if len(at) else ""


def _months(frame: pd.DataFrame) -> str:
    months = frame["month"].dropna() if "month" in frame.columns else pd.Series(dtype=STR)
    return f"{months.min()} to {months.max()} (whole months)" if len(months) else ""


def _span(first: pd.Timestamp | None, last: pd.Timestamp | None, tz: str) -> str:
    if first is None or last is None:
        return ""
    begun, ended = _moment(first, tz), _moment(last, tz)
    of = "" if tz == "UTC" else f", {tz}"
    return f"{begun} to {ended} (first and last message{of})" if begun != ended else begun


def _moment(at: pd.Timestamp, tz: str) -> str:
    local = at.tz_convert(ZoneInfo(tz))
    return f"{_day(local)} {local:%H:%M %Z}"


def _day(at: pd.Timestamp) -> str:
    return f"{at.day} {at:%B %Y}"


# -- from what ---------------------------------------------------------------------------------------------------------


def _source(source: Source, frame: pd.DataFrame) -> str:
    if isinstance(source, Ledger | str | Path):
        told = f"ledger {path_of(source).name}"
    else:
        told = "sums by campaign, day and country" if is_summed(frame) else "results, a row for each recipient"
    return ", ".join(filter(None, (told, _campaigns(frame))))


def _campaigns(frame: pd.DataFrame) -> str:
    names = sorted(map(str, frame["campaign"].dropna().unique())) if "campaign" in frame.columns else []
    more = len(names) - _NAMED
    if not names:
        return ""
    listed = names if more <= 1 else [*names[:_NAMED], f"{number(more)} more"]
    said = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
    return f"{'campaign' if len(names) == 1 else 'campaigns'} {said}"


def _services(frame: pd.DataFrame) -> str:
    """Say whether that was a rehearsal: a report that is passed on must not be taken for a bill."""
    names = list(frame["service"].dropna().unique()) if "service" in frame.columns else []
    said = sorted({"the sandbox, a rehearsal that texted nobody" if is_rehearsal(one) else shown(one) for one in names})
    return " and ".join(said)


# -- what is in no total -----------------------------------------------------------------------------------------------


def _states(frame: pd.DataFrame) -> dict[str, int]:
    if is_summed(frame):
        return {}
    return {str(state): int(rows) for state, rows in frame["status"].astype(STR).value_counts().items()}


def _notes(frame: pd.DataFrame, rows: Mapping[str, int]) -> tuple[Note, ...]:
    unpriced = int(cost.summary(frame)["unpriced"].sum())
    notes = [Note("!", f"{counted(unpriced, 'message')} without a readable price, in no amount.")] if unpriced else []
    notes += [
        Note(sign, f"{counted(rows[state], 'message')} {said}.") for state, sign, said in _OUTSIDE if rows.get(state)
    ]
    return tuple(notes)
