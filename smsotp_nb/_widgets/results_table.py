"""A result table in a form: filtered, searched, sorted, a page at a time, and downloaded."""

from __future__ import annotations

import dataclasses
import re
import threading

import ipywidgets
import pandas as pd

from .._cards import Card, Note, counted
from .._results.files import as_bytes
from ..errors import SmsOtpError
from . import skin
from .download import Download
from .latest import Latest
from .leafing import Leafing
from .results import SORTS, Asked, Page, ResultsView, hidden
from .stages import Sign, broken, refused

ORDERS = (("Ascending", False), ("Descending", True))
KINDS = {".csv": "CSV", ".xlsx": "Excel"}
NOTHING = "No rows match. Choose another state or search for something else."


class ResultsTable:
    """The rows of a result table, inside a form. Numbers on the page are masked, in the downloaded file they are not.

    Attributes:
        widget: the box to place in a form; it is hidden until there is a table.
        view: the table behind it, or None.
        asked: what the fields ask for.

    Example:
        >>> table = ResultsTable()
        >>> table.show(pd.DataFrame({"to": ["+12025550123"], "status": ["accepted"]}), "autumn-sale")
        >>> table.settle().page.line()
        '1 row'
    """

    def __init__(self) -> None:
        self.view: ResultsView | None = None
        self.asked = Asked()
        self.page: Page | None = None
        self._name = "results"
        self._filling = False
        self._searched = ("", "")  # what the search field shows, and what is meant by it
        self._said = skin.notice("")
        self._latest: Latest[tuple[ResultsView, Asked], Page] = Latest(
            lambda pair: pair[0].page(pair[1]), self._take, wait=0.0
        )
        self._drawing = threading.RLock()
        self._make_fields()
        self.widget = self._lay_out()
        self.show(None)

    def show(self, frame: pd.DataFrame | None, name: str = "results") -> None:
        """Show another table, or none; ``name`` is what its downloaded files begin with."""
        with self._drawing:
            self._name, self._said, self.page = _file_name(name), skin.notice(""), None
            self.view = None if frame is None else ResultsView(frame)
            skin.show(self.widget, self.view is not None)
            if self.view is not None:
                self._fill(self.view)
        self._ask()

    def settle(self) -> ResultsTable:
        """Wait until the page that was asked for last is drawn, and return this table."""
        self._latest.settle()
        return self

    # -- parts

    def _make_fields(self) -> None:
        self.shown: ipywidgets.Dropdown = ipywidgets.Dropdown(description="Show", options=[("All rows", ("", ""))])
        # Told when Enter is pressed or the field is left: a whole number stands in no state while it is typed.
        self.search = skin.text("Search, then Enter", placeholder="number, reason, message ID", continuous_update=False)
        self.by: ipywidgets.Dropdown = ipywidgets.Dropdown(description="Sort by", options=tuple(SORTS.items()))
        self.order: ipywidgets.Dropdown = ipywidgets.Dropdown(description="Order", options=ORDERS)
        self._leafing = Leafing("Previous rows", "Next rows", self._leaf)
        self.buttons = {ending: skin.button(f"Download {kind}") for ending, kind in KINDS.items()}
        for field in (self.shown, self.search, self.by, self.order):
            field.observe(lambda _: self._changed(), "value")
        for ending, button in self.buttons.items():
            button.on_click(lambda _, ending=ending: self._download(ending))

    def _lay_out(self) -> ipywidgets.VBox:
        self._rows, self._notice = skin.block(""), skin.block("")
        self._download_box = Download(ended=self._ended)
        return skin.box(
            skin.box(self.shown, self.search, classes=("smsotp-pair",)),
            skin.box(self.by, self.order, classes=("smsotp-pair", "smsotp-always")),
            self._rows,
            self._leafing.widget,
            skin.box(*self.buttons.values(), classes=("smsotp-pair", "smsotp-always")),
            self._notice,
            self._download_box.widget,
            classes=("smsotp-main", "smsotp-results"),
        )

    def _fill(self, view: ResultsView) -> None:
        """Offer what this table has; what was chosen stays where it can."""
        chosen, options = self.shown.value, view.choices()
        self._filling = True
        try:
            self.shown.options = options
            self.shown.value = chosen if chosen in [value for _, value in options] else ("", "")
        finally:
            self._filling = False

    # -- gestures

    def _changed(self) -> None:
        if not self._filling:
            self._said = skin.notice("")
            self._hide_number()
            self._ask()

    def _hide_number(self) -> None:
        """Search for a whole number, and show it masked: what stands in a field is saved with the notebook."""
        typed = self.search.value.strip()
        if typed == self._searched[0]:
            return
        self._searched = (hidden(typed), typed)
        self._filling = True
        try:
            self.search.value = self._searched[0]
        finally:
            self._filling = False

    def _ask(self, page: int = 0) -> None:
        if self.view is None:
            return
        state, reason = self.shown.value
        self.asked = Asked(state, reason, self._searched[1], self.by.value, self.order.value, page)
        self._latest.ask((self.view, self.asked), at_once=True)

    def _leaf(self, by: int) -> None:
        if self.page is not None:
            self._ask(self.page.number + by)

    def _take(self, page: Page) -> None:
        with self._drawing:
            if self.view is not None:
                self.page = page
                self._render(page)

    def _download(self, ending: str) -> None:
        """Make the file on a thread of its own: Excel takes its time over many rows."""
        if self.view is not None and not self._download_box.open:
            self._say(f"Making the {KINDS[ending]} file …")
            asked, name = dataclasses.replace(self.asked, page=0), self._name + ending
            threading.Thread(target=self._offer, args=(self.view, asked, name), name="smsotp-file", daemon=True).start()

    def _offer(self, view: ResultsView, asked: Asked, name: str) -> None:
        try:
            rows = view.rows(asked)
            content = as_bytes(rows, name)
        except SmsOtpError as error:
            self._say(*refused(error, "Nothing was downloaded."))
        except Exception as error:
            self._say(*broken(error))
            raise
        else:
            self._offered = f"{name}, {counted(len(rows), 'row')}, with full numbers"
            self._download_box.offer(name, content)

    def _ended(self, taken: bool) -> None:
        if taken:
            self._say(f"Downloaded: {self._offered}.", "ok")
        else:
            self._say("Nothing was downloaded: no page took the file. Reload the page and try again.", "warn")

    def _say(self, words: str, sign: Sign = "") -> None:
        self._said = skin.notice(words, sign)
        with self._drawing:
            self._notice.value = self._said

    # -- drawing

    def _render(self, page: Page) -> None:
        self._rows.value = _card(page, self.asked).html()
        self._leafing.draw(page.number, page.pages)
        for ending, button in self.buttons.items():
            button.description = f"Download {counted(page.found, 'row')}, {KINDS[ending]}"
            button.disabled = not page.found
        self._notice.value = self._said


def _card(page: Page, asked: Asked) -> Card:
    words = next(label for label, by in SORTS.items() if by == asked.by)
    order = "" if asked.by == "row" and not asked.descending else f", by {_lower(words)}"
    falling = ", descending" if asked.descending else ""
    content = page.table if page.table.rows else Note("i", NOTHING)
    return Card("Rows", f"{page.line()}{order}{falling}", (content,))


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]


def _file_name(name: str) -> str:
    """Return a campaign's name as the name of a file on any system.

    Example:
        >>> _file_name("Autumn/sale: 20 %"), _file_name("..")
        ('Autumn-sale-20', 'results')
    """
    return re.sub(r"[^\w.]+", "-", name).strip("-.")[:80] or "results"
