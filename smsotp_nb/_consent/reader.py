"""Consent as the columns of a list say it: which columns were read, what each row answers, and who is held."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._pandas import is_missing
from .._showing import cited, few, spelled
from ..columns import absent
from ..errors import UsageError
from .answers import Answer, read_answer, read_state
from .headings import Heading, Kind, Scope, read_heading
from .row_words import rows_that_refuse
from .words import normalize, pattern_of

Mask = npt.NDArray[np.bool_]

# Consent has few different answers and dates; a column with more different texts is read like notes. 1,000 dates of a
# list are no other answers: they are recognised by their form.
DIFFERENT_ANSWERS: Final = 1_000
SHOWN_CELLS: Final = 3
NO_ANSWER: Final = "has no answer in any cell"


class Reply(IntEnum):
    """What a row says in one column."""

    BLANK = 0
    YES = 1
    NO = 2
    UNKNOWN = 3


@dataclass(frozen=True, slots=True)
class ConsentColumn:
    """A column that was read: what each row replies in it, and whether a reply is a date.

    ``holds_unknown``: a reply that is neither yes nor no holds its row. ``required``: only a yes sends.
    """

    name: Hashable
    heading: Heading
    replies: npt.NDArray[np.int8] = field(repr=False)
    dated: Mask = field(repr=False)
    holds_unknown: bool = True
    required: bool = False

    def is_reply(self, reply: Reply) -> Mask:
        return np.asarray(self.replies == reply)

    def count(self, reply: Reply) -> int:
        return int(self.is_reply(reply).sum())

    def describe(self) -> str:
        """Return the column with its counts, for cards and errors."""
        if self.heading.kind is Kind.WORDS:
            return f"{cited(self.name)} (words in {self.count(Reply.NO):,} of its cells say no)"
        counts = ", ".join(f"{self.count(reply):,} {reply.name.lower()}" for reply in REPLIES_SHOWN)
        means = ""
        if self.heading.refusal and self.heading.kind is Kind.CONSENT:
            means = "; it asks for a refusal: its yes, tick or date counts as no"
        if not self.holds_unknown and self.count(Reply.UNKNOWN):
            means = "; most of its cells are other states, so that unknown ones hold nobody"
        return f"{cited(self.name)} ({counts}{means})"


REPLIES_SHOWN: Final = (Reply.YES, Reply.NO, Reply.BLANK, Reply.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Consent:
    """What a list says of consent: columns that were read, those that were not with the reason, those to ignore."""

    rows: int
    columns: tuple[ConsentColumn, ...] = ()
    unused: dict[Hashable, str] = field(default_factory=dict)
    ignored: tuple[Hashable, ...] = ()

    @property
    def refused(self) -> Mask:
        """Rows that say no, or something that is neither yes nor no, where no yes to texts outweighs it."""
        strong, weak = (self._any_refusal(scopes) for scopes in (STRONG_SCOPES, WEAK_SCOPES))
        # A no to "do not text?" is no yes to texts: only a heading that asks for consent outweighs.
        texts = [column for column in self.columns if column.heading.scope is Scope.TEXTS]
        texts = [column for column in texts if not column.heading.refusal]
        return strong | (weak & ~self._any_reply(Reply.YES, texts))

    @property
    def held(self) -> Mask:
        """Rows that must not be texted: those refused, and those without a yes in a column that requires one."""
        held = self.refused
        for column in self.columns:
            if column.required:
                held = held | ~column.is_reply(Reply.YES)
        return held

    @property
    def says_yes(self) -> Mask:
        """Rows with a clear yes in a column that asks for consent."""
        asking = [column for column in self.columns if column.heading.kind is not Kind.WORDS]
        return self._any_reply(Reply.YES, [column for column in asking if not column.heading.refusal])

    @property
    def unanswered(self) -> list[Hashable]:
        """Columns that ask for consent and have no answer."""
        return [name for name, reason in self.unused.items() if reason == NO_ANSWER]

    @property
    def says_no(self) -> Mask:
        return self._any_reply(Reply.NO, self.columns)

    def column_of_each(self) -> npt.NDArray[np.object_]:
        """Return for each held row the name of the first column that holds it; None for others."""
        names = np.full(self.rows, None, object)
        for column in reversed(self.columns):
            names[self._refusing(column)] = spelled(column.name)
            if column.required:
                names[~column.is_reply(Reply.YES)] = spelled(column.name)
        names[~self.held] = None
        return names

    def _any_refusal(self, scopes: frozenset[Scope]) -> Mask:
        result = np.zeros(self.rows, bool)
        for column in self.columns:
            if column.heading.scope in scopes:
                result |= self._refusing(column)
        return result

    def _refusing(self, column: ConsentColumn) -> Mask:
        unknown = column.is_reply(Reply.UNKNOWN) if column.holds_unknown else np.zeros(self.rows, bool)
        return np.asarray(column.is_reply(Reply.NO) | unknown)

    def _any_reply(self, reply: Reply, columns: Iterable[ConsentColumn]) -> Mask:
        result = np.zeros(self.rows, bool)
        for column in columns:
            result |= column.is_reply(reply)
        return result


# A no to any contact, and to texts or phone, beats every yes; one that does not say to what gives way to a yes to
# texts.
STRONG_SCOPES: Final = frozenset({Scope.EVERYTHING, Scope.TEXTS})
WEAK_SCOPES: Final = frozenset({Scope.UNSAID})


def check_arguments(errors: list[str], consent: Any, ignore: Any, frame: pd.DataFrame) -> None:
    """Append what is wrong with ``consent=`` and ``ignore_consent=`` to the errors."""
    for argument, value in (("consent", consent), ("ignore_consent", ignore)):
        names = names_of(value)
        errors += [f"{argument}=: {missing}" for name in names if (missing := absent(name, frame.columns))]
    both = [name for name in names_of(consent) if name in names_of(ignore)]
    errors += [f"column {cited(name)} is named in consent= and in ignore_consent=" for name in both]


def names_of(columns: Any) -> list[Any]:
    """Return the names that an argument gives: none, one, or a list of them."""
    if columns is None:
        return []
    return list(columns) if isinstance(columns, list | tuple | set | frozenset | pd.Index) else [columns]


def read_consent(
    frame: pd.DataFrame,
    *,
    consent: Any = None,
    ignore: Any = (),
    other: Iterable[Hashable] = (),
    all_words: bool = False,
) -> Consent:
    """Read the columns of a list that ask about consent, and those whose words may refuse it.

    Args:
        frame: the list.
        consent: columns in which a row must say yes.
        ignore: columns to leave out.
        other: columns that are known to hold something else, such as the numbers.
        all_words: look for words of refusal in every column of text, not in names and notes alone.

    Raises:
        UsageError: a column can be read both ways.

    Example:
        >>> people = pd.DataFrame({"Accepts SMS Marketing": ["yes", "no", None], "Photo consent": ["no", "no", "no"]})
        >>> found = read_consent(people)
        >>> found.held.tolist(), found.columns[0].describe()
        ([False, True, False], "'Accepts SMS Marketing' (1 yes, 1 no, 1 blank, 0 unknown)")
    """
    required, ignored = names_of(consent), names_of(ignore)
    skipped = {*other, *ignored} - {*required}
    columns: list[ConsentColumn] = []
    unused: dict[Hashable, str] = {}
    for name in frame.columns:
        cells = frame[name]
        if name in skipped or not isinstance(cells, pd.Series):  # a name that stands twice gives a frame
            continue
        heading = read_heading(spelled(name))
        if name in required:
            heading = _as_required(heading)
        elif all_words and pattern_of("replies").search(normalize(spelled(name))):
            heading = Heading(Kind.CONSENT, named=False)
        if heading.kind is Kind.OTHER:
            unused[name] = heading.reason
        elif heading.kind in (Kind.CONSENT, Kind.STATE):
            column = _read_column(name, heading, cells, required=name in required)
            if column is None and heading.named:
                unused[name] = NO_ANSWER
            if column is not None:
                columns.append(column)
        elif heading.kind is Kind.WORDS or all_words:
            columns += _read_words(name, cells, is_name=heading.is_name, states=all_words and not heading.is_name)
    return Consent(len(frame), tuple(columns), unused, tuple(ignored))


def _as_required(heading: Heading) -> Heading:
    """Return the heading of a column that the caller names as the consent to texts."""
    refusal = heading.refusal is True and heading.kind is Kind.CONSENT
    scope = Scope.TEXTS if heading.scope is Scope.UNSAID else heading.scope
    return Heading(Kind.CONSENT, scope, refusal)


def _read_words(name: Hashable, cells: pd.Series, *, is_name: bool, states: bool) -> list[ConsentColumn]:
    """Read a column of words; of ``states`` such as START and STOP, too."""
    refuses = rows_that_refuse(cells, is_name=is_name)
    replies = np.where(refuses, Reply.NO, Reply.BLANK).astype(np.int8)
    if states:
        codes, different = _different_cells(cells)
        texts = different if len(different) <= DIFFERENT_ANSWERS else []
        found = [read_state(cell) if isinstance(cell, str) else None for cell in texts]
        for answer, reply in ((Answer.WILLING, Reply.YES), (Answer.REFUSING, Reply.NO)):
            replies[np.isin(codes, [place for place, state in enumerate(found) if state is answer])] = reply
    if not replies.any():
        return []
    heading = Heading(Kind.WORDS, Scope.EVERYTHING, refusal=True)
    return [ConsentColumn(name, heading, replies, np.zeros(len(cells), bool))]


def _read_column(name: Hashable, heading: Heading, cells: pd.Series, *, required: bool) -> ConsentColumn | None:
    """Read the answers of a column; None where it has none."""
    codes, different = _different_cells(cells)
    answers = [_answer(cell) for cell in different]
    texts = [answer for answer in answers if answer not in (Answer.DATE, Answer.BLANK, Answer.COUNT)]
    if len(texts) > DIFFERENT_ANSWERS and not required:
        refuses = rows_that_refuse(cells, is_name=False)
        replies = np.where(refuses, Reply.NO, Reply.BLANK).astype(np.int8)
        column = ConsentColumn(name, replace(heading, kind=Kind.WORDS), replies, np.zeros(len(cells), bool))
        return column if refuses.any() else None
    rows_by_answer = np.bincount(codes[codes >= 0], minlength=len(different))
    column_answers = ColumnAnswers(heading, different, answers, rows_by_answer)
    if not column_answers.are_answers() and not required:
        return None
    replies_of = column_answers.replies(name)
    blank_reply = Reply.BLANK
    if column_answers.is_one_tick():
        blank_reply = Reply.YES if heading.refusal else Reply.NO
    replies_of = [blank_reply if reply is Reply.BLANK else reply for reply in replies_of]
    table = np.array([*replies_of, blank_reply], np.int8)
    dates = np.array([*(answer is Answer.DATE for answer in answers), False])
    return ConsentColumn(
        name, heading, table[codes], dates[codes], column_answers.holds_unknown() or required, required
    )


def _different_cells(cells: pd.Series) -> tuple[npt.NDArray[np.intp], list[Any]]:
    """Return the different cells of a column, and for each row which of them it has; -1 where it has none."""
    try:
        codes, different = pd.factorize(cells)
    except TypeError:  # lists and dicts, as JSON has them
        codes, different = pd.factorize(cells.map(spelled, na_action="ignore"))
    return codes, list(different)


def _answer(cell: Any) -> Answer:
    if is_missing(cell):
        return Answer.BLANK
    if hasattr(cell, "isoformat"):  # a date or a time
        return Answer.DATE
    return read_answer(spelled(cell))


@dataclass(frozen=True, slots=True)
class ColumnAnswers:
    """The different cells of a column, what each answers, and how many rows have it."""

    heading: Heading
    cells: Sequence[Any]
    answers: Sequence[Answer]
    rows: npt.NDArray[np.intp]

    def are_answers(self) -> bool:
        """Return whether the column answers its heading."""
        kinds = {*self.answers}
        explicit = {Answer.WILLING, Answer.REFUSING}
        if self.heading.kind is Kind.STATE:
            return any(self._is_of_consent(place) for place in range(len(self.cells)))
        if Answer.COUNT in kinds and kinds.isdisjoint(explicit | {Answer.PENDING}):
            return False  # 0, 1, 2, 17: how many, not whether
        if not self.heading.named:  # a channel alone: its cells must be answers, and dates are of messages
            return self._share(explicit | {Answer.YES, Answer.NO}) > MOST_CELLS
        return not kinds.isdisjoint(explicit | {Answer.YES, Answer.NO, Answer.DATE, Answer.PENDING})

    def _is_of_consent(self, place: int) -> bool:
        """Return whether a state is one of consent, and not of an order or a machine: "stopped" alone is not."""
        if self.answers[place] not in (Answer.WILLING, Answer.REFUSING):
            return False
        words = spelled(self.cells[place])
        return read_heading(words).kind is Kind.CONSENT or pattern_of("deceased").search(words.casefold()) is not None

    def _share(self, answers: set[Answer]) -> float:
        filled = sum(rows for rows, answer in zip(self.rows, self.answers, strict=True) if answer is not Answer.BLANK)
        known = sum(rows for rows, answer in zip(self.rows, self.answers, strict=True) if answer in answers)
        return float(known / max(filled, 1))

    def holds_unknown(self) -> bool:
        """Return whether unknown cells hold their rows: not in a status whose cells mostly speak of other things."""
        if self.heading.kind is not Kind.STATE:
            return True
        return self._share({*Answer} - {Answer.UNKNOWN, Answer.COUNT, Answer.DATE, Answer.BLANK}) >= MOST_CELLS

    def is_one_tick(self) -> bool:
        """Return whether all filled cells are one word of agreement, so that a blank cell was not ticked."""
        if self.heading.kind is not Kind.CONSENT:
            return False
        filled = [place for place, answer in enumerate(self.answers) if answer is not Answer.BLANK]
        words = {spelled(self.cells[place]).strip().casefold() for place in filled}
        ticks = (Answer.YES,) if self.heading.refusal else (Answer.YES, Answer.WILLING)
        return len(words) == 1 and self.answers[filled[0]] in ticks

    def replies(self, name: Hashable) -> list[Reply]:
        """Return what each different cell says of texts.

        Raises:
            UsageError: what a yes means depends on how the heading is read.
        """
        relative = [place for place, answer in enumerate(self.answers) if answer in RELATIVE]
        if self.heading.refusal is None and relative:
            raise _two_readings(name, [self.cells[place] for place in relative], self.rows[relative])
        refusal = bool(self.heading.refusal)
        if self.heading.kind is Kind.STATE and not self.holds_unknown():
            return [STATE_REPLIES.get(answer, Reply.UNKNOWN) for answer in self.answers]
        table = REPLIES_TO_REFUSAL if refusal else REPLIES_TO_CONSENT
        return [table[answer] for answer in self.answers]


MOST_CELLS: Final = 0.5  # of the filled cells are states of consent, or the column is one of something else as well
RELATIVE: Final = frozenset({Answer.YES, Answer.NO, Answer.DATE})
REPLIES_TO_CONSENT: Final = {
    Answer.YES: Reply.YES,
    Answer.NO: Reply.NO,
    Answer.WILLING: Reply.YES,
    Answer.REFUSING: Reply.NO,
    Answer.DATE: Reply.YES,
    Answer.PENDING: Reply.UNKNOWN,
    Answer.UNKNOWN: Reply.UNKNOWN,
    Answer.COUNT: Reply.UNKNOWN,
    Answer.BLANK: Reply.BLANK,
}
REPLIES_TO_REFUSAL: Final = {
    **REPLIES_TO_CONSENT,
    Answer.YES: Reply.NO,
    Answer.NO: Reply.YES,
    Answer.DATE: Reply.NO,
}
STATE_REPLIES: Final = {Answer.WILLING: Reply.YES, Answer.REFUSING: Reply.NO, Answer.BLANK: Reply.BLANK}


def _two_readings(name: Hashable, cells: list[Any], rows: npt.NDArray[np.intp]) -> UsageError:
    shown = few([f"{cited(cell)} in {count:,} rows" for cell, count in zip(cells, rows, strict=True)], most=SHOWN_CELLS)
    return UsageError(
        f"column {cited(name)} can be read in two ways ({shown}): a yes in it may say that texts are welcome, or that "
        f"they are not. If a yes welcomes them, pass consent={cited(name)}; if it refuses them, rename the column to "
        f"'opted out'; if it is about something else, pass ignore_consent=[{cited(name)}]"
    )
