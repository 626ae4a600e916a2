"""How fast this checkout sends beside another one, in turn and in the same run.

    python benchmarks/sending_pairs.py OTHER                   one after the other, chunks of one row, no latency
    python benchmarks/sending_pairs.py OTHER --kind threads    64 threads at 50 ms of latency
    python benchmarks/sending_pairs.py OTHER --kind large      chunks of 100, no latency

OTHER is the folder of a checkout whose ``benchmarks/sending.py`` makes a plan as this one does. Each of the two has a
process of its own that sends small campaigns when asked, by turns; ``--folder /dev/shm`` leaves the disk out. From the
first claim to the last answer; medians of the pairs' ratios, with their quartiles. Linux and macOS.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import inspect
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KINDS = {  # rows a turn, rows a chunk, threads, seconds of latency
    "sequential": (150, 1, 1, 0.0),
    "threads": (3_000, 1, 64, 0.05),
    "large": (200_000, 100, 4, 0.0),
}


def moment() -> tuple[float, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), used.ru_utime + used.ru_stime


class Seen:
    """The moments of the first and the last call."""

    first = last = (0.0, 0.0)

    def __call__(self, _told: object) -> None:
        self.last = moment()
        self.first = self.first if any(self.first) else self.last


def work(tree: str, kind: str, url: str, folder: str) -> None:
    """Send a campaign for each line of input; print its seconds, by the clock and of the processor."""
    sys.path[:0] = [tree, f"{tree}/benchmarks"]
    sending = importlib.import_module("sending")
    sms = importlib.import_module("smsotp_nb")
    assert Path(sms.__file__).is_relative_to(tree), f"smsotp_nb comes from {sms.__file__}"
    warnings.simplefilter("ignore")
    create = {"create": True} if "create" in inspect.signature(sms.Ledger).parameters else {}
    rows, chunk_size, threads, _ = KINDS[kind]
    with sending.client_of(url) as client:
        for turn, _ in enumerate(sys.stdin):
            made = sending.campaign(rows, chunk_size=chunk_size, name=f"pair-{turn}")
            with (
                tempfile.TemporaryDirectory(dir=folder) as place,
                sms.Ledger(Path(place) / "ledger", **create) as ledger,
            ):
                gc.collect()
                seen = Seen()
                sms.send(made.with_requests(threads=threads), client=client, ledger=ledger, progress=seen)
            print(*(end - start for start, end in zip(seen.first, seen.last, strict=True)), flush=True)


def asked(process: subprocess.Popen[str]) -> list[float]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return [float(number) for number in process.stdout.readline().split()]


def pairs(other: Path, kind: str, count: int, folder: str) -> list[tuple[list[float], list[float]]]:
    """Return what each turn took, the other checkout's first; who begins changes from pair to pair."""
    sys.path.insert(0, str(HERE.parent))
    service = importlib.import_module("sending").service
    found = []
    with service(KINDS[kind][3]) as url, tempfile.TemporaryDirectory() as state:
        common: dict[str, Any] = {"text": True, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        crew = [
            subprocess.Popen(
                [sys.executable, "-P", __file__, str(tree), "--kind", kind, "--folder", folder, "--work", url],
                env={**os.environ, "XDG_STATE_HOME": state},
                **common,
            )
            for tree in (other.resolve(), HERE.parent)
        ]
        for process in crew:
            asked(process)  # imports, and the first connection
        for number in range(count):
            order = crew if number % 2 else crew[::-1]
            took = {process.pid: asked(process) for process in order}
            found.append((took[crew[0].pid], took[crew[1].pid]))
        for process in crew:
            process.communicate()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("--kind", choices=KINDS, default="sequential")
    parser.add_argument("--pairs", type=int, default=0, help="by default 50 for sequential, 4 for the others")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where the ledgers are")
    parser.add_argument("--work", metavar="URL", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(str(given.other), given.kind, given.work, given.folder)
        return
    found = pairs(given.other, given.kind, given.pairs or (50 if given.kind == "sequential" else 4), given.folder)
    for place, name in enumerate(("by the clock", "of the processor")):
        ratios = [ours[place] / theirs[place] for theirs, ours in found]
        low, middle, high = statistics.quantiles(ratios, n=4)
        each = statistics.median(theirs[place] for theirs, _ in found) / KINDS[given.kind][0] * 1e6
        print(f"{name:<16}  {middle:.3f} ({low:.3f}-{high:.3f}) of the other, which took {each:.0f} us a row")


if __name__ == "__main__":
    main()
