"""The arguments of a plan: checked against the names of the columns, then the words against the cells."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

import pandas as pd

from .. import _wire as wire
from .. import rates as rate_tables
from .. import results
from .._calling import given, not_flag, not_whole, refuse
from .._frames import as_pandas
from .._pandas import lent
from .._policy import Policy, not_policy
from .._showing import NoText, is_whole, text_of
from ..columns import absent
from ..errors import UsageError
from . import mistakes, segments, wording
from .suppression import Reading
from .wording import Message, label_of, plain_words

Made = TypeVar("Made")
PLAN_COLUMNS: Final = ("body", "note")
LONGEST_NAME: Final = 300  # characters of a campaign's name, which cards, files and errors show
# One of these is the message; what comes with a template stays only if it still fits.
KINDS: Final = ("text", "content", "template_id")
_OF_WORDING: Final = (*KINDS, "template_data", "template_text", "signature", "signature_join", "replace")
MESSAGE: Final = (*_OF_WORDING, "by", "priority")
REFUSED: Final = "the plan cannot be made: "


@dataclass(frozen=True, slots=True)
class Words:
    """What is said to whom: the ``frame`` that the messages are filled from, and who is in which segment, if any."""

    wording: wording.Wording
    frame: pd.DataFrame = field(repr=False)
    segments: segments.Segments | None


@dataclass(frozen=True, slots=True)
class Asked:
    """The call's arguments, each known to be usable; ``message`` are those of the message as they were given.

    ``region`` is a Series where it was given as one; ``rates`` is empty where none were given.
    """

    campaign: str
    variant: wire.Variant
    chunk_size: int
    keep: tuple[str, ...]
    keep_bodies: bool
    region: pd.Series[Any] | None
    reading: Reading
    rates: rate_tables.Book
    today: dt.date
    policy: Policy | None
    message: Mapping[str, Any] = field(repr=False)
    wording: wording.Wording

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        names = [self.reading.to, self.reading.region, self.message["by"], *self.keep, *self.wording.columns]
        return list(dict.fromkeys(name for name in names if isinstance(name, str)))

    def numbers_of(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return what `phones.normalize` is asked of these rows."""
        name = self.reading.region
        return {
            "numbers": frame[self.reading.to],
            "region": self.region if name is None else frame[name],
            "default_region": self.reading.default_region,
            "repair": self.reading.repair,
        }


def read(frame: pd.DataFrame, call: Mapping[str, Any]) -> Asked:
    """Check the arguments of `plan`, those that name columns against the columns of a frame.

    Raises:
        UsageError: lists everything wrong with them.
    """
    to, region, variant, today = call["to"], as_pandas(call["region"]), call["variant"], call["today"]
    message = message_of(call)
    wrong = _not_columns(frame, to, region)
    keep = _names(call["keep"], wrong)
    wrong += _not_kept(frame, keep)
    wrong += filter(None, [_not_campaign(call["campaign"])])
    wrong += filter(None, [not_whole("chunk_size", call["chunk_size"], most=wire.MAX_RECIPIENTS)])
    wrong += filter(None, [not_flag("keep_bodies", call["keep_bodies"]), not_policy(call["policy"])])
    ignore = call["ignore_unreadable_suppressions"]
    wrong += filter(None, [not_flag("ignore_unreadable_suppressions", ignore)])
    book: rate_tables.Book = {}
    if not (today is None or (isinstance(today, dt.date) and not pd.isna(today))):
        wrong.append(f"today= must be a date, such as datetime.date(2026, 1, 31), got {given(today)}")
    elif call["rates"] is not None:
        book = _gather(wrong, lambda: _read_rates(call["rates"], today or _today())) or {}
    worded = None
    if variant not in get_args(wire.Variant):
        wrong.append(f"variant= must be 'intl' or 'cn', got {variant!r}")
    else:
        worded = _gather(wrong, lambda: wording_of(frame, message, variant))
    if worded:
        wrong += segments.not_columns(frame, message["by"], worded, message["priority"])
    refuse(*wrong, said=REFUSED)
    assert worded is not None
    named = region if isinstance(region, str) else None
    return Asked(
        campaign=call["campaign"].strip(),
        variant=variant,
        chunk_size=int(call["chunk_size"]),
        keep=keep,
        keep_bodies=call["keep_bodies"],
        region=None if named else region,
        reading=Reading(to, named, call["default_region"], call["repair"], ignore),
        rates=book,
        today=today or _today(),
        policy=call["policy"],
        message=message,
        wording=worded,
    )


def _gather(wrong: list[str], make: Callable[[], Made]) -> Made | None:
    try:
        return make()
    except UsageError as error:
        wrong += error.problems
        return None


# -- names -------------------------------------------------------------------------------------------------------------


def _not_columns(frame: pd.DataFrame, to: Any, region: Any) -> list[str]:
    wrong = [f"to=: {missing}"] if (missing := absent(to, frame.columns)) else []
    if isinstance(region, str):
        code = f"; for one country for all, pass default_region={region.upper()!r}" if len(region) == 2 else ""
        return wrong + ([f"region=: {missing}{code}"] if (missing := absent(region, frame.columns)) else [])
    if region is None:
        return wrong
    if not isinstance(region, pd.Series):
        return [*wrong, f"region= must be a column's name or a Series, got {given(region)}"]
    other = "region= is a Series on another index than the recipients; take it from the same frame"
    return wrong if region.index.equals(frame.index) else [*wrong, other]


def _names(keep: Any, wrong: list[str]) -> tuple[Any, ...]:
    """Return the names of the columns to keep; report anything that is not a list of names."""
    if isinstance(keep, str):
        return (keep,)
    if isinstance(keep, list | tuple | set | frozenset | pd.Index):
        return tuple(keep)
    wrong.append(f"keep= must be a list of column names, such as ['segment'], got {given(keep)}")
    return ()


def _not_kept(frame: pd.DataFrame, keep: tuple[str, ...]) -> list[str]:
    wrong = [f"keep=: {missing}" for name in keep if (missing := absent(name, frame.columns))]
    taken = [name for name in keep if not wrong and (name in results.COLUMNS or name in PLAN_COLUMNS)]
    wrong += [f"keep=: {name!r} is a column of the results; rename yours first" for name in taken]
    if not wrong and len(set(keep)) < len(keep):
        wrong.append("keep= names a column twice")
    return wrong


def _not_campaign(campaign: Any) -> str | None:
    if not isinstance(campaign, str) or not campaign.strip():
        named = "; the send is recorded under it"
        return f"campaign= must be a name, such as 'autumn-sale', got {given(campaign)}{named}"
    if len(campaign) > LONGEST_NAME:
        return f"campaign= must have at most {LONGEST_NAME} characters, got {len(campaign):,}"
    if not is_whole(campaign):
        return f"campaign= holds half a character ({campaign!a}), which no file can store; retype the name"
    return None


def not_in_files(call: Mapping[str, Any]) -> list[str]:
    """Report Series where the list is in files: they would be as large as the list."""
    values = {"region": as_pandas(call["region"]), **message_of(call)}
    return [
        f"{name}= must name a column of the files, got {given(value)}; write it into the files first"
        for name, value in values.items()
        if isinstance(plain_words(value), pd.Series | pd.DataFrame)
    ]


def no_label(index: pd.Index) -> str | None:
    """Report rows that no file and no error could name, before anybody of them is texted."""
    for at in range(index.nlevels):
        level = index.get_level_values(at)
        if level.dtype != object:
            continue
        for place, label in enumerate(level):
            try:
                text_of(label)
            except NoText as no:
                return f"recipients: the label of row {place} is of type {no} and has no text; call reset_index first"
    return None


def _read_rates(rates: Any, today: dt.date) -> rate_tables.Book:
    table = rate_tables.read(rates) if isinstance(rates, (str, Path)) else rate_tables.check(rates)
    return rate_tables.book(table, today=today)


def _today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


# -- words -------------------------------------------------------------------------------------------------------------


def message_of(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the message out of all; frames of other libraries as pandas has them."""
    return {name: as_pandas(call[name]) if name in ("text", "content", "by") else call[name] for name in MESSAGE}


def wording_of(frame: pd.DataFrame, message: Mapping[str, Any], variant: wire.Variant) -> wording.Wording:
    """Read the arguments of the message, ``by`` and ``priority`` aside, against the names of the columns.

    Raises:
        UsageError: lists everything wrong with them.
    """
    said = {name: message[name] for name in _OF_WORDING}
    columns = frame.iloc[:0]
    for name, texts in _whole_texts(message).items():
        if not texts.index.equals(frame.index):
            other = f"{name}= is a Series on another index than the recipients; take it from the same frame"
            refuse(f"{other}, or for a message by segment write {name}=series.to_dict()")
        own, words = wording.Column(str(texts.name)), said[name]
        said[name] = Message(own, literal=words.literal) if isinstance(words, Message) else own
        columns = texts.to_frame().iloc[:0]
    read = wording.read(said, variant)
    read = read.fitted(columns.columns)
    refuse(*mistakes.no_columns(read, columns), mistakes.signature_beside_text(read, variant))
    return read


def words_of(
    read: wording.Wording, frame: pd.DataFrame, message: Mapping[str, Any], keep: Sequence[str], names: Sequence[Any]
) -> Words:
    """Return a message beside the cells of its recipients, whose columns have these names.

    Raises:
        UsageError: lists placeholders that would be sent, and segments that nobody is in.
    """
    wrong: list[str] = []
    source = next((texts.to_frame() for texts in _whole_texts(message).values()), frame)
    named = _gather(wrong, lambda: segments.read(frame, message["by"], read, message["priority"], keep))
    wrong = mistakes.found_in(read, source, names, named.codes if named else None) + wrong
    refuse(*wrong, said=REFUSED)
    return Words(read, source, named)


def _whole_texts(message: Mapping[str, Any]) -> dict[str, pd.Series[Any]]:
    """Return whole messages that were given as a Series, by their argument, under a name that a column can have."""
    series = {name: plain_words(message[name]) for name in ("text", "content")}
    return {
        name: texts.rename(texts.name if isinstance(texts.name, str) and texts.name.strip() else name)
        for name, texts in series.items()
        if isinstance(texts, pd.Series)
    }


# -- other words -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MadeOf:
    """What a plan in memory is made of, so that it can be made again with other words.

    The caller's ``frame``, the judged ``numbers`` (indexed from 0), whom to leave out, by problem, and the columns that
    are ``kept``.
    """

    frame: pd.DataFrame = field(repr=False)
    asked: Asked
    words: Words = field(repr=False)
    numbers: pd.DataFrame = field(repr=False)
    left_out: Mapping[str, pd.Series[str]] = field(repr=False)
    kept: pd.DataFrame = field(repr=False)

    def reworded(self, changes: Mapping[str, Any]) -> MadeOf:
        """Return the same with another message; arguments that are None stay as they are.

        Raises:
            UsageError: lists everything wrong with them.
        """
        asked = self.asked
        message = _merged(asked.message, changes, asked.variant)
        read = wording_of(self.frame, message, asked.variant)
        refuse(*segments.not_columns(self.frame, message["by"], read, message["priority"]))
        words = words_of(read, self.frame, message, asked.keep, list(self.frame.columns))
        asked = replace(asked, wording=read, message=as_now(message))
        return replace(self, asked=asked, words=words, kept=carried(self.kept, words))


def as_now(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message's arguments as they are now, whatever becomes of the caller's."""
    return {name: _copied(value) for name, value in message.items()}


def _copied(value: Any) -> Any:
    if isinstance(value, Message):
        return Message(_copied(value.words), **value.manner._asdict())
    if isinstance(value, pd.Series):
        return lent(value.to_frame()).iloc[:, 0]
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, list) else value


def carried(kept: pd.DataFrame, words: Words) -> pd.DataFrame:
    """Return the kept columns with that of the segments."""
    return kept if words.segments is None else kept.assign(**{words.segments.name: words.segments.column.array})


def _merged(before: Mapping[str, Any], changes: Mapping[str, Any], variant: wire.Variant) -> dict[str, Any]:
    """Return the arguments of the new message: those that were not given are as before where they still apply."""
    new = [name for name in KINDS if changes[name] is not None]
    refuse(None if new else "the new words are missing: one of text=, content= or template_id= is needed")
    inherited = dict(before) | dict.fromkeys(KINDS)
    if new[0] != "template_id":
        inherited["template_data"] = None
    if not (isinstance(changes["template_id"], str) and changes["template_id"] == before["template_id"]):
        inherited["template_text"] = None
    if new[0] == "text" and variant == "intl":
        inherited["signature"] = None  # a text is the whole message
    words = plain_words(changes[new[0]])
    labels = {label_of(key) for key in words} if isinstance(words, Mapping) else set()
    inherited["priority"] = [first for first in before["priority"] if label_of(first) in labels]
    if not labels:
        inherited["by"] = None
    return {name: inherited[name] if changes[name] is None else changes[name] for name in MESSAGE}
