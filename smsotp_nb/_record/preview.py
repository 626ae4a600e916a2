"""What the next send does with each row of a plan's list, if nothing fails. Nothing is recorded."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from .. import _cards as cards
from .._pandas import STR
from .._results.contract import STATES
from .._services import name_key, shown
from .._showing import label as row_label
from . import revision, send_rules
from .address import Address
from .recording import Planned, PlannedPeople
from .send_rules import CAPPED, SAME_TEXT, SendRules, group_others, hold_state
from .store import Store, Transaction
from .tables import CAMPAIGN, MAY_HAVE_LEFT, OPTED_OUT, PLANNED

REFUSED: Final = "REFUSED"  # the problem of rows whose plan send refuses as it is
_SHOWN: Final = 3  # row labels and campaigns of a line
_TEXTED: Final = tuple(STATES[state] for state in MAY_HAVE_LEFT)
_ROWS: Final[Mapping[str, Any]] = {
    "status": STR, "problem": STR, "not_before": "datetime64[us, UTC]", "campaign": STR
}  # fmt: skip
LINES: Final[Mapping[str, Any]] = {
    "status": STR, "problem": STR, "rows": "Int64", "first_rows": STR, "earliest": "datetime64[us, UTC]",
    "latest": "datetime64[us, UTC]", "campaigns": STR,
}  # fmt: skip
_ORDER: Final = ("planned", "sending", "accepted", "in_doubt", "rejected", "skipped")

# What limits say of rows that may go, by ``to, region, chunk, est_cost, est_currency``: None, or what holds one back.
Admit = Callable[[pd.DataFrame], "np.ndarray[Any, np.dtype[Any]]"]


@dataclass(frozen=True, slots=True)
class SendPreview:
    """What the next send of a plan does with each row of its list: one value for all that shows it.

    Attributes:
        path: the ledger's file, or the address of its server; None where no ledger was asked.
        lines: how many rows there are of each kind; together they are the rows of the list. ``status, problem`` (str),
            ``rows`` (Int64), ``first_rows`` (str: the labels of the first three), ``earliest, latest`` (UTC: when they
            may go) and ``campaigns`` (str: whose messages hold them back). Rows that are ``planned`` without a problem
            go now.
        rows: the same by row label: ``status, problem`` (str), ``not_before`` (UTC), ``campaign`` (str).
        cost: the estimated cost of those to go now by currency, in millionths; under "" how many have no rate.
        service: of the recorded campaign of this name; None where none is recorded.
        added, changed, gone: recipients that the plan has and the record does not; that are still planned with another
            message; and that are still planned and the plan lacks.
        refused: why send refuses the plan as it is; empty where it takes it.
        trouble: why the ledger could not be asked; then only the plan is known.
    """

    path: Path | Address | None
    lines: pd.DataFrame = field(default_factory=lambda: _empty(LINES))
    rows: pd.DataFrame = field(default_factory=lambda: _empty(_ROWS), repr=False)
    cost: Mapping[str, int] = field(default_factory=dict)
    service: str | None = None
    added: int = 0
    changed: int = 0
    gone: int = 0
    refused: str = ""
    trouble: str = ""

    @property
    def to_go(self) -> int:
        """How many recipients the next send texts."""
        return self._count(self.lines["status"].eq("planned") & self.lines["problem"].isna())

    @property
    def waiting(self) -> int:
        """How many recipients are to be texted later, because something holds them back now."""
        return self._count(self.lines["status"].eq("planned") & self.lines["problem"].notna())

    @property
    def reached(self) -> int:
        """How many of the plan's recipients were texted already, or may have been."""
        return self._count(self.lines["status"].isin(_TEXTED))

    def _count(self, chosen: pd.Series) -> int:
        return int(self.lines.loc[chosen.to_numpy(bool), "rows"].sum())

    def money(self) -> str:
        """Return the estimated cost of those to go now in words; empty where no rate is known."""
        amounts = [cards.about(cost / 1_000_000, currency) for currency, cost in self.cost.items() if currency]
        unrated = self.cost.get("", 0)
        if amounts and unrated:
            amounts.append(f"{unrated:,} without a rate")
        return " and ".join(amounts)

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
        notes = []
        if self.service:
            notes.append(cards.Note("i", f"This campaign is recorded, for {shown(self.service)}."))
        for text, number in (
            ("not yet sent with another text than recorded", self.changed),
            ("not in the recorded campaign", self.added),
            ("not yet sent and not in the plan", self.gone),
        ):
            if number:
                notes.append(cards.Note("!", f"{_people(number)} {text}."))
        if self.refused:
            notes.append(cards.Note("!", self.refused))
        return notes


def _people(number: int) -> str:
    return cards.counted(number, "recipient")


def _empty(types: Mapping[str, Any]) -> pd.DataFrame:
    return pd.DataFrame({name: [] for name in types}).astype(dict(types))


def preview(
    store: Store,
    plan: Planned,
    *,
    realm: str | None,
    repeat_text: bool,
    now: int,
    ledger: str = "",
    revised: bool = False,
    admit: Admit | None = None,
) -> SendPreview:
    """Compare a plan with a record.

    Args:
        store: the record.
        plan: the plan.
        realm: whose campaigns count; by default those of the live accounts.
        repeat_text: whether people may have a text again.
        now: the time that counts.
        ledger: the argument that names the record in a line of code, where that needs one.
        revised: as if the recorded campaign had followed the plan.
        admit: which of the rows that may go the limits of the send admit.
    """
    realm = realm or "live"
    planned = plan._as_planned
    fates = _Fates(planned)
    added = changed = gone = 0
    refused = service = None
    with store.reading() as tx:
        rows = tx.rows(
            f"SELECT id, service, purged, name FROM campaign WHERE kind='{CAMPAIGN}' AND realm=? AND name_key=?",
            (realm, name_key(plan.campaign)),
        )
        campaign = None
        if rows:
            campaign, service, purged, name = rows[0]
            refused = _never_sent(plan, name, is_purged=bool(purged))
            if purged:
                campaign = None
        if campaign is not None:
            difference = revision.compare(store, tx, campaign, plan)
            added, changed, gone = len(difference.added), len(difference.changed), len(difference.gone)
            refused = refused or _refused(tx, campaign, plan, difference, ledger=ledger, revised=revised)
            fates.recall(tx, campaign, difference)
        others = plan._held.others
        rules = SendRules.of(
            plan._policy,
            realm=realm,
            repeat_text=repeat_text,
            others=group_others(store.persons(others[0]), store.persons(others[1])),
        )
        people = PlannedPeople.of(store, plan)
        fates.hold_back(tx, rules, people, campaign=campaign, now=now)
    if refused:
        fates.hold_all(REFUSED)
    if admit is not None:
        fates.admit(planned, admit)
    return SendPreview(
        store.path,
        fates.lines(),
        fates.frame(),
        estimated_cost(planned[fates.going]),
        service=service,
        added=added,
        changed=changed,
        gone=gone,
        refused=refused or "",
    )


def without_ledger(plan: Planned, *, path: Path | Address | None = None, trouble: str = "") -> SendPreview:
    """Return what a plan comes to where no ledger is asked: all that is planned goes."""
    planned = plan._as_planned
    fates = _Fates(planned)
    return SendPreview(path, fates.lines(), fates.frame(), estimated_cost(planned[fates.going]), trouble=trouble)


def limited(preview: SendPreview, planned: pd.DataFrame, admit: Admit) -> SendPreview:
    """Return what becomes of the rows of a plan, ``planned``, where limits admit only some of those to go."""
    fates = _Fates(preview.rows)
    fates.problem[:] = preview.rows["problem"].to_numpy(object)
    fates.not_before[:] = preview.rows["not_before"].dt.tz_localize(None).to_numpy("datetime64[us]")
    fates.campaign[:] = preview.rows["campaign"].to_numpy(object)
    fates.going &= pd.isna(fates.problem)
    fates.admit(planned, admit)
    return dataclasses.replace(
        preview, lines=fates.lines(), rows=fates.frame(), cost=estimated_cost(planned[fates.going])
    )


def _never_sent(plan: Planned, name: str, *, is_purged: bool) -> str:
    """Say why a campaign of this name is never sent, whatever the plan has; empty where it may be."""
    if is_purged:
        return "The campaign of this name was purged and is never sent again: choose another name."
    if name != plan.campaign:
        return f"Another campaign is recorded as {name!r}, which differs only in spelling: send refuses this one."
    return ""


def _refused(
    tx: Transaction, campaign: int, plan: Planned, difference: revision.Difference, *, ledger: str, revised: bool
) -> str:
    if revised:
        is_late = len(difference.added) and revision.is_withdrawn(tx, campaign)
        if not is_late and not len(difference.gone) and not revision.texted_elsewhere(plan, difference):
            return ""
    elif revision.takes(tx, campaign, plan, difference):
        return ""
    return f"Send refuses this plan; {revision.advice(tx, campaign, plan, difference, ledger=ledger)}"


class _Fates:
    """What becomes of the rows of a plan, as arrays with an entry a row; ``going`` marks those to be texted now."""

    def __init__(self, planned: pd.DataFrame) -> None:
        size = len(planned)
        self.index = planned.index
        self.status = planned["status"].to_numpy(object).copy()
        self.problem = planned["problem"].to_numpy(object).copy()
        self.problem[pd.isna(self.problem)] = None
        self.not_before = np.full(size, "NaT", "datetime64[us]")
        self.campaign = np.full(size, None, object)
        self.going = planned["status"].eq("planned").to_numpy().copy()

    def recall(self, tx: Transaction, campaign: int, difference: revision.Difference) -> None:
        """Write on the rows what became of those that are recorded and no longer to go."""
        rows = tx.rows(
            f"SELECT person, state, problem FROM recipient WHERE campaign=? AND state<>{PLANNED}", (campaign,)
        )
        place = difference.place
        for person, state, problem in rows:
            at = place.get(person)
            if at is not None:
                self.status[at], self.problem[at], self.going[at] = STATES[state], problem, False

    def hold_back(
        self, tx: Transaction, rules: SendRules, people: PlannedPeople, *, campaign: int | None, now: int
    ) -> None:
        """Write on rows that would go which rule holds them back, and until when."""
        people = people.take(np.flatnonzero(self.going[people.place]))
        state = hold_state(tx, rules, people.person, people.body, campaign=campaign, now=now)
        names = dict(tx.rows("SELECT id, name FROM campaign"))
        out = people.place[state.opted_out]
        self.status[out], self.problem[out] = "skipped", OPTED_OUT
        is_held = (state.until > now) & ~state.opted_out
        held = people.place[is_held]
        self.problem[held] = np.where(state.same_until[is_held] > now, SAME_TEXT, CAPPED)
        self.not_before[held] = state.until[is_held].astype("datetime64[us]")
        self.campaign[held] = [names.get(number) for number in state.by[is_held].tolist()]
        self.going[out] = self.going[held] = False

    def hold_all(self, problem: str) -> None:
        """Hold back all rows that would go."""
        self.problem[self.going] = problem
        self.going[:] = False

    def admit(self, planned: pd.DataFrame, admit: Admit) -> None:
        """Write on rows that would go what keeps the limits from admitting them."""
        places = np.flatnonzero(self.going)
        if len(places):
            self.problem[places] = admit(planned.iloc[places])
            self.going[places] = pd.isna(self.problem[places])

    def frame(self) -> pd.DataFrame:
        frame = pd.DataFrame(
            {
                "status": pd.array(self.status, STR),
                "problem": pd.array(self.problem, STR),
                "not_before": self.not_before,
                "campaign": pd.array(self.campaign, STR),
            },
            index=self.index,
        )
        frame["not_before"] = frame["not_before"].dt.tz_localize("UTC")
        return frame

    def lines(self) -> pd.DataFrame:
        """Count rows by what becomes of them: first who goes, then who waits, was texted, and is left out."""
        rows = self.frame()
        found = []
        for _, mine in rows.groupby(["status", "problem"], dropna=False, sort=False):
            status, problem = mine[["status", "problem"]].iloc[0]
            names = mine["campaign"].dropna().unique().tolist()
            campaigns = ", ".join(map(repr, names[:_SHOWN]))
            if len(names) > _SHOWN:
                campaigns += " ..."
            until = mine["not_before"]
            labels = ", ".join(map(row_label, mine.index[:_SHOWN].tolist()))
            found.append((status, problem, len(mine), labels, until.min(), until.max(), campaigns or None))
        found.sort(key=_line_order)
        columns = list(zip(*found, strict=True)) if found else [()] * len(LINES)
        typed = zip(LINES.items(), columns, strict=True)
        return pd.DataFrame({name: pd.Series(list(values), dtype=dtype) for (name, dtype), values in typed})


def _line_order(line: tuple[Any, ...]) -> tuple[Any, ...]:
    status, problem, rows, *_ = line
    is_held = not pd.isna(problem)
    return _ORDER.index(status), is_held, -rows, problem if is_held else ""


def estimated_cost(rows: pd.DataFrame) -> dict[str, int]:
    """Return the estimated cost of rows by currency, in millionths, the largest first; then how many have none."""
    known = rows[rows["est_cost"].notna().to_numpy()]
    micros = (known["est_cost"] * 1_000_000).round().astype("int64")
    sums = micros.groupby(known["est_currency"]).sum().sort_values(ascending=False)
    return {str(currency): int(cost) for currency, cost in sums.items()} | {"": len(rows) - len(known)}


RULES: Final = send_rules.RULES
