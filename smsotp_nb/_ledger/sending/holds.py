"""Whom a run must not text now: opted out, had the same words lately, or had enough.

Decided in the transaction of each claim, so that what other campaigns and processes record meanwhile counts. What the
ledger knows is gathered once, when the run begins, in arrays with an entry a planned row. From then on a claim looks
only at what was recorded since: requests of other campaigns, and what people said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd

from ..file.store import Store
from ..record.changing import skip
from ..rows.answers import Ints
from ..rows.columns import integers_in, rows_of
from ..rows.contacts import IN_FLIGHT, Contacts, in_realm
from ..rows.persons import NO_PEOPLE, hashed, persons, recorded, secret_of
from ..rows.statements import ANY, NO_ROWS, Guess, Question, Statements, guessed
from ..rows.tables import MAY_HAVE_LEFT, OPTED_OUT, PLANNED, SENDING, SKIPPED
from .rules import Row, Rows, Rules, Standing

Upto = tuple[int, int]  # the latest request, the latest thing that was said
_LATEST = "SELECT coalesce((SELECT max(id) FROM consent), 0), (SELECT count(*) FROM campaign WHERE purged<>0)"
_FARTHEST = 2**62  # beyond every request: between two bounds a server expects few rows, and reads only those


class Holds:
    """The rules at work on one run."""

    def __init__(self, campaign: int, service: str, rules: Rules, clock: Callable[[], int]) -> None:
        self._campaign, self._service, self._rules, self._clock = campaign, service, rules, clock
        self._standing: Standing | None = None
        self._known: Upto = (0, 0)
        self._purged = 0  # how many campaigns were, when their contacts were gathered

    def begin(self, connection: Statements) -> None:
        """Gather what the ledger knows, in a snapshot; where it knows of nobody else, that is left for later."""
        words, self._purged = _latest(connection, ANY)
        sql = "SELECT (SELECT coalesce(max(id), 0) FROM attempt), EXISTS (SELECT 1 FROM opted_out)"
        requests, opted_out = connection.execute(sql).fetchone()
        self._known = requests, words
        if opted_out or self._has_others(connection):
            self._learn(connection)

    def look(self, connection: Statements) -> int:
        """Take in what was recorded since, inside the transaction of a claim; return what was said last.

        With the number of the claim's request it goes to `confirm` when the transaction is on the disk.
        """
        words, purged = _latest(connection, Guess(rows=((self._known[1], self._purged),)))
        others = [guessed(connection, sql, values, NO_ROWS).fetchall() for sql, values in self._since()]
        requests = [request for found in others for request in found if request[2] is not None]
        if purged != self._purged:  # of requests since, nothing may be left but contacts
            self._purged = purged
            self._learn(connection)
        elif requests or words != self._known[1]:
            self._catch_up(connection, requests, words)
        return words

    def confirm(self, upto: Upto) -> None:
        """Know that a transaction which looked so far is recorded."""
        self._known = max(self._known[0], upto[0]), max(self._known[1], upto[1])

    def of(self, chunk: int) -> list[Row]:
        if self._standing is None or chunk not in self._standing.touched:
            return []
        now, standing = self._clock(), self._standing
        first, last = np.searchsorted(standing.rows.chunk, (chunk, chunk + 1)).tolist()
        return [standing.row(place, now) for place in standing.held(slice(first, last), now).tolist()]

    def set_aside(self, store: Store) -> tuple[frozenset[int], int]:
        """Record all rows that are held back now; return the chunks in which they stand, all others elsewhere, and how
        many of them wait.

        With one transaction for all, most claims find their chunk without such rows.
        """
        now, standing = self._clock(), self._standing
        held = NO_PEOPLE if standing is None else standing.held(slice(0, len(standing.rows.chunk)), now)
        if standing is None or not len(held):
            return frozenset(), 0
        chunk = standing.rows.chunk
        mixed, which = np.unique(chunk[held], return_inverse=True)
        others = np.searchsorted(chunk, mixed, "right") - np.searchsorted(chunk, mixed) - np.bincount(which) > 0
        with store.writing("NORMAL") as connection:
            numbers = mixed.copy()
            numbers[others] = _other_chunks(connection, self._campaign, mixed[others].tolist())
            rows = [standing.row(place, now) for place in held.tolist()]
            places = zip(numbers[which].tolist(), chunk[held].tolist(), rows, strict=True)
            _record(connection, self._campaign, places)
        standing.put_aside(held)
        return frozenset(numbers.tolist()), sum(row.until is not None for row in rows)

    def has_stopped(self, connection: Statements, numbers: Sequence[str], *, since: int) -> bool:
        """Say whether one of these people is opted out by what was said since."""
        said = [person for person, out in _said_since(connection, since) if out]
        if not said:
            return False
        people = persons(np.array([*map(int, numbers)], np.int64))
        return bool(
            np.isin(
                self._rules.whose(connection, np.array(said)), [*people, *hashed(people, secret_of(connection))]
            ).any()
        )

    def _learn(self, connection: Statements) -> None:
        standing = Standing(planned(connection, self._campaign, under_way=True), self._rules)
        standing.learn(connection, self._service, but=self._campaign, now=self._clock())
        self._standing = standing

    def _catch_up(self, connection: Statements, requests: list[tuple[int, int, int]], said: int) -> None:
        people = _said_since(connection, self._known[1]) if said != self._known[1] else []
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

    def _since(self) -> list[Question]:
        """Ask, where contacts count, for the requests of others since the latest that is known."""
        if not self._rules.longest:
            return []
        # No join, so that a server reads the latest requests and nothing else, whatever it believes of the tables.
        sql = (
            "SELECT id, campaign, (SELECT body FROM chunk c WHERE c.campaign=a.campaign AND c.chunk=a.chunk) "
            "FROM attempt a WHERE id>? AND id<? AND campaign<>? "
            f"AND (SELECT kind='campaign' AND {in_realm(self._service)} FROM campaign k WHERE k.id=a.campaign)"
        )
        return [(sql, (self._known[0], _FARTHEST, self._campaign, self._service))]

    def _has_others(self, connection: Statements) -> bool:
        """Say whether contacts count, and other campaigns may have any."""
        if not self._rules.longest:
            return False
        sql = (
            f"SELECT EXISTS (SELECT 1 FROM campaign k WHERE {in_realm(self._service)} AND kind='campaign' AND k.id<>? "
            "AND (EXISTS (SELECT 1 FROM attempt a WHERE a.campaign=k.id) "
            "OR EXISTS (SELECT 1 FROM contacts c WHERE c.campaign=k.id)))"
        )
        return bool(connection.execute(sql, (self._service, self._campaign)).fetchone()[0])


def _latest(connection: Statements, guess: Guess) -> tuple[int, int]:
    """Return the number of what was last said, and how many campaigns were purged."""
    said, purged = guessed(connection, _LATEST, (), guess).fetchone()
    return int(said), int(purged)


def planned(connection: Statements, campaign: int, *, under_way: bool = False) -> Rows:
    """Return the planned rows of a campaign; with ``under_way`` those being sent, too, which may be planned again."""
    rows = rows_of(connection, campaign, "number", "body", "state", by_row=True)
    state = rows.pop("state")
    mine = rows[state.isin((PLANNED, SENDING) if under_way else (PLANNED,)).to_numpy(bool)]
    return Rows(*mine.to_numpy("int64").T)


def heed_opt_outs(connection: Statements, campaign: int) -> int:
    """Skip rows that are still to go whose people opted out; return how many."""
    standing = Standing(planned(connection, campaign), Rules())
    standing.learn(connection, "", but=campaign, now=0)  # no rule asks for what was when
    rows = standing.rows
    out = pd.DataFrame({"chunk": rows.chunk[standing.out], "position": rows.position[standing.out]})
    skip(connection, campaign, out, OPTED_OUT)
    return len(out)


def set_aside(connection: Statements, campaign: int, chunk: int, holds: Holds) -> bool:
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


def _record(connection: Statements, campaign: int, rows: Iterable[tuple[int, int, Row]]) -> None:
    """Record by what rows are held back, and move each to a chunk: its new one, and that in which it stands."""
    connection.executemany(
        "UPDATE recipient SET chunk=?, own_state=?, problem=?, not_before=? "
        f"WHERE campaign=? AND chunk=? AND position=? AND own_state={PLANNED}",
        [
            (new, SKIPPED if row.until is None else PLANNED, row.problem, row.until, campaign, chunk, row.position)
            for new, chunk, row in rows
        ],
    )


def _other_chunks(connection: Statements, campaign: int, like: Sequence[int]) -> list[int]:
    """Make another chunk with the body of each of these and return their numbers."""
    first = connection.execute("SELECT max(chunk)+1 FROM chunk WHERE campaign=?", (campaign,)).fetchone()[0]
    numbers = [*range(first, first + len(like))]
    connection.executemany(
        "INSERT INTO chunk (campaign, chunk, body, est_parts, encoding, measure) "
        "SELECT campaign, ?, body, est_parts, encoding, measure FROM chunk WHERE campaign=? AND chunk=?",
        [(number, campaign, one) for number, one in zip(numbers, like, strict=True)],
    )
    return numbers


def _said_since(connection: Statements, latest: int) -> list[tuple[int, bool]]:
    """Return of whom something was recorded since, and whether they are opted out now."""
    found = connection.execute(
        "SELECT DISTINCT person, EXISTS (SELECT 1 FROM opted_out o WHERE o.person=c.person) FROM consent c WHERE id>?",
        (latest,),
    )
    return [(person, bool(out)) for person, out in found]


def _numbers_of(connection: Statements, attempt: int, campaign: int) -> Ints:
    text = connection.execute(
        "SELECT group_concat(coalesce(r.number, 0)) FROM attempt a "
        "JOIN chunk c ON c.campaign=a.campaign AND c.chunk=a.chunk "
        "JOIN recipient r ON r.campaign=c.campaign AND r.chunk=c.chunk WHERE a.id=? AND a.campaign=? "
        f"AND (c.attempt=a.id OR c.state IS NULL AND r.attempt=a.id AND r.own_state IN {MAY_HAVE_LEFT})",
        (attempt, campaign),
    ).fetchone()[0]
    return recorded(integers_in(text))
