"""The panes of the campaign form as HTML: preview, progress, results, lines of code. Everything foreign is escaped."""

from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from ... import cost
from ..._cards import MISSING, Card, Figures, Note, Table, about, counted, number, safe
from ..._planning import Plan, overview
from ..._progress import span
from ..._showing.text import masked
from ..._wire import amount
from ...results import Progress
from ..saved import AGAIN, moment
from ..stages import Notice
from .refusals import groups
from .state import Running
from .writing import Draft

ENCODINGS = {"gsm7": "GSM-7", "ucs2": "UCS-2"}
_FOR_CODE = re.compile(r" \((?:note [A-Z_]{1,40}|signature_join= sets another)\)")
_OF_TEXTED = "The result table is the form's .results, with a row for each person to be texted, and the column arm."
SHOWN = 3
MOST_REASONS = 6


def draft_html(draft: Draft | None) -> str:
    """Return the preview beside the text: what three recipients will read, and what it would come to."""
    if draft is None:
        return _pane('<p class="smsotp-empty">Reading the list …</p>')
    if draft.plan is None:
        return _pane(_items(draft.problems), "Still to do")
    if draft.plan.rows["status"].eq("planned").any():
        other = "" if draft.other is None else "<h3>The second text</h3>" + _messages(draft.other)
        foreseen = "".join(f'<p class="smsotp-line">{safe(words)}</p>' for words in draft.foreseen)
        return _pane(_totals(draft.plan, draft.whole) + _messages(draft.plan) + other + foreseen)
    reasons = overview.reasons(draft.plan.skipped)
    said = [f"{counted(count, 'row')}: {meaning or code}" for code, meaning, count in reasons]
    return _pane(_totals(draft.plan, draft.whole) + _items(said[:MOST_REASONS]), "No row of the list can be texted")


def plan_html(plan: Plan) -> str:
    """Return the card of a plan, without what the form itself says around it."""
    if plan.prospect is not None:  # that the text changes is said at the button that changes it
        plan = dataclasses.replace(plan, prospect=dataclasses.replace(plan.prospect, changed=0))
    card = overview.card(plan)
    blocks = tuple(block for block in card.blocks if getattr(block, "title", "") != "Rows left out")  # told by group
    return dataclasses.replace(card, blocks=tuple(map(_in_the_form, blocks)), state="", closing="").html()


def _in_the_form(block: Any) -> Any:
    """Return a block of the card without the words that only code has a use for."""
    if not isinstance(block, Note):
        return block
    return dataclasses.replace(block, text=_FOR_CODE.sub("", block.text))


def progress_html(running: Running | None) -> str:
    """Return the bar, the counts and the time of a send under way."""
    if running is None:
        return '<p class="smsotp-line">Recording the campaign …</p>'
    told = running.progress
    figures = (
        ("accepted", number(told.accepted)),
        ("rejected", number(told.rejected)),
        ("in doubt", number(told.in_doubt)),
        ("to go", number(told.left)),
        ("billed so far", _billed(told)),
    )
    shown = "".join(f"<div><dt>{name}</dt><dd>{safe(value)}</dd></div>" for name, value in figures)
    bar = _bar(told.done, told.total)
    return f'<p class="smsotp-line smsotp-num">{_pace(running)}</p>{bar}<dl class="smsotp-figures">{shown}</dl>'


def results_html(results: pd.DataFrame | None, counts: dict[str, int], *, compared: bool = False) -> str:
    """Return the outcome as a card: counts by state, then what it cost by country."""
    if results is None:
        return ""
    card = results_card(results, counts)
    return (dataclasses.replace(card, closing=_OF_TEXTED) if compared else card).html()


def results_card(results: pd.DataFrame, counts: dict[str, int]) -> Card:
    """Return the outcome: counts by state, and what it cost by country."""
    states = ("accepted", "rejected", "in_doubt", "planned", "skipped")
    names = {"in_doubt": "in doubt", "planned": "to go", "skipped": "left out"}
    figures = Figures(tuple((names.get(state, state), counts.get(state, 0)) for state in states))
    billed = cost.card(results)
    closing = "The result table is the form's .results, with one row for every row of the list."
    return Card("Results", billed.state, (figures, *billed.blocks[1:]), closing)


def saved_card(results: pd.DataFrame, counts: dict[str, int], notice: Notice) -> Card:
    """Return the outcome as a saved notebook keeps it: what was reached by when, and how to go on."""
    unsettled = counts.get("planned", 0) + counts.get("in_doubt", 0)
    closing = AGAIN if unsettled else "The campaign is recorded in the ledger; run this cell again to see it here."
    card = results_card(results, counts)
    return dataclasses.replace(
        card,
        title="Campaign form: results",
        state=f"{notice.text} Seen on {moment()}.",
        blocks=(*card.blocks, *_not_sent(results)),
        closing=closing,
    )


def below(card: Card, *others: Card) -> Card:
    """Return a card with the contents of others below its own, each led by its title and state."""
    blocks = [
        block for other in others for block in (Note("i", f"{other.title}. {other.state}".strip()), *other.blocks)
    ]
    return dataclasses.replace(card, blocks=(*card.blocks, *blocks))


def _not_sent(results: pd.DataFrame) -> list[Table]:
    """Return why rows were not sent, without their numbers."""
    rows = tuple((one.rows, f"{one.meaning}{f' (until {one.until})' if one.until else ''}") for one in groups(results))
    return [Table(("Rows", "Not sent because"), rows, ("right", "left"))] if rows else []


def lines_html(code: str) -> str:
    """Return the lines of code that do the same, folded away."""
    return (
        '<details class="smsotp-lines"><summary>The lines of code that do the same</summary>'
        f"<pre>{html.escape(code)}</pre></details>"
    )


def columns_html(names: Sequence[str]) -> str:
    """Return the hint that names the columns a text may use."""
    shown = " ".join(f"{{{name}}}" for name in names[:12]) + (" …" if len(names) > 12 else "")
    return f'<p class="smsotp-line">Columns: {safe(shown)}</p>'


def _bar(done: int, total: int) -> str:
    told = f'aria-label="Messages sent" aria-valuemin="0" aria-valuemax="{total}" aria-valuenow="{done}"'
    inner = f'<div class="smsotp-bar" style="width:{done / total if total else 0:.1%}"></div>'
    return f'<div class="smsotp-track smsotp-tall" role="progressbar" {told}>{inner}</div>'


def _pace(running: Running) -> str:
    if running.stopping:
        return "Stopping: no new request starts; pending responses are recorded."
    said = f"{number(running.progress.done)} of {number(running.progress.total)}, {span(running.seconds)}"
    remaining = running.remaining
    return said + (f", about {span(remaining)} left" if remaining and remaining >= 1 else "")


def _billed(told: Progress) -> str:
    return about(amount(told.cost_micros), told.currency) if told.currency else MISSING


def _totals(plan: Plan, whole: bool) -> str:
    rows = plan.rows
    planned = rows[(rows["status"] == "planned").to_numpy()]
    said = f"{number(len(planned))} of {counted(len(rows), 'row')} would be texted"
    parts, cost_said = planned["est_parts"].dropna(), overview.about(planned)
    said += f": {counted(int(parts.sum()), 'part')}" if len(parts) else ""
    said += f", about {cost_said}" if cost_said else ""
    unrated = int(planned["est_cost"].isna().sum())
    said += f", {number(unrated)} without a rate" if cost_said and unrated else ""
    where = "" if whole else f"<br>Seen so far: the first {counted(len(rows), 'row')}."
    return f'<p class="smsotp-line smsotp-num">{safe(said)}.{where}</p>'


def _messages(plan: Plan) -> str:
    items = [_message(row) for row in plan.preview(SHOWN).to_dict("records")]
    return f'<ul class="smsotp-mail">{"".join(items)}</ul>'


def _message(row: dict[Any, Any]) -> str:
    known = isinstance(row["text"], str)
    text = safe(masked(row["text"])) if known else "<i>The template's text is not known here.</i>"
    said = [str(row["to"])]
    if known:
        said += [counted(int(row["est_parts"]), "part"), ENCODINGS.get(str(row["encoding"]), "")]
    if row["forcing"]:
        said.append(f"because of {' '.join(row['forcing'])}")
    return f'<li><p>{text}</p><p class="smsotp-foot">{safe(" · ".join(said))}</p></li>'


def _items(words: Sequence[str]) -> str:
    return f'<ul class="smsotp-todo">{"".join(f"<li>{safe(line)}</li>" for line in words)}</ul>'


def _pane(content: str, title: str = "As recipients will read it") -> str:
    return f'<section class="smsotp-inbox" aria-label="Preview"><h3>{title}</h3>{content}</section>'
