"""The sandbox's inbox as a person would read it, newest first.

A passcode is shown only while it is open, and only on the page: widget state is saved with notebooks, and a code has no
business there.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection
from typing import TYPE_CHECKING

import ipywidgets
import pandas as pd

from .._cards import safe
from .._showing import masked
from .._wire import mask
from ..errors import SmsOtpError

if TYPE_CHECKING:
    from .._sandbox import Sandbox

SHOWN = 4
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
    """Draw the inbox of a sandbox as it is now; say whether the sandbox is still there.

    A code that is open (``None``: every one) passes through the widget once, for the page to remember.
    """
    try:
        inbox = box.inbox
    except SmsOtpError:
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
    if box is None:
        return None
    try:
        inbox = box.inbox
    except SmsOtpError:
        return None
    found = inbox.loc[inbox["id"] == message_id, "currency"]
    return str(found.iloc[0]) if len(found) else None


def passcodes_to(box: Sandbox | None, to: str) -> list[str]:
    """Return the ids of the passcode messages to a number, oldest first; none where there is no inbox to look into."""
    if box is None:
        return []
    try:
        inbox = box.inbox
    except SmsOtpError:
        return []
    return [str(one) for one in inbox.loc[(inbox["to"] == to) & inbox["code"].notna(), "id"]]


def _section(content: str) -> str:
    return f'<div class="smsotp-inbox" role="group" aria-label="Sandbox inbox"><h3>Sandbox inbox</h3>{content}</div>'


ENDED = _section('<p class="smsotp-empty">The sandbox has ended.<br>Run the notebook again.</p>')
