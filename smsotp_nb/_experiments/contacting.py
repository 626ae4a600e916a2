"""Who was sent what, as an experiment is read: a row a unit, in the arm that it was assigned to.

Who was not sent to (the holdout, and whoever was refused, held back or opted out) gets a ghost time: that of the
nearest person before them in the list to whom a message left, of whatever arm; at the head of the list, of the nearest
one after. So outcomes of all arms are counted over the same stretch of days, though one arm may have gone out in the
morning and another one the day after.

Other campaigns may have texted people of an experiment meanwhile, the holdout too; ``elsewhere`` names them.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from .._ledger import Ledger, Store, experiments
from .._pandas import STR
from .._results.contract import money
from ..errors import UsageError
from .assigning import find, named
from .declaring import ASSIGNMENT, HOLDOUT, TOLD, Declared


def assigned(asked: Declared, ledger: Ledger, *, service: str | None) -> pd.DataFrame:
    """Return the frame that a reading takes: ``unit, arm, at, contacted, cost, currency, in_doubt, unpriced, elsewhere,
    *strata``, one row a unit.

    Who is held out was contacted if any campaign texted them from their draw to the reading day; others, if the
    experiment's own did.

    Raises:
        UsageError: nobody was drawn or sent to yet, the experiment is recorded with other rules, or as
            `experiments.sent` does.
    """
    store = ledger._store
    with store.snapshot() as connection:
        found = recorded(asked, ledger)
        people = experiments.assigned(connection, found.number)
    by_all = found.until is not None  # a holdout of every campaign: whatever was sent from the draw to its end
    span = (found.created_at, found.until) if by_all else (None, None)
    sent = experiments.sent(store, asked.name, service=service, by_all=by_all, since=span[0], until=span[1])
    if sent.empty:
        campaigns = "no campaign" if by_all else f"its campaigns are called {asked.name}/ARM, and none of them"
        raise UsageError(
            f"nothing was sent in experiment {asked.name!r} yet: {campaigns} has sent anything. "
            "Send the plans of its arms, then read it"
        )
    if found.purged:
        raise UsageError(
            f"experiment {asked.name!r} was purged: of its people only hashes are left. Call assign(frame, to=...) "
            "with the whole list to bring them back into their arms, then read it"
        )
    rows = _rows(people, sent.reindex(people["person"]), asked, integers=json.loads(found.declared)["integers"])
    rows["at"] = people["at"] if by_all else rows["at"].ffill().bfill()
    last = int(rows["at"].max()) + found.window
    rows["elsewhere"] = _elsewhere(store, found, people, service=service, until=max(last, found.until or 0))
    held = rows["arm"].eq(HOLDOUT).to_numpy(bool)
    rows["contacted"] = np.where(held, rows["elsewhere"].notna(), rows["contacted"])
    rows = _one_row_each(rows)
    rows["at"] = pd.to_datetime(rows["at"].astype("int64"), unit="us", utc=True).dt.as_unit("us")
    rows["cost"] = money(rows.pop("micros").astype("Int64")).to_numpy("float64")
    return rows[[*ASSIGNMENT, *TOLD, *asked.strata]]


def _elsewhere(
    store: Store, found: experiments.Experiment, people: pd.DataFrame, *, service: str | None, until: int
) -> pd.Series:
    """Return the campaign that texted each person since they were drawn, apart from those that were to text them."""
    who = people["person"].to_numpy("int64")
    texted = experiments.elsewhere(store, found, who, service=service, since=found.created_at, until=until)
    drawn = people.set_index("person")
    theirs = drawn.loc[texted["person"]]
    held = theirs["arm"].eq(0).to_numpy(bool)
    strange = held if found.until is not None else held | ~texted["own"].to_numpy(bool)
    texted = texted[strange & texted["at"].ge(theirs["at"].to_numpy()).to_numpy(bool)]
    first = texted.drop_duplicates("person").set_index("person")["campaign"]
    return first.reindex(who).astype(STR).reset_index(drop=True)


def recorded(asked: Declared, ledger: Ledger) -> experiments.Experiment:
    """Return the experiment as it is recorded.

    Raises:
        UsageError: nobody was drawn yet, or it is recorded with other rules.
    """
    with ledger._store.snapshot() as connection:
        found = find(connection, asked)
    if found is None:
        raise UsageError(f"experiment {asked.name!r} is not in the ledger {ledger.path}: nobody has an arm yet. "
                         "Call assign(frame, to=...), send the plans of its arms, then read it")  # fmt: skip
    return found


def _rows(people: pd.DataFrame, sent: pd.DataFrame, asked: Declared, *, integers: bool) -> pd.DataFrame:
    found = pd.DataFrame(
        {
            "unit": _units(people["unit"], integers=integers),
            "arm": named(people["arm"].to_numpy("int64"), asked),
            "at": sent["at"].to_numpy("float64"),  # exact: microseconds have 51 bits
            "contacted": sent["at"].notna().to_numpy(),
            "micros": sent["micros"].fillna(0).to_numpy("int64"),
            "currency": sent["currency"].array,
            "in_doubt": sent["in_doubt"].fillna(0).to_numpy("int64"),
            "unpriced": sent["unpriced"].fillna(0).to_numpy("int64"),
        }
    )
    return pd.concat([found, _strata(people["stratum"], asked.strata)], axis=1)


def _strata(recorded: pd.Series, names: tuple[str, ...]) -> pd.DataFrame:
    """Return a column for each stratum, as text; each combination is read once, not for each person."""
    if not names:
        return pd.DataFrame(index=recorded.index)
    code, combinations = pd.factorize(recorded)
    nobody: list[str | None] = [None] * len(names)  # of people who were forgotten
    values = np.array([*map(json.loads, combinations), nobody], dtype=object).reshape(-1, len(names))
    return pd.DataFrame({name: pd.array(values[code, at], dtype=STR) for at, name in enumerate(names)})


def _units(units: pd.Series, *, integers: bool) -> pd.Series:
    """Return units as the list had them; who was forgotten is a unit that no outcome has."""
    forgotten, known = units.isna().to_numpy(), units.copy()
    nobody = range(1, int(forgotten.sum()) + 1)
    known[forgotten] = [-number if integers else f"\0forgotten {number}" for number in nobody]
    return known.astype("int64" if integers else STR)


def _one_row_each(rows: pd.DataFrame) -> pd.DataFrame:
    """Put the numbers of one unit together: its first message, and what all of them were billed."""
    if not rows["unit"].duplicated().any():
        return rows
    groups = rows.groupby("unit", sort=False)
    if (groups["currency"].nunique() > 1).any():
        raise UsageError("some units were billed in two currencies, which are never added together")
    how = dict.fromkeys(rows.columns.drop("unit"), "first") | {"at": "min", "contacted": "any"}
    return groups.agg(how | dict.fromkeys(("micros", "in_doubt", "unpriced"), "sum")).reset_index()
