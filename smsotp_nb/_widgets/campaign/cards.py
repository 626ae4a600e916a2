"""The panes of the campaign form as cards and HTML: preview, plan, progress, results, refusals, a comparison.

Everything foreign is escaped.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ... import cost
from ..._cards import MISSING, Block, Card, Figures, Note, Table, about, counted, number, safe
from ..._experiments import statistics
from ..._experiments.declaring import HOLDOUT
from ..._planning import Plan, overview
from ..._progress import span
from ..._showing import label as called
from ..._showing import masked
from ..._wire import amount, mask
from ...problems import PROBLEMS
from ...results import Progress
from .. import skin
from ..stages import Notice
from .comparing import Comparison
from .moves import OneCampaign
from .state import MEANS, NEXT, Draft, Running

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

    Args:
        rows: ``status``, ``problem`` and ``to`` (str), and where it is known ``not_before`` (UTC), one row a row of the
            list.
        numbers: the numbers as the list has them, in the same order, for rows without a number that can be texted.
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
_FOR_CODE = re.compile(r" \((?:note [A-Z_]{1,40}|Message\(join=\.\.\.\) sets another)\)")
_OF_TEXTED = "The result table is the form's .results, with a row for each person to be texted, and the column arm."
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
    card = plan.card()
    blocks = tuple(block for block in card.blocks if getattr(block, "title", "") != "Rows left out")  # told by group
    return dataclasses.replace(card, blocks=tuple(map(_in_the_form, blocks)), state="", closing="").html()


def _in_the_form(block: Any) -> Any:
    """Return a block of the card without the words that only code has a use for."""
    if not isinstance(block, Note):
        return block
    return dataclasses.replace(block, text=_FOR_CODE.sub("", block.text))


def progress_html(running: Running | None) -> str:
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
    bar = skin.progress("Messages sent", told.done, told.total)
    return f'<p class="smsotp-line smsotp-num">{_pace(running)}</p>{bar}<dl class="smsotp-figures">{shown}</dl>'


def results_html(results: pd.DataFrame | None, counts: dict[str, int], *, compared: bool = False) -> str:
    if results is None:
        return ""
    card = results_card(results, counts)
    return (dataclasses.replace(card, closing=_OF_TEXTED) if compared else card).html()


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


def below(card: Card, *others: Card) -> Card:
    """Return a card with the contents of others below its own, each led by its title and state."""
    blocks = [
        block for other in others for block in (Note("i", f"{other.title}. {other.state}".strip()), *other.blocks)
    ]
    return dataclasses.replace(card, blocks=(*card.blocks, *blocks))


def _not_sent(results: pd.DataFrame) -> list[Table]:
    rows = tuple((one.rows, f"{one.meaning}{f' (until {one.until})' if one.until else ''}") for one in groups(results))
    return [Table(("Rows", "Not sent because"), rows, ("right", "left"))] if rows else []


def columns_html(names: Sequence[str]) -> str:
    shown = " ".join(f"{{{name}}}" for name in names[:12]) + (" …" if len(names) > 12 else "")
    return f'<p class="smsotp-line">Columns: {safe(shown)}</p>'


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


def comparison_card(comparison: Comparison) -> Card:
    """Return a comparison as a card: a row for each text and for those held out."""
    declared = comparison.test._declared
    rows = [_row(name, declared.arms[name], arm) for name, arm in comparison.arms.items()]
    if comparison.held_out or declared.holdout:
        rows.append(("Held out", f"{declared.holdout:g}%", f"{comparison.held_out:,}", *[MISSING] * 3))
    names = ("Text", "Share", "People", "Accepted", "To go", "Cost")
    table = Table(names, tuple(rows), ("left", "right", "right", "right", "right", "right"))
    sizes = {name: _people(arm) for name, arm in comparison.arms.items()}
    sizes |= {HOLDOUT: comparison.held_out} if declared.holdout else {}
    checked = statistics.check(sizes, {name: declared.weights[name] for name in sizes})
    blocks: list[Block] = [
        table,
        Note("cross" if checked.is_red else "check", checked.sentence()),
        *(Note("i", said) for said in comparison.foreseen),
        *_held_back(comparison.arms),
        Note("i", _reading(declared.window.days)),
    ]
    return Card(f"Comparison: {comparison.test.name}", "", tuple(blocks))


def _row(name: str, share: float, arm: OneCampaign) -> tuple[str, ...]:
    accepted, to_go = arm.counts.get("accepted", 0), arm.waiting
    return name, f"{share:g}%", f"{_people(arm):,}", f"{accepted:,}", f"{to_go:,}", _cost(arm)


def _people(arm: OneCampaign) -> int:
    return len(arm.frame)


def _cost(arm: OneCampaign) -> str:
    billed = ""
    if arm.results is not None:
        known = arm.results.rename(columns={"price": "cost"})[["cost", "currency"]].dropna()
        billed = overview.about(known.set_axis(["est_cost", "est_currency"], axis=1))
    to_go = f"about {arm._cost} to go" if arm._cost and arm.to_go else ""
    return ", ".join(filter(None, [billed, to_go])) or MISSING


def _held_back(arms: Mapping[str, OneCampaign]) -> list[Note]:
    notes = []
    for name, arm in arms.items():
        if arm.plan is not None and arm.plan.prospect is not None:
            prospect = arm.plan.prospect
            notes += [Note(note.sign, f"Text {name}: {note.text}") for note in prospect.holds()]
    return notes


def _reading(days: int) -> str:
    return (
        f"An order counts for {counted(days, 'day')} after its message. When that is over for the last message, choose "
        "“Read a comparison” in this form; until then no difference means anything."
    )
