"""Compare a plan with the ledger before it is sent: what is recorded of it, and whom the rules hold back now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from ... import _cards as cards
from ..._pandas import STR
from ..._services import name_key, shown
from ..file.store import Store
from ..people.experiments import NO_PEOPLE
from ..reading.cards import until
from ..reading.frames import digits_of
from ..record import approving, changing
from ..record.recording import Planned
from ..rows.answers import Ints
from ..rows.columns import Columns, times
from ..rows.contacts import Realm
from ..rows.persons import persons
from ..rows.statements import Statements
from ..rows.tables import ACCEPTED, IN_DOUBT, MAY_HAVE_LEFT, OPTED_OUT, PLANNED, REJECTED, SENDING, SKIPPED
from ..server.address import Address, in_code
from .rules import CAPPED, HELD_OUT, OTHER_ARM, SAME_TEXT, Row, Rows, Rules, Standing
from .unheeded import Unheeded, together, unheeded

_SHOWN = 3
_ASKED = 1_000_000  # rows
_DONE = (*MAY_HAVE_LEFT, REJECTED, SKIPPED)
_COST = ["est_cost", "est_currency"]
_HELD = ("to", "problem", "not_before", "campaign", *_COST)
_DTYPES = {"to": STR, "problem": STR, "campaign": STR, "est_cost": "float64", "est_currency": STR}


@dataclass(frozen=True, slots=True)
class Prospect:
    """What a send of a plan would meet in a ledger at one moment.

    Attributes:
        path: the ledger's file, or the address of its server.
        service: of the recorded campaign of this name; None where none is recorded.
        to_go: how many recipients a send would text now: still planned, and held back by no rule.
        cost: the estimated cost of their messages by currency, in micro-units; empty where no rate is known.
        reached: how many of the plan's recipients were texted already, or may have been.
        added, changed, gone, left_out: recipients that the plan has and the record does not; that are still planned
            with another message; that are still planned and the plan lacks; and that it leaves out now.
        held: rows that a rule holds back, by the plan's row label: ``to, problem`` (str), ``not_before`` (UTC; missing
            for good), ``campaign`` (str: whose message it was), and the plan's ``est_cost`` (float64) and
            ``est_currency`` (str).
        other: the campaign of this name is recorded with a different plan; told of plans larger than memory alone.
        trouble: why the ledger could not be asked; then nothing else is known.
        unheeded: experiments that are not over, whose holdout the plan would text: it is none of their campaigns.
        approval: how the campaign stands to a second person's approval, in words; empty where none is needed.
    """

    path: Path | Address
    service: str | None = None
    to_go: int = 0
    cost: Mapping[str, int] = field(default_factory=dict)
    reached: int = 0
    added: int = 0
    changed: int = 0
    gone: int = 0
    left_out: int = 0
    held: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=_HELD), repr=False)
    trouble: str = ""
    other: bool = False
    approval: str = ""
    unheeded: tuple[Unheeded, ...] = ()

    def figures(self) -> tuple[tuple[str, str], ...]:
        """Return how many a send would text now, and what that is estimated to cost, for a card."""
        known = [cards.about(cost / 1_000_000, currency) for currency, cost in self.cost.items()]
        cost = " and ".join(known) or ("unknown" if self.to_go else cards.MISSING)
        of = "recipient" if self.to_go == 1 else "recipients"
        return (f"{of} to go now", cards.number(self.to_go)), ("cost of these, estimated", cost)

    def notes(self) -> list[cards.Note]:
        if self.trouble:
            return [cards.Note("!", f"The ledger {self.path} was not asked: {self.trouble}")]
        asked = [cards.Note("i" if self.approval.startswith("Approved") else "!", self.approval)] * bool(self.approval)
        texted = [cards.Note("i" if one.exempt else "!", one.sentence()) for one in self.unheeded]
        return [*self._changes(), *asked, *self.holds(), *texted]

    def _changes(self) -> list[cards.Note]:
        if self.service is None:
            return []
        texts: list[tuple[Literal["!", "i"], int, str]] = [
            ("i", self.reached, "already reached by this campaign, or in doubt"),
            ("!", self.changed, "not yet sent with another text than recorded"),
            ("!", self.added, "not in the recorded campaign"),
            ("!", self.gone, "not yet sent and not in the plan"),
            ("i", self.left_out, "not yet sent and left out by this plan"),
        ]
        lines = [cards.Note(sign, f"{_people(many)} {text}.") for sign, many, text in texts if many]
        if self.changed or self.added or self.gone:
            call = changing.advice(self.changed, self.added, self.gone, ledger=in_code(self.path))
            lines.append(cards.Note("!", f"Send refuses this plan until the campaign follows it: {call}"))
        if self.other:
            lines.append(cards.Note("!", "It is recorded with a different plan: send refuses this one."))
        lines.insert(0, cards.Note("i", f"This campaign is recorded, for {shown(self.service)}."))
        return lines

    def holds(self) -> list[cards.Note]:
        return [self._hold(problem, said) for problem, said in _SAID.items() if self.held["problem"].eq(problem).any()]

    def _hold(self, problem: str, said: str) -> cards.Note:
        rows = self.held[self.held["problem"].eq(problem).to_numpy()]
        by = rows["campaign"].dropna().unique().tolist()
        names = ", ".join(map(repr, by[:_SHOWN])) + (" ..." if len(by) > _SHOWN else "")
        when = until(rows["not_before"].min(), rows["not_before"].max())
        return cards.Note("!", f"{_people(len(rows))} {said}{f' ({names})' if by else ''}{when}.")


_SAID = {
    OPTED_OUT: "opted out and will be skipped",
    HELD_OUT: "will be skipped: an experiment holds them out",
    OTHER_ARM: "will be skipped: the experiment has them in another arm",
    SAME_TEXT: "had the same message lately",
    CAPPED: "had as many messages as the policy allows",
}


def _people(many: int) -> str:
    return cards.counted(many, "recipient")


def prospect(store: Store, plan: Planned, *, service: str | None, repeat_text: bool, now: int) -> Prospect:
    """Compare a plan with a ledger, see `Ledger.prospect`."""
    with store.reading() as connection:
        found = connection.execute(
            "SELECT CASE WHEN name_key=? AND purged=0 THEN id END, service FROM campaign WHERE kind='campaign' "
            "AND service=coalesce(?, service) ORDER BY name_key=? AND purged=0 DESC, id DESC LIMIT 1",
            (name_key(plan.campaign), service, name_key(plan.campaign)),
        ).fetchone()
    number, where = found or (None, service)
    rules = Rules.of(plan.policy, campaign=plan.campaign, repeat_text=repeat_text)
    asked: Callable[..., Prospect] = _in_pieces if plan.folder is not None else _in_memory
    found = asked(store, plan, campaign=number, service=where, rules=rules, now=now)
    approval = approving.state(store, number)
    if approval and not approval.startswith("Approved"):
        found = replace(found, to_go=0, cost={})
    return replace(found, approval=approval)


def _in_memory(
    store: Store, plan: Planned, *, campaign: int | None, service: str | None, rules: Rules, now: int
) -> Prospect:
    """Compare a plan with the ledger for one service; ``campaign`` is the recorded campaign of its name."""
    with store.snapshot() as connection:
        rows = plan.rows
        going = rows["status"].eq("planned").to_numpy().copy()
        found = None if campaign is None else changing.compare(connection, campaign, plan)
        added = found.added if found else np.zeros(0, np.int64)
        if found is not None:
            done = found.recorded.index[found.recorded["state"].ne(PLANNED).to_numpy()]
            going = going & ~np.isin(found.people, done.to_numpy())
        places = np.flatnonzero(going)
        standing = Standing(_rows(np.asarray(plan.body_keys), rows, places), rules)
        standing.learn(connection, Realm(service or ""), but=campaign, now=now)
        names = dict(connection.execute("SELECT id, name FROM campaign").fetchall())
        held = [standing.row(place, now) for place in standing.held(slice(0, len(places)), now).tolist()]
        texted = unheeded(connection, rules.campaign, standing, marketing=rules.marketing, now=now)
    told = _held(rows, held, standing, names)
    going[[row.position for row in held]] = going[added] = False
    to_go, cost = int(going.sum()), _cost(rows[going])
    if found is None:
        return Prospect(store.path, to_go=to_go, cost=cost, held=told, unheeded=texted)
    known = np.isin(found.people, found.recorded.index[found.recorded["state"].isin(MAY_HAVE_LEFT)].to_numpy())
    return Prospect(
        store.path,
        service=service,
        to_go=to_go,
        cost=cost,
        reached=int(known.sum()),
        added=len(found.added),
        changed=len(found.changed),
        gone=len(found.gone),
        left_out=len(found.dropped),
        held=told,
        unheeded=texted,
    )


def _in_pieces(
    store: Store, plan: Planned, *, campaign: int | None, service: str | None, rules: Rules, now: int
) -> Prospect:
    """Compare a plan larger than memory with the ledger: whom the rules hold back, and whom it reached already."""
    done = NO_PEOPLE if campaign is None else digits_of(store, campaign, _DONE).to_numpy("int64")
    with store.snapshot() as connection:
        names = dict(connection.execute("SELECT id, name FROM campaign").fetchall())
        known = None
        if campaign is not None:
            known = connection.execute("SELECT fingerprint FROM campaign WHERE id=?", (campaign,)).fetchone()[0]
        told, texted = [Prospect(store.path).held], []
        to_go, cost = 0, Counter[str]()
        for rows, keys in _millions(plan):
            going = ~np.isin(rows["to"].str[1:].astype("int64").to_numpy(), done)
            places = np.flatnonzero(going)
            standing = Standing(_rows(keys, rows, places), rules)
            standing.learn(connection, Realm(service or ""), but=campaign, now=now)
            held = [standing.row(place, now) for place in standing.held(slice(0, len(places)), now).tolist()]
            texted.append(unheeded(connection, rules.campaign, standing, marketing=rules.marketing, now=now))
            if held:
                told.append(_held(rows, held, standing, names))
            going[[row.position for row in held]] = False
            to_go += int(going.sum())
            cost.update(_cost(rows[going]))
    frame = pd.concat(told[1:]) if told[1:] else told[0]
    if campaign is None:
        return Prospect(store.path, to_go=to_go, cost=cost, held=frame, unheeded=together(texted))
    reached, other = len(digits_of(store, campaign, MAY_HAVE_LEFT)), known != plan.fingerprint
    if other:
        to_go, cost = 0, Counter()
    return Prospect(store.path, service, to_go, cost, reached, held=frame, other=other, unheeded=together(texted))


def _millions(plan: Planned) -> Iterator[tuple[pd.DataFrame, np.ndarray]]:
    """Give the planned rows in larger pieces, for each of which the ledger is asked once."""
    waiting: list[pd.DataFrame] = []
    keys = np.zeros(0, np.int64)
    for piece in plan.pieces():
        if piece.wordings is None:
            continue
        keys = piece.keys
        waiting.append(piece.rows[["to", "body", *_COST]].set_axis(piece.position))
        if sum(map(len, waiting)) >= _ASKED:
            yield pd.concat(waiting), keys
            waiting = []
    if waiting:
        yield pd.concat(waiting), keys


def _rows(keys: np.ndarray, rows: pd.DataFrame, places: np.ndarray) -> Rows:
    mine = rows.iloc[places]
    body = keys[mine["body"].to_numpy("int64")]
    number = mine["to"].str[1:].astype("int64").to_numpy()
    return Rows(np.zeros(len(places), np.int64), places.astype(np.int64), np.array(number), body)


def _cost(rows: pd.DataFrame) -> dict[str, int]:
    """Return the estimated cost of rows by currency, in micro-units."""
    known = rows[rows["est_cost"].notna().to_numpy()]
    micros = (known["est_cost"] * 1_000_000).round().astype("int64")
    return {str(currency): int(cost) for currency, cost in micros.groupby(known["est_currency"]).sum().items()}


def _held(rows: pd.DataFrame, held: list[Row], standing: Standing, names: dict[int, str]) -> pd.DataFrame:
    at = [row.position for row in held]
    by = dict(zip(standing.rows.position.tolist(), standing.by.tolist(), strict=True))
    frame = pd.DataFrame(
        {
            "to": rows["to"].iloc[at].to_numpy(object),
            "problem": [row.problem for row in held],
            "not_before": times(pd.Series([row.until for row in held], dtype="Int64")).array,
            "campaign": [None if row.until is None else names.get(by[row.position]) for row in held],
            **{name: rows[name].iloc[at].to_numpy(object) for name in _COST},
        },
        index=rows.index[at],
    )
    return frame.astype(_DTYPES)


RECENT = 7 * 86_400_000_000  # microseconds: what has rested longer is taken for given up
_REACHED = (SENDING, ACCEPTED, IN_DOUBT)

# Only the chunks that are not kept as a whole are looked into: a campaign of a million rows that is finished costs the
# reading of its chunks.
_FOUND = f"""
SELECT id, name FROM campaign k WHERE service=? AND kind='campaign' AND purged=0 AND id IS NOT ?
AND max(created_at, coalesce((SELECT max(started_at) FROM attempt a WHERE a.campaign=k.id), 0))>=?
AND EXISTS (
  SELECT 1 FROM chunk c WHERE c.campaign=k.id AND c.state IS NULL
  AND EXISTS (SELECT 1 FROM recipient r WHERE r.campaign=c.campaign AND r.chunk=c.chunk AND r.own_state={PLANNED})
) ORDER BY id DESC
"""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A campaign with rows to go that has people of a plan.

    Attributes:
        campaign: its name.
        to_go: how many rows it has still to send.
        texted: how many of the plan's people it may have reached.
        both: how many of the plan's people it may have reached or has still to text.
    """

    campaign: str
    to_go: int
    texted: int
    both: int


def unfinished(store: Store, plan: Planned, *, campaign: int | None, service: str, now: int) -> list[Unfinished]:
    """Return the campaigns of a service that have rows to go and people of the plan, the latest first.

    ``campaign`` is the plan's own, which does not count.
    """
    with store.snapshot() as connection:
        found = connection.execute(_FOUND, (service, campaign, now - RECENT)).fetchall()
        people = _planned_people(plan) if found else np.array([], np.int64)
        meetings = [_meeting(connection, number, name, people) for number, name in found]
    return [one for one in meetings if one.both]


def _planned_people(plan: Planned) -> Ints:
    rows = plan.rows
    to = rows.loc[rows["status"].eq("planned").to_numpy(), "to"]
    return persons(np.array(to.str[1:].astype("int64")))


def _meeting(connection: Statements, campaign: int, name: str, people: Ints) -> Unfinished:
    columns = Columns(("number", "chunk", "position", "state"), ())
    columns.read(connection, campaign)
    rows = columns.series()
    state = rows["state"].to_numpy("int64")
    known = persons(rows["number"].fillna(0).to_numpy("int64"))
    reached, waits = np.isin(state, _REACHED), state == PLANNED
    met = np.isin(known, people) & (state != SKIPPED)
    return Unfinished(
        name, to_go=int(waits.sum()), texted=int((met & reached).sum()), both=int((met & (reached | waits)).sum())
    )
