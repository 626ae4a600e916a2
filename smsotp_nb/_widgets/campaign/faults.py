"""What is wrong, at the field where it is: complaints about arguments as words about fields."""

from __future__ import annotations

import re

from ...errors import UsageError
from ..stages import plain, sentence

# Which field of the form an argument stands in; any text of the message is in one.
FIELD_OF = {
    "campaign": "campaign",
    "to": "phone",
    "region": "region",
    "default_region": "default_region",
    "signature": "signature",
    "template_id": "template_id",
    "template_data": "variables",
    "template_text": "words",
    "text": "words",
    "content": "words",
    "fill": "fill",
    "suppress": "suppress",
    "exclude": "exclude",
    "rates": "rates",
    "keep": "keep",
    "budget": "budget",
    "quiet_hours": "quiet_from",
    "experiment": "held",
    "unit": "unit",
}
UNREADABLE = "ignore_unreadable_suppressions"


def by_field(error: UsageError, kind: str = "content") -> dict[str, str]:
    """Return what is wrong by the field it is wrong in; what no field holds stands under ``""``.

    ``kind`` is the kind of message: a placeholder may stand in its text or among the variables of a template.

    Example:
        >>> by_field(UsageError("to=: no column 'fone'", problems=("to=: no column 'fone'",)))
        {'phone': "The phone column: no column 'fone'."}
    """
    if UNREADABLE in str(error):
        return _unreadable(error)
    found: dict[str, str] = {}
    for words in error.problems or (str(error),):
        field = _field(words.removeprefix("nothing was sent: "), kind)
        said = _in_the_form(words.removeprefix("nothing was sent: "))
        found[field] = f"{found[field]} {said}" if field in found else said
    return found


def _field(words: str, kind: str) -> str:
    if "placeholder {" in words or words.startswith("a single '"):
        return "variables" if kind == "template" and words.startswith("no column") else "words"
    return FIELD_OF.get(words.partition(" ")[0].partition("=")[0], "")


def _in_the_form(words: str) -> str:
    """Return a complaint in the words of the form, where the ones for code would not help."""
    filled = re.match(r"fill=\{('.*?'): \.\.\.\} fills no placeholder", words)
    if filled:
        return f"The text has no {{{filled[1][1:-1]}}} to fill in."
    country = re.match(r"default_region=('.*?') is not a country", words)
    if country:
        return f"{country[1]} is not a country. Enter its two letters, such as DE or US."
    if words.startswith("budget= needs an estimate"):
        countries = words.partition(" for every recipient")[2].partition(" for ")[2].partition(". ")[0]
        return f"A limit of the cost needs a rate for every country, and {countries} has none. Add it to the rates."
    if words.startswith("signature= is not put in front of"):
        return "A whole text is sent as it stands. Choose “Text, signed” as the message, or leave the signature blank."
    return sentence(plain(words.partition(", or pass sms.Message(")[0]))


def _unreadable(error: UsageError) -> dict[str, str]:
    field = "exclude" if "of exclude= cannot" in str(error) else "suppress"
    said = plain(str(error)).split(" Correct them, or")[0]
    return {field: f"{sentence(said)} Correct them, or tick that only the others are left out."}
