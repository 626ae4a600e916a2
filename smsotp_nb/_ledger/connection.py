"""A connection to a PostgreSQL server that takes the ledger's statements as SQLite's connection does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, cast

import psycopg
from psycopg.adapt import Loader
from psycopg.types.string import StrDumper

from .address import Address
from .guessing import Brought
from .spelling import spelled

TOGETHER = 500  # statements of one round trip


class _Cursor(psycopg.ClientCursor[Any]):
    """A cursor with the attribute that the ledger reads of SQLite's."""

    @property
    def lastrowid(self) -> int | None:
        row = self.fetchone()
        return row[0] if row else None


class _Whole(Loader):
    """Sums of whole numbers come as ``numeric``."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text else int(text)


class _Text(StrDumper):
    """Text with what PostgreSQL cannot hold, a zero character or half a surrogate, has a question mark there."""

    def dump(self, obj: str) -> Any:
        return super().dump(fit(obj))

    def quote(self, obj: str) -> Any:
        return super().quote(fit(obj))


def fit(text: str) -> str:
    """Return a text as PostgreSQL holds it."""
    return text.replace("\0", "?").encode("utf-8", "replace").decode()


class Connection:
    """A connection to the server that takes the ledger's statements as SQLite's connection does."""

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self._raw = raw
        raw.adapters.register_loader("numeric", _Whole)
        raw.adapters.register_dumper(str, _Text)

    @classmethod
    def to(cls, address: Address) -> Self:
        """Connect to a database."""
        return cls(
            psycopg.connect(
                **address.arguments(), autocommit=True, prepare_threshold=None, cursor_factory=cast("Any", _Cursor)
            )
        )

    @property
    def user(self) -> str:
        """The name by which the server let this user in."""
        return str(self._raw.info.user)

    @property
    def in_transaction(self) -> bool:
        return not self._raw.closed and self._raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    @property
    def closed(self) -> bool:
        return bool(self._raw.closed)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> _Cursor:
        cursor = self._raw.cursor()
        cursor.execute(cast("Any", spelled(sql)), values)
        return cast("_Cursor", cursor)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> _Many:
        """Run a statement for each row, many in one round trip."""
        text, cursor, many = spelled(sql), cast("_Cursor", self._raw.cursor()), 0
        waiting: list[str] = []
        for values in rows:
            waiting.append(cursor.mogrify(cast("Any", text), values))
            if len(waiting) == TOGETHER:
                many += self._run(cursor, waiting)
        return _Many(many + self._run(cursor, waiting))

    def copy_in(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Record rows of a table, all in one go."""
        into = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        with self._raw.cursor() as cursor, cursor.copy(into.encode()) as copy:
            for row in rows:
                copy.write_row(row)

    def copy_out(self, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table in no order, without holding all of them."""
        listed = ", ".join(columns)
        with self._raw.cursor() as cursor:
            kinds = cursor.execute(f"SELECT {listed} FROM {table} LIMIT 0".encode()).description or ()
            with cursor.copy(f"COPY {table} ({listed}) TO STDOUT".encode()) as copy:
                copy.set_types([kind.type_code for kind in kinds])
                yield from copy.rows()

    def _run(self, cursor: _Cursor, waiting: list[str]) -> int:
        if not waiting:
            return 0
        cursor.execute(cast("Any", ";".join(waiting).encode()))
        waiting.clear()
        many = cursor.rowcount
        while cursor.nextset():
            many += cursor.rowcount
        return many

    def together(self, began: Sequence[str], statements: Iterable[tuple[str, Sequence[Any]]]) -> list[Brought] | None:
        """Run statements in one round trip and return what each brought; None where one of them failed."""
        cursor = cast("_Cursor", self._raw.cursor())
        texts = [cursor.mogrify(cast("Any", spelled(sql)), values) for sql, values in statements]
        try:
            cursor.execute(cast("Any", ";".join([*began, *texts]).encode()))
        except (psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError):
            return None
        brought = [_brought(cursor)]
        while cursor.nextset():
            brought.append(_brought(cursor))
        return brought

    def script(self, sql: str) -> Any:
        """Run several statements in one round trip and return the last one's first row."""
        cursor = self._raw.cursor()
        cursor.execute(cast("Any", sql.encode()))
        while cursor.nextset():
            pass
        return cursor.fetchone() if cursor.description else None

    def close(self) -> None:
        self._raw.close()


@dataclass(frozen=True, slots=True)
class _Many:
    rowcount: int


def _brought(cursor: _Cursor) -> Brought:
    return Brought(cursor.rowcount, tuple(cursor.fetchall()) if cursor.description else ())
