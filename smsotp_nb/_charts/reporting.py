"""The usual pictures of what was spent, and a report of it to pass on."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pandas as pd

from .. import cost
from .._calling import in_our_words, not_flag, not_path, not_text, not_zone, refuse
from .._cards import Card, Figures, counted, money, page, places_of
from .._cost.sources import NEEDED, Source, files, has_estimates, is_summed, read
from .._cost.views import billed_in_words
from .._moments import Now, utc_now
from .._pandas import STR
from .._results import contract
from .._results.files import write_book, write_text
from ..errors import UsageError
from .drawing import bars
from .facts import Facts, facts
from .sections import AMOUNTS, COUNTS, Section, places, sections, totals


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
def report(
    results: Source,
    path: str | Path,
    *,
    title: str = "What was spent",
    tz: str = "UTC",
    overwrite: bool = False,
    now: Now = utc_now,
) -> Path:
    """Write a cost report to one file: a page that prints on A4 (``.html``), or the same as a workbook (``.xlsx``).

    It is made to be passed on: it says which period and campaigns it covers, when it was made and from what; what was
    billed other than estimated comes first, and each table ends with its total. It names no phone number.

    Args:
        results: a result table, a ledger, the path of one, or its `cost.spending`.
        path: where to write.
        title: title of the report.
        tz: time zone of the period and of months, such as ``"Europe/Berlin"``.
        overwrite: replace an existing file.
        now: the clock, which says when the report was made.

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
    refuse(
        not_path("path", path, example="'spent.html'"),
        not_text("title", title),
        not_zone("tz", tz),
        not_flag("overwrite", overwrite),
    )
    file = Path(path)
    writer = {".html": _write_page, ".xlsx": _write_book}.get(file.suffix.lower())
    if writer is None:
        raise UsageError(f"{file.name!r} must end in .html or .xlsx; the extension selects the format")
    frame = _with_months(read(results, tz=tz), tz)
    about, told = facts(results, frame, tz=tz, now=now), sections(frame)
    return writer(title, about, frame, told, file, overwrite=overwrite, inputs=files(results))


def _with_months(frame: pd.DataFrame, tz: str) -> pd.DataFrame:
    """Check a result table, and count its months by the calendar of a time zone."""
    if is_summed(frame):
        return frame
    checked = contract.check(frame, columns=NEEDED)
    if "at" not in checked.columns:
        return checked
    return checked.assign(month=checked["at"].dt.tz_convert(tz).dt.strftime("%Y-%m").astype(STR))


def _write_page(title: str, about: Facts, frame: pd.DataFrame, told: list[Section], file: Path, **how: Any) -> Path:
    summary = Card("Totals", billed_in_words(cost.summary(frame)), (*_figures(frame), *about.notes))
    cards = [summary, *(section.card() for section in told)]
    return write_text(page(title, cards, facts=about.pairs), file, **how)


_FIGURES: Final = ("Billed", "Estimated", "Difference")


def _figures(frame: pd.DataFrame) -> list[Figures]:
    """Return the totals of each currency, drawn large: billed, and what that is compared with."""
    return [_figures_of(line) for line in totals(frame)]


def _figures_of(line: dict[str, Any]) -> Figures:
    digits = places_of(line.get(name) for name in _FIGURES)
    difference = line.get("Difference") or 0
    said = {
        "Billed": f"billed, {counted(line['Messages'], 'message')} in {counted(line['Parts'], 'part')}",
        "Estimated": f"estimated for {counted(line.get('Compared', 0), 'message')}",
        "Difference": f"{'less' if difference < 0 else 'more'} than estimated",
    }
    shown = [name for name in _FIGURES if line.get(name) is not None and (name != "Difference" or difference)]
    pairs = [(said[name], money(abs(line[name]), line["Currency"], places=digits)) for name in shown]
    return Figures(tuple(pairs))


def _write_book(title: str, about: Facts, frame: pd.DataFrame, told: list[Section], file: Path, **how: Any) -> Path:
    said = [("Report", title), *about.pairs, *(("Note", note.text) for note in about.notes)]
    lines = totals(frame)
    tables = {"Report": pd.DataFrame(said, columns=["About", "What"]), "Totals": pd.DataFrame(lines)}
    tables |= {section.title: section.frame() for section in told}
    formats = {"Report": {}, "Totals": _formats(places(lines))}
    formats |= {section.title: _formats(section.places()) for section in told}
    return write_book({name: table for name, table in tables.items() if len(table)}, file, formats=formats, **how)


def _formats(digits: int) -> dict[str, str]:
    one = f"#,##0.{'0' * digits}"
    return {
        **dict.fromkeys(COUNTS, "#,##0"),
        **dict.fromkeys(AMOUNTS, one),
        "Difference": f"+{one};-{one};{one}",
        "Share": "0.0%",
    }
