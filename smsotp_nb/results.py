"""The contract of the result table: its columns, dtypes and row states.

One row for every input row, in its order and on its index; after these columns stand the caller's own, named in
``plan(keep=[...])``.
"""

from __future__ import annotations

from typing import Final

import pandas as pd

STATES: Final = ("planned", "sending", "accepted", "rejected", "in_doubt", "skipped")

COLUMNS: Final[dict[str, str]] = {
    "campaign": "str",
    "service": "str",
    "to": "str",
    "region": "str",
    "type": "str",
    "status": "str",
    "problem": "str",
    "id": "str",
    "iso": "str",
    "cc": "str",
    "parts": "Int64",
    "est_parts": "Int64",
    "chunk": "Int64",
    "attempts": "Int64",
    "encoding": "str",
    "price": "float64",
    "est_cost": "float64",
    "currency": "str",
    "est_currency": "str",
    "error_code": "str",
    "error": "str",
    "request_id": "str",
    "http_status": "Int64",
    "at": "datetime64[us, UTC]",
}


def money(micros: pd.Series) -> pd.Series:
    """Return integer micro-units as float64 amounts, each the nearest double of the six-decimal value.

    Example:
        >>> money(pd.Series([7500, 38420000])).tolist()
        [0.0075, 38.42]
    """
    return (micros.astype("float64") / 1_000_000).round(6)
