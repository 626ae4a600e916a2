"""The sandbox's inbox as a widget that follows it."""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING

from .._calling import in_our_words, not_flag, not_whole, refuse
from .._cards import Card
from . import skin
from .columns import sandbox_of
from .inbox import draw

if TYPE_CHECKING:
    from .._client import Client
    from .._sandbox import Sandbox

LOOK_EVERY = 1.0  # seconds
SHOWN = 12


class InboxView(skin.Shown):
    """A live view of a sandbox's inbox, newest message first, until the sandbox ends. Make it the last line of a cell.

    Passcodes are shown as dots unless ``codes`` is set. Even then they are legible only on the open page and not in a
    saved notebook.

    Args:
        box: the sandbox, or a client of one.
        codes: show passcodes.
        shown: number of messages to show.

    Attributes:
        widget: the ipywidgets root, to place in a layout of your own.

    Raises:
        UsageError: not a sandbox; the live service has no inbox.

    Example:
        >>> from smsotp_nb import Sandbox
        >>> from smsotp_nb.widgets import InboxView
        >>> with Sandbox() as box:
        ...     view = InboxView(box)
        >>> view
        <InboxView; run the cell to use it>
    """

    _calls = "box.inbox"

    @in_our_words
    def __init__(self, box: Sandbox | Client, *, codes: bool = False, shown: int = SHOWN) -> None:
        self._box, self._codes, self._shown = sandbox_of(box), codes, shown
        refuse(not_flag("codes", codes), not_whole("shown", shown))
        self._pane = skin.block("")
        self.widget = skin.form(self._pane, classes=("smsotp-slim", "smsotp-bare"))
        self.refresh()
        threading.Thread(target=_follow, args=(weakref.ref(self),), name="smsotp-inbox", daemon=True).start()

    def refresh(self) -> bool:
        """Draw the inbox as it is now; say whether the sandbox is still there."""
        return draw(self._pane, self._box, None if self._codes else (), shown=self._shown)

    def _saved(self) -> Card:
        return Card("Inbox of a sandbox", "", closing="Run this cell to see it.")

    def __repr__(self) -> str:
        return "<InboxView; run the cell to use it>"


def _follow(view: weakref.ref[InboxView]) -> None:
    """Refresh until the view or its sandbox is gone; a large inbox is read less often."""
    pause = LOOK_EVERY
    while True:
        time.sleep(pause)
        found = view()
        if found is None or found.widget.comm is None:
            return
        started = time.monotonic()
        if not found.refresh():
            return
        pause = max(LOOK_EVERY, 20 * (time.monotonic() - started))
        del found
