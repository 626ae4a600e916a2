"""Whom a campaign must not text now: who opted out, had the same text lately, or had as many messages as allowed.

`statements` are part of each claim, so that what other campaigns and processes record meanwhile counts. `HoldState` asks
the same of a plan that is not recorded yet, for its preview. An opt-out skips a row for good; the other rules leave it
planned, with the moment at which it may go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import numpy as np

from .._policy import Policy
from .store import Ints, Statement, Transaction
from .tables import CAMPAIGN, MAY_HAVE_LEFT, OPTED_OUT, PLANNED, SKIPPED

SAME_TEXT, CAPPED = "SAME_TEXT", "CAPPED"
RULES: Final = (OPTED_OUT, SAME_TEXT, CAPPED)
NOBODY: Final = np.zeros(0, np.int64)
_MICROSECOND: Final = timedelta(microseconds=1)

# The messages of other campaigns that a person may have. CROSS JOIN keeps SQLite from asking the campaigns first.
_CONTACTS: Final = (
    "FROM recipient o CROSS JOIN campaign k CROSS JOIN attempt a WHERE o.person=recipient.person "
    f"AND o.campaign<>recipient.campaign AND o.state IN {MAY_HAVE_LEFT} AND k.id=o.campaign AND k.realm=? "
    f"AND k.kind='{CAMPAIGN}' AND a.id=o.attempt AND a.started_at>?"
)


@dataclass(frozen=True, slots=True)
class SendRules:
    """What a run asks of each person; times in microseconds.

    Attributes:
        realm: whose contacts count: all live accounts, or one sandbox.
        caps: pairs of a number of messages and the window in which a person may have so many.
        same_text: how long a person is not sent the same text again; 0: not asked.
        others: other numbers of people of the plan, as keys of persons: an opt-out of one is theirs.

    Example:
        >>> SendRules.of(Policy(caps=[(1, "24h")], same_text=None), realm="live").caps
        ((1, 86400000000),)
    """

    realm: str
    caps: tuple[tuple[int, int], ...] = ()
    same_text: int = 0
    others: Mapping[int, tuple[int, ...]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        policy: Policy | None,
        *,
        realm: str,
        repeat_text: bool = False,
        others: Mapping[int, tuple[int, ...]] | None = None,
    ) -> SendRules:
        """Return the rules of a policy; without one a person has no text twice within three days."""
        policy = policy or Policy()
        same = None if repeat_text else policy.same_text
        caps = tuple((number, window // _MICROSECOND) for number, window in policy._active_caps)
        return cls(realm, caps, 0 if same is None else same // _MICROSECOND, others or {})

    @property
    def longest(self) -> int:
        """The longest time that a rule looks back."""
        return max([self.same_text, *(window for _, window in self.caps)])


def group_others(own: Ints, other: Ints) -> dict[int, tuple[int, ...]]:
    """Return the other numbers of each person, from pairs of keys."""
    grouped: dict[int, tuple[int, ...]] = {}
    for person, number in zip(own.tolist(), other.tolist(), strict=True):
        grouped[person] = (*grouped.get(person, ()), number)
    return grouped


def statements(
    rules: SendRules, where: str, values: Sequence[int], now: int, people: Sequence[int]
) -> list[Statement]:
    """Return the statements that mark planned rows which must not go now.

    Args:
        rules: what is asked.
        where: which rows are meant, in SQL, with ``values`` for its marks.
        values: of ``where``.
        now: the time that counts.
        people: those among the rows who have other numbers.
    """
    mine = f"{where} AND state={PLANNED}"
    skip = f"UPDATE recipient SET state={SKIPPED}, problem='{OPTED_OUT}', not_before=NULL WHERE {mine}"
    found = [(f"{skip} AND person IN (SELECT person FROM opted_out)", tuple(values))]
    for person in people:
        for other in rules.others[person]:
            sql = f"{skip} AND person=? AND EXISTS (SELECT 1 FROM opted_out WHERE person=?)"
            found.append((sql, (*values, person, other)))
    for number, window in rules.caps:
        # At the time of the latest message but so many, which leaves the window first.
        until = f"(SELECT a.started_at+? {_CONTACTS} ORDER BY a.started_at DESC LIMIT 1 OFFSET ?)"
        asked = (rules.realm, now - window)
        sql = (
            f"UPDATE recipient SET problem='{CAPPED}', not_before={until} WHERE {mine} "
            f"AND (SELECT count(*) {_CONTACTS})>=? AND coalesce(not_before, 0)<{until}"
        )
        found.append((sql, (window, *asked, number - 1, *values, *asked, number, window, *asked, number - 1)))
    if rules.same_text:
        alike = f"{_CONTACTS} AND o.body=recipient.body"
        asked = (rules.realm, now - rules.same_text)
        until = f"(SELECT max(a.started_at)+? {alike})"
        sql = (
            f"UPDATE recipient SET problem='{SAME_TEXT}', not_before=CASE WHEN coalesce(not_before, 0)>{until} "
            f"THEN not_before ELSE {until} END WHERE {mine} AND EXISTS (SELECT 1 {alike})"
        )
        span = (rules.same_text, *asked)
        found.append((sql, (*span, *span, *values, *asked)))
    return found


@dataclass(frozen=True, slots=True)
class HoldState:
    """What the rules say of people and texts: arrays with an entry for each.

    Attributes:
        opted_out: who is left out for good.
        same_until: until when the same text holds a row back, in microseconds since 1970; 0: not.
        cap_until: until when a cap does.
        by: the campaign whose message holds the row back.
    """

    opted_out: np.ndarray
    same_until: Ints
    cap_until: Ints
    by: Ints

    @property
    def until(self) -> Ints:
        return np.maximum(self.same_until, self.cap_until)


def hold_state(
    tx: Transaction, rules: SendRules, people: Ints, bodies: Ints, *, campaign: int | None, now: int
) -> HoldState:
    """Return what the rules say of people who would be sent these texts, outside of any claim.

    ``campaign`` is their own, whose messages do not count.
    """
    size = len(people)
    out = np.array([person for (person,) in tx.rows("SELECT person FROM opted_out")], np.int64)
    opted_out = np.isin(people, out)
    if rules.others:
        gone = set(out.tolist())
        said_no = [person for person, others in rules.others.items() if gone.intersection(others)]
        opted_out |= np.isin(people, np.array(said_no, np.int64))
    same, cap, by = (np.zeros(size, np.int64) for _ in range(3))
    if not rules.longest or not size:
        return HoldState(opted_out, same, cap, by)
    contacts = _contacts(tx, rules, people, campaign=campaign, now=now)
    order = np.argsort(people, kind="stable")
    place = order[np.searchsorted(people[order], contacts[:, 0])] if len(contacts) else NOBODY
    at, of, body = contacts[:, 1], contacts[:, 2], contacts[:, 3]
    if rules.same_text:
        alike = (body == bodies[place]) & (at > now - rules.same_text)
        np.maximum.at(same, place[alike], at[alike] + rules.same_text)
        by[place[alike]] = of[alike]
    for number, window in rules.caps:
        recent = at > now - window
        # The latest first: the place of each contact among those of its person.
        sequence = np.lexsort((-at[recent], place[recent]))
        owner, when, which = place[recent][sequence], at[recent][sequence], of[recent][sequence]
        first = np.searchsorted(owner, owner)
        limits = np.arange(len(owner)) - first == number - 1
        later = when[limits] + window > cap[owner[limits]]
        rows = owner[limits][later]
        cap[rows] = when[limits][later] + window
        by[rows] = np.where(same[rows] > 0, by[rows], which[limits][later])
    return HoldState(opted_out, same, cap, by)


def _contacts(
    tx: Transaction, rules: SendRules, people: Ints, *, campaign: int | None, now: int
) -> Ints:
    """Return person, time, campaign and text of the recent messages of these people, a row each."""
    rows = tx.rows(
        "SELECT o.person, a.started_at, o.campaign, o.body FROM attempt a CROSS JOIN campaign k CROSS JOIN recipient o "
        f"WHERE a.started_at>? AND k.id=a.campaign AND k.realm=? AND k.kind='{CAMPAIGN}' AND k.id<>? "
        f"AND o.campaign=a.campaign AND o.chunk=a.chunk AND o.attempt=a.id AND o.state IN {MAY_HAVE_LEFT}",
        (now - rules.longest, rules.realm, -1 if campaign is None else campaign),
    )
    found = np.array(rows, np.int64).reshape(-1, 4)
    kept: Ints = found[np.isin(found[:, 0], people)]
    return kept
