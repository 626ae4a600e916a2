"""A plan for the eye: the blocks of its card, each from what the plan has of it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from .. import _cards as cards
from .. import _wire as wire
from .. import rates
from .._calling import given
from .._ledger import Prospect, until
from .._phones import one_phone
from .._recipients import called, in_words
from .._showing import label as shown_label
from .._showing import masked
from ..problems import PROBLEMS
from .rows import FIRST, NOTED
from .segments import BY_ORDER, BY_PRIORITY, as_labels, meant
from .wording import label_of

_SHOWN: Final = 12  # segments
_COUNTRIES: Final = 6
_REASONS: Final = 5  # why rows are left out
FATES: Final = ("Rows that", "Rows", "First rows", "Meaning")
_BOUNDS: Final = ("est_low", "est_high")
_STATES: Final = {
    "sending": ("are under way", "their request waits for an answer"),
    "accepted": ("were accepted", "never sent again"),
    "rejected": ("were refused", "not sent again automatically"),
    "in_doubt": ("are in doubt", "not sent again until you settle them"),
    "skipped": ("are left out", "never sent"),
}
_ENCODINGS: Final = {"gsm7": "GSM-7", "ucs2": "UCS-2", "mixed": "both"}
_WARNINGS: Final = dict(
    zip(
        NOTED,
        (
            "Planned numbers from a different country than their row",
            "Planned numbers that are landlines and may not receive texts",
            "Planned rows with blanks around a value, which are left out of the text",
        ),
        strict=True,
    )
)


def summary(figures: Mapping[str, int], estimate: pd.DataFrame) -> str:
    """Describe a plan in one line, for ``repr``."""
    planned = figures["planned"]
    return (
        f"{cards.counted(planned, 'recipient')} to go now in {cards.counted(figures['requests'], 'request')}, "
        f"{_parts(figures)} parts, estimated cost {_cost(figures, estimate)}{_unrated(figures)}; "
        f"{cards.counted(figures['rows'] - planned, 'other row')}"
    )


def figures_of(figures: Mapping[str, int], estimate: pd.DataFrame) -> cards.Figures:
    """Return the large numbers of those who go now."""
    parts = _parts(figures)
    return cards.Figures(
        (
            _figure("recipient", figures["planned"], " to go now"),
            ("cost, estimated" + _span(estimate) + _unrated(figures), _cost(figures, estimate)),
            ("part, estimated" if parts == "1" else "parts, estimated", parts),
            _figure("different message", figures["bodies"]),
            _figure("request", figures["requests"]),
            _figure("other row", figures["rows"] - figures["planned"]),
        )
    )


def standing(size: int, prospect: Prospect) -> list[cards.Block]:
    """Show how many of the rows of a list go now and at what cost, and what becomes of all of them."""
    going = prospect.to_go
    cost = prospect.money() or ("unknown" if going else cards.MISSING)
    figures = _figure("recipient", going, " to go now"), ("cost, estimated", cost), _figure("other row", size - going)
    return [cards.Figures(figures), *fates(prospect)]


def fates(prospect: Prospect) -> list[cards.Table]:
    """Show what becomes of the rows of the list; nothing where all of them go now."""
    lines = prospect.lines
    if not prospect.reached and prospect.to_go == int(lines["rows"].sum()):
        return []
    shown = lines[lines["status"].ne("skipped").to_numpy() | (lines.groupby("status").cumcount() < _REASONS)]
    rows = [(_kind(line), int(line["rows"]), _first(line), meaning(line)) for line in shown.to_dict("records")]
    if rest := len(lines) - len(shown):
        many = int(lines["rows"].sum()) - int(shown["rows"].sum())
        why = f"left out for {cards.counted(rest, 'more reason')}; plan.problems has all of them"
        rows.append(("others", many, cards.MISSING, why))
    total = ("the whole list", int(lines["rows"].sum()), "", "")
    return [cards.Table(FATES, tuple(rows), ("left", "right", "left", "left"), total=total)]


def _kind(line: Mapping[Hashable, Any]) -> cards.Cell:
    if pd.isna(line["problem"]):
        return "go now" if line["status"] == "planned" else _STATES[line["status"]][0]
    return cards.Code(str(line["problem"]))


def _first(line: Mapping[Hashable, Any]) -> str:
    if pd.isna(line["first_rows"]):
        return cards.MISSING
    return str(line["first_rows"]) + " ..." * bool(line["rows"] > FIRST)


def meaning(line: Mapping[Hashable, Any]) -> str:
    """Say what becomes of rows of one kind, and until when they wait."""
    if pd.isna(line["problem"]):
        return "texted by the next send" if line["status"] == "planned" else _STATES[line["status"]][1]
    known = PROBLEMS.get(str(line["problem"]))
    by = "" if pd.isna(line["campaigns"]) else f" ({line['campaigns']})"
    return f"{known.meaning if known else line['problem']}{by}{until(line['earliest'], line['latest'])}"


def _figure(what: str, many: int, more: str = "") -> tuple[str, int]:
    return (what if many == 1 else f"{what}s") + more, many


def _parts(figures: Mapping[str, int]) -> str:
    return "unknown" if 0 < figures["planned"] == figures["unknown"] else f"{figures['parts']:,}"


def _cost(figures: Mapping[str, int], estimate: pd.DataFrame) -> str:
    known = about(estimate.rename(columns={"currency": "est_currency"}))
    return known or ("unknown" if figures["planned"] else cards.MISSING)


def _unrated(figures: Mapping[str, int]) -> str:
    """Say how many recipients the cost does not cover, where it covers any."""
    missing = figures["unpriced"]
    return f"; {cards.counted(missing, 'recipient')} without a rate" if 0 < missing < figures["planned"] else ""


def costs(rows: pd.DataFrame) -> dict[str, float]:
    """Return the estimated cost of the rows by currency, exact to six places; empty where no rate is known."""
    known = rows[rows["est_cost"].notna()]
    micros = (known["est_cost"] * 1_000_000).round().astype("int64")
    sums = micros.groupby(known["est_currency"]).sum().sort_values(ascending=False)
    return {str(currency): round(int(total) / 1_000_000, 6) for currency, total in sums.items()}


def about(rows: pd.DataFrame) -> str:
    """Return the estimated cost of the rows in words, such as ``"USD 38.42"``; empty where no rate is known."""
    return " and ".join(cards.about(total, currency) for currency, total in costs(rows).items())


def countries(estimate: pd.DataFrame, title: str = "") -> cards.Table:
    shown = estimate.head(_COUNTRIES).to_dict("records")
    places = {
        currency: (cards.places_of(group["rate"].tolist()), cards.places_of(group["est_cost"].tolist()))
        for currency, group in estimate.head(_COUNTRIES).groupby("currency")
    }
    # One currency stands in the heads, several stand beside each amount.
    one = str(next(iter(places))) if len(places) == 1 else ""
    rows = tuple(
        (
            row["country"],
            int(row["messages"]),
            "unknown" if pd.isna(row["est_parts"]) else int(row["est_parts"]),
            *_priced(row, "" if one else row["currency"], places.get(row["currency"], (2, 2))),
        )
        for row in shown
    )
    of = f", {one}" if one else ""
    columns = ("Country", "Recipients", "Parts", f"Rate{of}", f"Estimated cost{of}")
    return cards.Table(columns, rows, ("left", "right", "right", "right", "right"), title=title, more=_rest(estimate))


def _span(estimate: pd.DataFrame) -> str:
    """Say between which sums the cost lies, where rates are known to vary."""
    known = estimate[estimate["est_cost"].notna()]
    lows, highs = (costs(known.assign(est_cost=known[name], est_currency=known["currency"])) for name in _BOUNDS)
    spans = [
        f"{cards.about(low, currency)} to {cards.about(highs[currency])}"
        for currency, low in lows.items()
        if low < highs[currency]
    ]
    return f"; {' and '.join(spans)}" if spans else ""


def _rest(estimate: pd.DataFrame) -> str:
    """Say what the table leaves out: how many, how much, and which of them have no rate."""
    rest = estimate.iloc[_COUNTRIES:]
    if rest.empty:
        return ""
    totals = costs(rest.assign(est_currency=rest["currency"]))
    money = "".join(f", {cards.money(total, currency)}" for currency, total in totals.items())
    unrated = rest.loc[rest["rate"].isna().to_numpy(), "country"].tolist()
    shown = ", ".join(unrated[:_SHOWN]) + (" ..." if len(unrated) > _SHOWN else "")
    no_rate = f"; no rate for {shown}" if unrated else ""
    countries = cards.counted(len(rest), "more country", "more countries")
    recipients = cards.counted(int(rest["messages"].sum()), "recipient")
    return f"and {countries}, {recipients}{money}{no_rate}"


def _priced(row: dict[Hashable, Any], currency: str, places: tuple[int, int]) -> tuple[str, str]:
    if pd.isna(row["rate"]):
        return "no rate", cards.money(None)
    rate = cards.money(row["rate"], currency, places=places[0])
    old = "old, " if row["confidence"] == "old" else ""  # before the digits, which stay below each other
    return old + rate, cards.money(row["est_cost"], currency, places=places[1])


def message(label: Any, row: Mapping[Hashable, Any], by: str | None, body: wire.Body) -> cards.Message:
    """Show one message of a preview; of a template of which the text is not known its variables."""
    segment = f", {by} {masked(shown_label(label_of(row[by])))}" if by in row else ""
    to = f"Row {shown_label(label)}, {row['to']}{segment}"
    if not pd.isna(row["text"]):
        return cards.Message(to, masked(row["text"]), _foot(row), tuple(row["forcing"]))
    data = [f"{name}: {masked(value)}" for name, value in body.template_data]
    text = "\n".join([f"Template {body.template_id}", *data])
    return cards.Message(to, text, "The template's text is not known here; pass it as Template(preview=...).")


def _foot(row: Mapping[Hashable, Any]) -> str:
    parts = f"{row['est_parts']} part" + ("s" if row["est_parts"] > 1 else "")
    forced = f", because of {' '.join(repr(char) for char in row['forcing'])}" if row["forcing"] else ""
    return f"{parts}, {_ENCODINGS[row['encoding']]}{forced}"


def warnings(notes: Mapping[str, int]) -> list[cards.Note]:
    """Warn of planned rows that deserve a look."""
    return [cards.Note("!", f"{_WARNINGS[code]}: {many:,} (note {code})") for code, many in notes.items() if many]


def source(source: Mapping[str, Any]) -> list[cards.Note]:
    """Say how the file of the list was read, and what of that somebody should look at."""
    if not source:
        return []
    notes = [cards.Note("!", f"{called(source)}: {words}.") for words in source["notes"]]
    return [*notes, cards.Note("i", in_words(source))]


def left_out(lists: pd.DataFrame) -> list[cards.Note]:
    """Say of each list to leave out how much of it was read, and aloud if it matches nobody."""
    notes = []
    for one in lists.to_dict("records"):
        read = f"{cards.counted(one['read'], 'entry', 'entries')} read"
        read += f", {one['unreadable']:,} unreadable" if one["unreadable"] else ""
        if one["matched"]:
            rows = cards.counted(one["matched"], "row is on {}", "rows are on {}")
            notes.append(cards.Note("i", f"exclude: {rows.format(one['list'])} ({read})."))
            continue
        check = " See whether it is the right file, and default_region= that of its numbers."
        no = one["problem"] == "SUPPRESSED"
        notes.append(
            cards.Note("!" if no else "i", f"exclude: {one['list']} matches nobody of this list ({read}).{check * no}")
        )
    return notes


def of_columns(columns: Mapping[str, int], names: Sequence[Any]) -> list[cards.Note]:
    """Say how many rows have their number from which of several columns."""
    if len(names) < 2:
        return []
    rows = [f"{columns.get(str(name), 0):,} from {given(name)}" for name in names]
    return [cards.Note("i", f"The first usable number of each row counts: {', '.join(rows)}.")]


def old_rates(estimate: pd.DataFrame) -> list[cards.Note]:
    """Name the countries whose rates are old."""
    old = estimate.loc[estimate["confidence"].eq("old").to_numpy(), "country"].tolist()
    if not old:
        return []
    shown = ", ".join(old[:_SHOWN]) + (" ..." if len(old) > _SHOWN else "")
    return [cards.Note("!", f"Rates older than {rates.OLD_AFTER.days} days: {shown}.")]


def assumed(figures: Mapping[str, int], estimate: pd.DataFrame, join: str | None) -> list[cards.Note]:
    """Return what the estimate rests on; ``join`` is how content and signature are joined, if they are."""
    planned, unknown, notes = figures["planned"], figures["unknown"], []
    if 0 < unknown < planned:
        notes.append(
            f"Parts and cost of {cards.counted(unknown, 'recipient')} are not known without the text of their "
            "template; give it as Template(preview=...) to estimate them."
        )
    elif unknown:
        notes.append(
            "Parts and cost are not known without the template's text; pass Template(preview=...) to estimate them."
        )
    elif planned and estimate["currency"].isna().all():
        notes.append("No rate is known for any of these countries, so the cost is not estimated; pass plan(rates=...).")
    if unknown < planned:
        notes.append("Parts and cost are estimates, by the usual packing and the rates. The service's reply counts.")
    if join is not None:
        notes.append(
            f"How the service joins content and signature is not known; {join!r} is assumed "
            "(Message(join=...) sets another)."
        )
    return [cards.Note("i", text) for text in notes]


# -- segments --------------------------------------------------------------------------------------------------------


def segments_of(estimate: pd.DataFrame, by: str) -> cards.Table:
    shown = estimate.head(_SHOWN)
    places = cards.places_by(shown["currency"], shown["est_cost"])
    rows = tuple(
        (
            cards.Code(masked(str(row[by]))),
            int(row["messages"]),
            int(row["bodies"]),
            "unknown" if pd.isna(row["est_parts"]) else int(row["est_parts"]),
            _ENCODINGS.get(row["encoding"], cards.MISSING),
            cards.money(row["est_cost"], row["currency"], places=places.get(row["currency"], 2)),
        )
        for row in shown.to_dict("records")
    )
    columns = ("Segment", "Recipients", "Different messages", "Parts", "Encoding", "Estimated cost")
    rest = len(estimate) - _SHOWN
    more = f"and {rest} more in plan.estimate_by_segment" if rest > 0 else ""
    return cards.Table(columns, rows, ("left", "right", "right", "right", "left", "right"), title=f"By {by}", more=more)


def segment_notes(rows: pd.DataFrame, by: str, labels: tuple[str, ...]) -> list[cards.Note]:
    """Say which segments have no message or nobody, and who stands in several."""
    there = set(as_labels(rows[by].drop_duplicates()).dropna())
    empty = [given(label) for label in labels if label not in there]
    of = "the segment" if len(empty) == 1 else "the segments"
    nobody = [cards.Note("!", f"No row is in {of} {', '.join(empty)}.")] if empty else []
    return [*_without_message(rows, by, labels), *nobody, *_in_several(rows)]


def _without_message(rows: pd.DataFrame, by: str, labels: tuple[str, ...]) -> list[cards.Note]:
    counts = as_labels(rows.loc[rows["problem"].eq("SEGMENT_UNKNOWN").to_numpy(), by]).value_counts()
    counts = counts.sort_index().sort_values(ascending=False, kind="stable")
    if counts.empty:
        return []
    named = [
        f"{given(label)} ({cards.counted(count, 'row')}{meant(label, labels)})"
        for label, count in counts.head(_SHOWN).items()
    ]
    more = " ..." if len(counts) > _SHOWN else ""
    of = cards.counted(int(counts.sum()), "row is in a segment", "rows are in segments")
    return [cards.Note("!", f"{of} without a message: {', '.join(named)}{more}.")]


def _in_several(rows: pd.DataFrame) -> list[cards.Note]:
    by_priority, by_order = (rows["note"].str.contains(code, regex=False, na=False) for code in (BY_PRIORITY, BY_ORDER))
    people = one_phone(rows.loc[(by_priority | by_order).to_numpy(dtype=bool), "to"]).nunique()
    if not people:
        return []
    who = cards.counted(people, "person stands in several segments and is", "people stand in several segments and are")
    why = [f"by priority: {cards.counted(int(by_priority.sum()), 'row')}"] * bool(by_priority.any())
    why += [f"for an earlier row: {cards.counted(int(by_order.sum()), 'row')}"] * bool(by_order.any())
    return [cards.Note("i", f"{who} texted once. Left out {', '.join(why)}; the note names the row and the segment.")]
