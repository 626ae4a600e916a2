"""A result table in a form: filtered, searched, sorted, a page at a time, and downloaded without the kernel's disk."""

from __future__ import annotations

import base64
import dataclasses
import html
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import ipywidgets
import numpy as np
import numpy.typing as npt
import pandas as pd

from .._cards import MISSING, Card, Cell, Code, Note, State, Table, counted, money, number, places_of
from .._cards.blocks import Align
from .._cards.blocks import Sign as CardSign
from .._pandas import STR, texts
from .._phones import country_name
from .._results.contract import ALL
from .._results.files import as_bytes
from .._showing import capital
from .._showing import label as shown_label
from .._wire import mask
from ..errors import SmsOtpError
from ..problems import PROBLEMS
from . import skin
from .controls import Filling, Leafing, offer
from .stages import Latest, Sign, Work, refused

PAGE: Final = 15
MOST_REASONS: Final = 20
STATES: Final[dict[str, tuple[CardSign, str]]] = {
    "in_doubt": ("!", "in doubt"),
    "rejected": ("cross", "rejected"),
    "planned": ("i", "to go"),
    "sending": ("i", "under way"),
    "skipped": ("i", "left out"),
    "accepted": ("check", "accepted"),
}  # in the order in which they are looked for
SORTS: Final = {
    "Row": "row",
    "Number": "to",
    "State": "status",
    "Reason": "reason",
    "Country": "country",
    "Parts": "parts",
    "Price": "price",
    "Message ID": "id",
    "Time": "at",
}
_SHOWN: Final = ("Row", "Number", "State", "Reason", "Country", "Parts", "Price", "Message ID")
_ALIGN: Final[tuple[Align, ...]] = (*("left",) * 5, "right", "right", "left")
_SIGNS_OF_A_NUMBER: Final = frozenset("+0123456789 ().-/")
_LEAST_DIGITS: Final = 3
_WHOLE_NUMBER: Final = 8
_ID: Final = 8
Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Asked:
    """What to look at: ``state`` and ``reason`` are ``""`` for all, ``by`` is one of ``SORTS``, pages begin at 0."""

    state: str = ""
    reason: str = ""
    search: str = ""
    by: str = "row"
    descending: bool = False
    page: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the rows that were asked for: ``found`` of ``total`` rows, ``number`` of ``pages`` from 0."""

    table: Table
    found: int
    total: int
    number: int
    pages: int

    def line(self) -> str:
        said = counted(self.total, "row")
        said = said if self.found == self.total else f"{number(self.found)} of {said}"
        return said + (f", page {number(self.number + 1)} of {number(self.pages)}" if self.pages > 1 else "")


class ResultsView:
    """A result table to look through. A page is made of its rows alone; what filters and sorts works by column."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame.reindex(columns=list(dict.fromkeys([*ALL, *frame.columns])))
        self._given = frame
        self._status = pd.Categorical(self.frame["status"], categories=list(STATES), ordered=True)
        self._reason = _reasons(self.frame)
        self._country = _countries(self.frame)
        self._amounts = places_of(self.frame["price"].dropna().unique().tolist())
        self._last: tuple[Asked, Places] | None = None

    def choices(self) -> list[tuple[str, tuple[str, str]]]:
        """Return what may be shown: label, and state and reason; each state, and below it its most frequent reasons."""
        found = [(f"All {counted(len(self.frame), 'row')}", ("", ""))]
        for state, (_, words) in STATES.items():
            mine = self._status == state
            if not mine.any():
                continue
            found.append((f"{capital(words)}: {number(int(mine.sum()))}", (state, "")))
            reasons = pd.Series(self._reason[mine]).value_counts()
            for reason, rows in reasons[reasons > 0].head(MOST_REASONS).items():
                found.append((f"{capital(words)}, {reason}: {number(int(rows))}", (state, str(reason))))
        return found

    def page(self, asked: Asked) -> Page:
        places = self._places(asked)
        pages = max(1, -(-len(places) // PAGE))
        here = min(max(asked.page, 0), pages - 1)
        rows = tuple(self._row(int(place)) for place in places[here * PAGE : (here + 1) * PAGE])
        return Page(Table(_SHOWN, rows, _ALIGN), len(places), len(self.frame), here, pages)

    def rows(self, asked: Asked) -> pd.DataFrame:
        """Return all rows that were asked for, in their order, with every column and the caller's index."""
        return self._given.iloc[self._places(asked)]

    # -- filter and sort

    def _places(self, asked: Asked) -> Places:
        key = Asked(asked.state, asked.reason, asked.search.strip(), asked.by, asked.descending)
        if self._last is None or self._last[0] != key:
            self._last = key, self._sorted(np.flatnonzero(self._wanted(key)), key.by, key.descending)
        return self._last[1]

    def _wanted(self, asked: Asked) -> Mask:
        wanted: Mask = np.ones(len(self.frame), dtype=bool)
        if asked.state:
            wanted &= np.asarray(self._status == asked.state)
        if asked.reason:
            wanted &= np.asarray(self._reason == asked.reason)
        return wanted & self._found(asked.search) if asked.search else wanted

    def _sorted(self, places: Places, by: str, descending: bool) -> Places:
        if by == "row":
            return places[::-1] if descending else places
        keys = self._keys(by).take(places).set_axis(range(len(places)))
        ascending = [True] * (keys.shape[1] - 1) + [not descending]
        order = keys.sort_values(list(keys.columns), ascending=ascending, kind="stable", na_position="last")
        found: Places = places[order.index.to_numpy()]
        return found

    def _keys(self, by: str) -> pd.DataFrame:
        """Return what a column is sorted by; amounts of one currency stand together."""
        made = {"status": self._status, "reason": self._reason, "country": self._country}
        if by in made:
            return pd.DataFrame({by: made[by]})
        return self.frame[["currency", "price"] if by == "price" else [by]].reset_index(drop=True)

    # -- search

    def _found(self, search: str) -> Mask:
        words = search.casefold()
        found = self._number_like(search)
        for column in (self._reason, self._country):
            fitting = [code for code, one in enumerate(column.categories) if words in str(one).casefold()]
            found = found | np.isin(column.codes, fitting)
        said = [code for code, (_, state) in enumerate(STATES.values()) if words in state]
        found = found | np.isin(self._status.codes, said)
        own = [name for name in self._given.columns if name not in ALL]
        for cells in (self.frame["id"], *(self._given[name] for name in own), _labels(self.frame.index)):
            found = found | _holds(cells, search)
        return found

    def _number_like(self, search: str) -> Mask:
        """Say whose number fits: one typed in any usual way, a part of one, or one as it is shown, with its dots."""
        numbers = self.frame["to"].astype(STR)
        head, dots, tail = search.partition("...")
        if dots and _SIGNS_OF_A_NUMBER.issuperset(search):
            fits = numbers.str.startswith(head, na=False) & numbers.str.endswith(tail, na=False)
            return fits.to_numpy(bool)
        digits = "".join(sign for sign in search if sign.isdigit())
        if len(digits) < _LEAST_DIGITS or not _SIGNS_OF_A_NUMBER.issuperset(search):
            return np.zeros(len(numbers), dtype=bool)
        return _holds(numbers, f"+{digits}" if search.startswith("+") else digits)

    # -- one row

    def _row(self, place: int) -> tuple[Cell, ...]:
        row = self.frame.iloc[place]
        to, sent = row["to"], row["id"]
        sign, state = STATES[row["status"]]
        return (
            shown_label(self.frame.index[place]),
            MISSING if pd.isna(to) else Code(mask(to)),
            State(sign, state),
            self._why(place, row),
            _text(self._country[place]),
            "" if pd.isna(row["parts"]) else int(row["parts"]),
            "" if pd.isna(row["price"]) else money(row["price"], _text(row["currency"]), places=self._amounts),
            "" if pd.isna(sent) else Code(_short(str(sent))),
        )

    def _why(self, place: int, row: Any) -> str:
        said, until = _text(self._reason[place]), row["not_before"]
        return said if pd.isna(until) else f"{said}, until {until:%Y-%m-%d %H:%M} UTC"


def hidden(search: str) -> str:
    """Return a search as a field may keep it: a whole number masked, everything else as it is.

    Example:
        >>> hidden("+1 202 555 0123"), hidden("555 01"), hidden("Zoë")
        ('+1202...0123', '555 01', 'Zoë')
    """
    digits = "".join(sign for sign in search if sign in "+0123456789")
    return mask(digits) if len(digits) >= _WHOLE_NUMBER and _SIGNS_OF_A_NUMBER.issuperset(search) else search


def _reasons(frame: pd.DataFrame) -> pd.Categorical:
    """Return why a row stands as it does in plain words, made once for each problem and error."""
    pairs = frame[["problem", "error"]]
    group = pairs.groupby(["problem", "error"], dropna=False, sort=False).ngroup().to_numpy()
    first = pairs.iloc[np.unique(group, return_index=True)[1]]
    words = pd.Series([_reason(*pair) for pair in first.itertuples(index=False)], dtype=STR)
    return pd.Categorical(words.take(group), categories=sorted(words.dropna().unique()), ordered=True)


def _reason(problem: Any, error: Any) -> str | None:
    if not isinstance(problem, str):
        return None
    meaning = PROBLEMS[problem].meaning if problem in PROBLEMS else problem
    said = isinstance(error, str) and error and problem == "REJECTED"  # else the meaning says it all
    return f"{meaning}: {error}" if said else meaning


def _countries(frame: pd.DataFrame) -> pd.Categorical:
    """Return the country that was billed, else the one that was read from the number, by its English name."""
    codes = frame["iso"].astype(STR).fillna(frame["region"].astype(STR))
    names = {code: country_name(code) or code for code in codes.dropna().unique()}
    return pd.Categorical(codes.map(names), categories=sorted(set(names.values())), ordered=True)


def _holds(cells: pd.Series, search: str) -> Mask:
    return texts(cells).str.contains(search, case=False, regex=False, na=False).to_numpy(bool)


def _labels(index: pd.Index) -> pd.Series:
    made = index.map(_label) if isinstance(index, pd.MultiIndex) else index
    return texts(made.to_series())


def _label(label: Any) -> str:
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _short(sent: str) -> str:
    """Return the beginning of a message id, which tells it from others; the downloaded file has all of it."""
    return sent if len(sent) <= _ID else f"{sent[:_ID]}…"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


PIECE = 3 * 2**20  # bytes, and a third more as text
PATIENCE = 60.0  # seconds for a page to take a piece; then nobody is looking


class Download:
    """One file at a time on its way to the page; place ``widget`` anywhere in a form, it is never seen."""

    def __init__(self, tell: Callable[[str, Sign], None]) -> None:
        """``tell`` is told in words whether the page took the whole file, or nobody was there to take it."""
        self._tell, self._said = tell, ""
        self._pieces: Iterator[str] = iter(())
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._piece = skin.block()
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
            self._timer = threading.Timer(PATIENCE, self._forget)
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
        self._filling = Filling()
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
                with self._filling:  # what was chosen stays where it can
                    offer(self.shown, self.view.choices(), self.shown.value)
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
        self._rows, self._notice = skin.block(), skin.block()
        self._download_box = Download(self._say)
        return skin.main(
            skin.pair(self.shown, self.search),
            skin.pair(self.by, self.order, classes=("smsotp-always",)),
            self._rows,
            self._leafing.widget,
            skin.pair(*self.buttons.values(), classes=("smsotp-always",)),
            self._notice,
            self._download_box.widget,
            classes=("smsotp-results",),
        )

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
        with self._filling:
            self.search.value = self._searched[0]

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
