"""The first step of the campaign form: the list, the fields, the preview beside them, and what stops the plan."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from ..._cards import counted
from .. import skin
from ..uploads import KINDS, Upload, Uploaded
from . import cards
from .compare_pane import ComparePane
from .fields import Fields
from .state import in_both
from .steps import CampaignSteps
from .writing import Draft


class WritePane:
    """The fields laid out.

    Args:
        upload: whether the list comes in here.
        take: what an `Upload` does with it.
    """

    def __init__(self, fields: Fields, compare: ComparePane, *, upload: bool, take: Callable[[Uploaded], str]) -> None:
        self.fields, self.compare = fields, compare
        self._file = Upload("Choose the list: CSV or Excel", KINDS, take)
        self.upload, self._read = self._file.button, self._file.said
        self.check_button = skin.button("Check the plan")
        self.keep_name_button = skin.button("Keep the name")
        self.both = skin.check("")
        self._why = skin.block("")
        self._preview, self._unfinished = skin.block("", "smsotp-side"), skin.block("")
        self._columns = skin.block("", "smsotp-hint")
        skin.show(self._file.widget, upload)
        self._met = skin.box(self._why, self.both, self.keep_name_button, classes=("smsotp-main", "smsotp-framed"))
        self.take_button, self.discard_button = skin.button("Continue with it"), skin.button("Discard it")
        self._kept = skin.block("")
        buttons = skin.box(self.take_button, self.discard_button, classes=("smsotp-pair",))
        self._offer = skin.box(self._kept, buttons, classes=("smsotp-main", "smsotp-offer"))
        self.widget = self._lay_out()
        self.show_columns()
        self.offer("")

    def show_columns(self) -> None:
        """Name the columns that a text may use."""
        self._columns.value = cards.columns_html(self.fields.names)
        skin.show(self._columns, bool(self.fields.names))

    def offer(self, words: str, *, keep: bool = True) -> None:
        """Offer a draft, or say why none can be kept; no words take both away."""
        self._kept.value = skin.line(words, "" if keep else "warn")
        skin.show(self._offer, bool(words))
        for button in (self.take_button, self.discard_button):
            skin.show(button, keep)

    def draw(self, steps: CampaignSteps, draft: Draft | None) -> None:
        """Show the step as it stands."""
        fields, planning = self.fields, steps.stage == "planning"
        template = fields.kind.value == "template"
        skin.show(self._template, template)
        fields.words.description = "Template's text, for the estimate only" if template else "Text"
        self._preview.value = cards.draft_html(draft)
        begun = bool(steps.unfinished) and fields.campaign.value.strip() == steps.unfinished
        self._unfinished.value = skin.notice(steps.notice.text, steps.notice.sign) if begun else ""
        skin.show(self._unfinished, begun)
        for field in (fields.phone, fields.region, fields.default_region):
            field.disabled = begun
        self.compare.lock(begun and steps.comparison is not None)
        fields.faults.show(steps.faults)
        self.compare.show_faults(steps.faults)
        self._draw_tick(steps)
        self._draw_met(steps)
        self.check_button.description = "Planning …" if planning else "Check the plan"
        self.check_button.disabled = self.upload.disabled = planning
        skin.primary(self.check_button, True)

    def _draw_tick(self, steps: CampaignSteps) -> None:
        unreadable = any("tick" in steps.faults.get(name, "") for name in ("suppress", "exclude"))
        skin.show(self.fields.readable_only, unreadable or self.fields.readable_only.value)

    def _draw_met(self, steps: CampaignSteps) -> None:
        skin.show(self._met, bool(steps.met))
        if steps.met:
            self._why.value = skin.notice(steps.refusal.text, steps.refusal.sign)
            names = " and ".join(one.campaign for one in steps.met)
            many = counted(in_both(steps.met), "person", "people")
            self.both.description = f"Text {many} by {names} and by this campaign, too"
            self.keep_name_button.description = f"Keep the name {steps.met[0].campaign}"
        else:
            self.both.value = False

    def _lay_out(self) -> ipywidgets.VBox:
        box = self.fields.box
        self._template = skin.box(box("template_id"), box("variables"), classes=("smsotp-pair",))
        more = skin.folded(
            "More options",
            "Fewer options",
            box("suppress"),
            self.fields.readable_only,
            box("exclude"),
            box("rates"),
            skin.box(box("fill"), box("keep"), classes=("smsotp-pair",)),
        )
        self.more_button, self._more = more
        main = skin.box(
            self._unfinished,
            self._offer,
            self._file.widget,
            skin.box(box("campaign"), box("kind"), classes=("smsotp-pair",)),
            skin.box(box("phone"), box("region"), classes=("smsotp-pair",)),
            skin.box(box("default_region"), box("signature"), classes=("smsotp-pair",)),
            self._template,
            box("words"),
            self._columns,
            self.compare.widget,
            *more,
            self._met,
            self.check_button,
            classes=("smsotp-main",),
        )
        return skin.box(main, self._preview, classes=("smsotp-body", "smsotp-two"))

    def unfold_for(self, steps: CampaignSteps) -> None:
        """Fold the rare fields out where one of them is at fault: what nobody sees nobody can correct."""
        if self._more.layout.display == "none" and {"suppress", "exclude", "rates", "fill", "keep"} & set(steps.faults):
            self.more_button.click()
