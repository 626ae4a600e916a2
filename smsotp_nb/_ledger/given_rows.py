"""What a person gave to a campaign: rows as a frame or numbers, a plan, or a client that says whose it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from .._calling import given as shown
from .._cards import counted
from .._frames import AnyFrame, as_pandas
from .._showing import visible
from .._wire import Numbers, mask
from ..errors import UsageError
from .record.recording import Planned
from .rows.statements import Statements


def own(rows: AnyFrame | Sequence[str] | str, name: str, service: str) -> pd.DataFrame:
    """Return rows that a caller gave as a frame with a column ``to``; refuse those of another campaign or rehearsal."""
    rows = as_pandas(rows)
    if not isinstance(rows, pd.DataFrame):
        if isinstance(rows, Mapping | bytes) or not isinstance(rows, Iterable):
            raise UsageError(f"rows= must be a frame with a column 'to', or E.164 numbers, got {shown(rows)}")
        rows = pd.DataFrame({"to": [rows] if isinstance(rows, str) else list(rows)}, dtype=object)
        numbers(rows)
    if "to" not in rows.columns:
        raise UsageError("rows= is a frame without a column 'to'; pass campaign.in_doubt, or a part of it")
    for column, mine in (("campaign", name), ("service", service)):
        if column not in rows.columns:
            continue
        others = rows[column][rows[column].ne(mine).fillna(True).to_numpy(bool)]
        if len(others):
            named = ", ".join(visible(repr(one)) for one in others.dropna().unique()[:3].tolist()) or "nothing"
            raise UsageError(
                f"{counted(len(others), 'row')} of rows= {'has' if len(others) == 1 else 'have'} {named} in the "
                f"column {column!r}, and this is campaign {name!r} of service {service!r}; nothing was "
                "changed. Pass rows of this campaign, such as a part of campaign.in_doubt or campaign.results"
            )
    return rows


def requests_seen(rows: pd.DataFrame) -> dict[int, int]:
    """Return when the request of each number ended, in microseconds, as far as a table of results or evidence says."""
    if {"status", "chunk"}.isdisjoint(rows.columns):
        return {}
    for column in ("settled_at", "at"):
        if column in rows.columns and pd.api.types.is_datetime64_any_dtype(rows[column].dtype):
            known = rows[rows[column].notna() & rows["to"].notna()]
            micros = known[column].dt.as_unit("us").astype("int64").tolist()
            return {int(to[1:]): at for to, at in zip(known["to"], micros, strict=True) if to[1:].isdigit()}
    return {}


def refuse_others(connection: Statements, campaign: int, state: int, seen: dict[int, int], name: str) -> None:
    """Refuse rows whose numbers stand in this campaign, and whose requests are those of another one."""
    if not seen:
        return
    sql = (
        "SELECT r.number, a.started_at, a.settled_at FROM fate r JOIN attempt a ON a.id=r.attempt "
        "WHERE r.campaign=? AND r.state=?"
    )
    recorded = {number: times for number, *times in connection.execute(sql, (campaign, state))}
    others = sum(at not in recorded[number] for number, at in seen.items() if number in recorded)
    if others:
        raise UsageError(
            f"{counted(others, 'row')} of rows= tell of another request than the latest one of campaign {name!r}: of "
            "another campaign or ledger, or of an earlier call; nothing was changed. Pass a part of campaign.in_doubt, "
            "or of campaign.rejected, as it is now"
        )


def numbers(rows: pd.DataFrame) -> Numbers:
    """Return the numbers of rows as integers, without their plus."""
    found = rows["to"].tolist()
    wrong = [number for number in found if not (isinstance(number, str) and number[:1] == "+" and number[1:].isdigit())]
    if wrong:
        raise UsageError(
            f"rows= needs E.164 numbers; {len(wrong)} of {len(found)} are none, such as {mask(str(wrong[0]))}"
        )
    return Numbers(int(number[1:]) for number in found)


def service_of(client: object, *, what: str) -> str:
    """Return the id of the service of a Client or a Sandbox; ``what`` needs it, as an error says."""
    service = getattr(client, "service", None)
    if not isinstance(service, str):
        raise UsageError(f"{what} needs a Client or a Sandbox, got {shown(client)}; Sandbox() is one to try")
    return service


def not_its_plan(plan: object, name: str) -> str | None:
    if getattr(plan, "_folder", None) is not None:  # of which no rows are read
        return (
            "the plan of a Folder revises no campaign: withdraw what is to go, and plan it as a campaign of its own "
            f"with leave_out=sms.record({name!r})"
        )
    if not isinstance(plan, Planned):
        return f"plan= must be a Plan, what plan(...) returns, got {shown(plan)}"
    if plan.campaign != name:
        return f"the plan is of campaign {plan.campaign!r}, and this is {name!r}"
    return None
