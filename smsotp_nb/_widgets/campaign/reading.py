"""The campaign form reads a comparison: which one, from which orders, and what it came to.

The ledger holds how each comparison was declared and who is in it, so that it is read after a restart, weeks later, as
well as beside the campaign that was just sent.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import ipywidgets
import numpy as np
import pandas as pd

from ... import _dates as dates
from ..._calling import not_zone
from ..._experiments.assigning import unit_texts
from ..._experiments.declaring import Declared
from ..._experiments.experiment import Experiment, recall, recorded_names
from ..._experiments.reading import Reading
from ..._ledger import Ledger
from ..._moments import Now, utc_now
from ..._showing import few
from ..._showing import label as shown_label
from ...errors import UsageError
from .. import skin
from ..controls import FieldFaults, offer
from ..lists import NONE_CHOSEN, Upload, Uploaded, names_of, with_none
from ..stages import Notice, Stages, in_the_form

ON, AT, AMOUNT = "\0on", "\0at", "\0amount"  # unlike any column of a file, and so unlike any outcome
_WHOLE: Final = r"(?:0|-?[1-9]\d{0,18})$"
_AMOUNT: Final = r"\s*[+-]?\d+(?:\.\d+)?\s*$"
_TRUE: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class OrderColumns:
    """Which column of the orders is which, as a person chose; ``zone`` is that of the times without an offset."""

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
    """Bring the columns of orders to what a reading takes; ``integers``: units are recorded as whole numbers."""
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
            faults[wrong.place or place] = in_the_form(str(wrong))
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
    own = {}
    alone = [*kinds.values()].count("amount") == 1  # it is the column that was chosen
    for name, kind in kinds.items():
        if name not in frame.columns or name in (chosen.on, chosen.at, chosen.amount) or (kind == "amount" and alone):
            continue
        try:
            own[name] = _amounts(frame[name], name) if kind == "amount" else _flags(frame[name], name)
        except _Wrong as wrong:
            faults[""] = f"{in_the_form(str(wrong))} The comparison counts {name} by this column."
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
    zone = chosen.zone.strip()
    if not zone:
        raise _Wrong("The times have no zone. Enter the one they are from, such as Europe/Berlin or UTC", "zone")
    if not_zone("zone", zone):
        raise _Wrong(f"“{zone}” is no time zone. Enter one such as Europe/Berlin or UTC", "zone")
    moments = found.utc(chosen.zone.strip(), cells.index, nonexistent="NaT")
    _refuse(
        moments.isna(),
        f"{chosen.at} is a time at which the clocks were changed",
        "Write these with their offset, such as 2026-10-25 02:30+01:00",
    )
    return moments


_TIMES: Final = "Write times such as 2026-11-03 14:05, or 2026-11-03T14:05+01:00, in every row"


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
    labels = wrong.index[wrong.to_numpy(bool)]
    if not len(labels):
        return
    raise _Wrong(f"In {'row' if len(labels) == 1 else 'rows'} {few(labels.tolist(), shown_label)} {what}. {rule}")


NOT_READ: Final = "Not read."
Early = Literal[False, True, "sequential"]


class ReadingSteps(Stages):
    """The comparisons of a ledger, the orders of one, and its reading.

    ``faults`` says which field is why nothing was read; ``reading`` is the last one, None before it.
    ``service`` is that whose campaigns count.
    """

    busy = ("reading",)

    def __init__(
        self,
        ledger: Ledger,
        *,
        service: str,
        orders: pd.DataFrame | None = None,
        changed: Callable[[], None] = lambda: None,
        now: Now = utc_now,
    ) -> None:
        super().__init__("choosing", changed=changed)
        self.orders = orders
        self.reading: Reading | None = None
        self.declared: Declared | None = None  # of the comparison that was looked up
        self._ledger, self._service, self._now = ledger, service, now

    def names(self) -> list[str] | None:
        """Return the names of the comparisons, the latest first; None, and why, where the ledger cannot be read."""
        with self._telling("choosing", NOT_READ):
            return recorded_names(self._ledger)
        return None

    def take(self, read: Uploaded) -> None:
        """Take an uploaded file of orders, or none if it cannot be read; what was read from others is not shown."""
        self.orders, self.reading = read.frame, None
        if self.stage == "choosing":
            self._refuse("choosing", "", "")

    def look_up(self, name: str) -> None:
        self.declared, self.reading = None, None
        with self._telling("choosing", NOT_READ):
            self.declared = recall(name, self._ledger, now=self._now)[0]._declared if name else None
            self.notice = Notice()
            self._changed()

    def has_amounts(self) -> bool:
        return self.declared is not None and "amount" in self.declared.outcomes.values()

    def read(self, name: str, chosen: OrderColumns, early: Early = False) -> None:
        """Read a comparison; before its reading day the counts need no orders."""
        if not self._begin({"choosing"}, "reading", "Reading …"):
            return
        with self._telling("choosing", NOT_READ):
            self._read(name, chosen, early)

    def _read(self, name: str, chosen: OrderColumns, early: Early) -> None:
        test, integers = recall(name, self._ledger, now=self._now)
        rows = self.orders
        if rows is None:
            self._count(test)
            return
        made = orders(rows, chosen, test._declared.outcomes, integers=integers)
        if made.faults:
            self._refuse("choosing", f"{NOT_READ} {' '.join(made.faults.values())}", "warn", made.faults)
            return
        found = self._reading(test, made, chosen.currency.strip().upper(), early)
        if self.orders is not rows:
            self._refuse("choosing", f"{NOT_READ} Other orders were chosen meanwhile: read again.", "warn")
            return
        self._done(found)

    def _count(self, test: Experiment) -> None:
        """Show how many people each text has; from the reading day on that takes orders."""
        none: dict[str, Any] = {ON: [], AT: pd.to_datetime([], utc=True), AMOUNT: pd.Series([], dtype="float64")}
        found = self._reading(test, Orders(pd.DataFrame(none), {}), "", early=False)
        if found.state in ("waiting", "uneven"):
            self._done(found)
            return
        words = "The reading day has come: choose the file of the orders first."
        self._refuse("choosing", f"{NOT_READ} {words}", "warn", {"orders": words})

    def _reading(self, test: Experiment, made: Orders, currency: str, early: Early) -> Reading:
        amount = {"amount": AMOUNT} if "amount" in test._declared.outcomes.values() else {}
        return test.read(made.frame, on=ON, at=AT, early=early, currency=currency, service=self._service, **amount)

    def _done(self, reading: Reading) -> None:
        self.reading = reading
        self._refuse("choosing", "", "")


KINDS = ".csv,.tsv,.txt,.xlsx,.xlsm,.parquet,.pq"
EARLY = (
    ("Show the counts only", False),
    ("Show a preliminary reading", True),
    ("Show wider intervals that hold at every look", "sequential"),
)


class ReadPane:
    """Which comparison, the orders and their columns, and the card of the reading; hidden while none is recorded."""

    def __init__(
        self, ledger: Ledger, *, service: str, orders: pd.DataFrame | None, changed: Callable[[], None]
    ) -> None:
        self.steps = ReadingSteps(ledger, service=service, orders=orders, changed=self._render)
        self.work = self.steps.work
        self.faults = FieldFaults()
        self._changed, self._drawing = changed, threading.RLock()
        self._stage = ""
        self._drawn: object = None  # the reading whose card stands there
        self._offered: tuple[str, object] = ("", None)  # the comparison and the orders whose columns are offered
        self._make_parts(upload=orders is None)
        self.widget = self._lay_out()
        skin.show(self.widget, False)

    def draw(self, stage: str, name: str) -> None:
        """Offer what is recorded, when the form has come to another step; ``name``: of its own comparison."""
        if stage == self._stage:
            return
        if stage in ("write", "planned", "done"):
            names = self.steps.names()
            if names is None:
                return
            chosen = name if name in names else self.comparison.value
            offer(self.comparison, [(one, one) for one in names] or [("", "")], chosen)
        self._stage = stage
        skin.show(self.widget, stage in ("write", "planned", "done") and bool(self.comparison.value))

    def chosen(self) -> OrderColumns:
        return OrderColumns(self.on.value, self.at.value, self.amount.value, self.zone.value, self.currency.value)

    # -- parts

    def _make_parts(self, *, upload: bool) -> None:
        self.comparison = skin.choice("Comparison", [("", "")], None)
        self.file = Upload("Choose the orders: CSV, Excel or Parquet", KINDS, self._take)
        self.upload, self._said = self.file.button, self.file.said
        skin.show(self.upload, upload)
        self.on = skin.choice("Column with the customer", with_none([], "choose"), None)
        self.at = skin.choice("Column with the time of an order", with_none([], "choose"), None)
        self.zone = skin.text("Time zone of these times", placeholder="Europe/Berlin")
        self.early = ipywidgets.Dropdown(description="Before the reading day", options=EARLY, value=False)
        self.amount = skin.choice("Column with the amount", with_none([], "choose"), None)
        self.currency = skin.text("Currency", placeholder="EUR")
        self.button = skin.button("Read the comparison")
        self.comparison.observe(lambda _: self.steps.look_up(self.comparison.value), "value")
        self.button.on_click(lambda _: self._read())

    def _lay_out(self) -> ipywidgets.VBox:
        around = self.faults.around
        self._notice, self.card = skin.block(), skin.block()
        self._columns = skin.main(
            skin.pair(around("on", self.on), around("at", self.at)), skin.pair(around("zone", self.zone), self.early)
        )
        self._money = skin.pair(around("amount", self.amount), around("currency", self.currency))
        orders = skin.box(around("orders", self.upload), self._said, self.file.how, classes=("smsotp-field",))
        parts = (self.comparison, orders, self._columns, self._money, self.button, self._notice, self.card)
        return skin.box(skin.Folded("Read a comparison", "Hide the reading", *parts).widget, classes=("smsotp-pad",))

    # -- gestures

    def _take(self, read: Uploaded) -> str:
        self.steps.take(read)
        return ""

    def _read(self) -> None:
        def read() -> None:
            name, chosen, early = skin.settled(lambda: (self.comparison.value, self.chosen(), self.early.value))
            self.steps.read(name, chosen, early)

        # The button was dead meanwhile, and had the focus.
        self.work.begin(self.button, read, lambda: skin.focus(self.faults.first() or self.button))

    # -- drawing

    def _render(self) -> None:
        with self._drawing:
            steps = self.steps
            self._offer_columns()
            reading = steps.stage == "reading"
            self.button.disabled = self.comparison.disabled = self.upload.disabled = reading
            self.button.description = "Reading …" if reading else "Read the comparison"
            self.faults.show(steps.faults)
            self._notice.value = "" if reading else skin.notice(steps.notice.text, steps.notice.sign)
            if steps.reading is not self._drawn:
                self._drawn = steps.reading
                self.card.value = steps.reading.card().html() if steps.reading else ""
                self._changed()

    def _offer_columns(self) -> None:
        """Offer the columns of the orders; the one called as the unit is chosen."""
        name, rows = self.comparison.value, self.steps.orders
        skin.show(self._columns, rows is not None)
        skin.show(self._money, rows is not None and self.steps.has_amounts())
        declared = self.steps.declared
        if rows is None or declared is None or (name == self._offered[0] and rows is self._offered[1]):
            return
        self._offered = name, rows
        names = with_none(names_of(rows), "choose")
        for place, column in ((self.on, declared.unit), (self.at, "at"), (self.amount, None)):
            offer(place, names, column)
