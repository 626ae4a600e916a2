"""How fast phone lists are read, against phonenumbers itself: python benchmarks/phones.py [--rows N] [--runs K]

The reference is phonenumbers with its pattern cache on, asked row by row, its answers built into the same frame. Both
sides run in one process on the same rows, alternating, and CPU time is compared, so that a busy machine disturbs
little. The reference is slow, so it gets the first rows only. Memory is the growth of the peak while a million rows are
read, in a process of its own.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from smsotp_nb import phones
from smsotp_nb.phones import reference

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))
import phone_lists  # noqa: E402 - the lists the tests are made from

REFERENCE_ROWS = 40_000


def e164(rows: int) -> pd.DataFrame:
    draw = random.Random(5)
    numbers = [it for it in phone_lists.example_numbers(phone_lists.LARGE) if phone_lists.is_person(it[1])]
    drawn = [draw.choice(numbers) for _ in range(rows)]
    texts = [phone_lists.E164(phone_lists.drawn(number, draw, 6), draw) for _, number in drawn]
    return pd.DataFrame({"phone": texts, "country": [region for region, _ in drawn]}).astype("str")


def repeating(rows: int) -> pd.DataFrame:
    few = phone_lists.messy(rows // 10, seed=5)
    return few.sample(rows, replace=True, random_state=5).reset_index(drop=True)


LISTS: dict[str, Callable[[int], pd.DataFrame]] = {
    "messy, 64 regions": lambda rows: phone_lists.messy(rows, seed=5),
    "90 % repeats": repeating,
    "already E.164": e164,
    "one default region": lambda rows: phone_lists.messy(rows, seed=5, regions=["US"]).drop(columns="country"),
}


def row_by_row(frame: pd.DataFrame) -> pd.DataFrame:
    """phonenumbers' own loop: nothing is asked only once."""
    regions = frame["country"] if "country" in frame else ["US"] * len(frame)
    return reference.frame([reference.ask(text, region) for text, region in zip(frame["phone"], regions, strict=True)])


def verdict(frame: pd.DataFrame) -> pd.DataFrame:
    if "country" in frame:
        return phones.verdict(frame["phone"], region=frame["country"])
    return phones.verdict(frame["phone"], default_region="US")


def normalize(frame: pd.DataFrame) -> pd.DataFrame:
    if "country" in frame:
        return phones.normalize(frame["phone"], region=frame["country"])
    return phones.normalize(frame["phone"], default_region="US")


def timed(work: Callable[[pd.DataFrame], object], frame: pd.DataFrame) -> float:
    """CPU microseconds a row."""
    begun = time.process_time()
    work(frame)
    return (time.process_time() - begun) / len(frame) * 1e6


def spread(values: list[float], digits: int = 2) -> str:
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def measure(name: str, frame: pd.DataFrame, runs: int) -> None:
    part = frame.head(REFERENCE_ROWS)
    for work, rows in ((row_by_row, 2_000), (verdict, 30_000), (normalize, 3_000)):
        work(frame.head(rows))
    slow, fast, judged = [], [], []
    for _ in range(runs):
        slow.append(timed(row_by_row, part))
        fast.append(timed(verdict, frame))
        judged.append(timed(normalize, frame))
    times = [one / other for one, other in zip(slow, fast, strict=True)]
    judged_times = [one / other for one, other in zip(slow, judged, strict=True)]
    cells = (spread(slow), spread(fast), spread(times, 1), spread(judged), spread(judged_times, 1))
    print(f"{name:20}", *(f"{cell:>21}" for cell in cells))


def few_rows(runs: int) -> None:
    frame = phone_lists.messy(10, seed=9)
    for work in (row_by_row, verdict):
        timed(work, frame)
    pairs = [(timed(row_by_row, frame), timed(verdict, frame)) for _ in range(runs * 30)]
    slow, fast = (statistics.median(side) for side in zip(*pairs, strict=True))
    print(f"\nten rows: phonenumbers {slow * 10:.0f} us, verdict {fast * 10:.0f} us")


MEMORY = """
import resource, sys
sys.path[:0] = {path!r}
import pandas as pd, phone_lists
from smsotp_nb import phones
few = phone_lists.messy(20_000, seed=5)
phones.verdict(few["phone"], region=few["country"])
def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
made = pd.concat([few.assign(phone=few["phone"] + " " * n) for n in range({rows} // 20_000)], ignore_index=True)
texts, regions = made["phone"].copy(), made["country"].copy()
del made, few
open("/proc/self/clear_refs", "w").write("5")
before = peak()
answer = phones.verdict(texts, region=regions)
frame = answer.memory_usage(deep=True).sum() / 1e6
print(f"{{len(answer):,}} rows: the peak grew by {{peak() - before:.0f}} MB; the frame itself is {{frame:.0f}} MB")
"""


def memory(rows: int) -> None:
    path = [str(ROOT), str(ROOT / "tests")]
    run = subprocess.run(
        [sys.executable, "-c", MEMORY.format(path=path, rows=rows)], capture_output=True, text=True, check=False
    )
    print(run.stdout.strip() or f"memory could not be measured here: {run.stderr.strip().splitlines()[-1:]}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--runs", type=int, default=3)
    chosen = options.parse_args()
    print(f"{chosen.rows:,} rows, {chosen.runs} runs: median (lowest-highest), CPU microseconds a row\n")
    heads = ("phonenumbers", "verdict", "times as fast", "normalize", "times as fast")
    print(f"{'list':20}", *(f"{head:>21}" for head in heads))
    for name, make in LISTS.items():
        measure(name, make(chosen.rows), chosen.runs)
    few_rows(chosen.runs)
    memory(chosen.rows)


if __name__ == "__main__":
    main()
