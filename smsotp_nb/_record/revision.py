"""A recorded campaign and a later plan of it: how they differ, and how what has not left follows the plan.

The rows of the two are matched by person. Rows that a message may have reached never change.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from .._cards import counted
from .._moments import said as moment
from ..errors import LedgerError, PlanChanged, UsageError
from .recording import (
    MessageNumbers,
    Planned,
    PlannedPeople,
    digits,
    estimates,
    recipient_columns,
    skipped_of,
)
from .store import Ints, Store, Transaction, note_event
from .tables import MAY_HAVE_LEFT, PLANNED, REJECTED, SKIPPED, WITHDRAWN

CORRECTED, EXTENDED, SUPPRESSED = "corrected", "extended", "suppressed"
WITHDRAWN_ROWS: Final = "withdrawn"


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
        people: those whom the plan texts.
        added: places among ``people`` of those whom the campaign does not have.
        changed: places of those who are recorded with another text, and not reached yet.
        others: how many are recorded with another text and were reached, rejected or left out.
        dropped: people whom the plan leaves out and the record still has to go, with the plan's problem by person.
        gone: keys of people who are still to go and whom the plan does not have at all.
        closed: how many were reached or rejected whom the plan does not text, or left out whom it does.
        recorded: the record: chunk, position, state, body by person.
        place: the place in the plan of each person whom the plan has, by person.
    """

    people: PlannedPeople = field(repr=False)
    added: Ints
    changed: Ints
    others: int
    dropped: pd.Series = field(repr=False)
    gone: Ints = field(repr=False)
    closed: int
    recorded: pd.DataFrame = field(repr=False)
    place: pd.Series = field(repr=False)

    @property
    def resumes(self) -> bool:
        """Whether the plan texts nobody whom the record would not text, with the same words."""
        return not (len(self.added) or len(self.changed) or len(self.gone))

    def text(self) -> str:
        """Return the difference in words."""
        another = len(self.changed) + self.others
        parts = [
            (len(self.added), f"{counted(len(self.added), 'recipient')} added"),
            (len(self.gone), f"{len(self.gone):,} removed"),
            (len(self.dropped), f"{len(self.dropped):,} left out now"),
            (another, f"{another:,} with another text"),
            (self.closed, f"{self.closed:,} of those who were reached or left out already"),
        ]
        return ", ".join(text for number, text in parts if number) or "the same recipients and texts in another order"


def compare(store: Store, tx: Transaction, campaign: int, plan: Planned) -> Difference:
    """Return how a plan differs from what is recorded of its campaign."""
    rows = tx.rows("SELECT person, chunk, position, state, body FROM recipient WHERE campaign=?", (campaign,))
    table = np.array(rows, np.int64).reshape(-1, 5)
    recorded = pd.DataFrame(table[:, 1:], columns=["chunk", "position", "state", "body"], index=table[:, 0])
    people = PlannedPeople.of(store, plan)
    at = recorded.index.get_indexer(pd.Index(people.person))
    is_known = at >= 0
    state = np.where(is_known, recorded["state"].to_numpy()[at], -1) if len(recorded) else np.full(len(at), -1)
    has_other_text = is_known.copy()
    if len(recorded):
        has_other_text &= recorded["body"].to_numpy()[at] != people.body
    left_out = _left_out(store, plan, people.person)
    to_go = recorded["state"].eq(PLANNED).to_numpy()
    is_texted = np.isin(recorded.index, people.person)
    is_left_out = np.isin(recorded.index, left_out.index)
    place = pd.concat([left_out["place"], pd.Series(people.place, people.person)])
    return Difference(
        people=people,
        added=np.flatnonzero(~is_known),
        changed=np.flatnonzero(has_other_text & (state == PLANNED)),
        others=int((has_other_text & np.isin(state, (*MAY_HAVE_LEFT, REJECTED))).sum()),
        dropped=left_out.loc[recorded.index[to_go & is_left_out], "problem"],
        gone=recorded.index[to_go & ~is_texted & ~is_left_out].to_numpy("int64"),
        closed=int((~to_go & (recorded["state"].eq(SKIPPED).to_numpy() == is_texted)).sum()),
        recorded=recorded,
        place=place[~place.index.duplicated()],
    )


def _left_out(store: Store, plan: Planned, texted: Ints) -> pd.DataFrame:
    """Return place and problem of the people whom a plan leaves out, by person: of several rows the first one."""
    rows = plan._as_planned
    is_skipped = rows["status"].ne("planned").to_numpy() & rows["to"].notna().to_numpy()
    place = np.flatnonzero(is_skipped)
    person = store.persons(digits(rows["to"].iloc[place]))
    frame = pd.DataFrame({"place": place, "problem": rows["problem"].iloc[place].to_numpy(object)}, index=person)
    frame = frame[~frame.index.isin(texted)]
    return frame[~frame.index.duplicated()]


def check_plan(store: Store, campaign: int, plan: Planned, *, now: int, ledger: str) -> None:
    """Accept a plan for a recorded campaign, or refuse it. The caller holds the campaign.

    ``ledger`` is the argument that names the record in a line of code, where that needs one.

    Raises:
        PlanChanged: it says what differs, and what to call.
        LedgerError: the campaign was purged, or its name is spelled differently.
    """
    with store.reading() as tx:
        purged, name, fingerprint = tx.rows("SELECT purged, name, fingerprint FROM campaign WHERE id=?", (campaign,))[0]
        if name != plan.campaign:
            raise LedgerError(
                f"campaign {plan.campaign!r} differs only in spelling from the recorded {name!r}. Nothing was sent. "
                f"Next: plan it as campaign={name!r} to continue that one, or choose a name that differs in more than "
                "case, blanks and dashes"
            )
        if purged:
            raise LedgerError(
                f"campaign {plan.campaign!r} was purged: it is no longer known who was texted, so it is never sent "
                "again. Nothing was sent. Next: choose another campaign name"
            )
        changes = changes_of(tx, campaign)
        if fingerprint == plan.fingerprint and not changes & {CORRECTED, WITHDRAWN_ROWS}:
            return
        difference = compare(store, tx, campaign, plan)
        if not takes(tx, campaign, plan, difference):
            raise refusal(tx, campaign, plan, difference, ledger=ledger)
    if len(difference.dropped) or len(difference.changed):
        with store.writing() as tx:
            adopt(store, tx, campaign, plan, difference, reason=None, now=now)


def takes(tx: Transaction, campaign: int, plan: Planned, difference: Difference) -> bool:
    """Return whether a campaign goes on with a plan without a revision."""
    if _fingerprint(tx, campaign) == plan.fingerprint:
        # Missing are people who were in doubt when it came into force, and do not have the message after all.
        return not len(difference.gone)
    other_words = difference.others and CORRECTED not in changes_of(tx, campaign)
    return difference.resumes and not other_words and not _replaced_when(tx, campaign, plan.fingerprint)


def refusal(tx: Transaction, campaign: int, plan: Planned, difference: Difference, *, ledger: str) -> PlanChanged:
    """Return the refusal of a plan that is not the one recorded."""
    replaced = _replaced_when(tx, campaign, plan.fingerprint)
    return PlanChanged(
        f"campaign {plan.campaign!r} is recorded with a different plan: {difference.text()}{replaced}. "
        f"Nothing was sent. Next: {advice(tx, campaign, plan, difference, ledger=ledger)}",
        added=len(difference.added),
        removed=len(difference.gone) + len(difference.dropped),
        changed=len(difference.changed) + difference.others,
    )


def advice(tx: Transaction, campaign: int, plan: Planned, difference: Difference, *, ledger: str) -> str:
    """Return what to do where a plan differs from the campaign: the call by which it follows, where there is one."""
    kept = _kept_names(tx, campaign)
    if kept != plan._kept:
        return f"plan with keep={list(kept)}, as it is recorded"
    changed, added, gone = len(difference.changed), len(difference.added), len(difference.gone)
    if added and is_withdrawn(tx, campaign):
        return (
            "the campaign was withdrawn: plan the new recipients under another name, with "
            f"exclude=sms.record({plan.campaign!r}{ledger})"
        )
    if again := texted_elsewhere(plan, difference):
        return again
    reason = "typo"
    if gone or (added and changed):
        reason = "list changed"
    elif added:
        reason = "more people"
    missing = ", missing='withdraw'" if gone else ""
    return (
        "to let those who were not texted follow this plan, in Python: "
        f"sms.revise(plan, client, reason={reason!r}{missing}{ledger})"
    )


def texted_elsewhere(plan: Planned, difference: Difference) -> str:
    """Say how many people whom a plan adds have the message at another of their numbers, and what to do."""
    # The plan's pairs are canonical numbers, so the people that it adds are compared as such.
    own, other = plan._held.others
    if not len(own):
        return ""
    number = digits(difference.people.rows["to"])
    person_of = pd.Series(difference.people.person, number)
    recorded = difference.recorded
    texted = recorded.index[recorded["state"].isin(MAY_HAVE_LEFT).to_numpy()]
    reached = person_of[person_of.isin(texted)].index.to_numpy()
    again = int(np.isin(number[difference.added], own[np.isin(other, reached)]).sum())
    if not again:
        return ""
    has = "has" if again == 1 else "have"
    return (
        f"{counted(again, 'recipient')} of this plan {has} this message already, at another number; plan with "
        f"exclude=sms.record({plan.campaign!r}, client)"
    )


def revise(
    store: Store, tx: Transaction, campaign: int, plan: Planned, *, reason: str, missing: str, now: int
) -> Revised:
    """Let what has not left follow a plan, unless it is in force already; the caller holds the campaign.

    Raises:
        UsageError: it lacks rows that are still to go and ``missing`` is refuse, or comes too late.
    """
    difference = compare(store, tx, campaign, plan)
    if len(difference.gone) and missing == "refuse":
        are = "is" if len(difference.gone) == 1 else "are"
        raise UsageError(
            f"{counted(len(difference.gone), 'recipient')} of campaign {plan.campaign!r}, not texted yet, {are} missing "
            "in this plan. Nothing was changed. Next: plan the whole list, or pass missing='withdraw' to take them out"
        )
    if again := texted_elsewhere(plan, difference):
        raise UsageError(f"nothing was changed: {again}")
    if len(difference.added) and is_withdrawn(tx, campaign):
        raise UsageError(
            f"campaign {plan.campaign!r} was withdrawn and texts no one else. Nothing was changed. Next: plan the new "
            "recipients as a campaign of their own"
        )
    if not len(difference.dropped) and takes(tx, campaign, plan, difference):
        return Revised(0, 0, 0)
    return adopt(store, tx, campaign, plan, difference, reason=reason, now=now)


def adopt(
    store: Store,
    tx: Transaction,
    campaign: int,
    plan: Planned,
    difference: Difference,
    *,
    reason: str | None,
    now: int,
) -> Revised:
    """Make rows that have not been sent follow a later plan; return how many changed."""
    kept = _kept_names(tx, campaign)
    if kept != plan._kept:
        raise LedgerError(
            f"campaign {plan.campaign!r} is recorded with keep={list(kept)}, and the plan has "
            f"keep={list(plan._kept)}. Nothing was changed. Next: plan with the same keep="
        )
    replaced = _fingerprint(tx, campaign)
    is_corrected = CORRECTED in changes_of(tx, campaign)
    words = MessageNumbers(store, plan)
    numbers, version = words.recorded_numbers(tx, campaign)
    reworded = bool(len(difference.changed) or (difference.others and not is_corrected))
    words.insert(tx, campaign, numbers, version=version + reworded, now=now, reason=reason)
    mine = f"campaign=? AND person=? AND state={PLANNED}"
    tx.many(
        f"UPDATE recipient SET state={SKIPPED}, problem=?, not_before=NULL WHERE {mine}",
        [(problem, campaign, person) for person, problem in difference.dropped.items()],
    )
    tx.many(
        f"UPDATE recipient SET state={SKIPPED}, problem='{WITHDRAWN}', not_before=NULL WHERE {mine}",
        [(campaign, person) for person in difference.gone.tolist()],
    )
    _reword(tx, campaign, difference, words, numbers)
    _add(tx, campaign, plan, difference, words, numbers)
    _move(tx, campaign, difference)
    is_recorded = np.zeros(len(plan._as_planned), bool)
    is_recorded[difference.place[difference.place.index.isin(difference.recorded.index)].to_numpy("int64")] = True
    tx.run(
        "UPDATE campaign SET fingerprint=?, skipped=? WHERE id=?",
        (plan.fingerprint, json.dumps(skipped_of(plan, is_recorded)), campaign),
    )
    counts = {
        CORRECTED: len(difference.changed) if reworded else 0,
        EXTENDED: len(difference.added),
        WITHDRAWN_ROWS: len(difference.gone),
        SUPPRESSED: len(difference.dropped),
    }
    for what, rows in counts.items():
        if rows or (what == CORRECTED and (reworded or not any(counts.values()))):
            note_event(tx, what, now=now, rows=rows, campaign=campaign, reason=reason, replaced=replaced)
    withdrawn = len(difference.gone) + len(difference.dropped)
    return Revised(len(difference.changed), len(difference.added), withdrawn)


def _new_chunks(tx: Transaction, campaign: int, people: PlannedPeople) -> Ints:
    """Return a new chunk for the people of each chunk of a plan: rows of two texts never share a request."""
    first = tx.rows("SELECT coalesce(max(chunk), -1)+1 FROM recipient WHERE campaign=?", (campaign,))[0][0]
    codes, _ = pd.factorize(people.rows["chunk"].to_numpy("int64"), sort=True)
    return (codes + int(first)).astype(np.int64)


def _reword(
    tx: Transaction, campaign: int, difference: Difference, words: MessageNumbers, numbers: list[int]
) -> None:
    people = difference.people.take(difference.changed)
    if not len(people.rows):
        return
    columns: dict[str, Any] = {
        "chunk": _new_chunks(tx, campaign, people).tolist(),
        "body": people.body.tolist(),
        "message": words.numbers_of(people.rows, numbers).tolist(),
        **estimates(people.rows),
    }
    values = zip(*columns.values(), people.person.tolist(), strict=True)
    tx.many(
        f"UPDATE recipient SET {', '.join(f'{name}=?' for name in columns)}, problem=NULL, not_before=NULL "
        f"WHERE person=? AND campaign=? AND state={PLANNED}",
        [(*row, campaign) for row in values],
    )


def _add(
    tx: Transaction,
    campaign: int,
    plan: Planned,
    difference: Difference,
    words: MessageNumbers,
    numbers: list[int],
) -> None:
    people = difference.people.take(difference.added)
    if not len(people.rows):
        return
    chunk = _new_chunks(tx, campaign, people)
    columns = recipient_columns(plan, people, chunk, words.numbers_of(people.rows, numbers))
    marks = ", ".join("?" for _ in columns)
    tx.many(
        f"INSERT INTO recipient (campaign, {', '.join(columns)}) VALUES ({int(campaign)}, {marks})",
        zip(*columns.values(), strict=True),
    )


def _move(tx: Transaction, campaign: int, difference: Difference) -> None:
    """Give each recorded row its place in the plan; rows that are gone from it come after its end."""
    recorded = difference.recorded
    place = difference.place.reindex(recorded.index)
    is_gone = place.isna().to_numpy()
    place[is_gone] = int(difference.place.max()) + 1 + np.arange(int(is_gone.sum()))
    place = place.astype("int64")
    moved = place.to_numpy() != recorded["position"].to_numpy()
    tx.many(
        "UPDATE recipient SET position=? WHERE person=? AND campaign=?",
        [(at, person, campaign) for person, at in place[moved].items()],
    )


def changes_of(tx: Transaction, campaign: int) -> set[str]:
    """Return what was ever changed of a campaign."""
    return {what for (what,) in tx.rows("SELECT DISTINCT what FROM event WHERE campaign=?", (campaign,))}


def is_withdrawn(tx: Transaction, campaign: int) -> bool:
    return bool(tx.rows("SELECT withdrawn FROM campaign WHERE id=?", (campaign,))[0][0])


def _fingerprint(tx: Transaction, campaign: int) -> str:
    return str(tx.rows("SELECT fingerprint FROM campaign WHERE id=?", (campaign,))[0][0])


def _kept_names(tx: Transaction, campaign: int) -> tuple[str, ...]:
    return tuple(json.loads(tx.rows("SELECT kept FROM campaign WHERE id=?", (campaign,))[0][0]))


def _replaced_when(tx: Transaction, campaign: int, fingerprint: str) -> str:
    """Return in words what replaced a plan that was once in force, else an empty text."""
    if _fingerprint(tx, campaign) == fingerprint:
        return ""
    rows = tx.rows(
        "SELECT what, reason, at FROM event WHERE campaign=? AND replaced=? ORDER BY at DESC, id LIMIT 1",
        (campaign, fingerprint),
    )
    if not rows:
        return ""
    what, reason, at = rows[0]
    done = "continued with people left out" if what == SUPPRESSED else what
    why = f" ({reason})" if reason else ""
    return f"; this plan held until the campaign was {done} on {moment(at)}{why}"
