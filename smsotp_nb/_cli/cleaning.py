"""``smsotp-nb clean``: a list of any size, its numbers normalized, and the rows without a usable one."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .._cards import counted
from ..sandbox.command import path_typed
from ..errors import UsageError
from .terminal import add_numbers, add_reading, let_interrupts_through, reading, say

if TYPE_CHECKING:
    from .. import phones
    from .._phones import Tally


def describe(clean: argparse.ArgumentParser) -> None:
    clean.add_argument("file", type=path_typed, help="CSV, Excel or Parquet")
    clean.add_argument(
        "--phone",
        action="append",
        metavar="COLUMN",
        help="column of the numbers (default: found by content); again for others to fall back on",
    )
    add_numbers(clean)
    add_reading(clean)
    clean.add_argument(
        "--out", type=path_typed, metavar="FILE", help="write the list with the new columns: .csv, .tsv, .xlsx"
    )
    clean.add_argument(
        "--unusable",
        type=path_typed,
        metavar="FILE",
        help="write the rows without a usable number, with their row in the list and the reason",
    )
    clean.add_argument("--force", action="store_true", help="replace existing files, but never the list")
    clean.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Stream the list into its files, so that its size does not matter; they appear when all of it is judged."""
    from .._phones import Tally
    from .._results import workbook

    let_interrupts_through()
    paths = [path for path in (options.out, options.unusable) if path is not None]
    tally = Tally()
    with workbook.growing(*paths, inputs=[options.file], overwrite=options.force) as tables:
        written = dict(zip(paths, tables, strict=True))
        for cleaned in _cleaned(options, tally):
            for path, rows in ((options.out, cleaned.rows), (options.unusable, cleaned.unusable)):
                if path is not None:
                    written[path].add(rows)
    print(tally.report())
    for table in tables:
        say(f"{counted(table.rows, 'row')} written to {table.path}")
    return 0


def _cleaned(options: argparse.Namespace, tally: Tally) -> Iterator[phones.Cleaned]:
    """Judge the list chunk by chunk; its columns are found in the first one."""
    from .. import phones
    from .._recipients import called, read_chunks, source_of

    chunks = read_chunks(options.file, **reading(options))
    first = next(chunks)
    phone, region = options.phone, options.region
    if phone is None:
        found = phones.find_columns(first, default_region=options.default_region)
        phone, region = [found.phone], region or found.region
        if found.phone is None:
            raise UsageError(
                f"no column of {options.file} reads like phone numbers; name it with --phone, and the country of "
                "numbers without a calling code with --default-region"
            )
    cleaned = phones.clean_chunks(
        itertools.chain([first], chunks),
        phone=phone,
        region=region,
        default_region=options.default_region,
        reading=phones.Reading(repair=options.repair),
        tally=tally,
    )
    begun = next(cleaned)  # columns and repairs are known to be right
    named, beside = " or ".join(map(repr, phone)), f"column {region!r}" if region else "none"
    say(f"{called(source_of(first))}: numbers in column {named}, countries in {beside}\n")
    yield begun
    yield from cleaned
