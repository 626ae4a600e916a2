"""The result table: one row for every input row, in its order and on its index.

``COLUMNS`` names its columns and their dtypes; your own columns, named in ``plan(keep=[...])``, follow. `check`
converts any frame with these columns to the right dtypes; `write` and `read` preserve them in files.
"""

from __future__ import annotations

from ._frames import like
from ._results.contract import COLUMNS, STATES, Progress, check
from ._results.files import read, write
from ._results.publishing import publishable

__all__ = ["COLUMNS", "STATES", "Progress", "check", "like", "publishable", "read", "write"]


def __dir__() -> list[str]:
    return list(__all__)
