"""The cost of a result table as a card."""

from __future__ import annotations

from typing import Any, Final, Literal

import pandas as pd

from .._calls import in_our_words
from .._cards import Bar, Card, Figures, Note, Table, counted, money, number, places_of, share
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
    several = totals["currency"].nunique() > 1
    countries = by_country(frame).groupby("currency") if "iso" in frame.columns else ()
    tables = [_country_table(part, several=several) for _, part in countries]
    return Card(
        title=_title(frame),
        state=_billed(totals),
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


def _billed(totals: pd.DataFrame) -> str:
    messages = int(totals["messages"].sum())
    if not messages:
        return "No message was accepted, so nothing was billed"
    amounts = [money(row["cost"], row["currency"]) for row in records(totals.dropna(subset=["cost"]))]
    return f"{' and '.join(amounts) or 'No price'} for {number(messages)} accepted message{'s' * (messages != 1)}"


def _country_table(countries: pd.DataFrame, *, several: bool) -> Table:
    shown = countries.head(_SHOWN)
    currency = shown["currency"].iloc[0]
    dearest, places = shown["share"].max(), places_of(shown["cost"])
    each_places = min(4, places_of(shown["price_per_message"]))
    rows = tuple(
        (
            f"{row['country']} {row['iso']}" if isinstance(row["iso"], str) else "unknown",
            int(row["messages"]),
            int(row["parts"]),
            money(row["cost"], places=places) if row["cost"] == row["cost"] else "unknown",
            money(row["price_per_message"], places=each_places),
            Bar(row["share"] / dearest, share(row["share"])) if row["share"] == row["share"] else "",
        )
        for row in records(shown)
    )
    more = len(countries) - len(shown)
    return Table(
        columns=("Country", "Messages", "Parts", f"Cost, {currency}", "A message", "Share"),
        rows=rows,
        align=("left", "right", "right", "right", "right", "left"),
        title=f"By country, {currency}" if several else "By country",
        more=f"and {more} more: cost.by_country(results)" if more > 0 else "",
    )


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
        off, messages = row["difference"], int(row["messages"])
        more = f"{money(abs(off))} {'more' if off > 0 else 'less'} than estimated" if off else "as estimated"
        said = (
            f"{row['currency']} billed {more}, over {number(messages)} message{'s' * (messages != 1)} with an estimate"
        )
        notes.append(Note("i", said))
    return notes


def _note(sign: Literal["!", "i"], rows: int, text: str) -> Note | None:
    return Note(sign, f"{counted(rows, 'row')} {text}") if rows else None


def _estimate_of(frame: pd.DataFrame, status: str) -> str:
    """Say what the rows of a state would cost by the estimate, where there is one."""
    if not has_estimates(frame):
        return ""
    found = outcomes(frame[(frame["status"] == status).to_numpy()]).dropna(subset=["est_cost"])
    said = [money(row["est_cost"], row["currency"]) for row in records(found)]
    return f", by the estimate {' and '.join(said)}" if said else ""
