"""The arguments of a plan: checked against the names of the columns, then the words against the cells."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import pandas as pd

from .. import _wire as wire
from .. import phones
from .. import rates as rate_tables
from .._calling import given, not_a, refuse
from .._consent import Consent, check_arguments
from .._frames import as_pandas
from .._pandas import STR, lent
from .._phones import (
    Advice,
    Evidence,
    by_another_country,
    cells_judged,
    first_usable,
    named_countries,
    normalize_columns,
    not_reading,
    of_any_country,
    said_no,
    why_states,
)
from .._policy import Policy, not_policy
from .._results import contract
from .._showing import NoText, cited, is_whole, text_of
from .._wire import RequestOptions
from ..columns import absent, several_named
from ..errors import UsageError
from . import mistakes, segments, wording
from .suppression import Numbers, Suppression
from .wording import Message, label_of, plain_words

Made = TypeVar("Made")
PLAN_COLUMNS: Final = ("body", "note")
LONGEST_NAME: Final = 300  # characters of a campaign's name, which cards, files and errors show
REFUSED: Final = "the plan cannot be made: "


@dataclass(frozen=True, slots=True)
class Words:
    """What is said to whom: the ``frame`` that the messages are filled from, and who is in which segment, if any.

    Values that nobody would want to read are not in the frame: ``odd`` has a note on their rows, ``told`` says which.
    """

    wording: wording.Wording
    frame: pd.DataFrame = field(repr=False)
    segments: segments.Segments | None
    odd: pd.Series[str] | None = field(default=None, repr=False)
    told: Sequence[str] = ()

    def without_odd(self) -> Words:
        """Return the same without values that have a sign of another format.

        Raises:
            UsageError: most values of a column have one.
        """
        codes = self.segments.codes if self.segments else None
        found = [*mistakes.in_signs(self.wording, self.frame, codes)]
        refuse(*(said for _, _, most, said in found if most), said=REFUSED)
        frame, note = self.frame, np.full(len(self.frame), None, object)
        for name in dict.fromkeys(name for name, *_ in found):
            odd = np.isin(np.arange(len(frame)), np.concatenate([rows for of, rows, *_ in found if of == name]))
            frame = frame.assign(**{name: frame[name].mask(odd)})
            note[odd] = [f"{code} VALUE_ODD:{name}" if code else f"VALUE_ODD:{name}" for code in note[odd]]
        told = dict.fromkeys(f"Rows are held back: {said}" for _, _, _, said in found)
        return replace(self, frame=frame, odd=pd.Series(note, dtype=STR) if found else None, told=[*told])


@dataclass(frozen=True, slots=True)
class Asked:
    """The call's arguments, each known to be usable; ``message`` is what `wording.arguments_of` made of the message.

    ``to`` and ``region`` are Series where they were given as such; ``rates`` is empty where none were given.
    """

    campaign: str
    wire: RequestOptions
    keep: tuple[str, ...]
    to: pd.Series[Any] | None
    region: pd.Series[Any] | None
    numbers: Numbers
    countries: tuple[str, ...]
    rates: rate_tables.Book
    today: dt.date
    policy: Policy | None
    message: Mapping[str, Any] = field(repr=False)
    wording: wording.Wording

    @property
    def columns(self) -> list[str]:
        numbers = [] if self.to is not None else self.numbers.to
        names = [*numbers, *self.countries, self.numbers.region, self.message["by"], *self.keep, *self.wording.columns]
        return list(dict.fromkeys(name for name in names if isinstance(name, str)))

    def judged(self, frame: pd.DataFrame, evidence: Sequence[Evidence] = ()) -> pd.DataFrame:
        """Return what `phones.normalize` says of these rows, by the evidence of each column where it is known.

        Of several columns, ``others`` has the other numbers of a row with blanks between them, each of which may be of
        somebody who said no. Of one column it has those of cells that say so themselves.
        """
        columns, how = self._columns(frame), self._how(frame)
        judged = normalize_columns(columns, evidence, **how)
        found = first_usable(columns, judged)
        if len(columns) == 1 and not found["problem"].eq("NOTE_SAYS_NO").any():
            return found
        return found.assign(others=_others(columns, judged, found, how))

    def weighed(self, frame: pd.DataFrame) -> list[Evidence]:
        return [phones.weigh_column(column, **self._how(frame)) for column in self._columns(frame)]

    def advise(
        self, advice: Advice, frame: pd.DataFrame, judged: pd.DataFrame, evidence: Sequence[Evidence] = ()
    ) -> None:
        """Count what would help the numbers of these rows."""
        how = self._how(frame)
        if evidence:
            how["numbers"] = how["numbers"].replace(evidence=evidence[0])
        columns = self._columns(frame)
        advice.add(judged, columns[0] if len(columns) == 1 else pd.concat(columns, axis=1), **how)

    def held(self, advice: Advice, frame: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
        """Hold back numbers that are other valid ones by a column of countries that ``region`` does not name."""
        columns, held = self._columns(frame), np.zeros(len(judged), bool)
        how = {"default_region": self.numbers.default_region, "numbers": self.numbers.reading.replace(evidence="none")}
        for name in self.countries:
            numbers = columns[0] if len(columns) == 1 else cells_judged(pd.concat(columns, axis=1), judged)
            places = by_another_country(frame[name], numbers, judged, **how)
            held[places] = True
            advice.cured["another country", name, ""] += len(places)
        if not held.any():
            return judged
        return judged.assign(to=judged["to"].mask(held), problem=judged["problem"].mask(held, "AMBIGUOUS_READING"))

    def not_countries(self, frame: pd.DataFrame) -> str | None:
        """Return why the column of the numbers' countries holds states instead; None where it does not."""
        region = self._how(frame)["region"]
        return None if region is None else why_states(self._columns(frame)[0], region, self.numbers.default_region)

    def _columns(self, frame: pd.DataFrame) -> list[pd.Series[Any]]:
        return [frame[name] for name in self.numbers.to] if self.to is None else [self.to]

    def _how(self, frame: pd.DataFrame) -> dict[str, Any]:
        name = self.numbers.region
        return {
            "region": self.region if name is None else frame[name],
            "default_region": self.numbers.default_region,
            "numbers": self.numbers.reading,
        }


def read(frame: pd.DataFrame, call: Mapping[str, Any]) -> Asked:
    """Check the arguments of `plan`, those that name columns against the columns of a frame.

    Raises:
        UsageError: lists everything wrong with them.
    """
    to, region, words, by = (as_pandas(call[name]) for name in ("to", "region", "message", "by"))
    message = wording.arguments_of(words, by=by, signature=call["signature"])
    names = to if isinstance(to, list) else [to]
    wrong = several_named("to", names) + [
        line for name in names for line in _not_numbers("to", name, frame, several=names is to)
    ]
    wrong += _not_numbers("region", region, frame) if region is not None else []
    keep = _names(call["keep"], wrong)
    wrong += _not_kept(frame, keep)
    check_arguments(wrong, call["consent"], call["ignore_consent"], frame)
    wrong += filter(None, [_not_campaign(call["campaign"]), not_policy(call["policy"]), not_reading(call["numbers"])])
    wired = not_a(
        "requests", call["requests"], RequestOptions, wanted="a RequestOptions, such as RequestOptions(chunk_size=500)"
    )
    book: rate_tables.Book = {}
    if call["rates"] is not None:
        book = _gather(wrong, lambda: _read_rates(call["rates"], _today())) or {}
    worded = None
    if wired:
        wrong.append(wired)
    else:
        worded = _gather(wrong, lambda: wording_of(frame, message, call["requests"].variant))
    if worded:
        wrong += segments.not_columns(frame, message["by"], worded, message["priority"])
    refuse(*wrong, said=REFUSED)
    assert worded is not None
    given_column = isinstance(to, pd.Series)
    numbers_in = names if not given_column else [to.name if isinstance(to.name, str) else "phone"]
    countries_in = region if isinstance(region, str) else None
    asked = Asked(
        campaign=call["campaign"].strip(),
        wire=call["requests"],
        keep=keep,
        to=to if given_column else None,
        region=None if countries_in else region,
        numbers=Numbers(tuple(numbers_in), countries_in, call["default_region"], call["numbers"]),
        countries=_not_named(frame, numbers_in, call),
        rates=book,
        today=_today(),
        policy=call["policy"],
        message=message,
        wording=worded,
    )
    refuse(asked.not_countries(frame), said=REFUSED)
    return asked


def _not_named(frame: pd.DataFrame, numbers: Sequence[str], call: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of countries that the call leaves out where it has a default country."""
    if call["region"] is not None or call["default_region"] is None:
        return ()
    names = [name for name in frame.columns if isinstance(name, str) and name not in numbers]
    return tuple(name for name in named_countries(names) if names.count(name) == 1)


def _gather(wrong: list[str], make: Callable[[], Made]) -> Made | None:
    try:
        return make()
    except UsageError as error:
        wrong += error.problems
        return None


def _others(
    columns: Sequence[pd.Series[Any]], judged: Sequence[pd.DataFrame], chosen: pd.DataFrame, how: Mapping[str, Any]
) -> pd.Series[str]:
    """Return the numbers of each row but the one to text, those of cells that hold several included.

    A no beside a number that cannot be read holds whomever it may be of.
    """
    to, refused = chosen["to"], chosen["problem"].eq("NOTE_SAYS_NO").to_numpy(bool)
    others: pd.Series[str] = pd.Series("", to.index, STR)
    for column, one in zip(columns, judged, strict=True):
        others = others.str.cat(one["to"].where(one["to"].ne(to).fillna(True)), sep=" ", na_rep="")
        places = np.flatnonzero(one["problem"].isin(["MULTIPLE_NUMBERS", "NOTE_SAYS_NO"]).to_numpy(bool))
        if len(places):
            region = None if how["region"] is None else how["region"].iloc[places]
            found = said_no(column.iloc[places], **{**how, "region": region})["to"].dropna()
            beside = found.groupby(level=0).agg(" ".join).reindex(range(len(places)))
            unread = np.flatnonzero(beside.isna() & refused[places])
            beside = beside.fillna(of_any_country(column.iloc[places[unread]]).set_axis(unread))
            others.iloc[places] = others.iloc[places].str.cat(beside.fillna("").tolist(), sep=" ")
    return others


# -- names -------------------------------------------------------------------------------------------------------------


def _not_numbers(name: str, column: Any, frame: pd.DataFrame, *, several: bool = False) -> list[str]:
    """Report what is neither the name of a column nor a Series on the recipients' index."""
    if isinstance(column, pd.Series) and several:
        return [f"{name}= takes one Series, or a list of names of columns"]
    if isinstance(column, pd.Series):
        other = f"{name}= is a Series on another index than the recipients; take it from the same frame"
        return [] if column.index.equals(frame.index) else [other]
    if name == "region" and not isinstance(column, str):
        return [f"region= must be a column's name or a Series, got {given(column)}"]
    missing = absent(column, frame.columns)
    code = name == "region" and len(column) == 2
    more = f"; for one country for all, pass default_region={column.upper()!r}" if code else ""
    return [f"{name}=: {missing}{more}"] if missing else []


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
    wrong += [
        f"keep=: the column {cited(name)} has a name that no file of a ledger holds ({type(name).__name__}), as tables "
        "of groups have; rename it first"
        for name in keep
        if not wrong and not _is_kept_name(name)
    ]
    taken = [name for name in keep if not wrong and (name in contract.ALL or name in PLAN_COLUMNS)]
    wrong += [f"keep=: {name!r} is a column of the results; rename yours first" for name in taken]
    if not wrong and len(set(keep)) < len(keep):
        wrong.append("keep= names a column twice")
    for name in keep if not wrong else ():
        column = frame[name]
        if column.dtype.kind == "f" and (without := np.isinf(column.to_numpy("float64", na_value=0.0))).any():
            row = cited(column.index[int(without.argmax())])
            wrong.append(f"keep=: column {name!r} has an infinite number in row {row}, as a division by zero gives")
    return wrong


def _is_kept_name(name: Any) -> bool:
    """Whether a name comes back from JSON as it is."""
    try:
        return bool(json.loads(json.dumps(name)) == name)
    except TypeError:
        return False


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
    values = {name: as_pandas(call[name]) for name in ("to", "region", "message", "by")}
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


def wording_of(frame: pd.DataFrame, message: Mapping[str, Any], variant: wire.Variant) -> wording.Wording:
    """Read the arguments of the message, ``by`` and ``priority`` aside, against the names of the columns.

    Raises:
        UsageError: lists everything wrong with them.
    """
    columns, texts = frame.iloc[:0], _whole_texts(message)
    if texts is not None:
        if not texts.index.equals(frame.index):
            other = "message is a Series on another index than the recipients; take it from the same frame"
            refuse(f"{other}, or for a message by segment write message=series.to_dict()")
        own, words = wording.Column(str(texts.name)), message["words"]
        message = {**message, "words": replace(words, text=own) if isinstance(words, Message) else own}
        columns = texts.to_frame().iloc[:0]
    read = wording.read(message, variant).fitted(columns.columns)
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
    texts = _whole_texts(message)
    source = frame if texts is None else texts.to_frame()
    named = _gather(wrong, lambda: segments.read(frame, message["by"], read, message["priority"], keep))
    wrong = mistakes.found_in(read, source, names, named.codes if named else None) + wrong
    words = _gather(wrong, Words(read, source, named).without_odd)
    refuse(*wrong, said=REFUSED)
    assert words is not None
    return words


def _whole_texts(message: Mapping[str, Any]) -> pd.Series[Any] | None:
    """Return whole messages that were given as a Series, under a name that a column can have."""
    texts, kind = plain_words(message["words"]), message["kind"]
    if kind == "template_id" or not isinstance(texts, pd.Series):
        return None
    return texts if isinstance(texts.name, str) and texts.name.strip() else texts.rename(kind)


# -- other words -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MadeOf:
    """What a plan in memory is made of, so that it can be made again with other words.

    The caller's ``frame``, the judged ``numbers`` (indexed from 0), what would help them, the lists to leave out, the
    columns that are ``kept``, and what the list says of consent.
    """

    frame: pd.DataFrame = field(repr=False)
    asked: Asked
    words: Words = field(repr=False)
    numbers: pd.DataFrame = field(repr=False)
    advice: tuple[str, ...]
    left_out: Sequence[Suppression] = field(repr=False)
    kept: pd.DataFrame = field(repr=False)
    consent: Consent = field(repr=False)

    def reworded(self, message: Any, *, by: Any, signature: Any) -> MadeOf:
        """Return the same with another message; what is None stays as it is.

        Raises:
            UsageError: lists everything wrong with them.
        """
        asked = self.asked
        said = _merged(asked.message, as_pandas(message), as_pandas(by), signature)
        read = wording_of(self.frame, said, asked.wire.variant)
        refuse(*segments.not_columns(self.frame, said["by"], read, said["priority"]))
        words = words_of(read, self.frame, said, asked.keep, list(self.frame.columns))
        asked = replace(asked, wording=read, message=as_now(said))
        return replace(self, asked=asked, words=words, kept=carried(self.kept, words))


def as_now(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message's arguments as they are now, whatever becomes of the caller's."""
    return {name: _copied(value) for name, value in message.items()}


def _copied(value: Any) -> Any:
    if isinstance(value, Message):
        return replace(value, text=_copied(value.text))
    if isinstance(value, pd.Series):
        return lent(value.to_frame()).iloc[:, 0]
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, list) else value


def carried(kept: pd.DataFrame, words: Words) -> pd.DataFrame:
    """Return the kept columns with that of the segments."""
    return kept if words.segments is None else kept.assign(**{words.segments.name: words.segments.column.array})


def _merged(before: Mapping[str, Any], message: Any, by: Any, signature: Any) -> dict[str, Any]:
    """Return the fields of the new message: what was not said is as before where it still applies."""
    field = message.field if isinstance(message, Message) else None
    kept_signature = before["signature"] if signature is None and field != "text" else signature
    said = wording.arguments_of(message, by=by, signature=kept_signature)
    words, is_template = plain_words(said["words"]), said["kind"] == "template_id"
    same = is_template and isinstance(words, str) and before["kind"] == "template_id" and before["words"] == words
    for name in ("join", "replace", *(["preview"] if same else [])):
        said[name] = before[name] if said[name] is None else said[name]
    if is_template and not said["values"].text:
        said["values"] = before["values"]
    labels = {label_of(key) for key in words} if isinstance(words, Mapping) else set()
    said["priority"] = said["priority"] or [first for first in before["priority"] if label_of(first) in labels]
    said["by"] = before["by"] if by is None and labels else by
    return said
