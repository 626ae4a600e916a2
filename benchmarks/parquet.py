"""Cost tables of a hundred million rows: DuckDB over the ledger's Parquet files against a plain pandas script.

    python benchmarks/parquet.py [--rows 100] [--plain 10] [--memory 1GB] [--folder PLACE]

The rows are made, in the schema of `Ledger.to_parquet`: ten different files of a million rows, copied into campaigns of
twelve months until there are so many million. Each side runs in a process of its own and makes the same four tables
(by month and country, by campaign, by the kept column ``segment``, and what the service refused); the plain script
reads the columns that it needs of the first ``--plain`` million rows with pandas and groups them. The tables of both
over these rows are compared first.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from smsotp_nb._ledger.reading import parquet
from smsotp_nb._ledger.reading.parquet import SCHEMA

MILLION = 1_000_000
DIFFERENT = 10
MEASURED = """
import json, sys, time
asked = json.loads(sys.argv[1])
def peak():
    said = dict(line.split(":") for line in open("/proc/self/status"))  # ru_maxrss has the parent's, too
    return int(said["VmHWM"].split()[0]) * 1024 / 1e6
def told(tables, begun, cpu, before):
    print(json.dumps({"seconds": time.perf_counter() - begun, "cpu": time.process_time() - cpu, "peak": peak(),
        "before": before, "tables": tables}))
"""
DUCKDB = (
    MEASURED
    + """
import duckdb
connection = duckdb.connect(config={"memory_limit": asked["memory"]})
connection.execute("SET enable_progress_bar=false")
ROWS = f"read_parquet({asked['files']}, hive_partitioning=true, hive_types_autocast=false)"
SUMS = "currency, count(*) AS messages, sum(parts)::BIGINT AS parts, sum(price)::DOUBLE AS cost"
begun, cpu, before = time.perf_counter(), time.process_time(), peak()
tables = [
    connection.sql(f"SELECT {keys}, {SUMS} FROM {ROWS} WHERE status='accepted' GROUP BY ALL ORDER BY ALL").fetchall()
    for keys in ("month, iso", "campaign", "kept->>'segment' AS segment")
]
tables.append(connection.sql(
    f"SELECT iso, error_code, count(*) FROM {ROWS} WHERE status='rejected' GROUP BY ALL ORDER BY ALL").fetchall())
told(tables, begun, cpu, before)
"""
)
PANDAS = (
    MEASURED
    + """
import pandas as pd
begun, cpu, before = time.perf_counter(), time.process_time(), peak()
names = ["status", "iso", "campaign", "kept", "currency", "parts", "price", "error_code"]
rows = pd.concat([
    pd.read_parquet(file, columns=names, dtype_backend="pyarrow", partitioning=None)
    .assign(month=file.split("month=")[1][:7]) for file in asked["files"]])
accepted = rows[rows["status"] == "accepted"]
accepted = accepted.assign(segment=accepted["kept"].astype("str").str.extract('"segment": "([^"]*)"', expand=False))
tables = []
for keys in (["month", "iso"], ["campaign"], ["segment"]):
    table = accepted.groupby([*keys, "currency"]).agg(
        messages=("status", "size"), parts=("parts", "sum"), cost=("price", "sum")).reset_index()
    tables.append(table.astype({"cost": "float64", "parts": "int64"}).values.tolist())
refused = rows[rows["status"] == "rejected"]
tables.append(refused.groupby(["iso", "error_code"]).size().reset_index().values.tolist())
told(tables, begun, cpu, before)
"""
)


def main() -> None:
    asked = _asked()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        files = write(Path(name), asked.rows)
        size = sum(Path(file).stat().st_size for file in files)
        print(f"{asked.rows} million rows in {len(files)} files, {size / 1e9:.1f} GB", flush=True)
        first = files[: asked.plain]
        plain, few = _measured(PANDAS, first, asked.memory), _measured(DUCKDB, first, asked.memory)
        if not _same(plain["tables"], few["tables"]):
            raise SystemExit("the two make different tables")
        print(_line("plain pandas", asked.plain, plain), flush=True)
        print(_line("DuckDB", asked.plain, few), flush=True)
        print(_line("DuckDB", asked.rows, _measured(DUCKDB, files, asked.memory)), flush=True)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100, help="millions")
    parser.add_argument("--plain", type=int, default=10, help="millions for the plain script")
    parser.add_argument("--memory", default="1GB", help="DuckDB's memory_limit")
    parser.add_argument("--folder", type=Path, help="where the files are made; by default the system's own")
    return parser.parse_args()


def write(place: Path, millions: int) -> list[str]:
    """Write so many files of a million rows, month by month."""
    files: list[str] = []
    for at in range(millions):
        folder = place / f"month=2026-{1 + at % 12:02}"
        folder.mkdir(exist_ok=True)
        file = folder / f"campaign-{at}.parquet"
        if at < DIFFERENT:
            pq.write_table(rows(at), file, compression="zstd")
        else:
            shutil.copy(files[at % DIFFERENT], file)
        files.append(str(file))
    return files


def rows(at: int) -> pa.Table:
    """Return a million rows of a campaign: one in fifty refused, sent in chunks of a hundred to five countries."""
    draw = np.random.default_rng(at)
    there = np.arange(MILLION)
    country = draw.choice(5, MILLION, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    refused = draw.random(MILLION) < 0.02
    parts = draw.integers(1, 4, MILLION)
    price = np.array([7500, 2100, 71300, 64000, 12500])[country] * parts
    columns = {
        "row": pa.array(there),
        "kind": _same_text("campaign"),
        "rehearsal": pa.array(np.zeros(MILLION, bool)),
        "campaign": _same_text(f"campaign {at}"),
        "service": _same_text("live:benchmark"),
        "to": pc.binary_join_element_wise("+1999", pa.array(10**7 + there).cast(pa.string()), ""),
        "region": _picked(["US", "IN", "DE", "FR", "BR"], country),
        "type": _same_text("MOBILE"),
        "status": _picked(["accepted", "rejected"], refused),
        "id": _gone([draw.bytes(16).hex() for _ in there], refused),
        "iso": _picked(["US", "IN", "DE", "FR", "BR"], country),
        "cc": _gone(_picked(["1", "91", "49", "33", "55"], country), refused),
        "parts": _gone(parts, refused),
        "est_parts": pa.array(parts),
        "chunk": pa.array(there // 100),
        "attempts": pa.array(np.ones(MILLION, np.int64)),
        "encoding": _same_text("GSM-7"),
        "price": _gone(_amounts(price), refused),
        "est_cost": _amounts(price),
        "currency": _gone(_picked(["USD", "USD", "EUR", "EUR", "USD"], country), refused),
        "est_currency": _picked(["USD", "USD", "EUR", "EUR", "USD"], country),
        "error_code": _gone(_picked(["107111", "105400"], draw.integers(0, 2, MILLION)), ~refused),
        "request_id": pc.binary_join_element_wise("request", pa.array(there // 100).cast(pa.string()), "-"),
        "http_status": pa.array(np.where(refused, 400, 200)),
        "at": pa.array(1_780_000_000_000_000 + there // 100 * 50_000).cast(pa.timestamp("us", tz="UTC")),
        "kept": _picked([f'{{"segment": "{name}"}}' for name in "abcde"], draw.integers(0, 5, MILLION)),
    }
    blank = {field.name: pa.nulls(MILLION, field.type) for field in SCHEMA if field.name not in columns}
    return pa.table({field.name: (blank | columns)[field.name].cast(field.type) for field in SCHEMA}, schema=SCHEMA)


def _same_text(text: str) -> pa.Array:
    return pa.array([text]).take(pa.array(np.zeros(MILLION, np.int64)))


def _picked(texts: list[str], which: np.ndarray) -> pa.Array:
    return pa.array(texts).take(pa.array(which.astype("int64")))


def _gone(values: object, where: np.ndarray) -> pa.Array:
    array = values if isinstance(values, pa.Array) else pa.array(values)
    return array.take(pa.array(np.arange(MILLION), mask=where))


def _amounts(micros: np.ndarray) -> pa.Array:
    return parquet._amounts(pd.Series(micros, dtype="Int64"))


def _measured(script: str, files: list[str], memory: str) -> dict:
    asked = json.dumps({"files": files, "memory": memory})
    done = subprocess.run([sys.executable, "-c", script, asked], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def _same(one: list, other: list) -> bool:
    def rounded(tables: list) -> list:
        return [
            sorted([round(cell, 6) if isinstance(cell, float) else cell for cell in row] for row in table)
            for table in tables
        ]

    return rounded(one) == rounded(other)


def _line(who: str, millions: int, found: dict) -> str:
    return (
        f"{who}, {millions} million rows: {found['seconds']:.1f} s, {found['cpu']:.1f} s of CPU, "
        f"{found['peak']:,.0f} MB at most ({found['before']:.0f} MB before)"
    )


if __name__ == "__main__":
    main()
