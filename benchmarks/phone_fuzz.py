"""Look for a text on which the fast verdict differs from phonenumbers.

    python benchmarks/phone_fuzz.py [--rows N] [--seed S]    # texts by chance
    python benchmarks/phone_fuzz.py --every-sign             # every sign at eight places of twenty texts

Ways through phonenumbers' own patterns, numbers with the signs of those patterns put in, strings of nasty pieces, and
made-up lists of every region in every mess are put to both. What differs is added to
tests/phones/phone_findings.csv, which the tests replay from then on.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from smsotp_nb._phones import reference
from smsotp_nb._phones.fast import engine

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))
from support import phone_lists, phone_signs  # noqa: E402

FINDINGS = ROOT / "tests" / "phones" / "phone_findings.csv"
MAKERS = (phone_signs.patterned, phone_signs.patterned, phone_lists.fuzz, phone_lists.corpus, phone_lists.messy)


def differing(frame: pd.DataFrame) -> pd.DataFrame:
    expected = reference.verdict(frame["phone"], frame["country"]).fillna("")
    found = engine.verdict(frame["phone"], frame["country"]).fillna("")
    return frame[(expected != found).any(axis=1)]


def keep(found: pd.DataFrame) -> None:
    with FINDINGS.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for text, region in found.fillna("").itertuples(index=False):
            writer.writerow([text.encode("unicode_escape").decode(), region])


def by_chance(rows: int, size: int, seed: int) -> Iterator[pd.DataFrame]:
    for first, make in zip(range(0, rows, size), itertools.cycle(MAKERS)):
        yield make(min(size, rows - first), seed=seed + first)


def every_sign() -> Iterator[pd.DataFrame]:
    for marked, region in phone_signs.MARKED:
        parts = marked.split("|")
        for place in range(1, len(parts)):
            front, behind = "".join(parts[:place]), "".join(parts[place:])
            texts = [front + sign + behind for sign in phone_signs.every_sign()]
            yield pd.DataFrame({"phone": texts, "country": region}).astype("str")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=10_000_000)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--chunk", type=int, default=50_000)
    options.add_argument("--every-sign", action="store_true")
    chosen = options.parse_args()
    made = every_sign() if chosen.every_sign else by_chance(chosen.rows, chosen.chunk, chosen.seed)
    done = wrong = 0
    begun = time.monotonic()
    for number, frame in enumerate(made, 1):
        found = differing(frame)
        done, wrong = done + len(frame), wrong + len(found)
        if len(found):
            keep(found)
        if number % 20 == 0 or len(found):
            print(f"{done:,} texts, {wrong} differ, {time.monotonic() - begun:.0f} s", flush=True)
    print(f"{'every sign' if chosen.every_sign else f'seed {chosen.seed}'}: {done:,} texts, {wrong} differ")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
