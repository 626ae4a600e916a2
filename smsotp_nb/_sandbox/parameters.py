"""Reading the parameters of an address, such as ``?to=%2B12025550123&wait=5``, into a value or a clear refusal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

from ..errors import UsageError

LONGEST_WAIT: Final = 60.0
LARGEST: Final = 10**15 - 1  # of a whole number

Readers = Mapping[str, Callable[[str], Any]]


def read(query: Mapping[str, str], readers: Readers) -> dict[str, Any]:
    """Return the values of a query by name; a parameter without a value counts as left out.

    Raises:
        UsageError: a parameter is unknown or has a value that cannot be used.
    """
    unknown = sorted(set(query) - set(readers))
    if unknown:
        raise UsageError(f"unknown parameter {', '.join(unknown)}; known are {', '.join(readers)}")
    try:
        return {name: readers[name](value) for name, value in query.items() if value != ""}
    except (ValueError, KeyError) as error:
        raise UsageError(f"a parameter has a value that cannot be used: {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The part of a list that is asked for; fields that are left out do not narrow it.

    ``to`` is a number, ``text`` a piece of what was sent. ``after`` and ``before`` are numbers in the list, ``limit``
    is the largest number of entries, ``newest`` reverses the order, and ``wait`` is in seconds, for the first entry.
    """

    READERS: ClassVar[Readers] = {}

    to: str | None = None
    text: str | None = None
    after: int = 0
    before: int | None = None
    limit: int | None = None
    newest: bool = False
    wait: float = 0.0

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Self:
        """Read it from the parameters of an address."""
        return cls(**read(query, {**OF_SECTION, **cls.READERS}))


def once(query: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of an address by name.

    Raises:
        UsageError: one occurs twice.
    """
    found = dict(query.items())
    if len(found) != len(query):
        raise UsageError("a parameter appears twice in the address")
    return found


def flag(text: str) -> bool:
    return {"1": True, "true": True, "0": False, "false": False}[text]


def whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST))):
        raise ValueError(f"a whole number was expected, got {text!r}")
    return int(text)


def integer(value: Any) -> int | None:
    """Return a JSON value as an integer, or None; 5.0 counts as an integer, as in JSON Schema."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if isinstance(value, int) or value.is_integer() else None


def json_number(text: str) -> int | float:
    """Read a JSON number with a point or an exponent; 5.0 becomes an integer."""
    value = float(text)
    return int(value) if value.is_integer() else value


def one_of(*known: str) -> Callable[[str], str]:

    def reader(text: str) -> str:
        if text not in known:
            raise ValueError(f"one of {', '.join(known)} was expected, got {text!r}")
        return text

    return reader


def number(text: str) -> str:
    """Read a phone number whose plus was left out, or was not escaped and so arrives as a blank."""
    return f"+{text.strip().removeprefix('+')}" if text.strip() else ""


def wait(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= LONGEST_WAIT:
        raise ValueError(f"wait must be from 0 to {LONGEST_WAIT:g} seconds")
    return seconds


OF_SECTION: Final[dict[str, Callable[[str], Any]]] = {
    "to": number,
    "text": str,
    "after": whole,
    "before": whole,
    "limit": whole,
    "newest": flag,
    "wait": wait,
}
