"""Sum up what the accepted rows of campaigns were billed, in one pass: memory is bounded, whatever their number.

Rows leave SQLite as three integers each and are added up in blocks, as integers. Everything else that a sum may be made
by (campaign, time, encoding, currency) hangs on a request, and is looked up once for each sum.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...errors import UsageError
from .answers import Ints
from .columns import MOST, Combinations, TooMany, accepted_whole, kept_by
from .damage import Unfit
from .statements import Statements, in_blocks
from .tables import ACCEPTED

FACTS: Final = ("number", "at", "encoding", "est_parts", "currency", "measure", "country", "destination")
SUMS: Final = ("messages", "parts", "micros", "priced", "priced_parts")
COLUMNS: Final = (*FACTS, "combination", *SUMS)  # of a table of sums: an array of integers, 0 where a fact is unknown
PLACES: Final = {name: place for place, name in enumerate(COLUMNS)}
Currencies: TypeAlias = dict[str | None, int]  # numbers of the currencies in one question; None is 0
_SUMMED: Final = len(COLUMNS) - len(SUMS)
_BLOCK: Final = 200_000
_LARGEST_SUM: Final = 9e18  # millionths; beyond 2**63 an integer of 64 bits wraps around
_MOST_KEYS: Final = 2**62
_MOST_IDS: Final = 2**28  # requests; a higher number was not given by a ledger


Places: TypeAlias = npt.NDArray[np.intp]


def row_sums(
    connection: Statements,
    campaigns: Sequence[int],
    within: tuple[int, int],
    when: Callable[[Ints], Ints],
    *,
    words: bool,
    codes: Currencies,
    kept: Combinations | None = None,
) -> Ints:
    """Return `COLUMNS` of the accepted rows by the facts of their request, by country, destination and kept columns.

    ``when`` returns what sums are made by, such as the day, of times in microseconds; without ``words`` the measure of
    bodies is 0.
    """
    kinds, kind_of = _requests_of(connection, campaigns, within, when, words=words, codes=codes)
    places = 1 + _highest(connection, "country"), 1 + _highest(connection, "destination")
    numbers = np.unique(kinds[:, 0]).tolist()
    blocks = (block for number in numbers for block in _accepted(connection, number, places, kept))
    tables = [_block_sums(block, kinds, kind_of, places) for block in blocks]
    return added_up([np.zeros((0, len(COLUMNS)), np.int64), *tables], COLUMNS)


def _requests_of(
    connection: Statements,
    campaigns: Sequence[int],
    within: tuple[int, int],
    when: Callable[[Ints], Ints],
    *,
    words: bool,
    codes: Currencies,
) -> tuple[Ints, npt.NDArray[np.int32]]:
    """Return the facts that requests share, a row for each combination, and the row of each request.

    Rows are numbered from 1; 0 stands for requests that were not asked for.
    """
    numbers = ",".join(str(int(number)) for number in campaigns) or "NULL"
    sql = f"SELECT DISTINCT currency FROM attempt WHERE campaign IN ({numbers}) AND currency IS NOT NULL"
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
    kinds = np.array(list(facts), dtype=np.int64).reshape(-1, 6)
    kinds[:, PLACES["currency"]] = _numbered(codes, currencies)[kinds[:, PLACES["currency"]]]
    return kinds, of


def _numbered(codes: Currencies, currencies: Sequence[str]) -> Ints:
    """Return the numbers of currencies that have others, from 1, in a table."""
    return np.array([codes.setdefault(code, len(codes)) for code in (None, *currencies)])


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
    if tz == "UTC":
        return micros // _WHOLE_DAY
    utc = pd.DatetimeIndex(micros.astype("datetime64[us]"), tz="UTC")
    return utc.tz_convert(tz).tz_localize(None).to_numpy().astype("datetime64[D]").astype(np.int64)


def _highest(connection: Statements, table: str) -> int:
    found = int(connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])
    if found > _MOST_IDS:
        raise Unfit(f"{table} has the number {found:,}")
    return found


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
        for rows in in_blocks(connection.execute(sql.format(text), (campaign,)), _BLOCK):
            *columns, texts = zip(*rows, strict=True)
            yield np.column_stack([*(np.array(column, np.int64) for column in columns), kept.numbers(texts)])
    for whole in accepted_whole(connection, campaign, ("destination",), text=text):
        keys = (whole.attempt * places[0] + whole.country) * places[1] + whole.columns["destination"]
        numbers = np.zeros_like(keys) if kept is None else kept.numbers(whole.texts)
        yield np.column_stack([keys, whole.parts, whole.price, numbers])


def _blocks(connection: Statements, sql: str, values: tuple[object, ...], *, columns: int) -> Iterator[Ints]:
    numbers = chain.from_iterable(connection.execute(sql, values))
    while len(block := np.fromiter(islice(numbers, columns * _BLOCK), dtype=np.int64)):
        yield block.reshape(-1, columns)


def _block_sums(block: Ints, kinds: Ints, kind_of: npt.NDArray[np.int32], places: tuple[int, int]) -> Ints:
    request, within = np.divmod(block[:, 0], places[0] * places[1])
    kind = kind_of[request].astype(np.int64) - 1
    mine = kind >= 0
    parts, price = block[mine, 1], block[mine, 2]
    priced = price >= 0
    each = np.where(parts < 0, 1, parts)  # parts that are not known count as one where a price is divided by them
    counted = [np.ones_like(parts), np.maximum(parts, 0), np.maximum(price, 0), priced, np.where(priced, each, 0)]
    keys = (kind[mine] * places[0] * places[1] + within[mine]) * MOST + block[mine, 3]
    first, sums = grouped(keys, np.column_stack(counted))
    rest, combination = np.divmod(keys[first], MOST)
    rest, destination = np.divmod(rest, places[1])
    kind, country = np.divmod(rest, places[0])
    return np.column_stack([kinds[kind], country, destination, combination, sums])


def grouped(keys: Ints, sums: Ints) -> tuple[Places, Ints]:
    """Add up rows of equal keys; return the place of one of each, and the sums."""
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-1)) if len(keys) else np.zeros(0, dtype=np.intp)
    if not len(first):
        return order[first], sums[:0]
    if (sums.sum(axis=0, dtype=np.float64) >= _LARGEST_SUM).any():
        each = np.add.reduceat(sums[order].astype(np.float64), first, axis=0)
        if (each >= _LARGEST_SUM).any():
            raise UsageError(
                "amounts of one currency add up to more than 9,000,000,000,000, which no sum here holds exactly; sum "
                'up smaller groups, such as cost.by(ledger, ["campaign", "day"])'
            )
    return order[first], np.add.reduceat(sums[order], first, axis=0)


def as_one(table: Ints) -> Ints:
    """Return an integer for each row of a table of integers: alike and in order as the rows are."""
    keys, size = np.zeros(len(table), dtype=np.int64), 1
    for column in table.T:
        codes = column - column.min(initial=0)
        span = int(codes.max(initial=0)) + 1
        if size * span >= _MOST_KEYS:
            _, keys = np.unique(keys, return_inverse=True)
            size = int(keys.max(initial=0)) + 1
        keys, size = keys * span + codes, size * span
    return keys


def added_up(tables: Sequence[Ints], facts: Collection[str]) -> Ints:
    """Add up tables of sums by some of their facts, ``combination`` among them if it is named; the others become 0."""
    cells = np.concatenate(tables)
    by = [place for place, name in enumerate(COLUMNS[:_SUMMED]) if name in facts]
    first, sums = grouped(as_one(cells[:, by]), cells[:, _SUMMED:])
    found = np.zeros((len(first), len(COLUMNS)), dtype=np.int64)
    found[:, by], found[:, _SUMMED:] = cells[first][:, by], sums
    return found


EVER: Final = (-(2**62), 2**62)
_QUARTER: Final = 900_000_000  # microseconds
_WHOLE_DAY: Final = 86_400_000_000
_DAY: Final = 96  # quarters of an hour
_MONTH: Final = 30 * _DAY
_PACKED: Final = (*FACTS[1:], *SUMS)
# the facts of the tables that are kept: a question is answered from the first that has all of its own
_LEVELS: Final[tuple[tuple[str, ...], ...]] = (
    ("currency",), ("encoding", "est_parts", "currency", "country", "destination"), FACTS[1:],
)  # fmt: skip
_SAMPLE: Final = 20_000  # rows
_SAMPLED_BY: Final = 8  # rows of a sample to a combination of kept columns: of more, a column tells people apart
_SHARED_BY: Final = 1  # rows to a sum by kept columns: as many sums as rows are still read several times as fast
_MOST_SHARED: Final = 4_096  # combinations
_LENGTH: Final = 4  # bytes
_LARGEST: Final = 1 << 23  # bytes of a table: reading it takes four to eight times as much for a moment


@dataclass(frozen=True, slots=True)
class Packed:
    """The sums of a campaign as the ledger keeps them: by the facts of each of the `_LEVELS`, a table of integers.

    Of each table the length in four bytes, 0 where its sums are too many to be kept, and the integers, compressed.
    """

    currencies: str  # JSON list
    sums: bytes
    shared: str = "[]"  # JSON list: the names of kept columns, then the values of each combination
    by_shared: bytes = b""


def sums_for_purge(connection: Statements, campaign: int) -> Packed:
    """Sum up, for `pack_sums`, a campaign whose rows go: without words and kept columns, which go as well."""
    codes: Currencies = {None: 0}
    found = row_sums(connection, [campaign], EVER, _spans_of(_DAY), words=False, codes=codes)
    if not _small(found):
        found = row_sums(connection, [campaign], EVER, _spans_of(_MONTH), words=False, codes=codes)
    return Packed(_listed(codes), _levels(found, _PACKED))


def sums_to_pack(connection: Statements, campaign: int) -> Packed | None:
    """Sum up a campaign's rows, for `pack_sums`; None if the sums are too many to be kept, so that rows are read."""
    try:
        return _packed(connection, campaign)
    except UsageError:  # a sum beyond 64 bits: rows are read, and a question that adds them up is refused
        return None


def _packed(connection: Statements, campaign: int) -> Packed | None:
    names, codes = shared_columns(connection, campaign), Currencies({None: 0})
    while names:
        kept = Combinations(names, most=_MOST_SHARED)
        with contextlib.suppress(TooMany):
            found = row_sums(connection, [campaign], EVER, _spans_of(1), words=True, codes=codes, kept=kept)
            most = int(found[:, PLACES["messages"]].sum()) // _SHARED_BY
            by_shared = _levels(found, (*_PACKED, "combination"), most=most)
            if any(by_shared[:_LENGTH]):
                shared = json.dumps([kept.names, *kept.values])
                return Packed(_listed(codes), _levels(found, _PACKED, most=len(found)), shared, by_shared)
        names = names[:-1]
    found = row_sums(connection, [campaign], EVER, _spans_of(1), words=True, codes=codes)
    packed = _levels(found, _PACKED, most=len(found))
    return Packed(_listed(codes), packed) if any(packed[:_LENGTH]) else None


def _listed(codes: Currencies) -> str:
    return json.dumps([*codes][1:])


def _levels(found: Ints, columns: Sequence[str], *, most: int | None = None) -> bytes:
    """Pack the tables of all levels; with ``most`` those that are small enough and have no more sums than this."""
    places, packed = [PLACES[name] for name in columns], b""
    for facts in _LEVELS:
        table = added_up([found], {*facts, "combination"} & {*columns})
        kept = most is None or (_small(table) and len(table) <= most)
        cells = zlib.compress(table[:, places].astype("<i8").T.tobytes()) if kept else b""
        packed += len(cells).to_bytes(_LENGTH, "big") + cells
    return packed


def _small(sums: Ints) -> bool:
    return sums.nbytes <= _LARGEST


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
    values = pd.DataFrame([map(json.dumps, each) for each in kept.values], columns=names)
    sample = values.iloc[numbers]
    few: list[str] = []
    for name in sample.nunique().sort_values(kind="stable").index:
        if len(sample[[*few, name]].drop_duplicates()) * _SAMPLED_BY <= len(sample):
            few.append(name)
    return few


def pack_sums(connection: Statements, campaign: int, packed: Packed | None, refused: str = "[]") -> None:
    """Store a campaign's sums, and what `refusals.refused_of` returned for a purge; those of a purged campaign stay.

    None deletes earlier ones. The caller holds the campaign's lock.
    """
    unpack_sums(connection, campaign)
    if packed is not None:
        connection.execute(
            "INSERT INTO sums SELECT id, ?, ?, ?, ?, ? FROM campaign WHERE id=? AND purged=0",
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
    facts: Collection[str],
    codes: Currencies,
    kept: Combinations | None = None,
) -> Iterator[tuple[int, Ints]]:
    """Yield number and sums of each campaign that has packed ones from which this span and these facts can be told.

    As `row_sums` returns them, by day of the time zone; of purged campaigns by day in UTC. Without a time zone, all
    that was ever sent, by no day.
    """
    numbers = ",".join(str(int(number)) for number in campaigns) or "NULL"
    shared = "'[]', ''" if kept is None else "s.shared, s.by_shared"  # the values may be read by fewer people
    found = connection.execute(
        f"SELECT s.campaign, k.rows, k.purged, k.kept, s.currencies, s.sums, {shared} "
        f"FROM sums s JOIN campaign k ON k.id=s.campaign WHERE s.campaign IN ({numbers})"
    ).fetchall()
    level = next(at for at, those in enumerate(_LEVELS) if {*facts} - {"number"} <= {*those})
    for stored in map(_Stored._make, found):
        table = _sums_asked(stored, kept, codes, len(_LEVELS) - 1 if tz is not None else level)
        if table is not None and tz is None:
            table[:, PLACES["at"]] = 0
            yield stored.campaign, table
        elif table is not None and tz is not None:
            begins = table[:, PLACES["at"]] * _QUARTER
            if stored.purged or _exact(begins, within, tz):
                inside = (begins >= within[0]) & (begins < within[1])
                table[:, PLACES["at"]] = days(begins, "UTC" if stored.purged else tz)
                yield stored.campaign, table if inside.all() else table[inside]


def _sums_asked(stored: _Stored, kept: Combinations | None, codes: Currencies, level: int) -> Ints | None:
    """Return a campaign's sums with their combination; None where they are not by all of the kept columns."""
    try:
        there = set() if kept is None or stored.purged else {*kept.names} & {*json.loads(stored.kept)}
        if kept is None or not there:
            numbers = np.array([0 if kept is None else kept.number([None] * len(kept.names))])
            return _table(stored.sums, stored, _PACKED, codes, level, numbers)
        columns, *combinations = json.loads(stored.shared) or [[]]
        if not there <= {*columns}:
            return None
        place = {name: columns.index(name) for name in kept.names if name in columns}
        mine = [[values[place[name]] if name in place else None for name in kept.names] for values in combinations]
        numbers = np.array([kept.number(values) for values in mine])
        return _table(stored.by_shared, stored, (*_PACKED, "combination"), codes, level, numbers)
    except (zlib.error, ValueError, TypeError, LookupError) as error:
        raise Unfit("the sums of a campaign cannot be read") from error


def _table(
    packed: bytes, of: _Stored, columns: Sequence[str], codes: Currencies, level: int, combinations: Ints
) -> Ints | None:
    """Return the sums of a level, with other numbers for their combinations; None if they are not kept.

    There are at most as many as the campaign has rows: else they unpack to anything.
    """
    for _ in range(level):
        packed = packed[_LENGTH + int.from_bytes(packed[:_LENGTH], "big") :]
    if not (length := int.from_bytes(packed[:_LENGTH], "big")) and len(packed) >= _LENGTH:
        return None
    unpacked = _unpacked(packed[_LENGTH : _LENGTH + length], min(8 * len(columns) * of.rows, _LARGEST))
    cells = np.frombuffer(unpacked, "<i8").reshape(len(columns), -1)
    table = np.zeros((cells.shape[1], len(COLUMNS)), dtype=np.int64)
    table[:, 0], table[:, [PLACES[name] for name in columns]] = of.campaign, cells.T
    for name, numbers in (("currency", _numbered(codes, json.loads(of.currencies))), ("combination", combinations)):
        table[:, PLACES[name]] = numbers[table[:, PLACES[name]]]
    return table


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
