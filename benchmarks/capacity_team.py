"""What a team's ledger on a PostgreSQL server carries, near and far: measured points, and a model checked against them.

    python benchmarks/capacity_team.py [--requests 1000]

A file, then a server on this machine by its socket, then the same server behind a proxy of 1, 10 and 50 ms of round
trip. Each campaign has chunks of 100 and is sent by 16 threads to ``quick_service.py``, which answers at once. Claims a
second are counted between the first tenth and the end.

The model: a claim takes the time that it took without a proxy, and its share of the round trip of a turn to write.
How many claims share a turn is counted, as the server's transactions. What the model says stands beside what was
measured.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from sending import campaign, client_of, service
from team import _name, far, served

from smsotp_nb import Client, Ledger, send

CHUNK, THREADS = 100, 16
ROUND_TRIPS = (0.0, 0.001, 0.010, 0.050)


class Point(NamedTuple):
    """What was measured with one ledger: seconds, claims a second and in one turn, bytes."""

    record: float
    claims: float
    size: int
    log: int
    together: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1000)
    requests = parser.parse_args().requests
    with served() as server, service(0.0) as url, client_of(url) as client:
        with tempfile.TemporaryDirectory() as folder:
            told("file", measured(str(Path(folder) / "ledger.sqlite"), client, requests), requests)
        found = {}
        for round_trip in ROUND_TRIPS:
            many = requests if round_trip < 0.01 else requests // 2
            with reached(server, round_trip) as address:
                found[round_trip] = measured(address, client, many)
            told(f"server, {round_trip * 1000:.0f} ms", found[round_trip], many)
    work = 1 / found[0.0].claims
    for round_trip in ROUND_TRIPS[1:]:
        point = found[round_trip]
        said = 1 / (work + round_trip / point.together)
        print(
            f"  {round_trip * 1000:.0f} ms: {point.together:.1f} claims a turn; model {said:,.0f} claims a second, "
            f"measured over model {point.claims / said:.2f}"
        )


@contextlib.contextmanager
def reached(server: Any, round_trip: float) -> Iterator[str]:
    """Give the address of an empty database at this distance."""
    if not round_trip:
        yield server.database()
        return
    with far(server, round_trip) as port:
        yield f"postgresql://postgres@127.0.0.1:{port}/{_name(server)}?sslmode=disable"


def measured(address: str, client: Client, requests: int) -> Point:
    """Record and send one campaign."""
    made = campaign(requests * CHUNK, chunk_size=CHUNK, name="capacity")
    with Ledger(address, create=True) as ledger:
        size, log, _ = state_of(address)
        begun = time.perf_counter()
        ledger._begin(made, service=client.service).close()
        record = time.perf_counter() - begun
        seen: list[tuple[float, int]] = []
        turns_before = state_of(address)[2]
        note = lambda progress: seen.append((time.perf_counter(), progress.accepted))  # noqa: E731
        table = send(made.with_requests(threads=THREADS), client=client, ledger=ledger, progress=note)
        assert table["status"].eq("accepted").all()
    after, logged, turns = state_of(address)
    begins, first = next(one for one in seen if one[1] >= requests * CHUNK // 10)
    ends, last = seen[-1]
    together = requests / max(turns - turns_before, 1)
    return Point(record, (last - first) / CHUNK / (ends - begins), after - size, logged - log, together)


def state_of(address: str) -> tuple[int, int, int]:
    """Return how large a ledger is, and how much its server has written to its log, in how many transactions."""
    if not address.startswith("postgresql://"):
        return Path(address).stat().st_size, 0, 0
    time.sleep(1.5)  # until the server has counted them
    with psycopg.connect(address) as connection:
        sql = (
            "SELECT pg_database_size(current_database()), (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint, "
            "xact_commit FROM pg_stat_database WHERE datname=current_database()"
        )
        size, log, turns = connection.execute(sql).fetchone() or (0, 0, 0)
    return int(size), int(log), int(turns)


def told(where: str, point: Point, requests: int) -> None:
    rows = requests * CHUNK
    print(
        f"{where}: record {point.record / rows * 1e6:.1f} us a recipient ({point.record:.1f} s for {rows:,}), "
        f"{point.claims:,.0f} claims a second, {point.size / rows:.0f} bytes and {point.log / rows:.0f} bytes of log a "
        "recipient",
        flush=True,
    )


if __name__ == "__main__":
    main()
