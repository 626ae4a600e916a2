"""The steps in a row, chunk by chunk; what they leave undecided goes to phonenumbers itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from .. import reference
from . import assembly, digits, prefixes, tables
from .assembly import KINDS, REASONS, Columns
from .tables import Tables

CHUNK: Final = 32_768  # rows at a time: the working arrays of a chunk stay in the processor's second-level cache

Progress = Callable[[int], None]
Ints = npt.NDArray[np.int32]


def verdict(text: pd.Series, region: pd.Series, *, progress: Progress | None = None) -> pd.DataFrame:
    """Answer for ``str`` columns of text and region, exactly as ``reference.verdict`` does.

    ``progress`` is called with the number of rows done after each chunk; an exception it raises stops the work.

    Example:
        >>> verdict(pd.Series(["030 901820"], dtype="str"), pd.Series(["DE"], dtype="str"))["e164"][0]
        '+4930901820'
    """
    it = tables.load()
    texts = as_arrow(text)
    plans, names = _plans(region, it)
    parts, extensions = [], []
    for first in range(0, max(len(texts), 1), CHUNK):
        part, extension = _chunk(
            texts.slice(first, CHUNK), plans[first : first + CHUNK], names[first : first + CHUNK], it
        )
        parts.append(part)
        extensions.append(extension)
        if progress is not None:
            progress(min(first + CHUNK, len(texts)))
    return assembly.frame(_joined(parts), _joined_extensions(extensions, parts), it)


def as_arrow(text: pd.Series) -> pa.Array:
    """Return a text column as one Arrow array, blanks empty (phonenumbers answers both alike)."""
    texts = pa.array(text, pa.large_string(), from_pandas=True)
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    return texts.fill_null("") if texts.null_count else texts


def _plans(region: pd.Series, it: Tables) -> tuple[Ints, npt.NDArray[np.object_]]:
    """Each row's plan, and its region as written."""
    place, names = pd.factorize(region, use_na_sentinel=True)
    known = it.region_plan()

    def plan(name: str) -> int:
        if name in known:
            return known[name]
        return prefixes.ODD_REGION if name.upper() in known else prefixes.NO_REGION

    plans = np.array([*(plan(str(name)) for name in names), prefixes.NO_REGION], np.int32)
    written = np.array([*(str(name) for name in names), None], dtype=object)
    return plans[place], written[place]


def _chunk(texts: pa.Array, plan: Ints, names: Any, it: Tables) -> tuple[Columns, dict[int, str]]:
    data, offsets = _bytes(texts)
    found = digits.read(data, offsets)
    readable = np.flatnonzero(found.state == digits.READABLE)
    slow = it.plan_slow.take(plan[readable]) & (plan[readable] >= 0)
    readable = readable[~slow]
    reading = prefixes.parse(found, readable, plan[readable], it)
    columns = assembly.assemble(reading, readable, len(texts))
    decided = found.state != digits.UNDECIDED
    decided[np.flatnonzero(found.state == digits.READABLE)] = False
    decided[readable] = reading.error != prefixes.UNDECIDED
    return columns, _ask_reference(columns, texts, names, np.flatnonzero(~decided), it)


def _bytes(texts: pa.Array) -> tuple[npt.NDArray[np.uint8], Ints]:
    """The bytes of a text column, and where each row begins."""
    _, offset_buffer, data_buffer = texts.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    if data_buffer is None:
        return np.zeros(0, np.uint8), np.zeros(len(texts) + 1, np.int32)
    data = np.frombuffer(data_buffer, np.uint8)[offsets[0] : offsets[-1]]
    return data, (offsets - offsets[0]).astype(np.int32)


def _ask_reference(columns: Columns, texts: pa.Array, names: Any, rows: Any, it: Tables) -> dict[int, str]:
    """Put rows to phonenumbers and write its answers over what stands there; return the extensions it found."""
    if not len(rows):
        return {}
    answers = [
        reference.ask(text, region) for text, region in zip(texts.take(rows).to_pylist(), names[rows], strict=True)
    ]
    e164 = columns.e164.to_pylist() if columns.e164 is not None else [None] * len(texts)
    region_plan, code_plan = (
        it.region_plan(),
        {str(code): plan for plan, code in reversed(list(enumerate(it.plan_code)))},
    )
    for row, answer in zip(rows, answers, strict=True):
        e164[row] = answer.e164
        columns.code[row] = code_plan[answer.cc] if answer.cc else -1
        own = code_plan[answer.cc] if answer.region == "001" and answer.cc else -1
        columns.region[row] = region_plan.get(answer.region or "", own)
        columns.kind[row] = KINDS.index(answer.type) if answer.type else -1
        columns.reason[row] = REASONS.index(answer.reason)
    columns.e164 = pa.array(e164, pa.large_string())
    return {
        int(row): answer.extension for row, answer in zip(rows, answers, strict=True) if answer.extension is not None
    }


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
