"""The orders from which a comparison is read: columns of a file brought to customers, moments and amounts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd

from ... import _dates as dates
from ..._calling.arguments import not_zone
from ..._experiments.assigning import unit_texts
from ..._showing.text import label as shown_label
from ...errors import UsageError
from ..columns import NONE_CHOSEN
from ..stages import sentence

ON, AT, AMOUNT = "\0on", "\0at", "\0amount"  # unlike any column of a file, and so unlike any outcome
_SHOWN: Final = 3
_WHOLE: Final = r"(?:0|-?[1-9]\d{0,18})$"
_AMOUNT: Final = r"\s*[+-]?\d+(?:\.\d+)?\s*$"
_TRUE: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class OrderColumns:
    """Which column of the orders is which, as a person chose; ``zone`` is that of the times without an offset.

    Example:
        >>> OrderColumns(on="customer").missing({"bought": "binary"})
        {'at': 'Choose the column with the time of each order.'}
    """

    on: Hashable = NONE_CHOSEN
    at: Hashable = NONE_CHOSEN
    amount: Hashable = NONE_CHOSEN
    zone: str = ""
    currency: str = ""

    def missing(self, kinds: Mapping[str, str]) -> dict[str, str]:
        """Say what is still to be chosen, by the field; ``kinds`` are those of the outcomes."""
        money, currency = "amount" in kinds.values(), self.currency.strip()
        blanks = (
            ("on", self.on == NONE_CHOSEN, "Choose the column with the customer of each order."),
            ("at", self.at == NONE_CHOSEN, "Choose the column with the time of each order."),
            ("amount", money and self.amount == NONE_CHOSEN, "Choose the column with the amount of each order."),
            (
                "currency",
                money and not (len(currency) == 3 and currency.isascii() and currency.isalpha()),
                "Enter the currency of the amounts in three letters, such as EUR.",
            ),
        )
        return {name: words for name, wrong, words in blanks if wrong}


@dataclass(slots=True)
class Orders:
    """The rows that a reading takes, or what is wrong with them, by the field.

    ``frame`` has `ON`, `AT` (UTC), `AMOUNT` where one was chosen, and a column for each outcome that has one of its
    name.
    """

    frame: pd.DataFrame = field(repr=False)
    faults: dict[str, str]


def orders(frame: pd.DataFrame, chosen: OrderColumns, kinds: Mapping[str, str], *, integers: bool) -> Orders:
    """Bring the columns of orders to what a reading takes; ``integers``: units are recorded as whole numbers.

    Example:
        >>> rows = pd.DataFrame({"customer": ["c1", "c2"], "day": ["2026-11-03 14:05", "soon"]})
        >>> chosen = OrderColumns(on="customer", at="day", zone="Europe/Berlin")
        >>> orders(rows.head(1), chosen, {"bought": "binary"}, integers=False).frame[AT].astype(str).tolist()
        ['2026-11-03 13:05:00+00:00']
        >>> orders(rows, chosen, {"bought": "binary"}, integers=False).faults["at"]
        'In row 1 day is no time. Write times such as 2026-11-03 14:05, or 2026-11-03T14:05+01:00, in every row.'
    """
    found, faults = {}, chosen.missing(kinds)
    if faults:
        return Orders(frame.iloc[:0], faults)
    makers: dict[str, tuple[str, Callable[[], pd.Series]]] = {
        "on": (ON, lambda: _units(frame[chosen.on], integers=integers)),
        "at": (AT, lambda: _moments(frame[chosen.at], chosen)),
    }
    if "amount" in kinds.values():
        makers["amount"] = AMOUNT, lambda: _amounts(frame[chosen.amount], chosen.amount)
    for place, (name, make) in makers.items():
        try:
            found[name] = make()
        except _Wrong as wrong:
            faults[wrong.place or place] = sentence(str(wrong))
    own = _own_outcomes(frame, chosen, kinds, faults)
    return Orders(frame.iloc[:0] if faults else pd.DataFrame({**found, **own}, index=frame.index), faults)


class _Wrong(Exception):
    """What is wrong with a column, and the field that helps where it is another one."""

    def __init__(self, words: str, place: str = "") -> None:
        super().__init__(words)
        self.place = place


def _own_outcomes(
    frame: pd.DataFrame, chosen: OrderColumns, kinds: Mapping[str, str], faults: dict[str, str]
) -> dict[str, pd.Series]:
    """Return the columns that outcomes have of their name."""
    own = {}
    alone = [*kinds.values()].count("amount") == 1  # it is the column that was chosen
    for name, kind in kinds.items():
        if name not in frame.columns or name in (chosen.on, chosen.at, chosen.amount) or (kind == "amount" and alone):
            continue
        try:
            own[name] = _amounts(frame[name], name) if kind == "amount" else _flags(frame[name], name)
        except _Wrong as wrong:
            faults[""] = f"{sentence(str(wrong))} The comparison counts {name} by this column."
    return own


def _units(cells: pd.Series, *, integers: bool) -> pd.Series:
    """Return units as they are recorded; what is none of these is nobody's."""
    try:
        texts = unit_texts(cells).set_axis(cells.index)
    except UsageError as error:
        raise _Wrong(str(error)) from None
    if not integers:
        return texts
    whole = texts.str.match(_WHOLE, na=False)
    numbers = [int(text) if fits else None for text, fits in zip(texts, whole, strict=True)]  # exact, as no float is
    known = [None if one is None or not -(2**63) <= one < 2**63 else one for one in numbers]
    return pd.Series(pd.array(known, dtype="Int64"), index=cells.index)


def _moments(cells: pd.Series, chosen: OrderColumns) -> pd.Series:
    found = dates.read(cells, by_argument=False)
    if found.unclear:
        raise _Wrong(f"Column {chosen.at} has {found.unclear}")
    unread = pd.Series(np.isnat(found.wall), index=cells.index)
    _refuse(unread, f"{chosen.at} is no time", _TIMES)
    if found.zoned.all():
        return found.utc("UTC", cells.index)
    _refuse_zone(chosen.zone.strip())
    moments = found.utc(chosen.zone.strip(), cells.index, nonexistent="NaT")
    _refuse(
        moments.isna(),
        f"{chosen.at} is a time at which the clocks were changed",
        "Write these with their offset, such as 2026-10-25 02:30+01:00",
    )
    return moments


_TIMES: Final = "Write times such as 2026-11-03 14:05, or 2026-11-03T14:05+01:00, in every row"


def _refuse_zone(zone: str) -> None:
    if not zone:
        raise _Wrong("The times have no zone. Enter the one they are from, such as Europe/Berlin or UTC", "zone")
    if not_zone("zone", zone):
        raise _Wrong(f"“{zone}” is no time zone. Enter one such as Europe/Berlin or UTC", "zone")


def _amounts(cells: pd.Series, name: Hashable) -> pd.Series:
    if pd.api.types.is_numeric_dtype(cells.dtype) and not pd.api.types.is_bool_dtype(cells.dtype):
        read = cells.astype("Float64").to_numpy("float64", na_value=np.nan)
    else:
        texts = cells.map(str, na_action="ignore").astype("string").astype(object).where(cells.notna(), "")
        read = pd.to_numeric(texts.where(texts.str.match(_AMOUNT).astype(bool))).to_numpy("float64")
    _refuse(
        pd.Series(~np.isfinite(read), index=cells.index),
        f"{name} is no amount",
        "Write amounts such as 12.50, with a point and without a currency, in every row",
    )
    return pd.Series(read, index=cells.index)


def _flags(cells: pd.Series, name: str) -> pd.Series:
    texts = cells.map(str, na_action="ignore").astype("string").astype(object).where(cells.notna(), "")
    read = texts.str.strip().str.lower().map(_TRUE)
    _refuse(read.isna(), f"{name} is neither true nor false", "Write true or false in every row, or rename the column")
    return read.astype(bool)


def _refuse(wrong: pd.Series, what: str, rule: str) -> None:
    """Name the rows that are wrong, the first of them by their labels."""
    labels = wrong.index[wrong.to_numpy(bool)]
    if not len(labels):
        return
    named = ", ".join(map(shown_label, labels[:_SHOWN]))
    more = f" and {len(labels) - _SHOWN:,} more" if len(labels) > _SHOWN else ""
    raise _Wrong(f"In {'row' if len(labels) == 1 else 'rows'} {named}{more} {what}. {rule}")
