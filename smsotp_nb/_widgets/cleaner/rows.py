"""The rows of a list in the cleaner: one page of them, each with a button that opens it for editing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ipywidgets

from ..._cards import SIGNS, Marked, safe
from .. import skin
from .judging import PAGE, RowView

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
        self._none = skin.block(skin.line("No rows with this result."))
        self.widget: ipywidgets.VBox = skin.box(*self._lines, self._none, classes=("smsotp-rows",))
        self.draw([])

    def draw(self, rows: Sequence[RowView]) -> None:
        """Show these rows, at most a page of them."""
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
        self.buttons[min(at, len(self._places) - 1)].focus()
        return True

    def at(self, place: int) -> int:
        """Return at which line of the page a row stands; 0 where it is on another one."""
        return self._places.index(place) if place in self._places else 0

    def _pressed(self, at: int) -> None:
        if at < len(self._places):
            self._edit(self._places[at])


def row_html(row: RowView) -> str:
    """Return a row as HTML: what it is called, its number before and after, the result and why."""
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
