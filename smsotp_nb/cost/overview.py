"""The cost of a result table as a card."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from ..cards import Bar, Card, Figures, Note, Table, money, number, places_of, share
from .sums import by, by_country

_SHOWN: Final = 12


def card(results: pd.DataFrame) -> Card:
    """Return the cost of a result table as a card: totals by currency, countries, and what the totals leave out.

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
    totals, countries = by(results, []), by_country(results)
    figures: list[tuple[str, Any]] = [
        ("accepted messages", int(totals["messages"].sum())),
        ("parts", int(totals["parts"].sum())),
    ]
    for row in _records(totals.dropna(subset=["price"])):
        each = money(row["price_per_message"], places=min(4, places_of([row["price_per_message"]])))
        figures.append((f"billed, {each} a message", money(row["price"], row["currency"])))
    tables = [
        _country_table(part, several=totals["currency"].nunique() > 1) for _, part in countries.groupby("currency")
    ]
    return Card(
        title=_title(results),
        state=_billed(totals),
        blocks=(Figures(tuple(figures)), *tables, *_left_out(results, totals)),
        closing='Next: cost.by(results, "segment") for any column, results.write(results, "results.xlsx")',
    )


def _title(results: pd.DataFrame) -> str:
    names = list(results["campaign"].dropna().unique()) if "campaign" in results.columns else []
    return f"Cost: {names[0]}" if len(names) == 1 else "Cost"


def _billed(totals: pd.DataFrame) -> str:
    messages = int(totals["messages"].sum())
    if not messages:
        return "No message was accepted, so nothing was billed"
    amounts = [money(row["price"], row["currency"]) for row in _records(totals.dropna(subset=["price"]))]
    return f"{' and '.join(amounts) or 'No price'} for {number(messages)} accepted message{'s' * (messages != 1)}"


def _country_table(countries: pd.DataFrame, *, several: bool) -> Table:
    shown = countries.head(_SHOWN)
    currency = shown["currency"].iloc[0]
    dearest, places = shown["share"].max(), places_of(shown["price"])
    each_places = min(4, places_of(shown["price_per_message"]))
    rows = tuple(
        (
            f"{row['country']} {row['iso']}" if isinstance(row["iso"], str) else "unknown",
            int(row["messages"]),
            int(row["parts"]),
            money(row["price"], places=places) if row["price"] == row["price"] else "unknown",
            money(row["price_per_message"], places=each_places),
            Bar(row["share"] / dearest, share(row["share"])) if row["share"] == row["share"] else "",
        )
        for row in _records(shown)
    )
    more = len(countries) - len(shown)
    return Table(
        columns=("Country", "Messages", "Parts", f"Cost, {currency}", "A message", "Share"),
        rows=rows,
        align=("left", "right", "right", "right", "right", "left"),
        title=f"By country, {currency}" if several else "By country",
        more=f"and {more} more: cost.by_country(results)" if more > 0 else "",
    )


def _left_out(results: pd.DataFrame, totals: pd.DataFrame) -> list[Note]:
    """Say what the totals do not hold, each in its own sentence."""
    counts = results["status"].astype("str").value_counts()
    said: list[tuple[Any, int, str]] = [
        (
            "!",
            int(totals["unpriced"].sum()),
            "accepted without a readable price, in no total: cost.unpriced_rows(results)",
        ),
        ("!", int(counts.get("in_doubt", 0)), "in doubt, perhaps sent and billed"),
        ("i", int(counts.get("rejected", 0)), "rejected, not billed as far as the replies say"),
        ("i", int(counts.get("planned", 0)), "still to go"),
    ]
    return [Note(sign, f"{number(rows)} {'row' if rows == 1 else 'rows'} {text}") for sign, rows, text in said if rows]


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
