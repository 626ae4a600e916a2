"""The caller's own columns, as sums are grouped by them: each combination of values that occurs has a number."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from ..errors import UsageError
from .answers import Ints

MOST: Final = 2**20  # combinations; more are people rather than groups of them
BETWEEN: Final = "\x1f"  # stands in no JSON text


class Combinations:
    """Combinations of values of these columns, by number; campaigns may have them in other places, or not at all."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._numbers: dict[str, int] = {}

    def sql(self, connection: sqlite3.Connection, campaign: int) -> str:
        """Return the SQL of a row's combination: a JSON list of its values.

        Two paths or more make SQLite answer with a list, in which true stays true; the first is given twice.
        """
        (listed,) = connection.execute("SELECT kept FROM campaign WHERE id=?", (campaign,)).fetchone()
        there = json.loads(listed)
        paths = [f"'$[{there.index(name)}]'" if name in there else "'$[999999]'" for name in self.names]
        return f"coalesce(json_extract(kept, {', '.join([paths[0], *paths])}), '[]')"

    def numbers(self, texts: Iterable[str]) -> Ints:
        """Return the number of each combination.

        Raises:
            UsageError: there are more than can be groups.
        """
        known = self._numbers
        found = np.fromiter((known.setdefault(text, len(known)) for text in texts), dtype=np.int64)
        if len(known) > MOST:
            raise UsageError(
                f"{', '.join(map(repr, self.names))} has more than {MOST:,} different values in the ledger; group by "
                "a column that many rows share"
            )
        return found

    def nothing(self) -> int:
        """Return the number of the combination of rows that kept none of the columns."""
        return int(self.numbers(["[]"])[0])

    def frame(self, numbers: Ints) -> pd.DataFrame:
        """Return the values of combinations, a row each."""
        values = [(json.loads(text) or [None] * (1 + len(self.names)))[1:] for text in self._numbers]
        table = pd.DataFrame(values, columns=list(self.names)) if values else pd.DataFrame(columns=list(self.names))
        return table.map(_hashable).iloc[numbers].reset_index(drop=True)


def _hashable(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def known_columns(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the columns that campaigns kept, each once."""
    listed = connection.execute("SELECT kept FROM campaign ORDER BY id").fetchall()
    return list(dict.fromkeys(name for (names,) in listed for name in json.loads(names)))
