"""The sandbox's inbox as a widget that follows it."""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING

from . import skin
from .arguments import sandbox_of
from .inbox import draw

if TYPE_CHECKING:
    from .._client import Client
    from .._sandbox import Sandbox

LOOK_EVERY = 1.0  # seconds
SHOWN = 12


class InboxView(skin.Shown):
    """Show a sandbox's inbox and follow it, newest first, until the sandbox ends; put it last in a cell.

    Passcodes are dots unless ``codes`` is set; then they are legible on the page that is open, and in no saved
    notebook.

    Args:
        box: the sandbox, or a client that speaks to one.
        codes: show passcodes.
        shown: how many messages.

    Attributes:
        widget: the ipywidgets root, to place in a layout of your own.

    Raises:
        UsageError: there is no sandbox; the real service has no inbox.

    Example:
        >>> from smsotp_nb import Sandbox
        >>> from smsotp_nb.widgets import InboxView
        >>> with Sandbox() as box:
        ...     view = InboxView(box)
        >>> view
        <InboxView; run the cell to use it>
    """

    def __init__(self, box: Sandbox | Client, *, codes: bool = False, shown: int = SHOWN) -> None:
        self._box, self._codes, self._shown = sandbox_of(box), codes, shown
        self._pane = skin.block("")
        self.widget = skin.form(self._pane, classes=("smsotp-slim", "smsotp-bare"))
        self.refresh()
        threading.Thread(target=_follow, args=(weakref.ref(self),), name="smsotp-inbox", daemon=True).start()

    def refresh(self) -> bool:
        """Draw the inbox as it is now; say whether the sandbox is still there."""
        return draw(self._pane, self._box, None if self._codes else (), shown=self._shown)

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
