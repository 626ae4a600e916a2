"""What a campaign did cost, by any column of its result table; exact, and never across currencies.

Only accepted rows cost anything. Sums are made of integer millionths; the amounts handed out are their nearest doubles,
or exact Decimals with ``decimals=True``. `by` and its like take a result table, a ledger, or what `spending` made of
one: a year of campaigns is summed up once, and every table comes from that.
"""

from __future__ import annotations

from ._cost.learned import rates
from ._cost.overview import card
from ._cost.saving import Savings, savings
from ._cost.sums import by, by_country, compare, unpriced_rows
from ._cost.views import by_campaign, by_encoding, by_month, by_type, convert, differences, drift, outcomes, summary
from ._ledger.reconciling import reconcile
from ._ledger.summing import spending

__all__ = [
    "Savings",
    "by",
    "by_campaign",
    "by_country",
    "by_encoding",
    "by_month",
    "by_type",
    "card",
    "compare",
    "convert",
    "differences",
    "drift",
    "outcomes",
    "rates",
    "reconcile",
    "savings",
    "spending",
    "summary",
    "unpriced_rows",
]


def __dir__() -> list[str]:
    return list(__all__)
