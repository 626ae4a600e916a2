"""Pictures of cost tables as cards: bars that need no script, no network and no trust.

The frames of `cost` plot with pandas' own ``.plot`` too, for those who want matplotlib.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import pandas as pd

from .cards import Bar, Bars, Card, Cell, Table, money, number, places_of
from .errors import UsageError
from .phones.lookup import country_name
from .results import micros
from .wire import amount

_NEEDED: Final = ("currency", "messages", "price")
_SIZE: Final = 16.0  # em of the longest bar


def bars(table: pd.DataFrame, *, title: str = "", top: int = 12) -> Card:
    """Draw a cost table as bars, one block a currency; where it has ``est_cost``, that beside the billed amount.

    Args:
        table: what `cost.by`, `cost.by_country` or `cost.compare` returned; what stands between ``currency`` and
            ``messages`` names the bars.
        title: of the card; by default it says what is drawn.
        top: how many bars a currency; the rest is summed up below.

    Returns:
        A card; a bar's length is its share of the longest one in its currency.

    Raises:
        UsageError: the frame is no cost table, or ``top`` is less than 1.

    Example:
        >>> table = pd.DataFrame({"currency": ["USD"] * 2, "iso": ["IN", "NG"], "messages": [2500, 150],
        ...                       "price": [75.0, 30.1]})
        >>> print(bars(table))
        Billed by country
        USD 105.10 for 2,650 messages
        <BLANKLINE>
        Country     Billed, USD
        ----------  ------------------
        India IN    ████████████ 75.00
        Nigeria NG  █████        30.10
    """
    _check(table, top)
    names = _label_columns(table)
    compared = "est_cost" in table.columns
    drawn = table[table["currency"].notna()]
    blocks = tuple(_block(part, names, compared, top) for _, part in drawn.groupby("currency", sort=True))
    subject = _heading(names).lower()
    what = "Billed and estimated" if compared else "Billed"
    return Card(title=title or f"{what} by {subject}", state=_state(drawn), blocks=blocks)


def _check(table: pd.DataFrame, top: int) -> None:
    missing = [name for name in _NEEDED if not isinstance(table, pd.DataFrame) or name not in table.columns]
    if missing:
        raise UsageError(
            f"this is not a cost table, it has no {', '.join(missing)}; draw what cost.by, cost.by_country or "
            "cost.compare returns"
        )
    if not isinstance(top, int) or top < 1:
        raise UsageError(f"top= must be a whole number from 1, got {top!r}")


def _label_columns(table: pd.DataFrame) -> list[str]:
    before = list(table.columns)[: list(table.columns).index("messages")]
    return [str(name) for name in before if name != "currency"]


def _state(table: pd.DataFrame) -> str:
    if table.empty:
        return "Nothing was billed"
    said = [
        f"{_total(part['price'], str(currency))} for {number(int(part['messages'].sum()))} messages"
        for currency, part in table.groupby("currency", sort=True)
    ]
    return " and ".join(said)


def _total(prices: pd.Series, currency: str) -> str:
    return money(amount(int(micros(prices).sum())), currency)


def _block(part: pd.DataFrame, names: list[str], compared: bool, top: int) -> Table:
    currency = str(part["currency"].iloc[0])
    amounts = ["price", "est_cost"] if compared else ["price"]
    ordered = part.assign(_size=part[amounts].astype("float64").max(axis=1)).sort_values(
        "_size", ascending=False, kind="stable"
    )
    shown, rest = ordered.head(top), ordered.iloc[top:]
    longest, places = float(shown["_size"].max()), places_of(shown["price"])
    draw = functools.partial(_pair, currency=currency) if compared else _single
    rows = tuple((_label(row, names), draw(row, longest, places)) for row in _records(shown))
    said = f"Billed and estimated, {currency}" if compared else f"Billed, {currency}"
    return Table(columns=(_heading(names), said), rows=rows, more=_rest(rest, currency))


def _heading(names: list[str]) -> str:
    shown = ["Country" if name == "iso" else name for name in names if name != "country"]
    return ", ".join(shown) or "Currency"


def _label(row: dict[str, Any], names: list[str]) -> str:
    """Name a bar by its group; a country by its English name and its code."""
    said = [_country(row[name]) if name == "iso" else str(row[name]) for name in names if name != "country"]
    known = [
        text for text, name in zip(said, (n for n in names if n != "country"), strict=True) if _is_known(row[name])
    ]
    return ", ".join(known) or "unknown"


def _country(iso: Any) -> str:
    return f"{country_name(iso)} {iso}" if isinstance(iso, str) else "unknown"


def _is_known(value: Any) -> bool:
    return value is not None and not pd.isna(value)


def _single(row: dict[str, Any], longest: float, places: int) -> Cell:
    return _bar(row["price"], longest, places)


def _pair(row: dict[str, Any], longest: float, places: int, *, currency: str) -> Cell:
    billed = _bar(row["price"], longest, places, currency=currency, said=" billed")
    estimated = _bar(row["est_cost"], longest, places, currency=currency, said=" estimated", hollow=True)
    return Bars((billed, estimated))


def _bar(value: Any, longest: float, places: int, *, currency: str = "", said: str = "", hollow: bool = False) -> Bar:
    if not _is_known(value):
        return Bar(0.0, f"unknown{said}", hollow=hollow, size=_SIZE)
    length = float(value) / longest if longest > 0 else 0.0
    return Bar(length, f"{money(value, currency, places=places)}{said}", hollow=hollow, size=_SIZE)


def _rest(rest: pd.DataFrame, currency: str) -> str:
    if rest.empty:
        return ""
    return f"and {len(rest)} more, together {_total(rest['price'], currency)}"


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
