"""Sum up what the accepted rows of campaigns were billed, in one pass: memory is bounded, whatever their number.

Rows leave SQLite as three integers each and are added up in blocks, as integers. Everything else that a sum may be made
by (campaign, time, encoding, currency) hangs on a request, and is looked up once for each sum.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..file.store import Store
from .answers import Ints
from .columns import accepted_whole, which_billings
from .damage import Unfit
from .kept_columns import MOST, Combinations
from .statements import Question, foreseen
from .tables import ACCEPTED

FACTS: Final = ("number", "at", "encoding", "est_parts", "currency", "measure", "country", "destination")
SUMS: Final = ("messages", "parts", "micros", "priced", "priced_parts")
_BLOCK: Final = 200_000
_MOST_IDS: Final = 2**28  # requests; a higher number was not given by a ledger


@dataclass(frozen=True, slots=True)
class _Requests:
    """The facts that requests share: ``kinds`` has one row for each combination, ``of`` the row of each request."""

    campaigns: tuple[int, ...]
    kinds: pd.DataFrame
    of: npt.NDArray[np.int32]  # numbered from 1, 0 for requests that were not asked for


def row_sums(
    store: Store,
    campaigns: Sequence[int],
    within: tuple[int, int],
    when: Callable[[Ints], Ints],
    *,
    words: bool,
    kept: Combinations | None = None,
) -> pd.DataFrame:
    """Add up the accepted rows by the facts of their request, by country, destination and kept columns.

    Args:
        store: the ledger, in a snapshot.
        campaigns: their numbers.
        within: first microsecond since 1970, and the first that is no longer included.
        when: returns what sums are made by, such as the day, of times in microseconds.
        words: whether to sum up by the measure of bodies; otherwise it is 0.
        kept: the combinations of kept columns to sum up by.

    Returns:
        `FACTS`, as integers that are 0 where unknown, except ``currency`` (str or None); ``combination``; `SUMS`.
    """
    requests = _requests_of(store, campaigns, within, when, words=words)
    places = 1 + _highest(store, "country"), 1 + _highest(store, "destination")
    with store.reading() as connection:
        blocks = (block for number in requests.campaigns for block in _accepted(connection, number, places, kept))
        keys, sums = _merged([_block_sums(block, requests.of, places[0] * places[1]) for block in blocks])
    rest, combination = np.divmod(keys, MOST)
    rest, destination = np.divmod(rest, places[1])
    kind, country = np.divmod(rest, places[0])
    frame = requests.kinds.iloc[kind].reset_index(drop=True)
    found = frame.assign(country=country, destination=destination, combination=combination)
    return found.assign(**{name: sums[:, at] for at, name in enumerate(SUMS)})


_COUNTED = ("attempt", "country", "destination")


def _requests_of(
    store: Store, campaigns: Sequence[int], within: tuple[int, int], when: Callable[[Ints], Ints], *, words: bool
) -> _Requests:
    numbers = ",".join(str(int(number)) for number in campaigns) or "NULL"
    with store.reading() as connection:
        sql = f"SELECT DISTINCT currency FROM attempt WHERE campaign IN ({numbers}) AND currency IS NOT NULL"
        foreseen(connection, (sql, ()), *map(_asked, _COUNTED), *map(which_billings, campaigns))
        currencies = [str(code) for (code,) in connection.execute(sql) if code]
        facts: dict[tuple[int, ...], int] = {}
        of = np.zeros(1 + _highest(store, "attempt"), dtype=np.int32)  # memory only where something is written
        for block in _request_blocks(connection, numbers, currencies, words=words):
            block = block[(block[:, 2] >= within[0]) & (block[:, 2] < within[1])]
            block[:, 2] = when(block[:, 2])
            rows = pd.DataFrame(block[:, 1:])
            group = rows.groupby(list(rows.columns), sort=False).ngroup().to_numpy()
            places = [facts.setdefault(tuple(row), len(facts)) for row in rows.drop_duplicates().to_numpy().tolist()]
            of[block[:, 0]] = 1 + np.array(places, dtype=np.int32)[group]
    kinds = pd.DataFrame(list(facts), columns=list(FACTS[:6]), dtype="int64")
    mine = tuple(sorted(kinds["number"].unique().tolist()))
    return _Requests(mine, kinds.assign(currency=named(kinds["currency"], currencies)), of)


def named(places: pd.Series, currencies: Sequence[str]) -> pd.Series:
    """Return currencies by their place in a list, from 1; 0 stands for none."""
    return pd.Series(np.array([None, *currencies], dtype=object)[places.to_numpy()], index=places.index, dtype=object)


def _request_blocks(
    connection: sqlite3.Connection, campaigns: str, currencies: list[str], *, words: bool
) -> Iterator[Ints]:
    """Yield request, campaign, time, and encoding, estimate, currency and measure as numbers, 0 where unknown."""
    cases = " ".join(f"WHEN ? THEN {place}" for place in range(1, len(currencies) + 1))
    sql = (
        "SELECT a.id, a.campaign, coalesce(a.settled_at, a.started_at), "
        "CASE k.encoding WHEN 'gsm7' THEN 1 WHEN 'ucs2' THEN 2 ELSE 0 END, coalesce(k.est_parts, 0), "
        f"{f'CASE a.currency {cases} ELSE 0 END' if currencies else '0'}, "
        f"{'coalesce(k.measure, 0)' if words else '0'} "
        "FROM attempt a LEFT JOIN chunk k ON k.campaign=a.campaign AND k.chunk=a.chunk "
        f"WHERE a.campaign IN ({campaigns})"
    )
    return _blocks(connection, sql, tuple(currencies), columns=7)


def days(micros: Ints, tz: str) -> Ints:
    """Return whole days since 1970 on the calendar of a time zone."""
    local = pd.to_datetime(pd.Series(micros), unit="us", utc=True).dt.tz_convert(tz).dt.tz_localize(None)
    return local.to_numpy(dtype="datetime64[D]").astype(np.int64)


def _highest(store: Store, table: str) -> int:
    with store.reading() as connection:
        found = int(connection.execute(*_asked(table)).fetchone()[0])
    if found > _MOST_IDS:
        raise Unfit(f"{table} has the number {found:,}")
    return found


def _asked(table: str) -> Question:
    return f"SELECT coalesce(max(id), 0) FROM {table}", ()


def _accepted(
    connection: sqlite3.Connection, campaign: int, places: tuple[int, int], kept: Combinations | None
) -> Iterator[Ints]:
    """Yield request, country and destination in one integer, then parts and price, -1 where unknown, and kept columns.

    These as the number of their combination, 0 where none are asked for.
    """
    key = f"(coalesce(attempt,0)*{places[0]}+coalesce(country,0))*{places[1]}+destination"
    rest = f"FROM recipient WHERE own_state={ACCEPTED} AND campaign=?"
    sql = f"SELECT {key}, coalesce(parts,-1), coalesce(price,-1), {{}} {rest}"
    text = kept.sql(connection, campaign) if kept is not None else ""
    if kept is None:
        yield from _blocks(connection, sql.format(0), (campaign,), columns=4)
    else:
        yield from _with_texts(connection.execute(sql.format(text), (campaign,)), kept)
    for whole in accepted_whole(connection, campaign, ("destination",), text=text):
        keys = (whole.attempt * places[0] + whole.country) * places[1] + whole.columns["destination"]
        numbers = np.zeros_like(keys) if kept is None else kept.numbers(whole.texts)
        yield np.column_stack([keys, whole.parts, whole.price, numbers])


def _with_texts(found: sqlite3.Cursor, kept: Combinations) -> Iterator[Ints]:
    while rows := found.fetchmany(_BLOCK):
        *numbers, texts = zip(*rows, strict=True)
        yield np.column_stack([*(np.array(column, np.int64) for column in numbers), kept.numbers(texts)])


def _blocks(connection: sqlite3.Connection, sql: str, values: tuple[object, ...], *, columns: int) -> Iterator[Ints]:
    """Yield a query's rows of integers in blocks that fit into memory."""
    numbers = chain.from_iterable(connection.execute(sql, values))
    while len(block := np.fromiter(islice(numbers, columns * _BLOCK), dtype=np.int64)):
        yield block.reshape(-1, columns)


def _block_sums(block: Ints, kind_of: npt.NDArray[np.int32], places: int) -> tuple[Ints, Ints]:
    request, within = np.divmod(block[:, 0], places)
    kind = kind_of[request].astype(np.int64) - 1
    mine = kind >= 0
    parts, price = block[mine, 1], block[mine, 2]
    priced = price >= 0
    known = np.maximum(parts, 0)
    sums = np.column_stack([np.ones_like(parts), known, np.maximum(price, 0), priced, np.where(priced, known, 0)])
    return _grouped((kind[mine] * places + within[mine]) * MOST + block[mine, 3], sums)


def _grouped(keys: Ints, sums: Ints) -> tuple[Ints, Ints]:
    """Add up rows of equal keys, in integers."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1)) if len(ordered) else np.zeros(0, dtype=np.intp)
    return ordered[first], np.add.reduceat(sums[order], first, axis=0) if len(first) else sums[:0]


def _merged(parts: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    if not parts:
        return np.zeros(0, dtype=np.int64), np.zeros((0, len(SUMS)), dtype=np.int64)
    return _grouped(np.concatenate([keys for keys, _ in parts]), np.concatenate([sums for _, sums in parts]))
