"""What a campaign cost, by any column of its result table: exact, and never across currencies.

Only accepted rows cost anything. Sums are computed in integer millionths; amounts are returned as the nearest doubles,
or as exact Decimals with ``decimals=True``. `by` and similar functions take a result table, a ledger, a Record, or the
`spending` of a ledger: sum up a year of campaigns once, and make every table from that.

- ``rows``: results, ledgers and sums as spending rows, with a table of their columns; ``sums``: rows added up
- ``comparison``: billed beside estimated, one time beside another, rates learned
- ``month_end``: the month and its budget; ``saving``: characters of a plan; ``exchange``: one currency
- ``invoice``: a provider's invoice; ``card``: what a notebook shows
"""

from __future__ import annotations

from .card import card
from .comparison import change, compare, differences, outcomes, rates
from .exchange import convert
from .invoice import Reconciliation, reconcile_invoice
from .month_end import month_end
from .saving import savings
from .sums import by, by_country, by_month, spending, summary, unpriced_rows

__all__ = [
    "Reconciliation",
    "by",
    "by_country",
    "by_month",
    "card",
    "change",
    "compare",
    "convert",
    "differences",
    "month_end",
    "outcomes",
    "rates",
    "reconcile_invoice",
    "savings",
    "spending",
    "summary",
    "unpriced_rows",
]


def __dir__() -> list[str]:
    return list(__all__)
