"""The contract of a rate table: what one part costs in a country, and in which currency.

A rate is only ever an estimate's input; what a message did cost stands in the service's reply.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

import pandas as pd

from . import wire
from .errors import UsageError

COLUMNS: Final = ("iso", "currency", "price")
_SHOWN = 5
_FLOAT_NOISE = Decimal("1e-9")  # a float such as 0.1 + 0.2 means the six-decimal amount next to it


def read(path: str | Path) -> pd.DataFrame:
    """Read a rate table from a CSV file and check it; separator, BOM and Namibia are taken care of.

    Returns:
        As `check`.

    Raises:
        UsageError: the file is not there or not readable as CSV, or as `check`.

    Example:
        >>> import io, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "rates.csv"
        ...     _ = file.write_text("iso;currency;price\\nNA;USD;0.0395\\n")
        ...     read(file).values.tolist()
        [['NA', 'USD', 0.0395]]
    """
    file = Path(path).expanduser()
    try:
        text = file.read_text(encoding="utf-8-sig")
        separator = max(",;\t", key=text.lstrip().split("\n", 1)[0].count)
        header, *rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator) if any(row)] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        kind = type(error).__name__
        raise UsageError(f"rates cannot be read from {str(path)!r} ({kind}); it must be a UTF-8 CSV") from None
    uneven = [str(place) for place, row in enumerate(rows) if len(row) != len(header)]
    if uneven:
        shown = ", ".join(uneven[:_SHOWN])
        raise UsageError(f"rates in {str(path)!r}: rows {shown} have not {len(header)} cells as the header has")
    return check(pd.DataFrame(rows, columns=pd.Index(header), dtype="str"))


def check(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rates of a frame in one form: ``iso``, ``currency`` (str) and ``price`` (float64, of one part).

    ``iso`` is a two-letter country code, ``currency`` a three-letter one, ``price`` a number or its text with at most
    six decimal places. Other columns are left out. One row a country.

    Raises:
        UsageError: names every unusable row by its label.

    Example:
        >>> check(pd.DataFrame({"iso": ["us"], "currency": ["USD"], "price": ["0.007500"]})).values.tolist()
        [['US', 'USD', 0.0075]]
    """
    _check_columns(frame)
    isos = [_code(value) for value in frame["iso"]]
    currencies = [_code(value) for value in frame["currency"]]
    prices = [_micros(value) for value in frame["price"]]
    problems = []
    seen: dict[str, Any] = {}
    for label, iso, currency, known, raw in zip(frame.index, isos, currencies, prices, frame["price"], strict=True):
        wrong = _wrong(iso, currency, known, raw)
        if iso in seen:
            wrong.append(f"{iso} stands in row {seen[iso]!r} too; one rate a country")
        seen.setdefault(iso, label)
        problems += [f"row {label!r}: {text}" for text in wrong]
    if problems:
        raise UsageError(_message(problems), problems=tuple(problems))
    price = pd.Series([0 if value is None else value for value in prices], dtype="int64")
    return pd.DataFrame(
        {
            "iso": pd.Series(isos, dtype="str"),
            "currency": pd.Series(currencies, dtype="str"),
            "price": (price.astype("float64") / 1_000_000).round(6),
        }
    )


def micros(checked: pd.DataFrame) -> dict[str, tuple[str, int]]:
    """Return currency and price in integer millionths by country, exact, from a checked frame.

    Example:
        >>> micros(check(pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": [0.0075]})))
        {'US': ('USD', 7500)}
    """
    price = (checked["price"] * 1_000_000).round().astype("int64")
    return dict(zip(checked["iso"], zip(checked["currency"], price.tolist(), strict=True), strict=True))


def _check_columns(frame: pd.DataFrame) -> None:
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"rates must be a DataFrame with {', '.join(COLUMNS)}, got {type(frame).__name__}")
    problems = []
    for name in COLUMNS:
        found = int((frame.columns == name).sum()) if len(frame.columns) else 0
        close = difflib.get_close_matches(name, [str(column) for column in frame.columns], n=1)
        if not found:
            problems.append(f"no column {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
        elif found > 1:
            problems.append(f"{found} columns are named {name!r}")
    if problems:
        columns = ", ".join(repr(column) for column in frame.columns) or "none"
        raise UsageError(f"rates need {', '.join(COLUMNS)}: {'; '.join(problems)} (columns: {columns})")


def _code(value: Any) -> str:
    return value.strip().upper() if isinstance(value, str) else ""


def _micros(value: Any) -> int | None:
    if isinstance(value, str):
        return wire.micros(value.strip())
    if isinstance(value, bool) or pd.isna(value):
        return None
    try:
        exact = Decimal(str(value))
        amount = exact.quantize(Decimal("0.000001"))
    except InvalidOperation:
        return None
    return wire.micros(amount) if abs(exact - amount) <= _FLOAT_NOISE else None


def _wrong(iso: str, currency: str, price: int | None, raw: Any) -> list[str]:
    wrong = []
    if not re.fullmatch("[A-Z]{2}", iso):
        wrong.append("iso must be a two-letter country code" + (f", got {iso!r}" if iso else ", it is blank"))
    if not re.fullmatch("[A-Z]{3}", currency):
        got = f", got {currency!r}" if currency else ", it is blank"
        wrong.append(f"currency must be a three-letter code{got}")
    if price is None:
        comma = " (write a point, not a comma)" if isinstance(raw, str) and "," in raw else ""
        wrong.append(f"price must be an amount with at most six decimal places, got {raw!r}{comma}")
    return wrong


def _message(problems: list[str]) -> str:
    more = f" and {len(problems) - _SHOWN} more (see .problems)" if len(problems) > _SHOWN else ""
    return "the rates cannot be used: " + "; ".join(problems[:_SHOWN]) + more
