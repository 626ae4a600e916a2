"""What campaigns that are not running were billed, summed up beside them, so that tables of cost read no rows.

The sums of a campaign are packed and deleted together with its contacts; where they are absent, its rows are read.
They are by quarter of an hour, because the day of every time zone begins with one. A purge leaves them by day in UTC.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from .._schema import LONGEST
from .answers import Ints
from .damage import Unfit
from .row_sums import FACTS, SUMS, days, named, row_sums
from .store import Store

EVER: Final = (-(2**62), 2**62)
_QUARTER: Final = 900_000_000  # microseconds
_DAY: Final = 96  # quarters of an hour
_COLUMNS: Final = (*FACTS[1:], *SUMS)


@dataclass(frozen=True, slots=True)
class Packed:
    """The sums of a campaign as the ledger keeps them: a table of integers, compressed, and its currencies as JSON."""

    currencies: str
    sums: bytes


def sums_to_pack(store: Store, campaign: int, *, for_purge: bool = False) -> Packed:
    """Sum up a campaign's rows, for `pack_sums`; for a purge by day, and without the words, which are deleted."""
    by = _whole_days if for_purge else _quarters
    found = row_sums(store, [campaign], EVER, by, words=not for_purge)
    currencies = sorted(found["currency"].dropna().unique().tolist())
    codes = found["currency"].map({code: place for place, code in enumerate(currencies, start=1)}).fillna(0)
    table = found.assign(currency=codes.astype("int64"))[list(_COLUMNS)].to_numpy("<i8")
    return Packed(json.dumps(currencies), zlib.compress(table.T.tobytes()))


def _quarters(micros: Ints) -> Ints:
    return micros // _QUARTER


def _whole_days(micros: Ints) -> Ints:
    return micros // (_QUARTER * _DAY) * _DAY


def pack_sums(connection: sqlite3.Connection, campaign: int, packed: Packed, refused: str = "[]") -> None:
    """Store a campaign's sums, and what `refusals.refused_of` returned for a purge; those of a purged campaign stay.

    The caller holds the campaign's lock.
    """
    connection.execute(
        "INSERT OR REPLACE INTO sums SELECT id, ?, ?, ? FROM campaign WHERE id=? AND purged=0",
        (packed.currencies, packed.sums, refused, campaign),
    )


def unpack_sums(connection: sqlite3.Connection, campaign: int) -> None:
    """Delete sums that are about to become wrong; of a purged campaign nothing else is left."""
    connection.execute(
        "DELETE FROM sums WHERE campaign=? AND campaign NOT IN (SELECT id FROM campaign WHERE purged<>0)", (campaign,)
    )


def packed_sums(
    store: Store, campaigns: Sequence[int], within: tuple[int, int], tz: str
) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield number and sums of each campaign that has packed ones from which this span and these days can be told.

    As `row_sums` returns them, by day of the time zone; of purged campaigns by day in UTC.
    """
    with store.reading() as connection:
        found = connection.execute(
            "SELECT s.campaign, s.currencies, s.sums, k.rows, k.purged FROM sums s JOIN campaign k ON k.id=s.campaign"
        ).fetchall()
    wanted = {*campaigns}
    for number, currencies, sums, rows, purged in found:
        if number in wanted:
            table = _table(Packed(currencies, sums), most=rows)
            begins = table["at"].to_numpy() * _QUARTER
            if purged or _exact(begins, within, tz):
                inside = (begins >= within[0]) & (begins < within[1])
                at = days(begins, "UTC" if purged else tz)
                yield number, table.assign(number=number, at=at, combination=0)[inside]


def _table(packed: Packed, *, most: int) -> pd.DataFrame:
    """Return the sums, of which there are at most as many as the campaign has rows: else they unpack to anything."""
    try:
        cells = np.frombuffer(_unpacked(packed.sums, min(8 * len(_COLUMNS) * most, LONGEST)), "<i8").astype(np.int64)
        cells = cells.reshape(len(_COLUMNS), -1)
        table = pd.DataFrame(dict(zip(_COLUMNS, cells, strict=True)))
        return table.assign(currency=named(table["currency"], json.loads(packed.currencies)))
    except (zlib.error, ValueError, IndexError) as error:
        raise Unfit("the sums of a campaign cannot be read") from error


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
