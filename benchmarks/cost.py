"""Time each cost table of a year of campaigns from a ledger, beside a plain pandas script over the exported rows.

    python benchmarks/cost.py [rows] [recipients in a request]

The ledger is as ``send`` leaves it: chunks that were answered in full are kept whole, and the sums of campaigns that
are not running stand beside them. Each table is made from a Ledger that is open, as in a notebook, and from a path,
with opening the file and checking its bytes. One is timed once more without those sums, as while all campaigns run.
The plain script does what one would write by hand with the files of ``Ledger.to_parquet``: for each table it reads the
columns it needs with ``pandas.read_parquet`` and groups them. Each table of each side is made in a process of its own,
in turn, so that its memory is its own and nothing is read twice from memory. A campaign goes on for eight hours.
Numbers in the files begin with the calling code 999, which no country has.
"""

from __future__ import annotations

import contextlib
import json
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from smsotp_nb import cost
from smsotp_nb._ledger import Ledger
from smsotp_nb._ledger.file.store import Store
from smsotp_nb._ledger.record import beginning
from smsotp_nb._ledger.rows.answers import KIND, Whole
from smsotp_nb._ledger.rows.tables import ACCEPTED, IN_DOUBT, PLANNED, REJECTED

CAMPAIGNS = 12
COUNTRIES = ["US", "IN", "DE", "FR", "BR", "GB", "NA", "CN", "NG", "MX", "JP", "ZA", "ES", "IT", "PL", "SE"]
YEAR = 1_767_225_600_000_000  # 2026-01-01, microseconds
EVERY = 8 * 3_600_000_000  # microseconds that a campaign goes on
TABLES = {
    "by_country": "iso",
    "by_campaign": "campaign",
    "by_month": "month",
    "by_encoding": "encoding",
    "by_type": "type",
    "by_segment": "segment",
}
SEGMENTS = ("new", "regular", "lapsed", "staff", None)  # what each recipient's row keeps; and an account, its own

ROUNDS = 3


def fill(path: Path, rows: int, chunk: int) -> None:
    """Write a ledger of twelve monthly campaigns; of fifty requests one was refused and one is in doubt."""
    store, random = Store(path), np.random.default_rng(1)
    requests = rows // CAMPAIGNS // chunk
    with store.writing("NORMAL") as connection:
        _reference(connection, requests * chunk)
        for campaign in range(CAMPAIGNS):
            requested = Requests(
                campaign + 1, campaign * requests, chunk,
                random.choice([ACCEPTED] * 48 + [REJECTED, IN_DOUBT], requests),
                random.integers(1, len(COUNTRIES) + 1, (requests, chunk)), random.integers(1, 4, (requests, chunk)),
            )  # fmt: skip
            _requests(connection, requested)
            _recipients(connection, requested)
    for campaign in range(1, CAMPAIGNS + 1):
        beginning.end_changing(store, campaign, now=YEAR, mine=lambda _: True)
    with store.writing():
        pass  # durable, as the last request of a campaign is: the file is closed with its checksum
    store.close()


class Requests(NamedTuple):
    """The requests of a campaign: its number, how many came before, rows in each; state, and each row's answer."""

    campaign: int
    first: int
    chunk: int
    state: np.ndarray[Any, np.dtype[np.int64]]
    country: np.ndarray[Any, np.dtype[np.int64]]
    parts: np.ndarray[Any, np.dtype[np.int64]]


def _reference(connection: sqlite3.Connection, rows: int) -> None:
    countries = list(enumerate(COUNTRIES, start=1))
    connection.executemany("INSERT INTO country VALUES (?,?,'999')", countries)
    connection.executemany("INSERT INTO destination VALUES (?,?,'MOBILE',7500,'USD')", countries)
    connection.executemany(
        "INSERT INTO campaign (id, service, name, name_key, kind, fingerprint, created_at, rows, kept) "
        "VALUES (?1,'live',?2,?2,'campaign','',0,?3,'[\"segment\",\"account\"]')",
        [(number + 1, f"month-{number + 1:02}", rows) for number in range(CAMPAIGNS)],
    )


def _requests(connection: sqlite3.Connection, of: Requests) -> None:
    billings = [
        (of.campaign, _billing(country, parts), country, parts, parts * 7500)
        for country in range(1, len(COUNTRIES) + 1)
        for parts in (1, 2, 3)
    ]
    connection.executemany("INSERT INTO billing VALUES (?,?,?,?,?)", billings)
    start, step = YEAR + (of.campaign - 1) * 30 * 86_400_000_000, EVERY // len(of.state)
    for n, state in enumerate(of.state.tolist()):
        number, as_one = of.first + n + 1, state == ACCEPTED
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
                *(number, of.campaign, n, start + n * step, start + n * step + 50_000, "USD" if n % 7 else "CNY"),
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


def _recipients(connection: sqlite3.Connection, of: Requests) -> None:
    connection.executemany(
        "INSERT INTO recipient (campaign, chunk, position, number, destination, own_state, attempts, attempt, message, "
        "country, parts, price, kept) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (_recipient(of, n, row) for n in range(len(of.state)) for row in range(of.chunk)),
    )


def _recipient(of: Requests, n: int, row: int) -> tuple[Any, ...]:
    position, country, parts = n * of.chunk + row, int(of.country[n, row]), int(of.parts[n, row])
    begins = (of.campaign, n, position, 999_000_000_000 + position, country)
    kept = json.dumps([SEGMENTS[position % 7 % 5], f"A{position:09}"])
    if of.state[n] == ACCEPTED:
        return *begins, PLANNED, 0, *[None] * 5, kept
    return *begins, int(of.state[n]), 1, of.first + n + 1, _id(of, n, row), country, parts, parts * 7500, kept


def export(path: Path, folder: Path) -> None:
    """Write each campaign's result table to a Parquet file, as one hands it on."""
    folder.mkdir()
    with Ledger(path) as ledger:
        for name in ledger.campaigns()["campaign"]:
            record = ledger.record(name)
            record.results.join(record.details).to_parquet(folder / f"{name}.parquet")


def ours(ledger: Path | Ledger, table: str) -> pd.DataFrame:
    made: pd.DataFrame = getattr(cost, table)(ledger) if hasattr(cost, table) else cost.by(ledger, TABLES[table])
    return made


def plain(folder: Path, table: str) -> pd.DataFrame:
    """Read the columns that a table needs and group the rows, as floats."""
    by = TABLES[table]
    columns = {"status", "currency", "parts", "price", "at" if by == "month" else by}
    frame = pd.read_parquet(folder, columns=sorted(columns))
    frame = frame[frame["status"] == "accepted"]
    if by == "month":
        frame = frame.assign(month=frame["at"].dt.strftime("%Y-%m"))
    sums = {"messages": ("price", "size"), "parts": ("parts", "sum"), "cost": ("price", "sum")}
    return frame.groupby(["currency", by], dropna=False, observed=True).agg(**sums).reset_index()


def measure(side: str, path: Path, table: str) -> None:
    """Make a table in this process and print as JSON: median wall and CPU time, memory in MB, and its total."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with contextlib.ExitStack() as opened:
        if side == "open":
            _timed(ours, opened.enter_context(Ledger(path)), table, before)
        else:
            _timed({"path": ours, "plain": plain}[side], path, table, before)


def _timed(make: Callable[[Any, str], pd.DataFrame], source: Path | Ledger, table: str, before: int) -> None:
    wall, cpu = [], []
    for _ in range(ROUNDS):
        started = time.perf_counter(), time.process_time()
        found = make(source, table)
        wall.append(time.perf_counter() - started[0])
        cpu.append(time.process_time() - started[1])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    total = [round(float(found["cost"].sum()), 2), int(found["messages"].sum())]
    print(json.dumps([statistics.median(wall), statistics.median(cpu), grown, total]))


def asked(side: str, path: Path, table: str) -> tuple[float, float, float, list[float]]:
    """Return what `measure` prints in a process of its own."""
    command = [sys.executable, __file__, "--side", side, str(path), table]
    wall, cpu, grown, total = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return wall, cpu, grown, total


def told(table: str, files: dict[str, tuple[str, Path]]) -> None:
    """Measure a table on all sides in turn, and print each with its ratio to the plain script."""
    rounds = [{name: asked(side, path, table) for name, (side, path) in files.items()} for _ in range(ROUNDS)]
    for name in files:
        wall, cpu, grown, total = (sorted(each[name][at] for each in rounds)[ROUNDS // 2] for at in range(4))
        print(f"{table:>12}, {name:<12}: {wall:7.3f} s, {cpu:7.3f} s CPU, {grown:6,.0f} MB; {total}", flush=True)
    for name in list(files)[1:]:
        _compared(rounds, name)


def _compared(rounds: list[dict[str, tuple[float, float, float, list[float]]]], name: str) -> None:
    for at, what in ((1, "CPU time"), (0, "wall time")):
        ratios = [each["plain script"][:2][at] / each[name][:2][at] for each in rounds]
        middle, least, most = statistics.median(ratios), min(ratios), max(ratios)
        print(f"{'':14}{name} is {middle:.1f} ({least:.1f}-{most:.1f}) times as fast by {what}", flush=True)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    chunk = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    with tempfile.TemporaryDirectory() as folder:
        path, exported = Path(folder) / "ledger.sqlite", Path(folder) / "rows"
        fill(path, rows, chunk)
        print(f"{rows:,} rows in requests of {chunk}: {path.stat().st_size / 2**20:,.0f} MB", flush=True)
        export(path, exported)
        for table in TABLES:
            told(table, {"plain script": ("plain", exported), "ledger open": ("open", path), "path": ("path", path)})
        store = Store(path)
        with store.writing() as connection:
            connection.execute("DELETE FROM sums")
        store.close()
        told("by_country", {"plain script": ("plain", exported), "without sums": ("path", path)})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--side"]:
        measure(sys.argv[2], Path(sys.argv[3]), sys.argv[4])
    else:
        main()
