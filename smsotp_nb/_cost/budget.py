"""A budget of a month: what is spent of it, what will be by its forecast, and whether it suffices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd

from .._calling import given, in_our_words, not_number, not_zone, refuse
from .._cards import Card, Note, WithCard, about, counted, money, records, share
from .._pandas import STR
from .._results import contract
from ..errors import UsageError
from .forecasting import Forecast, bars, month_of, of_currency, told
from .sources import Source, daily, in_doubt

_TYPES: Final[dict[str, str | pd.StringDtype]] = {
    "currency": STR,
    **dict.fromkeys(("budget", "billed", "expected", "low", "high", "left", "over"), "float64"),
    "used_up": "datetime64[us]",
    "verdict": STR,
}
_UNKNOWN: Final = {"messages without a price": "left_out", "rows in doubt": "_in_doubt"}
_SAID: Final = {"budget": "Budget", "billed": "Spent", "low": "At least", "expected": "Expected", "high": "At most"}


@dataclass(frozen=True, slots=True, eq=False)
class Budget(WithCard):
    """A budget of a month beside what was spent and what is expected.

    Attributes:
        month: the month, as 2026-12.
        totals: a row a currency: ``currency`` (str), ``budget`` (float64; missing where there is none), ``billed``
            (float64: of the month, already), ``expected, low, high`` (float64: the whole month, by `Forecast.totals`;
            missing where the history is too short), ``left`` (float64: budget - billed), ``over`` (float64: expected -
            budget, below 0 where the budget suffices), ``used_up`` (datetime64: the day on which the budget is used up
            if the days that are left cost alike, missing where it is not in this month) and ``verdict`` (str: ``spent``
            already, ``over`` even at the low end of the interval, ``may be over``, ``within`` even at its high end,
            ``not known`` without a forecast, or where messages without a readable price, or rows in doubt, may have
            used the budget up, ``no budget``).
        forecast: the `Forecast` that it is from; its ``left_out`` messages without a price are in no amount.

    Example:
        >>> days = pd.date_range("2026-01-01", "2026-11-10")
        >>> sums = pd.DataFrame({"day": days, "currency": "USD", "messages": 10, "parts": 10, "cost": 0.3,
        ...                      "unpriced": 0})
        >>> made = budget(sums, 8.0)
        >>> made.totals[["budget", "billed", "left", "verdict"]].values.tolist()
        [[8.0, 3.0, 5.0, 'over']]
    """

    month: str
    totals: pd.DataFrame
    forecast: Forecast

    def card(self) -> Card:
        """Return the budget as a card."""
        rows = records(self.totals)
        return Card(
            title=f"Budget of {self.month}",
            state=" and ".join(_in_words(row, self.forecast) for row in rows),
            blocks=(
                *(bars(row, {name: words for name, words in _SAID.items() if row[name] == row[name]}) for row in rows),
                *(note for row in rows for note in _notes(self, row)),
                *told(self.forecast),
            ),
            closing="Next: .forecast has the methods, and how far off they were",
        )


@in_our_words
def budget(
    history: Source,
    amount: float | Mapping[str, float],
    *,
    month: str | None = None,
    until: object = None,
    level: float = 0.8,
    tz: str = "UTC",
) -> Budget:
    """Compare a budget of a month with what is spent of it and with its forecast.

    Args:
        history: as for `forecast`.
        amount: the budget, in the one currency of the history; or by currency, such as ``{"USD": 500, "EUR": 200}``.
        month: as for `forecast`.
        until: as for `forecast`.
        level: as for `forecast`.
        tz: as for `forecast`.

    Raises:
        UsageError: the history has several currencies and ``amount`` is one number, an amount is not above 0, or as for
            `forecast`. With too short a history there is no error, and no verdict but ``spent``.

    Example:
        >>> days = pd.date_range("2026-01-01", "2026-11-10")
        >>> sums = pd.DataFrame({"day": days, "currency": "USD", "messages": 10, "parts": 10, "cost": 0.3,
        ...                      "unpriced": 0})
        >>> budget(sums, {"USD": 6.1}).totals["used_up"].dt.strftime("%d %B").tolist()
        ['21 November']
    """
    refuse(not_zone("tz", tz))
    rows = daily(history, tz=tz)
    amounts = _amounts(amount, sorted(rows["currency"].dropna().unique().tolist()))
    made, end = month_of(rows, month, until, level)
    made = replace(made, _in_doubt=in_doubt(history))
    totals = made.totals.set_index("currency")
    first = pd.Timestamp(f"{made.what}-01")
    unknown = rows[((rows["day"] >= first) & (rows["day"] < end)).to_numpy(bool)]
    end, last = max(end, first), first + pd.offsets.MonthBegin(1)
    found = [
        _total(str(code), amounts.get(str(code)), totals.loc[code], at_most, end, last)
        for code in totals.index
        for at_most in [_at_most(rows, str(code), unknown, made._in_doubt)]
    ]
    found += [
        {"currency": code, "budget": amount, "billed": 0.0, "left": amount, "verdict": "not known"}
        for code, amount in amounts.items()
        if code not in totals.index
    ]
    return Budget(made.what, pd.DataFrame(found, columns=list(_TYPES)).astype(_TYPES), made)


def _amounts(amount: float | Mapping[str, float], currencies: list[str]) -> dict[str, float]:
    if not isinstance(amount, Mapping):
        refuse(not_number("amount", amount, of="a budget", above=True))
        if len(currencies) != 1:
            known = ", ".join(currencies) or "none"
            raise UsageError(
                f"amount={given(amount)} needs one currency, and the history has {known}; give amounts by currency: "
                f"{{{currencies[0] if currencies else 'USD'!r}: {given(amount)}}}"
            )
        return {currencies[0]: float(amount)}
    for currency, each in amount.items():
        refuse(not_number(f"amount[{currency!r}]", each, of="a budget", above=True))
    return {str(currency): float(each) for currency, each in amount.items()}


def _at_most(rows: pd.DataFrame, currency: str, month: pd.DataFrame, doubt: int) -> float:
    """Return what a month's messages without a price, and rows in doubt, cost if each was as expensive as the most
    expensive message with a price."""
    may_be = month["currency"].isin([currency]) | month["currency"].isna()
    unknown = int(month.loc[may_be, "unpriced"].sum()) + doubt
    mine = rows[rows["currency"].eq(currency).to_numpy(bool)]
    each = mine["micros"] / (mine["messages"] - mine["unpriced"]).where(mine["messages"] > mine["unpriced"])
    return unknown * float(each.max()) / 1_000_000 if unknown else 0.0


def _total(
    currency: str, amount: float | None, row: Any, at_most: float, end: pd.Timestamp, last: pd.Timestamp
) -> dict[str, Any]:
    billed, expected = float(row["billed"]), float(row["expected"])
    said = {"currency": currency, "billed": billed, **{name: row[name] for name in ("expected", "low", "high")}}
    if amount is None:
        return said | {"verdict": "no budget"}
    left, over = (float(each) for each in contract.money(pd.Series([amount - billed, expected - amount]) * 1_000_000))
    return said | {
        "budget": amount,
        "left": left,
        "over": over,
        "used_up": _used_up(left, expected - billed, end, last),
        "verdict": _verdict(amount, billed, row, at_most),
    }


def _verdict(amount: float, billed: float, row: Any, at_most: float) -> str:
    if billed >= amount:
        return "spent"
    if np.isnan(row["expected"]):
        return "not known"
    if row["high"] > amount:
        return "over" if row["low"] > amount else "may be over"
    return "within" if row["high"] + at_most <= amount else "not known"


def _used_up(left: float, rest: float, end: pd.Timestamp, last: pd.Timestamp) -> pd.Timestamp | None:
    """Return the day on which nothing is left, if the days until the end of the month cost alike."""
    if left <= 0 or not rest > left:
        return None
    return (end + (last - end) * (left / rest)).normalize()


# -- the card


def _in_words(row: dict[str, Any], made: Forecast) -> str:
    amount, currency = row["budget"], row["currency"]
    if row["verdict"] == "no budget":
        return f"{about(row['billed'], currency)} spent, and no budget for it"
    of = f"{about(row['billed'], currency)} of {about(amount)} spent"
    if row["verdict"] == "spent":
        return (
            f"{of}: {about(-row['left'], currency)} over the budget already" if row["left"] < 0 else f"{of}: all of it"
        )
    open_ = [words for words, many in _UNKNOWN.items() if getattr(made, many)]
    unknown = f"and what the {' and the '.join(open_)} cost is not known"
    if pd.isna(row["expected"]):
        return f"{of}, {unknown}" if made.left_out and not row["billed"] else f"{of}; too little history for a forecast"
    expected = f"{about(row['expected'])} expected"
    if row["verdict"] == "not known":
        return f"{of}, {expected}, {unknown}"
    side = "over" if row["over"] > 0 else "below"
    # As many places as what is expected, from which it is taken.
    off = money(abs(row["over"]), places=2 if abs(row["expected"]) >= 1 else None)
    said = {
        "over": f"over the budget by {off}",
        "may be over": f"{off} {side} the budget, which may not do",
        "within": f"within the budget, {off} left",
    }
    return f"{of}, {expected}: {said[row['verdict']]}"


def _notes(made: Budget, row: dict[str, Any]) -> list[Note]:
    currency, notes = row["currency"], []
    if not pd.isna(row["used_up"]):
        day = f"{row['used_up']:%Y-%m-%d}"
        notes.append(Note("!", f"{currency}: used up on {day}, if the days that are left cost alike."))
    for one in records(of_currency(made.forecast.totals, currency).dropna(subset=["expected"])):
        earlier = counted(int(one["tried"]), "earlier month")
        notes.append(Note("i", f"{currency}: intervals covered the actual cost in {share(one['level'])} of {earlier}."))
    return notes
