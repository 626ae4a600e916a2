"""Whom a run must not text now: people who opted out, who had the same words lately, or who were texted often enough.

Decided in the transaction of each claim, so that what other campaigns and processes record meanwhile counts. What the
ledger knows is gathered once, when the run begins, in arrays with an entry a planned row. From then on a claim looks
only at what was recorded since: requests of other campaigns and what people said.

The order of the rules: opted out, same text, capped. An opt-out is for good: its row is skipped. The other rules leave
the row planned, with the moment at which it may go.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
import numpy.typing as npt

from .._policy import Policy
from .answers import Ints
from .contacts import IN_FLIGHT, Contacts, Realm, others
from .people import hashed, persons, secret_of
from .store import Store
from .tables import ACCEPTED, IN_DOUBT, PLANNED, SENDING, SKIPPED

OPTED_OUT, SAME_TEXT, CAPPED = "OPTED_OUT", "SAME_TEXT", "CAPPED"
_BLOCK = 1_000  # chunks
_NO_PEOPLE: Ints = np.array([], np.int64)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a run asks of each person; times in microseconds.

    Example:
        >>> Rules.of(Policy(caps=[(1, "24h")], same_text=None))
        Rules(caps=((1, 86400000000),), same_text=0)
    """

    caps: tuple[tuple[int, int], ...] = ()
    same_text: int = 0

    @classmethod
    def of(cls, policy: Policy | None, *, repeat_text: bool = False) -> Rules:
        """Return the rules of a policy; without one there is the same text within three days."""
        asked = policy or Policy()
        same = None if repeat_text else asked.same_text
        return cls(
            tuple((most, _micros(window)) for most, window in asked.active_caps), 0 if same is None else _micros(same)
        )

    @property
    def longest(self) -> int:
        """The longest span of time that matters."""
        return max(self.same_text, *(window for _, window in self.caps), 0, 0)


def _micros(window: timedelta) -> int:
    return window // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Row:
    """A row that is held back: by which rule, and until when (microseconds since 1970; None: for good)."""

    position: int
    problem: str
    until: int | None


@dataclass(frozen=True, slots=True)
class Rows:
    """Planned rows as arrays, in the order of chunk and position: their numbers and bodies."""

    chunk: Ints
    position: Ints
    number: Ints = field(repr=False)
    body: Ints


@dataclass(frozen=True, slots=True)
class _Recent:
    """The contacts of one campaign with planned people: the place of each among the planned rows, and when."""

    campaign: int
    place: Ints
    at: Ints

    def of(self, chosen: npt.NDArray[np.bool_]) -> _Recent:
        return _Recent(self.campaign, self.place[chosen], self.at[chosen])


class Standing:
    """What the ledger knows of planned rows: who is opted out, and until when the others are held back.

    ``same_until`` and ``cap_until`` have an entry a row, in microseconds since 1970; 0 where nothing holds it.
    """

    def __init__(self, rows: Rows, rules: Rules) -> None:
        size = len(rows.chunk)
        self.rows, self._rules = rows, rules
        self._people = persons(rows.number)
        self._order = np.argsort(self._people, kind="stable")
        self._ascending = self._people[self._order]
        self._hashes: tuple[Ints, Ints] | None = None
        self.out, self.aside = np.zeros(size, bool), np.zeros(size, bool)  # aside: recorded as held back
        self.same_until, self.cap_until = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self.by = np.full(size, -1, np.int64)  # the campaign whose contact holds the row back the longest
        self._recent: list[_Recent] = []
        self._gathered: tuple[Ints, Ints, Ints] | None = None  # the same: places in order, times, campaigns
        self._since: dict[int, dict[int, int]] = {}  # and those since: by place and campaign, when

    def learn(self, connection: sqlite3.Connection, realm: Realm, *, but: int | None, now: int) -> None:
        """Take in what the ledger knows at this moment."""
        self.heed(connection, _opted_out(connection))
        since = now - self._rules.longest
        recent: list[_Recent] = []
        if self._rules.longest:
            for campaign, contacts in others(connection, realm, but=but, since=since, now=now):
                found, place = self._find(connection, contacts.people, contacts.at > since)
                at = contacts.at[found]
                self._same(place, at, contacts.body[found], campaign)
                recent.append(_Recent(campaign, place, at))
        for most, window in self._rules.caps:
            many = np.zeros(len(self.out), np.int32)
            for one in recent:
                many[one.place[one.at > now - window]] += 1  # a campaign has each person once
            self._cap(recent, most, window, many >= most, now)
        self._recent = recent if self._counts else []

    @property
    def _counts(self) -> bool:
        """Whether it takes more than the latest contact to know whom a cap holds back."""
        return any(most > 1 for most, _ in self._rules.caps)

    def heed(self, connection: sqlite3.Connection, people: Ints) -> None:
        """Take in who is opted out."""
        self.out[self._find(connection, people)[1]] = True

    def hear(self, connection: sqlite3.Connection, person: int, *, opted_out: bool) -> None:
        """Take in what one person said since."""
        self.out[self._find(connection, np.array([person]))[1]] = opted_out

    def contacted(self, connection: sqlite3.Connection, contacts: Contacts, campaign: int, *, now: int) -> None:
        """Take in a request that another campaign claimed a moment ago; to hear of it twice changes nothing."""
        found, place = self._find(connection, contacts.people)
        at = contacts.at[found]
        self._same(place, at, contacts.body[found], campaign)
        whose = np.full(len(place), campaign)
        if self._counts:
            place, at, whose = self._met(place, at, campaign)
        for most, window in self._rules.caps:
            within = np.flatnonzero(at > now - window)
            _, which, many = np.unique(place[within], return_inverse=True, return_counts=True)
            full = within[many[which] >= most]
            self._hold(place[full], at[full], whose[full], most, now, window)

    def _met(self, places: Ints, times: Ints, campaign: int) -> tuple[Ints, Ints, Ints]:
        """Return all contacts of these rows, the new ones too, each campaign's latest: places, times, campaigns."""
        if self._gathered is None:  # sorted not before another campaign meets these people while this one runs
            self._gathered, self._recent = _gathered(self._recent), []
        known, at, whose = self._gathered
        rows: list[tuple[int, int, int]] = []
        for place, first, last, time in zip(
            places.tolist(),
            np.searchsorted(known, places).tolist(),
            np.searchsorted(known, places, side="right").tolist(),
            times.tolist(),
            strict=True,
        ):
            since = self._since.setdefault(place, {})
            since[campaign] = time
            before = dict(zip(whose[first:last].tolist(), at[first:last].tolist(), strict=True))
            rows += [(place, when, by) for by, when in (before | since).items()]
        found = np.array(rows, np.int64).reshape(-1, 3).T
        return found[0], found[1], found[2]

    def held(self, where: slice, now: int) -> Ints:
        """Return the places of those of these rows that may not go now and are not set aside."""
        until = np.maximum(self.same_until[where], self.cap_until[where])
        found: Ints = np.flatnonzero((self.out[where] | (until > now)) & ~self.aside[where])
        return np.asarray(found + where.start, np.int64)

    def row(self, place: int, now: int) -> Row:
        """Return by what the row at a place is held back."""
        position = int(self.rows.position[place])
        if self.out[place]:
            return Row(position, OPTED_OUT, None)
        until = int(max(self.same_until[place], self.cap_until[place]))
        return Row(position, SAME_TEXT if self.same_until[place] > now else CAPPED, until)

    def _same(self, place: Ints, at: Ints, body: Ints, campaign: int) -> None:
        if not self._rules.same_text:
            return
        alike = self.rows.body[place] == body
        rows, until = place[alike], at[alike] + self._rules.same_text
        later = until > self.same_until[rows]  # a campaign has each person once
        self.same_until[rows[later]] = until[later]
        self.by[rows[later]] = campaign

    def _cap(self, recent: list[_Recent], most: int, window: int, full: npt.NDArray[np.bool_], now: int) -> None:
        """Hold back who had as many messages as a cap allows, until the one that decides is out of its window."""
        if full.any():
            theirs = [one.of(full[one.place] & (one.at > now - window)) for one in recent]
            self._hold(*_joined(theirs), most, now, window)

    def _hold(self, place: Ints, at: Ints, campaign: Ints, most: int, now: int, window: int) -> None:
        """Hold back these people by their contacts in the window of a cap, each as many as it allows, or more."""
        order = np.lexsort((-at, place))
        rows, first = np.unique(place[order], return_index=True)
        decides = order[first + most - 1]  # the latest but most-1
        until = at[decides] + window
        later = until > self.cap_until[rows]
        self.cap_until[rows[later]] = until[later]
        named = later & (self.same_until[rows] <= now)
        self.by[rows[named]] = campaign[decides][named]

    def _find(
        self, connection: sqlite3.Connection, people: Ints, among: npt.NDArray[np.bool_] | None = None
    ) -> tuple[Ints, Ints]:
        """Return which of these people have a row here, and its place; people in any order, forgotten ones too."""
        if among is not None and not among.all():
            at = np.flatnonzero(among)
            found, place = self._find(connection, people[at])
            return at[found], place
        found, place = _look_up(self._ascending, self._order, people)
        if len(people) and people.min() < 0:
            forgotten, hidden = _look_up(*self._hashed(connection), people)
            found, place = np.concatenate([found, forgotten]), np.concatenate([place, hidden])
        return found, place

    def _hashed(self, connection: sqlite3.Connection) -> tuple[Ints, Ints]:
        if self._hashes is None:
            codes = hashed(self._people, secret_of(connection))
            order = np.argsort(codes)
            self._hashes = codes[order], order
        return self._hashes


def _joined(recent: list[_Recent]) -> tuple[Ints, Ints, Ints]:
    """Return place, time and campaign of all these contacts."""
    place, at = (np.concatenate([getattr(one, name) for one in recent]) for name in ("place", "at"))
    return place, at, np.repeat([one.campaign for one in recent], [len(one.place) for one in recent])


def _gathered(recent: list[_Recent]) -> tuple[Ints, Ints, Ints]:
    if not recent:
        return _NO_PEOPLE, _NO_PEOPLE, _NO_PEOPLE
    place, at, campaign = _joined(recent)
    order = np.argsort(place, kind="stable")
    return place[order], at[order], campaign[order]


def _look_up(ascending: Ints, order: Ints, people: Ints) -> tuple[Ints, Ints]:
    if not len(ascending):
        return _NO_PEOPLE, _NO_PEOPLE
    where = np.searchsorted(ascending, people)
    where[where == len(ascending)] = 0
    found = np.flatnonzero(ascending[where] == people)
    return found, order[where[found]]


class Holds:
    """The rules at work on one run.

    Args:
        campaign: the run's own, whose contacts do not count: it has each person once.
        service: where it sends.
    """

    def __init__(self, campaign: int, service: str, rules: Rules, clock: Callable[[], int]) -> None:
        self._campaign, self._realm, self._rules, self._clock = campaign, Realm(service), rules, clock
        self._standing: Standing | None = None
        self._requests = self._consents = 0  # up to which they are known

    def begin(self, connection: sqlite3.Connection) -> None:
        """Gather what the ledger knows, in a snapshot; where it knows of nobody else, that is left for later."""
        self._requests, self._consents = latest(connection)
        if self._anybody(connection):
            self._learn(connection)

    def look(self, connection: sqlite3.Connection) -> tuple[int, int]:
        """Take in what was recorded since, inside the transaction of a claim; return up to what that was.

        What is returned goes to `confirm` when the transaction is on the disk.
        """
        upto = latest(connection)
        if upto != (self._requests, self._consents):
            self._catch_up(connection, upto)
        return upto

    def confirm(self, upto: tuple[int, int]) -> None:
        """Know that a transaction which looked so far is recorded."""
        self._requests, self._consents = max(self._requests, upto[0]), max(self._consents, upto[1])

    def of(self, chunk: int) -> list[Row]:
        """Return which rows of a chunk may not go now."""
        if self._standing is None:
            return []
        now = self._clock()
        return [self._standing.row(place, now) for place in self._standing.held(self._slice(chunk), now).tolist()]

    def set_aside(self, store: Store) -> frozenset[int]:
        """Record all rows that are held back now, and return the chunks in which they stand, all others elsewhere.

        With one transaction for all, most claims find their chunk without such rows.
        """
        now, standing = self._clock(), self._standing
        held = _NO_PEOPLE if standing is None else standing.held(slice(0, len(standing.rows.chunk)), now)
        if standing is None or not len(held):
            return frozenset()
        chunk = standing.rows.chunk
        mixed, which = np.unique(chunk[held], return_inverse=True)
        others = np.searchsorted(chunk, mixed, "right") - np.searchsorted(chunk, mixed) - np.bincount(which) > 0
        with store.writing("NORMAL") as connection:
            numbers = mixed.copy()
            numbers[others] = _other_chunks(connection, self._campaign, mixed[others].tolist())
            rows = [standing.row(place, now) for place in held.tolist()]
            places = zip(numbers[which].tolist(), chunk[held].tolist(), rows, strict=True)
            _record(connection, self._campaign, places)
        standing.aside[held] = True
        return frozenset(numbers.tolist())

    def _slice(self, chunk: int) -> slice:
        assert self._standing is not None
        first, last = np.searchsorted(self._standing.rows.chunk, (chunk, chunk + 1))
        return slice(int(first), int(last))

    def _learn(self, connection: sqlite3.Connection) -> None:
        standing = Standing(planned(connection, self._campaign), self._rules)
        standing.learn(connection, self._realm, but=self._campaign, now=self._clock())
        self._standing = standing

    def _catch_up(self, connection: sqlite3.Connection, upto: tuple[int, int]) -> None:
        requests = self._requests_of_others(connection) if upto[0] != self._requests else []
        people = _said_since(connection, self._consents) if upto[1] != self._consents else []
        if not requests and not people:
            return
        if self._standing is None:
            self._learn(connection)  # with all of it
            return
        for person, opted_out in people:
            self._standing.hear(connection, person, opted_out=opted_out)
        for attempt, campaign, body in requests:
            who = np.sort(persons(_numbers_of(connection, attempt, campaign)))
            when = np.full(len(who), self._clock() + IN_FLIGHT)
            contacts = Contacts(who, when, np.full(len(who), body))
            self._standing.contacted(connection, contacts, campaign, now=self._clock())

    def _requests_of_others(self, connection: sqlite3.Connection) -> list[tuple[int, int, int]]:
        if not self._rules.longest:
            return []
        return connection.execute(
            "SELECT a.id, a.campaign, c.body FROM attempt a CROSS JOIN campaign k ON k.id=a.campaign "
            "CROSS JOIN chunk c ON c.campaign=a.campaign AND c.chunk=a.chunk "
            f"WHERE a.id>? AND a.campaign<>? AND k.kind='campaign' AND {self._realm.sql}",
            (self._requests, self._campaign, self._realm.service),
        ).fetchall()

    def _anybody(self, connection: sqlite3.Connection) -> bool:
        """Say whether the ledger knows of anybody who could matter: opted out, or contacted by another campaign."""
        if connection.execute("SELECT EXISTS (SELECT 1 FROM opted_out)").fetchone()[0]:
            return True
        if not self._rules.longest:
            return False
        found = connection.execute(
            f"SELECT EXISTS (SELECT 1 FROM campaign k WHERE {self._realm.sql} AND kind='campaign' AND k.id<>? AND ("
            "EXISTS (SELECT 1 FROM attempt a WHERE a.campaign=k.id) "
            "OR EXISTS (SELECT 1 FROM contacts c WHERE c.campaign=k.id)))",
            (self._realm.service, self._campaign),
        )
        return bool(found.fetchone()[0])


def latest(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the numbers of the latest request and of what was last said."""
    found = connection.execute(
        "SELECT coalesce((SELECT max(id) FROM attempt), 0), coalesce((SELECT max(id) FROM consent), 0)"
    ).fetchone()
    return found[0], found[1]


def planned(connection: sqlite3.Connection, campaign: int) -> Rows:
    """Return the planned rows of a campaign."""
    chunks = connection.execute(
        "SELECT chunk, body FROM chunk WHERE campaign=? AND state IS NULL ORDER BY chunk", (campaign,)
    ).fetchall()
    numbered, bodies = np.array(chunks, np.int64).reshape(-1, 2).T
    sql = (
        "SELECT group_concat(chunk), group_concat(position), group_concat(number) FROM (SELECT chunk, position, number "
        f"FROM recipient WHERE campaign=? AND chunk>=? AND chunk<? AND own_state={PLANNED} ORDER BY chunk, position)"
    )
    blocks = [np.zeros((3, 0), np.int64)]
    for first in range(0, int(numbered.max(initial=-1)) + 1, _BLOCK):
        texts = connection.execute(sql, (campaign, first, first + _BLOCK)).fetchone()
        if texts[0] is not None:
            blocks.append(np.array([np.fromstring(text, np.int64, sep=",") for text in texts]))
    rows = np.concatenate(blocks, axis=1)
    chunk, position, number = rows[:, np.isin(rows[0], numbered)]  # those of a chunk under way as a whole are not
    return Rows(chunk, position, number, bodies[np.searchsorted(numbered, chunk)])


def set_aside(connection: sqlite3.Connection, campaign: int, chunk: int, holds: Holds) -> bool:
    """Record which rows of a chunk are held back, inside a transaction; say whether others are left that may go.

    Where there are, those that are held back get a chunk of their own, so that the others still go out as a whole.
    """
    held = holds.of(chunk)
    if not held:
        return True
    to_go = connection.execute(
        "SELECT position FROM recipient r JOIN chunk c USING (campaign, chunk) "
        f"WHERE campaign=? AND chunk=? AND own_state={PLANNED} AND c.state IS NULL",
        (campaign, chunk),
    )
    planned_at = {position for (position,) in to_go}
    rows = [row for row in held if row.position in planned_at]
    more = len(rows) < len(planned_at)
    aside = _other_chunks(connection, campaign, [chunk])[0] if more and rows else chunk
    _record(connection, campaign, [(aside, chunk, row) for row in rows])
    return more


def _record(connection: sqlite3.Connection, campaign: int, rows: Iterable[tuple[int, int, Row]]) -> None:
    """Record by what rows are held back, and move each to a chunk: its new one, and that in which it stands."""
    connection.executemany(
        "UPDATE recipient SET chunk=?, own_state=?, problem=?, not_before=? "
        f"WHERE campaign=? AND chunk=? AND position=? AND own_state={PLANNED}",
        [
            (new, SKIPPED if row.until is None else PLANNED, row.problem, row.until, campaign, chunk, row.position)
            for new, chunk, row in rows
        ],
    )


def _other_chunks(connection: sqlite3.Connection, campaign: int, like: Sequence[int]) -> list[int]:
    """Make another chunk with the body of each of these and return their numbers."""
    first = connection.execute("SELECT max(chunk)+1 FROM chunk WHERE campaign=?", (campaign,)).fetchone()[0]
    numbers = [*range(first, first + len(like))]
    connection.executemany(
        "INSERT INTO chunk (campaign, chunk, body, est_parts, encoding) "
        "SELECT campaign, ?, body, est_parts, encoding FROM chunk WHERE campaign=? AND chunk=?",
        [(number, campaign, one) for number, one in zip(numbers, like, strict=True)],
    )
    return numbers


def _said_since(connection: sqlite3.Connection, latest: int) -> list[tuple[int, bool]]:
    """Return of whom something was recorded since, and whether they are opted out now."""
    found = connection.execute(
        "SELECT DISTINCT person, EXISTS (SELECT 1 FROM opted_out o WHERE o.person=c.person) FROM consent c WHERE id>?",
        (latest,),
    )
    return [(person, bool(out)) for person, out in found]


def _opted_out(connection: sqlite3.Connection) -> Ints:
    text = connection.execute("SELECT group_concat(person) FROM opted_out").fetchone()[0]
    return np.fromstring(text, np.int64, sep=",") if text else _NO_PEOPLE


def _numbers_of(connection: sqlite3.Connection, attempt: int, campaign: int) -> Ints:
    """Return whom one request may have reached or may still reach."""
    text = connection.execute(
        "SELECT group_concat(r.number) FROM attempt a JOIN chunk c ON c.campaign=a.campaign AND c.chunk=a.chunk "
        "JOIN recipient r ON r.campaign=c.campaign AND r.chunk=c.chunk WHERE a.id=? AND a.campaign=? "
        "AND (c.attempt=a.id OR c.state IS NULL AND r.attempt=a.id AND r.own_state IN (?, ?, ?))",
        (attempt, campaign, SENDING, ACCEPTED, IN_DOUBT),
    ).fetchone()[0]
    return np.fromstring(text, np.int64, sep=",") if text else _NO_PEOPLE
