"""The arms of a list: drawn by chance, and recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import _cards as cards
from .._ledger import Ledger, Statements, as_recorded, experiments, persons
from .._moments import microseconds
from .._pandas import STR, is_missing, lent
from .._planning import plan
from .._showing import few, spelled
from .._values import no_value
from ..errors import UsageError
from ..problems import in_words
from . import statistics
from .declaring import HOLDOUT, Declared
from .statistics import RED, Ratio, distributions

Shares = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
_KEY: Final = 32  # bytes


def uniform(units: Sequence[str], key: bytes) -> Shares:
    """Return a number from 0 up to 1 for each unit, from its keyed hash."""
    short = blake2b(key, digest_size=_KEY).digest()  # a key of blake2b has 64 bytes at most
    digests = b"".join([blake2b(unit.encode(), key=short, digest_size=8).digest() for unit in units])
    found: Shares = (np.frombuffer(digests, ">u8") >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return found


def drawn(place: Shares, weights: Mapping[str, float]) -> Codes:
    """Return the number of each unit's arm, in the order of ``weights``, from its place between 0 and 1.

    The arms lie side by side in the order of their names, so the order in which they were declared changes nothing.

    Example:
        >>> drawn(np.array([0.05, 0.2, 0.9]), {"plain": 50, "holdout": 10, "emoji": 40}).tolist()
        [2, 2, 0]
    """
    names = [*weights]
    order = sorted(range(len(names)), key=names.__getitem__)
    bounds = np.cumsum([weights[names[code]] for code in order])
    found = np.searchsorted(bounds[:-1] / bounds[-1], place, side="right")
    return np.array(order, np.int64)[found]


def evenly(place: Shares, strata: Sequence[str], key: bytes) -> Shares:
    """Return places that divide each stratum evenly: its units in the order of their hash, with equal steps between.

    The steps begin at a random point, from a hash of the stratum, so that a unit's chance of an arm is the arm's share,
    however small its stratum is.
    """
    names, code = np.unique(np.asarray(strata, dtype=object), return_inverse=True)
    order = np.lexsort((place, code))
    size = np.bincount(code, minlength=len(names))
    rank = np.empty(len(place), np.int64)
    rank[order] = np.arange(len(place)) - np.repeat(np.cumsum(size) - size, size)
    begins = uniform([f"stratum {name}" for name in names.tolist()], key)
    found: Shares = (rank + begins[code]) / size[code]
    return found


_WORDS = "-"  # sent to nobody: what leaves people out before a draw does not look at the words


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """The rows of a list: whose each is (0 without a usable number), why they may not be drawn, unit and stratum."""

    person: Codes = field(repr=False)
    to: pd.Series = field(repr=False)
    problem: pd.Series
    unit: pd.Series = field(repr=False)
    stratum: pd.Series
    labels: pd.Index = field(repr=False)

    @property
    def may(self) -> npt.NDArray[np.bool_]:
        return self.problem.isna().to_numpy(bool)


def read(frame: pd.DataFrame, asked: Declared, ledger: Ledger, to: str | list[str], how: dict[str, Any]) -> People:
    """Read the people of a list: a plan and the ledger say who may be drawn."""
    made = plan(frame.reset_index(drop=True), _WORDS, to=to, campaign=asked.name, ledger=ledger, **how)
    rows = made.rows
    person = persons(np.array(rows["to"].str[1:].astype("Int64").fillna(0), np.int64))
    unit, stratum = unit_texts(frame[asked.unit]), strata_of(frame, asked.strata)
    return People(person, rows["to"], rows["problem"], unit, stratum, frame.index)


def unit_texts(column: pd.Series) -> pd.Series:
    """Return units as text, whole numbers without a decimal point."""
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "floating" and column.dropna().mod(1).eq(0).all():
        kind, column = "integer", column.astype("Int64")
    if kind == "categorical":
        return unit_texts(column.astype(column.cat.categories.dtype))
    if kind not in ("string", "integer", "empty"):
        raise UsageError(
            f"column {column.name!r} must hold text or whole numbers to be the unit; it holds {kind} values"
        )
    whole = column.astype(object).where(column.notna(), None).map(str, na_action="ignore")
    texts: pd.Series = whole.astype(STR).reset_index(drop=True)
    return texts.mask(texts.str.strip().eq("").fillna(False) | no_value(texts))


def strata_of(frame: pd.DataFrame, names: Sequence[str]) -> pd.Series:
    """Return the stratum of each row: JSON of its values as text, None without strata."""
    if not names:
        return pd.Series([None] * len(frame), dtype=object)
    rows = zip(*(frame[name].array for name in names), strict=True)
    told = (json.dumps([None if is_missing(cell) else spelled(cell) for cell in row]) for row in rows)
    return pd.Series(list(told), dtype=object)


def foreseen(units: pd.Series, asked: Declared, ledger: Ledger) -> pd.Series:
    """Return the arm that each unit will be drawn into, and record nothing; without strata the unit alone decides.

    Raises:
        UsageError: the experiment is recorded with other rules, or the units are neither text nor whole numbers.
    """
    with ledger._store.snapshot() as connection:
        find(connection, asked)
    texts = unit_texts(units)
    codes = drawn(uniform(texts.fillna("").tolist(), asked.key), _numbered(asked))
    codes[texts.isna().to_numpy()] = -1
    return named(codes, asked).set_axis(units.index)


def draw(
    people: People, asked: Declared, ledger: Ledger, *, integers: bool, now: int
) -> tuple[pd.Series, pd.DataFrame]:
    """Record the arms of people who have none yet; return the arm of each row, and everybody who is recorded.

    One transaction: of two processes that draw at once, the second one finds what the first one recorded.

    Raises:
        UsageError: the experiment is recorded with other rules, or a unit would be in two arms.
    """
    place = uniform(people.unit.fillna("").tolist(), asked.key)
    with ledger._store.writing() as connection:
        recorded = find(connection, asked)
        if recorded is None:
            until = None if asked.until is None else microseconds(asked.until)
            written = asked.recorded(integers=integers)
            recorded = experiments.begin(connection, asked.name, written, until=until, now=now)
        known = experiments.assigned(connection, recorded.number)
        index = pd.Index(known["person"])
        places = as_recorded(connection, people.person, index.to_numpy()) if len(index) else people.person
        mine = np.where(people.person == 0, -1, index.get_indexer(pd.Index(places)))
        chosen = _one_row_each(people, known, mine)
        new = np.flatnonzero(people.may & (mine < 0) & (people.person > 0))
        if recorded.purged:
            known = _brought_back(connection, people, recorded, known, mine, chosen, new)
        arm = _arms(people, asked, known, new, place)
        units, strata = people.unit.iloc[new].tolist(), people.stratum.iloc[new].tolist()
        drawn_now = experiments.Drawn(people.person[new], units, arm, strata)
        experiments.add(connection, recorded.number, drawn_now, now=now)
        everybody = experiments.assigned(connection, recorded.number) if len(new) else known
    codes = np.full(len(people.person), -1, np.int64)
    codes[chosen], codes[new] = known["arm"].to_numpy("int64")[mine[chosen]], arm
    return named(codes, asked), everybody


def named(codes: Codes, asked: Declared) -> pd.Series:
    """Return arms by their numbers as text; missing where the number is -1."""
    names = np.array([*_numbered(asked), None], dtype=object)
    found: pd.Series = pd.Series(names[codes], dtype=STR)
    return found


def _numbered(asked: Declared) -> dict[str, float]:
    """Return the share of each arm in the order of its number: the holdout is 0."""
    return {HOLDOUT: asked.holdout, **dict(sorted(asked.arms.items()))}


def find(connection: Statements, asked: Declared) -> experiments.Experiment | None:
    """Return the experiment as it is recorded; None where nobody was drawn yet.

    Raises:
        UsageError: it is recorded with other rules.
    """
    found = experiments.find(connection, asked.name)
    if found is not None and (differences := asked.differences(found.declared)):
        raise UsageError(
            f"experiment {asked.name!r} is recorded differently: {'; '.join(differences)}. Nobody was drawn: with "
            "other rules the same people would be in other arms. Declare it as it is recorded, or give a new "
            "experiment another name"
        )
    return found


def _brought_back(
    connection: Statements,
    people: People,
    recorded: experiments.Experiment,
    known: pd.DataFrame,
    mine: Codes,
    chosen: Codes,
    new: Codes,
) -> pd.DataFrame:
    """Put the people of a list in the place of the hashes that a purge left, if the list has all of them."""
    hidden = experiments.hidden(connection, recorded.number)
    codes = known["person"].to_numpy("int64")[mine[chosen]]
    if not np.isin(hidden, codes).all():
        if len(new):
            raise UsageError(
                f"experiment {recorded.name!r} was purged, so people can be added only by a list that has everybody "
                "who was drawn before. Pass such a list, or declare an experiment of another name"
            )
        return known
    rows = chosen[np.isin(codes, hidden)]
    units, strata = people.unit.iloc[rows].tolist(), people.stratum.iloc[rows].tolist()
    back = experiments.Drawn(people.person[rows], units, np.array([], np.int64), strata)
    experiments.bring_back(connection, recorded.number, codes[np.isin(codes, hidden)], back)
    return experiments.assigned(connection, recorded.number)


def _one_row_each(people: People, known: pd.DataFrame, mine: Codes) -> Codes:
    """Return the row of each recorded person: of several, the first with the recorded unit."""
    rows = np.flatnonzero(mine >= 0)
    theirs = known["unit"].to_numpy(object)[mine[rows]]
    same = np.asarray(pd.isna(theirs) | (theirs == people.unit.to_numpy(object)[rows]), bool)
    strangers = rows[~np.isin(mine[rows], mine[rows[same]])]
    if len(strangers):
        raise UsageError(
            f"the numbers of {_rows(people, strangers)} are recorded in this experiment with another unit, and a "
            "person cannot be in two arms. Use the units with which the arms were drawn, or leave these rows out"
        )
    found = rows[same]
    first: Codes = found[~pd.Series(mine[found]).duplicated().to_numpy()]
    return first


def _arms(people: People, asked: Declared, known: pd.DataFrame, new: Codes, place: npt.NDArray[np.float64]) -> Codes:
    """Draw the arms of these rows: by unit, so that a unit with two numbers is in one arm."""
    if people.unit.iloc[new].isna().any():
        without = new[people.unit.iloc[new].isna().to_numpy()]
        raise UsageError(
            f"column {asked.unit!r} must name the unit of everybody who can be drawn; it is blank in "
            f"{_rows(people, without)}. Fill it in, or leave {'this row' if len(without) == 1 else 'these rows'} out"
        )
    which, units = pd.factorize(people.unit.iloc[new])
    first = new[np.unique(which, return_index=True)[1]]
    recorded = known[known["unit"].notna().to_numpy(bool)].drop_duplicates("unit")
    at = pd.Index(recorded["unit"], dtype=object).get_indexer(pd.Index(units))
    found = np.full(len(units), -1, np.int64)
    found[at >= 0] = recorded["arm"].to_numpy("int64")[at[at >= 0]]
    fresh = np.flatnonzero(at < 0)
    found[fresh] = drawn(_places(people, asked, new, first[fresh], place), _numbered(asked))
    return found[which]


def _places(
    people: People, asked: Declared, new: Codes, first: Codes, place: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    if not asked.strata:
        return place[first]
    both = pd.DataFrame({"unit": people.unit.iloc[new], "stratum": people.stratum.iloc[new]}).drop_duplicates()
    if (twice := both["unit"].duplicated(keep=False).to_numpy()).any():
        raise UsageError(
            f"a unit is in one stratum, and {_rows(people, both.index[twice].to_numpy())} have units that are in two. "
            f"Give every row of a unit the same {' and '.join(map(repr, asked.strata))}"
        )
    return evenly(place[first], people.stratum.iloc[first].tolist(), asked.key)


def _rows(people: People, rows: Codes) -> str:
    return f"{'row' if len(rows) == 1 else 'rows'} {few(people.labels[rows].tolist(), repr)}"


@dataclass(frozen=True, slots=True)
class Overlap:
    """Another experiment that is not read yet: how many people are in both, and how likely such arms are by chance."""

    name: str
    people: int
    p: float

    def note(self) -> cards.Note:
        """Return the overlap as a line of a card."""
        who = f"{cards.counted(self.people, 'person is', 'people are')} in the experiment {self.name!r} too"
        if self.p >= RED:
            return cards.Note("i", f"{who}; its arms are spread evenly over these (p = {self.p:.2g}).")
        return cards.Note(
            "!", f"{who}, and its arms are spread unevenly over these: a difference between arms may be its doing."
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Split(cards.WithCard):
    """A list with its arms, as `Experiment.assign` returns it.

    Attributes:
        experiment: its name.
        sizes: a row for each arm, the holdout last: ``arm`` (str), ``share`` (float64, per cent), ``people`` (Int64:
            recorded in the ledger) and ``here`` (Int64: rows of this list).
        ratio: the sample-ratio check of everybody who is recorded.
        overlaps: other experiments on the same people.
    """

    experiment: str
    sizes: pd.DataFrame
    ratio: Ratio
    overlaps: tuple[Overlap, ...]
    _frame: pd.DataFrame = field(repr=False)
    _left_out: pd.DataFrame = field(repr=False)

    @property
    def frame(self) -> pd.DataFrame:
        """The list with the column ``arm`` (str): an arm, ``holdout``, or missing for who is not in the experiment."""
        return lent(self._frame)

    @property
    def left_out(self) -> pd.DataFrame:
        """The rows without an arm: ``to, problem`` (str), by row label."""
        return lent(self._left_out)

    def texted(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield each arm that is texted with its rows, on their labels; plan each as ``experiment/arm``."""
        for arm in self.sizes["arm"]:
            if arm != HOLDOUT:
                yield arm, self._frame[self._frame["arm"].eq(arm).fillna(False).to_numpy(bool)]

    def card(self) -> cards.Card:
        """Return the split as a card."""
        rows = tuple((arm, f"{share:g}%", int(people), int(here)) for arm, share, people, here in self.sizes.values)
        columns = ("Arm", "Share", "People", "In this list")
        table = cards.Table(columns, rows, ("left", "right", "right", "right"))
        check = cards.Note("cross" if self.ratio.is_red else "check", self.ratio.sentence())
        without = [
            cards.Note("i", f"{cards.counted(int(rows), 'row')} without an arm: {in_words(str(problem))} ({problem}).")
            for problem, rows in self._left_out["problem"].value_counts().items()
        ]
        return cards.Card(
            f"Experiment: {self.experiment}",
            f"{cards.counted(int(self.sizes['here'].sum()), 'person of this list has', 'people of this list have')} "
            "an arm.",
            (table, check, *(one.note() for one in self.overlaps), *without),
            closing=f"Next: plan each arm of texted() as {self.experiment}/ARM. The holdout is never texted, "
            "and nobody by the plan of another arm.",
        )


def split(
    frame: pd.DataFrame,
    people: People,
    arm: pd.Series,
    everybody: pd.DataFrame,
    asked: Declared,
    others: tuple[Overlap, ...],
) -> Split:
    """Put together what an assignment came to."""
    units = everybody[~everybody["unit"].duplicated().to_numpy() | everybody["unit"].isna().to_numpy()]
    recorded = named(units["arm"].to_numpy("int64"), asked)
    names, here, people_of = [*asked.weights], arm.value_counts(), recorded.value_counts()
    table = pd.DataFrame(
        {
            "arm": pd.array(names, dtype=STR),
            "share": [asked.weights[name] for name in names],
            "people": pd.array([int(people_of.get(name, 0)) for name in names], dtype="Int64"),
            "here": pd.array([int(here.get(name, 0)) for name in names], dtype="Int64"),
        }
    )
    without = arm.isna().to_numpy()
    left_out = pd.DataFrame({"to": people.to, "problem": people.problem})[without].set_axis(frame.index[without])
    checked = statistics.check(dict(zip(table["arm"], table["people"].astype(int), strict=True)), asked.weights)
    with_arm = frame.assign(arm=arm.set_axis(frame.index))
    return Split(asked.name, table, checked, others, with_arm, left_out)


def overlaps(connection: Statements, asked: Declared, everybody: pd.DataFrame, *, now: int) -> tuple[Overlap, ...]:
    """Return the other experiments whose outcomes still count for people of this one."""
    found = []
    for other in experiments.everyone(connection):
        if other.name == asked.name:
            continue
        theirs = experiments.assigned(connection, other.number)
        spans = other.window + (0 if other.until is None else other.until - other.created_at)
        open_still = theirs[(theirs["at"] + spans > now).to_numpy()]
        both = everybody[["person", "arm"]].merge(open_still[["person", "arm"]], on="person")
        if len(both):
            # How likely such sizes are if the arms of the two have nothing to do with each other.
            counts = pd.crosstab(both["arm_x"], both["arm_y"]).to_numpy()
            p = float(distributions().chi2_contingency(counts).pvalue) if min(counts.shape) > 1 else 1.0
            found.append(Overlap(other.name, len(both), p))
    return tuple(found)
