"""How long it takes to plan lists larger than memory, and in how much memory.

    python benchmarks/datasets.py [--rows 1 5 10 20] [--memory "2 GB"] [--compare] [--folder PLACE]

Each list of so many million rows is planned from a `Folder` in a process of its own, of which the highest resident
size is told, with the part of it that was there before the call; and how much disk the plan and the work on it took.
``--compare`` plans the first list by `plan` in memory, too, and says whether both plans are the same.

The numbers have the shape of the North American plan; nobody is dialled. A tenth of the rows repeat an earlier number,
one in a hundred is on a suppression list, one in two hundred cannot be read, and the text has a name out of 5,000.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

MILLION = 1_000_000
NAMES = 5_000
PLAN = """
import json, sys, time
from pathlib import Path
import pandas as pd
import smsotp_nb as sms
from smsotp_nb._planning import UNASKED
asked = json.loads(sys.argv[1])
place = Path(asked["place"])
words = "Hello {name}, the shop in {city} has moved."
call = dict(campaign="benchmark", to="phone", default_region="US",
    keep=["city"], exclude=pd.read_parquet(place / "suppressed.parquet")["phone"],
    rates=pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": [0.0075]}))
def peak():
    said = dict(line.split(":") for line in open("/proc/self/status"))  # ru_maxrss has the parent's, too
    return int(said["VmHWM"].split()[0]) * 1024 / 1e6
before, begun, cpu = peak(), time.perf_counter(), time.process_time()
if asked["whole"]:
    files = sorted((place / "list").iterdir())
    made = sms.plan(pd.concat([sms.read_recipients(file) for file in files], ignore_index=True), words, **call)
    planned = int(made.rows["status"].eq("planned").sum())
else:
    made = sms.plan(sms.Folder(place / "list", into=place / "plan", memory=asked["memory"]), words, **call)
    planned = made._figures["planned"]
print(json.dumps({"seconds": time.perf_counter() - begun, "cpu": time.process_time() - cpu, "peak": peak(),
    "before": before, "planned": planned, "fingerprint": made.fingerprint}))
"""


def main() -> None:
    asked = _asked()
    for at, millions in enumerate(asked.rows):
        with tempfile.TemporaryDirectory(dir=asked.folder) as name:
            place = Path(name)
            write(place, int(millions * MILLION))
            found = _planned(place, memory=asked.memory)
            print(_line(millions, found), flush=True)
            if asked.compare and at == 0:
                shutil.rmtree(place / "plan")
                whole = _planned(place, memory=asked.memory, whole=True)
                same = "the same plan" if whole["fingerprint"] == found["fingerprint"] else "ANOTHER PLAN"
                print(f"{_line(millions, whole)} - in memory, {same}", flush=True)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="+", default=[1, 5, 10, 20], help="millions")
    parser.add_argument("--memory", default="2 GB")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument(
        "--folder", type=Path, help="where the lists are made; by default the system's temporary folder"
    )
    return parser.parse_args()


def write(place: Path, rows: int) -> None:
    """Write a list, a file a million rows, and who is suppressed."""
    (place / "list").mkdir()
    draw = np.random.default_rng(5)
    for first in range(0, rows, MILLION):
        at = np.arange(first, min(first + MILLION, rows))
        repeated = draw.random(len(at)) < 0.1
        number = np.where(repeated, draw.integers(0, at + 1), at)
        pq.write_table(_people(number, draw), place / "list" / f"part-{first // MILLION:04}.parquet")
    suppressed = _numbers(draw.integers(0, rows, rows // 100))
    pq.write_table(pa.table({"phone": suppressed}), place / "suppressed.parquet")


def _people(number: np.ndarray, draw: np.random.Generator) -> pa.Table:
    many = len(number)
    phone = pc.if_else(pa.array(draw.random(many) < 0.005), pa.scalar("not known"), _numbers(number))
    name = pc.binary_join_element_wise("Name", pa.array(draw.integers(0, NAMES, many)).cast(pa.string()), "")
    city = pc.binary_join_element_wise("City", pa.array(draw.integers(0, 20, many)).cast(pa.string()), " ")
    customer = pc.binary_join_element_wise("c", pa.array(number).cast(pa.string()), "-")
    return pa.table({"customer": customer, "phone": phone, "name": name, "city": city})


def _numbers(place: np.ndarray) -> pa.Array:
    area = 201 + place // 7_900_000
    return pc.binary_join_element_wise(
        "+", pa.array(10**10 + area * 10**7 + 2_100_000 + place % 7_900_000).cast("string"), ""
    )


def _planned(place: Path, *, memory: str, whole: bool = False) -> dict[str, float | str]:
    asked = {"place": str(place), "memory": memory, "whole": whole}
    watch = _Disk(place)
    environment = os.environ | {"SMSOTP_LEDGER": str(place / "no-ledger.sqlite")}
    done = subprocess.run(
        [sys.executable, "-c", PLAN, json.dumps(asked)], capture_output=True, text=True, check=False, env=environment
    )
    most = watch.end()
    if done.returncode:
        raise SystemExit(done.stderr)
    kept = sum(file.stat().st_size for file in (place / "plan").glob("*")) if not whole else 0
    return json.loads(done.stdout) | {"work": most / 1e6, "kept": kept / 1e6}


class _Disk:
    """The most that a folder takes beyond the list, looked at twice a second."""

    def __init__(self, place: Path) -> None:
        self._place, self._before, self._most = place, _size(place), 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(0.5):
            self._most = max(self._most, _size(self._place) - self._before)

    def end(self) -> int:
        self._ended.set()
        self._thread.join()
        return self._most


def _size(place: Path) -> int:
    found = 0
    for folder, _, names in os.walk(place):
        for name in names:
            try:
                found += os.stat(os.path.join(folder, name)).st_blocks * 512
            except FileNotFoundError:  # gone meanwhile
                continue
    return found


def _line(millions: float, found: dict) -> str:
    return (
        f"{millions:g} million rows, {found['planned']:,} planned: {found['seconds']:.0f} s, {found['cpu']:.0f} s of "
        f"CPU, {found['peak']:,.0f} MB at most ({found['before']:.0f} MB before), {found['work']:,.0f} MB of disk for "
        f"the work, {found['kept']:,.0f} MB kept"
    )


if __name__ == "__main__":
    main()
