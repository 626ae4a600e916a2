"""A result file of very many columns: linear work, and a limit that is read off the header."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from smsotp_nb import results
from smsotp_nb._results import files
from smsotp_nb.errors import UsageError


def calls_of(act: Callable[[], object]) -> int:
    """Return how many Python functions a call goes through: the time it takes, on a machine that is never busy."""
    counted = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal counted
        counted += event == "call"

    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(None)
    return counted


def test_putting_many_columns_into_the_index_is_linear_work() -> None:
    """Four times the columns before ``campaign`` are four times the work, not sixteen times."""

    def work(levels: int) -> int:
        frame = pd.DataFrame([["a"] * levels + ["c"]], columns=[*map(str, range(levels)), "campaign"])
        assert files._unflattened(frame).index.names == [*map(str, range(levels))]
        return calls_of(lambda: files._unflattened(frame))

    fixed, few, many = work(2), work(100), work(400)
    assert many - fixed < 6 * (few - fixed)


def test_a_file_of_more_columns_than_any_table_has_is_refused_at_its_header(tmp_path: Path) -> None:
    """Each column costs milliseconds, and a line of commas makes as many as one likes."""
    (tmp_path / "r.csv").write_text(",".join(results.COLUMNS) + "," * 1_000_000 + "\n")
    with pytest.raises(UsageError, match=r"r\.csv has 1,000,0\d\d columns, and at most 4,000 are read"):
        results.read(tmp_path / "r.csv")
