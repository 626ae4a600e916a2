"""The fields of the campaign form in which texts are compared, and what is shown of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets

from ..._cards import MISSING, Block, Card, Note, Table, counted
from ..._experiments import statistics
from ..._experiments.declaring import HOLDOUT
from ..._planning import overview
from .. import skin
from ..columns import with_none
from ..field_faults import FieldFaults
from .compared import AMOUNT, BOTH, MOST_HELD, OUTCOME, Compared
from .comparing import Comparison, OneCampaign
from .fields import offer

# What a draft keeps.
KEPT = ("other", "held", "unit", "outcome", "days", "base")
OUTCOMES = (("Whether somebody buys", OUTCOME), ("How much is spent", AMOUNT), ("Both", BOTH))


class ComparePane:
    """A second text, who is held out, and how it is counted; folded away until somebody wants it.

    Args:
        typed: called when one of the fields changes.
    """

    def __init__(self, typed: Callable[[], None]) -> None:
        self.faults = FieldFaults()
        self.other = ipywidgets.Textarea(description="Second text (blank: none)", placeholder="{name}, 20% off today!")
        self.held = skin.whole("Held out, in per cent (0: nobody)", most=MOST_HELD)
        self.unit = skin.choice("Column that tells customers apart", with_none([], "choose"), None)
        self.outcome = ipywidgets.Dropdown(description="What is counted", options=OUTCOMES, value=OUTCOME)
        self.days = skin.whole("Days until it is read", least=1, most=365, value=14)
        self.base = skin.text("Who buys without a message, in per cent", placeholder="2.5")
        for name in KEPT:
            getattr(self, name).observe(lambda _: typed(), "value")
        around = self.faults.around
        self._base = around("base", self.base)
        self.outcome.observe(lambda _: skin.show(self._base, self.outcome.value != AMOUNT), "value")
        hint = skin.block(skin.line(HINT), "smsotp-hint")
        self.button, self._fields = skin.folded(
            "Compare two texts, or hold people out",
            "Hide the comparison",
            around("other", self.other),
            hint,
            skin.box(around("held", self.held), around("unit", self.unit), classes=("smsotp-pair",)),
            skin.box(around("outcome", self.outcome), around("days", self.days), classes=("smsotp-pair",)),
            self._base,
        )
        self.widget = skin.box(self.button, self._fields, classes=("smsotp-main",))

    def choices(self) -> Compared:
        """Return what the fields say now."""
        values = {name: getattr(self, name).value for name in KEPT}
        return Compared(**values)

    def offer(self, names: list[tuple[str, Any]]) -> None:
        """Offer the columns of a list."""
        offer(self.unit, with_none(names, "choose"), None)

    def draft(self) -> dict[str, str | int]:
        """Return what a draft keeps."""
        chosen = self.choices()
        return {name: getattr(self, name).value for name in KEPT} if chosen.on else {}

    def fill_in(self, draft: Mapping[str, str | int]) -> None:
        """Fill in a draft; a column that this list does not have stays as it is."""
        for name in KEPT:
            field = getattr(self, name)
            choosable = [value for _, value in field.options] if isinstance(field, ipywidgets.Dropdown) else None
            fits = isinstance(draft.get(name), type(field.value)) and (choosable is None or draft[name] in choosable)
            if name in draft and fits:
                field.value = draft[name]
        if self.choices().on:
            self.unfold()

    def unfold(self) -> None:
        """Show the fields."""
        if self._fields.layout.display == "none":
            self.button.click()

    def lock(self, yes: bool) -> None:
        """Let nobody change what was drawn: people keep the text that chance gave them."""
        self.held.disabled = self.unit.disabled = self.outcome.disabled = self.days.disabled = yes

    def show_faults(self, faults: Mapping[str, str]) -> None:
        """Show what is wrong at its field, and no fault that nobody sees."""
        self.faults.show(faults)
        if {*KEPT} & {*faults}:
            self.unfold()


HINT = (
    "People are drawn by chance. Each text goes to an equal share; who is held out is not texted and shows what would "
    "have happened anyway."
)


def comparison_html(comparison: Comparison) -> str:
    """Return the card of a comparison: its texts side by side, what it can show, and what holds rows back."""
    return comparison_card(comparison).html()


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
    """Return what a text was billed and what the rest is estimated to cost."""
    billed = ""
    if arm.results is not None:
        known = arm.results.rename(columns={"price": "cost"})[["cost", "currency"]].dropna()
        billed = overview.about(known.set_axis(["est_cost", "est_currency"], axis=1))
    to_go = f"about {arm._cost} to go" if arm._cost and arm.to_go else ""
    return ", ".join(filter(None, [billed, to_go])) or MISSING


def _held_back(arms: Mapping[str, OneCampaign]) -> list[Note]:
    """Return what the ledger knows of the people of each text."""
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
