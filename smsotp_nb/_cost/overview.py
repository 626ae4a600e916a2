"""The cost of a result table as a card."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal

import pandas as pd

from .._calling import in_our_words
from .._cards import Bar, Card, Cell, Figures, Note, Table, counted, money, number, places_of, share
from .._pandas import STR
from .sources import Source, has_estimates, is_summed, read, records
from .sums import by, by_country, compare
from .views import outcomes

_SHOWN: Final = 12


@in_our_words
def card(results: Source) -> Card:
    """Return the cost of a result table or ledger as a card: totals, countries, and what the totals leave out.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.0395], "currency": ["USD"],
        ...                       "iso": ["NA"]})
        >>> print(card(table))
        Cost
        USD 0.0395 for 1 accepted message
        <BLANKLINE>
                 1  accepted messages
                 1  parts
        USD 0.0395  billed, 0.0395 a message
        <BLANKLINE>
        By country
        Country     Messages  Parts  Cost, USD  A message  Share
        ----------  --------  -----  ---------  ---------  -----------------
        Namibia NA         1      1     0.0395     0.0395  ████████████ 100%
        <BLANKLINE>
        Next: cost.by(results, "segment") for any column, results.write(results, "results.xlsx")
    """
    frame = read(results)
    totals = by(frame, [])
    several = totals["currency"].nunique(dropna=False) > 1
    countries = by_country(frame).groupby("currency", dropna=False) if "iso" in frame.columns else ()
    tables = [_country_table(part, several=several) for _, part in countries]
    return Card(
        title=_title(frame),
        state=billed_in_words(totals),
        blocks=(_figures(totals), *tables, *_left_out(frame, totals)),
        closing=f"Next: {_next(frame)}",
    )


def _figures(totals: pd.DataFrame) -> Figures:
    pairs: list[tuple[str, Any]] = [
        ("accepted messages", int(totals["messages"].sum())),
        ("parts", int(totals["parts"].sum())),
    ]
    for row in records(totals.dropna(subset=["cost"])):
        each = money(row["price_per_message"], places=min(4, places_of([row["price_per_message"]])))
        pairs.append((f"billed, {each} a message", money(row["cost"], row["currency"])))
    return Figures(tuple(pairs))


def _title(frame: pd.DataFrame) -> str:
    names = list(frame["campaign"].dropna().unique()) if "campaign" in frame.columns else []
    if not names:
        return "Cost"
    return f"Cost: {names[0]}" if len(names) == 1 else f"Cost of {number(len(names))} campaigns"


def _next(frame: pd.DataFrame) -> str:
    if is_summed(frame):
        return "cost.by_campaign, cost.by_month and cost.compare take the same"
    return 'cost.by(results, "segment") for any column, results.write(results, "results.xlsx")'


def billed_in_words(totals: pd.DataFrame) -> str:
    """Say what the totals of `cost.summary` are, in one line."""
    messages = int(totals["messages"].sum())
    if not messages:
        return "No message was accepted, so nothing was billed"
    amounts = [money(row["cost"], row["currency"]) for row in records(totals.dropna(subset=["cost"]))]
    said = f"for {number(messages)} accepted message{'s' * (messages != 1)}"
    unpriced = int(totals["unpriced"].sum())
    if not amounts or not unpriced:
        return f"{' and '.join(amounts) or 'No price'} {said}"
    return f"At least {' and '.join(amounts)} {said}, {number(unpriced)} of them without a readable price"


def _country_table(countries: pd.DataFrame, *, several: bool) -> Table:
    currency = countries["currency"].iloc[0]
    known = isinstance(currency, str)
    shown, rest = countries.iloc[:_SHOWN], countries.iloc[_SHOWN:]
    lines = records(shown) + ([_summed(rest)] if len(rest) else [])
    total = _summed(countries)
    dearest = max((line["share"] for line in lines if line["share"] == line["share"]), default=0.0)
    # One number of places for all amounts; an average needs no more than four.
    places = max(places_of(line["cost"] for line in (*lines, total)), min(4, places_of(_averages((*lines, total)))))
    of = f", {currency}" if known else ""
    return Table(
        columns=("Country", "Messages", "Parts", f"Cost{of}", "A message", "Share"),
        rows=tuple(_line(line, _place(line, len(rest)), places, dearest) for line in lines),
        align=("left", "right", "right", "right", "right", "left"),
        title=f"By country, {currency if known else 'currency unknown'}" if several else "By country",
        more="All countries: cost.by_country(results)" if len(rest) else "",
        total=(*_line(total, "Total", places, dearest)[:-1], share(total["share"])) if len(countries) > 1 else (),
    )


def _averages(lines: Iterable[dict[str, Any]]) -> list[Any]:
    return [line["price_per_message"] for line in lines]


def _summed(countries: pd.DataFrame) -> dict[str, Any]:
    """Add up the rows of a table by country, with their share of its whole."""
    one = by(countries, [])
    share_of = countries["share"].sum() if countries["share"].notna().any() else float("nan")
    return {**records(one)[0], "share": share_of}


def _place(line: dict[str, Any], rest: int) -> str:
    if "iso" not in line:
        return counted(rest, "more country", "more countries")
    return f"{line['country']} {line['iso']}" if isinstance(line["iso"], str) else "unknown"


def _line(line: dict[str, Any], place: str, places: int, dearest: float) -> tuple[Cell, ...]:
    known = line["cost"] == line["cost"]
    return (
        place,
        int(line["messages"]),
        int(line["parts"]),
        money(line["cost"], places=places) if known else "unknown",
        money(line["price_per_message"], places=places),
        _share_bar(line, dearest),
    )


def _share_bar(line: dict[str, Any], dearest: float) -> Cell:
    if line["share"] != line["share"]:
        return ""
    return Bar(min(line["share"] / dearest, 1.0) if dearest else 0.0, share(line["share"]))


def _left_out(frame: pd.DataFrame, totals: pd.DataFrame) -> list[Note]:
    """Say what the totals do not hold, each in its own sentence."""
    unpriced = int(totals["unpriced"].sum())
    notes = [_note("!", unpriced, "accepted without a readable price, in no total: cost.unpriced_rows(results)")]
    if not is_summed(frame):
        counts = frame["status"].astype(STR).value_counts()
        doubt = f"in doubt; possibly sent and billed{_estimate_of(frame, 'in_doubt')}"
        notes.append(_note("!", int(counts.get("in_doubt", 0)), doubt))
        notes.append(_note("i", int(counts.get("rejected", 0)), "rejected; not billed according to the replies"))
        notes.append(_note("i", int(counts.get("planned", 0)), f"still to go{_estimate_of(frame, 'planned')}"))
    return [note for note in (*notes, *_off_the_estimate(frame)) if note is not None]


def _off_the_estimate(frame: pd.DataFrame) -> list[Note]:
    """Say by how much the bill is off the estimate, over the messages that have both."""
    if not has_estimates(frame):
        return []
    notes = []
    for row in records(compare(frame, []).dropna(subset=["difference"])):
        off, messages = row["difference"], int(row["compared"])
        amount = money(abs(off), row["currency"])
        more = (
            f"{amount} {'more' if off > 0 else 'less'} than estimated" if off else f"as estimated in {row['currency']}"
        )
        said = f"Billed {more}, over {counted(messages, 'message')} with an estimate{_without(row)}"
        notes.append(Note("i", said))
    return notes


def _without(row: dict[str, Any]) -> str:
    """Say what was billed for messages that have no estimate, where others of the currency have one."""
    messages = int(row["messages"] - row["unpriced"] - row["compared"])
    alone = money(round(row["cost"] - row["compared_cost"], 6), row["currency"])
    return f"; {alone} for {counted(messages, 'message')} without one" if messages else ""


def _note(sign: Literal["!", "i"], rows: int, text: str) -> Note | None:
    return Note(sign, f"{counted(rows, 'row')} {text}") if rows else None


def _estimate_of(frame: pd.DataFrame, status: str) -> str:
    """Say what the rows of a state would cost by the estimate, where there is one."""
    if not has_estimates(frame):
        return ""
    found = outcomes(frame[(frame["status"] == status).to_numpy()]).dropna(subset=["est_cost"])
    said = [money(row["est_cost"], row["currency"]) for row in records(found)]
    return f", by the estimate {' and '.join(said)}" if said else ""
