"""The snippets of ``docs/guides/engines.md``, run as they stand there: row by row what pandas answers."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import smsotp_nb as sms

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "engines.md"
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


def snippet(heading: str) -> str:
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    found = re.search(r"```py\n(.*?)```", section, flags=re.DOTALL)
    assert found
    return found[1]


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


def run(heading: str, folder: Path, **names: Any) -> dict[str, Any]:
    given = {"folder": folder, **names}
    exec(compile(snippet(heading), f"{PAGE.name}: {heading}", "exec"), given)
    return given


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
def test_dask_with_workers_that_are_killed(folder: Path, list_: pd.DataFrame) -> None:
    """The scheduler gives the parts of a worker that died to another one; no row is lost or answered twice."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        future = client.compute(run("Dask", folder)["cleaned"].map_partitions(_slowly))
        victim = next(iter(client.run(os.getpid).values()))
        os.kill(victim, signal.SIGKILL)
        is_what_pandas_answers(future.result(timeout=90), list_)
        assert victim not in client.run(os.getpid).values()


def _slowly(part: pd.DataFrame) -> pd.DataFrame:
    import time

    time.sleep(0.3)  # so that a worker dies with parts under way
    return part


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    pyspark = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        if "java" in os.environ.get("SMSOTP_REQUIRE", ""):
            pytest.fail("java is missing")
        pytest.skip("Spark needs Java, which is not on this machine")
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # or it starts the first python3 of the path
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "spark"))
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "2"}
    builder = pyspark.SparkSession.builder.master("local[2]")
    for name, value in {**settings, "spark.sql.warehouse.dir": str(tmp_path / "warehouse")}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_spark(folder: Path, list_: pd.DataFrame, spark: Any) -> None:
    cleaned = run("Spark", folder, spark=spark)["cleaned"].collect()
    is_what_pandas_answers(pd.DataFrame([row.asDict() for row in cleaned]), list_)
