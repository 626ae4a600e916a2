"""How fast lists are read and cleaned, and in how much memory.

    python benchmarks/lists.py [--rows N] [--runs K] [--large N]

Reading: CPU time of `read_recipients` against `pandas.read_csv(dtype=str, keep_default_na=False)` on the same file, in
turn in one process; of a workbook with a tenth of the rows, against `pandas.read_excel(engine="openpyxl")`. Cleaning:
`smsotp-nb clean --out --unusable` in a process of its own, wall and CPU time, against a process that only reads the
same file with pandas and writes it again; and what it is without `phones.normalize`.
Memory: the highest resident size of such a process on a list of --rows and on one of --large rows.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from smsotp_nb.recipients import read_recipients

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))
from support import phone_lists  # noqa: E402 - the lists the tests are made from

MADE = 100_000  # rows drawn; a longer list has them again with other last digits

CLEAN = """
import json, resource, sys, time
from smsotp_nb import _cli as cli, phones
from smsotp_nb._phones import pieces
judged, normalize = 0.0, pieces.normalize_columns
def timed(*given, **named):
    global judged
    begun = time.process_time()
    try:
        return normalize(*given, **named)
    finally:
        judged += time.process_time() - begun
pieces.normalize_columns = timed
begun, cpu = time.perf_counter(), time.process_time()
code = cli.main(["clean", *sys.argv[1:]])
told = {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - cpu, "judged": judged, "code": code}
print(json.dumps(told | {"megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}))
"""
COPY = """
import json, sys, time
import pandas as pd
cpu = time.process_time()
for at, rows in enumerate(pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False, chunksize=50_000)):
    rows.to_csv(sys.argv[2], mode="a" if at else "w", header=not at, index=False)
print(json.dumps({"cpu": time.process_time() - cpu}))
"""


def people(rows: int) -> pd.DataFrame:
    """Return a list as people send it: messy numbers of 64 regions, no number twice, names, remarks with signs."""
    draw = random.Random(7)
    made = phone_lists.messy(min(rows, MADE), seed=7)
    made["name"] = [draw.choice(["Ann", "Zoë", "Doe, Jane", "O'Neil", "Bo"]) + f" {at}" for at in range(len(made))]
    made["email"] = [f"n{at}@example.org" for at in range(len(made))]
    made["remark"] = [draw.choice(["", "plain", 'says "call"', "two\nlines", "=1+1"]) for _ in range(len(made))]
    return made


def write(file: Path, rows: int) -> Path:
    """Write so many rows; the numbers of every further hundred thousand differ in their last digits."""
    made = people(rows)
    for turn in range(-(-rows // len(made))):
        part = made.head(rows - turn * len(made))
        digits = part["phone"].str.replace(r"[0-9]{3}(?=[^0-9]*$)", f"{turn:03}", regex=True) if turn else part["phone"]
        part.assign(phone=digits).to_csv(file, mode="a" if turn else "w", header=not turn, index=False)
    return file


KINDS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "as people send it": lambda made, file: made.to_csv(file, index=False),
    "every cell quoted": lambda made, file: made.to_csv(file, index=False, quoting=1),
    "no quotes at all": lambda made, file: made[["phone", "country", "email"]].to_csv(file, index=False),
    "UTF-16": lambda made, file: made.to_csv(file, index=False, encoding="utf-16"),
    "one short row in 10,000": lambda made, file: short_rows(made, file),
}


def short_rows(made: pd.DataFrame, file: Path) -> None:
    lines = made[["phone", "country", "email"]].to_csv(index=False).splitlines(keepends=True)
    file.write_text("".join(line if at % 10_000 else line.rsplit(",", 1)[0] + "\n" for at, line in enumerate(lines, 1)))


def cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def spread(values: list[float], digits: int = 2) -> str:
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f}-{max(values):,.{digits}f})"


def reading(folder: Path, rows: int, runs: int) -> None:
    made = read_recipients(write(folder / "made.csv", rows)).fillna("")
    print(f"\nreading {rows:,} rows: CPU against pandas.read_csv(dtype=str)")
    for name, make in KINDS.items():
        file = folder / "list.csv"
        make(made, file)
        options = {"encoding": "utf-16"} if name == "UTF-16" else {}

        def theirs(file: Path = file, options: dict[str, str] = options) -> object:
            return pd.read_csv(file, dtype=str, keep_default_na=False, **options)  # type: ignore[call-overload]

        ratios = []
        for _ in range(runs):
            base = cpu(theirs)
            ratios.append(cpu(lambda file=file: quiet(file)) / base)  # type: ignore[misc]
        print(f"{name:26} {spread(ratios)} times", flush=True)
    book = folder / "list.xlsx"
    made.head(rows // 10).to_excel(book, index=False)
    ratios = []
    for _ in range(runs):
        base = cpu(lambda: pd.read_excel(book, dtype=str, engine="openpyxl"))
        ratios.append(cpu(lambda: read_recipients(book)) / base)
    print(f"{'workbook, of openpyxl':26} {spread(ratios)} times", flush=True)


def quiet(file: Path) -> pd.DataFrame:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_recipients(file, sep=",")


def told(script: str, *arguments: object) -> dict[str, float]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def cleaning(folder: Path, rows: int, runs: int) -> None:
    source = write(folder / f"{rows}.csv", rows)
    out, bad, copy = folder / "out.csv", folder / "bad.csv", folder / "copy.csv"
    named = ("--phone", "phone", "--region", "country", "--out", out, "--unusable", bad, "--force")
    found = [(told(CLEAN, source, *named), told(COPY, source, copy)["cpu"]) for _ in range(runs)]
    print(f"\ncleaning {rows:,} rows, {source.stat().st_size / 1e6:,.0f} MB")
    print(f"rows a second              {spread([rows / run['seconds'] for run, _ in found], 0)}")
    print(f"rows a second of CPU       {spread([rows / run['cpu'] for run, _ in found], 0)}")
    print(f"... of all but normalize   {spread([rows / (run['cpu'] - run['judged']) for run, _ in found], 0)}")
    print(f"CPU against a copy         {spread([run['cpu'] / base for run, base in found])} times")
    print(f"... of all but normalize   {spread([(run['cpu'] - run['judged']) / base for run, base in found])} times")
    print(f"highest memory             {spread([run['megabytes'] for run, _ in found], 0)} MB", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--large", type=int, default=5_000_000)
    chosen = options.parse_args()
    print(f"{chosen.runs} runs: median (lowest-highest)")
    with tempfile.TemporaryDirectory() as folder:
        reading(Path(folder), chosen.rows, chosen.runs)
        cleaning(Path(folder), chosen.rows, chosen.runs)
        if chosen.large:
            cleaning(Path(folder), chosen.large, 1)


if __name__ == "__main__":
    main()
