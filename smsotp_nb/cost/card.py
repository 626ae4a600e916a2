"""What was spent, as a card: totals, countries, and what the totals leave out."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from .._calling import in_our_words
from .._cards import (
    Bar,
    Card,
    Cell,
    Figures,
    Note,
    Table,
    counted,
    money,
    notes,
    number,
    places_of,
    records,
    share,
    shares,
)
from .._cards.blocks import Sign
from .._ledger import sent_rows
from .._pandas import STR
from .comparison import compare, outcomes
from .rows import RECORDED, Source, has_estimates, is_sums, read_frame
from .sums import by, by_country, summary

_COUNTRIES: Final = 12  # of a card; all of them are in a table
_PLACES_OF_AVERAGE: Final = 4


@in_our_words
def card(source: Source) -> Card:
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
    totals, states = summary(source), states_of(source)
    frame = None if isinstance(source, RECORDED) else read_frame(source)
    tables: list[Table] = []
    if frame is None or "iso" in frame.columns:
        countries = by_country(source)
        several = countries["currency"].nunique(dropna=False) > 1
        tables = [_country_table(part, several) for _, part in countries.groupby("currency", dropna=False)]
    next_step = 'cost.by(results, "segment") for any column, results.write(results, "results.xlsx")'
    if frame is None or is_sums(frame):
        next_step = "cost.by_month, cost.compare and cost.change take the same"
    return Card(
        title=_title(source),
        state=billed_sentence(totals, in_doubt=states.get("in_doubt", 0)),
        blocks=(_figures(totals), *tables, *_left_out(source, totals, states)),
        closing=f"Next: {next_step}",
    )


def states_of(source: Source) -> dict[str, int]:
    """Return how many rows of a source are in each state; sums do not know it."""
    if isinstance(source, RECORDED):
        return sent_rows(source).rows
    frame = read_frame(source)
    if is_sums(frame):
        return {}
    return {str(state): int(rows) for state, rows in frame["status"].astype(STR).value_counts().items()}


def campaigns_of(source: Source) -> tuple[list[str], list[str]]:
    """Return the names of the campaigns of a source, and in words what else it is of: tests, passcodes."""
    if isinstance(source, RECORDED):
        source = by(source, ["campaign", "kind"])
    frame = read_frame(source)
    if "campaign" not in frame.columns:
        return [], []
    kind = pd.Series("campaign", index=frame.index)
    if is_sums(frame) and "kind" in frame.columns:  # a result table's is a column of its sender
        kind = frame["kind"].astype(STR).fillna("campaign")
    names = frame.loc[kind.eq("campaign").to_numpy(bool), "campaign"].dropna()
    others = [f"{name}s" for name in ("test", "passcode") if kind.eq(name).any()]
    return sorted({str(name) for name in names}), others


def _title(source: Source) -> str:
    names, others = campaigns_of(source)
    if not others and len(names) < 2:
        return f"Cost: {names[0]}" if names else "Cost"
    campaigns = [counted(len(names), "campaign")] if names else []
    return f"Cost of {' and '.join([*campaigns, *others])}"


def billed_sentence(totals: pd.DataFrame, *, in_doubt: int) -> str:
    """Return in one line what the totals of `summary` are."""
    messages = int(totals["messages"].sum())
    if not messages and in_doubt:
        return f"No message is known to be accepted; {counted(in_doubt, 'message')} in doubt may have been billed"
    if not messages:
        return "No message was accepted, so nothing was billed"
    billed = " and ".join(money(row["cost"], row["currency"]) for row in records(totals.dropna(subset=["cost"])))
    sentence = f"{billed or 'No price'} for {counted(messages, 'accepted message')}"
    unpriced = int(totals["unpriced"].sum())
    if not billed or not unpriced:
        return sentence
    return f"At least {sentence}, {number(unpriced)} of them without a readable price"


def _figures(totals: pd.DataFrame) -> Figures:
    messages, parts = int(totals["messages"].sum()), int(totals["parts"].sum())
    # A message has a part at least.
    label = "parts" if parts >= messages else "parts of those whose parts are known"
    pairs: list[tuple[str, Cell]] = [("accepted messages", messages), (label, parts)]
    for row in records(totals.dropna(subset=["cost"])):
        places = min(_PLACES_OF_AVERAGE, places_of([row["price_per_message"]]))
        each = money(row["price_per_message"], places=places)
        pairs.append((f"billed, {each} a message", money(row["cost"], row["currency"])))
    return Figures(tuple(pairs))


def _country_table(countries: pd.DataFrame, several: bool) -> Table:
    currency = countries["currency"].iloc[0]
    is_known = isinstance(currency, str)
    lines = [{**row, "place": _place(row)} for row in records(countries.iloc[:_COUNTRIES])]
    rest = countries.iloc[_COUNTRIES:]
    if len(rest):
        lines.append({**_together(rest), "place": counted(len(rest), "more country", "more countries")})
    total = {**_together(countries), "place": "Total"}
    fractions = [line["share"] for line in lines]
    dearest = max((part for part in fractions if part == part), default=0.0)
    # One number of places for all amounts; an average needs no more than four.
    averages = places_of(line["price_per_message"] for line in (*lines, total))
    places = max(places_of(line["cost"] for line in (*lines, total)), min(_PLACES_OF_AVERAGE, averages))
    rows = []
    for line, part, percent in zip(lines, fractions, shares(fractions), strict=True):
        bar: Cell = ""
        if part == part:
            bar = Bar(min(part / dearest, 1.0) if dearest else 0.0, percent)
        rows.append((*_cells(line, places), bar))
    title = "By country"
    if several:
        title += f", {currency if is_known else 'currency unknown'}"
    return Table(
        columns=("Country", "Messages", "Parts", f"Cost, {currency}" if is_known else "Cost", "A message", "Share"),
        rows=tuple(rows),
        align=("left", "right", "right", "right", "right", "left"),
        title=title,
        more="All countries: cost.by_country(results)" if len(rest) else "",
        total=(*_cells(total, places), share(total["share"])) if len(countries) > 1 else (),
    )


def _place(row: dict[str, Any]) -> str:
    return f"{row['country']} {row['iso']}" if isinstance(row["iso"], str) else "unknown"


def _together(countries: pd.DataFrame) -> dict[str, Any]:
    """Return some rows of a table by country as one, with their share of its whole."""
    is_known = countries["share"].notna().any()
    return {**records(summary(countries))[0], "share": countries["share"].sum() if is_known else float("nan")}


def _cells(line: dict[str, Any], places: int) -> tuple[Cell, ...]:
    return (
        line["place"],
        int(line["messages"]),
        int(line["parts"]) if line["parts"] or not line["messages"] else "unknown",
        money(line["cost"], places=places) if line["cost"] == line["cost"] else "unknown",
        money(line["price_per_message"], places=places),
    )


def _left_out(source: Source, totals: pd.DataFrame, states: dict[str, int]) -> list[Note]:
    """Return a sentence for each kind of row that the totals do not hold, and how far the bill is off the estimate."""
    unpriced = int(totals["unpriced"].sum())
    in_doubt, planned = states.get("in_doubt", 0), states.get("planned", 0)
    rejected = states.get("rejected", 0)
    counts: list[tuple[Sign, int, str]] = [
        ("!", unpriced, "accepted without a readable price, in no total: cost.unpriced_rows(results)"),
        ("!", in_doubt, f"in doubt; possibly sent and billed{_estimate(source, 'in_doubt')}"),
        ("i", rejected, "rejected; not billed according to the replies"),
        ("i", planned, f"still to go{_estimate(source, 'planned')}"),
    ]
    sentences = notes(*((sign, rows, f"{counted(rows, 'row')} {text}") for sign, rows, text in counts))
    return [*sentences, *_off_the_estimate(source)]


def _off_the_estimate(source: Source) -> list[Note]:
    """Return by how much the bill is off the estimate, over the messages that have both, and what the others cost."""
    if not isinstance(source, RECORDED) and not has_estimates(read_frame(source)):
        return []
    sentences = []
    for row in records(compare(source, []).dropna(subset=["difference"])):
        off, messages, currency = row["difference"], int(row["compared"]), row["currency"]
        sentence = f"Billed as estimated in sum, {currency}"
        if off:
            sentence = f"Billed {money(abs(off), currency)} {'more' if off > 0 else 'less'} than estimated"
        sentence += f", over {counted(messages, 'message')} with an estimate"
        others = int(row["messages"] - row["unpriced"] - messages)
        if others:
            alone = money(round(row["cost"] - row["compared_cost"], 6), currency)
            sentence += f"; {alone} for {counted(others, 'message')} without one"
        sentences.append(sentence)
    return [Note("i", sentence) for sentence in sentences]


def _estimate(source: Source, status: str) -> str:
    """Return what the rows of a state would cost by the estimate, where there is one, and how many have none."""
    if isinstance(source, RECORDED):
        return ""
    frame = read_frame(source)
    if is_sums(frame) or not has_estimates(frame):
        return ""
    rows = frame[(frame["status"] == status).to_numpy()]
    known = [money(row["est_cost"], row["currency"]) for row in records(outcomes(rows).dropna(subset=["est_cost"]))]
    if not known:
        return ""
    without = int(rows["est_cost"].isna().sum())
    also = f" and {counted(without, 'row')} without a rate" if without else ""
    return f", by the estimate {' and '.join(known)}{also}"
