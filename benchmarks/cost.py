"""Time the cost of a year of campaigns from a ledger, beside a plain pandas script on the same file.

    python benchmarks/cost.py [rows] [recipients in a request]

Each side runs in a process of its own, so that its memory is its own. Ours reads a ledger as ``send`` writes it, where
a chunk that was answered in full is kept whole, and the same one kept row by row. The plain script does what one would
write by hand: it reads the joined rows of the second with ``pandas.read_sql`` and groups them. Numbers in the files
begin with the calling code 999, which no country has.
"""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from smsotp_nb import cost
from smsotp_nb._ledger import Ledger
from smsotp_nb._ledger.answers import KIND, Whole
from smsotp_nb._ledger.store import Store
from smsotp_nb._ledger.tables import ACCEPTED, IN_DOUBT, PLANNED, REJECTED

CAMPAIGNS = 12
COUNTRIES = ["US", "IN", "DE", "FR", "BR", "GB", "NA", "CN", "NG", "MX", "JP", "ZA", "ES", "IT", "PL", "SE"]
YEAR = 1_767_225_600_000_000  # 2026-01-01, microseconds
PLAIN = """
SELECT c.name AS campaign, b.iso, a.currency, k.encoding, coalesce(a.settled_at, a.started_at) AS at, r.parts, r.price
FROM recipient r JOIN campaign c ON c.id=r.campaign JOIN attempt a ON a.id=r.attempt
JOIN chunk k ON k.campaign=r.campaign AND k.chunk=r.chunk LEFT JOIN country b ON b.id=r.country
WHERE r.own_state=2
"""


def fill(path: Path, rows: int, chunk: int, *, whole: bool) -> None:
    """Write a ledger of twelve monthly campaigns; of fifty requests one was refused and one is in doubt."""
    store, random = Store(path), np.random.default_rng(1)
    requests = rows // CAMPAIGNS // chunk
    with store.writing("NORMAL") as connection:
        _reference(connection)
        for campaign in range(CAMPAIGNS):
            requested = Requests(
                campaign + 1, campaign * requests, chunk,
                random.choice([ACCEPTED] * 48 + [REJECTED, IN_DOUBT], requests),
                random.integers(1, len(COUNTRIES) + 1, (requests, chunk)), random.integers(1, 4, (requests, chunk)),
            )  # fmt: skip
            _requests(connection, requested, whole=whole)
            _recipients(connection, requested, whole=whole)
    store.close()


class Requests(NamedTuple):
    """The requests of a campaign: its number, how many came before, rows in each; state, and each row's answer."""

    campaign: int
    first: int
    chunk: int
    state: np.ndarray[Any, np.dtype[np.int64]]
    country: np.ndarray[Any, np.dtype[np.int64]]
    parts: np.ndarray[Any, np.dtype[np.int64]]


def _reference(connection: sqlite3.Connection) -> None:
    countries = list(enumerate(COUNTRIES, start=1))
    connection.executemany("INSERT INTO country VALUES (?,?,'999')", countries)
    connection.executemany("INSERT INTO destination VALUES (?,?,'MOBILE',7500,'USD')", countries)
    connection.executemany(
        "INSERT INTO campaign (id, service, name, name_key, kind, fingerprint, created_at, rows, kept) "
        "VALUES (?1,'live',?2,?2,'campaign','',0,0,'[]')",
        [(number + 1, f"month-{number + 1:02}") for number in range(CAMPAIGNS)],
    )


def _requests(connection: sqlite3.Connection, of: Requests, *, whole: bool) -> None:
    billings = [
        (of.campaign, _billing(country, parts), country, parts, parts * 7500)
        for country in range(1, len(COUNTRIES) + 1)
        for parts in (1, 2, 3)
    ]
    connection.executemany("INSERT INTO billing VALUES (?,?,?,?,?)", billings)
    start = YEAR + (of.campaign - 1) * 30 * 86_400_000_000
    for n, state in enumerate(of.state.tolist()):
        number, as_one = of.first + n + 1, whole and state == ACCEPTED
        connection.execute(
            "INSERT INTO chunk VALUES (?,?,?,?,?,?,?,NULL)",
            (
                *(of.campaign, n, n, 1 + n % 2, "ucs2" if n % 3 else "gsm7"),
                *((ACCEPTED, number) if as_one else (None, None)),
            ),
        )
        connection.execute(
            "INSERT INTO attempt (id, session, campaign, chunk, started_at, settled_at, outcome, http_status, "
            "currency, ids, kinds) VALUES (?,(SELECT max(id) FROM session),?,?,?,?,'accepted',200,?,?,?)",
            (
                *(number, of.campaign, n, start + n, start + n + 50_000, "USD" if n % 7 else "CNY"),
                *(_answers(of, n) if as_one else (None, None)),
            ),
        )


def _billing(country: Any, parts: Any) -> Any:
    """Return the number of a billing in its campaign, from 1."""
    return (country - 1) * 3 + parts


def _answers(of: Requests, n: int) -> Whole:
    """Return the answers to a request as `answers.whole` packs them."""
    ids = b"".join([_id(of, n, row) for row in range(of.chunk)])
    return Whole(ids, _billing(of.country[n], of.parts[n]).astype(KIND).tobytes())


def _id(of: Requests, n: int, row: int) -> bytes:
    return ((of.first + n) * of.chunk + row).to_bytes(16, "big")


def _recipients(connection: sqlite3.Connection, of: Requests, *, whole: bool) -> None:
    connection.executemany(
        "INSERT INTO recipient (campaign, chunk, position, number, destination, own_state, attempts, attempt, message, "
        "country, parts, price) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
        (_recipient(of, n, row, whole=whole) for n in range(len(of.state)) for row in range(of.chunk)),
    )


def _recipient(of: Requests, n: int, row: int, *, whole: bool) -> tuple[Any, ...]:
    position, country, parts = n * of.chunk + row, int(of.country[n, row]), int(of.parts[n, row])
    begins = (of.campaign, n, position, 999_000_000_000 + position, country)
    if whole and of.state[n] == ACCEPTED:
        return *begins, PLANNED, 0, *[None] * 5
    return *begins, int(of.state[n]), 1, of.first + n + 1, _id(of, n, row), country, parts, parts * 7500


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
    sums = {"messages": ("price", "size"), "parts": ("parts", "sum"), "cost": ("price", "sum")}
    tables = [
        frame.groupby(["currency", name], dropna=False).agg(**sums).reset_index()
        for name in ("iso", "campaign", "month", "encoding")
    ]
    return _totals(tables[0]) | {"tables": float(sum(map(len, tables)))}


def _totals(table: pd.DataFrame) -> dict[str, float]:
    return {
        str(currency): round(float(total), 6) for currency, total in table.groupby("currency")["cost"].sum().items()
    }


def measure(side: str, path: Path) -> None:
    """Run one side in this process and say how long it took and how much memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    totals = {"ours": ours, "plain": plain}[side](path)
    seconds = time.perf_counter() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{side:>6}, {path.stem}: {seconds:7.1f} s, {grown:8,.0f} MB more memory, totals {totals}", flush=True)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    chunk = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    with tempfile.TemporaryDirectory() as folder:
        usual, by_row = Path(folder) / "as sent.sqlite", Path(folder) / "by row.sqlite"
        for path in (usual, by_row):
            fill(path, rows, chunk, whole=path == usual)
            print(
                f"{path.stem}: {rows:,} rows in requests of {chunk}, {path.stat().st_size / 2**20:,.0f} MB", flush=True
            )
        for side, path in (("ours", usual), ("ours", by_row), ("plain", by_row)):
            subprocess.run([sys.executable, __file__, "--side", side, str(path)], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--side"]:
        measure(sys.argv[2], Path(sys.argv[3]))
    else:
        main()
