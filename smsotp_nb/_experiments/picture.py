"""A reading as a card: whom other campaigns texted and the check of the sizes first, then all that was found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from .._cards import MISSING, Block, Card, Interval, Note, Table, number
from . import words
from .declaring import HOLDOUT
from .statistics import Ratio
from .words import Facts

_STATES: Final = {
    "waiting": "Not read yet: the reading day has not come",
    "uneven": "Not read: the arms do not have the sizes they were given",
    "early": "Preliminary: read before the reading day",
    "sequential": "Read before the reading day, by intervals that hold at every look",
    "read": "Read on its day, each person in the arm they were assigned to",
}
_SIZE: Final = 14.0  # em of the longest interval
_LEGEND: Final = "The line is at no effect, the point at the difference that was measured."


def card(
    name: str,
    state: str,
    frame: pd.DataFrame,
    pairs: pd.DataFrame,
    checked: Ratio | None,
    facts: Facts,
    exploration: pd.DataFrame,
) -> Card:
    told = [Note("!", said) for said in words.elsewhere(facts)]
    sentence = words.paragraph(state, frame, pairs, checked, facts)
    blocks: list[Block] = [*told]
    if checked is not None:
        blocks.append(Note("cross" if checked.is_red else "check", checked.sentence()))
    blocks += [Note("!", words.to_go(facts))] if facts.to_go else []
    if state not in ("waiting", "uneven"):
        blocks += [Note("i" if state == "read" else "!", sentence), *_charts(frame, pairs, facts), _costs(frame, facts)]
        blocks += _exploration(exploration, facts)
    else:
        blocks += [] if state == "uneven" else [Note("i", sentence)]
        blocks.append(_counts(frame))
    out = words.left_out(facts)
    return Card(_title(name), _STATES[state], (*blocks, *([Note("i", out)] if out else [])), _closing(state, facts))


def chart(name: str, frame: pd.DataFrame, facts: Facts) -> Card:
    """Return the intervals of each outcome on one scale, with a line where there is no effect."""
    blocks = tuple(_charts(frame, frame.iloc[:0], facts)) if "outcome" in frame.columns else (_counts(frame),)
    return Card(_title(name), f"Differences from the people held out, {facts.percent} intervals", blocks)


def _title(name: str) -> str:
    return f"Experiment: {name}" if name else "Experiment"


def _closing(state: str, facts: Facts) -> str:
    if state == "waiting":
        return f"Next: read it again on {facts.day.strftime('%Y-%m-%d %H:%M UTC')}"
    if state == "uneven":
        return "Next: compare who was assigned with who is in the list of each arm"
    return ""


def _counts(frame: pd.DataFrame) -> Table:
    rows = tuple((row["arm"], row["people"], row["contacted"]) for row in words.rows(frame))
    return Table(("Arm", "People", "Texted"), rows, ("left", "right", "right"))


def _charts(frame: pd.DataFrame, pairs: pd.DataFrame, facts: Facts) -> list[Block]:
    return [_intervals(outcome, frame, pairs, facts) for outcome in facts.kinds]


def _intervals(outcome: str, frame: pd.DataFrame, pairs: pd.DataFrame, facts: Facts) -> Table:
    has_base = _has_base(frame)
    rows = [row for row in words.rows(frame) if row["outcome"] == outcome and row["arm"] != HOLDOUT and has_base]
    against = [row for row in words.rows(pairs) if row["outcome"] == outcome]
    drawn = [(row["arm"], row) for row in rows] + [(f"{row['arm']} against {row['against']}", row) for row in against]
    least, most = _scale([row for _, row in drawn])
    bars = tuple((label, _bar(row, least, most, facts)) for label, row in drawn)
    unit = "percentage points" if facts.kinds[outcome] == "binary" else f"{facts.currency} per person".strip()
    what = "difference from the people held out" if has_base else "difference between the arms"
    title = f"{outcome}: {what}, {facts.percent} interval"
    return Table(("Arm", f"Difference, {unit}"), bars, title=title, more=_LEGEND)


def _has_base(frame: pd.DataFrame) -> bool:
    """Return whether anybody was held out, from whom the others differ."""
    return bool((frame["arm"] == HOLDOUT).any())


def _scale(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Return the ends of the scale: every interval and no effect lie on it, with room for the mark."""
    ends = [row[side] for row in rows for side in ("low", "high") if not math.isnan(row[side])]
    least, most = min([0.0, *ends]), max([0.0, *ends])
    room = (most - least or 1.0) * 0.02
    return least - room, most + room


def _bar(row: Mapping[str, Any], least: float, most: float, facts: Facts) -> Interval:
    span = None if math.isnan(row["low"]) else (row["low"], row["difference"], row["high"])
    place = [(at - least) / (most - least) for at in (0.0, *(span or ()))]
    return Interval((place[1], place[2], place[3]) if span else None, place[0], _limits(row, facts), size=_SIZE)


def _limits(row: Mapping[str, Any], facts: Facts) -> str:
    if math.isnan(row["low"]):
        return "no interval"
    shown = words.span(row, facts).partition(" p")[0].partition(" (")[0]
    return shown.removeprefix("between ").removesuffix(f" {facts.currency}").replace(" and ", " to ")


def _costs(frame: pd.DataFrame, facts: Facts) -> Table:
    rows = tuple(_figures(row, facts, has_base=_has_base(frame)) for row in words.rows(frame))
    names = ("Arm", "People", "Texted", "Outcome", "Cost", "For each extra")
    return Table(names, rows, ("left", "right", "right", "right", "right", "left"))


def _exploration(frame: pd.DataFrame, facts: Facts) -> list[Block]:
    if not len(frame):
        return []
    rows = tuple(
        (row["segment"], row["arm"], row["outcome"], row["people"], _limits(row, facts)) for row in words.rows(frame)
    )
    names = ("Segment", "Arm", "Outcome", "People", "Difference")
    title = "Exploration by segment: what to test next, no result"
    more = f"All these intervals together hold in {facts.percent} of experiments; none of them is a claim."
    return [Table(names, rows, ("left", "left", "left", "right", "left"), title=title, more=more)]


def _figures(row: Mapping[str, Any], facts: Facts, *, has_base: bool) -> tuple[str, ...]:
    held = row["arm"] == HOLDOUT
    cost = MISSING if math.isnan(row["cost"]) else words.cost(row, facts)
    return (
        row["arm"] if len(facts.kinds) == 1 else f"{row['arm']}, {row['outcome']}",
        number(row["people"]),
        number(row["contacted"]),
        words.percent(row["value"])
        if facts.kinds[row["outcome"]] == "binary"
        else words.amount(row["value"], facts.currency),
        MISSING if held else cost,
        MISSING if held or not has_base or not row["cost"] > 0 else words.price(row, facts).partition(" for ")[0],
    )
