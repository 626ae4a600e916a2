"""How fast a campaign is sent with its ledger on a PostgreSQL server, as a ratio against a file in the same run.

    python benchmarks/team.py                  a million recipients, near and with 10 ms of round trip; a quarter hour
    python benchmarks/team.py --rows 100000    a smaller campaign

It starts a server of its own, from Debian's ``postgresql``, with its data in the folder for temporary files, beside the
ledgers in files: both write to the same disk.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from sending import campaign, client_of, service
from support.servers import Server

from smsotp_nb import Client, Ledger, send
from smsotp_nb._planning import Plan

ROUND_TRIP, LATENCY, THREADS, CHUNK = 0.010, 0.050, 16, 100


@contextlib.contextmanager
def served() -> Iterator[Server]:
    server = Server(Path(tempfile.mkdtemp(prefix="pg-"))).make().start()
    try:
        yield server
    finally:
        server.stop()
        server.remove()


@contextlib.contextmanager
def far(server: Server, round_trip: float = ROUND_TRIP) -> Iterator[int]:
    """Put the server this many seconds of round trip away, and give the port of loopback at which it is reached."""
    command = [sys.executable, __file__, "--proxy", f"{server.folder}/.s.PGSQL.5432", "--round-trip", str(round_trip)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


async def proxy(server: str, round_trip: float) -> None:
    """Pass on everything after half a round trip, in both directions."""

    async def passed_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(1 << 16):
            asyncio.get_running_loop().call_later(round_trip / 2, target.write, data)
        asyncio.get_running_loop().call_later(round_trip, target.close)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        source, target = await asyncio.open_unix_connection(server)
        await asyncio.gather(passed_on(reader, target), passed_on(source, writer))

    listener = await asyncio.start_server(connected, "127.0.0.1", 0)
    print(listener.sockets[0].getsockname()[1], flush=True)
    await listener.serve_forever()


def seconds(made: Plan, client: Client, ledger: Ledger) -> float:
    """Return the time of a whole campaign: recording its plan, sending, reading the result."""
    started = time.perf_counter()
    table = send(made, client=client, ledger=ledger, progress=False)
    taken = time.perf_counter() - started
    assert table["status"].eq("accepted").all()
    return taken


def paired(made: Callable[[str], Plan], client: Client, addresses: Iterator[str], turns: int) -> None:
    """Send with a file and with the server by turns, and print each pair and its ratio."""
    for turn in range(turns):
        taken = {}
        for where in ("file", "server") if turn % 2 == 0 else ("server", "file"):
            with tempfile.TemporaryDirectory() as folder:
                place = str(Path(folder) / "ledger") if where == "file" else next(addresses)
                with Ledger(place, create=True) as ledger:
                    taken[where] = seconds(made(f"turn-{turn}"), client, ledger)
        print(
            f"  file {taken['file']:.1f} s, server {taken['server']:.1f} s, "
            f"time of the server / time of the file {taken['server'] / taken['file']:.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--proxy", default="", help=argparse.SUPPRESS)
    parser.add_argument("--round-trip", type=float, default=ROUND_TRIP, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.proxy:
        asyncio.run(proxy(asked.proxy, asked.round_trip))
        return
    rows = asked.rows
    with served() as server:
        near = (server.database() for _ in range(asked.turns))
        print(f"{rows:,} recipients in chunks of {CHUNK}, on this machine:")
        with service(0.0) as url, client_of(url) as client:
            paired(lambda name: campaign(rows, chunk_size=CHUNK, name=name, wordings=100), client, near, asked.turns)
        print(f"the same in {THREADS} threads, 50 ms at the service, 10 ms of round trip to the server:")
        with service(LATENCY) as url, client_of(url) as client, far(server) as port:
            base = f"postgresql://postgres@127.0.0.1:{port}"
            there = (f"{base}/{_name(server)}?sslmode=disable" for _ in range(asked.turns))
            one = lambda name: campaign(rows, chunk_size=CHUNK, name=name).with_requests(threads=THREADS)  # noqa: E731
            paired(one, client, there, asked.turns)


def _name(server: Server) -> str:
    """Make a database and return its name."""
    return server.database().split("/")[3].split("?")[0]


if __name__ == "__main__":
    main()
