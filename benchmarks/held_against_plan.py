"""What it costs to hold every request against the plan before its first byte.

    python benchmarks/held_against_plan.py                   requests of one recipient and of a hundred, 100 pairs each
    python benchmarks/held_against_plan.py --folder /tmp     with the ledgers on a disk

One process sends small campaigns by turns, with the check and with a stand-in that lets everything pass; who begins
changes from pair to pair. CPU time of the process from the making of the check to the last answer, so that the service,
which is another process, and recording the plan are left out. Medians of the pairs' ratios, with their quartiles.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from sending import campaign, client_of, service

import smsotp_nb as sms
from smsotp_nb._dispatch import requests
from smsotp_nb._dispatch.addressees import Addressees
from smsotp_nb._planning import Plan

KINDS = {  # rows a turn, rows a chunk, wordings, threads
    "one recipient a request, one thread": (300, 1, 1, 1),
    "a hundred a request, four threads": (30_000, 100, 1, 4),
    "the same with a hundred wordings": (30_000, 100, 100, 4),
}
MEMORY = Path("/dev/shm")


class Timed:
    """Makes the check, or what stands in for it, and notes when it began to."""

    began = 0.0

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def __call__(self, plan: Plan, reached: Any) -> Any:
        self.began = time.process_time()
        return self.kind(plan, reached)


class Unchecked:
    """Lets every claim pass."""

    def __init__(self, plan: Plan, reached: object) -> None:
        pass

    def take(self, claim: object) -> None:
        pass

    give_back = take


def turn(made: Plan, client: sms.Client, kind: type, folder: str, threads: int) -> float:
    """Send a campaign into a new ledger; return the CPU seconds."""
    timed, marks = Timed(kind), []
    requests.Addressees = timed  # type: ignore[assignment, attr-defined]
    with tempfile.TemporaryDirectory(dir=folder) as place, sms.Ledger(Path(place) / "ledger", create=True) as ledger:
        gc.collect()
        sms.send(
            made.with_requests(threads=threads),
            client=client,
            ledger=ledger,
            progress=lambda _: marks.append(time.process_time()),
        )
    return marks[-1] - timed.began


def pairs(kind: str, count: int, folder: str) -> tuple[list[float], float]:
    """Return the ratios of the pairs, and the CPU microseconds a request without the check."""
    rows, chunk_size, wordings, threads = KINDS[kind]
    made = campaign(rows, chunk_size=chunk_size, name="held", wordings=wordings)
    found = []
    with service(0.0) as url, client_of(url) as client:
        for _ in range(2):
            turn(made, client, Addressees, folder, threads)
        for number in range(count):
            order = (Unchecked, Addressees) if number % 2 else (Addressees, Unchecked)
            took = {which: turn(made, client, which, folder, threads) for which in order}
            found.append((took[Addressees], took[Unchecked]))
    without = statistics.median(other for _, other in found) * 1e6 / (rows / chunk_size)
    return [ours / other for ours, other in found], without


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument(
        "--folder", default=str(MEMORY if MEMORY.is_dir() else tempfile.gettempdir()), help="where the ledgers are"
    )
    given = parser.parse_args()
    for kind in KINDS:
        ratios, without = pairs(kind, given.pairs, given.folder)
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(f"{kind:<36}  {middle:.3f} ({low:.3f}-{high:.3f}) of {without:.0f} us a request without the check")


if __name__ == "__main__":
    main()
