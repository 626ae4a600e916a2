"""What a campaign cost, by any column of its result table: exact, and never across currencies.

Only accepted rows cost anything. Sums are computed in integer millionths; amounts are returned as the nearest doubles,
or as exact Decimals with ``decimals=True``. `by` and similar functions take a result table, a ledger, or the `spending`
of a ledger: sum up a year of campaigns once, and make every table from that.
"""

from __future__ import annotations

from ._cost.anomalies import Anomalies, anomalies
from ._cost.bridge import Bridge, bridge, movers
from ._cost.budget import Budget, budget
from ._cost.exchange import convert
from ._cost.forecasting import Forecast, forecast
from ._cost.invoice import Reconciled, reconcile_invoice
from ._cost.saving import Savings, savings
from ._cost.sums import by, by_country, compare, spending, unpriced_rows
from ._cost.views import by_campaign, by_encoding, by_month, by_type, card, differences, drift, outcomes, rates, summary
from ._cost.words import BilledWords, words
from ._ledger import reconcile

__all__ = [
    "Anomalies",
    "BilledWords",
    "Bridge",
    "Budget",
    "Forecast",
    "Reconciled",
    "Savings",
    "anomalies",
    "bridge",
    "budget",
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
    "forecast",
    "movers",
    "outcomes",
    "rates",
    "reconcile",
    "reconcile_invoice",
    "savings",
    "spending",
    "summary",
    "unpriced_rows",
    "words",
]


def __dir__() -> list[str]:
    return list(__all__)
