"""The record as frames: rows of a campaign, its requests, its messages, what was decided about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from .._pandas import STR
from .._results.contract import ALL, DETAILS, STATES, TIMES, money, ordered, without_zone
from .store import Ints, Row, Store, Transaction
from .tables import ACCEPTED, MAY_HAVE_LEFT, PLANNED, SKIPPED

TIME: Final = "datetime64[us, UTC]"  # of columns that are microseconds since 1970 in the record
Types = Mapping[str, Any]
REQUESTS: Final[Types] = {
    "chunk": "Int64", "service": STR, "started_at": TIME, "settled_at": TIME, "outcome": STR, "phase": STR,
    "http_status": "Int64", "error_code": STR, "error": STR, "request_id": STR, "seconds": "float64", "currency": STR,
    "recipients": "Int64", "message_count": "Int64", "total": "float64", "disagreement": STR,
}  # fmt: skip
_EVIDENCE: Final[Types] = {
    "row": "Int64", "to": STR, "chunk": "Int64", "attempts": "Int64", "phase": STR, "http_status": "Int64",
    "error_code": STR, "error": STR, "request_id": STR, "started_at": TIME, "settled_at": TIME,
}  # fmt: skip
_MESSAGES: Final[Types] = {
    "segment": STR, "version": "Int64", "words": STR, "encoding": STR, "parts": "Int64", "recipients": "Int64",
    "since": TIME, "reason": STR,
}  # fmt: skip
EVENTS: Final[Types] = {
    "at": TIME, "who": STR, "what": STR, "campaign": STR, "rows": "Int64", "reason": STR
}  # fmt: skip
# What the record has of each row, beside its person: the dtype, and how it is asked for.
_ROWS: Final[Mapping[str, tuple[Any, str]]] = {
    "row": ("Int64", "r.list_row"),
    "number": ("Int64", "r.number"),
    "state": ("Int64", "r.state"),
    "problem": (STR, "r.problem"),
    "id": (STR, "r.id"),
    "iso": (STR, "r.iso"),
    "cc": (STR, "r.cc"),
    "parts": ("Int64", "r.parts"),
    "micros": ("Int64", "r.micros"),
    "currency": (STR, "r.currency"),
    "not_before": (TIME, "r.not_before"),
    "message": ("Int64", "r.message"),
    "region": (STR, "r.region"),
    "type": (STR, "r.type"),
    "est_parts": ("Int64", "r.est_parts"),
    "est_micros": ("Int64", "r.est_micros"),
    "est_currency": (STR, "r.est_currency"),
    "encoding": (STR, "r.encoding"),
    "chunk": ("Int64", "r.chunk"),
    "attempts": ("Int64", "r.attempts"),
    "attempt": ("Int64", "r.attempt"),
}
_ATTEMPTS: Final[Types] = {
    "service": STR, "at": TIME, "error_code": STR, "error": STR, "request_id": STR, "http_status": "Int64"
}  # fmt: skip
_CHANGES: Final = (
    "corrected", "extended", "suppressed", "withdrawn", "found accepted", "found not accepted", "to retry"
)  # fmt: skip


def frame_of(rows: Sequence[Row], types: Types, index: pd.Index | None = None) -> pd.DataFrame:
    """Return rows as a frame whose columns have these dtypes."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(types)
    frame = {
        name: _typed(values, dtype) for values, (name, dtype) in zip(columns, types.items(), strict=True)
    }
    return pd.DataFrame(frame, index=pd.RangeIndex(len(rows)) if index is None else index)


def _typed(values: Sequence[Any], dtype: Any) -> Any:
    if dtype == TIME:
        return pd.to_datetime(pd.array(values, "Int64"), unit="us", utc=True).as_unit("us").array
    if dtype == "float64":
        return np.array(values, "float64")
    return pd.array(values, dtype)


def counts(tx: Transaction, campaign: int) -> dict[str, int]:
    """Return how many rows are in each state; skipped are those, too, that the plan left out."""
    found = dict.fromkeys(STATES, 0)
    for state, rows in tx.rows("SELECT state, count(*) FROM recipient WHERE campaign=? GROUP BY state", (campaign,)):
        found[STATES[state]] = rows
    left_out = tx.rows("SELECT skipped FROM campaign WHERE id=?", (campaign,))[0][0]
    found["skipped"] += sum(json.loads(left_out).values())
    return found


def recorded_rows(store: Store, campaign: int) -> pd.DataFrame:
    """Return what the record has of each row of a campaign, by its position in the plan; see `ALL` and ``person``."""
    columns = ", ".join(sql for _, sql in _ROWS.values())
    with store.reading() as tx:
        rows = tx.rows(
            f"SELECT r.position, r.person, {columns} FROM recipient r WHERE r.campaign=? ORDER BY r.position",
            (campaign,),
        )
        attempts = tx.rows(
            "SELECT id, service, coalesce(settled_at, started_at), error_code, error, request_id, http_status "
            "FROM attempt WHERE campaign=?",
            (campaign,),
        )
    types = {"position": "int64", "person": "int64", **{name: dtype for name, (dtype, _) in _ROWS.items()}}
    frame = frame_of(rows, types).set_index("position").rename_axis(None)
    state = frame.pop("state").to_numpy("int64")
    frame["status"] = pd.array(np.array(STATES, object)[state], STR)
    for amount in ("micros", "est_micros"):
        name = {"micros": "price", "est_micros": "est_cost"}[amount]
        frame[name] = money(frame.pop(amount)).to_numpy("float64", na_value=np.nan)
    _join_attempts(frame, frame_of([row[1:] for row in attempts], _ATTEMPTS, pd.Index([row[0] for row in attempts])))
    frame["message"] = frame["message"].where(state != SKIPPED)
    # The evidence of an attempt belongs to the rows that it did not settle as accepted.
    is_clean = (state == ACCEPTED) | frame["problem"].isna().to_numpy()
    frame.loc[is_clean, ["error_code", "error"]] = None
    return frame


def _join_attempts(frame: pd.DataFrame, attempts: pd.DataFrame) -> None:
    place = attempts.index.get_indexer(pd.Index(frame.pop("attempt").fillna(-1).astype("int64")))
    for name in attempts.columns:
        frame[name] = attempts[name].array.take(place, allow_fill=True)


def campaign_table(store: Store, campaign: int, *, name: str, service: str, kept: Sequence[str]) -> pd.DataFrame:
    """Return a campaign as a result table and its details, by position in the plan."""
    with store.reading():
        frame = recorded_rows(store, campaign)
        values = kept_columns(store, campaign, kept) if kept else None
    frame["to"] = plus(frame["number"])
    frame["campaign"] = name
    frame["service"] = frame["service"].fillna(service)
    for column in TIMES:
        frame[column] = without_zone(frame[column])
    table = frame[list(ALL)].astype(ALL)
    return table if values is None else table.join(values)[[*ordered(kept), *DETAILS]]


def plus(numbers: pd.Series) -> pd.Series:
    """Return numbers as E.164 text; missing where a person was forgotten or the campaign purged."""
    text: pd.Series = "+" + numbers.astype(STR)
    return text


def kept_columns(store: Store, campaign: int, names: Sequence[str]) -> pd.DataFrame:
    """Return the caller's own columns as recorded, by position."""
    rows = store.rows("SELECT position, kept FROM recipient WHERE campaign=? ORDER BY position", (campaign,))
    nothing = [None] * len(names)
    values = [nothing if kept is None else json.loads(kept) for _, kept in rows]
    return pd.DataFrame(values, columns=list(names), index=[position for position, _ in rows])


def numbers_in(tx: Transaction, campaign: int, states: Sequence[int]) -> pd.Series:
    """Return the E.164 numbers of the rows in these states, by position."""
    marks = ", ".join(str(int(state)) for state in states)
    rows = tx.rows(
        f"SELECT position, number FROM recipient WHERE campaign=? AND number IS NOT NULL AND state IN ({marks}) "
        "ORDER BY position",
        (campaign,),
    )
    numbers = pd.Series([number for _, number in rows], [position for position, _ in rows], dtype="Int64")
    return plus(numbers).rename("to")


def reached(tx: Transaction, campaign: int) -> Ints:
    """Return the numbers of those who may have been texted, without their plus."""
    return np.array(numbers_in(tx, campaign, MAY_HAVE_LEFT).str[1:].astype("int64"), np.int64)


def fates(tx: Transaction, campaign: int) -> pd.DataFrame:
    """Return how many rows there are of each ``status`` and ``problem``, and until when the rules hold them back."""
    rows = tx.rows(
        "SELECT state, problem, count(*), min(not_before), max(not_before) FROM recipient WHERE campaign=? "
        "GROUP BY state, problem ORDER BY state, count(*) DESC",
        (campaign,),
    )
    types = {"status": STR, "problem": STR, "rows": "Int64", "earliest": TIME, "latest": TIME}
    return frame_of([(STATES[state], *rest) for state, *rest in rows], types)


def held(tx: Transaction, campaign: int) -> pd.DataFrame:
    """Return what is held back, by problem: ``problem`` (str), ``rows`` (Int64), ``first, last`` (UTC)."""
    rows = tx.rows(
        "SELECT problem, count(*), min(not_before), max(not_before) FROM recipient WHERE campaign=? "
        f"AND state IN ({PLANNED}, {SKIPPED}) AND problem IS NOT NULL GROUP BY problem ORDER BY 2 DESC",
        (campaign,),
    )
    return frame_of(rows, {"problem": STR, "rows": "Int64", "first": TIME, "last": TIME})


def with_evidence(tx: Transaction, campaign: int, state: int) -> pd.DataFrame:
    """Return the rows of one state with the evidence of their latest request, by position."""
    rows = tx.rows(
        "SELECT r.position, r.list_row, r.number, r.chunk, r.attempts, a.phase, a.http_status, a.error_code, a.error, "
        "a.request_id, a.started_at, a.settled_at FROM recipient r LEFT JOIN attempt a ON a.id=r.attempt "
        "WHERE r.campaign=? AND r.state=? ORDER BY r.position",
        (campaign, state),
    )
    values = [(row[1], None if row[2] is None else f"+{row[2]}", *row[3:]) for row in rows]
    return frame_of(values, _EVIDENCE, pd.Index([row[0] for row in rows], dtype="int64"))


def requests(tx: Transaction, campaign: int) -> pd.DataFrame:
    """Return one row for each request of a campaign, by its number, in the order in which they were claimed."""
    rows = tx.rows(
        "SELECT id, chunk, service, started_at, settled_at, outcome, phase, http_status, error_code, error, request_id, "
        "milliseconds, currency, recipients, message_count, total, disagreement FROM attempt WHERE campaign=? ORDER BY id",
        (campaign,),
    )
    frame = frame_of([row[1:] for row in rows], REQUESTS, pd.Index([row[0] for row in rows], dtype="int64"))
    total = money(pd.Series(frame["total"].array)).to_numpy("float64", na_value=np.nan)
    return frame.assign(seconds=frame["seconds"] / 1_000, total=total)


def messages(tx: Transaction, campaign: int) -> pd.DataFrame:
    """Return a row for each message that a campaign has or had, by its number."""
    rows = tx.rows(
        "SELECT m.number, m.segment, m.version, m.text, min(r.encoding), max(r.encoding), sum(r.est_parts), "
        "count(r.person), m.since, m.reason FROM message m LEFT JOIN recipient r ON r.campaign=m.campaign "
        f"AND r.message=m.number AND r.state<>{SKIPPED} WHERE m.campaign=? "
        "GROUP BY m.number, m.segment, m.version, m.text, m.since, m.reason ORDER BY m.number",
        (campaign,),
    )
    values = [
        (segment, version, text, first if first == last else "mixed", None if parts is None else int(parts), *rest)
        for _, segment, version, text, first, last, parts, *rest in rows
    ]
    return frame_of(values, _MESSAGES, pd.Index([row[0] for row in rows], dtype="int64", name="message"))


def events(tx: Transaction, campaign: int | None = None, what: Sequence[str] = ()) -> pd.DataFrame:
    """Return decisions, the earliest first: of all, or of one campaign, or of some kinds."""
    where, values = "", list[Any]()
    if campaign is not None:
        where, values = " WHERE e.campaign=?", [campaign]
    rows = tx.rows(
        "SELECT e.at, e.who, e.what, k.name, e.rows, e.reason FROM event e LEFT JOIN campaign k ON k.id=e.campaign"
        f"{where} ORDER BY e.id",
        values,
    )
    return frame_of([row for row in rows if not what or row[2] in what], EVENTS)


def changes(tx: Transaction, campaign: int) -> pd.DataFrame:
    """Return what was changed of a campaign after it was recorded."""
    return events(tx, campaign, _CHANGES)


# An estimate (currency, millionths), and what messages of it were billed: currency, millionths in all, how many.
Price = tuple[tuple[str | None, int | None], str | None, int | None, int]


def prices(tx: Transaction, campaign: int) -> list[Price]:
    """Return what the rows that may have left were billed, added up by their estimate and the billed currency.

    Free messages are left out. Of rows without a known price, the sum is None.
    """
    rows = tx.rows(
        "SELECT est_currency, est_micros, CASE WHEN micros IS NULL THEN NULL ELSE currency END, sum(micros), count(*) "
        f"FROM recipient WHERE campaign=? AND state IN {MAY_HAVE_LEFT} AND coalesce(micros, 1)<>0 GROUP BY 1, 2, 3",
        (campaign,),
    )
    return [
        ((of, cost), currency, None if currency is None else int(total), number)
        for of, cost, currency, total, number in rows
    ]


@dataclass(frozen=True, slots=True)
class Billed:
    """What a campaign was billed: millionths by currency, and how many accepted messages have no readable price."""

    micros: tuple[tuple[str, int], ...] = ()
    unpriced: int = 0


def billed(tx: Transaction, campaign: int) -> Billed:
    rows = tx.rows(
        "SELECT currency, sum(micros), count(*), count(micros) FROM recipient WHERE campaign=? "
        f"AND state={ACCEPTED} GROUP BY currency",
        (campaign,),
    )
    known = [(currency, int(total or 0)) for currency, total, _, priced in rows if currency is not None and priced]
    unpriced = sum(number - (priced if currency is not None else 0) for currency, _, number, priced in rows)
    return Billed(tuple(sorted(known)), unpriced)


def estimate_values(tx: Transaction, campaign: int, column: str, where: str) -> list[str]:
    """Return the distinct values of a column of the estimates, of rows still to go for which a condition is true."""
    rows = tx.rows(
        f"SELECT DISTINCT coalesce({column}, 'unknown') FROM recipient WHERE campaign=? AND state={PLANNED} "
        f"AND {where} ORDER BY 1",
        (campaign,),
    )
    return [value for (value,) in rows]
