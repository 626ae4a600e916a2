"""What campaigns cost, summed up by the database over any column, those that the caller kept among them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from .. import _dates as dates
from .._calling.arguments import given as describe
from .._moments import microseconds
from .._pandas import STR
from .._results.contract import ALL as RESULTS
from .._results.contract import money
from .._services import is_rehearsal
from ..columns import require
from ..errors import UsageError
from .frames import campaign_table, counts, frame_of
from .store import Store, Transaction
from .tables import ACCEPTED, LIVE, REJECTED

COLUMNS: Final[dict[str, Any]] = {
    **dict.fromkeys(("service", "campaign", "kind", "month"), STR),
    "day": "datetime64[us]",
    **dict.fromkeys(("iso", "region", "type", "encoding", "currency"), STR),
    **dict.fromkeys(("messages", "parts"), "Int64"),
    "cost": "float64",
    **dict.fromkeys(("unpriced", "priced_parts", "compared", "compared_parts", "est_parts"), "Int64"),
    "compared_cost": "float64",
    "est_cost": "float64",
}
_QUARTER: Final = 900_000_000  # microseconds: every time zone is a number of quarter hours from UTC
# A message is compared with its estimate where both have an amount in one currency.
_COMPARED: Final = "r.micros IS NOT NULL AND r.est_micros IS NOT NULL AND r.currency=r.est_currency"
_SUMS: Final = {
    "messages": "count(*)",
    "parts": "sum(coalesce(r.parts, 0))",
    "micros": "sum(CASE WHEN r.currency IS NULL THEN 0 ELSE coalesce(r.micros, 0) END)",
    "priced": "sum(CASE WHEN r.currency IS NULL OR r.micros IS NULL THEN 0 ELSE 1 END)",
    "priced_parts": "sum(CASE WHEN r.currency IS NULL OR r.micros IS NULL THEN 0 ELSE coalesce(r.parts, 1) END)",
    "compared": f"sum(CASE WHEN {_COMPARED} THEN 1 ELSE 0 END)",
    "compared_parts": f"sum(CASE WHEN {_COMPARED} THEN coalesce(r.parts, 1) ELSE 0 END)",
    "est_parts": f"sum(CASE WHEN {_COMPARED} THEN coalesce(r.est_parts, 0) ELSE 0 END)",
    "compared_micros": f"sum(CASE WHEN {_COMPARED} THEN r.micros ELSE 0 END)",
    "est_micros": f"sum(CASE WHEN {_COMPARED} THEN r.est_micros ELSE 0 END)",
}
_GROUPS: Final = {
    "service": "a.service", "campaign": "k.name", "kind": "k.kind", "iso": "r.iso", "region": "r.region",
    "type": "r.type", "encoding": "r.encoding", "currency": "r.currency",
}  # fmt: skip
_TIMES: Final = ("day", "month")


@dataclass(frozen=True, slots=True)
class Span:
    """From when until when messages were answered, in microseconds since 1970; None: without end."""

    since: int | None = None
    until: int | None = None

    @classmethod
    def read(cls, since: object, until: object, tz: str) -> Span:
        begins, ends = _micros_of(since, "since", tz), _micros_of(until, "until", tz)
        if begins is not None and ends is not None and begins >= ends:
            raise UsageError(f"until={describe(until)} must come after since={describe(since)}; exchange the two")
        return cls(begins, ends)


def spending(
    store: Store,
    *,
    service: str | None = None,
    campaign: int | None = None,
    since: object = None,
    until: object = None,
    tz: str = "UTC",
    columns: Sequence[str] = (),
) -> pd.DataFrame:
    """Sum up the accepted messages of a record, or of one campaign by its number, as `cost.spending` says."""
    span = Span.read(since, until, tz)
    with store.reading() as tx:
        _check_columns(tx, columns)
        campaigns = _campaigns(tx, service) if campaign is None else [campaign]
        groups = [*_GROUPS, "day"]
        sums = _grouped(tx, campaigns, groups, columns, span)
    sums = _by_local_day(sums, [*_GROUPS, *columns], tz)
    return _finished(sums, columns)


def sums_by(store: Store, names: Sequence[str], *, tz: str) -> pd.DataFrame:
    """Return the sums of a record by currency and some columns alone: quicker than `spending`, which has all.

    Columns: ``currency``, the names, then integers ``messages, parts, micros, unpriced, priced_parts``.
    """
    own = [name for name in names if name not in _GROUPS and name not in _TIMES]
    groups = [name for name in names if name in _GROUPS and name != "currency"]
    if any(name in _TIMES for name in names):
        groups.append("day")
    with store.reading() as tx:
        _check_columns(tx, own)
        sums = _grouped(tx, _campaigns(tx, None), [*groups, "currency"], own, Span())
    if "day" in groups:
        sums = _by_local_day(sums, [*(name for name in groups if name != "day"), "currency", *own], tz)
        sums["month"] = sums["day"].dt.strftime("%Y-%m").astype(STR)
    sums["unpriced"] = sums["messages"] - sums["priced"]
    return sums[["currency", *names, "messages", "parts", "micros", "unpriced", "priced_parts"]]


def _grouped(
    tx: Transaction, campaigns: Sequence[int], groups: Sequence[str], columns: Sequence[str], span: Span
) -> pd.DataFrame:
    """Add up the accepted messages of campaigns; ``day`` stands for quarter hours, in microseconds since 1970."""
    pieces = []
    for kept, numbers in _layouts(tx, campaigns).items():
        keys = {name: _GROUPS[name] for name in groups if name != "day"}
        if "day" in groups:
            keys["day"] = f"a.settled_at / {_QUARTER}"
        keys |= {name: _kept_sql(tx, kept.index(name)) if name in kept else "NULL" for name in columns}
        where, values = _within(span)
        select = ", ".join([*keys.values(), *_SUMS.values()])
        places = ", ".join(str(place + 1) for place in range(len(keys)))
        marks = ", ".join(str(int(number)) for number in numbers)
        rows = tx.rows(
            f"SELECT {select} FROM recipient r JOIN campaign k ON k.id=r.campaign LEFT JOIN attempt a "
            f"ON a.id=r.attempt WHERE r.campaign IN ({marks}) AND r.state={ACCEPTED}{where} GROUP BY {places}",
            values,
        )
        pieces.append(_sums_frame(rows, list(keys), columns))
    if not pieces:
        return _sums_frame([], [*groups], columns)
    return pd.concat(pieces, ignore_index=True)


def _sums_frame(rows: Sequence[tuple[Any, ...]], keys: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    names = list(dict.fromkeys([*keys, *columns]))
    types: dict[str, Any] = {name: object if name in columns else STR for name in names}
    if "day" in types:
        types["day"] = "Int64"
    types |= dict.fromkeys(_SUMS, "int64")
    values = [(*row[: len(names)], *(int(number) for number in row[len(names) :])) for row in rows]
    frame = frame_of(values, types)
    for name in columns:
        frame[name] = [None if value is None else json.loads(value) for value in frame[name]]
    return frame


def _layouts(tx: Transaction, campaigns: Sequence[int]) -> dict[tuple[str, ...], list[int]]:
    """Return the campaigns by the kept columns that they have, in their order."""
    found: dict[tuple[str, ...], list[int]] = {}
    wanted = set(campaigns)
    for number, kept in tx.rows("SELECT id, kept FROM campaign"):
        if number in wanted:
            found.setdefault(tuple(json.loads(kept)), []).append(number)
    return found


def _kept_sql(tx: Transaction, place: int) -> str:
    """Return a kept column in SQL, as JSON."""
    if hasattr(tx, "staged_columns"):  # PostgreSQL
        return f"(r.kept::json->{int(place)})::text"
    return f"r.kept->'$[{int(place)}]'"


def _within(span: Span) -> tuple[str, list[int]]:
    where, values = "", []
    if span.since is not None:
        where, values = " AND a.settled_at>=?", [span.since]
    if span.until is not None:
        where += " AND a.settled_at<?"
        values.append(span.until)
    return where, values


def _by_local_day(sums: pd.DataFrame, names: Sequence[str], tz: str) -> pd.DataFrame:
    """Add up quarter hours to the days of a time zone."""
    moments = pd.to_datetime(sums["day"] * _QUARTER, unit="us", utc=True).dt.tz_convert(tz).dt.tz_localize(None)
    sums = sums.assign(day=moments.dt.normalize().dt.as_unit("us"))
    if not len(sums):
        return sums
    keys = [sums[name].map(repr) if sums[name].dtype == object else sums[name] for name in names]
    groups = sums.groupby([*keys, "day"], dropna=False, sort=True)
    added = groups[[*_SUMS]].sum().reset_index(drop=True)
    number = groups.ngroup().to_numpy()
    _, at = np.unique(number, return_index=True)
    return pd.concat([sums[[*names, "day"]].iloc[at].reset_index(drop=True), added], axis=1)


def _finished(sums: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Turn integer sums into the frame for people; a price without a currency counts as none."""
    compared = sums["compared"] > 0
    frame = sums.assign(
        month=sums["day"].dt.strftime("%Y-%m"),
        cost=money(sums["micros"]).where(sums["priced"] > 0),
        unpriced=sums["messages"] - sums["priced"],
        compared_cost=money(sums["compared_micros"]).where(compared),
        est_cost=money(sums["est_micros"]).where(compared),
    )
    return frame.reindex(columns=[*names, *COLUMNS]).astype(COLUMNS)


def _check_columns(tx: Transaction, names: Sequence[str]) -> None:
    refuse_repeated(names)
    if not names:
        return
    layouts = [json.loads(kept) for (kept,) in tx.rows("SELECT DISTINCT kept FROM campaign")]
    known = list(dict.fromkeys(name for layout in layouts for name in layout))
    for name in names:
        if name in COLUMNS:
            raise UsageError(f"columns={name!r} is a column of every sum; ask for your own columns only")
        require(name, [*known, *COLUMNS], where="columns of the ledger")


def refuse_repeated(names: Sequence[str]) -> None:
    repeated = [name for name in names if list(names).count(name) > 1]
    if repeated:
        raise UsageError(f"column {repeated[0]!r} is asked for twice")


def _micros_of(when: object, name: str, tz: str) -> int | None:
    if when is None:
        return None
    moment = dates.one(name, when).utc(tz, pd.RangeIndex(1), ambiguous=np.array([True])).iloc[0]
    return microseconds(moment)


def _campaigns(tx: Transaction, service: str | None) -> list[int]:
    """Return the campaigns asked for; None stands for the live ones, if there are any."""
    rows = tx.rows("SELECT id, realm, service FROM campaign ORDER BY id")
    live = [number for number, realm, _ in rows if realm == LIVE]
    rehearsed = [number for number, realm, _ in rows if is_rehearsal(realm)]
    if service is None:
        return live or rehearsed
    if service in ("live", "sandbox"):
        return live if service == "live" else rehearsed
    chosen = [number for number, realm, own in rows if service in (realm, own)]
    if not chosen:
        known = ", ".join(map(repr, dict.fromkeys(own for *_, own in rows))) or "none yet"
        raise UsageError(f"the ledger has no service {service!r}; it has {known}")
    return chosen


def all_rows(store: Store) -> tuple[pd.DataFrame, int]:
    """Return the result rows of all campaigns that `spending` sums up, and how many of them were purged."""
    with store.reading() as tx:
        numbers = _campaigns(tx, None)
        every = {row[0]: row[1:] for row in tx.rows("SELECT id, name, service, purged FROM campaign")}
        tables = [
            campaign_table(store, number, name=every[number][0], service=every[number][1], kept=())
            for number in numbers
        ]
    found = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(RESULTS))
    return found.astype(RESULTS), sum(every[number][2] for number in numbers)


@dataclass(frozen=True, slots=True)
class Sent:
    """When the requests of a record's campaigns were answered, UTC, and how many of their rows are in each state."""

    first: pd.Timestamp | None
    last: pd.Timestamp | None
    rows: dict[str, int]


def when_sent(store: Store, campaign: int | None = None) -> Sent:
    """Return when that was sent of which `spending` returns the cost, and what became of all rows."""
    rows = Counter[str]()
    with store.reading() as tx:
        numbers = _campaigns(tx, None) if campaign is None else [campaign]
        marks = ", ".join(str(int(number)) for number in numbers) or "NULL"
        first, last = tx.rows(
            "SELECT min(coalesce(settled_at, started_at)), max(settled_at) FROM attempt "
            f"WHERE campaign IN ({marks}) AND outcome IN ('accepted', 'partial')"
        )[0]
        for number in numbers:
            rows.update(counts(tx, number))
    moments = [None if at is None else pd.Timestamp(at, unit="us", tz="UTC") for at in (first, last)]
    return Sent(*moments, dict(rows))


_REFUSED: Final[dict[str, Any]] = {
    **dict.fromkeys(("service", "campaign", "kind"), STR),
    "day": "datetime64[us]",
    **dict.fromkeys(("region", "type", "currency"), STR),
    "refused": "Int64",
}


def refusals(store: Store, *, tz: str = "UTC") -> pd.DataFrame:
    """Return the rejected rows of the campaigns that `spending` sums up, counted; see `_REFUSED`.

    ``currency`` is the one of the estimate, because nothing was billed.
    """
    with store.reading() as tx:
        marks = ", ".join(str(number) for number in _campaigns(tx, None)) or "NULL"
        rows = tx.rows(
            f"SELECT k.service, k.name, k.kind, coalesce(a.settled_at, k.created_at) / {_QUARTER}, r.region, r.type, "
            "r.est_currency, count(*) FROM recipient r JOIN campaign k ON k.id=r.campaign "
            f"LEFT JOIN attempt a ON a.id=r.attempt WHERE r.state={REJECTED} AND k.id IN ({marks}) "
            "GROUP BY 1, 2, 3, 4, 5, 6, 7"
        )
    frame = frame_of(rows, {**_REFUSED, "day": "Int64"})
    local = pd.to_datetime(frame["day"] * _QUARTER, unit="us", utc=True).dt.tz_convert(tz).dt.tz_localize(None)
    return frame.assign(day=local.dt.normalize()).astype(_REFUSED)
