"""What an assignment came to: the frame with its arms, their sizes, and other experiments on the same people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from .. import _cards as cards
from .._ledger import Statements, experiments
from .._pandas import STR, lent
from ..problems import in_words
from . import ratio
from .assigning import People, named
from .declaring import HOLDOUT, Declared
from .library import distributions
from .ratio import RED, Ratio

if TYPE_CHECKING:
    pass


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
        return cards.Card(
            f"Experiment: {self.experiment}",
            f"{cards.counted(int(self.sizes['here'].sum()), 'person', 'people')} of this list have an arm.",
            (table, check, *(one.note() for one in self.overlaps), *self._notes()),
            closing=f"Next: plan each arm of texted() as {self.experiment}/ARM. The holdout is never texted, "
            "and nobody by the plan of another arm.",
        )

    def _notes(self) -> list[cards.Note]:
        counts = self._left_out["problem"].value_counts()
        return [
            cards.Note("i", f"{cards.counted(int(rows), 'row')} without an arm: {in_words(str(problem))} ({problem}).")
            for problem, rows in counts.items()
        ]


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
    table = sizes(arm, recorded, asked)
    without = arm.isna().to_numpy()
    left_out = pd.DataFrame({"to": people.to, "problem": people.problem})[without].set_axis(frame.index[without])
    checked = ratio.check(dict(zip(table["arm"], table["people"].astype(int), strict=True)), asked.weights)
    with_arm = frame.assign(arm=arm.set_axis(frame.index))
    return Split(asked.name, table, checked, others, with_arm, left_out)


def sizes(arm: pd.Series, recorded: pd.Series, asked: Declared) -> pd.DataFrame:
    """Return the size of each arm, in this list and in all."""
    names = [*asked.weights]
    here, people = arm.value_counts(), recorded.value_counts()
    return pd.DataFrame(
        {
            "arm": pd.array(names, dtype=STR),
            "share": [asked.weights[name] for name in names],
            "people": pd.array([int(people.get(name, 0)) for name in names], dtype="Int64"),
            "here": pd.array([int(here.get(name, 0)) for name in names], dtype="Int64"),
        }
    )


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
            found.append(Overlap(other.name, len(both), _by_chance(both["arm_x"], both["arm_y"])))
    return tuple(found)


def _by_chance(mine: pd.Series, theirs: pd.Series) -> float:
    """Return how likely such sizes are if the arms of two experiments have nothing to do with each other."""
    counts = pd.crosstab(mine, theirs).to_numpy()
    return float(distributions().chi2_contingency(counts).pvalue) if min(counts.shape) > 1 else 1.0
