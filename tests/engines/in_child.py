"""Run a snippet of the guide in this process, which ends with it: the engine's sockets and threads go too.

``python -m tests.engines.in_child ENGINE FOLDER OUT`` writes the rows of the answer to the Parquet file OUT.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "engines.md"


def snippet(heading: str) -> str:
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    found = re.search(r"```py\n(.*?)```", section, flags=re.DOTALL)
    assert found
    return found[1]


def run(heading: str, folder: Path, **names: Any) -> dict[str, Any]:
    given = {"folder": folder, **names}
    exec(compile(snippet(heading), f"{PAGE.name}: {heading}", "exec"), given)
    return given


def spark(folder: Path) -> pd.DataFrame:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder.parent / "warehouse"),
    }
    builder = SparkSession.builder.master("local[2]")  # type: ignore[attr-defined]
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        return pd.DataFrame([row.asDict() for row in run("Spark", folder, spark=session)["cleaned"].collect()])
    finally:
        session.stop()


def dask_with_a_worker_killed(folder: Path) -> pd.DataFrame:
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        future = client.compute(run("Dask", folder)["cleaned"].map_partitions(_slowly))
        victim = next(iter(client.run(os.getpid).values()))
        os.kill(victim, signal.SIGKILL)
        cleaned = future.result(timeout=90)
        assert victim not in client.run(os.getpid).values()
    return cleaned


def _slowly(part: pd.DataFrame) -> pd.DataFrame:
    time.sleep(0.3)  # so that a worker dies with parts under way
    return part


ENGINES = {"spark": spark, "dask": dask_with_a_worker_killed}

if __name__ == "__main__":
    engine, folder, out = sys.argv[1:]
    ENGINES[engine](Path(folder)).to_parquet(out)
