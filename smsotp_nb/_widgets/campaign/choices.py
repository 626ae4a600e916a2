"""What a person chose in the campaign form: as arguments, as code, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal

from ..._cards import counted
from ..._dispatch.guards import Limits, typed
from ..._guards import GUARDS
from ..._planning import Message, Template
from ..._policy import Policy
from ..._values import Slot, depends_on_language, is_language, no_currency, slot
from ..._wire import RequestOptions, Variant
from ...errors import SmsOtpError, UsageError
from ...phones import NumberOptions
from ..lists import NONE_CHOSEN
from ..stages import FIELDS, complaints, in_the_form

_BRACES: Final = re.compile(r"\{([^{}]+)\}")
SPEED = "speed"  # the field of what is no guard
Kind = Literal["content", "text", "template"]


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The message, the columns and the files of one campaign; blanks are what was not chosen.

    ``second`` is the column of numbers for rows in which ``to`` has none; ``texted_by`` names campaigns, whose people
    `arguments` does not know.
    """

    campaign: str = ""
    to: Hashable = NONE_CHOSEN
    second: Hashable = NONE_CHOSEN
    region: Hashable = NONE_CHOSEN
    default_region: str = ""
    kind: Kind = "content"
    words: str = ""
    template_id: str = ""
    variables: tuple[str, ...] = ()
    currency: str = ""
    language: str = ""
    signature: str = ""
    exclude: Any = None
    readable_only: bool = False
    record_exclude: bool = False
    texted_by: tuple[str, ...] = ()
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
        """Return the arguments of ``plan`` by their names, without those that were left blank."""
        given = {
            "message": self.message(),
            "campaign": self.campaign,
            "to": self.to if self.second == NONE_CHOSEN else [self.to, self.second],
            "region": self.region,
            "default_region": self.default_region,
            "signature": self.signature,
            "exclude": self.exclude,
            "keep": list(self.keep),
            "rates": self.rates,
            "policy": self.policy,
            "numbers": NumberOptions(unreadable="ignore") if self.readable_only else None,
            "requests": None if self.variant == "intl" else RequestOptions(variant=self.variant),
        }
        always = ("message", "campaign", "to")
        return {name: value for name, value in given.items() if name in always or not _blank(value)}

    def message(self) -> str | Message | Template:
        """Return what ``plan`` takes for the words; a whole text beside a signature says that it travels as text."""
        # What is no currency or language is told at its field; the lines of code are shown before it is.
        manner: dict[str, Any] = {
            "language": self.language if self.dated and is_language(self.language) else None,
            "currency": self.currency if self.priced and no_currency(self.currency) is None else None,
        }
        if self.kind == "template":
            return Template(self.template_id, list(self.variables), preview=self.words or None, **manner)
        field = None if self.kind == ("content" if self.signature else "text") else self.kind
        message = Message(self.words, field=field, **manner)
        return self.words if message == Message(self.words) else message

    @property
    def priced(self) -> bool:
        """Whether a placeholder is an amount of money, whose currency has to be known."""
        return any(one.format == "money" for one in self._slots())

    @property
    def dated(self) -> bool:
        """Whether a placeholder is written differently in another language, such as a date or an amount."""
        return any(depends_on_language(one) for one in self._slots())

    def _slots(self) -> list[Slot]:
        """Return the placeholders as far as they are typed."""
        typed = _BRACES.findall(self.words)
        return [slot(one) for one in (self.variables if self.kind == "template" else typed)]

    def missing(self) -> dict[str, str]:
        """Say what is still to be filled in or cannot be read, in the form's own words, by the field."""
        blanks = (
            ("campaign", self.campaign, "Enter a campaign name, such as autumn-sale."),
            ("phone", self.to, "Choose the column of the phone numbers."),
            ("template_id", self.template_id or self.kind != "template", "Enter the template ID."),
            ("words", self.words or self.kind == "template", "Write the text."),
            ("language", not self.dated or not self.language or is_language(self.language), "Enter a language such as "
             "de or pt-BR, or leave it blank for English."),
        )  # fmt: skip
        return {name: words for name, filled, words in blanks if filled == NONE_CHOSEN or filled is False}

    def lines(
        self,
        guards: Guards | None = None,
        *,
        tried: int = 0,
        first: Sequence[str] = (),
        before: Sequence[str] = (),
    ) -> str:
        """Return the code that plans and sends the same; ``first`` are lines above it, ``before`` lines between both.

        ``tried`` is how many the campaign tried already, see `Guards.limits`.
        """
        message, *others = self._code().items()
        shown = [f"    {name}={code}," for name, code in others]
        made = ["plan = sms.plan(\n    people,", f"    {message[1]},", *shown, ")"]
        limits = (guards or Guards()).limits(tried=tried)
        limited = "" if limits == Limits() else f", limits=sms.{limits!r}"
        return "\n".join([*first, *made, *before, f"results = sms.send(plan, client{limited})"])

    def _code(self) -> dict[str, str]:
        code = {name: _shown(name, value) for name, value in self.arguments().items()}
        if self.texted_by:
            records = [f"sms.record({name!r}, client)" for name in self.texted_by]
            everything = [_in_a_list(self.exclude), *records] if "exclude" in code else records
            code["exclude"] = everything[0] if len(everything) == 1 else f"[{', '.join(everything)}]"
        return code


@dataclass(frozen=True, slots=True)
class Guards:
    """What may hold the campaign back, as typed, by the names that the table of guards gives the fields."""

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

    def conditions(self) -> list[str]:
        """Say when nobody is texted, how fast it goes, and after what it stops."""
        begins, ends = self.fields.get("quiet_from"), self.fields.get("quiet_to")
        said = [f"nobody is texted from {begins} to {ends} where they live"] if begins and ends else []
        if speed := int(self.fields.get(SPEED) or 0):
            said.append(f"at most {counted(speed, 'message')} a second")
        if most := int(self.fields.get("failures") or 0):
            said.append(f"stops after {counted(most, 'failed request')} in a row")
        return said

    def faults(self) -> dict[str, str]:
        """Say what cannot be read, by the field that holds it."""
        found = {}
        for guard in GUARDS:
            try:
                Limits(**typed({one.name: self.fields.get(one.name) for one in guard.fields}))
            except UsageError as error:
                found[guard.fields[0].name] = " ".join(complaints(error))
        return found

    def limits(self, *, tried: int = 0) -> Limits:
        """Return the limits of ``send``, whose ``first`` counts those ``tried`` already, too."""
        found = typed(self.fields) | ({"first": tried + self.first} if self.first else {})
        return Limits(**found, per_second=int(self.fields.get(SPEED) or 0) or None)


def _blank(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, (str, list, dict)) and not value)


def _shown(name: str, value: Any) -> str:
    """A frame or a list given in code is named, not printed: it may hold numbers."""
    if name in ("exclude", "rates") and not isinstance(value, str):
        return name
    return (
        f"sms.{value!r}"
        if isinstance(value, Message | Policy | NumberOptions | Template | RequestOptions)
        else repr(value)
    )


def _in_a_list(exclude: Any) -> str:
    """Whom to leave out as code, where campaigns stand beside: a path is read, as text in a list is a number."""
    if isinstance(exclude, str):
        return f"sms.read_recipients({exclude!r})"
    return "*exclude" if isinstance(exclude, list) else "exclude"


# The fields of arguments that are called otherwise; any text of the message is in one.
FIELD_OF = {
    "to": "phone",
    "values": "variables",
    "preview": "words",
    "message": "words",
    "id": "template_id",
    "quiet_hours": "quiet_from",
}
UNREADABLE = "unreadable='ignore'"
TICK = "tick under “More options” that only the others are left out"


def by_field(error: SmsOtpError, kind: str = "content") -> dict[str, str]:
    """Return what is wrong by the field it is wrong in; what no field holds stands under ``""``.

    ``kind`` is the kind of message: a placeholder may stand in its text or among the variables of a template.
    """
    if UNREADABLE in str(error):
        return _unreadable(error)
    found: dict[str, str] = {}
    for words in error.problems if isinstance(error, UsageError) else (str(error),):
        field = _field(words.removeprefix("nothing was sent: "), kind)
        said = _in_the_form(words.removeprefix("nothing was sent: "))
        found[field] = f"{found[field]} {said}" if field in found else said
    return found


def _field(words: str, kind: str) -> str:
    if "placeholder {" in words or words.startswith(("a single '", "{", "column ")):
        return "variables" if kind == "template" and words.startswith("no column") else "words"
    argument = words.partition(" ")[0].partition("=")[0]
    return FIELD_OF.get(argument, argument if argument in FIELDS else "")


def _in_the_form(words: str) -> str:
    """Return a complaint in the words of the form, with the form's way out where it has one of its own."""
    country = re.match(r"default_region=('.*?') is not a country", words)
    if country:
        return f"{country[1]} is not a country. Enter its two letters, such as DE or US."
    if words.startswith("budget= needs an estimate"):
        countries = words.partition(" for every recipient")[2].partition(" for ")[2].partition(". ")[0]
        return f"A limit of the cost needs a rate for every country, and {countries} has none. Add it to the rates."
    if words.startswith("signature= is not put in front of"):
        return (
            "A whole text goes without a signature. Choose “Text, signed” as the message, or leave the signature blank."
        )
    return in_the_form(words)


def _unreadable(error: SmsOtpError) -> dict[str, str]:
    said = in_the_form(str(error)).removesuffix(" Correct them.")
    found = {"exclude": f"{said} Correct them, or {TICK}."}
    no_country = {"default_region": "Numbers of the suppression list without a country may be of this one."}
    return found | (no_country if "REGION_MISSING" in str(error) else {})
