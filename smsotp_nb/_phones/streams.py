"""Lists of any size, chunk by chunk: beyond one chunk only eight bytes a number are kept in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from .._calling import given, in_our_words, not_a, not_frame, refuse
from .._frames import AnyFrame, as_pandas
from ..columns import require
from ..errors import UsageError
from .beside import free_names
from .judging.judgement import normalize, weigh_column
from .summary import Tally, with_reasons

ROW: Final = "row"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """One chunk of a list: all rows with the new columns, and the rows that cannot be texted with their reasons.

    ``unusable`` begins with ``row``, the row's label in its chunk, which leads back to the list. It ends with
    ``problem, note, meaning`` (the reason in words) and ``ask`` (what to ask the list's owner for).

    Example:
        >>> chunk = next(clean_chunks([pd.DataFrame({"phone": ["n/a"]}, index=[7])], phone="phone"))
        >>> chunk.unusable[["row", "problem", "meaning"]].values.tolist()
        [[7, 'MISSING', 'the cell is blank']]
    """

    rows: pd.DataFrame
    unusable: pd.DataFrame


@in_our_words
def clean_chunks(
    chunks: Iterable[AnyFrame],
    *,
    phone: str,
    region: str | None = None,
    default_region: str | None = None,
    repair: Collection[str] = (),
    tally: Tally | None = None,
) -> Iterator[Cleaned]:
    """Normalize a list that comes in chunks, such as from ``recipients.read_chunks``.

    Each chunk is returned with ``to, region, cc, type, problem, note`` after its own columns (``sms_region`` and so on
    if it has a column of that name). A number seen before, in this chunk or an earlier one, keeps its ``to`` and gets
    the problem DUPLICATE_OF. The evidence of the first chunk's column is used for all chunks, so that all are judged
    alike. ``tally`` counts along; afterwards ``tally.report()`` is the report of the whole list. With
    ``read_chunks(..., numbered=True)`` the row labels are the row numbers in the file.

    Example:
        >>> chunks = [pd.DataFrame({"phone": ["+14155550100"]}), pd.DataFrame({"phone": ["+1 415 555 0100", "n/a"]})]
        >>> [chunk.rows["problem"].tolist() for chunk in clean_chunks(chunks, phone="phone")]
        [[nan], ['DUPLICATE_OF', 'MISSING']]
    """
    if isinstance(chunks, pd.DataFrame | str | Mapping) or not isinstance(chunks, Iterable):
        one = "; write [frame] for one frame" if isinstance(chunks, pd.DataFrame) else ""
        raise UsageError(f"chunks must be frames one after the other, such as a list of them, got {given(chunks)}{one}")
    refuse(None if tally is None else not_a("tally", tally, Tally, wanted="a phones.Tally()"))
    tally = tally if tally is not None else Tally()
    asked: dict[str, Any] = {"default_region": default_region, "repair": repair}
    for chunk in map(as_pandas, chunks):
        _check(chunk, phone, region)
        asked["region"] = chunk[region] if region is not None else None
        if "evidence" not in asked:
            asked["evidence"] = weigh_column(chunk[phone], **asked)
        judged = normalize(chunk[phone], **asked)
        repeats = tally.add(judged, chunk[phone])
        left_out = _unusable(chunk, judged)
        judged["problem"] = judged["problem"].mask(repeats, "DUPLICATE_OF")
        named = judged.rename(columns=free_names(judged.columns, chunk.columns))
        yield Cleaned(pd.concat([chunk, named], axis=1), left_out)


def _unusable(chunk: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    lost = judged["to"].isna().to_numpy()
    found = with_reasons(chunk[lost], judged[lost])
    found.insert(0, free_names([ROW], found.columns)[ROW], found.index)
    return found


def _check(chunk: pd.DataFrame, phone: str, region: str | None) -> None:
    refuse(not_frame("a chunk", chunk))
    require(phone, chunk.columns, where="phone=")
    if region is not None:
        require(region, chunk.columns, where="region=")
