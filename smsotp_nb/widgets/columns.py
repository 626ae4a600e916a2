"""Which columns of a list hold the numbers and the countries: a guess that a person can change."""

from __future__ import annotations

import pandas as pd

from .. import phones
from ..phones import regions

SAMPLE = 200
GOOD_SHARE = 0.5


def phone_column(frame: pd.DataFrame, default_region: str | None = None) -> str | None:
    """Return the column whose first rows read best as phone numbers, or None.

    Example:
        >>> phone_column(pd.DataFrame({"id": ["7", "8"], "mobile": ["+1 202 555 0123", "(415) 555-0100"]}))
        'mobile'
    """
    head = frame.head(SAMPLE)
    found = {
        str(name): int(phones.normalize(head[name], default_region=default_region)["to"].notna().sum())
        for name in _plain_columns(frame)
    }
    best = max(found, key=lambda name: found[name], default=None)
    return best if best is not None and found[best] else None


def country_column(frame: pd.DataFrame, phone: str | None = None) -> str | None:
    """Return the column whose first rows read as countries, or None.

    Example:
        >>> country_column(pd.DataFrame({"city": ["Bonn", "Lyon"], "land": ["Germany", "FR"]}))
        'land'
    """
    head = frame.head(SAMPLE)
    found = {str(name): _readable(head[name]) for name in _plain_columns(frame) if name != phone}
    best = max(found, key=lambda name: found[name], default=None)
    return best if best is not None and found[best] > GOOD_SHARE else None


def _plain_columns(frame: pd.DataFrame) -> list[str]:
    """Columns of text or anything that may hold it, named by a text that stands once."""
    once = ~frame.columns.duplicated(keep=False)
    return [name for name in frame.columns[once] if isinstance(name, str) and not _is_number(frame[name])]


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_float_dtype(column) or pd.api.types.is_bool_dtype(column)


def _readable(cells: pd.Series) -> float:
    """The share of the filled cells that name a country; a column of single letters or digits names none."""
    filled = cells.dropna().astype("str")
    if filled.empty:
        return 0.0
    return float(regions.read(filled.reset_index(drop=True)).code.notna().mean())
