"""A reading as a card: whom other campaigns texted and the check of the sizes first, then all that was found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from .._cards import MISSING, Block, Card, Column, Interval, Note, Table, listed, records
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
    blocks: list[Block] = [Note("!", said) for said in words.elsewhere(facts)]
    if checked is not None:
        blocks.append(Note("cross" if checked.is_red else "check", checked.sentence()))
    if facts.to_go:
        blocks.append(Note("!", words.to_go(facts)))
    if state != "uneven":
        said = words.paragraph(state, frame, pairs, checked, facts)
        blocks.append(Note("i" if state in ("read", "waiting") else "!", said))
    if state in ("waiting", "uneven"):
        blocks += _counts(frame)
    else:
        blocks += [*_charts(frame, pairs, facts), *_costs(frame, facts), *_exploration(exploration, facts)]
    out = words.left_out(facts)
    blocks += [Note("i", out)] * bool(out)
    closing = {
        "waiting": f"Next: read it again on {facts.day.strftime('%Y-%m-%d %H:%M UTC')}",
        "uneven": "Next: compare who was assigned with who is in the list of each arm",
    }
    return Card(_title(name), _STATES[state], tuple(blocks), closing.get(state, ""))


def chart(name: str, frame: pd.DataFrame, facts: Facts) -> Card:
    """Return the intervals of each outcome on one scale, with a line where there is no effect."""
    blocks = tuple(_charts(frame, frame.iloc[:0], facts)) if "outcome" in frame.columns else tuple(_counts(frame))
    return Card(_title(name), f"Differences from the people held out, {facts.percent} intervals", blocks)


def _title(name: str) -> str:
    return f"Experiment: {name}" if name else "Experiment"


def _counts(frame: pd.DataFrame) -> list[Table]:
    columns: tuple[Column, ...] = (
        ("Arm", "left", "arm"),
        ("People", "right", "people"),
        ("Texted", "right", "contacted"),
    )
    return listed(frame, *columns, most=len(frame))


def _charts(frame: pd.DataFrame, pairs: pd.DataFrame, facts: Facts) -> list[Block]:
    return [_intervals(outcome, frame, pairs, facts) for outcome in facts.kinds]


def _intervals(outcome: str, frame: pd.DataFrame, pairs: pd.DataFrame, facts: Facts) -> Table:
    has_base = _has_base(frame)
    rows = [row for row in records(frame) if row["outcome"] == outcome and row["arm"] != HOLDOUT and has_base]
    against = [row for row in records(pairs) if row["outcome"] == outcome]
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


def _exploration(frame: pd.DataFrame, facts: Facts) -> list[Table]:
    return listed(
        frame,
        ("Segment", "left", "segment"),
        ("Arm", "left", "arm"),
        ("Outcome", "left", "outcome"),
        ("People", "right", "people"),
        ("Difference", "left", lambda row: _limits(row, facts)),
        most=len(frame),
        title="Exploration by segment: what to test next, no result",
        more=f"All these intervals together hold in {facts.percent} of experiments; none of them is a claim.",
    )


def _costs(frame: pd.DataFrame, facts: Facts) -> list[Table]:
    has_base = _has_base(frame)

    def value(row: dict[str, Any]) -> str:
        is_share = facts.kinds[row["outcome"]] == "binary"
        return words.percent(row["value"]) if is_share else words.amount(row["value"], facts.currency)

    def cost(row: dict[str, Any]) -> str:
        return MISSING if row["arm"] == HOLDOUT or math.isnan(row["cost"]) else words.cost(row, facts)

    def each(row: dict[str, Any]) -> str:
        none = row["arm"] == HOLDOUT or not has_base or not row["cost"] > 0
        return MISSING if none else words.price(row, facts).partition(" for ")[0]

    return listed(
        frame,
        ("Arm", "left", lambda row: row["arm"] if len(facts.kinds) == 1 else f"{row['arm']}, {row['outcome']}"),
        ("People", "right", "people"),
        ("Texted", "right", "contacted"),
        ("Outcome", "right", value),
        ("Cost", "right", cost),
        ("For each extra", "left", each),
        most=len(frame),
    )
