"""Two buttons that turn pages, without letting the focus fall to the notebook at either end."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from . import skin


class Leafing:
    """The buttons to the page before and the page after; ``turn`` gets -1 or 1, and may draw the page later.

    Example:
        >>> turned = []
        >>> leafing = Leafing("Previous rows", "Next rows", turned.append)
        >>> leafing.draw(0, 2)
        >>> leafing.after.click()
        >>> turned, leafing.before.disabled
        ([1], True)
    """

    def __init__(self, before: str, after: str, turn: Callable[[int], None]) -> None:
        self.before, self.after = skin.button(before), skin.button(after)
        self._turn = turn
        self._pressed: ipywidgets.Button | None = None
        self.before.on_click(lambda _: self._press(self.before, -1))
        self.after.on_click(lambda _: self._press(self.after, 1))
        self.widget = skin.box(self.before, self.after, classes=("smsotp-pair", "smsotp-always"))

    def draw(self, page: int, pages: int) -> None:
        """Follow a page that is shown, counted from 0. A button that was pressed and goes dead passes the focus on."""
        skin.show(self.widget, pages > 1)
        self.before.disabled, self.after.disabled = page == 0, page + 1 >= pages
        pressed, self._pressed = self._pressed, None
        if pressed is not None and pressed.disabled:
            (self.after if pressed is self.before else self.before).focus()

    def _press(self, button: ipywidgets.Button, by: int) -> None:
        self._pressed = button
        self._turn(by)
