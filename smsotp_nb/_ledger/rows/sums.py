"""Sum up what the accepted rows of campaigns were billed, in one pass: memory is bounded, whatever their number.

Rows leave SQLite as three integers each and are added up in blocks, as integers. Everything else that a sum may be made
by (campaign, time, encoding, currency) hangs on a request, and is looked up once for each sum.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from .answers import Ints
from .columns import MOST, Combinations, TooMany, accepted_whole, kept_by, which_billings
from .damage import Unfit
from .statements import Question, Result, Statements, foreseen, in_blocks
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
    connection: Statements,
    campaigns: Sequence[int],
    within: tuple[int, int],
    when: Callable[[Ints], Ints],
    *,
    words: bool,
    kept: Combinations | None = None,
) -> pd.DataFrame:
    """Add up the accepted rows by the facts of their request, by country, destination and kept columns.

    ``when`` returns what sums are made by, such as the day, of times in microseconds; without ``words`` the measure of
    bodies is 0. Returned are `FACTS`, as integers that are 0 where unknown, except ``currency`` (str or None);
    ``combination``; `SUMS`.
    """
    requests = _requests_of(connection, campaigns, within, when, words=words)
    places = 1 + _highest(connection, "country"), 1 + _highest(connection, "destination")
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
    connection: Statements,
    campaigns: Sequence[int],
    within: tuple[int, int],
    when: Callable[[Ints], Ints],
    *,
    words: bool,
) -> _Requests:
    numbers = ",".join(str(int(number)) for number in campaigns) or "NULL"
    sql = f"SELECT DISTINCT currency FROM attempt WHERE campaign IN ({numbers}) AND currency IS NOT NULL"
    foreseen(connection, (sql, ()), *map(_asked, _COUNTED), *map(which_billings, campaigns))
    currencies = [str(code) for (code,) in connection.execute(sql) if code]
    facts: dict[tuple[int, ...], int] = {}
    of = np.zeros(1 + _highest(connection, "attempt"), dtype=np.int32)  # memory only where something is written
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


def _request_blocks(connection: Statements, campaigns: str, currencies: list[str], *, words: bool) -> Iterator[Ints]:
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


def _highest(connection: Statements, table: str) -> int:
    found = int(connection.execute(*_asked(table)).fetchone()[0])
    if found > _MOST_IDS:
        raise Unfit(f"{table} has the number {found:,}")
    return found


def _asked(table: str) -> Question:
    return f"SELECT coalesce(max(id), 0) FROM {table}", ()


def _accepted(
    connection: Statements, campaign: int, places: tuple[int, int], kept: Combinations | None
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


def _with_texts(found: Result, kept: Combinations) -> Iterator[Ints]:
    for rows in in_blocks(found, _BLOCK):
        *numbers, texts = zip(*rows, strict=True)
        yield np.column_stack([*(np.array(column, np.int64) for column in numbers), kept.numbers(texts)])


def _blocks(connection: Statements, sql: str, values: tuple[object, ...], *, columns: int) -> Iterator[Ints]:
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


EVER: Final = (-(2**62), 2**62)
_QUARTER: Final = 900_000_000  # microseconds
_DAY: Final = 96  # quarters of an hour
_MONTH: Final = 30 * _DAY
_COLUMNS: Final = (*FACTS[1:], *SUMS)
_SAMPLE: Final = 20_000  # rows
_SAMPLED_BY: Final = 8  # rows of a sample to a combination of kept columns: of more, a column tells people apart
_SHARED_BY: Final = 1  # rows to a sum by kept columns: as many sums as rows are still read several times as fast
_MOST_SHARED: Final = 4_096  # combinations
_LARGEST: Final = 1 << 23  # bytes of a table: reading it takes four to eight times as much for a moment


@dataclass(frozen=True, slots=True)
class Packed:
    """The sums of a campaign as the ledger keeps them: tables of integers, compressed, and what is numbered in them."""

    currencies: str  # JSON list
    sums: bytes
    shared: str = "[]"  # JSON list: the names of kept columns, then the values of each combination
    by_shared: bytes = b""


def sums_for_purge(connection: Statements, campaign: int) -> Packed:
    """Sum up, for `pack_sums`, a campaign whose rows go: without words and kept columns, which go as well."""
    by_day = row_sums(connection, [campaign], EVER, _spans_of(_DAY), words=False)
    return _packed(by_day if _small(by_day) else row_sums(connection, [campaign], EVER, _spans_of(_MONTH), words=False))


def sums_to_pack(connection: Statements, campaign: int) -> Packed | None:
    """Sum up a campaign's rows, for `pack_sums`; None if the sums are too many to be kept, so that rows are read."""
    names = shared_columns(connection, campaign)
    while names:
        kept = Combinations(names, most=_MOST_SHARED)
        with contextlib.suppress(TooMany):
            found = row_sums(connection, [campaign], EVER, _spans_of(1), words=True, kept=kept)
            sums = found.groupby(list(FACTS), dropna=False, as_index=False)[list(SUMS)].sum()
            if _small(found) and len(found) <= max(len(sums), found["messages"].sum() // _SHARED_BY):
                return _packed(sums, found, kept)
        names = names[:-1]
    sums = row_sums(connection, [campaign], EVER, _spans_of(1), words=True)
    return _packed(sums) if _small(sums) else None


def _small(sums: pd.DataFrame) -> bool:
    return 8 * len(sums) * (len(_COLUMNS) + 1) <= _LARGEST


def _spans_of(quarters: int) -> Callable[[Ints], Ints]:
    return lambda micros: micros // (_QUARTER * quarters) * quarters


def shared_columns(connection: Statements, campaign: int) -> list[str]:
    """Return the kept columns of which a sample of rows has few combinations, those with the fewest values first."""
    names = kept_by(connection, campaign)
    if not names:
        return []
    (rows,) = connection.execute("SELECT rows FROM campaign WHERE id=?", (campaign,)).fetchone()
    kept, every = Combinations(names, most=_SAMPLE), max(1, rows // _SAMPLE)
    sql = f"SELECT {kept.sql(connection, campaign)} FROM recipient WHERE campaign=? AND chunk/?*?=chunk LIMIT ?"
    texts = [text for (text,) in connection.execute(sql, (campaign, every, every, _SAMPLE))]
    numbers = kept.numbers(texts)
    values = pd.DataFrame([map(json.dumps, each) for each in kept.values()], columns=names)
    sample = values.iloc[numbers]
    few: list[str] = []
    for name in sample.nunique().sort_values(kind="stable").index:
        if len(sample[[*few, name]].drop_duplicates()) * _SAMPLED_BY <= len(sample):
            few.append(name)
    return few


def _packed(sums: pd.DataFrame, by_shared: pd.DataFrame | None = None, kept: Combinations | None = None) -> Packed:
    currencies = sorted(sums["currency"].dropna().unique().tolist())
    packed = json.dumps(currencies), _compressed(sums, _COLUMNS, currencies)
    if by_shared is None or kept is None:
        return Packed(*packed)
    shared = json.dumps([kept.names, *kept.values()])
    return Packed(*packed, shared, _compressed(by_shared, (*_COLUMNS, "combination"), currencies))


def _compressed(sums: pd.DataFrame, columns: Sequence[str], currencies: list[str]) -> bytes:
    codes = sums["currency"].map({code: place for place, code in enumerate(currencies, start=1)}).fillna(0)
    table = sums.assign(currency=codes.astype("int64"))[list(columns)].to_numpy("<i8")
    return zlib.compress(table.T.tobytes())


def pack_sums(connection: Statements, campaign: int, packed: Packed | None, refused: str = "[]") -> None:
    """Store a campaign's sums, and what `refusals.refused_of` returned for a purge; those of a purged campaign stay.

    None deletes earlier ones. The caller holds the campaign's lock.
    """
    if packed is None:
        unpack_sums(connection, campaign)
        return
    connection.execute(
        "INSERT OR REPLACE INTO sums SELECT id, ?, ?, ?, ?, ? FROM campaign WHERE id=? AND purged=0",
        (packed.currencies, packed.sums, packed.shared, packed.by_shared, refused, campaign),
    )


def unpack_sums(connection: Statements, campaign: int) -> None:
    """Delete sums that are about to become wrong; of a purged campaign nothing else is left."""
    connection.execute(
        "DELETE FROM sums WHERE campaign=? AND campaign NOT IN (SELECT id FROM campaign WHERE purged<>0)", (campaign,)
    )


class _Stored(NamedTuple):
    campaign: int
    rows: int
    purged: int
    kept: str
    currencies: str
    sums: bytes
    shared: str
    by_shared: bytes


def packed_sums(
    connection: Statements,
    campaigns: Sequence[int],
    within: tuple[int, int],
    tz: str | None,
    kept: Combinations | None = None,
) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield number and sums of each campaign that has packed ones from which this span and these days can be told.

    As `row_sums` returns them, by day of the time zone; of purged campaigns by day in UTC. Without a time zone, all
    that was ever sent, by no day.
    """
    numbers = ",".join(str(int(number)) for number in campaigns) or "NULL"
    shared = "'[]', ''" if kept is None else "s.shared, s.by_shared"  # the values may be read by fewer people
    found = connection.execute(
        f"SELECT s.campaign, k.rows, k.purged, k.kept, s.currencies, s.sums, {shared} "
        f"FROM sums s JOIN campaign k ON k.id=s.campaign WHERE s.campaign IN ({numbers})"
    ).fetchall()
    for stored in map(_Stored._make, found):
        table = _sums_asked(stored, kept)
        if table is not None and tz is None:
            yield stored.campaign, pd.DataFrame(table | {"number": stored.campaign, "at": 0})
        elif table is not None and tz is not None:
            begins = table["at"] * _QUARTER
            if stored.purged or _exact(begins, within, tz):
                inside = (begins >= within[0]) & (begins < within[1])
                at = days(begins, "UTC" if stored.purged else tz)
                found_at = pd.DataFrame(table | {"number": stored.campaign, "at": at})
                yield stored.campaign, found_at if inside.all() else found_at[inside]


def _sums_asked(stored: _Stored, kept: Combinations | None) -> dict[str, Any] | None:
    """Return a campaign's sums with their combination; None where they are not by all of the kept columns."""
    try:
        there = set() if kept is None or stored.purged else {*kept.names} & {*json.loads(stored.kept)}
        if kept is None or not there:
            table = _table(stored.sums, stored, _COLUMNS)
            return table | {"combination": 0 if kept is None else kept.nothing()}
        columns, *combinations = json.loads(stored.shared) or [[]]
        if not there <= {*columns}:
            return None
        table = _table(stored.by_shared, stored, (*_COLUMNS, "combination"))
        place = {name: columns.index(name) for name in kept.names if name in columns}
        mine = [[values[place[name]] if name in place else None for name in kept.names] for values in combinations]
        numbers = np.array([kept.number(values) for values in mine])
        return table | {"combination": numbers[table["combination"]]}
    except (zlib.error, ValueError, TypeError, LookupError) as error:
        raise Unfit("the sums of a campaign cannot be read") from error


def _table(packed: bytes, of: _Stored, columns: Sequence[str]) -> dict[str, Any]:
    """Return the sums, of which there are at most as many as the campaign has rows: else they unpack to anything."""
    unpacked = _unpacked(packed, min(8 * len(columns) * of.rows, _LARGEST))
    cells = np.frombuffer(unpacked, "<i8").astype(np.int64, copy=False).reshape(len(columns), -1)
    known = dict(zip(columns, cells, strict=True))
    return known | {"currency": np.array([None, *json.loads(of.currencies)], dtype=object)[known["currency"]]}


def _unpacked(packed: bytes, most: int) -> bytes:
    unpacking = zlib.decompressobj()
    found = unpacking.decompress(packed, most + 1)
    if not unpacking.eof or len(found) > most:
        raise Unfit("the sums of a campaign cannot be read")
    return found


def _exact(begins: Ints, within: tuple[int, int], tz: str) -> bool:
    """Return whether each quarter of an hour lies on one day, and as a whole in or out of the span."""
    ends = begins + _QUARTER - 1
    cut = any(((begins < bound) & (bound <= ends)).any() for bound in within)
    return not cut and bool((days(begins, tz) == days(ends, tz)).all())
