"""A button that does what it said when it was pressed, or nothing.

While a press is on its way its button may get another label: the same gesture changed a field, the kernel was busy, or
another process changed the campaign. So each label has a number, the page tells which number was pressed, and what that
label stood for is done, or nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

from . import skin

_NUMBERS: Final = itertools.count(1)
_LABEL: Final = "smsotp-label-"  # the script of the page reads the number behind it


class Pinned:
    """A button with what stands behind its label; place ``widget`` in a form.

    A second press does nothing while the first one is at work. A page without the script does not tell which label was
    pressed; there it is the present one.

    Attributes:
        button: the ipywidgets button, to be shown, marked or focused.

    Example:
        >>> done = []
        >>> pinned = Pinned("Send")
        >>> pinned.does(done.append, work=lambda job: job(), stale=lambda: None)
        >>> pinned.button.click()
        >>> pinned.offer("Send 5 messages", 5)
        >>> pinned.button.click()
        >>> done
        [5]
    """

    def __init__(self, label: str, *classes: str) -> None:
        self._what: Any = None
        self._number = self._done = 0
        self._told: int | None = None  # the number of the label that was pressed last, by the page
        self._page_tells = self._at_work = False
        self.button = skin.button(label, *classes)
        self._telling = skin.text("", "smsotp-told", continuous_update=False)
        self.widget = skin.box(self.button, self._telling, classes=("smsotp-pinned",))
        self._telling.observe(lambda change: self._hear(change["new"]), "value")

    def does(
        self,
        move: Callable[[Any], Callable[[], None] | None],
        *,
        work: Callable[[Callable[[], None]], bool | None],
        stale: Callable[[], None],
        draw: Callable[[], None] = lambda: None,
    ) -> None:
        """Say what a press does, with what stands behind the label.

        ``move`` may return what tells the outcome. Whoever reads it can press again at once, so it is told last.
        ``work`` begins a job, and returns False if it does not; ``stale`` says that another label was pressed; ``draw``
        brings the label up to date, for who presses in code and sees no page.
        """
        self._move, self._work, self._stale, self._draw = move, work, stale, draw
        self.button.on_click(lambda _: self._press())

    def offer(self, label: str, what: Any) -> None:
        """Give the button a label and what it stands for; None: it stands for nothing now."""
        if self._number and label == self.button.description and what == self._what:
            return
        self._number, self._what = next(_NUMBERS), what
        others = [name for name in self.button._dom_classes if not name.startswith(_LABEL)]
        with self.button.hold_sync():  # the page gets both at once
            self.button.description = label
            self.button._dom_classes = (*others, f"{_LABEL}{self._number}")

    def _press(self) -> None:
        """Do what the label stood for that was pressed, unless it stands for something else by now."""
        told, self._told = self._told, None
        if self._what is None and not self._page_tells:
            self._draw()
        if self._at_work or self._what is None:
            return
        if self._page_tells and told != self._number:
            if told != self._done:  # else the second press of a double click
                self._stale()
            return
        self._at_work, self._done, what = True, self._number, self._what
        if self._work(lambda: self._do(what)) is False:
            self._at_work = False

    def _do(self, what: Any) -> None:
        try:
            tell = self._move(what)
        finally:
            self._at_work = False
        if tell is not None:
            tell()

    def _hear(self, said: str) -> None:
        number = said.partition(" ")[0]
        if number.isdecimal():
            self._told, self._page_tells = int(number), True
