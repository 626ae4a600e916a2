"""Exact decimal arithmetic for money: one context of the package's own, and one way to round.

A notebook may set ``decimal.getcontext().prec = 4`` for something of its own: nothing here reads the caller's context.
"""

from __future__ import annotations

import numbers
from decimal import ROUND_HALF_UP, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from typing import Final

# 400 digits hold every double with its places; half up is what people check with a calculator.
CONTEXT: Final = Context(
    prec=400, rounding=ROUND_HALF_UP, Emin=-999_999, Emax=999_999, traps=[InvalidOperation, DivisionByZero, Overflow]
)


def exact(value: float | str | Decimal) -> Decimal:
    """Return a number as the shortest decimal that stands for it: 0.1, not the binary fraction nearest to it.

    Raises:
        decimal.InvalidOperation: it is no number.

    Example:
        >>> exact(1.425), exact("2.50")
        (Decimal('1.425'), Decimal('2.50'))
    """
    if isinstance(value, Decimal):
        return value
    if isinstance(value, numbers.Integral):
        return Decimal(int(value))
    if isinstance(value, str):
        return Decimal(value, CONTEXT)
    return Decimal(repr(float(value)), CONTEXT)


def half_up(value: float | str | Decimal, places: int) -> Decimal:
    """Return a number rounded to so many decimal places, a half away from zero.

    Example:
        >>> half_up(1.125, 2), half_up(2.925, 2), half_up("-0.5", 0)
        (Decimal('1.13'), Decimal('2.93'), Decimal('-1'))
    """
    return exact(value).quantize(Decimal(1).scaleb(-places, CONTEXT), ROUND_HALF_UP, CONTEXT)


def amount(micros: int) -> Decimal:
    """Return millionths as an exact Decimal with six places.

    Example:
        >>> amount(38_420_000)
        Decimal('38.420000')
    """
    return Decimal(micros).scaleb(-6, CONTEXT)
