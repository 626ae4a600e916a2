"""The sandbox's inbox as a person would read it, newest first, in a form or as a widget that follows it.

A passcode is shown only while it is open, and only on the page: widget state is saved with notebooks.
"""

from __future__ import annotations

import html
import re
import threading
import time
import weakref
from collections.abc import Collection
from typing import Any

import ipywidgets
import pandas as pd

from .._calling import given, in_our_words, not_flag, not_whole, refuse
from .._cards import Card, safe
from .._client import Client
from ..sandbox import Sandbox
from .._showing import masked
from .._wire import mask
from ..errors import SmsOtpError, UsageError
from . import skin

SHOWN = 4
SHOWN_ALONE = 12
LOOK_EVERY = 1.0  # seconds
HIDDEN = "•"


def inbox_html(
    inbox: pd.DataFrame, *, open_ids: Collection[str] = (), shown: int = SHOWN, plainly: bool = False
) -> str:
    """Return the newest messages of an inbox frame, codes as dots.

    Those of messages in ``open_ids`` are marked for the page's script, and legible only if ``plainly`` is set.
    """
    newest = inbox.tail(shown).iloc[::-1]
    items = [_message(row, open_ids, plainly=plainly) for row in newest.to_dict("records")]
    more = len(inbox) - len(items)
    if more > 0:
        items.append(f'<li class="smsotp-more">and {more:,} more</li>')
    return _section(f'<ul class="smsotp-mail">{"".join(items)}</ul>' if items else EMPTY)


EMPTY = '<p class="smsotp-empty">No messages yet.<br>What is sent appears here.</p>'


def _message(row: dict[object, object], open_ids: Collection[str], *, plainly: bool) -> str:
    code = row["code"] if isinstance(row["code"], str) else ""
    text = str(row["text"])
    if not code:
        text = safe(masked(text))
    else:
        opened = row["id"] in open_ids
        mark = f' data-open="{html.escape(str(row["id"]))}"' if opened else ""
        written = safe(code) if opened and plainly else HIDDEN * len(code)
        pieces = re.split(rf"(?<!\d){re.escape(code)}(?!\d)", text)
        text = f"<b{mark}>{written}</b>".join(safe(masked(piece)) for piece in pieces)
    foot = " · ".join((str(row["channel"]), mask(str(row["to"])), f"{row['at']:%H:%M:%S} UTC"))
    return f'<li><p>{text}</p><p class="smsotp-foot">{safe(foot)}</p></li>'


def draw(pane: ipywidgets.HTML, box: Sandbox, open_ids: Collection[str] | None = (), *, shown: int = SHOWN) -> bool:
    """Draw the inbox of a sandbox as it is now; return whether the sandbox is still there.

    A code that is open (``None``: every one) passes through the widget once, for the page to remember.
    """
    inbox = _of(box)
    if inbox is None:
        pane.value = ENDED
        return False
    ids = inbox["id"].tail(shown).tolist() if open_ids is None else open_ids
    dotted = inbox_html(inbox, open_ids=ids, shown=shown)
    if pane.value != dotted:
        if ids:
            pane.value = inbox_html(inbox, open_ids=ids, shown=shown, plainly=True)
        pane.value = dotted
    return True


def currency_of(box: Sandbox | None, message_id: str | None) -> str | None:
    """Return the currency of a message: a passcode's reply names none, the sandbox's inbox does."""
    inbox = _of(box)
    if inbox is None:
        return None
    found = inbox.loc[inbox["id"] == message_id, "currency"]
    return str(found.iloc[0]) if len(found) else None


def passcodes_to(box: Sandbox | None, to: str) -> list[str]:
    """Return the ids of the passcode messages to a number, oldest first."""
    inbox = _of(box)
    return [] if inbox is None else [str(one) for one in inbox.loc[(inbox["to"] == to) & inbox["code"].notna(), "id"]]


def _of(box: Sandbox | None) -> pd.DataFrame | None:
    """Return an inbox; None on a live service, and where the sandbox has ended."""
    try:
        return None if box is None else box.inbox
    except SmsOtpError:
        return None


def _section(content: str) -> str:
    return f'<div class="smsotp-inbox" role="group" aria-label="Sandbox inbox"><h3>Sandbox inbox</h3>{content}</div>'


ENDED = _section('<p class="smsotp-empty">The sandbox has ended.<br>Run the notebook again.</p>')


def sandbox_of(service: Any, *, what: str = "an inbox", live: str = "the live service has none") -> Sandbox:
    """Return the sandbox whose inbox is shown: itself, or the one that a client speaks to.

    ``what`` needs it and ``live`` says why the live service does not serve, as an error says.

    Raises:
        UsageError: there is none; the real service has no inbox to look into.
    """
    found = service.sandbox if isinstance(service, Client) else service
    if not isinstance(found, Sandbox):
        raise UsageError(f"{what} needs a Sandbox, got {given(service)}; {live}")
    return found


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
    def __init__(self, box: Sandbox | Client, *, codes: bool = False, shown: int = SHOWN_ALONE) -> None:
        self._box, self._codes, self._shown = sandbox_of(box), codes, shown
        refuse(not_flag("codes", codes), not_whole("shown", shown))
        self._pane = skin.block()
        self.widget = skin.form(self._pane, classes=("smsotp-slim", "smsotp-bare"))
        self._refresh()
        threading.Thread(target=_follow, args=(weakref.ref(self),), name="smsotp-inbox", daemon=True).start()

    def _refresh(self) -> bool:
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
        if not found._refresh():
            return
        pause = max(LOOK_EVERY, 20 * (time.monotonic() - started))
        del found
