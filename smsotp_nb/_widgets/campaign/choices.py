"""What a person chose in the campaign form, as the arguments of ``plan`` and ``send`` and as lines of code."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from ..._cards import counted
from ..._dispatch.guards import read, typed
from ..._guards import GUARDS
from ..._policy import Policy
from ..._wire import Variant
from ...errors import UsageError
from ..columns import NONE_CHOSEN
from ..stages import complaints
from . import compared
from .compared import Compared

SPEED = "speed"  # the field of what is no guard
Kind = Literal["content", "text", "template"]


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The message, the columns and the files of one campaign; blanks are what was not chosen.

    ``exclude`` names campaigns, whose people `arguments` does not know. ``unread`` is what a field holds that cannot be
    read, by the field.

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
    readable_only: bool = False
    exclude: tuple[str, ...] = ()
    rates: Any = None
    keep: tuple[str, ...] = ()
    variant: Variant = "intl"
    policy: Policy | None = None
    compared: Compared = field(default_factory=Compared)
    unread: Mapping[str, str] = field(default_factory=dict)

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
            "ignore_unreadable_suppressions": self.readable_only,
            "rates": self.rates,
            "keep": list(self.keep),
            "policy": self.policy,
        }
        always = {"to", "campaign"} | ({"template_id"} if self.kind == "template" else {self.kind})
        return {name: value for name, value in given.items() if name in always or not _blank(value)}

    def missing(self) -> dict[str, str]:
        """Say what is still to be filled in or cannot be read, in the form's own words, by the field."""
        blanks = (
            ("campaign", self.campaign, "Enter a campaign name, such as autumn-sale."),
            ("phone", self.to, "Choose the column of the phone numbers."),
            ("template_id", self.template_id or self.kind != "template", "Enter the template ID."),
            ("words", self.words or self.kind == "template", "Write the text."),
        )
        blank = {name: words for name, filled, words in blanks if filled == NONE_CHOSEN or filled is False}
        return blank | self.compared.missing(self.campaign, template=self.kind == "template") | dict(self.unread)

    def lines(
        self,
        guards: Guards | None = None,
        *,
        frame: str = "people",
        tried: int = 0,
        first: Sequence[str] = (),
        before: Sequence[str] = (),
        arms: Mapping[str, Mapping[str, Any]] | None = None,
        reason: str = "",
    ) -> str:
        """Return the code that plans and sends the same; ``first`` are lines above it, ``before`` lines between both.

        ``tried`` is how many the campaign tried already, see `Guards.arguments`. Where texts are compared, ``arms`` has
        the arguments of ``send`` for each, and ``reason`` why what is recorded gets another text.
        """
        shown = [f"    {name}={_shown(name, value)}," for name, value in self.arguments().items()]
        shown += [f"    exclude={_excluded(self.exclude)},"] * bool(self.exclude)
        sent = "".join(f", {name}={value!r}" for name, value in (guards or Guards()).arguments(tried=tried).items())
        if self.compared.on:
            asked = arms or dict.fromkeys(self.compared.shares, (guards or Guards()).arguments())
            return "\n".join([*first, *self._comparing(asked, reason)])
        made = [f"plan = sms.plan(\n    {frame},", *shown, ")"]
        return "\n".join([*first, *made, *before, f"results = sms.send(plan, client=client{sent})"])

    def _comparing(self, asked: Mapping[str, Mapping[str, Any]], reason: str) -> list[str]:
        """Return the code that compares texts."""
        given = self.arguments()
        shown = {name: _shown(name, value) for name, value in given.items()}
        shown |= {"exclude": _excluded(self.exclude)} if self.exclude else {}
        return compared.lines(self.compared, self.words, given, asked, shown, reason=reason)


@dataclass(frozen=True, slots=True)
class Guards:
    """What may hold the campaign back, as typed in the form's fields, by the names that the table of guards gives them.

    Example:
        >>> Guards({"budget": "USD 50", "canary": 10}).arguments()
        {'budget': {'USD': '50'}, 'canary': 10}
    """

    fields: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """How many of those to go are sent to alone, to look at them; 0 for all."""
        return int(self.fields.get("canary") or 0)

    @property
    def budget(self) -> str:
        """The most that may be spent, such as ``"USD 50"``; empty where there is no limit."""
        found = {} if "budget" in self.faults() else typed({"budget": self.fields.get("budget")}).get("budget", {})
        return " and ".join(f"{currency} {amount}" for currency, amount in found.items())

    @property
    def quiet(self) -> str:
        """The quiet hours in words; empty where there are none."""
        begins, ends = self.fields.get("quiet_from"), self.fields.get("quiet_to")
        return f"nobody is texted from {begins} to {ends} where they live" if begins and ends else ""

    @property
    def pace(self) -> str:
        """The highest speed in words; empty where there is none."""
        speed = int(self.fields.get(SPEED) or 0)
        return f"at most {counted(speed, 'message')} a second" if speed else ""

    @property
    def failures(self) -> str:
        """After how many failures it ends, in words."""
        most = int(self.fields.get("failures") or 0)
        return f"stops after {counted(most, 'failed request')} in a row" if most else ""

    def faults(self) -> dict[str, str]:
        """Say what cannot be read, by the field that holds it."""
        found = {}
        for guard in GUARDS:
            try:
                read(**typed({one.name: self.fields.get(one.name) for one in guard.fields}))
            except UsageError as error:
                found[guard.fields[0].name] = " ".join(complaints(error))
        return found

    def arguments(self, *, tried: int = 0) -> dict[str, Any]:
        """Return the keyword arguments of ``send``.

        ``tried`` is how many the campaign tried already: its argument counts them, the form asks how many of the others
        go first.

        Raises:
            UsageError: a budget without its currency, or half a span of quiet hours.
        """
        found = typed(self.fields)
        found |= {"canary": tried + self.first} if self.first else {}
        speed = int(self.fields.get(SPEED) or 0)
        return found | ({"max_per_second": speed} if speed else {})


def _excluded(names: Sequence[str]) -> str:
    """Return the people of campaigns as code."""
    if len(names) == 1:
        return f"sms.Ledger().campaign({names[0]!r}, service=client.service)"
    return f"pd.concat([sms.Ledger().campaign(name, service=client.service).reached for name in {list(names)!r}])"


def _blank(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, (str, list, dict)) and not value)


def _shown(name: str, value: Any) -> str:
    """A frame or a list given in code is named, not printed: it may hold numbers."""
    if name in ("suppress", "rates") and not isinstance(value, str):
        return name
    return f"sms.{value!r}" if isinstance(value, Policy) else repr(value)
