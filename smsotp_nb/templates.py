"""Text with ``{placeholders}``: parsed once, filled for a whole frame, with values written the way people write them.

``{column}`` stands for the value of that column, ``{{`` and ``}}`` for braces. Nothing else is interpreted: no
attributes, no formats, and braces within a value are never expanded.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

import numpy as np
import pandas as pd

from . import columns
from ._calling import given, in_our_words, not_frame, not_mapping, not_text, refuse
from ._frames import AnyFrame, AnySeries, as_pandas
from ._pandas import STR
from .errors import UsageError

__all__ = ["Filled", "Template", "parse"]


_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Filled:
    """The texts of a frame, on its index.

    ``text`` (str) is NaN in a row with a missing value, ``missing`` (bool) marks these rows, and ``columns`` (str)
    names the missing columns as ``VALUE_MISSING:<column>``, separated by blanks.

    Example:
        >>> filled = parse("Hi {name}").fill(pd.DataFrame({"name": ["Ana", None]}))
        >>> filled.text.tolist(), filled.missing.tolist(), filled.columns.tolist()
        (['Hi Ana', nan], [False, True], [nan, 'VALUE_MISSING:name'])
    """

    text: pd.Series[str]
    missing: pd.Series[bool]
    columns: pd.Series[str]


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed text: ``literals`` around the ``slots`` (one more than those), ``names`` each placeholder once.

    Example:
        >>> parse("{a} and {a}, {{literally}}").names
        ('a',)
    """

    literals: tuple[str, ...]
    slots: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.slots))

    @in_our_words
    def fill(self, frame: AnyFrame, *, fill: Mapping[str, Any] | None = None) -> Filled:
        """Fill the text for every row; ``fill`` has the value that stands in where a column's is missing.

        A missing value is NaN, None or blank text.

        Raises:
            UsageError: a placeholder or a key of ``fill`` is no column of the frame.

        Example:
            >>> people = pd.DataFrame({"name": ["Ana", None], "owed": [20.0, 7.5]})
            >>> parse("{name}: EUR {owed}").fill(people, fill={"name": "you"}).text.tolist()
            ['Ana: EUR 20', 'you: EUR 7.5']
        """
        frame = as_pandas(frame)
        values = column_texts(frame, self.names, fill=fill)
        text = written(self, values, len(frame))
        missing, columns = missing_values(values, len(frame))
        return Filled(text.set_axis(frame.index), missing.set_axis(frame.index), columns.set_axis(frame.index))


@in_our_words
def parse(text: str) -> Template:
    """Parse the placeholders of a text.

    Raises:
        UsageError: an unmatched brace, or a placeholder without a name.

    Example:
        >>> parse("Hi {first name}, {{20}} % off").literals
        ('Hi ', ', {20} % off')
    """
    refuse(not_text("text", text, hint="; parse reads one template, whose {column} stands for each row's value"))
    literals: list[list[str]] = [[]]
    slots, at = [], 0
    for token in _TOKEN.finditer(text):
        literals[-1].append(text[at : token.start()])
        at = token.end()
        if token[0] in ("{{", "}}"):
            literals[-1].append(token[0][0])
        elif token[1] and token[1].strip():
            slots.append(token[1])
            literals.append([])
        else:
            raise UsageError(_bad_brace(text, token))
    literals[-1].append(text[at:])
    return Template(tuple(map("".join, literals)), tuple(slots))


def column_texts(
    frame: AnyFrame, names: Iterable[str], *, fill: Mapping[str, Any] | None = None
) -> dict[str, pd.Series[str]]:
    """Return the named columns as text, by name, each on a fresh index 0.. in the order of the rows.

    Raises:
        UsageError: lists every name, and every key of ``fill``, that is no column, each with the closest one.
    """
    frame = as_pandas(frame)
    no_dict = None if fill is None else not_mapping("fill", fill, example="{'name': 'there'}")
    refuse(not_frame("frame", frame), no_dict)
    wanted = list(dict.fromkeys(names))
    fill = dict(fill or {})
    wrong = [complaint for name in wanted if (complaint := no_placeholder(name, frame))]
    wrong += [
        f"fill={{{key!r}: ...}} fills no placeholder ({', '.join(map(repr, wanted[:12])) or 'none'})"
        for key in fill
        if key not in wanted
    ]
    if wrong:
        raise UsageError("; ".join(wrong), problems=tuple(wrong))
    found = {name: as_text(frame[name]).reset_index(drop=True) for name in wanted}
    for name, value in fill.items():
        found[name] = found[name].fillna(_fill_value(name, value))
    return found


def written(template: Template, values: Mapping[str, pd.Series[str]], length: int) -> pd.Series[str]:
    """Return a text filled with columns as `column_texts` returns them, on 0..; NaN where a value is missing."""
    text = cast("pd.Series[str]", pd.Series(template.literals[0], index=pd.RangeIndex(length), dtype=STR))
    for name, literal in zip(template.slots, template.literals[1:], strict=True):
        text = text + values[name] + literal if literal else text + values[name]
    return text


def missing_values(values: Mapping[str, pd.Series[str]], length: int) -> tuple[pd.Series[bool], pd.Series[str]]:
    """Return which rows lack a value of these columns, and which ones as ``VALUE_MISSING:<column>``, on 0..."""
    missing = np.zeros(length, dtype=bool)
    columns = _str([None]).take(np.zeros(length, dtype=np.intp)).reset_index(drop=True)
    for name, series in values.items():
        lacks = series.isna().to_numpy()
        if not lacks.any():
            continue
        code = f"VALUE_MISSING:{name}"
        columns = columns.mask(lacks & missing, columns + f" {code}").mask(lacks & ~missing, code)
        missing |= lacks
    return cast("pd.Series[bool]", pd.Series(missing)), columns


def as_text(series: AnySeries) -> pd.Series[str]:
    """Return the values of a column as people write them: dtype ``str``, same index.

    Whole floats lose their ``.0``, no number is written with an exponent, Decimals keep their places, and dates are ISO
    (without a time if the whole column has none). None, NaN, infinities, blank text and invalid Unicode (half a
    surrogate pair) are missing.
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
    formats = " Formats and attributes are not read." if re.search(r"[.:!\[]", str(name)) else ""
    return wrong.replace(f"no column {name!r}", f"no column for the placeholder {{{name}}}", 1) + formats


def _bad_brace(text: str, token: re.Match[str]) -> str:
    around = text[max(0, token.start() - 12) : token.end() + 12]
    if token[1] is not None:
        return f"an empty placeholder at character {token.start() + 1}, near {around!r}; write {{column}} with a name"
    return f"a single {token[0]!r} at character {token.start() + 1}, near {around!r}; a brace as text is written double"


def _fill_value(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    text = as_text(pd.Series([value], dtype=object)).iloc[0] if pd.api.types.is_scalar(value) else None
    if text is None or pd.isna(text):
        raise UsageError(f"fill={{{name!r}: ...}} must be text or a number, got {given(value)}")
    return str(text)


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
        return cast("pd.Series[str]", series.dt.strftime("%Y-%m-%d").astype(STR))
    return _objects(series)


def _objects(series: pd.Series[Any]) -> pd.Series[str]:
    values: list[Any] = series.astype(object).tolist()
    moments = [value for value in values if isinstance(value, dt.datetime) and not pd.isna(value)]
    dates_only = all(moment.time() == dt.time() for moment in moments)
    try:
        texts = [value if type(value) is str else _one(value, dates_only) for value in values]
    except Exception:  # noqa: BLE001 - a cell may be of anybody's class
        raise _no_text(series, dates_only) from None
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


def _no_text(series: pd.Series[Any], dates_only: bool) -> UsageError:
    """Complain of the first cell whose type fails to give its text."""
    for row, value in series.items():
        try:
            _one(value, dates_only)
        except Exception as error:  # noqa: BLE001 - see above
            kind = f"{type(value).__name__} ({type(error).__name__})"
            where = f"column {str(series.name)!r}, row {row!r}"
            return UsageError(f"{where}: a value of type {kind} has no text; make it text first")
    raise AssertionError("a cell has no text, and then it had one")


def _unicode(text: str | None) -> str | None:
    try:
        (text or "").encode()
    except UnicodeEncodeError:
        return None
    return text


def _str(texts: list[str | None]) -> pd.Series[str]:
    return cast("pd.Series[str]", pd.Series(texts, dtype=STR))


def __dir__() -> list[str]:
    return list(__all__)
