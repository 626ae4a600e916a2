"""Frames of others: polars, Arrow, DuckDB and lists of dicts come in as pandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import pandas as pd
import pyarrow as pa
from pandas.api.extensions import ExtensionDtype

from ._pandas import with_columns
from .errors import UsageError

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame, IntoSeries

    # A frame of pandas or of a library that narwhals knows (Arrow and DuckDB among them), or rows as dicts.
    AnyFrame: TypeAlias = pd.DataFrame | IntoFrame | Sequence[Mapping[str, Any]]
    AnySeries: TypeAlias = pd.Series[Any] | IntoSeries
else:  # narwhals is loaded when a frame of another library comes
    AnyFrame = AnySeries = Any
_OURS = (pd.DataFrame, pd.Series, pd.Index, str, bytes, int, float, type(None))
# pandas' plain integers and booleans have no missing value: 4915112345678 would become 4915112345678.0.
_WITH_MISSING = {
    **{made(): f"Int{made().bit_width}" for made in (pa.int8, pa.int16, pa.int32, pa.int64)},
    **{made(): f"UInt{made().bit_width}" for made in (pa.uint8, pa.uint16, pa.uint32, pa.uint64)},
    pa.bool_(): "boolean",
}
_WITH_GAPS: dict[str, ExtensionDtype] = {"integer": pd.Int64Dtype(), "boolean": pd.BooleanDtype()}


@overload
def as_pandas(value: AnySeries) -> pd.Series[Any]: ...
@overload
def as_pandas(value: AnyFrame) -> pd.DataFrame: ...
@overload
def as_pandas(value: Any) -> Any: ...
def as_pandas(value: Any) -> Any:
    """Return a frame or a column of another library as pandas has it; anything else as it is.

    Whole numbers and booleans with gaps stay what they are, as nullable dtypes. A list of dicts is a frame whose
    columns are all of their keys. What pandas made is returned itself, with its index; the others have none.

    Example:
        >>> as_pandas(pa.table({"phone": [4915112345678, None]}))["phone"].tolist()
        [4915112345678, <NA>]
        >>> as_pandas([{"phone": "+12025550123"}, {"phone": None, "points": 5}])["points"].tolist()
        [<NA>, 5]
    """
    if isinstance(value, _OURS):
        return value
    if isinstance(value, (list, tuple)):
        return _of_dicts(value) if value and all(isinstance(row, Mapping) for row in value) else value
    try:
        if isinstance(value, pa.Array):
            return _column(pa.chunked_array([value]))
        return _of_arrow(value) if isinstance(value, (pa.Table, pa.RecordBatch)) else _of_others(value)
    except Exception as error:  # noqa: BLE001 - whatever the library that has it raises for its own values
        reason = str(error).strip().partition(chr(10))[0]
    raise UsageError(
        f"this {type(value).__name__} cannot be turned into a frame of pandas ({reason}); select the columns that are "
        "needed, or turn it into one yourself"
    )


def _of_dicts(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame([dict(row) for row in rows], dtype=object)
    return with_columns(frame, {name: _one_kind(frame[name]) for name in frame.columns})


def _one_kind(cells: pd.Series[Any]) -> pd.Series[Any]:
    nullable = _WITH_GAPS.get(pd.api.types.infer_dtype(cells, skipna=True))
    if nullable is None or cells.notna().all():
        return cells.infer_objects()
    return cells.astype(nullable)


def _of_others(value: Any) -> Any:
    import narwhals as nw

    found = nw.from_native(value, allow_series=True, pass_through=True)
    if isinstance(found, nw.LazyFrame):
        found = found.collect(backend="pyarrow")
    if isinstance(found, nw.Series):
        return found.to_pandas() if found.implementation.is_pandas_like() else _column(found.to_arrow(), found.name)
    if isinstance(found, nw.DataFrame):
        return found.to_pandas() if found.implementation.is_pandas_like() else _of_arrow(found.to_arrow())
    return value


def _of_arrow(table: pa.Table | pa.RecordBatch) -> pd.DataFrame:
    columns = {place: _column(column) for place, column in enumerate(table.columns)}  # two may have one name
    frame = pd.DataFrame(columns, index=range(table.num_rows))
    frame.columns = pd.Index(table.schema.names)
    return frame


def _column(column: Any, name: str | None = None) -> pd.Series[Any]:
    chunks = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if chunks.type == pa.string_view():
        chunks = chunks.cast(pa.large_string())
    dtype = _WITH_MISSING.get(chunks.type) if chunks.null_count else None
    made = pd.array(chunks.to_pylist(), dtype=dtype) if dtype else chunks.to_pandas()
    return pd.Series(made, name=name or None)
