"""Cost tables in one currency, by exchange rates that have a date and a source."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd

from .. import _dates as dates
from .._calling import given, in_our_words, not_text, refuse
from .._frames import AnyFrame, as_pandas
from .._pandas import STR
from .._pandas import texts as texts_of
from .._recipients import read_recipients
from .._results import contract
from ..columns import absent, listed
from ..errors import UsageError
from .sources import is_summed, priced_parts, whole_sums
from .sums import priced

Exchange: TypeAlias = Mapping[str, Any] | AnyFrame | str | Path
Time: TypeAlias = dt.date | str | None  # a day, a month such as 2026-11, or no time
# What one unit of a currency is worth in another, by its code and time.
_Rates: TypeAlias = dict[str, dict[Time, Decimal]]

OLD_AFTER: Final = 7  # days that a daily rate is used for: over weekends and holidays no rates are published
MOST: Final = Decimal(10**9)  # of a rate; an exact amount of more digits than a Decimal holds could not be rounded
_NEEDED: Final = ("date", "currency", "rate")
_SHOWN: Final = 3
_MONTH: Final = r"\d{4}-(?:0[1-9]|1[0-2])$"


@in_our_words
def convert(table: AnyFrame, exchange: Exchange, *, to: str, source: str = "", decimals: bool = False) -> pd.DataFrame:
    """Convert a cost table to one currency with your own exchange rates. Currencies are never added in any other way.

    Rows and their order stay, with the original amounts beside the converted ones; `by` adds the result up. A day is
    converted with the rate of that day, or the latest of the seven days before it (weekends and holidays have none),
    or else the rate of its month. A month is converted with its own rate, or else the mean of its daily rates.

    Args:
        table: a table that `by` or a similar function returned. With dated rates it needs ``day`` or ``month``:
            ``cost.by(ledger, ["month", "iso"])``.
        exchange: what one unit of a currency is worth in ``to``. Either a frame, or the path of a CSV or Excel file,
            with ``date`` (as 2026-11-02, or 2026-11 for a month), ``currency``, ``rate`` and, if you like, ``source``;
            or one rate a currency for a table of a single month, such as ``{"CNY": "0.1377"}``. ``to`` itself is 1.
        to: the currency to convert into.
        source: where the rates come from, such as "ECB reference rates". Needed for a frame without a column
            ``source``; of a file, its name by default.
        decimals: as for `by`.

    Returns:
        The columns of ``table`` that label its rows, then as `by`, in ``to``, and ``exchange_rate`` (float64),
        ``original_currency`` (str), ``original_cost`` (float64), ``exchange_source`` (str; it says so where one rate
        without a date was used for a table that has neither day nor month). Estimates are left out.

    Raises:
        UsageError: not a cost table; a currency or a time without a rate; one rate for several months; rates with
            unreadable rows, which are named; or no source.

    Example:
        >>> table = pd.DataFrame({"currency": ["CNY", "CNY", "USD"], "month": ["2026-10", "2026-11", "2026-11"],
        ...                       "messages": 1, "parts": 1, "cost": [10.0, 10.0, 1.5], "unpriced": 0})
        >>> rates = pd.DataFrame({"date": ["2026-10", "2026-11"], "currency": "CNY", "rate": ["0.14", "0.15"]})
        >>> done = convert(table, rates, to="USD", source="invented")
        >>> done[["currency", "month", "cost", "original_currency", "original_cost"]].values.tolist()[:2]
        [['USD', '2026-10', 1.4, 'CNY', 10.0], ['USD', '2026-11', 1.5, 'CNY', 10.0]]
        >>> from smsotp_nb import cost
        >>> cost.by(done, "month")[["month", "cost"]].values.tolist()
        [['2026-11', 3.0], ['2026-10', 1.4]]
    """
    table = as_pandas(table)
    if not is_summed(table):
        raise UsageError("convert needs a cost table: what cost.by or one of its like returned")
    table = whole_sums(table)
    code = isinstance(to, str) and re.fullmatch("[A-Z]{3}", to)
    wrong = None if code else f"to= must be a currency's three capitals, such as 'EUR', got {given(to)}"
    refuse(wrong, not_text("source", source))
    names = [name for name in list(table.columns)[: list(table.columns).index("messages")] if name != "currency"]
    when = dates.days(table["day"], "column 'day' of the table") if "day" in names else None
    if when is None and "month" in names:
        when = table["month"].astype(STR)
    said, rates = _rates_of(exchange, source, to, when)
    worth = _looked_up(table["currency"], None if isinstance(exchange, Mapping) else when, rates, to)
    return _converted(table, names, worth, said, to, decimals)


def _rate_at(worth: Mapping[Time, Decimal], when: Any) -> Decimal | None:
    """Return the rate of a currency for a day, a month such as 2026-11, or no time."""
    if None in worth or when is None or isinstance(when, str):
        of_month = [rate for day, rate in worth.items() if isinstance(day, dt.date) and f"{day:%Y-%m}" == when]
        mean = sum(of_month, Decimal(0)) / len(of_month) if of_month else None
        return worth.get(None) or worth.get(when) or mean
    if pd.isna(when):
        return None
    days = [when.date() - dt.timedelta(days=age) for age in range(OLD_AFTER + 1)]
    return next((worth[time] for time in (*days, f"{when:%Y-%m}") if time in worth), None)


def _rates_of(exchange: Exchange, source: str, to: str, when: pd.Series | None) -> tuple[str, _Rates]:
    """Return where rates come from, and the rates."""
    if isinstance(exchange, Mapping):
        months = set() if when is None else {str(time)[:7] for time in when.dropna()}
        if len(months) > 1:
            raise UsageError(
                f"exchange= gives one rate a currency for {len(months)} months; give rates with dates, a frame with "
                f"{', '.join(_NEEDED)}, or sum the months up first: cost.by(table, [])"
            )
        said = source or "given in the call"
        said = f"{said}: one rate, whatever the month" if when is None else said
        return said, {code: {None: rate} for code in exchange if (rate := _positive(exchange[code])) is not None}
    if isinstance(exchange, str | Path):
        return _dated(read_recipients(exchange), source or Path(exchange).name, to, when)
    frame = as_pandas(exchange)
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(
            f"exchange= must be a mapping such as {{'CNY': '0.1377'}}, a frame with {', '.join(_NEEDED)}, or the path "
            f"of a file with them, got {given(exchange)}"
        )
    return _dated(frame, source, to, when)


def _dated(frame: pd.DataFrame, source: str, to: str, when: pd.Series | None) -> tuple[str, _Rates]:
    missing = [wrong for name in _NEEDED if (wrong := absent(name, frame.columns, beside=False))]
    if missing:
        raise UsageError(f"exchange=: {'; '.join(missing)} {listed(frame.columns)}")
    if when is None:
        raise UsageError(
            "exchange= has rates with dates, but the table has neither 'day' nor 'month'; group by one of them first: "
            'cost.by(ledger, ["month", "iso"])'
        )
    named = [str(name) for name in frame["source"].dropna().unique()] if "source" in frame.columns else []
    if not source and not named:
        raise UsageError('exchange= does not say where its rates come from; add source="...", such as the bank\'s name')
    rates: _Rates = {}
    dated = _days_and_months(frame["date"])
    wrong_rows = [
        f"row {label!r} has {cells}{why}"
        for label, cells, (time, why) in zip(
            frame.index, zip(*(frame[name] for name in _NEEDED), strict=True), dated, strict=True
        )
        if not _took(rates, time, *cells[1:], to=to)
    ]
    if wrong_rows:
        more = f" and {len(wrong_rows) - _SHOWN:,} more rows" if len(wrong_rows) > _SHOWN else ""
        raise UsageError(
            "exchange= needs a date such as 2026-11-02 or 2026-11, a currency's three capitals, a rate above 0, and "
            f"one rate for each date; {', '.join(wrong_rows[:_SHOWN])}{more}"
        )
    return source or ", ".join(named), rates


def _days_and_months(column: pd.Series) -> list[tuple[Time, str]]:
    """Return the day of each row, or its month as 2026-11, and in words what is wrong where it is neither."""
    texts = texts_of(column).str.strip()
    months = texts.where(texts.str.match(_MONTH, na=False).astype("bool"))
    found = dates.read(column.where(months.isna()), by_argument=False)
    if found.unclear:
        raise UsageError(f"exchange=: column 'date' has {found.unclear}")
    days = [None if np.isnat(wall) else wall.astype("datetime64[D]").item() for wall in found.wall]
    why = [f" ({found.wrong[place]})" if place in found.wrong else "" for place in range(len(column))]
    return [
        (day if pd.isna(month) else month, wrong) for day, month, wrong in zip(days, months.tolist(), why, strict=True)
    ]


def _took(rates: _Rates, time: Time, currency: Any, rate: Any, *, to: str) -> bool:
    """Add one row of dated rates; say whether it could be read and says nothing else than a row before it."""
    worth, code = _positive(rate), str(currency).strip()
    if worth is None or not re.fullmatch("[A-Z]{3}", code):
        return False
    if code == to:
        return worth == 1
    return time is not None and rates.setdefault(code, {}).setdefault(time, worth) == worth


def _positive(rate: Any) -> Decimal | None:
    try:
        worth = Decimal("NaN" if isinstance(rate, bool) else str(rate).strip())
    except InvalidOperation:
        return None
    return worth if worth.is_finite() and 0 < worth < MOST else None


def _looked_up(currencies: pd.Series, when: pd.Series | None, rates: _Rates, to: str) -> list[Decimal | None]:
    """Return the rate of each row, None where it has no currency.

    Raises:
        UsageError: a currency has no rate, or none for a time at which something was billed.
    """
    times = [None] * len(currencies) if when is None else when.tolist()
    rates = rates | {to: {None: Decimal(1)}}
    found: list[Decimal | None] = []
    missing: dict[str, None] = {}
    for currency, time in zip(currencies, times, strict=True):
        rate = None if pd.isna(currency) else _rate_at(rates.get(str(currency), {}), time)
        found.append(rate)
        if rate is None and not pd.isna(currency):
            at = f"in {time}" if isinstance(time, str) else "without a date" if pd.isna(time) else f"on {time:%Y-%m-%d}"
            missing[str(currency) + ("" if when is None else f" {at}")] = None
    if missing:
        shown = ", one ".join([*missing][:_SHOWN])
        more = f" and {len(missing) - _SHOWN:,} more" if len(missing) > _SHOWN else ""
        raise UsageError(f"exchange= needs what one {shown}{more} is worth in {to}, a number above 0")
    return found


def _converted(
    table: pd.DataFrame, names: list[str], worth: list[Decimal | None], source: str, to: str, decimals: bool
) -> pd.DataFrame:
    known = pd.Series([rate is not None for rate in worth], index=table.index, dtype="bool")
    worth_of = zip(contract.micros(table["cost"]), worth, strict=True)
    amounts = [
        None if pd.isna(cost) or rate is None else int((int(cost) * rate).quantize(Decimal(1), ROUND_HALF_EVEN))
        for cost, rate in worth_of
    ]
    parts = priced_parts(table)
    counts = {
        "messages": table["messages"], "parts": table["parts"], "unpriced": table["unpriced"],
        "micros": pd.Series(amounts, dtype="Int64"), "priced_parts": parts, "mixed": parts.isna(),
    }  # fmt: skip
    at = {name: np.asarray(each.astype("Int64").fillna(0), dtype=np.int64) for name, each in counts.items()}
    keys = {"currency": pd.Series(to, index=table.index, dtype=STR).where(known).array}
    keys |= {name: table[name].array for name in names}
    return priced(keys, at, decimals, counts["micros"].notna().to_numpy()).assign(
        exchange_rate=pd.Series([None if rate is None else float(rate) for rate in worth], table.index, "float64"),
        original_currency=table["currency"].astype(STR),
        original_cost=table["cost"],
        exchange_source=pd.Series(source, index=table.index, dtype=STR).where(known),
    )
