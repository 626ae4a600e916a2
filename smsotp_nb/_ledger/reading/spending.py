"""Sum up what all campaigns of a ledger cost, from the sums that are kept beside them, else from their rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd

from ... import _dates as dates
from ..._calling.arguments import given
from ..._moments import microseconds
from ..._pandas import STR
from ..._results.contract import ALL as RESULTS
from ..._services import is_rehearsal
from ...columns import require
from ...errors import UsageError
from ..file.store import Store
from ..rows.answers import Ints
from ..rows.columns import Combinations, known_columns
from ..rows.runners import PURGED_IN_DOUBT
from ..rows.sums import EVER, PLACES, SUMS, Currencies, added_up, days, packed_sums, row_sums
from ..rows.tables import REJECTED
from .frames import campaign_frame, counts, table_of

_FACT_OF: Final = {  # of what columns say
    **dict.fromkeys(("service", "campaign", "kind"), "number"), **dict.fromkeys(("month", "day"), "at"),
    "iso": "country", **dict.fromkeys(("region", "type"), "destination"), "encoding": "encoding",
}  # fmt: skip
_NAMED: Final = {"campaign": "name", "est_currency": "currency"}  # in the file
_LARGEST_PRODUCT: Final = 4e18  # millionths: beyond 2**63 an integer of 64 bits wraps around
_AT_ONCE: Final = 100_000  # sums that are held before they are added up
_ENCODINGS: Final = (None, "gsm7", "ucs2")


def spending_rows(
    store: Store,
    names: Sequence[str],
    *,
    campaign: int | None = None,
    service: str | None = None,
    since: object = None,
    until: object = None,
    tz: str = "UTC",
) -> pd.DataFrame:
    """Return what accepted messages were billed, as the integers that `cost` adds up; several rows may be alike.

    By these columns and ``currency``: ``messages, parts, micros, unpriced, priced_parts, parts_unknown``, and of the
    ``compared`` messages, with a price and an estimate in one currency, ``compared_parts, est_parts, compared_micros,
    est_micros``. ``campaign`` is the number of one campaign.
    """
    span = span_of(since, until, tz)
    kept_names = [name for name in names if name not in _FACT_OF]
    _check_kept(store, kept_names)
    campaigns = services_asked(store, service)
    if campaign is not None:
        campaigns = campaigns[campaigns.index == campaign]
    kept = Combinations(kept_names) if kept_names else None
    facts = {_FACT_OF[name] for name in names if name in _FACT_OF} | {"currency", "est_parts", "destination"}
    cells, codes = _summed(store, campaigns.index.tolist(), span, tz, facts, kept)
    at = {name: cells[:, place] for name, place in PLACES.items()}
    columns = {name: _told(store, name, at[_FACT_OF[name]]) for name in names if name in _FACT_OF}
    columns |= {} if kept is None else kept.columns(at["combination"])
    currency = pd.Series(pd.array(np.array([*codes], dtype=object)[at["currency"]], dtype=STR))
    estimated = {name: pd.Series(_told(store, name, at["destination"])) for name in ("rate", "est_currency")}
    has_currency = at["currency"] > 0
    is_compared = (
        (currency == estimated["est_currency"]).fillna(False).to_numpy(bool)
        & estimated["rate"].notna().to_numpy(bool)
        & (at["est_parts"] > 0)
    )
    compared = np.where(is_compared, at["priced"], 0)
    est_parts = compared * at["est_parts"]
    rate = estimated["rate"].fillna(0).to_numpy("int64")
    if len(rate) and (est_parts.astype("float64") * rate).max() > _LARGEST_PRODUCT:
        est_parts = est_parts.astype(object)
    return pd.DataFrame({name: columns[name] for name in names}).assign(
        currency=currency,
        messages=at["messages"],
        parts=at["parts"],
        micros=np.where(has_currency, at["micros"], 0),
        unpriced=at["messages"] - np.where(has_currency, at["priced"], 0),
        priced_parts=np.where(has_currency, at["priced_parts"], 0),
        parts_unknown=0,
        compared=compared,
        compared_parts=np.where(is_compared, at["priced_parts"], 0),
        est_parts=est_parts,
        compared_micros=np.where(is_compared, at["micros"], 0),
        est_micros=est_parts * rate,
    )


def refuse_repeated(names: Sequence[str]) -> None:
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise UsageError(f"column {repeated[0]!r} is asked for twice")


def _check_kept(store: Store, names: Sequence[str]) -> None:
    refuse_repeated(names)
    with store.reading() as connection:
        known = known_columns(connection) if names else []
    for name in names:
        require(name, [*known, *_FACT_OF], where="columns of the ledger")


@dataclass(frozen=True, slots=True)
class Billed:
    """What a campaign was billed: micro-units by currency, and how many accepted messages have no readable price."""

    micros: tuple[tuple[str, int], ...] = ()
    unpriced: int = 0


def billed(store: Store, campaigns: Sequence[int]) -> dict[int, Billed]:
    """Return what campaigns were billed, by their numbers; those that were purged, too."""
    sums = summed(store, campaigns, (None, None), "UTC")
    return {number: _billed(sums[(sums["number"] == number).to_numpy()]) for number in campaigns} if len(sums) else {}


def _billed(sums: pd.DataFrame) -> Billed:
    """Add up in integers; a price without a currency counts as none, as in `spending`."""
    known = sums[sums["currency"].notna()]
    micros = known.groupby("currency")["micros"].sum()
    unpriced = int(sums["messages"].sum() - known["priced"].sum())
    return Billed(
        tuple((str(currency), int(each)) for currency, each in micros.items() if each or not unpriced), unpriced
    )


def services_asked(store: Store, asked: str | None) -> pd.DataFrame:
    """Return service, campaign and kind of the campaigns asked for, by their number."""
    found = table_of(store, "SELECT id, service, name, kind FROM campaign", ("service", "campaign", "kind"))
    return of_services(found, asked, where="the ledger")


def of_services(found: pd.DataFrame, asked: str | None, *, where: str) -> pd.DataFrame:
    """Return the rows of a frame whose ``service`` was asked for; None stands for the live ones, if there are any."""
    rehearsed = found["service"].astype(STR).map(is_rehearsal).astype("bool")
    if asked is None:
        return found if rehearsed.all() else found[~rehearsed]
    if asked in ("live", "sandbox"):
        return found[rehearsed == (asked == "sandbox")]
    chosen = found[found["service"] == asked]
    if chosen.empty:
        known = ", ".join(map(repr, found["service"].unique())) or "none yet"
        raise UsageError(f"{where} has no service {asked!r}; it has {known}")
    return chosen


def all_rows(store: Store) -> tuple[pd.DataFrame, int]:
    """Return the result rows of all campaigns that `spending` sums up, and how many of these have none after a purge.

    The kept columns are left out.
    """
    campaigns = services_asked(store, None)
    tables = [
        campaign_frame(store, number, name=name, service=of, names=())
        for number, name, of in zip(campaigns.index, campaigns["campaign"], campaigns["service"], strict=True)
    ]
    found = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(RESULTS))
    return found.astype(RESULTS), len(_purged(store, campaigns))


def _purged(store: Store, campaigns: pd.DataFrame) -> list[int]:
    gone = table_of(store, "SELECT id FROM campaign WHERE purged<>0", ()).index
    return [number for number in campaigns.index if number in gone]


@dataclass(frozen=True, slots=True)
class Sent:
    """When the requests of a ledger's campaigns were answered, UTC, and how many of their rows are in each state."""

    first: pd.Timestamp | None
    last: pd.Timestamp | None
    rows: dict[str, int]


def when_sent(store: Store, campaign: int | None = None) -> Sent:
    """Return when that was sent of which `spending` returns the cost, and what became of all rows."""
    numbers = services_asked(store, None).index.tolist() if campaign is None else [campaign]
    of_these = ",".join(map(str, numbers))
    of = f"campaign IN ({of_these}) AND outcome IN ('accepted', 'partial', 'purged')"
    sql = f"SELECT 1, min(coalesce(settled_at, started_at)), max(settled_at) FROM attempt WHERE {of}"
    times = table_of(store, sql, ("first", "last")).iloc[0]
    rows = Counter[str]()
    for number in numbers:
        rows.update(counts(store, number))
    purged = f"SELECT coalesce(sum(rows), 0) FROM decision WHERE what='{PURGED_IN_DOUBT}' AND campaign IN ({of_these})"
    rows["in_doubt"] += int(store.asked(purged)[0][0])
    first, last = (None if at is None else pd.Timestamp(at, unit="us", tz="UTC") for at in times)
    return Sent(first, last, dict(rows))


def span_of(since: object, until: object, tz: str) -> tuple[int | None, int | None]:
    """Return a span in microseconds since 1970."""
    begins, ends = _micros_of(since, "since", tz), _micros_of(until, "until", tz)
    if begins is not None and ends is not None and begins >= ends:
        raise UsageError(f"until={given(until)} must come after since={given(since)}; exchange the two")
    return begins, ends


def _micros_of(when: object, name: str, tz: str) -> int | None:
    if when is None:
        return None
    moment = dates.one(name, when).utc(tz, pd.RangeIndex(1), ambiguous=np.array([True])).iloc[0]
    return microseconds(moment)


def summed(
    store: Store,
    campaigns: Sequence[int],
    span: tuple[int | None, int | None],
    tz: str,
) -> pd.DataFrame:
    """Add up the accepted messages of campaigns by campaign and currency."""
    cells, codes = _summed(store, campaigns, span, tz, {"number", "currency"}, None)
    at = {name: cells[:, place] for name, place in PLACES.items()}
    currency = np.array([*codes], dtype=object)[at["currency"]]
    return pd.DataFrame({name: at[name] for name in ("number", *SUMS)}).assign(currency=currency)


def _summed(
    store: Store,
    campaigns: Sequence[int],
    span: tuple[int | None, int | None],
    tz: str,
    facts: Collection[str],
    kept: Combinations | None,
) -> tuple[Ints, Currencies]:
    """Return the sums by some facts, currency among them, and by kept columns; and the numbers of the currencies."""
    since, until = span
    undated = since is None and until is None and "at" not in facts
    within = EVER[0] if since is None else since, EVER[1] if until is None else until
    by, codes = {*facts, "combination"}, Currencies({None: 0})
    done, tables, held, most = set[int](), list[Ints](), 0, _AT_ONCE
    with store.reading() as connection:
        for number, table in packed_sums(connection, campaigns, within, None if undated else tz, facts, codes, kept):
            done.add(number)
            tables.append(table)
            held += len(table)
            if held > most:
                tables = [added_up(tables, by)]
                held, most = len(tables[0]), _AT_ONCE + 2 * len(tables[0])
        rest = [number for number in campaigns if number not in done]
        when = np.zeros_like if undated else partial(days, tz=tz)
        if rest or not tables:
            tables.append(row_sums(connection, rest, within, when, words=False, codes=codes, kept=kept))
    return added_up(tables, by), codes


def _told(store: Store, name: str, at: Ints) -> Any:
    """Return what a column says of the numbers of a fact."""
    if name in ("day", "month"):
        day = pd.DatetimeIndex(at.astype("datetime64[D]").astype("datetime64[us]"))
        return day.array if name == "day" else day.strftime("%Y-%m").astype(STR).array
    if name == "encoding":
        return pd.array(np.array(_ENCODINGS, dtype=object)[at], dtype=STR)
    with store.reading() as connection:
        table = {"number": "campaign", "country": "country"}.get(_FACT_OF.get(name, ""), "destination")
        known = dict(connection.execute(f"SELECT id, {_NAMED.get(name, name)} FROM {table}").fetchall())
    values = [known.get(number) for number in at.tolist()]
    return pd.array(values, dtype="Int64" if name == "rate" else STR)


_REFUSED_SQL: Final = f"""
SELECT r.campaign, coalesce(a.settled_at, a.started_at, c.created_at), d.region, d.type, d.currency, count(*)
FROM recipient r JOIN campaign c ON c.id=r.campaign JOIN destination d ON d.id=r.destination
LEFT JOIN attempt a ON a.id=r.attempt
WHERE r.own_state={REJECTED} {{}} GROUP BY 1, 2, 3, 4, 5
"""
_REFUSED_BY: Final = ("at", "region", "type", "currency", "refused")
_DAY: Final = 86_400_000_000  # microseconds


def refused_of(store: Store, campaign: int) -> str:
    """Return the refusals of a campaign as JSON, by day, UTC; they name nobody."""
    rows = table_of(store, _REFUSED_SQL.format("AND r.campaign=?"), _REFUSED_BY, (campaign,))
    rows = rows.assign(at=rows["at"] // _DAY * _DAY)
    by = rows.groupby(list(_REFUSED_BY[:-1]), dropna=False, sort=True)["refused"].sum().reset_index()
    return json.dumps(by.astype(object).where(by.notna(), None).values.tolist())
