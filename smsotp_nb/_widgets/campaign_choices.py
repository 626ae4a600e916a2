"""What a person chose in the campaign form, as the arguments of ``plan`` and ``send`` and as lines of code."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from .._dispatch.guards import typed
from .._policy import Policy
from .._wire import Variant
from .arguments import NONE_CHOSEN

Kind = Literal["content", "text", "template"]


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The message, the columns and the files of one campaign; blanks are what was not chosen.

    Example:
        >>> Choices(campaign="autumn", to="phone", words="Hi {name}", signature="Acme").arguments()["content"]
        'Hi {name}'
    """

    campaign: str = ""
    to: Hashable = NONE_CHOSEN
    region: Hashable = NONE_CHOSEN
    default_region: str = ""
    kind: Kind = "content"
    words: str = ""
    template_id: str = ""
    variables: tuple[str, ...] = ()
    signature: str = ""
    fill: Mapping[str, str] = field(default_factory=dict)
    suppress: Any = None
    rates: Any = None
    keep: tuple[str, ...] = ()
    variant: Variant = "intl"
    policy: Policy | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choices) and self._values() == other._values()

    def _values(self) -> tuple[object, ...]:
        """Return all values; a tuple compares a given table by identity, as dataclasses did before Python 3.13."""
        return tuple(getattr(self, it.name) for it in fields(self))

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of ``plan``, without those that were left blank."""
        message: dict[str, Any] = {"template_text" if self.kind == "template" else self.kind: self.words}
        if self.kind == "template":
            message |= {"template_id": self.template_id, "template_data": list(self.variables)}
        given = {
            "to": self.to,
            "region": self.region,
            "default_region": self.default_region,
            "campaign": self.campaign,
            **message,
            "signature": self.signature,
            "variant": "" if self.variant == "intl" else self.variant,
            "fill": dict(self.fill),
            "suppress": self.suppress,
            "rates": self.rates,
            "keep": list(self.keep),
            "policy": self.policy,
        }
        always = {"to", "campaign"} | ({"template_id"} if self.kind == "template" else {self.kind})
        return {name: value for name, value in given.items() if name in always or not _blank(value)}

    def missing(self) -> tuple[str, ...]:
        """Say what is still to be filled in, in the form's own words."""
        blanks = (
            (self.campaign, "Enter a campaign name, such as autumn-sale. The campaign is recorded under it."),
            (self.to, "Choose the column of the phone numbers."),
            (self.template_id or self.kind != "template", "Enter the template ID."),
            (self.words or self.kind == "template", "Write the text."),
        )
        return tuple(words for filled, words in blanks if filled == NONE_CHOSEN or filled is False)

    def lines(self, guards: Guards | None = None, *, frame: str = "people", before: Sequence[str] = ()) -> str:
        """Return the code that plans and sends the same; ``before`` are lines between the two."""
        shown = [f"    {name}={_shown(name, value)}," for name, value in self.arguments().items()]
        sent = "".join(f", {name}={value!r}" for name, value in (guards or Guards()).arguments().items())
        return "\n".join(
            [f"plan = sms.plan(\n    {frame},", *shown, ")", *before, f"results = sms.send(plan, client=client{sent})"]
        )


@dataclass(frozen=True, slots=True)
class Guards:
    """What may hold the campaign back, as typed in the form's fields, by the names that the table of guards gives them.

    Example:
        >>> Guards({"budget": "USD 50", "canary": 10}).arguments()
        {'budget': {'USD': '50'}, 'canary': 10}
    """

    fields: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def canary(self) -> int:
        """How many are to be sent to first; 0 for all."""
        return int(self.fields.get("canary") or 0)

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of ``send``.

        Raises:
            UsageError: a budget without its currency, or half a span of quiet hours.
        """
        return typed(self.fields)


def _blank(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list, dict)) and not value)


def _shown(name: str, value: Any) -> str:
    """A frame or a list given in code is named, not printed: it may hold numbers."""
    if name in ("suppress", "rates") and not isinstance(value, str):
        return name
    return f"sms.{value!r}" if isinstance(value, Policy) else repr(value)
