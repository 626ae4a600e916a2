"""The segments of a plan for the eye: what each would cost, who has none, and who stands in several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from .. import _cards as cards
from .. import phones
from .._calling import given
from .._showing import masked
from .segments import BY_ORDER, BY_PRIORITY, as_labels, meant

if TYPE_CHECKING:
    from .value import Plan

_SHOWN: Final = 12
_ALIGNED: Final = ("left", "right", "right", "right", "left", "right")
ENCODINGS: Final = {"gsm7": "GSM-7", "ucs2": "UCS-2", "mixed": "both"}


def table(plan: Plan) -> cards.Table:
    """Return the estimate by segment, as a table."""
    estimate = plan.estimate_by_segment
    shown = estimate.head(_SHOWN)
    places = cards.places_by(shown["currency"], shown["est_cost"])
    rows = tuple(
        (
            cards.Code(masked(str(row[plan.by]))),
            int(row["messages"]),
            int(row["bodies"]),
            "unknown" if pd.isna(row["est_parts"]) else int(row["est_parts"]),
            ENCODINGS.get(row["encoding"], cards.MISSING),
            cards.money(row["est_cost"], row["currency"], places=places.get(row["currency"], 2)),
        )
        for row in shown.to_dict("records")
    )
    columns = ("Segment", "Recipients", "Different messages", "Parts", "Encoding", "Estimated cost")
    rest = len(estimate) - _SHOWN
    more = f"and {rest} more in plan.estimate_by_segment" if rest > 0 else ""
    return cards.Table(columns, rows, _ALIGNED, title=f"By {plan.by}", more=more)


def notes(plan: Plan) -> list[cards.Note]:
    """Return what is worth knowing of the segments."""
    rows = plan.rows
    return [*_without_message(plan, rows), *_without_rows(plan, rows), *_in_several(rows)]


def _without_message(plan: Plan, rows: pd.DataFrame) -> list[cards.Note]:
    counts = as_labels(rows.loc[rows["problem"].eq("SEGMENT_UNKNOWN").to_numpy(), plan.by]).value_counts()
    counts = counts.sort_index().sort_values(ascending=False, kind="stable")
    if counts.empty:
        return []
    said = [
        f"{given(label)} ({cards.counted(count, 'row')}{meant(label, plan.segments)})"
        for label, count in counts.head(_SHOWN).items()
    ]
    more = " ..." if len(counts) > _SHOWN else ""
    of = cards.counted(int(counts.sum()), "row is in a segment", "rows are in segments")
    return [cards.Note("!", f"{of} without a message: {', '.join(said)}{more}.")]


def _without_rows(plan: Plan, rows: pd.DataFrame) -> list[cards.Note]:
    there = set(as_labels(rows[plan.by].drop_duplicates()).dropna())
    empty = [given(label) for label in plan.segments if label not in there]
    if not empty:
        return []
    segments = "the segment" if len(empty) == 1 else "the segments"
    return [cards.Note("!", f"No row is in {segments} {', '.join(empty)}.")]


def _in_several(rows: pd.DataFrame) -> list[cards.Note]:
    by_priority, by_order = (rows["note"].str.contains(code, regex=False, na=False) for code in (BY_PRIORITY, BY_ORDER))
    people = phones.one_phone(rows.loc[(by_priority | by_order).to_numpy(dtype=bool), "to"]).nunique()
    if not people:
        return []
    who = cards.counted(people, "person stands in several segments and is", "people stand in several segments and are")
    why = [f"by priority: {cards.counted(int(by_priority.sum()), 'row')}"] * bool(by_priority.any())
    why += [f"for an earlier row: {cards.counted(int(by_order.sum()), 'row')}"] * bool(by_order.any())
    return [cards.Note("i", f"{who} texted once. Left out {', '.join(why)}; the note names the row and the segment.")]
