"""Planned rows, and until when each is held back by what the ledger knows: arrays with an entry a row.

The order of the rules: opted out, held out by an experiment, in another of its arms, same text, capped. The first three
are for good: the row is skipped. The other rules leave the row planned, with the moment at which it may go.

``autumn-2`` is no campaign of the experiment ``autumn``, so it texts those whom ``autumn/2`` leaves out. Before it is
sent, `unheeded` says how many people that concerns, and by which name they would be left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import timedelta
from difflib import SequenceMatcher

import numpy as np
import numpy.typing as npt

from ..._cards import counted
from ..._policy import Policy
from ..._services import name_key
from ..people import experiments
from ..people.experiments import NO_PEOPLE, held_out, in_other_arms
from ..rows.answers import Ints
from ..rows.columns import integers_in
from ..rows.contacts import Contacts, others
from ..rows.persons import hashed, keyed, persons, secret_of
from ..rows.statements import Statements
from ..rows.tables import OPTED_OUT

HELD_OUT, OTHER_ARM = "HELD_OUT", "OTHER_ARM"
SAME_TEXT, CAPPED = "SAME_TEXT", "CAPPED"


@dataclass(frozen=True, slots=True)
class Rules:
    """What a run asks of each person; times in microseconds.

    Attributes:
        campaign: the name of the campaign, which says whose holdouts and arms it heeds; None: nobody's, as a test to
            oneself.
        marketing: whether holdouts of every campaign hold for it.
        others: the people who have other numbers, and these, an opt-out of which is theirs; both as persons.

    Example:
        >>> Rules.of(Policy(caps=[(1, "24h")], same_text=None), campaign="autumn/plain")
        Rules(caps=((1, 86400000000),), same_text=0, campaign='autumn/plain', marketing=True)
    """

    caps: tuple[tuple[int, int], ...] = ()
    same_text: int = 0
    campaign: str | None = None
    marketing: bool = True
    others: tuple[Ints, Ints] = field(default=(NO_PEOPLE, NO_PEOPLE), repr=False, compare=False)

    @classmethod
    def of(
        cls,
        policy: Policy | None,
        *,
        campaign: str,
        repeat_text: bool = False,
        others: tuple[Ints, Ints] = (NO_PEOPLE, NO_PEOPLE),
    ) -> Rules:
        """Return the rules of a campaign and its policy; without one there is the same text within three days."""
        asked = policy or Policy()
        same = None if repeat_text else asked.same_text
        caps = tuple((most, _micros(window)) for most, window in asked._active_caps)
        return cls(caps, 0 if same is None else _micros(same), campaign, asked.kind == "marketing", others)

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
        self.out, self.held_out, self.other_arm = (np.zeros(size, bool) for _ in range(3))
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
        self.hold_out(connection, now=now)
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
        held = (self._for_good() | (self.same_until > 0) | (self.cap_until > 0)) & ~self.aside
        self.touched = set(np.unique(self.rows.chunk[held]).tolist())

    def _for_good(self, where: slice = slice(None)) -> npt.NDArray[np.bool_]:
        return np.asarray(self.out[where] | self.held_out[where] | self.other_arm[where], bool)

    @property
    def _counts(self) -> bool:
        """Whether it takes more than the latest contact to know whom a cap holds back."""
        return any(most > 1 for most, _ in self._rules.caps)

    def hold_out(self, connection: Statements, *, now: int) -> None:
        """Take in whom experiments keep from this campaign; who was held out once stays so for the run."""
        campaign = self._rules.campaign
        if campaign is not None:
            held = held_out(connection, campaign, marketing=self._rules.marketing, now=now)
            self._leave(self.held_out, self._find(connection, held)[1])
            self._leave(self.other_arm, self._find(connection, in_other_arms(connection, campaign))[1])

    def going(self, connection: Statements, people: Ints) -> int:
        return int((~self._for_good()[self._find(connection, people)[1]]).sum()) if len(people) else 0

    def _leave(self, left: npt.NDArray[np.bool_], place: Ints) -> None:
        left[place] = True
        self.touched |= {*self.rows.chunk[place].tolist()}

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
        found: Ints = np.flatnonzero((self._for_good(where) | (until > now)) & ~self.aside[where])
        return np.asarray(found + where.start, np.int64)

    def row(self, place: int, now: int) -> Row:
        """Return by what the row at a place is held back."""
        position = int(self.rows.position[place])
        if self.out[place]:
            return Row(position, OPTED_OUT, None)
        if self.held_out[place]:
            return Row(position, HELD_OUT, None)
        if self.other_arm[place]:
            return Row(position, OTHER_ARM, None)
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


_SEPARATORS = re.compile(r"[^\w]+|_+")
_ALIKE = 0.8  # of two spellings of one word
_LEAST = 4  # characters of a word that may be misspelled or run on; shorter ones begin other words


@dataclass(frozen=True, slots=True)
class Unheeded:
    """How many people of a campaign an experiment holds out, or has in another arm, and are texted all the same.

    ``meant`` is the name by which the campaign would be the experiment's, empty where its name is quite another one.
    ``exempt`` is a transactional campaign, for which a holdout of every campaign does not hold.
    """

    experiment: str
    campaign: str
    people: int
    others: int
    meant: str
    exempt: bool

    def sentence(self) -> str:
        """Return who is texted although an experiment holds them out, and how they are left out."""
        held = counted(self.people, "recipient is", "recipients are")
        said = [f"{held} held out by the experiment {self.experiment!r} and will be texted."] if self.people else []
        if self.others:
            arms = counted(self.others, "recipient is", "recipients are")
            said.append(f"{arms} in another arm of the experiment {self.experiment!r} and will be texted.")
        if self.exempt:
            return " ".join([*said, "A transactional campaign heeds no holdout."])
        rows = 'the rows of Experiment.assign(...).frame whose arm is "holdout"'
        if not self.meant:
            return " ".join([*said, f"To leave them out, pass exclude= with their numbers: {rows}."])
        asked = f"{self.campaign!r} is none of its campaigns. Is it meant to be one? Call the campaign {self.meant!r}"
        return " ".join([*said, f"{asked} to leave them out, or pass exclude= with their numbers: {rows}."])


def unheeded(
    connection: Statements, campaign: str | None, standing: Standing, *, marketing: bool, now: int
) -> tuple[Unheeded, ...]:
    """Return the experiments that are not over, whose holdout would be texted by planned rows of a campaign."""
    found: list[Unheeded] = []
    if campaign is None:  # a test to oneself
        return ()
    for one in experiments.everyone(connection):
        heeded = one.owns(campaign) or (one.until is not None and marketing)
        if heeded or not one.is_open(connection, now):
            continue
        meant = campaign_meant(campaign, one.name)
        held = standing.going(connection, held_out(connection, one.name, marketing=False, now=now))
        others = standing.going(connection, in_other_arms(connection, meant)) if meant else 0
        if held or others:
            found.append(Unheeded(one.name, campaign, held, others, meant, exempt=one.until is not None))
    return tuple(found)


def together(found: list[tuple[Unheeded, ...]]) -> tuple[Unheeded, ...]:
    """Add up what was found in the pieces of one plan."""
    sums: dict[str, Unheeded] = {}
    for one in (one for piece in found for one in piece):
        known = sums.get(one.experiment, replace(one, people=0, others=0))
        sums[one.experiment] = replace(one, people=known.people + one.people, others=known.others + one.others)
    return tuple(sums.values())


def campaign_meant(campaign: str, experiment: str) -> str:
    """Return the experiment's own name for a campaign that begins with its name, spelled otherwise; else nothing.

    Separators and case make no difference, and a word of four letters or more may be misspelled, but for its digits.

    Example:
        >>> campaign_meant("Autumn-week 2", "autumn"), campaign_meant("autunm_2", "autumn")
        ('autumn/week 2', 'autumn/2')
        >>> campaign_meant("spring", "autumn"), campaign_meant("autumn2-b", "autumn1")
        ('', '')
    """
    key, wanted = name_key(campaign), _SEPARATORS.sub("", name_key(experiment))
    ends = [*(found.start() for found in _SEPARATORS.finditer(key)), len(key)]
    begun = [(end, _SEPARATORS.sub("", key[:end])) for end in ends]
    exact = next((end for end, head in begun if head == wanted), 0)
    close = [end for end, head in begun if _misspelled(head, wanted)]
    at = exact or next(iter(close), 0) or (len(wanted) if _runs_on(key, wanted) else 0)
    if not at:
        return ""
    rest = key[at:]
    rest = rest[found.end() :] if (found := _SEPARATORS.match(rest)) else rest
    return f"{experiment}/{rest}" if rest else experiment


def _runs_on(key: str, wanted: str) -> bool:
    """Say whether a name goes on without a separator; a digit more is another number, unless none stood there."""
    if len(wanted) < _LEAST or not key.startswith(wanted):
        return False
    return not (wanted[-1].isdigit() and key[len(wanted) : len(wanted) + 1].isdigit())


def _misspelled(head: str, wanted: str) -> bool:
    digits = [re.sub(r"[^0-9]", "", word) for word in (head, wanted)]
    if digits[0] != digits[1] or min(len(head), len(wanted)) < _LEAST:
        return False
    return SequenceMatcher(None, head, wanted, autojunk=False).ratio() >= _ALIKE
