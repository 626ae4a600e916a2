"""The result table: one row for every input row, in its order and on its index.

``COLUMNS`` names its columns and their dtypes; after them stand the caller's own, named in ``plan(keep=[...])``.
`check` turns any frame with these columns into the contract's dtypes, `write` and `read` keep them over files.
"""

from __future__ import annotations

from ._results.cells import neutral
from ._results.contract import COLUMNS, STATES, Progress, check, micros, money
from ._results.files import read, write, write_book, write_text
from ._results.streaming import Growing, growing

__all__ = [
    "COLUMNS",
    "STATES",
    "Growing",
    "Progress",
    "check",
    "growing",
    "micros",
    "money",
    "neutral",
    "read",
    "write",
    "write_book",
    "write_text",
]


def __dir__() -> list[str]:
    return list(__all__)
