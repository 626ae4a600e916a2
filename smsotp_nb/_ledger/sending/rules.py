"""Planned rows, and until when each is held back by what the ledger knows: arrays with an entry a row.

The order of the rules: opted out, same text, capped. The first one is for good: the row is skipped. The other rules
leave the row planned, with the moment at which it may go.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
import numpy.typing as npt

from ..._policy import Policy
from ..rows.answers import Ints
from ..rows.columns import integers_in
from ..rows.contacts import Contacts, others
from ..rows.persons import NO_PEOPLE, hashed, keyed, persons, secret_of
from ..rows.statements import Statements
from ..rows.tables import OPTED_OUT

SAME_TEXT, CAPPED = "SAME_TEXT", "CAPPED"


@dataclass(frozen=True, slots=True)
class Rules:
    """What a run asks of each person; times in microseconds.

    Attributes:
        others: the people who have other numbers, and these, an opt-out of which is theirs; both as persons.

    Example:
        >>> Rules.of(Policy(caps=[(1, "24h")], same_text=None))
        Rules(caps=((1, 86400000000),), same_text=0)
    """

    caps: tuple[tuple[int, int], ...] = ()
    same_text: int = 0
    others: tuple[Ints, Ints] = field(default=(NO_PEOPLE, NO_PEOPLE), repr=False, compare=False)

    @classmethod
    def of(
        cls,
        policy: Policy | None,
        *,
        repeat_text: bool = False,
        others: tuple[Ints, Ints] = (NO_PEOPLE, NO_PEOPLE),
    ) -> Rules:
        """Return the rules of a campaign and its policy; without one there is the same text within three days."""
        asked = policy or Policy()
        same = None if repeat_text else asked.same_text
        caps = tuple((most, _micros(window)) for most, window in asked._active_caps)
        return cls(caps, 0 if same is None else _micros(same), others)

    @property
    def longest(self) -> int:
        return max(self.same_text, *(window for _, window in self.caps), 0, 0)

    def whose(self, connection: Statements, people: Ints) -> Ints:
        """Return people, forgotten ones too, with all of whom one of them is another number."""
        own, other = self.others
        if not len(own) or not len(people):
            return people
        theirs = np.isin(other, people)
        if people.min() < 0:
            theirs |= np.isin(hashed(other, secret_of(connection)), people)
        return np.concatenate([people, own[theirs]])


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


# The contacts of one campaign with planned people: the place of each among the planned rows, and when.
_Recent = tuple[int, Ints, Ints]


class Standing:
    """What the ledger knows of planned rows: who is left out for good, and until when the others are held back.

    ``same_until`` and ``cap_until`` have an entry a row, in microseconds since 1970; 0 where nothing holds it.
    ``touched`` are the chunks of which a row may be held back: most claims need not look at their rows at all.
    """

    def __init__(self, rows: Rows, rules: Rules) -> None:
        size = len(rows.chunk)
        self.rows, self._rules = rows, rules
        self._people = persons(rows.number)
        self._order = np.argsort(self._people, kind="stable")
        self._ascending = self._people[self._order]
        self._hashes: tuple[Ints, Ints] | None = None
        self._keyed: Ints | None = None  # their bodies, as a purge leaves them
        self.out = np.zeros(size, bool)  # opted out
        self.aside = np.zeros(size, bool)  # recorded as held back
        self.same_until, self.cap_until = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self.by = np.full(size, -1, np.int64)  # the campaign whose contact holds the row back the longest
        self.touched: set[int] = set()
        self._recent: list[_Recent] = []
        self._gathered: tuple[Ints, Ints, Ints] | None = None  # the same: places in order, times, campaigns
        self._since: dict[int, dict[int, int]] = {}  # and those since: by place and campaign, when

    def learn(self, connection: Statements, service: str, *, but: int | None, now: int) -> None:
        """Take in what the ledger knows at this moment."""
        out = integers_in(connection.execute("SELECT group_concat(person) FROM opted_out").fetchone()[0])
        self.out[self._find(connection, self._rules.whose(connection, out))[1]] = True
        since = now - self._rules.longest
        recent: list[_Recent] = []
        if self._rules.longest:
            for campaign, contacts in others(connection, service, but=but, since=since, now=now):
                found, place = self._find(connection, contacts.people, contacts.at > since)
                at = contacts.at[found]
                self._same(self._alike(connection, contacts, found, place), place, at, campaign)
                recent.append((campaign, place, at))
        for most, window in self._rules.caps:
            many = np.zeros(len(self.out), np.int32)
            for _, place, at in recent:
                many[place[at > now - window]] += 1  # a campaign has each person once
            self._cap(recent, most, window, many >= most, now)
        self._recent = recent if self._counts else []
        self._touch()

    def put_aside(self, places: Ints) -> None:
        """Know that these rows are recorded as held back, in chunks that this run does not send."""
        self.aside[places] = True
        self._touch()

    def _touch(self) -> None:
        held = (self.out | (self.same_until > 0) | (self.cap_until > 0)) & ~self.aside
        self.touched = set(np.unique(self.rows.chunk[held]).tolist())

    @property
    def _counts(self) -> bool:
        """Whether it takes more than the latest contact to know whom a cap holds back."""
        return any(most > 1 for most, _ in self._rules.caps)

    def hear(self, connection: Statements, person: int, *, opted_out: bool) -> None:
        """Take in what one person said since."""
        people = np.array([person])
        place = self._find(connection, self._rules.whose(connection, people) if opted_out else people)[1]
        self.out[place] = opted_out
        self.touched |= {*self.rows.chunk[place].tolist()}

    def contacted(self, connection: Statements, contacts: Contacts, campaign: int, *, now: int) -> None:
        """Take in a request that another campaign claimed a moment ago; to hear of it twice changes nothing."""
        found, place = self._find(connection, contacts.people)
        at = contacts.at[found]
        self.touched |= {*self.rows.chunk[place].tolist()}
        self._same(self._alike(connection, contacts, found, place), place, at, campaign)
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

    def _alike(self, connection: Statements, contacts: Contacts, found: Ints, place: Ints) -> npt.NDArray[np.bool_]:
        """Return which of these contacts had the body of the row at the place of each."""
        if not self._rules.same_text:
            return np.zeros(len(place), bool)
        if contacts.keyed and self._keyed is None:
            self._keyed = keyed(self.rows.body, secret_of(connection))
        bodies = self._keyed if contacts.keyed and self._keyed is not None else self.rows.body
        return np.asarray(bodies[place] == contacts.body[found], bool)

    def _same(self, alike: npt.NDArray[np.bool_], place: Ints, at: Ints, campaign: int) -> None:
        """Hold back who had the same body."""
        rows, until = place[alike], at[alike] + self._rules.same_text
        later = until > self.same_until[rows]  # a campaign has each person once
        self.same_until[rows[later]] = until[later]
        self.by[rows[later]] = campaign

    def _cap(self, recent: list[_Recent], most: int, window: int, full: npt.NDArray[np.bool_], now: int) -> None:
        """Hold back who had as many messages as a cap allows, until the one that decides is out of its window."""
        if full.any():
            chosen = [full[place] & (at > now - window) for _, place, at in recent]
            theirs = [(of, place[mine], at[mine]) for (of, place, at), mine in zip(recent, chosen, strict=True)]
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
        self, connection: Statements, people: Ints, among: npt.NDArray[np.bool_] | None = None
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

    def _hashed(self, connection: Statements) -> tuple[Ints, Ints]:
        if self._hashes is None:
            codes = hashed(self._people, secret_of(connection))
            order = np.argsort(codes)
            self._hashes = codes[order], order
        return self._hashes


def _joined(recent: list[_Recent]) -> tuple[Ints, Ints, Ints]:
    campaigns, places, times = zip(*recent, strict=True)
    return np.concatenate(places), np.concatenate(times), np.repeat(campaigns, [*map(len, places)])


def _gathered(recent: list[_Recent]) -> tuple[Ints, Ints, Ints]:
    if not recent:
        return NO_PEOPLE, NO_PEOPLE, NO_PEOPLE
    place, at, campaign = _joined(recent)
    order = np.argsort(place, kind="stable")
    return place[order], at[order], campaign[order]


def _look_up(ascending: Ints, order: Ints, people: Ints) -> tuple[Ints, Ints]:
    if not len(ascending):
        return NO_PEOPLE, NO_PEOPLE
    where = np.searchsorted(ascending, people)
    where[where == len(ascending)] = 0
    found = np.flatnonzero(ascending[where] == people)
    return found, order[where[found]]
