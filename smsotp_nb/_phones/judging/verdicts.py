"""The public verdict: columns in, phonenumbers' answer out, whatever engine computes it."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from ..._calling.arguments import not_callable, not_text, refuse
from ..._calling.words import in_our_words
from .. import reference
from ..cells import text as cells
from ..fast import engine, tables
from ..fast.engine import Progress

FEW: Final = 64  # rows; about as many as the first look-up in the tables costs
WORTH_NEW_TABLES: Final = 100_000


@in_our_words
def verdict(
    numbers: object,
    *,
    region: object = None,
    default_region: str | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Return phonenumbers' own answer for a column of numbers, unmodified.

    Args:
        numbers: the column of numbers. Numeric cells are first read as text, whole decimals without their ``.0``.
        region: column of two-letter country codes, used as they are.
        default_region: one code for blank cells of ``region``.
        progress: called with the number of rows done after each chunk.

    Returns:
        A frame on the index of ``numbers``: ``e164, region, cc, type, extension`` (``str``, missing where phonenumbers
        has none), ``valid`` (bool) and ``reason``: missing for a valid number, otherwise the name of the parse error or
        of the ValidationResult, or NOT_IN_USE for a number that is possible but not valid.

    Raises:
        UsageError: ``region`` has another length or index than ``numbers``.

    Example:
        >>> verdict(["+44 7700 900123", "030 901820"], default_region="DE")[["e164", "valid", "reason"]]
                    e164  valid      reason
        0  +447700900123  False  NOT_IN_USE
        1    +4930901820   True         NaN
    """
    code = None if default_region is None else not_text("default_region", default_region, hint="; a code such as 'DE'")
    refuse(not_callable("progress", progress, example="print"), code)
    column = cells.column(numbers, what="numbers")
    plain = _plain(column) if len(column) < FEW else None
    if plain is not None:
        return reference.few(plain, _plain_regions(region, default_region, column), column.index)
    text = cells.read(column).text
    codes = _regions(region, default_region, column)
    return answers(text, codes, progress=progress).set_axis(column.index, axis=0)


def answers(text: pd.Series, region: pd.Series, *, progress: Progress | None = None) -> pd.DataFrame:
    """Answer for ``str`` columns with a positional index. This is the one place that chooses the engine.

    A few rows are asked about one by one. So are longer lists if another version of phonenumbers is installed than the
    shipped tables were made from, until a list is long enough to make building new tables worth while.
    """
    if len(text) < FEW:
        return reference.few(reference.plain(text), reference.plain(region), pd.RangeIndex(len(text)))
    if len(text) < WORTH_NEW_TABLES and not tables.shipped_fits():
        return reference.verdict(text, region)
    return engine.verdict(text, region, progress=progress)


def _plain(column: pd.Series) -> list[str | None] | None:
    """Return the cells of a column as they are, missing ones as None; None if some cells are not text."""
    texts = [None if cell is None or cell is np.nan else cell for cell in column.tolist()]
    if isinstance(column.dtype, pd.StringDtype):
        return [text if isinstance(text, str) else None for text in texts]
    return texts if all(text is None or (isinstance(text, str) and text.isascii()) for text in texts) else None


def _plain_regions(region: object, default_region: str | None, like: pd.Series) -> list[str | None]:
    if region is None:
        return [default_region] * len(like)
    column = cells.column(region, what="region", like=like)
    codes = column.tolist()
    if not all(code is None or isinstance(code, str) for code in codes):
        codes = cells.words(column).tolist()
    return [code if isinstance(code, str) and code else default_region for code in codes]


def _regions(region: object, default_region: str | None, like: pd.Series) -> pd.Series:
    if region is None:
        return cells.same(default_region, len(like))
    codes = cells.words(cells.column(region, what="region", like=like)).reset_index(drop=True)
    if default_region is None:  # to phonenumbers a blank is no region either
        return codes
    return codes.mask(codes.isna() | (codes == ""), default_region)
