"""Cards of bars that need no script, no network and no trusted notebook, and cost reports in one file.

The tables of `cost` also work with pandas' own ``.plot``, for matplotlib or another backend.
"""

from __future__ import annotations

from ._charts.drawing import bars
from ._charts.reporting import by_country, by_month, report

__all__ = ["bars", "by_country", "by_month", "report"]


def __dir__() -> list[str]:
    return list(__all__)
