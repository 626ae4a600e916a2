"""The panes of the campaign form as HTML: preview, progress, results, lines of code. Everything foreign is escaped."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import pandas as pd

from .. import cost
from ..cards import Card, Figures, money, number
from ..planning import Plan
from ..results import Progress
from ..wire import amount
from .campaign_steps import Draft, Running

ENCODINGS = {"gsm7": "GSM-7", "ucs2": "UCS-2"}
SHOWN = 3


def draft_html(draft: Draft | None) -> str:
    """Return the preview beside the text: what three recipients will read, and what it would come to."""
    if draft is None:
        return _pane('<p class="smsotp-empty">Reading the list …</p>')
    if draft.plan is None:
        items = "".join(f"<li>{html.escape(problem)}</li>" for problem in draft.problems)
        return _pane(f'<p class="smsotp-line">Still to do:</p><ul class="smsotp-todo">{items}</ul>')
    return _pane(_totals(draft.plan, draft.whole) + _messages(draft.plan))


def progress_html(running: Running | None) -> str:
    """Return the bar, the counts and the time of a send under way."""
    if running is None:
        return '<p class="smsotp-line">Recording the campaign …</p>'
    told = running.progress
    share = told.done / told.total if told.total else 0
    figures = (
        ("accepted", number(told.accepted)),
        ("rejected", number(told.rejected)),
        ("in doubt", number(told.in_doubt)),
        ("to go", number(told.left)),
        ("billed so far", _billed(told)),
    )
    shown = "".join(f"<div><dt>{name}</dt><dd>{html.escape(value)}</dd></div>" for name, value in figures)
    bar = f'<div class="smsotp-track smsotp-tall"><div class="smsotp-bar" style="width:{share:.1%}"></div></div>'
    return f'<p class="smsotp-line smsotp-num">{_pace(running)}</p>{bar}<dl class="smsotp-figures">{shown}</dl>'


def results_html(results: pd.DataFrame | None, counts: dict[str, int]) -> str:
    """Return the outcome as a card: counts by state, then what it cost by country."""
    if results is None:
        return ""
    states = ("accepted", "rejected", "in_doubt", "planned", "skipped")
    names = {"in_doubt": "in doubt", "planned": "to go", "skipped": "left out"}
    figures = Figures(tuple((names.get(state, state), counts.get(state, 0)) for state in states))
    billed = cost.card(results)
    return Card("Results", billed.state, (figures, *billed.blocks[1:]), billed.closing).html()


def lines_html(code: str) -> str:
    """Return the lines of code that do the same, folded away."""
    return (
        '<details class="smsotp-lines"><summary>The lines of code that do the same</summary>'
        f"<pre>{html.escape(code)}</pre></details>"
    )


def columns_html(names: Sequence[str]) -> str:
    """Return the hint that names the columns a text may use."""
    shown = " ".join(f"{{{name}}}" for name in names[:12]) + (" …" if len(names) > 12 else "")
    return f'<p class="smsotp-line">Columns: {html.escape(shown)}</p>'


def clock(seconds: float) -> str:
    """Return a span of time as people say it.

    Example:
        >>> clock(7), clock(125), clock(7260)
        ('7 s', '2 min 5 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _pace(running: Running) -> str:
    if running.stopping:
        return "Stopping: no further requests; those under way are waited for and recorded."
    said = f"{number(running.progress.done)} of {number(running.progress.total)}, {clock(running.seconds)}"
    remaining = running.remaining
    return said + (f", about {clock(remaining)} left" if remaining and remaining >= 1 else "")


def _billed(told: Progress) -> str:
    return money(amount(told.cost_micros), told.currency) if told.currency else "–"


def _totals(plan: Plan, whole: bool) -> str:
    rows = plan.rows
    planned = int((rows["status"] == "planned").sum())
    parts = rows["est_parts"].sum()
    said = f"{number(planned)} of {number(len(rows))} rows would be texted, {number(int(parts))} parts"
    where = "" if whole else f"<br>Seen so far: the first {number(len(rows))} rows."
    return f'<p class="smsotp-line smsotp-num">{said}.{where}</p>'


def _messages(plan: Plan) -> str:
    items = [_message(row) for row in plan.preview(SHOWN).to_dict("records")]
    if not items:
        return '<p class="smsotp-empty">No row of the list can be texted.</p>'
    return f'<ul class="smsotp-mail">{"".join(items)}</ul>'


def _message(row: dict[Any, Any]) -> str:
    known = isinstance(row["text"], str)
    text = html.escape(row["text"]) if known else "<i>The template's text is not known here.</i>"
    said = [str(row["to"])]
    if known:
        parts = int(row["est_parts"])
        said += [f"{parts} part{'' if parts == 1 else 's'}", ENCODINGS.get(str(row["encoding"]), "")]
    if row["forcing"]:
        said.append(f"because of {' '.join(row['forcing'])}")
    return f'<li><p>{text}</p><p class="smsotp-foot">{html.escape(" · ".join(said))}</p></li>'


def _pane(content: str) -> str:
    return f'<section class="smsotp-inbox" aria-label="Preview"><h3>As recipients will read it</h3>{content}</section>'
