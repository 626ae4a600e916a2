"""What the file ledger carries: measured points, and a model that is checked against them.

    python benchmarks/capacity.py [--sizes 50000 150000 600000]

Each size is planned, recorded and sent in chunks of 100 by 16 threads to ``quick_service.py``, a process that only
answers; each step is timed alone, in CPU time. The model is a straight line through the first two sizes; what it says
of the last one stands beside what was measured.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sending import campaign, client_of, numbers, service

from smsotp_nb import Ledger, plan, send

STEPS = ("plan", "record", "send", "bytes")
TEXT = "Hello from your shop: everything is new."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs=3, default=[50_000, 150_000, 600_000])
    sizes = parser.parse_args().sizes
    measured(sizes[0] // 10)  # what is only done once
    found = [measured(size) for size in sizes]
    for step in STEPS:
        slope, rest = np.polyfit(sizes[:2], [one[step] for one in found[:2]], 1)
        said, there = slope * sizes[2] + rest, found[2][step]
        per = ", ".join(_each(step, one[step] / size) for one, size in zip(found, sizes, strict=True))
        print(f"{step}: {per} a row; model {said:,.1f}, measured {there:,.1f}: {there / said:.2f}", flush=True)


def _each(step: str, amount: float) -> str:
    return f"{amount:.1f} bytes" if step == "bytes" else f"{amount * 1e6:.1f} us"


def measured(size: int, *, chunk_size: int = 100) -> dict[str, float]:
    """Return the seconds of each step, and the bytes of the ledger."""
    people = numbers(size)
    found = {"plan": _seconds(lambda: _planned(people))}
    made = campaign(size, chunk_size=chunk_size, name=f"size {size}")
    with tempfile.TemporaryDirectory() as name, service(0.0) as url:
        path = Path(name) / "ledger.sqlite"
        with Ledger(path, create=True) as ledger:
            client = client_of(url)
            found["record"] = _seconds(lambda: ledger._begin(made, service=client.service).close())
            found["send"] = _seconds(lambda: _sent(made, client, ledger))
        found["bytes"] = path.stat().st_size
    return found


def _planned(people: pd.DataFrame) -> None:
    plan(people, TEXT, to="to", campaign="planned")


def _sent(made: Any, client: Any, ledger: Ledger) -> None:
    table = send(made.with_requests(threads=16), client=client, ledger=ledger, progress=False)
    assert table["status"].eq("accepted").all()


def _seconds(work: Callable[[], None]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


if __name__ == "__main__":
    main()
