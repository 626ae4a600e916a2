"""Look for a text on which the fast verdict differs from phonenumbers.

    python benchmarks/phone_fuzz.py [--rows N] [--seed S]

Made-up lists, every region in every mess, and strings of nasty pieces are put to both. What differs is added to
tests/phone_findings.csv, which the tests replay from then on.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

import pandas as pd

from smsotp_nb.phones import reference
from smsotp_nb.phones.fast import engine

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))
import phone_lists  # noqa: E402 - the lists the tests are made from

FINDINGS = ROOT / "tests" / "phone_findings.csv"
MAKERS = (phone_lists.fuzz, phone_lists.fuzz, phone_lists.corpus, phone_lists.messy)


def differing(frame: pd.DataFrame) -> pd.DataFrame:
    expected = reference.verdict(frame["phone"], frame["country"]).fillna("")
    found = engine.verdict(frame["phone"], frame["country"]).fillna("")
    return frame[(expected != found).any(axis=1)]


def keep(found: pd.DataFrame) -> None:
    with FINDINGS.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for text, region in found.fillna("").itertuples(index=False):
            writer.writerow([text.encode("unicode_escape").decode(), region])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=10_000_000)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--chunk", type=int, default=50_000)
    chosen = options.parse_args()
    done = wrong = 0
    begun = time.monotonic()
    while done < chosen.rows:
        make = MAKERS[done // chosen.chunk % len(MAKERS)]
        found = differing(make(chosen.chunk, seed=chosen.seed + done))
        done, wrong = done + chosen.chunk, wrong + len(found)
        if len(found):
            keep(found)
        if done % (20 * chosen.chunk) == 0 or len(found):
            print(f"{done:,} texts, {wrong} differ, {time.monotonic() - begun:.0f} s", flush=True)
    print(f"seed {chosen.seed}: {done:,} texts, {wrong} differ")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
