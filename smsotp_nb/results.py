"""The result table: one row for every input row, in its order and on its index.

``COLUMNS`` names its columns and their dtypes; your own columns, named in ``plan(keep=[...])``, stand before the last
of them. ``DETAILS`` names the columns of `Record.details`, such as the estimate and the request of a row. `check`
converts any frame with these columns to the right dtypes; `write` and `read` preserve them in files,
and `concat` puts several below each other without a message twice.
"""

from __future__ import annotations

from ._results.contract import COLUMNS, DETAILS, Progress, check
from ._results.files import concat, read, write

__all__ = ["COLUMNS", "DETAILS", "Progress", "check", "concat", "read", "write"]


def __dir__() -> list[str]:
    return list(__all__)
