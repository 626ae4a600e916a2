"""Numbers, amounts and shares as people read them, and text made safe to show."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

from .._amounts import CONTEXT, exact, half_up
from .._showing import masked, visible

MISSING: Final = "–"
MOST: Final = 20_000  # characters of one text; what others wrote may have any number


def told(text: str, *, keep: str = "") -> str:
    """Return a text as a card tells it: what moves a cursor as numbers, and of a very long text the beginning."""
    return visible(beginning(text), keep=keep)


def beginning(text: str) -> str:
    """Return a text, or of a very long one the beginning, and how long it is."""
    return text if len(text) <= MOST else f"{text[:MOST]}… ({len(text):,} characters)"


def number(value: float | Decimal | None) -> str:
    """Return a number with thousands separated, a missing one as a dash."""
    return MISSING if _is_missing(value) else f"{value:,}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return how many there are of something, in the right number.

    Example:
        >>> counted(1, "row"), counted(1984, "row"), counted(2, "country", "countries")
        ('1 row', '1,984 rows', '2 countries')
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def and_more(left: int, where: str) -> str:
    """Return that a table goes on, and where all of it is; empty where nothing is left."""
    return f"and {left:,} more (all of them in {where})" if left > 0 else ""


def money(value: float | Decimal | None, currency: str | None = "", *, places: int | None = None) -> str:
    """Return an amount with its currency before it, exact: with two decimal places, or four or six where it has more.

    With fewer ``places`` it is rounded half up, from the shortest decimal that stands for it, as in messages.

    Example:
        >>> money(38.42, "USD"), money(0.0075, "USD"), money(1234.5, "EUR"), money(None, "USD")
        ('USD 38.42', 'USD 0.0075', 'EUR 1,234.50', '–')
    """
    if value is None or _is_missing(value):
        return MISSING
    shown = f"{half_up(value, places_of([value]) if places is None else places):,f}"
    return f"{visible(str(currency))} {shown}" if currency else shown


def about(value: float | Decimal | None, currency: str | None = "") -> str:
    """Return an amount at a glance: two decimal places from 1 on, exact below.

    Example:
        >>> about(9.334, "USD"), about(0.0225, "USD"), about(1234.5678, "EUR")
        ('USD 9.33', 'USD 0.0225', 'EUR 1,234.57')
    """
    if value is None or _is_missing(value):
        return MISSING
    return money(value, currency, places=2 if abs(float(value)) >= 1 else None)


def places_of(values: Iterable[float | Decimal | None]) -> int:
    """Return how many decimal places these amounts need to stand in one column exactly: 2, 4 or 6.

    Never three: 2.250 is two thousand and more where the point separates thousands.

    Example:
        >>> places_of([38.42, 9.6]), places_of([0.0075, 21.0]), places_of([2.25, 0.125])
        (2, 4, 4)
    """
    texts = [f"{half_up(value, 6):f}" for value in values if value is not None and not _is_missing(value)]
    needed = max([2, *(len(text.split(".")[1].rstrip("0")) for text in texts)])
    return needed + needed % 2


def places_by(currencies: Iterable[object], values: Iterable[float | Decimal | None]) -> dict[object, int]:
    """Return how many decimal places the amounts of each currency need to stand in one column exactly."""
    places: dict[object, int] = {}
    for currency, value in zip(currencies, values, strict=True):
        places[currency] = max(places.get(currency, 2), places_of([value]))
    return places


def share(value: float | None) -> str:
    """Return a fraction as whole percent, a small one as "<1%".

    Example:
        >>> share(0.334), share(0.002), share(None)
        ('33%', '<1%', '–')
    """
    if value is None or _is_missing(value):
        return MISSING
    return "<1%" if 0 < value < 0.005 else f"{half_up(exact(value).scaleb(2, CONTEXT), 0):f}%"


def shares(values: Sequence[float | None]) -> list[str]:
    """Return fractions of a whole as percents that add up to what they come to together: the largest rests round up.

    Example:
        >>> shares([1 / 3, 1 / 3, 1 / 3]), shares([0.996, 0.004])
        (['34%', '33%', '33%'], ['100%', '<1%'])
    """
    known = {at: 100 * value for at, value in enumerate(values) if value is not None and not _is_missing(value)}
    whole = {at: math.floor(value) for at, value in known.items()}
    left = round(math.fsum(known.values())) - sum(whole.values())
    for at in sorted(known, key=lambda at: whole[at] - known[at])[:left]:
        whole[at] += 1
    tiny = {at for at, value in known.items() if value > 0 and not whole[at]}
    return ["<1%" if at in tiny else f"{whole[at]}%" if at in known else MISSING for at in range(len(values))]


def plain_value(cell: str | float | Decimal | None) -> str:
    """Return a plain cell in words: text with its phone numbers masked, numbers with thousands separated."""
    return masked(cell) if isinstance(cell, str) else number(cell)


def width(text: str) -> int:
    """Return how many terminal columns a text takes: East Asian wide characters two, combining marks none."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _is_missing(value: object) -> bool:
    return value is None or type(value).__name__ in {"NAType", "NaTType"} or value != value
