"""The result table: one row for every input row, in its order and on its index.

``COLUMNS`` names its columns and their dtypes; after them stand the caller's own, named in ``plan(keep=[...])``.
`check` turns any frame with these columns into the contract's dtypes, `write` and `read` keep them over files.
"""

from __future__ import annotations

from ._results.contract import COLUMNS, STATES, Progress, check
from ._results.files import read, write

__all__ = ["COLUMNS", "STATES", "Progress", "check", "read", "write"]


def __dir__() -> list[str]:
    return list(__all__)
