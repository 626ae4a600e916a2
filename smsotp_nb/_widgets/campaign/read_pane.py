"""The pane of the campaign form in which a comparison is read, folded away until somebody wants it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import ipywidgets
import pandas as pd

from ..._ledger import Ledger
from .. import skin
from ..controls import FieldFaults, offer
from ..lists import Upload, Uploaded, names_of, with_none
from .reading import OrderColumns, ReadingSteps

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
            chosen = name if name in names else self.comparison.value if self.comparison.value in names else None
            offer(self.comparison, [(one, one) for one in names] or [("", "")], chosen)
        self._stage = stage
        skin.show(self.widget, stage in ("write", "planned", "done") and bool(self.comparison.value))

    def chosen(self) -> OrderColumns:
        return OrderColumns(self.on.value, self.at.value, self.amount.value, self.zone.value, self.currency.value)

    # -- parts

    def _make_parts(self, *, upload: bool) -> None:
        self.comparison = skin.choice("Comparison", [("", "")], None)
        self._file = Upload("Choose the orders: CSV, Excel or Parquet", KINDS, self._take)
        self.upload, self._said = self._file.button, self._file.said
        skin.show(self.upload, upload)
        self.on = skin.choice("Column with the customer", with_none([], "choose"), None)
        self.at = skin.choice("Column with the time of an order", with_none([], "choose"), None)
        self.zone = skin.text("Time zone of these times", placeholder="Europe/Berlin")
        self.early = ipywidgets.Dropdown(description="Before the reading day", options=EARLY, value=False)
        self.amount = skin.choice("Column with the amount", with_none([], "choose"), None)
        self.currency = skin.text("Currency", placeholder="EUR")
        self.button = skin.button("Read the comparison")
        self.comparison.observe(lambda _: self._choose(), "value")
        self.button.on_click(lambda _: self._read())

    def _lay_out(self) -> ipywidgets.VBox:
        around = self.faults.around
        self._notice, self.card = skin.block(""), skin.block("")
        self._columns = skin.box(
            skin.box(around("on", self.on), around("at", self.at), classes=("smsotp-pair",)),
            skin.box(around("zone", self.zone), self.early, classes=("smsotp-pair",)),
            classes=("smsotp-main",),
        )
        self._money = skin.box(
            around("amount", self.amount), around("currency", self.currency), classes=("smsotp-pair",)
        )
        self.link, self.folded = skin.folded(
            "Read a comparison",
            "Hide the reading",
            self.comparison,
            skin.box(around("orders", self.upload), self._said, self._file.how, classes=("smsotp-field",)),
            self._columns,
            self._money,
            self.button,
            self._notice,
            self.card,
        )
        return skin.box(self.link, self.folded, classes=("smsotp-main", "smsotp-pad"))

    # -- gestures

    def _choose(self) -> None:
        self.steps.look_up(self.comparison.value)

    def show_upload(self, read: Uploaded) -> None:
        """Say what became of an uploaded file, and offer its columns."""
        self._file.show(read)

    def _take(self, read: Uploaded) -> str:
        self.steps.take(read)
        return ""

    def _read(self) -> None:
        def read() -> Callable[[], None]:
            name, chosen, early = skin.settled(lambda: (self.comparison.value, self.chosen(), self.early.value))
            self.steps.read(name, chosen, early)
            field = self.faults.first() or self.button
            return lambda: skin.focus(field)  # the button was dead meanwhile, and had the focus

        self.work.begin(self.button, read)

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
        known = [column for _, column in names]
        offer(self.on, names, declared.unit if declared.unit in known else None)
        offer(self.at, names, "at" if "at" in known else None)
        offer(self.amount, names, None)
