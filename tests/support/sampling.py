"""Samples of long tables: the same rows for the same seed, spread over the whole table."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pytest

Row = TypeVar("Row")


@dataclass(frozen=True)
class Sample:
    """Which rows of a table a run takes."""

    seed: str
    exhaustive: bool = False

    def __call__(self, rows: Iterable[Row], count: int, name: str = "") -> list[Row]:
        """Return ``count`` rows, one of each stretch of the table: every row has the same chance."""
        table = list(rows)
        if self.exhaustive or count >= len(table):
            return table
        chance = random.Random(f"{self.seed} {name}")
        bounds = [len(table) * number // count for number in range(count + 1)]
        return [table[chance.randrange(begin, end)] for begin, end in itertools.pairwise(bounds)]

    def chosen(self, name: str) -> bool:
        """Return whether it is the turn of what has this name: every other time, and always in an exhaustive run."""
        return self.exhaustive or random.Random(f"{self.seed} {name}").random() < 0.5

    def turned(self, rows: Sequence[Row]) -> Iterator[Row]:
        """Yield the rows again and again, beginning with any of them."""
        begin = random.Random(self.seed).randrange(len(rows))
        return itertools.islice(itertools.cycle(rows), begin, None)


def exclude(
    items: list[pytest.Item],
    sample: Sample,
    *,
    at_most: int | None = None,
    glanced_at: Callable[[pytest.Item], bool] = lambda _: False,
) -> list[pytest.Item]:
    """Take from ``items`` what the sample does not hold, and return it.

    A test marked ``sampled(count)`` runs with so many of its rows; with ``at_most``, every test with no more than that.
    Of those that are glanced at, every other one runs, with one of its rows.
    Of those that run on a ledger in a file and again on a server, every other one does the second.
    Tests of one file on one table take the same rows, so that what a row needs is made once.
    """
    tables: dict[str, list[pytest.Item]] = {}
    for item in items:
        name = item.nodeid.partition("[")[0]
        if sample.chosen(name) or not (glanced_at(item) or item.get_closest_marker("on_server")):
            tables.setdefault(name, []).append(item)
    kept = {
        id(item)
        for name, table in tables.items()
        for most in [1 if glanced_at(table[0]) else at_most or len(table)]
        for item in sample(table, min(_count(table), most), name.partition("::")[0])
    }
    left_out = [item for item in items if id(item) not in kept]
    items[:] = [item for item in items if id(item) in kept]
    return left_out


def _count(table: Sequence[pytest.Item]) -> int:
    mark = table[0].get_closest_marker("sampled")
    return int(mark.args[0]) if mark else len(table)
