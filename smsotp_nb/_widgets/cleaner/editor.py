"""One row of the list open in the cleaner: its number and country, what they would come to, and what to do with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .. import skin
from ..latest import Latest

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
    left_out: bool = False
    code: str = ""


class RowEditor:
    """The fields of one row. ``judge`` says what typed cells come to; ``act`` is told what was asked for.

    ``act`` gets "save", "leave out", "keep" or "cancel" and the row; what is typed then is in ``typed``.
    """

    def __init__(self, judge: Callable[[int, str, str], Verdict], act: Callable[[str, Opened], None]) -> None:
        self.opened: Opened | None = None
        self._judge, self._act = judge, act
        self._latest: Latest[tuple[Opened, Typed], Verdict] = Latest(self._judged, self._told, wait=QUIET)
        self._head, self._verdict = skin.block(""), skin.block("")
        self.number, self.country = skin.text("Number of this row"), skin.text("Country of this row")
        self.save_button = skin.button("Save the row", "smsotp-primary")
        self.leave_button, self.cancel_button = skin.button("Leave the row out"), skin.button("Cancel")
        for field in (self.number, self.country):
            field.observe(lambda _: self._ask(), "value")
            skin.on_enter(field, lambda: self._do("save"))
        self.save_button.on_click(lambda _: self._do("save"))
        self.leave_button.on_click(lambda _: self._do("keep" if self._is_out() else "leave out"))
        self.cancel_button.on_click(lambda _: self._do("cancel"))
        fields = skin.box(self.number, self.country, classes=("smsotp-pair",))
        buttons = skin.box(self.save_button, self.leave_button, self.cancel_button, classes=("smsotp-three",))
        self.widget = skin.box(self._head, fields, self._verdict, buttons, classes=("smsotp-main", "smsotp-edit"))
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
        self.number.focus()

    def close(self) -> None:
        self.opened = None
        skin.show(self.widget, False)

    def typed(self) -> Typed:
        return self.number.value.strip(), self.country.value.strip()

    def settle(self) -> None:
        self._latest.settle()

    def _is_out(self) -> bool:
        return self.opened is not None and self.opened.left_out

    def _do(self, what: str) -> None:
        if self.opened is not None:
            self._act(what, self.opened)

    def _ask(self, *, at_once: bool = False) -> None:
        if self.opened is not None:
            self._latest.ask((self.opened, self.typed()), at_once=at_once)

    def _judged(self, asked: tuple[Opened, Typed]) -> Verdict:
        return self._judge(asked[0].place, *asked[1])

    def _told(self, verdict: Verdict) -> None:
        usable, words = verdict
        self._verdict.value = skin.line(words[:1].upper() + words[1:], "ok" if usable else "bad")
