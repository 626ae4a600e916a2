"""Pictures of costs: cards of bars that need no script, no network and no trust, and a report in one file.

The frames of `cost` plot with pandas' own ``.plot`` too, for those who want matplotlib or another backend.
"""

from __future__ import annotations

from ._charts.drawing import bars
from ._charts.reporting import by_country, by_encoding, by_month, report

__all__ = ["bars", "by_country", "by_encoding", "by_month", "report"]


def __dir__() -> list[str]:
    return list(__all__)
