"""How fast a campaign is sent, as ratios against plain code in the same run.

    python benchmarks/sending.py            every figure; about two minutes
    python benchmarks/sending.py --short    smaller campaigns

The service is ``quick_service.py`` in a process of its own, so nothing but sending is measured. The ledger writes to
the disk that holds the temporary folder.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import gc
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import requests

from smsotp_nb import Client, Ledger, RequestOptions, Settings, plan, send
from smsotp_nb._planning import Plan
from smsotp_nb._planning.rows import fingerprint

HERE = Path(__file__).parent
BODY = {"to": "+12025550123", "text": "Hello"}


@contextlib.contextmanager
def service(delay: float) -> Iterator[str]:
    command = [sys.executable, str(HERE / "quick_service.py"), "0", str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def client_of(url: str) -> Client:
    return Client(Settings(base_url=url, access_key_id="benchmark"))


def numbers(count: int) -> pd.DataFrame:
    """Numbers of the North American plan's shape; nobody is dialled, they only fill requests."""
    area = [201 + place // 7_900_000 for place in range(count)]
    return pd.DataFrame({"to": [f"+1{area[n]}{2_100_000 + n % 7_900_000:07}" for n in range(count)]})


def campaign(count: int, *, chunk_size: int, name: str, wordings: int = 1) -> Plan:
    """A plan of that many rows, made from rows that are known to be good, so that only sending is measured."""
    some = pd.DataFrame({"phone": [f"+1202555{100 + n:04}" for n in range(wordings)], "branch": range(wordings)})
    texts = {
        n: f"Hello from branch {n}" + (", where everything is new" * 5 if wordings > 1 else "") for n in range(wordings)
    }
    made = plan(some, texts, to="phone", campaign=name, by="branch", requests=RequestOptions(chunk_size=chunk_size))
    made = dataclasses.replace(made, _kept=())
    rows = made.rows.iloc[np.arange(count) // chunk_size % wordings].reset_index(drop=True)
    rows["to"] = numbers(count)["to"]
    rows["chunk"] = pd.array(np.arange(count) // chunk_size, dtype="Int64")
    keys = made._held.body_keys[rows["body"].to_numpy("int64")]
    return dataclasses.replace(
        made, fingerprint=fingerprint([rows["to"].tolist()], [keys]), _held=dataclasses.replace(made._held, rows=rows)
    )


def rate(work: Callable[[], None], count: int) -> float:
    gc.collect()
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)


def in_threads(work: Callable[[], object], count: int, threads: int) -> None:
    turns = iter(range(count))
    guard = threading.Lock()

    def run() -> None:
        while True:
            with guard:
                if next(turns, None) is None:
                    return
            work()

    crew = [threading.Thread(target=run) for _ in range(threads)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()


def sequential(count: int) -> list[tuple[str, float, str]]:
    """One request after the other, one recipient each, no latency."""
    found: dict[str, list[float]] = {"session": [], "client": [], "ledger": []}
    with service(0.0) as url, client_of(url) as client, requests.Session() as session:
        address = f"{url}/?action=sms.message.send&accessKeyId=benchmark"

        def plain() -> None:
            for _ in range(count):
                session.post(address, json=BODY, timeout=(10, 30)).json()

        def ours() -> None:
            for _ in range(count):
                client.send_message(BODY["to"], text=BODY["text"])

        for turn in range(5):
            found["session"].append(rate(plain, count))
            found["client"].append(rate(ours, count))
            with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger", create=True) as ledger:
                made = campaign(count, chunk_size=1, name=f"sequential-{turn}")
                work = lambda: send(made.with_requests(threads=1), client=client, ledger=ledger, progress=False)  # noqa: B023, E731
                found["ledger"].append(rate(work, count))
    return [
        ("client / Session loop, sequential, 0 ms", median_ratio(found["client"], found["session"]), "at least 2"),
        ("client + ledger / Session loop", median_ratio(found["ledger"], found["session"]), "for information"),
        ("client + ledger / client", median_ratio(found["ledger"], found["client"]), "for information"),
    ]


def with_latency(count: int) -> list[tuple[str, float, str]]:
    """50 ms of latency: the ledger's share, and how near 64 threads come to what latency allows."""
    ratios, reached = [], []
    with service(0.05) as url, client_of(url) as client:
        for turn in range(3):
            bare = rate(lambda: in_threads(lambda: client.send_message(BODY["to"], text="Hello"), count, 64), count)
            with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger", create=True) as ledger:
                made = campaign(count, chunk_size=1, name=f"latency-{turn}")
                recorded = _posting_rate(made, client, ledger, count)
            ratios.append(recorded / bare)
            reached.append(recorded / (64 / 0.05))
    return [
        ("client + ledger / client, 64 threads, 50 ms", sorted(ratios)[1], "at least 0.95"),
        ("64 threads at 50 ms / latency's ceiling", sorted(reached)[1], "at least 0.90"),
    ]


def _posting_rate(made: Plan, client: Client, ledger: Ledger, count: int) -> float:
    """The rate from the first claim to the last answer: planning's record and the result table are made once."""
    marks: list[float] = []
    send(
        made.with_requests(threads=64),
        client=client,
        ledger=ledger,
        progress=lambda _: marks.append(time.perf_counter()),
    )
    return count / (marks[-1] - marks[0])


def million(count: int) -> list[tuple[str, float, str]]:
    """A large campaign in chunks of 100: time, memory over the frame, and the size of the record."""
    made = campaign(count, chunk_size=100, name="million", wordings=100)
    with service(0.0) as url, client_of(url) as client, tempfile.TemporaryDirectory() as folder:
        with Ledger(Path(folder) / "ledger", create=True) as ledger:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            started = time.perf_counter()
            table = send(made, client=client, ledger=ledger, progress=False)
            seconds = time.perf_counter() - started
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            assert table["status"].eq("accepted").all()
            own = table.memory_usage(deep=True).sum() / 1e6
        size = (Path(folder) / "ledger").stat().st_size / 1e6
    scale = 1_000_000 / count
    return [
        ("seconds for a million recipients, chunks of 100, 0 ms", seconds * scale, "at most 15"),
        ("MB of memory over the frame, a million", ((after - before) / 1024 - own) * scale, "under 400"),
        ("MB of ledger with a hundred wordings, a million", size * scale, "at most 62"),
    ]


def median_ratio(ours: list[float], theirs: list[float]) -> float:
    ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    return ratios[len(ratios) // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true")
    short = parser.parse_args().short
    rows = million(100_000 if short else 1_000_000)
    rows += sequential(300 if short else 1500) + with_latency(1500 if short else 6000)
    width = max(len(name) for name, _, _ in rows)
    for name, value, bar in rows:
        print(f"{name:<{width}}  {value:>8.2f}  {bar}")


if __name__ == "__main__":
    main()
