"""The ledger as frames: columns are built in blocks of rows, so that a million of them fit beside the caller's own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from ..results import COLUMNS, STATES, money
from .answers import ID, Ints, Whole, unpacked
from .schema import ACCEPTED, PLANNED, Store

BLOCK = 50_000
TOGETHER = 500  # chunks that are unpacked at once
MISSING = -2  # no number of a row is below -1, the chunk of what was left out
_OF_LEDGER = (
    "status", "problem", "id", "iso", "cc", "parts", "chunk", "attempts", "price", "currency",
    "error_code", "error", "request_id", "http_status", "at",
)  # fmt: skip

_OF_REQUEST = (
    "request", "chunk", "started_at", "settled_at", "verdict", "phase", "http_status", "error_code", "error",
    "request_id", "seconds", "currency", "recipients", "message_count", "total", "disagreement",
)  # fmt: skip


def counts(store: Store, campaign: int) -> dict[str, int]:
    """Return the number of rows of a campaign by state, all states named."""
    by_row = ", ".join(f"count(*) FILTER (WHERE own_state={code})" for code in range(len(STATES)))
    with store.snapshot() as connection:
        found = [*connection.execute(f"SELECT {by_row} FROM recipient WHERE campaign=?", (campaign,)).fetchone()]
        whole = connection.execute(
            "SELECT state, count(*) FROM chunk CROSS JOIN recipient USING (campaign, chunk) "
            "WHERE campaign=? AND state IS NOT NULL GROUP BY state",
            (campaign,),
        )
        for state, rows in whole:  # by themselves they are planned
            found[state] += rows
            found[PLANNED] -= rows
    return dict(zip(STATES, found, strict=True))


def outcomes(store: Store, campaign: int) -> pd.DataFrame:
    """Return what the ledger knows of every row, indexed by the row's position in the caller's frame."""
    columns = _Columns(
        ("position", "chunk", "state", "attempts", "attempt", "billed", "parts", "price"), ("problem", "id")
    )
    with store.snapshot() as connection:
        columns.read(
            connection,
            campaign,
            "r.position, r.chunk, coalesce(c.state, own_state) AS state, attempts + (c.state IS NOT NULL) AS attempts, "
            "coalesce(c.attempt, r.attempt) AS attempt, billed, parts, price, "
            "CASE WHEN c.state IS NULL THEN problem END AS problem, "
            "CASE typeof(message) WHEN 'blob' THEN lower(hex(message)) ELSE message END AS id",
            by_row=True,
        )
        for kept_whole in accepted_whole(connection, campaign, ("position", "attempts")):
            columns.add(
                len(kept_whole.attempt), position=kept_whole.columns["position"], chunk=kept_whole.chunk,
                state=ACCEPTED, attempts=kept_whole.columns["attempts"] + 1, attempt=kept_whole.attempt,
                billed=kept_whole.billed, parts=kept_whole.parts, price=kept_whole.price,
                id=_hexadecimal(kept_whole.ids),
            )  # fmt: skip
    rows = columns.series()
    frame = pd.DataFrame(index=pd.Index(rows["position"].astype("int64"), name=None))
    state = rows["state"].astype("int64").to_numpy()
    frame["status"] = _named(state, STATES)
    frame["problem"], frame["id"] = rows["problem"].array, rows["id"].array
    billed = _lookup(store, "SELECT id, iso, cc FROM billed", ("iso", "cc"))
    _join(frame, rows["billed"], billed)
    frame["parts"], frame["attempts"] = rows["parts"].array, rows["attempts"].array
    chunk = rows["chunk"].array
    frame["chunk"] = pd.Series(chunk).where(pd.Series(chunk) >= 0).array
    frame["price"] = money(rows["price"]).to_numpy("float64", na_value=np.nan)
    _join(frame, rows["attempt"], _attempts(store, campaign))
    # The evidence of an attempt belongs to the rows that it did not settle as accepted.
    clean = (state == ACCEPTED) | frame["problem"].isna().to_numpy()
    frame.loc[clean, ["error_code", "error"]] = np.nan
    return frame[list(_OF_LEDGER)].sort_index()


def recorded(store: Store, campaign: int) -> pd.DataFrame:
    """Return what a campaign's plan recorded, by position: to, body key, region, type and the estimate."""
    columns = _Columns(("position", "chunk", "number", "destination", "body", "est_parts"), ("encoding",))
    with store.reading() as connection:
        columns.read(connection, campaign, "r.position, r.chunk, number, destination, body, est_parts, encoding")
    rows = columns.series()
    frame = pd.DataFrame(index=pd.Index(rows["position"].astype("int64"), name=None))
    number = rows["number"].astype("str")
    frame["to"] = ("+" + number).where(rows["number"].notna()).array
    frame["body"] = rows["body"].array
    destination = _lookup(store, "SELECT id, region, type, currency, rate FROM destination",
                          ("region", "type", "est_currency", "rate"))  # fmt: skip
    _join(frame, rows["destination"], destination)
    frame["est_parts"], frame["encoding"] = rows["est_parts"].array, rows["encoding"].array
    cost = rows["est_parts"].array * frame.pop("rate").astype("Int64").array
    frame["est_cost"] = money(pd.Series(cost, index=frame.index)).to_numpy("float64", na_value=np.nan)
    return frame.sort_index()


def kept(store: Store, campaign: int, names: Sequence[str]) -> pd.DataFrame:
    """Return the caller's own columns as recorded, by position."""
    with store.reading() as connection:
        found = connection.execute("SELECT position, kept FROM recipient WHERE campaign=?", (campaign,)).fetchall()
    values = [json.loads(row[1]) for row in found]
    return pd.DataFrame(values, columns=list(names), index=[row[0] for row in found]).sort_index()


def campaign_frame(store: Store, campaign: int, *, name: str, service: str, names: Sequence[str]) -> pd.DataFrame:
    """Return a campaign as a result table, by position, from the ledger alone."""
    frame = outcomes(store, campaign).join(recorded(store, campaign))
    frame["campaign"], frame["service"] = name, service
    table = frame[list(COLUMNS)].astype(COLUMNS)
    return table.join(kept(store, campaign, names)) if names else table


def with_evidence(store: Store, campaign: int, state: int) -> pd.DataFrame:
    """Return the rows of one state with what is known of their latest request, by position."""
    columns = "position to chunk attempts phase http_status error_code error request_id started_at settled_at"
    frame = _query(
        store,
        "SELECT r.position, '+' || r.number, r.chunk, r.attempts, a.phase, a.http_status, a.error_code, a.error, "
        "a.request_id, a.started_at, a.settled_at FROM fate r LEFT JOIN attempt a ON a.id=r.attempt "
        "WHERE r.campaign=? AND r.state=? ORDER BY r.position",
        (campaign, state),
        columns.split(),
    )
    text = dict.fromkeys(("to", "phase", "error_code", "error", "request_id"), "str")
    return frame.astype({**text, "chunk": "Int64", "attempts": "Int64", "http_status": "Int64"})


def requests(store: Store, campaign: int) -> pd.DataFrame:
    """Return one row for each request of a campaign, by its number, in the order in which they were claimed.

    ``verdict, phase, error_code, error, request_id, currency, disagreement`` (str), ``chunk, http_status, recipients,
    message_count`` (Int64), ``seconds, total`` (float64; the reply's totalAmount), ``started_at, settled_at``.
    """
    columns = list(_OF_REQUEST)
    frame = _query(
        store,
        f"SELECT id, {', '.join(columns[1:])} FROM attempt WHERE campaign=? ORDER BY id",
        (campaign,),
        columns,
    )
    frame["total"] = money(frame["total"].astype("Int64")).to_numpy("float64", na_value=np.nan)
    text = ("verdict", "phase", "error_code", "error", "request_id", "currency", "disagreement")
    counted = ("chunk", "http_status", "recipients", "message_count")
    return frame.astype({**dict.fromkeys(text, "str"), **dict.fromkeys(counted, "Int64"), "seconds": "float64"})


def _query(store: Store, sql: str, values: tuple[Any, ...], columns: list[str]) -> pd.DataFrame:
    """Return a small query as a frame, indexed by its first column, its times read."""
    with store.reading() as connection:
        found = connection.execute(sql, values).fetchall()
    frame = pd.DataFrame(found, columns=columns).set_index(columns[0]).rename_axis(None)
    for name in ("started_at", "settled_at"):
        frame[name] = pd.to_datetime(frame[name].astype("Int64"), unit="us", utc=True).dt.as_unit("us")
    return frame


def _attempts(store: Store, campaign: int) -> pd.DataFrame:
    frame = _lookup(
        store,
        "SELECT id, currency, error_code, error, request_id, http_status, coalesce(settled_at, started_at) "
        "FROM attempt WHERE campaign=?",
        ("currency", "error_code", "error", "request_id", "http_status", "at"),
        (campaign,),
    )
    frame["http_status"] = frame["http_status"].astype("Int64")
    frame["at"] = pd.to_datetime(frame["at"].astype("Int64"), unit="us", utc=True).dt.as_unit("us")
    return frame.astype(dict.fromkeys(("currency", "error_code", "error", "request_id"), "str"))


def _lookup(store: Store, sql: str, names: Sequence[str], values: tuple[Any, ...] = ()) -> pd.DataFrame:
    with store.reading() as connection:
        rows = connection.execute(sql, values).fetchall()
    frame = pd.DataFrame([row[1:] for row in rows], columns=list(names), index=[row[0] for row in rows], dtype=object)
    text = [name for name in names if name not in {"http_status", "at", "rate"}]
    return frame.astype(dict.fromkeys(text, "str"))


def _join(frame: pd.DataFrame, key: pd.Series, table: pd.DataFrame) -> None:
    """Add a table's columns to a frame, row by row through its number in ``key``; missing where there is none."""
    place = table.index.get_indexer(pd.Index(key.fillna(-1).astype("int64")))
    for name in table.columns:
        frame[name] = table[name].array.take(place, allow_fill=True)


def _named(codes: np.ndarray, names: Sequence[str]) -> Any:
    dictionary = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(list(names)))
    return pd.Series(dictionary.cast(pa.string()).to_pandas(), dtype="str").array


class _Columns:
    """Columns that grow piece by piece: ``numbers`` become series of Int64, ``text`` series of str."""

    def __init__(self, numbers: Sequence[str], text: Sequence[str]) -> None:
        self._numbers: dict[str, list[Ints]] = {name: [np.array([], np.int64)] for name in numbers}
        self._text: dict[str, list[pa.StringArray]] = {name: [] for name in text}

    def add(self, rows: int, **pieces: Any) -> None:
        """Add rows: an array for each column, one value for all of them, or nothing where all are missing."""
        for name, known in self._numbers.items():
            known.append(np.broadcast_to(np.asarray(pieces.get(name, MISSING), np.int64), rows))
        for name, texts in self._text.items():
            texts.append(pieces[name] if name in pieces else pa.nulls(rows, pa.string()))

    def read(self, connection: sqlite3.Connection, campaign: int, what: str, *, by_row: bool = False) -> None:
        """Add a campaign's rows; with ``by_row`` only those of chunks that were not accepted as a whole.

        A block of rows comes as one line of text for each column: row by row they would take three times as long.
        """
        lines = [f"group_concat(coalesce({name}, {MISSING}))" for name in self._numbers]
        lines += [f"json_group_array({name})" for name in self._text]
        others = f"SELECT chunk FROM chunk WHERE campaign=?1 AND chunk>=?2 AND state IS NOT {ACCEPTED}"
        sql = (
            f"SELECT {', '.join(lines)} FROM (SELECT {what} FROM recipient r "
            "LEFT JOIN chunk c ON c.campaign=r.campaign AND c.chunk=r.chunk "
            f"WHERE r.campaign=?1 AND (r.chunk, r.position) > (?2, ?3) "
            f"{f'AND r.chunk IN (SELECT -1 UNION ALL {others})' if by_row else ''} "
            f"ORDER BY r.chunk, r.position LIMIT {BLOCK})"
        )
        after = MISSING, MISSING
        while (found := connection.execute(sql, (campaign, *after)).fetchone())[0] is not None:
            block = dict(zip((*self._numbers, *self._text), found, strict=True))
            numbers = {name: np.fromstring(block[name], np.int64, sep=",") for name in self._numbers}
            texts = {name: pa.array(json.loads(block[name]), pa.string()) for name in self._text}
            chunk, position = numbers["chunk"], numbers["position"]
            self.add(len(chunk), **numbers, **texts)
            after = int(chunk.max()), int(position[chunk == chunk.max()].max())

    def series(self) -> dict[str, pd.Series]:
        """Return the columns."""
        columns = {name: _whole_numbers(np.concatenate(pieces)) for name, pieces in self._numbers.items()}
        return columns | {
            name: pa.chunked_array(texts, pa.string()).to_pandas().astype("str") for name, texts in self._text.items()
        }


class Kept(NamedTuple):
    """Rows of chunks that were accepted as a whole, by chunk and position; arrays have an entry a row."""

    chunk: Ints
    attempt: Ints
    ids: bytes
    billed: Ints
    parts: Ints
    price: Ints
    columns: dict[str, Ints]


def accepted_whole(connection: sqlite3.Connection, campaign: int, columns: Sequence[str] = ()) -> Iterator[Kept]:
    """Yield the rows of chunks that were accepted as a whole, in blocks, with these columns of whole numbers."""
    lines = [
        f"(SELECT group_concat({name}) FROM (SELECT {name} FROM recipient r WHERE r.campaign=c.campaign "
        "AND r.chunk=c.chunk ORDER BY r.position))"
        for name in columns
    ]
    found = connection.execute(
        f"SELECT {', '.join(['c.chunk', 'c.attempt', 'a.ids', 'a.kinds', *lines])} FROM chunk c "
        "JOIN attempt a ON a.id=c.attempt WHERE c.campaign=? AND c.state=? ORDER BY c.chunk",
        (campaign, ACCEPTED),
    )
    billings = np.zeros((0, 3), np.int64)
    while rows := found.fetchmany(TOGETHER):
        chunk, attempt, ids, kinds, *texts = zip(*rows, strict=True)
        many, kind = unpacked([*map(Whole, ids, kinds)])
        if kind.max() >= len(billings):  # looked up after the rows: another process may be adding to both
            billings = _billings(connection)
        billed, parts, price = billings[kind].T
        values = [np.fromstring(",".join(text), np.int64, sep=",") for text in texts]
        yield Kept(
            chunk=np.repeat(chunk, many), attempt=np.repeat(attempt, many), ids=b"".join(ids), billed=billed,
            parts=parts, price=price, columns=dict(zip(columns, values, strict=True)),
        )  # fmt: skip


def _billings(connection: sqlite3.Connection) -> Ints:
    """Return place, parts and price of each billing, at its number."""
    found = np.array([(0, 0, 0, 0), *connection.execute("SELECT id, billed, parts, price FROM billing")], np.int64)
    table = np.zeros((found[:, 0].max() + 1, 3), np.int64)
    table[found[:, 0]] = found[:, 1:]
    return table


def sums_whole(connection: sqlite3.Connection, campaign: int) -> pd.DataFrame:
    """Return records, parts and price in micro-units of each request that is kept whole, by its number."""
    blocks = [
        pd.DataFrame({"records": 1, "parts": rows.parts, "price": rows.price}).groupby(rows.attempt).sum()
        for rows in accepted_whole(connection, campaign)
    ]
    return pd.concat(blocks) if blocks else pd.DataFrame(columns=["records", "parts", "price"], dtype="int64")


def _hexadecimal(ids: bytes) -> pa.StringArray:
    """Return packed ids as text of 32 hexadecimal digits each."""
    ends = pa.array(np.arange(0, 2 * len(ids) + 1, 2 * ID, dtype=np.int32)).buffers()[1]
    return pa.StringArray.from_buffers(len(ids) // ID, ends, pa.py_buffer(ids.hex().encode()))


def _whole_numbers(values: Ints) -> pd.Series:
    return pd.Series(pd.arrays.IntegerArray(values, values == MISSING))
