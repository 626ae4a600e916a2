"""What a person decides about rows of a campaign: settle those in doubt, retry the rejected, withdraw those to go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from .._calling import given as describe
from .._cards import counted
from .._frames import AnyFrame, as_pandas
from .._results.contract import STATES
from .._showing import visible
from .._wire import Numbers, mask
from ..errors import UsageError
from . import claims
from .store import Store, Transaction, note_event
from .tables import ACCEPTED, IN_DOUBT, PLANNED, REJECTED, SKIPPED, WITHDRAWN

FOUND_ACCEPTED, FOUND_NOT_ACCEPTED, TO_RETRY = "found accepted", "found not accepted", "to retry"


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided: rows in one state get another, with the event that says so.

    ``again``: also rows that were found not accepted once, and are in doubt again.
    """

    before: int
    after: int
    event: str
    reason: str | None = None
    again: bool = False


def settle_decision(*, accepted: bool, reason: str | None, again: bool) -> Decision:
    event = FOUND_ACCEPTED if accepted else FOUND_NOT_ACCEPTED
    return Decision(IN_DOUBT, ACCEPTED if accepted else PLANNED, event, reason, again)


RETRY: Final = Decision(REJECTED, PLANNED, TO_RETRY)


def decide(
    store: Store, tx: Transaction, campaign: int, rows: pd.DataFrame, decision: Decision, *, name: str, now: int
) -> int:
    """Change rows that a person chose, all or none, and return how many; the caller holds the campaign.

    Raises:
        UsageError: a number is not in the state that is decided about, or was found not accepted before.
    """
    recorded = _recorded(tx, campaign, decision.before)
    wanted = [_match(store, recorded, position, to) for position, to in zip(rows.index, rows["to"], strict=True)]
    missing = [to for to, person in zip(rows["to"], wanted, strict=True) if person is None]
    if missing:
        shown = mask(missing[0]) if isinstance(missing[0], str) else "a row without a number"
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise UsageError(
            f"{shown} is not {STATES[decision.before]} in campaign {name!r}{more}. Nothing was changed. Next: pass a "
            "part of record.in_doubt, or of record.rejected, as it is now"
        )
    _refuse_other_requests(rows, recorded, wanted, name)
    people = [person for person in dict.fromkeys(wanted) if person is not None]
    if decision.event == FOUND_NOT_ACCEPTED and not decision.again:
        _refuse_again(tx, campaign, people, name)
    if prices := _prices(rows, wanted) if decision.after == ACCEPTED else []:
        tx.many(
            "UPDATE recipient SET parts=coalesce(?, parts), micros=coalesce(?, micros), currency=coalesce(?, currency) "
            "WHERE campaign=? AND person=?",
            [(*price, campaign, person) for person, *price in prices],
        )
    where = f"campaign=? AND person=? AND state={decision.before}"
    for person in people:
        values = (campaign, person)
        if decision.after == PLANNED:
            if decision.event == FOUND_NOT_ACCEPTED:
                tx.run(f"UPDATE recipient SET not_accepted=not_accepted+1 WHERE {where}", values)
            for sql, own in claims.came_back(campaign, where, values, None):
                tx.run(sql, own)
        else:
            tx.run(f"UPDATE recipient SET state={decision.after}, problem=NULL WHERE {where}", values)
    note_event(tx, decision.event, now=now, rows=len(people), campaign=campaign, reason=decision.reason)
    return len(people)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """The rows of one state: people by key and by position, and when their requests began and ended."""

    people: frozenset[int]
    at_position: Mapping[int, int]
    times: Mapping[int, tuple[int | None, int | None]]


def _recorded(tx: Transaction, campaign: int, state: int) -> _Recorded:
    rows = tx.rows(
        "SELECT r.person, r.position, r.number, a.started_at, a.settled_at FROM recipient r "
        "LEFT JOIN attempt a ON a.id=r.attempt WHERE r.campaign=? AND r.state=?",
        (campaign, state),
    )
    return _Recorded(
        frozenset(row[0] for row in rows),
        {row[1]: row[0] for row in rows if row[2] is None},  # who was forgotten is found by position
        {row[0]: (row[3], row[4]) for row in rows},
    )


def _match(store: Store, recorded: _Recorded, position: Any, to: Any) -> int | None:
    """Return the person that a row of the caller means."""
    if not isinstance(to, str):
        return recorded.at_position.get(position)
    person = store.person(int(to[1:]))
    return person if person in recorded.people else None


def _refuse_other_requests(
    rows: pd.DataFrame, recorded: _Recorded, wanted: Sequence[int | None], name: str
) -> None:
    """Refuse rows that tell of another request than the latest one: of another campaign, or of an earlier call."""
    column = next((name for name in ("settled_at", "at") if name in rows.columns), None)
    if column is None or not pd.api.types.is_datetime64_any_dtype(rows[column].dtype):
        return
    if {"status", "chunk"}.isdisjoint(rows.columns):
        return
    moments = rows[column].dt.as_unit("us").astype("int64").where(rows[column].notna())
    others = sum(
        not pd.isna(at) and person is not None and int(at) not in recorded.times[person]
        for at, person in zip(moments, wanted, strict=True)
    )
    if others:
        raise UsageError(
            f"{counted(others, 'row')} of rows= tell of another request than the latest one of campaign {name!r}: of "
            "another campaign or ledger, or of an earlier call. Nothing was changed. Next: pass a part of "
            "record.in_doubt, or of record.rejected, as it is now"
        )


def _refuse_again(tx: Transaction, campaign: int, people: Sequence[int], name: str) -> None:
    """Refuse people who were found not accepted before: the same cell, run again, would text them a third time."""
    sql = f"SELECT person FROM recipient WHERE campaign=? AND state={IN_DOUBT} AND not_accepted>0"
    before = {person for (person,) in tx.rows(sql, (campaign,))}
    again = [person for person in people if person in before]
    if again:
        raise UsageError(
            f"{counted(len(again), 'recipient')} of campaign {name!r} were settled as not accepted before, were sent "
            "again, and are in doubt again. Nothing was changed. Next: find out what happened to the latest request; "
            "settle(..., again=True) lets the next send text them once more"
        )


def _prices(rows: pd.DataFrame, people: Sequence[int | None]) -> list[tuple[Any, ...]]:
    """Return person, parts, millionths and currency of rows that name a price, such as lines of an invoice."""
    if "price" not in rows.columns and "parts" not in rows.columns:
        return []
    found = []
    for (_, row), person in zip(rows.iterrows(), people, strict=True):
        parts, price, currency = (row.get(name) for name in ("parts", "price", "currency"))
        micros = None if pd.isna(price) else round(float(price) * 1_000_000)
        known = (None if pd.isna(parts) else int(parts), micros, None if pd.isna(currency) else str(currency))
        if any(value is not None for value in known):
            found.append((person, *known))
    return found


def withdraw(
    store: Store, tx: Transaction, campaign: int, numbers: Sequence[int] | None, *, reason: str | None, now: int
) -> int:
    """Skip planned rows, these or all, for good; return how many. A campaign that is running notices at once."""
    skip = f"UPDATE recipient SET state={SKIPPED}, problem='{WITHDRAWN}', not_before=NULL"
    mine = f"WHERE campaign=? AND state={PLANNED}"
    if numbers is None:  # what is under way or refused may come back to be sent
        tx.run("UPDATE campaign SET withdrawn=1 WHERE id=?", (campaign,))
        changed = tx.run(f"{skip} {mine}", (campaign,))
    else:
        people = {store.person(number) for number in numbers}
        changed = sum(tx.run(f"{skip} {mine} AND person=?", (campaign, person)) for person in people)
        if changed < len(people):
            strangers = counted(len(people) - changed, "number is", "numbers are")
            raise UsageError(f"{strangers} not still to go in this campaign. Nothing was changed")
    if changed:
        note_event(tx, "withdrawn", now=now, rows=changed, campaign=campaign, reason=reason)
    return changed


def own_rows(rows: AnyFrame | Sequence[str] | str, name: str) -> pd.DataFrame:
    """Return rows that a caller gave as a frame with a column ``to``, or as numbers; refuse another campaign's."""
    rows = as_pandas(rows)
    if not isinstance(rows, pd.DataFrame):
        if isinstance(rows, Mapping | bytes) or not isinstance(rows, Iterable):
            raise UsageError(f"rows= must be a frame with a column 'to', or E.164 numbers, got {describe(rows)}")
        numbers = [rows] if isinstance(rows, str) else list(rows)
        rows = pd.DataFrame({"to": numbers}, index=[None] * len(numbers), dtype=object)
        numbers_of(rows)
    if "to" not in rows.columns:
        raise UsageError("rows= is a frame without a column 'to'. Next: pass record.in_doubt, or a part of it")
    if "campaign" in rows.columns:
        others = rows["campaign"][rows["campaign"].ne(name).fillna(True).to_numpy(bool)]
        if len(others):
            named = ", ".join(visible(repr(other)) for other in others.dropna().unique()[:3].tolist()) or "nothing"
            has = "has" if len(others) == 1 else "have"
            raise UsageError(
                f"{counted(len(others), 'row')} of rows= {has} {named} in the column 'campaign', and this is campaign "
                f"{name!r}. Nothing was changed. Next: pass rows of this campaign, such as a part of record.in_doubt"
            )
    numbers_of(rows[rows["to"].notna().to_numpy()])
    return rows


def numbers_of(rows: pd.DataFrame) -> Numbers:
    """Return the numbers of rows as integers, without their plus."""
    values = rows["to"].tolist()
    wrong = [to for to in values if not (isinstance(to, str) and to[:1] == "+" and to[1:].isdigit())]
    if wrong:
        raise UsageError(
            f"rows= needs E.164 numbers; {len(wrong)} of {len(values)} are none, such as {mask(str(wrong[0]))}"
        )
    return Numbers(int(to[1:]) for to in values)
