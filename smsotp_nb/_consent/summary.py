"""What was read of consent, for people: a table, and the notes of a card."""

from __future__ import annotations

from typing import Final

import pandas as pd

from .._cards import Note, counted
from .._pandas import STR
from .._showing import cited, few, spelled
from .headings import Kind, Scope
from .reader import Consent, ConsentColumn, Reply

SHOWN_UNUSED: Final = 8
ABOUT: Final = {Scope.EVERYTHING: "any contact", Scope.TEXTS: "texts or phone", Scope.UNSAID: "not said"}
COLUMNS: Final = {
    "column": STR, "used": "bool", "about": STR, "yes": "Int64", "no": "Int64", "blank": "Int64", "unknown": "Int64",
    "why_not": STR,
}  # fmt: skip


def table_of(consent: Consent) -> pd.DataFrame:
    """Return a row for each column that asks about consent: ``column`` (str), ``used`` (bool), ``about`` (str),
    ``yes, no, blank, unknown`` (Int64: rows) and ``why_not`` (str: why it was not used)."""
    rows = [
        {
            "column": spelled(column.name),
            "used": True,
            "about": ABOUT[column.heading.scope],
            **{reply.name.lower(): column.count(reply) for reply in Reply},
        }
        for column in consent.columns
    ]
    unused = {**consent.unused, **dict.fromkeys(consent.ignored, "named in ignore_consent=")}
    rows += [{"column": spelled(name), "used": False, "why_not": reason} for name, reason in unused.items()]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def notes_of(consent: Consent) -> list[Note]:
    """Return what a card says of consent: each column that was read, with its counts, and those that were not."""
    notes = [_note_of(column) for column in consent.columns]
    if consent.columns:
        refused, held = int(consent.refused.sum()), int(consent.held.sum())
        lacking = f", {held - refused:,} for want of a yes" if held > refused else ""
        notes.append(Note("i", f"Consent: {counted(held, 'row')} of the list held (NO_CONSENT){lacking}."))
    if consent.unused:
        shown = few([f"{cited(name)} {why}" for name, why in consent.unused.items()], most=SHOWN_UNUSED)
        notes.append(Note("i", f"Not used as consent: {shown}."))
    if consent.ignored:
        names = ", ".join(cited(name) for name in consent.ignored)
        notes.append(Note("!", f"Not looked at, as ignore_consent= says: {names}."))
    return notes


def _note_of(column: ConsentColumn) -> Note:
    unknown = column.count(Reply.UNKNOWN)
    asks = " (only a yes is texted)" if column.required else ""
    text = f"Consent column {column.describe()}{asks}."
    if column.heading.kind is Kind.WORDS:
        return Note("!", text)
    if unknown and column.holds_unknown:
        return Note("!", f"{text[:-1]}: a word that is neither yes nor no holds its row.")
    return Note("i", text)
