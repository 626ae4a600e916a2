"""What the cleaner does with the owner of a list, without a widget: ask, and merge the answers into the edits."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path

from ... import phones
from ..._phones.owner.edits import without_rows
from ..columns import NONE_CHOSEN
from .edits import PEOPLE, Edits, Step
from .judging import Cleaned, place_of, quoted


def ask(
    cleaned: Cleaned,
    name: str,
    *,
    keep: Iterable[Hashable] = (),
    source: str | Path | None = None,
    overwrite: bool = False,
) -> Path:
    """Write the unusable rows to a workbook for the owner of the list and return its path."""
    asked, gone = cleaned.question, cleaned.edits.left_out
    return phones.ask_owner(
        without_rows(cleaned.frame, gone),
        without_rows(cleaned.judged, gone),
        place_of(name),
        phone=asked.column,
        region=None if asked.region == NONE_CHOSEN else asked.region,
        keep=keep,
        overwrite=overwrite,
        inputs=[] if source is None else [source],
    )


def merge(cleaned: Cleaned, edits: Edits, name: str) -> tuple[phones.Answers, Step]:
    """Read the workbook as it came back; return what became of the answers, and those that were taken as one step."""
    column, asked = cleaned.question.column, cleaned.question.arguments()
    people = without_rows(edits.frame(), edits.left_out)
    answers = phones.merge_answers(people, place_of(name), phone=column, **asked)
    said = "".join(f", {key}={quoted(value)}" for key, value in {"phone": column, **asked}.items())
    code = f"{PEOPLE}sms.phones.merge_answers(people, {name.strip()!r}{said}).people"
    places = {label: place for place, label in enumerate(edits.source.index.tolist())}
    return answers, Step({places[label]: cells for label, cells in answers.edits.items()}, code)
