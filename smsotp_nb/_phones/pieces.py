"""Lists that come in pieces: Arrow's record batches for engines that move data so, and frames one after the other.

Engines such as Spark (``mapInArrow``), Ray (``map_batches``), Dask, Polars and DuckDB hand a function record batches or
tables, and take some back. ``parse_batch`` and ``normalize_batch`` are such functions: all columns of the batch come
back in their order, the new ones behind them, and what a row gets depends on that row alone, never on its batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import pandas as pd
import pyarrow as pa

from .._calling import given, in_our_words, not_a, not_frame, refuse
from .._frames import AnyFrame, as_pandas
from .._pandas import STR
from ..columns import require, several_named
from ..errors import UsageError
from .judging.answers import parse
from .judging.evidence import Evidence
from .judging.judgement import first_usable, normalize, normalize_columns, weigh_column
from .judging.policy import NumberOptions, not_reading
from .reference import COLUMNS
from .summary import Tally, free_names, with_reasons

Batch = TypeVar("Batch", pa.RecordBatch, pa.Table)

VERDICT_SCHEMA: Final = pa.schema([(name, pa.bool_() if name == "valid" else pa.string()) for name in COLUMNS])
NORMALIZE_SCHEMA: Final = pa.schema([(name, pa.string()) for name in ("to", "region", "cc", "type", "problem", "note")])
TAKEN_PREFIX: Final = "sms_"


@in_our_words
def parse_batch(batch: Batch, *, phone: str, region: str | None = None, default_region: str | None = None) -> Batch:
    """Add phonenumbers' own answer to a record batch, or to a table, which is then returned.

    ``phone`` and ``region`` name columns of the batch; all else is as in ``parse``. The added columns are always the
    same, prefixed with ``sms_`` if the batch has a column of that name: ``e164, region, cc`` (string), ``valid``
    (bool), ``type, reason, extension`` (string).

    Numbers may have any string type, also dictionary-encoded, or be integers, floats or decimals.

    Raises:
        UsageError: not a batch or table; a column is missing or ambiguous; no name is free for a new column.

    Example:
        >>> batch = pa.record_batch({"phone": ["030 901820", None], "id": [7, 8]})
        >>> parse_batch(batch, phone="phone", default_region="DE").select(["id", "e164", "valid"]).to_pylist()
        [{'id': 7, 'e164': '+4930901820', 'valid': True}, {'id': 8, 'e164': None, 'valid': False}]
    """
    numbers, regions = _asked(batch, phone, region)
    return _beside(batch, parse(numbers, region=regions, default_region=default_region), VERDICT_SCHEMA)


@in_our_words
def normalize_batch(
    batch: Batch,
    *,
    phone: str,
    region: str | None = None,
    default_region: str | None = None,
    numbers: NumberOptions = NumberOptions(),
) -> Batch:
    """Normalize the numbers of a record batch, or of a table, which is then returned.

    ``phone`` and ``region`` name columns of the batch; all else is as in ``normalize``. The added columns are always
    the same, all strings, prefixed with ``sms_`` if the batch has a column of that name: ``to`` (only if we would text
    the number), ``region, cc, type`` (of valid numbers), ``problem``, ``note``. Rows are judged independently of their
    batch: the evidence of ``numbers`` is what ``weigh_column`` found in the whole column or in a sample of it, else
    there is none.

    Raises:
        UsageError: not a batch or table; a column is missing or ambiguous; no name is free for a new column; an unknown
            default region.

    Example:
        >>> import functools, pickle
        >>> numbers = NumberOptions(repair=["lost_plus"])
        >>> clean = functools.partial(normalize_batch, phone="phone", region="country", numbers=numbers)
        >>> batch = pa.record_batch({"phone": ["030 901820", "14155550100"], "country": ["Germany", None]})
        >>> pickle.loads(pickle.dumps(clean))(batch).select(["to", "note"]).to_pylist()
        [{'to': '+4930901820', 'note': 'REGION_NAME FIXED_LINE'},
         {'to': '+14155550100', 'note': 'PLUS_RESTORED TEST_NUMBER'}]
    """
    cells, regions = _asked(batch, phone, region)
    refuse(not_reading(numbers))
    alone = numbers.replace(evidence=numbers._gathered)
    judged = normalize(cells, region=regions, default_region=default_region, numbers=alone)
    return _beside(batch, judged, NORMALIZE_SCHEMA)


def _extended(schema: pa.Schema, added: pa.Schema) -> pa.Schema:
    names = [TAKEN_PREFIX + name if name in schema.names else name for name in added.names]
    taken = [name for name in names if name in schema.names]
    if taken:
        raise UsageError(
            f"the batch has columns {', '.join(map(repr, taken))} already, and they would be added:"
            " rename them, or select the columns you need"
        )
    fields = [field.with_name(name) for field, name in zip(added, names, strict=True)]
    return pa.schema([*schema, *fields], metadata=schema.metadata)


def _asked(batch: Any, phone: str, region: str | None) -> tuple[pd.Series, pd.Series | None]:
    if not isinstance(batch, pa.RecordBatch | pa.Table):
        raise UsageError(
            f"a batch must be a pyarrow RecordBatch or Table, not {type(batch).__name__}:"
            " pyarrow.table(...) makes one of a frame of pandas or Polars"
        )
    return _column(batch, phone, "phone"), None if region is None else _column(batch, region, "region")


def _column(batch: Any, name: str, what: str) -> pd.Series:
    require(name, batch.schema.names, where=f"{what}=")
    return _series(batch.column(batch.schema.names.index(name)))


def _series(column: Any) -> pd.Series:
    """Return an Arrow column as one that is read cell by cell, in the same way with and without missing values."""
    column = _one_array(column)
    kind = column.type
    if pa.types.is_large_string(kind):
        return pd.Series(STR.__from_arrow__(column))
    if pa.types.is_integer(kind):
        return pd.Series(pd.arrays.ArrowExtensionArray(column))
    if pa.types.is_floating(kind):
        return pd.Series(column.to_numpy(zero_copy_only=False))
    return pd.Series(column.to_pylist(), dtype=object)


def _one_array(column: Any) -> Any:
    """Return a column in one piece and without a dictionary; text of any kind as large_string."""
    if isinstance(column, pa.ChunkedArray):
        pieces = [_one_array(chunk) for chunk in column.chunks or [pa.array([], column.type)]]
        return pa.concat_arrays(pieces)
    if pa.types.is_dictionary(column.type):
        return _one_array(column.dictionary).take(column.indices)
    text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return column.cast(pa.large_string()) if any(is_text(column.type) for is_text in text) else column


def _beside(batch: Any, answer: pd.DataFrame, added: pa.Schema) -> Any:
    schema = _extended(batch.schema, added)
    columns = [_array(answer[field.name], field.type) for field in added]
    return type(batch).from_arrays([*batch.columns, *columns], schema=schema)


def _array(column: pd.Series, kind: pa.DataType) -> pa.Array:
    values = pa.array(column, from_pandas=True)
    return (values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values).cast(kind)


ROW: Final = "row"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """One chunk of a list: all rows with the new columns, and the rows that cannot be texted with their reasons.

    ``unusable`` begins with ``row``, the row's label in its chunk, which leads back to the list. It ends with
    ``problem, note, meaning`` (the reason in words) and ``ask`` (what to ask the list's owner for).

    Example:
        >>> chunk = next(clean_chunks([pd.DataFrame({"phone": ["n/a"]}, index=[7])], phone="phone"))
        >>> chunk.unusable[["row", "problem", "meaning"]].values.tolist()
        [[7, 'MISSING', 'no number in the cell: blank, or a word such as n/a']]
    """

    rows: pd.DataFrame
    unusable: pd.DataFrame


@in_our_words
def clean_chunks(
    chunks: Iterable[AnyFrame],
    *,
    phone: str | list[str],
    region: str | None = None,
    default_region: str | None = None,
    numbers: NumberOptions = NumberOptions(),
    tally: Tally | None = None,
) -> Iterator[Cleaned]:
    """Normalize a list that comes in chunks, such as from ``recipients.read_chunks``.

    Each chunk is returned with ``to, region, cc, type, problem, note`` after its own columns (``sms_region`` and so on
    if it has a column of that name). Of several columns, ``phone=["mobile", "phone"]``, the first usable number of each
    row counts, and ``column`` says of which it is. A number seen before, in this chunk or an earlier one, keeps its
    ``to`` and gets the problem DUPLICATE_OF. The evidence of the first chunk's columns is used for all chunks, so that
    all are judged alike. ``tally`` counts along; afterwards ``tally.report()`` is the report of the whole list. With
    ``read_chunks(...)`` the row labels are the row numbers in the file.

    Example:
        >>> chunks = [pd.DataFrame({"phone": ["+14155550100"]}), pd.DataFrame({"phone": ["+1 415 555 0100", "n/a"]})]
        >>> [chunk.rows["problem"].tolist() for chunk in clean_chunks(chunks, phone="phone")]
        [[nan], ['DUPLICATE_OF', 'MISSING']]
    """
    if isinstance(chunks, pd.DataFrame | str | Mapping) or not isinstance(chunks, Iterable):
        one = "; write [frame] for one frame" if isinstance(chunks, pd.DataFrame) else ""
        raise UsageError(f"chunks must be frames one after the other, such as a list of them, got {given(chunks)}{one}")
    refuse(None if tally is None else not_a("tally", tally, Tally, wanted="a Tally()"))
    tally = tally if tally is not None else Tally()
    refuse(not_reading(numbers))
    names = phone if isinstance(phone, list) else [phone]
    evidence: list[Evidence] = []
    for chunk in map(as_pandas, chunks):
        _check(chunk, names, region)
        cells = [chunk[name] for name in names]
        how: dict[str, Any] = {
            "region": chunk[region] if region is not None else None,
            "default_region": default_region,
        }
        evidence = evidence or [weigh_column(each, numbers=numbers, **how) for each in cells]
        judged = first_usable(cells, normalize_columns(cells, evidence, numbers=numbers, **how))
        raw = cells[0] if len(names) == 1 else chunk[names]
        repeats = tally.add(judged, raw, numbers=numbers.replace(evidence=evidence[0]), **how)
        left_out = _unusable(chunk, judged)
        judged["problem"] = judged["problem"].mask(repeats, "DUPLICATE_OF")
        named = judged.rename(columns=free_names(judged.columns, chunk.columns))
        yield Cleaned(pd.concat([chunk, named], axis=1), left_out)


def _unusable(chunk: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    lost = judged["to"].isna().to_numpy()
    found = with_reasons(chunk[lost], judged[lost])
    found.insert(0, free_names([ROW], found.columns)[ROW], found.index)
    return found


def _check(chunk: pd.DataFrame, names: list[str], region: str | None) -> None:
    refuse(not_frame("a chunk", chunk), *several_named("phone", names))
    for name in names:
        require(name, chunk.columns, where="phone=")
    if region is not None:
        require(region, chunk.columns, where="region=")
