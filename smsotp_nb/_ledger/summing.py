"""Sum up what all campaigns of a ledger cost, in one pass: ten million rows take seconds and bounded memory.

Rows leave SQLite as three integers each and are added up in blocks, as integers. Everything else that a sum may be made
by (campaign, day, country, encoding, currency) hangs on a request or a destination, and is looked up once for each sum.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import zoneinfo
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._arguments import given, not_text, not_zone, refuse
from .._calls import in_our_words
from .._pandas import STR
from .._results.contract import COLUMNS as RESULTS
from .._results.contract import money
from .._services import is_rehearsal
from ..columns import require
from ..errors import UsageError
from .address import Address
from .answers import Ints
from .columns import accepted_whole
from .damage import Unfit
from .kept import MOST, Combinations, known_columns
from .places import path_of, store_of
from .reading import campaign_frame, counts
from .store import Store
from .tables import ACCEPTED
from .wordings import OF_WORDS, words_of

if TYPE_CHECKING:
    import sqlite3

    from .book import Ledger

COLUMNS: Final[dict[str, str | pd.StringDtype]] = {
    **dict.fromkeys(("service", "campaign", "kind", "month"), STR),
    "day": "datetime64[us]",
    **dict.fromkeys(("iso", "region", "type", "encoding", "currency"), STR),
    **dict.fromkeys(("messages", "parts"), "Int64"),
    "cost": "float64",
    **dict.fromkeys(("unpriced", "compared", "compared_parts", "est_parts"), "Int64"),
    "compared_cost": "float64",
    "est_cost": "float64",
}
_BLOCK: Final = 200_000
_MOST_IDS: Final = 2**28  # requests; a higher number was not given by a ledger
_WORD_TYPES: Final[dict[str, str | pd.StringDtype]] = {"wording": STR, "version": "Int64"}
_ENCODINGS: Final = (None, "gsm7", "ucs2")
_SUMS: Final = ("messages", "parts", "micros", "priced", "priced_parts")


@in_our_words
def spending(
    ledger: Ledger | str | Path,
    *,
    service: str | None = None,
    since: object = None,
    until: object = None,
    tz: str = "UTC",
    columns: str | Sequence[str] = (),
) -> pd.DataFrame:
    """Sum up the accepted messages of all campaigns by everything that the ledger knows of them.

    The whole ledger is read in one pass with bounded memory, so ten million rows take seconds. `cost.by` and similar
    functions take the result in place of a result table.

    Args:
        ledger: the Ledger, or its path. Tests to yourself are included, because they cost money as well.
        service: ``"live"``, ``"sandbox"``, or the id of one service. By default the live services, or the sandboxes if
            there is nothing live.
        since: first day or time, as `pandas.Timestamp` reads it; in ``tz`` if it names no zone.
        until: first day or time that is no longer included.
        tz: time zone of days and months. Those of a purged campaign are in UTC.
        columns: your own columns to sum up by as well, of those that ``plan(keep=...)`` kept. They are missing for
            campaigns that did not keep them, and for purged ones. Also ``wording`` (str: what the messages say, with
            their placeholders) and ``version`` (Int64: the version of the campaign in which they said it first).

    Returns:
        One row per combination: the columns asked for; ``service, campaign, kind, month`` (as 2026-11), ``day, iso,
        region, type, encoding, currency``; ``messages, parts`` (Int64), ``cost`` (float64), ``unpriced`` (Int64); and
        for the ``compared`` messages, those with a price and an estimate in one currency, ``compared_parts, est_parts``
        (Int64), ``compared_cost, est_cost`` (float64).

    Raises:
        UsageError: the ledger has no such service, no campaign kept such a column, the time zone does not exist, or a
            time cannot be read.

    Example:
        >>> import tempfile, pathlib
        >>> from smsotp_nb._ledger import Ledger
        >>> with Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True) as ledger:
        ...     len(spending(ledger))
        0
    """
    which = "; 'live', 'sandbox' or the id of one service, such as client.service"
    refuse(not_zone("tz", tz), None if service is None else not_text("service", service, hint=which))
    span = span_of(since, until, tz)
    names = [columns] if isinstance(columns, str) else list(columns)
    with snapshot_of(ledger) as store:
        _check_kept(store, names)
        campaigns = services_asked(store, service)
        of_words = [name for name in names if name in OF_WORDS]
        own = [name for name in names if name not in OF_WORDS]
        recorded = summed(store, requests_of(store, campaigns, *span, tz, words=bool(of_words)), own)
        if of_words:
            recorded = recorded.join(_words(store)[of_words], on="measure")
        kept = _kept_sums(store, campaigns, *span)
        sums = pd.concat([recorded, kept], ignore_index=True) if len(kept) else recorded
        return _finished(sums.join(campaigns, on="number"), names)


def _check_kept(store: Store, names: Sequence[str]) -> None:
    with store.reading() as connection:
        known = known_columns(connection) if names else []
    for name in names:
        if name in COLUMNS:
            raise UsageError(f"columns={name!r} is a column of every sum; ask for your own columns only")
        require(name, [*known, *OF_WORDS, *COLUMNS], where="columns of the ledger")


def _words(store: Store) -> pd.DataFrame:
    with store.reading() as connection:
        return words_of(connection)


@dataclass(frozen=True, slots=True)
class Billed:
    """What a campaign was billed: micro-units by currency, and how many accepted messages have no readable price."""

    micros: tuple[tuple[str, int], ...] = ()
    unpriced: int = 0


def billed(store: Store, campaigns: Sequence[int]) -> dict[int, Billed]:
    """Return what campaigns were billed, by their numbers; those that were purged, too."""
    mine = pd.DataFrame(index=np.array(campaigns, dtype=np.int64))
    sums = pd.concat([summed(store, requests_of(store, mine, None, None, "UTC")), _kept_sums(store, mine, None, None)])
    return {number: _billed(sums[(sums["number"] == number).to_numpy()]) for number in campaigns} if len(sums) else {}


def _billed(sums: pd.DataFrame) -> Billed:
    """Add up in integers; a price without a currency counts as none, as in `spending`."""
    known = sums[sums["currency"].notna()]
    micros = known.groupby("currency")["micros"].sum()
    unpriced = int(sums["messages"].sum() - known["priced"].sum())
    return Billed(
        tuple((str(currency), int(each)) for currency, each in micros.items() if each or not unpriced), unpriced
    )


@contextlib.contextmanager
def snapshot_of(ledger: Ledger | str | Path | Address) -> Iterator[Store]:
    """Read everything as of one moment, by a separate connection, because a campaign may be running."""
    store = store_of(path_of(ledger), create=False)
    try:
        with store.snapshot():
            yield store
    finally:
        store.close()


def services_asked(store: Store, asked: str | None) -> pd.DataFrame:
    """Return service, campaign and kind of the campaigns asked for, by their number."""
    found = table_of(store, "SELECT id, service, name, kind FROM campaign", ("service", "campaign", "kind"))
    rehearsed = found["service"].astype(STR).map(is_rehearsal).astype("bool")
    if asked is None:
        return found if rehearsed.all() else found[~rehearsed]
    if asked in ("live", "sandbox"):
        return found[rehearsed == (asked == "sandbox")]
    chosen = found[found["service"] == asked]
    if chosen.empty:
        known = ", ".join(map(repr, found["service"].unique())) or "none yet"
        raise UsageError(f"the ledger has no service {asked!r}; it has {known}")
    return chosen


def all_rows(ledger: Ledger | str | Path) -> pd.DataFrame:
    """Return the result rows of all campaigns that `spending` sums up, without the kept columns."""
    with snapshot_of(ledger) as store:
        campaigns = services_asked(store, None)
        tables = [
            campaign_frame(store, number, name=name, service=of, names=())
            for number, name, of in zip(campaigns.index, campaigns["campaign"], campaigns["service"], strict=True)
        ]
    found = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(RESULTS))
    return found.astype(RESULTS)


@dataclass(frozen=True, slots=True)
class Sent:
    """When the requests of a ledger's campaigns were answered, UTC, and how many of their rows are in each state."""

    first: pd.Timestamp | None
    last: pd.Timestamp | None
    rows: dict[str, int]


def when_sent(ledger: Ledger | str | Path) -> Sent:
    """Return when that was sent of which `spending` returns the cost, and what became of all rows."""
    with snapshot_of(ledger) as store:
        numbers = services_asked(store, None).index.tolist()
        of = f"campaign IN ({','.join(map(str, numbers))}) AND outcome IN ('accepted', 'partial', 'purged')"
        sql = f"SELECT 1, min(coalesce(settled_at, started_at)), max(settled_at) FROM attempt WHERE {of}"
        times = table_of(store, sql, ("first", "last")).iloc[0]
        rows = Counter[str]()
        for number in numbers:
            rows.update(counts(store, number))
    first, last = (None if at is None else pd.Timestamp(at, unit="us", tz="UTC") for at in times)
    return Sent(first, last, dict(rows))


def span_of(since: object, until: object, tz: str) -> tuple[int | None, int | None]:
    """Return a span in microseconds since 1970.

    Raises:
        UsageError: a time cannot be read, or the span ends before it begins.
    """
    zone = zoneinfo.ZoneInfo(tz)
    begins, ends = _micros_of(since, "since", zone), _micros_of(until, "until", zone)
    if begins is not None and ends is not None and begins >= ends:
        raise UsageError(f"until={given(until)} must come after since={given(since)}; exchange the two")
    return begins, ends


def _micros_of(when: object, name: str, zone: zoneinfo.ZoneInfo) -> int | None:
    if when is None:
        return None
    kind = isinstance(when, str | dt.date | np.datetime64)
    moment = pd.to_datetime(when, errors="coerce") if kind else None  # type: ignore[call-overload]
    if not isinstance(moment, pd.Timestamp) or pd.isna(moment):
        raise UsageError(f"{name}= must be a day or a time such as '2026-11-01', got {given(when)}")
    if moment.tz is None:
        moment = moment.tz_localize(zone, ambiguous=True, nonexistent="shift_forward")
    return int((moment - pd.Timestamp(0, tz="UTC")) // pd.Timedelta(microseconds=1))


def table_of(store: Store, sql: str, names: tuple[str, ...], values: tuple[object, ...] = ()) -> pd.DataFrame:
    """Return a small query as a frame of objects, indexed by its first column."""
    with store.reading() as connection:
        rows = connection.execute(sql, values).fetchall()
    return pd.DataFrame([row[1:] for row in rows], columns=list(names), index=[row[0] for row in rows], dtype=object)


@dataclass(frozen=True, slots=True)
class _Requests:
    """The facts that requests share: ``kinds`` has one row for each combination, ``of`` the row of each request."""

    campaigns: tuple[int, ...]
    kinds: pd.DataFrame
    of: npt.NDArray[np.int32]  # numbered from 1, 0 for requests that were not asked for


def requests_of(
    store: Store, campaigns: pd.DataFrame, since: int | None, until: int | None, tz: str, *, words: bool = False
) -> _Requests:
    currencies = [
        code for code in table_of(store, "SELECT DISTINCT currency, currency FROM attempt", ("c",))["c"] if code
    ]
    low, high = (-(2**62) if since is None else since), (2**62 if until is None else until)
    facts: dict[tuple[int, ...], int] = {}
    of = np.zeros(1 + _highest(store, "attempt"), dtype=np.int32)  # memory only where something is written
    for block in _request_blocks(store, currencies, words=words):
        mine = np.isin(block[:, 1], campaigns.index) & (block[:, 2] >= low) & (block[:, 2] < high)
        block = block[mine]
        block[:, 2] = _days(block[:, 2], tz)
        rows = pd.DataFrame(block[:, 1:])
        group = rows.groupby(list(rows.columns), sort=False).ngroup().to_numpy()
        places = [facts.setdefault(tuple(row), len(facts)) for row in rows.drop_duplicates().to_numpy().tolist()]
        of[block[:, 0]] = 1 + np.array(places, dtype=np.int32)[group]
    named = ["number", "day", "encoding", "est_parts", "currency", "measure"]
    kinds = pd.DataFrame(list(facts), columns=named, dtype="int64")
    kinds["day"] = pd.to_datetime(kinds["day"], unit="D").dt.as_unit("us")
    kinds["encoding"] = kinds["encoding"].map(dict(enumerate(_ENCODINGS)))
    kinds["est_parts"] = kinds["est_parts"].where(kinds["est_parts"] > 0)
    kinds["currency"] = kinds["currency"].map(dict(enumerate([None, *currencies])))
    return _Requests(tuple(sorted(kinds["number"].unique().tolist())), kinds, of)


def _request_blocks(store: Store, currencies: list[str], *, words: bool) -> Iterator[Ints]:
    """Yield request, campaign, time, and encoding, estimate, currency and measure as numbers, 0 where unknown."""
    cases = " ".join(f"WHEN ? THEN {place}" for place in range(1, len(currencies) + 1))
    sql = (
        "SELECT a.id, a.campaign, coalesce(a.settled_at, a.started_at), "
        "CASE k.encoding WHEN 'gsm7' THEN 1 WHEN 'ucs2' THEN 2 ELSE 0 END, coalesce(k.est_parts, 0), "
        f"{f'CASE a.currency {cases} ELSE 0 END' if currencies else '0'}, "
        f"{'coalesce(k.measure, 0)' if words else '0'} "
        "FROM attempt a LEFT JOIN chunk k ON k.campaign=a.campaign AND k.chunk=a.chunk"
    )
    return _blocks(store, sql, tuple(currencies), columns=7)


def _days(micros: Ints, tz: str) -> Ints:
    """Return whole days since 1970 on the calendar of a time zone."""
    local = pd.to_datetime(pd.Series(micros), unit="us", utc=True).dt.tz_convert(tz).dt.tz_localize(None)
    return local.to_numpy(dtype="datetime64[D]").astype(np.int64)


def _highest(store: Store, table: str) -> int:
    with store.reading() as connection:
        found = int(connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])
    if found > _MOST_IDS:
        raise Unfit(f"{table} has the number {found}")
    return found


def summed(store: Store, requests: _Requests, names: Sequence[str] = ()) -> pd.DataFrame:
    """Add up the accepted rows by the facts of their request, by country, destination and these kept columns."""
    kept = Combinations(names) if names else None
    destinations = table_of(
        store, "SELECT id, region, type, rate, currency FROM destination", ("region", "type", "rate", "est_currency")
    )
    countries = table_of(store, "SELECT id, iso FROM country", ("iso",))
    places = 1 + _highest(store, "country"), 1 + _highest(store, "destination")
    blocks = (block for number in requests.campaigns for block in _accepted(store, number, places, kept))
    keys, sums = _merged([_block_sums(block, requests.of, places[0] * places[1]) for block in blocks])
    rest, combination = np.divmod(keys, MOST)
    rest, destination = np.divmod(rest, places[1])
    kind, country = np.divmod(rest, places[0])
    frame = requests.kinds.iloc[kind].reset_index(drop=True)
    frame["iso"] = countries["iso"].reindex(country).array
    frame = frame.join(destinations.reindex(destination).reset_index(drop=True))
    if kept is not None:
        frame = frame.join(kept.frame(combination))
    return frame.assign(**{name: sums[:, at] for at, name in enumerate(_SUMS)})


def _accepted(store: Store, campaign: int, places: tuple[int, int], kept: Combinations | None) -> Iterator[Ints]:
    """Yield request, country and destination in one integer, then parts and price, -1 where unknown, and kept columns.

    These as the number of their combination, 0 where none are asked for.
    """
    key = f"(coalesce(attempt,0)*{places[0]}+coalesce(country,0))*{places[1]}+destination"
    rest = f"FROM recipient WHERE own_state={ACCEPTED} AND campaign=?"
    sql = f"SELECT {key}, coalesce(parts,-1), coalesce(price,-1), {{}} {rest}"
    with store.reading() as connection:
        text = kept.sql(connection, campaign) if kept is not None else ""
        if kept is None:
            yield from _blocks(store, sql.format(0), (campaign,), columns=4)
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


def _blocks(store: Store, sql: str, values: tuple[object, ...], *, columns: int) -> Iterator[Ints]:
    """Yield a query's rows of integers in blocks that fit into memory."""
    with store.reading() as connection:
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
        return np.zeros(0, dtype=np.int64), np.zeros((0, len(_SUMS)), dtype=np.int64)
    return _grouped(np.concatenate([keys for keys, _ in parts]), np.concatenate([sums for _, sums in parts]))


def _finished(sums: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Turn integer sums into the frame for people; a price without a currency counts as none."""
    billed = sums["currency"].notna()
    rate = pd.to_numeric(sums["rate"]).astype("float64")
    estimate = pd.to_numeric(sums["est_parts"]).astype("float64")
    both = billed & (sums["currency"] == sums["est_currency"]) & rate.notna() & estimate.notna()
    compared = sums["priced"].where(both, 0)
    each = (rate * estimate).where(both, 0).astype("int64")
    done = sums.assign(
        month=sums["day"].dt.strftime("%Y-%m"),
        cost=money(sums["micros"]).where(billed & (sums["priced"] > 0)),
        unpriced=(sums["messages"] - sums["priced"]).where(billed, sums["messages"]),
        compared=compared,
        compared_parts=sums["priced_parts"].where(both, 0),
        est_parts=compared * estimate.where(both, 0).astype("int64"),
        compared_cost=money(sums["micros"].where(both, 0)).where(compared > 0),
        est_cost=money(compared * each).where(compared > 0),
    )
    typed = {name: dtype for name, dtype in _WORD_TYPES.items() if name in names}
    return done.reindex(columns=[*names, *COLUMNS]).astype({**COLUMNS, **typed})


# -- what a purge leaves -----------------------------------------------------------------------------------------------


def sums_of(store: Store, campaign: int) -> str:
    """Return a campaign's sums as JSON. They name nobody, so its cost stays known after its rows are purged."""
    one = table_of(store, "SELECT id, service FROM campaign WHERE id=?", ("service",), (campaign,))
    return str(summed(store, requests_of(store, one, None, None, "UTC")).to_json(orient="table", index=False))


def keep(connection: sqlite3.Connection, campaign: int, sums: str, refused: str) -> None:
    """Record what `sums_of` and `refusals.refused_of` returned, in the transaction that deletes the rows.

    What an earlier purge recorded stays.
    """
    connection.execute("INSERT OR IGNORE INTO purged_sums VALUES (?,?,?)", (campaign, sums, refused))


def _kept_sums(store: Store, campaigns: pd.DataFrame, since: int | None, until: int | None) -> pd.DataFrame:
    """Return the sums of purged campaigns; a day counts only if all of it may lie in the span."""
    with store.reading() as connection:
        found = connection.execute("SELECT campaign, sums FROM purged_sums").fetchall()
    tables = [pd.read_json(StringIO(sums), orient="table") for campaign, sums in found if campaign in campaigns.index]
    tables = [table for table in tables if len(table)]
    if not tables:
        return pd.DataFrame()
    kept = pd.concat(tables, ignore_index=True)
    kept["day"] = pd.to_datetime(kept["day"]).dt.tz_localize(None).dt.as_unit("us")
    at = kept["day"].astype("int64")
    inside = (at >= (-(2**62) if since is None else since)) & (at < (2**62 if until is None else until))
    return kept[inside.to_numpy()]
