"""The parts of the phone cleaner: a page of rows, the row that is edited, and the owner of the list."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import ipywidgets

from ..._cards import SIGNS, Card, Marked, counted, safe
from ..._showing import capital
from .. import skin
from ..controls import Pinned, offer
from ..lists import NONE_CHOSEN, chooser, taken_from, with_none
from ..stages import Latest
from .judging import PAGE, Cleaned, RowView

HEAD = ("Row", "Before and after", "Result, and why")


class RowsView:
    """A page of rows; ``edit`` is called with the place of the row whose button was pressed.

    The widgets are made once and filled anew, so that a list of any length costs the page no more than one of twenty.
    """

    def __init__(self, edit: Callable[[int], None]) -> None:
        self._edit, self._places = edit, list[int]()
        self._texts = [skin.block("", "smsotp-rowtext") for _ in range(PAGE)]
        self.buttons = [skin.button("Edit", "smsotp-rowedit") for _ in range(PAGE)]
        for at, button in enumerate(self.buttons):
            button.on_click(lambda _, at=at: self._pressed(at))
        pairs = zip(self._texts, self.buttons, strict=True)
        self._lines = [skin.box(text, button, classes=("smsotp-rowline",)) for text, button in pairs]
        self._none = skin.block(skin.line("No rows here."))
        self.widget: ipywidgets.VBox = skin.box(*self._lines, self._none, classes=("smsotp-rows",))
        self.draw([])

    def draw(self, rows: Sequence[RowView]) -> None:
        self._places = [row.place for row in rows]
        skin.show(self._none, not rows)
        for at, line in enumerate(self._lines):
            skin.show(line, at < len(rows))
            if at < len(rows):
                self._texts[at].value = row_html(rows[at])
                self.buttons[at].description = f"Edit row {rows[at].name}"

    def focus(self, at: int) -> bool:
        """Put the focus on the button of a row, or of the last one there is; say whether there is one."""
        if not self._places:
            return False
        skin.focus(self.buttons[min(at, len(self._places) - 1)])
        return True

    def at(self, place: int) -> int:
        """Return at which line of the page a row stands; 0 where it is on another one."""
        return self._places.index(place) if place in self._places else 0

    def _pressed(self, at: int) -> None:
        if at < len(self._places):
            self._edit(self._places[at])


def row_html(row: RowView) -> str:
    before = pieces_html(row.before) or '<span class="smsotp-blank">blank</span>'
    after = pieces_html(row.after)
    arrow = f'<span class="smsotp-after">→ {after}</span>' if after else ""
    country = f'<span class="smsotp-of">{safe(row.country)}</span>' if row.country else ""
    edited = f'<span class="smsotp-was">Edited: {safe(row.edited)}.</span>' if row.edited else ""
    state = f"<b>{SIGNS[row.state.sign]} {safe(row.state.value)}</b>"
    return (
        f'<div class="smsotp-cells"><div class="smsotp-name">Row {safe(row.name)}</div>'
        f'<div class="smsotp-number"><span dir="ltr">{before}</span>{country}{arrow}</div>'
        f'<div class="smsotp-why">{state} <span>{safe(row.why)}</span>{edited}</div></div>'
    )


def pieces_html(text: Marked) -> str:
    return "".join(f"<{tag}>{safe(piece)}</{tag}>" if tag else safe(piece) for piece, tag in text.pieces)


QUIET = 0.2

Typed = tuple[str, str]
Verdict = tuple[bool, str]


@dataclass(frozen=True, slots=True)
class Opened:
    """The row that is being edited: its place, what it is called, its cells, and its code for support."""

    place: int
    name: str
    number: str
    country: str | None
    left_out: bool
    code: str


class RowEditor:
    """The fields of one row. ``judge`` says what typed cells come to; ``act`` is told what was asked for.

    ``act`` gets "save", "leave out", "keep" or "cancel" and the row; what is typed then is in ``typed``.
    """

    def __init__(self, judge: Callable[[int, str, str], Verdict], act: Callable[[str, Opened], None]) -> None:
        self.opened: Opened | None = None
        self._judge, self._act = judge, act
        self._latest: Latest[tuple[Opened, Typed], Verdict] = Latest(self._judged, self._told, wait=QUIET)
        self._head, self._verdict = skin.block(), skin.block()
        self.number, self.country = skin.text("Number of this row"), skin.text("Country of this row")
        self.save_button = skin.button("Save the row", "smsotp-primary")
        self.leave_button, self.cancel_button = skin.button("Leave the row out"), skin.button("Cancel")
        for field in (self.number, self.country):
            field.observe(lambda _: self._ask(), "value")
            skin.on_enter(field, lambda: self._do("save"))
        self.save_button.on_click(lambda _: self._do("save"))
        self.leave_button.on_click(lambda _: self._do("leave out"))
        self.cancel_button.on_click(lambda _: self._do("cancel"))
        fields = skin.pair(self.number, self.country)
        buttons = skin.box(self.save_button, self.leave_button, self.cancel_button, classes=("smsotp-three",))
        self.widget = skin.main(self._head, fields, self._verdict, buttons, classes=("smsotp-edit",))
        skin.show(self.widget, False)

    def open(self, row: Opened) -> None:
        """Show a row and put the focus on its number."""
        self.opened = None
        self.number.value, self.country.value = row.number, row.country or ""
        skin.show(self.country, row.country is not None)
        self.leave_button.description = "Keep the row" if row.left_out else "Leave the row out"
        code = f" Code for support: {row.code}." if row.code else ""
        self._head.value = skin.line(f"Row {row.name}. The file itself is not changed.{code}")
        self.opened = row
        skin.show(self.widget, True)
        self._ask(at_once=True)
        skin.focus(self.number)

    def close(self) -> None:
        self.opened = None
        skin.show(self.widget, False)

    def typed(self) -> Typed:
        return self.number.value.strip(), self.country.value.strip()

    def settle(self) -> None:
        self._latest.settle()

    def _do(self, what: str) -> None:
        if self.opened is not None:
            self._act("keep" if what == "leave out" and self.opened.left_out else what, self.opened)

    def _ask(self, *, at_once: bool = False) -> None:
        if self.opened is not None:
            self._latest.ask((self.opened, self.typed()), at_once=at_once)

    def _judged(self, asked: tuple[Opened, Typed]) -> Verdict:
        return self._judge(asked[0].place, *asked[1])

    def _told(self, verdict: Verdict) -> None:
        usable, words = verdict
        self._verdict.value = skin.line(capital(words), "ok" if usable else "bad")


Wanted = tuple[Cleaned, Literal["usable", "left out", "questions"]]  # what a button that downloads says


NAMED = ("name", "full name", "full_name", "customer", "contact")


class OwnerPart:
    """Fields and buttons: ``ask`` downloads a workbook of questions, ``merge`` gets name and content of the answers."""

    def __init__(self, *, merge: Callable[[str, bytes], None]) -> None:
        self.keep = skin.choice("Column that says who is meant", with_none([], "none"), None)
        self.ask = Pinned("Download the questions")
        self.back = chooser("Choose the workbook as it came back", ".xlsx")
        self._line, self._card, self.notice = skin.block(), skin.block(), skin.block()
        self.back.observe(lambda _: merge(*chosen) if (chosen := taken_from(self.back)) else None, "value")
        self._asking = skin.pair(self.keep, self.ask.widget)
        self.widget = skin.main(self._line, self._asking, self.back, self.notice, self._card)

    def of(self, names: Sequence[tuple[str, Hashable]]) -> None:
        named = next((name for label, name in names if label.lower().strip() in NAMED), NONE_CHOSEN)
        offer(self.keep, with_none(names, "none"), named)

    @property
    def kept(self) -> list[Hashable]:
        return [] if self.keep.value == NONE_CHOSEN else [self.keep.value]

    def draw(self, unusable: int, wanted: Any) -> None:
        """Say what the workbook will hold; ``wanted`` is what its button stands for."""
        self.ask.offer("Download the questions", wanted)
        rows = f"{counted(unusable, 'row')} with the complete number, the reason and room for an answer"
        self._line.value = skin.line(
            f"{rows}. It is for the owner of the list only." if unusable else "Nothing to ask."
        )
        skin.show(self._asking, unusable > 0)

    def show(self, card: Card | None) -> None:
        self._card.value = card.html() if card else ""
