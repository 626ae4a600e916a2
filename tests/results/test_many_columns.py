"""A result file of very many columns: linear work, and a limit that is read off the header."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest
from support.cpu_time import at_most

from smsotp_nb import results
from smsotp_nb.errors import UsageError


def test_a_file_of_more_columns_than_any_table_has_is_refused_at_its_header(tmp_path: Path) -> None:
    """Each column costs milliseconds, and a line of commas makes as many as one likes."""
    (tmp_path / "r.csv").write_text(",".join(results.COLUMNS) + "," * 1_000_000 + "\n")
    with pytest.raises(UsageError, match=r"r\.csv has 1,000,0\d\d columns, and at most 4,000 are read"):
        results.read(tmp_path / "r.csv")


@pytest.mark.parametrize("line", [",".join(["1"] * 20_000), '"",' * 10_000, ',"' * 30_000], ids=["one", "empty", "odd"])
def test_a_row_wider_than_its_header_is_refused_at_once(line: str, tmp_path: Path) -> None:
    """pandas would take each surplus cell for a level of the index, in quadratic time."""
    (tmp_path / "r.csv").write_text(",".join(results.COLUMNS) + f"\n{line}\n")
    with at_most(5), pytest.raises(UsageError, match=r"r\.csv' has a row with more cells than its header"):
        results.read(tmp_path / "r.csv")


def test_a_long_text_in_quotes_takes_no_more_than_a_few_times_its_size(tmp_path: Path) -> None:
    head = ",".join([*results.COLUMNS, "x"])
    row = ["accepted" if name == "status" else "" for name in results.COLUMNS]
    (tmp_path / "r.csv").write_text(f'{head}\n{",".join(row)},"{"x" * 4_000_000}"\n')
    results.read(tmp_path / "r.csv")  # whatever is loaded at first
    tracemalloc.start()
    try:
        assert len(results.read(tmp_path / "r.csv")["x"][0]) == 4_000_000
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 15 * 4_000_000


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_what_is_no_file_is_refused_before_it_is_read(ending: str, tmp_path: Path) -> None:
    folder, pipe, loop = (tmp_path / f"{name}.{ending}" for name in ("folder", "pipe", "loop"))
    folder.mkdir()
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    wanted = {
        folder: "is a folder", pipe: "is a pipe", loop: "file not found", f"~nobody-here/a.{ending}": "file not found",
        f"{tmp_path}/\0.{ending}": "must be the path of a file",
    }  # fmt: skip
    for path, why in wanted.items():
        with at_most(5), pytest.raises(UsageError, match=why):
            results.read(path)
