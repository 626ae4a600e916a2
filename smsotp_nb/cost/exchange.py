"""Cost tables in one currency, by exchange rates that have a date and a source."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, TypeAlias

import pandas as pd

from .. import _dates as dates
from .._amounts import CONTEXT, exact, half_up
from .._calling import given, in_our_words, not_text, refuse
from .._frames import AnyFrame, as_pandas
from .._pandas import STR
from .._pandas import texts as texts_of
from .._recipients import read_recipients
from ..columns import absent, listed
from ..errors import UsageError
from .rows import days_of, is_sums, micros_of, parts_with_price, read_frame
from .sums import with_amounts

Exchange: TypeAlias = Mapping[str, Any] | AnyFrame | str | Path
# What one unit of a currency is worth, by currency, then by day, by month such as 2026-11, or by None for any time.
_Rates: TypeAlias = dict[str, dict[dt.date | str | None, Decimal]]

_OLDEST: Final = 7  # days that a daily rate is used for: over weekends and holidays no rates are published
_HIGHEST: Final = Decimal(10**9)  # a rate above it is a typing error in any pair of currencies
_NEEDED: Final = ("date", "currency", "rate")
_LISTED: Final = 3
_MONTH: Final = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")


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
        The columns of ``table`` that label its rows, then as `by`, in ``to``, rounded half up, and ``exchange_rate``
        (float64), ``original_currency`` (str), ``original_cost`` (float64), ``exchange_source`` (str; it says so where
        one rate without a date was used for a table that has neither day nor month). Estimates are left out.

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
    table = read_frame(table)
    if not is_sums(table):
        raise UsageError("convert needs a cost table: what cost.by or one of its like returned")
    if not isinstance(to, str) or not re.fullmatch("[A-Z]{3}", to):
        raise UsageError(f"to= must be a currency's three capitals, such as 'EUR', got {given(to)}")
    refuse(not_text("source", source))
    names = [name for name in list(table.columns)[: list(table.columns).index("messages")] if name != "currency"]
    times: list[Any] = [None] * len(table)
    if "day" in names:
        times = days_of(table["day"]).tolist()
    elif "month" in names:
        times = table["month"].astype(STR).tolist()
    has_times = "day" in names or "month" in names
    if isinstance(exchange, Mapping):
        rates, origin = _rates_of_mapping(exchange, source, times, has_times)
        times = [None] * len(table)
    else:
        frame, origin = _rates_frame(exchange, source)
        if not has_times:
            raise UsageError(
                "exchange= has rates with dates, but the table has neither 'day' nor 'month'; group by one of them "
                'first: cost.by(ledger, ["month", "iso"])'
            )
        rates = _read_rates(frame, to)
    worth = _look_up(table["currency"].tolist(), times, rates | {to: {None: Decimal(1)}}, to)
    return _converted(table, names, worth, to, decimals).assign(
        exchange_rate=pd.Series([None if rate is None else float(rate) for rate in worth], table.index, "float64"),
        original_currency=table["currency"].astype(STR),
        original_cost=table["cost"],
        exchange_source=pd.Series([None if rate is None else origin for rate in worth], table.index, dtype=STR),
    )


def _rates_of_mapping(
    exchange: Mapping[str, Any], source: str, times: list[Any], has_times: bool
) -> tuple[_Rates, str]:
    months = {str(time)[:7] for time in times if not pd.isna(time)}
    if len(months) > 1:
        raise UsageError(
            f"exchange= gives one rate a currency for {len(months)} months; give rates with dates, a frame with "
            f"{', '.join(_NEEDED)}, or sum the months up first: cost.by(table, [])"
        )
    origin = source or "given in the call"
    if not has_times:
        origin += ": one rate, whatever the month"
    rates: _Rates = {}
    for currency, cell in exchange.items():
        rate = _read_rate(cell)
        if rate is not None:
            rates[currency] = {None: rate}
    return rates, origin


def _rates_frame(exchange: Any, source: str) -> tuple[pd.DataFrame, str]:
    """Return dated rates as a frame, and where they come from."""
    if isinstance(exchange, str | Path):
        frame = read_recipients(exchange)
        source = source or Path(exchange).name
    else:
        frame = as_pandas(exchange)
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(
            f"exchange= must be a mapping such as {{'CNY': '0.1377'}}, a frame with {', '.join(_NEEDED)}, or the path "
            f"of a file with them, got {given(exchange)}"
        )
    missing = [absent(name, frame.columns, beside=False) for name in _NEEDED]
    problems = [problem for problem in missing if problem]
    if problems:
        raise UsageError(f"exchange=: {'; '.join(problems)} {listed(frame.columns)}")
    if not source and "source" in frame.columns:
        source = ", ".join(str(name) for name in frame["source"].dropna().unique())
    if not source:
        raise UsageError('exchange= does not say where its rates come from; add source="...", such as the bank\'s name')
    return frame, source


def _read_rates(frame: pd.DataFrame, to: str) -> _Rates:
    """Return dated rates; a row that cannot be read, or contradicts one before it, is an error that names it."""
    texts = texts_of(frame["date"]).str.strip()
    is_month = texts.str.fullmatch(_MONTH, na=False).astype("bool")
    days = dates.read(texts.mask(is_month), by_argument=False)
    if days.unclear:
        raise UsageError(f"exchange=: column 'date' has {days.unclear}")
    rates: _Rates = {}
    problems = []
    for at, (label, currency, cell) in enumerate(zip(frame.index, frame["currency"], frame["rate"], strict=True)):
        time: dt.date | str | None = texts.iloc[at] if is_month.iloc[at] else _day(days.wall[at])
        rate, code = _read_rate(cell), str(currency).strip()
        is_readable = rate is not None and re.fullmatch("[A-Z]{3}", code) and time is not None
        if not is_readable or (code == to and rate != 1):
            problems.append(f"row {label!r} has {(frame['date'].iloc[at], currency, cell)}{_reason(days.wrong, at)}")
        elif code != to and rates.setdefault(code, {}).setdefault(time, rate) != rate:  # type: ignore[arg-type]
            problems.append(f"row {label!r} has {(frame['date'].iloc[at], currency, cell)}, another rate than before")
    if problems:
        more = f" and {len(problems) - _LISTED:,} more rows" if len(problems) > _LISTED else ""
        raise UsageError(
            "exchange= needs a date such as 2026-11-02 or 2026-11, a currency's three capitals, a rate above 0, and "
            f"one rate for each date; {'; '.join(problems[:_LISTED])}{more}"
        )
    return rates


def _reason(wrong: Mapping[int, str], at: int) -> str:
    return f" ({wrong[at]})" if at in wrong else ""


def _day(wall: Any) -> dt.date | None:
    return None if pd.isna(wall) else pd.Timestamp(wall).date()


def _read_rate(cell: Any) -> Decimal | None:
    try:
        rate = exact("NaN" if isinstance(cell, bool) else str(cell).strip())
    except ArithmeticError:
        return None
    return rate if rate.is_finite() and 0 < rate < _HIGHEST else None


def _look_up(currencies: list[Any], times: list[Any], rates: _Rates, to: str) -> list[Decimal | None]:
    """Return the rate of each row, None where it has no currency.

    Raises:
        UsageError: a currency has no rate, or none for a time at which something was billed.
    """
    worth: list[Decimal | None] = []
    missing: dict[str, None] = {}
    for currency, time in zip(currencies, times, strict=True):
        rate = None if pd.isna(currency) else _rate_at(rates.get(str(currency), {}), time)
        worth.append(rate)
        if rate is None and not pd.isna(currency):
            missing[f"{currency}{_when(time)}"] = None
    if missing:
        names = ", one ".join([*missing][:_LISTED])
        more = f" and {len(missing) - _LISTED:,} more" if len(missing) > _LISTED else ""
        raise UsageError(f"exchange= needs what one {names}{more} is worth in {to}, a number above 0")
    return worth


def _when(time: Any) -> str:
    if time is None:
        return ""
    if isinstance(time, str):
        return f" in {time}"
    return " without a date" if pd.isna(time) else f" on {time:%Y-%m-%d}"


def _rate_at(rates: Mapping[dt.date | str | None, Decimal], time: Any) -> Decimal | None:
    """Return the rate of a currency for a day, a month such as 2026-11, or no time."""
    if None in rates:
        return rates[None]
    if isinstance(time, str):
        if time in rates:
            return rates[time]
        of_month = [rate for day, rate in rates.items() if isinstance(day, dt.date) and f"{day:%Y-%m}" == time]
        total = Decimal(0)
        for rate in of_month:
            total = CONTEXT.add(total, rate)
        return CONTEXT.divide(total, Decimal(len(of_month))) if of_month else None
    if time is None or pd.isna(time):
        return None
    for age in range(_OLDEST + 1):
        day = time.date() - dt.timedelta(days=age)
        if day in rates:
            return rates[day]
    return rates.get(f"{time:%Y-%m}")


def _converted(
    table: pd.DataFrame, names: list[str], worth: list[Decimal | None], to: str, decimals: bool
) -> pd.DataFrame:
    converted = [
        0 if pd.isna(micros) or rate is None else int(half_up(CONTEXT.multiply(Decimal(int(micros)), rate), 0))
        for micros, rate in zip(micros_of(table["cost"]), worth, strict=True)
    ]
    is_known = pd.Series([rate is not None for rate in worth], index=table.index)
    priced_parts = parts_with_price(table)
    counts = {name: table[name].astype("Int64").fillna(0) for name in ("messages", "parts", "unpriced")}
    sums = table[names].assign(
        currency=pd.Series(to, index=table.index, dtype=STR).where(is_known),
        **counts,
        micros=pd.Series(converted, index=table.index, dtype=object),
        priced_parts=priced_parts.fillna(0),
        parts_unknown=priced_parts.isna().astype("int64"),
    )
    return with_amounts(sums, names, decimals)
