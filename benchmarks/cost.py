"""Time the cost of a year of campaigns from a ledger, beside a plain pandas script on the same file.

    python benchmarks/cost.py [rows] [recipients in a request]

Each side runs in a process of its own, so that its memory is its own. The plain script does what one would write by
hand: it reads the joined rows with ``pandas.read_sql`` and groups them. Numbers in the file begin with the calling code
999, which no country has.
"""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from smsotp_nb import cost
from smsotp_nb.ledger import Ledger
from smsotp_nb.ledger.schema import ACCEPTED, IN_DOUBT, REJECTED, Store

CAMPAIGNS = 12
COUNTRIES = ["US", "IN", "DE", "FR", "BR", "GB", "NA", "CN", "NG", "MX", "JP", "ZA", "ES", "IT", "PL", "SE"]
YEAR = 1_767_225_600_000_000  # 2026-01-01, microseconds
PLAIN = """
SELECT c.name AS campaign, b.iso, a.currency, k.encoding, coalesce(a.settled_at, a.started_at) AS at, r.parts, r.price
FROM recipient r JOIN campaign c ON c.id=r.campaign JOIN attempt a ON a.id=r.attempt
JOIN chunk k ON k.campaign=r.campaign AND k.chunk=r.chunk LEFT JOIN billed b ON b.id=r.billed
WHERE r.state=2
"""


def fill(path: Path, rows: int, chunk: int) -> None:
    """Write a ledger of twelve monthly campaigns."""
    store, random = Store(path), np.random.default_rng(1)
    requests = rows // CAMPAIGNS // chunk
    with store.writing("NORMAL") as connection:
        _reference(connection)
        for campaign in range(CAMPAIGNS):
            first = campaign * requests
            _requests(connection, campaign + 1, requests, first)
            connection.executemany(
                f"INSERT INTO recipient VALUES ({','.join('?' * 14)})",
                _recipients(random, campaign + 1, requests, chunk, first),
            )
    store.close()


def _reference(connection: sqlite3.Connection) -> None:
    countries = list(enumerate(COUNTRIES, start=1))
    connection.executemany("INSERT INTO billed VALUES (?,?,'999')", countries)
    connection.executemany("INSERT INTO destination VALUES (?,?,'MOBILE',7500,'USD')", countries)
    connection.executemany(
        "INSERT INTO campaign (id, service, name, kind, fingerprint, created_at, rows, kept) "
        "VALUES (?,'live',?,'campaign','',0,0,'[]')",
        [(number + 1, f"month-{number + 1:02}") for number in range(CAMPAIGNS)],
    )


def _requests(connection: sqlite3.Connection, campaign: int, requests: int, first: int) -> None:
    connection.executemany(
        "INSERT INTO chunk VALUES (?,?,?,?,?)",
        ((campaign, n, n, 1 + n % 2, "ucs2" if n % 3 else "gsm7") for n in range(requests)),
    )
    start = YEAR + (campaign - 1) * 30 * 86_400_000_000
    connection.executemany(
        "INSERT INTO attempt (id, campaign, chunk, started_at, settled_at, verdict, http_status, currency) "
        "VALUES (?,?,?,?,?,'accepted',200,?)",
        (
            (first + n + 1, campaign, n, start + n, start + n + 50_000, "USD" if n % 7 else "CNY")
            for n in range(requests)
        ),
    )


def _recipients(
    random: np.random.Generator, campaign: int, requests: int, chunk: int, first: int
) -> Iterator[tuple[Any, ...]]:
    size = requests * chunk
    country = random.integers(1, len(COUNTRIES) + 1, size).tolist()
    parts = random.integers(1, 4, size).tolist()
    state = random.choice([ACCEPTED] * 48 + [REJECTED, IN_DOUBT], size).tolist()
    for row in range(size):
        n, number = row // chunk, 999_000_000_000 + row
        price = parts[row] * 7500
        yield (
            *(campaign, n, row, number, country[row], None, state[row], None, 1, first + n + 1),
            *(row.to_bytes(16, "big"), country[row], parts[row], price),
        )


def ours(path: Path) -> dict[str, float]:
    """Return totals by our tables: one pass, then every table from it."""
    with Ledger(path) as ledger:
        spent = cost.spending(ledger)
    tables = [cost.by_country(spent), cost.by_campaign(spent), cost.by_month(spent), cost.by_encoding(spent)]
    return _totals(tables[0]) | {"tables": float(sum(map(len, tables)))}


def plain(path: Path) -> dict[str, float]:
    """Return totals by a plain script: all rows in a frame, grouped as floats."""
    with sqlite3.connect(path) as connection:
        frame = pd.read_sql(PLAIN, connection)
    frame["price"] = frame["price"] / 1_000_000
    frame["month"] = pd.to_datetime(frame["at"], unit="us").dt.strftime("%Y-%m")
    sums = {"messages": ("price", "size"), "parts": ("parts", "sum"), "price": ("price", "sum")}
    tables = [
        frame.groupby(["currency", name], dropna=False).agg(**sums).reset_index()
        for name in ("iso", "campaign", "month", "encoding")
    ]
    return _totals(tables[0]) | {"tables": float(sum(map(len, tables)))}


def _totals(table: pd.DataFrame) -> dict[str, float]:
    return {
        str(currency): round(float(total), 6) for currency, total in table.groupby("currency")["price"].sum().items()
    }


def measure(side: str, path: Path) -> None:
    """Run one side in this process and say how long it took and how much memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    totals = {"ours": ours, "plain": plain}[side](path)
    seconds = time.perf_counter() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{side:>6}: {seconds:7.1f} s, {grown:8,.0f} MB more memory, totals {totals}")


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    chunk = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        fill(path, rows, chunk)
        print(f"{rows:,} rows in requests of {chunk}, {path.stat().st_size / 2**20:,.0f} MB")
        for side in ("ours", "plain"):
            subprocess.run([sys.executable, __file__, "--side", side, str(path)], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--side"]:
        measure(sys.argv[2], Path(sys.argv[3]))
    else:
        main()
