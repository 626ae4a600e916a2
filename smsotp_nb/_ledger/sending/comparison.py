"""How a plan stands to the ledger: what the next send does with each row of its list, and what keeps it from it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ... import _cards as cards
from ..._pandas import STR
from ..._results.contract import STATES
from ..._services import name_key, shown
from ..._showing import label as called
from ..file.store import Store
from ..reading.frames import digits_of, fates
from ..record import approving, changing
from ..record.recording import Planned
from ..rows.answers import Ints
from ..rows.columns import rows_of
from ..rows.contacts import LIVE
from ..rows.persons import NO_PEOPLE, persons
from ..rows.statements import Statements
from ..rows.tables import ACCEPTED, IN_DOUBT, MAY_HAVE_LEFT, OPTED_OUT, PLANNED, REJECTED, SENDING, SKIPPED
from ..server.address import Address, in_code
from .rules import CAPPED, SAME_TEXT, Rows, Rules, Standing

REFUSED = "REFUSED"  # the problem of rows whose plan send refuses as it is
_SHOWN = 3
_ASKED = 1_000_000  # rows
_DONE = (*MAY_HAVE_LEFT, REJECTED, SKIPPED)
_TEXTED = tuple(STATES[state] for state in MAY_HAVE_LEFT)
RULES = (OPTED_OUT, SAME_TEXT, CAPPED)
_COST = ["est_cost", "est_currency"]
_FATE = {"status": STR, "problem": STR, "not_before": "datetime64[us, UTC]", "campaign": STR}
LINES = {
    **dict.fromkeys(("status", "problem"), STR),
    "rows": "Int64",
    "first_rows": STR,
    **dict.fromkeys(("earliest", "latest"), "datetime64[us, UTC]"),
    "campaigns": STR,
}

# What limits say of rows that may go, by ``to, region, chunk, est_cost, est_currency``: None, or what holds one back.
Admit = Callable[[pd.DataFrame], "np.ndarray[Any, np.dtype[Any]]"]


@dataclass(frozen=True, slots=True)
class Prospect:
    """What the next send of a plan does with each row of its list, if nothing fails: one value for all that shows it.

    Attributes:
        path: the ledger's file, or the address of its server; None where no ledger was asked.
        lines: how many rows there are of each kind; together they are the rows of the list. ``status, problem`` (str),
            ``rows`` (Int64), ``first_rows`` (str: the labels of the first three), ``earliest, latest`` (UTC: when they
            may go) and ``campaigns`` (str: whose messages hold them back). Rows that are ``planned`` without a problem
            go now.
        rows: the same by row label: ``status, problem`` (str), ``not_before`` (UTC), ``campaign`` (str); of the plan of
            a Folder only rows that a rule holds back.
        cost: the estimated cost of those to go now by currency, in micro-units; under "" how many have no rate.
        service: of the recorded campaign of this name; None where none is recorded.
        added, changed, gone: recipients that the plan has and the record does not; that are still planned with another
            message; and that are still planned and the plan lacks.
        refused: why send refuses the plan as it is; empty where it takes it.
        trouble: why the ledger could not be asked; then only the plan is known.
        approval: how the campaign stands to a second person's approval, in words; empty where none is needed.
    """

    path: Path | Address | None
    lines: pd.DataFrame = field(default_factory=lambda: pd.DataFrame({name: [] for name in LINES}).astype(LINES))
    rows: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame({name: [] for name in _FATE}).astype(_FATE), repr=False
    )
    cost: Mapping[str, int] = field(default_factory=dict)
    service: str | None = None
    added: int = 0
    changed: int = 0
    gone: int = 0
    refused: str = ""
    trouble: str = ""
    approval: str = ""

    @property
    def to_go(self) -> int:
        """How many recipients the next send texts."""
        return self._many(self.lines["status"].eq("planned") & self.lines["problem"].isna())

    @property
    def waiting(self) -> int:
        """How many recipients are to be texted later, because something holds them back now."""
        return self._many(self.lines["status"].eq("planned") & self.lines["problem"].notna())

    @property
    def reached(self) -> int:
        """How many of the plan's recipients were texted already, or may have been."""
        return self._many(self.lines["status"].isin(_TEXTED))

    def _many(self, chosen: pd.Series) -> int:
        return int(self.lines.loc[chosen.to_numpy(bool), "rows"].sum())

    def money(self) -> str:
        """Return the estimated cost of those to go now in words; empty where no rate is known."""
        said = [cards.about(cost / 1_000_000, currency) for currency, cost in self.cost.items() if currency]
        unrated = self.cost.get("", 0)
        return " and ".join([*said, *[f"{unrated:,} without a rate"] * bool(unrated)]) if said else ""

    def state(self) -> str:
        """Say how far the campaign is."""
        if not self.reached:
            return "Nothing has been sent."
        were = "was" if self.reached == 1 else "were"
        return f"{_people(self.reached)} {were} texted already, or may have been."

    def notes(self) -> list[cards.Note]:
        """Return what is not a number of rows: the campaign that is recorded, and what send or a person has to know."""
        if self.trouble:
            return [cards.Note("!", f"The ledger {self.path} was not asked: {self.trouble}")]
        recorded = [cards.Note("i", f"This campaign is recorded, for {shown(self.service)}.")] if self.service else []
        texts = (
            ("not yet sent with another text than recorded", self.changed),
            ("not in the recorded campaign", self.added),
            ("not yet sent and not in the plan", self.gone),
        )
        differ = [cards.Note("!", f"{_people(many)} {text}.") for text, many in texts if many]
        refused = [cards.Note("!", self.refused)] * bool(self.refused)
        asked = [cards.Note("i" if self.approval.startswith("Approved") else "!", self.approval)] * bool(self.approval)
        return [*recorded, *differ, *refused, *asked]


def _people(many: int) -> str:
    return cards.counted(many, "recipient")


def prospect(
    store: Store,
    plan: Planned,
    *,
    service: str | None,
    repeat_text: bool,
    now: int,
    revised: bool = False,
    admit: Admit | None = None,
) -> Prospect:
    """Compare a plan with a ledger, see `Ledger._prospect`."""
    whose, values = (LIVE, ()) if service is None else ("service=?", (service,))
    found = store.asked(
        "SELECT CASE WHEN name_key=? THEN id END, service, purged, name FROM campaign WHERE kind='campaign' "
        f"AND {whose} ORDER BY name_key=? DESC, id DESC LIMIT 1",
        (name_key(plan.campaign), *values, name_key(plan.campaign)),
    )
    number, where, purged, name = found[0] if found else (None, service, 0, "")
    refused = _never(plan, name, purged=bool(purged)) if number is not None else ""
    rules = Rules.of(plan._policy, repeat_text=repeat_text, others=plan._held.others)
    approval = approving.state(store, number)
    asked = _Asked(
        store,
        plan,
        campaign=None if purged else number,
        service=where,
        rules=rules,
        now=now,
        revised=revised,
        admit=admit,
        hold=REFUSED if refused else approving.NOT_APPROVED * bool(approval and not approval.startswith("Approved")),
    )
    made = asked.in_pieces() if plan._held.folder is not None else asked.in_memory()
    return dataclasses.replace(made, refused=refused or made.refused, approval=approval)


def _never(plan: Planned, name: str, *, purged: bool) -> str:
    """Say why a campaign of this name is never sent, whatever the plan has; empty where it may be."""
    if purged:
        return "The campaign of this name was purged and is never sent again: choose another name."
    if name != plan.campaign:
        return f"Another campaign is recorded as {name!r}, which differs only in spelling: send refuses this one."
    return ""


def unasked(plan: Planned, *, path: Path | Address | None = None, trouble: str = "") -> Prospect:
    """Return what a plan comes to where no ledger is asked: all that is planned goes."""
    if plan._held.folder is not None:
        pieces = [rows for rows, _ in _millions(plan)]
        total = sum((Counter(_cost(rows)) for rows in pieces), Counter[str]())
        going = pd.DataFrame({"status": ["planned"], "rows": [sum(map(len, pieces))]})
        lines = _merged([going, plan._held.problems.assign(status="skipped")])
        return Prospect(path, lines, cost=dict(total), trouble=trouble)
    planned = plan._as_planned
    rows = _framed(_planned_fates(planned["status"], planned["problem"]), planned.index)
    cost = _cost(planned[planned["status"].eq("planned").to_numpy()])
    return Prospect(path, _lines(rows), rows, cost, trouble=trouble)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A plan and what of a ledger it is held against, for one service.

    ``campaign`` is the recorded campaign of its name; ``hold`` the problem of all rows that would go, if nothing of the
    campaign goes now; ``revised``: as if the campaign had followed the plan.
    """

    store: Store
    plan: Planned
    campaign: int | None
    service: str | None
    rules: Rules
    now: int
    revised: bool
    admit: Admit | None
    hold: str

    def in_memory(self) -> Prospect:
        planned = self.plan._as_planned
        fates = _planned_fates(planned["status"], planned["problem"])
        going = planned["status"].eq("planned").to_numpy().copy()
        found, refused = None, ""
        with self.store.snapshot() as connection:
            if self.campaign is not None:
                found = changing.compare(connection, self.campaign, self.plan)
                refused = self._refused(connection, found)
                _recall(fates, going, connection, self.campaign, found)
            keys = np.asarray(self.plan._held.body_keys)
            self._hold_back(connection, planned, keys, fates, going, refused=refused)
        rows = _framed(fates, planned.index)
        made = Prospect(self.store.path, _lines(rows), rows, _cost(planned[going]), refused=refused)
        if found is None:
            return made
        added, changed, gone = (len(rows) for rows in (found.added, found.changed, found.gone))
        return dataclasses.replace(made, service=self.service, added=added, changed=changed, gone=gone)

    def in_pieces(self) -> Prospect:
        """Compare a plan larger than memory with the ledger."""
        plan, store, campaign = self.plan, self.store, self.campaign
        done = NO_PEOPLE if campaign is None else digits_of(store, campaign, _DONE).to_numpy("int64")
        refused = ""
        told, kept, cost = list[pd.DataFrame](), list[pd.DataFrame](), Counter[str]()
        with store.snapshot() as connection:
            if campaign is not None and not changing.takes_in_pieces(connection, campaign, plan):
                refused = "It is recorded with a different plan: send refuses this one."
            for rows, keys in _millions(plan):
                going = np.full(len(rows), True)
                if not refused:
                    going = ~np.isin(rows["to"].str[1:].astype("int64").to_numpy(), done)
                found, still = _planned_fates(np.full(len(rows), "planned"), np.full(len(rows), None)), going.copy()
                held = self._hold_back(connection, rows, keys, found, going, refused=refused)
                frame = _framed(found, rows.index)
                told.append(_lines(frame[still].sort_index(), str))
                kept.append(frame.iloc[held])
                cost.update(_cost(rows[going]))
        left_out = plan._held.problems.assign(status="skipped")
        known = left_out
        if campaign is not None and not refused:
            known = fates(store, campaign)
            known = known[known["status"].ne("planned").to_numpy()]
            known = known.merge(left_out.drop(columns="rows"), how="left", on=["status", "problem"])
        rows = pd.concat(kept) if kept else Prospect(None).rows
        service = None if campaign is None else self.service
        lines = _merged([*told, known])
        return Prospect(store.path, lines, rows, dict(cost), service=service, refused=refused)

    def _hold_back(
        self,
        connection: Statements,
        rows: pd.DataFrame,
        keys: np.ndarray,
        fates: _Fates,
        going: np.ndarray,
        *,
        refused: str,
    ) -> Ints:
        """Write on rows that would go what holds them back: rules, then all of the campaign, then limits.

        Return the places of those that a rule holds back.
        """
        places = np.flatnonzero(going)
        standing = Standing(_rows(keys, rows, places), self.rules)
        standing.learn(connection, self.service or "", but=self.campaign, now=self.now)
        names = dict(connection.execute("SELECT id, name FROM campaign").fetchall())
        held = standing.held(slice(0, len(places)), self.now)
        for at in held.tolist():
            row = standing.row(at, self.now)
            fates["problem"][row.position] = row.problem
            if row.until is None:
                fates["status"][row.position] = "skipped"
            else:
                fates["not_before"][row.position] = row.until
                fates["campaign"][row.position] = names.get(int(standing.by[at]))
        going[places[held]] = False
        if code := REFUSED if refused else self.hold:
            fates["problem"][going] = code
            going[:] = False
        if self.admit is not None:
            _admit(fates["problem"], going, rows, self.admit)
        return places[held]

    def _refused(self, connection: Statements, found: changing.Difference) -> str:
        assert self.campaign is not None
        if self.revised:
            late = len(found.added) and changing.was_withdrawn(connection, self.campaign)
            if not late and not len(found.gone) and not changing.texted_elsewhere(self.plan, found):
                return ""
        elif changing.takes(connection, self.campaign, self.plan, found):
            return ""
        step = changing.advice(connection, self.campaign, self.plan, found, ledger=in_code(self.store.path))
        return f"Send refuses this plan; {step}"


def limited(prospect: Prospect, planned: pd.DataFrame, admit: Admit) -> Prospect:
    """Return what becomes of the rows of a plan in memory, ``planned``, where limits admit only some of those to go."""
    problem = prospect.rows["problem"].to_numpy(object).copy()
    going = prospect.rows["status"].eq("planned").to_numpy() & prospect.rows["problem"].isna().to_numpy()
    _admit(problem, going, planned, admit)
    rows = prospect.rows.assign(problem=pd.Series(problem, index=prospect.rows.index, dtype=STR))
    return dataclasses.replace(prospect, lines=_lines(rows), rows=rows, cost=_cost(planned[going]))


def _admit(problem: np.ndarray, going: np.ndarray, planned: pd.DataFrame, admit: Admit) -> None:
    """Write on rows that would go what keeps the limits from admitting them."""
    places = np.flatnonzero(going)
    if len(places):
        problem[places] = admit(planned.iloc[places])
        going[places] = pd.isna(problem[places])


_Fates = dict[str, Any]  # the columns of `Prospect.rows` as arrays


def _planned_fates(status: Any, problem: Any) -> _Fates:
    """Return what becomes of rows as nothing but their plan says it."""
    return {
        "status": np.array(status, object),
        "problem": np.array(problem, object),
        "not_before": np.full(len(status), "NaT", "datetime64[us]"),
        "campaign": np.full(len(status), None, object),
    }


def _framed(fates: _Fates, index: pd.Index) -> pd.DataFrame:
    frame = pd.DataFrame(fates, index=index)
    frame["not_before"] = frame["not_before"].dt.tz_localize("UTC")
    return frame.astype(_FATE)


def _recall(
    fates: _Fates, going: np.ndarray, connection: Statements, campaign: int, found: changing.Difference
) -> None:
    """Write on the rows what became of those that are recorded and no longer to go."""
    if not len(found.recorded):
        return
    place = found.recorded.index.get_indexer(pd.Index(found.people))
    state = np.where((place >= 0) & (found.people != 0), found.recorded["state"].to_numpy()[place], PLANNED)
    done = np.flatnonzero(state != PLANNED)
    fates["status"][done] = np.array(STATES, object)[state[done]]
    fates["problem"][done] = changing.problems_of(connection, campaign, found.recorded)[place[done]]
    going[done] = False


def _lines(rows: pd.DataFrame, named: Callable[[Any], str] = called) -> pd.DataFrame:
    """Count rows by what becomes of them."""
    if rows.empty:
        return Prospect(None).lines
    counted = []
    for _, mine in rows.groupby(["status", "problem"], dropna=False, sort=False):
        status, problem = mine[["status", "problem"]].iloc[0]
        first = ", ".join(map(named, mine.index[:_SHOWN].tolist()))
        by = mine["campaign"].dropna().unique().tolist()
        names = ", ".join(map(repr, by[:_SHOWN])) + (" ..." if len(by) > _SHOWN else "")
        until = mine["not_before"]
        counted.append((status, problem, len(mine), first, until.min(), until.max(), names or None))
    columns = zip(LINES.items(), zip(*counted, strict=True), strict=True)
    return _ordered(pd.DataFrame({name: pd.Series(values, dtype=dtype) for (name, dtype), values in columns}))


def _merged(several: list[pd.DataFrame]) -> pd.DataFrame:
    """Add up the lines of several pieces of a list, whose rows are numbered; they come in the order of the requests."""
    whole = pd.concat([lines.reindex(columns=[*LINES]).astype(LINES) for lines in several])
    groups = whole.groupby(["status", "problem"], dropna=False, sort=False)
    added = groups.agg(
        {"rows": "sum", "first_rows": _first, "earliest": "min", "latest": "max", "campaigns": "first"}
    ).reset_index()
    return _ordered(added[added["rows"].gt(0).to_numpy()][[*LINES]].astype(LINES))


def _first(several: pd.Series[str]) -> str | None:
    """Return the first of the rows that several pieces name."""
    places = sorted({int(place) for places in several.dropna() for place in places.split(", ")})
    return ", ".join(map(str, places[:_SHOWN])) or None


def _ordered(lines: pd.DataFrame) -> pd.DataFrame:
    """Put those who go first, then those who wait, the texted, and those left out; of each the most rows first."""
    order = {status: place for place, status in enumerate(("planned", "sending", "accepted", "in_doubt", "rejected"))}
    rank = pd.DataFrame(
        {
            "status": lines["status"].map(order).fillna(len(order)),
            "held": lines["problem"].notna(),
            "rows": -lines["rows"],
            "problem": lines["problem"].fillna(""),
        }
    )
    by = rank.sort_values(["status", "held", "rows", "problem"], kind="stable").index
    return lines.loc[by].reset_index(drop=True)


def _millions(plan: Planned) -> Iterator[tuple[pd.DataFrame, np.ndarray]]:
    """Give the planned rows in larger pieces, for each of which the ledger is asked once."""
    waiting: list[pd.DataFrame] = []
    keys = np.zeros(0, np.int64)
    for piece in plan._held.pieces():
        if piece.wordings is None:
            continue
        keys = piece.keys
        waiting.append(piece.rows[["to", "region", "body", "chunk", *_COST]].set_axis(piece.position))
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
    """Return the estimated cost of rows by currency, in micro-units, the largest first; then how many have none."""
    known = rows[rows["est_cost"].notna().to_numpy()]
    micros = (known["est_cost"] * 1_000_000).round().astype("int64")
    sums = micros.groupby(known["est_currency"]).sum().sort_values(ascending=False)
    return {str(currency): int(cost) for currency, cost in sums.items()} | {"": len(rows) - len(known)}


RECENT = 7 * 86_400_000_000  # microseconds: what has rested longer is taken for given up
_REACHED = (SENDING, ACCEPTED, IN_DOUBT)

# Only the chunks that are not kept as a whole are looked into: a campaign of a million rows that is finished costs the
# reading of its chunks.
_FOUND = f"""
SELECT id, name FROM campaign k WHERE service=? AND kind='campaign' AND purged=0 AND id IS NOT ?
AND greatest(created_at, coalesce((SELECT max(started_at) FROM attempt a WHERE a.campaign=k.id), 0))>=?
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
        if not found:
            return []
        rows = plan._as_planned
        to = rows.loc[rows["status"].eq("planned").to_numpy(), "to"]
        people = persons(np.array(to.str[1:].astype("int64")))
        meetings = [_meeting(connection, number, name, people) for number, name in found]
    return [one for one in meetings if one.both]


def _meeting(connection: Statements, campaign: int, name: str, people: Ints) -> Unfinished:
    rows = rows_of(connection, campaign, "number", "state")
    state = rows["state"].to_numpy("int64")
    known = persons(rows["number"].fillna(0).to_numpy("int64"))
    reached, waits = np.isin(state, _REACHED), state == PLANNED
    met = np.isin(known, people) & (state != SKIPPED)
    return Unfinished(
        name, to_go=int(waits.sum()), texted=int((met & reached).sum()), both=int((met & (reached | waits)).sum())
    )
