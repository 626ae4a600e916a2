"""What the sandbox does where the interface is silent, as far as it can be switched; docs/sandbox.md has all of it.

Below are the numbers that make it answer in a special way, from any client. All lie in +1 907 555 01xx, which is
reserved for fiction; nobody can be reached there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Final

from .. import _wire as wire
from .._calling import not_a, not_whole, refuse

HIGHEST_COUNT: Final = 1_000_000  # far above any test's number of attempts or sends


@dataclass(frozen=True, slots=True)
class Rules:
    """What of the sandbox's choices can be switched.

    Args:
        attempts: wrong codes after which a passcode is void.
        sends: passcodes to one number within ten minutes; None for as many as wanted.
        templates: templates of your own beside the sandbox's, as a mapping of ids to texts or the path of a JSON file.

    Raises:
        UsageError: a value is out of range or of the wrong type.

    Example:
        >>> Rules(attempts=3).sends is None
        True
    """

    attempts: int = 5
    sends: int | None = None
    templates: Mapping[str, str] | str | Path | None = None

    def __post_init__(self) -> None:
        wanted = "a mapping of ids to texts, or the path of a JSON file"
        refuse(
            not_whole("attempts", self.attempts, most=HIGHEST_COUNT),
            not_whole("sends", self.sends, most=HIGHEST_COUNT, none=True),
            not_a("templates", self.templates, (Mapping, str, Path, NoneType), wanted=wanted),
        )


PREFIX: Final = "+190755501"


@dataclass(frozen=True, slots=True)
class SpecialNumber:
    """One special number: ``effect`` names what its reply does, ``code`` is the error it causes (else empty).

    Example:
        >>> SPECIAL["+19075550110"].code
        '105400'
    """

    number: str
    effect: str
    meaning: str
    code: str = ""


def _refusing_numbers() -> Iterable[SpecialNumber]:
    for ending, (code, names) in enumerate(wire.ERROR_NAMES.items(), start=10):
        yield SpecialNumber(f"{PREFIX}{ending}", "refused", f"{code} {names[0]}, nothing is sent", code)


SPECIAL_NUMBERS: Final = (
    SpecialNumber(f"{PREFIX}01", "iso", "iso CA: another country than the number's"),
    SpecialNumber(f"{PREFIX}02", "parts", "one part more than the text needs, and billed so"),
    SpecialNumber(f"{PREFIX}03", "recipients", "recipients one higher than the records"),
    SpecialNumber(f"{PREFIX}04", "messageCount", "messageCount one higher than the sum of the parts"),
    SpecialNumber(f"{PREFIX}05", "totalAmount", "totalAmount 0.010000 higher than the sum of the prices"),
    SpecialNumber(f"{PREFIX}06", "plus", "to without its plus in the record"),
    *_refusing_numbers(),
)
SPECIAL: Final[Mapping[str, SpecialNumber]] = {special.number: special for special in SPECIAL_NUMBERS}


def effect_of(number: str) -> str:
    """Return what a number does to its reply, or an empty text."""
    special = SPECIAL.get(number)
    return "" if special is None else special.effect


def effects_of(numbers: Iterable[str]) -> frozenset[str]:
    return frozenset(SPECIAL[number].effect for number in numbers if number in SPECIAL)


def error_code_of(numbers: Iterable[str]) -> str:
    """Return the error code that the first refusing number causes, or an empty text."""
    for number in numbers:
        if number in SPECIAL and SPECIAL[number].code:
            return SPECIAL[number].code
    return ""
