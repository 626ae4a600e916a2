"""A connection to a PostgreSQL server that takes the ledger's statements as SQLite's connection does.

What changes rows in a transaction waits until a result is asked for, and is sent in one message with what asks; so is
the statement that begins the transaction, and what is left is sent with the one that ends it. The order stays. An error
of what waited is raised by the statement that sends it, and the transaction is rolled back like after any other error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import psycopg
from psycopg import generators
from psycopg.abc import PQGen, Transformer
from psycopg.adapt import Loader, PyFormat
from psycopg.types.numeric import Int8BinaryDumper
from psycopg.types.string import StrDumper

from ...errors import LedgerError
from ..rows.statements import Brought, Guess, Question, Read, Row
from .address import Address
from .dialect import spelled
from .last_seen import NAMES, TURN, Sighting

TOGETHER = 500  # statements of one round trip
OLDEST = 15  # of PostgreSQL: in earlier ones everybody who may connect may make tables in the schema of the ledger
_DONE = (psycopg.pq.ExecStatus.COMMAND_OK, psycopg.pq.ExecStatus.TUPLES_OK)
_CHANGES = ("INSERT ", "UPDATE ", "DELETE ")


class _Whole(Loader):
    """Sums of whole numbers come as ``numeric``."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text else int(text)


class _Text(StrDumper):
    """Text with what PostgreSQL cannot hold, a zero character or half a surrogate, has a question mark there."""

    def dump(self, obj: str) -> Any:
        return super().dump(fit(obj))


def fit(text: str) -> str:
    return text.replace("\0", "?").encode("utf-8", "replace").decode()


class Late(Read):
    """The result of a statement that may not have been sent yet; asking for it sends it and all that wait before it."""

    def __init__(
        self, connection: Connection, asked: Question, hear: Callable[[Row | None], None] | None = None
    ) -> None:
        self._connection, self.asked, self._hear = connection, asked, hear
        self._brought: Brought | None = None

    def __repr__(self) -> str:
        return "<a statement>"  # a traceback prints the variables of every frame

    def take(self, brought: Brought) -> None:
        self._brought, self.asked = brought, ("", ())
        if self._hear is not None:
            self._hear(next(iter(brought.rows), None))

    @property
    def rowcount(self) -> int:
        return self.brought.changed

    @property
    def brought(self) -> Brought:
        if self._brought is None:
            self._connection.send()
        if self._brought is None:
            raise psycopg.InterfaceError("the transaction of this statement was rolled back")
        return self._brought

    def _rows(self) -> Sequence[Row]:
        return self.brought.rows


class Connection:
    """A connection to the server that takes the ledger's statements as SQLite's connection does.

    Values never stand in a statement: they are its parameters, which the server shows to nobody.
    """

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self._raw = raw
        self._waiting: list[Late] = []
        self._is_heard = True  # what the beginning of the transaction said
        self.has_turn = False  # whether the transaction holds up all others that write
        raw.adapters.register_loader("numeric", _Whole)
        raw.adapters.register_dumper(str, _Text)
        raw.adapters.register_dumper(int, Int8BinaryDumper)  # as wide as the columns, so that no sum of two overflows
        self._values: Transformer = psycopg.adapt.Transformer(raw)

    @classmethod
    def to(cls, address: Address) -> Self:
        raw = psycopg.connect(**address.arguments(), autocommit=True, prepare_threshold=None)
        if raw.info.server_version < OLDEST * 10_000:
            version = raw.info.parameter_status("server_version")
            raw.close()
            raise LedgerError(
                f"the server of the ledger {address} is PostgreSQL {version}; {OLDEST} or later is needed. Nothing was "
                "sent; have it upgraded, then call again"
            )
        return cls(raw)

    @property
    def user(self) -> str:
        return str(self._raw.info.user)

    @property
    def in_transaction(self) -> bool:
        return not self._raw.closed and (bool(self._waiting) or self._has_begun)

    @property
    def _has_begun(self) -> bool:
        return self._raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    @property
    def closed(self) -> bool:
        return bool(self._raw.closed)

    def begin(self, statements: Sequence[str], hear: Callable[[Row | None], None] | None = None) -> None:
        """Begin a transaction with the first result that is asked for; ``hear`` is then given the last one's row."""
        hears = [None] * (len(statements) - 1) + [hear]
        self._waiting += [Late(self, (text, ()), one) for text, one in zip(statements, hears, strict=True)]
        self._is_heard = False

    def commit(self) -> bool:
        """End a transaction; return whether the server has confirmed it."""
        if not self._is_heard:
            self.send()  # what is said of the server at the beginning is heard before anything is confirmed
        return self._wait("COMMIT").brought.said == "COMMIT"

    def roll_back(self, *, at_once: bool = True) -> None:
        """End a transaction, if there is one, and record nothing of it; or do so with the beginning of the next one."""
        self._waiting.clear()
        if self.in_transaction:
            self._waiting.append(Late(self, ("ROLLBACK", ())))
        if at_once:
            self.send()

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Late:
        """Run a statement; one that changes rows in a transaction waits until its result is asked for."""
        if self.in_transaction and _changes(sql):
            return self._wait(sql, values)
        asked = self._wait(sql, values)
        self.send()
        return asked

    def later(self, sql: str, values: Sequence[Any]) -> Callable[[], Row | None]:
        """Run a statement whose row is read when the transaction has ended."""
        return self._wait(sql, values).fetchone

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        for values in rows:
            self._wait(sql, values)

    def send(self) -> None:
        """Send what waits, in one message."""
        waiting, self._waiting, self._is_heard = self._waiting, [], True
        for one, brought in zip(waiting, self._exchange([one.asked for one in waiting]), strict=True):
            one.take(brought)

    def _wait(self, sql: str, values: Sequence[Any] = ()) -> Late:
        if len(self._waiting) >= TOGETHER:
            self.send()
        late = Late(self, _question(sql, values))
        self._waiting.append(late)
        return late

    def _exchange(self, statements: Sequence[Question]) -> list[Brought]:
        """Send statements with their values in one message, and return what each brought.

        Those after one that failed do not run. The driver's own pipeline ends with a message for which a pooler in
        transaction mode keeps a connection.
        """
        if not statements:
            return []
        server, values = self._raw.pgconn, self._values
        bound = [
            (sql.encode(), values.dump_sequence(of, [PyFormat.AUTO] * len(of)), values.types or (), values.formats)
            for sql, of in statements
        ]
        try:
            server.enter_pipeline_mode()
            for one in bound:
                server.send_query_params(*one)
            server.pipeline_sync()
            results = self._raw.wait(_answers(server, len(bound)))
            if not self.closed:
                server.exit_pipeline_mode()
        except BaseException:  # an answer that nobody read would be taken for that to another statement
            self._raw.close()
            raise
        for result in results:
            if result.status not in _DONE:
                raise psycopg.errors.error_from_result(result, encoding=self._raw.info.encoding)
        return [_brought(values, result) for result in results]

    def next_number(self, table: str) -> int:
        """Return a number for a row of a table that nobody else gets."""
        row = self.execute("SELECT nextval(pg_get_serial_sequence(?, 'id'))", (table,)).fetchone()
        return int(row[0]) if row else 0

    def copy_in(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        into = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        self.send()
        with self._raw.cursor() as cursor, cursor.copy(into.encode()) as copy:
            for row in rows:
                copy.write_row(row)

    def copy_out(self, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table in no order, without holding all of them."""
        listed = ", ".join(columns)
        self.send()
        with self._raw.cursor() as cursor:
            kinds = cursor.execute(f"SELECT {listed} FROM {table} LIMIT 0".encode()).description or ()
            with cursor.copy(f"COPY {table} ({listed}) TO STDOUT".encode()) as copy:
                copy.set_types([kind.type_code for kind in kinds])
                yield from copy.rows()

    def together(
        self, began: Sequence[Question], statements: Iterable[tuple[str, Sequence[Any], Guess]]
    ) -> list[Brought]:
        """Begin a transaction, run statements and confirm it, all in one message, and return what each brought.

        Where a guess was wrong or a statement failed, there is no result, and the transaction is to be rolled back.
        """
        left, self._waiting = [one.asked for one in self._waiting], []  # the end of the last transaction
        asked = [*began, *((guarded(spelled(sql), guess), values) for sql, values, guess in statements)]
        try:
            brought = self._exchange([*left, *asked, ("COMMIT", ())])[len(left) :]
        except (psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError):
            return []
        if brought.pop().said != "COMMIT":
            raise psycopg.OperationalError("the server took back what was recorded")
        return brought

    def script(self, sql: str) -> Any:
        """Run several statements, which hold no value, in one round trip and return the last one's first row."""
        self.send()
        cursor = self._raw.execute(sql.encode())
        while cursor.nextset():
            pass
        return cursor.fetchone() if cursor.description else None

    def close(self) -> None:
        self._raw.close()


def _changes(sql: str) -> bool:
    """Return whether a statement changes rows, also with a table of values before it."""
    return sql.startswith(_CHANGES) or (sql.startswith("WITH ") and any(f") {verb}" in sql for verb in _CHANGES))


def _question(sql: str, values: Sequence[Any]) -> Question:
    return spelled(sql), tuple(values)


def _answers(server: psycopg.pq.abc.PGconn, many: int) -> PQGen[list[psycopg.pq.abc.PGresult]]:
    """Send what was given to libpq, and receive the result of each statement; fewer if the server hung up."""
    yield from generators.send(server)
    results = []
    for _ in range(many + 1):  # the last one ends the message
        results += yield from generators.fetch_many(server)
        if server.status == psycopg.pq.ConnStatus.BAD:
            return results
    return results[:many]


def _brought(values: Transformer, result: psycopg.pq.abc.PGresult) -> Brought:
    values.set_pgresult(result)
    rows = values.load_rows(0, result.ntuples, tuple)
    return Brought(result.command_tuples or 0, tuple(rows), (result.command_status or b"").decode())


def guarded(text: str, guess: Guess) -> str:
    """Return a statement that fails unless it brings what is guessed.

    Example:
        >>> guarded("SELECT 1 FROM attempt", Guess(rows=()))
        'SELECT 1/(CASE WHEN NOT EXISTS (SELECT 1 FROM attempt) THEN 1 ELSE 0 END)'
        >>> guarded("UPDATE chunk SET x=2", Guess(changed=1))
        'WITH done AS (UPDATE chunk SET x=2 RETURNING 1) SELECT 1/(CASE WHEN count(*)=1 THEN 1 ELSE 0 END) FROM done'
    """
    if guess.changed is not None and guess.rows is not None:  # inserted with this number
        ((number, *_),) = guess.rows
        right = f"count(*)={guess.changed:d} AND max(id)={number:d}"
        return f"WITH done AS ({text}) SELECT {_unless(right)} FROM done"
    if guess.changed is not None:
        right = f"count(*)={guess.changed:d}"
        return f"WITH done AS ({text} RETURNING 1) SELECT {_unless(right)} FROM done"
    if guess.rows is not None and not guess.rows:
        return f"SELECT {_unless(f'NOT EXISTS ({text})')}"
    if guess.rows is not None:
        (row,) = guess.rows
        found = f"(SELECT found::text FROM ({text}) AS found)"
        said = f"({','.join(f'{number:d}' for number in row)})"  # a row of whole numbers as the server writes one
        return f"SELECT {_unless(f'{found}={said!r}')}"
    return text


def seen_again(known: Sighting) -> Question:
    """Return the statement that takes the turn to write; it fails where the database is not the one that is known."""
    same = (
        "ledger=? AND place=? AND log>=? AND requests>=? AND fsync='on' AND full_pages='on' AND NOT standby "
        "AND since=? AND accepted=?"
    )
    values = (known.ledger, known.place, known.log, known.requests, known.since, known.accepted)
    return _question(f"SELECT *, {_unless(same)} FROM ({TURN}) AS seen({NAMES})", values)


def _unless(condition: str) -> str:
    return f"1/(CASE WHEN {condition} THEN 1 ELSE 0 END)"
