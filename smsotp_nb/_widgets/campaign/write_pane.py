"""The first step of the campaign form: the list, the fields, and the preview beside them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets
import pandas as pd

from ... import phones
from ..._cards import counted
from ..._policy import Policy
from ..._wire import Variant
from ...errors import UsageError
from .. import skin
from ..controls import FieldFaults, offer
from ..lists import LISTS, NONE_CHOSEN, Upload, Uploaded, names_of, with_none
from . import cards
from .choices import TICK, Choices
from .steps import CampaignSteps, Draft, in_both, is_opt_out_list

RECORD = "These people want no texts: record them as opted out, so that later campaigns leave them out, too"
KINDS = (("Text, signed", "content"), ("Whole text", "text"), ("Template", "template"))
# What a draft keeps; none of these holds a number of the list, a passcode or a key.
KEPT = (
    *("campaign", "kind", "phone", "second", "region", "default_region", "signature", "template_id", "variables"),
    *("words", "currency", "language", "exclude", "rates", "keep"),
)


class Fields:
    """The fields by their names, as attributes, and `faults`, the lines below them.

    ``given`` is what was given in code: suppression list and rates, which are not shown, and the default country.
    """

    def __init__(
        self, given: Mapping[str, Any], *, variant: Variant, policy: Policy | None, typed: Callable[[], None]
    ) -> None:
        self._given, self._variant, self._policy = given, variant, policy
        self.names: list[str] = []
        self.faults = FieldFaults()
        self.campaign = skin.text("Campaign name", placeholder="autumn-sale")
        self.kind = ipywidgets.Dropdown(description="Message", options=KINDS, value="content")
        self.phone = skin.choice("Phone column", with_none([], "choose"), None)
        self.second = skin.choice("Where it has none, column", with_none([], "none"), None)
        self.region = skin.choice("Country column", with_none([], "none"), None)
        self.default_region = skin.text("Default country", placeholder="DE", value=given.get("default_region") or "")
        self.signature = skin.text("Signature", placeholder="Acme")
        self.template_id = skin.text("Template ID", placeholder="welcome-1")
        self.variables = skin.text("Template variables, from columns", placeholder="name, city")
        self.currency = skin.text("Currency of amounts", placeholder="EUR")
        self.language = skin.text("Language of values", placeholder="en")
        self.words = ipywidgets.Textarea(description="Text", placeholder="Hi {name|there}, 20% off until Sunday.")
        self.exclude = skin.text("Suppression list", **self._path_field("exclude", "suppression.csv"))
        self.record_exclude = skin.check(RECORD)
        self.readable_only = skin.check("Leave out only those that can be read; the others are texted")
        self.texted_by = ipywidgets.SelectMultiple(description="Leave out whom these campaigns texted", rows=4)
        self.rates = skin.text("Rates", **self._path_field("rates", "rates.csv"))
        self.keep = skin.text("Columns to keep", placeholder="segment, city")
        self.kept = {name: getattr(self, name) for name in KEPT}  # by a draft
        for field in (*self.kept.values(), self.texted_by, self.readable_only, self.record_exclude):
            field.observe(lambda _: typed(), "value")

    def box(self, name: str) -> ipywidgets.VBox:
        """Return a field with the line below it; to be called once for each."""
        return self.faults.around(name, getattr(self, name))

    def choices(self) -> Choices:
        return Choices(
            campaign=self.campaign.value.strip(),
            to=self.phone.value,
            second=self.second.value if self.second.value != self.phone.value else NONE_CHOSEN,
            region=self.region.value,
            default_region=self.default_region.value.strip().upper(),
            kind=self.kind.value,
            words=self.words.value,
            template_id=self.template_id.value.strip(),
            variables=_listed(self.variables.value),
            currency=self.currency.value.strip().upper(),
            language=self.language.value.strip(),
            signature=self.signature.value.strip(),
            exclude=self._file("exclude", self.exclude.value),
            readable_only=self.readable_only.value,
            record_exclude=self.record_exclude.value,
            texted_by=tuple(self.texted_by.value),
            rates=self._file("rates", self.rates.value),
            keep=_listed(self.keep.value),
            variant=self._variant,
            policy=self._policy,
        )

    def offer(self, frame: pd.DataFrame | None) -> None:
        """Offer the columns of a list, or none, and choose those of the numbers and countries where they are found."""
        if frame is None:
            self.names = []
            offer(self.phone, with_none([], "choose"), None)
            offer(self.second, with_none([], "none"), None)
            offer(self.region, with_none([], "none"), None)
            return
        names, found = names_of(frame), self._found(frame)
        self.names = [label for label, _ in names]
        texts = [(label, name) for label, name in names if isinstance(name, str)]  # as plan takes them
        offer(self.phone, names if found.phone is not None else with_none(names, "choose"), found.phone)
        offer(self.second, with_none(texts, "none"), None)
        offer(self.region, with_none(texts, "none"), found.region)

    def _found(self, frame: pd.DataFrame) -> phones.Found:
        with contextlib.suppress(UsageError):  # a default country that is not typed to its end
            return phones.find_columns(frame, default_region=self.default_region.value.strip().upper() or None)
        return phones.find_columns(frame)

    def offer_campaigns(self, names: Sequence[str]) -> None:
        self.texted_by.options = tuple(names)
        skin.show(self.texted_by, bool(names))

    def draft(self) -> dict[str, str]:
        """Return what a draft keeps: texts and choices, nothing that was given in code; nothing before one begins."""
        if not (self.campaign.value.strip() or self.words.value.strip() or self.template_id.value.strip()):
            return {}
        kept = self.kept.items()
        return {name: field.value for name, field in kept if isinstance(field.value, str) and field.value}

    def _path_field(self, name: str, example: str) -> dict[str, Any]:
        given = self._given[name]
        if given is None or isinstance(given, str):
            return {"value": given or "", "placeholder": example}
        return {"value": "", "placeholder": "given in code", "disabled": True}

    def _file(self, name: str, typed: str) -> Any:
        given = self._given[name]
        return typed.strip() or None if given is None or isinstance(given, str) else given


def _listed(typed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in typed.split(",") if name.strip())


_FOLDED = ("second", "exclude", "texted_by", "rates", "keep")  # what stands among the further options


class WritePane:
    """The fields laid out; ``upload``: the list comes in here, and is handed to ``take``."""

    def __init__(self, fields: Fields, *, upload: bool, take: Callable[[Uploaded], str]) -> None:
        self.fields = fields
        self._file = Upload("Choose the list: CSV or Excel", LISTS, take)
        self.upload, self._read = self._file.button, self._file.said
        self.check_button = skin.button("Check the plan")
        self.keep_name_button = skin.button("Keep the name")
        self.both = skin.check("")
        self._why = skin.block()
        self._preview, self._unfinished = skin.block("", "smsotp-side"), skin.block()
        self._columns = skin.block("", "smsotp-hint")
        skin.show(self._file.widget, upload)
        self._met = skin.main(self._why, self.both, self.keep_name_button, classes=("smsotp-framed",))
        self.take_button, self.discard_button = skin.button("Continue with it"), skin.button("Discard it")
        self._kept = skin.block()
        buttons = skin.pair(self.take_button, self.discard_button)
        self._offer = skin.main(self._kept, buttons, classes=("smsotp-offer",))
        self.widget = self._lay_out()
        self.show_columns()
        self.offer("")

    def show_columns(self) -> None:
        self._columns.value = cards.columns_html(self.fields.names)
        skin.show(self._columns, bool(self.fields.names))

    def offer(self, words: str, *, keep: bool = True) -> None:
        """Offer a draft, or say why none can be kept; no words take both away."""
        self._kept.value = skin.line(words, "" if keep else "warn")
        skin.show(self._offer, bool(words))
        for button in (self.take_button, self.discard_button):
            skin.show(button, keep)

    def draw(self, steps: CampaignSteps, draft: Draft | None) -> None:
        fields, planning = self.fields, steps.stage == "planning"
        template = fields.kind.value == "template"
        skin.show(self._template, template)
        choices = fields.choices()
        skin.show(self._currency, choices.priced)
        skin.show(self._manner, choices.dated)
        fields.words.description = "Template's text, for the estimate only" if template else "Text"
        self._preview.value = cards.draft_html(draft)
        begun = bool(steps.unfinished) and fields.campaign.value.strip() == steps.unfinished
        self._unfinished.value = skin.notice(steps.notice.text, steps.notice.sign) if begun else ""
        skin.show(self._unfinished, begun)
        for field in (fields.phone, fields.second, fields.region, fields.default_region):
            field.disabled = begun
        fields.faults.show(steps.faults)
        if {*steps.faults} & {*_FOLDED}:
            self._more.unfold()
        told = (*steps.faults.values(), *(draft.problems if draft else ()))
        unreadable = any(TICK in words for words in told)
        skin.show(self.fields.record_exclude, is_opt_out_list(fields.choices().exclude))
        skin.show(self.fields.readable_only, unreadable or self.fields.readable_only.value)
        self._draw_met(steps)
        self.check_button.description = "Planning …" if planning else "Check the plan"
        self.check_button.disabled = self.upload.disabled = planning
        skin.primary(self.check_button, True)

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
        self._template = skin.pair(box("template_id"), box("variables"))
        self._currency = box("currency")
        self._manner = skin.pair(self._currency, box("language"))
        self._more = skin.Folded(
            "More options",
            "Fewer options",
            box("second"),
            box("exclude"),
            self.fields.record_exclude,
            self.fields.readable_only,
            box("texted_by"),
            box("rates"),
            box("keep"),
        )
        main = skin.main(
            self._unfinished,
            self._offer,
            self._file.widget,
            skin.pair(box("campaign"), box("kind")),
            skin.pair(box("phone"), box("region")),
            skin.pair(box("default_region"), box("signature")),
            self._template,
            box("words"),
            self._manner,
            self._columns,
            self._more.widget,
            self._met,
            self.check_button,
        )
        return skin.box(main, self._preview, classes=("smsotp-body", "smsotp-two"))
