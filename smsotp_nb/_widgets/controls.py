"""Buttons that do what they said, buttons that turn pages, and what is wrong told at its field."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import ipywidgets

from .._cards import counted, number, safe
from . import skin
from .stages import Work


def offer(field: ipywidgets.Dropdown, options: Sequence[tuple[str, Any]], value: Any) -> None:
    """Offer options in a list, and choose one; the first where ``value`` is none of them."""
    if [*options] != [*field.options]:
        field.options = options
    values = [value for _, value in options]
    field.value = value if value is not None and value in values else values[0]


class Filling:
    """While a form fills in its own fields, it hears none of them: ``with filling``, and no gesture ``if filling``."""

    def __init__(self) -> None:
        self._on = False

    def __bool__(self) -> bool:
        return self._on

    def __enter__(self) -> None:
        self._on = True

    def __exit__(self, *_: object) -> None:
        self._on = False


def fill_in(fields: Mapping[str, ipywidgets.ValueWidget], draft: Mapping[str, str | int]) -> None:
    """Fill a draft into fields by their names; what a field cannot take, or not now, stays as it is."""
    for name, field in fields.items():
        if name not in draft or field.disabled:
            continue
        choosable = [value for _, value in field.options] if isinstance(field, ipywidgets.Dropdown) else None
        if isinstance(draft[name], type(field.value)) if choosable is None else draft[name] in choosable:
            field.value = draft[name]


class FieldFaults:
    """The lines below fields, by the names of the fields."""

    def __init__(self) -> None:
        self._fields: dict[str, ipywidgets.DOMWidget] = {}
        self._lines: dict[str, ipywidgets.HTML] = {}
        self._shown: Mapping[str, str] = {}

    def around(self, name: str, field: ipywidgets.DOMWidget) -> ipywidgets.VBox:
        self._fields[name], self._lines[name] = field, skin.block("", "smsotp-fault")
        skin.show(self._lines[name], False)
        field.observe(lambda _: self._say(name, ""), "value")
        return skin.box(field, self._lines[name], classes=("smsotp-field",))

    def show(self, faults: Mapping[str, str]) -> None:
        """Show these faults; the same ones again bring no line back that went away."""
        if faults is self._shown:
            return
        self._shown = faults
        for name in self._fields:
            self._say(name, faults.get(name, ""))

    def first(self) -> ipywidgets.DOMWidget | None:
        return next((field for name, field in self._fields.items() if self._lines[name].value), None)

    def _say(self, name: str, words: str) -> None:
        line = self._lines[name]
        if bool(words) != bool(line.value) or words:
            line.value = f'<p class="smsotp-line smsotp-bad" role="alert">✗ {safe(words)}</p>' if words else ""
            skin.show(line, bool(words))
            skin.mark(self._fields[name], "smsotp-invalid", bool(words))


class Leafing:
    """The buttons to the page before and the page after; ``turn`` gets -1 or 1, and may draw the page later."""

    def __init__(self, before: str, after: str, turn: Callable[[int], None]) -> None:
        self.before, self.after = skin.button(before), skin.button(after)
        self._turn = turn
        self._pressed: ipywidgets.Button | None = None
        self.before.on_click(lambda _: self._press(self.before, -1))
        self.after.on_click(lambda _: self._press(self.after, 1))
        self.widget = skin.pair(self.before, self.after, classes=("smsotp-always",))

    def draw(self, page: int, pages: int) -> None:
        """Follow a page that is shown, counted from 0. A button that was pressed and goes dead passes the focus on."""
        skin.show(self.widget, pages > 1)
        self.before.disabled, self.after.disabled = page == 0, page + 1 >= pages
        pressed, self._pressed = self._pressed, None
        if pressed is not None and pressed.disabled:
            skin.focus(self.after if pressed is self.before else self.before)

    def _press(self, button: ipywidgets.Button, by: int) -> None:
        self._pressed = button
        self._turn(by)


_NUMBERS: Final = itertools.count(1)
_LABEL: Final = "smsotp-label-"  # the script of the page reads the number behind it


class Pinned:
    """A button that does what its label said when it was pressed, or nothing; place ``widget`` in a form.

    While a press is on its way the label may change: the same gesture changed a field, the kernel was busy, or another
    process changed the campaign. So each label has a number, the page tells which number was pressed, and what that
    label stood for is done, or nothing. A second press does nothing while the first one is in hand.

    The page's script tells this by a field, and keeps the click to itself. A click therefore comes only from a page
    without the script, or from code; it counts for the present label.
    """

    def __init__(self, label: str, *classes: str) -> None:
        self._what: Any = None
        self._number = self._done = 0
        self.button = skin.button(label, *classes)
        self._telling = skin.text("", "smsotp-told", continuous_update=False)
        self.widget = skin.box(self.button, self._telling, classes=("smsotp-pinned",))
        self._telling.observe(lambda change: self._hear(change["new"]), "value")

    def does(
        self,
        move: Callable[[Any], Callable[[], None] | None],
        *,
        work: Work,
        stale: Callable[[], None],
        draw: Callable[[], None] = lambda: None,
        then: Callable[[], None] | None = None,
    ) -> None:
        """Say what a press does, with what stands behind the label, as a job of ``work``, and what follows ``then``.

        ``stale`` says that another label was pressed; ``draw`` brings the label up to date, for who presses in code and
        sees no page.
        """
        self._move, self._work, self._stale, self._draw, self._then = move, work, stale, draw, then
        self.button.on_click(lambda _: self._clicked())

    def offer(self, label: str, what: Any) -> None:
        """Give the button a label and what it stands for; None: it stands for nothing now."""
        if self._number and label == self.button.description and what == self._what:
            return
        self._number, self._what = next(_NUMBERS), what
        others = [name for name in self.button._dom_classes if not name.startswith(_LABEL)]
        with self.button.hold_sync():  # the page gets both at once
            self.button.description = label
            self.button._dom_classes = (*others, f"{_LABEL}{self._number}")

    def _clicked(self) -> None:
        if self._what is None:
            self._draw()
        self._press(self._number)

    def _hear(self, said: str) -> None:
        number = said.partition(" ")[0]
        if number.isdecimal():
            self._press(int(number))

    def _press(self, told: int) -> None:
        """Do what the label stood for that was pressed, unless it stands for something else by now."""
        if self._what is None or self._work.has(self):
            return
        if told != self._number:
            if told != self._done:  # else the second press of a double click
                self._stale()
            return
        self._done, what = self._number, self._what
        self._work.begin(self, lambda: self._move(what), self._then)


class Withdrawal:
    """The question whether what was not sent is to be withdrawn for good; ``parts`` stand above the answers."""

    def __init__(self, *parts: ipywidgets.DOMWidget) -> None:
        self._warning = skin.block()
        self.sure, self.keep_button = Pinned("Yes, withdraw"), skin.button("No, keep them")
        answers = skin.pair(self.sure.widget, self.keep_button)
        self.widget = skin.main(self._warning, *parts, answers, classes=("smsotp-framed",))

    def draw(self, rows: int, what: Any) -> None:
        """Ask for so many rows; ``what`` stands behind the answer, None: nothing is asked."""
        skin.show(self.widget, what is not None)
        words = f"{counted(rows, 'row')} will be taken out for good: this campaign never texts them."
        self._warning.value = skin.line(words, "warn")
        self.sure.offer(f"Yes, withdraw {number(rows)}", what)
