"""The switches of what the sandbox does where the interface is silent, which docs/sandbox.md has as a table.

Below them the numbers that make it answer in a special way, from any client. All lie in +1 907 555 01xx, which is
reserved for fiction; nobody can be reached there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Final

from .. import _wire as wire
from .._calling import made_in_our_words, not_a, not_whole, refuse
from .._showing import is_whole
from ..settings import Secret

MOST: Final = 1_000_000  # of what is counted


@made_in_our_words
@dataclass(frozen=True, slots=True)
class Rules:
    """What of the sandbox's choices can be switched; docs/sandbox.md has all of them.

    The secret is sealed: neither a repr nor ``asdict`` nor a pickle hands it out.

    Example:
        >>> Rules(attempts=3).sends is None
        True
    """

    attempts: int = 5
    sends: int | None = None
    templates: Mapping[str, str] | str | Path | None = None
    secret: str | Secret | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "secret", Secret.of(self.secret))
        wanted = "a mapping of ids to texts, or the path of a JSON file"
        refuse(
            not_whole("attempts", self.attempts, most=MOST),
            not_whole("sends", self.sends, most=MOST, none=True),
            not_a("templates", self.templates, (Mapping, str, Path, NoneType), wanted=wanted),
            None if self.secret is None else _not_secret(self._revealed()),
        )

    def _revealed(self) -> str | None:
        """Return the secret in the clear, for what checks signatures with it; None in the mode without."""
        return self.secret.reveal() if isinstance(self.secret, Secret) else None


def _not_secret(value: object) -> str | None:
    """Complain of what cannot sign, by its kind alone."""
    if not isinstance(value, str):
        return f"secret= must be text, got a value of the kind {type(value).__name__}"
    if not is_whole(value):
        return "secret= holds half a character; retype it"
    return None if value.strip() else "secret= must not be empty; leave it out for the mode without signatures"


PREFIX = "+190755501"


@dataclass(frozen=True, slots=True)
class Reserved:
    """One special number: ``effect`` names what its reply does, ``code`` is the error it causes (else empty).

    Example:
        >>> RESERVED["+19075550110"].code
        '105400'
    """

    number: str
    effect: str
    meaning: str
    code: str = ""


NUMBERS: tuple[Reserved, ...] = (
    Reserved(f"{PREFIX}01", "iso", "iso CA: another country than the number's"),
    Reserved(f"{PREFIX}02", "parts", "one part more than the text needs, and billed so"),
    Reserved(f"{PREFIX}03", "recipients", "recipients one higher than the records"),
    Reserved(f"{PREFIX}04", "messageCount", "messageCount one higher than the sum of the parts"),
    Reserved(f"{PREFIX}05", "totalAmount", "totalAmount 0.010000 higher than the sum of the prices"),
    Reserved(f"{PREFIX}06", "plus", "to without its plus in the record"),
    *(
        Reserved(f"{PREFIX}{place}", "refused", f"{code} {names[0]}, nothing is sent", code)
        for place, (code, names) in enumerate(wire.ERROR_NAMES.items(), start=10)
    ),
)
RESERVED: Mapping[str, Reserved] = {row.number: row for row in NUMBERS}


def effects(numbers: Iterable[str]) -> frozenset[str]:
    return frozenset(RESERVED[number].effect for number in numbers if number in RESERVED)


def refusal(numbers: Iterable[str]) -> str:
    """Return the error code that the first refusing number among these causes, or ``""``."""
    return next((RESERVED[number].code for number in numbers if number in RESERVED and RESERVED[number].code), "")
