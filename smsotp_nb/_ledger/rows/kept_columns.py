"""The caller's own columns, as sums are grouped by them: each combination of values that occurs has a number."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from ...errors import UsageError
from .answers import Ints
from .damage import Unfit
from .statements import Question

MOST: Final = 2**20  # combinations; more are people rather than groups of them
BETWEEN: Final = "\x1f"  # stands in no JSON text


class TooMany(UsageError):
    """The values of the columns are people rather than groups of them."""


class Combinations:
    """Combinations of values of these columns, by number; campaigns may have them in other places, or not at all."""

    def __init__(self, names: Sequence[str], *, most: int | None = None) -> None:
        self.names = tuple(names)
        self._most = most or MOST
        self._of_text: dict[str, int] = {}
        self._of_values: dict[str, int] = {}  # as JSON, in which 1, 1.0 and true are three values

    def sql(self, connection: sqlite3.Connection, campaign: int) -> str:
        """Return the SQL of a row's combination: a JSON list of its values.

        Two paths or more make SQLite answer with a list, in which true stays true; the first is given twice.
        """
        there = kept_by(connection, campaign)
        paths = [f"'$[{there.index(name)}]'" if name in there else "'$[999999]'" for name in self.names]
        return f"coalesce(json_extract(kept, {', '.join([paths[0], *paths])}), '[]')"

    def numbers(self, texts: Sequence[str]) -> Ints:
        """Return the number of each combination, as `sql` writes it.

        Raises:
            TooMany: there are more than can be groups.
        """
        for text in dict.fromkeys(texts):
            if text not in self._of_text:
                values = json.loads(text)[1:]
                self._of_text[text] = self.number(values or [None] * len(self.names))
        return np.fromiter(map(self._of_text.__getitem__, texts), dtype=np.int64, count=len(texts))

    def number(self, values: Sequence[Any]) -> int:
        """Return the number of a combination of these values."""
        found = self._of_values.setdefault(json.dumps(values), len(self._of_values))
        if found >= self._most:
            raise TooMany(
                f"{', '.join(map(repr, self.names))} has more than {self._most:,} different values in the ledger; "
                "group by a column that many rows share"
            )
        return found

    def nothing(self) -> int:
        """Return the number of the combination of rows that kept none of the columns."""
        return self.number([None] * len(self.names))

    def values(self) -> list[list[Any]]:
        """Return the values of each combination, by its number."""
        return [json.loads(text) for text in self._of_values]

    def frame(self, numbers: Ints) -> pd.DataFrame:
        """Return the values of combinations, a row each."""
        table = pd.DataFrame(self.values(), columns=list(self.names))
        return table.map(_hashable).iloc[numbers].reset_index(drop=True)


def which_kept(campaign: int) -> Question:
    return "SELECT kept FROM campaign WHERE id=?", (campaign,)


def kept_by(connection: sqlite3.Connection, campaign: int) -> list[str]:
    """Return the names of the columns that a campaign kept."""
    (listed,) = connection.execute(*which_kept(campaign)).fetchone()
    return names_in(listed)


def names_in(listed: str) -> list[str]:
    """Return the names of kept columns, as a campaign's row lists them.

    Raises:
        Unfit: they are none, or one of them stands twice, which no frame of ours has.
    """
    found: list[str] = json.loads(listed)
    sound = isinstance(found, list) and all(isinstance(name, str | int | float | None) for name in found)
    if not sound or len({*found}) < len(found):
        raise Unfit("the names of a campaign's kept columns are none")
    return found


def _hashable(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def known_columns(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the columns that campaigns kept, each once."""
    listed = connection.execute("SELECT kept FROM campaign ORDER BY id").fetchall()
    return list(dict.fromkeys(name for (names,) in listed for name in names_in(names)))
