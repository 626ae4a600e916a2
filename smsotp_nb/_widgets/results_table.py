"""A result table in a form: filtered, searched, sorted, a page at a time, and downloaded without the kernel's disk."""

from __future__ import annotations

import base64
import dataclasses
import html
import re
import secrets
import threading
from collections.abc import Callable, Iterator

import ipywidgets
import pandas as pd

from .._cards import Card, Note, counted
from .._results.files import as_bytes
from ..errors import SmsOtpError
from . import skin
from .controls import Leafing
from .results import SORTS, Asked, Page, ResultsView, hidden
from .stages import Latest, Sign, Work, refused

PIECE = 3 * 2**20  # bytes, and a third more as text
PATIENCE = 60.0  # seconds for a page to take a piece; then nobody is looking


class Download:
    """One file at a time on its way to the page; place ``widget`` anywhere in a form, it is never seen."""

    def __init__(self, tell: Callable[[str, Sign], None] = lambda *_: None, *, patience: float = PATIENCE) -> None:
        """``tell`` is told in words whether the page took the whole file, or nobody was there to take it."""
        self._tell, self._patience, self._said = tell, patience, ""
        self._pieces: Iterator[str] = iter(())
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._piece = skin.block("")
        self._taken = skin.button("Taken")
        self._taken.on_click(lambda _: self.taken())
        self.widget = skin.box(self._piece, self._taken, classes=("smsotp-download",))

    @property
    def open(self) -> bool:
        return bool(self._piece.value)

    def offer(self, name: str, content: bytes, said: str) -> None:
        """Begin with a file, of which ``said`` tells; one that is still on its way is forgotten."""
        with self._lock:
            self._pieces, self._said = _pieces(name, content), said
            self._next()

    def taken(self) -> None:
        with self._lock:
            ended = self.open and not self._next()
        if ended:
            self._tell(f"Downloaded: {self._said}.", "ok")

    def _next(self) -> bool:
        if self._timer is not None:
            self._timer.cancel()
        piece = next(self._pieces, "")
        self._piece.value = piece
        if piece:
            self._timer = threading.Timer(self._patience, self._forget)
            self._timer.daemon = True
            self._timer.start()
        return bool(piece)

    def _forget(self) -> None:
        with self._lock:
            self._pieces = iter(())
            self._piece.value = ""
        self._tell("Nothing was downloaded: no page took the file. Reload the page and try again.", "warn")


def _pieces(name: str, content: bytes) -> Iterator[str]:
    """Yield a file as elements that the page's script reads; the last one says so."""
    number, file = max(1, -(-len(content) // PIECE)), secrets.token_hex(8)
    for at in range(number):
        text = base64.b64encode(content[at * PIECE : (at + 1) * PIECE]).decode()
        yield (
            f'<span data-file="{file}" data-piece="{at}" data-pieces="{number}" '
            f'data-name="{html.escape(name)}">{text}</span>'
        )


ORDERS = (("Ascending", False), ("Descending", True))
KINDS = {".csv": "CSV", ".xlsx": "Excel"}
NOTHING = "No rows match. Choose another state or search for something else."


class ResultsTable:
    """The rows of a result table in a form; numbers on the page are masked, in the downloaded file they are not."""

    def __init__(self) -> None:
        self.view: ResultsView | None = None
        self.asked = Asked()
        self.page: Page | None = None
        self._name = "results"
        self._filling = False
        self._searched = ("", "")  # what the search field shows, and what is meant by it
        self._said = skin.notice("")
        self._work = Work(self._say)
        self._latest: Latest[tuple[ResultsView, Asked], Page] = Latest(
            lambda pair: pair[0].page(pair[1]), self._take, wait=0.0
        )
        self._drawing = threading.RLock()
        self._make_fields()
        self.widget = self._lay_out()
        self.show(None)

    def show(self, frame: pd.DataFrame | None, name: str = "results") -> None:
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
        self._download_box = Download(self._say)
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
            view = self.view
            self._work.begin("file", lambda: self._offer(view, asked, name))

    def _offer(self, view: ResultsView, asked: Asked, name: str) -> None:
        try:
            rows = view.rows(asked)
            content = as_bytes(rows, name)
        except SmsOtpError as error:
            self._say(*refused(error, "Nothing was downloaded."))
        else:
            self._download_box.offer(name, content, f"{name}, {counted(len(rows), 'row')}, with full numbers")

    def _say(self, words: str, sign: Sign = "") -> None:
        self._said = skin.notice(words, sign)
        with self._drawing:
            self._notice.value = self._said

    # -- drawing

    def _render(self, page: Page) -> None:
        words = next(label for label, by in SORTS.items() if by == self.asked.by)
        order = "" if self.asked.by == "row" and not self.asked.descending else f", by {words[:1].lower()}{words[1:]}"
        falling = ", descending" if self.asked.descending else ""
        content = page.table if page.table.rows else Note("i", NOTHING)
        self._rows.value = Card("Rows", f"{page.line()}{order}{falling}", (content,)).html()
        self._leafing.draw(page.number, page.pages)
        for ending, button in self.buttons.items():
            button.description = f"Download {counted(page.found, 'row')}, {KINDS[ending]}"
            button.disabled = not page.found
        self._notice.value = self._said


def _file_name(name: str) -> str:
    """Return a campaign's name as the name of a file on any system.

    Example:
        >>> _file_name("Autumn/sale: 20 %"), _file_name("..")
        ('Autumn-sale-20', 'results')
    """
    return re.sub(r"[^\w.]+", "-", name).strip("-.")[:80] or "results"
