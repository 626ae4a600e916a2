"""Text with ``{placeholders}``: parsed once, filled for a whole frame, with values written the way people write them.

``{column}`` stands for the value of that column, ``{column:format}`` for the value in a format, ``{column|words}``
for the value or, where it is missing, these words. ``{{`` and ``}}`` are braces. Nothing else is interpreted: no
attributes, and braces within a value are never expanded.

Formats of numbers are ``.2f``, ``,.2f``, ``.0f``, ``money`` and ``.0%``; of times ``date``, ``day``, ``time``,
``weekday`` and ``%d %m %Y %H %M``; of truth values two words such as ``yes/no``; of text ``<=20``, the most characters.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

import numpy as np
import pandas as pd

from . import _values as values
from . import columns
from ._calling import refuse
from ._frames import AnySeries, as_pandas
from ._pandas import STR
from ._values import Language, Slot
from .errors import UsageError

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed text: ``literals`` around the ``slots`` (one more than those)."""

    literals: tuple[str, ...]
    slots: tuple[Slot, ...]


def parse(text: str) -> Template:
    """Parse the placeholders of a text.

    Raises:
        UsageError: an unmatched brace, or a placeholder without a name.
    """
    literals: list[list[str]] = [[]]
    slots: list[Slot] = []
    at = 0
    for token in _TOKEN.finditer(text):
        literals[-1].append(text[at : token.start()])
        at = token.end()
        if token[0] in ("{{", "}}"):
            literals[-1].append(token[0][0])
        elif token[1] and values.slot(token[1]).column.strip():
            slots.append(values.slot(token[1]))
            literals.append([])
        else:
            raise UsageError(_bad_brace(text, token))
    literals[-1].append(text[at:])
    return Template(tuple(map("".join, literals)), tuple(slots))


def fitted(slot: Slot, names: Collection[Any]) -> Slot:
    """Return a placeholder, or the column whose whole name it is, ``:`` and all."""
    return Slot(slot.source, slot.source) if slot.source in names else slot


def wrong_slots(slots: Iterable[Slot], frame: pd.DataFrame, currency: str | None) -> list[str]:
    """Return what is wrong with placeholders: columns that are not there, each with the closest one, and formats."""
    return [
        complaint
        for one in dict.fromkeys(slots)
        if (complaint := no_placeholder(one.column, frame) or values.wrong_format(one, currency))
    ]


def column_texts(frame: pd.DataFrame, slots: Iterable[Slot], language: Language) -> dict[str, pd.Series[str]]:
    """Return what stands in for each placeholder, by its ``source``, each on a fresh index 0.. in the rows' order.

    Raises:
        UsageError: a format cannot say a value, or a value needs a format; lists every such column.
    """
    wanted = list(dict.fromkeys(slots))
    plain = {name: value_texts(frame[name]) for name in dict.fromkeys(one.column for one in wanted)}
    texts: dict[str, pd.Series[str]] = {}
    wrong = []
    for one in wanted:
        try:
            filled = values.written(frame[one.column], plain[one.column], one, language).reset_index(drop=True)
        except UsageError as error:
            wrong.append(str(error))
        else:
            texts[one.source] = filled if one.missing is None else filled.fillna(one.missing)
    refuse(*wrong)
    return texts


def value_texts(column: pd.Series[Any]) -> pd.Series[str]:
    """Return the values of a column as text, same index, without blanks around them.

    NaN stands where there is none: None, NaN, blank text, or what programs write for no value, such as ``#N/A``.
    """
    texts = as_text(column)
    if column.dtype.kind in "iufbM":
        return texts
    texts = texts.str.strip()
    if texts.str.startswith('="', na=False).any():  # as spreadsheets keep a text from being read as a number
        texts = texts.str.replace(r'^="(.*)"$', r"\1", regex=True)
    return texts.mask(values.no_value(texts))


def written(template: Template, texts: Mapping[str, pd.Series[str]], length: int) -> pd.Series[str]:
    """Return a text filled with columns as `column_texts` returns them, on 0..; NaN where a value is missing."""
    text: pd.Series[str] = pd.Series(template.literals[0], index=pd.RangeIndex(length), dtype=STR)
    for slot, literal in zip(template.slots, template.literals[1:], strict=True):
        value = texts[slot.source]
        text = text + value + literal if literal else text + value
    return text


def missing_values(texts: Mapping[str, pd.Series[str]], length: int) -> tuple[pd.Series[bool], pd.Series[str]]:
    """Return which rows lack a value of these columns, and which ones as ``VALUE_MISSING:<column>``, on 0..."""
    missing = np.zeros(length, dtype=bool)
    columns = _str([None]).take(np.zeros(length, dtype=np.intp)).reset_index(drop=True)
    for source, series in texts.items():
        lacks = series.isna().to_numpy()
        if not lacks.any():
            continue
        code = f"VALUE_MISSING:{values.slot(source).column}"
        columns = columns.mask(lacks & missing, columns + f" {code}").mask(lacks & ~missing, code)
        missing |= lacks
    return cast("pd.Series[bool]", pd.Series(missing)), columns  # the stubs take it for floats


def as_text(series: AnySeries) -> pd.Series[str]:
    """Return the values of a column as people write them: dtype ``str``, same index.

    Whole floats lose their ``.0``, no number is written with an exponent, Decimals keep their places, and dates are ISO
    (without a time if the whole column has none). None, NaN, infinities, blank text and invalid Unicode (half a
    surrogate pair) are missing.

    Example:
        >>> as_text(pd.Series([20.0, 7.5, 1e-7, None])).tolist()
        ['20', '7.5', '0.0000001', nan]
    """
    series = as_pandas(series)
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        categories = as_text(pd.Series(dtype.categories))
        texts = categories.reindex(series.cat.codes).set_axis(series.index)
    elif isinstance(dtype, pd.StringDtype) or (isinstance(dtype, np.dtype) and dtype.kind in "iub"):
        texts = series.astype(STR)
    elif pd.api.types.is_float_dtype(dtype):
        texts = _floats(series)
    elif isinstance(dtype, pd.DatetimeTZDtype) or (isinstance(dtype, np.dtype) and dtype.kind == "M"):
        texts = _datetimes(series)
    else:
        texts = _objects(series)
    return texts.where(texts.str.strip() != "")


def no_placeholder(name: str, frame: pd.DataFrame) -> str | None:
    """Say why a placeholder has no column; None when it has."""
    wrong = columns.absent(name, frame.columns)
    if wrong is None or not wrong.startswith("no column"):
        return wrong
    formats = " Attributes are not read." if re.search(r"[.!\[]", str(name)) else ""
    return wrong.replace(f"no column {name!r}", f"no column for the placeholder {{{name}}}", 1) + formats


def _bad_brace(text: str, token: re.Match[str]) -> str:
    around = text[max(0, token.start() - 12) : token.end() + 12]
    if token[1] is not None:
        return f"an empty placeholder at character {token.start() + 1}, near {around!r}; write {{column}} with a name"
    return f"a single {token[0]!r} at character {token.start() + 1}, near {around!r}; a brace as text is written double"


# -- values as text ----------------------------------------------------------------------------------------------------


def _floats(series: pd.Series[Any]) -> pd.Series[str]:
    kept = np.float32 if str(series.dtype).lower().startswith("float32") else np.float64
    values = series.to_numpy(dtype=kept, na_value=np.nan)
    codes, distinct = pd.factorize(np.where(np.isfinite(values), values, np.nan))
    texts = [np.format_float_positional(kept(value) + kept(0), trim="-") for value in distinct]
    return _str([*texts, None]).take(codes).set_axis(series.index)


def _datetimes(series: pd.Series[Any]) -> pd.Series[str]:
    present = series.dropna()
    if (present == present.dt.normalize()).all():
        dates: pd.Series[str] = series.dt.strftime("%Y-%m-%d").astype(STR)
        return dates
    return _objects(series)


def _objects(series: pd.Series[Any]) -> pd.Series[str]:
    values: list[Any] = series.astype(object).tolist()
    moments = [value for value in values if isinstance(value, dt.datetime) and not pd.isna(value)]
    dates_only = all(moment.time() == dt.time() for moment in moments)
    texts = [value if type(value) is str else _one(value, dates_only) for value in values]
    try:
        return _str(texts).set_axis(series.index)
    except UnicodeEncodeError:
        return _str([_unicode(text) for text in texts]).set_axis(series.index)


def _one(value: Any, dates_only: bool) -> str | None:
    if isinstance(value, str):
        return str(value)
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, Decimal):
        return format(value, "f") if value.is_finite() else None
    if isinstance(value, (float, np.floating)):
        return np.format_float_positional(value + 0, trim="-") if np.isfinite(value) else None
    if isinstance(value, dt.datetime):
        return value.date().isoformat() if dates_only else value.isoformat()
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    return str(value)


def _unicode(text: str | None) -> str | None:
    try:
        (text or "").encode()
    except UnicodeEncodeError:
        return None
    return text


def _str(texts: list[str | None]) -> pd.Series[str]:
    made: pd.Series[str] = pd.Series(texts, dtype=STR)
    return made
