"""Cost tables as bars."""

from __future__ import annotations

import functools
from decimal import Decimal
from typing import Any, Final, Literal

import pandas as pd

from .._arguments import given, not_choice, not_text, not_whole, refuse
from .._calls import in_our_words
from .._cards import Bar, Bars, Card, Cell, Table, counted, money, number, places_of, share
from .._cost.sources import records
from .._frames import AnyFrame, as_pandas
from .._phones.lookup import country_name
from .._results.contract import micros
from .._wire import amount
from ..errors import UsageError

Value = Literal["cost", "messages", "parts"]

_NEEDED: Final = ("currency", "messages", "cost")
_SAID: Final = {"cost": "Billed", "messages": "Messages", "parts": "Parts"}
_HEADINGS: Final = {
    "iso": "Country",
    **{name: name.capitalize() for name in ("month", "day", "campaign", "encoding", "type", "region", "service")},
}
_ENCODINGS: Final = {"gsm7": "GSM-7", "ucs2": "UCS-2"}
_TIMES: Final = ("month", "day")
_SIZE: Final = 16.0  # em of the longest bar


@in_our_words
def bars(table: AnyFrame, *, value: Value = "cost", title: str = "", top: int = 12) -> Card:
    """Draw a cost table as bars, one block per currency, with the estimate beside the billed amount if there is one.

    Args:
        table: a table from `cost.by`, `cost.by_country` or `cost.compare`. The columns between ``currency`` and
            ``messages`` label the bars. Months and days keep their order; everything else is ordered by size.
        value: what to draw: ``cost``, ``messages`` or ``parts`` (the last two with their share).
        title: title of the card; by default it says what is drawn.
        top: maximum number of bars per currency (of months, the latest); the rest is summed up below.

    Returns:
        A card. A bar's length is its share of the longest bar in its currency.

    Raises:
        UsageError: not a cost table, or ``value`` or ``top`` is invalid.

    Example:
        >>> table = pd.DataFrame({"currency": ["USD"] * 2, "iso": ["IN", "NG"], "messages": [2500, 150],
        ...                       "cost": [75.0, 30.1]})
        >>> print(bars(table))
        Billed by country
        USD 105.10 for 2,650 messages
        <BLANKLINE>
        Country     Billed, USD
        ----------  ------------------
        India IN    ████████████ 75.00
        Nigeria NG  █████        30.10
    """
    table = as_pandas(table)
    _check(table, value, top, title)
    names = _label_columns(table)
    compared = "est_cost" in table.columns and value == "cost"
    drawn = table[table["currency"].notna()]
    blocks = tuple(_block(part, names, value, compared, top) for _, part in drawn.groupby("currency", sort=True))
    what = "Billed and estimated" if compared else _SAID[value]
    return Card(title=title or f"{what} by {_heading(names).lower()}", state=_state(drawn), blocks=blocks)


def _check(table: pd.DataFrame, value: str, top: int, title: str) -> None:
    refuse(not_choice("value", value, tuple(_SAID)), not_whole("top", top), not_text("title", title))
    if not isinstance(table, pd.DataFrame):
        raise UsageError(f"bars draws a cost table, what cost.by or cost.by_country returns, got {given(table)}")
    missing = [name for name in (*_NEEDED, value) if not isinstance(table, pd.DataFrame) or name not in table.columns]
    if missing:
        raise UsageError(
            f"this is not a cost table, it has no {', '.join(missing)}; draw what cost.by, cost.by_country or "
            "cost.compare returns"
        )
    unreadable = [name for name in {*_NEEDED, value} - {"currency"} if not _is_amount(table[name])]
    if unreadable:
        raise UsageError(
            f"column {unreadable[0]!r} of the cost table must hold numbers; it holds {table[unreadable[0]].dtype}"
        )


def _is_amount(column: pd.Series) -> bool:
    """Say whether a column holds numbers; exact amounts are Decimals in a column of objects."""
    return pd.api.types.is_numeric_dtype(column.dtype) or bool(
        column.dropna().map(lambda cell: isinstance(cell, Decimal)).all()
    )


def _label_columns(table: pd.DataFrame) -> list[str]:
    before = list(table.columns)[: list(table.columns).index("messages")]
    return [str(name) for name in before if name != "currency"]


def _state(table: pd.DataFrame) -> str:
    if table.empty:
        return "Nothing was billed"
    said = [
        f"{_total(part['cost'], str(currency))} for {counted(int(part['messages'].sum()), 'message')}"
        for currency, part in table.groupby("currency", sort=True)
    ]
    return " and ".join(said)


def _total(prices: pd.Series, currency: str) -> str:
    return money(amount(int(micros(prices).sum())), currency)


def _block(part: pd.DataFrame, names: list[str], value: Value, compared: bool, top: int) -> Table:
    currency = str(part["currency"].iloc[0])
    size = part[["cost", "est_cost"] if compared else [value]].astype("float64").max(axis=1)
    shown, rest = _chosen(part.assign(_size=size), names, top)
    longest = float(shown["_size"].max())
    if value != "cost":
        draw = functools.partial(_counted, value=value, total=int(part[value].sum()))
    else:
        draw = functools.partial(_pair if compared else _single, places=places_of(shown["cost"]), currency=currency)
    rows = tuple((_label(row, names), draw(row, longest)) for row in records(shown))
    said = f"Billed and estimated, {currency}" if compared else f"{_SAID[value]}, {currency}"
    return Table(columns=(_heading(names), said), rows=rows, more=_rest(rest, value, currency))


def _chosen(part: pd.DataFrame, names: list[str], top: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the bars to draw in their order, and the rest: the largest, or of times the latest."""
    times = [name for name in names if name in _TIMES]
    if times:
        ordered = part.sort_values(times, kind="stable")
        return ordered.iloc[-top:], ordered.iloc[:-top]
    ordered = part.sort_values("_size", ascending=False, kind="stable")
    return ordered.iloc[:top], ordered.iloc[top:]


def _heading(names: list[str]) -> str:
    return ", ".join(_HEADINGS.get(name, name) for name in names if name != "country") or "Currency"


def _label(row: dict[str, Any], names: list[str]) -> str:
    """Name a bar by its group; a country by its English name and its code."""
    said = [_said(name, row[name]) for name in names if name != "country" and _is_known(row[name])]
    return ", ".join(said) or "unknown"


def _said(name: str, value: Any) -> str:
    if name == "iso":
        return f"{country_name(str(value))} {value}"
    return _ENCODINGS.get(value, str(value)) if name == "encoding" else str(value)


def _is_known(value: Any) -> bool:
    return value is not None and not pd.isna(value)


def _single(row: dict[str, Any], longest: float, *, places: int, currency: str) -> Cell:  # noqa: ARG001 - the heading
    return _bar(row["cost"], longest, places)


def _pair(row: dict[str, Any], longest: float, *, places: int, currency: str) -> Cell:
    billed = _bar(row["cost"], longest, places, currency=currency, said=" billed")
    estimated = _bar(row["est_cost"], longest, places, currency=currency, said=" estimated", hollow=True)
    return Bars((billed, estimated))


def _counted(row: dict[str, Any], longest: float, *, value: str, total: int) -> Cell:
    count = int(row[value])
    return Bar(count / longest if longest else 0.0, f"{number(count)}, {share(count / total)}", size=_SIZE)


def _bar(value: Any, longest: float, places: int, *, currency: str = "", said: str = "", hollow: bool = False) -> Bar:
    if not _is_known(value):
        return Bar(0.0, f"unknown{said}", hollow=hollow, size=_SIZE)
    length = float(value) / longest if longest > 0 else 0.0
    return Bar(length, f"{money(value, currency, places=places)}{said}", hollow=hollow, size=_SIZE)


def _rest(rest: pd.DataFrame, value: str, currency: str) -> str:
    if rest.empty:
        return ""
    total = _total(rest["cost"], currency) if value == "cost" else number(int(rest[value].sum()))
    return f"and {len(rest)} more, together {total}"
