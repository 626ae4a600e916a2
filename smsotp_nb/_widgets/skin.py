"""The look of every form: one style sheet, one script, fields and buttons made alike, and what a notebook keeps.

The sheet rides inside each form, so a form looks right in JupyterLab, voila and a notebook opened on its own. A widget
lives as long as its kernel; what is saved or exported is a card, an output of its own, brought up to date with every
step of the form.
"""

from __future__ import annotations

import html
import time
import unicodedata
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Any, ClassVar, Final, TypeVar

import ipywidgets
from IPython.display import display

from .._cards import Card, counted, safe
from .._guards import Field
from .._progress import in_notebook, running_card
from .stages import Running, Sign

AGAIN: Final = "Run this cell again to go on."
TO_USE: Final = "Run this cell to use it."
DEAD: Final = "jupyter-widgets-disconnected"  # what ipywidgets calls a widget without a kernel
OUTPUT: Final = ".jp-OutputArea-child"
VIEW: Final = "application/vnd.jupyter.widget-view+json"  # written here, since ipywidgets 7 has no function for it


def marker(model: str) -> str:
    """Return the class by which the page finds a form and the card that is saved of it."""
    return f"smsotp-of-{model}"


def bundle(card: Card, model: str, form: str) -> dict[str, str]:
    """Return the output with the card of one form: seen where the form itself is not drawn, or has lost its kernel."""
    mark = marker(model)
    live = f".{mark}:not(.{DEAD})"
    line = f"{OUTPUT}:has(.smsotp-place.{mark})"
    gone = (
        f"body:has(.smsotp-form{live}) .smsotp-place.{mark}",
        f"body:has(.smsotp-form{live}) {line}",
        f".smsotp-form.{mark}.{DEAD}",
        f"{line} + {OUTPUT}:not(:has(.smsotp-form{live}))",  # the error in place of a form
    )
    style = f"<style>{','.join(gone)}{{display:none!important}}</style>"
    place = f'<div class="smsotp-place {mark}" data-form="{html.escape(form)}">{style}{card.html()}</div>'
    return {"text/html": place, "text/plain": card.text()}


def unfinished(title: str, step: str, closing: str = AGAIN) -> Card:
    """Return the card of a form on its way; it names the moment, because a page may miss what comes after."""
    return Card(title, f"At step {step} on {moment()}.", closing=closing)


def moment() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d at %H:%M} UTC"


SETTLE = 0.3  # seconds
BETWEEN_DIGITS = {"Zs", "Cc", "Cf", "Pd"}  # blanks, line ends, invisible signs, dashes
Value = TypeVar("Value")
MARKS: dict[str, str] = {"": "", "ok": "✓", "warn": "!", "bad": "✗"}


@cache
def sheet_html() -> str:
    """Return the style element; its load event runs the script of the form around it.

    A script element put into a page as HTML never runs, the load event of a style element does.
    """
    folder = resources.files(__package__)
    css = (folder / "smsotp.css").read_text(encoding="utf-8")
    script = (folder / "page.js").read_text(encoding="utf-8")
    return f'<style onload="{html.escape(script)}">{css}</style>'


def form(*children: ipywidgets.Widget, classes: tuple[str, ...]) -> ipywidgets.VBox:
    """Return the root of a form: its sheet and its children, under ``smsotp-form`` and classes of its own."""
    sheet = block(sheet_html(), "smsotp-sheet")
    return box(sheet, *children, classes=("smsotp-form", *classes, "mathjax_ignore"))


def box(*children: ipywidgets.Widget, classes: tuple[str, ...]) -> ipywidgets.VBox:
    return ipywidgets.VBox(children, _dom_classes=classes)


def main(*parts: ipywidgets.Widget, classes: tuple[str, ...] = ()) -> ipywidgets.VBox:
    """Return parts below each other."""
    return box(*parts, classes=("smsotp-main", *classes))


def pair(*parts: ipywidgets.Widget, classes: tuple[str, ...] = ()) -> ipywidgets.VBox:
    """Return parts two in a row; below each other where there is little room, but for ``smsotp-always``."""
    return box(*parts, classes=("smsotp-pair", *classes))


def block(value: str = "", *classes: str) -> ipywidgets.HTML:
    """Return a piece of HTML; whoever fills it escapes what came from outside."""
    return ipywidgets.HTML(value, _dom_classes=classes)


def button(label: str, *classes: str) -> ipywidgets.Button:
    """Return a button without an icon: icon fonts come from the network."""
    return ipywidgets.Button(description=label, _dom_classes=classes)


def text(label: str, *classes: str, **traits: Any) -> ipywidgets.Text:
    return ipywidgets.Text(description=label, _dom_classes=classes, **traits)


def whole(label: str, *, least: int = 0, most: int = 10**7, value: int = 0) -> ipywidgets.BoundedIntText:
    """Return a field for a whole number; what depends on it follows each key, as with a text field."""
    return ipywidgets.BoundedIntText(description=label, min=least, max=most, value=value, continuous_update=True)


def field(asked: Field) -> ipywidgets.ValueWidget:
    return whole(asked.label, value=asked.value) if asked.number else text(asked.label, placeholder=asked.example)


def choice(label: str, options: Sequence[tuple[str, Any]], value: Any) -> ipywidgets.Dropdown:
    """Return a list to choose from, its label above; the first option where ``value`` is None."""
    return ipywidgets.Dropdown(description=label, options=options, value=options[0][1] if value is None else value)


def check(label: str) -> ipywidgets.Checkbox:
    return ipywidgets.Checkbox(value=False, description=label, indent=False, _dom_classes=("smsotp-check",))


def settled(read: Callable[[], Value], *, wait: float = SETTLE) -> Value:
    """Return what fields say once they have stopped changing; blocks, so call it on a worker thread.

    While a kernel is busy a page holds back what is typed, and a click may arrive before the last keys do: without
    this a number could lose its last digit and still be somebody's number.
    """
    found = read()
    while True:
        time.sleep(wait)
        now = read()
        if now == found:
            return found
        found = now


class Folded:
    """A link-like button that folds rare fields out and away, and says which; both stand in ``widget``."""

    def __init__(self, label: str, less: str, *parts: ipywidgets.Widget) -> None:
        self.button, self.fields = button(label, "smsotp-link"), main(*parts)
        self._labels = (less, label)
        self.widget = main(self.button, self.fields)
        show(self.fields, False)
        self.button.on_click(lambda _: self._turn())

    @property
    def is_folded(self) -> bool:
        return bool(self.fields.layout.display == "none")

    def unfold(self) -> None:
        if self.is_folded:
            self._turn()

    def _turn(self) -> None:
        show(self.fields, self.is_folded)
        self.button.description = self._labels[self.is_folded]


def _output(data: dict[str, Any], **how: Any) -> None:
    display(data, raw=True, **how)  # type: ignore[no-untyped-call]  # IPython has no annotations


class Shown:
    """What a notebook shows of a form: its widget, and, where no kernel makes it live, a card of where it stands.

    A form says with ``_saved`` what is kept of it, with ``_moment`` what that depends on, and calls ``_save_card``
    after each drawing.
    """

    widget: ipywidgets.DOMWidget
    _calls: ClassVar[str]  # what does its job without it
    _kept: object = None  # the moment that the saved card tells of; None before the form is shown

    def _saved(self) -> Card:
        """Return what a saved notebook says of the form: nothing typed, no passcode, no number that is not masked."""
        raise NotImplementedError

    def _moment(self) -> object:
        """Return what ``_saved`` depends on, to be compared: the card is made anew only when it is another."""
        return type(self)

    def _save_card(self) -> None:
        """Bring the saved card up to date, once something in it has changed."""
        if self._kept is not None and self._kept != self._moment():
            self._put_card(update=True)

    def _put_card(self, *, update: bool) -> None:
        self._kept, model = self._moment(), self.widget.model_id
        kept = bundle(self._saved(), model, type(self).__name__)
        if in_notebook() or not update:
            _output(kept, display_id=marker(model), update=update)

    def _ipython_display_(self) -> None:
        self.widget.add_class(marker(self.widget.model_id))
        self._put_card(update=False)
        # Silent where no widget can be drawn: the card before it says it all.
        _output({**self._repr_mimebundle_(), "text/plain": ""})

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        """Return the widget's view; the text that is saved names the form and holds nothing typed into it."""
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        return {VIEW: view, "text/plain": repr(self)}

    def _mime_(self) -> tuple[str, str]:
        """Return what marimo shows, which asks for it by this name: it runs no ipywidgets."""
        name = type(self).__name__
        said = f"{name} is made of ipywidgets, which marimo does not run. Use JupyterLab, VS Code or voila, or call"
        return "text/html", f"<p>{html.escape(said)} <code>{html.escape(self._calls)}</code>.</p>"


def digits_of(typed: str) -> str:
    """Return a passcode as it was meant: without blanks and dashes, and in ASCII whatever digits were typed.

    Example:
        >>> digits_of(" 123-456 "), digits_of("12 34 56"), digits_of("１２３４５６")
        ('123456', '123456', '123456')
    """
    kept = (sign for sign in typed if unicodedata.category(sign) not in BETWEEN_DIGITS)
    return "".join(sign if (digit := unicodedata.decimal(sign, None)) is None else str(digit) for sign in kept)


def on_enter(field: ipywidgets.Text, act: Callable[[], None]) -> None:

    def heard(_: ipywidgets.Text, content: dict[str, Any], __: Any) -> None:
        if content.get("event") == "submit":
            act()

    field.on_msg(heard)


def show(part: ipywidgets.Widget, yes: bool) -> None:
    part.layout.display = None if yes else "none"


def focus(part: ipywidgets.DOMWidget) -> None:
    """Put the focus on a part. With ipywidgets 7, which cannot, the page's script sees that it stays in the form."""
    if hasattr(part, "focus"):
        part.focus()


def mark(part: ipywidgets.DOMWidget, name: str, yes: bool) -> None:
    if yes:
        part.add_class(name)
    else:
        part.remove_class(name)


def primary(target: ipywidgets.Button, yes: bool) -> None:
    """Mark a button as the one thing to do next, or not."""
    mark(target, "smsotp-primary", yes)


def bar(share: float) -> str:
    """Return a bar that is filled by a share from 0 to 1."""
    return f'<div class="smsotp-track"><div class="smsotp-bar" style="width:{share:.1%}"></div></div>'


def running(told: Running | None) -> str:
    """Return how far a send is, as the card of `send` in a notebook."""
    if told is None:
        return line("Recording the campaign …")
    before = f"{counted(told.before, 'row was', 'rows were')} sent before." if told.before else ""
    note = "Stopping: no new request starts; pending responses are recorded." if told.stopping else before
    return running_card("", note, told.progress, told.seconds, before=told.before).html()


def lines(code: str) -> str:
    return (
        '<details class="smsotp-lines"><summary>The lines of code that do the same</summary>'
        f"<pre>{html.escape(code)}</pre></details>"
    )


def line(words: str, sign: Sign = "") -> str:
    """Return one line below a field: the sign says in a character what the colour says too."""
    mark = f"{MARKS[sign]} " if sign else ""
    return f'<p class="smsotp-line smsotp-{sign or "plain"}">{mark}{safe(words)}</p>'


def notice(words: str, sign: Sign = "") -> str:
    """Return a message of a form, announced to a screen reader."""
    mark = f'<span class="smsotp-sign">{MARKS[sign]}</span>' if sign and words else ""
    return f'<p class="smsotp-notice smsotp-{sign or "plain"}" role="status">{mark}<span>{safe(words)}</span></p>'


def head(
    title: str,
    sub: str,
    steps: tuple[str, ...] = (),
    now: int = 0,
    *,
    done: bool = False,
    live: bool = False,
    about: str = "",
) -> str:
    """Return a form's title, its line of state and its steps; ``now`` is the step in force, from 1.

    ``live``: the line says that people are reached and money is spent, and stands out. ``about`` names the list.
    """
    items = "".join(_step(number, name, now, done) for number, name in enumerate(steps, start=1))
    listed = f'<ol class="smsotp-steps">{items}</ol>' if steps else ""
    named = f'<p class="smsotp-sub">{safe(about)}</p>' if about else ""
    return (
        f'<div class="smsotp-head"><h2 class="smsotp-title">{safe(title)}</h2>'
        f'<p class="smsotp-sub{" smsotp-live" if live else ""}">{"! " if live else ""}{safe(sub)}</p>'
        f"{named}{listed}</div>"
    )


def _step(number: int, name: str, now: int, done: bool) -> str:
    past = number < now or (done and number == now)
    kind = "smsotp-past" if past and number < now else "smsotp-now" if number == now else "smsotp-next"
    current = ' aria-current="step"' if number == now else ""
    mark = MARKS["ok"] if past else number
    return f'<li class="{kind}"{current}><i>{mark}</i>{safe(name)}</li>'
