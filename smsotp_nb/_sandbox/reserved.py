"""Numbers that make the sandbox answer in a special way, from any client: one table.

All lie in +1 907 555 01xx, which is reserved for fiction. Nobody can be reached there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .. import _wire as wire

PREFIX = "+190755501"


@dataclass(frozen=True, slots=True)
class Reserved:
    """One special number: ``effect`` names what its reply does, ``code`` is the error it causes (else empty).

    Example:
        >>> BY_NUMBER["+19075550110"].code
        '105400'
    """

    number: str
    effect: str
    meaning: str
    code: str = ""


def _refusals() -> Iterable[Reserved]:
    for place, (code, names) in enumerate(wire.ERROR_NAMES.items()):
        yield Reserved(f"{PREFIX}{10 + place}", "refused", f"{code} {names[0]}, nothing is sent", code)


NUMBERS: tuple[Reserved, ...] = (
    Reserved(f"{PREFIX}01", "iso", "iso CA: another country than the number's"),
    Reserved(f"{PREFIX}02", "parts", "one part more than the text needs, and billed so"),
    Reserved(f"{PREFIX}03", "recipients", "recipients one higher than the records"),
    Reserved(f"{PREFIX}04", "messageCount", "messageCount one higher than the sum of the parts"),
    Reserved(f"{PREFIX}05", "totalAmount", "totalAmount 0.010000 higher than the sum of the prices"),
    Reserved(f"{PREFIX}06", "plus", "to without its plus in the record"),
    *_refusals(),
    Reserved(f"{PREFIX}40", "receipt failed", "with receipts (an extension): the receipt says failed"),
    Reserved(f"{PREFIX}41", "no receipt", "with receipts (an extension): no receipt ever comes"),
    Reserved(f"{PREFIX}42", "receipt twice", "with receipts (an extension): the receipt comes twice"),
)
BY_NUMBER: Mapping[str, Reserved] = {row.number: row for row in NUMBERS}


def effects(numbers: Iterable[str]) -> frozenset[str]:
    """Return the effects of the special numbers among these."""
    return frozenset(BY_NUMBER[number].effect for number in numbers if number in BY_NUMBER)


def refusal(numbers: Iterable[str]) -> str:
    """Return the error code that the first refusing number among these causes, or ``""``."""
    return next((BY_NUMBER[number].code for number in numbers if number in BY_NUMBER and BY_NUMBER[number].code), "")


def as_table() -> str:
    """Return the special numbers as a Markdown table, as docs/sandbox.md holds it."""
    rows = ["| number | what the sandbox answers |", "|---|---|"]
    return "\n".join(rows + [f"| `{row.number}` | {row.meaning} |" for row in NUMBERS])
