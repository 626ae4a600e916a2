"""The ledger as frames."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from ..._cards import counted
from ..._pandas import STR
from ..._results.contract import ALL, DETAILS, STATES, TIMES, money, ordered, without_zone
from ..._services import is_rehearsal, name_key
from ..file.store import Store
from ..record.beginning import refuse_contradicted
from ..record.evidence import source_of
from ..rows.columns import TIME, framed, rows_of, times
from ..rows.damage import Unfit
from ..rows.statements import Statements
from ..rows.tables import ACCEPTED, PLANNED, SKIPPED

_OF_LEDGER = (
    "status", "problem", "id", "iso", "cc", "parts", "chunk", "attempts", "price", "currency",
    "error_code", "error", "request_id", "http_status", "at", "not_before", "message", "row", "number",
)  # fmt: skip

_Types = dict[str, str | pd.StringDtype]
_REQUEST: Final[_Types] = {
    "chunk": "Int64", "started_at": TIME, "settled_at": TIME, "outcome": STR, "phase": STR, "http_status": "Int64",
    "error_code": STR, "error": STR, "request_id": STR, "seconds": "float64", "currency": STR, "recipients": "Int64",
    "message_count": "Int64", "total": "Int64", "disagreement": STR,
}  # fmt: skip
_EVIDENCE: Final[_Types] = {
    "row": "Int64", "to": STR, "chunk": "Int64", "attempts": "Int64",
    **{name: _REQUEST[name] for name in ("phase", "http_status", "error_code", "error", "request_id")},
    "started_at": TIME, "settled_at": TIME,
}  # fmt: skip
_ATTEMPT: Final[_Types] = {
    "currency": STR, "error_code": STR, "error": STR, "request_id": STR, "http_status": "Int64", "at": TIME,
}  # fmt: skip
_COMPARED = 1_000  # names, the latest ones
_ATTEMPTS = (
    "SELECT id, currency, error_code, error, request_id, http_status, coalesce(settled_at, started_at) FROM attempt "
    "WHERE campaign=?"
)
# The message of each chunk: which of the campaign's wordings, counted from 1 in their order.
_MESSAGE_OF = (
    "SELECT c.chunk, w.place FROM chunk c JOIN measure m ON m.id=c.measure JOIN "
    "(SELECT id, row_number() OVER (ORDER BY id) AS place FROM wording WHERE campaign=?) AS w ON w.id=m.wording "
    "WHERE c.campaign=?"
)
_MESSAGES: Final[_Types] = {
    "segment": STR, "version": "Int64", "words": STR, "encoding": STR, "parts": "Int64", "recipients": "Int64",
    "since": TIME, "reason": STR,
}  # fmt: skip


class Named(NamedTuple):
    """A campaign of a name: its number, service, kept columns as JSON, name as recorded, and when it was recorded."""

    number: int
    service: str
    kept: str
    name: str
    created: int


def named_so(connection: Statements, name: str) -> list[Named]:
    """Return the campaigns of a name, one of each service: the one that is meant where nobody says whose comes last.

    A live service stands before a sandbox, a campaign before passcodes whose month has that name, what is not purged
    before what is, and the latest before the others. Tests are found where nothing else has the name.
    """
    found = connection.execute(
        "SELECT id, service, kept, name, created_at, kind, purged FROM campaign WHERE name_key=? ORDER BY id",
        (name_key(name),),
    ).fetchall()
    meant = [row for row in found if row[5] != "test"] or found
    meant.sort(key=lambda row: (not is_rehearsal(row[1]), row[5] == "campaign", row[6] == 0))
    of_each: dict[str, Named] = {}
    for row in meant:
        of_each.pop(row[1], None)
        of_each[row[1]] = Named(*row[:5])
    return list(of_each.values())


def unknown(connection: Statements, name: str, of_others: Sequence[Named]) -> str:
    """Return in words that a campaign is not recorded, or only for other services, and which are nearest by name."""
    if of_others:
        return (
            f"campaign {name!r} is not recorded for this service, and is for {counted(len(of_others), 'other')}; "
            f"without a client, record({name!r}) gives the live one or the latest rehearsal"
        )
    sql = "SELECT name FROM campaign GROUP BY name ORDER BY max(id) DESC LIMIT ?"
    names = [row[0] for row in connection.execute(sql, (_COMPARED,))]
    near = get_close_matches(name_key(name), by_key := {name_key(one): one for one in names}, n=3)
    if near:
        return f"no campaign {name!r} in the ledger; did you mean {' or '.join(repr(by_key[key]) for key in near)}?"
    held = ", ".join(map(repr, names[:3])) + (" and more, see ledger.campaigns()" if names[3:] else "")
    return f"no campaign {name!r} in the ledger; it holds {held or 'none yet, send records them'}"


def counts(store: Store, campaign: int) -> dict[str, int]:
    found = [0] * len(STATES)
    with store.reading() as connection:
        # By their own states, and those whose chunk has one state as a whole.
        each = connection.execute(
            "SELECT 0, own_state, count(*) FROM recipient WHERE campaign=? GROUP BY own_state "
            "UNION ALL SELECT 1, state, count(*) FROM chunk CROSS JOIN recipient USING (campaign, chunk) "
            "WHERE campaign=? AND state IS NOT NULL GROUP BY state",
            (campaign, campaign),
        )
        for is_whole, state, rows in each:
            found[state] += rows
            found[PLANNED] -= rows * is_whole  # by themselves they are planned
    return dict(zip(STATES, found, strict=True))


def outcomes(store: Store, campaign: int) -> pd.DataFrame:
    """Return what the ledger knows of every row, indexed by the row's position in the caller's frame.

    Beside columns of the result table: ``number`` (Int64), see `persons`.
    """
    names = ("number", "state", "attempts", "attempt", "country", "parts", "price", "not_before", "list_row")
    spelled = {"id": "CASE typeof(message) WHEN 'blob' THEN lower(hex(message)) ELSE message END"}
    with store.snapshot() as connection:
        rows = rows_of(connection, campaign, *names, text=("problem", "id"), spelled=spelled, whole=True)
        countries = table_of(store, "SELECT id, iso, cc FROM country", {"iso": STR, "cc": STR})
        attempts = table_of(store, _ATTEMPTS, _ATTEMPT, (campaign,))
        said = dict(connection.execute(_MESSAGE_OF, (campaign, campaign)).fetchall())
        refuse_contradicted(connection, campaign)
    frame = pd.DataFrame(index=pd.Index(rows["position"].to_numpy("int64")))
    state = rows["state"].astype("int64").to_numpy()
    frame["status"] = _named(state, STATES)
    frame["problem"], frame["id"] = rows["problem"].array, rows["id"].array
    _join(frame, rows["country"], countries)
    frame["parts"], frame["attempts"] = rows["parts"].array, rows["attempts"].array
    chunk = rows["chunk"].array
    frame["chunk"] = pd.Series(chunk).where(pd.Series(chunk) >= 0).array
    frame["price"] = money(rows["price"]).to_numpy("float64", na_value=np.nan)
    _join(frame, rows["attempt"], attempts)
    frame["not_before"] = times(rows["not_before"]).array
    frame["message"] = rows["chunk"].map(said).where(state != SKIPPED).astype("Int64").array
    frame["row"], frame["number"] = rows["list_row"].array, rows["number"].array
    # The evidence of an attempt belongs to the rows that it did not settle as accepted.
    clean = (state == ACCEPTED) | frame["problem"].isna().to_numpy()
    frame.loc[clean, ["error_code", "error"]] = np.nan
    return frame[list(_OF_LEDGER)].sort_index()


def recorded(store: Store, campaign: int) -> pd.DataFrame:
    """Return what a campaign's plan recorded, by position: to, body key, region, type and the estimate."""
    with store.snapshot() as connection:
        rows = rows_of(connection, campaign, "number", "destination", "body", "est_parts", text=("encoding",))
    frame = pd.DataFrame(index=pd.Index(rows["position"].to_numpy("int64")))
    number = rows["number"].astype(STR)
    frame["to"] = ("+" + number).where(rows["number"].gt(0).fillna(False)).array  # not of who was forgotten
    frame["body"] = rows["body"].array
    types = {"region": STR, "type": STR, "est_currency": STR, "rate": "Int64"}
    destination = table_of(store, "SELECT id, region, type, currency, rate FROM destination", types)
    _join(frame, rows["destination"], destination)
    frame["est_parts"], frame["encoding"] = rows["est_parts"].array, rows["encoding"].array
    cost = rows["est_parts"].array * frame.pop("rate").array
    frame["est_cost"] = money(pd.Series(cost, index=frame.index)).to_numpy("float64", na_value=np.nan)
    return frame.sort_index()


def digits_of(store: Store, campaign: int, states: Sequence[int]) -> pd.Series:
    """Return the numbers of the rows in these states without their plus (Int64), by position."""
    with store.snapshot() as connection:
        refuse_contradicted(connection, campaign)
        rows = rows_of(connection, campaign, "number", "state")
    mine = rows["state"].isin(states) & rows["number"].gt(0).fillna(False)
    position = pd.Index(rows["position"][mine].to_numpy("int64"))
    return rows["number"][mine].set_axis(position).rename(None)


def fates(store: Store, campaign: int) -> pd.DataFrame:
    """Return how many rows there are of each ``status`` and ``problem`` (str), and until when the rules hold them back:
    ``rows`` (Int64), ``earliest, latest`` (UTC).
    """
    found = store.asked(
        "SELECT state, problem, count(*), min(not_before), max(not_before) FROM fate WHERE campaign=? "
        "GROUP BY 1, 2 ORDER BY 1, 3 DESC",
        (campaign,),
    )
    named = [(STATES[state], *rest) for state, *rest in found]
    return framed(named, {"status": STR, "problem": STR, "rows": "Int64", "earliest": TIME, "latest": TIME})


def kept(store: Store, campaign: int, names: Sequence[str]) -> pd.DataFrame:
    """Return the caller's own columns as recorded, by position."""
    found = store.asked("SELECT position, kept FROM recipient WHERE campaign=?", (campaign,))
    values = [json.loads(row[1]) for row in found]
    return pd.DataFrame(values, columns=list(names), index=[row[0] for row in found]).sort_index()


def campaign_frame(store: Store, campaign: int, *, name: str, service: str, names: Sequence[str]) -> pd.DataFrame:
    """Return a campaign as a result table and its details, by position, from the ledger alone."""
    with store.snapshot():
        frame = outcomes(store, campaign)
        if not frame.index.is_unique:
            raise Unfit("two rows of a campaign have one place")
        frame = frame.join(recorded(store, campaign))
    frame["campaign"], frame["service"] = name, service
    for column in TIMES:
        frame[column] = without_zone(frame[column])
    table = frame[list(ALL)].astype(ALL)
    return table.join(kept(store, campaign, names))[[*ordered(names), *DETAILS]] if names else table


def with_evidence(store: Store, campaign: int, state: int) -> pd.DataFrame:
    """Return the rows of one state with the evidence of their latest request, by position."""
    return table_of(
        store,
        "SELECT r.position, r.list_row, CASE WHEN r.number>0 THEN '+' || r.number END, r.chunk, r.attempts, "
        "a.phase, a.http_status, a.error_code, a.error, "
        "a.request_id, a.started_at, a.settled_at FROM fate r LEFT JOIN attempt a ON a.id=r.attempt "
        "WHERE r.campaign=? AND r.state=? ORDER BY r.position",
        _EVIDENCE,
        (campaign, state),
    )


def requests(store: Store, campaign: int) -> pd.DataFrame:
    """Return one row for each request of a campaign, by its number, in the order in which they were claimed.

    ``outcome, phase, error_code, error, request_id, currency, disagreement`` (str), ``chunk, http_status, recipients,
    message_count`` (Int64), ``seconds, total`` (float64; the reply's totalAmount), ``started_at, settled_at``.
    """
    sql = f"SELECT id, {', '.join(_REQUEST)} FROM attempt WHERE campaign=? ORDER BY id"
    frame = table_of(store, sql, _REQUEST, (campaign,))
    return frame.assign(total=money(frame["total"]).to_numpy("float64", na_value=np.nan))


def held(store: Store, campaign: int) -> pd.DataFrame:
    """Return what is held back, by problem: ``problem`` (str), ``rows`` (Int64), ``first, last`` (UTC)."""
    found = store.asked(
        "SELECT problem, count(*), min(not_before), max(not_before) FROM fate WHERE campaign=? AND chunk>=0 "
        "AND state IN (?, ?) AND problem IS NOT NULL GROUP BY problem ORDER BY 2 DESC",
        (campaign, PLANNED, SKIPPED),
    )
    return framed(found, {"problem": STR, "rows": "Int64", "first": TIME, "last": TIME})


def changes(store: Store, campaign: int) -> pd.DataFrame:
    """Return what was changed of a campaign after it was recorded: at, what, rows, reason, source."""
    found = store.asked("SELECT at, what, rows, reason, evidence FROM change WHERE campaign=? ORDER BY id", (campaign,))
    rows = [(*row, source_of(evidence)) for *row, evidence in found]
    return framed(rows, {"at": TIME, "what": STR, "rows": "Int64", "reason": STR, "source": STR})


def messages(store: Store, campaign: int) -> pd.DataFrame:
    """Return a row for each wording that a campaign has or had, by its number, see `Record.messages`."""
    with store.snapshot() as connection:
        wordings = connection.execute(
            "SELECT id, segment, version, text FROM wording WHERE campaign=? ORDER BY id", (campaign,)
        ).fetchall()
        had = connection.execute(
            "SELECT m.wording, count(*), sum(f.est_parts), min(f.encoding), max(f.encoding) FROM fate f "
            "JOIN chunk c ON c.campaign=f.campaign AND c.chunk=f.chunk JOIN measure m ON m.id=c.measure "
            f"WHERE f.campaign=? AND f.state<>{SKIPPED} GROUP BY m.wording",
            (campaign,),
        ).fetchall()
        begun = connection.execute("SELECT created_at, NULL FROM campaign WHERE id=?", (campaign,)).fetchall()
        begun += connection.execute(
            "SELECT at, reason FROM change WHERE campaign=? AND what='corrected' ORDER BY id", (campaign,)
        ).fetchall()
    of = {wording: (rows, parts, one if one == other else "mixed") for wording, rows, parts, one, other in had}
    found = []
    for wording, segment, version, words in wordings:
        rows, parts, encoding = of.get(wording, (0, 0, None))
        at, reason = begun[version - 1]
        parts = None if parts is None else int(parts)
        found.append((segment, version, words, encoding, parts, rows, at, reason))
    return framed(found, _MESSAGES, pd.RangeIndex(1, len(found) + 1, name="message"))


def table_of(
    store: Store, sql: str, columns: Sequence[str] | Mapping[str, Any], values: Sequence[Any] = ()
) -> pd.DataFrame:
    """Return a small query as a frame of objects, or of these dtypes, indexed by its first column."""
    rows = store.asked(sql, values)
    types = columns if isinstance(columns, Mapping) else dict.fromkeys(columns, object)
    return framed([row[1:] for row in rows], types, pd.Index([row[0] for row in rows]))


def _join(frame: pd.DataFrame, key: pd.Series, table: pd.DataFrame) -> None:
    """Add a table's columns to a frame, row by row through its number in ``key``; missing where there is none."""
    place = table.index.get_indexer(pd.Index(key.fillna(-1).astype("int64")))
    for name in table.columns:
        frame[name] = table[name].array.take(place, allow_fill=True)


def _named(codes: np.ndarray, names: Sequence[str]) -> Any:
    dictionary = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(list(names)))
    return pd.Series(dictionary.cast(pa.string()).to_pandas(), dtype=STR).array


# An estimate, by currency and micro-units, and what messages of it were billed: currency, micro-units, how many.
Price = tuple[tuple[str | None, int | None], str | None, int | None, int]
_MAY_HAVE_LEFT = ("accepted", "in_doubt", "sending")


def prices(store: Store, campaign: int) -> list[Price]:
    """Return what the rows that may have left were billed, added up by their estimate and the billed currency.

    Free messages are left out. Of rows without a known price, the sum is None.
    """
    with store.snapshot():
        rows = outcomes(store, campaign)
        rows = rows[rows["status"].isin(_MAY_HAVE_LEFT)].join(recorded(store, campaign)[["est_currency", "est_cost"]])
    if rows.empty:
        return []
    cost = (rows["est_cost"] * 1_000_000).round()
    price = (rows["price"] * 1_000_000).round()
    table = pd.DataFrame({"of": rows["est_currency"], "cost": cost, "currency": rows["currency"], "price": price})
    table = table[table["price"].ne(0).to_numpy()]
    table["currency"] = table["currency"].where(table["price"].notna())
    sums = table.groupby(["of", "cost", "currency"], dropna=False)["price"].agg(["sum", "size"])
    return [
        (
            (None if pd.isna(of) else str(of), None if pd.isna(cost) else int(cost)),
            None if pd.isna(currency) else str(currency),
            None if pd.isna(currency) else int(total),
            int(many),
        )
        for (of, cost, currency), total, many in sums.itertuples()
    ]


def stated_beyond_prices(store: Store, campaign: int) -> dict[str, int]:
    """Return by currency what replies stated in total above the prices of their rows: of both the higher counts.

    A row without a price counts by its estimate, as in `prices`.
    """
    sql = (
        "SELECT id, currency, total FROM attempt "
        "WHERE campaign=? AND total IS NOT NULL AND currency IS NOT NULL AND disagreement IS NOT NULL"
    )
    stated = {attempt: (currency, total) for attempt, currency, total in store.asked(sql, (campaign,))}
    if not stated:
        return {}
    with store.snapshot() as connection:
        rows = rows_of(connection, campaign, "attempt", "price", whole=True)
        estimates = recorded(store, campaign)[["est_currency", "est_cost"]]
    rows = rows[rows["attempt"].isin([*stated])].join(estimates, on="position")
    billed_in = rows["attempt"].map({attempt: currency for attempt, (currency, _) in stated.items()})
    estimate = (rows["est_cost"] * 1_000_000).round().where(rows["est_currency"].eq(billed_in))
    counted = rows["price"].fillna(estimate.astype("Int64")).groupby(rows["attempt"]).sum()
    beyond: Counter[str] = Counter()
    for attempt, (currency, total) in stated.items():
        beyond[currency] += max(total - int(counted.get(attempt, 0)), 0)
    return dict(beyond)


def of_estimate(store: Store, campaign: int, what: str, where: str) -> list[str]:
    """Return the distinct values of a column of the estimates, for rows still to go of which a condition is true."""
    rows = store.asked(
        f"SELECT DISTINCT coalesce({what}, 'unknown') FROM fate JOIN destination d ON d.id=destination "
        f"WHERE campaign=? AND state=? AND {where} ORDER BY 1",
        (campaign, PLANNED),
    )
    return [said for (said,) in rows]
