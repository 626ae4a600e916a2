"""Lists of any size, chunk by chunk: beyond one chunk only eight bytes a number are kept in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import pandas as pd

from ..errors import UsageError
from .judgement import normalize
from .summary import Tally, rejected


@dataclass(frozen=True, slots=True)
class Cleaned:
    """One chunk: all rows with the new columns, and those of them that are not texted with their reasons.

    Example:
        >>> chunk = next(clean_chunks([pd.DataFrame({"phone": ["n/a"]})], phone="phone"))
        >>> chunk.rejected["problem"].tolist()
        ['MISSING']
    """

    rows: pd.DataFrame
    rejected: pd.DataFrame


def clean_chunks(
    chunks: Iterable[pd.DataFrame],
    *,
    phone: str,
    region: str | None = None,
    default_region: str | None = None,
    repair: Collection[str] = (),
    tally: Tally | None = None,
) -> Iterator[Cleaned]:
    """Judge a list that comes in chunks, such as ``recipients.read_chunks`` gives; columns are named.

    Each chunk comes back with ``to, region, cc, type, problem, note`` behind its own columns (``sms_region`` and so on
    where it has one of that name). A number met before, in this chunk or an earlier one, keeps its ``to`` and has the
    problem DUPLICATE_OF. ``tally`` counts along: ``tally.report()`` afterwards is the report of the whole list.

    Example:
        >>> chunks = [pd.DataFrame({"phone": ["+14155550100"]}), pd.DataFrame({"phone": ["+1 415 555 0100", "n/a"]})]
        >>> [chunk.rows["problem"].tolist() for chunk in clean_chunks(chunks, phone="phone")]
        [[nan], ['DUPLICATE_OF', 'MISSING']]
    """
    tally = tally if tally is not None else Tally()
    for chunk in chunks:
        _check(chunk, phone, region)
        beside = chunk[region] if region is not None else None
        judged = normalize(chunk[phone], region=beside, default_region=default_region, repair=repair)
        repeats = tally.add(judged, chunk[phone])
        left_out = rejected(chunk, judged)
        judged["problem"] = judged["problem"].mask(repeats, "DUPLICATE_OF")
        named = judged.rename(columns={name: f"sms_{name}" for name in judged.columns if name in chunk.columns})
        yield Cleaned(pd.concat([chunk, named], axis=1), left_out)


def _check(chunk: pd.DataFrame, phone: str, region: str | None) -> None:
    for name in (phone, region):
        if name is not None and name not in chunk.columns:
            raise UsageError(f"no column {name!r}; there are {', '.join(map(repr, chunk.columns))}")
