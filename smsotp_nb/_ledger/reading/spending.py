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
from ..._results.contract import money
from ..._services import is_rehearsal
from ...columns import require
from ...errors import UsageError
from ..file.store import Store
from ..rows.answers import Ints
from ..rows.columns import Combinations, known_columns
from ..rows.runners import PURGED_IN_DOUBT
from ..rows.sums import EVER, FACTS, PLACES, SUMS, Currencies, added_up, days, packed_sums, row_sums
from ..rows.tables import REJECTED
from ..rows.wordings import OF_WORDS, words_of
from .frames import campaign_frame, counts, table_of

COLUMNS: Final[dict[str, str | pd.StringDtype]] = {
    **dict.fromkeys(("service", "campaign", "kind", "month"), STR),
    "day": "datetime64[us]",
    **dict.fromkeys(("iso", "region", "type", "encoding", "currency"), STR),
    **dict.fromkeys(("messages", "parts"), "Int64"),
    "cost": "float64",
    **dict.fromkeys(("unpriced", "priced_parts", "compared", "compared_parts", "est_parts"), "Int64"),
    "compared_cost": "float64",
    "est_cost": "float64",
}
_WORD_TYPES: Final[dict[str, str | pd.StringDtype]] = {"wording": STR, "version": "Int64"}
_FACT_OF: Final = {  # of what columns say
    **dict.fromkeys(("service", "campaign", "kind"), "number"), **dict.fromkeys(("month", "day"), "at"),
    "iso": "country", **dict.fromkeys(("region", "type"), "destination"), "encoding": "encoding",
    **dict.fromkeys(OF_WORDS, "measure"),
}  # fmt: skip
_NAMED: Final = {"campaign": "name", "est_currency": "currency"}  # in the file
_AT_ONCE: Final = 100_000  # sums that are held before they are added up
_ENCODINGS: Final = (None, "gsm7", "ucs2")


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
    """Sum up the accepted messages of a ledger, or of one campaign by its number, as `cost.spending` says."""
    span = span_of(since, until, tz)
    _check_kept(store, columns)
    campaigns = services_asked(store, service)
    if campaign is not None:
        campaigns = campaigns[campaigns.index == campaign]
    of_words = [name for name in columns if name in OF_WORDS]
    own = [name for name in columns if name not in OF_WORDS]
    sums = summed(store, campaigns.index.tolist(), span, tz, words=bool(of_words), names=own)
    words = {name: _told(store, name, sums["measure"].to_numpy()) for name in of_words}
    return _finished(sums.assign(**words), columns)


def word_sums(
    store: Store, *, campaign: int | None, service: str | None, since: object, until: object, tz: str
) -> tuple[pd.DataFrame, int]:
    """Return sums of a ledger's accepted messages by campaign, day, price and words, and how many have none.

    These are of purged campaigns.

    Columns: ``campaign, segment, wording, variables, currency, forcing`` (missing where not known), ``day``
    (datetime64), ``version, said`` (the number of the wording), ``each_parts, plain_parts, gsm_parts`` (of one
    message), and integers ``messages, parts, micros, priced, priced_parts``.
    """
    span = span_of(since, until, tz)
    campaigns = services_asked(store, service)
    if campaign is not None:
        campaigns = campaigns[campaigns.index == campaign]
    purged = _purged(store, campaigns)
    recorded = summed(store, [number for number in campaigns.index if number not in purged], span, tz, words=True)
    gone = summed(store, purged, span, tz)
    with store.reading() as connection:
        words = words_of(connection)
    return recorded.join(words, on="measure"), int(gone["messages"].sum())


def refuse_repeated(names: Sequence[str]) -> None:
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise UsageError(f"column {repeated[0]!r} is asked for twice")


def refuse_summed(name: object) -> None:
    if name in COLUMNS:
        raise UsageError(f"columns={name!r} is a column of every sum; ask for your own columns only")


def _check_kept(store: Store, names: Sequence[str]) -> None:
    refuse_repeated(names)
    with store.reading() as connection:
        known = known_columns(connection) if names else []
    for name in names:
        refuse_summed(name)
        require(name, [*known, *OF_WORDS, *COLUMNS], where="columns of the ledger")


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
    *,
    words: bool = False,
    names: Sequence[str] = (),
) -> pd.DataFrame:
    """Add up the accepted messages of campaigns by what is known of their requests, destinations and kept columns."""
    facts = {*FACTS} - (set() if words else {"measure"})
    kept = Combinations(names) if names else None
    cells, codes = _summed(store, campaigns, span, tz, facts, kept)
    return _known(store, cells, codes, kept)


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
            words = "measure" in facts
            tables.append(row_sums(connection, rest, within, when, words=words, codes=codes, kept=kept))
    return added_up(tables, by), codes


def _known(store: Store, cells: Ints, codes: Currencies, kept: Combinations | None) -> pd.DataFrame:
    """Put what is known of them in the place of numbers."""
    at = {name: cells[:, place] for name, place in PLACES.items()}
    frame = pd.DataFrame({name: at[name] for name in ("number", "measure", "est_parts", *SUMS)})
    told = {name: _told(store, name, at[fact]) for name, fact in _FACT_OF.items() if fact != "measure"}
    told |= {name: _told(store, name, at["destination"]) for name in ("rate", "est_currency")}
    frame = frame.assign(**told, currency=np.array([*codes], dtype=object)[at["currency"]])
    frame["est_parts"] = frame["est_parts"].where(frame["est_parts"] > 0)
    return frame if kept is None else frame.assign(**kept.columns(at["combination"]))


def billed_by(store: Store, names: Sequence[str], *, tz: str) -> tuple[dict[str, Any], dict[str, Ints]]:
    """Return what `cost.by` adds up by these columns: these and the currency, then integers.

    As arrays: ``messages, parts, micros, unpriced, priced_parts, mixed``; rows may be alike.
    """
    own = [name for name in names if name not in _FACT_OF]
    _check_kept(store, own)
    kept = Combinations(own) if own else None
    facts = {_FACT_OF[name] for name in names if name not in own} | {"currency"}
    with store.reading() as connection:  # not as a frame, which takes as long as all else here
        services = dict(connection.execute("SELECT id, service FROM campaign").fetchall())
        live = [number for number, service in services.items() if not is_rehearsal(service)]
    cells, codes = _summed(store, live or [*services], (None, None), tz, facts, kept)
    at = {name: cells[:, place] for name, place in PLACES.items()}
    columns = {name: _told(store, name, at[_FACT_OF[name]]) for name in names if name not in own}
    columns |= {} if kept is None else kept.columns(at["combination"])
    has = at["currency"] > 0
    keys = {"currency": pd.array(np.array([*codes], dtype=object)[at["currency"]], dtype=STR)}
    return keys | {name: columns[name] for name in names}, {
        "messages": at["messages"], "parts": at["parts"], "micros": np.where(has, at["micros"], 0),
        "unpriced": at["messages"] - np.where(has, at["priced"], 0),
        "priced_parts": np.where(has, at["priced_parts"], 0), "mixed": np.zeros_like(at["messages"]),
    }  # fmt: skip


def _told(store: Store, name: str, at: Ints) -> Any:
    """Return what a column says of the numbers of a fact."""
    if name in ("day", "month"):
        day = pd.DatetimeIndex(at.astype("datetime64[D]").astype("datetime64[us]"))
        return day.array if name == "day" else day.strftime("%Y-%m").astype(STR).array
    if name == "encoding":
        return pd.array(np.array(_ENCODINGS, dtype=object)[at], dtype=STR)
    with store.reading() as connection:
        if name in OF_WORDS:
            return words_of(connection)[[name]].reindex(at).astype({name: _WORD_TYPES[name]})[name].array
        table = {"number": "campaign", "country": "country"}.get(_FACT_OF.get(name, ""), "destination")
        known = dict(connection.execute(f"SELECT id, {_NAMED.get(name, name)} FROM {table}").fetchall())
    values = [known.get(number) for number in at.tolist()]
    return pd.array(values, dtype="Int64" if name == "rate" else STR)


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
        priced_parts=sums["priced_parts"].where(billed, 0),
        compared=compared,
        compared_parts=sums["priced_parts"].where(both, 0),
        est_parts=compared * estimate.where(both, 0).astype("int64"),
        compared_cost=money(sums["micros"].where(both, 0)).where(compared > 0),
        est_cost=money(compared * each).where(compared > 0),
    )
    typed = {name: dtype for name, dtype in _WORD_TYPES.items() if name in names}
    return done.reindex(columns=[*names, *COLUMNS]).astype({**COLUMNS, **typed})


_REFUSED: Final[dict[str, str | pd.StringDtype]] = {
    **dict.fromkeys(("service", "campaign", "kind"), STR),
    "day": "datetime64[us]",
    **dict.fromkeys(("region", "type", "currency"), STR),
    "refused": "Int64",
}
_REFUSED_SQL: Final = f"""
SELECT r.campaign, coalesce(a.settled_at, a.started_at, c.created_at), d.region, d.type, d.currency, count(*)
FROM recipient r JOIN campaign c ON c.id=r.campaign JOIN destination d ON d.id=r.destination
LEFT JOIN attempt a ON a.id=r.attempt
WHERE r.own_state={REJECTED} {{}} GROUP BY 1, 2, 3, 4, 5
"""
_REFUSED_BY: Final = ("at", "region", "type", "currency", "refused")
_DAY: Final = 86_400_000_000  # microseconds


def refusals(store: Store, *, tz: str = "UTC") -> pd.DataFrame:
    """Return the rejected rows of the campaigns that `spending` sums up, counted; see `_REFUSED`.

    ``currency`` is the one of the estimate, because nothing was billed. The days of a purged campaign are in UTC.
    """
    campaigns = services_asked(store, None)
    recorded = table_of(store, _REFUSED_SQL.format(""), _REFUSED_BY)
    local = pd.to_datetime(recorded["at"].astype("int64"), unit="us", utc=True).dt.tz_convert(tz).dt.tz_localize(None)
    found = recorded.assign(day=local.dt.normalize())
    left = store.asked("SELECT campaign, refused FROM sums WHERE refused<>'[]'")
    lines = [(campaign, *line) for campaign, refused in left for line in json.loads(refused)]
    if lines:  # what a purge left
        purged = pd.DataFrame(lines, columns=["number", *_REFUSED_BY], dtype=object).set_index("number")
        purged = purged.assign(day=pd.to_datetime(purged["at"].astype("int64"), unit="us"))
        found = pd.concat([found, purged]) if len(found) else purged
    found = found.join(campaigns, how="inner")
    return found.reindex(columns=list(_REFUSED)).astype(_REFUSED).reset_index(drop=True)


def refused_of(store: Store, campaign: int) -> str:
    """Return the refusals of a campaign as JSON, by day, UTC; they name nobody."""
    rows = table_of(store, _REFUSED_SQL.format("AND r.campaign=?"), _REFUSED_BY, (campaign,))
    rows = rows.assign(at=rows["at"] // _DAY * _DAY)
    by = rows.groupby(list(_REFUSED_BY[:-1]), dropna=False, sort=True)["refused"].sum().reset_index()
    return json.dumps(by.astype(object).where(by.notna(), None).values.tolist())
