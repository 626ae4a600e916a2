"""Write a plan into the ledger, once, and purge it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from .._policy import Policy
from .._services import name_key
from ..errors import LedgerError
from . import summing
from .answers import MOST_KINDS, Ints
from .contacts import pack_hashed
from .store import Store
from .tables import PLANNED, SKIPPED

LEFT_OUT = -1  # the chunk of rows that a plan leaves out
TOGETHER = 500  # rows of one INSERT: a million take 0.5 s, and 1.4 s one by one


@runtime_checkable
class Planned(Protocol):
    """What the ledger needs of a plan: its rows in order, the key of each body, and one fingerprint over both."""

    @property
    def campaign(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def kept(self) -> tuple[str, ...]: ...
    @property
    def policy(self) -> Policy | None: ...
    @property
    def rows(self) -> pd.DataFrame:
        """One row for every recipient, in the order of sending.

        Columns that are read: ``to, region, type, status, problem`` (str; ``status`` is planned or skipped), ``body,
        chunk, est_parts`` (Int64; missing where skipped), ``encoding, est_currency`` (str) and ``est_cost`` (float64).
        """

    @property
    def body_keys(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The key of each body, by the number in the column ``body``."""


def record(store: Store, plan: Planned, *, service: str, kind: str, now: int) -> int:
    """Record a plan's rows in one transaction and return the campaign's number; an existing one is left as it is."""
    rows = plan.rows
    keys = [int(key) for key in plan.body_keys]
    if len(set(keys)) != len(keys):
        raise LedgerError("two different texts have the same key; change one of them by a character")
    with store.writing() as connection:
        found = connection.execute(
            "SELECT id FROM campaign WHERE service=? AND name_key=? AND kind='campaign' AND kind=?",
            (service, name_key(plan.campaign), kind),
        ).fetchone()
        if found:  # another process recorded it between the caller's look and this transaction
            return int(found[0])
        number = inserted(
            connection,
            "INSERT INTO campaign (service, name, name_key, kind, fingerprint, created_at, rows, kept) "
            "VALUES (?,?,?,?,?,?,?,?)",
            (
                service,
                plan.campaign,
                name_key(plan.campaign),
                kind,
                plan.fingerprint,
                now,
                len(rows),
                json.dumps(list(plan.kept)),
            ),
        )
        connection.executemany(
            "INSERT INTO chunk (campaign, chunk, body, est_parts, encoding) VALUES (?,?,?,?,?)",
            _chunk_rows(rows, keys, number),
        )
        chunk = rows["chunk"].to_numpy("int64", na_value=LEFT_OUT)
        going = rows["status"].eq("planned").to_numpy()
        for state in (SKIPPED, PLANNED):
            mine = np.flatnonzero(going == (state == PLANNED))
            insert_rows(connection, number, rows.iloc[mine], mine, chunk[mine], plan.kept, state)
    return number


def insert_rows(
    connection: sqlite3.Connection,
    campaign: int,
    rows: pd.DataFrame,
    position: Ints,
    chunk: Ints,
    kept: Sequence[str],
    state: int,
) -> None:
    """Record rows of a plan, at their positions in its frame, as planned in these chunks or as skipped."""
    order = np.argsort(chunk, kind="stable")
    places = {"chunk": chunk[order].tolist(), "position": position[order].tolist()}
    names, values = _columns(connection, rows.iloc[order], places, kept, state)
    own = f"({campaign},{state},0,{','.join('?' * len(names))})"  # what is the same in all rows
    for begins in range(0, len(rows), TOGETHER):
        many = min(TOGETHER, len(rows) - begins)
        sql = (
            f"INSERT INTO recipient (campaign, own_state, attempts, {', '.join(names)}) VALUES {','.join([own] * many)}"
        )
        # No variable holds them: a traceback prints the variables of every frame.
        connection.execute(sql, [*chain.from_iterable(islice(values, many))])


def purge(store: Store, campaign: int, *, now: int) -> int:
    """Delete a campaign's rows and what is known of its requests, from the file and its log too; return how many.

    Two things stay: what it cost, in sums that name nobody; and, for the rules on how often a person is texted, when
    somebody was sent which message, with a hash in place of the person.
    """
    sums = summing.sums_of(store, campaign)
    with store.writing() as connection:
        pack_hashed(connection, campaign, now=now)
        summing.keep(connection, campaign, sums)
        gone = connection.execute("DELETE FROM recipient WHERE campaign=?", (campaign,)).rowcount
        # Which requests were recorded is what a mark compares: a purge must not look like an older copy.
        connection.execute(
            "UPDATE session SET upto=max(upto, coalesce((SELECT max(attempt.id) FROM attempt WHERE campaign=? "
            "AND attempt.session=session.id), 0))",
            (campaign,),
        )
        # The latest of all requests stays, emptied: its number must not be given to another one.
        latest = "(SELECT max(id) FROM attempt)"
        connection.execute(f"DELETE FROM attempt WHERE campaign=? AND id<>{latest}", (campaign,))
        connection.execute(
            f"UPDATE attempt SET outcome='purged', error_code=NULL, error=NULL, request_id=NULL, recipients=NULL, "
            f"message_count=NULL, total=NULL, disagreement=NULL, ids=NULL, kinds=NULL WHERE campaign=? AND id={latest}",
            (campaign,),
        )
        connection.execute("DELETE FROM chunk WHERE campaign=?", (campaign,))
        connection.execute("DELETE FROM change WHERE campaign=?", (campaign,))
        connection.execute("DELETE FROM billing WHERE campaign=?", (campaign,))
        connection.execute("UPDATE campaign SET purged=1 WHERE id=?", (campaign,))
    store.vacuum()
    return gone


def inserted(connection: sqlite3.Connection, sql: str, values: Sequence[Any]) -> int:
    """Insert one row and return its number."""
    number = connection.execute(sql, values).lastrowid
    if number is None:
        raise LedgerError("the ledger gave a new row no number")
    return number


def number_of(connection: sqlite3.Connection, table: str, names: Sequence[str], values: Sequence[Any]) -> int:
    """Return the number of a row in a table of repeated values; record it if it is new."""
    sql = f"SELECT id FROM {table} WHERE {' AND '.join(f'{name} IS ?' for name in names)}"
    found = connection.execute(sql, values).fetchone()
    insert = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    return int(found[0]) if found else inserted(connection, insert, values)


def billing_number(connection: sqlite3.Connection, campaign: int, kind: Sequence[Any]) -> int | None:
    """Return the number of a billing (country, parts, price) in a campaign; a new one while there is room."""
    mine = (campaign, *kind)
    known = "SELECT id FROM billing WHERE campaign=? AND country=? AND parts=? AND price=?"
    if found := connection.execute(known, mine).fetchone():
        return int(found[0])
    latest = connection.execute("SELECT coalesce(max(id), 0) FROM billing WHERE campaign=?", (campaign,)).fetchone()[0]
    if latest >= MOST_KINDS:  # a service that never bills alike
        return None
    connection.execute("INSERT INTO billing VALUES (?, ?, ?, ?, ?)", (campaign, latest + 1, *kind))
    return int(latest) + 1


def _chunk_rows(rows: pd.DataFrame, keys: Sequence[int], campaign: int) -> Iterable[tuple[Any, ...]]:
    first = rows.loc[rows["status"].eq("planned"), ["chunk", "body", "est_parts", "encoding"]].drop_duplicates("chunk")
    for chunk, body, parts, encoding in first.sort_values("chunk").itertuples(index=False):
        yield campaign, int(chunk), keys[int(body)], optional_int(parts), optional_text(encoding)


def _columns(
    connection: sqlite3.Connection,
    rows: pd.DataFrame,
    places: Mapping[str, list[int]],
    kept: Sequence[str],
    state: int,
) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Return column names and rows, as they are inserted into the table."""
    columns: dict[str, list[Any]] = {**places, "destination": destinations(connection, rows)}
    if kept:
        columns["kept"] = _kept_texts(rows, kept)
    if state == SKIPPED:
        columns["problem"] = _objects(rows["problem"])
    # Last, for a traceback prints the variables of every frame, and more can go wrong above.
    columns["number"] = _objects(rows["to"].str[1:].astype("Int64"))
    return list(columns), zip(*columns.values(), strict=True)


def destinations(connection: sqlite3.Connection, rows: pd.DataFrame) -> list[int]:
    """Return the number of each row's destination, recording those that are new."""
    cost = (rows["est_cost"] * 1_000_000).round().to_numpy("float64", na_value=np.nan)
    parts = rows["est_parts"].to_numpy("float64", na_value=np.nan)
    table = rows[["region", "type", "est_currency"]].reset_index(drop=True)
    table.insert(2, "rate", np.round(cost / parts))
    group = table.groupby(list(table.columns), dropna=False, sort=False).ngroup().to_numpy()
    numbers: list[int] = []
    for key in table.iloc[np.unique(group, return_index=True)[1]].itertuples(index=False):
        values: list[Any] = [None if pd.isna(value) else value for value in key]
        values[2] = None if values[2] is None else int(values[2])
        numbers.append(number_of(connection, "destination", ("region", "type", "rate", "currency"), values))
    return [numbers[place] for place in group.tolist()]


def _kept_texts(rows: pd.DataFrame, kept: Sequence[str]) -> list[str]:
    columns = [_objects(rows[name]) for name in kept]
    texts = [_json(values) for values in zip(*columns, strict=True)]
    # Half a surrogate, which no file of Unicode text can hold, becomes a question mark.
    return [text if text.isascii() else text.encode("utf-8", "replace").decode() for text in texts]


def _json(values: Sequence[Any]) -> str:
    try:
        return json.dumps(values, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError):  # what JSON cannot say is recorded as its text
        return json.dumps(list(map(_said, values)), ensure_ascii=False)


def _said(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value, default=_plain))
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _objects(column: pd.Series) -> list[Any]:
    return column.to_numpy(object, na_value=None).tolist()  # type: ignore[call-overload, no-any-return]


def optional_int(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)


def optional_text(value: Any) -> str | None:
    return None if pd.isna(value) else str(value)
