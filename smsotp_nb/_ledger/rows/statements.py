"""Statements of a transaction whose results are guessed, so that all of them reach a server in one message.

A claim runs statement by statement, and most of its statements have the result that they always have: one row was
changed, nothing was said since, the next number was given. On a server each of them costs a round trip. So the work of
a claim names the usual result beside the statement (`guessed`), and a server's store first runs it on a `Draft`, which
answers with the guesses and keeps the statements. They are sent together with the ``COMMIT``, which the server reaches
only when every guess was right; otherwise all is rolled back, and the work runs statement by statement.

On a file `guessed` runs the statement at once: there is nothing to gain, and one description serves both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, Never, Protocol

from ...errors import LedgerError

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
NEXT = Guess()


class Result(Protocol):
    """What a statement brought, or is taken to bring."""

    @property
    def rowcount(self) -> int: ...
    @property
    def lastrowid(self) -> int | None: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Statements(Protocol):
    """What takes the ledger's statements: SQLite's connection, that to a server, and a draft."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Result: ...
    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object: ...


class Brought(NamedTuple):
    """What a statement of a draft brought."""

    changed: int
    rows: tuple[Row, ...]
    said: str  # by the server: which kind of statement it ran


class Read:
    """What a statement brought, read like a cursor."""

    __slots__ = ()

    def _rows(self) -> Sequence[Row]:
        raise NotImplementedError

    @property
    def lastrowid(self) -> int | None:
        row = self.fetchone()
        return int(row[0]) if row else None

    def fetchone(self) -> Row | None:
        return next(iter(self._rows()), None)

    def fetchall(self) -> list[Row]:
        return [*self._rows()]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows())


@dataclass(frozen=True, slots=True)
class Guessed(Read):
    """A result that is guessed."""

    guess: Guess

    @property
    def rowcount(self) -> int:
        return int(_known(self.guess.changed))

    def _rows(self) -> Sequence[Row]:
        rows: Sequence[Row] = _known(self.guess.rows)
        return rows


@dataclass(slots=True)
class Draft:
    """What stands for the connection while the work runs on guesses; it keeps the statements."""

    latest: int
    statements: list[tuple[str, Sequence[Any]]] = field(default_factory=list, repr=False)
    _guesses: list[Guess] = field(default_factory=list)
    _campaigns: list[Any] = field(default_factory=list)  # of the requests that are inserted
    brought: list[Brought] = field(default_factory=list, repr=False)  # by the statements, all guessed right

    def execute(self, _sql: str, _values: Sequence[Any] = ()) -> Never:
        raise NotGuessed

    def executemany(self, _sql: str, _rows: Iterable[Sequence[Any]]) -> Never:
        raise NotGuessed

    def guessed(self, sql: str, values: Sequence[Any], guess: Guess) -> Guessed:
        """Keep a statement and return its guess."""
        if guess.numbered:
            self._campaigns.append(values[0])
            self.latest += 1
            guess = Guess(1, ((self.latest,),))
        # Nothing that is drafted for one campaign changes what its claims ask: for requests of others, for what people
        # said, for arms that were drawn.
        is_question = guess.rows is not None and len(set(self._campaigns)) <= 1
        if (guess == ONE or is_question) and (sql, values) in self.statements:
            return Guessed(guess)  # in one transaction it would do the same to the same row, or be told the same
        self.statements.append((sql, values))
        self._guesses.append(guess)
        return Guessed(guess)

    def run(self, work: Callable[[Any], Any]) -> Any:
        """Run work on guesses and return its result; if it needs one that nobody can guess, nothing is kept."""
        latest, many, campaigns = self.latest, len(self.statements), len(self._campaigns)
        try:
            return work(self)
        except NotGuessed:
            self.latest = latest
            del self.statements[many:], self._guesses[many:], self._campaigns[campaigns:]
            raise

    def later(self, sql: str, values: Sequence[Any]) -> Callable[[], Row]:
        place = len(self.statements)
        self.guessed(sql, values, ANY)
        return lambda: self.brought[place].rows[0]

    def guesses(self) -> Iterator[tuple[str, Sequence[Any], Guess]]:
        for (sql, values), guess in zip(self.statements, self._guesses, strict=True):
            yield sql, values, guess


def guessed(connection: Statements, sql: str, values: Sequence[Any], guess: Guess) -> Result:
    """Run a statement, or put it into a draft with what it usually brings."""
    if isinstance(connection, Draft):
        return connection.guessed(sql, values, guess)
    return connection.execute(sql, values)


def later(connection: Statements, sql: str, values: Sequence[Any]) -> Callable[[], Row]:
    """Run a statement that returns one row, which nothing of the transaction depends on; return how to read that."""
    if (waits := getattr(connection, "later", None)) is not None:
        read: Callable[[], Row] = waits(sql, values)
        return read
    row: Row = connection.execute(sql, values).fetchone()
    return lambda: row


def in_blocks(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    found = iter(rows)
    while block := list(islice(found, size)):
        yield block


def _known(value: Any) -> Any:
    if value is None:
        raise NotGuessed
    return value


def insert(connection: Statements, table: str, row: Mapping[str, Any]) -> Result:
    sql = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
    return connection.execute(sql, tuple(row.values()))


def inserted(connection: Statements, table: str, row: Mapping[str, Any]) -> int:
    """Insert one row and return its number."""
    return _numbered(insert(connection, table, row))


def numbers_of(
    connection: Statements, table: str, rows: Sequence[Mapping[str, Any]], *, key: Sequence[str] = ()
) -> list[int]:
    """Return the number of each of these rows in a table, and record those that are new."""
    if not rows:
        return []
    names = key or tuple(rows[0])
    keys = [tuple(row[name] for name in names) for row in rows]
    distinct: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for values, row in zip(keys, rows, strict=True):
        distinct.setdefault(values, row)
    first = [*{values[0] for values in distinct if values[0] is not None}]
    where = f"{names[0]} IN ({','.join('?' * len(first)) or 'NULL'}) OR {names[0]} IS NULL"
    rows_there = connection.execute(f"SELECT id, {', '.join(names)} FROM {table} WHERE {where}", first)
    found = {tuple(values): int(number) for number, *values in rows_there}
    new = {values: insert(connection, table, row) for values, row in distinct.items() if values not in found}
    numbers = found | {values: _numbered(result) for values, result in new.items()}
    return [numbers[values] for values in keys]


def number_of(connection: Statements, table: str, row: Mapping[str, Any]) -> int:
    """Return the number of a row as `numbers_of` does of several."""
    return numbers_of(connection, table, [row])[0]


def _numbered(result: Result) -> int:
    if result.lastrowid is None:
        raise LedgerError("the ledger gave a new row no number")
    return result.lastrowid
