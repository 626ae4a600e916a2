"""A plan larger than memory for the eye: its card and its one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import _cards as cards
from ..problems import of_stage
from . import overview as of_plan

if TYPE_CHECKING:
    from .files import DatasetPlan

_MEANINGS = of_stage("number", "plan")
NOTED = tuple(of_plan.WARNINGS)


def one_line(plan: DatasetPlan) -> str:
    """Describe a plan in one line, for ``repr``."""
    many = plan.figures
    return (
        f"<DatasetPlan {plan.campaign}: {cards.counted(many['planned'], 'recipient')} in "
        f"{cards.counted(many['requests'], 'request')}, {_parts(plan)} parts, estimated cost {_cost(plan)}; "
        f"{cards.counted(many['rows'] - many['planned'], 'row')} left out>"
    )


def card(plan: DatasetPlan) -> cards.Card:
    """Build the card of a plan: figures, countries, rows left out, messages, and what to do next."""
    blocks: list[Any] = [_figures(plan), *of_plan.now(plan.prospect, plan.figures["planned"])]
    if plan.figures["planned"]:
        blocks.append(of_plan.countries(plan.estimate))
    if len(plan.problems):
        blocks.append(_left_out(plan.problems))
    blocks += _messages(plan)
    if plan.prospect:
        blocks += plan.prospect.notes(plan.campaign)
    if plan.hint:
        blocks.append(cards.Note("!", plan.hint))
    blocks += [cards.Note("!", of_plan.warning(code, many)) for code, many in plan.notes.items() if many]
    blocks += of_plan.old_rates(plan.estimate) + _assumptions(plan)
    blocks.append(cards.Note("i", f"The rows of this plan are Parquet files in {plan.folder}; they name people."))
    if plan.figures["planned"]:
        closing = "Next: check plan.problems and the files, then send(plan, client=...)."
    else:
        closing = "Next: no row can be sent; plan.problems says why. Correct the list and plan again."
    return cards.Card(f"Plan: {plan.campaign}", "Nothing has been sent.", tuple(blocks), closing)


def _figures(plan: DatasetPlan) -> cards.Figures:
    many = plan.figures
    left_out = many["rows"] - many["planned"]
    return cards.Figures(
        (
            _figure("recipient", many["planned"]),
            _figure("different message", many["bodies"]),
            _figure("request", many["requests"]),
            ("part, estimated" if _parts(plan) == "1" else "parts, estimated", _parts(plan)),
            ("cost, estimated" + of_plan.span(plan.estimate) + _unrated(plan), _cost(plan)),
            ("row left out" if left_out == 1 else "rows left out", left_out),
        )
    )


def _figure(what: str, many: int) -> tuple[str, int]:
    return (what if many == 1 else f"{what}s", many)


def _parts(plan: DatasetPlan) -> str:
    many = plan.figures
    return "unknown" if many["planned"] and many["unknown"] == many["planned"] else f"{many['parts']:,}"


def _cost(plan: DatasetPlan) -> str:
    known = of_plan.about(plan.estimate.assign(est_currency=plan.estimate["currency"]))
    return known or ("unknown" if plan.figures["planned"] else cards.MISSING)


def _unrated(plan: DatasetPlan) -> str:
    """Say how many recipients the cost does not cover, where it covers any."""
    estimate = plan.estimate
    missing = int(estimate.loc[estimate["est_cost"].isna().to_numpy(), "messages"].sum())
    return f"; {cards.counted(missing, 'recipient')} without a rate" if 0 < missing < plan.figures["planned"] else ""


def _left_out(problems: pd.DataFrame) -> cards.Table:
    rows = tuple(
        (cards.Code(problem), int(many), first + (" ..." if many > len(first.split(", ")) else ""), _meaning(problem))
        for problem, many, first in problems.itertuples(index=False)
    )
    columns = ("Problem", "Rows", "First rows", "Meaning")
    return cards.Table(columns, rows, ("left", "right", "left", "left"), title="Rows left out")


def _meaning(problem: str) -> str:
    return _MEANINGS.get(problem, "")


def _messages(plan: DatasetPlan) -> list[cards.Message]:
    preview = plan.preview(max(3, min(len(plan.segments), 12)))
    return [
        cards.Message(f"Row {place}, {row['to']}", row["text"], of_plan.foot(row), tuple(row["forcing"]))
        if not pd.isna(row["text"])
        else _template(plan, f"Row {place}, {row['to']}", int(row["body"]))
        for place, row in zip(preview.index.tolist(), preview.to_dict("records"), strict=True)
    ]


def _template(plan: DatasetPlan, to: str, body: int) -> cards.Message:
    return of_plan.unread(to, plan.message(body))


def _assumptions(plan: DatasetPlan) -> list[cards.Note]:
    rated = bool(plan.estimate["currency"].notna().any())
    joined = plan._wording.signature if plan._wording.kind == "content" else None
    return of_plan.assumed(
        plan.figures["planned"],
        plan.figures["unknown"],
        rated=rated,
        join=plan.signature_join if joined is not None else None,
    )
