"""A Parquet file that others made, held to the limits of `gate` before it is unpacked."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pyarrow
import pyarrow.compute
import pyarrow.parquet

from ..errors import UsageError
from .gate import UNPACKED, refuse_large, refuse_swollen

# Bytes of a value; of a text the number that stands for it until its bytes are counted.
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}


def read_parquet(file: Path) -> pd.DataFrame:
    """Read a file after a look at what it says of itself; a text that is repeated is held once until it is counted."""
    with pyarrow.parquet.ParquetFile(file) as opened:
        rows, columns = opened.metadata.num_rows, opened.metadata.num_columns
        refuse_large(file, columns=columns, cells=rows * columns)
        _refuse_swollen(opened, file)
        texts = [one.name for one in opened.schema_arrow if _is_text(one.type)]
    table = pyarrow.parquet.read_table(file, read_dictionary=texts)
    frame: pd.DataFrame = _unpacked(table, file).to_pandas()
    return frame


def read_batches(file: Path, columns: Sequence[str], rows: int) -> Iterator[pd.DataFrame]:
    """Read columns of a file of any length, so many rows at a time, each time after a look at what they unpack to."""
    with pyarrow.parquet.ParquetFile(file) as opened:
        _refuse_swollen(opened, file, most=sys.maxsize)
        texts = [one.name for one in opened.schema_arrow if _is_text(one.type)]
    with pyarrow.parquet.ParquetFile(file, read_dictionary=texts, pre_buffer=False) as opened:
        for batch in opened.iter_batches(batch_size=rows, columns=list(columns)):
            table = pyarrow.Table.from_batches([batch]).replace_schema_metadata()
            # A batch with a missing number has the same texts as one without.
            yield _unpacked(table, file).to_pandas(integer_object_nulls=True)


def names_and_rows(file: Path) -> tuple[list[str], int]:
    """Return what a file says of itself: the names of its columns, and how many rows it has."""
    with pyarrow.parquet.ParquetFile(file) as opened:
        refuse_large(file, columns=opened.metadata.num_columns)
        return opened.schema_arrow.names, opened.metadata.num_rows


def _refuse_swollen(opened: pyarrow.parquet.ParquetFile, file: Path, *, most: int = UNPACKED) -> None:
    """Refuse by what a file says of its columns, before any of them is unpacked.

    How many values lists have it says of each piece of a column alone, and pyarrow ends the process where that is
    damaged.
    """
    nested = [one.name for one in opened.schema_arrow if pyarrow.types.is_nested(one.type)]
    if nested:
        raise UsageError(
            f"{file.name} has several values in each cell of column {nested[0]!r}; save it as text, or without it"
        )
    about = opened.metadata
    leaves = [about.schema.column(at) for at in range(about.num_columns)]
    wide = about.num_rows * sum(_WIDTHS.get(leaf.physical_type, leaf.length) for leaf in leaves)
    packed = sum(about.row_group(at).total_byte_size for at in range(about.num_row_groups))
    refuse_swollen(file, max(wide, packed), file.stat().st_size, most=most)


def _unpacked(table: pyarrow.Table, file: Path) -> pyarrow.Table:
    refuse_swollen(file, sum(_size(column) for column in table.columns), file.stat().st_size)
    table.validate(full=True)  # bytes that are no text would break whoever reads them
    plain = pyarrow.schema([one.with_type(_undone(one.type)) for one in table.schema], table.schema.metadata)
    return table.cast(plain)


def _is_text(kind: pyarrow.DataType) -> bool:
    kinds = pyarrow.types
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_binary(kind))


def _undone(kind: pyarrow.DataType) -> pyarrow.DataType:
    return kind.value_type if pyarrow.types.is_dictionary(kind) and _is_text(kind.value_type) else kind


def _size(column: pyarrow.ChunkedArray) -> int:
    """Return the bytes of a column once each of its texts stands where it is used."""
    if not (pyarrow.types.is_dictionary(column.type) and _is_text(column.type.value_type)):
        return int(column.nbytes)
    compute = pyarrow.compute
    lengths = (compute.take(compute.binary_length(one.dictionary), one.indices) for one in column.chunks)
    return sum(int(compute.sum(compute.cast(length, pyarrow.int64())).as_py() or 0) for length in lengths)
