"""CSV whose quotes tell text from numbers, and an empty text, ``""``, from a missing one, which is nothing at all.

A writer that quotes everything puts ``""`` for both. It quotes its header, too; ours does not.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any, BinaryIO, Final

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.compute

from .._frames import AnySeries, as_pandas
from .._pandas import STR
from .._showing import NoText, cited, spelled, text_of
from ..errors import UsageError

_QUOTE, _RETURN, _LINE = b'"\r\n'
_ODD: Final = re.compile(r"[^\w ]")  # in a name
_BETWEEN_QUOTES: Final = re.compile(r'"[^"]*(?:"|\Z)')


class _Nothing:
    """What is written for a missing value: the csv module quotes what is no number, and a number may have no text."""

    def __float__(self) -> float:
        return float("nan")

    def __str__(self) -> str:
        return ""


def write(flat: pd.DataFrame, file: BinaryIO, *, marked: bool) -> None:
    """Write a table without its index; ``marked`` begins with a byte order mark."""
    nothing: Any = _Nothing()
    names = (str(name) for name in flat.columns)
    head = ",".join('"' + name.replace('"', '""') + '"' if _ODD.search(name) else name for name in names)
    file.write(f"{head}\n".encode("utf-8-sig" if marked else "utf-8"))
    flat.to_csv(
        file,
        mode="wb",
        index=False,
        header=False,
        quoting=csv.QUOTE_NONNUMERIC,
        encoding="utf-8",
        lineterminator="\n",
        na_rep=nothing,
    )


def read(file: bytes, separator: str) -> pd.DataFrame:
    """Read every cell as text; pandas 2 ends a cell at a zero byte, so another sign travels in its place.

    So does one in place of an empty text, which pandas reads as missing.
    """
    unused = (sign for sign in map(chr, range(0xE000, 0xF900)) if sign.encode() not in file)
    zero, empty = next(unused), next(unused)
    head = file[: file.find(b"\n")].decode("utf-8-sig", "replace")
    tells_empty = bool(_BETWEEN_QUOTES.sub("", head).strip(f"{separator} \r"))  # a name of the header has no quotes
    told = _with_sign(file, separator, empty) if tells_empty else file
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # a row with more cells than there are names
        texts = pd.read_csv(
            io.BytesIO(told.replace(b"\0", zero.encode())),
            sep=separator,
            dtype=STR,
            keep_default_na=False,
            na_values=[""],
            encoding="utf-8-sig",
            index_col=False,
        )
    if told is not file:
        texts = texts.apply(lambda column: column.mask(column == empty, ""))
        texts.columns = [name.replace(empty, "") for name in texts.columns]
    if b"\0" in file:
        texts = texts.apply(lambda column: column.str.replace(zero, "\0", regex=False))
        texts.columns = [name.replace(zero, "\0") for name in texts.columns]
    return texts


def _with_sign(file: bytes, separator: str, sign: str) -> bytes:
    """Put a sign between the quotes of each empty text."""
    signs = np.frombuffer(file, "u1")
    at = _empty_texts(signs, ord(separator))
    if not len(at):
        return file
    put = np.frombuffer(sign.encode(), "u1")
    return np.insert(signs, np.repeat(at + 1, len(put)), np.tile(put, len(at))).tobytes()


def _empty_texts(signs: Any, separator: int) -> Any:
    """Return where the two quotes of an empty text begin; nowhere in a file with a quote that opens or closes nothing.

    Where every text is closed and a quote within is doubled, an even number of quotes stands before a text that opens.
    """
    quotes = np.flatnonzero(signs == _QUOTE)
    if len(quotes) % 2:
        return quotes[:0]
    opens, closes = quotes[::2], quotes[1::2]
    ends = np.zeros(256, bool)
    ends[[separator, _RETURN, _LINE]] = True
    begun = (opens == 0) | ends[signs[opens - 1]]
    mark = (opens == 3) & (signs[:3].tobytes() == b"\xef\xbb\xbf")
    ended = (closes == len(signs) - 1) | ends[signs[np.minimum(closes + 1, len(signs) - 1)]]
    doubled = opens[1:] == closes[:-1] + 1
    sound = (begun | mark | np.append(False, doubled)).all() and (ended | np.append(doubled, False)).all()
    return opens[begun & ended & (closes == opens + 1)] if sound else quotes[:0]


_SIGNS: Final = "=+\\-@\uff1d\uff0b\uff0d\uff20"  # the wide ones run where people write Japanese
_FORMULA: Final = re.compile(rf"\A['\0]*[{_SIGNS}\t\r\n]")
_RUN: Final = re.compile(  # a formula, and no E.164 number
    rf"\A(?:['\0]*[{_SIGNS.replace('+', '')}\t\r\n]|['\0]+\+|\+$|\+[0-9]*[^0-9])"
)
_WITHIN: Final = rf"""([,;\t\r\n])(["' \0]*[{_SIGNS}])"""
_HIDDEN: Final = re.compile(_WITHIN)
_FIRST: Final = pyarrow.array([*(sign.encode() for sign in "'\0=+-@\t\r\n"), b"\xef"], pyarrow.large_binary())
_PLAIN: Final = frozenset({bool, float, type(pd.NaT), type(pd.NA), type(None)})
_NUMBERS: Final = frozenset({int, Decimal})  # of which a few have no text
_TIMES: Final = frozenset(
    {datetime.date, datetime.datetime, datetime.time, datetime.timedelta, pd.Timestamp, pd.Timedelta}
)


def neutral(texts: AnySeries) -> pd.Series:
    """Return a column whose text no spreadsheet runs as a formula; E.164 numbers and other values are unchanged."""
    texts = as_pandas(texts)
    if isinstance(texts.dtype, pd.StringDtype) and texts.dtype.storage == "pyarrow":
        return _neutral_by_column(texts)
    return map_distinct(texts, _guarded)


def _guarded(cell: str) -> str:
    within = _HIDDEN.sub(r"\1'\2", cell)
    return f"'{within}" if _RUN.match(cell) else within


def _neutral_by_column(texts: pd.Series) -> pd.Series:
    """Look at the first sign of every cell, and closer only where one of them can begin a formula."""
    compute = pyarrow.compute
    cells = pyarrow.array(texts, pyarrow.large_string(), from_pandas=True)
    first = compute.binary_slice(cells.cast(pyarrow.large_binary()), 0, 1)
    begins = compute.any(compute.is_in(first, _FIRST)).as_py()
    hides = compute.any(compute.match_substring_regex(cells, "[,;\t\r\n]")).as_py()
    changed = compute.replace_substring_regex(cells, _WITHIN, r"\1'\2") if hides else cells
    if begins:
        run = compute.match_substring_regex(cells, f"^(?:{_RUN.pattern})")
        mark, nothing = (pyarrow.scalar(text, cells.type) for text in ("'", ""))
        changed = compute.if_else(run, compute.binary_join_element_wise(mark, changed, nothing), changed)
    if not (begins or hides):
        return texts
    return pd.Series(pd.array(changed, dtype=texts.dtype), index=texts.index, name=texts.name)


def restored(texts: pd.Series) -> pd.Series:
    """Return what `neutral` made its text of."""

    def unguarded(cell: str) -> str:
        plain = cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
        return _HIDDEN.sub(lambda found: found[1] + found[2].removeprefix("'"), plain)

    return map_distinct(texts, unguarded)


def told(column: pd.Series) -> pd.Series:
    """Return a column in which every value that is neither text, number nor time is its text.

    A file would otherwise ask such a value for its text when nobody looks at it any more: ``b"=1+1"``, a path, a list.

    Raises:
        UsageError: a value has no text; names column and row.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if _is_plain(column.dtype):
        return column
    cells = column.to_numpy(object, copy=True)
    for at, cell in enumerate(cells):
        if type(cell) not in _PLAIN:
            cells[at] = _told(cell, column, at)
    return pd.Series(cells, index=column.index, name=column.name, dtype=object)


def _is_plain(dtype: Any) -> bool:
    kinds = pd.api.types
    return (
        (isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow")  # Python's may hold half a character
        or kinds.is_bool_dtype(dtype)
        or (kinds.is_numeric_dtype(dtype) and not kinds.is_complex_dtype(dtype))
        or kinds.is_datetime64_any_dtype(dtype)
        or kinds.is_timedelta64_dtype(dtype)
    )


def _told(cell: Any, column: pd.Series, at: int) -> Any:
    """Return what a file may hold of a cell: a subclass says what it likes, so the kind itself decides."""
    kind = type(cell)
    if (kind in _TIMES and getattr(cell, "tzinfo", None) is None) or issubclass(kind, np.number | np.bool_):
        return cell
    try:
        text = text_of(cell)
    except NoText as no:
        raise UsageError(
            f"{_place(column, at)}: a value of type {no} has no text that a file could hold; make it text first, or "
            "leave the column out"
        ) from None
    return cell if kind in _NUMBERS else text


def _place(column: pd.Series, at: int) -> str:
    name = spelled(column.name)
    return f"column {cited(name)}, row {cited(column.index[at])}" if name else f"the label of row {at}"


def headed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose columns are named by text, each by another."""
    names = []
    for at, name in enumerate(frame.columns):
        try:
            names.append(text_of(name))
        except NoText as no:
            raise UsageError(
                f"column {at + 1} is named by a value of type {no}, which has no text that a file could hold; rename it"
            ) from None
    repeated = next((name for name in names if names.count(name) > 1), None) if len({*names}) < len(names) else None
    if repeated is not None:
        raise UsageError(f"two columns are named {cited(repeated)}; a file needs different names")
    return frame.set_axis(pd.Index(names, dtype=object), axis=1)


def map_distinct(column: pd.Series, change: Callable[[str], str]) -> pd.Series:
    """Change the text of a column, one call for each distinct value; numbers and other dtypes pass."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if not (column.dtype == object or isinstance(column.dtype, pd.StringDtype)):
        return column
    by_arrow = isinstance(column.dtype, pd.StringDtype) and column.dtype.storage == "pyarrow"
    # pandas 2 takes two objects for one text that differ only behind a zero character.
    distinct = column.unique() if by_arrow else {cell for cell in column.array if isinstance(cell, str)}
    changes = {cell: change(cell) for cell in distinct if isinstance(cell, str)}
    changes = {old: new for old, new in changes.items() if old != new}
    if not changes:
        return column
    changed = column.map(changes)
    return column.where(changed.isna(), changed)


def neutral_frame(flat: pd.DataFrame) -> pd.DataFrame:
    """Return a table that a file may hold: headers and cells no spreadsheet runs, values that are text, number or time.

    Every file of ours gets its cells here.
    """
    flat = headed(flat)
    columns = [neutral(told(flat.iloc[:, position])) for position in range(flat.shape[1])]
    done = pd.concat(columns, axis=1) if columns else flat
    return done.set_axis(neutral(pd.Series(flat.columns, dtype=object)).tolist(), axis=1)


def joined(columns: list[pd.Series], like: pd.DataFrame, *, restore: bool) -> pd.DataFrame:
    frame = pd.concat(columns, axis=1) if columns else like.copy()
    names = pd.Series(like.columns, dtype=STR)
    frame.columns = (restored(names) if restore else names).tolist()
    return frame
