"""Cost tables as bars."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Final, Literal

import pandas as pd

from .._calling import given, in_our_words, not_choice, not_text, not_whole, refuse
from .._cards import Bar, Bars, Block, Card, Cell, Note, Table, counted, money, notes, number, places_of, records, share
from .._frames import AnyFrame, as_pandas
from .._pandas import is_missing
from .._phones import country_name
from .._results.contract import micros
from .._results.contract import money as money_of
from .._showing import capital, label
from .._wire import amount
from ..errors import UsageError

Value = Literal["cost", "messages", "parts"]

_NEEDED: Final = ("currency", "messages", "cost")
_SAID: Final = {"cost": "Billed", "messages": "Messages", "parts": "Parts"}
_PAIR: Final = ("compared", "compared_cost", "est_cost")
_HEADINGS: Final = {
    "iso": "Country",
    **{name: name.capitalize() for name in ("month", "day", "campaign", "encoding", "type", "region", "service")},
}
_ENCODINGS: Final = {"gsm7": "GSM-7", "ucs2": "UCS-2"}
_TIMES: Final = ("month", "day")
_SIZE: Final = 16.0  # em of the longest bar
NOTHING: Final = "Nothing was billed"
NOTHING_KNOWN: Final = "Nothing is known to be billed"
_AMOUNTS: Final = {"_billed": " billed", "_estimated": " estimated", "_alone": " billed, no estimate"}
Draw = Callable[[dict[str, Any]], Cell]


@in_our_words
def bars(table: AnyFrame, *, value: Value = "cost", title: str = "", top: int = 12) -> Card:
    """Draw a cost table as bars, one block per currency. Together they are everything that was billed.

    A table of `cost.compare` shows the estimate below what was billed for the same messages; what has no estimate has a
    bar of its own.

    Args:
        table: a table from `cost.by`, `cost.by_country` or `cost.compare`. The columns between ``currency`` and
            ``messages`` label the bars. Months and days keep their order; everything else is ordered by size.
        value: what to draw: ``cost``, ``messages`` or ``parts`` (the last two with their share).
        title: title of the card; by default it says what is drawn.
        top: number of bars per currency; the others have one together. Of months and days the latest are drawn, and the
            rest is summed up below.

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
    before = list(table.columns)[: list(table.columns).index("messages")]
    names = [str(name) for name in before if name != "currency"]
    compared = value == "cost" and set(_PAIR) <= set(table.columns)
    parts = [part for _, part in table.groupby("currency", sort=True, dropna=False)]
    blocks: tuple[Block, ...] = (
        *(_block(part, names, value, compared, top) for part in parts),
        *_notes(parts, value, compared),
    )
    what = "Billed and estimated" if compared else _SAID[value]
    by = f" by {_heading(names).lower()}" if names else ""
    return Card(title=title or f"{what}{by}", state=_state(parts, value), blocks=blocks)


def _check(table: pd.DataFrame, value: str, top: int, title: str) -> None:
    refuse(not_choice("value", value, tuple(_SAID)), not_whole("top", top), not_text("title", title))
    if not isinstance(table, pd.DataFrame):
        raise UsageError(f"bars draws a cost table, what cost.by or cost.by_country returns, got {given(table)}")
    missing = [name for name in (*_NEEDED, value) if name not in table.columns]
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
    return pd.api.types.is_numeric_dtype(column.dtype) or all(
        is_missing(cell) or type(cell) is Decimal for cell in column.array
    )


def _state(parts: list[pd.DataFrame], value: Value) -> str:
    """Say what each part of the table came to, for how many messages, and what else is drawn."""
    said = []
    for part in parts:
        count = counted(int(part["messages"].sum()), "message")
        if value == "parts":
            count = f"{count} of {counted(int(part['parts'].sum()), 'part')}"
        currency, total = part["currency"].iloc[0], "an unknown amount"
        if isinstance(currency, str):
            total = f"{total} in {currency}" if part["cost"].isna().all() else money(_sum(part["cost"]), currency)
        said.append(f"{total} for {count}")
    return capital(" and ".join(said)) or NOTHING


def _sum(prices: pd.Series) -> Decimal:
    return amount(int(micros(prices).sum()))


def _notes(parts: list[pd.DataFrame], value: Value, compared: bool) -> list[Note]:
    """Say what the bars cannot: messages without a price or an estimate, and that there are no parts yet."""
    unpriced = sum(int(part["unpriced"].sum()) for part in parts if value == "cost" and "unpriced" in part.columns)
    have = counted(unpriced, "message has no price that could be read", "messages have no price that could be read")
    none = value == "parts" and bool(parts) and not any(int(part["parts"].sum()) for part in parts)
    return [
        *notes(("!", unpriced, f"{have}; no amount here includes it.")),
        *(note for part in parts if compared for note in _without_estimate(part)),
        *notes(("i", none, "No parts yet: no accepted message has its number of parts.")),
    ]


def _without_estimate(part: pd.DataFrame) -> list[Note]:
    alone, currency = _sum(part["cost"]) - _sum(part["compared_cost"]), part["currency"].iloc[0]
    messages = int((part["messages"] - part["compared"]).sum() - (part["unpriced"].sum() if "unpriced" in part else 0))
    said = f"{money(alone, currency)} was billed for {counted(messages, 'message')} without an estimate in {currency}."
    return [Note("i", said)] if alone else []


def _block(part: pd.DataFrame, names: list[str], value: Value, compared: bool, top: int) -> Table:
    currency = part["currency"].iloc[0] if part["currency"].notna().all() else "currency unknown"
    said = f"Billed and estimated, {currency}" if compared else f"{_SAID[value]}, {currency}"
    part = _with_bars(part, compared) if value == "cost" else part.assign(_size=part[value].astype("float64"))
    shown, rest = _chosen(part, names, top)
    if value == "cost":
        draw, others, more = _of_amounts(shown, rest, str(currency))
    else:
        draw, others, more = _of_counts(shown, rest, value)
    rows = [(_label(row, names), draw(row)) for row in records(shown)]
    if set(names) & set(_TIMES):  # earlier times together are no time of their own
        more = f"and {len(rest)} more, together {more}" if len(rest) else ""
        return Table((_heading(names), said), tuple(rows), more=more)
    if len(rest):
        rows.append((counted(len(rest), "other"), draw(others)))
    return Table((_heading(names), said), tuple(rows))


def _with_bars(part: pd.DataFrame, compared: bool) -> pd.DataFrame:
    """Put beside each row what its bars show: billed, estimated, and billed without an estimate."""
    if not compared:
        return part.assign(_billed=part["cost"], _size=part["cost"].astype("float64"))
    both = part["compared"] > 0
    alone = micros(part["cost"]) - micros(part["compared_cost"]).fillna(0)
    return part.assign(
        _billed=part["compared_cost"].where(both),
        _estimated=part["est_cost"].where(both),
        _alone=money_of(alone.where((alone > 0) | ~both)),
        _size=part[["cost", "est_cost"]].astype("float64").max(axis=1),
    )


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
    said = [in_words(name, row[name]) for name in names if name != "country" and _is_known(row[name])]
    return ", ".join(said) or ("unknown" if names else "Total")


def in_words(name: str, value: Any) -> str:
    """Return a group as a person calls it: a country by its English name and its code, a number masked."""
    if name == "iso":
        return f"{country_name(str(value))} {value}"
    if isinstance(value, pd.Timestamp) and value == value.normalize():
        return f"{value:%Y-%m-%d}"
    return _ENCODINGS.get(value, str(value)) if name == "encoding" else label(value)


def _is_known(value: Any) -> bool:
    return value is not None and not pd.isna(value)


def _of_amounts(shown: pd.DataFrame, rest: pd.DataFrame, currency: str) -> tuple[Draw, dict[str, Any], str]:
    """Return how a row's amounts are drawn, those of the rest, and these in words."""
    names = [name for name in _AMOUNTS if name in shown.columns]
    together = {name: float(_sum(rest[name])) for name in names if rest[name].notna().any()}
    longest = max(float(shown[names].astype("float64").max().max()), *_unless_times(shown, together.values()))
    places = places_of([*shown[names].to_numpy().ravel(), *together.values()])

    def said(name: str, value: Any) -> str:
        words = _AMOUNTS[name] if len(names) > 1 else ""
        return f"{money(value, currency, places=places)}{words}"

    def bar(name: str, value: Any) -> Bar:
        length = float(value) / longest if longest > 0 else 0.0
        words = said(name, value) if len(names) > 1 else money(value, places=places)
        return Bar(length, words, hollow=name == "_estimated", size=_SIZE)

    def draw(row: dict[str, Any]) -> Cell:
        drawn = tuple(bar(name, row[name]) for name in names if _is_known(row[name]))
        drawn = drawn or (Bar(0.0, "unknown", size=_SIZE),)
        return Bars(drawn) if len(names) > 1 else drawn[0]

    words = ", ".join(said(name, value) for name, value in together.items()) or "an unknown amount"
    return draw, {name: together.get(name) for name in names}, words


def _unless_times(shown: pd.DataFrame, together: Iterable[float]) -> list[float]:
    """Return what the bar of the rest adds to the scale; the rest of times has none."""
    return [0.0, *([] if set(_TIMES) & set(shown.columns) else together)]


def _of_counts(shown: pd.DataFrame, rest: pd.DataFrame, value: str) -> tuple[Draw, dict[str, Any], str]:
    """Return how a row's count is drawn with its share, the count of the rest, and that in words."""
    left = int(rest[value].sum())
    longest = max(int(shown[value].max()), *map(int, _unless_times(shown, [left])))
    total = int(shown[value].sum()) + left

    def draw(row: dict[str, Any]) -> Cell:
        count = int(row[value])
        part = f", {share(count / total)}" if total else ""
        return Bar(count / longest if longest else 0.0, f"{number(count)}{part}", size=_SIZE)

    return draw, {value: left}, number(left)
