"""What an extra outcome cost: Fieller's set, never a point and never a negative price."""

from __future__ import annotations

import math
from typing import NamedTuple


class Price(NamedTuple):
    """From and to, in the currency of the cost; ``high`` is infinite where there is no upper limit.

    Both are NaN where no positive price fits: the interval of the effect lies below nothing.
    """

    low: float
    high: float


NO_PRICE = Price(math.nan, math.nan)


def per_extra(cost: float, low: float, high: float) -> Price:
    """Return the prices that an exact cost and the interval of the extra outcomes leave possible.

    Fieller (1954) keeps every ratio that the data do not contradict: a price is kept when ``cost / price`` lies within
    the interval of the extra outcomes. What was billed is known exactly, so that only the outcomes vary.

    Args:
        cost: what was billed for the arm.
        low: lower limit of the extra outcomes.
        high: their upper limit.

    Example:
        >>> per_extra(300.0, 20.0, 100.0)
        Price(low=3.0, high=15.0)
        >>> per_extra(300.0, -20.0, 100.0)
        Price(low=3.0, high=inf)
    """
    if not high > 0 or not cost > 0:
        return NO_PRICE
    return Price(cost / high, cost / low if low > 0 else math.inf)
