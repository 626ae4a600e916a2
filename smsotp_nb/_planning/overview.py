"""A plan for the eye: its card and its one line."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import _cards as cards
from .. import _wire as wire
from .. import rates
from .._showing import label as shown_label
from .._showing import masked, visible
from ..problems import of_stage
from . import segment_blocks
from .wording import label_of

if TYPE_CHECKING:
    from .._ledger import Prospect
    from .value import Plan

_COUNTRIES = 12
_BOUNDS = ("est_low", "est_high")
_LABELS = 3
_MEANINGS = of_stage("number", "plan")
WARNINGS = {
    "REGION_MISMATCH": "Planned numbers of another country than their row says",
    "FIXED_LINE": "Planned numbers that are landlines and may not receive texts",
}


def one_line(plan: Plan) -> str:
    """Describe a plan in one line, for ``repr``."""
    rows = plan.rows
    planned = rows[(rows["status"] == "planned").to_numpy()]
    return (
        f"<Plan {visible(plan.campaign)}: {cards.counted(len(planned), 'recipient')} in "
        f"{cards.counted(_requests(planned), 'request')}, "
        f"{_parts(planned)} parts, estimated cost {_cost(planned)}{_unrated(planned)}; "
        f"{cards.counted(len(rows) - len(planned), 'row')} left out>"
    )


def card(plan: Plan) -> cards.Card:
    """Build the card of a plan: figures, countries, rows left out, three messages, and what to do next."""
    rows = plan.rows
    planned = rows[(rows["status"] == "planned").to_numpy()]
    blocks: list[Any] = [_figures(planned, plan.estimate, len(rows) - len(planned)), *now(plan.prospect, len(planned))]
    if len(planned):
        blocks.append(countries(plan.estimate))
    if len(planned) and plan.by is not None:
        blocks.append(segment_blocks.table(plan))
    if len(planned) < len(rows):
        blocks.append(_left_out(plan.skipped))
    blocks += _messages(plan)
    if plan.prospect:
        blocks += plan.prospect.notes(plan.campaign)
    if plan.hint:
        blocks.append(cards.Note("!", plan.hint))
    if plan.by is not None:
        blocks += segment_blocks.notes(plan)
    blocks += _warnings(planned) + old_rates(plan.estimate) + _assumptions(plan, planned)
    if len(planned):
        closing = "Next: check plan.rows and plan.skipped, then send(plan, client=...)."
    else:
        closing = "Next: no row can be sent; plan.skipped says why, row by row. Correct the list and plan again."
    return cards.Card(f"Plan: {plan.campaign}", "Nothing has been sent.", tuple(blocks), closing)


def now(prospect: Prospect | None, planned: int) -> list[cards.Figures]:
    """Return how many a send would text now and their cost, where what is recorded makes them fewer than planned."""
    if prospect is None or prospect.trouble or prospect.to_go == planned:
        return []
    return [cards.Figures(prospect.figures())]


def costs(rows: pd.DataFrame) -> dict[str, float]:
    """Return the estimated cost of the rows by currency, exact to six places; empty where no rate is known.

    Example:
        >>> costs(pd.DataFrame({"est_currency": ["USD", "USD", None], "est_cost": [0.0075, 0.0075, None]}))
        {'USD': 0.015}
    """
    known = rows[rows["est_cost"].notna()]
    micros = (known["est_cost"] * 1_000_000).round().astype("int64")
    sums = micros.groupby(known["est_currency"]).sum().sort_values(ascending=False)
    return {str(currency): round(int(total) / 1_000_000, 6) for currency, total in sums.items()}


def _requests(planned: pd.DataFrame) -> int:
    return int(planned["chunk"].nunique())


def _parts(planned: pd.DataFrame) -> str:
    known = planned["est_parts"].dropna()
    return "unknown" if len(planned) and known.empty else f"{int(known.sum()):,}"


def about_to_go(plan: Plan, recorded: pd.DataFrame | None, prospect: Prospect | None) -> str:
    """Return the estimated cost of what a send would post now."""
    return about(rows_to_go(plan, recorded, prospect))


def rows_to_go(plan: Plan, recorded: pd.DataFrame | None, prospect: Prospect | None) -> pd.DataFrame:
    """Return the rows that a send would post now: still planned, and held back by no rule."""
    rows = plan.rows
    going = rows["status"].eq("planned").to_numpy()
    if recorded is not None:
        going = going & rows["to"].isin(recorded.loc[recorded["status"].eq("planned"), "to"]).to_numpy()
    if prospect is not None:
        going = going & ~rows["to"].isin(prospect.held["to"]).to_numpy()
    return rows[going]


def about(rows: pd.DataFrame) -> str:
    """Return the estimated cost of the rows in words, such as ``"USD 38.42"``; empty where no rate is known."""
    return " and ".join(cards.about(total, currency) for currency, total in costs(rows).items())


def reasons(skipped: pd.DataFrame) -> list[tuple[str, str, int]]:
    """Return why rows are left out, the commonest first: the problem's code, what it means, and how many rows."""
    counts = skipped["problem"].value_counts().to_dict()
    return [(str(problem), _MEANINGS.get(str(problem), ""), int(count)) for problem, count in counts.items()]


def _cost(planned: pd.DataFrame) -> str:
    return about(planned) or ("unknown" if len(planned) else cards.MISSING)


def _unrated(planned: pd.DataFrame) -> str:
    """Say how many recipients the cost does not cover, where it covers any."""
    missing = int(planned["est_cost"].isna().sum())
    if not 0 < missing < len(planned):
        return ""
    return f"; {cards.counted(missing, 'recipient')} without a rate"


def _figures(planned: pd.DataFrame, estimate: pd.DataFrame, left_out: int) -> cards.Figures:
    return cards.Figures(
        (
            _figure("recipient", len(planned)),
            _figure("different message", int(planned["body"].nunique())),
            _figure("request", _requests(planned)),
            ("part, estimated" if _parts(planned) == "1" else "parts, estimated", _parts(planned)),
            ("cost, estimated" + span(estimate) + _unrated(planned), _cost(planned)),
            ("row left out" if left_out == 1 else "rows left out", left_out),
        )
    )


def _figure(what: str, many: int) -> tuple[str, int]:
    return (what if many == 1 else f"{what}s", many)


def countries(estimate: pd.DataFrame) -> cards.Table:
    """Show the estimate by country."""
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
    return cards.Table(columns, rows, ("left", "right", "right", "right", "right"), more=_rest(estimate))


def span(estimate: pd.DataFrame) -> str:
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
    money = "".join(f", {cards.about(total, currency)}" for currency, total in totals.items())
    unrated = rest.loc[rest["rate"].isna().to_numpy(), "country"].tolist()
    shown = ", ".join(unrated[:_COUNTRIES]) + (" ..." if len(unrated) > _COUNTRIES else "")
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


def _left_out(skipped: pd.DataFrame) -> cards.Table:
    rows = []
    for problem, meaning, count in reasons(skipped):
        labels = skipped.index[(skipped["problem"] == problem).to_numpy()][:_LABELS].tolist()
        shown = ", ".join(map(shown_label, labels)) + (" ..." if count > _LABELS else "")
        rows.append((cards.Code(problem), count, shown, meaning))
    columns = ("Problem", "Rows", "First rows", "Meaning")
    return cards.Table(columns, tuple(rows), ("left", "right", "left", "left"), title="Rows left out")


def _messages(plan: Plan) -> list[cards.Message]:
    preview = plan.preview(max(3, min(len(plan.segments), _COUNTRIES)))
    labels = preview.index.tolist()
    return [
        _message(plan, f"Row {shown_label(label)}, {row['to']}{_segment(plan, row)}", row)
        for label, row in zip(labels, preview.to_dict("records"), strict=True)
    ]


def _segment(plan: Plan, row: dict[Hashable, Any]) -> str:
    return "" if plan.by is None else f", {plan.by} {masked(shown_label(label_of(row[plan.by])))}"


def _message(plan: Plan, to: str, row: dict[Hashable, Any]) -> cards.Message:
    if not pd.isna(row["text"]):
        return cards.Message(to, masked(row["text"]), foot(row), tuple(row["forcing"]))
    return unread(to, plan.message(row["body"]))


def unread(to: str, body: wire.Body) -> cards.Message:
    """Show a message of which the template's text is not known: its variables."""
    text = "\n".join(
        [f"Template {body.template_id}", *(f"{name}: {masked(value)}" for name, value in body.template_data)]
    )
    return cards.Message(to, text, "The template's text is not known here; pass it as template_text=.")


def foot(row: dict[Hashable, Any]) -> str:
    """Return how a message packs, in words."""
    parts = f"{row['est_parts']} part" + ("s" if row["est_parts"] > 1 else "")
    forced = f", because of {' '.join(repr(char) for char in row['forcing'])}" if row["forcing"] else ""
    return f"{parts}, {segment_blocks.ENCODINGS[row['encoding']]}{forced}"


def _warnings(planned: pd.DataFrame) -> list[cards.Note]:
    combined = planned["note"].value_counts().to_dict().items()
    counts = {code: sum(n for note, n in combined if code in str(note).split()) for code in WARNINGS}
    return [cards.Note("!", warning(code, count)) for code, count in counts.items() if count]


def warning(code: str, many: int) -> str:
    """Return what a note on so many planned rows warns of."""
    return f"{WARNINGS[code]}: {many:,} (note {code})"


def old_rates(estimate: pd.DataFrame) -> list[cards.Note]:
    """Name the countries whose rates are old."""
    old = estimate.loc[estimate["confidence"].eq("old").to_numpy(), "country"].tolist()
    if not old:
        return []
    shown = ", ".join(old[:_COUNTRIES]) + (" ..." if len(old) > _COUNTRIES else "")
    return [cards.Note("!", f"Rates older than {rates.OLD_AFTER.days} days: {shown}.")]


def _assumptions(plan: Plan, planned: pd.DataFrame) -> list[cards.Note]:
    joined = plan.bodies[["content", "signature"]].notna().all(axis=1).any()
    return assumed(
        len(planned),
        int(planned["est_parts"].isna().sum()),
        rated=bool(planned["est_currency"].notna().any()),
        join=plan.signature_join if joined else None,
    )


def assumed(planned: int, unknown: int, *, rated: bool, join: str | None) -> list[cards.Note]:
    """Return what the estimate of so many recipients rests on, the parts of some of them ``unknown``."""
    notes = []
    if 0 < unknown < planned:
        notes.append(
            f"Parts and cost of {cards.counted(unknown, 'recipient')} are not known without the text of their "
            "template; name it in template_text= to estimate them."
        )
    elif unknown:
        notes.append("Parts and cost are not known without the template's text; pass template_text= to estimate them.")
    elif not rated and planned:
        notes.append("No rates were given, so the cost is not estimated; pass plan(rates=...).")
    if unknown < planned:
        notes.append("Parts and cost are estimates, by the usual packing and the rates. The service's reply counts.")
    if join is not None:
        notes.append(
            f"How the service joins content and signature is not known; {join!r} is assumed "
            "(signature_join= sets another)."
        )
    return [cards.Note("i", text) for text in notes]
