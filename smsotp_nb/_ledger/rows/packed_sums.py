"""What campaigns that are not running were billed, summed up beside them, so that tables of cost read no rows.

The sums of a campaign are packed and deleted together with its contacts; where they are absent, its rows are read.
They are by quarter of an hour, because the day of every time zone begins with one; and once more by the kept columns
whose values many rows share, such as a segment. A purge leaves the former, by day in UTC or, if they are too many, by
thirty days. None unpack to more than 8 MiB, whatever a forged ledger says of its rows.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from ..file.store import Store
from .answers import Ints
from .damage import Unfit
from .kept_columns import Combinations, TooMany, kept_by
from .row_sums import FACTS, SUMS, days, named, row_sums

EVER: Final = (-(2**62), 2**62)
_QUARTER: Final = 900_000_000  # microseconds
_DAY: Final = 96  # quarters of an hour
_MONTH: Final = 30 * _DAY
_COLUMNS: Final = (*FACTS[1:], *SUMS)
_SAMPLE: Final = 20_000  # rows
_SHARED_BY: Final = 8  # rows to a sum by kept columns, on average: more sums are hardly faster to read than rows
_MOST_SHARED: Final = 4_096  # combinations
_LARGEST: Final = 1 << 23  # bytes of a table: reading it takes four to eight times as much for a moment


@dataclass(frozen=True, slots=True)
class Packed:
    """The sums of a campaign as the ledger keeps them: tables of integers, compressed, and what is numbered in them."""

    currencies: str  # JSON list
    sums: bytes
    shared: str = "[]"  # JSON list: the names of kept columns, then the values of each combination
    by_shared: bytes = b""


def sums_for_purge(store: Store, campaign: int) -> Packed:
    """Sum up, for `pack_sums`, a campaign whose rows go: without words and kept columns, which go as well."""
    by_day = row_sums(store, [campaign], EVER, _spans_of(_DAY), words=False)
    return _packed(by_day if _small(by_day) else row_sums(store, [campaign], EVER, _spans_of(_MONTH), words=False))


def sums_to_pack(store: Store, campaign: int) -> Packed | None:
    """Sum up a campaign's rows, for `pack_sums`; None if the sums are too many to be kept, so that rows are read."""
    names = shared_columns(store, campaign)
    while names:
        kept = Combinations(names, most=_MOST_SHARED)
        with contextlib.suppress(TooMany):
            found = row_sums(store, [campaign], EVER, _spans_of(1), words=True, kept=kept)
            sums = found.groupby(list(FACTS), dropna=False, as_index=False)[list(SUMS)].sum()
            if _small(found) and len(found) <= max(len(sums), found["messages"].sum() // _SHARED_BY):
                return _packed(sums, found, kept)
        names = names[:-1]
    sums = row_sums(store, [campaign], EVER, _spans_of(1), words=True)
    return _packed(sums) if _small(sums) else None


def _small(sums: pd.DataFrame) -> bool:
    return 8 * len(sums) * (len(_COLUMNS) + 1) <= _LARGEST


def _spans_of(quarters: int) -> Callable[[Ints], Ints]:
    return lambda micros: micros // (_QUARTER * quarters) * quarters


def shared_columns(store: Store, campaign: int) -> list[str]:
    """Return the kept columns of which a sample of rows has few combinations, those with the fewest values first."""
    with store.reading() as connection:
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
        if len(sample[[*few, name]].drop_duplicates()) * _SHARED_BY <= len(sample):
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


def pack_sums(connection: sqlite3.Connection, campaign: int, packed: Packed | None, refused: str = "[]") -> None:
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


def unpack_sums(connection: sqlite3.Connection, campaign: int) -> None:
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
    store: Store, campaigns: Sequence[int], within: tuple[int, int], tz: str, kept: Combinations | None = None
) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield number and sums of each campaign that has packed ones from which this span and these days can be told.

    As `row_sums` returns them, by day of the time zone; of purged campaigns by day in UTC.
    """
    numbers = ",".join(str(int(number)) for number in campaigns) or "NULL"
    shared = "'[]', ''" if kept is None else "s.shared, s.by_shared"  # the values may be read by fewer people
    with store.reading() as connection:
        found = connection.execute(
            f"SELECT s.campaign, k.rows, k.purged, k.kept, s.currencies, s.sums, {shared} "
            f"FROM sums s JOIN campaign k ON k.id=s.campaign WHERE s.campaign IN ({numbers})"
        ).fetchall()
    for stored in map(_Stored._make, found):
        table = _sums_asked(stored, kept)
        if table is not None:
            begins = table["at"].to_numpy() * _QUARTER
            if stored.purged or _exact(begins, within, tz):
                inside = (begins >= within[0]) & (begins < within[1])
                at = days(begins, "UTC" if stored.purged else tz)
                table = table.assign(number=stored.campaign, at=at)
                yield stored.campaign, table if inside.all() else table[inside]


def _sums_asked(stored: _Stored, kept: Combinations | None) -> pd.DataFrame | None:
    """Return a campaign's sums with their combination; None where they are not by all of the kept columns."""
    try:
        there = set() if kept is None or stored.purged else {*kept.names} & {*json.loads(stored.kept)}
        if kept is None or not there:
            table = _table(stored.sums, stored, _COLUMNS)
            return table.assign(combination=0 if kept is None else kept.nothing())
        columns, *combinations = json.loads(stored.shared) or [[]]
        if not there <= {*columns}:
            return None
        table = _table(stored.by_shared, stored, (*_COLUMNS, "combination"))
        numbers = np.array([kept.number(_projected(values, columns, kept.names)) for values in combinations])
        return table.assign(combination=numbers[table["combination"]])
    except (zlib.error, ValueError, TypeError, LookupError) as error:
        raise Unfit("the sums of a campaign cannot be read") from error


def _projected(values: Sequence[Any], columns: Sequence[str], names: Sequence[str]) -> list[Any]:
    return [values[columns.index(name)] if name in columns else None for name in names]


def _table(packed: bytes, of: _Stored, columns: Sequence[str]) -> pd.DataFrame:
    """Return the sums, of which there are at most as many as the campaign has rows: else they unpack to anything."""
    unpacked = _unpacked(packed, min(8 * len(columns) * of.rows, _LARGEST))
    cells = np.frombuffer(unpacked, "<i8").astype(np.int64, copy=False).reshape(len(columns), -1)
    known = dict(zip(columns, cells, strict=True))
    currency = named(pd.Series(known["currency"]), json.loads(of.currencies))
    return pd.DataFrame(known | {"currency": currency})


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
