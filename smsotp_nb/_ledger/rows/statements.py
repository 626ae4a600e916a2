"""Statements of a transaction whose results are guessed, so that all of them reach a server in one message.

A claim runs statement by statement, and most of its statements have the result that they always have: one row was
changed, nothing was said since, the next number was given. On a server each of them costs a round trip. So the work of
a claim names the usual result beside the statement (`guessed`), and a server's store first runs it on a `Draft`, which
answers with the guesses and keeps the statements. They are sent together with the ``COMMIT``, which the server reaches
only when every guess was right; otherwise all is rolled back, and the work runs statement by statement.

On a file `guessed` runs the statement at once: there is nothing to gain, and one description serves both.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Never, Protocol, cast

Row = tuple[Any, ...]
Question = tuple[str, Sequence[Any]]  # a statement that reads, and its values


class NotGuessed(Exception):
    """The work needs a result that nobody can guess."""


class Guess(NamedTuple):
    """What a statement usually brings; what is left out may be anything, and the work must not ask for it.

    Attributes:
        changed: how many rows it changes.
        rows: all rows that it returns.
        numbered: it inserts one request, which gets the number after the latest one; its first value is the campaign.
    """

    changed: int | None = None
    rows: tuple[Row, ...] | None = None
    numbered: bool = False


ANY = Guess()
NONE = Guess(changed=0)
ONE = Guess(changed=1)
NO_ROWS = Guess(rows=())
NEXT = Guess(numbered=True)


class Result(Protocol):
    """What a statement brought, or is taken to bring."""

    @property
    def rowcount(self) -> int: ...
    @property
    def lastrowid(self) -> int | None: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Brought(NamedTuple):
    """What a statement of a draft brought."""

    changed: int
    rows: tuple[Row, ...]


class Guessed(NamedTuple):
    """A result that is guessed, read like a cursor."""

    guess: Guess

    @property
    def rowcount(self) -> int:
        return int(_known(self.guess.changed))

    @property
    def lastrowid(self) -> int:
        ((number, *_),) = self.fetchall()
        return int(number)

    def fetchone(self) -> Row | None:
        return next(iter(_known(self.guess.rows)), None)

    def fetchall(self) -> list[Row]:
        return [*_known(self.guess.rows)]


@dataclass(slots=True)
class Draft:
    """What stands for the connection while the work runs on guesses; it keeps the statements.

    Args:
        latest: the number of the latest request, as far as it is known.
    """

    latest: int
    statements: list[tuple[str, Sequence[Any]]] = field(default_factory=list, repr=False)
    _guesses: list[Guess] = field(default_factory=list)
    _campaigns: list[Any] = field(default_factory=list)  # of the requests that are inserted
    _brought: list[Brought] = field(default_factory=list, repr=False)

    def execute(self, _sql: str, _values: Sequence[Any] = ()) -> Never:
        raise NotGuessed

    executemany = execute

    def guessed(self, sql: str, values: Sequence[Any], guess: Guess) -> Guessed:
        """Keep a statement and return its guess."""
        if guess.numbered:
            self._campaigns.append(values[0])
            self.latest += 1
            guess = Guess(1, ((self.latest,),))
        elif (guess == ONE or self._is_a_question(guess)) and (sql, values) in self.statements:
            return Guessed(guess)  # in one transaction it would do the same to the same row, or be told the same
        self.statements.append((sql, values))
        self._guesses.append(guess)
        return Guessed(guess)

    def _is_a_question(self, guess: Guess) -> bool:
        """Return whether nothing that is drafted can change what a question is told: requests of one campaign alone.

        Claims ask for requests of others, for what people said, and for arms that were drawn.
        """
        return guess.rows is not None and len(set(self._campaigns)) <= 1

    def run(self, work: Callable[[Any], Any]) -> Any:
        """Run a piece of work on guesses and return its result; if it needs one that nobody can guess, nothing is kept.

        Raises:
            NotGuessed: it does.
        """
        latest, many, campaigns = self.latest, len(self.statements), len(self._campaigns)
        try:
            return work(self)
        except NotGuessed:
            self.latest = latest
            del self.statements[many:], self._guesses[many:], self._campaigns[campaigns:]
            raise

    def later(self, sql: str, values: Sequence[Any]) -> Callable[[], Row]:
        """Keep a statement whose row is read when the draft was sent."""
        place = len(self.statements)
        self.guessed(sql, values, ANY)
        return lambda: self._brought[place].rows[0]

    def guesses(self) -> Iterator[tuple[str, Sequence[Any], Guess]]:
        """Yield each statement, its values and what it is taken to bring."""
        for (sql, values), guess in zip(self.statements, self._guesses, strict=True):
            yield sql, values, guess

    def hear(self, brought: Sequence[Brought]) -> None:
        """Take in what the statements brought, all of which was guessed right."""
        self._brought = [*brought]


def guessed(connection: sqlite3.Connection, sql: str, values: Sequence[Any], guess: Guess) -> Result:
    """Run a statement, or put it into a draft with what it usually brings."""
    if isinstance(connection, Draft):
        return connection.guessed(sql, values, guess)
    return connection.execute(sql, values)


def later(connection: sqlite3.Connection, sql: str, values: Sequence[Any]) -> Callable[[], Row]:
    """Run a statement that returns one row, which nothing of the transaction depends on; return how to read that."""
    if (waits := getattr(connection, "later", None)) is not None:
        return cast("Callable[[], Row]", waits(sql, values))
    row: Row = connection.execute(sql, values).fetchone()
    return lambda: row


def foreseen(connection: sqlite3.Connection, *questions: Question) -> None:
    """Say which statements read next, in exactly these words, so that a server answers them with one message.

    Outside of a transaction they see what is recorded now, and are asked anew after the next transaction.
    """
    if (foresee := getattr(connection, "foresee", None)) is not None:
        foresee(questions)


def _known(value: Any) -> Any:
    if value is None:
        raise NotGuessed
    return value
