"""Money as the interface spells it, in millionths of the currency unit."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Any

from .interface import is_int

_AMOUNT = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,12}))?")
LONGEST_AMOUNT = 25  # characters


def micros(value: Any) -> int | None:
    """Return a money amount in millionths, or None where it is missing, negative or not exact to six places.

    Example:
        >>> micros("0.007500"), micros("1"), micros("NaN"), micros("0.0000001")
        (7500, 1000000, None, None)
    """
    if isinstance(value, Decimal) or (is_int(value) and abs(value) < 10**12):
        value = str(value)
    return _micros(value) if isinstance(value, str) and len(value) <= LONGEST_AMOUNT else None


@lru_cache(10_000)  # a tariff has few prices, a campaign many messages
def _micros(text: str) -> int | None:
    found = _AMOUNT.fullmatch(text)
    if not found:
        return None
    places = (found[2] or "").ljust(6, "0")
    return None if places[6:].strip("0") else int(found[1] + places[:6])


def amount(value: int) -> Decimal:
    """Return millionths as an exact Decimal with six places.

    Example:
        >>> amount(38420000)
        Decimal('38.420000')
    """
    return Decimal(value).scaleb(-6).quantize(Decimal("0.000001"))
