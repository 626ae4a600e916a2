"""The usual pictures of what was spent, and all of them in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pandas as pd

from .. import cost
from .._arguments import not_flag, not_path, not_text, refuse
from .._calls import in_our_words
from .._cards import Card, page
from .._cost.sources import ESTIMATED, Source, files, has_estimates, is_summed, read
from .._results.files import write_book, write_text
from ..errors import UsageError
from .drawing import bars

_TOP: Final = 24


@in_our_words
def by_country(results: Source, *, top: int = 12) -> Card:
    """Draw what each country cost, with the estimate beside it if there is one.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"],
        ...                       "iso": ["US"]})
        >>> by_country(table).title
        'Billed by country'
    """
    frame = read(results)
    if isinstance(frame, pd.DataFrame) and has_estimates(frame):
        compared = cost.compare(frame)
        if (compared["compared"] > 0).any():
            return bars(compared, top=top)
    return bars(cost.by_country(frame), top=top)


@in_our_words
def by_month(results: Source, *, tz: str = "UTC", top: int = 12) -> Card:
    """Draw what each of the latest months cost, in order.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"],
        ...                       "at": ["2026-11-12 09:30:00+00:00"]})
        >>> by_month(table).title
        'Billed by month'
    """
    return bars(cost.by_month(results, tz=tz), top=top)


@in_our_words
def by_encoding(results: Source) -> Card:
    """Draw how many parts each encoding took, and its share.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [2], "price": [0.01], "currency": ["USD"],
        ...                       "encoding": ["ucs2"]})
        >>> by_encoding(table).title
        'Parts by encoding'
    """
    return bars(cost.by_encoding(results), value="parts")


@in_our_words
def report(results: Source, path: str | Path, *, title: str = "What was spent", overwrite: bool = False) -> Path:
    """Write a cost report to one file: a printable page with bars (``.html``), or a workbook of tables (``.xlsx``).

    Args:
        results: a result table, a ledger, the path of one, or its `cost.spending`.
        path: where to write.
        title: title of the HTML page.
        overwrite: replace an existing file.

    Returns:
        The path.

    Raises:
        FileExists: the file already exists.
        UsageError: an unknown extension, a missing folder, not a table of costs, or the file cannot be written.

    Example:
        >>> import tempfile
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"],
        ...                       "iso": ["US"]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = report(table, Path(folder) / "spent.html")
        ...     "USD 0.01" in file.read_text(encoding="utf-8")
        True
    """
    refuse(not_path("path", path, example="'spent.html'"), not_text("title", title), not_flag("overwrite", overwrite))
    file = Path(path)
    frame, made_from = read(results), files(results)
    if file.suffix.lower() == ".html":
        return write_text(page(title, _cards(frame)), file, overwrite=overwrite, inputs=made_from)
    if file.suffix.lower() == ".xlsx":
        return write_book(_tables(frame), file, overwrite=overwrite, inputs=made_from)
    raise UsageError(f"{file.name!r} must end in .html or .xlsx; the extension selects the format")


def _cards(frame: pd.DataFrame) -> list[Card]:
    cards = [cost.card(frame)]
    if "iso" in frame.columns:
        cards.append(by_country(frame, top=_TOP))
    if _has_months(frame):
        cards.append(by_month(frame, top=_TOP))
    if "encoding" in frame.columns:
        cards.append(by_encoding(frame))
    if "campaign" in frame.columns and frame["campaign"].nunique() > 1:
        cards.append(bars(cost.by_campaign(frame), top=_TOP))
    return cards


def _tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the sheets of the workbook; a table whose columns are not there is left out."""
    tables = {"total": cost.summary(frame)}
    if "iso" in frame.columns:
        tables["by country"] = cost.by_country(frame)
        if has_estimates(frame):
            tables["billed and estimated"] = cost.compare(frame)
    for name in ("campaign", "encoding", "type", "region"):
        if name in frame.columns:
            tables[f"by {name}"] = cost.by(frame, name)
    if _has_months(frame):
        tables["by month"] = cost.by_month(frame)
    if not is_summed(frame) and {*ESTIMATED, "to", "region", "iso"} <= set(frame.columns):
        tables["differences"] = cost.differences(frame)
    return tables


def _has_months(frame: pd.DataFrame) -> bool:
    return ("month" if is_summed(frame) else "at") in frame.columns
