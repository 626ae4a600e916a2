"""The arguments of a plan, all checked before any row is looked at."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, get_args

import pandas as pd

from .. import _wire as wire
from .. import rates as rate_tables
from .. import results, templates
from .._calling import given, not_flag, not_frame, not_whole, refuse
from .._frames import AnyFrame
from .._showing import NoText, is_whole, text_of
from ..columns import absent
from ..errors import UsageError
from . import mistakes, segments, wording
from .message import Message

Found = TypeVar("Found")
PLAN_COLUMNS = ("body", "note")
LONGEST_NAME = 300  # characters of a campaign's name, which cards, files and errors show


@dataclass(frozen=True, slots=True)
class Words:
    """What is said to whom: the ``frame`` that the messages are filled from, and who is in which segment, if any."""

    wording: wording.Wording
    frame: pd.DataFrame = field(repr=False)
    segments: segments.Segments | None


@dataclass(frozen=True, slots=True)
class Asked:
    """The call's arguments, each known to be usable. ``rates`` is empty where none were given."""

    campaign: str
    variant: wire.Variant
    chunk_size: int
    keep: tuple[str, ...]
    region: pd.Series[Any] | None
    words: Words
    rates: rate_tables.Book
    today: dt.date
    keep_bodies: bool


def read(
    recipients: pd.DataFrame,
    *,
    to: str,
    region: str | pd.Series[Any] | None,
    campaign: str,
    keep: Sequence[str],
    chunk_size: int,
    variant: wire.Variant,
    rates: AnyFrame | str | Path | None,
    today: dt.date | None,
    keep_bodies: bool,
    message: Mapping[str, Any],
) -> Asked:
    """Check the arguments of `plan`.

    Raises:
        UsageError: lists everything wrong with them.
    """
    refuse(not_frame("recipients", recipients, hint="; read_recipients(path) reads one from a file"))
    wrong = _check_columns(recipients, to, region) + _check_labels(recipients.index)
    kept = _names(keep, wrong)
    wrong += _check_keep(recipients, kept)
    if not isinstance(campaign, str) or not campaign.strip():
        named = "; the send is recorded under it"
        wrong.append(f"campaign= must be a name, such as 'autumn-sale', got {given(campaign)}{named}")
    elif len(campaign) > LONGEST_NAME:
        wrong.append(f"campaign= must have at most {LONGEST_NAME} characters, got {len(campaign):,}")
    elif not is_whole(campaign):
        wrong.append(f"campaign= holds half a character ({campaign!a}), which no file can store; retype the name")
    whole = not_whole("chunk_size", chunk_size, most=wire.MAX_RECIPIENTS)
    wrong += filter(None, [whole, not_flag("keep_bodies", keep_bodies)])
    worded = table = None
    if not (today is None or (isinstance(today, dt.date) and not pd.isna(today))):
        wrong.append(f"today= must be a date, such as datetime.date(2026, 1, 31), got {given(today)}")
    elif rates is not None:
        table = _gather(wrong, lambda: _read_rates(rates, today or _today()))
    if variant not in get_args(wire.Variant):
        wrong.append(f"variant= must be 'intl' or 'cn', got {variant!r}")
    else:
        worded = _gather(wrong, lambda: read_words(recipients, message, variant, kept))
    if wrong or worded is None:
        raise UsageError("the plan cannot be made: " + "; ".join(wrong), problems=tuple(wrong))
    regions = recipients[region] if isinstance(region, str) else region
    return Asked(
        campaign.strip(),
        variant,
        int(chunk_size),
        kept,
        regions,
        worded,
        table or {},
        today or _today(),
        keep_bodies,
    )


def _gather(wrong: list[str], make: Callable[[], Found]) -> Found | None:
    try:
        return make()
    except UsageError as error:
        wrong += error.problems
        return None


def _check_columns(frame: pd.DataFrame, to: str, region: str | pd.Series[Any] | None) -> list[str]:
    wrong = []
    missing = absent(to, frame.columns)
    if missing:
        wrong.append(f"to=: {missing}")
    if isinstance(region, str):
        missing = absent(region, frame.columns)
        code = f"; for one country for all, pass default_region={region.upper()!r}" if len(region) == 2 else ""
        if missing:
            wrong.append(f"region=: {missing}{code}")
    elif region is not None and not isinstance(region, pd.Series):
        wrong.append(f"region= must be a column's name or a Series, got {given(region)}")
    elif region is not None and not region.index.equals(frame.index):
        wrong.append("region= is a Series on another index than the recipients; take it from the same frame")
    return wrong


def _check_labels(index: pd.Index) -> list[str]:
    """Refuse rows that no file and no error could name, before anybody of them is texted."""
    for at in range(index.nlevels):
        level = index.get_level_values(at)
        if level.dtype != object:
            continue
        for place, label in enumerate(level):
            try:
                text_of(label)
            except NoText as no:
                return [f"recipients: the label of row {place} is of type {no} and has no text; call reset_index first"]
    return []


def _check_keep(frame: pd.DataFrame, keep: tuple[str, ...]) -> list[str]:
    wrong = [f"keep=: {missing}" for name in keep if (missing := absent(name, frame.columns))]
    taken = [name for name in keep if not wrong and (name in results.COLUMNS or name in PLAN_COLUMNS)]
    wrong += [f"keep=: {name!r} is a column of the results; rename yours first" for name in taken]
    if not wrong and len(set(keep)) < len(keep):
        wrong.append("keep= names a column twice")
    return wrong


def read_words(
    frame: pd.DataFrame,
    message: Mapping[str, Any],
    variant: wire.Variant,
    kept: Sequence[str],
    *,
    fill_before: Mapping[str, Any] = MappingProxyType({}),
) -> Words:
    """Read the arguments of the message, ``by`` and ``priority`` included.

    ``fill_before`` is the ``fill`` of the plan that is reworded; it applies to columns that the message still uses.

    Raises:
        UsageError: lists everything wrong with them.
    """
    said = dict(message)
    by, priority = said.pop("by"), said.pop("priority")
    source = _beside(frame, said)
    found = wording.read(**said, variant=variant)
    still = {name: value for name, value in fill_before.items() if name in found.columns}
    found = replace(found, fill=still | dict(found.fill))
    wrong = _no_columns(found, source)
    what = "template_id" if found.kind == "template" else found.kind
    known = not wrong
    named = _gather(wrong, lambda: segments.read(frame, by, found.segments, priority, kept, what))
    if known:
        templates.column_texts(source.iloc[:0], found.columns, fill=found.fill)
        wrong = mistakes.found_in(found, source, frame.columns, named.codes if named else None) + wrong
        wrong += filter(None, [_signature_beside_text(found, variant)])
    refuse(*wrong)
    return Words(found, source, named)


def _beside(frame: pd.DataFrame, said: dict[str, Any]) -> pd.DataFrame:
    """Return the frame that messages are filled from: a Series of whole messages becomes its only column."""
    for name in ("text", "content"):
        given_words = said[name]
        texts = given_words.words if isinstance(given_words, Message) else given_words
        if isinstance(texts, pd.Series):
            if not texts.index.equals(frame.index):
                other = f"{name}= is a Series on another index than the recipients; take it from the same frame"
                refuse(f"{other}, or for a message by segment write {name}=series.to_dict()")
            titled = texts.name if isinstance(texts.name, str) and texts.name.strip() else name
            own = wording.Column(titled)
            said[name] = Message(own, literal=given_words.literal) if isinstance(given_words, Message) else own
            return texts.to_frame(titled)
    return frame


def _no_columns(found: wording.Wording, frame: pd.DataFrame) -> list[str]:
    """Report placeholders and columns of messages that are not there."""
    wrong = []
    for message in found.messages:
        if message.own is not None:
            missing = absent(message.own, frame.columns)
            wrong += [(message.segment, f"{found.kind}=: {missing}")] if missing else []
            continue
        names = message.main.names if message.main else ()
        wrong += [(message.segment, said) for name in names if (said := templates.no_placeholder(name, frame))]
    of_data = [templates.no_placeholder(name, frame) for name in dict.fromkeys(column for _, column in found.variables)]
    return wording.for_segments(wrong, len(found.messages)) + [said for said in of_data if said]


def _signature_beside_text(found: wording.Wording, variant: wire.Variant) -> str | None:
    """Report a signature beside ``text``. Only the cn variant sends one there; elsewhere nobody would read it."""
    if variant == "cn" or found.kind != "text" or found.signature is None:
        return None
    return (
        "signature= is not put in front of text=, which is sent as it stands: pass the message as content= to have "
        "both joined, or write the name into text="
    )


def _names(keep: Any, wrong: list[str]) -> tuple[Any, ...]:
    """Return the names of the columns to keep; report anything that is not a list of names."""
    if isinstance(keep, str):
        return (keep,)
    if isinstance(keep, list | tuple | set | frozenset | pd.Index):
        return tuple(keep)
    wrong.append(f"keep= must be a list of column names, such as ['segment'], got {given(keep)}")
    return ()


def _today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


def _read_rates(rates: AnyFrame | str | Path, today: dt.date) -> rate_tables.Book:
    table = rate_tables.read(rates) if isinstance(rates, (str, Path)) else rate_tables.check(rates)
    return rate_tables.book(table, today=today)
