"""The panes of the campaign form as cards and HTML: preview, plan, progress, results, refusals.

Everything foreign is escaped.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ... import _planning as planning
from ... import cost
from ..._cards import Card, Figures, Note, Table, counted, number, safe
from ..._planning import Plan, overview
from ..._showing import label as called
from ..._showing import masked
from ..._wire import mask
from ...problems import PROBLEMS, in_words
from .. import skin
from ..stages import Notice, in_the_form
from .steps import MEANS, NEXT, Draft

SHOWN = 3  # messages of a preview, rows of a group
MOST = 4  # groups; the others are folded away


@dataclass(frozen=True, slots=True)
class Group:
    """Rows with one problem: its code and words, how many they are, the first of them, and until when it holds."""

    code: str
    meaning: str
    next_step: str
    rows: int
    first: tuple[tuple[str, str], ...]
    until: str = ""


def groups(rows: pd.DataFrame, numbers: pd.Series | None = None) -> list[Group]:
    """Return the rows that are not sent by their problem, the largest group first.

    ``numbers`` are those of the list, in the order of the rows, for rows without a number that can be texted.
    """
    held = rows["status"].isin(["planned", "skipped", "rejected"]).to_numpy() & rows["problem"].notna().to_numpy()
    shown = rows["to"].to_numpy(object)
    if numbers is not None and len(numbers) == len(rows):
        shown = rows["to"].where(rows["to"].notna(), numbers.to_numpy(object)).to_numpy(object)
    told = pd.DataFrame({"problem": rows["problem"].to_numpy(object), "to": shown, "label": rows.index.map(str)})
    told["until"] = rows["not_before"].to_numpy() if "not_before" in rows else pd.NaT
    parts = [_group(str(code), part) for code, part in told[held].groupby("problem", sort=False)]
    return sorted(parts, key=lambda one: -one.rows)


def _group(code: str, rows: pd.DataFrame) -> Group:
    known = PROBLEMS.get(code)
    first = tuple(
        (called(label), _masked(to)) for label, to in rows[["label", "to"]].head(SHOWN).itertuples(index=False)
    )
    moment = rows["until"].min()
    return Group(
        code,
        MEANS.get(code) or (known.meaning if known else code),
        NEXT.get(code) or (known.next_step if known else ""),
        len(rows),
        first,
        "" if pd.isna(moment) else f"{moment:%Y-%m-%d %H:%M} UTC",
    )


def _masked(number: Any) -> str:
    return "no number" if pd.isna(number) else mask(str(number))


def refusals_html(found: list[Group], title: str = "Not sent") -> str:
    if not found:
        return ""
    more = len(found) - MOST
    rest = f"<details><summary>{counted(more, 'more reason')}</summary>{_list(found[MOST:])}</details>" * (more > 0)
    return f'<section class="smsotp-refusals"><h3>{safe(title)}</h3>{_list(found[:MOST])}{rest}</section>'


def _list(found: list[Group]) -> str:
    return f"<ul>{''.join(f'<li>{_item(one)}</li>' for one in found)}</ul>"


def _item(one: Group) -> str:
    more = one.rows - len(one.first)
    rows = ", ".join(f"{label}: {number}" for label, number in one.first) + (f" and {more:,} more" if more else "")
    until = f" They may go from {one.until}." if one.until else ""
    said = f"<b>{counted(one.rows, 'row')}</b>: {safe(one.meaning)}.{until}"
    step = f'<p class="smsotp-line">Next: {safe(one.next_step)}.</p>' if one.next_step else ""
    return f'<p>{said}</p><p class="smsotp-line smsotp-num">Rows {safe(rows)}</p>{step}'


ENCODINGS = {"gsm7": "GSM-7", "ucs2": "UCS-2"}
MOST_REASONS = 6


def draft_html(draft: Draft | None) -> str:
    """Return the preview beside the text: what three recipients will read, and what it would come to."""
    if draft is None:
        return _pane('<p class="smsotp-empty">Reading the list …</p>')
    if draft.plan is None:
        return _pane(_items(draft.problems), "Still to do")
    if draft.plan._figures["planned"]:
        return _pane(_totals(draft.plan, draft.whole) + _messages(draft.plan))
    said = [f"{counted(many, 'row')}: {in_words(why)}" for why, many, _ in draft.plan.problems.itertuples(index=False)]
    reasons = _totals(draft.plan, draft.whole) + _items(said[:MOST_REASONS])
    return _pane(reasons, "No row of the list would be texted now")


def check_screen(plan: Plan) -> tuple[str, str]:
    """Return the card of a plan, without what the form itself says around it.

    First what is seen at once, a message and what needs a decision; then the rest.
    """
    if plan._prospect_now is not None:  # that the text changes is said at the button that changes it
        plan = planning.seen(plan, dataclasses.replace(plan._prospect_now, changed=0, added=0))
    # What becomes of the rows is told by group.
    blocks = [block for block in plan.card().blocks if getattr(block, "columns", ()) != overview.FATES]
    urgent = [block for block in blocks if isinstance(block, Note) and block.sign in ("!", "cross")]
    unpriced = plan._figures["unpriced"]
    if 0 < unpriced < plan._figures["planned"]:
        urgent.append(Note("!", f"{counted(unpriced, 'recipient')} without a rate: the cost is without them."))
    lines = "".join(skin.line(_with_cure(note.text), "warn") for note in urgent)
    card = Card("The plan", "", tuple(_for_form(block) for block in blocks if block not in urgent))
    warnings = f'<div class="smsotp-warnings">{lines}</div>' if lines else ""
    return _messages(plan, 1) + warnings, card.html()


_CURES = {
    "Planned numbers of another": "The country column may be wrong: another one can be chosen with “Back to the text”.",
    "Planned numbers that are landlines": "Leave them out with a suppression list.",
    "NumberOptions(repair=": "The phone cleaner can repair them.",
    "Rates older": "A newer file of rates goes under “More options” of the text.",
    "without a rate": "Add their countries to the rates, under “More options” of the text.",
    "No rates were given": "Name a file of rates under “More options” of the text.",
    "the text of their template": "Write it to estimate them.",
    "without the template's text": "Write it to estimate them.",
    "are written in English": "Another language is named beside the text.",
    "Send refuses this plan": NEXT["REFUSED"].capitalize() + ".",
}


def _with_cure(words: str) -> str:
    """Return words of the card with what can be done about it in the form; what only code has is left out."""
    cure = next((cure for begins, cure in _CURES.items() if begins in words), "")
    said = re.sub(r"\A(Send refuses this plan); .*", r"\1.", words)
    return f"{in_the_form(said)} {cure}".strip()


def _for_form(block: Any) -> Any:
    return dataclasses.replace(block, text=_with_cure(block.text)) if isinstance(block, Note) else block


def results_html(results: pd.DataFrame | None, counts: dict[str, int]) -> str:
    return "" if results is None else results_card(results, counts).html()


def results_card(results: pd.DataFrame, counts: dict[str, int]) -> Card:
    states = ("accepted", "rejected", "in_doubt", "planned", "skipped")
    names = {"in_doubt": "in doubt", "planned": "to go", "skipped": "left out"}
    figures = Figures(tuple((names.get(state, state), counts.get(state, 0)) for state in states))
    billed = cost.card(results)
    closing = "The result table is the form's .results, with one row for every row of the list."
    return Card("Results", billed.state, (figures, *billed.blocks[1:]), closing)


def saved_card(results: pd.DataFrame, counts: dict[str, int], notice: Notice) -> Card:
    """Return the outcome as a saved notebook keeps it: what was reached by when, and how to go on."""
    unsettled = counts.get("planned", 0) + counts.get("in_doubt", 0)
    closing = skin.AGAIN if unsettled else "The campaign is recorded in the ledger; run this cell again to see it here."
    card = results_card(results, counts)
    return dataclasses.replace(
        card,
        title="Campaign form: results",
        state=f"{notice.text} Seen on {skin.moment()}.",
        blocks=(*card.blocks, *_not_sent(results)),
        closing=closing,
    )


def _not_sent(results: pd.DataFrame) -> list[Table]:
    rows = tuple((one.rows, f"{one.meaning}{f' (until {one.until})' if one.until else ''}") for one in groups(results))
    return [Table(("Rows", "Not sent because"), rows, ("right", "left"))] if rows else []


def columns_html(names: Sequence[str]) -> str:
    shown = " ".join(f"{{{name}}}" for name in names[:12]) + (" …" if len(names) > 12 else "")
    return f'<p class="smsotp-line">Columns: {safe(shown)}</p>'


def _totals(plan: Plan, whole: bool) -> str:
    figures, cost_said = plan._figures, overview.about(plan.rows.loc[lambda rows: rows["status"].eq("planned")])
    said = f"{number(figures['planned'])} of {counted(figures['rows'], 'row')} would be texted"
    said += f": {counted(figures['parts'], 'part')}" if figures["parts"] else ""
    said += f", about {cost_said}" if cost_said else ""
    said += f", {number(figures['unpriced'])} without a rate" if cost_said and figures["unpriced"] else ""
    where = "" if whole else f"<br>Seen so far: the first {counted(figures['rows'], 'row')}."
    return f'<p class="smsotp-line smsotp-num">{safe(said)}.{where}</p>'


def _messages(plan: Plan, many: int = SHOWN) -> str:
    items = [_message(row) for row in plan.preview(many).to_dict("records")]
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
