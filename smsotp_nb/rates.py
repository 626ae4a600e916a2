"""The rate table: what one part costs in a country, in which currency, since when, from how many parts a month on.

Rates are used for estimates only; what a message did cost is in the service's reply.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from . import _dates as dates
from . import _wire as wire
from ._amounts import CONTEXT, exact, half_up
from ._calling import given, in_our_words, not_path, not_whole, refuse
from ._foreign.gate import file_at, refuse_large
from ._frames import AnyFrame, as_pandas
from ._pandas import STR, is_missing
from ._phones import country_code
from ._showing import NoText, cited, text_of
from .columns import absent, listed
from .errors import UsageError

__all__ = ["check", "month", "read"]


NEEDED: Final = ("iso", "currency", "price")
OPTIONAL: Final = ("type", "valid_from", "low", "high", "seen", "from_parts", "monthly_fee")
OLD_AFTER: Final = dt.timedelta(days=180)
MEANINGS: Final[dict[str, str]] = {
    "iso": "the country: a two-letter code (`NA` is Namibia), or a name in any language",
    "currency": "three-letter currency code of the price",
    "price": "price of one part, with at most six decimal places",
    "type": "kind of number that the price is for, such as MOBILE; blank for any",
    "valid_from": "first day of the price, as 2026-01-31; of several rows the latest that has begun counts",
    "low": "lowest price seen",
    "high": "highest price seen",
    "from_parts": "part of a calendar month from which on the price holds, of tiers; blank: from the first",
    "monthly_fee": "what the country costs a month besides, such as for a sender number; blank: nothing",
    "seen": f"day of the last observation; a plan that uses rates older than {OLD_AFTER.days} days says so",
}
TYPES: Final = ("MOBILE", "FIXED_LINE", "FIXED_LINE_OR_MOBILE", "VOIP")

_KINDS: Final = {  # of columns that are no amounts
    **dict.fromkeys(("iso", "currency", "type"), STR),
    **dict.fromkeys(("valid_from", "seen"), "datetime64[us]"),
    "from_parts": "Int64",
}
_SHOWN = 5
_LONGEST = 60  # characters of a cell in an error
_FLOAT_NOISE = Decimal("1e-9")  # a float such as 0.1 + 0.2 means the six-decimal amount next to it


@dataclass(frozen=True, slots=True)
class Rate:
    """The price of a part in millionths, the range in which it was seen to vary, and the day it is known for."""

    currency: str
    micros: int
    low: int
    high: int
    dated: dt.date | None

    def old(self, *, today: dt.date) -> bool:
        """Tell whether the rate is older than `OLD_AFTER`; one without a date is not."""
        return self.dated is not None and today - self.dated > OLD_AFTER


Book = Mapping[tuple[str, str], Rate]


@in_our_words
def read(path: str | Path) -> pd.DataFrame:
    """Read a rate table from a CSV file and check it. Any separator, a byte order mark and Namibia (NA) are handled.

    Returns:
        As `check`.

    Raises:
        UsageError: file not found, not readable as CSV, or as in `check`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "rates.csv"
        ...     _ = file.write_text("iso;currency;price\\nNA;USD;0.0395\\n")
        ...     read(file)[["iso", "price"]].values.tolist()
        [['NA', 0.0395]]
    """
    refuse(not_path("path", path, example="'rates.csv'"))
    file = file_at(path, kind=f"a CSV file with {', '.join(NEEDED)}", of="rates ")
    try:
        text = file.read_text(encoding="utf-8-sig")
        separator = max(",;\t", key=text.lstrip().split("\n", 1)[0].count)
        header, *rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator) if any(row)] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        kind = type(error).__name__
        raise UsageError(f"rates cannot be read from {str(path)!r} ({kind}); it must be a UTF-8 CSV") from None
    refuse_large(file, columns=len(header))
    uneven = [str(place) for place, row in enumerate(rows) if len(row) != len(header)]
    if uneven:
        shown = ", ".join(uneven[:_SHOWN])
        raise UsageError(f"rates in {str(path)!r}: rows {shown} do not have {len(header)} cells like the header")
    return check(pd.DataFrame(rows, columns=pd.Index(header), dtype=STR))


@in_our_words
def check(frame: AnyFrame) -> pd.DataFrame:
    """Check a rate table and return it in a uniform form, in its order.

    Required columns are ``iso`` (a country, which becomes its two-letter code), ``currency`` (three-letter code) and
    ``price`` of one part, a number or text with at most six decimal places. Optional are ``type``, a kind of number
    such as MOBILE (blank: any); ``valid_from``, a date (of several rows the latest that has begun applies); ``low`` and
    ``high``, the range in which the price varies; ``seen``, the date of the last observation; ``from_parts``, the part
    of a calendar month from which on the price of a tier holds; and ``monthly_fee``, what the country costs a month
    besides. Other columns are ignored. An estimate knows nothing of the rest of its month: it counts the price of the
    first tier, and its range goes from the lowest to the highest of all; `month` computes a whole month.

    Returns:
        ``iso, currency`` (str), ``price`` (float64), ``type`` (str), ``valid_from`` (datetime64[us]), ``low, high``
        (float64), ``seen`` (datetime64[us]), ``from_parts`` (Int64), ``monthly_fee`` (float64).

    Raises:
        UsageError: names every unusable row by its label.

    Example:
        >>> checked = check(pd.DataFrame({"iso": ["us"], "currency": ["USD"], "price": ["0.007500"]}))
        >>> checked[["iso", "currency", "price", "high"]].values.tolist()
        [['US', 'USD', 0.0075, 0.0075]]
    """
    frame = as_pandas(frame)
    _check_columns(frame)
    cells = {name: frame[name].astype(object).tolist() for name in (*NEEDED, *OPTIONAL) if name in frame.columns}
    blank = [None] * len(frame)
    columns = [cells.get(name, blank) for name in (*NEEDED, *OPTIONAL)]
    when = zip(_dates(frame, "valid_from"), _dates(frame, "seen"), strict=True)
    rows = [
        _Row.read(label, values, days)
        for label, days, *values in zip(frame.index.tolist(), when, *columns, strict=True)
    ]
    problems = [f"row {cited(row.label)}: {problem}" for row in rows for problem in row.problems]
    problems += _repeated(rows) + _without_first(rows)
    if problems:
        raise UsageError(_message(problems), problems=tuple(problems))
    made = {name: [getattr(row, name) for row in rows] for name in (*NEEDED, *OPTIONAL)}
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=_KINDS[name]) if name in _KINDS else _money(pd.Series(values, dtype="int64"))
            for name, values in made.items()
        }
    )


@in_our_words
def month(rates: AnyFrame, parts: Mapping[str, int], *, on: dt.date | None = None) -> pd.DataFrame:
    """Compute what a calendar month costs by a rate table: each part at the price of its tier, and the monthly fees.

    Args:
        rates: as for `check`. Of rates by type of number, those for any type count.
        parts: how many parts were or will be billed in each country, by its two-letter code.
        on: the day whose prices hold for the whole month; by default the latest of the table.

    Returns:
        A row a country of the table and of ``parts``: ``iso, currency`` (str), ``parts`` (Int64), ``usage, monthly_fee,
        cost`` (float64; missing without a rate, which parts then need).

    Raises:
        UsageError: as `check`, or ``parts`` are no numbers by country.

    Example:
        >>> tiers = pd.DataFrame({"iso": "US", "currency": "USD", "price": [0.0075, 0.005], "from_parts": [1, 1001],
        ...                       "monthly_fee": [2, None]})
        >>> month(tiers, {"US": 3000}).values.tolist()
        [['US', 'USD', 3000, 17.5, 2.0, 19.5]]
    """
    checked = check(rates)
    if not isinstance(parts, Mapping):
        raise UsageError(f"parts= must be numbers by country such as {{'US': 3000}}, got {given(parts)}")
    refuse(*(not_whole(f"parts[{iso!r}]", many, least=0) for iso, many in parts.items()))
    day = pd.Timestamp.max if on is None else pd.Timestamp(on)
    held = checked[checked["type"].isna() & ~(checked["valid_from"] > day)]
    kinds = {"iso": STR, "currency": STR, "parts": "Int64", "usage": "Int64", "monthly_fee": "Int64"}
    rows: list[tuple[str, str | None, int, int | None, int | None]] = []
    for iso in dict.fromkeys([*held["iso"], *parts]):
        mine = held[held["iso"].eq(iso)].sort_values("valid_from", na_position="first")
        many = int(parts.get(iso, 0))
        if mine.empty:
            rows.append((iso, None, many, None, None))
            continue
        since = mine["valid_from"].iloc[-1]
        latest = mine["valid_from"].isna() if pd.isna(since) else mine["valid_from"].eq(since)
        tiers = mine[latest].sort_values("from_parts")
        first = tiers["from_parts"].to_numpy("int64") - 1
        ends = np.append(first[1:], max(many, first[-1]))
        within = np.clip(many, first, ends) - first
        prices, fees = ((tiers[name] * 1_000_000).round().astype("int64") for name in ("price", "monthly_fee"))
        rows.append((iso, tiers["currency"].iloc[0], many, int((within * prices.to_numpy()).sum()), int(fees.sum())))
    found = pd.DataFrame(rows, columns=[*kinds]).astype(kinds)
    found["cost"] = found["usage"] + found["monthly_fee"]
    return found.assign(**{name: _money(found[name]) for name in ("usage", "monthly_fee", "cost")})


def book(checked: pd.DataFrame, *, today: dt.date) -> Book:
    """Return the rates that hold today by country and type of number (``""``: any), exact, from a checked frame."""
    found: dict[tuple[str, str], Rate] = {}
    ordered = checked.sort_values(["valid_from", "from_parts"], kind="stable", na_position="first")
    for row in ordered.to_dict("records"):
        since, seen = _day(row["valid_from"]), _day(row["seen"])
        if since is not None and since > today:
            continue
        key = (row["iso"], "" if pd.isna(row["type"]) else row["type"])
        micros, low, high = (round(row[name] * 1_000_000) for name in ("price", "low", "high"))
        if row["from_parts"] > 1:  # a tier of the same day: the estimate does not know how far the month is
            first = found[key]
            found[key] = replace(first, low=min(first.low, low), high=max(first.high, high))
        else:
            found[key] = Rate(row["currency"], micros, low, high, seen or since)
    return found


def find(rates: Book, iso: str, type_: str) -> Rate | None:
    """Return the rate for a number of this country and type, the most particular one, or None where there is none.

    A FIXED_LINE_OR_MOBILE number counts as MOBILE where only that has a rate.
    """
    kinds = (type_, "MOBILE", "") if type_ == "FIXED_LINE_OR_MOBILE" else (type_, "")
    return next((rates[iso, kind] for kind in kinds if (iso, kind) in rates), None)


# -- rows --------------------------------------------------------------------------------------------------------------


_Days = tuple[tuple[dt.date | None, list[str]], tuple[dt.date | None, list[str]]]


@dataclass(frozen=True, slots=True)
class _Row:
    label: Any
    iso: str
    currency: str
    price: int
    type: str | None
    valid_from: dt.date | None
    low: int
    high: int
    seen: dt.date | None
    from_parts: int
    monthly_fee: int
    problems: tuple[str, ...]

    @classmethod
    def read(cls, label: Any, cells: list[Any], days: _Days) -> _Row:
        iso, currency, type_ = (_code(cells[place]) for place in (0, 1, 3))
        country = country_code(cells[0]) if isinstance(cells[0], str) else None
        amounts = {name: cells[place] for name, place in (("price", 2), ("low", 5), ("high", 6))}
        price, low, high = map(_micros, amounts.values())
        from_parts, fee = _from_parts(cells[8]), 0 if _blank(cells[9]) else _micros(cells[9])
        problems = _wrong_codes(country, iso, currency, type_) + _wrong_prices(amounts)
        (valid_from, no_day), (seen, not_seen) = days
        problems += [*no_day, *not_seen]
        if from_parts is None:
            problems.append(f"from_parts must be a whole number from 1 on, got {_said(cells[8])}")
        if fee is None or fee < 0:
            problems.append(f"monthly_fee must be an amount with at most six decimal places, got {_said(cells[9])}")
        price, from_parts, fee = price or 0, from_parts or 1, fee or 0
        low, high = price if low is None else low, price if high is None else high
        if not problems and not low <= price <= high:
            problems.append("low, price and high must be in ascending order")
        of_table = label, country or iso, currency, price, type_ or None, valid_from, low, high, seen, from_parts, fee
        return cls(*of_table, tuple(problems))


def _check_columns(frame: pd.DataFrame) -> None:
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"rates must be a DataFrame or file with the columns {', '.join(NEEDED)}, got {given(frame)}")
    names = [*NEEDED, *(name for name in OPTIONAL if name in frame.columns)]
    problems = [wrong for name in names if (wrong := absent(name, frame.columns, beside=False))]
    if problems:
        raise UsageError(f"rates need {', '.join(NEEDED)}: {'; '.join(problems)} {listed(frame.columns)}")


def _repeated(rows: list[_Row]) -> list[str]:
    first: dict[tuple[str, str | None, dt.date | None, int], Any] = {}
    problems = []
    for row in rows:
        key = (row.iso, row.type, row.valid_from, row.from_parts)
        if key in first:
            problems.append(
                f"row {cited(row.label)}: {row.iso} is in row {cited(first[key])} too; "
                "distinguish them by valid_from, type or from_parts"
            )
        first.setdefault(key, row.label)
    return problems


def _without_first(rows: list[_Row]) -> list[str]:
    """Complain of tiers without the one that begins with the first part, or in another currency than it."""
    first = {(row.iso, row.type, row.valid_from): row.currency for row in rows if row.from_parts == 1}
    problems = []
    for row in rows:
        currency = first.get((row.iso, row.type, row.valid_from))
        if currency is None:
            problems.append(f"row {cited(row.label)}: {row.iso} has no price for the first parts of a month")
        elif currency != row.currency:
            problems.append(f"row {cited(row.label)}: {row.iso} has tiers in {currency} and {row.currency}")
    return problems


def _from_parts(cell: Any) -> int | None:
    """Return the first part that a price is for, 1 where a cell is blank, None where it is no whole number."""
    if _blank(cell):
        return 1
    micros = _micros(cell)
    return micros // 1_000_000 if micros is not None and micros >= 1_000_000 and micros % 1_000_000 == 0 else None


def _blank(value: Any) -> bool:
    return not value.strip() if isinstance(value, str) else is_missing(value)


def _code(value: Any) -> str:
    return value.strip().upper() if isinstance(value, str) else ""


def _micros(value: Any) -> int | None:
    if isinstance(value, str):
        return wire.micros(value.strip())
    if isinstance(value, bool) or _blank(value):
        return None
    try:
        number = exact(text_of(value))
        rounded = half_up(number, 6)
        is_near = CONTEXT.subtract(number, rounded).copy_abs() <= _FLOAT_NOISE
        return wire.micros(rounded) if is_near else None
    except (InvalidOperation, NoText):
        return None


def _dates(frame: pd.DataFrame, name: str) -> list[tuple[dt.date | None, list[str]]]:
    """Return the day of each cell, or what is wrong with it."""
    if name not in frame.columns:
        return [(None, [])] * len(frame)
    found = dates.read(frame[name], by_argument=False)
    if found.unclear:
        raise UsageError(f"the rates cannot be used: column {name!r} has {found.unclear}")
    cells = frame[name].astype(object).tolist()
    wrong = {
        place: f"{name} must be a date such as 2026-01-31, got {_said(cells[place])}"
        + (f" ({why})" if why.startswith("a number;") else "")
        for place, why in found.wrong.items()
    }
    days = found.wall.astype("datetime64[D]")
    return [
        (None if np.isnat(days[place]) else days[place].item(), [wrong[place]] if place in wrong else [])
        for place in range(len(frame))
    ]


def _said(cell: Any) -> str:
    """Return a cell as an error shows it: a long one by its beginning."""
    if isinstance(cell, str) and len(cell) > _LONGEST:
        return f"{cell[:_LONGEST]!r} and more"
    return cited(cell)


def _day(moment: Any) -> dt.date | None:
    return None if pd.isna(moment) else moment.date()


def _wrong_codes(country: str | None, iso: str, currency: str, type_: str) -> list[str]:
    wrong = []
    if country is None:
        wrong.append(
            f"iso must be a country's code such as GB, or its name, got {_said(iso)}" if iso else "iso is blank"
        )
    if not re.fullmatch("[A-Z]{3}", currency):
        got = f", got {_said(currency)}" if currency else ", it is blank"
        wrong.append(f"currency must be a three-letter code{got}")
    if type_ and type_ not in TYPES:
        wrong.append(f"type must be one of {', '.join(TYPES)} or blank, got {_said(type_)}")
    return wrong


def _wrong_prices(amounts: Mapping[str, Any]) -> list[str]:
    wrong = []
    for name, raw in amounts.items():
        if _micros(raw) is None and (name == "price" or not _blank(raw)):
            comma = " (write a point, not a comma)" if isinstance(raw, str) and "," in raw else ""
            wrong.append(f"{name} must be an amount with at most six decimal places, got {_said(raw)}{comma}")
    return wrong


def _money(micros: pd.Series[int]) -> pd.Series[float]:
    return (micros.astype("float64") / 1_000_000).round(6)


def _message(problems: list[str]) -> str:
    more = f" and {len(problems) - _SHOWN} more (see .problems)" if len(problems) > _SHOWN else ""
    return "the rates cannot be used: " + "; ".join(problems[:_SHOWN]) + more


def __dir__() -> list[str]:
    return list(__all__)
