"""Outcomes brought to the people they belong to: by unit, and within the window that begins with each person's send.

Who was not sent to (the holdout, and whoever was refused, held back or opted out) gets a ghost time: that of the
nearest person before them in the list to whom a message left, of whatever arm; at the head of the list, of the nearest
one after. So outcomes of all arms are counted over the same stretch of days, though one arm may have gone out in the
morning and another one the day after.

Other campaigns may have texted people of an experiment meanwhile, the holdout too; ``elsewhere`` names them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from .. import _dates as dates
from .. import columns
from .._ledger import Ledger, Store, experiments
from .._pandas import STR
from .._results.contract import money
from .._showing import few
from ..errors import UsageError
from .assigning import find, named
from .declaring import ASSIGNMENT, HOLDOUT, TOLD, Declared
from .statistics import Amounts, Share

UNKNOWN, BEFORE, AFTER = "unit of no arm", "before the send", "after the window"
_MICROSECOND: Final = timedelta(microseconds=1)
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """The people by arm, what each outcome came to, and the rows of outcomes that count for nobody.

    ``arm`` holds the number of each person's arm; ``outcomes`` holds for each outcome the people who have it (numbers
    of rows of the assignment) and how much.
    """

    arms: tuple[str, ...]
    arm: Integers
    outcomes: Mapping[str, tuple[Integers, npt.NDArray[np.float64]]]
    kinds: Mapping[str, str]
    left_out: pd.DataFrame
    counted: int

    def people(self, within: npt.NDArray[np.bool_] | None = None) -> dict[str, int]:
        arm = self.arm if within is None else self.arm[within]
        return dict(zip(self.arms, np.bincount(arm, minlength=len(self.arms)).tolist(), strict=True))

    def measured(self, outcome: str, within: npt.NDArray[np.bool_] | None = None) -> dict[str, Share | Amounts]:
        rows, values = self.outcomes[outcome]
        if within is not None:
            rows, values = rows[within[rows]], values[within[rows]]
        people, of = self.people(within), self.arm[rows]
        if self.kinds[outcome] == "binary":
            counts = np.bincount(of, minlength=len(self.arms)).tolist()
            return {arm: Share(count, people[arm]) for arm, count in zip(self.arms, counts, strict=True)}
        return {arm: Amounts(values[of == code], people[arm]) for code, arm in enumerate(self.arms)}


def joined(
    assigned: pd.DataFrame,
    outcomes: pd.DataFrame,
    asked: Declared,
    *,
    on: Hashable,
    at: Hashable,
    amount: Hashable | None,
) -> Joined:
    """Bring outcomes to the people they belong to; arms that were declared stand in that order.

    Raises:
        UsageError: a column of the outcomes is missing or holds something else.
    """
    kinds = asked.outcomes
    sources = _sources(outcomes, amount, kinds)
    arms, arm = _arms(assigned["arm"], [*asked.weights])
    columns.require(on, outcomes.columns, where="on=")
    row = _rows(assigned["unit"], outcomes[on])
    since = _since(outcomes, at, assigned["at"], row)
    counts = (row >= 0) & (since >= 0) & (since < asked.window // _MICROSECOND)
    found = {name: _of(outcomes, source, kinds[name], row, counts) for name, source in sources.items()}
    why = np.select([row < 0, since < 0], [UNKNOWN, BEFORE], AFTER)
    left_out = outcomes[~counts].assign(problem=pd.array(why[~counts], dtype=STR))
    return Joined(arms, arm, found, kinds, left_out, int(counts.sum()))


def _sources(outcomes: pd.DataFrame, amount: Hashable | None, kinds: Mapping[str, str]) -> dict[str, Hashable | None]:
    """Return the column of each outcome: its own, or that of the amount; None for any row at all."""
    source: dict[str, Hashable | None] = {}
    for name, kind in kinds.items():
        source[name] = name if name in outcomes.columns else None if kind == "binary" else amount
        if kind == "amount" and source[name] is None:
            raise UsageError(f"outcome {name!r} is an amount: name its column, such as amount='spend'")
        if kind == "amount":
            columns.require(source[name], outcomes.columns, where="amount=")
    for kind in ("binary", "amount"):
        alike = [name for name in source if kinds[name] == kind and source[name] != name]
        if len(alike) > 1:
            raise UsageError(
                f"outcomes {' and '.join(alike)} would count the same rows; give each a column of its name"
            )
    for name, column in source.items():
        if column is not None:
            _check_kind(outcomes[column], column, name, kinds[name])
    return source


def _check_kind(cells: pd.Series, column: Hashable, name: str, kind: str) -> None:
    is_flag, is_number = pd.api.types.is_bool_dtype(cells.dtype), pd.api.types.is_numeric_dtype(cells.dtype)
    if not is_flag if kind == "binary" else is_flag or not is_number:
        wanted = "True or False" if kind == "binary" else "numbers"
        raise UsageError(f"column {column!r} must hold {wanted} for the outcome {name!r}; it holds {cells.dtype}")
    wrong = cells.isna() if kind == "binary" else ~np.isfinite(cells.to_numpy("float64", na_value=np.nan))
    labels = cells.index[np.asarray(wrong)]
    if len(labels):
        raise UsageError(
            f"column {column!r} must hold a value in every row; {_none_in(labels)}. "
            "Fill in what is missing, or leave it out"
        )


def _none_in(labels: pd.Index) -> str:
    return f"row {labels[0]} has none" if len(labels) == 1 else f"rows {few(labels.tolist())} have none"


def _arms(column: pd.Series, declared: Sequence[str]) -> tuple[tuple[str, ...], Integers]:
    """Return the arms, as they were declared or first met, the holdout last, and the number of each person's arm."""
    code, names = pd.factorize(column)
    before = [*declared, *names]
    order = sorted(names, key=lambda name: (name == HOLDOUT, before.index(name)))
    return tuple(order), np.array([order.index(name) for name in names], dtype="int64")[code]


def _rows(units: pd.Series, wanted: pd.Series) -> Integers:
    """Return for each outcome the row of its unit in the assignment, -1 where it is of none."""
    there, asked = _arrow(units, "unit"), _arrow(wanted, wanted.name)
    if len(asked) and pa.types.is_integer(there.type) != pa.types.is_integer(asked.type):
        asked = _as_units(asked, there.type, wanted)
    encoded = pc.dictionary_encode(asked.combine_chunks())
    values = encoded.dictionary.cast(there.type) if encoded.dictionary.type != there.type else encoded.dictionary
    known = np.full(len(values) + 1, -1, dtype="int64")
    found = pc.index_in(there, value_set=values).combine_chunks()
    hits = np.flatnonzero(pc.is_valid(found).to_numpy(zero_copy_only=False))
    known[found.take(pa.array(hits)).to_numpy(zero_copy_only=False)] = hits
    code = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    return np.asarray(known[code])


def _as_units(asked: pa.ChunkedArray, kind: pa.DataType, wanted: pd.Series) -> pa.ChunkedArray:
    try:
        if pa.types.is_floating(asked.type):  # whole numbers with a gap
            return asked.cast(kind)
    except pa.ArrowInvalid:
        pass
    raise UsageError(
        f"column {wanted.name!r} must hold the units as the assignment does, as "
        f"{'whole numbers' if pa.types.is_integer(kind) else 'text'}; it holds {wanted.dtype}. "
        "Read both files alike, so that 007 and 7 stay two people"
    )


def _arrow(column: pd.Series, name: Any) -> pa.ChunkedArray:
    """Return a column as Arrow has it, texts as one kind of text."""
    try:
        made = pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise UsageError(
            f"column {name!r} must hold one kind of value, all text or all whole numbers; it holds "
            f"{pd.api.types.infer_dtype(column, skipna=True)} values"
        ) from None
    chunked = made if isinstance(made, pa.ChunkedArray) else pa.chunked_array([made])
    if pa.types.is_dictionary(chunked.type):
        chunked = chunked.cast(chunked.type.value_type)
    is_text = any(is_one(chunked.type) for is_one in (pa.types.is_string, pa.types.is_string_view, pa.types.is_null))
    return chunked.cast(pa.large_string()) if is_text else chunked


def _since(outcomes: pd.DataFrame, at: Hashable, sent: pd.Series, row: Integers) -> Integers:
    """Return the microseconds from the send of its unit to each outcome; of no unit, 0."""
    columns.require(at, outcomes.columns, where="at=")
    found = dates.read(outcomes[at], by_argument=False)
    if found.unclear:
        raise UsageError(f"column {at!r} has {found.unclear}")
    known = ~np.isnat(found.wall)
    if found.wrong or not found.zoned[known].all():
        why = next(iter(found.wrong.values()), "")
        raise UsageError(
            f"column {at!r} must hold times with their zone; it holds {outcomes[at].dtype}{why and f' ({why})'}. "
            f"Write pd.to_datetime(frame[{at!r}], format='%Y-%m-%d %H:%M').dt.tz_localize('Europe/Berlin'), with the "
            "format and the zone the times are in"
        )
    if not known.all():
        raise UsageError(f"column {at!r} must hold a time in every row; {_none_in(outcomes.index[~known])}")
    moments = found.utc("UTC", outcomes.index)
    return np.where(row >= 0, _microseconds(moments) - _microseconds(sent)[np.maximum(row, 0)], 0)


def _microseconds(moments: pd.Series) -> Integers:
    return np.asarray(moments.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy("datetime64[us]").astype("int64"))


def _of(
    outcomes: pd.DataFrame, source: Hashable | None, kind: str, row: Integers, counts: npt.NDArray[np.bool_]
) -> tuple[Integers, npt.NDArray[np.float64]]:
    """Return who has an outcome, and how much of it."""
    values = np.ones(len(row)) if source is None else outcomes[source].to_numpy("float64")
    people, place = np.unique(row[counts & ((values != 0) | (kind == "amount"))], return_inverse=True)
    if kind == "binary":
        return people, np.ones(len(people))
    summed = np.bincount(place, weights=values[counts], minlength=len(people))
    return people, np.asarray(summed, dtype="float64")


def assigned(asked: Declared, ledger: Ledger, *, service: str | None) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return the frame that a reading takes: ``unit, arm, at, contacted, cost, currency, in_doubt, unpriced, elsewhere,
    *strata``, one row a unit; and by arm how many people were forgotten, who are not in it: what they did is not known.

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
    forgotten = people["unit"].isna().to_numpy(bool)
    gone = Counter(named(people.loc[forgotten, "arm"].to_numpy("int64"), asked).tolist())
    people = people[~forgotten].reset_index(drop=True)
    if people.empty:
        raise UsageError(f"everybody of experiment {asked.name!r} was forgotten, so that nothing can be read")
    rows = _sent_rows(people, sent.reindex(people["person"]), asked, integers=json.loads(found.declared)["integers"])
    rows["at"] = people["at"] if by_all else rows["at"].ffill().bfill()
    last = int(rows["at"].max()) + found.window
    rows["elsewhere"] = _elsewhere(store, found, people, service=service, until=max(last, found.until or 0))
    held = rows["arm"].eq(HOLDOUT).to_numpy(bool)
    rows["contacted"] = np.where(held, rows["elsewhere"].notna(), rows["contacted"])
    rows = _one_row_each(rows)
    rows["at"] = pd.to_datetime(rows["at"].astype("int64"), unit="us", utc=True).dt.as_unit("us")
    rows["cost"] = money(rows.pop("micros").astype("Int64")).to_numpy("float64")
    return rows[[*ASSIGNMENT, *TOLD, *asked.strata]], dict(gone)


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


def _sent_rows(people: pd.DataFrame, sent: pd.DataFrame, asked: Declared, *, integers: bool) -> pd.DataFrame:
    found = pd.DataFrame(
        {
            "unit": people["unit"].astype("int64" if integers else STR),
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
    values = np.array([*map(json.loads, combinations)], dtype=object).reshape(-1, len(names))
    return pd.DataFrame({name: pd.array(values[code, at], dtype=STR) for at, name in enumerate(names)})


def _one_row_each(rows: pd.DataFrame) -> pd.DataFrame:
    """Put the numbers of one unit together: its first message, and what all of them were billed."""
    if not rows["unit"].duplicated().any():
        return rows
    groups = rows.groupby("unit", sort=False)
    if (groups["currency"].nunique() > 1).any():
        raise UsageError("some units were billed in two currencies, which are never added together")
    how = dict.fromkeys(rows.columns.drop("unit"), "first") | {"at": "min", "contacted": "any"}
    return groups.agg(how | dict.fromkeys(("micros", "in_doubt", "unpriced"), "sum")).reset_index()
