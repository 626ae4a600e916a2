"""How fast phone lists are read, against phonenumbers itself.

    python benchmarks/phones.py [--rows N] [--runs K] [--verdict] [--list NAME] [--memory]

The reference is phonenumbers with its pattern cache on, asked row by row, its answers built into the same frame. Both
sides run in one process on the same rows, alternating, and CPU time is compared, so that a busy machine disturbs
little. The reference is slow, so it gets the first rows only. No row of a list comes twice, but in the list of repeats.
--verdict leaves ``normalize`` out, --list measures some of the lists. Memory is how far the peak grows, from the list
in memory to the verdict beside it, in a process of its own that has judged a short list before; --memory measures
nothing else, and also a process that has not: what it reads and builds once (the tables, phonenumbers' metadata, parts
of libraries) is then counted with the list.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import phonenumbers

from smsotp_nb import phones
from smsotp_nb._phones import countries, reference

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))
from support import phone_lists  # noqa: E402 - the lists the tests are made from

REFERENCE_ROWS = 40_000


def unlike(make: Callable[[int, int], pd.DataFrame], rows: int) -> pd.DataFrame:
    """Return so many rows of which no two are the same."""
    made = pd.DataFrame()
    for seed in itertools.count(5):
        made = pd.concat([made, make(rows, seed)], ignore_index=True).drop_duplicates(ignore_index=True)
        if len(made) >= rows:
            return made.sample(rows, random_state=5, ignore_index=True)
    raise AssertionError


def messy(rows: int, seed: int) -> pd.DataFrame:
    return phone_lists.messy(rows, seed=seed)


def american(rows: int, seed: int) -> pd.DataFrame:
    return phone_lists.messy(rows, seed=seed, regions=["US"]).drop(columns="country")


def e164(rows: int, seed: int) -> pd.DataFrame:
    draw = random.Random(seed)
    numbers = [it for it in phone_lists.example_numbers(phone_lists.LARGE) if phone_lists.is_person(it[1])]
    drawn = [draw.choice(numbers) for _ in range(rows)]
    texts = [phone_lists.E164(phone_lists.drawn(number, draw, 6), draw) for _, number in drawn]
    return pd.DataFrame({"phone": texts, "country": [region for region, _ in drawn]}).astype("str")


def repeating(rows: int) -> pd.DataFrame:
    return unlike(messy, rows // 10).sample(rows, replace=True, random_state=5, ignore_index=True)


LISTS: dict[str, Callable[[int], pd.DataFrame]] = {
    "messy, 64 regions": functools.partial(unlike, messy),
    "90% repeats": repeating,
    "already E.164": functools.partial(unlike, e164),
    "one default region": functools.partial(unlike, american),
}


def row_by_row(frame: pd.DataFrame) -> pd.DataFrame:
    """phonenumbers' own loop: nothing is asked only once."""
    regions = frame["country"] if "country" in frame else ["US"] * len(frame)
    return reference.frame([asked(text, region) for text, region in zip(frame["phone"], regions, strict=True)])


def asked(text: str, region: str | None) -> reference.Answer:
    """Put one number to phonenumbers, and whether it is valid beside its type."""
    try:
        parsed = phonenumbers.parse(text or "", region)
    except phonenumbers.NumberParseException:
        return reference.ask(text, region)
    valid = phonenumbers.is_valid_number(parsed)
    return reference.Answer(
        e164=phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164),
        region=phonenumbers.region_code_for_number(parsed),
        cc=str(parsed.country_code),
        valid=valid,
        type=phonenumbers.PhoneNumberType.to_string(phonenumbers.number_type(parsed)),
        reason=None if valid else countries._why(parsed),
        extension=parsed.extension,
    )


def verdict(frame: pd.DataFrame) -> pd.DataFrame:
    if "country" in frame:
        return phones.parse(frame["phone"], region=frame["country"])
    return phones.parse(frame["phone"], default_region="US")


def normalize(frame: pd.DataFrame) -> pd.DataFrame:
    if "country" in frame:
        return phones.normalize(frame["phone"], region=frame["country"])
    return phones.normalize(frame["phone"], default_region="US")


Work = Callable[[pd.DataFrame], object]


def timed(work: Work, frame: pd.DataFrame) -> float:
    """CPU microseconds a row."""
    begun = time.process_time()
    work(frame)
    return (time.process_time() - begun) / len(frame) * 1e6


def spread(values: list[float], digits: int = 2) -> str:
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def measure(name: str, frame: pd.DataFrame, runs: int, works: list[Work]) -> None:
    part = frame.head(REFERENCE_ROWS)
    for work, rows in ((row_by_row, 2_000), *((work, 30_000) for work in works)):
        work(frame.head(rows))
    slow: list[float] = []
    others: list[list[float]] = [[] for _ in works]
    for _ in range(runs):
        slow.append(timed(row_by_row, part))
        for work, times in zip(works, others, strict=True):
            times.append(timed(work, frame))
    cells = [spread(slow)]
    for times in others:
        cells += [spread(times), spread([one / other for one, other in zip(slow, times, strict=True)], 1)]
    print(f"{name:20}", *(f"{cell:>21}" for cell in cells), f"{memory(frame, runs):>14}", flush=True)


def few_rows(runs: int) -> None:
    frame = phone_lists.messy(10, seed=9)
    works = (row_by_row, verdict, normalize)
    rounds = [[timed(work, frame) for work in works] for _ in range(runs * 30)]
    slow, fast, judged = (statistics.median(side) * 10 for side in zip(*rounds, strict=True))
    print(f"\nten rows: phonenumbers {slow:.0f} us, verdict {fast:.0f} us, normalize {judged:.0f} us")


MEMORY = """
import sys
sys.path.insert(0, {root!r})
import pandas as pd
import phonenumbers
from smsotp_nb import phones
def megabytes(name):
    return int(open("/proc/self/status").read().split(name + ":")[1].split()[0]) * 1024 / 1e6
made = pd.read_feather({file!r})
given = {{"region": made["country"]}} if "country" in made else {{"default_region": "US"}}
few = {{name: value.head(2_000) if name == "region" else value for name, value in given.items()}}
if {warm}:
    phones.{judge}(made["phone"].head(2_000), **few)
open("/proc/self/clear_refs", "w").write("5")
before = megabytes("VmRSS")
answer = phones.{judge}(made["phone"], **given)
print(f"{{megabytes('VmHWM') - before:.0f}}")
"""


def memory(frame: pd.DataFrame, runs: int, *, warm: bool = True, judge: str = "verdict") -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "list.feather")
        frame.to_feather(file, compression="uncompressed")
        script = MEMORY.format(root=str(ROOT), file=file, warm=warm, judge=judge)
        told = [
            subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
            for _ in range(runs)
        ]
    wrong = [run.stderr.strip().splitlines()[-1:] for run in told if run.returncode]
    return f"not measured here: {wrong[0]}" if wrong else spread([float(run.stdout) for run in told], 0)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--verdict", action="store_true")
    options.add_argument("--list", choices=LISTS, nargs="*", default=list(LISTS))
    options.add_argument("--memory", action="store_true")
    chosen = options.parse_args()
    lists = {name: LISTS[name] for name in chosen.list}
    print(f"{chosen.rows:,} rows, {chosen.runs} runs: median (lowest-highest)\n")
    if chosen.memory:
        for name, make in lists.items():
            frame = make(chosen.rows)
            for judge in ("verdict", "normalize"):
                told = [memory(frame, chosen.runs, warm=warm, judge=judge) for warm in (True, False)]
                print(f"{name:20} {judge}: {told[0]} MB added at the peak, {told[1]} in a new process", flush=True)
        return
    reference.enable_pattern_cache()
    print("CPU microseconds a row")
    works = [verdict] if chosen.verdict else [verdict, normalize]
    heads = ("phonenumbers", *(head for work in works for head in (work.__name__, "times as fast")))
    print(f"{'list':20}", *(f"{head:>21}" for head in heads), f"{'MB added':>14}")
    for name, make in lists.items():
        measure(name, make(chosen.rows), chosen.runs, works)
    few_rows(chosen.runs)


if __name__ == "__main__":
    main()
