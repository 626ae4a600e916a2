"""The fields of the campaign form in which a campaign is written: made, read, and filled again from a draft."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets
import pandas as pd

from ... import phones
from ..._policy import Policy
from ..._wire import Variant
from ...errors import UsageError
from .. import skin
from ..columns import names_of, with_none
from ..field_faults import FieldFaults
from .choices import Choices

KINDS = (("Text, signed", "content"), ("Whole text", "text"), ("Template", "template"))
# What a draft keeps; none of these holds a number of the list, a passcode or a key.
KEPT = (
    *("campaign", "kind", "phone", "region", "default_region", "signature", "template_id", "variables", "words"),
    *("fill", "suppress", "rates", "keep"),
)


class Fields:
    """The fields by their names, as attributes, and `faults`, the lines below them.

    Args:
        given: what was given in code for the suppression list and the rates; it is not shown.
        typed: called when one of them changes.
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
        self.region = skin.choice("Country column", with_none([], "none"), None)
        self.default_region = skin.text("Default country", placeholder="DE")
        self.signature = skin.text("Signature", placeholder="Acme")
        self.template_id = skin.text("Template ID", placeholder="welcome-1")
        self.variables = skin.text("Template variables, from columns", placeholder="name, city")
        self.words = ipywidgets.Textarea(description="Text", placeholder="Hi {name}, 20% off until Sunday.")
        self.fill = skin.text("If a value is missing", placeholder="name=there")
        self.suppress = skin.text("Suppression list", **self._path_field("suppress", "suppression.csv"))
        self.readable_only = skin.check("Leave out only those that can be read; the others are texted")
        self.exclude = ipywidgets.SelectMultiple(description="Leave out whom these campaigns texted", rows=4)
        self.rates = skin.text("Rates", **self._path_field("rates", "rates.csv"))
        self.keep = skin.text("Columns to keep", placeholder="segment, city")
        for name in (*KEPT, "exclude", "readable_only"):
            getattr(self, name).observe(lambda _: typed(), "value")

    def box(self, name: str) -> ipywidgets.VBox:
        """Return a field with the line below it; to be called once for each."""
        return self.faults.around(name, getattr(self, name))

    def choices(self) -> Choices:
        """Return what the fields say now."""
        fill, unread = pairs(self.fill.value)
        return Choices(
            campaign=self.campaign.value.strip(),
            to=self.phone.value,
            region=self.region.value,
            default_region=self.default_region.value.strip().upper(),
            kind=self.kind.value,
            words=self.words.value,
            template_id=self.template_id.value.strip(),
            variables=_listed(self.variables.value),
            signature=self.signature.value.strip(),
            fill=fill,
            suppress=self._file("suppress", self.suppress.value),
            readable_only=self.readable_only.value,
            exclude=tuple(self.exclude.value),
            rates=self._file("rates", self.rates.value),
            keep=_listed(self.keep.value),
            variant=self._variant,
            policy=self._policy,
            unread={"fill": unread} if unread else {},
        )

    def offer(self, frame: pd.DataFrame | None) -> None:
        """Offer the columns of a list, or none, and choose those of the numbers and countries where they are found."""
        if frame is None:
            self.names = []
            offer(self.phone, with_none([], "choose"), None)
            offer(self.region, with_none([], "none"), None)
            return
        names, found = names_of(frame), self._found(frame)
        self.names = [label for label, _ in names]
        countries = [(label, name) for label, name in names if isinstance(name, str)]  # as plan takes them
        offer(self.phone, names if found.phone is not None else with_none(names, "choose"), found.phone)
        offer(self.region, with_none(countries, "none"), found.region)

    def _found(self, frame: pd.DataFrame) -> phones.Found:
        with contextlib.suppress(UsageError):  # a default country that is not typed to its end
            return phones.find_columns(frame, default_region=self.default_region.value.strip().upper() or None)
        return phones.find_columns(frame)

    def offer_campaigns(self, names: Sequence[str]) -> None:
        """Offer earlier campaigns to leave out."""
        self.exclude.options = tuple(names)
        skin.show(self.exclude, bool(names))

    def draft(self) -> dict[str, str]:
        """Return what a draft keeps: texts and choices, nothing that was given in code; nothing before one begins."""
        if not (self.campaign.value.strip() or self.words.value.strip() or self.template_id.value.strip()):
            return {}
        found = {name: getattr(self, name) for name in KEPT}
        return {name: field.value for name, field in found.items() if isinstance(field.value, str) and field.value}

    def fill_in(self, draft: Mapping[str, str | int]) -> None:
        """Fill in a draft; a column that this list does not have stays as it is."""
        for name in KEPT:
            field = getattr(self, name)
            choosable = [value for _, value in field.options] if isinstance(field, ipywidgets.Dropdown) else None
            if name in draft and not field.disabled and (choosable is None or draft[name] in choosable):
                field.value = draft[name]

    def _path_field(self, name: str, example: str) -> dict[str, Any]:
        given = self._given[name]
        if given is None or isinstance(given, str):
            return {"value": given or "", "placeholder": example}
        return {"value": "", "placeholder": "given in code", "disabled": True}

    def _file(self, name: str, typed: str) -> Any:
        given = self._given[name]
        return typed.strip() or None if given is None or isinstance(given, str) else given


def pairs(typed: str) -> tuple[dict[str, str], str]:
    """Return ``name=there, city=your town`` as a dict, and what is wrong with it where a piece is no pair.

    Example:
        >>> pairs("name=there, city = your town")
        ({'name': 'there', 'city': 'your town'}, '')
        >>> pairs("name=there, friend")[1]
        '“friend” is not a column with a value. Write column=words, such as name=there.'
    """
    pieces = [piece.strip() for piece in typed.split(",") if piece.strip()]
    wrong = [piece for piece in pieces if not all(part.strip() for part in piece.partition("="))]
    if wrong:
        words = f"“{wrong[0]}” is not a column with a value. Write column=words, such as name=there."
        return {}, words
    split = (piece.partition("=") for piece in pieces)
    return {name.strip(): value.strip() for name, _, value in split}, ""


def _listed(typed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in typed.split(",") if name.strip())


def offer(field: ipywidgets.Dropdown, options: Sequence[tuple[str, Any]], value: Any) -> None:
    """Offer options in a list, and choose one; the first where ``value`` is None."""
    field.options = options
    field.value = options[0][1] if value is None else value
