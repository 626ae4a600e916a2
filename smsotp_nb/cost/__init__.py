"""What a campaign did cost, by any column of its result table; exact, and never across currencies.

Only accepted rows cost anything. Sums are made of integer millionths; the amounts handed out are their nearest doubles,
or exact Decimals with ``decimals=True``.
"""

from __future__ import annotations

from .overview import card
from .sums import by, by_country, compare, unpriced_rows

__all__ = ["by", "by_country", "card", "compare", "unpriced_rows"]
