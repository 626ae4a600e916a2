"""The campaigns page as HTML: a campaign in the list, a campaign as a card. Everything foreign is escaped."""

from __future__ import annotations

from ..._cards import Card, Note, Table, counted, money, number, safe
from ..._ledger import Entry
from ..._services import shown
from ..._wire import amount
from ...results import Progress
from ..stages import Sign
from .steps import Answer, Opened


def state_of(entry: Entry) -> tuple[Sign, str]:
    """Return how a campaign stands: the sign, and what is to be done first.

    Example:
        >>> import datetime
        >>> from smsotp_nb._ledger.summing import Billed
        >>> counts = {"planned": 1, "sending": 0, "in_doubt": 2}
        >>> state_of(Entry("a", "sandbox:1", datetime.datetime(2026, 11, 12), 3, False, counts, Billed()))
        ('warn', '2 rows in doubt, 1 row to go')
    """
    if entry.purged:
        return "", "purged: its numbers were deleted"
    counts = entry.counts
    named = (("in_doubt", "in doubt"), ("sending", "being sent now"), ("planned", "to go"))
    said = [f"{counted(counts[state], 'row')} {words}" for state, words in named if counts[state]]
    return ("warn", ", ".join(said)) if said else ("ok", "finished")


def entry_html(entry: Entry) -> str:
    """Return what is said of a campaign in the list, below its name."""
    sign, state = state_of(entry)
    mark = {"warn": "! ", "ok": "✓ "}.get(sign, "")
    first = f"{mark}{state}"
    said = [shown(entry.service), f"{entry.created:%Y-%m-%d %H:%M} UTC", counted(entry.rows, "row")]
    if not entry.purged:
        said.append(f"{number(entry.counts['accepted'])} accepted")
        said += [f"{number(entry.counts['rejected'])} rejected"] if entry.counts["rejected"] else []
    said.append(billed(entry))
    return (
        f'<p class="smsotp-line smsotp-{sign or "plain"}">{safe(first)}</p>'
        f'<p class="smsotp-line smsotp-num">{safe(" · ".join(said))}</p>'
    )


def billed(entry: Entry) -> str:
    """Return what a campaign was billed, each currency by itself.

    Example:
        >>> import datetime
        >>> from smsotp_nb._ledger.summing import Billed
        >>> sums = Billed((("EUR", 1_000_000), ("USD", 2_250_000)), 3)
        >>> billed(Entry("a", "sandbox:1", datetime.datetime(2026, 11, 12), 3, False, {}, sums))
        'EUR 1.00 and USD 2.25 billed, 3 messages without a price'
    """
    sums = [money(amount(micros), currency) for currency, micros in entry.billed.micros]
    said = f"{' and '.join(sums)} billed" if sums else "nothing billed"
    unpriced = entry.billed.unpriced
    return f"{said}, {counted(unpriced, 'message')} without a price" if unpriced else said


def list_card(place: str, answer: Answer, words: str) -> Card:
    """Return the list as a card, for a notebook whose kernel is gone."""
    rows = tuple((entry.name, *_row(entry)) for entry in answer.listing.entries)
    columns = ("Campaign", "Service", "Recorded, UTC", "State", "Cost")
    tables = (Table(columns, rows),) if rows else ()
    closing = "Run this cell to open a campaign."
    return Card("Campaigns", f"Ledger: {place}. {answer.trouble or words}", tables, closing)


def _row(entry: Entry) -> tuple[str, ...]:
    return shown(entry.service), f"{entry.created:%Y-%m-%d %H:%M}", state_of(entry)[1], billed(entry)


def opened_card(opened: Opened) -> Card:
    """Return a campaign as a card: rows by state, what was changed, what it cost by country.

    What is in doubt stands below the card, row by row.
    """
    card = opened.card
    if opened.entry.purged:
        cost_said = billed(opened.entry)
        words = f"Its numbers were deleted, and it is never sent again. In all, {cost_said}."
        return Card(card.title, card.state, (Note("i", words),))
    said = tuple(block for block in card.blocks if not isinstance(block, Table))
    costs = opened.costs
    prospect = opened.prospect
    held = prospect.notes(opened.entry.name) if prospect is not None and len(prospect.held) else []
    return Card(card.title, f"{card.state} {costs.state}.", (*said, *held, *costs.blocks[1:]))


def progress_html(progress: Progress | None) -> str:
    """Return how far a send is, in words and as a bar."""
    if progress is None:
        return '<p class="smsotp-line">Preparing …</p>'
    share = progress.done / progress.total if progress.total else 0
    said = f"{number(progress.done)} of {counted(progress.total, 'row')}: {number(progress.accepted)} accepted"
    said += f", {number(progress.rejected)} rejected, {number(progress.in_doubt)} in doubt."
    bar = f'<div class="smsotp-bar" style="width:{share:.1%}"></div>'
    return (
        f'<p class="smsotp-line smsotp-num">{safe(said)}</p><div class="smsotp-track smsotp-tall" '
        f'role="progressbar" aria-label="Rows sent" aria-valuemin="0" aria-valuemax="100" '
        f'aria-valuenow="{share * 100:.0f}">{bar}</div>'
    )
