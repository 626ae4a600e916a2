"""The snippets of ``docs/guides/engines.md``, run as they stand there: row by row what pandas answers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import smsotp_nb as sms

from .in_child import run

ROOT = Path(__file__).parents[2]
ROWS, PARTS = 3_000, 6
ANSWER = ["to", "cc", "type", "problem", "note"]
MESSY = [
    "+1 202 555 {n:04}",
    "(415) 555-0100",
    "030 90182{n:04}",
    "0151 2345{n:04}",
    "n/a",
    "+44 7911 12{n:04}",
    "06 12 34 56 78",
    "",
]


@pytest.fixture
def list_() -> pd.DataFrame:
    random = np.random.default_rng(3)
    phones = [random.choice(MESSY).format(n=random.integers(10_000)) for _ in range(ROWS)]
    phones[7] = None  # type: ignore[call-overload]
    country = random.choice(["DE", "US", "FR", "Germany", None], ROWS)
    return pd.DataFrame({"row": range(ROWS), "phone": phones, "country": country})


@pytest.fixture
def folder(list_: pd.DataFrame, tmp_path: Path) -> Path:
    made = tmp_path / "list"
    made.mkdir()
    for number in range(PARTS):
        list_.iloc[number::PARTS].to_parquet(made / f"part-{number}.parquet", index=False)
    return made


def is_what_pandas_answers(cleaned: pd.DataFrame, list_: pd.DataFrame) -> None:
    expected = sms.phones.normalize(list_["phone"], region=list_["country"])
    found = cleaned.sort_values("row", ignore_index=True)
    assert found["row"].tolist() == list_["row"].tolist()
    for name in ANSWER:
        texts = found[name].astype(object).where(found[name].notna(), None).tolist()
        assert texts == expected[name].astype(object).where(expected[name].notna(), None).tolist(), name


def test_polars(folder: Path, list_: pd.DataFrame) -> None:
    cleaned = run("Polars", folder)["cleaned"]
    is_what_pandas_answers(pd.DataFrame(cleaned.to_dicts()), list_)


def test_duckdb(folder: Path, list_: pd.DataFrame) -> None:
    run("DuckDB", folder)
    is_what_pandas_answers(pd.read_parquet(folder / "cleaned.parquet"), list_)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of dask's own
def test_dask(folder: Path, list_: pd.DataFrame) -> None:
    pytest.importorskip("dask.dataframe")
    is_what_pandas_answers(run("Dask", folder)["cleaned"].compute(scheduler="threads"), list_)


@pytest.mark.slow
def test_dask_with_a_worker_that_is_killed(folder: Path, list_: pd.DataFrame) -> None:
    """The scheduler gives the parts of a worker that died to another one; no row is lost or answered twice."""
    pytest.importorskip("distributed")
    is_what_pandas_answers(in_child("dask", folder), list_)


@pytest.mark.slow
def test_spark(folder: Path, list_: pd.DataFrame) -> None:
    pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        if "java" in os.environ.get("SMSOTP_REQUIRE", ""):
            pytest.fail("java is missing")
        pytest.skip("Spark needs Java, which is not on this machine")
    is_what_pandas_answers(in_child("spark", folder), list_)


def in_child(engine: str, folder: Path) -> pd.DataFrame:
    """Return the answer of an engine that leaves threads and sockets behind, run in a process of its own."""
    out = folder.parent / f"{engine}.parquet"
    environment = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder.parent / "spark"),
        "PYSPARK_PYTHON": sys.executable,  # or it starts the first python3 of the path
    }
    command = [sys.executable, "-m", "tests.engines.in_child", engine, str(folder), str(out)]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return pd.read_parquet(out)
