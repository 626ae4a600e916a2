"""The steps in a row, chunk by chunk; what they leave undecided goes to phonenumbers itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from .. import reference
from . import assembly, closer, digits, prefixes, tables
from . import repeats as repeats_in
from .assembly import Asked, Columns
from .prefixes import NO_REGION, ODD_REGION
from .tables import Tables

CHUNK: Final = 32_768  # rows at a time: the working arrays of a chunk stay in the processor's second-level cache

Progress = Callable[[int], None]
Ints = npt.NDArray[Any]  # int32


def verdict(
    text: pd.Series, region: pd.Series, *, it: Tables | None = None, progress: Progress | None = None
) -> pd.DataFrame:
    """Answer for ``str`` columns of text and region, exactly as ``reference.verdict`` does.

    ``progress`` is called with the number of rows done after each chunk; an exception it raises stops the work.

    Example:
        >>> verdict(pd.Series(["030 901820"], dtype="str"), pd.Series(["DE"], dtype="str"))["e164"][0]
        '+4930901820'
    """
    it = it or tables.load()
    if it is None:
        return reference.verdict(text, region)
    texts = as_arrow(text)
    place, names = pd.factorize(region, use_na_sentinel=True)
    known = _Regions([*names, None], it)
    repeats = repeats_in.distinct_rows(texts, place)
    if repeats is None:
        return assembly.frame(*_answers(texts, place, known, it, progress), it)
    first, which = repeats
    columns, extension = _answers(texts.take(pa.array(first)), place[first], known, it, progress)
    return assembly.frame(columns.take(which), extension if extension is None else extension.take(pa.array(which)), it)


def _answers(
    texts: pa.Array, place: Any, known: _Regions, it: Tables, progress: Progress | None
) -> tuple[Columns, pa.Array | None]:
    parts, extensions = [], []
    for first in range(0, max(len(texts), 1), CHUNK):
        part, extension = _chunk(texts.slice(first, CHUNK), place[first : first + CHUNK], known, it)
        parts.append(part)
        extensions.append(extension)
        if progress is not None:
            progress(min(first + CHUNK, len(texts)))
    return _joined(parts), _joined_extensions(extensions, parts)


class _Regions:
    """The distinct regions of a list: each one's plan and its name as written, the last one for rows without."""

    def __init__(self, names: list[str | None], it: Tables) -> None:
        known = it.region_plan()
        self.names = np.array(names, dtype=object)
        self.plans = np.array([_plan(name, known) for name in names], np.int32)


def _plan(name: str | None, known: dict[str, int]) -> int:
    if name is None:
        return NO_REGION
    return known.get(name, ODD_REGION if name.upper() in known else NO_REGION)


def as_arrow(text: pd.Series) -> pa.Array:
    """Return a text column as one Arrow array, blanks empty (phonenumbers answers both alike)."""
    texts = pa.array(text, pa.large_string(), from_pandas=True)
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    return texts.fill_null("") if texts.null_count else texts


def _chunk(texts: pa.Array, place: Any, known: _Regions, it: Tables) -> tuple[Columns, dict[int, str]]:
    plan = known.plans.take(place, mode="wrap")
    data, offsets = _bytes(texts)
    found = digits.read(data, offsets)
    extensions = closer.look(found, texts)
    found.state[(found.state == digits.READABLE) & (plan >= 0) & it.plan_slow.take(plan)] = digits.UNDECIDED
    readable = np.flatnonzero(found.state == digits.READABLE)
    reading = prefixes.parse(found, readable, plan[readable], it)
    found.state[readable[reading.error == prefixes.UNDECIDED]] = digits.UNDECIDED
    asked = _ask(texts, known.names[place], np.flatnonzero(found.state == digits.UNDECIDED))
    columns = assembly.assemble(reading, readable, len(texts), asked)
    without = set(np.flatnonzero(columns.code < 0).tolist()) if extensions else set()
    extensions = {row: text for row, text in extensions.items() if row not in without}
    found_too = zip(asked.rows.tolist(), asked.answers, strict=True)
    return columns, extensions | {row: answer.extension for row, answer in found_too if answer.extension is not None}


def _ask(texts: pa.Array, names: Any, rows: Any) -> Asked:
    """Put the rows left to phonenumbers."""
    pairs = zip(texts.take(pa.array(rows)).to_pylist(), names[rows], strict=True)
    return Asked(rows, [reference.ask(text, region) for text, region in pairs])


def _bytes(texts: pa.Array) -> tuple[npt.NDArray[np.uint8], Ints]:
    """The bytes of a text column, and where each row begins."""
    _, offset_buffer, data_buffer = texts.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    if data_buffer is None:
        return np.zeros(0, np.uint8), np.zeros(len(texts) + 1, np.int32)
    data = np.frombuffer(data_buffer, np.uint8)[offsets[0] : offsets[-1]]
    return data, (offsets - offsets[0]).astype(np.int32)


def _joined(parts: list[Columns]) -> Columns:
    return Columns(
        e164=pa.concat_arrays([part.e164 for part in parts]),
        region=np.concatenate([part.region for part in parts]),
        code=np.concatenate([part.code for part in parts]),
        kind=np.concatenate([part.kind for part in parts]),
        reason=np.concatenate([part.reason for part in parts]),
    )


def _joined_extensions(extensions: list[dict[int, str]], parts: list[Columns]) -> pa.Array | None:
    if not any(extensions):
        return None
    texts: list[str | None] = []
    for found, part in zip(extensions, parts, strict=True):
        stretch: list[str | None] = [None] * len(part.reason)
        for row, extension in found.items():
            stretch[row] = extension
        texts.extend(stretch)
    return pa.array(texts, pa.large_string())
