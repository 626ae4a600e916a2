"""The usual pictures of what was spent, and a report of it to pass on, with what it says of itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

import pandas as pd

from .. import cost
from .._calling import in_our_words, not_flag, not_path, not_text, not_zone, refuse
from .._cards import Card, Figures, Note, counted, money, notes, number, page, places_of, records, shares
from .._ledger import Record, files_of, path_of, sent_rows
from .._moments import Now, utc_now
from .._pandas import STR
from .._results import contract
from .._results.files import write_book, write_text
from .._services import is_rehearsal, shown
from ..cost.card import billed_sentence, campaigns_of, states_of
from ..cost.rows import BILLED, RECORDED, Source, has_estimates, is_sums, read_frame
from ..errors import UsageError
from .drawing import NOTHING, NOTHING_KNOWN, bars
from .sections import AMOUNTS, COUNTS, Lines, Section, folded, places, sections, totals


@in_our_words
def by_country(results: Source, *, top: int = 12) -> Card:
    """Draw what each country cost, with the estimate beside it if there is one.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"],
        ...                       "iso": ["US"]})
        >>> by_country(table).title
        'Billed by country'
    """
    if isinstance(results, RECORDED) or has_estimates(read_frame(results)):
        compared = cost.compare(results)
        if (compared["compared"] > 0).any():
            return _drawn(results, bars(compared, top=top))
    return _drawn(results, bars(cost.by_country(results), top=top))


@in_our_words
def by_month(results: Source, *, tz: str = "UTC", top: int = 12) -> Card:
    """Draw what each of the latest months cost, in order.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"],
        ...                       "at": ["2026-11-12 09:30:00+00:00"]})
        >>> by_month(table).title
        'Billed by month'
    """
    return _drawn(results, bars(cost.by_month(results, tz=tz), top=top))


def _drawn(results: Source, card: Card) -> Card:
    """Return a picture with what its bars do not hold: rows in doubt."""
    doubt = states_of(results).get("in_doubt", 0)
    told = notes(("!", doubt, f"{counted(doubt, 'row')} in doubt, possibly sent and billed, in no bar."))
    state = NOTHING_KNOWN if doubt and card.state == NOTHING else card.state
    return replace(card, state=state, blocks=(*card.blocks, *told))


@in_our_words
def report(
    results: Source,
    path: str | Path,
    *,
    title: str = "",
    tz: str = "UTC",
    overwrite: bool = False,
    now: Now = utc_now,
) -> Path:
    """Write a cost report to one file: a page that prints on A4 (``.html``), or the same as a workbook (``.xlsx``).

    It is made to be passed on: a sentence at the top says what it comes to, and below stand the period, the campaigns,
    when it was made and from what. What was billed other than estimated comes first; each table ends with its total, to
    which the shares add up. On the page, countries below 1 % are one line together, and printed pages are numbered. It
    names no phone number.

    Args:
        results: a result table, a ledger, the path of one, or its `cost.spending`.
        path: where to write.
        title: title of the report; by default the campaigns that it covers.
        tz: time zone of the period and of months, such as ``"Europe/Berlin"``.
        overwrite: replace an existing file.
        now: the clock, which says when the report was made.

    Returns:
        The path.

    Raises:
        OutputExistsError: the file already exists.
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
    frame = _with_months(_sums_or_results(results, tz), tz)
    about, told, names = facts(results, frame, tz=tz, now=now), sections(frame), _campaigns(frame)
    title = title or (f"What {names} cost" if names else "What was spent")
    return writer(
        title,
        about,
        frame,
        told,
        file,
        overwrite=overwrite,
        inputs=files_of(results) if isinstance(results, RECORDED) else (),
    )


def _sums_or_results(results: Source, tz: str) -> pd.DataFrame:
    return cost.spending(results, tz=tz) if isinstance(results, RECORDED) else read_frame(results)


def _with_months(frame: pd.DataFrame, tz: str) -> pd.DataFrame:
    """Check a result table, and count its months by the calendar of a time zone."""
    if is_sums(frame):
        return frame
    checked = contract.check(frame, columns=BILLED)
    if "at" not in checked.columns:
        return checked
    return checked.assign(month=contract.in_zone(checked["at"], tz).dt.strftime("%Y-%m").astype(STR))


def _write_page(title: str, about: Facts, frame: pd.DataFrame, told: list[Section], file: Path, **how: Any) -> Path:
    state = billed_sentence(cost.summary(frame), in_doubt=about.in_doubt)
    summary = Card("Totals", state, (*map(_figures, totals(frame)), *about.notes))
    cards = [summary, *(section.card() for section in told)]
    return write_text(page(title, cards, facts=about.pairs, lead=_conclusion(frame, told)), file, **how)


def _conclusion(frame: pd.DataFrame, told: list[Section]) -> str:
    """Say in a sentence for each currency what was spent, against what was expected, and where most of it went."""
    countries = next((section.lines for section in told if section.title == "By country"), {})
    unpriced = {str(row["currency"]): row["unpriced"] for row in records(cost.summary(frame))}
    return " ".join(
        _sentence(
            line, folded(countries.get(line["Currency"], []))[:-1], "at least " * bool(unpriced.get(line["Currency"]))
        )
        for line in totals(frame)
    )


def _sentence(line: dict[str, Any], countries: Lines, least: str) -> str:
    currency, off = line["Currency"], line.get("Difference")
    cost_of = "cost" if line["Messages"] != 1 else "costs"
    if line["Billed"] is None:
        return f"{counted(line['Messages'], 'message')} {cost_of} an unknown amount."
    said = f"{counted(line['Messages'], 'message')} {cost_of} {least}{money(line['Billed'], currency)}"
    if off:
        said += f", {money(abs(off), currency)} {'less' if off < 0 else 'more'} than estimated"
    if len(countries) > 1 and line["Billed"]:
        percents = shares([one["Share"] for one in countries])
        most, percent = max(zip(countries, percents, strict=True), key=lambda pair: pair[0]["Share"] or 0.0)
        if [one["Billed"] for one in countries].count(most["Billed"]) == 1:
            said += f"; the largest part of it, {percent}, went to {most['Country']}"
    return f"{said}."


_FIGURES: Final = ("Billed", "Estimated", "Difference")


def _figures(line: dict[str, Any]) -> Figures:
    digits = places_of(line.get(name) for name in _FIGURES)
    difference = line.get("Difference") or 0
    said = {
        "Billed": f"billed, {counted(line['Messages'], 'message')} in {counted(line['Parts'], 'part')}",
        "Estimated": f"estimated for {counted(line.get('Compared', 0), 'message')}",
        "Difference": f"{'less' if difference < 0 else 'more'} than estimated",
    }
    shown = [name for name in _FIGURES if line.get(name) is not None and (name != "Difference" or difference)]
    amounts = {name: abs(line[name]) if name == "Difference" else line[name] for name in shown}
    return Figures(tuple((said[name], money(amounts[name], line["Currency"], places=digits)) for name in shown))


def _write_book(title: str, about: Facts, frame: pd.DataFrame, told: list[Section], file: Path, **how: Any) -> Path:
    said = [
        ("Report", title),
        ("Conclusion", _conclusion(frame, told)),
        *about.pairs,
        *(("Note", note.text) for note in about.notes),
    ]
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


_NAMED: Final = 3
_OUTSIDE: Final[tuple[tuple[str, Literal["!", "i"], str], ...]] = (
    ("in_doubt", "!", "in doubt: possibly sent and billed, in no total"),
    ("rejected", "i", "rejected by the service: not billed according to its replies"),
    ("planned", "i", "still to be sent, in no total"),
)


@dataclass(frozen=True, slots=True)
class Facts:
    """Pairs of a name and what it is, for the head of a report, and notes on what its totals do not hold."""

    pairs: tuple[tuple[str, str], ...]
    notes: tuple[Note, ...]
    in_doubt: int


def facts(source: Source, frame: pd.DataFrame, *, tz: str, now: Now) -> Facts:
    """Return what a report on ``source`` says of itself; ``frame`` is what was read of it."""
    if isinstance(source, RECORDED):
        recorded = sent_rows(source)
        period, rows = _span(recorded.first, recorded.last, tz), recorded.rows
        told = f"ledger {path_of(source._ledger if isinstance(source, Record) else source).name}"
    else:
        period, rows = _period(frame, tz), states_of(source)
        told = "sums by campaign, day and country" if is_sums(frame) else "results, a row for each recipient"
    pairs = {
        "Period": period,
        "Made on": _moment(pd.Timestamp(now()), tz),
        "Source": ", ".join(filter(None, (told, _campaigns(frame)))),
        "Sent by": _services(frame),
    }
    unpriced = int(cost.summary(frame)["unpriced"].sum())
    outside = notes(
        ("!", unpriced, f"{counted(unpriced, 'message')} without a readable price, in no amount."),
        *(
            (sign, rows.get(state, 0), f"{counted(rows.get(state, 0), 'message')} {said}.")
            for state, sign, said in _OUTSIDE
        ),
    )
    return Facts(tuple((name, said) for name, said in pairs.items() if said), tuple(outside), rows.get("in_doubt", 0))


# -- when --------------------------------------------------------------------------------------------------------------


def _period(frame: pd.DataFrame, tz: str) -> str:
    """Say when the first and the last accepted message was sent; sums know days, or months, only."""
    if is_sums(frame):
        days, months = (frame.reindex(columns=[name])[name].dropna() for name in ("day", "month"))
        if len(days):
            return f"{_day(days.min())} to {_day(days.max())} (whole days)"
        return f"{months.min()} to {months.max()} (whole months)" if len(months) else ""
    if "at" not in frame.columns:
        return ""
    at = contract.in_zone(frame.loc[(frame["status"] == "accepted").to_numpy(), "at"].dropna(), "UTC")
    return _span(at.min(), at.max(), tz) if len(at) else ""


def _span(first: pd.Timestamp | None, last: pd.Timestamp | None, tz: str) -> str:
    if first is None or last is None:
        return ""
    begun, ended = _moment(first, tz), _moment(last, tz)
    of = "" if tz == "UTC" else f", {tz}"
    return f"{begun} to {ended} (first and last message{of})" if begun != ended else begun


def _moment(at: pd.Timestamp, tz: str) -> str:
    local = at.tz_convert(ZoneInfo(tz))
    return f"{_day(local)} {local:%H:%M %Z}"


def _day(at: pd.Timestamp) -> str:
    return f"{at.day} {at:%B %Y}"


# -- from what ---------------------------------------------------------------------------------------------------------


def _campaigns(frame: pd.DataFrame) -> str:
    names, others = campaigns_of(frame)
    more = len(names) - _NAMED
    shown = names if more <= 1 else [*names[:_NAMED], f"{number(more)} more"]
    listed = [*shown, *others]
    said = " and ".join(filter(None, (", ".join(listed[:-1]), *listed[-1:])))
    return f"{'campaign' if len(names) == 1 else 'campaigns'} {said}" if names else said


def _services(frame: pd.DataFrame) -> str:
    """Say whether that was a rehearsal: a report that is passed on must not be taken for a bill."""
    names = list(frame["service"].dropna().unique()) if "service" in frame.columns else []
    said = sorted({"the sandbox, a rehearsal that texted nobody" if is_rehearsal(one) else shown(one) for one in names})
    return " and ".join(said)
