"""Compare a recorded campaign with a later plan of it, and change the rows that have not been sent.

The rows of the two are matched by person. Rows that a message may have reached never change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..._cards import counted
from ..._moments import said
from ...errors import LedgerError, PlanChanged, UsageError
from ..rows import runners
from ..rows.answers import Ints, Whole, reordered
from ..rows.columns import kept_by, rows_of
from ..rows.persons import hashed, persons, secret_of
from ..rows.statements import Statements, insert
from ..rows.tables import ACCEPTED, MAY_HAVE_LEFT, PLANNED, REJECTED, SKIPPED
from .recording import LEFT_OUT, Planned, destinations, insert_chunks, insert_rows

WITHDRAWN = "WITHDRAWN"
Objects = np.ndarray[Any, np.dtype[np.object_]]


class Revised(NamedTuple):
    """How many rows that had not left `revise` changed.

    Attributes:
        reworded: have another message now.
        added: are new.
        withdrawn: are no longer to go, because the plan lacks them or leaves them out.

    Example:
        >>> Revised(reworded=12, added=3, withdrawn=0)
        Revised(reworded=12, added=3, withdrawn=0)
    """

    reworded: int
    added: int
    withdrawn: int


@dataclass(frozen=True, slots=True)
class Difference:
    """How a plan differs from what is recorded.

    Attributes:
        added: places, in the plan's frame, of people to text whom the campaign does not have.
        changed: places of people to text who are recorded with another message, and not reached yet.
        others: how many are recorded with another message and were reached, rejected or left out.
        dropped: places of people whom the plan leaves out and the record still has to go.
        gone: the part of the record that is still to go and that the plan does not have at all.
        closed: how many were reached or rejected whom the plan does not text, or left out whom it does.
        recorded: the record, one row a person, indexed by person: chunk, position, state, body.
        people: the person of each row of the plan; 0 if the number is unusable or an earlier row is theirs.
    """

    added: Ints
    changed: Ints
    others: int
    dropped: Ints
    gone: pd.DataFrame = field(repr=False)
    closed: int
    recorded: pd.DataFrame = field(repr=False)
    people: Ints = field(repr=False)

    @property
    def resumes(self) -> bool:
        """Whether the plan texts nobody whom the record would not text, with the same words."""
        return not (len(self.added) or len(self.changed) or len(self.gone))

    def told(self) -> str:
        another = len(self.changed) + self.others
        said = [
            (len(self.added), f"{counted(len(self.added), 'recipient')} added"),
            (len(self.gone), f"{len(self.gone):,} removed"),
            (len(self.dropped), f"{len(self.dropped):,} left out now"),
            (another, f"{another:,} with another text"),
            (self.closed, f"{self.closed:,} of those who were reached or left out already"),
        ]
        return ", ".join(text for many, text in said if many) or "the same recipients and texts in another order"


def compare(connection: Statements, campaign: int, plan: Planned) -> Difference:
    """Return how a plan differs from what is recorded of its campaign."""
    recorded = _recorded(connection, campaign)
    rows = plan._as_planned
    people = as_recorded(connection, people_of(rows), recorded.index.to_numpy())
    going = rows["status"].eq("planned").to_numpy()
    place = recorded.index.get_indexer(pd.Index(people))
    known = (place >= 0) & (people != 0)
    state = np.where(known, recorded["state"].to_numpy()[place], -1) if len(recorded) else np.full(len(place), -1)
    keys = np.zeros(len(rows), np.int64)
    keys[going] = np.asarray(plan._held.body_keys)[rows["body"].to_numpy("int64", na_value=0)[going]]
    another = going & known
    if len(recorded):
        another &= recorded["body"].to_numpy()[place] != keys
    still = ~np.isin(recorded.index.to_numpy(), people)
    to_go = recorded["state"].eq(PLANNED).to_numpy()
    return Difference(
        added=np.flatnonzero(going & ~known),
        changed=np.flatnonzero(another & (state == PLANNED)),
        others=int((another & np.isin(state, (*MAY_HAVE_LEFT, REJECTED))).sum()),
        dropped=np.flatnonzero(~going & known & (state == PLANNED)),
        gone=recorded[still & to_go],
        closed=int((~to_go & (recorded["state"].eq(SKIPPED) == np.isin(recorded.index, people[going]))).sum()),
        recorded=recorded,
        people=people,
    )


def people_of(rows: pd.DataFrame) -> Ints:
    """Return the person of each row of a plan; 0 if no number could be read, or if another row is that person's."""
    people = persons(np.array(rows["to"].str[1:].astype("Int64").fillna(0), np.int64))
    first = np.argsort(rows["status"].ne("planned").to_numpy(), kind="stable")  # who is to be texted before the others
    repeated = np.zeros(len(people), bool)
    repeated[first] = pd.Series(people[first]).duplicated().to_numpy()
    return np.where(repeated, 0, people)


def as_recorded(connection: Statements, people: Ints, recorded: Ints) -> Ints:
    """Replace people who have been forgotten meanwhile by the hashes that stand for them in the record."""
    if not (recorded < 0).any():
        return people
    codes = hashed(people, secret_of(connection))
    return np.where((people > 0) & np.isin(codes, recorded), codes, people)


def places(connection: Statements, rows: pd.DataFrame, recorded: pd.Series) -> Ints:
    """Return the place of each recorded number in a plan's rows, -1 where it is missing."""
    numbers = recorded.to_numpy("int64", na_value=0)
    going = np.flatnonzero(rows["status"].eq("planned").to_numpy())
    planned = rows["to"].iloc[going].str[1:].astype("int64").to_numpy()
    # Who was forgotten is a hash. If all others are in the recorded order, so are they, and nobody has to be hashed.
    if len(planned) == len(numbers) and ((planned == numbers) | (numbers < 0)).all():
        return going
    people = as_recorded(connection, people_of(rows), numbers)
    known = np.flatnonzero(people)
    found = pd.Index(people[known]).get_indexer(pd.Index(persons(numbers)))
    return np.where(found >= 0, known[found] if len(known) else -1, -1)


def refusal(connection: Statements, campaign: int, plan: Planned, found: Difference, *, ledger: str) -> PlanChanged:
    """Return the refusal of a plan that is not the one recorded; it says what differs, and the one line to call.

    ``ledger`` is the argument that names the ledger in that line, if it needs one.
    """
    replaced = "" if _in_force(connection, campaign, plan) else replaced_at(connection, campaign, plan.fingerprint)
    return PlanChanged(
        f"campaign {plan.campaign!r} is recorded with a different plan: {found.told()}{replaced}. "
        f"Nothing was sent; {advice(connection, campaign, plan, found, ledger=ledger)}",
        added=len(found.added),
        removed=len(found.gone) + len(found.dropped),
        changed=len(found.changed) + found.others,
    )


def advice(connection: Statements, campaign: int, plan: Planned, found: Difference, *, ledger: str) -> str:
    """Return what to do where a plan differs from the campaign: the call by which it follows, where one can."""
    kept = tuple(kept_by(connection, campaign))
    if kept != plan._kept:
        return f"plan with keep={list(kept)}, as it is recorded"
    changed, added, gone = (len(rows) for rows in (found.changed, found.added, found.gone))
    if added and was_withdrawn(connection, campaign):
        reached = f"exclude=sms.record({plan.campaign!r}{ledger})"
        return f"it was withdrawn: plan the new recipients under another name, with {reached}"
    if again := texted_elsewhere(plan, found):
        return again
    reason = "list changed" if gone or (added and changed) else "more people" if added else "typo"
    missing = ", missing='withdraw'" if gone else ""
    call = f"sms.revise(plan, client, reason={reason!r}{missing}{ledger})"
    return f"to let those who were not texted follow this plan, in Python: {call}"


def texted_elsewhere(plan: Planned, found: Difference) -> str:
    """Say how many people whom a plan adds have the message at another of their numbers, and what to do."""
    own, other = plan._held.others
    texted = found.recorded.index[found.recorded["state"].isin(MAY_HAVE_LEFT).to_numpy()]
    again = int(np.isin(found.people[found.added], own[np.isin(other, texted)]).sum())
    has = "has" if again == 1 else "have"
    said = f"{counted(again, 'recipient')} of this plan {has} this message already, at another number"
    return f"{said}; plan with exclude=sms.record({plan.campaign!r}, client)" if again else ""


def adopt(
    connection: Statements, campaign: int, plan: Planned, found: Difference, *, reason: str | None, now: int
) -> Revised:
    """Make rows that have not been sent follow a later plan; return how many changed.

    The caller holds the campaign's lock and has a transaction open.
    """
    replaced = connection.execute("SELECT fingerprint FROM campaign WHERE id=?", (campaign,)).fetchone()[0]
    kept = tuple(kept_by(connection, campaign))
    if kept != plan._kept:
        raise LedgerError(
            f"campaign {plan.campaign!r} is recorded with keep={list(kept)}, and the plan has "
            f"keep={list(plan._kept)}. Nothing was changed; plan with the same keep="
        )
    done = {"corrected": len(found.changed), "extended": len(found.added)}
    done |= {"withdrawn": len(found.gone), "suppressed": len(found.dropped)}
    new_words = done["corrected"] or (found.others and "corrected" not in changes_of(connection, campaign))
    if not new_words and any(done.values()):
        del done["corrected"]
    _leave_out(connection, campaign, plan, found)
    skip(connection, campaign, found.gone, WITHDRAWN)
    version = _version(connection, campaign) + ("corrected" in done)
    _reword(connection, campaign, plan, found, version=version)
    _add(connection, campaign, plan, found, version=version)
    _move(connection, campaign, found.people)
    connection.execute(
        "UPDATE campaign SET fingerprint=?, rows=(SELECT count(*) FROM recipient WHERE campaign=?) WHERE id=?",
        (plan.fingerprint, campaign, campaign),
    )
    if "corrected" in done or done["extended"]:
        connection.execute("UPDATE campaign SET author=? WHERE id=?", (runners.decider(connection), campaign))
    for what, rows in done.items():
        if rows or what == "corrected":
            note(connection, campaign, what=what, rows=rows, reason=reason, replaced=replaced, now=now)
    return Revised(len(found.changed), len(found.added), len(found.gone) + len(found.dropped))


def revise(connection: Statements, campaign: int, plan: Planned, *, reason: str, missing: str, now: int) -> Revised:
    """Do as `adopt`, unless the plan is in force already, or lacks rows that are ``missing``, or comes too late."""
    found = compare(connection, campaign, plan)
    if len(found.gone) and missing == "refuse":
        are = "is" if len(found.gone) == 1 else "are"
        raise UsageError(
            f"{counted(len(found.gone), 'recipient')} of campaign {plan.campaign!r}, not texted yet, {are} missing in "
            "this plan; nothing was changed. Plan the whole list, or pass missing='withdraw' to take them out"
        )
    if again := texted_elsewhere(plan, found):
        raise UsageError(f"nothing was changed: {again}")
    if len(found.added) and was_withdrawn(connection, campaign):
        raise UsageError(
            f"campaign {plan.campaign!r} was withdrawn and texts no one else; nothing was changed. Plan the new "
            "recipients as a campaign of their own"
        )
    if not len(found.dropped) and takes(connection, campaign, plan, found):
        return Revised(0, 0, 0)
    return adopt(connection, campaign, plan, found, reason=reason, now=now)


def takes(connection: Statements, campaign: int, plan: Planned, found: Difference) -> bool:
    """Return whether a campaign goes on with a plan without a revision."""
    if _in_force(connection, campaign, plan):
        # missing are people who were in doubt when it came into force, and do not have the message after all
        return not len(found.gone)
    other_words = found.others and "corrected" not in changes_of(connection, campaign)
    return found.resumes and not other_words and not replaced_at(connection, campaign, plan.fingerprint)


def takes_in_pieces(connection: Statements, campaign: int, plan: Planned) -> bool:
    """Return whether a campaign goes on with a plan larger than memory: only with its own, and no correction since."""
    return _in_force(connection, campaign, plan) and "corrected" not in changes_of(connection, campaign)


def problems_of(connection: Statements, campaign: int, recorded: pd.DataFrame) -> Objects:
    """Return the problem of each of these recorded rows, or None."""
    rows = connection.execute(
        f"SELECT chunk, position, problem FROM fate WHERE campaign=? AND problem IS NOT NULL AND state<>{PLANNED}",
        (campaign,),
    )
    known = {(chunk, position): problem for chunk, position, problem in rows}
    return np.array([known.get(place) for place in _places(recorded)], object)


def reword(connection: Statements, campaign: int, plan: Planned) -> None:
    """Give rows that are planned again, after the campaign was corrected, the words of the plan."""
    found = compare(connection, campaign, plan)
    _reword(connection, campaign, plan, found, version=_version(connection, campaign))


def withdraw(
    connection: Statements, campaign: int, numbers: Sequence[int] | None, *, reason: str | None, now: int
) -> int:
    """Skip planned rows, these or all, for good; return how many. A campaign that is running notices at once."""
    recorded = _recorded(connection, campaign)
    to_go = recorded[recorded["state"].eq(PLANNED).to_numpy()]
    if numbers is not None:
        mine = to_go.index.isin(persons(np.array(numbers, np.int64)))
        strangers = len(set(numbers)) - int(mine.sum())
        if strangers > 0:
            raise UsageError(
                f"{counted(strangers, 'number is', 'numbers are')} not still to go in this campaign; "
                "nothing was changed"
            )
        to_go = to_go[mine]
    else:  # what is under way or refused may come back to be sent
        sql = "UPDATE campaign SET withdrawn=(SELECT coalesce(max(chunk)+1, 0) FROM chunk WHERE campaign=?) WHERE id=?"
        connection.execute(sql, (campaign, campaign))
    skip(connection, campaign, to_go, WITHDRAWN)
    if len(to_go):
        note(connection, campaign, what="withdrawn", rows=len(to_go), reason=reason, replaced=None, now=now)
    return len(to_go)


def come_back(connection: Statements, campaign: int, chunk: int, problem: str | None) -> tuple[int, str | None]:
    """Return state and problem of a chunk's rows that certainly were not sent: planned, unless withdrawn meanwhile."""
    limit = connection.execute("SELECT withdrawn FROM campaign WHERE id=?", (campaign,)).fetchone()[0]
    return (SKIPPED, WITHDRAWN) if chunk < limit else (PLANNED, problem)


def note(
    connection: Statements,
    campaign: int,
    *,
    what: str,
    rows: int,
    reason: str | None,
    replaced: str | None,
    now: int,
    evidence: str | None = None,
) -> None:
    row = {"campaign": campaign, "at": now, "what": what, "rows": rows, "reason": reason}
    insert(connection, "change", row | {"replaced": replaced, "evidence": evidence})
    runners.note_decision(connection, what, rows=rows, now=now, campaign=campaign, reason=reason)


def changes_of(connection: Statements, campaign: int) -> set[str]:
    """Return what was ever changed of a campaign."""
    rows = connection.execute("SELECT DISTINCT what FROM change WHERE campaign=?", (campaign,))
    return {what for (what,) in rows}


def _version(connection: Statements, campaign: int) -> int:
    """Return the version of a campaign's words: 1, and one more with each correction."""
    sql = "SELECT 1 + count(*) FROM change WHERE campaign=? AND what='corrected'"
    return int(connection.execute(sql, (campaign,)).fetchone()[0])


def was_withdrawn(connection: Statements, campaign: int) -> bool:
    return bool(connection.execute("SELECT withdrawn FROM campaign WHERE id=?", (campaign,)).fetchone()[0])


def replaced_at(connection: Statements, campaign: int, fingerprint: str) -> str:
    """Return in words what replaced a plan that was once in force, else an empty text."""
    found = connection.execute(
        "SELECT what, reason, at FROM change WHERE campaign=? AND replaced=? ORDER BY at DESC, id LIMIT 1",
        (campaign, fingerprint),
    ).fetchone()
    if found is None:
        return ""
    what, reason, at = found
    done = "continued with people left out" if what == "suppressed" else what
    why = f" ({reason})" if reason else ""
    return f"; this plan held until the campaign was {done} on {said(at)}{why}"


def _in_force(connection: Statements, campaign: int, plan: Planned) -> bool:
    sql = "SELECT fingerprint=? FROM campaign WHERE id=?"
    return bool(connection.execute(sql, (plan.fingerprint, campaign)).fetchone()[0])


def _recorded(connection: Statements, campaign: int) -> pd.DataFrame:
    """Return what is recorded of the people of a campaign, indexed by person."""
    rows = rows_of(connection, campaign, "number", "state", "body")
    mine = rows[(rows["chunk"].ge(0) & rows["number"].notna()).to_numpy(bool)].astype("int64")
    return mine.set_index(pd.Index(persons(mine.pop("number").to_numpy()), name="person"))


def _leave_out(connection: Statements, campaign: int, plan: Planned, found: Difference) -> None:
    """Record as skipped the rows that have not been sent and that the plan leaves out."""
    dropped = found.recorded.index.isin(found.people[found.dropped])
    connection.executemany(
        f"DELETE FROM recipient WHERE campaign=? AND chunk=? AND position=? AND own_state={PLANNED}",
        [(campaign, chunk, at) for chunk, at in _places(found.recorded[dropped])],
    )
    connection.execute("DELETE FROM recipient WHERE campaign=? AND chunk=?", (campaign, LEFT_OUT))
    stays = np.isin(found.people, found.recorded.index.to_numpy()[~dropped])
    places = np.flatnonzero(plan._as_planned["status"].ne("planned").to_numpy() & ~stays)
    rows = plan._as_planned.iloc[places]
    insert_rows(connection, campaign, rows, places, np.full(len(places), LEFT_OUT), plan._kept, SKIPPED)


def skip(connection: Statements, campaign: int, rows: pd.DataFrame, problem: str) -> None:
    """Skip planned rows for good, by their ``chunk`` and ``position``."""
    connection.executemany(
        "UPDATE recipient SET own_state=?, problem=?, not_before=NULL "
        f"WHERE campaign=? AND chunk=? AND position=? AND own_state={PLANNED} "
        "AND (SELECT state FROM chunk c WHERE c.campaign=recipient.campaign AND c.chunk=recipient.chunk) IS NULL",
        [(SKIPPED, problem, campaign, chunk, at) for chunk, at in _places(rows)],
    )


def _reword(connection: Statements, campaign: int, plan: Planned, found: Difference, *, version: int) -> None:
    """Give rows that have not been sent the message of the plan, in chunks of their own."""
    places = found.changed
    if not len(places):
        return
    rows = plan._as_planned.iloc[places]
    chunk = _new_chunks(connection, campaign, plan, rows, version)
    recorded = found.recorded.loc[found.people[places]]
    values = zip(chunk.tolist(), destinations(connection, rows), _places(recorded), strict=True)
    connection.executemany(
        "UPDATE recipient SET chunk=?, destination=?, problem=NULL, not_before=NULL "
        f"WHERE campaign=? AND chunk=? AND position=? AND own_state={PLANNED}",
        [(new, destination, campaign, old, at) for new, destination, (old, at) in values],
    )


def _add(connection: Statements, campaign: int, plan: Planned, found: Difference, *, version: int) -> None:
    if len(found.added):
        rows = plan._as_planned.iloc[found.added]
        chunk = _new_chunks(connection, campaign, plan, rows, version)
        insert_rows(connection, campaign, rows, found.added, chunk, plan._kept, PLANNED)


def _move(connection: Statements, campaign: int, people: Ints) -> None:
    """Move every recorded row to its position in the plan's frame; rows that are gone from it come after its end."""
    recorded = _recorded(connection, campaign)
    known = np.flatnonzero(people)
    found = pd.Index(people[known]).get_indexer(recorded.index)
    place = len(people) + np.arange(len(found))
    place[found >= 0] = known[found[found >= 0]]
    moved = place != recorded["position"].to_numpy()
    now = zip(place[moved].tolist(), _places(recorded[moved]), strict=True)
    connection.executemany(  # by way of negative ones: two rows may change places
        "UPDATE recipient SET position=? WHERE campaign=? AND chunk=? AND position=?",
        [(-2 - new, campaign, chunk, at) for new, (chunk, at) in now],
    )
    connection.execute("UPDATE recipient SET position=-2-position WHERE campaign=? AND position<0", (campaign,))
    chunks = recorded["chunk"].to_numpy()
    for chunk in np.unique(chunks[moved]).tolist():
        mine = chunks == chunk
        _reorder(connection, campaign, chunk, recorded["position"].to_numpy()[mine], place[mine])


def _reorder(connection: Statements, campaign: int, chunk: int, before: Ints, after: Ints) -> None:
    """Put the answers that a chunk keeps as a whole back into the order of its rows."""
    sql = (
        "SELECT a.id, a.ids, a.kinds FROM chunk c JOIN attempt a ON a.id=c.attempt "
        f"WHERE c.campaign=? AND c.chunk=? AND c.state={ACCEPTED}"
    )
    found = connection.execute(sql, (campaign, chunk)).fetchone()
    if found:
        attempt, *answers = found
        order = np.argsort(after[np.argsort(before)])
        moved = reordered(Whole(*answers), order)
        connection.execute("UPDATE attempt SET ids=?, kinds=? WHERE id=?", (*moved, attempt))


def _new_chunks(connection: Statements, campaign: int, plan: Planned, rows: pd.DataFrame, version: int) -> Ints:
    """Make a new chunk for these rows of each chunk of a plan; return the new chunk of each row."""
    first = connection.execute("SELECT coalesce(max(chunk), -1)+1 FROM chunk WHERE campaign=?", (campaign,)).fetchone()
    which, _ = pd.factorize(rows["chunk"].to_numpy("int64"), sort=True)
    number = (which + int(first[0])).astype(np.int64)
    keys = np.asarray(plan._held.body_keys)
    insert_chunks(connection, campaign, rows, number, keys, plan._held.wordings(), version=version)
    return number


def _places(rows: pd.DataFrame) -> Iterable[tuple[int, int]]:
    return zip(rows["chunk"].tolist(), rows["position"].tolist(), strict=True)
