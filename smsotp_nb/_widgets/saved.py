"""What a notebook keeps of a form: a card of where it stands, in whose place the live form is drawn.

A widget lives as long as its kernel. What is saved, exported or sent on is the card: an output of its own, brought up
to date with every step of the form.
"""

from __future__ import annotations

import html
from datetime import UTC, datetime
from typing import Any, Final

from .._cards import Card

AGAIN: Final = "Run this cell again to go on."
TO_USE: Final = "Run this cell to use it."
DEAD: Final = "jupyter-widgets-disconnected"  # what ipywidgets calls a widget without a kernel
OUTPUT: Final = ".jp-OutputArea-child"


def marker(model: str) -> str:
    """Return the class by which the page finds a form and the card that is saved of it."""
    return f"smsotp-of-{model}"


def bundle(card: Card, model: str, form: str) -> dict[str, str]:
    """Return the output with the card of one form: seen where the form itself is not drawn, or has lost its kernel."""
    return {"text/html": _html(card, marker(model), form), "text/plain": card.text()}


def beside(view: dict[str, Any]) -> dict[str, Any]:
    """Return the output with the form itself, silent where no widget can be drawn: the card before it says it all."""
    return {**view, "text/plain": ""}


def unfinished(title: str, step: str, closing: str = AGAIN) -> Card:
    """Return the card of a form on its way; it names the moment, because a page may miss what comes after.

    Example:
        >>> unfinished("Campaign form", "Check").state.startswith("At step Check on ")
        True
    """
    return Card(title, f"At step {step} on {moment()}.", closing=closing)


def moment() -> str:
    """Return the time of this moment, to the minute."""
    return f"{datetime.now(UTC):%Y-%m-%d at %H:%M} UTC"


def _html(card: Card, mark: str, form: str) -> str:
    live = f".{mark}:not(.{DEAD})"
    line = f"{OUTPUT}:has(.smsotp-place.{mark})"
    gone = (
        f"body:has(.smsotp-form{live}) .smsotp-place.{mark}",
        f"body:has(.smsotp-form{live}) {line}",
        f".smsotp-form.{mark}.{DEAD}",
        f"{line} + {OUTPUT}:not(:has(.smsotp-form{live}))",  # the error in place of a form
    )
    style = f"<style>{','.join(gone)}{{display:none!important}}</style>"
    return f'<div class="smsotp-place {mark}" data-form="{html.escape(form)}">{style}{card.html()}</div>'
